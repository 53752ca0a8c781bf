/* SPDX-License-Identifier: Apache-2.0 */
/* The pure half of a launch: arguments checked against a plan, grid and parameters worked out. */
#ifndef BIND_H
#define BIND_H

#include "operands.h"
#include "plan.h"

tptx_status bind_arguments(const struct plan *plan, const tptx_args *args, tptx_binding *binding,
                           tptx_error *error);

/* The same where the operands are resolved already. */
tptx_status bind_resolved(const struct plan *plan, const tptx_args *args,
                          const struct operands *operands, tptx_binding *binding,
                          tptx_error *error);

#endif
