/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bad input: every wrong descriptor, signature, argument and launch gets its status, the field and
 * axis at fault and a message with a way out; nothing is emitted, loaded or written. The rows stand
 * in refusals.def.
 */
#include "workbench.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct request {
  tptx_view view;
  tptx_op op;
  tptx_target target;
  tptx_args args;
};

/* ---- What the rows call ---------------------------------------------------------------------- */

static void make_gather(struct request *r) {
  const int64_t extents[] = {8, 12}, shape[] = {2, 4};
  tptx_view_gather_scatter(&r->view, TPTX_F32, 2, extents, NULL, shape, 0);
}

static void make_dynamic(struct request *r) {
  for (int k = 0; k < 2; k++) {
    r->args.extents[k] = r->view.extents[k];
    r->view.extents[k] = TPTX_DYNAMIC;
  }
}

static void make_array(struct request *r) {
  r->op.tile.tiles = TPTX_TILES_ARRAY;
  r->args.tile_extents[0] = 8;
  r->args.tile_extents[1] = 12;
}

/* 2 x 3 x 5 elements: injective or not, sorted strides do not tell. */
static void rank3(struct request *r, int64_t stride0, int64_t stride1, int64_t stride2) {
  const int64_t extents[] = {3, 3, 2}, shape[] = {1, 1, 1};
  const int64_t strides[] = {stride0, stride1, stride2};
  tptx_view_strided(&r->view, TPTX_F32, 3, extents, strides, shape, NULL);
}

static void late_strides(struct request *r, int64_t stride0, int64_t stride1) {
  r->view.layout = TPTX_LAYOUT_STRIDED;
  r->view.layout_strides[0] = r->view.layout_strides[1] = TPTX_DYNAMIC;
  r->args.layout_strides[0] = stride0;
  r->args.layout_strides[1] = stride1;
}

static void make_shifted(struct request *r) {
  r->view.type = TPTX_U8;
  r->op.tile.align = 4;
}

#define gather make_gather(r)
#define dynamic make_dynamic(r)
#define array make_array(r)
#define store o->operation = TPTX_STORE
#define shifted make_shifted(r)

/* ---- The rows -------------------------------------------------------------------------------- */

#define CHANGE(name, changes) \
  static void change_##name(struct request *r) { \
    tptx_view *v = &r->view; \
    tptx_op *o = &r->op; \
    tptx_target *t = &r->target; \
    tptx_args *a = &r->args; \
    (void)v, (void)o, (void)t, (void)a; \
    changes; \
  }
#define PLANNING(name, changes, status, argument, axis, hint) CHANGE(name, changes)
#define LAUNCH(name, changes, status, argument, axis, hint) CHANGE(name, changes)
#include "refusals.def"
#undef PLANNING
#undef LAUNCH
#undef gather
#undef dynamic
#undef array
#undef store
#undef shifted

struct row {
  const char *name;
  void (*change)(struct request *);
  tptx_status status;
  const char *argument;
  int axis; /* -2: any */
  const char *hint;
};

static const struct row planning[] = {
#define PLANNING(name, changes, status, argument, axis, hint) \
  {#name, change_##name, TPTX_ERROR_##status, argument, axis, hint},
#define LAUNCH(name, changes, status, argument, axis, hint)
#include "refusals.def"
#undef PLANNING
#undef LAUNCH
};

static const struct row launch[] = {
#define PLANNING(name, changes, status, argument, axis, hint)
#define LAUNCH(name, changes, status, argument, axis, hint) \
  {#name, change_##name, TPTX_ERROR_##status, argument, axis, hint},
#include "refusals.def"
#undef PLANNING
#undef LAUNCH
};

enum { MEMORY_BYTES = 4 * 8 * 12, INDEX_BYTES = 64 };

static void begin(struct request *r) {
  const int64_t extents[] = {8, 12}, shape[] = {2, 4};
  static const int32_t indices[INDEX_BYTES / 4] = {7, 0, 3, 4, 5, 1};
  tptx_view_strided(&r->view, TPTX_F32, 2, extents, NULL, shape, NULL);
  tptx_op_load(&r->op);
  r->op.masked = 1;
  tptx_target_init(&r->target);
  tptx_args_init(&r->args);
  r->args.span = put(NULL, MEMORY_BYTES);
  r->args.tile = put(NULL, MEMORY_BYTES);
  r->args.indices = put(indices, INDEX_BYTES);
  r->args.index_count = 6;
}

static void expect(const struct row *row, const char *call, tptx_status status,
                   const tptx_error *error) {
  ck_assert_msg(status == row->status, "%s: %s gave %s (%s), expected %s", row->name, call,
                tptx_status_name(status), error->message, tptx_status_name(row->status));
  ck_assert_msg(error->status == status, "%s: %s: error.status differs", row->name, call);
  ck_assert_msg(strcmp(error->argument, row->argument) == 0, "%s: %s: argument \"%s\", not \"%s\"",
                row->name, call, error->argument, row->argument);
  ck_assert_msg(row->axis == -2 || error->axis == row->axis, "%s: %s: axis %d, expected %d",
                row->name, call, error->axis, row->axis);
  ck_assert_msg(strstr(error->message, row->hint) != NULL, "%s: %s: no \"%s\" in \"%s\"", row->name,
                call, row->hint, error->message);
  ck_assert_msg(!error->truncated, "%s: %s: message cut", row->name, call);
}

/* Neither buffer changed, no kernel was launched. */
static void expect_nothing_done(const struct row *row, const struct request *original) {
  unsigned char untouched[MEMORY_BYTES], memory[MEMORY_BYTES];
  tptx_counters counters = {.struct_size = sizeof counters};
  memset(untouched, 0x5a, sizeof untouched);
  ck_assert_int_eq(device_synchronize(bench.device), 0);
  get(memory, original->args.span, sizeof memory);
  ck_assert_msg(memcmp(memory, untouched, sizeof memory) == 0, "%s: span written", row->name);
  get(memory, original->args.tile, sizeof memory);
  ck_assert_msg(memcmp(memory, untouched, sizeof memory) == 0, "%s: tile written", row->name);
  ck_assert_int_eq(tptx_runtime_counters(bench.runtime, &counters, NULL), TPTX_OK);
  ck_assert_uint_eq(counters.launches, 0);
}

START_TEST(planning_refuses) {
  const struct row *row = &planning[_i];
  struct request r, original;
  char line[TPTX_MAX_SIGNATURE + 1];
  tptx_ptx *ptx = (tptx_ptx *)&line;
  tptx_explanation *explanation = (tptx_explanation *)&line;
  tptx_kernel *kernel = NULL;
  tptx_counters counters = {.struct_size = sizeof counters};
  tptx_error error;
  begin(&r);
  original = r;
  row->change(&r);
#define TRY(call) \
  tptx_error_init(&error); \
  expect(row, #call, call, &error)
  TRY(tptx_plan_check(&r.view, &r.op, &r.target, &error));
  TRY(tptx_emit(&r.view, &r.op, &r.target, &ptx, &error));
  ck_assert_msg(ptx == NULL, "%s: tptx_emit left a text", row->name);
  TRY(tptx_explain(&r.view, &r.op, &r.target, 1, &explanation, &error));
  ck_assert_msg(explanation == NULL, "%s: tptx_explain left a text", row->name);
  TRY(tptx_signature_format(&r.view, &r.op, &r.target, line, sizeof line, &error));
  if (memcmp(&r.target, &original.target, sizeof r.target) == 0) { /* the runtime has its own */
    TRY(tptx_kernel_get(bench.runtime, &r.view, &r.op, &kernel, &error));
    ck_assert_ptr_null(kernel);
    TRY(tptx_run(bench.runtime, &r.view, &r.op, &r.args, NULL, &error));
  }
#undef TRY
  ck_assert_int_eq(tptx_plan_check(&r.view, &r.op, &r.target, NULL), row->status);
  ck_assert_int_eq(tptx_runtime_counters(bench.runtime, &counters, NULL), TPTX_OK);
  ck_assert_uint_eq(counters.builds, 0);
  ck_assert_uint_eq(counters.kept, 0);
  expect_nothing_done(row, &original);
}
END_TEST

START_TEST(launch_refuses) {
  const struct row *row = &launch[_i];
  struct request r, original;
  tptx_ptx *ptx = NULL;
  tptx_kernel *kernel = NULL;
  tptx_binding binding = {.struct_size = sizeof binding};
  tptx_error error;
  begin(&r);
  original = r;
  row->change(&r);
  tptx_error_init(&error);
  tptx_status status = tptx_emit(&r.view, &r.op, NULL, &ptx, &error);
  ck_assert_msg(status == TPTX_OK, "%s: not even planned: %s", row->name, error.message);
  expect(row, "tptx_bind", tptx_bind(ptx, &r.args, &binding, &error), &error);
  tptx_ptx_free(ptx);
  tptx_error_init(&error);
  expect(row, "tptx_run", tptx_run(bench.runtime, &r.view, &r.op, &r.args, NULL, &error), &error);
  tptx_error_init(&error);
  status = tptx_kernel_get(bench.runtime, &r.view, &r.op, &kernel, &error);
  ck_assert_msg(status == TPTX_OK, "%s: no kernel: %s", row->name, error.message);
  tptx_error_init(&error);
  expect(row, "tptx_launch", tptx_launch(kernel, &r.args, NULL, &error), &error);
  ck_assert_int_eq(tptx_launch(kernel, &r.args, NULL, NULL), row->status);
  tptx_kernel_release(kernel);
  expect_nothing_done(row, &original);
}
END_TEST

/* The rows prove something only if what they start from is good. */
START_TEST(what_the_rows_start_from_is_good) {
  struct request r;
  begin(&r);
  run_well(&r.view, &r.op, &r.args);
  make_gather(&r);
  run_well(&r.view, &r.op, &r.args);
  make_dynamic(&r);
  make_array(&r);
  r.op.operation = TPTX_STORE;
  r.args.tile = put(NULL, MEMORY_BYTES);
  run_well(&r.view, &r.op, &r.args);
}
END_TEST

/* ---- Signature lines ------------------------------------------------------------------------- */

struct line {
  const char *text;
  tptx_status status;
  int position;
};

static const struct line lines[] = {
    {"", TPTX_ERROR_SYNTAX, 0},
    {"strided", TPTX_ERROR_SYNTAX, 0},
    {"Strided_view:f32:4:shape=2:load", TPTX_ERROR_SYNTAX, 0},
    {"strided_view:f23:4:shape=2:load", TPTX_ERROR_SYNTAX, 13},
    {"strided_view:f32:4,4:shape=2x2:load", TPTX_ERROR_SYNTAX, 18},
    {"strided_view:f32:04:shape=2:load", TPTX_ERROR_SYNTAX, 17},
    {"strided_view:f32:-4:shape=2:load", TPTX_ERROR_SYNTAX, 17},
    {"strided_view:f32:9223372036854775808:shape=2:load", TPTX_ERROR_SYNTAX, -2},
    {"strided_view:f32:4x4:shape=2:load", TPTX_ERROR_RANK, -2},
    {"strided_view:f32:4x4:shape=2x2x2:load", TPTX_ERROR_RANK, -2},
    {"strided_view:f32:4x4x4x4x4x4x4x4x4:shape=2:load", TPTX_ERROR_RANK, -2},
    {"strided_view:f32:4:shape=2:lode", TPTX_ERROR_SYNTAX, 27},
    {"strided_view:f32:4:shape=2:load:load", TPTX_ERROR_SYNTAX, 32},
    {"strided_view:f32:4:shape=2:load:store", TPTX_ERROR_SYNTAX, 32},
    {"strided_view:f32:4:shape=2:shape=2:load", TPTX_ERROR_SYNTAX, 27},
    {"strided_view:f32:4:shape=2", TPTX_ERROR_SYNTAX, -2},
    {"strided_view:f32:4:load", TPTX_ERROR_SYNTAX, -2},
    {"strided_view:f32:4:shape=2:load:", TPTX_ERROR_SYNTAX, 32},
    {"strided_view:f32:4:shape=2:load_masked:pad=infinite", TPTX_ERROR_SYNTAX, 43},
    {"strided_view:f32:4:shape=2:load:target=90", TPTX_ERROR_SYNTAX, 39},
    {"strided_view:f32:4:shape=2:load:ptx=8", TPTX_ERROR_SYNTAX, 36},
    {"strided_view:f32:4:shape=2:load:colour=red", TPTX_ERROR_SYNTAX, 32},
    {"strided_view:f32:4:shape=2:load ", TPTX_ERROR_SYNTAX, -2},
    {"strided_view:f32:4:shape=2:load:lineinfo", TPTX_ERROR_SYNTAX, 32},
    {"gather_scatter_view:f32:4x4:shape=2x2:load", TPTX_ERROR_DIM, -2},
};

START_TEST(lines_are_refused_with_their_position) {
  const struct line *line = &lines[_i];
  tptx_view view;
  tptx_error error;
  tptx_error_init(&error);
  tptx_status status = tptx_signature_parse(line->text, &view, NULL, NULL, &error);
  ck_assert_msg(status == line->status, "%s: %s (%s), expected %s", line->text,
                tptx_status_name(status), error.message, tptx_status_name(line->status));
  ck_assert_msg(line->position == -2 || error.position == line->position,
                "%s: position %d, expected %d", line->text, error.position, line->position);
  ck_assert_int_ge(error.position, 0);
  ck_assert_int_le(error.position, (int)strlen(line->text));
  ck_assert_str_ne(error.message, "");
}
END_TEST

START_TEST(overlong_lines_are_refused) {
  char text[TPTX_MAX_SIGNATURE + 64];
  memset(text, ':', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  memcpy(text, "strided_view:f32:4:shape=2:load", 31);
  ck_assert_int_eq(tptx_signature_parse(text, NULL, NULL, NULL, &bench.error), TPTX_ERROR_SYNTAX);
}
END_TEST

/* ---- Null pointers --------------------------------------------------------------------------- */

START_TEST(null_pointers_are_refused) {
  struct request r;
  tptx_ptx *ptx = NULL;
  tptx_explanation *explanation = NULL;
  tptx_kernel *kernel = NULL;
  tptx_binding binding = {.struct_size = sizeof binding};
  char line[8];
  begin(&r);
#define REFUSED(call) ck_assert_msg((call) == TPTX_ERROR_INVALID_ARGUMENT, "%s", #call)
  REFUSED(tptx_plan_check(NULL, &r.op, NULL, NULL));
  REFUSED(tptx_plan_check(&r.view, NULL, NULL, NULL));
  REFUSED(tptx_emit(NULL, &r.op, NULL, &ptx, NULL));
  ck_assert_ptr_null(ptx);
  REFUSED(tptx_emit(&r.view, &r.op, NULL, NULL, NULL));
  ck_assert_int_eq(tptx_emit(&r.view, &r.op, NULL, &ptx, NULL), TPTX_OK);
  REFUSED(tptx_explain(&r.view, NULL, NULL, 0, &explanation, NULL));
  REFUSED(tptx_explain(&r.view, &r.op, NULL, 0, NULL, NULL));
  REFUSED(tptx_signature_parse(NULL, NULL, NULL, NULL, NULL));
  REFUSED(tptx_signature_format(&r.view, &r.op, NULL, NULL, 0, NULL));
  REFUSED(tptx_signature_format(&r.view, &r.op, NULL, line, sizeof line, NULL));
  REFUSED(tptx_specialise(NULL, &r.op, &r.args, NULL));
  REFUSED(tptx_specialise(&r.view, &r.op, NULL, NULL));
  REFUSED(tptx_bind(NULL, &r.args, &binding, NULL));
  REFUSED(tptx_bind(ptx, NULL, &binding, NULL));
  REFUSED(tptx_bind(ptx, &r.args, NULL, NULL));
  REFUSED(tptx_ptx_parameter(ptx, 0, NULL, NULL));
  REFUSED(tptx_run(NULL, &r.view, &r.op, &r.args, NULL, NULL));
  REFUSED(tptx_run(bench.runtime, NULL, &r.op, &r.args, NULL, NULL));
  REFUSED(tptx_run(bench.runtime, &r.view, NULL, &r.args, NULL, NULL));
  REFUSED(tptx_run(bench.runtime, &r.view, &r.op, NULL, NULL, NULL));
  REFUSED(tptx_kernel_get(NULL, &r.view, &r.op, &kernel, NULL));
  REFUSED(tptx_kernel_get(bench.runtime, &r.view, &r.op, NULL, NULL));
  REFUSED(tptx_runtime_create(NULL, NULL, NULL));
  REFUSED(tptx_runtime_counters(bench.runtime, NULL, NULL));
#undef REFUSED
  tptx_ptx_free(ptx);
  ck_assert_int_eq(tptx_kernel_get(bench.runtime, &r.view, &r.op, &kernel, NULL), TPTX_OK);
  ck_assert_int_eq(tptx_launch(NULL, &r.args, NULL, NULL), TPTX_ERROR_INVALID_ARGUMENT);
  ck_assert_int_eq(tptx_launch(kernel, NULL, NULL, NULL), TPTX_ERROR_INVALID_ARGUMENT);
  tptx_kernel_release(kernel);
  tptx_kernel_release(NULL);
  tptx_ptx_free(NULL);
  tptx_explanation_free(NULL);
  tptx_runtime_destroy(NULL);
}
END_TEST

/* ---- Drivers --------------------------------------------------------------------------------- */

START_TEST(missing_driver) {
  tptx_runtime_options options;
  tptx_runtime *runtime = (tptx_runtime *)&options;
  tptx_error error;
  tptx_error_init(&error);
  tptx_runtime_options_init(&options);
  options.driver = "/nonexistent/libcuda.so.1";
  ck_assert_int_eq(tptx_runtime_create(&options, &runtime, &error), TPTX_ERROR_NO_DRIVER);
  ck_assert_ptr_null(runtime);
  ck_assert_ptr_nonnull(strstr(error.message, "/nonexistent/libcuda.so.1"));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("refusals");
  TCase *tests = tcase_create("bad input");
  tcase_add_checked_fixture(tests, workbench_open, workbench_close);
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, what_the_rows_start_from_is_good);
  tcase_add_loop_test(tests, planning_refuses, 0, (int)(sizeof planning / sizeof *planning));
  tcase_add_loop_test(tests, launch_refuses, 0, (int)(sizeof launch / sizeof *launch));
  tcase_add_loop_test(tests, lines_are_refused_with_their_position, 0,
                      (int)(sizeof lines / sizeof *lines));
  tcase_add_test(tests, overlong_lines_are_refused);
  tcase_add_test(tests, null_pointers_are_refused);
  tcase_add_test(tests, missing_driver);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
