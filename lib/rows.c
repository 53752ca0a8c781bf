/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include "layout.h"

enum { FEW_ITEMS = 4, WIDE_BYTES = 8 };

/*
 * A plain load that picks along the axis on which the span is contiguous, and the tile operand on
 * no other. Tiles that follow each other along it must be numbered so: those of an array are,
 * packed ones along the last axis only.
 */
static bool picks_along_rows(const struct signature *s) {
  const struct operation_row *row = operation_row(s->operation);
  struct item_axes along = item_axes(s);
  return along.view == s->dim && along.tile == s->dim && s->rank > 1 &&
         stride_is_one(s->layout, s->layout_strides, s->rank, s->dim) &&
         (s->tiles == TPTX_TILES_ARRAY || s->dim == s->rank - 1) && row->effect == EFFECT_READ &&
         !row->atomic;
}

/* As many items as divide the tile and leave neighbours to a whole warp. */
static int32_t flight_along(const struct signature *s, int32_t most) {
  enum { WARP = 32 };
  int64_t items = s->shape[s->dim];
  int32_t flight = s->flight ? s->flight : most;
  while (flight > 1 && (items % flight || items / flight < WARP)) flight /= 2;
  return flight;
}

/* The same answer for both widths of index arithmetic: a launch finds out both at once. */
static bool tile_fits(const struct signature *s) {
  int32_t room = s->threads ? s->threads : LARGEST_BLOCK;
  return s->shape[s->dim] / flight_along(s, FEW_ITEMS) <= room;
}

static bool row_fits(const struct signature *s) {
  int64_t extent = s->extents[s->dim];
  return extent == TPTX_DYNAMIC || extent <= TPTX_MAX_DENSE_ROW / type_row(s->type)->bytes;
}

int32_t rows_flight(const struct signature *s) {
  enum { LOWEST_SM = 80, LOWEST_READER = 70 }; /* of asynchronous copies */
  if (s->kind != TPTX_GATHER_SCATTER_VIEW || s->staging != TPTX_STAGING_RULE) return 0;
  if (s->sm < LOWEST_SM || s->ptx < LOWEST_READER) return 0;
  if (!picks_along_rows(s) || !row_fits(s) || !tile_fits(s)) return 0;
  bool wide = s->arith == 64 || s->rank > FEW_AXES || type_row(s->indices)->bytes == WIDE_BYTES ||
              type_row(s->type)->bytes == WIDE_BYTES || type_row(s->value)->bytes == WIDE_BYTES;
  return flight_along(s, wide ? FEW_ITEMS : 2 * FEW_ITEMS);
}

/*
 * Enough rows to fill a device, short enough for shared memory, too long for a thread block to have
 * them in its cache, and enough that is picked from each.
 */
bool rows_are_dense(const struct signature *s, const struct operands *o) {
  enum { FEWEST_ROWS = 256, SHORTEST_ROW = 8192, FEWEST_PICKED = 10240 };
  if (rows_flight(s) == 0 || o->tiles == 0) return false;
  int64_t extent = o->view.extents[s->dim], rows = 1;
  int64_t picked = o->shape[s->dim] * o->box[s->dim].count;
  for (int32_t k = 0; k < o->rank && rows < FEWEST_ROWS; k++)
    if (k != s->dim) rows *= o->shape[k] * o->box[k].count;
  return rows >= FEWEST_ROWS && extent >= SHORTEST_ROW / o->view.bytes &&
         extent <= TPTX_MAX_DENSE_ROW / o->view.bytes && picked >= FEWEST_PICKED / o->view.bytes;
}
