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

static void list_quantities(struct model *m, const char *name, bool constant) {
  int32_t first = m->record_count;
  for (int32_t i = 0; i < m->plan->quantity_count; i++) {
    const struct quantity *q = &m->plan->quantities[i];
    if (q->constant != constant) continue;
    struct record *record = add_record(m);
    struct strbuf word = begin_word(m);
    quantity_write_name(q, &word);
    record_text(record, "name", end_word(m, &word));
    record_text(record, "meaning", quantity_meaning((enum quantity_name)q->name));
    record_number(record, "bits", q->bits);
    record_text(record, "type", arithmetic_row(q->bits)->unsigned_type);
    if (constant) record_text(record, "value", constant_value(m, q));
  }
  add_list(m, name, first);
}

/* ---- Mixed radix ----------------------------------------------------------------------------- */

struct digit {
  int32_t axis, size;
  const char *from, *into; /* registers; the axis is added to `into` */
  bool rest;               /* nothing is left above this digit */
};

static void add_digit(struct model *m, struct digit digit) {
  struct division division = division_by((uint32_t)digit.size);
  struct record *record = add_record(m);
  record_number(record, "k", digit.axis);
  record_text(record, "from", digit.from);
  record_text(record, "into", numbered(m, digit.into, digit.axis));
  record_number(record, "size", digit.size);
  record_number(record, "rest", digit.rest);
  record_number(record, "power", (digit.size & (digit.size - 1)) == 0);
  record_number(record, "mask", digit.size - 1);
  record_number(record, "magic", division.multiplier);
  record_number(record, "shift", division.shift);
}

static void list_block_digits(struct model *m) {
  const struct plan *plan = m->plan;
  int32_t first = m->record_count;
  for (int32_t k = plan->rank - 1; k >= 0; k--)
    if (plan->parts[k] > 1)
      add_digit(m, (struct digit){k, plan->parts[k], plan->rounds ? "r" : "n", "part", false});
  add_list(m, "block.digit", first);
}

/* A patch has its span's unit axis first, and its tile operand's once it is turned. */
static void list_patch_digits(struct model *m, const char *name, int32_t fast, int32_t slow) {
  int32_t first = m->record_count;
  add_digit(m, (struct digit){fast, m->plan->patch, "t", "j", false});
  add_digit(m, (struct digit){slow, PATCH_ROWS, "t", "j", true});
  add_list(m, name, first);
}

static void list_thread_digits(struct model *m) {
  const struct plan *plan = m->plan;
  int32_t first = m->record_count, left = 0;
  if (plan->staging) {
    list_patch_digits(m, "thread.digit", plan->unit, plan->moving);
    list_patch_digits(m, "turn.digit", plan->moving, plan->unit);
    return;
  }
  for (int32_t k = 0; k < plan->rank; k++) left += plan->threads[k] > 1;
  for (int32_t place = 0; place < plan->rank; place++) {
    int32_t k = plan_axis_in_order(plan, place);
    if (plan->threads[k] == 1) continue;
    bool rest = --left == 0 && plan->tiles_per_block == 1;
    add_digit(m, (struct digit){k, plan->threads[k], "t", "j", rest});
  }
  add_list(m, "thread.digit", first);
}

static void list_box(struct model *m) {
  int32_t first = m->record_count;
  for (int32_t place = 0; place < m->plan->rank - 1; place++)
    record_number(add_record(m), "k", plan_box_axis(m->plan, place));
  add_list(m, "box", first);
}

/* ---- Axes and items -------------------------------------------------------------------------- */

static void list_axes(struct model *m) {
  const struct plan *plan = m->plan;
  int32_t first = m->record_count;
  for (int32_t k = 0; k < plan->rank; k++) {
    struct record *axis = add_record(m);
    int32_t thread_elements = k == plan->fast ? plan->vector : 1;
    int32_t flight = k == plan->moving ? plan->flight : 1;
    record_number(axis, "k", k);
    record_number(axis, "shape", plan->shape[k]);
    record_number(axis, "threads", plan->threads[k] > 1);
    record_number(axis, "parts", plan->parts[k] > 1);
    record_number(axis, "scaled", thread_elements > 1);
    record_number(axis, "thread_elements", thread_elements);
    record_number(axis, "part_elements", plan->threads[k] * flight * thread_elements);
    record_number(axis, "ragged", plan->ragged >> k & 1 && k != plan->moving);
  }
  add_list(m, "axis", first);
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
  bool fast = plan->moving == plan->fast;
  int32_t first = m->record_count;
  for (int32_t u = 0; u < plan->flight; u++) {
    struct record *item = add_record(m);
    record_text(item, "s", suffix(plan, u));
    record_number(item, "moves", plan->flight > 1);
    record_number(item, "ragged", plan_moving_is_ragged(plan, true));
    record_number(item, "bound", item_bound(plan, true, u));
    record_number(item, "turned_ragged", plan_moving_is_ragged(plan, false));
    record_number(item, "turned_bound", item_bound(plan, false, u));
    record_text(item, "live_s", plan_moving_is_ragged(plan, false) ? suffix(plan, u) : "");
    record_text(item, "fast_s", fast ? suffix(plan, u) : "");
    record_number(item, "packed_bytes", u * bytes_ahead(plan));
    record_number(item, "down", u * PATCH_ROWS * (plan->patch + 1) * plan->view.element_bytes);
    record_number(item, "along", u * PATCH_ROWS * plan->view.element_bytes);
  }
  add_list(m, "item", first);
  record_text(add_fact(m, "items"), "first_s", suffix(plan, 0));
}

/* ---- Facts ----------------------------------------------------------------------------------- */

static void add_arithmetic(struct model *m) {
  const struct arithmetic_row *row = arithmetic_row(m->plan->index_bits);
  struct record *arith = add_fact(m, "arith");
  record_number(arith, "bits", row->bits);
  record_number(arith, "wide", row->bits == 64);
  record_text(arith, "unsigned", row->unsigned_type);
  record_text(arith, "signed", row->signed_type);
  record_text(arith, "product", row->product);
}

static void add_plan(struct model *m) {
  const struct plan *plan = m->plan;
  bool updates = plan_effect(plan) == EFFECT_UPDATE;
  struct record *facts = add_fact(m, "plan");
  record_number(facts, "vector", plan->vector);
  record_number(facts, "flight", plan->flight);
  record_number(facts, "tiles_per_block", plan->tiles_per_block);
  record_number(facts, "several_tiles", plan->tiles_per_block > 1);
  record_number(facts, "tile_threads", plan_threads_of_tile(plan));
  record_text(facts, "grid", sizes(m, plan->threads));
  record_text(facts, "parts", sizes(m, plan->parts));
  record_number(facts, "part_count", plan_parts(plan));
  record_number(facts, "rounds", plan->rounds);
  record_number(facts, "idle", plan->idle);
  record_number(facts, "busy_threads", plan->tiles_per_block * plan_threads_of_tile(plan));
  record_number(facts, "moving", plan->moving);
  record_number(facts, "rank", plan->rank);
  record_number(facts, "fast", plan->fast);
  record_number(facts, "box_rest", plan_box_axis(plan, plan->rank - 1));
  record_number(facts, "padded", plan->padded);
  record_number(facts, "staged", plan->staging);
  record_number(facts, "updates", updates);
  record_number(facts, "stores", !updates || plan->signature.fetch);
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
  struct record *kernel = add_fact(m, "kernel");
  name_entry(m, key, shape);
  record_text(kernel, "signature", key->line);
  record_text(kernel, "operation", operation_word(s));
  record_text(kernel, "type", type_row(s->type)->word);
  record_text(kernel, "shape", shape);
  record_text(kernel, "entry", m->entry);
  record_number(kernel, "threads", plan->block);
  record_text(kernel, "target", numbered(m, "sm_", plan->needed_sm));
  record_text(kernel, "version", version(m, plan->needed_ptx));
}

bool model_make(struct model *model, const struct plan *plan, const struct key *key) {
  model->plan = plan;
  model->lists.count = 0;
  model->record_count = 0;
  model->text_bytes = 0;
  model->failed = false;
  add_kernel(model, key);
  add_plan(model);
  add_arithmetic(model);
  list_quantities(model, "parameter", false);
  list_quantities(model, "constant", true);
  list_block_digits(model);
  list_thread_digits(model);
  list_box(model);
  list_axes(model);
  list_items(model);
  list_accesses(model);
  return !model->failed;
}
