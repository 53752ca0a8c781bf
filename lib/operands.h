/* SPDX-License-Identifier: Apache-2.0 */
/* The operands of one launch with every number known, and the checks that need no plan. */
#ifndef OPERANDS_H
#define OPERANDS_H

#include "layout.h"
#include "signature.h"

/* One axis of the box, in elements of the span (on the gather axis: entries of the index array). */
struct box_axis {
  int64_t count;  /* chunks */
  int64_t origin; /* where the first chunk begins */
  int64_t step;   /* from chunk to chunk */
};

/*
 * The axis along which items lie: the one that is contiguous on both sides, the last where several
 * or none are.
 */
int32_t fast_axis(const struct signature *signature);

/*
 * The axis along which the items of each side lie: the fast one, unless each side is contiguous
 * along an axis of its own.
 */
struct item_axes {
  int32_t view, tile;
};
struct item_axes item_axes(const struct signature *signature);

struct operands {
  int32_t rank;             /* 1..8: rank 0 counts as one axis of one element */
  struct layout view, tile; /* the tile's only with an array operand */
  int64_t shape[TPTX_MAX_RANK];
  struct box_axis box[TPTX_MAX_RANK];
  int64_t tiles; /* chunks in the box; 0: nothing to do */
  /* What operands_classify found to hold, and need not be looked for again; 0: nothing. */
  struct classes found;
};

/* Sizes, layouts, box: everything about `args` that is wrong whatever kernel carries it out. */
tptx_status operands_resolve(const struct signature *signature, const tptx_args *args,
                             struct operands *operands, tptx_error *error);

/* What the operation asks of a box that is not empty: whole chunks, no overlap, addresses. */
tptx_status operands_check(const struct signature *signature, const tptx_args *args,
                           const struct operands *operands, tptx_error *error);

/* Bytes between neighbours along an axis; 0 where they pass 2^63, on axes of one element only. */
int64_t stride_bytes(const struct layout *layout, int32_t axis);

/*
 * What is promised, and the best that holds for the operands where nothing is. A promise about the
 * tile operand is one about both, where it is the smaller one.
 */
struct classes operands_classify(const struct signature *signature, const tptx_args *args,
                                 struct operands *operands, struct classes promised);

/* What each side must be aligned to, in bytes. */
struct grains {
  int64_t view, tile;
};

/* Every address, pitch and chunk start is a multiple; otherwise `culprit` says which is not. */
bool operands_aligned(const struct signature *signature, const tptx_args *args,
                      const struct operands *operands, struct grains grains, const char **culprit,
                      int32_t *axis);

/* Every coordinate and byte stride fits 32 bits, with `slack` elements added to each coordinate. */
bool operands_narrow(const struct signature *signature, const tptx_args *args,
                     const struct operands *operands, int64_t slack, const char **culprit,
                     int32_t *axis);

#endif
