/* SPDX-License-Identifier: Apache-2.0 */
#include "outcome.h"
#include "reference_values.h"

#include <stdlib.h>
#include <string.h>

/* ---- Which elements meet --------------------------------------------------------------------- */

/* One element of the tile operand and the one of the span that it meets; bytes from the bases. */
struct hit {
  int64_t span, tile; /* span: INT64_MAX where it is outside */
};

struct hits {
  struct reference_memory memory;
  struct hit *hits;
  size_t count, room;
};

static void note_hit(void *context, unsigned char *span, unsigned char *tile) {
  struct hits *h = context;
  if (!tile) return;
  if (h->count == h->room) {
    h->room = h->room ? 2 * h->room : 1024;
    h->hits = realloc(h->hits, h->room * sizeof *h->hits);
    if (!h->hits) abort();
  }
  h->hits[h->count++] = (struct hit){
      .span = span ? (int64_t)((uintptr_t)span - (uintptr_t)h->memory.span) : INT64_MAX,
      .tile = (int64_t)((uintptr_t)tile - (uintptr_t)h->memory.tile),
  };
}

static int by_span(const void *a, const void *b) {
  const struct hit *left = a, *right = b;
  if (left->span != right->span) return left->span < right->span ? -1 : 1;
  return left->tile < right->tile ? -1 : left->tile > right->tile;
}

static struct hits find_hits(const tptx_view *view, const tptx_op *op, const tptx_args *args,
                             struct reference_memory memory) {
  struct hits h = {.memory = memory};
  reference_walk(view, op, args, memory, note_hit, &h);
  if (h.count) qsort(h.hits, h.count, sizeof *h.hits, by_span);
  return h;
}

/* The hits from number `begin` on that meet in one element of the span end before this number. */
static size_t group_end(const struct hits *h, size_t begin) {
  size_t end = begin + 1;
  while (end < h->count && h->hits[end].span == h->hits[begin].span) end++;
  return end;
}

size_t outcome_most_hits(const tptx_view *view, const tptx_op *op, const tptx_args *args,
                         struct reference_memory memory) {
  struct hits h = find_hits(view, op, args, memory);
  size_t most = 0;
  for (size_t begin = 0, end; begin < h.count && h.hits[begin].span != INT64_MAX; begin = end) {
    end = group_end(&h, begin);
    if (end - begin > most) most = end - begin;
  }
  free(h.hits);
  return most;
}

/* ---- One element or group at a time ---------------------------------------------------------- */

struct outcome {
  const tptx_op *op;
  tptx_type type, tile_type;
  struct reference_memory before, after, expected;
  bool pads_quiet_nan; /* outside elements are one particular NaN */
};

static unsigned char *at(unsigned char *base, int64_t offset) {
  return (unsigned char *)((uintptr_t)base + (uintptr_t)offset);
}

static uint64_t read_span(const struct outcome *o, struct reference_memory m, const struct hit *h) {
  return reference_read(at(m.span, h->span), o->type);
}

/* As memory has it: a bool that is neither 0 nor 1 shows. */
static void adopt(unsigned char *to, const unsigned char *from, tptx_type type) {
  memcpy(to, from, tptx_type_bytes(type));
}

static void adopt_span(const struct outcome *o, const struct hit *h) {
  adopt(at(o->expected.span, h->span), at(o->after.span, h->span), o->type);
}

static bool both_nan(tptx_type type, uint64_t a, uint64_t b) {
  return reference_is_nan(type, a) && reference_is_nan(type, b);
}

static void loaded(const struct outcome *o, const struct hit *h) {
  if (o->type == o->tile_type || (h->span == INT64_MAX && o->pads_quiet_nan)) return;
  unsigned char *got = at(o->after.tile, h->tile), *expected = at(o->expected.tile, h->tile);
  if (both_nan(o->tile_type, reference_read(got, o->tile_type),
               reference_read(expected, o->tile_type)))
    adopt(expected, got, o->tile_type);
}

static uint64_t operand(const struct outcome *o, const struct hit *h) {
  return reference_convert(o->tile_type, o->type,
                           reference_read(at(o->before.tile, h->tile), o->tile_type));
}

static void stored(const struct outcome *o, const struct hit *begin, const struct hit *end) {
  uint64_t got = read_span(o, o->after, begin);
  for (const struct hit *h = begin; h < end; h++) {
    uint64_t written = operand(o, h);
    bool converted_nan = o->type != o->tile_type && both_nan(o->type, got, written);
    if (got != written && !converted_nan) continue;
    /* Any byte but 0 reads as true; only 1 is written. */
    if (o->type != TPTX_BOOL || *at(o->after.span, begin->span) <= 1) adopt_span(o, begin);
    return;
  }
}

/* ---- Old values ------------------------------------------------------------------------------ */

/* A read-modify-write of an element: from the value that it fetched to the one that it left. */
struct step {
  uint64_t from, to;
};

static int64_t find_root(int64_t *parents, int64_t node) {
  while (parents[node] != node) node = parents[node] = parents[parents[node]];
  return node;
}

static int64_t node_of(const uint64_t *values, int64_t count, uint64_t value) {
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (values[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static int by_value(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return left < right ? -1 : left > right;
}

/*
 * Whether the steps, in some order, lead from `first` to `last`, each beginning where the one
 * before ended: an Eulerian trail in the graph of values. It exists if and only if every value is
 * left as often as it is reached, but for the two ends, and all steps hang together.
 */
static bool make_a_chain(const struct step *steps, size_t count, uint64_t first, uint64_t last) {
  uint64_t *values = malloc((2 * count + 2) * sizeof *values);
  int64_t *parents = malloc((2 * count + 2) * sizeof *parents), nodes = 0;
  int64_t *balance = calloc(2 * count + 2, sizeof *balance);
  if (!values || !parents || !balance) abort();
  for (size_t i = 0; i < count; i++) values[2 * i] = steps[i].from, values[2 * i + 1] = steps[i].to;
  values[2 * count] = first;
  values[2 * count + 1] = last;
  qsort(values, 2 * count + 2, sizeof *values, by_value);
  for (size_t i = 0; i < 2 * count + 2; i++)
    if (i == 0 || values[i] != values[nodes - 1]) values[nodes++] = values[i];
  for (int64_t i = 0; i < nodes; i++) parents[i] = i;
  for (size_t i = 0; i < count; i++) {
    int64_t from = node_of(values, nodes, steps[i].from), to = node_of(values, nodes, steps[i].to);
    balance[from]++;
    balance[to]--;
    parents[find_root(parents, from)] = find_root(parents, to);
  }
  balance[node_of(values, nodes, first)]--;
  balance[node_of(values, nodes, last)]++;
  bool good = true;
  for (int64_t i = 0; i < nodes; i++)
    good = good && balance[i] == 0 && find_root(parents, i) == find_root(parents, 0);
  free(values);
  free(parents);
  free(balance);
  return good;
}

static bool right_sum(const struct outcome *o, uint64_t k, uint64_t v, uint64_t got) {
  uint64_t sum = reference_update(o->op->operation, o->type, k, v);
  if (got == sum || both_nan(o->type, got, sum)) return true;
  if (o->type != TPTX_F32) return false;
  uint64_t flushed = reference_update_flushing(o->op->operation, k, v);
  return got == flushed || both_nan(o->type, got, flushed);
}

static void updated_together(const struct outcome *o, const struct hit *begin,
                             const struct hit *end) {
  size_t count = (size_t)(end - begin);
  uint64_t first = read_span(o, o->before, begin), last = read_span(o, o->after, begin);
  if (!o->op->fetch) return; /* every order gives what the reference has */
  struct step *steps = calloc(count, sizeof *steps);
  if (!steps) abort();
  for (size_t i = 0; i < count; i++) {
    steps[i].from = reference_read(at(o->after.tile, begin[i].tile), o->tile_type);
    steps[i].to = reference_update(o->op->operation, o->type, steps[i].from, operand(o, &begin[i]));
  }
  if (make_a_chain(steps, count, first, last)) {
    adopt_span(o, begin);
    for (const struct hit *h = begin; h < end; h++)
      adopt(at(o->expected.tile, h->tile), at(o->after.tile, h->tile), o->tile_type);
  }
  free(steps);
}

static void updated(const struct outcome *o, const struct hit *begin, const struct hit *end) {
  if (end - begin > 1)
    updated_together(o, begin, end);
  else if (right_sum(o, read_span(o, o->before, begin), operand(o, begin),
                     read_span(o, o->after, begin)))
    adopt_span(o, begin);
}

/* ---- All of them ----------------------------------------------------------------------------- */

void outcome_adopt(const tptx_view *view, const tptx_op *op, const tptx_args *args,
                   struct reference_memory before, struct reference_memory after,
                   struct reference_memory expected) {
  struct outcome o = {.op = op,
                      .type = view->type,
                      .tile_type = reference_tile_type(view, op),
                      .before = before,
                      .after = after,
                      .expected = expected,
                      .pads_quiet_nan = op->masked && op->pad == TPTX_PAD_NAN};
  struct hits h = find_hits(view, op, args, before);
  for (size_t begin = 0, end; begin < h.count; begin = end) {
    const struct hit *first = h.hits + begin;
    end = group_end(&h, begin);
    switch (op->operation) {
    case TPTX_LOAD:
    case TPTX_ATOMIC_LOAD:
      for (const struct hit *hit = first; hit < h.hits + end; hit++) loaded(&o, hit);
      break;
    case TPTX_STORE:
    case TPTX_ATOMIC_STORE:
      if (first->span != INT64_MAX) stored(&o, first, h.hits + end);
      break;
    default:
      if (first->span != INT64_MAX) updated(&o, first, h.hits + end);
      break;
    }
  }
  free(h.hits);
}
