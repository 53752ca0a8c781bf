/* SPDX-License-Identifier: Apache-2.0 */
/* The last step of planning: which numbers the kernel needs, and which of them are constants. */
#ifndef PLAN_QUANTITIES_H
#define PLAN_QUANTITIES_H

#include "plan.h"

tptx_status plan_quantities(struct plan *plan, tptx_error *error);

#endif
