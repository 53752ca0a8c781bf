/* SPDX-License-Identifier: Apache-2.0 */
#include "template.h"

#include "status.h"

struct interpreter {
  const struct template_model *model;
  const struct record *current[MAX_LISTS]; /* of each list: where $each stands, or its one fact */
  struct strbuf *out;
  size_t line_start;                  /* of the line being printed, in out */
  const struct template_step *missed; /* the first that named what the model lacks */
};

void model_list(struct template_model *model, int32_t list, struct record *records, int32_t count) {
  model->lists[list] = (struct record_list){records, count};
  for (int32_t i = 0; i < count; i++) {
    record_number(&records[i], FIELD_FIRST, i == 0);
    record_number(&records[i], FIELD_LAST, i == count - 1);
    record_text(&records[i], FIELD_COMMA, i == count - 1 ? "" : ",");
  }
}

/* What a step names; nothing, and the step is remembered, if the model was not given it. */
static const struct field *find_field(struct interpreter *in, const struct template_step *step) {
  static const struct field nothing = {"", 0};
  const struct record *record = in->current[step->list];
  if (record && record->given >> step->field & 1) return &record->fields[step->field];
  if (!in->missed) in->missed = step;
  return &nothing;
}

static bool is_set(const struct field *field) {
  return field->text ? field->text[0] != '\0' : field->number != 0;
}

static void print_field(struct strbuf *out, const struct field *field) {
  if (field->text)
    strbuf_word(out, field->text);
  else
    strbuf_number(out, field->number);
}

static void print_column(struct interpreter *in, size_t column) {
  size_t printed = in->out->bytes - in->line_start;
  strbuf_blanks(in->out, printed < column ? column - printed : 1);
}

static bool begin_list(struct interpreter *in, int32_t list) {
  in->current[list] = in->model->lists[list].records;
  return in->model->lists[list].count > 0;
}

static bool next_record(struct interpreter *in, const struct template_step *step) {
  const struct record_list *list = &in->model->lists[step->list];
  if (++in->current[step->list] == list->records + list->count) return false;
  strbuf_add(in->out, template_text + step->text, step->bytes);
  return true;
}

/* Whether it goes on with the step `to`, not with the one below. */
static bool run_step(struct interpreter *in, const struct template_step *step) {
  switch ((enum template_operation)step->operation) {
  case STEP_TEXT: strbuf_add(in->out, template_text + step->text, step->bytes); break;
  case STEP_VALUE: print_field(in->out, find_field(in, step)); break;
  case STEP_LINE: in->line_start = in->out->bytes; break;
  case STEP_COLUMN: print_column(in, step->to); break;
  case STEP_IF: return !is_set(find_field(in, step));
  case STEP_UNLESS: return is_set(find_field(in, step));
  case STEP_JUMP: return true;
  case STEP_EACH: return !begin_list(in, step->list);
  case STEP_NEXT: return next_record(in, step);
  case STEP_END: break;
  }
  return false;
}

tptx_status template_render(const struct template_model *model, struct strbuf *out,
                            tptx_error *error) {
  struct interpreter in = {.model = model, .out = out};
  for (int32_t i = 0; i < MAX_LISTS; i++) in.current[i] = model->lists[i].records;
  const struct template_step *step = template_steps;
  while (step->operation != STEP_END)
    step = run_step(&in, step) ? &template_steps[step->to] : step + 1;
  REFUSE_IF(in.missed, error, TPTX_ERROR_INTERNAL, "template", -1,
            "template %s, line %d: the model does not give \"%.*s\"",
            template_names[in.missed->source], in.missed->line, (int)in.missed->bytes,
            template_text + in.missed->text);
  return TPTX_OK;
}
