/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module cache: kernels by context and key. One lock, never held during a build, an unload or
 * a call of the driver or of the log. An entry is building or ready; one thread builds it, the
 * others wait for its result or its error; a failed build leaves no entry.
 */
#ifndef CACHE_H
#define CACHE_H

#include "alloc.h"
#include "context.h"
#include "key.h"
#include "shortcut.h"

#include <tileptx/runtime.h>

#include <pthread.h>
#include <stdint.h>

struct cache_entry;

struct cache {
  const tptx_allocator *allocator;
  pthread_mutex_t lock;
  pthread_cond_t landed; /* some build has ended */
  uint64_t capacity;
  uint64_t hash_mask; /* all ones; tests cut it to force collisions */
  struct cache_entry **buckets;
  uint64_t bucket_count; /* a power of two */
  struct cache_entry *newest, *oldest;
  uint64_t entries;       /* building ones too */
  tptx_counters counters; /* all but launches and the hits of shortcuts */
  struct shortcuts shortcuts;
};

/*
 * What is asked for, and how to make it. `build` runs without the lock, gives a kernel that nobody
 * holds yet, and says how long it took, good or bad.
 */
struct cache_request {
  struct context context;
  const struct key *key;
  tptx_status (*build)(void *user, tptx_kernel **out, uint64_t *microseconds, tptx_error *error);
  void *user;
};

enum cache_outcome { CACHE_HIT, CACHE_WAIT, CACHE_MISS };

tptx_status cache_open(struct cache *cache, const tptx_allocator *allocator, uint64_t capacity,
                       tptx_error *error);
void cache_close(struct cache *cache); /* of an empty one */

/* A ready kernel, with one more reference for the caller, or NULL. Counts hits only. */
tptx_kernel *cache_find(struct cache *cache, const struct cache_request *request);

/*
 * The same by a shortcut, without the cache's lock. A kernel that was found the long way gets one;
 * `generation` is what cache_generation was before it was found.
 */
tptx_kernel *cache_recall(struct cache *cache, const struct shortcut_call *call,
                          const struct classes *classes);
void cache_recalled_in_vain(struct cache *cache); /* it did not answer the request: no hit */
uint64_t cache_generation(const struct cache *cache);
void cache_keep_shortcut(struct cache *cache, const struct shortcut_call *call, uint64_t generation,
                         tptx_kernel *kernel);

/*
 * After cache_find found nothing: builds, or waits for who does. The kernel comes with one
 * reference for the caller. Kernels that nobody holds and no capture used make room before a build.
 */
tptx_status cache_build(struct cache *cache, const struct cache_request *request, tptx_kernel **out,
                        enum cache_outcome *outcome, tptx_error *error);

/* Gives one reference back; without capacity the last holder's takes the kernel out. */
void cache_give_back(struct cache *cache, tptx_kernel *kernel);

/* Drops every ready kernel; held ones live on until they are released. */
void cache_clear(struct cache *cache);
/* The same for the kernels of contexts at `gone.handle`: of that one, or of all but `kept`. */
void cache_drop_context(struct cache *cache, struct context gone);
void cache_drop_replaced(struct cache *cache, struct context kept);

void cache_count(struct cache *cache, tptx_counters *counters);

#endif
