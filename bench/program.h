/* SPDX-License-Identifier: Apache-2.0 */
/* What every measuring program needs: a machine to measure on, failures, medians, options. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "../tools/device.h"

#include <tileptx/runtime.h>

#include <stddef.h>
#include <stdint.h>

enum {
  EXIT_USAGE = 2,
  EXIT_NO_DEVICE = 77, /* as a skipped test */
  MOST_ROUNDS = 1000
};

extern const char *const program_name; /* each program's own, for its messages */

/* ---- Failures -------------------------------------------------------------------------------- */

/* Nothing can be measured after one: the program says what it was and ends. */

void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void expect_ok(tptx_status status, const tptx_error *error, const char *what);
void refuse_usage(const char *what, const char *value) __attribute__((noreturn));
void *allocate(size_t bytes);

/* ---- Numbers --------------------------------------------------------------------------------- */

double read_number(const char *text, double least, double most, const char *what);
double median(double *numbers, int count); /* sorts them */
double now_seconds(void);                  /* since some moment */

/* ---- The machine ----------------------------------------------------------------------------- */

struct machine {
  struct device *device;
  tptx_runtime *runtime;
  void *stream;
};

/* `driver`: a path, "emu", or NULL for TILEPTX_DRIVER. Without a device the program ends. */
void machine_open(struct machine *machine, const char *driver, int ordinal,
                  tptx_runtime_options *options);
void machine_close(struct machine *machine);
void machine_print(const struct machine *machine); /* one line: device, driver */
void expect(const struct machine *machine, int code, const char *what); /* a driver's code */
uint64_t machine_allocate(const struct machine *machine, size_t bytes);
/* An entry point that device.h does not know; required. */
void machine_entry_point(const struct machine *machine, const char *name, void *function);

#endif
