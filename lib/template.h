/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter of the template language (its manual is ptx_templates/README.md). It knows text,
 * lists of records and nothing of PTX. scripts/embed-templates has turned the templates into steps.
 */
#ifndef TEMPLATE_H
#define TEMPLATE_H

#include "strbuf.h"

#include <stdbool.h>
#include <tileptx/emit.h>

enum { MAX_LISTS = 40, MAX_FIELDS = 24 };

/* Of the fields of a record, those that every list gives its records: its place in the list. */
enum { FIELD_FIRST, FIELD_LAST, FIELD_COMMA };

struct field {
  const char *text; /* NULL: `number` is printed */
  int64_t number;
};

struct record {
  uint32_t given; /* bit n: field n was set */
  struct field fields[MAX_FIELDS];
};

struct record_list {
  const struct record *records;
  int32_t count;
};

/* What a template may name. Lists and fields go by the numbers that names.h gives them. */
struct template_model {
  struct record_list lists[MAX_LISTS];
};

static inline void record_text(struct record *record, int32_t field, const char *text) {
  record->given |= UINT32_C(1) << field;
  record->fields[field] = (struct field){text, 0};
}

static inline void record_number(struct record *record, int32_t field, int64_t number) {
  record->given |= UINT32_C(1) << field;
  record->fields[field] = (struct field){NULL, number};
}

void model_list(struct template_model *model, int32_t list, struct record *records, int32_t count);

enum template_operation {
  STEP_TEXT,   /* print text */
  STEP_VALUE,  /* print a field */
  STEP_LINE,   /* columns count from here */
  STEP_COLUMN, /* print blanks up to the column `to` */
  STEP_IF,     /* go to `to` unless a field is set */
  STEP_UNLESS, /* go to `to` if it is */
  STEP_JUMP,   /* go to `to` */
  STEP_EACH,   /* begin with the first record of a list, or go to `to` if there is none */
  STEP_NEXT,   /* print text and go to `to` with the next record, if there is one */
  STEP_END
};

/* Everything is a number, so that nothing has to be relocated when the library is loaded. */
struct template_step {
  uint8_t operation, list, field;
  uint8_t source; /* where it stands: the file's name is template_names[source] */
  uint16_t line;
  uint16_t to;
  uint16_t text, bytes; /* text is template_text + text; of a field it is the name, for messages */
};

/* Made at build time from ptx_templates/. */
extern const struct template_step template_steps[];
extern const char template_text[];
extern const char template_names[][24];

/* A field that the model was not given is TPTX_ERROR_INTERNAL with the line that asks for it. */
tptx_status template_render(const struct template_model *model, struct strbuf *out,
                            tptx_error *error);

#endif
