/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver's codes mean to us. */
#ifndef DRIVER_STATUS_H
#define DRIVER_STATUS_H

#include <tileptx/emit.h>

/* DRIVER_INVALID_PTX and so on, the numbers of cuda.h. */
enum driver_code {
  DRIVER_SUCCESS = 0,
#define DRIVER_STATUS(code, name, status, advice) DRIVER_##name = (code),
#include "driver_status.def"
};

/* "CUDA_ERROR_INVALID_PTX"; NULL for a code that is not in the table. */
const char *driver_code_name(int code);

/*
 * TPTX_OK for code 0. Otherwise the status that belongs to the code, with a message made of the
 * call, the number, its name, `detail` (may be NULL) and what to do.
 */
tptx_status driver_check(int code, const char *function, const char *detail, tptx_error *error);

#endif
