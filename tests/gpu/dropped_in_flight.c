/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel that leaves the cache is unloaded although its launches may still be under way: they
 * must finish all the same. Ones are added to every element of a span, and the kernel is dropped
 * behind every launch; no launch may get lost.
 *
 *   dropped_in_flight [--small]     small sizes, as on the emulated driver
 *
 * Exit 0: all right; 1: something differs; 77: no device.
 */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAUNCHES = 50 };

static bool add_and_drop(struct rig *rig, int64_t elements, const uint32_t *ones, uint32_t *span) {
  tptx_view view;
  tptx_op op;
  tptx_args args;
  size_t bytes = (size_t)elements * sizeof *span;
  tptx_view_strided(&view, TPTX_U32, 1, &elements, NULL, (const int64_t[]){1024}, NULL);
  tptx_op_init(&op);
  op.operation = TPTX_ATOMIC_ADD;
  op.order = TPTX_ORDER_RELAXED;
  op.scope = TPTX_SCOPE_DEVICE;
  tptx_args_init(&args);
  args.span = rig_put(rig, span, bytes);
  args.tile = rig_put(rig, ones, bytes);
  bool good = true;
  for (int i = 0; i < LAUNCHES - 1 && good; i++) {
    good = tptx_run(rig->runtime, &view, &op, &args, NULL, NULL) == TPTX_OK;
    tptx_runtime_clear(rig->runtime);
  }
  good = good && rig_run(rig, &view, &op, &args);
  rig_get(rig, span, args.span, bytes);
  for (int64_t i = 0; i < elements && good; i++) good = span[i] == LAUNCHES;
  rig_free(rig, args.span);
  rig_free(rig, args.tile);
  return good;
}

int main(int argc, char **argv) {
  bool small = argc > 1 && strcmp(argv[1], "--small") == 0;
  struct rig rig;
  int code = rig_open(&rig);
  if (code) return code;
  small = small || device_is_emulated(rig.device);
  int64_t elements = small ? 4096 : INT64_C(1) << 28;
  uint32_t *ones = calloc((size_t)elements, sizeof *ones);
  uint32_t *span = calloc((size_t)elements, sizeof *span);
  if (!ones || !span) return 1;
  for (int64_t i = 0; i < elements; i++) ones[i] = 1;
  bool good = add_and_drop(&rig, elements, ones, span);
  printf("%s %d launches whose kernels are dropped behind them\n", good ? "passed" : "FAILED",
         (int)LAUNCHES);
  free(ones);
  free(span);
  rig_close(&rig);
  return good ? 0 : 1;
}
