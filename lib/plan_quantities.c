/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_quantities.h"

#include "layout.h"
#include "status.h"

#include <string.h>

struct quantity_row {
  const char *word, *meaning;
};

static const struct quantity_row rows[] = {
#define QUANTITY(name, word, per_axis, meaning) {word, meaning},
#include "quantities.def"
#undef QUANTITY
};

const char *quantity_word(enum quantity_name name) {
  return rows[name].word;
}

const char *quantity_meaning(enum quantity_name name) {
  return rows[name].meaning;
}

void quantity_write_name(const struct quantity *quantity, struct strbuf *out) {
  strbuf_word(out, rows[quantity->name].word);
  if (quantity->axis >= 0) strbuf_number(out, quantity->axis);
}

/* 31 and the base-2 logarithm, rounded up. */
uint32_t division_shift(uint32_t divisor) {
  return 31 + (divisor > 1 ? 32 - (uint32_t)__builtin_clz(divisor - 1) : 0);
}

/* Round-up division: exact for every dividend below 2^31 and every divisor from 1 to 2^31 - 1. */
struct division division_by(uint32_t divisor) {
  uint32_t shift = division_shift(divisor);
  uint64_t multiplier = (UINT64_C(1) << shift) / divisor + 1;
  return (struct division){(uint32_t)multiplier, shift};
}

static void add(struct plan *plan, struct quantity quantity) {
  plan->quantities[plan->quantity_count++] = quantity;
}

static void add_parameter(struct plan *plan, enum quantity_name name, int32_t axis, int32_t bits) {
  int32_t bytes = bits / 8;
  int32_t offset = (plan->parameter_bytes + bytes - 1) / bytes * bytes;
  plan->parameter_bytes = offset + bytes;
  add(plan, (struct quantity){.name = (uint8_t)name,
                              .axis = (int8_t)axis,
                              .bits = (uint8_t)bits,
                              .offset = (uint16_t)offset});
}

static tptx_status add_constant(struct plan *plan, struct quantity quantity, tptx_error *error) {
  REFUSE_IF(quantity.bits == 32 && (quantity.value < INT32_MIN || quantity.value > INT32_MAX),
            error, TPTX_ERROR_INDEX_WIDTH_CLASS, "arith", quantity.axis,
            "%s is %lld on axis %d and does not fit arith=32; use arith=64",
            rows[quantity.name].meaning, (long long)quantity.value, quantity.axis);
  quantity.constant = true;
  add(plan, quantity);
  return TPTX_OK;
}

/* What a register along an axis holds: known now, or TPTX_DYNAMIC. */
static tptx_status add_axis(struct plan *plan, enum quantity_name name, int32_t axis, int64_t value,
                            tptx_error *error) {
  if (value == TPTX_DYNAMIC) {
    add_parameter(plan, name, axis, plan->index_bits);
    return TPTX_OK;
  }
  return add_constant(plan,
                      (struct quantity){.name = (uint8_t)name,
                                        .axis = (int8_t)axis,
                                        .bits = (uint8_t)plan->index_bits,
                                        .value = value},
                      error);
}

/*
 * A stride that does not fit is only ever used on an axis of at most one element, where it does not
 * matter: with more, the launch is refused (operands_narrow, layout_fits).
 */
static tptx_status add_stride(struct plan *plan, enum quantity_name name, int32_t axis,
                              int64_t elements, int64_t extent, tptx_error *error) {
  if (elements == TPTX_DYNAMIC) return add_axis(plan, name, axis, TPTX_DYNAMIC, error);
  int64_t bytes;
  const struct access *access = name == QUANTITY_TILE_STRIDE ? &plan->tile : &plan->view;
  bool fits = !__builtin_mul_overflow(elements, (int64_t)access->element_bytes, &bytes);
  bool narrow = fits && bytes >= INT32_MIN && bytes <= INT32_MAX;
  bool unused = plan->index_bits == 32 ? !narrow : !fits;
  REFUSE_IF(!fits && extent > 1, error, TPTX_ERROR_OVERFLOW, "layout", axis,
            "the element stride %lld on axis %d passes 2^63 bytes", (long long)elements, axis);
  return add_axis(plan, name, axis, unused && extent <= 1 ? 0 : bytes, error);
}

/* What an entry of the index array is compared with: on the axis of the picks, the whole extent. */
static tptx_status add_picked_extent(struct plan *plan, tptx_error *error) {
  const struct signature *s = &plan->signature;
  int32_t axis = s->dim;
  int64_t extent = s->extents[axis];
  int32_t bits = plan_cuts_entries(plan) ? 64 : plan->index_bits;
  if (plan_picks(plan)) bits = 32; /* such a row fits shared memory */
  if (extent == TPTX_DYNAMIC) {
    add_parameter(plan, QUANTITY_VIEW_EXTENT, axis, bits);
    return TPTX_OK;
  }
  REFUSE_IF(plan->index_bits == 32 && extent > INT32_MAX, error, TPTX_ERROR_INDEX_WIDTH_CLASS,
            "arith", axis, "extent %lld on axis %d does not fit arith=32; use arith=64",
            (long long)extent, axis);
  return add_constant(plan,
                      (struct quantity){.name = QUANTITY_VIEW_EXTENT,
                                        .axis = (int8_t)axis,
                                        .bits = (uint8_t)bits,
                                        .value = extent},
                      error);
}

static tptx_status add_view(struct plan *plan, tptx_error *error) {
  const struct signature *s = &plan->signature;
  struct layout layout = {.rank = s->rank, .strides = {1}};
  bool gather = s->kind == TPTX_GATHER_SCATTER_VIEW;
  memcpy(layout.extents, s->extents, sizeof layout.extents);
  if (s->layout == TPTX_LAYOUT_STRIDED)
    memcpy(layout.strides, s->layout_strides, sizeof layout.strides);
  else if (!layout_strides_of(&layout, s->layout))
    REFUSE(error, TPTX_ERROR_OVERFLOW, "extents", -1, "the product of the extents passes 2^63");
  if (s->rank == 0) layout.strides[0] = layout.extents[0] = 1;
  for (int32_t k = 0; k < plan->rank; k++) {
    bool picked = gather && k == s->dim, box_step = gather && !picked;
    int64_t step = s->rank == 0 ? 1 : s->strides[k];
    bool checked = plan->view.checked >> k & 1;
    bool of_row = plan_picks(plan) && picked; /* copied as a whole, picked from by bytes */
    if (picked && (checked || of_row)) FORWARD(add_picked_extent(plan, error));
    if (!picked && checked) add_parameter(plan, QUANTITY_VIEW_ROOM, k, plan->index_bits);
    if (!of_row)
      FORWARD(
          add_stride(plan, QUANTITY_VIEW_STRIDE, k, layout.strides[k], layout.extents[k], error));
    FORWARD(add_axis(plan, QUANTITY_VIEW_STEP, k, box_step ? TPTX_DYNAMIC : step, error));
  }
  if (!gather) return TPTX_OK;
  add_parameter(plan, QUANTITY_INDEX_COUNT, -1, plan->index_bits);
  add_parameter(plan, QUANTITY_INDEX_STRIDE, -1, plan->index_bits);
  return TPTX_OK;
}

static tptx_status add_packed_tile(struct plan *plan, tptx_error *error) {
  int64_t bytes = plan->tile.element_bytes;
  for (int32_t k = plan->rank - 1; k >= 0; k--) {
    FORWARD(add_constant(
        plan,
        (struct quantity){
            .name = QUANTITY_TILE_STRIDE, .axis = (int8_t)k, .bits = 32, .value = bytes},
        error));
    bytes *= plan->shape[k];
  }
  return add_constant(
      plan, (struct quantity){.name = QUANTITY_TILE_BYTES, .axis = -1, .bits = 32, .value = bytes},
      error);
}

static tptx_status add_array_tile(struct plan *plan, tptx_error *error) {
  const struct signature *s = &plan->signature;
  struct layout layout = {.rank = s->rank, .strides = {1}};
  for (int32_t k = 0; k < plan->rank; k++) layout.extents[k] = TPTX_DYNAMIC;
  if (s->tile_layout == TPTX_LAYOUT_STRIDED)
    memcpy(layout.strides, s->tile_strides, sizeof layout.strides);
  else
    (void)layout_strides_of(&layout, s->tile_layout);
  for (int32_t k = 0; k < plan->rank; k++) {
    add_parameter(plan, QUANTITY_TILE_EXTENT, k, plan->index_bits);
    FORWARD(add_stride(plan, QUANTITY_TILE_STRIDE, k, layout.strides[k], TPTX_DYNAMIC, error));
    FORWARD(add_axis(plan, QUANTITY_TILE_STEP, k, plan->shape[k], error));
  }
  return TPTX_OK;
}

uint64_t plan_padding(const struct plan *plan, uint64_t pattern) {
  int32_t bytes = plan->view.element_bytes;
  if (bytes == 8) return pattern;
  uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
  pattern &= 2 * sign - 1;
  if (plan->signature.type == TPTX_BOOL) pattern = pattern != 0;
  if (plan->lane_elements > 1)
    for (int32_t filled = bytes; filled < 8; filled *= 2) pattern |= pattern << (8 * filled);
  else if (type_row(plan->view.type)->family == FAMILY_SIGNED)
    pattern = (pattern ^ sign) - sign;
  return plan->read_bits == 32 ? pattern & UINT32_MAX : pattern;
}

static uint64_t padding_pattern(const struct signature *s) {
  const struct type_row *type = type_row(s->type);
  uint64_t sign = UINT64_C(1) << (8 * type->bytes - 1);
  if (s->pad == TPTX_PAD_POSITIVE_INF) return type->infinity;
  if (s->pad == TPTX_PAD_NEGATIVE_INF) return type->infinity | sign;
  return s->pad == TPTX_PAD_NAN ? type->quiet_nan : 0;
}

static void add_padding(struct plan *plan) {
  const struct signature *s = &plan->signature;
  if (!plan->padded) return;
  if (s->pad == TPTX_PAD_VALUE) {
    add_parameter(plan, QUANTITY_PAD, -1, plan->read_bits);
    return;
  }
  add(plan, (struct quantity){.name = QUANTITY_PAD,
                              .axis = -1,
                              .bits = (uint8_t)plan->read_bits,
                              .constant = true,
                              .value = (int64_t)plan_padding(plan, padding_pattern(s))});
}

tptx_status plan_quantities(struct plan *plan, tptx_error *error) {
  const struct signature *s = &plan->signature;
  plan->quantity_count = 0;
  add_parameter(plan, QUANTITY_VIEW, -1, 64);
  add_parameter(plan, QUANTITY_TILE, -1, 64);
  if (s->kind == TPTX_GATHER_SCATTER_VIEW) add_parameter(plan, QUANTITY_INDICES, -1, 64);
  bool compared = plan->tiles_per_block > 1 && !plan_picks(plan); /* else the launch is exact */
  if (compared) add_parameter(plan, QUANTITY_TILES, -1, 32);
  for (int32_t k = 0; k < plan->rank; k++) {
    if (k == plan_box_axis(plan, plan->rank - 1)) continue;
    bool looped = plan_picks(plan) && k == s->dim; /* not divided by */
    add_parameter(plan, looped ? QUANTITY_COUNT : QUANTITY_BACK, k, 32);
    if (looped) continue;
    add_parameter(plan, QUANTITY_MAGIC, k, 32);
    add_parameter(plan, QUANTITY_SHIFT, k, 32);
  }
  FORWARD(add_view(plan, error));
  if (s->tiles == TPTX_TILES_ARRAY)
    FORWARD(add_array_tile(plan, error));
  else
    FORWARD(add_packed_tile(plan, error));
  add_padding(plan);
  return TPTX_OK;
}
