/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dense picks: gathers along the axis on which the span is contiguous that take so much of each row
 * that whole rows of the span go through shared memory (rule 6 of doc/specialisation.md).
 */
#ifndef ROWS_H
#define ROWS_H

#include "operands.h"

/* A plan with more axes has more coordinates than fit few registers. */
enum { FEW_AXES = 3, LARGEST_BLOCK = 1024 };

/*
 * Items of a thread along a row: as many as leave neighbours to a whole warp, half of them where
 * registers are wide. 0 where rows cannot go through shared memory; `picks` itself is not asked.
 */
int32_t rows_flight(const struct signature *signature);

/* Whether the launch picks enough of enough rows. */
bool rows_are_dense(const struct signature *signature, const struct operands *operands);

#endif
