/* SPDX-License-Identifier: Apache-2.0 */
#include "complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WINDOW = 100 }; /* columns of a signature line that are shown around a fault */

static void print_line(const char *format, va_list arguments) {
  fputs("tileptx: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
}

void note(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line(format, arguments);
  va_end(arguments);
}

enum exit_code complain(enum exit_code code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line(format, arguments);
  va_end(arguments);
  return code;
}

enum exit_code complain_usage(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line(format, arguments);
  va_end(arguments);
  fputs("Try 'tileptx --help' for more information.\n", stderr);
  return EXIT_USAGE;
}

/* Bytes that a terminal would act on, or that take no column or several, are shown as '?'. */
static void print_plain(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    fputc(text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?', stderr);
}

static void point_into(const char *line, int32_t position) {
  size_t length = strlen(line);
  size_t at = (size_t)position <= length ? (size_t)position : length;
  size_t begin = at > WINDOW / 2 && length > WINDOW ? at - WINDOW / 2 : 0;
  size_t shown = length - begin < WINDOW ? length - begin : WINDOW;
  fputs("  ", stderr);
  print_plain(line + begin, shown);
  fprintf(stderr, "\n  %*s^\n", (int)(at - begin), "");
}

static enum exit_code code_of(tptx_status status) {
  switch (status) {
  case TPTX_ERROR_NO_DRIVER:
  case TPTX_ERROR_STUB_DRIVER:
  case TPTX_ERROR_NO_DEVICE:
  case TPTX_ERROR_OLD_DRIVER:
  case TPTX_ERROR_NO_COMPILER: return EXIT_MISSING;
  default: return EXIT_REFUSED;
  }
}

enum exit_code complain_refusal(const char *origin, const char *line, const tptx_error *error) {
  fputs("tileptx: ", stderr);
  if (origin != NULL) fprintf(stderr, "%s: ", origin);
  fprintf(stderr, "%s", tptx_status_name(error->status));
  if (error->argument[0] != '\0') fprintf(stderr, ", %s", error->argument);
  if (error->axis >= 0) fprintf(stderr, ", axis %d", (int)error->axis);
  fprintf(stderr, ": %s\n", error->message);
  if (error->position >= 0) point_into(line, error->position);
  if (error->driver_function[0] != '\0')
    fprintf(stderr, "  %s returned %d\n", error->driver_function, (int)error->driver_code);
  if (error->log[0] != '\0')
    fprintf(stderr, "%s%s", error->log, error->log[strlen(error->log) - 1] == '\n' ? "" : "\n");
  return code_of(error->status);
}
