/* SPDX-License-Identifier: Apache-2.0 */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *tptx_status_name(tptx_status status) {
  switch (status) {
#define STATUS(name) \
  case TPTX_##name: \
    return "TPTX_" #name;
#include "status.def"
#undef STATUS
  }
  return "TPTX_ERROR_UNKNOWN";
}

void tptx_error_init(tptx_error *error) {
  if (!error) return;
  error->struct_size = sizeof *error;
  error->status = TPTX_OK;
  error->driver_code = 0;
  error->axis = -1;
  error->position = -1;
  error->truncated = 0;
  error->driver_function[0] = '\0';
  error->argument[0] = '\0';
  error->message[0] = '\0';
  error->log[0] = '\0';
}

tptx_status refuse(tptx_error *error, struct fault fault, const char *format, ...) {
  if (!error) return fault.status;
  tptx_error_init(error);
  error->status = fault.status;
  error->axis = fault.axis;
  snprintf(error->argument, sizeof error->argument, "%s", fault.argument);
  va_list arguments;
  va_start(arguments, format);
  int written = vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  error->truncated = written >= (int)sizeof error->message;
  return fault.status;
}
