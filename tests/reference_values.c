/* SPDX-License-Identifier: Apache-2.0 */
#include "reference_values.h"

/* ---- Types ----------------------------------------------------------------------------------- */

/*
 * Integers: bits and sign. Floats: bits of exponent and fraction; the bias is half the exponents.
 */
struct format {
  int integer_bits;
  bool is_signed;
  int exponent_bits, fraction_bits;
  bool infinities; /* without them the largest exponent holds numbers, but for one NaN */
};

static struct format format_of(tptx_type type) {
  switch (type) {
  case TPTX_BOOL: return (struct format){.integer_bits = 1};
  case TPTX_S8: return (struct format){.integer_bits = 8, .is_signed = true};
  case TPTX_U8: return (struct format){.integer_bits = 8};
  case TPTX_S16: return (struct format){.integer_bits = 16, .is_signed = true};
  case TPTX_U16: return (struct format){.integer_bits = 16};
  case TPTX_S32: return (struct format){.integer_bits = 32, .is_signed = true};
  case TPTX_U32: return (struct format){.integer_bits = 32};
  case TPTX_S64: return (struct format){.integer_bits = 64, .is_signed = true};
  case TPTX_U64: return (struct format){.integer_bits = 64};
  case TPTX_F16:
    return (struct format){.exponent_bits = 5, .fraction_bits = 10, .infinities = true};
  case TPTX_BF16:
    return (struct format){.exponent_bits = 8, .fraction_bits = 7, .infinities = true};
  case TPTX_TF32: /* in memory it is an f32 whose last bits are of no account to a tensor core */
  case TPTX_F32:
    return (struct format){.exponent_bits = 8, .fraction_bits = 23, .infinities = true};
  case TPTX_F64:
    return (struct format){.exponent_bits = 11, .fraction_bits = 52, .infinities = true};
  case TPTX_E4M3: return (struct format){.exponent_bits = 4, .fraction_bits = 3};
  case TPTX_E5M2:
    return (struct format){.exponent_bits = 5, .fraction_bits = 2, .infinities = true};
  }
  return (struct format){0};
}

bool reference_is_float(tptx_type type) {
  return format_of(type).exponent_bits > 0;
}

bool reference_is_integer(tptx_type type) {
  return format_of(type).integer_bits > 1;
}

static uint64_t ones(int bits) {
  return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* ---- Floating-point numbers ------------------------------------------------------------------ */

enum kind { FINITE, INFINITE, NOT_A_NUMBER };

/* significand * 2^exponent */
struct number {
  enum kind kind;
  bool negative;
  uint64_t significand;
  int exponent;
};

static int bias_of(const struct format *f) {
  return (1 << (f->exponent_bits - 1)) - 1;
}

static struct number unpack(const struct format *f, uint64_t bits) {
  struct number n = {.kind = FINITE};
  uint64_t fraction = bits & ones(f->fraction_bits);
  int exponent = (int)(bits >> f->fraction_bits & ones(f->exponent_bits));
  bool largest = exponent == (int)ones(f->exponent_bits);
  n.negative = bits >> (f->fraction_bits + f->exponent_bits) & 1;
  if (f->infinities && largest) n.kind = fraction ? NOT_A_NUMBER : INFINITE;
  if (!f->infinities && largest && fraction == ones(f->fraction_bits)) n.kind = NOT_A_NUMBER;
  n.significand = exponent ? fraction | UINT64_C(1) << f->fraction_bits : fraction;
  n.exponent = (exponent ? exponent : 1) - bias_of(f) - f->fraction_bits;
  return n;
}

static uint64_t quiet_nan(const struct format *f) {
  uint64_t exponent = ones(f->exponent_bits) << f->fraction_bits;
  if (!f->infinities) return exponent | ones(f->fraction_bits);
  return exponent | UINT64_C(1) << (f->fraction_bits - 1);
}

/* significand / 2^places to the nearest integer, ties to the even one. */
static uint64_t divide_rounding(uint64_t significand, int places) {
  if (places > 64) return 0; /* below a half */
  uint64_t whole = places > 63 ? 0 : significand >> places;
  uint64_t half = UINT64_C(1) << (places - 1), rest = significand & ones(places);
  return whole + (rest > half || (rest == half && (whole & 1)));
}

/* The nearest number of the format, ties to even; past the largest one: infinity. */
static uint64_t pack(const struct format *f, struct number n) {
  uint64_t sign = (uint64_t)n.negative << (f->fraction_bits + f->exponent_bits);
  uint64_t infinity = ones(f->exponent_bits) << f->fraction_bits;
  if (n.kind == NOT_A_NUMBER) return quiet_nan(f);
  if (n.kind == INFINITE) return sign | infinity;
  if (n.significand == 0) return sign;
  int top = 63 - __builtin_clzll(n.significand);
  int least = 1 - bias_of(f); /* exponent of the smallest normal number */
  int exponent = n.exponent + top < least ? least : n.exponent + top;
  int places = exponent - f->fraction_bits - n.exponent; /* to be given up */
  uint64_t significand =
      places > 0 ? divide_rounding(n.significand, places) : n.significand << -places;
  /* The leading bit adds one to the exponent field: a carry out of the fraction does so, too. */
  uint64_t field = (uint64_t)(exponent - least) << f->fraction_bits;
  uint64_t bits = field + significand;
  return sign | (bits > infinity ? infinity : bits);
}

/*
 * The leading bit to place 60: room for a carry above, for the digits that rounding looks at
 * below.
 */
static void normalise(struct number *n) {
  int shift = __builtin_clzll(n->significand) - 3;
  n->significand <<= shift;
  n->exponent -= shift;
}

/* The sum, exact but for a last bit that says whether anything lies below it. */
static struct number add(struct number a, struct number b) {
  if (a.kind == NOT_A_NUMBER || b.kind == NOT_A_NUMBER)
    return (struct number){NOT_A_NUMBER, 0, 0, 0};
  if (a.kind == INFINITE && b.kind == INFINITE && a.negative != b.negative)
    return (struct number){NOT_A_NUMBER, 0, 0, 0};
  if (a.kind == INFINITE) return a;
  if (b.kind == INFINITE) return b;
  if (a.significand == 0 && b.significand == 0) {
    a.negative = a.negative && b.negative;
    return a;
  }
  if (a.significand == 0) return b;
  if (b.significand == 0) return a;
  normalise(&a);
  normalise(&b);
  if (a.exponent < b.exponent) {
    struct number other = a;
    a = b;
    b = other;
  }
  int distance = a.exponent - b.exponent;
  bool below = distance > 63 || (b.significand & ones(distance)) != 0;
  b.significand = (distance > 63 ? 0 : b.significand >> distance) | (uint64_t)below;
  if (a.negative == b.negative) {
    a.significand += b.significand;
  } else if (a.significand >= b.significand) {
    a.significand -= b.significand;
  } else {
    a.significand = b.significand - a.significand;
    a.negative = b.negative;
  }
  if (a.significand == 0) a.negative = false;
  return a;
}

bool reference_is_nan(tptx_type type, uint64_t bits) {
  struct format f = format_of(type);
  return reference_is_float(type) && unpack(&f, bits).kind == NOT_A_NUMBER;
}

uint64_t reference_quiet_nan(tptx_type type) {
  struct format f = format_of(type);
  return quiet_nan(&f);
}

/* ---- Conversion ------------------------------------------------------------------------------ */

/* Integers, bool as one of a single bit: the other type holds all values. */
static bool integer_converts(struct format from, struct format to) {
  if (from.is_signed) return to.is_signed && to.integer_bits >= from.integer_bits;
  return to.integer_bits - to.is_signed >= from.integer_bits && to.integer_bits > 1;
}

/* Floats, pair by pair as semantics says them. */
static bool float_converts(tptx_type from, tptx_type to) {
  switch (from) {
  case TPTX_F16:
  case TPTX_BF16: return to == TPTX_TF32 || to == TPTX_F32 || to == TPTX_F64;
  case TPTX_TF32: return to == TPTX_F32 || to == TPTX_F64;
  case TPTX_F32: return to == TPTX_F64;
  case TPTX_E4M3:
  case TPTX_E5M2:
    return to == TPTX_F16 || to == TPTX_BF16 || to == TPTX_TF32 || to == TPTX_F32 || to == TPTX_F64;
  default: return false;
  }
}

bool reference_converts(tptx_type from, tptx_type to) {
  if (from == to) return true;
  bool from_float = reference_is_float(from), to_float = reference_is_float(to);
  if (from_float != to_float) return false;
  return from_float ? float_converts(from, to) : integer_converts(format_of(from), format_of(to));
}

uint64_t reference_convert(tptx_type from, tptx_type to, uint64_t bits) {
  struct format f = format_of(from), t = format_of(to);
  if (from == to) return bits;
  if (f.exponent_bits) return pack(&t, unpack(&f, bits));
  if (from == TPTX_BOOL) return bits != 0;
  bool negative = f.is_signed && (bits >> (f.integer_bits - 1) & 1);
  return negative ? (bits | ~ones(f.integer_bits)) & ones(t.integer_bits) : bits;
}

/* ---- Read-modify-write ----------------------------------------------------------------------- */

bool reference_takes(tptx_operation operation, tptx_type type) {
  bool sums = operation == TPTX_ATOMIC_ADD || operation == TPTX_ATOMIC_SUB;
  switch (type) {
  case TPTX_S32:
  case TPTX_U32:
  case TPTX_S64:
  case TPTX_U64: return true;
  case TPTX_F16:
  case TPTX_BF16:
  case TPTX_F32:
  case TPTX_F64: return sums;
  default: return false;
  }
}

static bool greater(const struct format *f, uint64_t a, uint64_t b) {
  uint64_t sign = f->is_signed ? UINT64_C(1) << (f->integer_bits - 1) : 0;
  return (a ^ sign) > (b ^ sign);
}

static uint64_t add_floats(const struct format *f, uint64_t k, uint64_t v) {
  return pack(f, add(unpack(f, k), unpack(f, v)));
}

uint64_t reference_update(tptx_operation operation, tptx_type type, uint64_t k, uint64_t v) {
  struct format f = format_of(type);
  bool is_float = reference_is_float(type);
  switch (operation) {
  case TPTX_ATOMIC_AND: return k & v;
  case TPTX_ATOMIC_OR: return k | v;
  case TPTX_ATOMIC_XOR: return k ^ v;
  case TPTX_ATOMIC_MAX: return greater(&f, v, k) ? v : k;
  case TPTX_ATOMIC_MIN: return greater(&f, k, v) ? v : k;
  case TPTX_ATOMIC_ADD: return is_float ? add_floats(&f, k, v) : (k + v) & ones(f.integer_bits);
  case TPTX_ATOMIC_SUB:
    if (!is_float) return (k - v) & ones(f.integer_bits);
    return add_floats(&f, k, v ^ UINT64_C(1) << (f.exponent_bits + f.fraction_bits));
  default: return k;
  }
}

static uint64_t flush(uint64_t bits) {
  return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

uint64_t reference_update_flushing(tptx_operation operation, uint64_t k, uint64_t v) {
  return flush(reference_update(operation, TPTX_F32, flush(k), flush(v)));
}
