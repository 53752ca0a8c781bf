/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the kernel that loads tiles of 64 x 64 floats out of any matrix, and says how a host would
 * launch it. Needs no GPU and no driver. run_tile.c is the next step: it runs such a kernel.
 *
 *   cc load_tile.c $(pkg-config --cflags --libs tileptx) -o load_tile
 */
#include <stdio.h>
#include <tileptx.h>

int main(void) {
  const int64_t extents[] = {TPTX_DYNAMIC, TPTX_DYNAMIC}; /* known at launch: one kernel for all */
  const int64_t shape[] = {64, 64};
  tptx_view view;
  tptx_op op;
  tptx_ptx *ptx = NULL;
  tptx_error error;

  tptx_error_init(&error);
  tptx_view_strided(&view, TPTX_F32, 2, extents, NULL, shape, NULL); /* row major, side by side */
  tptx_op_load(&op);
  op.masked = 1;         /* what lies outside the matrix ... */
  op.pad = TPTX_PAD_NAN; /* ... reads as NaN */
  if (tptx_emit(&view, &op, NULL, &ptx, &error) != TPTX_OK) {
    fprintf(stderr, "%s: %s\n", tptx_status_name(error.status), error.message);
    return 1;
  }

  printf("%s", tptx_ptx_text(ptx));
  printf("\n// %s\n", tptx_ptx_signature(ptx));
  printf("// kernel %s, blocks of %d threads, for sm_%d or newer\n", tptx_ptx_entry(ptx),
         (int)tptx_ptx_threads(ptx), (int)tptx_ptx_target(ptx));
  for (int32_t i = 0; i < tptx_ptx_parameter_count(ptx); i++) {
    tptx_parameter parameter = {.struct_size = sizeof parameter};
    if (tptx_ptx_parameter(ptx, i, &parameter, &error) != TPTX_OK) break;
    printf("// %2d: %-16s %s\n", (int)parameter.offset, parameter.name, parameter.meaning);
  }
  tptx_ptx_free(ptx);
  return 0;
}
