/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_values.h"

#include "reference_values.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct row {
  const char *field;
  int64_t low, high;
  int bit; /* -1: a range */
};

static const struct row rows[] = {
#define VALUE(field, low, high) {field, low, high, -1},
#define BIT(field, bit) {field, 0, 0, bit},
#include "plan_values.def"
#undef VALUE
#undef BIT
};

enum { ROWS = sizeof rows / sizeof *rows };

/* What is described on its own: a view, an element type, an operation, with a mask or without. */
struct combination {
  tptx_view_kind kind;
  tptx_type type;
  tptx_operation operation;
  int32_t masked;
};

enum {
  KINDS = 2,
  TYPES = 16,
  OPERATIONS = TPTX_ATOMIC_SUB + 1,
  COMBINATIONS = KINDS * TYPES * OPERATIONS * 2
};

struct plan_values {
  unsigned long executed[ROWS];
  unsigned long combined[COMBINATIONS];
  bool hit[ROWS]; /* by the case at hand */
};

struct plan_values *plan_values_new(void) {
  return calloc(1, sizeof(struct plan_values));
}

void plan_values_free(struct plan_values *values) {
  free(values);
}

/*
 * `field` is not terminated: it may stand in the middle of the explanation. False for a value that
 * no row names.
 */
static bool hit(struct plan_values *values, const char *field, size_t bytes, int64_t value) {
  bool named = false;
  for (size_t i = 0; i < ROWS; i++) {
    if (strlen(rows[i].field) != bytes || memcmp(rows[i].field, field, bytes) != 0) continue;
    bool matches = rows[i].bit >= 0 ? (value >> rows[i].bit & 1) != 0
                                    : value >= rows[i].low && value <= rows[i].high;
    values->hit[i] = values->hit[i] || matches;
    named = named || matches;
  }
  return named;
}

static const char *skip_space(const char *at) {
  while (isspace((unsigned char)*at)) at++;
  return at;
}

static const char *read_number(struct plan_values *values, const char *field, size_t bytes,
                               const char *at) {
  char *end = NULL;
  int64_t value = strtoll(at, &end, 10);
  if (end == at) return NULL;
  if (!hit(values, field, bytes, value)) {
    printf("no row of plan_values.def for %.*s = %" PRId64 "\n", (int)bytes, field, value);
    return NULL;
  }
  return skip_space(end);
}

/* The object {"name": number or [numbers], ...} that follows "plan": in the explanation. */
static bool read_plan(struct plan_values *values, const char *json) {
  const char *at = strstr(json, "\"plan\"");
  at = at ? strchr(at, '{') : NULL;
  if (!at) return false;
  for (at = skip_space(at + 1); *at == '"';) {
    const char *field = at + 1, *quote = strchr(field, '"');
    at = quote ? strchr(quote, ':') : NULL;
    if (!at) return false;
    size_t bytes = (size_t)(quote - field);
    at = skip_space(at + 1);
    if (*at == '[') {
      do at = read_number(values, field, bytes, skip_space(at + 1));
      while (at && *at == ',');
      if (!at || *at != ']') return false;
      at = skip_space(at + 1);
    } else {
      at = read_number(values, field, bytes, at);
      if (!at) return false;
    }
    if (*at == ',') at = skip_space(at + 1);
  }
  return *at == '}';
}

/* The largest low end of a field's rows that the plan at hand has hit. */
static int64_t highest(const struct plan_values *values, const char *field) {
  int64_t value = INT64_MIN;
  for (size_t i = 0; i < ROWS; i++)
    if (values->hit[i] && strcmp(rows[i].field, field) == 0 && rows[i].low > value)
      value = rows[i].low;
  return value;
}

/* What is only a case of its own together: fields that no plan has by these names. */
static void read_combinations(struct plan_values *values) {
  static const char shared[] = "parts of shared", along[] = "vectors along";
  if (highest(values, "tiles_per_block") > 1 && highest(values, "parts") > 1)
    (void)hit(values, shared, sizeof shared - 1, 1);
  if (highest(values, "vector") > 1)
    (void)hit(values, along, sizeof along - 1, highest(values, "fast"));
}

static int dynamic_among(const int64_t *numbers, int rank) {
  int dynamic = 0;
  for (int k = 0; k < rank; k++) dynamic += numbers[k] == TPTX_DYNAMIC;
  return dynamic;
}

static void read_descriptors(struct plan_values *values, const tptx_view *view, const tptx_op *op,
                             const tptx_target *target) {
  bool gather = view->kind == TPTX_GATHER_SCATTER_VIEW, array = op->tile.tiles == TPTX_TILES_ARRAY;
  bool loads = op->operation == TPTX_LOAD || op->operation == TPTX_ATOMIC_LOAD;
  int32_t align = view->align ? view->align : (int32_t)tptx_type_bytes(view->type);
  int strides =
      view->layout == TPTX_LAYOUT_STRIDED ? dynamic_among(view->layout_strides, view->rank) : -1;
  const struct {
    const char *field;
    int64_t value;
  } fields[] = {
      {"kind", view->kind},
      {"type", view->type},
      {"rank", view->rank},
      {"dim", gather ? view->dim : -1},
      {"operation", op->operation},
      {"masked", op->masked},
      {"pad", op->masked && loads ? (int64_t)op->pad : -1},
      {"order", op->order},
      {"scope", op->scope},
      {"fetch", op->fetch},
      {"value", op->tile.type == (int32_t)view->type ? -1 : op->tile.type},
      {"layout", view->layout},
      {"tiles", op->tile.tiles},
      {"tile_layout", array ? (int64_t)op->tile.layout : -1},
      {"indices", gather ? (int64_t)op->indices.type : -1},
      {"align", align},
      {"tile_align", op->tile.align && op->tile.align != align ? op->tile.align : -1},
      {"arith", op->arith ? op->arith : 64},
      {"picks", op->picks},
      {"staging=", op->staging},
      {"assume_in_bounds", op->assume_in_bounds},
      {"assume_injective", op->assume_injective},
      {"dynamic extents", dynamic_among(view->extents, view->rank)},
      {"dynamic strides", strides},
      {"target", target->sm},
  };
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    (void)hit(values, fields[i].field, strlen(fields[i].field), fields[i].value);
}

static size_t combination_number(const struct combination *c) {
  size_t number = (size_t)c->kind * TYPES + (size_t)c->type;
  return (number * OPERATIONS + (size_t)c->operation) * 2 + (size_t)c->masked;
}

static bool combination_exists(const struct combination *c) {
  return c->operation < TPTX_ATOMIC_AND || reference_takes(c->operation, c->type);
}

/* Prints how many of those that exist were executed; how many were not. */
static unsigned report_combinations(const struct plan_values *values, FILE *out) {
  unsigned executed = 0, exist = 0;
  for (size_t i = 0; i < COMBINATIONS; i++) {
    struct combination c = {(tptx_view_kind)(i / 2 / OPERATIONS / TYPES),
                            (tptx_type)(i / 2 / OPERATIONS % TYPES),
                            (tptx_operation)(i / 2 % OPERATIONS), (int32_t)(i % 2)};
    exist += combination_exists(&c);
    executed += values->combined[i] > 0;
  }
  fprintf(out, "view x type x operation x mask: %u of %u executed\n", executed, exist);
  return exist - executed;
}

bool plan_values_count(struct plan_values *values, const tptx_view *view, const tptx_op *op,
                       const tptx_target *target) {
  tptx_explanation *explanation = NULL;
  tptx_error error;
  tptx_error_init(&error);
  memset(values->hit, 0, sizeof values->hit);
  if (tptx_explain(view, op, target, 1, &explanation, &error) != TPTX_OK) {
    printf("explain: %s\n", error.message);
    return false;
  }
  bool good = read_plan(values, tptx_explanation_text(explanation));
  if (!good) printf("no plan in the explanation: %s\n", tptx_explanation_text(explanation));
  tptx_explanation_free(explanation);
  read_combinations(values);
  read_descriptors(values, view, op, target);
  values->combined[combination_number(
      &(struct combination){view->kind, view->type, op->operation, op->masked})]++;
  for (size_t i = 0; i < ROWS; i++) values->executed[i] += values->hit[i];
  return good;
}

static void print_value(FILE *out, const struct row *row) {
  if (row->bit >= 0)
    fprintf(out, " bit%d", row->bit);
  else if (row->low == row->high)
    fprintf(out, " %" PRId64, row->low);
  else
    fprintf(out, " %" PRId64 "..%" PRId64, row->low, row->high);
}

unsigned plan_values_report(const struct plan_values *values, FILE *out, unsigned long least) {
  unsigned missing = 0;
  fprintf(out, "plan values, times executed:");
  for (size_t i = 0; i < ROWS; i++) {
    if (i == 0 || strcmp(rows[i].field, rows[i - 1].field) != 0)
      fprintf(out, "\n  %-18s", rows[i].field);
    print_value(out, &rows[i]);
    fprintf(out, ": %lu", values->executed[i]);
    if (values->executed[i] < least) {
      fprintf(out, " (TOO FEW)");
      missing++;
    }
    fputc(';', out);
  }
  fprintf(out, "\n");
  if (missing) fprintf(out, "%u values were executed fewer than %lu times\n", missing, least);
  unsigned unseen = report_combinations(values, out);
  return missing + (least > 1 ? unseen : 0);
}
