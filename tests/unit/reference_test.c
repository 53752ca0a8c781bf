/* SPDX-License-Identifier: Apache-2.0 */
/* The plain-C meaning of the operations against examples worked out by hand. */
#include "reference.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define AXES(...) ((const int64_t[]){__VA_ARGS__})

struct bench {
  tptx_view view;
  tptx_op op;
  tptx_args args;
};

static void one_chunk(struct bench *b, const int64_t *index) {
  for (int k = 0; k < b->view.rank; k++) {
    b->args.first[k] = index[k];
    b->args.count[k] = 1;
  }
}

static struct bench strided(int rank, const int64_t *extents, const int64_t *shape,
                            const int64_t *strides) {
  struct bench b;
  tptx_view_strided(&b.view, TPTX_S32, rank, extents, NULL, shape, strides);
  tptx_op_load(&b.op);
  tptx_args_init(&b.args);
  return b;
}

static struct bench gather(const int64_t *extents, const int64_t *shape, int dim,
                           int64_t index_count) {
  struct bench b;
  tptx_view_gather_scatter(&b.view, TPTX_S32, 2, extents, NULL, shape, dim);
  tptx_op_load(&b.op);
  tptx_args_init(&b.args);
  b.args.index_count = index_count;
  return b;
}

static void compare(const int32_t *got, const int32_t *wanted, int count) {
  for (int i = 0; i < count; i++)
    ck_assert_msg(got[i] == wanted[i], "element %d: %d, expected %d", i, got[i], wanted[i]);
}

/* Runs on x[k] = k and compares the tiles. */
static void check_load(const struct bench *b, const void *indices, const int32_t *wanted,
                       int count) {
  int32_t span[128], tile[64];
  for (int i = 0; i < 128; i++) span[i] = i;
  memset(tile, 0x5a, sizeof tile);
  struct reference_memory memory = {(unsigned char *)span, (unsigned char *)tile, indices};
  ck_assert(reference_run(&b->view, &b->op, &b->args, memory));
  compare(tile, wanted, count);
  for (int i = count; i < 64; i++) ck_assert_int_eq(tile[i], 0x5a5a5a5a);
}

START_TEST(strided_load) {
  struct bench b = strided(2, AXES(5, 10), AXES(2, 2), AXES(3, 4));
  one_chunk(&b, AXES(0, 1));
  check_load(&b, NULL, (const int32_t[]){4, 5, 14, 15}, 4);
  b = strided(2, AXES(4, 4), AXES(2, 2), AXES(1, 1));
  one_chunk(&b, AXES(1, 1));
  check_load(&b, NULL, (const int32_t[]){5, 6, 9, 10}, 4);
}
END_TEST

START_TEST(strided_load_masked_pads) {
  struct bench b = strided(2, AXES(4, 11), AXES(2, 4), AXES(1, 1));
  b.view.type = TPTX_F32;
  b.op.masked = 1;
  b.op.pad = TPTX_PAD_NAN;
  one_chunk(&b, AXES(1, 8));
  check_load(&b, NULL, (const int32_t[]){19, 20, 21, 0x7fc00000, 30, 31, 32, 0x7fc00000}, 8);
}
END_TEST

START_TEST(strided_store) {
  int32_t span[32], wanted[32], tile[4] = {60, 70, 80, 90};
  for (int i = 0; i < 32; i++) span[i] = wanted[i] = i;
  wanted[22] = 60;
  wanted[23] = 70;
  wanted[30] = 80;
  wanted[31] = 90;
  struct bench b = strided(2, AXES(4, 8), AXES(2, 2), AXES(2, 3));
  b.op.operation = TPTX_STORE;
  one_chunk(&b, AXES(1, 2));
  struct reference_memory memory = {(unsigned char *)span, (unsigned char *)tile, NULL};
  ck_assert(reference_run(&b.view, &b.op, &b.args, memory));
  compare(span, wanted, 32);
}
END_TEST

START_TEST(gather_loads) {
  struct bench b = gather(AXES(8, 10), AXES(4, 4), 0, 4);
  one_chunk(&b, AXES(0, 3));
  check_load(&b, (const int32_t[]){5, 0, 3, 5},
             (const int32_t[]){53, 54, 55, 56, 3, 4, 5, 6, 33, 34, 35, 36, 53, 54, 55, 56}, 16);
  b = gather(AXES(6, 10), AXES(4, 4), 1, 4);
  b.op.masked = 1;
  one_chunk(&b, AXES(3, 0));
  check_load(&b, (const int32_t[]){5, 6, 10, 1},
             (const int32_t[]){35, 36, 0, 31, 45, 46, 0, 41, 55, 56, 0, 51, 0, 0, 0, 0}, 16);
}
END_TEST

START_TEST(scatter_store) {
  int32_t span[60], wanted[60], tile[8] = {70, 71, 72, 73, 80, 81, 82, 83};
  const int32_t indices[2] = {3, 1};
  for (int i = 0; i < 60; i++) span[i] = wanted[i] = i;
  for (int i = 0; i < 4; i++) wanted[31 + i] = 70 + i, wanted[11 + i] = 80 + i;
  struct bench b = gather(AXES(6, 10), AXES(2, 4), 0, 2);
  b.op.operation = TPTX_STORE;
  one_chunk(&b, AXES(0, 1));
  struct reference_memory memory = {(unsigned char *)span, (unsigned char *)tile,
                                    (const unsigned char *)indices};
  ck_assert(reference_run(&b.view, &b.op, &b.args, memory));
  compare(span, wanted, 60);
}
END_TEST

/* Two tiles of two rows from three entries: the fourth row is missing and reads as padding. */
START_TEST(short_last_index_tile_pads) {
  struct bench b = gather(AXES(4, 4), AXES(2, 2), 0, 3);
  b.args.count[1] = 1;
  check_load(&b, (const int32_t[]){3, 1, 2}, (const int32_t[]){12, 13, 4, 5, 8, 9, 0, 0}, 8);
}
END_TEST

START_TEST(indices_outside_read_as_padding) {
  struct bench b = gather(AXES(4, 2), AXES(4, 2), 0, 4);
  b.op.indices.type = TPTX_U64;
  check_load(&b, (const uint64_t[]){1, UINT64_MAX, UINT64_C(1) << 32, 4},
             (const int32_t[]){2, 3, 0, 0, 0, 0, 0, 0}, 8);
  b.op.indices.type = TPTX_S8;
  check_load(&b, (const int8_t[]){-1, 2, -128, 127}, (const int32_t[]){0, 0, 4, 5, 0, 0, 0, 0}, 8);
}
END_TEST

/* Rows 2 and 0 of entries {2, 9, 0, 9} taken two apart; then the same entry again and again. */
START_TEST(index_arrays_have_a_stride) {
  struct bench b = gather(AXES(4, 2), AXES(2, 2), 0, 2);
  b.args.index_stride = 2;
  check_load(&b, (const int32_t[]){2, 9, 0, 9}, (const int32_t[]){4, 5, 0, 1}, 4);
  b.args.index_stride = 0;
  check_load(&b, (const int32_t[]){3}, (const int32_t[]){6, 7, 6, 7}, 4);
}
END_TEST

/* Columns 1 and 3 of a dense axis of five, tiles two wide: the second hangs out by none, step 2. */
START_TEST(gather_box_steps_in_elements) {
  struct bench b = gather(AXES(3, 5), AXES(1, 2), 0, 1);
  b.op.masked = 1;
  b.args.first[1] = 1;
  b.args.step[1] = 2;
  check_load(&b, (const int32_t[]){2}, (const int32_t[]){11, 12, 13, 14}, 4);
  b.args.step[1] = 3;
  check_load(&b, (const int32_t[]){2}, (const int32_t[]){11, 12, 14, 0}, 4);
}
END_TEST

START_TEST(layouts) {
  struct bench b = strided(2, AXES(2, 3), AXES(2, 3), NULL);
  check_load(&b, NULL, (const int32_t[]){0, 1, 2, 3, 4, 5}, 6);
  b.view.layout = TPTX_LAYOUT_LEFT;
  check_load(&b, NULL, (const int32_t[]){0, 2, 4, 1, 3, 5}, 6);
  b.view.layout = TPTX_LAYOUT_STRIDED;
  b.view.layout_strides[0] = 0;
  b.view.layout_strides[1] = TPTX_DYNAMIC;
  b.args.layout_strides[1] = 7;
  check_load(&b, NULL, (const int32_t[]){0, 7, 14, 0, 7, 14}, 6);
}
END_TEST

START_TEST(negative_strides_count_from_element_zero) {
  int32_t span[8] = {0, 1, 2, 3, 4, 5, 6, 7}, tile[4];
  struct bench b = strided(1, AXES(8), AXES(4), NULL);
  b.view.layout = TPTX_LAYOUT_STRIDED;
  b.view.layout_strides[0] = -1;
  one_chunk(&b, AXES(1));
  struct reference_memory memory = {(unsigned char *)(span + 7), (unsigned char *)tile, NULL};
  ck_assert(reference_run(&b.view, &b.op, &b.args, memory));
  compare(tile, (const int32_t[]){3, 2, 1, 0}, 4);
}
END_TEST

/* Two tiles of three side by side in an array of five: the sixth element has no place. */
START_TEST(array_operands_are_clipped) {
  struct bench b = strided(1, AXES(6), AXES(3), NULL);
  b.op.tile.tiles = TPTX_TILES_ARRAY;
  b.args.tile_extents[0] = 5;
  check_load(&b, NULL, (const int32_t[]){0, 1, 2, 3, 4}, 5);
  b.op.tile.layout = TPTX_LAYOUT_STRIDED;
  b.op.tile.layout_strides[0] = 2;
  const int32_t gap = 0x5a5a5a5a;
  check_load(&b, NULL, (const int32_t[]){0, gap, 1, gap, 2, gap, 3, gap, 4}, 9);
}
END_TEST

START_TEST(box_of_the_whole_index_space) {
  int64_t count[TPTX_MAX_RANK];
  struct bench b = strided(2, AXES(5, 10), AXES(2, 2), AXES(3, 4));
  ck_assert_int_eq(reference_box(&b.view, &b.args, count), 6);
  ck_assert_int_eq(count[0], 2);
  ck_assert_int_eq(count[1], 3);
  b.args.first[1] = 2;
  ck_assert_int_eq(reference_box(&b.view, &b.args, count), 2);
  b = strided(2, AXES(0, 7), AXES(2, 2), AXES(1, 1));
  ck_assert_int_eq(reference_box(&b.view, &b.args, count), 0);
  b = gather(AXES(6, 10), AXES(4, 4), 0, 9);
  b.args.first[1] = 1;
  ck_assert_int_eq(reference_box(&b.view, &b.args, count), 9);
  ck_assert_int_eq(count[0], 3);
  ck_assert_int_eq(count[1], 3);
}
END_TEST

START_TEST(bools_are_made_0_or_1) {
  unsigned char span[4] = {0, 1, 2, 255}, tile[4] = {9, 9, 9, 9};
  struct bench b = strided(1, AXES(4), AXES(4), NULL);
  b.view.type = TPTX_BOOL;
  struct reference_memory memory = {span, tile, NULL};
  ck_assert(reference_run(&b.view, &b.op, &b.args, memory));
  ck_assert_mem_eq(tile, ((unsigned char[]){0, 1, 1, 1}), 4);
  memcpy(tile, ((unsigned char[]){128, 0, 7, 1}), 4);
  b.op.operation = TPTX_STORE;
  ck_assert(reference_run(&b.view, &b.op, &b.args, memory));
  ck_assert_mem_eq(span, ((unsigned char[]){1, 0, 1, 1}), 4);
}
END_TEST

START_TEST(paddings_are_bit_patterns) {
  static const struct {
    tptx_type type;
    tptx_pad pad;
    uint64_t bits;
  } rows[] = {
      {TPTX_F16, TPTX_PAD_POSITIVE_INF, 0x7c00},
      {TPTX_F16, TPTX_PAD_NEGATIVE_INF, 0xfc00},
      {TPTX_F16, TPTX_PAD_NAN, 0x7e00},
      {TPTX_BF16, TPTX_PAD_POSITIVE_INF, 0x7f80},
      {TPTX_BF16, TPTX_PAD_NEGATIVE_INF, 0xff80},
      {TPTX_BF16, TPTX_PAD_NAN, 0x7fc0},
      {TPTX_F32, TPTX_PAD_POSITIVE_INF, 0x7f800000},
      {TPTX_F32, TPTX_PAD_NEGATIVE_INF, 0xff800000},
      {TPTX_F32, TPTX_PAD_NAN, 0x7fc00000},
      {TPTX_F64, TPTX_PAD_POSITIVE_INF, 0x7ff0000000000000},
      {TPTX_F64, TPTX_PAD_NEGATIVE_INF, 0xfff0000000000000},
      {TPTX_F64, TPTX_PAD_NAN, 0x7ff8000000000000},
      {TPTX_U8, TPTX_PAD_ZERO, 0},
      {TPTX_E4M3, TPTX_PAD_VALUE, 0xa7},
  };
  struct bench b = strided(1, AXES(4), AXES(4), NULL);
  b.args.pad_value = 0xa7;
  b.op.masked = 1;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    b.view.type = rows[i].type;
    b.op.pad = rows[i].pad;
    ck_assert_uint_eq(reference_pad(&b.view, &b.op, &b.args), rows[i].bits);
  }
}
END_TEST

/*
 * Types that an update does not take, conversions that lose values: no meaning, nothing is
 * touched.
 */
START_TEST(operations_without_meaning_are_refused) {
  struct bench b = strided(1, AXES(4), AXES(4), NULL);
  struct reference_memory nothing = {0};
  b.op.operation = TPTX_ATOMIC_MAX;
  b.view.type = TPTX_F32;
  ck_assert(!reference_run(&b.view, &b.op, &b.args, nothing));
  b.op.operation = TPTX_STORE;
  b.op.tile.type = TPTX_F64;
  ck_assert(!reference_run(&b.view, &b.op, &b.args, nothing));
  b.op.operation = TPTX_ATOMIC_ADD;
  b.op.tile.type = TPTX_F16;
  b.op.fetch = 1;
  ck_assert(!reference_run(&b.view, &b.op, &b.args, nothing));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("reference");
  TCase *tests = tcase_create("meaning");
  tcase_add_test(tests, strided_load);
  tcase_add_test(tests, strided_load_masked_pads);
  tcase_add_test(tests, strided_store);
  tcase_add_test(tests, gather_loads);
  tcase_add_test(tests, scatter_store);
  tcase_add_test(tests, short_last_index_tile_pads);
  tcase_add_test(tests, indices_outside_read_as_padding);
  tcase_add_test(tests, index_arrays_have_a_stride);
  tcase_add_test(tests, gather_box_steps_in_elements);
  tcase_add_test(tests, layouts);
  tcase_add_test(tests, negative_strides_count_from_element_zero);
  tcase_add_test(tests, array_operands_are_clipped);
  tcase_add_test(tests, box_of_the_whole_index_space);
  tcase_add_test(tests, bools_are_made_0_or_1);
  tcase_add_test(tests, paddings_are_bit_patterns);
  tcase_add_test(tests, operations_without_meaning_are_refused);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
