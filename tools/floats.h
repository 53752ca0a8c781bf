/* SPDX-License-Identifier: Apache-2.0 */
/* Binary floating-point formats: exact conversion of their bit patterns to and from double. */
#ifndef FLOATS_H
#define FLOATS_H

#include <stddef.h>
#include <stdint.h>

struct float_format {
  int exponent_bits;
  int mantissa_bits;
  int unused_bits; /* at the low end of the stored word (tf32) */
  int has_infinity;
  uint64_t largest;   /* pattern of the largest finite magnitude, without unused bits */
  uint64_t infinity;  /* pattern, where there is one */
  uint64_t quiet_nan; /* pattern of the NaN that the word "nan" means */
};

enum float_class { FLOAT_FINITE, FLOAT_INFINITE, FLOAT_NAN };

/* *magnitude is exact. The sign is the top bit of the pattern. */
enum float_class float_decode(const struct float_format *format, uint64_t bits, int *negative,
                              double *magnitude);

/*
 * Rounds to nearest even. `above` is the sign of (true value - magnitude) where `magnitude` is
 * itself rounded, else 0. The pattern has no sign; a result past format->largest is not corrected.
 */
uint64_t float_encode(const struct float_format *format, double magnitude, int above);

/* Whether decimal text, without sign, is above (1), equal to (0) or below (-1) a finite value. */
int decimal_compare(const char *text, size_t length, double magnitude);

#endif
