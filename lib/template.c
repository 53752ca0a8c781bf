/* SPDX-License-Identifier: Apache-2.0 */
#include "template.h"

#include "status.h"

#include <string.h>

enum { MAX_DEPTH = 12 };

/* A part of the template's text. */
struct slice {
  const char *at;
  size_t bytes;
};

/* A record that $each stands on, or the one record of a fact. */
struct binding {
  struct slice qualifier;
  const struct record *record;
  bool first, last;
};

struct interpreter {
  const struct template_source *sources;
  const struct template_source *source;
  const struct template_model *model;
  struct strbuf *out;
  struct binding bindings[MAX_DEPTH];
  int32_t depth;
  int32_t uses;      /* fragments within fragments */
  size_t line_start; /* of the line being printed, in out */
  tptx_status status;
  tptx_error *error;
};

enum directive { NO_DIRECTIVE, IF, ELSE, EACH, END, USE };

struct line {
  const char *start;
  enum directive directive;
  struct slice text; /* of the line, or a directive's argument */
  const char *next;
};

void model_list(struct template_model *model, const char *name, const struct record *records,
                int32_t count) {
  if (model->count < MAX_LISTS)
    model->lists[model->count++] = (struct record_list){name, strlen(name), records, count};
}

static bool slice_is(struct slice slice, const char *text) {
  return strlen(text) == slice.bytes && !memcmp(slice.at, text, slice.bytes);
}

static bool slices_equal(struct slice a, struct slice b) {
  return a.bytes == b.bytes && !memcmp(a.at, b.at, a.bytes);
}

static struct slice after_last_dot(struct slice slice) {
  size_t start = slice.bytes;
  while (start > 0 && slice.at[start - 1] != '.') start--;
  return (struct slice){slice.at + start, slice.bytes - start};
}

static void fail(struct interpreter *in, struct slice where, const char *what) {
  if (in->status != TPTX_OK) return;
  int line = 1;
  for (const char *at = in->source->text; at < where.at; at++) line += *at == '\n';
  in->status = refuse(in->error, (struct fault){TPTX_ERROR_INTERNAL, "template", -1},
                      "template %s, line %d: %s: \"%.*s\"", in->source->name, line, what,
                      (int)where.bytes, where.at);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static const struct record_list *find_list(const struct interpreter *in, struct slice name) {
  for (int32_t i = 0; i < in->model->count; i++)
    if (slices_equal(name,
                     (struct slice){in->model->lists[i].name, in->model->lists[i].name_bytes}))
      return &in->model->lists[i];
  return NULL;
}

/* The innermost record under that qualifier; `bound` gets its place in an $each. */
static const struct record *find_record(const struct interpreter *in, struct slice qualifier,
                                        const struct binding **bound) {
  *bound = NULL;
  for (int32_t i = in->depth - 1; i >= 0; i--) {
    if (!slices_equal(in->bindings[i].qualifier, qualifier)) continue;
    *bound = &in->bindings[i];
    return in->bindings[i].record;
  }
  const struct record_list *list = find_list(in, qualifier);
  return list && list->count == 1 ? list->records : NULL;
}

/* `name` is qualifier.field. */
static bool find_value(struct interpreter *in, struct slice name, struct template_field *value) {
  struct slice field = after_last_dot(name);
  struct slice qualifier = {name.at, name.bytes - field.bytes - (field.bytes < name.bytes)};
  const struct binding *bound;
  const struct record *record = find_record(in, qualifier, &bound);
  if (!record) return false;
  for (int32_t i = 0; i < record->count; i++) {
    if (!slices_equal(field, (struct slice){record->fields[i].name, record->fields[i].name_bytes}))
      continue;
    *value = record->fields[i];
    return true;
  }
  if (!bound) return false;
  *value = (struct template_field){NULL, 0, NULL, 0};
  if (slice_is(field, "first"))
    value->number = bound->first;
  else if (slice_is(field, "last"))
    value->number = bound->last;
  else if (slice_is(field, "comma"))
    value->text = bound->last ? "" : ",";
  else
    return false;
  return true;
}

static void push(struct interpreter *in, struct slice list_name, const struct record_list *list,
                 int32_t number) {
  in->bindings[in->depth++] = (struct binding){after_last_dot(list_name), &list->records[number],
                                               number == 0, number == list->count - 1};
}

/* ---- Text with holes ------------------------------------------------------------------------- */

static void print_text(struct interpreter *in, struct slice text);

/* ${list: text} prints the text once a record, with ", " between. */
static void print_join(struct interpreter *in, struct slice name, struct slice text) {
  const struct record_list *list = find_list(in, name);
  if (!list || in->depth == MAX_DEPTH) {
    fail(in, name, "unknown list");
    return;
  }
  for (int32_t i = 0; i < list->count; i++) {
    if (i > 0) strbuf_word(in->out, ", ");
    push(in, name, list, i);
    print_text(in, text);
    in->depth--;
  }
}

/* ${@48} fills the line with blanks up to column 48, so that comments line up. */
static void print_column(struct interpreter *in, struct slice hole) {
  size_t column = 0;
  for (size_t i = 1; i < hole.bytes; i++) {
    if (hole.at[i] < '0' || hole.at[i] > '9' || i > 3) {
      fail(in, hole, "a column is a number below 1,000");
      return;
    }
    column = 10 * column + (size_t)(hole.at[i] - '0');
  }
  do strbuf_char(in->out, ' ');
  while (in->out->bytes - in->line_start < column && !in->out->failed);
}

static void print_hole(struct interpreter *in, struct slice hole) {
  if (hole.bytes > 0 && *hole.at == '@') {
    print_column(in, hole);
    return;
  }
  const char *colon = memchr(hole.at, ':', hole.bytes);
  if (colon) {
    size_t before = (size_t)(colon - hole.at);
    struct slice text = {colon + 1, hole.bytes - before - 1};
    if (text.bytes && *text.at == ' ') text = (struct slice){text.at + 1, text.bytes - 1};
    print_join(in, (struct slice){hole.at, before}, text);
    return;
  }
  struct template_field value;
  if (!find_value(in, hole, &value))
    fail(in, hole, "unknown name");
  else if (value.text)
    strbuf_word(in->out, value.text);
  else
    strbuf_number(in->out, value.number);
}

/* The bytes up to the brace that closes a hole; holes may stand within. */
static size_t hole_bytes(struct slice rest) {
  int32_t open = 1;
  const char *close = memchr(rest.at, '}', rest.bytes);
  if (!close) return rest.bytes;
  size_t bytes = (size_t)(close - rest.at);
  if (!memchr(rest.at, '{', bytes)) return bytes;
  for (size_t i = 0; i < rest.bytes; i++) {
    if (rest.at[i] == '{') open++;
    if (rest.at[i] == '}' && --open == 0) return i;
  }
  return rest.bytes;
}

static void print_text(struct interpreter *in, struct slice text) {
  const char *end = text.at + text.bytes;
  while (text.at < end && in->status == TPTX_OK) {
    const char *dollar = memchr(text.at, '$', (size_t)(end - text.at));
    if (!dollar || dollar + 1 >= end || dollar[1] != '{') dollar = end;
    strbuf_add(in->out, text.at, (size_t)(dollar - text.at));
    if (dollar == end) return;
    struct slice rest = {dollar + 2, (size_t)(end - dollar - 2)};
    size_t bytes = hole_bytes(rest);
    if (bytes == rest.bytes) {
      fail(in, rest, "a hole without end");
      return;
    }
    print_hole(in, (struct slice){rest.at, bytes});
    text.at = rest.at + bytes + 1;
  }
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static struct line read_line(const char *at) {
  static const struct {
    const char *word;
    enum directive directive;
  } words[] = {{"$if ", IF}, {"$else", ELSE}, {"$each ", EACH}, {"$end", END}, {"$use ", USE}};
  const char *newline = strchr(at, '\n');
  size_t bytes = newline ? (size_t)(newline - at) : strlen(at);
  struct line line = {at, NO_DIRECTIVE, {at, bytes}, newline ? newline + 1 : at + bytes};
  if (*at != '$') return line;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t word = strlen(words[i].word);
    if (bytes < word || memcmp(at, words[i].word, word)) continue;
    if (words[i].word[word - 1] != ' ' && bytes != word) continue;
    line.directive = words[i].directive;
    line.text = (struct slice){at + word, bytes - word};
  }
  return line;
}

/* Past the $end (or to the $else) that belongs to a block whose first line is `at`. */
static struct line skip_block(const char *at, bool stop_at_else) {
  int32_t open = 1;
  struct line line;
  do {
    line = read_line(at);
    if (line.directive == IF || line.directive == EACH) open++;
    if (line.directive == END) open--;
    if (line.directive == ELSE && open == 1 && stop_at_else) return line;
    at = line.next;
  } while (open > 0 && *at);
  return line;
}

static void run(struct interpreter *in, const char *at, const char *end);

static bool condition(struct interpreter *in, struct slice name) {
  bool negated = name.bytes > 0 && *name.at == '!';
  if (negated) name = (struct slice){name.at + 1, name.bytes - 1};
  struct template_field value;
  if (!find_value(in, name, &value)) {
    fail(in, name, "unknown flag");
    return false;
  }
  bool set = value.text ? value.text[0] != '\0' : value.number != 0;
  return set != negated;
}

static const char *run_if(struct interpreter *in, struct line line) {
  struct line other = skip_block(line.next, true);
  struct line end = other.directive == ELSE ? skip_block(other.next, false) : other;
  if (end.directive != END)
    fail(in, line.text, "$if without $end");
  else if (condition(in, line.text))
    run(in, line.next, other.start);
  else if (other.directive == ELSE)
    run(in, other.next, end.start);
  return end.next;
}

static const char *run_each(struct interpreter *in, struct line line) {
  struct line end = skip_block(line.next, false);
  const struct record_list *list = find_list(in, line.text);
  if (end.directive != END || !list || in->depth == MAX_DEPTH) {
    fail(in, line.text, list ? "$each without $end" : "unknown list");
    return end.next;
  }
  for (int32_t i = 0; i < list->count && in->status == TPTX_OK; i++) {
    push(in, line.text, list, i);
    run(in, line.next, end.start);
    in->depth--;
  }
  return end.next;
}

static void run_source(struct interpreter *in, struct slice name) {
  const struct template_source *caller = in->source;
  const struct template_source *source = in->sources;
  while (source->name && !slice_is(name, source->name)) source++;
  if (!source->name || in->uses == MAX_DEPTH) {
    fail(in, name, "unknown template");
    return;
  }
  in->source = source;
  in->uses++;
  run(in, source->text, source->text + strlen(source->text));
  in->uses--;
  in->source = caller;
}

static void run(struct interpreter *in, const char *at, const char *end) {
  while (at < end && in->status == TPTX_OK) {
    struct line line = read_line(at);
    at = line.next;
    switch (line.directive) {
    case IF: at = run_if(in, line); break;
    case EACH: at = run_each(in, line); break;
    case USE: run_source(in, line.text); break;
    case ELSE:
    case END: fail(in, (struct slice){line.start, 5}, "out of place"); break;
    case NO_DIRECTIVE:
      if (*line.text.at == '$' && line.text.at[1] != '{') fail(in, line.text, "unknown directive");
      in->line_start = in->out->bytes;
      print_text(in, line.text);
      strbuf_char(in->out, '\n');
      break;
    }
  }
}

tptx_status template_render(const struct template_source *sources, const char *name,
                            const struct template_model *model, struct strbuf *out,
                            tptx_error *error) {
  static const struct template_source outermost = {"", ""};
  struct interpreter in = {.sources = sources,
                           .source = &outermost,
                           .model = model,
                           .out = out,
                           .status = TPTX_OK,
                           .error = error};
  run_source(&in, (struct slice){name, strlen(name)});
  return in.status;
}
