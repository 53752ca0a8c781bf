/* SPDX-License-Identifier: Apache-2.0 */
#include "injective.h"

#include <tileptx/emit.h>

struct axis {
  uint64_t extent, stride; /* of at least 2 elements; the stride's magnitude */
};

static uint64_t magnitude(int64_t stride) {
  return stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* i0 * s0 + i1 * s1 = 0 has its smallest solution at i0 = s1/g, i1 = -s0/g, or at its mirror. */
static int pair_aliases(struct axis a, struct axis b) {
  uint64_t divisor = greatest_divisor(a.stride, b.stride);
  if (divisor == 0) return 1;
  return b.stride / divisor < a.extent && a.stride / divisor < b.extent;
}

static void sort_by_stride(struct axis *axes, int count) {
  for (int i = 1; i < count; i++) {
    struct axis moved = axes[i];
    int at = i;
    for (; at > 0 && axes[at - 1].stride > moved.stride; at--) axes[at] = axes[at - 1];
    axes[at] = moved;
  }
}

/* Every stride passes what all smaller ones reach together. */
static int strides_nest(const struct axis *axes, int count) {
  uint64_t reach = 0;
  for (int i = 0; i < count; i++) {
    if (axes[i].stride <= reach) return 0;
    uint64_t step;
    if (__builtin_mul_overflow(axes[i].stride, axes[i].extent - 1, &step)) return 0;
    if (__builtin_add_overflow(reach, step, &reach)) return 0;
  }
  return 1;
}

enum injective layout_injective(int32_t rank, const int64_t *extents, const int64_t *strides) {
  struct axis axes[TPTX_MAX_RANK];
  int count = 0;
  for (int32_t k = 0; k < rank; k++) {
    if (extents[k] == 0) return INJECTIVE_YES;
    if (extents[k] > 1) axes[count++] = (struct axis){(uint64_t)extents[k], magnitude(strides[k])};
  }
  for (int i = 0; i < count; i++) {
    if (axes[i].stride == 0) return INJECTIVE_NO;
    for (int k = 0; k < i; k++)
      if (pair_aliases(axes[i], axes[k])) return INJECTIVE_NO;
  }
  if (count <= 2) return INJECTIVE_YES;
  sort_by_stride(axes, count);
  return strides_nest(axes, count) ? INJECTIVE_YES : INJECTIVE_NOT_PROVEN;
}
