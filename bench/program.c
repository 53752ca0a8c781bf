/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: ", program_name);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  exit(EXIT_FAILURE);
}

void expect_ok(tptx_status status, const tptx_error *error, const char *what) {
  if (status != TPTX_OK)
    fail("%s: %s: %s\n%s", what, tptx_status_name(status), error->message, error->log);
}

void refuse_usage(const char *what, const char *value) {
  fprintf(stderr, "%s: %s '%s'; --help lists the options\n", program_name, what, value);
  exit(EXIT_USAGE);
}

void *allocate(size_t bytes) {
  void *memory = malloc(bytes > 0 ? bytes : 1);
  if (memory == NULL) fail("no memory for %zu bytes", bytes);
  return memory;
}

double read_number(const char *text, double least, double most, const char *what) {
  char *end = NULL;
  double value = strtod(text, &end);
  if (end == text || *end != '\0' || !(value >= least && value <= most)) refuse_usage(what, text);
  return value;
}

static int compare_numbers(const void *a, const void *b) {
  double left = *(const double *)a;
  double right = *(const double *)b;
  return (left > right) - (left < right);
}

double median(double *numbers, int count) {
  qsort(numbers, (size_t)count, sizeof *numbers, compare_numbers);
  return count % 2 != 0 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

double now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void machine_open(struct machine *machine, const char *driver, int ordinal,
                  tptx_runtime_options *options) {
  char message[512];
  tptx_runtime_options defaults;
  tptx_error error;
  tptx_error_init(&error);
  if (driver == NULL) driver = getenv("TILEPTX_DRIVER");
  if (device_open(driver, ordinal, &machine->device, message, sizeof message) != 0) {
    fprintf(stderr, "%s: %s\n", program_name, message);
    exit(EXIT_NO_DEVICE);
  }
  if (options == NULL) {
    tptx_runtime_options_init(&defaults);
    options = &defaults;
  }
  options->driver = device_driver(machine->device);
  expect_ok(tptx_runtime_create(options, &machine->runtime, &error), &error, "opening the runtime");
  expect(machine, device_stream_create(machine->device, &machine->stream), "creating a stream");
}

void machine_close(struct machine *machine) {
  tptx_runtime_destroy(machine->runtime);
  device_stream_destroy(machine->device, machine->stream);
  device_close(machine->device);
}

void machine_print(const struct machine *machine) {
  tptx_runtime_info info = {.struct_size = sizeof info};
  tptx_runtime_get_info(machine->runtime, &info, NULL);
  printf("%s, driver of CUDA %d.%d%s\n", device_name(machine->device), info.driver_version / 1000,
         info.driver_version % 1000 / 10, info.emulated ? ", emulated" : "");
}

void expect(const struct machine *machine, int code, const char *what) {
  if (code != 0) fail("%s: %s (%d)", what, device_error_name(machine->device, code), code);
}

uint64_t machine_allocate(const struct machine *machine, size_t bytes) {
  uint64_t address = 0;
  expect(machine, device_allocate(machine->device, bytes, &address), "allocating on the device");
  return address;
}

void machine_entry_point(const struct machine *machine, const char *name, void *function) {
  void *found = device_entry_point(machine->device, name);
  if (found == NULL) fail("the driver has no %s", name);
  memcpy(function, &found, sizeof found);
}
