/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers at the edges of their types, in every member of descriptors and arguments, from planning
 * to a bound launch. Nothing may overflow (run it under the undefined-behaviour sanitizer), a
 * refusal comes with a message, and the classes that tptx_specialise finds are classes that bind.
 *
 *   arguments_fuzz [COUNT [FIRST]]     COUNT sets of numbers from number FIRST on
 */
#include <tileptx/emit.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t roll(uint64_t sides) {
  uint64_t x = state += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return (x ^ (x >> 31)) % sides;
}

static int64_t extreme(void) {
  static const int64_t edges[] = {
      0,
      1,
      2,
      3,
      7,
      8,
      16,
      100,
      -1,
      -2,
      INT64_MAX,
      INT64_MAX / 2,
      INT64_MIN,
      INT64_MIN / 2,
      INT32_MAX,
      INT32_MAX - 16,
      INT32_MIN,
      INT64_C(1) << 24,
      INT64_C(1) << 31,
      INT64_C(1) << 32,
      INT64_C(1) << 40,
      INT64_C(1) << 62,
      -(INT64_C(1) << 40),
  };
  int64_t edge = edges[roll(sizeof edges / sizeof *edges)];
  return roll(4) ? edge : (int64_t)((uint64_t)edge + roll(5) - 2);
}

static int64_t mostly(int64_t usual) {
  return roll(2) ? usual : extreme();
}

struct request {
  tptx_view view;
  tptx_op op;
  tptx_args args;
};

static void draw_descriptors(struct request *r) {
  tptx_view *view = &r->view;
  int rank = 1 + (int)roll(3);
  tptx_view_init(view);
  view->kind = (tptx_view_kind)roll(2);
  view->type = (tptx_type)roll(16);
  view->rank = rank;
  view->dim = (int32_t)roll((uint64_t)rank);
  view->layout = (tptx_layout)roll(3);
  tptx_op_init(&r->op);
  r->op.operation = (tptx_operation)roll(2);
  r->op.masked = roll(4) != 0;
  r->op.assume_injective = (int32_t)roll(2);
  if (view->kind == TPTX_GATHER_SCATTER_VIEW) r->op.indices.type = (tptx_type)(1 + roll(8));
  r->op.tile.tiles = (tptx_tiles)roll(2);
  if (r->op.tile.tiles == TPTX_TILES_ARRAY) r->op.tile.layout = (tptx_layout)roll(3);
  for (int k = 0; k < rank; k++) {
    view->extents[k] = mostly(TPTX_DYNAMIC);
    view->shape[k] = roll(8) ? 1 + (int64_t)roll(16) : extreme();
    view->strides[k] = roll(3) ? view->shape[k] : extreme();
    view->layout_strides[k] = roll(3) ? 1 : mostly(TPTX_DYNAMIC);
    r->op.tile.layout_strides[k] = roll(3) ? 1 : mostly(TPTX_DYNAMIC);
  }
}

static void draw_arguments(struct request *r) {
  tptx_args *args = &r->args;
  tptx_args_init(args);
  args->span = roll(2) ? UINT64_C(0x7f0000000000) : (uint64_t)extreme();
  args->tile = UINT64_C(0x7e0000000000);
  args->indices = UINT64_C(0x7d0000000000);
  args->index_count = extreme();
  args->index_stride = mostly(1);
  for (int k = 0; k < r->view.rank; k++) {
    args->extents[k] = mostly(1 + (int64_t)roll(100));
    args->layout_strides[k] = mostly(1);
    args->tile_extents[k] = mostly(1 + (int64_t)roll(100));
    args->tile_strides[k] = mostly(1);
    args->first[k] = mostly(0);
    args->count[k] = mostly(TPTX_ALL);
    args->step[k] = mostly(0);
  }
}

/* False, with the reason printed, where a promise is broken. */
static bool keeps_its_promises(const struct request *request) {
  struct request r = *request;
  tptx_ptx *ptx = NULL;
  tptx_error error;
  tptx_binding binding = {.struct_size = sizeof binding};
  tptx_error_init(&error);
  tptx_status status = tptx_specialise(&r.view, &r.op, &r.args, &error);
  bool specialised = status == TPTX_OK;
  if (!status) status = tptx_emit(&r.view, &r.op, NULL, &ptx, &error);
  if (!status) status = tptx_bind(ptx, &r.args, &binding, &error);
  tptx_ptx_free(ptx);
  if (status == TPTX_OK) return (binding.tiles > 0) == (binding.blocks > 0) && binding.tiles >= 0;
  const char *argument = error.argument;
  bool address = strcmp(argument, "args.span") == 0 || strcmp(argument, "args.tile") == 0;
  bool class_refused = status == TPTX_ERROR_INDEX_WIDTH || status == TPTX_ERROR_INDEX_WIDTH_CLASS ||
                       (status == TPTX_ERROR_MISALIGNED && !address);
  bool family = status >= 100 && status < 300;
  if (family && error.message[0] && !(specialised && class_refused)) return true;
  printf("%s (%s, axis %d): %s\n", tptx_status_name(status), argument, error.axis, error.message);
  return false;
}

int main(int argc, char **argv) {
  uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 200000;
  uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
  unsigned long passed = 0, failed = 0;
  for (uint64_t i = first; i < first + count && failed < 20; i++) {
    struct request request;
    state = i * 77 + 5;
    draw_descriptors(&request);
    draw_arguments(&request);
    bool good = keeps_its_promises(&request);
    *(good ? &passed : &failed) += 1;
    if (!good) printf("again: arguments_fuzz 1 %llu\n", (unsigned long long)i);
  }
  printf("%lu passed, %lu failed\n", passed, failed);
  return failed != 0;
}
