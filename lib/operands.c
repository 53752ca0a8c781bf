/* SPDX-License-Identifier: Apache-2.0 */
#include "operands.h"

#include "injective.h"
#include "rows.h"
#include "status.h"
#include "structs.h"

#include <string.h>

static bool is_gather(const struct signature *s) {
  return s->kind == TPTX_GATHER_SCATTER_VIEW;
}

static bool is_picked(const struct signature *s, int32_t axis) {
  return is_gather(s) && axis == s->dim;
}

struct item_axes item_axes(const struct signature *s) {
  int32_t last = s->rank > 0 ? s->rank - 1 : 0;
  int32_t of_view = -1, of_tile = -1;
  for (int32_t k = s->rank - 1; k >= 0; k--) {
    bool view = stride_is_one(s->layout, s->layout_strides, s->rank, k);
    bool tile = stride_is_one(s->tile_layout, s->tile_strides, s->rank, k);
    if (view && tile) return (struct item_axes){k, k};
    if (view && of_view < 0) of_view = k;
    if (tile && of_tile < 0) of_tile = k;
  }
  bool apart = of_view >= 0 && of_tile >= 0;
  return apart ? (struct item_axes){of_view, of_tile} : (struct item_axes){last, last};
}

int32_t fast_axis(const struct signature *s) {
  struct item_axes along = item_axes(s);
  if (along.view == along.tile) return along.view;
  return s->rank - 1;
}

static int64_t quotient_up(int64_t dividend, int64_t divisor) {
  return dividend / divisor + (dividend % divisor != 0);
}

int64_t stride_bytes(const struct layout *layout, int32_t axis) {
  int64_t bytes;
  bool fits = !__builtin_mul_overflow(layout->strides[axis], (int64_t)layout->bytes, &bytes);
  return fits ? bytes : 0;
}

/* ---- Sizes and layouts ----------------------------------------------------------------------- */

struct layout_source {
  const char *extents_name, *strides_name;
  int32_t kind;
  const int64_t *strides;      /* of the signature */
  const int64_t *late_strides; /* of the arguments */
};

static tptx_status finish_layout(struct layout *layout, const struct layout_source *source,
                                 tptx_error *error) {
  for (int32_t k = 0; k < layout->rank; k++)
    REFUSE_IF(layout->extents[k] < 0, error, TPTX_ERROR_OPERAND, source->extents_name, k,
              "%s[%d] is %lld, expected 0 or more", source->extents_name, k,
              (long long)layout->extents[k]);
  bool fits = true;
  if (source->kind != TPTX_LAYOUT_STRIDED) {
    fits = layout_strides_of(layout, source->kind);
  } else {
    for (int32_t k = 0; k < layout->rank; k++) {
      bool late = source->strides[k] == TPTX_DYNAMIC;
      layout->strides[k] = late ? source->late_strides[k] : source->strides[k];
      REFUSE_IF(layout->strides[k] == TPTX_DYNAMIC, error, TPTX_ERROR_OPERAND, source->strides_name,
                k, "%s[%d] is not given; the layout leaves it to the launch", source->strides_name,
                k);
    }
  }
  REFUSE_IF(!fits || !layout_fits(layout), error, TPTX_ERROR_OPERAND, source->extents_name, -1,
            "the array of %s reaches over 2^63 bytes", source->extents_name);
  return TPTX_OK;
}

/* Axes that are not there are left as they are: to clear them would take longer than all else. */
static tptx_status resolve_view(const struct signature *s, const tptx_args *args,
                                struct layout *view, tptx_error *error) {
  view->rank = s->rank;
  view->bytes = type_row(s->type)->bytes;
  for (int32_t k = 0; k < s->rank; k++) {
    bool late = s->extents[k] == TPTX_DYNAMIC;
    view->extents[k] = late ? args->extents[k] : s->extents[k];
    REFUSE_IF(view->extents[k] > type_largest(s->index), error, TPTX_ERROR_OPERAND, "args.extents",
              k, "args.extents[%d] is %lld and does not fit the span's index type %s", k,
              (long long)view->extents[k], type_row(s->index)->word);
  }
  struct layout_source source = {"args.extents", "args.layout_strides", s->layout,
                                 s->layout_strides, args->layout_strides};
  return finish_layout(view, &source, error);
}

static tptx_status resolve_tile(const struct signature *s, const tptx_args *args,
                                struct layout *tile, tptx_error *error) {
  tile->rank = s->tiles == TPTX_TILES_ARRAY ? s->rank : 0;
  tile->bytes = type_row(s->value)->bytes;
  if (s->tiles == TPTX_TILES_PACKED) return TPTX_OK;
  memcpy(tile->extents, args->tile_extents, sizeof tile->extents);
  struct layout_source source = {"args.tile_extents", "args.tile_strides", s->tile_layout,
                                 s->tile_strides, args->tile_strides};
  return finish_layout(tile, &source, error);
}

static tptx_status check_indices(const struct signature *s, const tptx_args *args,
                                 tptx_error *error) {
  if (!is_gather(s)) return TPTX_OK;
  REFUSE_IF(args->index_count < 0, error, TPTX_ERROR_OPERAND, "args.index_count", s->dim,
            "args.index_count is %lld, expected 0 or more", (long long)args->index_count);
  struct layout indices = {.rank = 1,
                           .bytes = type_row(s->indices)->bytes,
                           .extents = {args->index_count},
                           .strides = {args->index_stride}};
  REFUSE_IF(!layout_fits(&indices), error, TPTX_ERROR_OPERAND, "args.index_stride", s->dim,
            "the index array reaches over 2^63 bytes");
  return TPTX_OK;
}

/* ---- The box --------------------------------------------------------------------------------- */

/* The index space of an axis: how many chunks begin inside, from element 0 on. */
static int64_t index_space(const struct signature *s, const tptx_args *args,
                           const struct operands *o, int32_t k) {
  if (is_picked(s, k)) return quotient_up(args->index_count, o->shape[k]);
  return is_gather(s) ? o->view.extents[k] : quotient_up(o->view.extents[k], s->strides[k]);
}

static tptx_status resolve_box_axis(const struct signature *s, const tptx_args *args,
                                    struct operands *o, int32_t k, tptx_error *error) {
  bool positions = is_gather(s) && k != s->dim;
  int64_t space = index_space(s, args, o, k), first = args->first[k], count = args->count[k];
  int64_t step = args->step[k] ? args->step[k] : o->shape[k];
  REFUSE_IF(first < 0 || first > space, error, TPTX_ERROR_BOX, "args.first", k,
            "args.first[%d] is %lld, expected a %s inside the index space, 0 to %lld", k,
            (long long)first, positions ? "position" : "chunk", (long long)space - 1);
  REFUSE_IF(positions && step < 1, error, TPTX_ERROR_BOX, "args.step", k,
            "args.step[%d] is %lld, expected 1 or more, or 0 for the shape", k, (long long)step);
  int64_t room = positions ? quotient_up(space - first, step) : space - first;
  if (count == TPTX_ALL) count = room;
  REFUSE_IF(count < 0, error, TPTX_ERROR_BOX, "args.count", k,
            "args.count[%d] is %lld, expected 0 or more, or TPTX_ALL", k, (long long)count);
  REFUSE_IF(
      count > room, error, TPTX_ERROR_BOX, "args.count", k,
      "args.count[%d] is %lld, but only %lld chunks begin inside the span from args.first[%d] "
      "on; a chunk outside the index space has no meaning, masked or not",
      k, (long long)count, (long long)room, k);
  int64_t unit = positions ? 1 : is_gather(s) ? o->shape[k] : s->strides[k];
  /* first == space is legal only for an empty box, whose origin is never used. */
  o->box[k] = (struct box_axis){count, count ? first * unit : 0, positions ? step : unit};
  return TPTX_OK;
}

static tptx_status resolve_box(const struct signature *s, const tptx_args *args, struct operands *o,
                               tptx_error *error) {
  o->tiles = 1;
  for (int32_t k = 0; k < o->rank; k++) {
    if (s->rank == 0)
      o->box[k] = (struct box_axis){1, 0, 1};
    else
      FORWARD(resolve_box_axis(s, args, o, k, error));
  }
  for (int32_t k = 0; k < o->rank; k++)
    if (o->box[k].count == 0) o->tiles = 0;
  for (int32_t k = 0; k < o->rank && o->tiles > 0; k++) {
    bool fits = !__builtin_mul_overflow(o->tiles, o->box[k].count, &o->tiles);
    REFUSE_IF(!fits || o->tiles > INT32_MAX, error, TPTX_ERROR_GRID, "args.count", k,
              "the box has 2^31 tiles or more; launch it in pieces");
  }
  return TPTX_OK;
}

/* Rank 0 is worked on as one axis of one element. */
static void widen_scalar(struct layout *layout) {
  layout->rank = 1;
  layout->extents[0] = 1;
  layout->strides[0] = 1;
}

tptx_status operands_resolve(const struct signature *signature, const tptx_args *args,
                             struct operands *operands, tptx_error *error) {
  FORWARD(struct_check(args, sizeof *args, "args", error));
  FORWARD(resolve_view(signature, args, &operands->view, error));
  FORWARD(resolve_tile(signature, args, &operands->tile, error));
  FORWARD(check_indices(signature, args, error));
  operands->found = (struct classes){0, 0, 0, TPTX_PICKS_UNKNOWN};
  operands->rank = signature->rank > 0 ? signature->rank : 1;
  if (signature->rank == 0) {
    widen_scalar(&operands->view);
    widen_scalar(&operands->tile);
    operands->shape[0] = 1;
  } else {
    memcpy(operands->shape, signature->shape, sizeof operands->shape);
  }
  return resolve_box(signature, args, operands, error);
}

/* ---- What the operation asks ----------------------------------------------------------------- */

static tptx_status check_chunks(const struct signature *s, const struct operands *o,
                                tptx_error *error) {
  const struct operation_row *row = operation_row(s->operation);
  /* Atomic writes may meet, unless the scope ends at the thread block that carries out a chunk. */
  bool races = row->effect != EFFECT_READ && (!row->atomic || s->scope == TPTX_SCOPE_BLOCK);
  for (int32_t k = 0; k < o->rank; k++) {
    const struct box_axis *box = &o->box[k];
    if (is_picked(s, k)) continue;
    int64_t last = box->origin + (box->count - 1) * box->step;
    REFUSE_IF(!s->masked && o->shape[k] > o->view.extents[k] - last, error,
              TPTX_ERROR_PARTIAL_CHUNK, "args.count", k,
              "%s: the last chunk on axis %d takes %lld elements from %lld on, but the extent is "
              "%lld; use the masked form or leave that chunk out",
              operation_word(s), k, (long long)o->shape[k], (long long)last,
              (long long)o->view.extents[k]);
    REFUSE_IF(
        races && box->count > 1 && box->step < o->shape[k], error, TPTX_ERROR_OVERLAP,
        is_gather(s) ? "args.step" : "strides", k,
        "%s: chunks of %lld elements every %lld overlap on axis %d, so %s would race; use %s, or "
        "launch chunk by chunk",
        operation_word(s), (long long)o->shape[k], (long long)box->step, k,
        row->atomic ? "writes at scope block" : "plain stores",
        row->atomic ? "scope device" : "atomic_store with scope device");
  }
  return TPTX_OK;
}

/* RIGHT and LEFT are injective by construction; static layouts were checked while planning. */
static tptx_status check_written_layout(const struct signature *s, int32_t kind,
                                        const struct layout *written, const char *argument,
                                        tptx_error *error) {
  if (kind != TPTX_LAYOUT_STRIDED) return TPTX_OK;
  enum injective answer = layout_injective(written->rank, written->extents, written->strides);
  REFUSE_IF(answer == INJECTIVE_NO, error, TPTX_ERROR_NOT_INJECTIVE, argument, -1,
            "%s would write through a layout that maps two indices to one element",
            operation_word(s));
  REFUSE_IF(answer == INJECTIVE_NOT_PROVEN && !s->assume_injective, error, TPTX_ERROR_NOT_INJECTIVE,
            argument, -1,
            "not proven that the written layout maps every index to an element of its own; set "
            "assume_injective if it does");
  return TPTX_OK;
}

tptx_status operands_check(const struct signature *signature, const tptx_args *args,
                           const struct operands *operands, tptx_error *error) {
  FORWARD(check_chunks(signature, operands, error));
  bool reads = operation_row(signature->operation)->effect == EFFECT_READ;
  if (!reads)
    FORWARD(check_written_layout(signature, signature->layout, &operands->view,
                                 "args.layout_strides", error));
  if (reads || signature->fetch)
    FORWARD(check_written_layout(signature, signature->tile_layout, &operands->tile,
                                 "args.tile_strides", error));
  REFUSE_IF(!args->span, error, TPTX_ERROR_NULL_ADDRESS, "args.span", -1, "args.span is null");
  REFUSE_IF(!args->tile, error, TPTX_ERROR_NULL_ADDRESS, "args.tile", -1, "args.tile is null");
  if (!is_gather(signature)) return TPTX_OK;
  REFUSE_IF(!args->indices, error, TPTX_ERROR_NULL_ADDRESS, "args.indices", -1,
            "args.indices is null");
  REFUSE_IF(!is_aligned(args->indices, type_row(signature->indices)->bytes), error,
            TPTX_ERROR_MISALIGNED, "args.indices", -1,
            "args.indices is not aligned to an index of %d bytes",
            type_row(signature->indices)->bytes);
  return TPTX_OK;
}

/* ---- Classes --------------------------------------------------------------------------------- */

/* `elements` of `size` bytes are a multiple of `bytes`. */
static bool is_multiple(int64_t elements, int32_t size, int64_t bytes) {
  return is_aligned((uint64_t)elements * (uint64_t)size, bytes);
}

/* All pitches but the one along the unit axis. Without elements no pitch is used. */
static bool layout_aligned(const struct layout *layout, int32_t unit, int64_t bytes,
                           int32_t *axis) {
  for (*axis = 0; *axis < layout->rank; ++*axis)
    if (*axis != unit && !is_multiple(layout->strides[*axis], layout->bytes, bytes))
      return layout_is_empty(layout);
  return true;
}

/* Where the span's items begin along its unit axis. */
static bool chunks_aligned(const struct signature *s, const struct operands *o, int32_t unit,
                           int64_t bytes, const char **culprit) {
  *culprit = "args.first";
  if (!is_multiple(o->box[unit].origin, o->view.bytes, bytes)) return false;
  *culprit = is_gather(s) ? "args.step" : "strides";
  return is_multiple(o->box[unit].step, o->view.bytes, bytes);
}

/* Patches have no path for an item that a row's end cuts. */
static bool rows_aligned(const struct signature *s, const struct operands *o,
                         struct item_axes along, struct grains grains, const char **culprit,
                         int32_t *axis) {
  *culprit = "args.extents";
  *axis = along.view;
  if (!is_multiple(o->view.extents[*axis], o->view.bytes, grains.view)) return false;
  *culprit = "args.tile_extents";
  *axis = along.tile;
  return s->tiles == TPTX_TILES_PACKED ||
         is_multiple(o->tile.extents[*axis], o->tile.bytes, grains.tile);
}

bool operands_aligned(const struct signature *s, const tptx_args *args, const struct operands *o,
                      struct grains grains, const char **culprit, int32_t *axis) {
  struct item_axes along = item_axes(s);
  /* Picks along the items are single elements: only whole rows of the span are moved at once. */
  bool picked = is_picked(s, along.view);
  *axis = -1;
  *culprit = "args.span";
  if (!is_aligned(args->span, grains.view)) return false;
  *culprit = "args.tile";
  if (!picked && !is_aligned(args->tile, grains.tile)) return false;
  *culprit = "args.layout_strides";
  if (!layout_aligned(&o->view, along.view, grains.view, axis)) return false;
  if (picked) return true;
  *culprit = "args.tile_strides";
  if (s->tiles == TPTX_TILES_ARRAY && !layout_aligned(&o->tile, along.tile, grains.tile, axis))
    return false;
  if (along.view != along.tile && !rows_aligned(s, o, along, grains, culprit, axis)) return false;
  *culprit = "shape";
  *axis = along.view;
  if (!is_multiple(o->shape[along.view], o->view.bytes, grains.view)) return false;
  *axis = along.tile;
  if (!is_multiple(o->shape[along.tile], o->tile.bytes, grains.tile)) return false;
  *axis = along.view;
  return chunks_aligned(s, o, along.view, grains.view, culprit);
}

static bool strides_narrow(const struct layout *layout, int32_t *axis) {
  for (*axis = 0; *axis < layout->rank; ++*axis) {
    int64_t bytes = stride_bytes(layout, *axis);
    bool narrow = bytes >= INT32_MIN && bytes <= INT32_MAX;
    if (layout->extents[*axis] > 1 && !narrow) return false;
  }
  return true;
}

/* Coordinates stay below 2^31 - 1, so that an extent cut to that number still holds them. */
bool operands_narrow(const struct signature *s, const tptx_args *args, const struct operands *o,
                     int64_t slack, const char **culprit, int32_t *axis) {
  bool array = s->tiles == TPTX_TILES_ARRAY;
  int64_t index_bytes = type_row(s->indices)->bytes, index_stride;
  for (*axis = 0; *axis < o->rank; ++*axis) {
    int32_t k = *axis;
    int64_t span, end;
    *culprit = "args.count";
    bool fits = !__builtin_mul_overflow(o->box[k].count, o->box[k].step, &span) &&
                !__builtin_add_overflow(o->box[k].origin, span, &end) &&
                end <= INT32_MAX - o->shape[k] - slack && o->box[k].step <= INT32_MAX;
    if (!fits) return false;
    if (array && o->box[k].count > (INT32_MAX - slack) / o->shape[k] - 1) return false;
    *culprit = "args.extents";
    if (is_picked(s, k) && o->view.extents[k] > INT32_MAX) return false;
  }
  *culprit = "args.layout_strides";
  if (!strides_narrow(&o->view, axis)) return false;
  *culprit = "args.tile_strides";
  if (array && !strides_narrow(&o->tile, axis)) return false;
  *axis = -1;
  *culprit = "args.index_count";
  if (!is_gather(s)) return true;
  bool fits = !__builtin_mul_overflow(args->index_stride, index_bytes, &index_stride);
  return args->index_count <= INT32_MAX && fits && index_stride >= INT32_MIN &&
         index_stride <= INT32_MAX;
}

static int32_t best_class(const struct signature *s, const tptx_args *args,
                          const struct operands *o, bool view, bool tile) {
  const char *culprit;
  int32_t axis;
  int32_t bytes = type_row(s->type)->bytes;
  if (operands_aligned(s, args, o, (struct grains){view ? 16 : 1, tile ? 16 : 1}, &culprit, &axis))
    return 16;
  if (bytes < 4 &&
      operands_aligned(s, args, o, (struct grains){view ? 4 : 1, tile ? 4 : 1}, &culprit, &axis))
    return 4;
  return bytes;
}

static struct classes best_classes(const struct signature *s, const tptx_args *args,
                                   const struct operands *o) {
  enum { WIDEST_VECTOR = 16, WORD = 4 };
  const char *culprit;
  int32_t axis;
  struct classes best = {best_class(s, args, o, true, true), 0, 64, TPTX_PICKS_UNKNOWN};
  /* Only where words of the span are shifted into place does the tile operand count by itself. */
  bool apart = best.align < WORD && signature_may_shift(s) && !is_picked(s, fast_axis(s));
  best.tile_align = apart ? best_class(s, args, o, false, true) : best.align;
  if (operands_narrow(s, args, o, WIDEST_VECTOR - 1, &culprit, &axis)) best.arith = 32;
  return best;
}

/* The element's size is what is left where nobody has found more. */
static int32_t found_align(int32_t align, const struct layout *view) {
  return align > view->bytes ? align : 0;
}

struct classes operands_classify(const struct signature *s, const tptx_args *args,
                                 struct operands *o, struct classes promised) {
  struct classes classes = promised;
  if (promised.align && promised.arith && (promised.picks || !is_gather(s)))
    return classes_without_operands(promised, s->type);
  struct classes best = best_classes(s, args, o);
  o->found =
      (struct classes){found_align(best.align, &o->view), found_align(best.tile_align, &o->view),
                       best.arith, TPTX_PICKS_UNKNOWN};
  if (!promised.align) {
    bool smaller = promised.tile_align && promised.tile_align < best.align;
    classes.align = smaller ? promised.tile_align : best.align;
    if (!promised.tile_align) classes.tile_align = best.tile_align;
  }
  if (!promised.arith) classes.arith = best.arith;
  if (!promised.picks && rows_are_dense(s, o)) classes.picks = TPTX_PICKS_DENSE;
  return classes_without_operands(classes, s->type);
}
