/* SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include <stddef.h>
#include <tileptx/emit.h>

static const struct update_row updates[] = {
#define UPDATE(operation, type, op, scalar, pair, sign, sm, ptx, vector_sm, vector_ptx) \
  {TPTX_##operation, TPTX_##type, op, scalar, pair, SIGN_##sign, sm, ptx, vector_sm, vector_ptx},
#include "updates.def"
#undef UPDATE
};

struct conversion_row {
  int32_t from, to, steps;
};

static const struct conversion_row conversions[] = {
#define CONVERSION(from, to, steps) {TPTX_##from, TPTX_##to, steps},
#include "conversions.def"
#undef CONVERSION
};

const struct update_row *update_row(int32_t operation, int32_t type) {
  for (size_t i = 0; i < sizeof updates / sizeof *updates; i++)
    if (updates[i].operation == operation && updates[i].type == type) return &updates[i];
  return NULL;
}

int32_t conversion_steps(int32_t from, int32_t to) {
  if (from == to) return NO_STEP;
  for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++)
    if (conversions[i].from == from && conversions[i].to == to) return conversions[i].steps;
  return -1;
}
