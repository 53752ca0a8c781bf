/* SPDX-License-Identifier: Apache-2.0 */
/* How model.c and model_access.c fill a model. What does not fit makes it fail as a whole. */
#ifndef MODEL_RECORDS_H
#define MODEL_RECORDS_H

#include "model.h"

struct record *add_record(struct model *model);
/* A list of one record, whose fields a template names without $each. */
struct record *add_fact(struct model *model, enum list_name fact);
/* The records from number `first` on become a list. */
void add_list(struct model *model, enum list_name list, int32_t first);

/* A word that no table has; it lives as long as the model. Write it between the two calls. */
struct strbuf begin_word(struct model *model);
const char *end_word(struct model *model, const struct strbuf *out);
const char *numbered(struct model *model, const char *word, int32_t number); /* "part0" */

/* What tells the registers of an item from those of the others: "" where there is one. */
const char *suffix(const struct plan *plan, int32_t item);

/* What is read and written, how and under which predicates: model_access.c. */
void list_accesses(struct model *model);

#endif
