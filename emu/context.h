/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, and which one is current in a thread. */
#ifndef EMU_CONTEXT_H
#define EMU_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

struct context;

struct context *context_current(void);
bool context_is_alive(const struct context *context);
uint64_t context_id(const struct context *context);
int context_device(const struct context *context);

/* A kernel failed: from now on every call in the context gives that code. */
void context_break(struct context *context, int code, const char *message);
int context_failure(const struct context *context);
/* Never changes once it is there, until the context itself goes. */
const char *context_message(const struct context *context);

#endif
