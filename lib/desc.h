/* SPDX-License-Identifier: Apache-2.0 */
/* From the caller's descriptors to a checked, canonical signature. */
#ifndef DESC_H
#define DESC_H

#include "signature.h"

/*
 * Everything that can be refused from the descriptors alone is refused here. `target` may be NULL.
 * Defaults are made explicit: align and arith 0 become the element's size and 64.
 */
tptx_status describe(const tptx_view *view, const tptx_op *op, const tptx_target *target,
                     struct signature *signature, tptx_error *error);

#endif
