/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One small operation, carried out on the device and by tests/reference.c: what the suites about
 * conformance are made of. Needs an open workbench; failures end the test.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include <tileptx/emit.h>

#include <stdbool.h>
#include <stdint.h>

enum { MOST_ENTRIES = 8 };

struct trial {
  tptx_view view;
  tptx_op op;
  tptx_args args;                /* without addresses */
  int64_t entries[MOST_ENTRIES]; /* of the index array, args.index_count of them */
};

/*
 * A span of 6 x 8 elements, row major, in tiles of 2 x 4 that leave it nowhere; the whole index
 * space. A gather-scatter view picks the rows 5, 0, 3, 1. Atomic operations are relaxed, at scope
 * device.
 */
void trial_begin(struct trial *t, tptx_view_kind kind, tptx_operation operation, bool masked);

/* The span gets this type and these axes, the view these tiles and the strides of a partition. */
void trial_shape(struct trial *t, tptx_type type, int rank, const int64_t *extents,
                 const int64_t *shape);

/*
 * Carries it out on memory that ends with the span's last element, and compares all of it with what
 * the reference leaves.
 */
void trial_run(const struct trial *t);

/* A launch is refused with this status at this axis, and nothing is written. */
void trial_refused(const struct trial *t, tptx_status status, int axis);

/* Planned for `sm` (0: the newest), the status is this one. */
void trial_planned(const struct trial *t, int sm, tptx_status status);

/* Whether these words stand in the text, written for sm_90. */
bool trial_says(const struct trial *t, const char *words);

/* Both give the same instructions. */
void trial_same_code(const struct trial *t, const struct trial *other);

#endif
