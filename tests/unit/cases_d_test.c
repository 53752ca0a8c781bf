/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions: faults that people met elsewhere, as the smallest input that shows them. */
#include "one_row.h"
#include "workbench.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BITS(...) ((uint64_t[]){__VA_ARGS__})

/* A store of `from` to a view of `to` is refused, by a sentence that names both. */
static void expect_narrowing(tptx_type from, tptx_type to) {
  char hint[64];
  tptx_op op;
  tptx_op_store(&op);
  op.tile.type = (int32_t)from;
  snprintf(hint, sizeof hint, "convert %s to %s", tptx_type_name(from), tptx_type_name(to));
  expect_plan(to, &op, 0, TPTX_ERROR_CONVERSION, hint);
  op.operation = TPTX_ATOMIC_STORE;
  op.order = TPTX_ORDER_RELAXED;
  expect_plan(to, &op, 0, TPTX_ERROR_CONVERSION, hint);
  op.masked = 1;
  expect_plan(to, &op, 0, TPTX_ERROR_CONVERSION, hint);
}

START_TEST(D_01_numbers_do_not_become_bools) {
  expect_narrowing(TPTX_S32, TPTX_BOOL);
  expect_narrowing(TPTX_F32, TPTX_BOOL);
  expect_narrowing(TPTX_U8, TPTX_BOOL);
}
END_TEST

START_TEST(D_02_a_bool_is_one_byte_of_0_or_1) {
  uint64_t memory[4], bytes[] = {0, 1, 2, 255}, loaded[4] = {9, 9, 9, 9};
  tptx_op op;
  row_stored(TPTX_BOOL, TPTX_BOOL, 4, BITS(1, 0, 1, 1), memory);
  expect_bits("stored", memory, BITS(1, 0, 1, 1), 4);
  row_stored(TPTX_BOOL, TPTX_BOOL, 4, bytes, memory);
  expect_bits("any byte, stored", memory, BITS(0, 1, 1, 1), 4);
  tptx_op_load(&op);
  row_run(TPTX_BOOL, &op, 4, bytes, loaded);
  expect_bits("loaded", loaded, BITS(0, 1, 1, 1), 4);
  op.tile.type = TPTX_S64;
  row_run(TPTX_BOOL, &op, 4, bytes, loaded);
  expect_bits("loaded as s64", loaded, BITS(0, 1, 1, 1), 4);
}
END_TEST

START_TEST(D_03_floats_do_not_become_integers) {
  expect_narrowing(TPTX_F32, TPTX_S32);
  expect_narrowing(TPTX_F32, TPTX_U32);
  expect_narrowing(TPTX_F32, TPTX_U8);
  expect_narrowing(TPTX_F32, TPTX_S64);
  expect_narrowing(TPTX_S32, TPTX_F32); /* nor the other way, even where it would be exact */
  expect_narrowing(TPTX_S8, TPTX_F64);
}
END_TEST

START_TEST(D_05_f32_does_not_become_e4m3) {
  expect_narrowing(TPTX_F32, TPTX_E4M3);
  expect_narrowing(TPTX_F16, TPTX_E5M2);
}
END_TEST

START_TEST(D_05_e4m3_widens_exactly) {
  uint64_t memory[4], half[4];
  row_stored(TPTX_E4M3, TPTX_F32, 4, BITS(0x7e, 0x7f, 0x01, 0x80), memory);
  ck_assert_msg((memory[1] & 0x7fffffff) > 0x7f800000, "%llx is no NaN",
                (unsigned long long)memory[1]);
  memory[1] = 0;
  expect_bits("448, NaN, 2^-9, -0", memory, BITS(0x43e00000, 0, 0x3b000000, 0x80000000), 4);
  row_stored(TPTX_E5M2, TPTX_F16, 4, BITS(0x7b, 0x7c, 0x01, 0x80), half);
  expect_bits("e5m2: 57344, infinity, 2^-16, -0", half, BITS(0x7b00, 0x7c00, 0x0100, 0x8000), 4);
}
END_TEST

START_TEST(D_05_eight_bit_floats_need_sm_89) {
  tptx_op op;
  tptx_op_store(&op);
  op.tile.type = TPTX_E4M3;
  expect_plan(TPTX_F32, &op, 80, TPTX_ERROR_TARGET, "needs sm_89, the target is sm_80");
  expect_plan(TPTX_F32, &op, 89, TPTX_OK, "");
  op.tile.type = -1; /* bytes that are only moved need nothing */
  expect_plan(TPTX_E4M3, &op, 75, TPTX_OK, "");
}
END_TEST

START_TEST(D_07_small_integers_widen_by_their_own_sign) {
  uint64_t memory[2], loaded[2] = {9, 9}, bytes[] = {200, 255};
  tptx_op op;
  row_stored(TPTX_U8, TPTX_S32, 2, BITS(200, 255), memory);
  expect_bits("u8 to s32", memory, BITS(200, 255), 2);
  row_stored(TPTX_S8, TPTX_S32, 2, BITS(0xff, 0x80), memory);
  expect_bits("s8 to s32", memory, BITS((uint32_t)-1, (uint32_t)-128), 2);
  row_stored(TPTX_U32, TPTX_S64, 1, BITS(4294967295), memory);
  expect_bits("u32 to s64", memory, BITS(4294967295), 1);
  tptx_op_load(&op);
  op.tile.type = TPTX_S32;
  row_run(TPTX_U8, &op, 2, bytes, loaded);
  expect_bits("u8 loaded as s32", loaded, BITS(200, 255), 2);
  row_run(TPTX_S8, &op, 2, bytes, loaded);
  expect_bits("s8 loaded as s32", loaded, BITS((uint32_t)-56, (uint32_t)-1), 2);
  uint64_t sum[] = {1000};
  row_update(&op, TPTX_ATOMIC_ADD);
  op.tile.type = TPTX_S8;
  row_run(TPTX_S64, &op, 1, sum, BITS(0x80));
  expect_bits("s8 added to s64", sum, BITS(872), 1);
  expect_narrowing(TPTX_S8, TPTX_U32);
  expect_narrowing(TPTX_U32, TPTX_S32);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cases_d");
  TCase *tests = tcase_create("conversions");
  tcase_add_checked_fixture(tests, workbench_open, workbench_close);
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, D_01_numbers_do_not_become_bools);
  tcase_add_test(tests, D_02_a_bool_is_one_byte_of_0_or_1);
  tcase_add_test(tests, D_03_floats_do_not_become_integers);
  tcase_add_test(tests, D_05_f32_does_not_become_e4m3);
  tcase_add_test(tests, D_05_e4m3_widens_exactly);
  tcase_add_test(tests, D_05_eight_bit_floats_need_sm_89);
  tcase_add_test(tests, D_07_small_integers_widen_by_their_own_sign);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
