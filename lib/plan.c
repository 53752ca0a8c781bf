/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "layout.h"
#include "operands.h"
#include "plan_quantities.h"
#include "rows.h"
#include "status.h"
#include "target.h"

#include <string.h>

enum { USUAL_BLOCK = 256, VECTOR_BYTES = 16, WORD_BYTES = 4 };

enum effect plan_effect(const struct plan *plan) {
  return operation_row(plan->signature.operation)->effect;
}

bool plan_reads_view(const struct plan *plan) {
  return plan_effect(plan) == EFFECT_READ;
}

const struct access *plan_source(const struct plan *plan) {
  return plan_reads_view(plan) ? &plan->view : &plan->tile;
}

const struct access *plan_target(const struct plan *plan) {
  return plan_reads_view(plan) ? &plan->tile : &plan->view;
}

static bool gathers(const struct plan *plan) {
  return plan->signature.kind == TPTX_GATHER_SCATTER_VIEW;
}

bool plan_cuts_entries(const struct plan *plan) {
  return gathers(plan) && 8 * type_row(plan->signature.indices)->bytes > plan->index_bits;
}

int32_t plan_threads_of_tile(const struct plan *plan) {
  int32_t threads = 1;
  for (int32_t k = 0; k < plan->rank; k++) threads *= plan->threads[k];
  return threads;
}

int64_t plan_parts(const struct plan *plan) {
  int64_t parts = 1;
  for (int32_t k = 0; k < plan->rank; k++) parts *= plan->parts[k];
  return parts;
}

int64_t plan_blocks(const struct plan *plan) {
  return plan->rounds ? 1 : plan_parts(plan);
}

bool plan_turns(const struct plan *plan) {
  return plan->staging == STAGING_PATCHES;
}

bool plan_picks(const struct plan *plan) {
  return plan->staging == STAGING_ROWS;
}

bool plan_items_apart(const struct plan *plan) {
  return plan->moving >= 0;
}

int32_t plan_moving(const struct plan *plan, bool view) {
  return plan_turns(plan) && !view ? plan->unit : plan->moving;
}

int32_t plan_item_axis(const struct plan *plan, bool view) {
  return plan_turns(plan) && view ? plan->unit : plan->fast;
}

int32_t plan_patch_rows(const struct plan *plan) {
  return plan_turns(plan) ? plan->patch / plan->flight : 0;
}

int32_t plan_stage_pitch(const struct plan *plan) {
  int32_t bytes = plan->view.element_bytes;
  return plan->patch * bytes + (bytes > WORD_BYTES ? bytes : WORD_BYTES);
}

int32_t plan_grain(const struct plan *plan, bool view) {
  int32_t item = plan->vector * (view ? plan->view : plan->tile).element_bytes;
  if (!view) return item;
  if (plan->shifted) return 1;
  return plan_picks(plan) && !plan_row_has_head(plan) ? ROW_COPY : item;
}

bool plan_row_has_head(const struct plan *plan) {
  return plan_picks(plan) && plan->signature.align < ROW_COPY;
}

bool plan_row_has_ends(const struct plan *plan) {
  const struct signature *s = &plan->signature;
  if (!plan_picks(plan)) return false;
  if (plan_row_has_head(plan)) return true;
  if (s->extents[s->dim] == TPTX_DYNAMIC) return s->layout == TPTX_LAYOUT_STRIDED;
  return s->extents[s->dim] * plan->view.element_bytes % ROW_COPY != 0;
}

int32_t plan_elements_ahead(const struct plan *plan) {
  if (plan->moving < 0) return 0;
  bool items = plan->moving == plan_item_axis(plan, true);
  return plan->threads[plan->moving] * (items ? plan->vector : 1);
}

bool plan_moving_is_ragged(const struct plan *plan, bool view) {
  return plan_items_apart(plan) && plan->ragged >> plan_moving(plan, view) & 1;
}

static void note(struct plan *plan, enum note_name name, int64_t first, int64_t second) {
  if (plan->note_count < MAX_NOTES)
    plan->notes[plan->note_count++] = (struct note){(int32_t)name, first, second};
}

const char *note_text(enum note_name name) {
  static const char *const texts[] = {
#define NOTE(name, text) text,
#include "notes.def"
#undef NOTE
  };
  return texts[name];
}

/* ---- Staging --------------------------------------------------------------------------------- */

/*
 * Transposed spans: a warp that is contiguous on one side is scattered over the other. Square
 * patches are read along the span's unit axis, turned in shared memory, and written along the tile
 * operand's, in items of 16 bytes on both sides. Measured: 64x64 f32 tiles of a transposed span
 * from 0.46 to 0.97 of a copy.
 */
static void choose_patches(struct plan *plan) {
  enum { WIDE = 64, NARROW = 32 };
  const struct signature *s = &plan->signature;
  struct item_axes along = item_axes(s);
  int32_t last = plan->rank - 1;
  bool moves = plan_effect(plan) == EFFECT_READ ||
               (plan_effect(plan) == EFFECT_WRITE && s->tiles == TPTX_TILES_PACKED);
  if (along.view == along.tile || along.tile != last || (gathers(plan) && s->dim == along.view))
    return;
  if (!moves || plan->strong || s->value != s->type || s->threads || s->flight) return;
  if (s->staging == TPTX_STAGING_NONE) return;
  int32_t shorter = plan->shape[last];
  if (plan->shape[along.view] < shorter) shorter = plan->shape[along.view];
  if (shorter < NARROW / 2) return;
  plan->staging = STAGING_PATCHES;
  plan->unit = along.view;
  plan->moving = last;
  plan->patch = shorter < WIDE || plan->view.element_bytes > WORD_BYTES ? NARROW : WIDE;
  note(plan, NOTE_STAGED, plan->unit, plan->patch);
}

/*
 * All threads that a multiprocessor holds share its registers; left alone, the compiler takes up to
 * 46 for a patch, and half of the blocks are missing. Measured: f32 patches into an array from 0.87
 * to 0.95 of a copy. Patches that would spill for it, of more axes, wider coordinates or a tile
 * that patches overshoot, are left alone.
 */
static void limit_registers(struct plan *plan) {
  enum { REGISTERS = 65536, GRAIN = 8 };
  int32_t threads = target_threads(plan->signature.sm);
  int32_t filled = threads / plan->block * plan->block;
  bool few = plan->index_bits == 32 && plan->rank <= FEW_AXES && !plan->ragged;
  if ((few || plan_picks(plan)) && filled > 0) plan->registers = REGISTERS / filled / GRAIN * GRAIN;
}

/*
 * Columns: an element is 4 bytes of a sector of 32, and the others of the sector are asked for by
 * other blocks, too late for the cache. Where picks are dense, one block brings a whole row to
 * shared memory and takes all picks from there. Measured: f32 from 0.30 to 0.96 of a copy.
 */
static void choose_rows(struct plan *plan) {
  const struct signature *s = &plan->signature;
  int32_t flight = rows_flight(s);
  if (s->picks != TPTX_PICKS_DENSE || flight == 0) return;
  plan->staging = STAGING_ROWS;
  plan->moving = plan->fast;
  plan->flight = flight;
  note(plan, NOTE_ROWS, s->dim, TPTX_MAX_DENSE_ROW);
}

/* All threads of a tile along its row; every other axis is the block's. */
static void deal_row(struct plan *plan) {
  for (int32_t k = 0; k < plan->rank; k++) plan->threads[k] = 1;
  plan->threads[plan->fast] = plan->items[plan->fast] / plan->flight;
}

/* Two items a thread; more, or one, where a block would pass 512 threads or miss 256. */
static void deal_patch(struct plan *plan) {
  enum { USUAL_FLIGHT = 2 };
  int32_t items = plan->patch * plan->patch / plan->vector;
  plan->flight = USUAL_FLIGHT;
  while (items / plan->flight > 2 * USUAL_BLOCK) plan->flight *= 2;
  if (items / plan->flight < USUAL_BLOCK) plan->flight /= 2;
  for (int32_t k = 0; k < plan->rank; k++) plan->threads[k] = 1;
  plan->threads[plan->unit] = plan->patch / plan->vector;
  plan->threads[plan->moving] = plan_patch_rows(plan);
}

/* ---- Vector width ---------------------------------------------------------------------------- */

/* The largest power of two up to `most` that divides `number`. */
static int32_t power_dividing(int64_t number, int32_t most) {
  int32_t power = 1;
  while (power < most && number % (2 * (int64_t)power) == 0) power *= 2;
  return power;
}

static void limit_vector(struct plan *plan, int64_t number, enum note_name why) {
  int32_t limit = power_dividing(number, plan->vector);
  if (limit == plan->vector) return;
  plan->vector = limit;
  note(plan, why, limit, number);
}

static void limit_vector_by_pitches(struct plan *plan, bool view) {
  const struct signature *s = &plan->signature;
  struct layout layout = {.rank = s->rank, .bytes = 1};
  int32_t kind = view ? s->layout : s->tile_layout;
  memcpy(layout.strides, view ? s->layout_strides : s->tile_strides, sizeof layout.strides);
  for (int32_t k = 0; k < s->rank; k++) layout.extents[k] = view ? s->extents[k] : TPTX_DYNAMIC;
  if (kind != TPTX_LAYOUT_STRIDED && !layout_strides_of(&layout, kind)) return;
  for (int32_t k = 0; k < layout.rank; k++)
    if (k != plan_item_axis(plan, view) && layout.strides[k] != TPTX_DYNAMIC)
      limit_vector(plan, layout.strides[k], NOTE_VECTOR_PITCH);
}

static bool vectors_possible(struct plan *plan) {
  if (plan_turns(plan)) return true;
  const struct signature *s = &plan->signature;
  int32_t fast = plan->fast;
  bool gathered = gathers(plan) && s->dim == fast;
  bool view_unit = s->rank == 0 || stride_is_one(s->layout, s->layout_strides, s->rank, fast);
  bool tile_unit = s->rank == 0 || stride_is_one(s->tile_layout, s->tile_strides, s->rank, fast);
  if (gathered) note(plan, NOTE_VECTOR_GATHERED, 0, 0);
  if (!view_unit) note(plan, NOTE_VECTOR_VIEW_STRIDE, 0, 0);
  if (!tile_unit) note(plan, NOTE_VECTOR_TILE_STRIDE, 0, 0);
  return !gathered && view_unit && tile_unit;
}

/* An upper bound that follows from the types alone. */
static void limit_vector_by_types(struct plan *plan) {
  const struct signature *s = &plan->signature;
  int32_t bytes = plan->view.element_bytes;
  int32_t widest = bytes > plan->tile.element_bytes ? bytes : plan->tile.element_bytes;
  plan->vector = VECTOR_BYTES / widest;
  if (s->align < plan->vector * widest) {
    plan->vector = s->align > widest ? s->align / widest : 1;
    note(plan, NOTE_VECTOR_ALIGN, plan->vector, s->align);
  }
  if (s->value != s->type && plan->vector > 4) {
    plan->vector = 4;
    note(plan, NOTE_VECTOR_CONVERTED, 4, 4);
  }
  if (plan->strong && bytes < 4 && plan_effect(plan) != EFFECT_UPDATE && plan->vector > 4) {
    plan->vector = 4;
    note(plan, NOTE_VECTOR_STRONG, 4, bytes);
  }
}

/*
 * Narrow elements of a span whose rows begin at any byte: read one by one they cost an instruction
 * a byte. Aligned words that lie inside the row, shifted into place, cost a third of it; they need
 * no promise about the span, only one about the tile operand. Measured: u8 from 0.49 to 0.91 of a
 * copy, bf16 from 0.78 to 0.96.
 */
static void choose_shifted(struct plan *plan) {
  const struct signature *s = &plan->signature;
  enum { MOST_ELEMENTS = 8 }; /* as often does the loop at the ends of rows go round */
  int32_t bytes = plan->view.element_bytes;
  if (!signature_may_shift(s) || plan_turns(plan) || plan->vector * bytes >= WORD_BYTES) return;
  int32_t most = s->tile_align / bytes;
  int32_t vector =
      power_dividing(plan->shape[plan->fast], most < MOST_ELEMENTS ? most : MOST_ELEMENTS);
  for (int32_t k = 0; k < s->rank && s->tile_layout == TPTX_LAYOUT_STRIDED; k++)
    if (k != plan->fast && s->tile_strides[k] != TPTX_DYNAMIC)
      vector = power_dividing(s->tile_strides[k], vector);
  if (vector * bytes < WORD_BYTES) return;
  plan->vector = vector;
  plan->shifted = 1;
  note(plan, NOTE_SHIFTED, vector, WORD_BYTES);
}

static void choose_vector(struct plan *plan) {
  const struct signature *s = &plan->signature;
  int32_t along = plan_item_axis(plan, true);
  plan->vector = 1;
  if (!vectors_possible(plan)) return;
  limit_vector_by_types(plan);
  limit_vector(plan, plan->shape[along], NOTE_VECTOR_SHAPE);
  limit_vector(plan, plan->shape[plan_item_axis(plan, false)], NOTE_VECTOR_SHAPE);
  if (!gathers(plan) && s->rank > 0) limit_vector(plan, s->strides[along], NOTE_VECTOR_STEP);
  limit_vector_by_pitches(plan, true);
  if (s->tiles == TPTX_TILES_ARRAY) limit_vector_by_pitches(plan, false);
  if (plan_turns(plan) && s->extents[along] != TPTX_DYNAMIC)
    limit_vector(plan, s->extents[along], NOTE_VECTOR_EXTENT);
  choose_shifted(plan);
}

/*
 * How an item lies in registers. Elements share a register where nothing looks inside; strong
 * accesses and conversions take one register an element, for two strong accesses are morally strong
 * only if they overlap completely (PTX ISA, memory consistency model).
 */
static void choose_lanes(struct plan *plan) {
  const struct signature *s = &plan->signature;
  const struct access *source = plan_source(plan), *target = plan_target(plan);
  bool single = s->value != s->type || (plan->strong && plan_effect(plan) != EFFECT_UPDATE);
  int32_t bytes = source->element_bytes;
  plan->conversion = conversion_steps(source->type, target->type);
  plan->write_bits = target->element_bytes == 8 ? 64 : 32;
  plan->read_bits = plan->conversion == NO_STEP ? plan->write_bits : bytes == 8 ? 64 : 32;
  plan->lane_elements = 1;
  while (!single && plan->lane_elements < plan->vector && bytes * plan->lane_elements < 4)
    plan->lane_elements *= 2;
  plan->lanes = plan->vector / plan->lane_elements;
}

/* The widest form of the read-modify-write that target and version allow. */
static void choose_update(struct plan *plan) {
  const struct signature *s = &plan->signature;
  if (plan_effect(plan) != EFFECT_UPDATE) return;
  const struct update_row *row = update_row(s->operation, s->type);
  bool vectors = row->vector_sm && s->sm >= row->vector_sm && s->ptx >= row->vector_ptx;
  plan->update_elements = row->pair[0] && plan->vector > 1 ? 2 : 1;
  int32_t words = plan->vector / plan->update_elements;
  plan->update_lanes = vectors && !s->fetch ? words : 1;
  if (plan->update_lanes < words) note(plan, NOTE_UPDATE_SCALAR, s->sm, 0);
  if (row->pair[0] && plan->vector == 1) note(plan, NOTE_UPDATE_LOOP, 0, 0);
}

/* ---- Threads and items ----------------------------------------------------------------------- */

/* Independent accesses that hide the latency of memory: fewer, the wider each is. Measured. */
static int32_t usual_flight(const struct plan *plan) {
  int32_t bytes = plan->vector * plan->view.element_bytes;
  if (bytes >= 16) return gathers(plan) ? 2 : 1;
  if (bytes >= 8) return 2;
  return bytes >= 4 ? 4 : 8;
}

static int32_t largest_divisor_up_to(int32_t number, int32_t most) {
  int32_t divisor = most;
  while (number % divisor) divisor--;
  return divisor;
}

int32_t plan_axis_in_order(const struct plan *plan, int32_t place) {
  int32_t axis = place == 0 ? plan->fast : plan->rank - place;
  return place > 0 && axis <= plan->fast ? axis - 1 : axis;
}

int32_t plan_box_axis(const struct plan *plan, int32_t place) {
  bool array = plan->signature.tiles == TPTX_TILES_ARRAY;
  return array ? plan_axis_in_order(plan, place) : plan->rank - 1 - place;
}

/* In that order: the whole axis where it fits, else most of the room that is left. */
static void deal_threads(struct plan *plan, int32_t room) {
  for (int32_t place = 0; place < plan->rank; place++) {
    int32_t k = plan_axis_in_order(plan, place);
    int32_t flight = k == plan->moving ? plan->flight : 1;
    int32_t items = (plan->items[k] + flight - 1) / flight;
    int32_t threads = items;
    if (items > room) {
      int32_t divisor = largest_divisor_up_to(items, room);
      threads = 2 * divisor > room ? divisor : room;
    }
    plan->threads[k] = threads;
    room /= threads;
  }
}

/* One entry of the index array then serves all items of a thread. */
static bool items_follow_rows(const struct plan *plan) {
  enum { RUN_BYTES = 128 };
  int32_t items = plan->items[plan->fast] / plan->flight;
  return gathers(plan) && plan->signature.dim != plan->fast &&
         plan->items[plan->fast] % plan->flight == 0 &&
         items * plan->vector * plan->view.element_bytes >= RUN_BYTES;
}

/*
 * The fast axis of gathered rows, where the threads still read runs of memory. Else prefers another
 * axis, whose items the flight divides: neighbouring threads then keep neighbouring items; the fast
 * one does where a whole warp stays on it.
 */
static void choose_moving(struct plan *plan, int32_t flight) {
  int32_t fast = plan->fast;
  for (plan->flight = flight; plan->flight > 1; plan->flight /= 2) {
    plan->moving = fast;
    if (items_follow_rows(plan)) return;
    for (int32_t place = 1; place < plan->rank; place++) {
      plan->moving = plan_axis_in_order(plan, place);
      if (plan->items[plan->moving] % plan->flight == 0) return;
    }
    plan->moving = fast;
    if (plan->items[fast] % plan->flight == 0 && plan->items[fast] / plan->flight >= 32) return;
  }
  plan->moving = -1;
}

/* Where no axis divides: the axis that would take most rounds, some threads overshoot the tile. */
static void choose_ragged_moving(struct plan *plan, int32_t flight, int32_t room) {
  int32_t most = 1;
  deal_threads(plan, room);
  for (int32_t k = 0; k < plan->rank; k++) {
    int32_t rounds = (plan->items[k] + plan->threads[k] - 1) / plan->threads[k];
    if (rounds <= most) continue;
    most = rounds;
    plan->moving = k;
  }
  for (plan->flight = flight; plan->flight > most; plan->flight /= 2) continue;
  if (plan->flight == 1) plan->moving = -1;
}

static void choose_items(struct plan *plan, int32_t flight, int32_t room) {
  choose_moving(plan, flight);
  if (plan->moving < 0 && flight > 1) choose_ragged_moving(plan, flight, room);
  if (plan->moving < 0 || plan->items[plan->moving] % plan->flight == 0) deal_threads(plan, room);
}

/*
 * How many threads of a block work on one tile. Rows of a tile that are shorter than 256 bytes are
 * read beside the same rows of the next tiles, so that a block still reads whole runs of memory.
 * Measured: a 4x4x16x16 f32 tile reached 0.91 of a copy without.
 */
static int32_t room_of_tile(const struct plan *plan, int32_t room) {
  enum { RUN_BYTES = 256, MOST_NEIGHBOURS = 8, WARP = 32 };
  int64_t bytes = (int64_t)plan->shape[plan->fast] * plan->view.element_bytes;
  int32_t neighbours = 1;
  if (gathers(plan)) return room;
  while (neighbours < MOST_NEIGHBOURS && 2 * neighbours * bytes <= RUN_BYTES &&
         room / (2 * neighbours) >= WARP)
    neighbours *= 2;
  return room / neighbours;
}

static void choose_threads(struct plan *plan) {
  const struct signature *s = &plan->signature;
  int32_t usual = plan_picks(plan) ? LARGEST_BLOCK : USUAL_BLOCK;
  int32_t block = s->threads ? s->threads : usual;
  int32_t room = room_of_tile(plan, block);
  int32_t flight = s->flight ? s->flight : usual_flight(plan);
  for (int32_t k = 0; k < plan->rank; k++) plan->items[k] = plan->shape[k];
  plan->items[plan_item_axis(plan, true)] /= plan->vector;
  if (plan_turns(plan))
    deal_patch(plan);
  else if (plan_picks(plan))
    deal_row(plan);
  else
    choose_items(plan, flight, room);
  if (!plan->staging && room < block) note(plan, NOTE_NEIGHBOURS, block / room, 0);
  bool whole = true;
  for (int32_t k = 0; k < plan->rank; k++) {
    int32_t reach = plan->threads[k] * (k == plan->moving ? plan->flight : 1);
    plan->parts[k] = (plan->items[k] + reach - 1) / reach;
    if (plan->parts[k] * reach > plan->items[k]) plan->ragged |= 1 << k;
    whole = whole && plan->parts[k] == 1;
  }
  int32_t threads = plan_threads_of_tile(plan);
  plan->tiles_per_block = plan_turns(plan) ? 1 : block / threads;
  threads *= plan->tiles_per_block;
  plan->block = (threads + 31) / 32 * 32;
  plan->idle = plan->block > threads;
  plan->rounds = s->scope == TPTX_SCOPE_BLOCK && !whole;
  if (plan->staging != STAGING_NONE && plan_reads_view(plan)) limit_registers(plan);
  if (plan->rounds) note(plan, NOTE_ROUNDS, plan_parts(plan), 0);
}

/* ---- Masks ----------------------------------------------------------------------------------- */

/* Every chunk of the index space lies wholly inside on this axis. */
static bool chunks_are_whole(const struct signature *s, int32_t k) {
  if (s->rank == 0 || s->extents[k] == 0) return true;
  if (s->extents[k] == TPTX_DYNAMIC) return false;
  int64_t last = (s->extents[k] - 1) / s->strides[k] * s->strides[k];
  return s->shape[k] <= s->extents[k] - last;
}

/* A row's end never cuts an item: static, or what the alignment class covers. */
static bool rows_hold_whole_items(const struct plan *plan, int32_t layout, int64_t extent) {
  if (plan_turns(plan)) return true;
  if (extent != TPTX_DYNAMIC) return extent % plan->vector == 0;
  return layout != TPTX_LAYOUT_STRIDED && plan->rank >= 2;
}

static int32_t choose_view_checks(const struct plan *plan) {
  const struct signature *s = &plan->signature;
  int32_t checked = 0;
  for (int32_t k = 0; k < plan->rank; k++) {
    bool check = s->masked && !chunks_are_whole(s, k);
    /* The box of a gather may start anywhere, so a static extent proves nothing there. */
    if (gathers(plan)) check = k == s->dim ? !s->assume_in_bounds : s->masked;
    checked |= (int32_t)check << k;
  }
  return checked;
}

static void choose_masks(struct plan *plan) {
  const struct signature *s = &plan->signature;
  int32_t along = plan_item_axis(plan, true);
  bool array = s->tiles == TPTX_TILES_ARRAY;
  int64_t extent = s->rank == 0 ? 1 : s->extents[along];
  plan->view.checked = choose_view_checks(plan);
  if (plan->shifted) plan->view.checked |= 1 << along;
  plan->tile.checked = array ? (1 << plan->rank) - 1 : 0;
  plan->view.partial = plan->shifted || (plan->vector > 1 && plan->view.checked >> along & 1 &&
                                         !rows_hold_whole_items(plan, s->layout, extent));
  plan->tile.partial =
      plan->vector > 1 && array && !rows_hold_whole_items(plan, s->tile_layout, TPTX_DYNAMIC);
  bool partial_read = plan->view.partial || (!plan_reads_view(plan) && plan->tile.partial);
  bool looked_at = plan_source(plan)->type == TPTX_BOOL || plan->conversion != NO_STEP ||
                   s->operation == TPTX_ATOMIC_SUB;
  plan->padded = (plan_reads_view(plan) && (s->masked || plan->view.checked || gathers(plan))) ||
                 looked_at || plan->staging || (partial_read && plan->lane_elements > 1);
  if (plan->view.partial || plan->tile.partial) note(plan, NOTE_PARTIAL, plan->vector, 0);
}

static void need(struct plan *plan, int32_t sm, int32_t ptx) {
  if (plan->needed_sm < sm) plan->needed_sm = sm;
  if (plan->needed_ptx < ptx) plan->needed_ptx = ptx;
}

/* Running maxima over the forms of the text; the target's own lowest version counts last. */
static tptx_status choose_header(struct plan *plan, tptx_error *error) {
  const struct signature *s = &plan->signature;
  need(plan, plan_picks(plan) ? 80 : 75, LOWEST_PTX);
  if (plan_effect(plan) == EFFECT_UPDATE) {
    const struct update_row *row = update_row(s->operation, s->type);
    need(plan, row->sm, row->ptx);
    if (plan->update_lanes > 1) need(plan, row->vector_sm, row->vector_ptx);
  }
  /* The 8-bit conversion is of PTX 8.1 on sm_89, of 7.8 from sm_90 on. */
  if (plan->conversion & EIGHT) need(plan, s->sm > 89 ? 90 : 89, s->sm > 89 ? 78 : 81);
  need(plan, 0, target_lowest_ptx(plan->needed_sm));
  REFUSE_IF(s->sm < plan->needed_sm, error, TPTX_ERROR_TARGET, "target", -1,
            "%s of %s%s%s needs sm_%d, the target is sm_%d", operation_word(s),
            type_row(s->type)->word, s->value != s->type ? " with a tile operand of " : "",
            s->value != s->type ? type_row(s->value)->word : "", plan->needed_sm, s->sm);
  REFUSE_IF(s->ptx < plan->needed_ptx, error, TPTX_ERROR_PTX_VERSION, "ptx", -1,
            "%s of %s needs PTX %d.%d, but the reader takes at most %d.%d", operation_word(s),
            type_row(s->type)->word, plan->needed_ptx / 10, plan->needed_ptx % 10, s->ptx / 10,
            s->ptx % 10);
  return TPTX_OK;
}

tptx_status plan_make(const struct signature *signature, struct plan *plan, tptx_error *error) {
  memset(plan, 0, offsetof(struct plan, quantities));
  plan->note_count = 0;
  plan->signature = *signature;
  plan->rank = signature->rank > 0 ? signature->rank : 1;
  plan->fast = fast_axis(signature);
  if (plan->fast < signature->rank - 1) note(plan, NOTE_FAST_AXIS, plan->fast, 0);
  plan->view.type = signature->type;
  plan->view.element_bytes = type_row(signature->type)->bytes;
  plan->tile.type = signature->value;
  plan->tile.element_bytes = type_row(signature->value)->bytes;
  plan->strong = operation_row(signature->operation)->atomic;
  plan->index_bits = signature->arith;
  plan->moving = plan->unit = -1;
  plan->flight = 1;
  for (int32_t k = 0; k < plan->rank; k++)
    plan->shape[k] = signature->rank > 0 ? (int32_t)signature->shape[k] : 1;
  choose_patches(plan);
  choose_rows(plan);
  choose_vector(plan);
  choose_lanes(plan);
  choose_update(plan);
  choose_threads(plan);
  choose_masks(plan);
  if (plan->index_bits == 64) note(plan, NOTE_WIDE, 0, 0);
  if (signature->latency) note(plan, NOTE_LATENCY, signature->latency, 0);
  if (!signature->allow_tma) note(plan, NOTE_ALLOW_TMA, 0, 0);
  FORWARD(choose_header(plan, error));
  return plan_quantities(plan, error);
}
