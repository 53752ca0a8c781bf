/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts how often each value of each plan field was executed. The plan is read from the JSON
 * explanation, so that this works with an installed library, too.
 */
#ifndef PLAN_VALUES_H
#define PLAN_VALUES_H

#include <tileptx/emit.h>

#include <stdbool.h>
#include <stdio.h>

struct plan_values;

struct plan_values *plan_values_new(void);
void plan_values_free(struct plan_values *values);

/* Counts the plan of an operation that was carried out. False if it cannot be explained. */
bool plan_values_count(struct plan_values *values, const tptx_view *view, const tptx_op *op,
                       const tptx_target *target);

/*
 * Prints the table; returns how many values were executed fewer than `least` times, and in a long
 * run, where `least` is above 1, how many combinations never.
 */
unsigned plan_values_report(const struct plan_values *values, FILE *out, unsigned long least);

#endif
