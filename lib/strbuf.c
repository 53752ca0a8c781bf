/* SPDX-License-Identifier: Apache-2.0 */
#include "strbuf.h"

#include <string.h>

void strbuf_fixed(struct strbuf *out, char *memory, size_t capacity) {
  *out = (struct strbuf){.text = memory, .capacity = capacity, .limit = capacity};
  if (capacity) memory[0] = '\0';
}

void strbuf_growing(struct strbuf *out, const tptx_allocator *allocator, size_t first,
                    size_t limit) {
  *out = (struct strbuf){.allocator = allocator, .limit = limit};
  out->text = allocate(allocator, first);
  out->capacity = out->text ? first : 0;
  out->failed = !out->text;
  if (out->text) out->text[0] = '\0';
}

void strbuf_free(struct strbuf *out) {
  if (out->allocator) release(out->allocator, out->text);
  out->text = NULL;
  out->capacity = 0;
}

static bool grow(struct strbuf *out, size_t bytes) {
  size_t wanted = out->bytes + bytes + 1;
  size_t doubled = 2 * out->capacity;
  size_t capacity = doubled > wanted ? doubled : wanted;
  if (capacity > out->limit) capacity = out->limit;
  char *text = out->allocator && wanted <= capacity ? allocate(out->allocator, capacity) : NULL;
  if (!text) {
    out->failed = true;
    return false;
  }
  memcpy(text, out->text, out->bytes + 1);
  release(out->allocator, out->text);
  out->text = text;
  out->capacity = capacity;
  return true;
}

/* Room for `bytes` more and the NUL. */
static bool reserve(struct strbuf *out, size_t bytes) {
  if (out->failed) return false;
  return bytes < out->capacity - out->bytes || grow(out, bytes);
}

void strbuf_add(struct strbuf *out, const char *text, size_t bytes) {
  if (!reserve(out, bytes)) return;
  memcpy(out->text + out->bytes, text, bytes);
  out->bytes += bytes;
  out->text[out->bytes] = '\0';
}

void strbuf_word(struct strbuf *out, const char *text) {
  strbuf_add(out, text, strlen(text));
}

void strbuf_char(struct strbuf *out, char character) {
  strbuf_add(out, &character, 1);
}

void strbuf_blanks(struct strbuf *out, size_t count) {
  if (!reserve(out, count)) return;
  memset(out->text + out->bytes, ' ', count);
  out->bytes += count;
  out->text[out->bytes] = '\0';
}

void strbuf_number(struct strbuf *out, int64_t number) {
  char digits[20]; /* of 2^64, or a sign and 19 digits of 2^63 */
  size_t at = sizeof digits;
  uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
  do {
    digits[--at] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest);
  if (number < 0) digits[--at] = '-';
  strbuf_add(out, digits + at, sizeof digits - at);
}

void strbuf_hex(struct strbuf *out, uint64_t number, int digits) {
  char text[16];
  for (int i = digits - 1; i >= 0; i--, number >>= 4) text[i] = "0123456789abcdef"[number & 15];
  strbuf_add(out, text, (size_t)digits);
}
