/* SPDX-License-Identifier: Apache-2.0 */
/* Masks and padding: faults that people met elsewhere, as the smallest input that shows them. */
#include "workbench.h"

#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define AXES(...) ((const int64_t[]){__VA_ARGS__})

static tptx_view view;
static tptx_op op;
static tptx_args args;

static void strided(tptx_type type, int64_t extent, int64_t shape) {
  tptx_view_strided(&view, type, 1, &extent, NULL, &shape, NULL);
  tptx_op_load(&op);
  op.masked = 1;
  tptx_args_init(&args);
}

/* Little-endian elements of `size` bytes, element k made of `value(k)`. */
static void fill(unsigned char *at, int size, int count, uint64_t (*value)(int k, int size)) {
  for (int k = 0; k < count; k++)
    for (int byte = 0; byte < size; byte++)
      at[k * size + byte] = (unsigned char)(value(k, size) >> (8 * byte));
}

static uint64_t every_byte(int k, int size) {
  (void)size;
  return UINT64_C(0x0101010101010101) * (uint64_t)(k + 1);
}

/* Every type: five elements in a tile of eight; all eight are written, three with zero. */
START_TEST(B_01_lanes_masked_off_are_zero) {
  for (int type = TPTX_BOOL; type <= TPTX_E5M2; type++) {
    int size = (int)tptx_type_bytes((tptx_type)type);
    unsigned char span[40], tile[64], wanted[64] = {0};
    fill(span, size, 5, every_byte);
    fill(wanted, size, 5, every_byte);
    if (type == TPTX_BOOL) memset(wanted, 1, 5);
    strided((tptx_type)type, 5, 8);
    at_chunk(&args, 1, AXES(0));
    args.span = put(span, (size_t)(5 * size));
    args.tile = put(NULL, (size_t)(8 * size));
    bench.allocation_count -= 2; /* sixteen types: freed here, not at the end */
    run_well(&view, &op, &args);
    get(tile, args.tile, (size_t)(8 * size));
    for (int i = 0; i < 8 * size; i++)
      ck_assert_msg(tile[i] == wanted[i], "%s: byte %d is %02x, expected %02x",
                    tptx_type_name((tptx_type)type), i, tile[i], wanted[i]);
    device_free(bench.device, args.span);
    device_free(bench.device, args.tile);
  }
}
END_TEST

struct padding {
  tptx_type type;
  tptx_pad pad;
  uint64_t bits;
};

static const struct padding paddings[] = {
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
};

START_TEST(B_02_infinities_and_nan_in_every_float_type) {
  const struct padding *row = &paddings[_i];
  int size = (int)tptx_type_bytes(row->type);
  unsigned char span[48], tile[32];
  uint64_t bits[4] = {0};
  fill(span, size, 6, every_byte);
  strided(row->type, 6, 4);
  op.pad = row->pad;
  at_chunk(&args, 1, AXES(1));
  args.span = put(span, (size_t)(6 * size));
  args.tile = put(NULL, (size_t)(4 * size));
  run_well(&view, &op, &args);
  get(tile, args.tile, (size_t)(4 * size));
  for (int k = 0; k < 4; k++) memcpy(&bits[k], tile + k * size, (size_t)size);
  ck_assert_mem_eq(tile, span + 4 * size, (size_t)(2 * size));
  ck_assert_uint_eq(bits[2], row->bits);
  ck_assert_uint_eq(bits[3], row->bits);
}
END_TEST

START_TEST(B_02_text_does_not_follow_the_locale) {
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C.UTF-8"};
  for (size_t i = 0; i < sizeof paddings / sizeof *paddings; i++) {
    tptx_ptx *plain = NULL, *local = NULL;
    strided(paddings[i].type, 6, 4);
    op.pad = paddings[i].pad;
    setlocale(LC_ALL, "C");
    ck_assert_int_eq(tptx_emit(&view, &op, NULL, &plain, &bench.error), TPTX_OK);
    for (size_t k = 0; k < sizeof names / sizeof *names && !setlocale(LC_ALL, names[k]); k++)
      continue;
    ck_assert_int_eq(tptx_emit(&view, &op, NULL, &local, &bench.error), TPTX_OK);
    setlocale(LC_ALL, "C");
    ck_assert_str_eq(tptx_ptx_text(plain), tptx_ptx_text(local));
    tptx_ptx_free(plain);
    tptx_ptx_free(local);
  }
}
END_TEST

START_TEST(B_03_integers_take_no_infinity_or_nan) {
  static const tptx_type types[] = {TPTX_S32, TPTX_U8, TPTX_BOOL};
  static const tptx_pad pads[] = {TPTX_PAD_NAN, TPTX_PAD_NEGATIVE_INF, TPTX_PAD_POSITIVE_INF};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    strided(types[t], 5, 8);
    for (size_t p = 0; p < sizeof pads / sizeof *pads; p++) {
      op.pad = pads[p];
      tptx_error_init(&bench.error);
      tptx_status status = tptx_plan_check(&view, &op, NULL, &bench.error);
      ck_assert_int_eq(status, TPTX_ERROR_PADDING);
      ck_assert_str_eq(bench.error.argument, "pad");
    }
    op.pad = TPTX_PAD_ZERO;
    ck_assert_int_eq(tptx_plan_check(&view, &op, NULL, &bench.error), TPTX_OK);
  }
}
END_TEST

static uint64_t float_of(int k, int size) {
  float value = (float)k;
  uint32_t bits = 0;
  (void)size;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* The allocation ends with the seventh element: the emulated driver refuses any access past it. */
START_TEST(B_05_the_tail_reads_nothing_past_the_end) {
  unsigned char span[28], tile[16], wanted[16] = {0};
  fill(span, 4, 7, float_of);
  memcpy(wanted, span + 16, 12);
  strided(TPTX_F32, 7, 4);
  at_chunk(&args, 1, AXES(1));
  args.span = put(span, sizeof span);
  args.tile = put(NULL, sizeof tile);
  run_well(&view, &op, &args);
  get(tile, args.tile, sizeof tile);
  ck_assert_mem_eq(tile, wanted, sizeof tile);
}
END_TEST

struct edge {
  tptx_type type;
  int extent, shape, lean; /* lean: bytes that the base lies off its aligned allocation */
};

static const struct edge edges[] = {
    {TPTX_F16, 7, 8, 0},
    {TPTX_F16, 7, 8, 2},
    {TPTX_S8, 13, 16, 0},
    {TPTX_S8, 13, 16, 1},
};

static uint64_t byte_pattern(int k, int size) {
  return size == 1 ? (uint64_t)(k + 1) : (uint64_t)(0x3c00 + k);
}

static uint64_t nine(int k, int size) {
  (void)k;
  return size == 1 ? 9 : 0x4880;
}

/* What shares the last element's 32-bit word must neither be read in its place nor change. */
START_TEST(B_06_neighbours_in_the_same_word_survive) {
  const struct edge *e = &edges[_i];
  int size = (int)tptx_type_bytes(e->type), used = e->lean + e->extent * size;
  unsigned char memory[40], got[40], tile[16], wanted[16] = {0};
  memset(memory, 0xef, sizeof memory);
  memory[used] = 0xbe;
  fill(memory + e->lean, size, e->extent, byte_pattern);
  memcpy(wanted, memory + e->lean, (size_t)(e->extent * size));
  strided(e->type, e->extent, e->shape);
  at_chunk(&args, 1, AXES(0));
  uint64_t block = put(memory, sizeof memory);
  args.span = block + (uint64_t)e->lean;
  args.tile = put(NULL, sizeof tile);
  run_well(&view, &op, &args);
  get(tile, args.tile, sizeof tile);
  ck_assert_mem_eq(tile, wanted, sizeof tile);

  op.operation = TPTX_STORE;
  fill(tile, size, e->shape, nine);
  args.tile = put(tile, sizeof tile);
  fill(memory + e->lean, size, e->extent, nine);
  run_well(&view, &op, &args);
  get(got, block, sizeof got);
  ck_assert_mem_eq(got, memory, sizeof got);
}
END_TEST

static uint64_t count_up(int k, int size) {
  (void)size;
  return (uint64_t)(0x3f80 + k);
}

/* One slice begins at an aligned address, the next one element later: never a misaligned vector. */
START_TEST(B_07_contiguous_is_not_aligned) {
  enum { COUNT = 1024 };
  static unsigned char memory[2 * COUNT + 2], tile[2 * COUNT];
  fill(memory, 2, COUNT + 1, count_up);
  uint64_t block = put(memory, sizeof memory);
  for (int round = 0; round < 3; round++) { /* the third meets a warm cache */
    int lean = round % 2 * 2;
    strided(TPTX_BF16, COUNT, 8);
    args.span = block + (uint64_t)lean;
    args.tile = put(NULL, sizeof tile);
    run_well(&view, &op, &args);
    get(tile, args.tile, sizeof tile);
    ck_assert_mem_eq(tile, memory + lean, sizeof tile);
  }
}
END_TEST

START_TEST(B_07_a_kernel_for_aligned_operands_refuses_others) {
  tptx_kernel *kernel = NULL;
  unsigned char memory[34] = {0};
  strided(TPTX_BF16, 16, 8);
  view.align = 16;
  args.span = put(memory, sizeof memory) + 2;
  args.tile = put(memory, 32);
  tptx_status status = tptx_kernel_get(bench.runtime, &view, &op, &kernel, &bench.error);
  ck_assert_int_eq(status, TPTX_OK);
  ck_assert_int_eq(tptx_launch(kernel, &args, NULL, &bench.error), TPTX_ERROR_MISALIGNED);
  args.span -= 2;
  args.tile += 2;
  ck_assert_int_eq(tptx_launch(kernel, &args, NULL, &bench.error), TPTX_ERROR_MISALIGNED);
  ck_assert_int_eq(device_synchronize(bench.device), 0);
  tptx_kernel_release(kernel);
}
END_TEST

START_TEST(B_08_bounds_are_checked_on_every_axis) {
  int32_t span[6], tile[4];
  iota_s32(span, 6);
  tptx_view_strided(&view, TPTX_S32, 2, AXES(2, 3), NULL, AXES(2, 2), NULL);
  tptx_op_load(&op);
  op.masked = 1;
  tptx_args_init(&args);
  at_chunk(&args, 2, AXES(0, 1));
  args.span = put(span, sizeof span);
  args.tile = put(NULL, sizeof tile);
  run_well(&view, &op, &args);
  get(tile, args.tile, sizeof tile);
  expect_s32("load_masked", tile, (const int32_t[]){2, 0, 5, 0}, 4);
}
END_TEST

/* Three paddings, one after the other and once more from a warm cache. */
START_TEST(B_10_loads_that_differ_in_padding_only) {
  static const tptx_pad pads[] = {TPTX_PAD_NAN, TPTX_PAD_NEGATIVE_INF, TPTX_PAD_ZERO};
  static const uint32_t bits[] = {0x7fc00000, 0xff800000, 0};
  unsigned char span[24];
  uint32_t tile[4];
  tptx_counters counters = {.struct_size = sizeof counters};
  fill(span, 4, 6, float_of);
  uint64_t address = put(span, sizeof span);
  for (int i = 0; i < 6; i++) {
    strided(TPTX_F32, 6, 4);
    op.pad = pads[i % 3];
    at_chunk(&args, 1, AXES(1));
    args.span = address;
    args.tile = put(NULL, sizeof tile);
    run_well(&view, &op, &args);
    get(tile, args.tile, sizeof tile);
    ck_assert_uint_eq(tile[1], 0x40a00000);
    ck_assert_uint_eq(tile[2], bits[i % 3]);
    ck_assert_uint_eq(tile[3], bits[i % 3]);
  }
  ck_assert_int_eq(tptx_runtime_counters(bench.runtime, &counters, NULL), TPTX_OK);
  ck_assert_uint_eq(counters.builds, 3);
  ck_assert_uint_eq(counters.hits, 3);
}
END_TEST

START_TEST(B_11_chunks_outside_the_index_space_are_refused) {
  strided(TPTX_S32, 10, 4);
  view.strides[0] = 3;
  at_chunk(&args, 1, AXES(4));
  args.span = put(NULL, 40);
  args.tile = put(NULL, 16);
  ck_assert_int_eq(run(&view, &op, &args), TPTX_ERROR_BOX);
  ck_assert_int_eq(bench.error.axis, 0);
}
END_TEST

START_TEST(B_11_gather_hangs_out_but_does_not_start_outside) {
  int32_t span[16], tile[4];
  iota_s32(span, 16);
  tptx_view_gather_scatter(&view, TPTX_S32, 2, AXES(4, 4), NULL, AXES(2, 2), 0);
  tptx_op_load(&op);
  op.masked = 1;
  tptx_args_init(&args);
  args.indices = put((const int32_t[]){0, 9}, 8);
  args.index_count = 2;
  args.span = put(span, sizeof span);
  args.tile = put(NULL, sizeof tile);
  at_chunk(&args, 2, AXES(0, 3));
  run_well(&view, &op, &args);
  get(tile, args.tile, sizeof tile);
  expect_s32("load_masked", tile, (const int32_t[]){3, 0, 0, 0}, 4);
  at_chunk(&args, 2, AXES(0, 4));
  ck_assert_int_eq(run(&view, &op, &args), TPTX_ERROR_BOX);
  ck_assert_int_eq(bench.error.axis, 1);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cases_b");
  TCase *tests = tcase_create("masks and padding");
  tcase_add_checked_fixture(tests, workbench_open, workbench_close);
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, B_01_lanes_masked_off_are_zero);
  tcase_add_loop_test(tests, B_02_infinities_and_nan_in_every_float_type, 0,
                      (int)(sizeof paddings / sizeof *paddings));
  tcase_add_test(tests, B_02_text_does_not_follow_the_locale);
  tcase_add_test(tests, B_03_integers_take_no_infinity_or_nan);
  tcase_add_test(tests, B_05_the_tail_reads_nothing_past_the_end);
  tcase_add_loop_test(tests, B_06_neighbours_in_the_same_word_survive, 0,
                      (int)(sizeof edges / sizeof *edges));
  tcase_add_test(tests, B_07_contiguous_is_not_aligned);
  tcase_add_test(tests, B_07_a_kernel_for_aligned_operands_refuses_others);
  tcase_add_test(tests, B_08_bounds_are_checked_on_every_axis);
  tcase_add_loop_test(tests, B_10_loads_that_differ_in_padding_only, 0, 2); /* two processes */
  tcase_add_test(tests, B_11_chunks_outside_the_index_space_are_refused);
  tcase_add_test(tests, B_11_gather_hangs_out_but_does_not_start_outside);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
