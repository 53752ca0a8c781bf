/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan, laid out as the facts and lists that the templates name. ptx_templates/README.md says
 * what each of them holds.
 */
#ifndef MODEL_H
#define MODEL_H

#include "key.h"
#include "names.h"
#include "plan.h"

enum {
  MAX_ITEMS = 8,
  MAX_LANES = 4,
  MAX_ELEMENTS = 16,
  MAX_PATCH_RECORDS = 8 + 8 + 2, /* entries, exits, axes */
  MAX_FACTS = 16,
  /* Every list at its longest: quantities; digits, box and axes; items; lanes, elements and pairs;
     coordinates of both accesses; guards. */
  MAX_RECORDS = MAX_FACTS + MAX_QUANTITIES + 4 * TPTX_MAX_RANK + MAX_ITEMS + 4 * MAX_LANES +
                MAX_PATCH_RECORDS + MAX_ELEMENTS + MAX_LANES + 1 + 2 +
                2 * (TPTX_MAX_RANK + MAX_ITEMS) + 2,
  MAX_MODEL_TEXT = 8192
};

struct model {
  const struct plan *plan;
  struct template_model lists;
  char entry[64];
  int32_t record_count;
  size_t text_bytes; /* used of `text`, where words are made that no table has */
  bool failed;
  struct record records[MAX_RECORDS];
  char text[MAX_MODEL_TEXT];
};

/* `plan` and `key` must outlive the model. False if it did not fit, which no plan makes happen. */
bool model_make(struct model *model, const struct plan *plan, const struct key *key);

#endif
