/* SPDX-License-Identifier: Apache-2.0 */
#include "numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int number_read(const char *text, size_t length, int64_t least, int64_t most, int64_t *out) {
  int negative = least < 0 && length > 0 && text[0] == '-';
  size_t first = negative ? 1 : 0;
  int64_t value = 0; /* kept at or below zero: the negative side reaches further by one */
  if (first == length) return -1;
  for (size_t i = first; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return -1;
    int digit = text[i] - '0';
    if (value < (INT64_MIN + digit) / 10) return -1;
    value = value * 10 - digit;
  }
  if (!negative && value == INT64_MIN) return -1;
  if (!negative) value = -value;
  if (value < least || value > most) return -1;
  *out = value;
  return 0;
}

static int refuse_entry(const struct axes_form *form, int axis, const char *entry, size_t length,
                        char *message, size_t capacity) {
  snprintf(message, capacity,
           "%s: \"%.*s\" at axis %d is wrong, it must be a whole number from %" PRId64
           " to %" PRId64 ", or _",
           form->option, length < 40 ? (int)length : 40, entry, axis, form->least, form->most);
  return -1;
}

int axes_read(const char *text, const struct axes_form *form, int64_t *values, char *message,
              size_t capacity) {
  int entries = 0;
  const char *at = text;
  if (form->rank == 0 && (text[0] == '\0' || strcmp(text, "scalar") == 0)) return 0;
  for (;; at++) {
    const char *end = strchr(at, form->separator);
    size_t length = end != NULL ? (size_t)(end - at) : strlen(at);
    if (entries < form->rank) {
      if (length == 1 && at[0] == '_')
        values[entries] = form->hole;
      else if (number_read(at, length, form->least, form->most, &values[entries]) != 0)
        return refuse_entry(form, entries, at, length, message, capacity);
    }
    entries++;
    if (end == NULL) break;
    at = end;
  }
  if (entries == form->rank) return 0;
  snprintf(message, capacity, "%s has %d entries, the rank is %d: give one an axis, as in 1%c2",
           form->option, entries, form->rank, form->separator);
  return -1;
}
