/* SPDX-License-Identifier: Apache-2.0 */
/* Integer, bit and floating-point operations that are more than one C operator. */
#include "arithmetic.h"

#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide_unsigned;
__extension__ typedef __int128 wide_signed;

uint64_t high_product_unsigned(uint64_t a, uint64_t b, unsigned bits) {
  return (uint64_t)((wide_unsigned)a * b >> bits);
}

uint64_t high_product_signed(uint64_t a, uint64_t b, unsigned bits) {
  wide_signed product = (wide_signed)widen(a, 64 - bits) * widen(b, 64 - bits);
  return (uint64_t)((wide_unsigned)product >> bits);
}

uint64_t bit_field(const struct instruction *in, uint64_t a, uint64_t position, uint64_t length) {
  unsigned bits = 64u - in->shift;
  bool is_signed = in->operation == OP_BFE_S;
  position &= 0xff;
  length &= 0xff;
  if (length == 0) {
    return 0;
  }
  uint64_t last = position + length - 1;
  last = last < bits - 1 ? last : bits - 1;
  uint64_t sign = is_signed ? a >> last & 1 : 0;
  uint64_t result = 0;
  for (unsigned k = 0; k < bits; k++) {
    uint64_t bit = k < length && position + k < bits ? a >> (position + k) & 1 : sign;
    result |= bit << k;
  }
  return result;
}

uint64_t bit_insert(const struct instruction *in, uint64_t a, uint64_t b, uint64_t position,
                    uint64_t length) {
  unsigned bits = 64u - in->shift;
  position &= 0xff;
  length &= 0xff;
  if (position >= bits || length == 0) {
    return b;
  }
  uint64_t field = (length >= 64 ? UINT64_MAX : ((uint64_t)1 << length) - 1) << position;
  return ((a << position & field) | (b & ~field)) & in->mask;
}

uint64_t permute_bytes(uint64_t a, uint64_t b, uint64_t selection) {
  uint64_t bytes = (a & 0xffffffff) | b << 32;
  uint64_t result = 0;
  for (unsigned k = 0; k < 4; k++) {
    uint64_t choice = selection >> (4 * k) & 0xf;
    uint64_t byte = bytes >> (8 * (choice & 7)) & 0xff;
    if (choice & 8) {
      byte = byte & 0x80 ? 0xff : 0;
    }
    result |= byte << (8 * k);
  }
  return result;
}

uint64_t logic3(uint64_t a, uint64_t b, uint64_t c, int64_t table) {
  uint64_t result = 0;
  for (unsigned k = 0; k < 8; k++) {
    if (table >> k & 1) {
      result |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    }
  }
  return result & 0xffffffff;
}

uint64_t funnel_shift(uint64_t low, uint64_t high, uint64_t count, bool left, bool clamp) {
  uint64_t both = high << 32 | low;
  count = clamp && count > 32 ? 32 : clamp ? count : count & 31;
  return (left ? both << count >> 32 : both >> count) & 0xffffffff;
}

uint64_t reverse_bits(uint64_t value, unsigned bits) {
  uint64_t result = 0;
  for (unsigned k = 0; k < bits; k++) {
    result |= (value >> k & 1) << (bits - 1 - k);
  }
  return result;
}

bool compare_integers(const struct instruction *in, uint64_t a, uint64_t b) {
  if (in->is_signed) {
    /* A flipped sign bit turns the order of signed numbers into that of unsigned ones. */
    a = (uint64_t)widen(a, in->shift) ^ (uint64_t)1 << 63;
    b = (uint64_t)widen(b, in->shift) ^ (uint64_t)1 << 63;
  }
  switch (in->compare) {
  case COMPARE_EQ: return a == b;
  case COMPARE_NE: return a != b;
  case COMPARE_LT: return a < b;
  case COMPARE_LE: return a <= b;
  case COMPARE_GT: return a > b;
  default: return a >= b;
  }
}

bool compare_floats(const struct instruction *in, uint64_t a, uint64_t b) {
  double x = format_to_double((enum float_format)in->format, a);
  double y = format_to_double((enum float_format)in->format, b);
  bool unordered = isnan(x) || isnan(y);
  switch (in->compare) {
  case COMPARE_EQ: return x == y;
  case COMPARE_NE: return !unordered && x != y;
  case COMPARE_LT: return x < y;
  case COMPARE_LE: return x <= y;
  case COMPARE_GT: return x > y;
  case COMPARE_GE: return x >= y;
  case COMPARE_EQU: return unordered || x == y;
  case COMPARE_NEU: return x != y;
  case COMPARE_LTU: return unordered || x < y;
  case COMPARE_LEU: return unordered || x <= y;
  case COMPARE_GTU: return unordered || x > y;
  case COMPARE_GEU: return unordered || x >= y;
  case COMPARE_NUM: return !unordered;
  default: return unordered;
  }
}

/* x + y rounded to odd: any narrower rounding of it is that of the exact sum. */
static double add_to_odd(double x, double y) {
  double sum = x + y;
  if (!isfinite(sum)) {
    return sum;
  }
  double part = sum - x;
  double error = (x - (sum - part)) + (y - part);
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  if (error != 0 && (bits & 1) == 0) {
    sum = nextafter(sum, error > 0 ? INFINITY : -INFINITY);
  }
  return sum;
}

static double half_result(enum operation operation, double x, double y, double z) {
  switch (operation) {
  case OP_SUB_FLOAT: return add_to_odd(x, -y);
  case OP_FMA_FLOAT: return add_to_odd(x * y, z); /* the product of two halves is exact */
  default: return add_to_odd(x, y);
  }
}

static uint64_t single_result(enum operation operation, uint64_t a, uint64_t b, uint64_t c) {
  uint32_t bits[3] = {(uint32_t)a, (uint32_t)b, (uint32_t)c};
  float x[3];
  float result;
  memcpy(x, bits, sizeof x);
  switch (operation) {
  case OP_SUB_FLOAT: result = x[0] - x[1]; break;
  case OP_MUL_FLOAT: result = x[0] * x[1]; break;
  case OP_FMA_FLOAT: result = fmaf(x[0], x[1], x[2]); break;
  default: result = x[0] + x[1]; break;
  }
  if (isnan(result)) {
    return 0x7fffffff;
  }
  memcpy(bits, &result, sizeof result);
  return bits[0];
}

static uint64_t double_result(enum operation operation, uint64_t a, uint64_t b, uint64_t c) {
  uint64_t bits[3] = {a, b, c};
  double x[3];
  double result;
  memcpy(x, bits, sizeof x);
  switch (operation) {
  case OP_SUB_FLOAT: result = x[0] - x[1]; break;
  case OP_MUL_FLOAT: result = x[0] * x[1]; break;
  case OP_FMA_FLOAT: result = fma(x[0], x[1], x[2]); break;
  default: result = x[0] + x[1]; break;
  }
  if (isnan(result)) {
    return UINT64_C(0x7ff8000000000000);
  }
  memcpy(bits, &result, sizeof result);
  return bits[0];
}

static uint64_t one_result(enum operation operation, enum float_format format, uint64_t a,
                           uint64_t b, uint64_t c) {
  if (operation == OP_MIN_FLOAT || operation == OP_MAX_FLOAT) {
    return float_minimum(format, a, b, operation == OP_MAX_FLOAT);
  }
  if (format == FORMAT_F32) {
    return single_result(operation, a, b, c);
  }
  if (format == FORMAT_F64) {
    return double_result(operation, a, b, c);
  }
  return format_from_double(format,
                            half_result(operation, format_to_double(format, a),
                                        format_to_double(format, b), format_to_double(format, c)),
                            ROUND_NEAREST_EVEN);
}

uint64_t float_arithmetic(const struct instruction *in, uint64_t a, uint64_t b, uint64_t c) {
  enum operation operation = (enum operation)in->operation;
  enum float_format format = (enum float_format)in->format;
  if (in->packed == 1) {
    return one_result(operation, format, a, b, c);
  }
  return one_result(operation, format, a & 0xffff, b & 0xffff, c & 0xffff) |
         one_result(operation, format, a >> 16, b >> 16, c >> 16) << 16;
}

uint64_t float_add(enum float_format format, uint64_t a, uint64_t b) {
  return one_result(OP_ADD_FLOAT, format, a, b, 0);
}

/* The number where one operand is a NaN, and -0 below +0. */
uint64_t float_minimum(enum float_format format, uint64_t a, uint64_t b, bool maximum) {
  double x = format_to_double(format, a);
  double y = format_to_double(format, b);
  if (isnan(x) && isnan(y)) {
    return format_from_double(format, NAN, ROUND_NEAREST_EVEN);
  }
  if (isnan(x) || isnan(y)) {
    return isnan(x) ? b : a;
  }
  bool a_is_less = x < y || (x == y && signbit(x) && !signbit(y));
  return a_is_less == maximum ? b : a;
}

static uint64_t sign_bits(const struct instruction *in) {
  uint64_t sign = (uint64_t)1 << (in->packed == 2 ? 15 : 63 - in->shift);
  return in->packed == 2 ? sign | sign << 16 : sign;
}

uint64_t float_negate(const struct instruction *in, uint64_t a, bool absolute) {
  uint64_t sign = sign_bits(in);
  return absolute ? a & ~sign : a ^ sign;
}

uint64_t flush_subnormal(uint64_t value) {
  return (value & 0x7f800000) == 0 ? value & 0x80000000 : value;
}
