/* SPDX-License-Identifier: Apache-2.0 */
/* What the two views are, apart from their calls: the rows T of doc/conformance.md. */
#include "trial.h"
#include "workbench.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define AXES(...) ((const int64_t[]){__VA_ARGS__})

static struct trial strided(tptx_operation operation, bool masked) {
  struct trial t;
  trial_begin(&t, TPTX_STRIDED_VIEW, operation, masked);
  return t;
}

static struct trial gather(tptx_operation operation, bool masked) {
  struct trial t;
  trial_begin(&t, TPTX_GATHER_SCATTER_VIEW, operation, masked);
  return t;
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

static void expect_line(const char *line, tptx_status status) {
  ck_assert_msg(tptx_signature_parse(line, NULL, NULL, NULL, &bench.error) == status, "%s: %s",
                line, bench.error.message);
}

/* Descriptors have one rank; only a line can say two. */
START_TEST(ranks_that_differ) {
  expect_line("strided_view:s32:4x4:shape=2x2:strides=1x2:load", TPTX_OK);
  expect_line("strided_view:s32:4x4:shape=2:load", TPTX_ERROR_RANK);
  expect_line("strided_view:s32:4:shape=2x2:load", TPTX_ERROR_RANK);
  expect_line("strided_view:s32:4x4:shape=2x2:strides=1:load", TPTX_ERROR_RANK);
  expect_line("strided_view:s32:4x4:shape=2x2:strides=1x1x1:load", TPTX_ERROR_RANK);
  expect_line("gather_scatter_view:s32:4x4:shape=2x2:dim=1:load", TPTX_OK);
  expect_line("gather_scatter_view:s32:4x4:shape=2:dim=0:load", TPTX_ERROR_RANK);
  expect_line("gather_scatter_view:s32:4:shape=2x2:dim=0:load", TPTX_ERROR_RANK);
}
END_TEST

START_TEST(strides_are_static) {
  struct trial t = strided(TPTX_LOAD, false);
  t.view.strides[1] = TPTX_DYNAMIC;
  trial_planned(&t, 0, TPTX_ERROR_STRIDE);
  ck_assert_int_eq(bench.error.axis, 1);
}
END_TEST

START_TEST(strides_are_above_0) {
  static const int64_t strides[] = {0, -1, -4, INT64_MIN + 1};
  for (int i = 0; i < 4; i++) {
    struct trial t = strided(TPTX_LOAD, true);
    t.view.strides[0] = strides[i];
    trial_planned(&t, 0, TPTX_ERROR_STRIDE);
    ck_assert_int_eq(bench.error.axis, 0);
  }
}
END_TEST

/* Any size from 1 on, powers of two or not, up to 16,777,216 elements. */
START_TEST(tile_sizes) {
  static const struct {
    int64_t shape[2];
    tptx_status status;
  } rows[] = {{{1, 1}, TPTX_OK},
              {{3, 5}, TPTX_OK},
              {{4096, 4096}, TPTX_OK},
              {{1, 16777216}, TPTX_OK},
              {{4096, 4097}, TPTX_ERROR_SHAPE},
              {{1, 16777217}, TPTX_ERROR_SHAPE},
              {{0, 4}, TPTX_ERROR_SHAPE},
              {{2, -4}, TPTX_ERROR_SHAPE}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct trial t = strided(TPTX_LOAD, true);
    trial_shape(&t, TPTX_U8, 2, AXES(8192, 16777217), rows[i].shape);
    t.view.strides[0] = t.view.strides[1] = 1;
    trial_planned(&t, 0, rows[i].status);
    t = gather(TPTX_LOAD, true);
    trial_shape(&t, TPTX_U8, 2, AXES(8192, 16777217), rows[i].shape);
    trial_planned(&t, 0, rows[i].status);
  }
}
END_TEST

START_TEST(strides_of_any_size) {
  for (int64_t stride = 1; stride <= 7; stride++) {
    struct trial t = strided(TPTX_LOAD, true);
    t.view.strides[0] = t.view.strides[1] = stride;
    trial_run(&t);
  }
}
END_TEST

START_TEST(a_copy_is_as_good) {
  struct trial t = strided(TPTX_LOAD, true), copy = t;
  memset(&t.view, 0, sizeof t.view);
  trial_run(&copy);
  t.view = copy.view;
  trial_same_code(&t, &copy);
  t = gather(TPTX_LOAD, true);
  copy = t;
  memset(&t.view, 0, sizeof t.view);
  trial_run(&copy);
}
END_TEST

START_TEST(descriptors_hold_what_they_were_given) {
  int64_t extents[] = {6, 8}, shape[] = {2, 4}, strides[] = {3, 5}, layout[] = {16, 2};
  tptx_view view;
  tptx_view_strided(&view, TPTX_F16, 2, extents, layout, shape, strides);
  extents[0] = shape[0] = strides[0] = layout[0] = -9; /* copied, not kept */
  ck_assert(view.kind == TPTX_STRIDED_VIEW && view.type == TPTX_F16 && view.rank == 2);
  ck_assert(view.layout == TPTX_LAYOUT_STRIDED && view.index_type == TPTX_S64);
  ck_assert_mem_eq(view.extents, AXES(6, 8), 16);
  ck_assert_mem_eq(view.shape, AXES(2, 4), 16);
  ck_assert_mem_eq(view.strides, AXES(3, 5), 16);
  ck_assert_mem_eq(view.layout_strides, AXES(16, 2), 16);
  tptx_view_gather_scatter(&view, TPTX_BOOL, 2, AXES(6, 8), NULL, AXES(2, 4), 1);
  ck_assert(view.kind == TPTX_GATHER_SCATTER_VIEW && view.type == TPTX_BOOL && view.rank == 2);
  ck_assert(view.layout == TPTX_LAYOUT_RIGHT && view.dim == 1 && view.read_only == 0);
  ck_assert_mem_eq(view.extents, AXES(6, 8), 16);
  ck_assert_mem_eq(view.shape, AXES(2, 4), 16);
}
END_TEST

START_TEST(dim_is_an_axis) {
  struct trial t = gather(TPTX_LOAD, true);
  for (t.view.dim = -1; t.view.dim <= 2; t.view.dim++) {
    bool axis = t.view.dim == 0 || t.view.dim == 1;
    trial_planned(&t, 0, axis ? TPTX_OK : TPTX_ERROR_DIM);
  }
  t.view.dim = 0;
  t.view.rank = 0;
  trial_planned(&t, 0, TPTX_ERROR_RANK);
  t.view.rank = 1;
  t.args.count[0] = t.args.first[0] = 1; /* of two index tiles the second */
  trial_run(&t);
}
END_TEST

/* ---- Mappings -------------------------------------------------------------------------------- */

static const int64_t extents_of_ranks[] = {3, 2, 4, 2, 3, 2, 2, 5};
static const int64_t shapes_of_ranks[] = {2, 2, 3, 1, 2, 1, 2, 2};

START_TEST(strided_mapping_at_every_rank) {
  for (int rank = 0; rank <= TPTX_MAX_RANK; rank++) {
    struct trial t = strided(TPTX_LOAD, true);
    trial_shape(&t, TPTX_S16, rank, extents_of_ranks, shapes_of_ranks);
    for (int k = 0; k < rank; k++) t.view.strides[k] += k % 3 - 1;
    for (int k = 0; k < rank; k++)
      if (t.view.strides[k] < 1) t.view.strides[k] = 1;
    trial_run(&t);
    memcpy(t.view.strides, shapes_of_ranks, sizeof shapes_of_ranks);
    t.op.operation = TPTX_STORE;
    trial_run(&t);
  }
}
END_TEST

START_TEST(gather_mapping_at_every_rank_and_dim) {
  for (int rank = 1; rank <= TPTX_MAX_RANK; rank++)
    for (int dim = 0; dim < rank; dim++) {
      struct trial t = gather(TPTX_LOAD, true);
      t.view.dim = dim;
      trial_shape(&t, TPTX_S16, rank, extents_of_ranks, shapes_of_ranks);
      memcpy(t.entries, AXES(1, 0, 7, 1), 32); /* 7 is outside on every axis */
      trial_run(&t);
      t.op.operation = TPTX_STORE;
      memcpy(t.entries, AXES(1, 0, 7, -1), 32);
      trial_run(&t);
    }
}
END_TEST

/* Chunks overlap, touch, or leave gaps, in each of the nine ways that two axes have. */
START_TEST(strides_below_at_and_above_the_tile) {
  for (int way = 0; way < 9; way++) {
    struct trial t = strided(TPTX_LOAD, true);
    trial_shape(&t, TPTX_S32, 2, AXES(11, 13), AXES(4, 4));
    t.view.strides[0] = 3 + way / 3;
    t.view.strides[1] = 3 + way % 3;
    trial_run(&t);
    t.op.operation = TPTX_ATOMIC_ADD;
    t.op.order = TPTX_ORDER_RELAXED;
    t.op.scope = TPTX_SCOPE_DEVICE;
    trial_run(&t);
    t.op.order = TPTX_ORDER_NONE;
    t.op.scope = TPTX_SCOPE_DEFAULT;
    t.op.operation = TPTX_STORE;
    if (t.view.strides[0] < 4 || t.view.strides[1] < 4)
      trial_refused(&t, TPTX_ERROR_OVERLAP, t.view.strides[0] < 4 ? 0 : 1);
    else
      trial_run(&t);
  }
}
END_TEST

static tptx_status bind_box(const struct trial *t, int64_t first, int64_t count, int64_t *tiles) {
  tptx_binding binding;
  tptx_ptx *ptx = NULL;
  tptx_args args = t->args;
  tptx_binding_init(&binding);
  ck_assert_int_eq(tptx_emit(&t->view, &t->op, NULL, &ptx, &bench.error), TPTX_OK);
  args.span = args.tile = args.indices = 4096;
  args.first[0] = first;
  args.count[0] = count;
  tptx_status status = tptx_bind(ptx, &args, &binding, &bench.error);
  tptx_ptx_free(ptx);
  *tiles = binding.tiles;
  return status;
}

/* Extent over stride, rounded up: the last chunk begins inside, one more would not. */
START_TEST(chunks_begin_inside_the_span) {
  int64_t tiles = 0;
  for (int64_t extent = 1; extent <= 17; extent++)
    for (int64_t stride = 1; stride <= 7; stride += 2)
      for (int64_t shape = 1; shape <= 4; shape += 3) {
        struct trial t = strided(TPTX_LOAD, true);
        trial_shape(&t, TPTX_S32, 1, &extent, &shape);
        t.view.strides[0] = stride;
        int64_t chunks = (extent + stride - 1) / stride;
        ck_assert((chunks - 1) * stride < extent && chunks * stride >= extent);
        ck_assert_int_eq(bind_box(&t, 0, TPTX_ALL, &tiles), TPTX_OK);
        ck_assert_int_eq(tiles, chunks);
        ck_assert_int_eq(bind_box(&t, chunks - 1, 1, &tiles), TPTX_OK);
        ck_assert_int_eq(bind_box(&t, chunks, 1, &tiles), TPTX_ERROR_BOX);
      }
}
END_TEST

START_TEST(an_extent_of_0_has_no_chunks) {
  int64_t tiles = -1;
  struct trial t = strided(TPTX_LOAD, true);
  t.view.extents[0] = 0;
  ck_assert_int_eq(bind_box(&t, 0, TPTX_ALL, &tiles), TPTX_OK);
  ck_assert_int_eq(tiles, 0);
  trial_run(&t);
  t.args.count[0] = t.args.count[1] = 1;
  trial_refused(&t, TPTX_ERROR_BOX, 0);
}
END_TEST

/* In the index type the last position would be a small number again: 32769 and 2^32 + 1. */
START_TEST(positions_do_not_wrap) {
  struct trial t = strided(TPTX_LOAD, true);
  trial_shape(&t, TPTX_U8, 1, AXES(32767), AXES(4));
  t.view.index_type = TPTX_S16;
  t.view.strides[0] = 2;
  t.args.first[0] = 16383;
  t.args.count[0] = 1;
  trial_run(&t);
  for (int arith = 0; arith <= 64; arith += 64) {
    unsigned char tile[4];
    t.view.index_type = TPTX_U32;
    t.view.extents[0] = UINT32_MAX;
    t.op.arith = arith;
    t.args.first[0] = INT32_MAX;
    t.args.span = put((const unsigned char[]){7}, 1) - (UINT32_MAX - UINT64_C(1));
    t.args.tile = put(NULL, sizeof tile);
    run_well(&t.view, &t.op, &t.args);
    get(tile, t.args.tile, sizeof tile);
    ck_assert_mem_eq(tile, ((const unsigned char[]){7, 0, 0, 0}), sizeof tile);
  }
}
END_TEST

/* Entries have no upper bound; a dense position has the extent, even under a mask. */
START_TEST(index_space_of_a_gather) {
  struct trial t = gather(TPTX_LOAD, true);
  t.op.indices.type = TPTX_S64;
  memcpy(t.entries, AXES(6, INT64_MAX, 5, 1000), 32);
  trial_run(&t);
  t.args.first[1] = 7;
  t.args.count[1] = 1;
  trial_run(&t);
  t.args.first[1] = 8;
  trial_refused(&t, TPTX_ERROR_BOX, 1);
}
END_TEST

/* On the picked axis and on a dense one at once. */
START_TEST(outside_on_two_axes) {
  struct trial t = gather(TPTX_LOAD, true);
  t.view.extents[1] = 7;
  memcpy(t.entries, AXES(6, 0, -1, 5), 32);
  trial_run(&t);
  t.op.operation = TPTX_STORE;
  trial_run(&t);
}
END_TEST

/* Beyond CUDA 13.4: all seven, masked or not, with old values or without. */
START_TEST(gather_has_updates_too) {
  for (int operation = TPTX_ATOMIC_AND; operation <= TPTX_ATOMIC_SUB; operation++)
    for (int bits = 0; bits < 4; bits++) {
      struct trial t = gather((tptx_operation)operation, bits & 1);
      t.op.fetch = bits >> 1;
      trial_run(&t);
    }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("conformance of views");
  TCase *views = tcase_create("views");
  tcase_add_checked_fixture(views, workbench_open, workbench_close);
  tcase_set_timeout(views, 60);
  tcase_add_test(views, ranks_that_differ);
  tcase_add_test(views, strides_are_static);
  tcase_add_test(views, strides_are_above_0);
  tcase_add_test(views, tile_sizes);
  tcase_add_test(views, strides_of_any_size);
  tcase_add_test(views, a_copy_is_as_good);
  tcase_add_test(views, descriptors_hold_what_they_were_given);
  tcase_add_test(views, dim_is_an_axis);
  tcase_add_test(views, strided_mapping_at_every_rank);
  tcase_add_test(views, gather_mapping_at_every_rank_and_dim);
  tcase_add_test(views, strides_below_at_and_above_the_tile);
  tcase_add_test(views, chunks_begin_inside_the_span);
  tcase_add_test(views, an_extent_of_0_has_no_chunks);
  tcase_add_test(views, positions_do_not_wrap);
  tcase_add_test(views, index_space_of_a_gather);
  tcase_add_test(views, outside_on_two_axes);
  tcase_add_test(views, gather_has_updates_too);
  suite_add_tcase(suite, views);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
