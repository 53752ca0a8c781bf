/* SPDX-License-Identifier: Apache-2.0 */
/* Images that the emulated driver loads: PTX text, or what linking makes of it, a header that says
 * for which device, then the text. */
#ifndef EMU_IMAGE_H
#define EMU_IMAGE_H

#include <stddef.h>

#include "program.h"

/* Where a call wants its logs, from the options of the JIT. */
struct jit_logs {
  char *buffers[2]; /* information, errors */
  void **sizes[2];  /* in: bytes of the buffer; out: bytes written */
  size_t capacity[2];
};

int jit_logs_read(struct jit_logs *logs, unsigned count, const int *options, void **values);
void jit_logs_write(const struct jit_logs *logs, const char *information, const char *error);

/* Reads PTX for a device of that capability and writes the logs. */
int image_read_ptx(const char *text, size_t length, int capability, const struct jit_logs *logs,
                   struct program **program);
/* Makes the linked form; NULL without memory. */
void *image_link(const struct program *program, int capability, size_t *size);
/* Reads either form. */
int image_load(const void *image, int capability, const struct jit_logs *logs,
               struct program **program);
/* The same with a size that is known, as cuLinkAddData has it. */
int image_check(const void *image, size_t size, int capability);

#endif
