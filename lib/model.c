/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include "model_records.h"
#include "spelling.h"

static const char *sizes(struct model *m, const int32_t *numbers) {
  struct strbuf out = begin_word(m);
  for (int32_t k = 0; k < m->plan->rank; k++) {
    if (k > 0) strbuf_char(&out, 'x');
    strbuf_number(&out, numbers[k]);
  }
  return end_word(m, &out);
}

static const char *version(struct model *m, int32_t number) {
  struct strbuf out = begin_word(m);
  strbuf_number(&out, number / 10);
  strbuf_char(&out, '.');
  strbuf_number(&out, number % 10);
  return end_word(m, &out);
}

/* ---- Quantities ------------------------------------------------------------------------------ */

/* Paddings are bit patterns; everything else counts something. */
static const char *constant_value(struct model *m, const struct quantity *quantity) {
  struct strbuf out = begin_word(m);
  if (quantity->name == QUANTITY_PAD) {
    strbuf_word(&out, "0x");
    strbuf_hex(&out, (uint64_t)quantity->value, quantity->bits / 4);
  } else {
    strbuf_number(&out, quantity->value);
  }
  return end_word(m, &out);
}

static void list_quantities(struct model *m, enum list_name list, bool constant) {
  int32_t first = m->record_count;
  for (int32_t i = 0; i < m->plan->quantity_count; i++) {
    const struct quantity *q = &m->plan->quantities[i];
    if (q->constant != constant) continue;
    struct record *record = add_record(m);
    struct strbuf word = begin_word(m);
    quantity_write_name(q, &word);
    record_text(record, NUMBER_NAME, end_word(m, &word));
    record_text(record, NUMBER_MEANING, quantity_meaning((enum quantity_name)q->name));
    record_number(record, NUMBER_BITS, q->bits);
    record_text(record, NUMBER_TYPE, arithmetic_row(q->bits)->unsigned_type);
    if (constant) record_text(record, NUMBER_VALUE, constant_value(m, q));
  }
  add_list(m, list, first);
}

/* ---- Mixed radix ----------------------------------------------------------------------------- */

struct digit {
  int32_t axis, size;
  const char *from, *into; /* registers; the axis is added to `into` */
  bool rest;               /* nothing is left above this digit */
};

static void add_digit(struct model *m, struct digit digit) {
  struct division division = division_by((uint32_t)digit.size);
  bool power = (digit.size & (digit.size - 1)) == 0;
  struct record *record = add_record(m);
  record_number(record, DIGIT_K, digit.axis);
  record_text(record, DIGIT_FROM, digit.from);
  record_text(record, DIGIT_INTO, numbered(m, digit.into, digit.axis));
  record_number(record, DIGIT_SIZE, digit.size);
  record_number(record, DIGIT_REST, digit.rest);
  record_number(record, DIGIT_POWER, power);
  record_number(record, DIGIT_MASK, digit.size - 1);
  record_number(record, DIGIT_MAGIC, division.multiplier);
  record_number(record, DIGIT_SHIFT,
                power ? __builtin_ctz((unsigned)digit.size) : (int)division.shift);
}

static void list_block_digits(struct model *m) {
  const struct plan *plan = m->plan;
  int32_t first = m->record_count;
  for (int32_t k = plan->rank - 1; k >= 0; k--)
    if (plan->parts[k] > 1)
      add_digit(m, (struct digit){k, plan->parts[k], plan->rounds ? "r" : "n",
                                  plan_picks(plan) ? "j" : "part", false});
  add_list(m, LIST_BLOCK_DIGIT, first);
}

/* A patch has its span's unit axis first, and its tile operand's once it is turned. */
static void list_patch_digits(struct model *m, enum list_name list, int32_t along, int32_t across) {
  const struct plan *plan = m->plan;
  int32_t first = m->record_count;
  add_digit(m, (struct digit){along, plan->patch / plan->vector, "t", "j", false});
  add_digit(m, (struct digit){across, plan_patch_rows(plan), "t", "j", true});
  add_list(m, list, first);
}

static void list_thread_digits(struct model *m) {
  const struct plan *plan = m->plan;
  int32_t first = m->record_count, left = 0;
  if (plan_turns(plan)) {
    list_patch_digits(m, LIST_THREAD_DIGIT, plan->unit, plan->moving);
    list_patch_digits(m, LIST_TURN_DIGIT, plan->moving, plan->unit);
    return;
  }
  for (int32_t k = 0; k < plan->rank; k++) left += plan->threads[k] > 1;
  for (int32_t place = 0; place < plan->rank; place++) {
    int32_t k = plan_axis_in_order(plan, place);
    if (plan->threads[k] == 1) continue;
    bool rest = --left == 0 && plan->tiles_per_block == 1 && !plan_picks(plan);
    add_digit(m, (struct digit){k, plan->threads[k], "t", "j", rest});
  }
  add_list(m, LIST_THREAD_DIGIT, first);
}

static void list_box(struct model *m) {
  int32_t first = m->record_count;
  for (int32_t place = plan_picks(m->plan); place < m->plan->rank - 1; place++)
    record_number(add_record(m), BOX_K, plan_box_axis(m->plan, place));
  add_list(m, LIST_BOX, first);
}

/* ---- Axes and items -------------------------------------------------------------------------- */

static void list_axes(struct model *m) {
  const struct plan *plan = m->plan;
  int32_t first = m->record_count;
  for (int32_t k = 0; k < plan->rank; k++) {
    struct record *axis = add_record(m);
    int32_t thread_elements = k == plan_item_axis(plan, true) ? plan->vector : 1;
    int32_t flight = k == plan->moving ? plan->flight : 1;
    record_number(axis, AXIS_K, k);
    record_number(axis, AXIS_SHAPE, plan->shape[k]);
    record_number(axis, AXIS_THREADS, plan->threads[k] > 1);
    record_number(axis, AXIS_PARTS, plan->parts[k] > 1);
    record_number(axis, AXIS_SINGLE, k != plan->fast && plan->parts[k] == 1);
    record_number(axis, AXIS_SCALED, thread_elements > 1);
    record_number(axis, AXIS_THREAD_ELEMENTS, thread_elements);
    record_number(axis, AXIS_PART_ELEMENTS, plan->threads[k] * flight * thread_elements);
    record_number(axis, AXIS_RAGGED, plan->ragged >> k & 1 && k != plan->moving);
  }
  add_list(m, LIST_AXIS, first);
}

/* Bytes from one item of a thread to its next in a packed tile. */
static int64_t bytes_ahead(const struct plan *plan) {
  int64_t bytes = (int64_t)plan_elements_ahead(plan) * plan->tile.element_bytes;
  for (int32_t k = plan->rank - 1; k > plan_moving(plan, false); k--) bytes *= plan->shape[k];
  return bytes;
}

/* What is left of the tile along the moving axis for the thread at 0, from its item on. */
static int32_t item_bound(const struct plan *plan, bool view, int32_t item) {
  if (!plan_moving_is_ragged(plan, view)) return 0;
  int32_t bound = plan->shape[plan_moving(plan, view)] - item * plan_elements_ahead(plan);
  return bound > 0 ? bound : 0;
}

static void list_items(struct model *m) {
  const struct plan *plan = m->plan;
  bool along = plan->moving == plan_item_axis(plan, true);
  int32_t first = m->record_count;
  for (int32_t u = 0; u < plan->flight; u++) {
    struct record *item = add_record(m);
    record_text(item, ITEM_S, suffix(plan, u));
    record_number(item, ITEM_MOVES, plan_items_apart(plan));
    record_number(item, ITEM_AHEAD, u * plan_elements_ahead(plan));
    record_number(item, ITEM_RAGGED, plan_moving_is_ragged(plan, true));
    record_number(item, ITEM_BOUND, item_bound(plan, true, u));
    record_number(item, ITEM_TURNED_RAGGED, plan_moving_is_ragged(plan, false));
    record_number(item, ITEM_TURNED_BOUND, item_bound(plan, false, u));
    record_text(item, ITEM_LIVE_S, plan_moving_is_ragged(plan, false) ? suffix(plan, u) : "");
    record_text(item, ITEM_ALONG_S, along ? suffix(plan, u) : "");
    record_number(item, ITEM_ALONG_ROW, along);
    record_number(item, ITEM_PACKED_BYTES, u * bytes_ahead(plan));
    record_number(item, ITEM_ENTERING, u * plan_patch_rows(plan) * plan->view.element_bytes);
  }
  add_list(m, LIST_ITEM, first);
  record_text(add_fact(m, LIST_ITEMS), ITEMS_FIRST_S, suffix(plan, 0));
}

/* ---- Facts ----------------------------------------------------------------------------------- */

static void add_arithmetic(struct model *m) {
  const struct arithmetic_row *row = arithmetic_row(m->plan->index_bits);
  struct record *arith = add_fact(m, LIST_ARITH);
  record_number(arith, ARITH_BITS, row->bits);
  record_number(arith, ARITH_WIDE, row->bits == 64);
  record_text(arith, ARITH_UNSIGNED, row->unsigned_type);
  record_text(arith, ARITH_SIGNED, row->signed_type);
  record_text(arith, ARITH_PRODUCT, row->product);
}

static void add_plan(struct model *m) {
  const struct plan *plan = m->plan;
  bool updates = plan_effect(plan) == EFFECT_UPDATE;
  struct record *facts = add_fact(m, LIST_PLAN);
  record_number(facts, PLAN_VECTOR, plan->vector);
  record_number(facts, PLAN_FLIGHT, plan->flight);
  record_number(facts, PLAN_TILES_PER_BLOCK, plan->tiles_per_block);
  record_number(facts, PLAN_SEVERAL_TILES, plan->tiles_per_block > 1);
  record_number(facts, PLAN_TILE_THREADS, plan_threads_of_tile(plan));
  record_text(facts, PLAN_GRID, sizes(m, plan->threads));
  record_text(facts, PLAN_PARTS, sizes(m, plan->parts));
  record_number(facts, PLAN_PART_COUNT, plan_parts(plan));
  record_number(facts, PLAN_ROUNDS, plan->rounds);
  record_number(facts, PLAN_IDLE, plan->idle);
  record_number(facts, PLAN_BUSY_THREADS, plan->tiles_per_block * plan_threads_of_tile(plan));
  record_number(facts, PLAN_MOVING, plan->moving);
  record_number(facts, PLAN_RANK, plan->rank);
  record_number(facts, PLAN_BOX_REST, plan_box_axis(plan, plan->rank - 1));
  record_number(facts, PLAN_PADDED, plan->padded);
  record_number(facts, PLAN_TURNS, plan_turns(plan));
  record_number(facts, PLAN_PICKS, plan_picks(plan));
  record_number(facts, PLAN_UPDATES, updates);
  record_number(facts, PLAN_STORES, !updates || plan->signature.fetch);
}

/* Says operation, type, rank and shape, and ends in the hash; a shape that does not fit is cut. */
static void name_entry(struct model *m, const struct key *key, const char *shape) {
  enum { HASH_BYTES = 9 };
  const struct signature *s = &m->plan->signature;
  struct strbuf out;
  strbuf_fixed(&out, m->entry, sizeof m->entry - HASH_BYTES);
  strbuf_word(&out, s->kind == TPTX_STRIDED_VIEW ? "tptx_strided_" : "tptx_gather_");
  strbuf_word(&out, operation_word(s));
  strbuf_char(&out, '_');
  strbuf_word(&out, type_row(s->type)->word);
  strbuf_word(&out, "_r");
  strbuf_number(&out, s->rank);
  strbuf_char(&out, '_');
  for (const char *c = shape; *c; c++) strbuf_char(&out, *c);
  out.capacity = sizeof m->entry;
  out.failed = false;
  strbuf_char(&out, '_');
  strbuf_hex(&out, key->hash & UINT32_MAX, 8);
}

static void add_kernel(struct model *m, const struct key *key) {
  const struct plan *plan = m->plan;
  const struct signature *s = &plan->signature;
  const char *shape = sizes(m, plan->shape);
  struct record *kernel = add_fact(m, LIST_KERNEL);
  name_entry(m, key, shape);
  record_text(kernel, KERNEL_SIGNATURE, key->line);
  record_text(kernel, KERNEL_OPERATION, operation_word(s));
  record_text(kernel, KERNEL_TYPE, type_row(s->type)->word);
  record_text(kernel, KERNEL_SHAPE, shape);
  record_text(kernel, KERNEL_ENTRY, m->entry);
  record_number(kernel, KERNEL_THREADS, plan->block);
  record_number(kernel, KERNEL_REGISTERS, plan->registers);
  record_text(kernel, KERNEL_TARGET, numbered(m, "sm_", plan->needed_sm));
  record_text(kernel, KERNEL_VERSION, version(m, plan->needed_ptx));
}

bool model_make(struct model *model, const struct plan *plan, const struct key *key) {
  model->plan = plan;
  model->lists = (struct template_model){0};
  model->record_count = 0;
  model->text_bytes = 0;
  model->failed = false;
  add_kernel(model, key);
  add_plan(model);
  add_arithmetic(model);
  list_quantities(model, LIST_PARAMETER, false);
  list_quantities(model, LIST_CONSTANT, true);
  list_block_digits(model);
  list_thread_digits(model);
  list_box(model);
  list_axes(model);
  list_items(model);
  list_accesses(model);
  return !model->failed;
}
