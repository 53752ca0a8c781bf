/* SPDX-License-Identifier: Apache-2.0 */
/* Values of PTX registers: bit patterns in the low bits of a uint64_t. */
#ifndef EMU_ARITHMETIC_H
#define EMU_ARITHMETIC_H

#include "program.h"

/* Sign-extends the low (64 - shift) bits. */
static inline int64_t widen(uint64_t value, unsigned shift) {
  return (int64_t)(value << shift) >> shift;
}

uint64_t high_product_unsigned(uint64_t a, uint64_t b, unsigned bits);
uint64_t high_product_signed(uint64_t a, uint64_t b, unsigned bits);
uint64_t bit_field(const struct instruction *in, uint64_t a, uint64_t position, uint64_t length);
uint64_t bit_insert(const struct instruction *in, uint64_t a, uint64_t b, uint64_t position,
                    uint64_t length);
uint64_t permute_bytes(uint64_t a, uint64_t b, uint64_t selection);
uint64_t logic3(uint64_t a, uint64_t b, uint64_t c, int64_t table);
uint64_t funnel_shift(uint64_t low, uint64_t high, uint64_t count, bool left, bool clamp);
uint64_t reverse_bits(uint64_t value, unsigned bits);

bool compare_integers(const struct instruction *in, uint64_t a, uint64_t b);
bool compare_floats(const struct instruction *in, uint64_t a, uint64_t b);

/* add, sub, mul, fma, min, max of a register that holds one or two values of a format. */
uint64_t float_arithmetic(const struct instruction *in, uint64_t a, uint64_t b, uint64_t c);
/* One value; what red and atom do. */
uint64_t float_add(enum float_format format, uint64_t a, uint64_t b);
uint64_t float_minimum(enum float_format format, uint64_t a, uint64_t b, bool maximum);
uint64_t float_negate(const struct instruction *in, uint64_t a, bool absolute);
uint64_t flush_subnormal(uint64_t value);

/* Every form of cvt; `b` is the second source of the packing ones. */
uint64_t convert(const struct instruction *in, uint64_t a, uint64_t b);
uint64_t format_from_double(enum float_format format, double value, enum rounding rounding);
double format_to_double(enum float_format format, uint64_t bits);

#endif
