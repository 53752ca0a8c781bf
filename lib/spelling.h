/* SPDX-License-Identifier: Apache-2.0 */
/* How PTX spells what depends on a width or a scope: the tables, asked. */
#ifndef SPELLING_H
#define SPELLING_H

#include <stdint.h>

struct arithmetic_row {
  int32_t bits;
  const char *unsigned_type, *signed_type;
  const char *product; /* ends the product of a coordinate and a byte stride */
};

struct width_row {
  int32_t bytes;
  const char *load, *store;
};

struct scope_row {
  const char *spelling;
  const char *strength; /* of a strong access in that scope; "" without one */
};

const struct arithmetic_row *arithmetic_row(int32_t bits); /* 32 or 64 */
const struct width_row *width_row(int32_t bytes);          /* 1, 2, 4 or 8 */
const struct scope_row *scope_row(int32_t scope);          /* a tptx_scope */

#endif
