/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's contexts: which is current, which chip it is on. We make none, keep none alive. */
#ifndef CONTEXT_H
#define CONTEXT_H

#include "alloc.h"
#include "driver.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Addresses of contexts come back after a reset, ids do not. Without cuCtxGetId the id is 0. */
struct context {
  void *handle;
  uint64_t id;
};

/* TPTX_ERROR_NO_CONTEXT where none is current. */
tptx_status context_current(const struct driver *driver, struct context *context,
                            tptx_error *error);

static inline bool context_equal(struct context a, struct context b) {
  return a.handle == b.handle && a.id == b.id;
}

/*
 * False when the context is surely gone: then it must not even be pushed, for a driver may crash
 * when it is popped. Without cuCtxGetId a new context at the same address passes for the old one.
 */
bool context_alive(const struct driver *driver, struct context context);

/* The target of the current context's device. */
tptx_status context_device_target(const struct driver *driver, int *sm, tptx_error *error);

/* Which target each context gets, so that only the first request in a context asks the driver. */
struct contexts {
  const struct driver *driver;
  const tptx_allocator *allocator;
  int fixed_sm; /* for every context, where it is not 0 */
  pthread_mutex_t lock;
  struct context_record *first;
};

void contexts_open(struct contexts *contexts, const struct driver *driver,
                   const tptx_allocator *allocator, int fixed_sm);
void contexts_close(struct contexts *contexts);

/*
 * The target for `context`, which is current. *replaced says that an older context of the same
 * address was known and is therefore gone.
 */
tptx_status contexts_sm(struct contexts *contexts, struct context context, int *sm, bool *replaced,
                        tptx_error *error);
void contexts_forget(struct contexts *contexts, struct context context);

#endif
