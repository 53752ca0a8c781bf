/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From descriptors straight to a kernel that they led to before: what a repeated call takes instead
 * of describing, planning and hashing a signature. The caller's structs are compared byte for byte.
 *
 * A shortcut holds only as long as no kernel has left the cache; then the long way renews it. A
 * thread mostly has a shard of its own, so that threads that call at once do not wait for each
 * other. Whoever takes kernels out of the cache holds all shards from before he looks who has them
 * until he has called shortcuts_invalidate: no thread is on its way to one meanwhile or later.
 */
#ifndef SHORTCUT_H
#define SHORTCUT_H

#include "kernel.h"
#include "thread_shard.h"

#include <pthread.h>

struct shortcut;

struct shortcut_shard {
  pthread_mutex_t lock;
  struct shortcut **slots;
  uint64_t count;            /* of slots, a power of two; 0 before the first shortcut is kept */
  atomic_uint_fast64_t hits; /* written under the lock */
  unsigned char apart[64];   /* keeps shards in cache lines of their own */
};

struct shortcuts {
  const tptx_allocator *allocator;
  uint64_t most;                   /* kernels that are expected at once */
  atomic_uint_fast64_t generation; /* of the set of kernels: another one once a kernel has left */
  unsigned char apart[64];         /* every call reads what is above, a shard is written */
  struct shortcut_shard shards[THREAD_SHARDS];
};

/* A call, as far as it decides which kernel is wanted. */
struct shortcut_call {
  struct context context;
  const tptx_view *view;
  const tptx_op *op;
  uint64_t hash; /* shortcut_hash */
};

bool kernel_made_for(const tptx_kernel *kernel, const struct classes *classes);

void shortcuts_open(struct shortcuts *shortcuts, const tptx_allocator *allocator, uint64_t most);
void shortcuts_close(struct shortcuts *shortcuts);

uint64_t shortcut_hash(struct context context, const tptx_view *view, const tptx_op *op);

/*
 * A kernel of those classes, or the newest of the call's where `classes` is NULL, with one more
 * reference for the caller; NULL for none. A kernel counts as a hit.
 */
tptx_kernel *shortcut_recall(struct shortcuts *shortcuts, const struct shortcut_call *call,
                             const struct classes *classes);

/* The kernel that was recalled does not answer the request: no hit after all. */
void shortcut_in_vain(struct shortcuts *shortcuts);

/*
 * Keeps the way to a kernel that was in the cache at `generation`, which was read before the kernel
 * was found; without memory it is not kept.
 */
void shortcut_keep(struct shortcuts *shortcuts, const struct shortcut_call *call,
                   uint64_t generation, tptx_kernel *kernel);

void shortcuts_hold(struct shortcuts *shortcuts);
void shortcuts_invalidate(struct shortcuts *shortcuts); /* held */
void shortcuts_let_go(struct shortcuts *shortcuts);
uint64_t shortcuts_hits(struct shortcuts *shortcuts);

#endif
