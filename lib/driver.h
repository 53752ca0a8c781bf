/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA driver, opened at run time. Our own declarations of what we call: the library is built
 * without a toolkit. Every call goes through struct driver, so a test can look at each.
 */
#ifndef DRIVER_H
#define DRIVER_H

#include "driver_status.h"

#include <tileptx/emit.h>

#include <stdbool.h>
#include <stddef.h>

/* The constants of cuda.h that we pass or read; tests/unit/driver_test.c compares them with it. */
enum {
  DEVICE_COMPUTE_CAPABILITY_MAJOR = 75,
  DEVICE_COMPUTE_CAPABILITY_MINOR = 76,
  FUNCTION_MAX_THREADS = 0,
  FUNCTION_SHARED_BYTES = 1,
  FUNCTION_CONSTANT_BYTES = 2,
  FUNCTION_LOCAL_BYTES = 3,
  FUNCTION_REGISTERS = 4,
  FUNCTION_BINARY_VERSION = 6,
  JIT_ERROR_LOG_BUFFER = 5,
  JIT_ERROR_LOG_BUFFER_BYTES = 6,
  JIT_INPUT_PTX = 1,
  CAPTURE_MODE_RELAXED = 2,
  CAPTURE_STATUS_NONE = 0,
  LAUNCH_END = 0,
  LAUNCH_BUFFER_POINTER = 1,
  LAUNCH_BUFFER_BYTES = 2
};

struct driver {
  void *library;
  char path[1024]; /* of the file that was opened, as far as the loader tells */
  int version;     /* cuDriverGetVersion: 13000 is 13.0 */
  int ptx;         /* highest PTX version it takes: 90 is 9.0 */
  bool emulated;
#define ENTRY(need, name, symbol, parameters) int(*name) parameters;
#include "driver.def"
};

/*
 * Opens and starts the driver. `name`: a path, "emu", or NULL for libcuda.so.1. `emulator`: where
 * the emulated driver is, NULL to look beside this library. A failure leaves nothing open.
 */
tptx_status driver_open(struct driver *driver, const char *name, const char *emulator,
                        tptx_error *error);
void driver_close(struct driver *driver);

#endif
