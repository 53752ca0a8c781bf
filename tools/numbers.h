/* SPDX-License-Identifier: Apache-2.0 */
/* Whole numbers and lists of them, as options hold them. Exact, bounded, independent of locale. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/* Decimal digits, with a leading minus where `least` is negative. 0, or -1 and *out untouched. */
int number_read(const char *text, size_t length, int64_t least, int64_t most, int64_t *out);

/* What an option with one number for each axis takes. */
struct axes_form {
  const char *option; /* "--at", for messages */
  char separator;     /* 'x' or ',' */
  int rank;
  int64_t least;
  int64_t most;
  int64_t hole; /* the value of an entry "_" */
};

/* Reads exactly form->rank entries; 0, or -1 and a message. An empty text is rank 0. */
int axes_read(const char *text, const struct axes_form *form, int64_t *values, char *message,
              size_t capacity);

#endif
