/* SPDX-License-Identifier: Apache-2.0 */
/* Explanations of a plan, for people and for programs, from the tables that made it. */
#include "ptx.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

struct tptx_explanation {
  tptx_allocator allocator;
  struct strbuf text;
};

struct plan_field {
  const char *name, *meaning;
  size_t offset;
  bool axes;
};

static const struct plan_field plan_fields[] = {
#define PLAN_NUMBER(name, member, meaning) {name, meaning, offsetof(struct plan, member), false},
#define PLAN_AXES(name, member, meaning) {name, meaning, offsetof(struct plan, member), true},
#include "plan_fields.def"
#undef PLAN_NUMBER
#undef PLAN_AXES
};

enum { PLAN_FIELD_COUNT = sizeof plan_fields / sizeof *plan_fields };

static const int32_t *plan_member(const struct plan *plan, const struct plan_field *field) {
  return (const int32_t *)(const void *)((const char *)plan + field->offset);
}

static void write_numbers(struct strbuf *out, const int32_t *numbers, int32_t count,
                          const char *between) {
  for (int32_t k = 0; k < count; k++) {
    if (k > 0) strbuf_word(out, between);
    strbuf_number(out, numbers[k]);
  }
}

static void write_note(struct strbuf *out, const struct note *note) {
  char text[256];
  snprintf(text, sizeof text, note_text((enum note_name)note->name), (long long)note->first,
           (long long)note->second);
  strbuf_word(out, text);
}

static void write_version(struct strbuf *out, int32_t version) {
  strbuf_number(out, version / 10);
  strbuf_char(out, '.');
  strbuf_number(out, version % 10);
}

/* ---- For people ------------------------------------------------------------------------------ */

static void write_column(struct strbuf *out, size_t start, size_t column) {
  do strbuf_char(out, ' ');
  while (out->bytes - start < column && !out->failed);
}

static void explain_plan(struct strbuf *out, const struct plan *plan) {
  strbuf_word(out, "\nplan\n");
  for (int field = 0; field < PLAN_FIELD_COUNT; field++) {
    size_t start = out->bytes;
    strbuf_word(out, "  ");
    strbuf_word(out, plan_fields[field].name);
    write_column(out, start, 19);
    write_numbers(out, plan_member(plan, &plan_fields[field]),
                  plan_fields[field].axes ? plan->rank : 1, "x");
    write_column(out, start, 30);
    strbuf_word(out, plan_fields[field].meaning);
    strbuf_char(out, '\n');
  }
}

static void explain_parameters(struct strbuf *out, const struct tptx_ptx *ptx) {
  strbuf_word(out, "\nparameters (offset, bytes)\n");
  for (int32_t i = 0; i < ptx->plan.quantity_count; i++) {
    const struct quantity *q = &ptx->plan.quantities[i];
    if (q->constant) continue;
    size_t start = out->bytes;
    strbuf_word(out, "  ");
    strbuf_word(out, ptx->names[i]);
    write_column(out, start, 19);
    strbuf_number(out, q->offset);
    write_column(out, start, 24);
    strbuf_number(out, q->bits / 8);
    write_column(out, start, 30);
    strbuf_word(out, quantity_meaning((enum quantity_name)q->name));
    strbuf_char(out, '\n');
  }
}

static void write_counted(struct strbuf *out, int64_t count, const char *noun) {
  strbuf_number(out, count);
  strbuf_char(out, ' ');
  strbuf_word(out, noun);
  if (count != 1) strbuf_char(out, 's');
}

static void explain_for_people(struct strbuf *out, const struct tptx_ptx *ptx) {
  const struct plan *plan = &ptx->plan;
  strbuf_word(out, "signature  ");
  strbuf_word(out, ptx->key.line);
  strbuf_word(out, "\nentry      ");
  strbuf_word(out, ptx->entry);
  strbuf_word(out, "\ntext       PTX ");
  write_version(out, plan->needed_ptx);
  strbuf_word(out, ", sm_");
  strbuf_number(out, plan->needed_sm);
  strbuf_word(out, "; for sm_");
  strbuf_number(out, plan->signature.sm);
  strbuf_word(out, " and a reader of PTX ");
  write_version(out, plan->signature.ptx);
  strbuf_word(out, "\nlaunch     ");
  strbuf_number(out, plan->block);
  strbuf_word(out, " threads a block, ");
  write_counted(out, plan_blocks(plan), "block");
  strbuf_word(out, " for ");
  if (plan_picks(plan))
    strbuf_word(out, "all tiles of the box beside each other along the picked axis");
  else
    write_counted(out, plan->tiles_per_block, "tile");
  strbuf_char(out, '\n');
  explain_plan(out, plan);
  explain_parameters(out, ptx);
  strbuf_word(out, "\nrules that decided\n");
  for (int32_t i = 0; i < plan->note_count; i++) {
    strbuf_word(out, "  ");
    write_note(out, &plan->notes[i]);
    strbuf_char(out, '\n');
  }
  if (plan->note_count == 0) strbuf_word(out, "  none: every path that exists was taken\n");
}

/* ---- For programs ---------------------------------------------------------------------------- */

/* Everything that is written here is ASCII without quotes or backslashes. */
static void write_string(struct strbuf *out, const char *text) {
  strbuf_char(out, '"');
  strbuf_word(out, text);
  strbuf_char(out, '"');
}

static void write_name(struct strbuf *out, const char *name) {
  write_string(out, name);
  strbuf_word(out, ": ");
}

static void explain_plan_for_programs(struct strbuf *out, const struct plan *plan) {
  write_name(out, "plan");
  for (int field = 0; field < PLAN_FIELD_COUNT; field++) {
    bool axes = plan_fields[field].axes;
    strbuf_word(out, field ? ", " : "{");
    write_name(out, plan_fields[field].name);
    if (axes) strbuf_char(out, '[');
    write_numbers(out, plan_member(plan, &plan_fields[field]), axes ? plan->rank : 1, ", ");
    if (axes) strbuf_char(out, ']');
  }
  strbuf_word(out, "}, ");
}

static void explain_parameters_for_programs(struct strbuf *out, const struct tptx_ptx *ptx) {
  const char *between = "";
  write_name(out, "parameters");
  strbuf_char(out, '[');
  for (int32_t i = 0; i < ptx->plan.quantity_count; i++) {
    const struct quantity *q = &ptx->plan.quantities[i];
    if (q->constant) continue;
    strbuf_word(out, between);
    between = ", ";
    strbuf_char(out, '{');
    write_name(out, "name");
    write_string(out, ptx->names[i]);
    strbuf_word(out, ", \"offset\": ");
    strbuf_number(out, q->offset);
    strbuf_word(out, ", \"bytes\": ");
    strbuf_number(out, q->bits / 8);
    strbuf_word(out, ", \"meaning\": ");
    write_string(out, quantity_meaning((enum quantity_name)q->name));
    strbuf_char(out, '}');
  }
  strbuf_word(out, "], ");
}

static void explain_for_programs(struct strbuf *out, const struct tptx_ptx *ptx) {
  const struct plan *plan = &ptx->plan;
  strbuf_word(out, "{\"schema\": 1, \"signature\": ");
  write_string(out, ptx->key.line);
  strbuf_word(out, ", \"entry\": ");
  write_string(out, ptx->entry);
  strbuf_word(out, ", \"target\": \"sm_");
  strbuf_number(out, plan->needed_sm);
  strbuf_word(out, "\", \"version\": \"");
  write_version(out, plan->needed_ptx);
  strbuf_word(out, "\", \"launch\": {\"threads\": ");
  strbuf_number(out, plan->block);
  /* Of picks a block has all tiles along an axis of the box, which only a launch knows. */
  strbuf_word(out, ", \"tiles_per_block\": ");
  if (plan_picks(plan))
    strbuf_word(out, "null");
  else
    strbuf_number(out, plan->tiles_per_block);
  strbuf_word(out, ", \"blocks\": ");
  strbuf_number(out, plan_blocks(plan));
  strbuf_word(out, "}, ");
  explain_plan_for_programs(out, plan);
  explain_parameters_for_programs(out, ptx);
  write_name(out, "notes");
  strbuf_char(out, '[');
  for (int32_t i = 0; i < plan->note_count; i++) {
    strbuf_word(out, i ? ", \"" : "\"");
    write_note(out, &plan->notes[i]);
    strbuf_char(out, '"');
  }
  strbuf_word(out, "]}\n");
}

tptx_status tptx_explain(const tptx_view *view, const tptx_op *op, const tptx_target *target,
                         int32_t json, tptx_explanation **out, tptx_error *error) {
  enum { FIRST_BYTES = 8192, MOST_BYTES = 1 << 17 };
  REFUSE_IF(!out, error, TPTX_ERROR_INVALID_ARGUMENT, "out", -1, "out is a null pointer");
  *out = NULL;
  struct tptx_ptx *ptx;
  FORWARD(tptx_emit(view, op, target, &ptx, error));
  tptx_allocator memory = ptx->allocator;
  struct tptx_explanation *explanation = allocate(&memory, sizeof *explanation);
  if (explanation) {
    explanation->allocator = memory;
    strbuf_growing(&explanation->text, &explanation->allocator, FIRST_BYTES, MOST_BYTES);
    if (json)
      explain_for_programs(&explanation->text, ptx);
    else
      explain_for_people(&explanation->text, ptx);
  }
  tptx_ptx_free(ptx);
  if (explanation && !explanation->text.failed) {
    *out = explanation;
    return TPTX_OK;
  }
  tptx_explanation_free(explanation);
  REFUSE(error, TPTX_ERROR_OUT_OF_MEMORY, "", -1, "no memory for an explanation");
}

const char *tptx_explanation_text(const tptx_explanation *explanation) {
  return explanation->text.text;
}

void tptx_explanation_free(tptx_explanation *explanation) {
  if (!explanation) return;
  tptx_allocator memory = explanation->allocator;
  strbuf_free(&explanation->text);
  release(&memory, explanation);
}
