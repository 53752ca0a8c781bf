/* SPDX-License-Identifier: Apache-2.0 */
/* The half of a model that says what is read and written, how and under which predicates. */
#include "model_records.h"
#include "spelling.h"

/* ---- Registers of an item -------------------------------------------------------------------- */

/* Integers that widen do so while they are loaded, with their own sign. */
static const char *load_word(const struct plan *plan, int32_t elements) {
  const struct access *source = plan_source(plan);
  bool extends = source->type != plan_target(plan)->type && elements == 1 &&
                 type_row(source->type)->family == FAMILY_SIGNED;
  return extends ? type_row(source->type)->word : width_row(elements * source->element_bytes)->load;
}

static const char *store_word(const struct plan *plan, int32_t elements) {
  return width_row(elements * plan_target(plan)->element_bytes)->store;
}

/* The registers that hold what is written: the ones that were read, unless they had to widen. */
static const char *value_word(const struct plan *plan) {
  return plan->read_bits == plan->write_bits ? "x" : "c";
}

static void list_lanes(struct model *m) {
  const struct plan *plan = m->plan;
  int32_t first = m->record_count;
  for (int32_t n = 0; n < plan->lanes; n++) {
    struct record *lane = add_record(m);
    record_number(lane, LANE_N, n);
    record_number(lane, LANE_NEXT, n + 1);
  }
  add_list(m, LIST_LANE, first);
  struct record *lanes = add_fact(m, LIST_LANES);
  record_number(lanes, LANES_SEVERAL, plan->lanes > 1);
  record_number(lanes, LANES_COUNT, plan->lanes);
  record_number(lanes, LANES_READ_BITS, plan->read_bits);
  record_number(lanes, LANES_WRITE_BITS, plan->write_bits);
  record_text(lanes, LANES_LOAD, load_word(plan, plan->lane_elements));
  record_text(lanes, LANES_STORE, store_word(plan, plan->lane_elements));
  record_text(lanes, LANES_VALUE, value_word(plan));
}

/* The elements of an item that may have to move alone where an edge cuts it: all but the last. */
static void list_elements(struct model *m) {
  const struct plan *plan = m->plan;
  int32_t bytes = plan_source(plan)->element_bytes;
  int32_t first = m->record_count;
  for (int32_t n = 0; n < plan->vector - 1; n++) {
    struct record *element = add_record(m);
    int32_t bit = n % plan->lane_elements * bytes * 8;
    record_number(element, ELEMENT_N, n);
    record_number(element, ELEMENT_LANE, n / plan->lane_elements);
    record_number(element, ELEMENT_READ_OFFSET, n * bytes);
    record_number(element, ELEMENT_WRITE_OFFSET, n * plan_target(plan)->element_bytes);
    record_number(element, ELEMENT_WITHIN_LANE, plan->lane_elements > 1);
    record_number(element, ELEMENT_SHIFTED, bit > 0);
    record_number(element, ELEMENT_BIT, bit);
    record_number(element, ELEMENT_BITS, bytes * 8);
    record_text(element, ELEMENT_LOAD, load_word(plan, 1));
    record_text(element, ELEMENT_STORE, store_word(plan, 1));
  }
  add_list(m, LIST_ELEMENT, first);
}

/* The registers that a read-modify-write takes: one element each, or two of 16 bits. */
static void list_words(struct model *m) {
  const struct plan *plan = m->plan;
  int32_t elements = plan->update_elements;
  int32_t words = elements ? plan->vector / elements : 0;
  int32_t first = m->record_count;
  for (int32_t n = 0; n < words; n++) {
    struct record *word = add_record(m);
    record_number(word, WORD_N, n);
    record_number(word, WORD_OFFSET, n * elements * plan->view.element_bytes);
    record_number(word, WORD_LOW, 2 * n);
    record_number(word, WORD_HIGH, 2 * n + 1);
  }
  add_list(m, LIST_WORD, first);
  /* Of pairs: those that an edge may leave whole, and all after the first. */
  first = m->record_count;
  for (int32_t n = 0; n < words - 1; n++) {
    struct record *pair = add_record(m);
    record_number(pair, PAIR_N, n);
    record_number(pair, PAIR_SECOND, 2 * n + 1);
    record_number(pair, PAIR_OFFSET, 4 * n);
  }
  add_list(m, LIST_PAIR, first);
  first = m->record_count;
  for (int32_t n = 1; n < words; n++) {
    struct record *later = add_record(m);
    record_number(later, LATER_N, n);
    record_number(later, LATER_FIRST, 2 * n);
    record_number(later, LATER_ALONE, 2 * n + 1);
  }
  add_list(m, LIST_LATER, first);
}

static void add_conversion(struct model *m) {
  const struct plan *plan = m->plan;
  const struct access *source = plan_source(plan), *target = plan_target(plan);
  int32_t steps = plan->conversion;
  bool widens = plan->read_bits != plan->write_bits;
  struct record *convert = add_fact(m, LIST_CONVERT);
  record_number(convert, CONVERT_BOOLEAN, source->type == TPTX_BOOL);
  record_number(convert, CONVERT_PACKED, plan->lane_elements > 1);
  record_number(convert, CONVERT_STEPS, steps != NO_STEP);
  record_text(convert, CONVERT_FROM, type_row(source->type)->word);
  record_text(convert, CONVERT_TO, type_row(target->type)->word);
  record_number(convert, CONVERT_WIDENS, widens);
  record_number(convert, CONVERT_EIGHT, steps & EIGHT);
  record_number(convert, CONVERT_HALF, steps & HALF);
  record_number(convert, CONVERT_UPPER, steps & UPPER);
  record_number(convert, CONVERT_DOUBLE, steps & DOUBLE);
  record_number(convert, CONVERT_LOWER, steps & LOWER);
  /* The hardware's own NaN has other bits than the one a padding promises. */
  record_number(convert, CONVERT_QUIETS,
                steps == HALF && !widens && plan->signature.pad == TPTX_PAD_NAN);
}

static void add_order(struct model *m) {
  const struct signature *s = &m->plan->signature;
  struct record *order = add_fact(m, LIST_ORDER);
  record_text(order, ORDER_SCOPE, scope_row(s->scope)->spelling);
  record_number(order, ORDER_ACQUIRE, s->order == TPTX_ORDER_ACQUIRE);
  record_number(order, ORDER_RELEASE, s->order == TPTX_ORDER_RELEASE);
}

/* ---- Coordinates and predicates -------------------------------------------------------------- */

/* The coordinate itself is wanted of every item: whether an edge cuts it depends on that. */
static bool keeps_coordinates(const struct plan *plan, bool view, int32_t axis) {
  return (view ? plan->view : plan->tile).partial && axis == plan_item_axis(plan, view);
}

static void add_coordinate(struct model *m, bool view, int32_t axis, int32_t item) {
  const struct plan *plan = m->plan;
  const struct signature *s = &plan->signature;
  const struct access *access = view ? &plan->view : &plan->tile;
  bool moves = axis == plan_moving(plan, view);
  bool gathered = view && s->kind == TPTX_GATHER_SCATTER_VIEW && axis == s->dim;
  bool checked = access->checked >> axis & 1, bounded = gathered || checked;
  bool counts = moves && plan->flight > 1 && bounded && !keeps_coordinates(plan, view, axis);
  struct record *record = add_record(m);
  record_text(record, COORDINATE_ACCESS, view ? "view" : "tile");
  record_number(record, COORDINATE_K, axis);
  record_text(record, COORDINATE_S, moves ? suffix(plan, item) : "");
  record_number(record, COORDINATE_OPENS, moves);
  record_number(record, COORDINATE_RAGGED, moves && plan_moving_is_ragged(plan, view));
  record_number(record, COORDINATE_AHEAD, moves ? item * plan_elements_ahead(plan) : 0);
  record_number(record, COORDINATE_FOLLOWS, moves && item > 0);
  record_number(record, COORDINATE_COUNTS, counts && item == 0);
  record_number(record, COORDINATE_COUNTED, counts && item > 0);
  record_number(record, COORDINATE_BESIDE, moves && item > 0 && !gathered);
  record_number(record, COORDINATE_CHECKED, checked);
  record_number(record, COORDINATE_BOUNDED, bounded);
  record_number(record, COORDINATE_GATHERED, gathered);
  record_text(record, COORDINATE_PLACE,
              gathered ? "entry" : numbered(m, view ? "view_p" : "tile_p", axis));
  record_text(record, COORDINATE_BOUND,
              gathered ? "index_count" : numbered(m, view ? "view_room" : "tile_extent", axis));
  record_text(record, COORDINATE_INDEX_TYPE, type_row(s->indices)->word);
}

/* The axes that all items share, once; then the moving axis, once an item. */
static void list_coordinates(struct model *m, enum list_name list, bool view) {
  const struct plan *plan = m->plan;
  int32_t first = m->record_count, moving = plan_moving(plan, view);
  bool picks = view && plan_picks(plan); /* which has its own way along the row */
  for (int32_t k = 0; k < plan->rank; k++)
    if (k != moving) add_coordinate(m, view, k, 0);
  for (int32_t u = 0; u < plan->flight && moving >= 0 && !picks; u++)
    add_coordinate(m, view, moving, u);
  add_list(m, list, first);
}

struct transfer {
  const char *access, *guard, *what, *strength, *value;
  bool partial;
};

static struct record *add_transfer(struct model *m, enum list_name fact, struct transfer transfer) {
  struct record *record = add_fact(m, fact);
  record_text(record, TRANSFER_ACCESS, transfer.access);
  record_text(record, TRANSFER_GUARD, transfer.guard);
  record_text(record, TRANSFER_EXTENT, transfer.partial ? "whole" : "in");
  record_number(record, TRANSFER_PARTIAL, transfer.partial);
  record_text(record, TRANSFER_WHAT, transfer.what);
  record_text(record, TRANSFER_STRENGTH, transfer.strength);
  record_text(record, TRANSFER_VALUE, transfer.value);
  return record;
}

static void add_guard(struct model *m, const char *name, bool partial) {
  struct record *record = add_record(m);
  record_text(record, GUARD_NAME, name);
  record_number(record, GUARD_PARTIAL, partial);
}

/* The aligned words around an item whose first byte may be anywhere in the first of them. */
static void list_shifted(struct model *m) {
  const struct plan *plan = m->plan;
  int32_t first = m->record_count;
  int32_t elements = 4 / plan->view.element_bytes;
  for (int32_t n = 0; plan->shifted && n <= plan->lanes; n++) {
    struct record *word = add_record(m);
    record_number(word, ALIGNED_N, n);
    record_number(word, ALIGNED_NEXT, n + 1);
    record_number(word, ALIGNED_OFFSET, 4 * n);
    record_number(word, ALIGNED_PAIR, n < plan->lanes);
  }
  add_list(m, LIST_ALIGNED, first);
  struct record *shift = add_fact(m, LIST_SHIFT);
  record_number(shift, SHIFT_BEFORE, elements - 1);
  record_number(shift, SHIFT_FROM_HERE, plan->vector + elements);
  record_number(shift, SHIFT_BYTES, plan->view.element_bytes);
  record_text(shift, SHIFT_LOAD, load_word(plan, 1));
  record_text(shift, SHIFT_STORE, store_word(plan, 1));
}

/*
 * Which predicates guard what. A load reads under the span's and writes under the tile operand's; a
 * store or update moves an element only where both hold, and old values go to the tile operand.
 */
static void list_transfers(struct model *m, const char *guard, bool cut) {
  const struct plan *plan = m->plan;
  bool reads = plan_reads_view(plan), updates = plan_effect(plan) == EFFECT_UPDATE;
  bool to_operand = reads || plan->signature.fetch;
  const char *strength = plan->strong ? scope_row(plan->signature.scope)->strength : "";
  const char *value = value_word(plan);
  struct transfer from_view = {"view", "view", "the span", strength, "x", plan->view.partial};
  /* Each side of a patch has its own items, and so its own predicate. */
  const char *tile_guard = plan_turns(plan) ? "tile" : guard;
  struct transfer from_tile = {"tile", tile_guard, "the tile operand", "", "x", cut};
  struct transfer to_view = {"view", guard, "the span", strength, value, cut};
  struct transfer to_tile = {"tile", "tile", "the tile operand", "", value, plan->tile.partial};
  struct transfer old_values = {"tile", "tile", "the old values", "", "y", plan->tile.partial};
  struct record *read = add_transfer(m, LIST_READ, reads ? from_view : from_tile);
  record_number(read, TRANSFER_SHIFTED, plan->shifted);
  struct record *write = add_transfer(m, LIST_WRITE,
                                      reads        ? to_tile
                                      : to_operand ? old_values
                                                   : to_view);
  record_number(write, TRANSFER_SECTION, updates || plan_picks(plan) ? 8 : 7);
  int32_t first = m->record_count;
  add_guard(m, guard, reads ? plan->view.partial && !plan->shifted : cut);
  if (to_operand) add_guard(m, "tile", plan->tile.partial);
  add_list(m, LIST_GUARD, first);
}

/* The sign bit of every element in a register. */
static const char *sign_mask(struct model *m) {
  const struct plan *plan = m->plan;
  struct strbuf out = begin_word(m);
  strbuf_word(&out, "0x");
  for (int32_t digit = 0; digit < plan->write_bits / 4; digit++)
    strbuf_char(&out, digit % (2 * plan->view.element_bytes) ? '0' : '8');
  return end_word(m, &out);
}

static void add_update(struct model *m, const char *guard, bool cut) {
  const struct plan *plan = m->plan;
  const struct signature *s = &plan->signature;
  const struct update_row *row = update_row(s->operation, s->type);
  bool pairs = plan->update_elements > 1, packs = pairs && plan->lane_elements == 1;
  struct record *update = add_fact(m, LIST_UPDATE);
  record_number(update, UPDATE_NEGATES, row && row->sign != SIGN_NONE);
  if (!row) return;
  record_text(update, UPDATE_GUARD, guard);
  record_text(update, UPDATE_EXTENT, cut ? "whole" : "in");
  record_number(update, UPDATE_PARTIAL, cut);
  record_text(update, UPDATE_WHAT, operation_word(s));
  record_text(update, UPDATE_OP, row->op);
  record_text(update, UPDATE_SCALAR, row->scalar);
  record_text(update, UPDATE_PAIR, row->pair);
  record_text(update, UPDATE_TYPE, pairs ? row->pair : row->scalar);
  record_number(update, UPDATE_VECTOR, plan->update_lanes > 1);
  record_number(update, UPDATE_COUNT, plan->update_lanes);
  record_number(update, UPDATE_PACKS, packs);
  record_text(update, UPDATE_VALUE, packs ? "w" : value_word(plan));
  record_number(update, UPDATE_FETCHES, s->fetch);
  record_number(update, UPDATE_PAIRS, pairs);
  record_number(update, UPDATE_SINGLE, row->pair[0] && !pairs);
  record_number(update, UPDATE_HALVES, row->pair[0] && (!pairs || cut));
  record_number(update, UPDATE_FLIPS, row->sign == SIGN_FLIP);
  record_text(update, UPDATE_MASK, sign_mask(m));
}

/*
 * The way through shared memory. Elements enter down the columns and leave as words along the rows:
 * a row runs along the side that is written. `along` and `across` are bytes to the next thread's.
 */
static void add_stage(struct model *m) {
  const struct plan *plan = m->plan;
  bool reads = plan_reads_view(plan);
  int32_t bytes = plan->view.element_bytes, pitch = plan_stage_pitch(plan);
  struct record *stage = add_fact(m, LIST_STAGE);
  record_number(stage, STAGE_BYTES,
                plan_picks(plan) ? TPTX_MAX_DENSE_ROW + ROW_COPY : plan->patch * pitch);
  record_number(stage, STAGE_ROW_BYTES, pitch);
  record_number(stage, STAGE_VIEW_ALONG, plan->vector * (reads ? pitch : bytes));
  record_number(stage, STAGE_VIEW_ACROSS, reads ? bytes : pitch);
  record_number(stage, STAGE_TILE_ALONG, plan->vector * (reads ? bytes : pitch));
  record_number(stage, STAGE_TILE_ACROSS, reads ? pitch : bytes);
  record_text(stage, STAGE_ENTERS, reads ? "view" : "tile");
  record_text(stage, STAGE_LEAVES, reads ? "tile" : "view");
  record_text(stage, STAGE_ELEMENT, width_row(bytes)->store);
  record_number(stage, STAGE_ELEMENT_BITS, 8 * bytes);
  record_text(stage, STAGE_WORD, width_row(plan->lane_elements * bytes)->load);
}

static void add_pick(struct model *m) {
  const struct plan *plan = m->plan;
  const struct signature *s = &plan->signature;
  int32_t bytes = plan->view.element_bytes;
  bool wide = type_row(s->indices)->bytes == 8;
  struct record *pick = add_fact(m, LIST_PICK);
  record_number(pick, PICK_ENDS, plan_row_has_ends(plan));
  record_number(pick, PICK_HEAD, plan_row_has_head(plan));
  record_number(pick, PICK_ELEMENT_BYTES, bytes);
  record_number(pick, PICK_ELEMENT_BITS, bytes == 8 ? 64 : 32);
  record_text(pick, PICK_LOAD, width_row(bytes)->load);
  record_text(pick, PICK_STORE, width_row(bytes)->store);
  record_number(pick, PICK_BLOCK_BYTES, ROW_COPY * plan->block);
  record_number(pick, PICK_THREADS, plan->threads[plan->fast] > 1);
  record_number(pick, PICK_CHECKED, plan->view.checked >> plan->fast & 1);
  record_text(pick, PICK_INDEX_TYPE, type_row(s->indices)->word);
  record_number(pick, PICK_INDEX_BITS, wide ? 64 : 32);
  record_number(pick, PICK_WIDE, wide);
}

static void list_turned(struct model *m) {
  const struct plan *plan = m->plan;
  int32_t first = m->record_count;
  for (int32_t n = 0; n < plan->vector && plan_turns(plan); n++) {
    struct record *entry = add_record(m);
    record_number(entry, ENTRY_LANE, n / plan->lane_elements);
    record_number(entry, ENTRY_SHIFTS, (n + 1) % plan->lane_elements != 0);
  }
  add_list(m, LIST_ENTRY, first);
  first = m->record_count;
  for (int32_t i = 0; i < plan->flight * plan->lanes && plan_turns(plan); i++) {
    int32_t u = i / plan->lanes, n = i % plan->lanes, bytes = plan->view.element_bytes;
    struct record *exit = add_record(m);
    record_text(exit, EXIT_S, suffix(plan, u));
    record_number(exit, EXIT_LANE, n);
    record_number(exit, EXIT_OFFSET,
                  u * plan_patch_rows(plan) * plan_stage_pitch(plan) +
                      n * plan->lane_elements * bytes);
  }
  add_list(m, LIST_EXIT, first);
  first = m->record_count;
  for (int32_t i = 0; i < 2 && plan_turns(plan); i++) {
    int32_t axis = i == 0 ? plan->moving : plan->unit;
    struct record *turned = add_record(m);
    record_number(turned, TURNED_K, axis);
    record_number(turned, TURNED_SCALED, i == 0 && plan->vector > 1);
    record_number(turned, TURNED_THREAD_ELEMENTS, plan->vector);
    record_number(turned, TURNED_PART_ELEMENTS, plan->patch);
    record_number(turned, TURNED_PARTS, plan->parts[axis] > 1);
    record_number(turned, TURNED_RAGGED, i == 0 && plan->ragged >> axis & 1);
    record_number(turned, TURNED_SHAPE, plan->shape[axis]);
  }
  add_list(m, LIST_TURNED, first);
}

/* Which guard a write has, and then everything that depends on it. */
static void list_guarded(struct model *m) {
  const struct plan *plan = m->plan;
  const struct signature *s = &plan->signature;
  bool array = s->tiles == TPTX_TILES_ARRAY, reads = plan_reads_view(plan);
  bool cut = plan->view.partial || plan->tile.partial;
  const char *guard = !reads && array ? "both" : "view";
  struct record *view = add_fact(m, LIST_VIEW), *tile = add_fact(m, LIST_TILE);
  record_number(view, VIEW_ALONG, plan_item_axis(plan, true));
  record_number(tile, TILE_ALONG, plan_item_axis(plan, false));
  record_number(tile, TILE_SECTION, plan_picks(plan) ? 7 : 5);
  record_number(view, VIEW_PARTIAL, plan->view.partial);
  record_number(view, VIEW_GATHERS, s->kind == TPTX_GATHER_SCATTER_VIEW);
  record_number(view, VIEW_CUTS, plan_cuts_entries(plan));
  record_number(tile, TILE_PARTIAL, plan->tile.partial);
  record_number(tile, TILE_PACKED, !array);
  struct record *both = add_fact(m, LIST_BOTH);
  record_number(both, BOTH_JOINS, !reads && array);
  record_number(both, BOTH_PARTIAL, cut);
  list_coordinates(m, LIST_VIEW_COORDINATE, true);
  list_coordinates(m, LIST_TILE_COORDINATE, false);
  list_shifted(m);
  add_stage(m);
  add_pick(m);
  list_turned(m);
  list_transfers(m, guard, cut);
  add_update(m, guard, cut);
}

void list_accesses(struct model *m) {
  list_lanes(m);
  list_elements(m);
  list_words(m);
  add_conversion(m);
  add_order(m);
  list_guarded(m);
}
