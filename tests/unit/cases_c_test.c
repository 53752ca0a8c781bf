/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics: faults that people met elsewhere, as the smallest input that shows them. */
#include "one_row.h"
#include "workbench.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tileptx_emu.h"

#define BITS(...) ((uint64_t[]){__VA_ARGS__})

/* ---- C_01, C_02, C_03 ------------------------------------------------------------------------ */

static const struct {
  tptx_operation operation;
  tptx_type type;
  const char *hint;
} refused[] = {
    {TPTX_ATOMIC_MAX, TPTX_F32, "atomic_max does not take f32; it takes s32, u32, s64 and u64"},
    {TPTX_ATOMIC_MIN, TPTX_F32, "atomic_min does not take f32"},
    {TPTX_ATOMIC_AND, TPTX_F32, "atomic_and does not take f32"},
    {TPTX_ATOMIC_MAX, TPTX_F16, "atomic_max does not take f16"},
    {TPTX_ATOMIC_MIN, TPTX_F16, "atomic_min does not take f16"},
    {TPTX_ATOMIC_AND, TPTX_F16, "atomic_and does not take f16"},
    {TPTX_ATOMIC_ADD, TPTX_S16, "atomic_add does not take s16; it takes s32, u32, s64, u64, f16"},
    {TPTX_ATOMIC_ADD, TPTX_U8, "atomic_add does not take u8"},
    {TPTX_ATOMIC_ADD, TPTX_BOOL, "atomic_add does not take bool"},
};

START_TEST(C_01_types_outside_the_list_are_refused) {
  tptx_op op;
  row_update(&op, refused[_i].operation);
  for (op.fetch = 0; op.fetch < 2; op.fetch++) {
    op.masked = 0;
    expect_plan(refused[_i].type, &op, 0, TPTX_ERROR_TYPE, refused[_i].hint);
    op.masked = 1;
    expect_plan(refused[_i].type, &op, 0, TPTX_ERROR_TYPE, " does not take ");
  }
}
END_TEST

/* All four in one process: a key without the sign would hand the first kernel out four times. */
START_TEST(C_02_unsigned_and_signed_maxima_differ) {
  static const uint64_t tile[] = {1, 0xffffffff};
  static const struct {
    tptx_operation operation;
    tptx_type type;
    uint64_t wanted[2];
  } rows[] = {{TPTX_ATOMIC_MAX, TPTX_U32, {0xffffffff, 0xffffffff}},
              {TPTX_ATOMIC_MIN, TPTX_U32, {1, 1}},
              {TPTX_ATOMIC_MAX, TPTX_S32, {1, 1}},
              {TPTX_ATOMIC_MIN, TPTX_S32, {0xffffffff, 0xffffffff}}};
  for (int i = 0; i < 4; i++) {
    uint64_t memory[] = {0xffffffff, 1};
    row_updated(rows[i].operation, rows[i].type, 2, memory, tile);
    expect_bits(tptx_type_name(rows[i].type), memory, rows[i].wanted, 2);
  }
}
END_TEST

START_TEST(C_03_signed_64_bit_sums) {
  const uint64_t before[] = {9007199254740993, (uint64_t)-5}, tile[] = {1, (uint64_t)-10};
  uint64_t memory[] = {9007199254740993, (uint64_t)-5};
  row_updated(TPTX_ATOMIC_ADD, TPTX_S64, 2, memory, tile);
  expect_bits("added", memory, BITS(9007199254740994, (uint64_t)-15), 2);
  row_updated(TPTX_ATOMIC_SUB, TPTX_S64, 2, memory, tile);
  expect_bits("subtracted again", memory, before, 2);
}
END_TEST

/* ---- C_05 ------------------------------------------------------------------------------------ */

START_TEST(C_05_bf16_sums_need_sm_90) {
  tptx_op op;
  row_update(&op, TPTX_ATOMIC_ADD);
  expect_plan(TPTX_BF16, &op, 80, TPTX_ERROR_TARGET, "needs sm_90, the target is sm_80");
  expect_plan(TPTX_BF16, &op, 86, TPTX_ERROR_TARGET, "needs sm_90, the target is sm_86");
  expect_plan(TPTX_BF16, &op, 89, TPTX_ERROR_TARGET, "needs sm_90, the target is sm_89");
  expect_plan(TPTX_BF16, &op, 90, TPTX_OK, "");
}
END_TEST

/* The lowest version line that a half-precision sum may carry, with and without vectors. */
START_TEST(C_05_version_lines) {
  static const struct {
    tptx_type type;
    int sm, ptx, header_sm, header_ptx;
  } rows[] = {{TPTX_F16, 75, 63, 75, 63},
              {TPTX_F16, 90, 80, 75, 63},
              {TPTX_F16, 90, 90, 90, 81},
              {TPTX_BF16, 90, 78, 90, 78},
              {TPTX_BF16, 90, 90, 90, 81}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tptx_view view;
    tptx_op op;
    tptx_target target;
    tptx_ptx *ptx = NULL;
    row_view(&view, rows[i].type, 16);
    view.align = 16;
    row_update(&op, TPTX_ATOMIC_ADD);
    tptx_target_init(&target);
    target.sm = rows[i].sm;
    target.ptx = rows[i].ptx;
    ck_assert_int_eq(tptx_emit(&view, &op, &target, &ptx, NULL), TPTX_OK);
    ck_assert_int_eq(tptx_ptx_target(ptx), rows[i].header_sm);
    ck_assert_int_eq(tptx_ptx_version(ptx), rows[i].header_ptx);
    ck_assert_ptr_nonnull(strstr(tptx_ptx_text(ptx), ".add.noftz."));
    tptx_ptx_free(ptx);
  }
}
END_TEST

START_TEST(C_05_half_sums_round_to_even) {
  uint64_t bf16[] = {0x3f80, 0x4380}, f16[] = {0x6800, 0x7bff, 0x7bff};
  row_updated(TPTX_ATOMIC_ADD, TPTX_BF16, 2, bf16, BITS(0x3f80, 0x3f80));
  expect_bits("bf16: 1 + 1, 256 + 1", bf16, BITS(0x4000, 0x4380), 2);
  row_updated(TPTX_ATOMIC_ADD, TPTX_F16, 3, f16, BITS(0x3c00, 0x4b80, 0x4c00));
  expect_bits("f16: 2048 + 1, 65504 + 15, 65504 + 16", f16, BITS(0x6800, 0x7bff, 0x7c00), 3);
}
END_TEST

/* ---- C_07, C_08 ------------------------------------------------------------------------------ */

static void overlap(tptx_view *view, tptx_op *op, tptx_args *args, tptx_type type) {
  const int64_t extent = 8, shape = 4, stride = 1;
  tptx_view_strided(view, type, 1, &extent, NULL, &shape, &stride);
  row_update(op, TPTX_ATOMIC_ADD);
  tptx_args_init(args);
  args->count[0] = 5;
}

/* The thousand rounds are those of tests/gpu/lost_updates.c. */
START_TEST(C_07_overlapping_chunks_lose_nothing) {
  static const uint32_t wanted[] = {1, 2, 3, 4, 4, 3, 2, 1};
  uint32_t ones[20], span[8] = {0};
  tptx_view view;
  tptx_op op;
  tptx_args args;
  for (int i = 0; i < 20; i++) ones[i] = 1;
  overlap(&view, &op, &args, TPTX_U32);
  args.span = put(span, sizeof span);
  args.tile = put(ones, sizeof ones);
  for (int round = 1; round <= 20; round++) {
    run_well(&view, &op, &args);
    get(span, args.span, sizeof span);
    for (int i = 0; i < 8; i++) ck_assert_uint_eq(span[i], (unsigned)round * wanted[i]);
  }
  args.count[0] = 8;
  ck_assert_int_eq(run(&view, &op, &args), TPTX_ERROR_PARTIAL_CHUNK);
  ck_assert_ptr_nonnull(strstr(bench.error.message, "use the masked form"));
}
END_TEST

START_TEST(C_08_scope_block_where_blocks_would_meet_is_refused) {
  tptx_view view;
  tptx_op op;
  tptx_args args;
  overlap(&view, &op, &args, TPTX_U32);
  args.span = put(NULL, 64);
  args.tile = put(NULL, 128);
  op.scope = TPTX_SCOPE_BLOCK;
  ck_assert_int_eq(run(&view, &op, &args), TPTX_ERROR_OVERLAP);
  ck_assert_ptr_nonnull(strstr(bench.error.message, "scope device"));
  args.count[0] = 1; /* one chunk meets nobody */
  run_well(&view, &op, &args);
}
END_TEST

START_TEST(C_08_scopes_and_orders) {
  tptx_op op;
  row_update(&op, TPTX_ATOMIC_ADD);
  op.scope = TPTX_SCOPE_SYSTEM;
  expect_plan(TPTX_U32, &op, 0, TPTX_ERROR_SCOPE, "atomic_add needs scope block or device");
  op.scope = TPTX_SCOPE_DEFAULT;
  expect_plan(TPTX_U32, &op, 0, TPTX_ERROR_SCOPE, "scope block or device");
  op.scope = TPTX_SCOPE_DEVICE;
  op.order = TPTX_ORDER_ACQUIRE;
  expect_plan(TPTX_U32, &op, 0, TPTX_ERROR_ORDER, "atomic_add needs order relaxed");
  op.order = TPTX_ORDER_RELEASE;
  expect_plan(TPTX_U32, &op, 0, TPTX_ERROR_ORDER, "order relaxed");
  op.order = TPTX_ORDER_NONE;
  expect_plan(TPTX_U32, &op, 0, TPTX_ERROR_ORDER, "order relaxed");
}
END_TEST

/* The text of one operation, at each scope, with and without old values. */
START_TEST(C_08_scopes_in_the_text) {
  static const struct {
    tptx_scope scope;
    int fetch;
    const char *wanted;
  } rows[] = {{TPTX_SCOPE_BLOCK, 0, "red.relaxed.cta.global.add.u32"},
              {TPTX_SCOPE_DEVICE, 0, "red.relaxed.gpu.global.add.u32"},
              {TPTX_SCOPE_BLOCK, 1, "atom.relaxed.cta.global.add.u32"},
              {TPTX_SCOPE_DEVICE, 1, "atom.relaxed.gpu.global.add.u32"}};
  for (int i = 0; i < 4; i++) {
    tptx_view view;
    tptx_op op;
    tptx_ptx *ptx = NULL;
    row_view(&view, TPTX_U32, 4);
    row_update(&op, TPTX_ATOMIC_ADD);
    op.scope = rows[i].scope;
    op.fetch = rows[i].fetch;
    ck_assert_int_eq(tptx_emit(&view, &op, NULL, &ptx, NULL), TPTX_OK);
    ck_assert_ptr_nonnull(strstr(tptx_ptx_text(ptx), rows[i].wanted));
    ck_assert_ptr_null(strstr(tptx_ptx_text(ptx), ".sys"));
    tptx_ptx_free(ptx);
  }
}
END_TEST

/* ---- C_09, C_11 ------------------------------------------------------------------------------ */

/* Three f32 sums around the smallest numbers: kept, or flushed to zero, as the hardware does. */
START_TEST(C_09_f32_subnormals) {
  static const uint64_t tile[] = {1, 0, 0x80000001};
  static const uint64_t kept[] = {2, 1, 0x007fffff}, flushed[] = {0, 0, 0x00800000};
  int (*configure)(const char *, int64_t) = NULL;
  void *entry = device_entry_point(bench.device, "tileptx_emu_configure");
  memcpy(&configure, &entry, sizeof configure);
  for (int flush = 0; flush < 2; flush++) {
    uint64_t memory[] = {1, 1, 0x00800000};
    if (configure) configure("flush_f32", flush);
    row_updated(TPTX_ATOMIC_ADD, TPTX_F32, 3, memory, tile);
    if (configure) expect_bits("f32", memory, flush ? flushed : kept, 3);
    for (int i = 0; i < 3; i++) ck_assert(memory[i] == kept[i] || memory[i] == flushed[i]);
  }
}
END_TEST

START_TEST(C_09_subnormals_of_other_types_are_kept) {
  static const tptx_type types[] = {TPTX_F16, TPTX_BF16, TPTX_F64};
  for (int i = 0; i < 3; i++) {
    uint64_t memory[] = {1, 1, 1, 1, 1};
    row_updated(TPTX_ATOMIC_ADD, types[i], 5, memory, BITS(1, 1, 1, 1, 1));
    expect_bits(tptx_type_name(types[i]), memory, BITS(2, 2, 2, 2, 2), 5);
  }
}
END_TEST

START_TEST(C_11_subtraction_adds_the_negation) {
  uint64_t u32[] = {3, 0}, s32[] = {3, 7}, f32[] = {0x80000000}, f16[] = {0x8000, 0x8000};
  uint64_t bf16[] = {0x8000}, f64[] = {UINT64_C(0x8000000000000000)}, zero[] = {0, 0};
  row_updated(TPTX_ATOMIC_SUB, TPTX_U32, 2, u32, BITS(5, 1));
  expect_bits("u32", u32, BITS(4294967294, 4294967295), 2);
  row_updated(TPTX_ATOMIC_SUB, TPTX_S32, 2, s32, BITS(5, 0x80000000)); /* the lowest: no trap */
  expect_bits("s32", s32, BITS((uint32_t)-2, 0x80000007), 2);
  row_updated(TPTX_ATOMIC_SUB, TPTX_F32, 1, f32, zero);
  expect_bits("f32: -0 - +0", f32, BITS(0x80000000), 1);
  row_updated(TPTX_ATOMIC_SUB, TPTX_F16, 2, f16, zero);
  expect_bits("f16: -0 - +0", f16, BITS(0x8000, 0x8000), 2);
  row_updated(TPTX_ATOMIC_SUB, TPTX_BF16, 1, bf16, zero);
  expect_bits("bf16: -0 - +0", bf16, BITS(0x8000), 1);
  row_updated(TPTX_ATOMIC_SUB, TPTX_F64, 1, f64, zero);
  expect_bits("f64: -0 - +0", f64, BITS(UINT64_C(0x8000000000000000)), 1);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cases_c");
  TCase *tests = tcase_create("atomics");
  tcase_add_checked_fixture(tests, workbench_open, workbench_close);
  tcase_set_timeout(tests, 60);
  tcase_add_loop_test(tests, C_01_types_outside_the_list_are_refused, 0,
                      (int)(sizeof refused / sizeof *refused));
  tcase_add_test(tests, C_02_unsigned_and_signed_maxima_differ);
  tcase_add_test(tests, C_03_signed_64_bit_sums);
  tcase_add_test(tests, C_05_bf16_sums_need_sm_90);
  tcase_add_test(tests, C_05_version_lines);
  tcase_add_test(tests, C_05_half_sums_round_to_even);
  tcase_add_test(tests, C_07_overlapping_chunks_lose_nothing);
  tcase_add_test(tests, C_08_scope_block_where_blocks_would_meet_is_refused);
  tcase_add_test(tests, C_08_scopes_and_orders);
  tcase_add_test(tests, C_08_scopes_in_the_text);
  tcase_add_test(tests, C_09_f32_subnormals);
  tcase_add_test(tests, C_09_subnormals_of_other_types_are_kept);
  tcase_add_test(tests, C_11_subtraction_adds_the_negation);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
