/* SPDX-License-Identifier: Apache-2.0 */
#include "cache.h"

#include "kernel.h"
#include "status.h"

#include <string.h>

/* A build under way, kept until its builder and every waiter have seen how it ended. */
struct flight {
  unsigned users;
  bool landed;
  tptx_status status;
  tptx_kernel *kernel;
  tptx_error error;
};

struct cache_entry {
  struct cache_entry *next; /* in its bucket; in the list of victims once it is out of the table */
  struct cache_entry *newer, *older;
  uint64_t hash;
  struct context context;
  const struct key *key; /* the builder's, then the kernel's own */
  tptx_kernel *kernel;   /* NULL while building */
  struct flight *flight; /* NULL once ready */
};

tptx_status cache_open(struct cache *cache, const tptx_allocator *allocator, uint64_t capacity,
                       tptx_error *error) {
  uint64_t count = 64;
  while (count < capacity && count < 65536) count *= 2;
  memset(cache, 0, sizeof *cache);
  cache->buckets = allocate(allocator, count * sizeof *cache->buckets);
  REFUSE_IF(!cache->buckets, error, TPTX_ERROR_OUT_OF_MEMORY, "", -1,
            "no memory for the cache's table");
  for (uint64_t i = 0; i < count; i++) cache->buckets[i] = NULL;
  cache->bucket_count = count;
  cache->allocator = allocator;
  cache->capacity = capacity;
  cache->hash_mask = UINT64_MAX;
  shortcuts_open(&cache->shortcuts, allocator, capacity);
  pthread_mutex_init(&cache->lock, NULL);
  pthread_cond_init(&cache->landed, NULL);
  return TPTX_OK;
}

void cache_close(struct cache *cache) {
  shortcuts_close(&cache->shortcuts);
  release(cache->allocator, cache->buckets);
  pthread_cond_destroy(&cache->landed);
  pthread_mutex_destroy(&cache->lock);
}

/* ---- The table and the list by last use; the lock is held ------------------------------------ */

static uint64_t hash_of(const struct cache *cache, const struct cache_request *request) {
  uint64_t context = request->context.id ^ (uint64_t)(uintptr_t)request->context.handle;
  return (request->key->hash ^ context * UINT64_C(0x9E3779B97F4A7C15)) & cache->hash_mask;
}

static struct cache_entry **bucket_of(const struct cache *cache, uint64_t hash) {
  return &cache->buckets[hash & (cache->bucket_count - 1)];
}

static struct cache_entry *find(const struct cache *cache, const struct cache_request *request) {
  uint64_t hash = hash_of(cache, request);
  struct cache_entry *entry = *bucket_of(cache, hash);
  while (entry && (entry->hash != hash || !context_equal(entry->context, request->context) ||
                   !key_equal(entry->key, request->key)))
    entry = entry->next;
  return entry;
}

static void list_remove(struct cache *cache, struct cache_entry *entry) {
  *(entry->newer ? &entry->newer->older : &cache->newest) = entry->older;
  *(entry->older ? &entry->older->newer : &cache->oldest) = entry->newer;
}

static void list_add(struct cache *cache, struct cache_entry *entry) {
  entry->newer = NULL;
  entry->older = cache->newest;
  *(entry->older ? &entry->older->newer : &cache->oldest) = entry;
  cache->newest = entry;
}

static void insert(struct cache *cache, struct cache_entry *entry) {
  struct cache_entry **bucket = bucket_of(cache, entry->hash);
  entry->next = *bucket;
  *bucket = entry;
  list_add(cache, entry);
  cache->entries++;
}

static void take_out(struct cache *cache, struct cache_entry *entry) {
  struct cache_entry **place = bucket_of(cache, entry->hash);
  while (*place != entry) place = &(*place)->next;
  *place = entry->next;
  list_remove(cache, entry);
  cache->entries--;
  if (entry->kernel) {
    entry->kernel->entry = NULL;
    cache->counters.kept--;
    shortcuts_invalidate(&cache->shortcuts);
  }
}

static void take_out_as_victim(struct cache *cache, struct cache_entry *entry,
                               struct cache_entry **victims) {
  take_out(cache, entry);
  entry->next = *victims;
  *victims = entry;
}

/*
 * Only the cache has it, and no graph can have it. New holders come by the lock or by a shortcut;
 * those are held, too. Only a holder captures, so the holders are looked at first.
 */
static bool unused(const struct cache_entry *entry) {
  return entry->kernel && holders_count(&entry->kernel->holders) == 0 &&
         !atomic_load(&entry->kernel->captured);
}

/*
 * Leaves room for one entry more, if enough kernels are unused. Shortcuts do not move an entry to
 * the front; a kernel that one was taken to since the last look gets a second chance.
 */
static struct cache_entry *make_room(struct cache *cache) {
  struct cache_entry *victims = NULL, *entry = cache->oldest;
  if (cache->entries < cache->capacity) return NULL;
  shortcuts_hold(&cache->shortcuts);
  for (uint64_t looks = 2 * cache->entries; looks && entry && cache->entries >= cache->capacity;
       looks--) {
    struct cache_entry *newer = entry->newer ? entry->newer : cache->oldest;
    if (unused(entry)) {
      if (atomic_exchange(&entry->kernel->touched, false)) {
        list_remove(cache, entry);
        list_add(cache, entry);
      } else {
        if (newer == entry) newer = NULL;
        take_out_as_victim(cache, entry, &victims);
        cache->counters.evictions++;
      }
    }
    entry = newer;
  }
  shortcuts_let_go(&cache->shortcuts);
  return victims;
}

static tptx_kernel *hit(struct cache *cache, struct cache_entry *entry) {
  list_remove(cache, entry);
  list_add(cache, entry);
  cache->counters.hits++;
  kernel_retain(entry->kernel, 1);
  return entry->kernel;
}

/* ---- Outside the lock ------------------------------------------------------------------------ */

static void drop_victims(struct cache *cache, struct cache_entry *victims) {
  while (victims) {
    struct cache_entry *entry = victims;
    victims = entry->next;
    tptx_kernel *kernel = entry->kernel;
    release(cache->allocator, entry);
    kernel_let_go(kernel); /* the last one may take the runtime, and this cache, along */
  }
}

tptx_kernel *cache_find(struct cache *cache, const struct cache_request *request) {
  pthread_mutex_lock(&cache->lock);
  struct cache_entry *entry = find(cache, request);
  tptx_kernel *kernel = entry && entry->kernel ? hit(cache, entry) : NULL;
  pthread_mutex_unlock(&cache->lock);
  return kernel;
}

tptx_kernel *cache_recall(struct cache *cache, const struct shortcut_call *call,
                          const struct classes *classes) {
  tptx_kernel *kernel = shortcut_recall(&cache->shortcuts, call, classes);
  if (kernel && !atomic_load_explicit(&kernel->touched, memory_order_relaxed))
    atomic_store_explicit(&kernel->touched, true, memory_order_relaxed);
  return kernel;
}

void cache_recalled_in_vain(struct cache *cache) {
  shortcut_in_vain(&cache->shortcuts);
}

uint64_t cache_generation(const struct cache *cache) {
  return atomic_load(&cache->shortcuts.generation);
}

void cache_keep_shortcut(struct cache *cache, const struct shortcut_call *call, uint64_t generation,
                         tptx_kernel *kernel) {
  if (cache->capacity > 0) shortcut_keep(&cache->shortcuts, call, generation, kernel);
}

static tptx_status entry_new(struct cache *cache, const struct cache_request *request,
                             struct cache_entry **out, tptx_error *error) {
  struct cache_entry *entry = allocate(cache->allocator, sizeof *entry);
  struct flight *flight = allocate(cache->allocator, sizeof *flight);
  if (!entry || !flight) {
    release(cache->allocator, entry);
    release(cache->allocator, flight);
    REFUSE(error, TPTX_ERROR_OUT_OF_MEMORY, "", -1, "no memory for an entry of the cache");
  }
  *flight = (struct flight){.users = 1, .status = TPTX_OK};
  *entry = (struct cache_entry){.hash = hash_of(cache, request),
                                .context = request->context,
                                .key = request->key,
                                .flight = flight};
  *out = entry;
  return TPTX_OK;
}

static void entry_free(struct cache *cache, struct cache_entry *entry) {
  release(cache->allocator, entry->flight);
  release(cache->allocator, entry);
}

/* One user less; the lock is held. The last one frees the flight, once the lock is given back. */
static struct flight *leave(struct flight *flight) {
  return --flight->users == 0 ? flight : NULL;
}

static tptx_status wait_for(struct cache *cache, struct flight *flight, tptx_kernel **out,
                            tptx_error *error) {
  cache->counters.waits++;
  flight->users++;
  while (!flight->landed) pthread_cond_wait(&cache->landed, &cache->lock);
  tptx_status status = flight->status;
  *out = flight->kernel;
  if (status != TPTX_OK && error) *error = flight->error;
  struct flight *finished = leave(flight);
  pthread_mutex_unlock(&cache->lock);
  release(cache->allocator, finished);
  return status;
}

/* The builder's half: outside the lock it builds, inside it tells everybody. */
static tptx_status build(struct cache *cache, const struct cache_request *request,
                         struct cache_entry *entry, tptx_kernel **out, tptx_error *error) {
  struct flight *flight = entry->flight;
  tptx_kernel *kernel = NULL;
  uint64_t microseconds = 0;
  tptx_status status = request->build(request->user, &kernel, &microseconds, &flight->error);
  if (status != TPTX_OK && error) *error = flight->error;
  pthread_mutex_lock(&cache->lock);
  cache->counters.build_microseconds += microseconds;
  flight->status = status;
  flight->landed = true;
  entry->flight = NULL;
  if (status == TPTX_OK) {
    cache->counters.builds++;
    cache->counters.kept++;
    kernel_retain(kernel, flight->users);
    flight->kernel = kernel;
    kernel->entry = entry;
    entry->kernel = kernel;
    entry->key = &kernel->ptx->key;
    entry = NULL;
  } else {
    cache->counters.failures++;
    take_out(cache, entry);
  }
  pthread_cond_broadcast(&cache->landed);
  struct flight *finished = leave(flight);
  pthread_mutex_unlock(&cache->lock);
  release(cache->allocator, finished);
  release(cache->allocator, entry);
  *out = kernel;
  return status;
}

tptx_status cache_build(struct cache *cache, const struct cache_request *request, tptx_kernel **out,
                        enum cache_outcome *outcome, tptx_error *error) {
  struct cache_entry *fresh = NULL;
  *out = NULL;
  FORWARD(entry_new(cache, request, &fresh, error));
  pthread_mutex_lock(&cache->lock);
  /* Another look: somebody may have come first while the lock was not held. */
  struct cache_entry *entry = find(cache, request);
  if (entry && entry->kernel) {
    *outcome = CACHE_HIT;
    *out = hit(cache, entry);
    pthread_mutex_unlock(&cache->lock);
    entry_free(cache, fresh);
    return TPTX_OK;
  }
  if (entry) {
    *outcome = CACHE_WAIT;
    tptx_status status = wait_for(cache, entry->flight, out, error);
    entry_free(cache, fresh);
    return status;
  }
  *outcome = CACHE_MISS;
  cache->counters.misses++;
  struct cache_entry *victims = make_room(cache);
  insert(cache, fresh);
  pthread_mutex_unlock(&cache->lock);
  drop_victims(cache, victims);
  return build(cache, request, fresh, out, error);
}

void cache_give_back(struct cache *cache, tptx_kernel *kernel) {
  if (cache->capacity > 0) {
    kernel_drop(kernel);
    return;
  }
  struct cache_entry *victims = NULL;
  pthread_mutex_lock(&cache->lock); /* with no capacity there are no shortcuts to hold */
  /* While the cache keeps it, no holder is the last. */
  bool kept = kernel->entry != NULL;
  if (kept) {
    kernel_drop(kernel);
    if (unused(kernel->entry)) take_out_as_victim(cache, kernel->entry, &victims);
  }
  pthread_mutex_unlock(&cache->lock);
  if (!kept) kernel_drop(kernel);
  drop_victims(cache, victims);
}

/* Takes out the ready entries of the contexts at `handle` (NULL: any) with `id`, or without it. */
static void drop_where(struct cache *cache, struct context context, bool same_id) {
  struct cache_entry *victims = NULL, *newer;
  pthread_mutex_lock(&cache->lock);
  shortcuts_hold(&cache->shortcuts);
  for (struct cache_entry *entry = cache->oldest; entry; entry = newer) {
    newer = entry->newer;
    if (!entry->kernel) continue;
    if (context.handle &&
        (entry->context.handle != context.handle || (entry->context.id == context.id) != same_id))
      continue;
    if (context.handle) atomic_store(&entry->kernel->abandoned, true);
    take_out_as_victim(cache, entry, &victims);
  }
  shortcuts_let_go(&cache->shortcuts);
  pthread_mutex_unlock(&cache->lock);
  drop_victims(cache, victims);
}

void cache_clear(struct cache *cache) {
  drop_where(cache, (struct context){NULL, 0}, true);
}

void cache_drop_context(struct cache *cache, struct context gone) {
  drop_where(cache, gone, true);
}

void cache_drop_replaced(struct cache *cache, struct context kept) {
  drop_where(cache, kept, false);
}

void cache_count(struct cache *cache, tptx_counters *counters) {
  pthread_mutex_lock(&cache->lock);
  *counters = cache->counters;
  pthread_mutex_unlock(&cache->lock);
  counters->hits += shortcuts_hits(&cache->shortcuts);
}
