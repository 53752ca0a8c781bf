/* SPDX-License-Identifier: Apache-2.0 */
/* Index arrays, layouts and buffers of random cases. */
#include "random_draft.h"
#include "reference.h"

#include <stdlib.h>
#include <string.h>

/* ---- The index array ------------------------------------------------------------------------- */

static int64_t least_of(tptx_type type) {
  switch (type) {
  case TPTX_S8: return INT8_MIN;
  case TPTX_S16: return INT16_MIN;
  case TPTX_S32: return INT32_MIN;
  case TPTX_S64: return INT64_MIN;
  default: return 0;
  }
}

uint64_t most_of(tptx_type type) {
  switch (type) {
  case TPTX_S8: return INT8_MAX;
  case TPTX_U8: return UINT8_MAX;
  case TPTX_S16: return INT16_MAX;
  case TPTX_U16: return UINT16_MAX;
  case TPTX_S32: return INT32_MAX;
  case TPTX_U32: return UINT32_MAX;
  case TPTX_S64: return INT64_MAX;
  default: return UINT64_MAX;
  }
}

/* A value that names nothing in the span: negative, the extent itself, or huge. */
static uint64_t outside_value(struct dice *d, tptx_type type, int64_t extent) {
  uint64_t most = most_of(type);
  switch (between(d, 0, 4)) {
  case 0:
    if (least_of(type) < 0) return (uint64_t)between(d, -4, -1);
    break;
  case 1:
    if (least_of(type) < 0) return (uint64_t)least_of(type);
    break;
  case 2:
    if ((uint64_t)extent <= most) return (uint64_t)extent;
    break;
  case 3: /* the lower 32 bits name row 0 or 1 */
    if (most > UINT32_MAX) return (UINT64_C(1) << 32) + (uint64_t)between(d, 0, 1);
    break;
  default: break;
  }
  return most;
}

/* Entries of a store that lie inside must all differ: a random order of the rows. */
static int64_t *random_rows(struct dice *d, int64_t rows) {
  int64_t *order = malloc((size_t)(rows > 0 ? rows : 1) * sizeof *order);
  if (!order) abort();
  for (int64_t i = 0; i < rows; i++) order[i] = i;
  for (int64_t i = rows - 1; i > 0; i--) {
    int64_t other = between(d, 0, i), kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
  return order;
}

static bool representable(tptx_type type, int64_t value) {
  return value >= 0 && (uint64_t)value <= most_of(type);
}

/* False if the entries cannot be written as the case needs them. */
static bool fill_indices(struct draft *f, unsigned char *zero, int64_t stride) {
  struct dice *d = &f->dice;
  struct random_case *c = f->c;
  tptx_type type = c->op.indices.type;
  int k = c->view.dim;
  int64_t rows = f->high[k] - f->low[k], used = 0;
  int size = (int)tptx_type_bytes(type);
  bool distinct = entries_differ(f);
  int64_t *order = random_rows(d, rows);
  bool good = true;
  for (int64_t i = 0; i < c->args.index_count && good; i++) {
    int64_t row = rows > 0 ? between(d, 0, rows - 1) : 0;
    if (distinct) row = used < rows && (stride != 0 || i == 0) ? order[used++] : -1;
    row = row < 0 ? -1 : row + f->low[k];
    bool inside = row >= 0 && rows > 0 && representable(type, row);
    if (!c->op.assume_in_bounds && chance(d, 15)) inside = false;
    uint64_t value = inside ? (uint64_t)row : outside_value(d, type, f->extents[k]);
    bool really_inside = value < (uint64_t)f->extents[k];
    bool exists = value >= (uint64_t)f->low[k] && value < (uint64_t)f->high[k];
    if (!inside && really_inside && (distinct || !exists)) good = false;
    if (c->op.assume_in_bounds && !really_inside) good = false;
    if (distinct && stride == 0 && i > 0) continue; /* they are all entry 0 */
    unsigned char *at = zero + i * stride * size;
    for (int byte = 0; byte < size; byte++) at[byte] = (unsigned char)(value >> (8 * byte));
  }
  free(order);
  return good && !(distinct && stride == 0 && c->args.index_count > 1);
}

static void fill_random(struct dice *d, unsigned char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) bytes[i] = (unsigned char)(roll(d) >> 32);
}

/*
 * An allocation for elements low..high (in elements from the base), the base `lean` elements off a
 * 16-byte boundary. Sometimes it ends exactly with the last element: nothing past it exists.
 */
static void make_buffer(struct dice *d, struct case_buffer *b, int size, int64_t low, int64_t high,
                        int64_t lean) {
  int64_t front = (int64_t)(((uint64_t)lean + (uint64_t)low) * (uint64_t)size % 16);
  if (chance(d, 50)) front += 16 * between(d, 1, 4);
  int64_t back = chance(d, 50) ? 0 : between(d, 1, 64);
  b->bytes = (size_t)(front + (high - low + 1) * size + back);
  if (high < low) b->bytes = (size_t)(front + size + back);
  b->base = front - low * size;
  b->contents = malloc(b->bytes);
  if (!b->contents) abort();
  fill_random(d, b->contents, b->bytes);
}

bool choose_indices(struct draft *f) {
  struct dice *d = &f->dice;
  struct random_case *c = f->c;
  static const int64_t strides[] = {1, 1, 1, 1, 2, 3, 0, -1, -2};
  int64_t stride = strides[between(d, 0, 8)], last = (c->args.index_count - 1) * stride;
  int size = (int)tptx_type_bytes(c->op.indices.type);
  c->args.index_stride = stride;
  if (c->view.kind == TPTX_STRIDED_VIEW) {
    make_buffer(d, &c->indices, 1, 0, 0, 0);
    return true;
  }
  make_buffer(d, &c->indices, size, last < 0 ? last : 0, last > 0 ? last : 0, between(d, 0, 3));
  return fill_indices(f, c->indices.contents + c->indices.base, stride);
}

/* ---- Layouts --------------------------------------------------------------------------------- */

static bool fits(tptx_type type, int64_t extent) {
  return (uint64_t)extent <= most_of(type);
}

/*
 * Row major over a random order of the axes, pitches with gaps, some axes reversed. Axis `unit` is
 * the fastest and has stride 1, unless it is -1.
 */
static void permuted_strides(struct dice *d, int rank, const int64_t *extents, int64_t quantum,
                             int unit, int slowest, int64_t *strides) {
  int order[TPTX_MAX_RANK];
  for (int i = 0; i < rank; i++) order[i] = i;
  bool keep = chance(d, 50);
  for (int i = rank - 1; i > 0 && !keep; i--) {
    int other = (int)between(d, 0, i), kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
  for (int i = 0; i < rank; i++) /* order runs from the slowest axis to the fastest */
    if (order[i] == unit) {
      order[i] = order[rank - 1];
      order[rank - 1] = unit;
    }
  for (int i = 0; i < rank; i++)
    if (order[i] == slowest) {
      order[i] = order[0];
      order[0] = slowest;
    }
  int64_t pitch = unit >= 0 ? 1 : between(d, 1, 3);
  bool gaps = chance(d, 50), reversed = chance(d, 30);
  for (int i = rank - 1; i >= 0; i--) {
    int k = order[i];
    strides[k] = reversed && k != unit && chance(d, 50) ? -pitch : pitch;
    if (extents[k] < INT64_C(1) << 20) pitch *= extents[k] > 0 ? extents[k] : 1;
    if (gaps) pitch += between(d, 0, 5);
    pitch = multiple_above(pitch, quantum);
  }
}

/* Tries every element; only for few. */
static bool injective_by_trying(int rank, const int64_t *extents, const int64_t *strides) {
  int64_t low = 0, high = 0, index[TPTX_MAX_RANK] = {0}, elements = 1;
  for (int k = 0; k < rank; k++) {
    if (extents[k] <= 0) return true;
    if (extents[k] > 10000 || (elements *= extents[k]) > 10000) return false;
    *(strides[k] < 0 ? &low : &high) += (extents[k] - 1) * strides[k];
  }
  if (high - low > 200000) return false;
  bool *seen = calloc((size_t)(high - low + 1), sizeof *seen), injective = true;
  if (!seen) abort();
  for (int64_t n = 0; n < elements && injective; n++) {
    int64_t at = -low;
    for (int k = 0; k < rank; k++) at += index[k] * strides[k];
    injective = !seen[at];
    seen[at] = true;
    for (int k = rank - 1; k >= 0 && ++index[k] == extents[k]; k--) index[k] = 0;
  }
  free(seen);
  return injective;
}

struct layout_wish {
  const int64_t *extents;
  bool written;
  int slowest; /* an axis that must be the slowest, or -1 */
  int unit;    /* an axis that must have stride 1, or -1 */
  int64_t quantum;
};

/* Element strides for LAYOUT_STRIDED. */
static void choose_strides(struct draft *f, struct layout_wish wish, int64_t *strides) {
  struct dice *d = &f->dice;
  int rank = f->rank;
  bool contiguous = (wish.quantum > 1 || chance(d, 30)) && chance(d, 92);
  int64_t quantum = wish.quantum > 1 && chance(d, 92) ? wish.quantum : 1;
  if (wish.slowest == f->fast && rank > 1) contiguous = false;
  int unit = wish.unit >= 0 ? wish.unit : contiguous ? f->fast : -1;
  permuted_strides(d, rank, wish.extents, quantum, unit, wish.slowest, strides);
  for (int k = 0; k < rank; k++) {
    if (k == wish.unit || wish.extents[k] > 1 || !chance(d, 25)) continue;
    static const int64_t odd[] = {0, -5, 7, INT64_C(1) << 33, INT64_C(-6442450944)};
    strides[k] = odd[between(d, 0, 4)] * (chance(d, 70) ? quantum : 1);
  }
  if (wish.slowest >= 0) return;
  if (!wish.written && chance(d, 30)) { /* broadcast, or windows that overlap */
    int k = (int)between(d, 0, rank - 1);
    if (k != wish.unit) strides[k] = chance(d, 60) ? 0 : between(d, 1, 4) * quantum;
  }
  if (rank <= 2 && wish.unit < 0 &&
      chance(d, 20)) { /* injective without being sorted: e (3,3), strides (4,3) */
    int64_t tried[TPTX_MAX_RANK];
    for (int k = 0; k < rank; k++) tried[k] = between(d, -12, 12);
    if (!wish.written || injective_by_trying(rank, wish.extents, tried))
      memcpy(strides, tried, (size_t)rank * sizeof *strides);
  }
}

/*
 * How far the touched elements lie from the base. False if that is too much memory, or if the whole
 * array reaches so far that sizes would meet 2^63.
 */
static bool reach(int rank, const int64_t *low, const int64_t *high, const int64_t *strides,
                  int64_t *lowest, int64_t *highest) {
  const int64_t limit = INT64_C(1) << 48;
  bool touched = true;
  *lowest = *highest = 0;
  for (int k = 0; k < rank; k++) {
    int64_t a = 0, b = 0;
    if (__builtin_mul_overflow(low[k], strides[k], &a)) return false;
    if (__builtin_mul_overflow(high[k] - 1, strides[k], &b)) return false;
    if (a > limit || a < -limit || b > limit || b < -limit) return false;
    *lowest += a < b ? a : b;
    *highest += a < b ? b : a;
    touched = touched && high[k] > low[k];
  }
  if (!touched) *lowest = *highest = 0;
  return *highest - *lowest < MOST_SPAN_ELEMENTS;
}

enum { ALL_STATIC, ALL_DYNAMIC, MIXED };

static bool is_dynamic(struct dice *d, int64_t mode) {
  return mode == ALL_DYNAMIC || (mode == MIXED && chance(d, 50));
}

/*
 * An axis of which the box touches one position only, sometimes: its stride may then pass 2^31. -1
 * where there is none.
 */
static int choose_sparse_axis(struct draft *f) {
  const tptx_view *view = &f->c->view;
  if (f->rank == 0 || !chance(&f->dice, 15)) return -1;
  int k = (int)between(&f->dice, 0, f->rank - 1);
  if (gathers(f, k) || f->count[k] != 1 || view->shape[k] != 1) return -1;
  f->low[k] = f->c->args.first[k];
  if (view->kind == TPTX_STRIDED_VIEW) f->low[k] *= view->strides[k];
  f->high[k] = f->low[k] + 1;
  return k;
}

static int64_t choose_lean(struct draft *f, int size, int64_t quantum) {
  int64_t lean = between(&f->dice, 0, 16 / size - 1);
  if (quantum > 1 && chance(&f->dice, 85)) lean = multiple_below(lean, quantum);
  return lean;
}

/* The axis of the span that the style wants contiguous, or -1. */
static int wished_unit(const struct draft *f) {
  return f->style == STYLE_ANY || f->style == STYLE_TURNED ? f->unit : f->fast;
}

bool choose_span(struct draft *f) {
  struct dice *d = &f->dice;
  tptx_view *view = &f->c->view;
  tptx_args *args = &f->c->args;
  int64_t strides[TPTX_MAX_RANK] = {0}, low = 0, high = 0;
  if (view->layout == TPTX_LAYOUT_STRIDED) {
    int special = f->far_axis >= 0 ? f->far_axis : f->long_axis;
    int sparse = special < 0 ? choose_sparse_axis(f) : -1;
    int slowest = special < 0 ? sparse : special;
    int unit = slowest == wished_unit(f) ? -1 : wished_unit(f);
    struct layout_wish wish = {f->extents, writes_span(f), slowest, unit, f->quantum};
    choose_strides(f, wish, strides);
    if (sparse >= 0) strides[sparse] += (INT64_C(1) << 31) * (strides[sparse] < 0 ? -1 : 1);
  }
  int64_t extents_mode = between(d, 0, 2), strides_mode = between(d, 0, 2);
  for (int k = 0; k < f->rank; k++) {
    view->extents[k] = is_dynamic(d, extents_mode) ? TPTX_DYNAMIC : f->extents[k];
    args->extents[k] = view->extents[k] == TPTX_DYNAMIC ? f->extents[k] : -77;
    bool dynamic = is_dynamic(d, strides_mode) && k != wished_unit(f);
    view->layout_strides[k] = dynamic ? TPTX_DYNAMIC : strides[k];
    args->layout_strides[k] = view->layout_strides[k] == TPTX_DYNAMIC ? strides[k] : -77;
    if (view->layout != TPTX_LAYOUT_STRIDED) view->layout_strides[k] = 0;
  }
  int64_t extents[TPTX_MAX_RANK];
  reference_span_layout(view, args, extents, strides);
  if (!reach(f->rank, f->low, f->high, strides, &low, &high)) return false;
  make_buffer(d, &f->c->span, f->size, low, high, choose_lean(f, f->size, f->quantum));
  if (f->rank > 2 && view->layout == TPTX_LAYOUT_STRIDED && chance(d, 20))
    f->c->op.assume_injective = 1; /* true, for what is written here is injective */
  view->read_only = !writes_span(f) && chance(d, 20);
  do view->index_type = (tptx_type)between(d, TPTX_S8, TPTX_U64);
  while (view->index_type != TPTX_S64 && chance(d, 60));
  for (int k = 0; k < f->rank; k++)
    if (!fits(view->index_type, f->extents[k])) view->index_type = TPTX_S64;
  return true;
}

/* ---- The tile operand ------------------------------------------------------------------------ */

static bool choose_array(struct draft *f, int64_t *low, int64_t *high) {
  struct dice *d = &f->dice;
  struct random_case *c = f->c;
  int64_t zeros[TPTX_MAX_RANK] = {0}, strides[TPTX_MAX_RANK] = {0};
  int64_t mode = between(d, 0, 2);
  bool dense = pitches_are_extents(f, c->op.tile.layout);
  for (int k = 0; k < f->rank; k++) {
    int64_t whole = f->count[k] * c->view.shape[k];
    int64_t extent = chance(d, 40) ? whole : between(d, whole - c->view.shape[k] + 1, whole + 3);
    if (chance(d, 10)) extent = between(d, 0, whole);
    if (k == f->fast && chance(d, dense || f->style == STYLE_TURNED ? 90 : 10))
      extent = multiple_above(extent, f->tile_quantum);
    c->args.tile_extents[k] = extent < 0 ? 0 : extent;
  }
  if (c->op.tile.layout == TPTX_LAYOUT_STRIDED) {
    int unit = f->style == STYLE_ANY ? -1 : f->fast;
    struct layout_wish wish = {c->args.tile_extents, writes_tile(f), -1, unit, f->tile_quantum};
    choose_strides(f, wish, strides);
    for (int k = 0; k < f->rank; k++) {
      bool dynamic = is_dynamic(d, mode) && k != unit;
      c->op.tile.layout_strides[k] = dynamic ? TPTX_DYNAMIC : strides[k];
      c->args.tile_strides[k] = dynamic ? strides[k] : -77;
    }
  }
  reference_tile_layout(&c->view, &c->op, &c->args, strides);
  return reach(f->rank, zeros, c->args.tile_extents, strides, low, high);
}

bool choose_operand(struct draft *f) {
  int64_t low = 0, high = f->c->chunks * tile_elements(f) - 1;
  if (f->c->op.tile.tiles == TPTX_TILES_ARRAY) {
    if (!choose_array(f, &low, &high)) return false;
  } else if (high < 0) {
    high = 0;
  }
  int64_t lean = choose_lean(f, f->tile_size, f->tile_quantum);
  make_buffer(&f->dice, &f->c->tile, f->tile_size, low, high, lean);
  return true;
}

/* Address, pitches and rows of the tile operand are multiples of `bytes`. */
static bool operand_aligned(const struct draft *f, int64_t bytes) {
  const struct random_case *c = f->c;
  int64_t strides[TPTX_MAX_RANK];
  if (f->rank == 0 || c->tile.base % bytes) return false;
  reference_tile_layout(&c->view, &c->op, &c->args, strides);
  for (int k = 0; k < f->rank; k++)
    if (k != f->fast && strides[k] * f->tile_size % bytes) return false;
  return c->view.shape[f->fast] * f->tile_size % bytes == 0;
}

/* A row that fits and that exists as a whole, for all of it is read. */
static bool row_is_there(const struct draft *f) {
  int dim = f->c->view.dim;
  return f->low[dim] == 0 && f->high[dim] >= f->extents[dim] &&
         f->extents[dim] <= TPTX_MAX_DENSE_ROW / f->size;
}

static void choose_picks(struct draft *f) {
  struct random_case *c = f->c;
  if (c->view.kind == TPTX_STRIDED_VIEW) return;
  if (row_is_there(f) && chance(&f->dice, f->style == STYLE_PICKED ? 85 : 40))
    c->op.picks = TPTX_PICKS_DENSE;
  else if (chance(&f->dice, 20))
    c->op.picks = TPTX_PICKS_SPARSE;
}

void choose_promises(struct draft *f) {
  struct random_case *c = f->c;
  choose_picks(f);
  int promise = chance(&f->dice, 60) ? 16 : 4;
  if (promise <= f->size || !operand_aligned(f, promise)) return;
  if (chance(&f->dice, f->style == STYLE_SHIFTED ? 50 : 5)) c->op.tile.align = promise;
}

/* ---- Other places for them ------------------------------------------------------------------- */

/* The base moves up to 15 bytes, to a multiple of `grain`, which is a power of 2 up to 16. */
static void move_buffer(struct dice *d, struct case_buffer *b, int64_t grain) {
  int64_t die = between(d, 0, 3);
  int64_t lean = die == 0   ? 0
                 : die == 1 ? multiple_above(4, grain) % 16
                            : grain * between(d, 0, 16 / grain - 1);
  int64_t shift = ((lean - b->base) % 16 + 16) % 16;
  unsigned char *contents = malloc(b->bytes + (size_t)shift);
  if (!contents) abort();
  fill_random(d, contents, (size_t)shift);
  memcpy(contents + shift, b->contents, b->bytes);
  free(b->contents);
  *b = (struct case_buffer){b->bytes + (size_t)shift, b->base + shift, contents};
}

static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

void random_case_move(struct random_case *c, uint64_t turn) {
  struct dice dice = {c->seed * 0x2545f4914f6cdd1d + turn};
  int64_t size = (int64_t)tptx_type_bytes(c->view.type);
  int64_t tile_size = (int64_t)tptx_type_bytes(reference_tile_type(&c->view, &c->op));
  int64_t promised = larger(c->view.align, c->op.tile.align);
  bool gather = c->view.kind == TPTX_GATHER_SCATTER_VIEW;
  move_buffer(&dice, &c->span, larger(size, c->view.align));
  move_buffer(&dice, &c->tile, larger(tile_size, promised));
  if (gather) move_buffer(&dice, &c->indices, (int64_t)tptx_type_bytes(c->op.indices.type));
}
