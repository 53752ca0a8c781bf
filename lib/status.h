/* SPDX-License-Identifier: Apache-2.0 */
/* How the library reports failure. Function bodies read as checks, then work. */
#ifndef STATUS_H
#define STATUS_H

#include <tileptx/emit.h>

/* Where a fault lies. */
struct fault {
  tptx_status status;
  const char *argument; /* the field's name, "strides"; "" where none is */
  int axis;             /* -1 where none is */
};

/* Fills `error` (may be NULL) and returns fault.status. */
tptx_status refuse(tptx_error *error, struct fault fault, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));

/* The three check macros. There is no fourth. */
#define REFUSE(error, status, argument, axis, ...) \
  return refuse((error), (struct fault){(status), (argument), (axis)}, __VA_ARGS__)
#define REFUSE_IF(condition, error, status, argument, axis, ...) \
  do { \
    if (condition) REFUSE(error, status, argument, axis, __VA_ARGS__); \
  } while (0)
#define FORWARD(expression) \
  do { \
    tptx_status forwarded = (expression); \
    if (forwarded != TPTX_OK) return forwarded; \
  } while (0)

#endif
