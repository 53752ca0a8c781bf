/* SPDX-License-Identifier: Apache-2.0 */
/* What a tptx_runtime is made of, and the steps that kernel_get, run and prepare share. */
#ifndef RUNTIME_STATE_H
#define RUNTIME_STATE_H

#include "cache.h"
#include "fork_guard.h"
#include "kernel.h"
#include "trace.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct tptx_runtime {
  tptx_allocator allocator;
  struct fork_guard guard;
  atomic_uint references; /* the host's, and one of every kernel */
  struct driver driver;
  tptx_target target; /* 0 members: what the device and the driver have */
  bool compile_in_capture;
  struct trace trace;
  struct contexts contexts;
  struct cache cache;
  atomic_uint_fast64_t launches;
};

/*
 * True in a child of the process that made the runtime. There, neither the driver nor a lock may be
 * touched: what can be refused is refused (FORKED), what cannot does nothing.
 */
bool runtime_forked(const tptx_runtime *runtime);
/* The first step of every entry that can fail. */
tptx_status runtime_enter(const tptx_runtime *runtime, tptx_error *error);
void runtime_release(tptx_runtime *runtime);

/* One request for a kernel: first its context, then described and keyed. */
struct lookup {
  tptx_runtime *runtime;
  struct context context;
  uint64_t generation; /* of the cache, before anything was found there */
  struct signature signature;
  struct key key;
};

/* No driver call but for the current context and its id. */
tptx_status lookup_begin(tptx_runtime *runtime, struct lookup *lookup, tptx_error *error);

/* A kernel by shortcut, with one reference, or NULL. `classes` as shortcut_recall. */
tptx_kernel *lookup_recall(const struct lookup *lookup, const struct shortcut_call *call,
                           const struct classes *classes);
/* The recalled kernel answers the request: a hit, or it does not, and is given back. */
void lookup_recalled(const struct lookup *lookup, const tptx_kernel *kernel);
void lookup_in_vain(const struct lookup *lookup, tptx_kernel *kernel);
void lookup_keep_shortcut(const struct lookup *lookup, const struct shortcut_call *call,
                          tptx_kernel *kernel);

/* The long way begins here. No driver call once the context is known. */
tptx_status lookup_describe(struct lookup *lookup, const tptx_view *view, const tptx_op *op,
                            tptx_error *error);
/* NULL on a miss. The kernel comes with one reference. */
tptx_kernel *lookup_find(struct lookup *lookup);
/* After a miss: builds it, or waits for who does. */
tptx_status lookup_build(struct lookup *lookup, tptx_kernel **out, tptx_error *error);

#endif
