/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

bool layout_strides_of(struct layout *layout, int32_t kind) {
  int64_t stride = 1;
  for (int32_t i = 0; i < layout->rank; i++) {
    int32_t k = kind == TPTX_LAYOUT_RIGHT ? layout->rank - 1 - i : i;
    int64_t extent = layout->extents[k];
    layout->strides[k] = stride;
    if (stride == TPTX_DYNAMIC || extent == TPTX_DYNAMIC)
      stride = TPTX_DYNAMIC;
    else if (__builtin_mul_overflow(stride, extent > 0 ? extent : 1, &stride))
      return false;
  }
  return true;
}

bool layout_is_empty(const struct layout *layout) {
  for (int32_t k = 0; k < layout->rank; k++)
    if (layout->extents[k] == 0) return true;
  return false;
}

bool layout_fits(const struct layout *layout) {
  int64_t reach = 0;
  if (layout_is_empty(layout)) return true;
  for (int32_t k = 0; k < layout->rank; k++) {
    int64_t last = layout->extents[k] - 1, step;
    if (last == 0) continue;
    if (__builtin_mul_overflow(layout->strides[k], last, &step)) return false;
    if (step < 0 && __builtin_sub_overflow((int64_t)0, step, &step)) return false;
    if (__builtin_add_overflow(reach, step, &reach)) return false;
  }
  return !__builtin_add_overflow(reach, (int64_t)1, &reach) &&
         !__builtin_mul_overflow(reach, (int64_t)layout->bytes, &reach);
}

bool stride_is_one(int32_t kind, const int64_t *strides, int32_t rank, int32_t axis) {
  if (kind == TPTX_LAYOUT_STRIDED) return strides[axis] == 1;
  return axis == (kind == TPTX_LAYOUT_RIGHT ? rank - 1 : 0);
}
