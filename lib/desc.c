/* SPDX-License-Identifier: Apache-2.0 */
#include "desc.h"

#include "injective.h"
#include "layout.h"
#include "rules.h"
#include "rows.h"
#include "status.h"
#include "structs.h"
#include "target.h"

#include <string.h>

static tptx_status check_kinds(const struct signature *s, tptx_error *error) {
  bool gather = s->kind == TPTX_GATHER_SCATTER_VIEW;
  REFUSE_IF(!gather && s->kind != TPTX_STRIDED_VIEW, error, TPTX_ERROR_INVALID_ARGUMENT, "kind", -1,
            "view kind %d, expected TPTX_STRIDED_VIEW or TPTX_GATHER_SCATTER_VIEW", s->kind);
  REFUSE_IF(!type_row(s->type), error, TPTX_ERROR_TYPE, "type", -1,
            "element type %d is no tptx_type", s->type);
  REFUSE_IF(s->rank < gather || s->rank > TPTX_MAX_RANK, error, TPTX_ERROR_RANK, "rank", -1,
            "rank %d, expected %d to 8", s->rank, gather);
  REFUSE_IF(gather && (s->dim < 0 || s->dim >= s->rank), error, TPTX_ERROR_DIM, "dim", -1,
            "dim %d, expected an axis of the span, 0 to %d", s->dim, s->rank - 1);
  REFUSE_IF(!type_is_integer(s->index), error, TPTX_ERROR_INDEX_TYPE, "index", -1,
            "the span's index type must be an integer type (s8 to u64)");
  REFUSE_IF(gather && !type_is_integer(s->indices), error, TPTX_ERROR_INDEX_TYPE, "indices", -1,
            "the index array's type must be an integer type (s8 to u64)");
  REFUSE_IF(!gather && s->indices != TPTX_S32, error, TPTX_ERROR_INDEX_TYPE, "indices", -1,
            "a strided view has no index array; leave indices out");
  return TPTX_OK;
}

static tptx_status check_extents(const struct signature *s, tptx_error *error) {
  int64_t limit = type_largest(s->index);
  for (int32_t k = 0; k < s->rank; k++) {
    int64_t extent = s->extents[k];
    if (extent == TPTX_DYNAMIC) continue;
    REFUSE_IF(extent < 0, error, TPTX_ERROR_EXTENT, "extents", k,
              "extent %lld on axis %d, expected 0 or more, or TPTX_DYNAMIC", (long long)extent, k);
    REFUSE_IF(extent > limit, error, TPTX_ERROR_EXTENT, "extents", k,
              "extent %lld on axis %d does not fit the span's index type %s (at most %lld); "
              "choose a wider index type",
              (long long)extent, k, type_row(s->index)->word, (long long)limit);
  }
  return TPTX_OK;
}

static tptx_status check_shape(const struct signature *s, tptx_error *error) {
  int64_t elements = 1;
  for (int32_t k = 0; k < s->rank; k++) {
    REFUSE_IF(s->shape[k] < 1, error, TPTX_ERROR_SHAPE, "shape", k,
              "tile size %lld on axis %d, expected 1 or more", (long long)s->shape[k], k);
    REFUSE_IF(s->shape[k] > TPTX_MAX_TILE / elements, error, TPTX_ERROR_SHAPE, "shape", k,
              "the tile has more than %d elements; cut it into smaller tiles", TPTX_MAX_TILE);
    elements *= s->shape[k];
    REFUSE_IF(s->strides[k] < 1, error, TPTX_ERROR_STRIDE, "strides", k,
              "chunk stride %lld on axis %d, expected 1 or more", (long long)s->strides[k], k);
  }
  return TPTX_OK;
}

static tptx_status check_layout(const struct signature *s, tptx_error *error) {
  REFUSE_IF(s->layout < TPTX_LAYOUT_RIGHT || s->layout > TPTX_LAYOUT_STRIDED, error,
            TPTX_ERROR_LAYOUT, "layout", -1, "layout %d is no tptx_layout", s->layout);
  REFUSE_IF(s->tile_layout < TPTX_LAYOUT_RIGHT || s->tile_layout > TPTX_LAYOUT_STRIDED, error,
            TPTX_ERROR_LAYOUT, "tile_layout", -1, "layout %d is no tptx_layout", s->tile_layout);
  REFUSE_IF(s->tiles == TPTX_TILES_PACKED && s->tile_layout != TPTX_LAYOUT_RIGHT, error,
            TPTX_ERROR_LAYOUT, "tile_layout", -1,
            "packed tiles have no layout of their own; use tiles=array");
  struct layout layout = {.rank = s->rank, .bytes = type_row(s->type)->bytes};
  memcpy(layout.extents, s->extents, sizeof layout.extents);
  memcpy(layout.strides, s->layout_strides, sizeof layout.strides);
  bool fits = s->layout == TPTX_LAYOUT_STRIDED || layout_strides_of(&layout, s->layout);
  REFUSE_IF(!fits, error, TPTX_ERROR_OVERFLOW, "extents", -1,
            "the product of the extents passes 2^63");
  for (int32_t k = 0; k < s->rank; k++)
    if (layout.extents[k] == TPTX_DYNAMIC || layout.strides[k] == TPTX_DYNAMIC) return TPTX_OK;
  REFUSE_IF(!layout_fits(&layout), error, TPTX_ERROR_OVERFLOW, "extents", -1,
            "the span reaches over 2^63 bytes; check extents and layout");
  if (operation_row(s->operation)->effect == EFFECT_READ) return TPTX_OK;
  enum injective injective = layout_injective(s->rank, layout.extents, layout.strides);
  REFUSE_IF(injective == INJECTIVE_NO, error, TPTX_ERROR_NOT_INJECTIVE, "layout", -1,
            "the layout maps two indices to one element; such a span can be read but not written");
  REFUSE_IF(injective == INJECTIVE_NOT_PROVEN && !s->assume_injective, error,
            TPTX_ERROR_NOT_INJECTIVE, "layout", -1,
            "not proven that the layout maps every index to an element of its own; set "
            "assume_injective if it does");
  return TPTX_OK;
}

static tptx_status check_plain(const struct signature *s, tptx_error *error) {
  REFUSE_IF(s->order != TPTX_ORDER_NONE, error, TPTX_ERROR_ORDER, "order", -1,
            "%s has no memory order; leave order out or use an atomic operation",
            operation_word(s));
  REFUSE_IF(s->scope != TPTX_SCOPE_DEFAULT, error, TPTX_ERROR_SCOPE, "scope", -1,
            "%s has no scope; leave scope out or use an atomic operation", operation_word(s));
  return TPTX_OK;
}

static tptx_status check_order(const struct signature *s, tptx_error *error) {
  enum effect effect = operation_row(s->operation)->effect;
  const char *other = effect == EFFECT_READ    ? " or acquire"
                      : effect == EFFECT_WRITE ? " or release"
                                               : "";
  bool fits = s->order == TPTX_ORDER_RELAXED ||
              (s->order == TPTX_ORDER_ACQUIRE && effect == EFFECT_READ) ||
              (s->order == TPTX_ORDER_RELEASE && effect == EFFECT_WRITE);
  REFUSE_IF(!fits, error, TPTX_ERROR_ORDER, "order", -1, "%s needs order relaxed%s",
            operation_word(s), other);
  bool system = s->scope == TPTX_SCOPE_SYSTEM && effect != EFFECT_UPDATE;
  REFUSE_IF(s->scope != TPTX_SCOPE_BLOCK && s->scope != TPTX_SCOPE_DEVICE && !system, error,
            TPTX_ERROR_SCOPE, "scope", -1, "%s needs scope block%s", operation_word(s),
            effect == EFFECT_UPDATE ? " or device" : ", device or system");
  return TPTX_OK;
}

static tptx_status check_update(const struct signature *s, tptx_error *error) {
  const struct update_row *row = update_row(s->operation, s->type);
  bool sums = s->operation == TPTX_ATOMIC_ADD || s->operation == TPTX_ATOMIC_SUB;
  REFUSE_IF(!row, error, TPTX_ERROR_TYPE, "type", -1, "%s does not take %s; it takes %s",
            operation_word(s), type_row(s->type)->word,
            sums ? "s32, u32, s64, u64, f16, bf16, f32 and f64" : "s32, u32, s64 and u64");
  REFUSE_IF(s->fetch && s->value != s->type, error, TPTX_ERROR_CONVERSION, "value", -1,
            "fetch returns old values in the tile operand, which must have the view's type %s",
            type_row(s->type)->word);
  return TPTX_OK;
}

static tptx_status check_operation(const struct signature *s, tptx_error *error) {
  const struct operation_row *row = operation_row(s->operation);
  REFUSE_IF(!row, error, TPTX_ERROR_OPERATION, "operation", -1, "operation %d is no tptx_operation",
            s->operation);
  REFUSE_IF(s->fetch && row->effect != EFFECT_UPDATE, error, TPTX_ERROR_OPERATION, "fetch", -1,
            "fetch belongs to read-modify-writes, %s is none", operation_word(s));
  if (!row->atomic) return check_plain(s, error);
  FORWARD(check_order(s, error));
  return row->effect == EFFECT_UPDATE ? check_update(s, error) : TPTX_OK;
}

static tptx_status check_padding(const struct signature *s, tptx_error *error) {
  const struct type_row *type = type_row(s->type);
  REFUSE_IF(s->pad < TPTX_PAD_ZERO || s->pad > TPTX_PAD_VALUE, error, TPTX_ERROR_PADDING, "pad", -1,
            "padding %d is no tptx_pad", s->pad);
  if (s->pad == TPTX_PAD_ZERO) return TPTX_OK;
  REFUSE_IF(!s->masked || operation_row(s->operation)->effect != EFFECT_READ, error,
            TPTX_ERROR_PADDING, "pad", -1, "%s pads nothing; padding belongs to masked loads",
            operation_word(s));
  REFUSE_IF(
      s->pad != TPTX_PAD_VALUE && !type->quiet_nan, error, TPTX_ERROR_PADDING, "pad", -1,
      "padding with an infinity or NaN needs f16, bf16, f32 or f64, not %s; use zero or value",
      type->word);
  return TPTX_OK;
}

static tptx_status check_tile(const struct signature *s, tptx_error *error) {
  bool reads = operation_row(s->operation)->effect == EFFECT_READ;
  int32_t from = reads ? s->type : s->value, to = reads ? s->value : s->type;
  REFUSE_IF(conversion_steps(from, to) < 0, error, TPTX_ERROR_CONVERSION, "value", -1,
            "%s would convert %s to %s, which can lose values; only conversions that keep every "
            "value are made (integers to wider ones, floats to wider ones, bool to integers)",
            operation_word(s), type_row(from)->word, type_row(to)->word);
  REFUSE_IF(s->tiles != TPTX_TILES_PACKED && s->tiles != TPTX_TILES_ARRAY, error,
            TPTX_ERROR_INVALID_ARGUMENT, "tiles", -1, "tiles %d is no tptx_tiles", s->tiles);
  return TPTX_OK;
}

static tptx_status check_flag(int32_t flag, const char *argument, tptx_error *error) {
  REFUSE_IF(flag != 0 && flag != 1, error, TPTX_ERROR_INVALID_ARGUMENT, argument, -1,
            "%s is %d, expected 0 or 1", argument, flag);
  return TPTX_OK;
}

static tptx_status check_tuning(const struct signature *s, tptx_error *error) {
  FORWARD(check_flag(s->masked, "masked", error));
  FORWARD(check_flag(s->fetch, "fetch", error));
  FORWARD(check_flag(s->assume_in_bounds, "assume_in_bounds", error));
  FORWARD(check_flag(s->assume_injective, "assume_injective", error));
  REFUSE_IF(s->allow_tma != 0 && s->allow_tma != 1, error, TPTX_ERROR_TUNING, "allow_tma", -1,
            "allow_tma is %d, expected 0 or 1", s->allow_tma);
  REFUSE_IF(s->staging != TPTX_STAGING_RULE && s->staging != TPTX_STAGING_NONE, error,
            TPTX_ERROR_TUNING, "staging", -1, "staging is %d, expected a tptx_staging", s->staging);
  REFUSE_IF(s->latency < 0 || s->latency > 10, error, TPTX_ERROR_TUNING, "latency", -1,
            "latency %d, expected 1 to 10, or 0 for none", s->latency);
  REFUSE_IF(s->threads && (s->threads < 32 || s->threads > 1024 || s->threads % 32), error,
            TPTX_ERROR_TUNING, "threads", -1,
            "threads %d, expected a multiple of 32 from 32 to 1024, or 0 for the planner's rule",
            s->threads);
  bool power = s->flight == 1 || s->flight == 2 || s->flight == 4 || s->flight == 8;
  REFUSE_IF(s->flight && !power, error, TPTX_ERROR_TUNING, "flight", -1,
            "flight %d, expected 1, 2, 4 or 8, or 0 for the planner's rule", s->flight);
  return TPTX_OK;
}

static tptx_status check_classes(const struct signature *s, tptx_error *error) {
  int bytes = type_row(s->type)->bytes;
  bool align = s->align == 16 || s->align == bytes || (s->align == 4 && bytes < 4);
  REFUSE_IF(!align, error, TPTX_ERROR_ALIGNMENT_CLASS, "align", -1,
            "alignment class %d, expected 16%s or the element's %d bytes", s->align,
            bytes < 4 ? ", 4" : "", bytes);
  bool tile = s->tile_align == s->align ||
              (s->tile_align > s->align && (s->tile_align == 16 || s->tile_align == 4));
  REFUSE_IF(!tile, error, TPTX_ERROR_ALIGNMENT_CLASS, "tile_align", -1,
            "alignment class %d of the tile operand, expected the view's %d, or 4 or 16 above it",
            s->tile_align, s->align);
  REFUSE_IF(s->arith != 32 && s->arith != 64, error, TPTX_ERROR_INDEX_WIDTH_CLASS, "arith", -1,
            "index arithmetic of %d bits, expected 32 or 64", s->arith);
  REFUSE_IF(s->picks != TPTX_PICKS_SPARSE && s->picks != TPTX_PICKS_DENSE, error, TPTX_ERROR_TUNING,
            "picks", -1, "picks is %d, expected a tptx_picks", s->picks);
  return TPTX_OK;
}

static tptx_status check_target(const struct signature *s, tptx_error *error) {
  REFUSE_IF(
      !target_lowest_ptx(s->sm), error, TPTX_ERROR_TARGET, "target", -1,
      "target sm_%d is not known; sm_75 and later targets are, and an unknown device takes the "
      "newest known one below it",
      s->sm);
  REFUSE_IF(!target_ptx_exists(s->ptx), error, TPTX_ERROR_PTX_VERSION, "ptx", -1,
            "PTX version %d.%d is not known; known are 6.3 to %d.%d", s->ptx / 10, s->ptx % 10,
            NEWEST_PTX / 10, NEWEST_PTX % 10);
  return TPTX_OK;
}

/* Defaults made explicit, members without meaning cleared: equal kernels, equal signatures. */
static void make_canonical(struct signature *s) {
  bool gather = s->kind == TPTX_GATHER_SCATTER_VIEW;
  if (gather)
    memcpy(s->strides, s->shape, sizeof s->strides);
  else
    s->dim = -1;
  if (s->value == -1) s->value = s->type;
  struct classes promised = {s->align, s->tile_align, s->arith, s->picks};
  struct classes classes = classes_without_operands(promised, s->type);
  s->align = classes.align;
  s->tile_align = classes.tile_align;
  s->arith = classes.arith;
  s->picks = classes.picks;
  if (s->sm == 0) s->sm = DEFAULT_SM;
  if (s->ptx == 0) s->ptx = NEWEST_PTX;
  if (operation_row(s->operation) && s->scope == TPTX_SCOPE_DEFAULT)
    s->scope = signature_standard_scope(s);
  if (!gather || s->masked) s->assume_in_bounds = 0;
  if (s->layout != TPTX_LAYOUT_STRIDED) memset(s->layout_strides, 0, sizeof s->layout_strides);
  if (s->tile_layout != TPTX_LAYOUT_STRIDED) memset(s->tile_strides, 0, sizeof s->tile_strides);
  for (int32_t k = s->rank < 0 ? 0 : s->rank; k < TPTX_MAX_RANK; k++) {
    s->extents[k] = s->shape[k] = s->strides[k] = 0;
    s->layout_strides[k] = s->tile_strides[k] = 0;
  }
  if (s->rank == 0) s->layout = s->tile_layout = TPTX_LAYOUT_RIGHT;
}

static tptx_status check_structs(const tptx_view *view, const tptx_op *op,
                                 const tptx_target *target, tptx_error *error) {
  FORWARD(struct_check(view, sizeof *view, "view", error));
  FORWARD(struct_check(op, sizeof *op, "op", error));
  if (target) FORWARD(struct_check(target, sizeof *target, "target", error));
  return check_flag(view->read_only, "read_only", error);
}

tptx_status describe(const tptx_view *view, const tptx_op *op, const tptx_target *target,
                     struct signature *signature, tptx_error *error) {
  FORWARD(check_structs(view, op, target, error));
  static const tptx_target standard = {sizeof standard, 0, 0};
  signature_from_descriptors(view, op, target ? target : &standard, signature);
  make_canonical(signature);
  FORWARD(check_kinds(signature, error));
  FORWARD(check_tuning(signature, error));
  REFUSE_IF(!type_row(signature->value), error, TPTX_ERROR_TYPE, "value", -1,
            "type %d of the tile operand is no tptx_type", signature->value);
  FORWARD(check_operation(signature, error));
  REFUSE_IF(view->read_only && operation_row(signature->operation)->effect != EFFECT_READ, error,
            TPTX_ERROR_READ_ONLY, "read_only", -1, "%s writes the span, but the span is read-only",
            operation_word(signature));
  FORWARD(check_extents(signature, error));
  FORWARD(check_shape(signature, error));
  FORWARD(check_tile(signature, error));
  FORWARD(check_layout(signature, error));
  FORWARD(check_padding(signature, error));
  FORWARD(check_classes(signature, error));
  FORWARD(check_target(signature, error));
  if (rows_flight(signature) == 0) signature->picks = TPTX_PICKS_SPARSE; /* the same kernel */
  return TPTX_OK;
}
