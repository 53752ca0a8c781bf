/* SPDX-License-Identifier: Apache-2.0 */
#include "floats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int bias_of(const struct float_format *format) {
  return (1 << (format->exponent_bits - 1)) - 1;
}

enum float_class float_decode(const struct float_format *format, uint64_t bits, int *negative,
                              double *magnitude) {
  int mantissa_bits = format->mantissa_bits + format->unused_bits;
  int sign_at = format->exponent_bits + mantissa_bits;
  uint64_t pattern = bits & ((UINT64_C(1) << sign_at) - 1);
  uint64_t mantissa = pattern & ((UINT64_C(1) << mantissa_bits) - 1);
  int exponent = (int)(pattern >> mantissa_bits);
  *negative = (int)(bits >> sign_at & 1);
  *magnitude = 0;
  if (format->has_infinity && exponent == (1 << format->exponent_bits) - 1)
    return mantissa == 0 ? FLOAT_INFINITE : FLOAT_NAN;
  if (!format->has_infinity && pattern > format->largest) return FLOAT_NAN;
  if (exponent == 0)
    exponent = 1; /* subnormal: no hidden bit, the scale of the smallest normal numbers */
  else
    mantissa |= UINT64_C(1) << mantissa_bits;
  *magnitude = ldexp((double)mantissa, exponent - bias_of(format) - mantissa_bits);
  return FLOAT_FINITE;
}

uint64_t float_encode(const struct float_format *format, double magnitude, int above) {
  enum { DOUBLE_BITS = 53 };
  int exponent;
  double fraction =
      frexp(magnitude, &exponent); /* magnitude = fraction * 2^exponent, 0.5 <= . < 1 */
  if (magnitude <= 0) return 0;
  uint64_t digits = (uint64_t)ldexp(fraction, DOUBLE_BITS);
  int least = 1 - bias_of(format); /* exponent of the smallest normal number */
  int scale = exponent - 1 > least ? exponent - 1 : least;
  /* The result counts units of 2^(scale - mantissa_bits); `drop` bits of digits lie below one. */
  int drop = DOUBLE_BITS - exponent + scale - format->mantissa_bits;
  if (drop > DOUBLE_BITS + 1) return 0;
  uint64_t units = digits >> drop;
  uint64_t rest = digits - (units << drop);
  uint64_t half = drop > 0 ? UINT64_C(1) << (drop - 1) : 0;
  if (drop > 0 &&
      (rest > half || (rest == half && (above > 0 || (above == 0 && (units & 1) != 0)))))
    units++;
  /* A carry out of the mantissa moves into the exponent by itself; so does the hidden bit. */
  return units + ((uint64_t)(scale - least) << format->mantissa_bits);
}

/* A decimal as 0.DIGITS * 10^point, walked digit by digit without leading zeros. */
struct decimal {
  const char *at;
  const char *end; /* of the digits and the dot */
  long long point;
};

static struct decimal open_decimal(const char *text, size_t length) {
  enum { FAR = 1000000 }; /* an exponent beyond any format, small enough to add to */
  struct decimal decimal = {text, text + length, 0};
  const char *exponent = memchr(text, 'e', length);
  if (exponent == NULL) exponent = memchr(text, 'E', length);
  if (exponent != NULL) {
    decimal.end = exponent;
    int down = exponent[1] == '-';
    for (const char *c = exponent + 1; c < text + length; c++)
      if (*c >= '0' && *c <= '9' && decimal.point < FAR)
        decimal.point = decimal.point * 10 + (*c - '0');
    if (down) decimal.point = -decimal.point;
  }
  const char *dot = memchr(text, '.', (size_t)(decimal.end - text));
  decimal.point += (dot != NULL ? dot : decimal.end) - text;
  while (decimal.at < decimal.end && (*decimal.at == '0' || *decimal.at == '.')) {
    if (*decimal.at == '0') decimal.point--;
    decimal.at++;
  }
  return decimal;
}

/* The next digit; 0 after the last. */
static char next_digit(struct decimal *decimal) {
  if (decimal->at < decimal->end && *decimal->at == '.') decimal->at++;
  return decimal->at < decimal->end ? *decimal->at++ : '0';
}

static int has_digits(struct decimal decimal) {
  for (; decimal.at < decimal.end; decimal.at++)
    if (*decimal.at >= '1' && *decimal.at <= '9') return 1;
  return 0;
}

int decimal_compare(const char *text, size_t length, double magnitude) {
  char exact[1200]; /* no double needs more than 767 digits */
  int exact_length = snprintf(exact, sizeof exact, "%.800e", magnitude);
  struct decimal a = open_decimal(text, length);
  struct decimal b = open_decimal(exact, (size_t)exact_length);
  if (!has_digits(a) || !has_digits(b)) return has_digits(a) - has_digits(b);
  if (a.point != b.point) return a.point > b.point ? 1 : -1;
  while (a.at < a.end || b.at < b.end) {
    char left = next_digit(&a);
    char right = next_digit(&b);
    if (left != right) return left > right ? 1 : -1;
  }
  return 0;
}
