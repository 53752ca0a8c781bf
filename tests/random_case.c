/* SPDX-License-Identifier: Apache-2.0 */
#include "random_draft.h"
#include "reference.h"
#include "reference_values.h"

#include <stdlib.h>
#include <string.h>

/* ---- Dice ------------------------------------------------------------------------------------ */

uint64_t roll(struct dice *d) {
  uint64_t x = d->state += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

int64_t between(struct dice *d, int64_t low, int64_t high) {
  return low >= high ? low : low + (int64_t)(roll(d) % (uint64_t)(high - low + 1));
}

bool chance(struct dice *d, int percent) {
  return between(d, 1, 100) <= percent;
}

int64_t multiple_below(int64_t value, int64_t quantum) {
  return value / quantum * quantum;
}

int64_t multiple_above(int64_t value, int64_t quantum) {
  return multiple_below(value + quantum - 1, quantum);
}

/* ---- The operation --------------------------------------------------------------------------- */

static bool loads(const struct draft *f) {
  return f->c->op.operation == TPTX_LOAD || f->c->op.operation == TPTX_ATOMIC_LOAD;
}

bool writes_span(const struct draft *f) {
  return !loads(f);
}

bool writes_tile(const struct draft *f) {
  return loads(f) || f->c->op.fetch;
}

tptx_type tile_type(const struct draft *f) {
  return reference_tile_type(&f->c->view, &f->c->op);
}

/* At scope block all entries of one index tile belong to one thread block, so they may be equal. */
bool entries_differ(const struct draft *f) {
  return f->no_meeting && (f->c->op.operation == TPTX_STORE || f->count[f->c->view.dim] > 1);
}

int item_axis(const struct draft *f) {
  return f->style == STYLE_TURNED ? f->unit : f->fast;
}

bool gathers(const struct draft *f, int k) {
  return f->c->view.kind == TPTX_GATHER_SCATTER_VIEW && k == f->c->view.dim;
}

/* Patches and shifts are for plain operations without a conversion. */
static bool plain_only(const struct draft *f) {
  return f->style == STYLE_TURNED || f->style == STYLE_SHIFTED;
}

/* Only four types take infinities and NaN, so they come up more often here. */
static void choose_padding(struct draft *f) {
  struct dice *d = &f->dice;
  struct random_case *c = f->c;
  static const tptx_type floats[] = {TPTX_F16, TPTX_BF16, TPTX_F32, TPTX_F64};
  c->op.pad = chance(d, 50) ? TPTX_PAD_ZERO : TPTX_PAD_VALUE;
  if (chance(d, 40)) {
    c->view.type = floats[between(d, 0, f->style == STYLE_SHIFTED ? 1 : 3)];
    c->op.pad = (tptx_pad)between(d, TPTX_PAD_POSITIVE_INF, TPTX_PAD_NAN);
  }
  size_t bytes = tptx_type_bytes(c->view.type);
  c->args.pad_value = roll(d);
  if (bytes < 8) c->args.pad_value &= (UINT64_C(1) << (8 * bytes)) - 1;
}

static tptx_layout choose_layout(struct draft *f) {
  int64_t die = between(&f->dice, 0, 99);
  if (f->rank == 0 || die < 45) return TPTX_LAYOUT_RIGHT;
  return die < 53 ? TPTX_LAYOUT_LEFT : TPTX_LAYOUT_STRIDED;
}

/* One that is contiguous along axis `unit` of several. */
static tptx_layout choose_layout_with_unit(struct draft *f, int unit) {
  if (chance(&f->dice, 50)) return TPTX_LAYOUT_STRIDED;
  if (unit == f->rank - 1) return TPTX_LAYOUT_RIGHT;
  return unit == 0 ? TPTX_LAYOUT_LEFT : TPTX_LAYOUT_STRIDED;
}

static void choose_layouts(struct draft *f) {
  struct random_case *c = f->c;
  bool any = f->style == STYLE_ANY;
  int unit = f->unit < 0 ? f->fast : f->unit;
  c->view.layout = any ? choose_layout(f) : choose_layout_with_unit(f, unit);
  bool staged_store = f->style == STYLE_TURNED && writes_span(f);
  int arrays = f->fast != f->rank - 1 ? 95 : staged_store ? 10 : 55;
  if (!chance(&f->dice, arrays)) return;
  c->op.tile.tiles = TPTX_TILES_ARRAY;
  c->op.tile.layout = any ? choose_layout(f) : choose_layout_with_unit(f, f->fast);
}

/* Read-modify-writes take few types, additions more than the others. */
static void choose_update(struct draft *f) {
  struct dice *d = &f->dice;
  struct random_case *c = f->c;
  static const tptx_operation operations[] = {
      TPTX_ATOMIC_AND, TPTX_ATOMIC_OR,  TPTX_ATOMIC_XOR, TPTX_ATOMIC_MAX, TPTX_ATOMIC_MIN,
      TPTX_ATOMIC_ADD, TPTX_ATOMIC_ADD, TPTX_ATOMIC_ADD, TPTX_ATOMIC_SUB, TPTX_ATOMIC_SUB};
  static const tptx_type types[] = {TPTX_F16, TPTX_BF16, TPTX_F32, TPTX_F64, TPTX_S32,
                                    TPTX_U32, TPTX_S64,  TPTX_U64, TPTX_F16, TPTX_BF16};
  c->op.operation = operations[between(d, 0, 9)];
  do c->view.type = types[between(d, 0, 9)];
  while (!reference_takes(c->op.operation, c->view.type));
  c->op.order = TPTX_ORDER_RELAXED;
  c->op.scope = chance(d, 65) ? TPTX_SCOPE_DEVICE : TPTX_SCOPE_BLOCK;
  c->op.fetch = chance(d, 40);
  bool sums = c->op.operation == TPTX_ATOMIC_ADD || c->op.operation == TPTX_ATOMIC_SUB;
  bool vectors = c->view.type == TPTX_F16 || c->view.type == TPTX_BF16 || c->view.type == TPTX_F32;
  f->vector_sums = sums && vectors && chance(d, 75);
  if (f->vector_sums) c->op.fetch = 0;
}

static void choose_effect(struct draft *f) {
  struct dice *d = &f->dice;
  struct random_case *c = f->c;
  int64_t die = between(d, 0, 99);
  c->op.masked = chance(d, 65);
  if (plain_only(f)) {
    bool load = f->style == STYLE_SHIFTED || chance(d, 60);
    c->op.operation = load ? TPTX_LOAD : TPTX_STORE;
    f->no_meeting = !load;
    if (load && c->op.masked) choose_padding(f);
    return;
  }
  if (f->style == STYLE_PICKED) die = 40; /* a plain load */
  if (die < 40) {
    choose_update(f);
    f->no_meeting = c->op.scope == TPTX_SCOPE_BLOCK;
    return;
  }
  c->op.operation = (tptx_operation)(TPTX_LOAD + (die - 40) / 15);
  f->no_meeting = c->op.operation == TPTX_STORE;
  if (loads(f) && c->op.masked) choose_padding(f);
  if (die < 70) return;
  c->op.order = chance(d, 50) ? TPTX_ORDER_RELAXED
                : loads(f)    ? TPTX_ORDER_ACQUIRE
                              : TPTX_ORDER_RELEASE;
  c->op.scope = (tptx_scope)between(d, TPTX_SCOPE_DEFAULT, TPTX_SCOPE_SYSTEM);
  if (!loads(f)) f->no_meeting = c->op.scope == TPTX_SCOPE_BLOCK;
}

/* Another type for the tile operand, any that the conversion allows. */
static void choose_tile_type(struct draft *f) {
  struct dice *d = &f->dice;
  tptx_type type = f->c->view.type, types[16];
  int count = 0;
  if (f->c->op.fetch || plain_only(f) || !chance(d, 40)) return;
  for (int other = TPTX_BOOL; other <= TPTX_E5M2; other++) {
    tptx_type from = loads(f) ? type : (tptx_type)other, to = loads(f) ? (tptx_type)other : type;
    if (from != to && reference_converts(from, to)) types[count++] = (tptx_type)other;
  }
  if (f->vector_sums && f->c->view.type != TPTX_F32) /* pairs of converted elements */
    f->c->op.tile.type = chance(d, 50) ? TPTX_E4M3 : TPTX_E5M2;
  else if (count)
    f->c->op.tile.type = (int32_t)types[between(d, 0, count - 1)];
}

static bool eight_bit_float(tptx_type type) {
  return type == TPTX_E4M3 || type == TPTX_E5M2;
}

int random_case_lowest_target(const struct random_case *c) {
  tptx_type type = c->view.type, other = reference_tile_type(&c->view, &c->op);
  if (c->op.operation >= TPTX_ATOMIC_AND && type == TPTX_BF16) return 90;
  return type != other && (eight_bit_float(type) || eight_bit_float(other)) ? 89 : 75;
}

/* 0: the device's own; an older one only where the operation exists there. */
static int choose_target(struct draft *f) {
  static const int targets[] = {0, 0, 75, 80};
  int target = targets[between(&f->dice, 0, 3)], lowest = random_case_lowest_target(f->c);
  if (lowest > 89 || f->vector_sums) return 0;
  return target && target < lowest ? lowest : target;
}

static tptx_type choose_type(struct draft *f) {
  struct dice *d = &f->dice;
  if (chance(d, 8)) return TPTX_U8; /* the widest vectors */
  for (;;) {
    tptx_type type = (tptx_type)between(d, TPTX_BOOL, TPTX_E5M2);
    if (f->style != STYLE_SHIFTED || tptx_type_bytes(type) < 4) return type;
  }
}

/* A style may ask for more: rows are picked, not single elements, and never the unit axis. */
static int32_t choose_dim(struct draft *f) {
  struct dice *d = &f->dice;
  int32_t last = f->rank - 1, dim = (int32_t)between(d, 0, last);
  if (f->style == STYLE_PICKED) return f->fast;
  bool rows = f->style == STYLE_SHIFTED || (f->style == STYLE_COLUMNS && chance(d, 70));
  if (rows)
    return (f->fast + 1 + (int32_t)between(d, 0, last - 1)) % f->rank; /* any but that one */
  if (f->rank > 4 && chance(d, 50)) dim = (int32_t)between(d, 4, last);
  if (chance(d, f->rank == 4 ? 35 : 15)) dim = last;
  return dim == f->unit ? last : dim;
}

static void choose_tuning(struct draft *f) {
  struct dice *d = &f->dice;
  tptx_op *op = &f->c->op;
  if (chance(d, 4)) op->staging = TPTX_STAGING_NONE;
  static const int threads[] = {32, 64, 96, 128, 192, 256, 384, 512, 1024};
  if (chance(d, 10)) op->latency = (int32_t)between(d, 1, 10);
  if (chance(d, 10)) op->allow_tma = 0;
  if (f->style == STYLE_TURNED) return; /* who asks for threads or flight gets no patches */
  if (chance(d, 35)) op->threads = threads[between(d, 0, 8)];
  if (chance(d, 35)) op->flight = 1 << between(d, 0, 3);
}

static void choose_operation(struct draft *f) {
  struct dice *d = &f->dice;
  struct random_case *c = f->c;
  tptx_view_init(&c->view);
  tptx_op_init(&c->op);
  tptx_args_init(&c->args);
  c->view.kind = f->kind;
  c->view.rank = f->rank;
  c->view.type = choose_type(f);
  if (c->view.kind == TPTX_GATHER_SCATTER_VIEW) {
    c->view.dim = choose_dim(f);
    c->op.indices.type = (tptx_type)between(d, TPTX_S8, TPTX_U64);
    c->op.assume_in_bounds = chance(d, 25);
  }
  f->vector_sums = false;
  choose_effect(f);
  choose_tile_type(f);
  f->size = (int)tptx_type_bytes(c->view.type);
  f->tile_size = (int)tptx_type_bytes(tile_type(f));
  choose_layouts(f);
  choose_tuning(f);
}

/* ---- Shape and box --------------------------------------------------------------------------- */

/* One axis is long, of any size, the others hardly there: every axis plays every role in turn. */
static void choose_long_axis(struct draft *f, int64_t room) {
  struct dice *d = &f->dice;
  int64_t *shape = f->c->view.shape;
  static const int rarest[] = {0, 0, 0, 0, 3,
                               4, 4, 6, 6}; /* first of the axes that few ranks have */
  int k = (int)between(d, chance(d, 65) ? rarest[f->rank] : 0, f->rank - 1);
  if (chance(d, 28)) k = f->fast;
  bool few_threads = chance(d, 80);
  int64_t length = between(d, few_threads ? 35 : 5, room < 2400 ? 100 : 500) | 1;
  if (k == f->fast && f->quantum > 1) length = f->quantum * (length / 2 | 1);
  shape[k] = length;
  for (int i = 0; i < f->rank; i++)
    if (i != k && shape[i] == 1 && chance(d, 12)) shape[i] = 2;
  if (few_threads) f->c->op.threads = 32 << (chance(d, 15) ? 1 : 0);
  if (chance(d, 50)) f->c->op.flight = 1 << between(d, 1, 3);
}

static void choose_compact_shape(struct draft *f, int64_t room) {
  struct dice *d = &f->dice;
  int64_t *shape = f->c->view.shape;
  int start = (int)between(d, 0, f->rank - 1);
  int64_t most = room / f->quantum > 0 ? room / f->quantum : 1;
  if (chance(d, 70)) most = most < 4 ? most : 4;
  shape[f->fast] = f->quantum * between(d, 1, most);
  room /= shape[f->fast];
  for (int i = 0; i < f->rank && room > 1; i++) {
    int k = (start + i) % f->rank;
    if (k == f->fast) continue;
    int64_t limit = f->rank > 4 && room > 6 ? 6 : room;
    if (chance(d, 60) && limit > 4) limit = 4;
    shape[k] = between(d, 1, limit);
    room /= shape[k];
  }
}

/* From half a patch on, where staging begins; around a whole one; over two. */
static int64_t choose_patch_length(struct dice *d, int64_t patch) {
  if (chance(d, 15)) return patch;
  if (chance(d, 10)) return between(d, patch + 1, 2 * patch + 6);
  if (patch == 64) return between(d, patch, patch + 9);
  return chance(d, 5) ? patch / 2 - 1 : between(d, patch / 2, chance(d, 70) ? patch / 2 + 9 : 70);
}

static void choose_turned_shape(struct draft *f) {
  int64_t *shape = f->c->view.shape;
  f->quantum = f->size < 4 && chance(&f->dice, 75) ? 4 / f->size : 1; /* items of a word */
  f->tile_quantum = f->quantum;
  int64_t patch = f->size <= 4 && chance(&f->dice, 12) ? 64 : 32;
  shape[f->unit] = multiple_above(choose_patch_length(&f->dice, patch), f->quantum);
  shape[f->rank - 1] = multiple_above(choose_patch_length(&f->dice, patch), f->quantum);
  int k = (int)between(&f->dice, 0, f->rank - 1);
  if (shape[k] == 1 && chance(&f->dice, 40)) shape[k] = between(&f->dice, 2, 3);
}

/* Rows of several items, whole ones: of 4 or 8 bytes. */
static void choose_shifted_shape(struct draft *f) {
  struct dice *d = &f->dice;
  int64_t *shape = f->c->view.shape;
  f->quantum = 1;
  f->tile_quantum = (chance(d, 70) ? 16 : 4) / f->size;
  int64_t item = (chance(d, 60) ? 8 : 4) / f->size, most = chance(d, 85) ? 9 : 70;
  shape[f->fast] = item * between(d, 1, most);
  if (chance(d, 5)) shape[f->fast]++;
  for (int i = 0; i < 2; i++) {
    int k = (int)between(d, 0, f->rank - 1);
    if (shape[k] == 1) shape[k] = between(d, 1, 9);
  }
}

static void choose_shape(struct draft *f) {
  struct dice *d = &f->dice;
  if (plain_only(f)) {
    for (int k = 0; k < f->rank; k++) f->c->view.shape[k] = 1;
    (f->style == STYLE_TURNED ? choose_turned_shape : choose_shifted_shape)(f);
    return;
  }
  int64_t die = between(d, 0, 99);
  int64_t room = die < 60 ? 64 : die < 85 ? 512 : die < 97 ? 4096 : 16384;
  die = between(d, f->vector_sums ? 15 : 0, 99);
  int size = f->size < f->tile_size ? f->size : f->tile_size;
  f->quantum = die < 18 ? 1 : die < 30 && size < 4 ? 4 / size : 16 / size;
  f->tile_quantum = f->quantum;
  for (int k = 0; k < f->rank; k++) f->c->view.shape[k] = 1;
  if (f->rank == 0) return;
  f->c->view.shape[f->fast] = f->quantum;
  if (chance(d, f->rank > 3 ? 75 : f->rank > 2 ? 60 : 30))
    choose_long_axis(f, room);
  else
    choose_compact_shape(f, room);
}

int64_t tile_elements(const struct draft *f) {
  int64_t elements = 1;
  for (int k = 0; k < f->rank; k++) elements *= f->c->view.shape[k];
  return elements;
}

/* How many chunks lie along each axis of the box. */
static void choose_counts(struct draft *f) {
  struct dice *d = &f->dice;
  int64_t room = MOST_MOVED_ELEMENTS / (chance(d, 90) ? 8 : 1) / tile_elements(f);
  int64_t most = chance(d, 70) ? 12 : chance(d, 80) ? 80 : 1500;
  if (room > most) room = most;
  int start = chance(d, 40) ? f->fast : (int)between(d, 0, 7);
  for (int i = 0; i < f->rank; i++) {
    int k = (start + i) % f->rank;
    f->count[k] = room > 1 ? between(d, 1, room > 6 && chance(d, 70) ? 6 : room) : 1;
    room /= f->count[k];
    if (chance(d, 1)) f->count[k] = 0;
  }
}

bool pitches_are_extents(const struct draft *f, tptx_layout layout) {
  if (f->rank < 2) return false;
  return layout == (f->fast == 0 ? TPTX_LAYOUT_LEFT : TPTX_LAYOUT_RIGHT);
}

/*
 * One axis whose chunks start at element `start` and lie `step` apart: an extent that suits the
 * masking, and whether TPTX_ALL gives the same count. A first chunk below it is out of play.
 */
static void choose_extent(struct draft *f, int k, int64_t start, int64_t step, bool may_be_all) {
  struct dice *d = &f->dice;
  int64_t shape = f->c->view.shape[k], count = f->count[k];
  if (count == 0) {
    f->extents[k] = start == 0 && chance(d, 50) ? 0 : start + between(d, 1, 5);
    f->c->args.count[k] = f->extents[k] == 0 && chance(d, 50) ? TPTX_ALL : 0;
    return;
  }
  int64_t last = start + (count - 1) * step;
  int64_t least = f->c->op.masked ? last + 1 : last + shape; /* masked: a chunk may hang out */
  int64_t most_for_all = last + step;
  bool all = may_be_all && least <= most_for_all && chance(d, 50);
  int64_t most = all ? most_for_all : least + shape + between(d, 0, 7);
  int64_t extent = between(d, least, most);
  bool dense = pitches_are_extents(f, f->c->view.layout);
  bool vectors = k == item_axis(f) && f->quantum > 1;
  if (last + shape >= least && last + shape <= most && chance(d, vectors ? 12 : 25))
    extent = last + shape;
  bool turned = f->style == STYLE_TURNED;                /* patches have no path for a cut item */
  if (vectors && chance(d, dense || turned ? 90 : 10)) { /* a dense pitch is a multiple, too */
    int64_t rounded = multiple_below(extent, f->quantum);
    if (rounded < least) rounded = multiple_above(extent, f->quantum);
    if (rounded >= least && rounded <= most) extent = rounded;
  }
  f->extents[k] = extent;
  f->c->args.count[k] = all ? TPTX_ALL : count;
}

static int64_t quantum_of(const struct draft *f, int k) {
  return k == item_axis(f) ? f->quantum : 1;
}

/* Around 2^31 and beyond, where 32-bit arithmetic would wrap. */
static int64_t far_position(struct dice *d) {
  static const int64_t places[] = {INT64_C(1) << 31, INT64_C(1) << 32, INT64_C(3) << 31,
                                   INT64_C(1) << 33, INT64_C(1) << 30};
  return places[between(d, 0, 4)] + between(d, -40, 40);
}

static void choose_strided_axis(struct draft *f, int k) {
  struct dice *d = &f->dice;
  tptx_view *view = &f->c->view;
  int64_t shape = view->shape[k], quantum = quantum_of(f, k);
  int64_t die = between(d, 0, 99);
  int64_t step = die < 50 ? shape : die < 70 ? shape + between(d, 1, 9) : between(d, 1, shape);
  step = multiple_above(step, chance(d, 90) ? quantum : 1);
  if (f->no_meeting && f->count[k] > 1 && step < shape) step = shape;
  int64_t first = chance(d, 60) ? 0 : between(d, 0, 3);
  if (k == f->far_axis) first = far_position(d) / step;
  view->strides[k] = step;
  f->c->args.first[k] = first;
  choose_extent(f, k, first * step, step, true);
  f->low[k] = first * step;
}

static void choose_dense_axis(struct draft *f, int k) {
  struct dice *d = &f->dice;
  int64_t shape = f->c->view.shape[k], quantum = quantum_of(f, k);
  int64_t step = chance(d, 50) ? 0 : between(d, 1, shape + 5);
  if (chance(d, 70)) step = multiple_above(step, quantum);
  if (f->no_meeting && f->count[k] > 1 && step < shape) step = chance(d, 50) ? 0 : shape;
  int64_t first = chance(d, 40) ? 0 : between(d, 0, 9);
  if (k == f->far_axis) first = far_position(d);
  if (chance(d, 65)) first = multiple_above(first, quantum);
  f->c->args.step[k] = step;
  f->c->args.first[k] = first;
  choose_extent(f, k, first, step ? step : shape, true);
  f->low[k] = first;
}

/* The axis of the index array: its box counts index tiles, its extent only limits the entries. */
static void choose_gather_axis(struct draft *f, int k) {
  struct dice *d = &f->dice;
  tptx_args *args = &f->c->args;
  int64_t shape = f->c->view.shape[k], count = f->count[k];
  int64_t first = chance(d, 60) ? 0 : between(d, 0, 3);
  int64_t tiles = first + count;
  bool all = count > 0 && chance(d, 50);
  args->first[k] = first;
  args->count[k] = all ? TPTX_ALL : count;
  args->index_count = between(d, (tiles > 0 ? tiles - 1 : 0) * shape + 1,
                              tiles * shape + (all ? 0 : between(d, 0, 5)));
  if (chance(d, 40) && tiles > 0) args->index_count = tiles * shape;
  if (tiles == 0) args->index_count = between(d, 1, 5);
  int64_t rows = chance(d, 60) ? between(d, 1, 40) : between(d, 1, 300);
  if (f->style == STYLE_PICKED && chance(d, 30)) rows = between(d, 300, 3000);
  if (f->no_meeting && chance(d, 70)) rows += count * shape; /* room for entries that differ */
  f->low[k] = 0;
  if (k == f->far_axis) {
    f->low[k] = far_position(d);
    rows += f->low[k];
  }
  f->extents[k] = chance(d, 1) && !f->c->op.assume_in_bounds ? 0 : rows;
}

/* The span goes on past 2^31 behind the box; what the box cannot touch need not exist. */
static void lengthen_axis(struct draft *f, int k) {
  struct dice *d = &f->dice;
  int64_t shape = f->c->view.shape[k], step = f->c->args.step[k] ? f->c->args.step[k] : shape;
  if (f->c->view.kind == TPTX_STRIDED_VIEW) step = f->c->view.strides[k];
  if (f->count[k] == 0 || f->extents[k] == 0) return;
  if (!gathers(f, k)) {
    int64_t end = f->low[k] + (f->count[k] - 1) * step + shape;
    if (f->high[k] < end) f->high[k] = end;
    f->c->args.count[k] = f->count[k];
  }
  f->low[k] = 0;
  f->extents[k] = (INT64_C(1) << between(d, 31, 33)) + between(d, 0, 1) * f->high[k] + 1;
  if (chance(d, 30)) f->extents[k] = f->high[k] + (INT64_C(1) << 32);
  if (k == f->fast && f->size < 4) f->high[k] += 4 / f->size; /* a word around the last one */
}

static void choose_box(struct draft *f) {
  struct dice *d = &f->dice;
  int special = f->rank > 0 && chance(d, 12) ? (int)between(d, 0, f->rank - 1) : -1;
  if (special >= 0 && special == f->unit) special = -1; /* it would be the slowest */
  f->far_axis = chance(d, 60) ? special : -1;
  f->long_axis = f->far_axis < 0 ? special : -1;
  for (int k = 0; k < f->rank; k++) {
    if (gathers(f, k))
      choose_gather_axis(f, k);
    else if (f->c->view.kind == TPTX_STRIDED_VIEW)
      choose_strided_axis(f, k);
    else
      choose_dense_axis(f, k);
    f->high[k] = f->extents[k];
    if (k == f->long_axis) lengthen_axis(f, k);
    if (k != f->far_axis) f->low[k] = 0;
  }
}

/* ---- A whole case ---------------------------------------------------------------------------- */

/* Bools are mostly 0 and 1, as a program writes them, and sometimes any byte. */
static void soften_bools(struct dice *d, struct case_buffer *b) {
  for (size_t i = 0; i < b->bytes; i++)
    if (!chance(d, 10)) b->contents[i] = (unsigned char)(b->contents[i] & 1);
}

static bool try_case(struct draft *f) {
  struct dice *d = &f->dice;
  struct random_case *c = f->c;
  choose_operation(f);
  choose_shape(f);
  choose_counts(f);
  choose_box(f);
  c->path = (enum case_path)between(d, CASE_RUN, CASE_DEFAULTS);
  if (c->path == CASE_DEFAULTS && chance(d, f->vector_sums ? 100 : 60)) c->path = CASE_RUN;
  c->weaken_align = chance(d, f->vector_sums ? 5 : 30);
  c->weaken_arith = chance(d, 30);
  c->target = choose_target(f);
  if (!choose_span(f)) return false;
  c->chunks = reference_box(&c->view, &c->args, f->count);
  if (!choose_indices(f) || !choose_operand(f)) return false;
  choose_promises(f);
  if (c->view.type == TPTX_BOOL) soften_bools(d, &c->span);
  if (tile_type(f) == TPTX_BOOL) soften_bools(d, &c->tile);
  choose_values(f);
  return true;
}

/* A turned span has its unit axis before the last; picked rows need another axis to lie along. */
static void choose_style(struct draft *f) {
  struct dice *d = &f->dice;
  int64_t die = between(d, 0, 99);
  f->unit = -1;
  f->style = die < 7    ? STYLE_TURNED
             : die < 14 ? STYLE_SHIFTED
             : die < 24 ? STYLE_COLUMNS
             : die < 30 ? STYLE_PICKED
                        : STYLE_ANY;
  if (f->style == STYLE_TURNED) {
    f->unit = (int)between(d, 0, TPTX_MAX_RANK - 2);
    f->rank = (int)between(d, f->unit + 2, TPTX_MAX_RANK);
  } else if (f->style == STYLE_SHIFTED) {
    f->rank = (int)between(d, 1, chance(d, 80) ? 4 : TPTX_MAX_RANK);
    if (f->kind == TPTX_GATHER_SCATTER_VIEW && f->rank == 1) f->rank = 2;
  } else if (f->style == STYLE_COLUMNS) {
    f->fast = (int)between(d, 0, TPTX_MAX_RANK - 2);
    f->rank = (int)between(d, f->fast + 2, TPTX_MAX_RANK);
    return;
  } else if (f->style == STYLE_PICKED) {
    f->kind = TPTX_GATHER_SCATTER_VIEW;
    f->rank = (int)between(d, 2, chance(d, 70) ? 4 : TPTX_MAX_RANK);
  }
  f->fast = f->rank - 1;
  bool any = f->style == STYLE_SHIFTED || f->style == STYLE_PICKED;
  if (any && chance(d, 25)) f->fast = (int)between(d, 0, f->rank - 1);
}

/*
 * Kind, rank and style are drawn once, so that attempts that come to nothing favour none. High
 * ranks come up often: only they have axes 4 to 7.
 */
void random_case_make(uint64_t seed, struct random_case *out) {
  static const int ranks[] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5,
                              6, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8};
  enum { RANKS = sizeof ranks / sizeof *ranks };
  struct draft f = {.dice = {seed * 0x2545f4914f6cdd1d + 11}, .c = out};
  f.kind = chance(&f.dice, 50) ? TPTX_STRIDED_VIEW : TPTX_GATHER_SCATTER_VIEW;
  f.rank = ranks[between(&f.dice, f.kind == TPTX_GATHER_SCATTER_VIEW ? 3 : 0, RANKS - 1)];
  choose_style(&f);
  for (;;) {
    memset(out, 0, sizeof *out);
    out->seed = seed;
    if (try_case(&f)) return;
    random_case_free(out);
  }
}

void random_case_free(struct random_case *c) {
  free(c->span.contents);
  free(c->tile.contents);
  free(c->indices.contents);
  memset(c, 0, sizeof *c);
}

void random_case_place(struct random_case *c, uint64_t span, uint64_t tile, uint64_t indices) {
  c->args.span = span + (uint64_t)c->span.base;
  c->args.tile = tile + (uint64_t)c->tile.base;
  c->args.indices = indices + (uint64_t)c->indices.base;
}

void random_case_weaken(const struct random_case *c, tptx_view *view, tptx_op *op) {
  int32_t size = (int32_t)tptx_type_bytes(view->type);
  if (c->weaken_align) view->align = view->align == 16 && size < 4 ? 4 : size;
  if (c->weaken_arith) op->arith = 64;
}
