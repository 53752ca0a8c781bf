/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a layout maps every index to an element of its own. */
#ifndef INJECTIVE_H
#define INJECTIVE_H

#include <stdint.h>

enum injective { INJECTIVE_NO, INJECTIVE_YES, INJECTIVE_NOT_PROVEN };

/* Exact up to two axes of extent 2 and more; above, sorted strides prove it or nothing does. */
enum injective layout_injective(int32_t rank, const int64_t *extents, const int64_t *strides);

#endif
