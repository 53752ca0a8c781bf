/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on one row of elements, written and read as bit patterns: what most cases of the bug
 * log need.
 */
#ifndef ONE_ROW_H
#define ONE_ROW_H

#include <tileptx/emit.h>

#include <stdint.h>

enum { MOST_IN_A_ROW = 16 };

/*
 * A view of `count` elements in one chunk, and an atomic operation on it, relaxed, at scope
 * device.
 */
void row_view(tptx_view *view, tptx_type type, int count);
void row_update(tptx_op *op, tptx_operation operation);

/*
 * Carries `op` out on memory[] with the tile tile[], `count` elements of their types in the low
 * bits; both hold what was left behind. Anything but success ends the test.
 */
void row_run(tptx_type type, const tptx_op *op, int count, uint64_t *memory, uint64_t *tile);

/* memory[] after an update with the tile. */
void row_updated(tptx_operation operation, tptx_type type, int count, uint64_t *memory,
                 const uint64_t *tile);

/* Elements of type `from` stored to a view of type `to`. */
void row_stored(tptx_type from, tptx_type to, int count, const uint64_t *tile, uint64_t *memory);

/* Fails unless both hold the same patterns. */
void expect_bits(const char *what, const uint64_t *got, const uint64_t *wanted, int count);

/*
 * Planned for `sm` (0: the newest): the status and, where it is a refusal, what the message must
 * say.
 */
void expect_plan(tptx_type type, const tptx_op *op, int sm, tptx_status status, const char *hint);

#endif
