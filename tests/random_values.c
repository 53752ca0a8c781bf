/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contents of the buffers of random cases. They begin as noise. Floating-point numbers of sums get
 * values that are near each other or at the edges of their type; where several meet in one element,
 * small integers, whose sums are exact in every order.
 */
#include "outcome.h"
#include "random_draft.h"
#include "reference_values.h"

enum { MOST_EXACT = 200 }; /* sum of the magnitudes that meet: all partial sums fit 8 bits */

struct value_writer {
  struct dice *dice;
  tptx_type type, tile_type;
  size_t hits; /* that meet in one element, at most */
};

/* ---- Numbers --------------------------------------------------------------------------------- */

struct layout_of_float {
  int bits, fraction_bits;
  uint64_t infinity;
};

static struct layout_of_float float_layout(tptx_type type) {
  switch (type) {
  case TPTX_F16: return (struct layout_of_float){16, 10, 0x7c00};
  case TPTX_BF16: return (struct layout_of_float){16, 7, 0x7f80};
  case TPTX_F64: return (struct layout_of_float){64, 52, UINT64_C(0x7ff0000000000000)};
  case TPTX_E4M3: return (struct layout_of_float){8, 3, 0x7f}; /* its one NaN */
  case TPTX_E5M2: return (struct layout_of_float){8, 2, 0x7c};
  default: return (struct layout_of_float){32, 23, 0x7f800000};
  }
}

/* Zero, the ends of the subnormal and normal numbers, infinity, NaN; either sign. */
static uint64_t edge(struct dice *d, tptx_type type) {
  struct layout_of_float f = float_layout(type);
  uint64_t one = UINT64_C(1), normal = one << f.fraction_bits;
  uint64_t sign = (uint64_t)between(d, 0, 1) << (f.bits - 1);
  const uint64_t values[] = {0,
                             1,
                             2,
                             normal - 1,
                             normal,
                             normal + 1,
                             f.infinity,
                             f.infinity - 1,
                             f.infinity + 1,
                             f.infinity | normal >> 1};
  return sign | values[between(d, 0, (int64_t)(sizeof values / sizeof *values) - 1)];
}

/* -1, 0 or 1; mostly 0 where more meet than can be added up. */
static uint64_t small_number(struct dice *d, tptx_type type, size_t hits) {
  struct layout_of_float f = float_layout(type);
  static const uint8_t ones[] = {0x38, 0x3c};
  bool zero = chance(d, 20) || (uint64_t)roll(d) % (hits ? hits : 1) >= MOST_EXACT;
  if (zero) return 0;
  uint64_t sign = (uint64_t)between(d, 0, 1) << (f.bits - 1);
  if (f.bits == 8) return sign | ones[type == TPTX_E5M2];
  uint64_t bias = (f.infinity >> f.fraction_bits) / 2;
  return sign | bias << f.fraction_bits;
}

/* A number near `other`: the exponent differs a little, the sign half the time. */
static uint64_t near(struct dice *d, tptx_type type, uint64_t other) {
  struct layout_of_float f = float_layout(type);
  uint64_t mask = f.bits == 64 ? UINT64_MAX : (UINT64_C(1) << f.bits) - 1;
  uint64_t fraction = roll(d) & ((UINT64_C(1) << f.fraction_bits) - 1);
  if (chance(d, 20)) fraction = 0;
  uint64_t step = (uint64_t)between(d, -3, 3) << f.fraction_bits;
  return ((other & f.infinity) + step + fraction) & mask;
}

/* ---- Elements -------------------------------------------------------------------------------- */

static void write_meeting(void *context, unsigned char *span, unsigned char *tile) {
  struct value_writer *w = context;
  if (span) reference_write(span, w->type, small_number(w->dice, w->type, 1));
  if (tile) reference_write(tile, w->tile_type, small_number(w->dice, w->tile_type, w->hits));
}

static void write_near(void *context, unsigned char *span, unsigned char *tile) {
  struct value_writer *w = context;
  if (!span || !tile || chance(w->dice, 20)) return;
  if (chance(w->dice, 20)) reference_write(span, w->type, edge(w->dice, w->type));
  uint64_t k = reference_read(span, w->type);
  if (chance(w->dice, 20))
    reference_write(tile, w->tile_type, edge(w->dice, w->tile_type));
  else if (w->type == w->tile_type)
    reference_write(tile, w->type, near(w->dice, w->type, k));
}

static void write_edges(void *context, unsigned char *span, unsigned char *tile) {
  struct value_writer *w = context;
  if (span && chance(w->dice, 30)) reference_write(span, w->type, edge(w->dice, w->type));
  if (tile && chance(w->dice, 30)) reference_write(tile, w->tile_type, edge(w->dice, w->tile_type));
}

/* Integers that one operation tells from another: the ends of the type, and 0, 1, -1. */
static void write_integers(void *context, unsigned char *span, unsigned char *tile) {
  struct value_writer *w = context;
  static const uint64_t values[] = {
      0, 1, UINT64_MAX, UINT64_C(0x8000000000000000), UINT64_C(0x80000000), INT64_MAX, INT32_MAX};
  if (span && chance(w->dice, 40)) reference_write(span, w->type, values[between(w->dice, 0, 6)]);
  if (tile && chance(w->dice, 40))
    reference_write(tile, w->tile_type, values[between(w->dice, 0, 6)]);
}

void choose_values(struct draft *f) {
  struct random_case *c = f->c;
  struct value_writer w = {&f->dice, c->view.type, tile_type(f), 0};
  struct reference_memory memory = {
      .span = (unsigned char *)((uintptr_t)c->span.contents + (uintptr_t)c->span.base),
      .tile = (unsigned char *)((uintptr_t)c->tile.contents + (uintptr_t)c->tile.base),
      .indices = (unsigned char *)((uintptr_t)c->indices.contents + (uintptr_t)c->indices.base),
  };
  bool updates = c->op.operation >= TPTX_ATOMIC_AND, floats = reference_is_float(w.type);
  if (updates && floats) w.hits = outcome_most_hits(&c->view, &c->op, &c->args, memory);
  reference_visit *writer = w.hits > 1          ? write_meeting
                            : updates && floats ? write_near
                            : updates           ? write_integers
                            : floats            ? write_edges
                                                : NULL;
  if (writer && (w.hits > 1 || chance(&f->dice, 60)))
    reference_walk(&c->view, &c->op, &c->args, memory, writer, &w);
}
