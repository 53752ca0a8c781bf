/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on standard error, and the exit codes that go with them. */
#ifndef COMPLAIN_H
#define COMPLAIN_H

#include <tileptx.h>

enum exit_code {
  EXIT_DONE = 0,
  EXIT_REFUSED = 1, /* a signature, launch or assembly was refused or failed */
  EXIT_USAGE = 2,
  EXIT_MISSING = 3, /* a tool, driver or GPU that is needed is not there */
  EXIT_IO = 4
};

#if defined(__GNUC__)
#define LIKE_PRINTF(text, rest) __attribute__((format(printf, text, rest)))
#else
#define LIKE_PRINTF(text, rest)
#endif

/* One line, after "tileptx: ". */
void note(const char *format, ...) LIKE_PRINTF(1, 2);

/* The same, and the exit code, to be returned in one statement. */
enum exit_code complain(enum exit_code code, const char *format, ...) LIKE_PRINTF(2, 3);

/* EXIT_USAGE, with the line that says where help is. */
enum exit_code complain_usage(const char *format, ...) LIKE_PRINTF(1, 2);

/*
 * What the library refused: message, field, axis, the place in the signature line, the driver's
 * part. `origin` says where the line came from ("standard input, line 3"), or is NULL.
 */
enum exit_code complain_refusal(const char *origin, const char *line, const tptx_error *error);

#endif
