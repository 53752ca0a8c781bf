/* SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include "floats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NUMBER = 1100 }; /* bytes of a decimal; no tie of a double needs more */

/* exponent bits, mantissa bits, unused, has infinity, largest, infinity, quiet NaN */
static const struct float_format f16 = {5, 10, 0, 1, 0x7bff, 0x7c00, 0x7e00};
static const struct float_format bf16 = {8, 7, 0, 1, 0x7f7f, 0x7f80, 0x7fc0};
static const struct float_format tf32 = {8, 10, 13, 1, 0x3fbff, 0x7f800000, 0x7fc00000};
static const struct float_format f32 = {8, 23, 0, 1, 0x7f7fffff, 0x7f800000, 0x7fc00000};
static const struct float_format f64 = {
    11, 52, 0, 1, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000};
static const struct float_format e4m3 = {4, 3, 0, 0, 0x7e, 0, 0x7f};
static const struct float_format e5m2 = {5, 2, 0, 1, 0x7b, 0x7c, 0x7e};

static const struct float_format *format_of(tptx_type type) {
  switch (type) {
  case TPTX_F16: return &f16;
  case TPTX_BF16: return &bf16;
  case TPTX_TF32: return &tf32;
  case TPTX_F32: return &f32;
  case TPTX_F64: return &f64;
  case TPTX_E4M3: return &e4m3;
  case TPTX_E5M2: return &e5m2;
  default: return NULL;
  }
}

static int is_signed(tptx_type type) {
  return type == TPTX_S8 || type == TPTX_S16 || type == TPTX_S32 || type == TPTX_S64;
}

static int width_of(tptx_type type) {
  return (int)tptx_type_bytes(type) * 8;
}

static uint64_t mask_of(tptx_type type) {
  return UINT64_MAX >> (64 - width_of(type));
}

static uint64_t sign_of(tptx_type type) {
  return UINT64_C(1) << (width_of(type) - 1);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static int refuse(tptx_type type, const char *text, size_t length, const char *reason,
                  char *message, size_t capacity) {
  snprintf(message, capacity, "\"%.*s\" is no %s: %s", length < 60 ? (int)length : 60, text,
           tptx_type_name(type), reason);
  return -1;
}

static int is_word(const char *text, size_t length, const char *word) {
  return length == strlen(word) && memcmp(text, word, length) == 0;
}

static int hexadecimal_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The digits after 0x. */
static int read_bits(tptx_type type, const char *text, size_t length, uint64_t *bits) {
  uint64_t value = 0;
  for (size_t i = 0; i < length; i++) {
    int digit = hexadecimal_digit(text[i]);
    if (digit < 0 || value >> 60 != 0) return -1;
    value = value << 4 | (uint64_t)digit;
  }
  if (length == 0 || value > mask_of(type)) return -1;
  *bits = value;
  return 0;
}

static int read_integer(tptx_type type, const char *text, size_t length, uint64_t *bits) {
  int negative = length > 0 && text[0] == '-';
  uint64_t largest = type == TPTX_BOOL ? 1 : is_signed(type) ? mask_of(type) >> 1 : mask_of(type);
  uint64_t limit = !negative ? largest : is_signed(type) ? largest + 1 : 0;
  uint64_t value = 0;
  if (length == (size_t)negative) return -1;
  for (size_t i = (size_t)negative; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return -1;
    uint64_t digit = (uint64_t)(text[i] - '0');
    if (value > limit / 10 || value * 10 > limit - digit || digit > limit) return -1;
    value = value * 10 + digit;
  }
  *bits = (negative ? 0 - value : value) & mask_of(type);
  return 0;
}

/* DIGITS [. DIGITS] [e [+-] DIGITS], a digit before the e at least. */
static int is_decimal(const char *text, size_t length) {
  size_t i = 0;
  size_t digits = 0;
  for (int dots = 0; i < length && ((text[i] >= '0' && text[i] <= '9') || text[i] == '.'); i++) {
    if (text[i] != '.')
      digits++;
    else if (dots++ > 0)
      return 0;
  }
  if (digits == 0) return 0;
  if (i == length) return 1;
  if (text[i] != 'e' && text[i] != 'E') return 0;
  i++;
  if (i < length && (text[i] == '+' || text[i] == '-')) i++;
  size_t first = i;
  while (i < length && text[i] >= '0' && text[i] <= '9') i++;
  return i == length && i > first;
}

/* 0, -1 if it is no number, 1 if it is larger than the type's largest. */
static int read_magnitude(tptx_type type, const char *text, size_t length, uint64_t *bits) {
  const struct float_format *format = format_of(type);
  char copy[LONGEST_NUMBER + 1];
  if (length > LONGEST_NUMBER || !is_decimal(text, length)) return -1;
  memcpy(copy, text, length);
  copy[length] = '\0';
  double nearest = strtod(copy, NULL);
  if (nearest > 0x1.fffffffffffffp1023) return 1;
  uint64_t pattern = float_encode(format, nearest, 1);
  /* The double is rounded already. Where it lies on a tie, the text decides. */
  if (pattern != float_encode(format, nearest, -1))
    pattern = float_encode(format, nearest, decimal_compare(text, length, nearest));
  if (pattern > format->largest) return 1;
  *bits = pattern << format->unused_bits;
  return 0;
}

static int read_float(tptx_type type, const char *text, size_t length, uint64_t *bits,
                      char *message, size_t capacity) {
  const struct float_format *format = format_of(type);
  size_t negative = length > 0 && text[0] == '-' ? 1 : 0;
  int outcome = 0;
  if (is_word(text, length, "nan")) {
    *bits = format->quiet_nan;
  } else if (is_word(text + negative, length - negative, "inf")) {
    if (!format->has_infinity)
      return refuse(type, text, length, "the type has no infinity", message, capacity);
    *bits = format->infinity;
  } else {
    outcome = read_magnitude(type, text + negative, length - negative, bits);
  }
  if (outcome > 0)
    return refuse(type, text, length, "it is too large for the type", message, capacity);
  if (outcome < 0)
    return refuse(type, text, length, "expected a decimal, nan, inf, -inf or bits 0x...", message,
                  capacity);
  if (negative) *bits |= sign_of(type);
  return 0;
}

int value_read(tptx_type type, const char *text, size_t length, uint64_t *bits, char *message,
               size_t capacity) {
  if (length >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    if (read_bits(type, text + 2, length - 2, bits) == 0) return 0;
    char reason[80];
    snprintf(reason, sizeof reason, "a bit pattern has 1 to %d hexadecimal digits after 0x",
             width_of(type) / 4);
    return refuse(type, text, length, reason, message, capacity);
  }
  if (format_of(type) != NULL) return read_float(type, text, length, bits, message, capacity);
  if (read_integer(type, text, length, bits) == 0) return 0;
  uint64_t largest = type == TPTX_BOOL ? 1 : is_signed(type) ? mask_of(type) >> 1 : mask_of(type);
  char reason[120];
  snprintf(reason, sizeof reason,
           "expected a whole number from %s%" PRIu64 " to %" PRIu64 ", or bits 0x...",
           is_signed(type) ? "-" : "", is_signed(type) ? largest + 1 : 0, largest);
  return refuse(type, text, length, reason, message, capacity);
}

/* ---- Printing -------------------------------------------------------------------------------- */

/* DIGITS e EXPONENT as people write it; whole numbers show every digit they have. */
static void lay_out(double magnitude, int precision, char *text) {
  enum { SMALLEST = -5, LARGEST = 15 }; /* powers of ten that are written without an exponent */
  char scientific[VALUE_TEXT];
  snprintf(scientific, sizeof scientific, "%.*e", precision - 1, magnitude);
  int exponent = atoi(strchr(scientific, 'e') + 1);
  if (exponent < SMALLEST || exponent > LARGEST)
    memcpy(text, scientific, strlen(scientific) + 1);
  else if (precision - 1 <= exponent)
    snprintf(text, VALUE_TEXT - 1, "%.0f", magnitude);
  else
    snprintf(text, VALUE_TEXT - 1, "%.*f", precision - 1 - exponent, magnitude);
}

static void print_magnitude(tptx_type type, uint64_t pattern, double magnitude, char *text) {
  enum { ENOUGH = 17 }; /* digits for any double */
  for (int precision = 1; precision < ENOUGH; precision++) {
    uint64_t back;
    lay_out(magnitude, precision, text);
    if (read_magnitude(type, text, strlen(text), &back) == 0 && back == pattern) return;
  }
  lay_out(magnitude, ENOUGH, text);
}

static void print_float(tptx_type type, uint64_t bits, char text[VALUE_TEXT]) {
  int negative;
  double magnitude;
  enum float_class class = float_decode(format_of(type), bits, &negative, &magnitude);
  uint64_t pattern = bits & mask_of(type) & ~sign_of(type);
  /* A tf32 word whose low bits are in use can only be told as the f32 that it is. */
  if (type == TPTX_TF32 && (pattern & ((UINT64_C(1) << tf32.unused_bits) - 1)) != 0)
    type = TPTX_F32;
  if (negative && class != FLOAT_NAN) *text++ = '-';
  if (class == FLOAT_NAN)
    memcpy(text, "nan", 4);
  else if (class == FLOAT_INFINITE)
    memcpy(text, "inf", 4);
  else
    print_magnitude(type, pattern, magnitude, text);
}

void value_print(tptx_type type, uint64_t bits, char text[VALUE_TEXT]) {
  bits &= mask_of(type);
  if (format_of(type) != NULL)
    print_float(type, bits, text);
  else if (type == TPTX_BOOL)
    snprintf(text, VALUE_TEXT, "%d", bits != 0);
  else if (is_signed(type) && (bits & sign_of(type)) != 0)
    snprintf(text, VALUE_TEXT, "-%" PRIu64, (0 - bits) & mask_of(type));
  else
    snprintf(text, VALUE_TEXT, "%" PRIu64, bits);
}

void value_print_bits(tptx_type type, uint64_t bits, char text[VALUE_TEXT]) {
  snprintf(text, VALUE_TEXT, "0x%0*" PRIx64, width_of(type) / 4, bits & mask_of(type));
}

/* ---- The rest -------------------------------------------------------------------------------- */

uint64_t value_iota(tptx_type type, uint64_t k) {
  const struct float_format *format = format_of(type);
  if (format == NULL) return type == TPTX_BOOL ? k & 1 : k & mask_of(type);
  uint64_t pattern = float_encode(format, (double)k, 0);
  if (pattern <= format->largest) return pattern << format->unused_bits;
  if (tptx_type_bytes(type) == 1) return format->largest;
  return format->infinity;
}

int value_is_finite(tptx_type type, uint64_t bits) {
  int negative;
  double magnitude;
  const struct float_format *format = format_of(type);
  return format == NULL || float_decode(format, bits, &negative, &magnitude) == FLOAT_FINITE;
}

uint64_t value_load(tptx_type type, const unsigned char *memory) {
  uint64_t bits = 0;
  for (size_t i = tptx_type_bytes(type); i-- > 0;) bits = bits << 8 | memory[i];
  return bits;
}

void value_store(tptx_type type, unsigned char *memory, uint64_t bits) {
  for (size_t i = 0; i < tptx_type_bytes(type); i++) memory[i] = (unsigned char)(bits >> (8 * i));
}
