/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that grows up to a hard limit, with a sticky failure that is checked once at the end.
 * Numbers are printed digit by digit: no locale, no printf.
 */
#ifndef STRBUF_H
#define STRBUF_H

#include "alloc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf {
  const tptx_allocator *allocator; /* NULL: `text` is the caller's and does not grow */
  char *text;                      /* NUL-terminated as long as capacity > 0 */
  size_t bytes;                    /* without the NUL */
  size_t capacity;
  size_t limit;
  bool failed; /* out of room or memory; what was written stays a prefix */
};

void strbuf_fixed(struct strbuf *out, char *memory, size_t capacity);
void strbuf_growing(struct strbuf *out, const tptx_allocator *allocator, size_t first,
                    size_t limit);
void strbuf_free(struct strbuf *out); /* of a growing one */

void strbuf_add(struct strbuf *out, const char *text, size_t bytes);
void strbuf_word(struct strbuf *out, const char *text);
void strbuf_char(struct strbuf *out, char character);
void strbuf_blanks(struct strbuf *out, size_t count);
void strbuf_number(struct strbuf *out, int64_t number);
void strbuf_hex(struct strbuf *out, uint64_t number, int digits);

#endif
