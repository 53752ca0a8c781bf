/* SPDX-License-Identifier: Apache-2.0 */
/* What goes through shared memory: which plans, which launches, and what they refuse. */
#include "host.h"

#include "desc.h"
#include "plan.h"
#include "ptx.h"
#include "runtime_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_line(const char *line, tptx_view *view, tptx_op *op, tptx_target *target) {
  tptx_error error;
  tptx_error_init(&error);
  ck_assert_msg(tptx_signature_parse(line, view, op, target, &error) == TPTX_OK, "%s: %s", line,
                error.message);
}

static tptx_ptx *emit_line(const char *line) {
  tptx_view view;
  tptx_op op;
  tptx_target target;
  tptx_error error;
  tptx_ptx *ptx = NULL;
  read_line(line, &view, &op, &target);
  ck_assert_msg(tptx_emit(&view, &op, &target, &ptx, &error) == TPTX_OK, "%s: %s", line,
                error.message);
  return ptx;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

struct planned {
  const char *line;
  int32_t staging, vector, patch, flight, block, registers;
};

#define TURNED(type) "strided_view:" type ":_x_:shape=64x64:load_masked:layout=1x_:"
#define PICKED "gather_scatter_view:f32:_x_:shape=16x256:dim=1:load_masked:picks=dense:"

static const struct planned plans[] = {
    /* patches: items of 16 bytes where alignment allows; 64 wide where the tile is, f64 32 */
    {TURNED("f32") "align=16:arith=32:target=sm_90", 1, 4, 64, 2, 512, 32},
    {TURNED("f32") "arith=32:target=sm_90", 1, 1, 64, 8, 512, 32},
    {TURNED("bf16") "align=16:arith=32:target=sm_90", 1, 8, 64, 2, 256, 32},
    {TURNED("bf16") "align=4:arith=32:target=sm_90", 1, 2, 64, 4, 512, 32},
    {TURNED("u8") "align=16:arith=32:target=sm_90", 1, 16, 64, 1, 256, 32},
    {TURNED("u8") "align=4:arith=32:target=sm_90", 1, 4, 64, 2, 512, 32},
    {TURNED("f64") "align=16:arith=32:target=sm_90", 1, 2, 32, 2, 256, 32},
    {TURNED("bf16") "arith=32:target=sm_90", 1, 1, 64, 8, 512, 32},
    {"strided_view:bf16:_x_:shape=32x64:load:layout=1x_:align=4:arith=32:target=sm_90", 1, 2, 32, 2,
     256, 32},
    {"strided_view:bf16:_x_:shape=65x64:load:layout=1x_:align=4:arith=32:target=sm_90", 1, 1, 64, 8,
     512, 0},
    {"strided_view:bf16:63x_:shape=64x64:load_masked:layout=1x_:align=4:target=sm_90", 1, 1, 64, 8,
     512, 0},
    {"strided_view:bf16:_x_:shape=64x64:strides=33x64:load_masked:layout=1x_:align=4:target=sm_90",
     1, 1, 64, 8, 512, 0},
    /* multiprocessors of other sizes; 64-bit coordinates are left alone, and so are stores */
    {TURNED("f32") "align=16:arith=32:target=sm_86", 1, 4, 64, 2, 512, 40},
    {TURNED("f32") "align=16:arith=32:target=sm_75", 1, 4, 64, 2, 512, 64},
    {TURNED("f32") "align=16:target=sm_90", 1, 4, 64, 2, 512, 0},
    {"strided_view:f32:_x_:shape=64x64:store:layout=1x_:align=16:arith=32:target=sm_90", 1, 4, 64,
     2, 512, 0},
    {"strided_view:f32:_x_:shape=15x64:load:layout=1x_:align=16:target=sm_90", 0, 1, 0, 2, 160, 0},
    {TURNED("f32") "align=16:target=sm_90:staging=none", 0, 1, 0, 4, 256, 0},
    {TURNED("f32") "align=16:target=sm_90:flight=4", 0, 1, 0, 4, 256, 0},
    /* rows: as many items as leave neighbours to a warp, half of them where registers are wide */
    {PICKED "align=16:arith=32:target=sm_90", 2, 1, 0, 8, 1024, 32},
    {PICKED "align=16:target=sm_90", 2, 1, 0, 4, 1024, 32},
    {PICKED "indices=s64:align=16:arith=32:target=sm_90", 2, 1, 0, 4, 1024, 32},
    {PICKED "arith=32:target=sm_90:threads=256:flight=2", 2, 1, 0, 2, 256, 32},
    {"gather_scatter_view:f32:_x_:shape=16x100:dim=1:load:picks=dense:arith=32:target=sm_90", 2, 1,
     0, 2, 1024, 32},
    {"gather_scatter_view:f32:_x_:shape=16x33:dim=1:load:picks=dense:arith=32:target=sm_90", 2, 1,
     0, 1, 1024, 32},
    /* not: old targets and readers, rows or tiles that are too long, another axis, a write */
    {PICKED "arith=32:target=sm_75", 0, 1, 0, 4, 256, 0},
    {PICKED "arith=32:target=sm_90:staging=none", 0, 1, 0, 4, 256, 0},
    {"gather_scatter_view:f32:_x12285:shape=16x256:dim=1:load:picks=dense:target=sm_90", 0, 1, 0, 4,
     256, 0},
    {"gather_scatter_view:f32:_x12284:shape=16x256:dim=1:load:picks=dense:target=sm_90", 2, 1, 0, 4,
     1024, 32},
    {"gather_scatter_view:f32:_x_:shape=1x16384:dim=1:load:picks=dense:arith=32:target=sm_90", 0, 1,
     0, 4, 256, 0},
    {"gather_scatter_view:f32:_x_:shape=16x256:dim=0:load:picks=dense:align=16:target=sm_90", 0, 4,
     0, 2, 256, 0},
    {"gather_scatter_view:f32:_x_:shape=16x256:dim=1:store:picks=dense:align=16:target=sm_90", 0, 1,
     0, 4, 256, 0},
    {"gather_scatter_view:f32:_:shape=256:dim=0:load:picks=dense:target=sm_90", 0, 1, 0, 4, 256, 0},
};

START_TEST(a_plan_stages_what_pays) {
  const struct planned *p = &plans[_i];
  tptx_ptx *ptx = emit_line(p->line);
  const struct plan *plan = &ptx->plan;
  ck_assert_msg(
      plan->staging == p->staging && plan->vector == p->vector && plan->patch == p->patch &&
          plan->flight == p->flight && plan->block == p->block && plan->registers == p->registers,
      "%s: staging %d, vector %d, patch %d, flight %d, block %d, registers %d", p->line,
      plan->staging, plan->vector, plan->patch, plan->flight, plan->block, plan->registers);
  tptx_ptx_free(ptx);
}
END_TEST

/* ---- One kernel, one signature --------------------------------------------------------------- */

static const struct {
  const char *line;
  bool dense;
} pairs[] = {
    {"gather_scatter_view:f32:_x_:shape=16x256:dim=1:load:target=sm_90", true},
    {"gather_scatter_view:f32:_x_:shape=16x256:dim=1:load:target=sm_75", false},
    {"gather_scatter_view:f32:_x_:shape=16x256:dim=1:load:target=sm_90:ptx=6.5", false},
    {"gather_scatter_view:f32:_x_:shape=16x256:dim=0:load:target=sm_90", false},
    {"gather_scatter_view:f32:_x_:shape=16x256:dim=1:store:target=sm_90", false},
    {"gather_scatter_view:f32:_x12285:shape=16x256:dim=1:load:target=sm_90", false},
    {"gather_scatter_view:f32:_x_:shape=4x1024:dim=1:load:target=sm_90:threads=32", false},
    {"gather_scatter_view:f32:_x_:shape=16x256:dim=1:load:target=sm_90:staging=none", false},
    {"gather_scatter_view:f32:_x_:shape=16x256:dim=0:load:layout=left:target=sm_90", false},
    {"gather_scatter_view:f32:_:shape=256:dim=0:load:target=sm_90", false},
    {"strided_view:f32:_x_:shape=16x256:load:target=sm_90", false},
    /* whatever the index arithmetic, which a launch finds out at the same time */
    {"gather_scatter_view:f32:_x_:shape=1x4096:dim=1:load:target=sm_90", true},
    {"gather_scatter_view:f32:_x_:shape=1x8192:dim=1:load:target=sm_90", false},
    {"gather_scatter_view:f32:_x_:shape=1x8192:dim=1:load:arith=32:target=sm_90", false},
    {"gather_scatter_view:f32:_x_:shape=16x512:dim=1:load:arith=32:target=sm_90:threads=64", false},
};

/* The promise is part of the signature where it makes another kernel, and only there. */
START_TEST(a_promise_without_meaning_leaves_no_trace) {
  char line[TPTX_MAX_SIGNATURE];
  snprintf(line, sizeof line, "%s:picks=dense", pairs[_i].line);
  tptx_ptx *sparse = emit_line(pairs[_i].line), *dense = emit_line(line);
  bool same = !strcmp(tptx_ptx_signature(sparse), tptx_ptx_signature(dense));
  ck_assert_msg(same != pairs[_i].dense, "%s", tptx_ptx_signature(dense));
  ck_assert_int_eq(dense->plan.staging == STAGING_ROWS, pairs[_i].dense);
  tptx_ptx_free(sparse);
  tptx_ptx_free(dense);
}
END_TEST

/* ---- Which launches pick densely ------------------------------------------------------------- */

struct launch {
  const char *line;
  int64_t rows, extent, entries;
  int32_t picks;
};

#define COLUMNS(type) "gather_scatter_view:" type ":_x_:shape=16x64:dim=1:load_masked:tiles=array:"

static const struct launch launches[] = {
    {COLUMNS("f32") "target=sm_90", 256, 2048, 2560, TPTX_PICKS_DENSE},
    {COLUMNS("f32") "target=sm_90", 240, 2048, 2560, TPTX_PICKS_SPARSE},
    {COLUMNS("f32") "target=sm_90", 256, 2047, 2560, TPTX_PICKS_SPARSE},
    {COLUMNS("f32") "target=sm_90", 256, 2048, 2496, TPTX_PICKS_SPARSE},
    {COLUMNS("f32") "target=sm_90", 256, 12284, 2560, TPTX_PICKS_DENSE},
    {COLUMNS("f32") "target=sm_90", 256, 12285, 9000, TPTX_PICKS_SPARSE},
    {COLUMNS("f32") "target=sm_90", 256, INT64_C(1) << 40, 9000, TPTX_PICKS_SPARSE},
    {COLUMNS("u8") "target=sm_90", 256, 49136, 10240, TPTX_PICKS_DENSE},
    {COLUMNS("u8") "target=sm_90", 256, 49137, 10240, TPTX_PICKS_SPARSE},
    {COLUMNS("f64") "target=sm_90", 1 << 20, 1024, 1280, TPTX_PICKS_DENSE},
    {COLUMNS("f32") "target=sm_90:staging=none", 256, 2048, 2560, TPTX_PICKS_SPARSE},
    {COLUMNS("f32") "target=sm_90:picks=sparse", 256, 2048, 2560, TPTX_PICKS_SPARSE},
    {"gather_scatter_view:f32:_x_:shape=16x64:dim=0:load:tiles=array:target=sm_90", 4096, 4096,
     4096, TPTX_PICKS_SPARSE},
    {"gather_scatter_view:f32:_x_:shape=16x64:dim=1:store:tiles=array:target=sm_90", 4096, 4096,
     4096, TPTX_PICKS_SPARSE},
};

START_TEST(dense_picks_are_found_from_the_operands) {
  const struct launch *l = &launches[_i];
  tptx_view view;
  tptx_op op;
  tptx_args args;
  tptx_error error;
  read_line(l->line, &view, &op, &(tptx_target){0});
  if (op.picks != TPTX_PICKS_SPARSE || !strstr(l->line, "picks")) op.picks = TPTX_PICKS_UNKNOWN;
  tptx_args_init(&args);
  args.span = args.tile = args.indices = 4096;
  args.extents[0] = l->rows;
  args.extents[1] = l->extent;
  args.index_count = l->entries;
  ck_assert_msg(tptx_specialise(&view, &op, &args, &error) == TPTX_OK, "%s", error.message);
  ck_assert_msg(op.picks == l->picks, "%s, row %d: picks %d", l->line, _i, op.picks);
}
END_TEST

/* ---- Broken promises ------------------------------------------------------------------------- */

struct broken {
  const char *line;
  int64_t extent, pitch;
  uint64_t span;
  tptx_status status;
  const char *argument;
};

#define DENSE "gather_scatter_view:bf16:_x_:shape=4x8:dim=1:load_masked:picks=dense:layout=_x1:"

static const struct broken breaches[] = {
    {DENSE "align=16:target=sm_90", 1000, 1008, 4096, TPTX_OK, ""},
    {DENSE "align=16:target=sm_90", 1000, 1004, 4096, TPTX_ERROR_MISALIGNED, "args.layout_strides"},
    {DENSE "align=16:target=sm_90", 1000, 1008, 4104, TPTX_ERROR_MISALIGNED, "args.span"},
    {DENSE "align=4:target=sm_90", 1000, 1001, 4098, TPTX_OK, ""},
    {DENSE "target=sm_90", 24568, 24568, 4098, TPTX_OK, ""},
    {DENSE "target=sm_90", 24569, 24569, 4098, TPTX_ERROR_OPERAND, "args.extents"},
    {TURNED("bf16") "align=4:target=sm_90", 1000, 1000, 4096, TPTX_OK, ""},
    {TURNED("bf16") "align=4:target=sm_90", 999, 1000, 4096, TPTX_ERROR_MISALIGNED, "args.extents"},
    {TURNED("bf16") "align=4:target=sm_90", 998, 999, 4096, TPTX_ERROR_MISALIGNED,
     "args.layout_strides"},
    {TURNED("bf16") "target=sm_90", 999, 999, 4098, TPTX_OK, ""},
};

START_TEST(a_launch_that_breaks_the_promise_is_refused) {
  const struct broken *b = &breaches[_i];
  bool turned = strstr(b->line, "layout=1x_") != NULL;
  tptx_ptx *ptx = emit_line(b->line);
  tptx_binding binding;
  tptx_args args;
  tptx_error error;
  tptx_error_init(&error);
  tptx_binding_init(&binding);
  tptx_args_init(&args);
  args.span = b->span;
  args.tile = args.indices = 4096;
  args.index_count = 16;
  args.extents[turned] = 100;
  args.extents[!turned] = b->extent;
  args.layout_strides[turned] = b->pitch;
  tptx_status status = tptx_bind(ptx, &args, &binding, &error);
  ck_assert_msg(status == b->status, "row %d: %s", _i, error.message);
  ck_assert_str_eq(status == TPTX_OK ? "" : error.argument, b->argument);
  tptx_ptx_free(ptx);
}
END_TEST

/* ---- A run ----------------------------------------------------------------------------------- */

static void note_launch(void *user, tptx_topic topic, const char *line) {
  if (topic == TPTX_TOPIC_LAUNCH) snprintf(user, TPTX_MAX_SIGNATURE, "%s", line);
}

struct picking {
  tptx_view view;
  tptx_op op;
  tptx_args args;
  int64_t rows, columns, entries;
};

static void open_picking(struct picking *p, const char *line) {
  read_line(line, &p->view, &p->op, &(tptx_target){0});
  tptx_args_init(&p->args);
  p->args.extents[0] = p->args.tile_extents[0] = p->rows;
  p->args.extents[1] = p->columns;
  p->args.tile_extents[1] = p->args.index_count = p->entries;
  ck_assert_int_eq(host.cuMemAlloc(&p->args.span, (size_t)(p->rows * p->columns) * 8), 0);
  ck_assert_int_eq(host.cuMemAlloc(&p->args.tile, (size_t)(p->rows * p->entries) * 8), 0);
  ck_assert_int_eq(host.cuMemAlloc(&p->args.indices, (size_t)p->entries * 4), 0);
  double *span = calloc((size_t)(p->rows * p->columns), sizeof *span);
  int32_t *indices = calloc((size_t)p->entries, sizeof *indices);
  for (int64_t i = 0; i < p->rows * p->columns; i++) span[i] = (double)i + 1;
  for (int64_t i = 0; i < p->entries; i++)
    indices[i] = (int32_t)((i * 7 + 1) % (p->columns + 3) - 1);
  ck_assert_int_eq(
      host.cuMemcpyHtoD(p->args.span, span, (size_t)(p->rows * p->columns) * sizeof *span), 0);
  ck_assert_int_eq(
      host.cuMemcpyHtoD(p->args.indices, indices, (size_t)p->entries * sizeof *indices), 0);
  free(span);
  free(indices);
}

static void run_picking(tptx_runtime *runtime, const struct picking *p) {
  tptx_error error;
  double *got = calloc((size_t)(p->rows * p->entries), sizeof *got);
  ck_assert_msg(tptx_run(runtime, &p->view, &p->op, &p->args, NULL, &error) == TPTX_OK, "%s",
                error.message);
  ck_assert_int_eq(
      host.cuMemcpyDtoH(got, p->args.tile, (size_t)(p->rows * p->entries) * sizeof *got), 0);
  for (int64_t r = 0; r < p->rows; r++)
    for (int64_t i = 0; i < p->entries; i++) {
      int64_t index = (i * 7 + 1) % (p->columns + 3) - 1;
      bool inside = index >= 0 && index < p->columns;
      double wanted = inside ? (double)(r * p->columns + index + 1) : 0;
      ck_assert_msg(got[r * p->entries + i] == wanted, "row %d, entry %d", (int)r, (int)i);
    }
  free(got);
}

static tptx_runtime *noting_runtime(char *line) {
  host_open();
  host_context(0);
  tptx_runtime_options options = host_options();
  options.log = note_launch;
  options.log_user = line;
  options.topics = TPTX_TOPIC_LAUNCH;
  return host_runtime(&options);
}

#define F64 "gather_scatter_view:f64:_x_:shape=16x100:dim=1:load_masked:tiles=array"

/* Rows that begin at any element; entries before, inside and behind. */
START_TEST(a_run_picks_from_whole_rows) {
  char line[TPTX_MAX_SIGNATURE] = "";
  tptx_runtime *runtime = noting_runtime(line);
  struct picking p = {.rows = 256, .columns = 1025, .entries = 1300};
  open_picking(&p, F64);
  run_picking(runtime, &p);
  ck_assert_msg(strstr(line, ":picks=dense") != NULL, "%s", line);
  tptx_runtime_destroy(runtime);
}
END_TEST

/* Up to the last byte of the longest row, which is the last of the allocation. */
START_TEST(the_longest_row_fits) {
  char line[TPTX_MAX_SIGNATURE] = "";
  tptx_runtime *runtime = noting_runtime(line);
  struct picking p = {.rows = 3, .columns = TPTX_MAX_DENSE_ROW / 8, .entries = 900};
  open_picking(&p, F64 ":picks=dense");
  run_picking(runtime, &p);
  ck_assert_msg(strstr(line, ":picks=dense") != NULL, "%s", line);
  p.columns++;
  p.args.extents[1] = p.columns;
  tptx_error error;
  ck_assert_int_eq(tptx_run(runtime, &p.view, &p.op, &p.args, NULL, &error), TPTX_ERROR_OPERAND);
  tptx_runtime_destroy(runtime);
}
END_TEST

/* Each device, and each promise, comes to its kernel by a shortcut from the second run on. */
static void run_twice(const char *line, int sm, bool dense) {
  char launched[TPTX_MAX_SIGNATURE] = "";
  host_two_devices(sm, sm);
  tptx_runtime *runtime = noting_runtime(launched);
  struct picking p = {.rows = 256, .columns = 1024, .entries = 1280};
  open_picking(&p, line);
  run_picking(runtime, &p);
  runtime->cache.hash_mask = 0; /* the table finds nothing: what is a hit came by a shortcut */
  run_picking(runtime, &p);
  ck_assert_uint_eq(host_counters(runtime).misses, 1);
  ck_assert_msg((strstr(launched, ":picks=dense") != NULL) == dense, "%s", launched);
  runtime->cache.hash_mask = UINT64_MAX;
  tptx_runtime_destroy(runtime);
}

START_TEST(a_new_device_is_recalled_as_dense) {
  run_twice(F64, 90, true);
}
END_TEST

START_TEST(an_old_device_is_recalled_as_sparse) {
  run_twice(F64, 75, false);
}
END_TEST

START_TEST(a_promise_that_an_old_device_cannot_use_is_recalled) {
  run_twice(F64 ":picks=dense", 75, false);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("staging");
  TCase *plan = tcase_create("plan"), *run = tcase_create("run");
  tcase_add_loop_test(plan, a_plan_stages_what_pays, 0, sizeof plans / sizeof *plans);
  tcase_add_loop_test(plan, a_promise_without_meaning_leaves_no_trace, 0,
                      sizeof pairs / sizeof *pairs);
  tcase_add_loop_test(plan, dense_picks_are_found_from_the_operands, 0,
                      sizeof launches / sizeof *launches);
  tcase_add_loop_test(plan, a_launch_that_breaks_the_promise_is_refused, 0,
                      sizeof breaches / sizeof *breaches);
  suite_add_tcase(suite, plan);
  tcase_set_timeout(run, 60);
  tcase_add_test(run, a_run_picks_from_whole_rows);
  tcase_add_test(run, the_longest_row_fits);
  tcase_add_test(run, a_new_device_is_recalled_as_dense);
  tcase_add_test(run, an_old_device_is_recalled_as_sparse);
  tcase_add_test(run, a_promise_that_an_old_device_cannot_use_is_recalled);
  suite_add_tcase(suite, run);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
