/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"
#include "reference_values.h"

static int bytes_of(tptx_type type) {
  switch (type) {
  case TPTX_BOOL:
  case TPTX_S8:
  case TPTX_U8:
  case TPTX_E4M3:
  case TPTX_E5M2: return 1;
  case TPTX_S16:
  case TPTX_U16:
  case TPTX_F16:
  case TPTX_BF16: return 2;
  case TPTX_S32:
  case TPTX_U32:
  case TPTX_TF32:
  case TPTX_F32: return 4;
  case TPTX_S64:
  case TPTX_U64:
  case TPTX_F64: return 8;
  }
  return 0;
}

/* ---- Elements -------------------------------------------------------------------------------- */

static uint64_t load_bits(const unsigned char *at, int bytes) {
  uint64_t bits = 0;
  for (int i = 0; i < bytes; i++) bits |= (uint64_t)at[i] << (8 * i);
  return bits;
}

uint64_t reference_read(const unsigned char *at, tptx_type type) {
  uint64_t bits = load_bits(at, bytes_of(type));
  return type == TPTX_BOOL ? bits != 0 : bits;
}

void reference_write(unsigned char *at, tptx_type type, uint64_t bits) {
  if (type == TPTX_BOOL) bits = (bits & 0xff) != 0;
  for (int i = 0; i < bytes_of(type); i++) at[i] = (unsigned char)(bits >> (8 * i));
}

int64_t reference_index(const unsigned char *entry_zero, tptx_type type, int64_t stride,
                        int64_t entry) {
  const unsigned char *at = entry_zero + entry * stride * bytes_of(type);
  uint64_t bits = load_bits(at, bytes_of(type));
  switch (type) {
  case TPTX_S8: return (int8_t)bits;
  case TPTX_S16: return (int16_t)bits;
  case TPTX_S32: return (int32_t)bits;
  case TPTX_U64: return bits > INT64_MAX ? -1 : (int64_t)bits;
  default: return (int64_t)bits;
  }
}

tptx_type reference_tile_type(const tptx_view *view, const tptx_op *op) {
  return op->tile.type == -1 ? view->type : (tptx_type)op->tile.type;
}

/* The padding is one of the view's type, converted; NaN is the operand's own quiet one. */
uint64_t reference_pad(const tptx_view *view, const tptx_op *op, const tptx_args *args) {
  tptx_type to = reference_tile_type(view, op);
  uint64_t f16_infinity = 0x7c00;
  if (!op->masked || op->pad == TPTX_PAD_ZERO) return 0;
  if (op->pad == TPTX_PAD_NAN) return reference_quiet_nan(to);
  if (op->pad == TPTX_PAD_VALUE) return reference_convert(view->type, to, args->pad_value);
  if (op->pad == TPTX_PAD_NEGATIVE_INF) f16_infinity |= 0x8000;
  return reference_convert(TPTX_F16, to, f16_infinity);
}

/* ---- Layouts and the box --------------------------------------------------------------------- */

static void fill_strides(int rank, tptx_layout layout, const int64_t *extents, const int64_t *given,
                         const int64_t *launched, int64_t *strides) {
  uint64_t next = 1;
  for (int i = 0; i < rank; i++) {
    int k = layout == TPTX_LAYOUT_RIGHT ? rank - 1 - i : i;
    strides[k] = (int64_t)next;
    next *= (uint64_t)extents[k];
    if (layout == TPTX_LAYOUT_STRIDED)
      strides[k] = given[k] == TPTX_DYNAMIC ? launched[k] : given[k];
  }
}

void reference_span_layout(const tptx_view *view, const tptx_args *args,
                           int64_t extents[TPTX_MAX_RANK], int64_t strides[TPTX_MAX_RANK]) {
  for (int k = 0; k < view->rank; k++)
    extents[k] = view->extents[k] == TPTX_DYNAMIC ? args->extents[k] : view->extents[k];
  fill_strides(view->rank, view->layout, extents, view->layout_strides, args->layout_strides,
               strides);
}

void reference_tile_layout(const tptx_view *view, const tptx_op *op, const tptx_args *args,
                           int64_t strides[TPTX_MAX_RANK]) {
  fill_strides(view->rank, op->tile.layout, args->tile_extents, op->tile.layout_strides,
               args->tile_strides, strides);
}

static int64_t ceil_div(int64_t a, int64_t b) {
  return a <= 0 ? 0 : (a - 1) / b + 1;
}

static bool gathers(const tptx_view *view, int axis) {
  return view->kind == TPTX_GATHER_SCATTER_VIEW && axis == view->dim;
}

static int64_t step_of(const tptx_view *view, const tptx_args *args, int axis) {
  if (view->kind == TPTX_STRIDED_VIEW) return view->strides[axis];
  return args->step[axis] ? args->step[axis] : view->shape[axis];
}

int64_t reference_box(const tptx_view *view, const tptx_args *args, int64_t count[TPTX_MAX_RANK]) {
  int64_t extents[TPTX_MAX_RANK] = {0}, strides[TPTX_MAX_RANK] = {0}, chunks = 1;
  reference_span_layout(view, args, extents, strides);
  for (int k = 0; k < view->rank; k++) {
    count[k] = args->count[k];
    if (count[k] == TPTX_ALL) {
      if (gathers(view, k))
        count[k] = ceil_div(args->index_count, view->shape[k]) - args->first[k];
      else if (view->kind == TPTX_STRIDED_VIEW)
        count[k] = ceil_div(extents[k], view->strides[k]) - args->first[k];
      else
        count[k] = ceil_div(extents[k] - args->first[k], step_of(view, args, k));
    }
    chunks *= count[k];
  }
  return chunks;
}

/* ---- One element of one tile ----------------------------------------------------------------- */

struct resolved {
  const tptx_view *view;
  const tptx_op *op;
  const tptx_args *args;
  struct reference_memory memory;
  int64_t extents[TPTX_MAX_RANK], strides[TPTX_MAX_RANK]; /* of the span */
  int64_t tile_strides[TPTX_MAX_RANK];                    /* of an array operand */
  uint64_t pad;
};

/* Position p of J in chunk b, on one axis. Past INT64_MAX is outside, as -1 is. */
static int64_t position(const struct resolved *r, int k, int64_t b, int64_t j) {
  const tptx_args *args = r->args;
  int64_t p = 0;
  if (gathers(r->view, k)) {
    int64_t entry = (args->first[k] + b) * r->view->shape[k] + j;
    if (entry >= args->index_count) return -1;
    return reference_index(r->memory.indices, r->op->indices.type, args->index_stride, entry);
  }
  if (r->view->kind == TPTX_STRIDED_VIEW) {
    if (__builtin_mul_overflow(args->first[k] + b, r->view->strides[k], &p)) return -1;
  } else if (__builtin_mul_overflow(b, step_of(r->view, args, k), &p) ||
             __builtin_add_overflow(p, args->first[k], &p)) {
    return -1;
  }
  return __builtin_add_overflow(p, j, &p) ? -1 : p;
}

/* The element's address in the span's image, NULL where it is outside. */
static unsigned char *span_element(const struct resolved *r, const int64_t *b, const int64_t *j) {
  uint64_t offset = 0;
  for (int k = 0; k < r->view->rank; k++) {
    int64_t p = position(r, k, b[k], j[k]);
    if (p < 0 || p >= r->extents[k]) return NULL;
    offset += (uint64_t)p * (uint64_t)r->strides[k];
  }
  offset *= (uint64_t)bytes_of(r->view->type);
  return (unsigned char *)((uintptr_t)r->memory.span + offset);
}

/* The element's address in the tile operand's image, NULL where an array operand ends before it. */
static unsigned char *tile_element(const struct resolved *r, int64_t number, const int64_t *b,
                                   const int64_t *j) {
  const tptx_view *view = r->view;
  uint64_t offset = 0;
  if (r->op->tile.tiles == TPTX_TILES_PACKED) {
    offset = (uint64_t)number;
    for (int k = 0; k < view->rank; k++)
      offset = offset * (uint64_t)view->shape[k] + (uint64_t)j[k];
  } else {
    for (int k = 0; k < view->rank; k++) {
      int64_t p = b[k] * view->shape[k] + j[k];
      if (p >= r->args->tile_extents[k]) return NULL;
      offset += (uint64_t)p * (uint64_t)r->tile_strides[k];
    }
  }
  offset *= (uint64_t)bytes_of(reference_tile_type(view, r->op));
  return (unsigned char *)((uintptr_t)r->memory.tile + offset);
}

/*
 * What happens between one element of the span and one of the tile operand; either may be absent.
 */
static void move(void *context, unsigned char *span, unsigned char *tile) {
  const struct resolved *r = context;
  tptx_operation operation = r->op->operation;
  tptx_type type = r->view->type, tile_type = reference_tile_type(r->view, r->op);
  uint64_t value, old = 0;
  if (!tile) return;
  switch (operation) {
  case TPTX_LOAD:
  case TPTX_ATOMIC_LOAD:
    value = span ? reference_convert(type, tile_type, reference_read(span, type)) : r->pad;
    reference_write(tile, tile_type, value);
    break;
  case TPTX_STORE:
  case TPTX_ATOMIC_STORE:
    value = reference_convert(tile_type, type, reference_read(tile, tile_type));
    if (span) reference_write(span, type, value);
    break;
  default:
    value = reference_convert(tile_type, type, reference_read(tile, tile_type));
    if (span) {
      old = reference_read(span, type);
      reference_write(span, type, reference_update(operation, type, old, value));
    }
    if (r->op->fetch) reference_write(tile, type, old);
    break;
  }
}

/* ---- The batch ------------------------------------------------------------------------------- */

/* The next index of a box, row major; false after the last. */
static bool advance(int rank, const int64_t *limit, int64_t *index) {
  for (int k = rank - 1; k >= 0; k--) {
    if (++index[k] < limit[k]) return true;
    index[k] = 0;
  }
  return false;
}

static struct resolved resolve(const tptx_view *view, const tptx_op *op, const tptx_args *args,
                               struct reference_memory memory) {
  struct resolved r = {.view = view, .op = op, .args = args, .memory = memory};
  reference_span_layout(view, args, r.extents, r.strides);
  reference_tile_layout(view, op, args, r.tile_strides);
  r.pad = reference_pad(view, op, args);
  return r;
}

void reference_walk(const tptx_view *view, const tptx_op *op, const tptx_args *args,
                    struct reference_memory memory, reference_visit *visit, void *context) {
  struct resolved r = resolve(view, op, args, memory);
  int64_t count[TPTX_MAX_RANK], b[TPTX_MAX_RANK] = {0}, number = 0;
  if (reference_box(view, args, count) == 0) return;
  do {
    int64_t j[TPTX_MAX_RANK] = {0};
    do visit(context, span_element(&r, b, j), tile_element(&r, number, b, j));
    while (advance(view->rank, view->shape, j));
    number++;
  } while (advance(view->rank, count, b));
}

/* Whether this file says what the operation means. */
static bool has_meaning(const tptx_view *view, const tptx_op *op) {
  tptx_type type = view->type, tile_type = reference_tile_type(view, op);
  switch (op->operation) {
  case TPTX_LOAD:
  case TPTX_ATOMIC_LOAD: return reference_converts(type, tile_type);
  case TPTX_STORE:
  case TPTX_ATOMIC_STORE: return reference_converts(tile_type, type);
  default:
    return reference_takes(op->operation, type) && reference_converts(tile_type, type) &&
           (!op->fetch || type == tile_type);
  }
}

bool reference_run(const tptx_view *view, const tptx_op *op, const tptx_args *args,
                   struct reference_memory memory) {
  struct resolved r = resolve(view, op, args, memory);
  if (!has_meaning(view, op)) return false;
  reference_walk(view, op, args, memory, move, &r);
  return true;
}
