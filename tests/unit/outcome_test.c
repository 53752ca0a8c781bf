/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference's values against the processor's own arithmetic, and which outcomes are accepted.
 */
#include "outcome.h"
#include "reference_values.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values ---------------------------------------------------------------------------------- */

static uint64_t random_bits(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state ^ *state >> 29;
}

static float as_float(uint64_t bits) {
  uint32_t narrow = (uint32_t)bits;
  float f;
  memcpy(&f, &narrow, sizeof f);
  return f;
}

static double as_double(uint64_t bits) {
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}

static uint64_t bits_of_float(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

static uint64_t bits_of_double(double d) {
  uint64_t bits;
  memcpy(&bits, &d, sizeof bits);
  return bits;
}

static void expect_value(tptx_type type, uint64_t got, uint64_t wanted, const char *what) {
  bool both_nan = reference_is_nan(type, got) && reference_is_nan(type, wanted);
  ck_assert_msg(got == wanted || both_nan, "%s, %s: %" PRIx64 ", expected %" PRIx64, what,
                tptx_type_name(type), got, wanted);
}

/*
 * Exponents near each other, so that digits are lost, carried and cancelled; subnormals,
 * infinities.
 */
START_TEST(sums_are_those_of_the_processor) {
  uint64_t state = 3;
  for (int i = 0; i < 200000; i++) {
    uint64_t k = random_bits(&state), v = random_bits(&state);
    if (i % 2) v = (v & ~UINT64_C(0x7ff0000000000000)) | (k & UINT64_C(0x7ff0000000000000));
    if (i % 4 == 1) v += ((random_bits(&state) % 120) - 60) << 52;
    if (i % 16 == 2) k &= UINT64_C(0x800fffffffffffff);
    volatile double sum = as_double(k) + as_double(v), rest = as_double(k) - as_double(v);
    expect_value(TPTX_F64, reference_update(TPTX_ATOMIC_ADD, TPTX_F64, k, v), bits_of_double(sum),
                 "sum");
    expect_value(TPTX_F64, reference_update(TPTX_ATOMIC_SUB, TPTX_F64, k, v), bits_of_double(rest),
                 "difference");
    uint64_t narrow = v >> 32;
    if (i % 2) narrow = (narrow & 0x807fffff) | (k & 0x7f800000);
    if (i % 4 == 1) narrow = (narrow + ((random_bits(&state) % 60 - 30) << 23)) & UINT32_MAX;
    k &= i % 16 == 3 ? 0x807fffff : UINT32_MAX;
    volatile float small = as_float(k) + as_float(narrow);
    expect_value(TPTX_F32, reference_update(TPTX_ATOMIC_ADD, TPTX_F32, k, narrow),
                 bits_of_float(small), "sum");
  }
}
END_TEST

/* Through f64, where the sum of two f16 is exact: then one rounding, done by hand. */
START_TEST(half_sums) {
  static const struct {
    tptx_type type;
    uint64_t k, v, sum;
  } rows[] = {
      {TPTX_F16, 0x6800, 0x3c00, 0x6800}, /* 2048 + 1, a tie, to even */
      {TPTX_F16, 0x6801, 0x3c00, 0x6802}, /* 2050 + 1, a tie, to even */
      {TPTX_F16, 0x7bff, 0x4b80, 0x7bff}, /* 65504 + 15 */
      {TPTX_F16, 0x7bff, 0x4c00, 0x7c00}, /* 65504 + 16 overflows */
      {TPTX_F16, 0x0001, 0x0001, 0x0002}, /* subnormals */
      {TPTX_F16, 0x03ff, 0x0001, 0x0400}, /* the smallest normal number */
      {TPTX_F16, 0x0400, 0x8001, 0x03ff},  {TPTX_F16, 0x3c00, 0xbc00, 0x0000}, /* +0 */
      {TPTX_F16, 0x8000, 0x8000, 0x8000},  {TPTX_F16, 0x8000, 0x0000, 0x0000},
      {TPTX_F16, 0x7c00, 0xfc00, 0x7e00}, /* NaN */
      {TPTX_F16, 0x7c00, 0x7bff, 0x7c00},  {TPTX_F16, 0x7e00, 0x3c00, 0x7e00},
      {TPTX_F16, 0x3c00, 0x9000, 0x3bff},  /* 1 - 2^-11: one digit finer below 1 */
      {TPTX_F16, 0x3c00, 0x8c00, 0x3c00},  /* 1 - 2^-12: a tie, to even */
      {TPTX_BF16, 0x4380, 0x3f80, 0x4380}, /* 256 + 1 */
      {TPTX_BF16, 0x4381, 0x3f80, 0x4382}, /* 258 + 1 */
      {TPTX_BF16, 0x7f7f, 0x7f7f, 0x7f80}, {TPTX_BF16, 0x0001, 0x0001, 0x0002},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint64_t sum = reference_update(TPTX_ATOMIC_ADD, rows[i].type, rows[i].k, rows[i].v);
    expect_value(rows[i].type, sum, rows[i].sum, "sum");
    sum = reference_update(TPTX_ATOMIC_ADD, rows[i].type, rows[i].v, rows[i].k);
    expect_value(rows[i].type, sum, rows[i].sum, "sum the other way round");
  }
}
END_TEST

START_TEST(integers) {
  static const struct {
    tptx_operation operation;
    tptx_type type;
    uint64_t k, v, result;
  } rows[] = {
      {TPTX_ATOMIC_AND, TPTX_S32, 170, 15, 10},
      {TPTX_ATOMIC_OR, TPTX_S32, 170, 15, 175},
      {TPTX_ATOMIC_XOR, TPTX_S32, 170, 255, 85},
      {TPTX_ATOMIC_MAX, TPTX_U32, 0xffffffff, 1, 0xffffffff},
      {TPTX_ATOMIC_MAX, TPTX_S32, 0xffffffff, 1, 1},
      {TPTX_ATOMIC_MIN, TPTX_U64, UINT64_MAX, 1, 1},
      {TPTX_ATOMIC_MIN, TPTX_S64, UINT64_MAX, 1, UINT64_MAX},
      {TPTX_ATOMIC_ADD, TPTX_S32, 0x7fffffff, 1, 0x80000000},
      {TPTX_ATOMIC_ADD, TPTX_U64, UINT64_MAX, 2, 1},
      {TPTX_ATOMIC_SUB, TPTX_U32, 3, 5, 4294967294},
      {TPTX_ATOMIC_SUB, TPTX_S64, 0, 1, UINT64_MAX},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    ck_assert_uint_eq(reference_update(rows[i].operation, rows[i].type, rows[i].k, rows[i].v),
                      rows[i].result);
}
END_TEST

/* f32 to f64 by the processor; the small formats against numbers worked out by hand. */
START_TEST(conversions) {
  static const struct {
    tptx_type from, to;
    uint64_t value, wanted;
  } rows[] = {
      {TPTX_F16, TPTX_F32, 0x3c00, 0x3f800000},
      {TPTX_F16, TPTX_F32, 0x0001, 0x33800000},
      {TPTX_F16, TPTX_F32, 0xfc00, 0xff800000},
      {TPTX_F16, TPTX_F64, 0x8000, UINT64_C(1) << 63},
      {TPTX_BF16, TPTX_F32, 0x4049, 0x40490000},
      {TPTX_E4M3, TPTX_F32, 0x7e, 0x43e00000},
      {TPTX_E4M3, TPTX_F32, 0x01, 0x3b000000},
      {TPTX_E4M3, TPTX_F16, 0x38, 0x3c00},
      {TPTX_E4M3, TPTX_F16, 0x7f, 0x7e00},
      {TPTX_E5M2, TPTX_F16, 0x3c, 0x3c00},
      {TPTX_E5M2, TPTX_BF16, 0x01, 0x3780},
      {TPTX_E5M2, TPTX_F32, 0x7c, 0x7f800000},
      {TPTX_TF32, TPTX_F32, 0x3f802000, 0x3f802000},
      {TPTX_S8, TPTX_S32, 0x80, 0xffffff80},
      {TPTX_S8, TPTX_S64, 0xff, UINT64_MAX},
      {TPTX_U8, TPTX_S16, 0xff, 0xff},
      {TPTX_U32, TPTX_S64, 0xffffffff, 0xffffffff},
      {TPTX_BOOL, TPTX_U64, 1, 1},
  };
  uint64_t state = 9;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    expect_value(rows[i].to, reference_convert(rows[i].from, rows[i].to, rows[i].value),
                 rows[i].wanted, tptx_type_name(rows[i].from));
  for (int i = 0; i < 100000; i++) {
    uint64_t bits = random_bits(&state) & (i % 8 ? UINT32_MAX : 0x807fffff);
    volatile double wide = (double)as_float(bits);
    expect_value(TPTX_F64, reference_convert(TPTX_F32, TPTX_F64, bits), bits_of_double(wide),
                 "f32");
  }
}
END_TEST

/* ---- Outcomes -------------------------------------------------------------------------------- */

/* One row of four elements, index array {1, 1, 1, 2}: elements 0 to 2 of the tile meet in one. */
struct meeting {
  tptx_view view;
  tptx_op op;
  tptx_args args;
  uint32_t span[3][4], tile[3][4]; /* before, after, expected */
  int32_t indices[4];
};

static void begin(struct meeting *m, tptx_operation operation, const uint32_t *span,
                  const uint32_t *tile) {
  const int64_t four = 4;
  memset(m, 0, sizeof *m);
  tptx_view_gather_scatter(&m->view, TPTX_U32, 1, &four, NULL, &four, 0);
  tptx_op_init(&m->op);
  m->op.operation = operation;
  m->op.order = TPTX_ORDER_RELAXED;
  m->op.scope = TPTX_SCOPE_DEVICE;
  tptx_args_init(&m->args);
  m->args.index_count = 4;
  memcpy(m->indices, (const int32_t[]){1, 1, 1, 2}, sizeof m->indices);
  for (int i = 0; i < 3; i++) {
    memcpy(m->span[i], span, sizeof m->span[i]);
    memcpy(m->tile[i], tile, sizeof m->tile[i]);
  }
}

static struct reference_memory image(struct meeting *m, int number) {
  return (struct reference_memory){(unsigned char *)m->span[number],
                                   (unsigned char *)m->tile[number],
                                   (const unsigned char *)m->indices};
}

/* Whether a device may leave this. */
static bool accepted(struct meeting *m, const uint32_t *span, const uint32_t *tile) {
  memcpy(m->span[1], span, sizeof m->span[1]);
  memcpy(m->tile[1], tile, sizeof m->tile[1]);
  memcpy(m->span[2], m->span[0], sizeof m->span[2]);
  memcpy(m->tile[2], m->tile[0], sizeof m->tile[2]);
  ck_assert(reference_run(&m->view, &m->op, &m->args, image(m, 2)));
  outcome_adopt(&m->view, &m->op, &m->args, image(m, 0), image(m, 1), image(m, 2));
  return memcmp(m->span[1], m->span[2], sizeof m->span[1]) == 0 &&
         memcmp(m->tile[1], m->tile[2], sizeof m->tile[1]) == 0;
}

#define WORDS(...) ((const uint32_t[4]){__VA_ARGS__})

START_TEST(old_values_make_one_chain) {
  struct meeting m;
  begin(&m, TPTX_ATOMIC_ADD, WORDS(9, 100, 200, 9), WORDS(1, 2, 4, 5));
  m.op.fetch = 1;
  ck_assert(accepted(&m, WORDS(9, 107, 205, 9), WORDS(100, 101, 103, 200)));
  ck_assert(accepted(&m, WORDS(9, 107, 205, 9), WORDS(106, 104, 100, 200)));
  ck_assert(accepted(&m, WORDS(9, 107, 205, 9), WORDS(102, 100, 103, 200)));
  ck_assert(!accepted(&m, WORDS(9, 107, 205, 9), WORDS(100, 100, 103, 200))); /* twice the same */
  ck_assert(!accepted(&m, WORDS(9, 105, 205, 9), WORDS(100, 101, 101, 200))); /* one is lost */
  ck_assert(!accepted(&m, WORDS(9, 107, 205, 9), WORDS(100, 101, 103, 205))); /* the new value */
  ck_assert(!accepted(&m, WORDS(8, 107, 205, 9), WORDS(100, 101, 103, 200))); /* a neighbour */
}
END_TEST

/* Steps that lead back to where they began hang on the chain, or they did not happen. */
START_TEST(a_chain_is_one_piece) {
  struct meeting m;
  begin(&m, TPTX_ATOMIC_XOR, WORDS(9, 100, 200, 9), WORDS(1, 1, 2, 0));
  m.op.fetch = 1;
  ck_assert(accepted(&m, WORDS(9, 102, 200, 9), WORDS(100, 101, 100, 200)));
  ck_assert(accepted(&m, WORDS(9, 102, 200, 9), WORDS(102, 103, 100, 200)));
  ck_assert(!accepted(&m, WORDS(9, 102, 200, 9), WORDS(50, 51, 100, 200)));
}
END_TEST

START_TEST(atomic_stores_leave_one_of_the_values) {
  struct meeting m;
  begin(&m, TPTX_ATOMIC_STORE, WORDS(9, 100, 200, 9), WORDS(1, 2, 4, 5));
  ck_assert(accepted(&m, WORDS(9, 1, 5, 9), WORDS(1, 2, 4, 5)));
  ck_assert(accepted(&m, WORDS(9, 2, 5, 9), WORDS(1, 2, 4, 5)));
  ck_assert(accepted(&m, WORDS(9, 4, 5, 9), WORDS(1, 2, 4, 5)));
  ck_assert(!accepted(&m, WORDS(9, 100, 5, 9), WORDS(1, 2, 4, 5)));
  ck_assert(!accepted(&m, WORDS(9, 3, 5, 9), WORDS(1, 2, 4, 5)));
  ck_assert(!accepted(&m, WORDS(9, 4, 4, 9), WORDS(1, 2, 4, 5)));
  ck_assert(!accepted(&m, WORDS(9, 4, 5, 9), WORDS(1, 2, 4, 6)));
}
END_TEST

START_TEST(subnormal_sums_may_be_zero) {
  struct meeting m;
  begin(&m, TPTX_ATOMIC_ADD, WORDS(9, 0, 1, 9), WORDS(0, 0, 0, 2));
  m.view.type = TPTX_F32;
  ck_assert(accepted(&m, WORDS(9, 0, 3, 9), WORDS(0, 0, 0, 2)));
  ck_assert(accepted(&m, WORDS(9, 0, 0, 9), WORDS(0, 0, 0, 2)));
  ck_assert(!accepted(&m, WORDS(9, 0, 2, 9), WORDS(0, 0, 0, 2)));
}
END_TEST

START_TEST(a_converted_nan_is_any_nan_but_padding_is_one) {
  struct meeting m;
  begin(&m, TPTX_LOAD, WORDS(0x3c007e01, 0, 0, 0), WORDS(9, 9, 9, 9)); /* f16: NaN, 1, 0, 0 */
  m.view.type = TPTX_F16;
  m.op.order = TPTX_ORDER_NONE;
  m.op.scope = TPTX_SCOPE_DEFAULT;
  m.op.masked = 1;
  m.op.pad = TPTX_PAD_NAN;
  m.op.tile.type = TPTX_F32;
  memcpy(m.indices, (const int32_t[]){0, 1, 4, -1}, sizeof m.indices);
  const uint32_t *span = WORDS(0x3c007e01, 0, 0, 0);
  ck_assert(accepted(&m, span, WORDS(0x7fc02000, 0x3f800000, 0x7fc00000, 0x7fc00000)));
  ck_assert(accepted(&m, span, WORDS(0x7fffffff, 0x3f800000, 0x7fc00000, 0x7fc00000)));
  ck_assert(!accepted(&m, span, WORDS(0x7f800000, 0x3f800000, 0x7fc00000, 0x7fc00000)));
  ck_assert(!accepted(&m, span, WORDS(0x7fc00000, 0x3f800000, 0x7fffffff, 0x7fc00000)));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("outcome");
  TCase *tests = tcase_create("reference values and outcomes");
  tcase_add_test(tests, sums_are_those_of_the_processor);
  tcase_add_test(tests, half_sums);
  tcase_add_test(tests, integers);
  tcase_add_test(tests, conversions);
  tcase_add_test(tests, old_values_make_one_chain);
  tcase_add_test(tests, a_chain_is_one_piece);
  tcase_add_test(tests, atomic_stores_leave_one_of_the_values);
  tcase_add_test(tests, subnormal_sums_may_be_zero);
  tcase_add_test(tests, a_converted_nan_is_any_nan_but_padding_is_one);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
