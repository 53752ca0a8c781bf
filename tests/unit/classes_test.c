/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of one operation: the operands decide which kernel answers the same descriptors. */
#include "host.h"

#include "runtime_state.h"

#include <stdio.h>
#include <string.h>

enum { ROW = 96, TILE = 16 };

/* Rows of bytes: the same descriptors, operands of every class. */
struct variant {
  int64_t span_lean, tile_lean; /* off a 16-byte boundary */
  int64_t pitch;                /* of the rows; there is only one, so it may be anything */
  const char *classes;          /* in the signature */
};

static const struct variant variants[] = {
    {0, 0, ROW, ":align=16:arith=32:"},        {4, 0, ROW, ":align=4:arith=32:"},
    {1, 0, ROW, ":tile_align=16:arith=32:"},   {1, 4, ROW, ":tile_align=4:arith=32:"},
    {3, 1, ROW, ":shape=1x16:load:arith=32:"}, {0, 0, INT64_C(1) << 33, ":align=16:target="},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

struct bytes {
  tptx_view view;
  tptx_op op;
  uint64_t span, tile;
};

struct lines {
  int requests, launches; /* traced */
  char launch[TPTX_MAX_SIGNATURE + 64];
};

static void note_line(void *user, tptx_topic topic, const char *line) {
  struct lines *lines = user;
  lines->requests += topic == TPTX_TOPIC_CACHE;
  lines->launches += topic == TPTX_TOPIC_LAUNCH;
  if (topic == TPTX_TOPIC_LAUNCH) snprintf(lines->launch, sizeof lines->launch, "%s", line);
}

static void open_bytes(struct bytes *bytes) {
  unsigned char values[2 * ROW];
  for (int i = 0; i < 2 * ROW; i++) values[i] = (unsigned char)(i + 1);
  tptx_view_strided(&bytes->view, TPTX_U8, 2, (int64_t[]){2, TPTX_DYNAMIC}, NULL,
                    (int64_t[]){1, TILE}, NULL);
  tptx_op_load(&bytes->op);
  ck_assert_int_eq(host.cuMemAlloc(&bytes->span, sizeof values), 0);
  ck_assert_int_eq(host.cuMemAlloc(&bytes->tile, sizeof values), 0);
  ck_assert_int_eq(host.cuMemcpyHtoD(bytes->span, values, sizeof values), 0);
}

static void run_bytes(tptx_runtime *runtime, const struct bytes *bytes, const struct variant *v) {
  enum { MOVED = 5 * TILE };
  unsigned char got[2 * ROW] = {0};
  tptx_args args;
  tptx_error error;
  tptx_args_init(&args);
  args.span = bytes->span + (uint64_t)v->span_lean;
  args.tile = bytes->tile + (uint64_t)v->tile_lean;
  args.extents[1] = v->pitch;
  args.count[0] = 1;
  args.count[1] = MOVED / TILE;
  ck_assert_int_eq(host.cuMemcpyHtoD(bytes->tile, got, sizeof got), 0);
  tptx_status status = tptx_run(runtime, &bytes->view, &bytes->op, &args, NULL, &error);
  ck_assert_msg(status == TPTX_OK, "%s: %s", v->classes, error.message);
  ck_assert_int_eq(host.cuCtxSynchronize(), 0);
  ck_assert_int_eq(host.cuMemcpyDtoH(got, bytes->tile, sizeof got), 0);
  for (int64_t i = 0; i < 2 * ROW; i++) {
    bool moved = i >= v->tile_lean && i < v->tile_lean + MOVED;
    ck_assert_uint_eq(got[i], moved ? (uint64_t)(i - v->tile_lean + v->span_lean + 1) : 0);
  }
}

static tptx_runtime *tracing_runtime(struct lines *lines) {
  tptx_runtime_options options = host_options();
  options.log = note_line;
  options.log_user = lines;
  options.topics = TPTX_TOPIC_CACHE | TPTX_TOPIC_LAUNCH;
  return host_runtime(&options);
}

START_TEST(each_class_of_operands_comes_to_its_kernel) {
  struct lines lines = {0};
  struct bytes bytes;
  host_open();
  host_context(0);
  tptx_runtime *runtime = tracing_runtime(&lines);
  open_bytes(&bytes);
  for (int i = 0; i < VARIANTS; i++) run_bytes(runtime, &bytes, &variants[i]);
  ck_assert_uint_eq(host_counters(runtime).misses, VARIANTS);
  runtime->cache.hash_mask = 0; /* the table finds nothing: what is a hit came by a shortcut */
  for (int round = 0; round < 3 * VARIANTS; round++) {
    const struct variant *v = &variants[(round * 5 + round / VARIANTS) % VARIANTS];
    run_bytes(runtime, &bytes, v);
    ck_assert_msg(strstr(lines.launch, v->classes) != NULL, "%s: %s", v->classes, lines.launch);
  }
  ck_assert_uint_eq(host_counters(runtime).misses, VARIANTS);
  runtime->cache.hash_mask = UINT64_MAX;
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(a_promise_is_kept_whatever_the_operands_are) {
  struct lines lines = {0};
  struct bytes bytes;
  host_open();
  host_context(0);
  tptx_runtime *runtime = tracing_runtime(&lines);
  open_bytes(&bytes);
  bytes.view.align = 1;
  bytes.op.tile.align = 16;
  for (int i = 0; i < 2; i++) {
    run_bytes(runtime, &bytes, &variants[0]); /* aligned to 16, but nobody was told */
    ck_assert_ptr_nonnull(strstr(lines.launch, ":tile_align=16:arith=32:"));
    ck_assert_ptr_null(strstr(lines.launch, ":align="));
    run_bytes(runtime, &bytes, &variants[2]);
  }
  ck_assert_uint_eq(host_counters(runtime).misses, 1);
  tptx_args args;
  tptx_args_init(&args);
  args.span = bytes.span;
  args.tile = bytes.tile + 1; /* the promise is broken, on the short way, too */
  args.extents[1] = ROW;
  ck_assert_int_eq(tptx_run(runtime, &bytes.view, &bytes.op, &args, NULL, NULL),
                   TPTX_ERROR_MISALIGNED);
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(one_request_counts_once_and_is_one_line) {
  struct lines lines = {0};
  struct bytes bytes;
  host_open();
  host_context(0);
  tptx_runtime *runtime = tracing_runtime(&lines);
  open_bytes(&bytes);
  for (int i = 0; i < 3 * VARIANTS; i++) {
    run_bytes(runtime, &bytes, &variants[i % VARIANTS]);
    tptx_counters counters = host_counters(runtime);
    ck_assert_int_eq(lines.requests, i + 1);
    ck_assert_uint_eq(counters.hits + counters.misses + counters.waits, (uint64_t)i + 1);
  }
  ck_assert_int_eq(lines.launches, 3 * VARIANTS);
  tptx_runtime_destroy(runtime);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("classes");
  TCase *classes = tcase_create("classes");
  tcase_add_test(classes, each_class_of_operands_comes_to_its_kernel);
  tcase_add_test(classes, a_promise_is_kept_whatever_the_operands_are);
  tcase_add_test(classes, one_request_counts_once_and_is_one_line);
  suite_add_tcase(suite, classes);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
