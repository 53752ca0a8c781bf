/* SPDX-License-Identifier: Apache-2.0 */
#include "spelling.h"

#include <stddef.h>
#include <tileptx/emit.h>

static const struct arithmetic_row arithmetics[] = {
#define ARITHMETIC(bits, unsigned_type, signed_type, product) \
  {bits, unsigned_type, signed_type, product},
#include "arithmetic.def"
#undef ARITHMETIC
};

static const struct width_row widths[] = {
#define WIDTH(bytes, load, store) {bytes, load, store},
#include "widths.def"
#undef WIDTH
};

static const struct scope_row scopes[] = {
    [TPTX_SCOPE_DEFAULT] = {"", ""},
#define SCOPE(name, spelling, strength) [TPTX_SCOPE_##name] = {spelling, strength},
#include "scopes.def"
#undef SCOPE
};

const struct arithmetic_row *arithmetic_row(int32_t bits) {
  return &arithmetics[bits == arithmetics[1].bits];
}

const struct width_row *width_row(int32_t bytes) {
  size_t i = 0;
  while (widths[i].bytes != bytes) i++;
  return &widths[i];
}

const struct scope_row *scope_row(int32_t scope) {
  return &scopes[scope];
}
