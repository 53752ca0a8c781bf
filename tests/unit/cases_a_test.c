/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index arithmetic: faults that people met elsewhere, each as the smallest input that would provoke
 * the same here. x[k] = k in memory order. The two cases with more than 2^31 elements run on a GPU
 * in tests/gpu/large_offsets.c; here they run on windows of such arrays.
 */
#include "workbench.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define AXES(...) ((const int64_t[]){__VA_ARGS__})

static tptx_view view;
static tptx_op op;
static tptx_args args;

static void strided(tptx_type type, int rank, const int64_t *extents, const int64_t *layout_strides,
                    const int64_t *shape, const int64_t *strides) {
  tptx_view_strided(&view, type, rank, extents, layout_strides, shape, strides);
  tptx_op_load(&op);
  tptx_args_init(&args);
}

static void gather(const int64_t *extents, const int64_t *layout_strides, const int64_t *shape) {
  tptx_view_gather_scatter(&view, TPTX_S32, 2, extents, layout_strides, shape, 0);
  tptx_op_load(&op);
  tptx_args_init(&args);
}

/* Index array, all of it in one index tile; `index` is where the box stands on the dense axis. */
static void picks(const void *entries, size_t bytes, int64_t count, int64_t index) {
  args.indices = put(entries, bytes);
  args.index_count = count;
  at_chunk(&args, 2, AXES(0, index));
}

/* A span of `count` elements with x[k] = k. */
static uint64_t put_iota(int count) {
  int32_t *values = malloc((size_t)count * sizeof *values);
  ck_assert_ptr_nonnull(values);
  iota_s32(values, count);
  uint64_t address = put(values, (size_t)count * sizeof *values);
  free(values);
  return address;
}

static void expect_tile(const char *what, const int32_t *wanted, int count) {
  int32_t got[64];
  args.tile = put(NULL, sizeof got);
  run_well(&view, &op, &args);
  get(got, args.tile, sizeof got);
  expect_s32(what, got, wanted, count);
  for (int i = count; i < 64; i++) ck_assert_int_eq(got[i], 0x5a5a5a5a);
}

/*
 * The table has 262144 x 8960 bytes; only two rows of 16 exist here, at the offsets that the rows
 * 239673 and 255999 have, the second past 2^31.
 */
START_TEST(A_01_gather_from_a_table_past_2_to_31) {
  static const int64_t rows[] = {239673, 255999};
  unsigned char tile[32], memory[32];
  for (int64_t row = 0; row < 2; row++)
    for (int64_t i = 0; i < 16; i++)
      memory[16 * row + i] = (unsigned char)((rows[row] * 8960 + 8944 + i) * 7 + 3);
  uint64_t window = put(memory, sizeof memory);
  tptx_view_gather_scatter(&view, TPTX_U8, 2, AXES(TPTX_DYNAMIC, 8960), NULL, AXES(1, 16), 0);
  tptx_op_load(&op);
  op.masked = 1;
  for (int i = 0; i < 2; i++) {
    tptx_args_init(&args);
    args.extents[0] = 262144;
    picks((const int32_t[]){(int32_t)rows[i]}, 4, 1, 8944);
    args.span = window + 16 * (uint64_t)i - (uint64_t)(rows[i] * 8960 + 8944);
    args.tile = put(NULL, 16);
    run_well(&view, &op, &args);
    get(tile + 16 * i, args.tile, 16);
  }
  ck_assert_mem_eq(tile, memory, sizeof memory);
}
END_TEST

START_TEST(A_02_masked_load_past_2_to_31) {
  unsigned char tile[128], wanted[128] = {171};
  uint64_t last = put(wanted, 1);
  strided(TPTX_U8, 1, AXES(3000000001), NULL, AXES(128), NULL);
  op.masked = 1;
  at_chunk(&args, 1, AXES(23437500));
  args.span = last - 3000000000u;
  args.tile = put(NULL, sizeof tile);
  run_well(&view, &op, &args);
  get(tile, args.tile, sizeof tile);
  ck_assert_mem_eq(tile, wanted, sizeof tile);

  args.first[0] = 23437501; /* the index space has 23437501 chunks */
  ck_assert_int_eq(run(&view, &op, &args), TPTX_ERROR_BOX);
  view.index_type = TPTX_S32;
  ck_assert_int_eq(tptx_plan_check(&view, &op, NULL, &bench.error), TPTX_ERROR_EXTENT);
  ck_assert_str_eq(bench.error.argument, "extents");
  ck_assert_int_eq(bench.error.axis, 0);
}
END_TEST

START_TEST(A_02_dynamic_extent_that_does_not_fit_the_index_type) {
  strided(TPTX_U8, 1, AXES(TPTX_DYNAMIC), NULL, AXES(128), NULL);
  view.index_type = TPTX_S32;
  op.masked = 1;
  args.extents[0] = 3000000001;
  args.span = put(NULL, 128);
  args.tile = put(NULL, 128);
  at_chunk(&args, 1, AXES(0));
  ck_assert_int_ge(run(&view, &op, &args), TPTX_ERROR_BOX);
}
END_TEST

START_TEST(A_04_no_chunks_is_success_without_a_launch) {
  tptx_counters before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
  strided(TPTX_S32, 2, AXES(0, 7), NULL, AXES(2, 2), AXES(1, 1));
  op.masked = 1;
  args.span = put(NULL, 64);
  args.tile = put(NULL, 64);
  ck_assert_int_eq(tptx_runtime_counters(bench.runtime, &before, NULL), TPTX_OK);
  run_well(&view, &op, &args);
  ck_assert_int_eq(tptx_runtime_counters(bench.runtime, &after, NULL), TPTX_OK);
  ck_assert_uint_eq(before.launches, after.launches);

  at_chunk(&args, 2, AXES(0, 0));
  ck_assert_int_eq(run(&view, &op, &args), TPTX_ERROR_BOX);
  ck_assert_int_eq(bench.error.axis, 0);
}
END_TEST

START_TEST(A_04_seventy_thousand_chunks) {
  enum { ROWS = 70000 };
  static int32_t got[ROWS * 4], wanted[ROWS * 4];
  strided(TPTX_S32, 2, AXES(ROWS, 4), NULL, AXES(1, 4), AXES(1, 4));
  iota_s32(wanted, ROWS * 4);
  args.span = put_iota(ROWS * 4);
  args.tile = put(NULL, sizeof got);
  run_well(&view, &op, &args);
  get(got, args.tile, sizeof got);
  expect_s32("copy", got, wanted, ROWS * 4);
}
END_TEST

/* Reading through a layout that maps two indices to one element works; writing is refused. */
START_TEST(A_05_broadcast_layouts_are_read_only) {
  static const struct {
    int rank;
    int64_t extents[3], strides[3];
    int32_t wanted[12];
    int count;
  } rows[] = {
      {2, {3, 4}, {0, 1}, {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}, 12},
      {3, {2, 2, 2}, {3, 2, 1}, {0, 1, 2, 3, 3, 4, 5, 6}, 8},
      {2, {2, 2}, {2, 2}, {0, 2, 2, 4}, 4},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    strided(TPTX_S32, rows[i].rank, rows[i].extents, rows[i].strides, rows[i].extents, NULL);
    args.span = put_iota(16);
    expect_tile("load", rows[i].wanted, rows[i].count);
    op.operation = TPTX_STORE;
    tptx_status status = tptx_plan_check(&view, &op, NULL, &bench.error);
    ck_assert_int_eq(status, TPTX_ERROR_NOT_INJECTIVE);
  }
}
END_TEST

START_TEST(A_05_strides_of_axes_of_one_are_free) {
  static const int64_t strides[2][2] = {{0, 1}, {-5, 1}};
  for (int i = 0; i < 2; i++) {
    strided(TPTX_S32, 2, AXES(1, 6), strides[i], AXES(1, 4), AXES(1, 4));
    op.masked = 1;
    at_chunk(&args, 2, AXES(0, 1));
    args.span = put_iota(6);
    expect_tile("load", (const int32_t[]){4, 5, 0, 0}, 4);
    op.operation = TPTX_STORE;
    ck_assert_int_eq(tptx_plan_check(&view, &op, NULL, &bench.error), TPTX_OK);
  }
}
END_TEST

/* Offsets 0..14 all differ although 4 < 3 * 3. */
START_TEST(A_05_injective_without_sorted_strides) {
  int32_t got[15], wanted[15], tile[9];
  strided(TPTX_S32, 2, AXES(3, 3), AXES(4, 3), AXES(3, 3), NULL);
  op.operation = TPTX_STORE;
  iota_s32(wanted, 15);
  for (int i = 0; i < 9; i++) wanted[i / 3 * 4 + i % 3 * 3] = tile[i] = 100 + i;
  args.span = put_iota(15);
  args.tile = put(tile, sizeof tile);
  run_well(&view, &op, &args);
  get(got, args.span, sizeof got);
  expect_s32("store", got, wanted, 15);
}
END_TEST

START_TEST(A_05_written_array_operands_must_be_injective) {
  strided(TPTX_S32, 2, AXES(2, 2), NULL, AXES(2, 2), NULL);
  op.tile.tiles = TPTX_TILES_ARRAY;
  op.tile.layout = TPTX_LAYOUT_STRIDED; /* strides 0, 0 */
  args.tile_extents[0] = args.tile_extents[1] = 2;
  args.span = put_iota(4);
  args.tile = put(NULL, 16);
  ck_assert_int_eq(run(&view, &op, &args), TPTX_ERROR_NOT_INJECTIVE);
  op.operation = TPTX_STORE;
  run_well(&view, &op, &args);
}
END_TEST

START_TEST(A_06_reversed_span) {
  strided(TPTX_S32, 1, AXES(8), AXES(-1), AXES(4), AXES(4));
  at_chunk(&args, 1, AXES(1));
  args.span = put_iota(8) + 7 * 4;
  expect_tile("load", (const int32_t[]){3, 2, 1, 0}, 4);
}
END_TEST

START_TEST(A_07_transposed_span_and_strided_indices) {
  gather(AXES(3, 4), AXES(1, 3), AXES(2, 4));
  args.span = put_iota(12);
  picks((const int32_t[]){2, 9, 0, 9}, 16, 2, 0);
  args.index_stride = 2;
  expect_tile("stride 2", (const int32_t[]){2, 5, 8, 11, 0, 3, 6, 9}, 8);
  picks((const int32_t[]){1}, 4, 2, 0);
  args.index_stride = 0;
  expect_tile("stride 0", (const int32_t[]){1, 4, 7, 10, 1, 4, 7, 10}, 8);
}
END_TEST

START_TEST(A_08_index_arrays_are_read_at_their_own_width) {
  static const struct {
    tptx_type type;
    unsigned char bytes[16];
    size_t count;
  } rows[] = {
      {TPTX_S8, {2, 3}, 2},         {TPTX_U8, {2, 3}, 2},         {TPTX_S16, {2, 0, 3}, 4},
      {TPTX_U16, {2, 0, 3}, 4},     {TPTX_S32, {2, [4] = 3}, 8},  {TPTX_U32, {2, [4] = 3}, 8},
      {TPTX_S64, {2, [8] = 3}, 16}, {TPTX_U64, {2, [8] = 3}, 16},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    gather(AXES(4, 4), NULL, AXES(2, 4));
    op.indices.type = rows[i].type;
    args.span = put_iota(16);
    picks(rows[i].bytes, rows[i].count, 2, 0);
    expect_tile(tptx_type_name(rows[i].type), (const int32_t[]){8, 9, 10, 11, 12, 13, 14, 15}, 8);
  }
}
END_TEST

START_TEST(A_08_unsigned_bytes_pick_rows_over_127) {
  gather(AXES(256, 4), NULL, AXES(2, 4));
  op.indices.type = TPTX_U8;
  args.span = put_iota(1024);
  picks((const unsigned char[]){200, 3}, 2, 2, 0);
  expect_tile("u8", (const int32_t[]){800, 801, 802, 803, 12, 13, 14, 15}, 8);
}
END_TEST

START_TEST(A_09_indices_outside_pad_and_never_wrap) {
  static const int32_t wanted[16] = {[4] = 12, 13, 14, 15};
  gather(AXES(4, 4), NULL, AXES(4, 4));
  op.masked = 1;
  args.span = put_iota(16); /* nothing lies below it: reading row -1 would be a fault */
  picks((const int32_t[]){-1, 3, 4, 2147483647}, 16, 4, 0);
  expect_tile("load_masked", wanted, 16);
  op.masked = 0; /* without a mask the index axis is checked all the same */
  expect_tile("load", wanted, 16);
}
END_TEST

START_TEST(A_09_indices_outside_store_nothing) {
  int32_t tile[16], got[16], wanted[16];
  for (int i = 0; i < 16; i++) {
    tile[i] = 99;
    wanted[i] = i < 12 ? i : 99;
  }
  gather(AXES(4, 4), NULL, AXES(4, 4));
  op.operation = TPTX_STORE;
  op.masked = 1;
  args.span = put_iota(16);
  args.tile = put(tile, sizeof tile);
  picks((const int32_t[]){-1, 3, 4, 2147483647}, 16, 4, 0);
  run_well(&view, &op, &args);
  get(got, args.span, sizeof got);
  expect_s32("store_masked", got, wanted, 16);
}
END_TEST

/* The low half of 2^32 + 2 names row 2. */
START_TEST(A_09_wide_indices_are_not_cut) {
  static const int32_t wanted[16] = {0, 0, 0, 0, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
  for (int arith = 32; arith <= 64; arith += 32) {
    gather(AXES(4, 4), NULL, AXES(4, 4));
    op.masked = 1;
    op.indices.type = TPTX_S64;
    op.arith = arith;
    args.span = put_iota(16);
    picks((const int64_t[]){INT64_C(4294967298), 0, 0, 0}, 32, 4, 0);
    expect_tile("load_masked", wanted, 16);
  }
}
END_TEST

START_TEST(A_11_gather_positions_are_elements) {
  gather(AXES(4, 8), NULL, AXES(2, 2));
  args.span = put_iota(32);
  picks((const int32_t[]){3, 0}, 8, 2, 3);
  expect_tile("load", (const int32_t[]){27, 28, 3, 4}, 4);
}
END_TEST

START_TEST(A_11_last_chunk_of_a_stride_that_overlaps) {
  strided(TPTX_S32, 1, AXES(10), NULL, AXES(4), AXES(3));
  op.masked = 1;
  args.span = put_iota(10);
  at_chunk(&args, 1, AXES(3));
  expect_tile("chunk 3", (const int32_t[]){9, 0, 0, 0}, 4);
  at_chunk(&args, 1, AXES(4));
  ck_assert_int_eq(run(&view, &op, &args), TPTX_ERROR_BOX);
}
END_TEST

START_TEST(A_11_stride_wider_than_the_tile_leaves_gaps) {
  int32_t tile[6] = {99, 99, 99, 99, 99, 99}, got[10];
  strided(TPTX_S32, 1, AXES(10), NULL, AXES(2), AXES(4));
  op.operation = TPTX_STORE;
  op.masked = 1;
  args.span = put_iota(10);
  args.tile = put(tile, sizeof tile); /* three chunks */
  run_well(&view, &op, &args);
  get(got, args.span, sizeof got);
  expect_s32("store_masked", got, (const int32_t[]){99, 99, 2, 3, 99, 99, 6, 7, 99, 99}, 10);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cases_a");
  TCase *tests = tcase_create("index arithmetic");
  tcase_add_checked_fixture(tests, workbench_open, workbench_close);
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, A_01_gather_from_a_table_past_2_to_31);
  tcase_add_test(tests, A_02_masked_load_past_2_to_31);
  tcase_add_test(tests, A_02_dynamic_extent_that_does_not_fit_the_index_type);
  tcase_add_test(tests, A_04_no_chunks_is_success_without_a_launch);
  tcase_add_test(tests, A_04_seventy_thousand_chunks);
  tcase_add_test(tests, A_05_broadcast_layouts_are_read_only);
  tcase_add_test(tests, A_05_strides_of_axes_of_one_are_free);
  tcase_add_test(tests, A_05_injective_without_sorted_strides);
  tcase_add_test(tests, A_05_written_array_operands_must_be_injective);
  tcase_add_test(tests, A_06_reversed_span);
  tcase_add_test(tests, A_07_transposed_span_and_strided_indices);
  tcase_add_test(tests, A_08_index_arrays_are_read_at_their_own_width);
  tcase_add_test(tests, A_08_unsigned_bytes_pick_rows_over_127);
  tcase_add_test(tests, A_09_indices_outside_pad_and_never_wrap);
  tcase_add_test(tests, A_09_indices_outside_store_nothing);
  tcase_add_test(tests, A_09_wide_indices_are_not_cut);
  tcase_add_test(tests, A_11_gather_positions_are_elements);
  tcase_add_test(tests, A_11_last_chunk_of_a_stride_that_overlaps);
  tcase_add_test(tests, A_11_stride_wider_than_the_tile_leaves_gaps);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
