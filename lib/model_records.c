/* SPDX-License-Identifier: Apache-2.0 */
#include "model_records.h"

struct record *add_record(struct model *m) {
  if (m->record_count == MAX_RECORDS) {
    m->failed = true;
    m->record_count--;
  }
  struct record *record = &m->records[m->record_count++];
  record->given = 0;
  return record;
}

struct record *add_fact(struct model *m, enum list_name fact) {
  struct record *record = add_record(m);
  model_list(&m->lists, (int32_t)fact, record, 1);
  return record;
}

void add_list(struct model *m, enum list_name list, int32_t first) {
  model_list(&m->lists, (int32_t)list, &m->records[first], m->record_count - first);
}

struct strbuf begin_word(struct model *m) {
  struct strbuf out;
  strbuf_fixed(&out, m->text + m->text_bytes, sizeof m->text - m->text_bytes);
  return out;
}

const char *end_word(struct model *m, const struct strbuf *out) {
  m->text_bytes += out->bytes + 1;
  m->failed = m->failed || out->failed;
  return out->text;
}

const char *numbered(struct model *m, const char *word, int32_t number) {
  struct strbuf out = begin_word(m);
  strbuf_word(&out, word);
  strbuf_number(&out, number);
  return end_word(m, &out);
}

const char *suffix(const struct plan *plan, int32_t item) {
  static const char *const suffixes[MAX_ITEMS] = {"_0", "_1", "_2", "_3", "_4", "_5", "_6", "_7"};
  return plan_items_apart(plan) ? suffixes[item] : "";
}
