/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of the pure half, from descriptors to text. */
#include "desc.h"
#include "ptx.h"
#include "status.h"
#include "structs.h"

#include <string.h>

const char *tptx_type_name(tptx_type type) {
  const struct type_row *row = type_row(type);
  return row ? row->word : NULL;
}

size_t tptx_type_bytes(tptx_type type) {
  const struct type_row *row = type_row(type);
  return row ? (size_t)row->bytes : 0;
}

/* ---- Defaults -------------------------------------------------------------------------------- */

void tptx_view_init(tptx_view *view) {
  *view = (tptx_view){.struct_size = sizeof *view, .type = TPTX_F32, .index_type = TPTX_S64};
}

static void fill_axes(tptx_view *view, int32_t rank, const int64_t *extents,
                      const int64_t *layout_strides, const int64_t *shape) {
  view->rank = rank;
  view->layout = layout_strides ? TPTX_LAYOUT_STRIDED : TPTX_LAYOUT_RIGHT;
  for (int32_t k = 0; k < rank && k < TPTX_MAX_RANK; k++) {
    view->extents[k] = extents[k];
    view->shape[k] = shape[k];
    view->strides[k] = shape[k];
    if (layout_strides) view->layout_strides[k] = layout_strides[k];
  }
}

void tptx_view_strided(tptx_view *view, tptx_type type, int32_t rank, const int64_t *extents,
                       const int64_t *layout_strides, const int64_t *shape,
                       const int64_t *strides) {
  tptx_view_init(view);
  view->type = type;
  fill_axes(view, rank, extents, layout_strides, shape);
  for (int32_t k = 0; strides && k < rank && k < TPTX_MAX_RANK; k++) view->strides[k] = strides[k];
}

void tptx_view_gather_scatter(tptx_view *view, tptx_type type, int32_t rank, const int64_t *extents,
                              const int64_t *layout_strides, const int64_t *shape, int32_t dim) {
  tptx_view_init(view);
  view->kind = TPTX_GATHER_SCATTER_VIEW;
  view->type = type;
  view->dim = dim;
  fill_axes(view, rank, extents, layout_strides, shape);
}

void tptx_op_init(tptx_op *op) {
  *op = (tptx_op){
      .struct_size = sizeof *op, .tile.type = -1, .indices.type = TPTX_S32, .allow_tma = 1};
}

void tptx_op_load(tptx_op *op) {
  tptx_op_init(op);
  op->operation = TPTX_LOAD;
}

void tptx_op_store(tptx_op *op) {
  tptx_op_init(op);
  op->operation = TPTX_STORE;
}

void tptx_target_init(tptx_target *target) {
  *target = (tptx_target){.struct_size = sizeof *target};
}

void tptx_args_init(tptx_args *args) {
  *args = (tptx_args){.struct_size = sizeof *args, .index_stride = 1};
  for (int32_t k = 0; k < TPTX_MAX_RANK; k++) args->count[k] = TPTX_ALL;
}

void tptx_allocator_init(tptx_allocator *allocator) {
  *allocator = (tptx_allocator){.struct_size = sizeof *allocator};
}

void tptx_parameter_init(tptx_parameter *parameter) {
  *parameter = (tptx_parameter){.struct_size = sizeof *parameter};
}

void tptx_binding_init(tptx_binding *binding) {
  *binding = (tptx_binding){.struct_size = sizeof *binding};
}

/* ---- Signature lines ------------------------------------------------------------------------- */

tptx_status tptx_signature_parse(const char *line, tptx_view *view, tptx_op *op,
                                 tptx_target *target, tptx_error *error) {
  REFUSE_IF(!line, error, TPTX_ERROR_INVALID_ARGUMENT, "line", -1, "line is a null pointer");
  struct signature signature;
  FORWARD(signature_read(line, &signature, error));
  tptx_view read_view;
  tptx_op read_op;
  tptx_target read_target;
  tptx_view_init(&read_view);
  tptx_op_init(&read_op);
  tptx_target_init(&read_target);
  signature_to_descriptors(&signature, &read_view, &read_op, &read_target);
  if (view) *view = read_view;
  if (op) *op = read_op;
  if (target) *target = read_target;
  return TPTX_OK;
}

/* Everything that planning refuses, and nothing else. */
static tptx_status plan_descriptors(const tptx_view *view, const tptx_op *op,
                                    const tptx_target *target, struct signature *signature,
                                    struct key *key, tptx_error *error) {
  struct plan plan;
  FORWARD(describe(view, op, target, signature, error));
  FORWARD(key_make(signature, key, error));
  return plan_make(signature, &plan, error);
}

tptx_status tptx_signature_format(const tptx_view *view, const tptx_op *op,
                                  const tptx_target *target, char *line, size_t capacity,
                                  tptx_error *error) {
  REFUSE_IF(!line, error, TPTX_ERROR_INVALID_ARGUMENT, "line", -1, "line is a null pointer");
  struct signature signature;
  struct key key;
  FORWARD(plan_descriptors(view, op, target, &signature, &key, error));
  REFUSE_IF(key.bytes + 1 > capacity, error, TPTX_ERROR_INVALID_ARGUMENT, "capacity", -1,
            "the line has %zu bytes and its NUL, but there is room for %zu", key.bytes, capacity);
  memcpy(line, key.line, key.bytes + 1);
  return TPTX_OK;
}

/* ---- Planning and text ----------------------------------------------------------------------- */

tptx_status tptx_plan_check(const tptx_view *view, const tptx_op *op, const tptx_target *target,
                            tptx_error *error) {
  struct signature signature;
  struct key key;
  return plan_descriptors(view, op, target, &signature, &key, error);
}

tptx_status tptx_emit_with(const tptx_allocator *allocator, const tptx_view *view,
                           const tptx_op *op, const tptx_target *target, tptx_ptx **out,
                           tptx_error *error) {
  REFUSE_IF(!out, error, TPTX_ERROR_INVALID_ARGUMENT, "out", -1, "out is a null pointer");
  *out = NULL;
  tptx_allocator memory;
  struct signature signature;
  struct key key;
  FORWARD(allocator_make(allocator, &memory, error));
  FORWARD(describe(view, op, target, &signature, error));
  FORWARD(key_make(&signature, &key, error));
  return ptx_render(&memory, &signature, &key, out, error);
}

tptx_status tptx_emit(const tptx_view *view, const tptx_op *op, const tptx_target *target,
                      tptx_ptx **out, tptx_error *error) {
  return tptx_emit_with(NULL, view, op, target, out, error);
}

void tptx_ptx_free(tptx_ptx *ptx) {
  if (!ptx) return;
  tptx_allocator memory = ptx->allocator;
  release(&memory, ptx);
}

const char *tptx_ptx_text(const tptx_ptx *ptx) {
  return ptx->text;
}

size_t tptx_ptx_text_bytes(const tptx_ptx *ptx) {
  return ptx->text_bytes;
}

const char *tptx_ptx_entry(const tptx_ptx *ptx) {
  return ptx->entry;
}

const char *tptx_ptx_signature(const tptx_ptx *ptx) {
  return ptx->key.line;
}

int32_t tptx_ptx_target(const tptx_ptx *ptx) {
  return ptx->plan.needed_sm;
}

int32_t tptx_ptx_version(const tptx_ptx *ptx) {
  return ptx->plan.needed_ptx;
}

int32_t tptx_ptx_threads(const tptx_ptx *ptx) {
  return ptx->plan.block;
}

int32_t tptx_ptx_parameter_count(const tptx_ptx *ptx) {
  int32_t count = 0;
  for (int32_t i = 0; i < ptx->plan.quantity_count; i++) count += !ptx->plan.quantities[i].constant;
  return count;
}

tptx_status tptx_ptx_parameter(const tptx_ptx *ptx, int32_t number, tptx_parameter *parameter,
                               tptx_error *error) {
  REFUSE_IF(!ptx, error, TPTX_ERROR_INVALID_ARGUMENT, "ptx", -1, "ptx is a null pointer");
  for (int32_t i = 0; i < ptx->plan.quantity_count; i++) {
    const struct quantity *q = &ptx->plan.quantities[i];
    if (q->constant || number-- > 0) continue;
    if (number < -1) break;
    tptx_parameter found = {sizeof found, ptx->names[i], quantity_meaning(q->name), q->bits / 8,
                            q->offset};
    return struct_give(parameter, &found, sizeof found, "parameter", error);
  }
  REFUSE(error, TPTX_ERROR_INVALID_ARGUMENT, "number", -1, "the kernel has %d parameters",
         tptx_ptx_parameter_count(ptx));
}
