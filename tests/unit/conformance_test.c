/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call of the two views against every rule that holds for it; doc/conformance.md numbers the
 * pairs. A test case is a call, named as in a signature line; a test is a rule, named after what it
 * says. How strong an access is can only be read in the text, everything else is run.
 */
#include "one_row.h"
#include "reference_values.h"
#include "trial.h"
#include "workbench.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BITS(...) ((uint64_t[]){__VA_ARGS__})

/* ---- The calls ------------------------------------------------------------------------------- */

enum { STRIDED = 1, GATHER = 2, PLAIN = 4, STRONG = 8, LOADS = 16, STORES = 32, UPDATES = 64 };
enum { UNMASKED = 128, MASKED = 256, BITWISE = 512, ADD = 1024, SUB = 2048 };

struct call {
  const char *name;
  tptx_operation operation;
  int is; /* of the bits above */
};

#define BOTH_MASKS(view, word, operation, is) \
  {#view "_view " #word, TPTX_##operation, (is) | UNMASKED}, { \
#view "_view " #word "_masked", TPTX_##operation, (is) | MASKED \
  }
#define VIEW(view, which) \
  BOTH_MASKS(view, load, LOAD, (which) | PLAIN | LOADS), \
      BOTH_MASKS(view, atomic_load, ATOMIC_LOAD, (which) | STRONG | LOADS), \
      BOTH_MASKS(view, store, STORE, (which) | PLAIN | STORES), \
      BOTH_MASKS(view, atomic_store, ATOMIC_STORE, (which) | STRONG | STORES)
#define UPDATE(word, operation, is) \
  { "strided_view atomic_" #word, TPTX_ATOMIC_##operation, STRIDED | STRONG | UPDATES | (is) }

static const struct call calls[] = {
    VIEW(strided, STRIDED),    VIEW(gather_scatter, GATHER), UPDATE(and, AND, BITWISE),
    UPDATE(or, OR, BITWISE),   UPDATE(xor, XOR, BITWISE),    UPDATE(max, MAX, BITWISE),
    UPDATE(min, MIN, BITWISE), UPDATE(add, ADD, ADD),        UPDATE(sub, SUB, SUB),
};
enum { CALLS = sizeof calls / sizeof *calls };

static bool is(int call, int bits) {
  return (calls[call].is & bits) != 0;
}

static struct trial trial_of(int call) {
  struct trial t;
  trial_begin(&t, is(call, GATHER) ? TPTX_GATHER_SCATTER_VIEW : TPTX_STRIDED_VIEW,
              calls[call].operation, is(call, MASKED));
  return t;
}

/* The tiles of the last column hang out of the span, those of the last row, too, where they can. */
static void hang_out(struct trial *t) {
  t->view.extents[1] = 7;
  if (t->view.kind == TPTX_STRIDED_VIEW) t->view.extents[0] = 5;
}

static void pitch(struct trial *t, int64_t rows, int64_t columns) {
  t->view.layout = TPTX_LAYOUT_STRIDED;
  t->view.layout_strides[0] = rows;
  t->view.layout_strides[1] = columns;
}

/* ---- C: what planning takes and refuses ------------------------------------------------------ */

/* As many numbers as the rank says are read; nothing depends on the rest. */
START_TEST(C1_as_many_indices_as_the_rank) {
  struct trial t = trial_of(_i);
  for (int k = t.view.rank; k < TPTX_MAX_RANK; k++) {
    t.view.extents[k] = t.view.shape[k] = t.view.strides[k] = t.view.layout_strides[k] = -7;
    t.args.first[k] = t.args.count[k] = t.args.extents[k] = t.args.step[k] = -7;
  }
  trial_run(&t);
}
END_TEST

/* Read at its own width and sign; entries that a short last tile lacks are outside. */
START_TEST(C2d_index_arrays_of_every_integer_type) {
  struct trial t = trial_of(_i);
  for (int type = TPTX_BOOL; type <= TPTX_E5M2; type++) {
    t.op.indices.type = (tptx_type)type;
    if (type >= TPTX_S8 && type <= TPTX_U64) {
      trial_planned(&t, 0, TPTX_OK);
      for (t.args.index_count = 3; t.args.index_count <= 4; t.args.index_count++) trial_run(&t);
    } else {
      trial_planned(&t, 0, TPTX_ERROR_INDEX_TYPE);
    }
  }
}
END_TEST

START_TEST(C3_infinities_and_nan_pad_four_types_only) {
  struct trial t = trial_of(_i);
  for (int type = TPTX_BOOL; type <= TPTX_E5M2; type++)
    for (int pad = TPTX_PAD_ZERO; pad <= TPTX_PAD_VALUE; pad++) {
      bool any = pad == TPTX_PAD_ZERO || pad == TPTX_PAD_VALUE;
      bool basic = type == TPTX_F16 || type == TPTX_BF16 || type == TPTX_F32 || type == TPTX_F64;
      t.view.type = (tptx_type)type;
      t.op.pad = (tptx_pad)pad;
      trial_planned(&t, 0, any || basic ? TPTX_OK : TPTX_ERROR_PADDING);
    }
}
END_TEST

START_TEST(C4_numbers_that_are_no_enumerators) {
  for (int wrong = 0; wrong < 3; wrong++) {
    struct trial t = trial_of(_i);
    if (is(_i, LOADS) && is(_i, MASKED)) {
      t.view.type = TPTX_F32; /* takes every padding that there is */
      t.op.pad = (tptx_pad)(int[]){5, -1, 99}[wrong];
      trial_planned(&t, 0, TPTX_ERROR_PADDING);
    }
    t = trial_of(_i);
    if (!is(_i, STRONG)) continue;
    t.op.order = (tptx_order)(int[]){4, -1, 99}[wrong];
    trial_planned(&t, 0, TPTX_ERROR_ORDER);
    t = trial_of(_i);
    t.op.scope = (tptx_scope)(int[]){4, -1, 99}[wrong];
    trial_planned(&t, 0, TPTX_ERROR_SCOPE);
  }
}
END_TEST

static void take_orders(int call, tptx_order one, tptx_order other) {
  for (int order = TPTX_ORDER_NONE; order <= TPTX_ORDER_RELEASE; order++) {
    struct trial t = trial_of(call);
    t.op.order = (tptx_order)order;
    bool good = t.op.order == one || t.op.order == other;
    trial_planned(&t, 0, good ? TPTX_OK : TPTX_ERROR_ORDER);
  }
}

START_TEST(C5_loads_are_relaxed_or_acquire) {
  take_orders(_i, TPTX_ORDER_RELAXED, TPTX_ORDER_ACQUIRE);
}
END_TEST

START_TEST(C6_stores_are_relaxed_or_release) {
  take_orders(_i, TPTX_ORDER_RELAXED, TPTX_ORDER_RELEASE);
}
END_TEST

/* One element is a tile of rank 0, which a strided view alone can have. */
START_TEST(C7_a_scalar_is_a_tile_of_rank_0) {
  struct trial t = trial_of(_i);
  t.view.rank = 0;
  if (is(_i, STRIDED))
    trial_run(&t);
  else
    trial_planned(&t, 0, TPTX_ERROR_RANK);
}
END_TEST

START_TEST(C8_values_convert_where_nothing_is_lost) {
  struct trial t = trial_of(_i);
  for (int type = TPTX_BOOL; type <= TPTX_E5M2; type++)
    for (int value = TPTX_BOOL; value <= TPTX_E5M2; value++) {
      if (is(_i, UPDATES) && !reference_takes(t.op.operation, (tptx_type)type)) continue;
      t.view.type = (tptx_type)type;
      t.op.tile.type = value;
      bool good = reference_converts((tptx_type)value, (tptx_type)type);
      trial_planned(&t, 0, good ? TPTX_OK : TPTX_ERROR_CONVERSION);
    }
}
END_TEST

START_TEST(C9_a_read_only_span_is_not_written) {
  struct trial t = trial_of(_i);
  t.view.read_only = 1;
  trial_planned(&t, 0, TPTX_ERROR_READ_ONLY);
  trial_refused(&t, TPTX_ERROR_READ_ONLY, -1);
}
END_TEST

START_TEST(C10_updates_are_relaxed) {
  take_orders(_i, TPTX_ORDER_RELAXED, TPTX_ORDER_RELAXED);
}
END_TEST

START_TEST(C11_updates_have_scope_block_or_device) {
  for (int scope = TPTX_SCOPE_DEFAULT; scope <= TPTX_SCOPE_SYSTEM; scope++) {
    struct trial t = trial_of(_i);
    t.op.scope = (tptx_scope)scope;
    bool good = scope == TPTX_SCOPE_BLOCK || scope == TPTX_SCOPE_DEVICE;
    trial_planned(&t, 0, good ? TPTX_OK : TPTX_ERROR_SCOPE);
  }
}
END_TEST

static void take_types(int call, int sm, const tptx_type *types, int count) {
  for (int type = TPTX_BOOL; type <= TPTX_E5M2; type++) {
    struct trial t = trial_of(call);
    bool good = false;
    for (int i = 0; i < count; i++) good = good || types[i] == (tptx_type)type;
    t.view.type = (tptx_type)type;
    trial_planned(&t, sm, good ? TPTX_OK : TPTX_ERROR_TYPE);
  }
}

static const tptx_type words[] = {TPTX_S32, TPTX_U32, TPTX_S64, TPTX_U64,
                                  TPTX_F64, TPTX_F32, TPTX_F16, TPTX_BF16};

START_TEST(C12_integers_of_32_and_64_bits) {
  take_types(_i, 75, words, 4);
}
END_TEST

START_TEST(C13_those_and_floats_and_bf16_from_sm_90) {
  struct trial t = trial_of(_i);
  take_types(_i, 90, words, 8);
  for (int i = 0; i < 7; i++) {
    t.view.type = words[i];
    trial_planned(&t, 75, TPTX_OK);
  }
  t.view.type = TPTX_BF16;
  trial_planned(&t, 89, TPTX_ERROR_TARGET);
}
END_TEST

/* ---- U: what CUDA leaves undefined ----------------------------------------------------------- */

static void refuse_partial_chunks(int call) {
  struct trial t = trial_of(call);
  t.view.extents[1] = 7;
  trial_refused(&t, TPTX_ERROR_PARTIAL_CHUNK, 1);
  t = trial_of(call);
  t.view.extents[0] = 5;
  if (is(call, STRIDED))
    trial_refused(&t, TPTX_ERROR_PARTIAL_CHUNK, 0);
  else
    trial_run(&t); /* entry 5 is outside now: padded or skipped */
}

START_TEST(U1_partial_chunks_are_refused_without_a_mask) {
  refuse_partial_chunks(_i);
}
END_TEST

START_TEST(U5_partial_chunks_are_refused) {
  refuse_partial_chunks(_i);
}
END_TEST

/* 256 is 0 in eight bits, 2^32 is 0 in 32. */
START_TEST(U2_indices_are_never_cut) {
  static const int64_t far[] = {256, 257, -1, INT64_C(1) << 32, INT64_MAX, INT64_MIN};
  for (int i = 0; i < 6; i++) {
    struct trial t = trial_of(_i);
    t.view.index_type = TPTX_U8;
    t.args.first[1] = far[i];
    t.args.count[1] = 1;
    trial_refused(&t, TPTX_ERROR_BOX, 1);
  }
  if (!is(_i, GATHER)) return;
  struct trial t = trial_of(_i);
  t.view.index_type = TPTX_U8;
  t.op.indices.type = TPTX_S64;
  memcpy(t.entries, (const int64_t[]){258, -1, (INT64_C(1) << 32) + 1, 4}, 4 * sizeof(int64_t));
  trial_run(&t);
}
END_TEST

/* The last chunk is good, the next is not. */
START_TEST(U3_chunks_outside_the_index_space_are_refused) {
  for (int k = 0; k < 2; k++) {
    struct trial t = trial_of(_i);
    bool dense = is(_i, GATHER) && k == 1;
    int64_t last = dense ? (is(_i, MASKED) ? 7 : 4) : k == 0 && is(_i, STRIDED) ? 2 : 1;
    t.args.count[k] = 1;
    t.args.first[k] = last;
    trial_run(&t);
    t.args.first[k] = dense ? 8 : last + 1;
    trial_refused(&t, TPTX_ERROR_BOX, k);
    t.args.first[k] = -1;
    trial_refused(&t, TPTX_ERROR_BOX, k);
  }
}
END_TEST

/* Read all the same, never written: known when it is planned, or at the launch. */
START_TEST(U4_layouts_that_are_not_injective) {
  static const int64_t strides[][2] = {{0, 1}, {1, 1}, {4, 1}};
  for (int i = 0; i < 3; i++) {
    struct trial t = trial_of(_i);
    pitch(&t, strides[i][0], strides[i][1]);
    if (is(_i, LOADS)) {
      trial_run(&t);
      continue;
    }
    trial_planned(&t, 0, TPTX_ERROR_NOT_INJECTIVE);
    memcpy(t.args.layout_strides, strides[i], sizeof strides[i]);
    pitch(&t, TPTX_DYNAMIC, TPTX_DYNAMIC);
    trial_refused(&t, TPTX_ERROR_NOT_INJECTIVE, -1);
  }
}
END_TEST

START_TEST(U6_signed_sums_wrap) {
  uint64_t narrow[] = {0x7fffffff, 0x80000000}, wide[] = {INT64_MAX, UINT64_C(1) << 63};
  row_updated(TPTX_ATOMIC_ADD, TPTX_S32, 2, narrow, BITS(1, 0xffffffff));
  expect_bits("s32", narrow, BITS(0x80000000, 0x7fffffff), 2);
  row_updated(TPTX_ATOMIC_ADD, TPTX_S64, 2, wide, BITS(1, UINT64_MAX));
  expect_bits("s64", wide, BITS(UINT64_C(1) << 63, INT64_MAX), 2);
}
END_TEST

START_TEST(U7_the_lowest_number_is_its_own_negation) {
  uint64_t narrow[] = {0xffffffff, 5}, wide[] = {UINT64_MAX, 5};
  row_updated(TPTX_ATOMIC_SUB, TPTX_S32, 2, narrow, BITS(0x80000000, 0x80000000));
  expect_bits("s32", narrow, BITS(0x7fffffff, 0x80000005), 2);
  row_updated(TPTX_ATOMIC_SUB, TPTX_S64, 2, wide, BITS(UINT64_C(1) << 63, UINT64_C(1) << 63));
  expect_bits("s64", wide, BITS(INT64_MAX, (UINT64_C(1) << 63) + 5), 2);
}
END_TEST

/*
 * Row 2 is named by both entries. Strong stores leave one of the two values in each element; plain
 * ones race, and the emulated driver says so.
 */
START_TEST(U8_a_row_that_is_named_twice) {
  struct trial t = trial_of(_i);
  int32_t span[48], tile[16], got[48];
  for (int i = 0; i < 48; i++) span[i] = i;
  for (int i = 0; i < 16; i++) tile[i] = 100 + i;
  t.op.flight = 1; /* the two entries are two threads' */
  t.args.index_count = 2;
  t.args.span = put(span, sizeof span);
  t.args.tile = put(tile, sizeof tile);
  t.args.indices = put((const int32_t[]){2, 2}, 8);
  tptx_status status = tptx_run(bench.runtime, &t.view, &t.op, &t.args, NULL, &bench.error);
  bool good = status == TPTX_OK && device_synchronize(bench.device) == 0;
  if (is(_i, PLAIN)) {
    ck_assert(!good || !device_is_emulated(bench.device));
    return;
  }
  ck_assert_msg(good, "%s", bench.error.message);
  get(got, t.args.span, sizeof got);
  for (int i = 0; i < 48; i++) {
    int one = 100 + i % 8 / 4 * 8 + i % 4;
    bool right = i / 8 == 2 ? got[i] == one || got[i] == one + 4 : got[i] == i;
    ck_assert_msg(right, "element %d is %d", i, got[i]);
  }
}
END_TEST

/* ---- S: what is done ------------------------------------------------------------------------- */

START_TEST(S1_elements_go_where_the_mapping_says) {
  struct trial t = trial_of(_i);
  trial_run(&t);
  trial_shape(&t, TPTX_S32, 3, (const int64_t[]){6, 4, 9}, (const int64_t[]){1, 2, 3});
  trial_run(&t);
  if (!is(_i, STRIDED)) return;
  t.view.strides[0] = 2; /* gaps */
  t.view.strides[2] = 6;
  t.args.count[0] = 2;
  trial_run(&t);
}
END_TEST

START_TEST(S2_outside_elements_are_the_padding) {
  static const tptx_type types[] = {TPTX_F16, TPTX_BF16, TPTX_F32, TPTX_F64};
  for (int i = 0; i < 4; i++)
    for (int pad = TPTX_PAD_ZERO; pad <= TPTX_PAD_VALUE; pad++) {
      struct trial t = trial_of(_i);
      hang_out(&t);
      t.view.type = types[i];
      t.op.pad = (tptx_pad)pad;
      t.args.pad_value = 0x4321;
      trial_run(&t);
    }
}
END_TEST

START_TEST(S3_outside_elements_are_not_stored) {
  struct trial t = trial_of(_i);
  hang_out(&t);
  trial_run(&t);
}
END_TEST

/*
 * The allocation ends with the last element, elements between the rows belong to nobody, the other
 * elements of a word to somebody else.
 */
START_TEST(S4_nothing_else_is_touched) {
  static const tptx_type types[] = {TPTX_U8, TPTX_U16, TPTX_U32, TPTX_U64};
  for (int i = is(_i, UPDATES) ? 2 : 0; i < 4; i++)
    for (int64_t rows = 8; rows <= 11; rows += 3) {
      struct trial t = trial_of(_i);
      t.view.type = types[i];
      if (is(_i, MASKED)) hang_out(&t);
      pitch(&t, rows, 1);
      trial_run(&t);
    }
}
END_TEST

START_TEST(S5w_accesses_are_weak) {
  static const char *const strong[] = {".relaxed", ".acquire", ".release", ".volatile", "fence."};
  struct trial t = trial_of(_i);
  for (int i = 0; i < 5; i++) ck_assert_msg(!trial_says(&t, strong[i]), "%s", strong[i]);
  ck_assert(trial_says(&t, is(_i, LOADS) ? "ld.global." : "st.global."));
}
END_TEST

/* Without a scope: system. Acquire and release are a fence beside relaxed accesses. */
START_TEST(S5_accesses_are_strong_in_their_scope_and_order) {
  static const char *const scopes[] = {"sys", "cta", "gpu", "sys"};
  for (int scope = TPTX_SCOPE_DEFAULT; scope <= TPTX_SCOPE_SYSTEM; scope++)
    for (int ordered = 0; ordered < 2; ordered++) {
      char access[32], fence[32];
      struct trial t = trial_of(_i);
      t.op.scope = (tptx_scope)scope;
      if (ordered) t.op.order = is(_i, LOADS) ? TPTX_ORDER_ACQUIRE : TPTX_ORDER_RELEASE;
      snprintf(access, sizeof access, "%s.relaxed.%s.global", is(_i, LOADS) ? "ld" : "st",
               scopes[scope]);
      snprintf(fence, sizeof fence, "fence.acq_rel.%s;", scopes[scope]);
      ck_assert_msg(trial_says(&t, access), "no %s", access);
      ck_assert_msg(trial_says(&t, fence) == (ordered != 0), "%s", fence);
      if (is(_i, STORES)) ck_assert(!trial_says(&t, "st.global")); /* loads read indices so, too */
      trial_run(&t);
    }
}
END_TEST

/* A store of s8 to s32 is a store of its value; what is added or subtracted is that value, too. */
START_TEST(S6_the_value_is_converted_first) {
  struct trial t = trial_of(_i);
  t.op.tile.type = TPTX_S8;
  trial_run(&t);
  t.op.tile.type = TPTX_U16;
  trial_run(&t);
}
END_TEST

/* Memory holds -16, the tile 3; without a sign -16 is the larger. */
START_TEST(S7_memory_first_then_the_tile) {
  static const struct {
    tptx_operation operation;
    int64_t signed_result, unsigned_result;
  } rows[] = {{TPTX_ATOMIC_AND, 0, 0},    {TPTX_ATOMIC_OR, -13, -13}, {TPTX_ATOMIC_XOR, -13, -13},
              {TPTX_ATOMIC_MAX, 3, -16},  {TPTX_ATOMIC_MIN, -16, 3},  {TPTX_ATOMIC_ADD, -13, -13},
              {TPTX_ATOMIC_SUB, -19, -19}};
  for (int i = 0; i < 4; i++) {
    tptx_type type = words[i];
    uint64_t mask = tptx_type_bytes(type) == 4 ? UINT32_MAX : UINT64_MAX;
    uint64_t memory[] = {(uint64_t)-16 & mask};
    const int row = (int)calls[_i].operation - TPTX_ATOMIC_AND;
    bool sign = type == TPTX_S32 || type == TPTX_S64;
    row_updated(rows[row].operation, type, 1, memory, BITS(3));
    uint64_t wanted = (uint64_t)(sign ? rows[row].signed_result : rows[row].unsigned_result);
    expect_bits(tptx_type_name(type), memory, BITS(wanted & mask), 1);
  }
}
END_TEST

/* Chunks that overlap meet in elements: every update of every chunk counts, nothing comes back. */
START_TEST(S8_one_strong_update_for_each_position) {
  struct trial t = trial_of(_i);
  t.view.strides[0] = t.view.strides[1] = 1;
  t.args.count[0] = t.args.count[1] = 5;
  trial_run(&t);
  for (int scope = TPTX_SCOPE_BLOCK; scope <= TPTX_SCOPE_DEVICE; scope++) {
    t.op.scope = (tptx_scope)scope;
    ck_assert(trial_says(&t, scope == TPTX_SCOPE_BLOCK ? "red.relaxed.cta.global"
                                                       : "red.relaxed.gpu.global"));
    ck_assert(!trial_says(&t, "atom.") && !trial_says(&t, "ld.relaxed"));
  }
}
END_TEST

/* 1 and the number after it, each with half of what lies between them: to the even one. */
START_TEST(S9_sums_of_floats_round_to_even) {
  static const struct {
    tptx_type type;
    uint64_t one, half, sign;
  } rows[] = {{TPTX_F16, 0x3c00, 0x1000, 0x8000},
              {TPTX_BF16, 0x3f80, 0x3b80, 0x8000},
              {TPTX_F32, 0x3f800000, 0x33800000, 0x80000000},
              {TPTX_F64, 0x3ff0000000000000, 0x3ca0000000000000, UINT64_C(1) << 63}};
  for (int i = 0; i < 4; i++) {
    uint64_t one = rows[i].one, memory[] = {one, one + 1};
    uint64_t half = rows[i].half | (is(_i, SUB) ? rows[i].sign : 0);
    row_updated(calls[_i].operation, rows[i].type, 2, memory, BITS(half, half));
    expect_bits(tptx_type_name(rows[i].type), memory, BITS(one, one + 2), 2);
  }
}
END_TEST

START_TEST(S10_sections_in_the_order_of_the_indices) {
  struct trial t = trial_of(_i);
  memcpy(t.entries, (const int64_t[]){5, 0, 5, 5}, 4 * sizeof(int64_t)); /* some of them again */
  trial_run(&t);
}
END_TEST

START_TEST(S11_sections_outside_are_padded_or_dropped) {
  struct trial t = trial_of(_i);
  t.op.indices.type = TPTX_S64;
  memcpy(t.entries, (const int64_t[]){6, 5, INT64_MAX, INT32_MAX}, 4 * sizeof(int64_t));
  trial_run(&t);
}
END_TEST

/* ---- H: hints -------------------------------------------------------------------------------- */

START_TEST(H1_latency_changes_no_code) {
  struct trial plain = trial_of(_i), hinted = plain;
  for (hinted.op.latency = 1; hinted.op.latency <= 10; hinted.op.latency++)
    trial_same_code(&plain, &hinted);
  trial_planned(&hinted, 0, TPTX_ERROR_TUNING);
}
END_TEST

START_TEST(H2_allow_tma_changes_no_code) {
  struct trial plain = trial_of(_i), hinted = plain;
  hinted.op.allow_tma = 0;
  trial_same_code(&plain, &hinted);
  trial_run(&hinted);
}
END_TEST

/* ---- Calls and rules ------------------------------------------------------------------------- */

#define RULE(test, all_of, one_of) \
  if (((all_of)&calls[call].is) == (all_of) && (!(one_of) || is(call, one_of))) \
  tcase_add_loop_test(tests, test, call, call + 1)

static void add_rules(TCase *tests, int call) {
  RULE(C1_as_many_indices_as_the_rank, 0, 0);
  RULE(C2d_index_arrays_of_every_integer_type, GATHER, 0);
  RULE(C3_infinities_and_nan_pad_four_types_only, LOADS | MASKED, 0);
  RULE(C4_numbers_that_are_no_enumerators, 0, STRONG | LOADS);
  RULE(C5_loads_are_relaxed_or_acquire, LOADS | STRONG, 0);
  RULE(C6_stores_are_relaxed_or_release, STORES | STRONG, 0);
  RULE(C7_a_scalar_is_a_tile_of_rank_0, 0, STORES | UPDATES);
  RULE(C8_values_convert_where_nothing_is_lost, 0, STORES | UPDATES);
  RULE(C9_a_read_only_span_is_not_written, 0, STORES | UPDATES);
  RULE(C10_updates_are_relaxed, UPDATES, 0);
  RULE(C11_updates_have_scope_block_or_device, UPDATES, 0);
  RULE(C12_integers_of_32_and_64_bits, BITWISE, 0);
  RULE(C13_those_and_floats_and_bf16_from_sm_90, 0, ADD | SUB);
  RULE(U1_partial_chunks_are_refused_without_a_mask, UNMASKED, 0);
  RULE(U5_partial_chunks_are_refused, UPDATES, 0);
  RULE(U2_indices_are_never_cut, 0, 0);
  RULE(U3_chunks_outside_the_index_space_are_refused, 0, 0);
  RULE(U4_layouts_that_are_not_injective, 0, 0);
  RULE(U6_signed_sums_wrap, ADD, 0);
  RULE(U7_the_lowest_number_is_its_own_negation, SUB, 0);
  RULE(U8_a_row_that_is_named_twice, GATHER | STORES, 0);
  RULE(S1_elements_go_where_the_mapping_says, 0, LOADS | STORES);
  RULE(S2_outside_elements_are_the_padding, LOADS | MASKED, 0);
  RULE(S3_outside_elements_are_not_stored, STORES | MASKED, 0);
  RULE(S4_nothing_else_is_touched, 0, 0);
  RULE(S5w_accesses_are_weak, PLAIN, 0);
  RULE(S5_accesses_are_strong_in_their_scope_and_order, STRONG, LOADS | STORES);
  RULE(S6_the_value_is_converted_first, 0, STORES | UPDATES);
  RULE(S7_memory_first_then_the_tile, UPDATES, 0);
  RULE(S8_one_strong_update_for_each_position, UPDATES, 0);
  RULE(S9_sums_of_floats_round_to_even, 0, ADD | SUB);
  RULE(S10_sections_in_the_order_of_the_indices, GATHER | LOADS, 0);
  RULE(S11_sections_outside_are_padded_or_dropped, GATHER | MASKED, 0);
  RULE(H1_latency_changes_no_code, 0, LOADS | STORES);
  RULE(H2_allow_tma_changes_no_code, 0, LOADS | STORES);
}

int main(void) {
  Suite *suite = suite_create("conformance");
  for (int call = 0; call < CALLS; call++) {
    TCase *tests = tcase_create(calls[call].name);
    tcase_add_checked_fixture(tests, workbench_open, workbench_close);
    tcase_set_timeout(tests, 60);
    add_rules(tests, call);
    suite_add_tcase(suite, tests);
  }
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
