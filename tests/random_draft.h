/* SPDX-License-Identifier: Apache-2.0 */
/* A random case under construction: what random_case.c and random_operands.c share. */
#ifndef RANDOM_DRAFT_H
#define RANDOM_DRAFT_H

#include "random_case.h"

struct dice {
  uint64_t state;
};

uint64_t roll(struct dice *d);
int64_t between(struct dice *d, int64_t low, int64_t high); /* both included */
bool chance(struct dice *d, int percent);

int64_t multiple_below(int64_t value, int64_t quantum);
int64_t multiple_above(int64_t value, int64_t quantum);

enum { MOST_SPAN_ELEMENTS = 1 << 19, MOST_MOVED_ELEMENTS = 1 << 15 };

/* What most cases come upon by chance, and what they would hardly ever meet. */
enum draft_style {
  STYLE_ANY,
  STYLE_COLUMNS, /* both sides are contiguous along the same axis, not the last */
  STYLE_TURNED,  /* the span is contiguous along an axis other than the last, whole patches long */
  STYLE_SHIFTED, /* loads of narrow elements, rows that begin anywhere, an aligned tile operand */
  STYLE_PICKED   /* loads that pick along the axis on which both sides are contiguous */
};

struct draft {
  struct dice dice;
  struct random_case *c;
  enum draft_style style;
  tptx_view_kind kind;
  int rank;
  int size, tile_size;  /* bytes of an element of the span and of the tile operand */
  int64_t quantum;      /* elements that pitches, shapes, starts are multiples of */
  int64_t tile_quantum; /* the same on the side of the tile operand */
  int fast;             /* the axis along which both sides may be contiguous: mostly the last */
  int unit;             /* of a turned span, its axis of stride 1; else -1 */
  bool no_meeting;      /* chunks must not meet: plain stores, and every write at scope block */
  bool vector_sums;     /* additions that sm_90 does several of at once */
  int far_axis;         /* the axis whose chunks lie past 2^31, or -1 */
  int long_axis;        /* the axis that goes on past 2^31 behind its chunks, or -1 */
  int64_t count[TPTX_MAX_RANK];   /* the box, TPTX_ALL replaced */
  int64_t extents[TPTX_MAX_RANK]; /* of the span */
  int64_t low[TPTX_MAX_RANK];     /* positions that may be touched: low <= p < high */
  int64_t high[TPTX_MAX_RANK];
};

bool writes_span(const struct draft *f);
bool writes_tile(const struct draft *f);
bool entries_differ(const struct draft *f); /* of the index array, where they are inside */
tptx_type tile_type(const struct draft *f);
bool gathers(const struct draft *f, int k); /* the index array picks on axis k */
/* A dense layout whose pitches are multiples of the extent of the fast axis. */
bool pitches_are_extents(const struct draft *f, tptx_layout layout);
int64_t tile_elements(const struct draft *f);
uint64_t most_of(tptx_type type); /* the largest value of an integer type */

/*
 * The buffers of a case whose box is chosen, with layouts and contents. False where the case cannot
 * be completed: too much memory, or index entries that cannot be as they must.
 */
bool choose_span(struct draft *f);
bool choose_indices(struct draft *f);
bool choose_operand(struct draft *f);

/* The axis on which the span's items lie. */
int item_axis(const struct draft *f);

/* Sometimes the caller says by himself how the tile operand is aligned, and what is picked. */
void choose_promises(struct draft *f);

/* Values in the buffers that can be checked whatever the order of a device's additions. */
void choose_values(struct draft *f);

#endif
