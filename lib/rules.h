/* SPDX-License-Identifier: Apache-2.0 */
/* Which types an operation takes, and which types convert into which: the tables, asked. */
#ifndef RULES_H
#define RULES_H

#include <stdint.h>

enum sign { SIGN_NONE, SIGN_FLIP, SIGN_NEGATE };

/* A row of updates.def. */
struct update_row {
  int32_t operation, type;
  const char *op, *scalar, *pair;
  enum sign sign;
  int32_t sm, ptx;
  int32_t vector_sm, vector_ptx; /* 0 where there are no vector forms */
};

const struct update_row *update_row(int32_t operation, int32_t type); /* NULL where refused */

enum conversion_step { NO_STEP = 0, EIGHT = 1, HALF = 2, UPPER = 4, DOUBLE = 8, LOWER = 16 };

/* The steps of conversions.def; -1 where a value could be lost. Equal types take NO_STEP. */
int32_t conversion_steps(int32_t from, int32_t to);

#endif
