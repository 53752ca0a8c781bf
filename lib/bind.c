/* SPDX-License-Identifier: Apache-2.0 */
#include "bind.h"

#include "desc.h"
#include "operands.h"
#include "ptx.h"
#include "status.h"
#include "structs.h"

#include <string.h>

static bool found_aligned(const struct operands *operands, struct grains grains) {
  return grains.view <= operands->found.align && grains.tile <= operands->found.tile_align;
}

/* A launch that breaks its kernel's classes is refused: on a GPU it would fault or go astray. */
static tptx_status check_classes(const struct plan *plan, const tptx_args *args,
                                 const struct operands *operands, tptx_error *error) {
  const struct signature *s = &plan->signature;
  const char *culprit;
  int32_t axis;
  struct grains grains = {plan_grain(plan, true), plan_grain(plan, false)};
  REFUSE_IF(!is_aligned(args->span, plan->view.element_bytes), error, TPTX_ERROR_MISALIGNED,
            "args.span", -1, "args.span is not aligned to an element of %d bytes",
            plan->view.element_bytes);
  REFUSE_IF(!is_aligned(args->tile, plan->tile.element_bytes), error, TPTX_ERROR_MISALIGNED,
            "args.tile", -1, "args.tile is not aligned to an element of %d bytes",
            plan->tile.element_bytes);
  bool single = plan->vector == 1 && grains.view <= plan->view.element_bytes;
  bool aligned = single || found_aligned(operands, grains) ||
                 operands_aligned(s, args, operands, grains, &culprit, &axis);
  REFUSE_IF(!aligned, error, TPTX_ERROR_MISALIGNED, culprit, axis,
            "%s does not suit the %d elements that this kernel moves at once; take a kernel of "
            "align=%d, or leave align and tile.align 0 and call tptx_run, which finds the classes",
            culprit, plan_picks(plan) ? ROW_COPY / plan->view.element_bytes : plan->vector,
            plan->view.element_bytes);
  REFUSE_IF(plan_picks(plan) &&
                operands->view.extents[s->dim] > TPTX_MAX_DENSE_ROW / plan->view.element_bytes,
            error, TPTX_ERROR_OPERAND, "args.extents", s->dim,
            "a row of %lld elements does not fit the %d bytes of shared memory that this kernel "
            "keeps a row in; take a kernel of picks=sparse, or leave picks 0 and call tptx_run",
            (long long)operands->view.extents[s->dim], TPTX_MAX_DENSE_ROW);
  bool narrow = plan->index_bits == 64 || operands->found.arith == 32 ||
                operands_narrow(s, args, operands, plan->vector - 1, &culprit, &axis);
  REFUSE_IF(!narrow, error, TPTX_ERROR_INDEX_WIDTH, culprit, axis,
            "%s makes a coordinate or byte stride that does not fit this kernel's 32-bit index "
            "arithmetic; take a kernel of arith=64, or tptx_run",
            culprit);
  return TPTX_OK;
}

static int64_t clamped(const struct quantity *quantity, int64_t extent) {
  return quantity->bits == 32 && extent > INT32_MAX ? INT32_MAX : extent;
}

static int64_t used_stride(const struct layout *layout, int32_t axis) {
  return layout->extents[axis] > 1 ? stride_bytes(layout, axis) : 0;
}

/*
 * Kernels count from where the first tile of the box begins, and know no other place: this is its
 * address. Sums wrap like addresses; an axis that is picked on begins in the index array instead.
 */
static uint64_t first_tile(const struct signature *s, const tptx_args *args,
                           const struct operands *o) {
  uint64_t address = args->span;
  for (int32_t k = 0; k < o->rank; k++)
    if (s->kind != TPTX_GATHER_SCATTER_VIEW || k != s->dim)
      address += (uint64_t)o->box[k].origin * (uint64_t)used_stride(&o->view, k);
  return address;
}

static uint64_t entry_stride(const struct signature *s, const tptx_args *args) {
  return (uint64_t)args->index_stride * (uint64_t)type_row(s->indices)->bytes;
}

static uint64_t first_entry(const struct signature *s, const tptx_args *args,
                            const struct operands *o) {
  return args->indices + (uint64_t)o->box[s->dim].origin * entry_stride(s, args);
}

static uint64_t parameter_value(const struct plan *plan, const tptx_args *args,
                                const struct operands *o, const struct quantity *q) {
  const struct signature *s = &plan->signature;
  int32_t k = q->axis;
  switch ((enum quantity_name)q->name) {
  case QUANTITY_VIEW: return first_tile(s, args, o);
  case QUANTITY_TILE: return args->tile;
  case QUANTITY_INDICES: return first_entry(s, args, o);
  case QUANTITY_TILES: return (uint64_t)o->tiles;
  case QUANTITY_COUNT: return (uint64_t)o->box[k].count;
  case QUANTITY_BACK: return (uint64_t)-o->box[k].count;
  case QUANTITY_MAGIC: return division_by((uint32_t)o->box[k].count).multiplier;
  case QUANTITY_SHIFT: return division_shift((uint32_t)o->box[k].count);
  case QUANTITY_VIEW_EXTENT: return (uint64_t)clamped(q, o->view.extents[k]);
  case QUANTITY_VIEW_ROOM: return (uint64_t)clamped(q, o->view.extents[k] - o->box[k].origin);
  case QUANTITY_VIEW_STRIDE: return (uint64_t)used_stride(&o->view, k);
  case QUANTITY_VIEW_STEP: return (uint64_t)o->box[k].step;
  case QUANTITY_INDEX_COUNT: return (uint64_t)(args->index_count - o->box[s->dim].origin);
  case QUANTITY_INDEX_STRIDE: return entry_stride(s, args);
  case QUANTITY_TILE_EXTENT: return (uint64_t)clamped(q, o->tile.extents[k]);
  case QUANTITY_TILE_STRIDE: return (uint64_t)used_stride(&o->tile, k);
  case QUANTITY_PAD: return plan_padding(plan, args->pad_value);
  case QUANTITY_TILE_STEP:
  case QUANTITY_TILE_BYTES:
  case QUANTITY_COUNT_OF_NAMES: break;
  }
  return 0;
}

static void pack(const struct plan *plan, const tptx_args *args, const struct operands *operands,
                 tptx_binding *binding) {
  for (int32_t i = 0; i < plan->quantity_count; i++) {
    const struct quantity *q = &plan->quantities[i];
    if (q->constant) continue;
    uint64_t value = parameter_value(plan, args, operands, q);
    uint32_t narrow = (uint32_t)value;
    if (q->bits == 32)
      memcpy(binding->parameters + q->offset, &narrow, sizeof narrow);
    else
      memcpy(binding->parameters + q->offset, &value, sizeof value);
  }
  binding->parameter_bytes = (uint32_t)plan->parameter_bytes;
}

tptx_status bind_resolved(const struct plan *plan, const tptx_args *args,
                          const struct operands *operands, tptx_binding *binding,
                          tptx_error *error) {
  binding->struct_size = sizeof *binding;
  binding->tiles = operands->tiles;
  binding->blocks = 0;
  binding->threads = (uint32_t)plan->block;
  binding->parameter_bytes = 0;
  if (operands->tiles == 0) return TPTX_OK;
  FORWARD(operands_check(&plan->signature, args, operands, error));
  FORWARD(check_classes(plan, args, operands, error));
  int64_t groups = (operands->tiles + plan->tiles_per_block - 1) / plan->tiles_per_block, blocks;
  if (plan_picks(plan)) groups = operands->tiles / operands->box[plan->fast].count;
  bool fits = !__builtin_mul_overflow(groups, plan_blocks(plan), &blocks) && blocks <= INT32_MAX;
  REFUSE_IF(!fits, error, TPTX_ERROR_GRID, "args.count", -1,
            "the box needs %lld x %lld thread blocks, 2^31 or more; launch it in pieces",
            (long long)groups, (long long)plan_blocks(plan));
  binding->blocks = (uint32_t)blocks;
  pack(plan, args, operands, binding);
  return TPTX_OK;
}

tptx_status bind_arguments(const struct plan *plan, const tptx_args *args, tptx_binding *binding,
                           tptx_error *error) {
  struct operands operands;
  FORWARD(operands_resolve(&plan->signature, args, &operands, error));
  return bind_resolved(plan, args, &operands, binding, error);
}

tptx_status tptx_bind(const tptx_ptx *ptx, const tptx_args *args, tptx_binding *binding,
                      tptx_error *error) {
  tptx_binding bound = {0}; /* what no parameter fills is handed out, too */
  REFUSE_IF(!ptx, error, TPTX_ERROR_INVALID_ARGUMENT, "ptx", -1, "ptx is a null pointer");
  FORWARD(bind_arguments(&ptx->plan, args, &bound, error));
  return struct_give(binding, &bound, sizeof bound, "binding", error);
}

tptx_status tptx_specialise(tptx_view *view, tptx_op *op, const tptx_args *args,
                            tptx_error *error) {
  struct signature signature;
  struct operands operands;
  FORWARD(describe(view, op, NULL, &signature, error));
  if (view->align && op->arith && op->picks) return TPTX_OK;
  FORWARD(operands_resolve(&signature, args, &operands, error));
  struct classes classes =
      operands_classify(&signature, args, &operands, promised_classes(view, op));
  view->align = classes.align;
  op->tile.align = classes.tile_align;
  op->arith = classes.arith;
  op->picks = classes.picks;
  return TPTX_OK;
}
