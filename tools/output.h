/* SPDX-License-Identifier: Apache-2.0 */
/* Where results go: standard output, or a file that appears whole or not at all. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "complain.h"

#include <stdio.h>

struct output {
  FILE *stream;
  char *path;      /* NULL: standard output, or a device or pipe that is written as it is */
  char *temporary; /* beside `path`, renamed to it at the end */
};

/* `path` may be NULL or "-": standard output. */
enum exit_code output_open(struct output *output, const char *path);

/*
 * Closes, and checks that every byte arrived. With another `code` than EXIT_DONE the file is not
 * made. Returns `code`, or EXIT_IO.
 */
enum exit_code output_close(struct output *output, enum exit_code code);

#endif
