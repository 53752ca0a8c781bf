/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter of the template language (its manual is ptx_templates/README.md). It knows text,
 * lists of records and nothing of PTX.
 */
#ifndef TEMPLATE_H
#define TEMPLATE_H

#include "strbuf.h"

#include <stdbool.h>
#include <string.h>
#include <tileptx/emit.h>

/* Made at build time from ptx_templates/: the last one has no name. */
struct template_source {
  const char *name; /* "move" for ptx_templates/move.ptx */
  const char *text;
};
extern const struct template_source template_sources[];

enum { MAX_RECORD_FIELDS = 20, MAX_LISTS = 40 };

struct template_field {
  const char *name;
  size_t name_bytes;
  const char *text; /* NULL: `number` is printed */
  int64_t number;
};

struct record {
  int32_t count;
  struct template_field fields[MAX_RECORD_FIELDS];
};

/* "axis", or "view.coordinate": within it the last word qualifies the holes, ${coordinate.k}. */
struct record_list {
  const char *name;
  size_t name_bytes;
  const struct record *records;
  int32_t count;
};

/* What a template may name. Lists of one record are facts: ${kernel.entry} needs no $each. */
struct template_model {
  int32_t count;
  struct record_list lists[MAX_LISTS];
};

/*
 * What does not fit is left out, and the template that asks for it fails with its name. Inline, so
 * that the lengths of the names are known when the library is compiled.
 */
static inline void record_text(struct record *record, const char *name, const char *text) {
  if (record->count < MAX_RECORD_FIELDS)
    record->fields[record->count++] = (struct template_field){name, strlen(name), text, 0};
}

static inline void record_number(struct record *record, const char *name, int64_t number) {
  if (record->count < MAX_RECORD_FIELDS)
    record->fields[record->count++] = (struct template_field){name, strlen(name), NULL, number};
}

void model_list(struct template_model *model, const char *name, const struct record *records,
                int32_t count);

/*
 * Renders the template `name` of `sources` into `out`. A name that the model lacks, a directive out
 * of place, a missing fragment is TPTX_ERROR_INTERNAL with the template and line in the message.
 */
tptx_status template_render(const struct template_source *sources, const char *name,
                            const struct template_model *model, struct strbuf *out,
                            tptx_error *error);

#endif
