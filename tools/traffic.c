/* SPDX-License-Identifier: Apache-2.0 */
#include "traffic.h"

/* Elements along one axis; their products over the axes are those of the launch. */
struct reach {
  int64_t once;     /* of the span, where chunks overlap once */
  int64_t covered;  /* of the span, as often as they are covered */
  int64_t in_tiles; /* of the tile operand */
};

static int64_t ceiling(int64_t value, int64_t divisor) {
  return value / divisor + (value % divisor != 0);
}

static int64_t between(int64_t least, int64_t value, int64_t most) {
  return value < least ? least : value > most ? most : value;
}

/* Chunks of a strided axis, or of one that a gather does not pick on. */
static struct reach dense_axis(const tptx_view *view, const tptx_args *args, int k) {
  int gather = view->kind == TPTX_GATHER_SCATTER_VIEW;
  int64_t shape = view->shape[k];
  int64_t step = !gather ? view->strides[k] : args->step[k] != 0 ? args->step[k] : shape;
  int64_t start = gather ? args->first[k] : args->first[k] * step;
  int64_t extent = view->extents[k] == TPTX_DYNAMIC ? args->extents[k] : view->extents[k];
  int64_t count = args->count[k];
  if (count == TPTX_ALL) count = ceiling(between(0, extent - start, extent), step);
  struct reach reach = {0, 0, count * shape};
  if (count == 0 || start >= extent) return reach;
  int64_t left = extent - start;
  int64_t whole = left < shape ? 0 : between(0, (left - shape) / step + 1, count);
  reach.covered = whole * shape;
  for (int64_t b = whole; b < count && b * step < left; b++)
    reach.covered += between(0, left - b * step, shape);
  reach.once = step >= shape ? reach.covered : between(0, left, (count - 1) * step + shape);
  return reach;
}

static struct reach picked_axis(const tptx_view *view, const tptx_args *args, int k) {
  int64_t shape = view->shape[k];
  int64_t entries = between(0, args->index_count - args->first[k] * shape, args->index_count);
  int64_t count = args->count[k] == TPTX_ALL ? ceiling(entries, shape) : args->count[k];
  entries = between(0, entries, count * shape);
  return (struct reach){entries, entries, count * shape};
}

uint64_t traffic_bytes(const tptx_view *view, const tptx_op *op, const tptx_args *args) {
  uint64_t once = 1;
  uint64_t covered = 1;
  uint64_t in_tiles = 1;
  for (int k = 0; k < view->rank; k++) {
    int picked = view->kind == TPTX_GATHER_SCATTER_VIEW && k == view->dim;
    struct reach reach = picked ? picked_axis(view, args, k) : dense_axis(view, args, k);
    if (op->tile.tiles == TPTX_TILES_ARRAY)
      reach.in_tiles = between(0, reach.in_tiles, args->tile_extents[k]);
    once *= (uint64_t)reach.once;
    covered *= (uint64_t)reach.covered;
    in_tiles *= (uint64_t)reach.in_tiles;
  }
  uint64_t of_span = tptx_type_bytes(view->type);
  uint64_t of_tile = tptx_type_bytes(op->tile.type < 0 ? view->type : op->tile.type);
  uint64_t of_indices = view->kind == TPTX_GATHER_SCATTER_VIEW
                            ? (uint64_t)args->index_count * tptx_type_bytes(op->indices.type)
                            : 0;
  switch (op->operation) {
  case TPTX_LOAD:
  case TPTX_ATOMIC_LOAD: return once * of_span + in_tiles * of_tile + of_indices;
  case TPTX_STORE:
  case TPTX_ATOMIC_STORE: return covered * (of_span + of_tile) + of_indices;
  default: return covered * (2 * of_span + (op->fetch ? 2 : 1) * of_tile) + of_indices;
  }
}
