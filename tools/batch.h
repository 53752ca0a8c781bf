/* SPDX-License-Identifier: Apache-2.0 */
/* What the options of run say, worked out: the box of chunks and the operands around it. */
#ifndef BATCH_H
#define BATCH_H

#include "operand.h"
#include "options.h"
#include "signatures.h"

struct batch {
  struct operand span;
  struct operand tile;    /* PACKED: one axis of every element; ARRAY: the view's rank */
  struct operand indices; /* one axis; unused on a strided view */
  int64_t first[TPTX_MAX_RANK];
  int64_t count[TPTX_MAX_RANK];
  int64_t step[TPTX_MAX_RANK];
  uint64_t pad_value;
};

/* Whether the operation fills the tile operand, and whether it writes the span. */
int batch_gives_tiles(const tptx_op *op);
int batch_writes_span(const tptx_op *op);

/* The view of `subject` can be planned. After a failure, too, batch_release is called. */
enum exit_code batch_prepare(struct batch *batch, const struct options *options,
                             const struct subject *subject);
enum exit_code batch_send(struct batch *batch, struct device *device);
void batch_arguments(const struct batch *batch, tptx_args *args);
void batch_release(struct batch *batch, struct device *device);

#endif
