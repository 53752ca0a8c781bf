/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What values mean: which types convert into which and to what, and what a read-modify-write makes
 * of two values. Everything is worked out on bit patterns in integer arithmetic, exactly and then
 * rounded once, so that no floating-point unit, compiler flag or library has a say. Shares no code
 * with lib/.
 */
#ifndef REFERENCE_VALUES_H
#define REFERENCE_VALUES_H

#include <tileptx/emit.h>

#include <stdbool.h>
#include <stdint.h>

bool reference_is_float(tptx_type type);
bool reference_is_integer(tptx_type type); /* bool is none */
bool reference_is_nan(tptx_type type, uint64_t bits);

/* The quiet NaN with payload zero; types that have none are a mistake of the caller's. */
uint64_t reference_quiet_nan(tptx_type type);

/* Whether every value of `from` has its counterpart in `to`, and the counterpart. */
bool reference_converts(tptx_type from, tptx_type to);
uint64_t reference_convert(tptx_type from, tptx_type to, uint64_t bits);

/*
 * Whether a read-modify-write takes elements of this type, and op(k, v): k from memory, v the
 * tile's.
 */
bool reference_takes(tptx_operation operation, tptx_type type);
uint64_t reference_update(tptx_operation operation, tptx_type type, uint64_t k, uint64_t v);

/*
 * The other right result of an f32 addition: subnormal numbers, in and out, are zeros of their
 * sign.
 */
uint64_t reference_update_flushing(tptx_operation operation, uint64_t k, uint64_t v);

#endif
