/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point formats and conversions between them. A value on its way is sign, significand and
 * exponent; rounding happens once, in encode(). */
#include <math.h>
#include <string.h>

#include "arithmetic.h"

struct layout {
  int exponent_bits;
  int fraction_bits;
  int bias;
  bool infinite;      /* has infinities; e4m3 has none and one NaN a sign */
  uint64_t quiet_nan; /* what arithmetic and conversions make */
};

static const struct layout layouts[] = {
    [FORMAT_F16] = {5, 10, 15, true, 0x7fff},
    [FORMAT_BF16] = {8, 7, 127, true, 0x7fff},
    [FORMAT_TF32] = {8, 10, 127, true, 0x7fffffff},
    [FORMAT_F32] = {8, 23, 127, true, 0x7fffffff},
    [FORMAT_F64] = {11, 52, 1023, true, UINT64_C(0x7ff8000000000000)},
    [FORMAT_E4M3] = {4, 3, 7, false, 0x7f},
    [FORMAT_E5M2] = {5, 2, 15, true, 0x7f},
};

enum kind { KIND_ZERO, KIND_NUMBER, KIND_INFINITE, KIND_NAN };

/* (-1)^negative * significand * 2^exponent, the significand's top bit set. */
struct number {
  enum kind kind;
  bool negative;
  uint64_t significand;
  int exponent;
};

static struct number normal(bool negative, uint64_t significand, int exponent) {
  if (significand == 0) {
    return (struct number){KIND_ZERO, negative, 0, 0};
  }
  int shift = __builtin_clzll(significand);
  return (struct number){KIND_NUMBER, negative, significand << shift, exponent - shift};
}

static struct number decode(enum float_format format, uint64_t bits) {
  const struct layout *layout = &layouts[format];
  if (format == FORMAT_TF32) {
    layout = &layouts[FORMAT_F32]; /* tf32 is held as the bits of an f32 */
  }
  int width = 1 + layout->exponent_bits + layout->fraction_bits;
  bool negative = bits >> (width - 1) & 1;
  uint64_t fraction = bits & (((uint64_t)1 << layout->fraction_bits) - 1);
  int top = (1 << layout->exponent_bits) - 1;
  int exponent = (int)(bits >> layout->fraction_bits) & top;
  if (!layout->infinite && exponent == top && fraction == 7) {
    return (struct number){KIND_NAN, negative, 0, 0};
  }
  if (layout->infinite && exponent == top) {
    return (struct number){fraction == 0 ? KIND_INFINITE : KIND_NAN, negative, 0, 0};
  }
  if (exponent > 0) {
    fraction |= (uint64_t)1 << layout->fraction_bits;
  } else {
    exponent = 1;
  }
  return normal(negative, fraction, exponent - layout->bias - layout->fraction_bits);
}

static uint64_t largest(const struct layout *layout) {
  uint64_t top = ((uint64_t)1 << layout->exponent_bits) - 1;
  uint64_t all = ((uint64_t)1 << layout->fraction_bits) - 1;
  return layout->infinite ? (top - 1) << layout->fraction_bits | all
                          : (top << layout->fraction_bits | all) - 1;
}

/* Shifts right by `count` and rounds what falls off. */
static uint64_t round_off(uint64_t significand, int count, enum rounding rounding) {
  if (count > 64) {
    return 0;
  }
  uint64_t kept = count == 64 ? 0 : significand >> count;
  uint64_t half = (uint64_t)1 << (count - 1);
  uint64_t rest = count == 64 ? significand : significand & ((half << 1) - 1);
  bool up = rounding == ROUND_NEAREST_AWAY   ? rest >= half
            : rounding == ROUND_NEAREST_EVEN ? rest > half || (rest == half && (kept & 1))
                                             : false;
  return kept + up;
}

static uint64_t encode(enum float_format format, const struct number *number,
                       enum rounding rounding, bool finite) {
  const struct layout *layout = &layouts[format];
  int dropped = format == FORMAT_TF32 ? 13 : 0; /* low bits of the f32 that holds a tf32 */
  int width = 1 + layout->exponent_bits + layout->fraction_bits;
  uint64_t sign = number->negative ? (uint64_t)1 << (width - 1) : 0;
  uint64_t infinity = finite
                          ? largest(layout)
                          : (((uint64_t)1 << layout->exponent_bits) - 1) << layout->fraction_bits;
  uint64_t bits = 0;
  if (number->kind == KIND_NAN) {
    return layout->quiet_nan;
  }
  if (number->kind == KIND_INFINITE) {
    bits = infinity;
  } else if (number->kind == KIND_NUMBER) {
    int exponent = number->exponent + 63 + layout->bias; /* biased, of the leading bit */
    int count = 63 - layout->fraction_bits + (exponent < 1 ? 1 - exponent : 0);
    uint64_t rounded = round_off(number->significand, count, rounding);
    /* The leading bit of a normal number carries 1 into the exponent, and so does a rounding up. */
    bits = (exponent < 1 ? 0 : (uint64_t)(exponent - 1) << layout->fraction_bits) + rounded;
    if (bits > largest(layout)) {
      bits = rounding == ROUND_TO_ZERO ? largest(layout) : infinity;
    }
  }
  return (sign | bits) << dropped;
}

double format_to_double(enum float_format format, uint64_t bits) {
  struct number number = decode(format, bits);
  uint64_t wide = encode(FORMAT_F64, &number, ROUND_NEAREST_EVEN, false);
  double value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

uint64_t format_from_double(enum float_format format, double value, enum rounding rounding) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  struct number number = decode(FORMAT_F64, bits);
  return encode(format, &number, rounding, false);
}

/* The low bits of a register as the source type of a conversion reads them. */
static uint64_t source_integer(const struct instruction *in, uint64_t a, bool *negative) {
  const struct type_facts *type = &type_facts[in->source_type];
  unsigned shift = 64 - type->bits;
  *negative = type->class == CLASS_INTEGER_S && widen(a, shift) < 0;
  return type->class == CLASS_INTEGER_S ? (uint64_t)widen(a, shift) : a << shift >> shift;
}

/* Whatever the conversion yields is extended to the register by the destination type's sign. */
static uint64_t extend(const struct instruction *in, uint64_t value) {
  value = in->is_signed ? (uint64_t)widen(value, in->shift) : value << in->shift >> in->shift;
  return value & in->mask;
}

static uint64_t clamp_integer(const struct instruction *in, bool negative, uint64_t magnitude) {
  unsigned bits = 64u - in->shift;
  uint64_t most = in->is_signed ? ((uint64_t)1 << (bits - 1)) - 1 : UINT64_MAX >> in->shift;
  if (negative) {
    uint64_t least = in->is_signed ? most + 1 : 0;
    magnitude = magnitude < least ? magnitude : least;
    return 0 - magnitude;
  }
  return magnitude < most ? magnitude : most;
}

static uint64_t integer_to_integer(const struct instruction *in, uint64_t a) {
  bool negative;
  uint64_t value = source_integer(in, a, &negative);
  if (in->saturate) {
    value = clamp_integer(in, negative, negative ? 0 - value : value);
  }
  return extend(in, value);
}

static uint64_t integer_to_float(const struct instruction *in, uint64_t a) {
  bool negative;
  uint64_t value = source_integer(in, a, &negative);
  struct number number = normal(negative, negative ? 0 - value : value, 0);
  return encode((enum float_format)in->format, &number, ROUND_NEAREST_EVEN, false);
}

/* Rounds towards zero; too large saturates, NaN is 0, or the top bit for 64-bit results and f64. */
static uint64_t float_to_integer(const struct instruction *in, uint64_t a) {
  struct number number = decode((enum float_format)in->source_format,
                                a & (UINT64_MAX >> (64 - type_facts[in->source_type].bits)));
  unsigned bits = 64u - in->shift;
  if (number.kind == KIND_NAN) {
    bool top = bits == 64 || (in->source_format == FORMAT_F64 && bits == 32);
    return extend(in, top ? (uint64_t)1 << (bits - 1) : 0);
  }
  uint64_t magnitude = 0;
  if (number.kind == KIND_INFINITE || (number.kind == KIND_NUMBER && number.exponent > 0)) {
    magnitude = UINT64_MAX;
  } else if (number.kind == KIND_NUMBER && number.exponent > -64) {
    magnitude = number.significand >> -number.exponent;
  }
  return extend(in, clamp_integer(in, number.negative, magnitude));
}

static uint64_t convert_one(const struct instruction *in, uint64_t a) {
  enum float_format from = (enum float_format)in->source_format;
  enum float_format to = (enum float_format)in->format;
  if (from == to && from != FORMAT_TF32) {
    return a; /* no change of format keeps the bits of a NaN */
  }
  struct number number = decode(from, a);
  return encode(to, &number, (enum rounding)in->rounding, in->saturate);
}

uint64_t convert(const struct instruction *in, uint64_t a, uint64_t b) {
  unsigned half = in->source_format == FORMAT_E4M3 || in->source_format == FORMAT_E5M2 ? 8 : 16;
  unsigned lane = in->format == FORMAT_E4M3 || in->format == FORMAT_E5M2 ? 8 : 16;
  uint64_t low = ((uint64_t)1 << half) - 1;
  switch (in->operation) {
  case OP_CVT_INTEGER: return integer_to_integer(in, a);
  case OP_CVT_TO_FLOAT: return integer_to_float(in, a);
  case OP_CVT_FROM_FLOAT: return float_to_integer(in, a);
  case OP_CVT_PAIR: return convert_one(in, a) << lane | convert_one(in, b);
  case OP_CVT_BOTH: return convert_one(in, a >> half) << lane | convert_one(in, a & low);
  default: break;
  }
  return convert_one(in, a & (UINT64_MAX >> (64 - type_facts[in->source_type].bits)));
}
