/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of several outcomes a device may leave. reference_run gives one of them; others are right
 * where
 *
 *   a NaN was converted or computed           any NaN
 *   an f32 sum has to do with subnormals      flushed to zero or not
 *   atomic stores meet in an element          any of the values written
 *   read-modify-writes with fetch meet        any order: the old values must make one chain
 *
 * Sums of floating-point numbers that meet in an element must be exact in every order; whoever
 * makes the case sees to that.
 */
#ifndef OUTCOME_H
#define OUTCOME_H

#include "reference.h"

/*
 * `before`, `after`: the images before the launch and as the device left them; `expected`: what
 * reference_run made of `before`. Copies every element of `after` that is right into `expected`, so
 * that the two differ only where the device is wrong.
 */
void outcome_adopt(const tptx_view *view, const tptx_op *op, const tptx_args *args,
                   struct reference_memory before, struct reference_memory after,
                   struct reference_memory expected);

/* How often the element that is met most often is written; 0 where nothing is. */
size_t outcome_most_hits(const tptx_view *view, const tptx_op *op, const tptx_args *args,
                         struct reference_memory memory);

#endif
