/* SPDX-License-Identifier: Apache-2.0 */
/* Element strides of a layout, and the sizes that meet in an address, all checked. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdbool.h>
#include <tileptx/emit.h>

struct layout {
  int32_t rank;
  int32_t bytes; /* of an element */
  int64_t extents[TPTX_MAX_RANK];
  int64_t strides[TPTX_MAX_RANK]; /* elements */
};

/*
 * Strides of `kind` RIGHT or LEFT from the extents. TPTX_DYNAMIC extents make every stride that
 * depends on them TPTX_DYNAMIC. False where a product passes 2^63; extents of 0 count as 1.
 */
bool layout_strides_of(struct layout *layout, int32_t kind);

/* Some extent is 0. */
bool layout_is_empty(const struct layout *layout);

/* False where an offset inside the array, in bytes, passes 2^63. All numbers must be known. */
bool layout_fits(const struct layout *layout);

/* A division takes longer than the rest of such a check: `bytes` is a power of two. */
static inline bool is_aligned(uint64_t offset, int64_t bytes) {
  return (offset & ((uint64_t)bytes - 1)) == 0;
}

/* Whether the element stride of `axis` is known to be 1 from the layout alone. */
bool stride_is_one(int32_t kind, const int64_t *strides, int32_t rank, int32_t axis);

#endif
