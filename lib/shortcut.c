/* SPDX-License-Identifier: Apache-2.0 */
#include "shortcut.h"

#include "rows.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/*
 * 3 alignments of both, 2 more of the tile operand above the lowest, each in 2 widths; where picks
 * may be dense, the tile operand does not count apart, but the 3 double.
 */
enum {
  WAYS = 4, /* slots of a set: calls that meet do not put each other out */
  KERNELS = 12,
  FEWEST_SLOTS = 64,
  MOST_SLOTS = 1 << 16
};

struct shortcut {
  uint64_t hash, generation;
  struct context context;
  tptx_view view;
  tptx_op op;
  tptx_kernel *kernels[KERNELS]; /* newest first */
};

/* Structs with holes would be compared hole by hole. */
_Static_assert(sizeof(tptx_op) == sizeof(size_t) + 16 * 4 + sizeof(tptx_tile), "tptx_op has holes");
_Static_assert(sizeof(tptx_tile) == 16 + 8 * TPTX_MAX_RANK, "tptx_tile has holes");
_Static_assert(sizeof(tptx_view) == sizeof(size_t) + 32 + 32 * TPTX_MAX_RANK,
               "tptx_view has holes");

void shortcuts_open(struct shortcuts *shortcuts, const tptx_allocator *allocator, uint64_t most) {
  shortcuts->allocator = allocator;
  shortcuts->most = most;
  atomic_init(&shortcuts->generation, 0);
  for (int i = 0; i < THREAD_SHARDS; i++) {
    struct shortcut_shard *shard = &shortcuts->shards[i];
    pthread_mutex_init(&shard->lock, NULL);
    shard->slots = NULL;
    shard->count = 0;
    atomic_init(&shard->hits, 0);
  }
}

void shortcuts_close(struct shortcuts *shortcuts) {
  for (int i = 0; i < THREAD_SHARDS; i++) {
    struct shortcut_shard *shard = &shortcuts->shards[i];
    for (uint64_t k = 0; k < shard->count; k++) release(shortcuts->allocator, shard->slots[k]);
    release(shortcuts->allocator, shard->slots);
    pthread_mutex_destroy(&shard->lock);
  }
}

/*
 * The chunk strides, last in tptx_view, are mixed in by hand: up to 240 bytes XXH3 takes a way of
 * half the length.
 */
uint64_t shortcut_hash(struct context context, const tptx_view *view, const tptx_op *op) {
  uint64_t hash = context.id ^ (uint64_t)(uintptr_t)context.handle;
  for (int k = 0; k < TPTX_MAX_RANK; k++)
    hash = (hash + (uint64_t)view->strides[k]) * UINT64_C(0x9E3779B97F4A7C15);
  uint64_t of_op = XXH3_64bits(op, sizeof *op);
  return hash ^ XXH3_64bits(view, offsetof(tptx_view, strides)) ^ (of_op << 7 | of_op >> 57);
}

static struct shortcut_shard *own_shard(struct shortcuts *shortcuts) {
  return &shortcuts->shards[thread_shard()];
}

/* The slots for calls of that hash, newest first. */
static struct shortcut **set_of(const struct shortcut_shard *shard, uint64_t hash) {
  return &shard->slots[((hash ^ hash >> 32) & (shard->count / WAYS - 1)) * WAYS];
}

static bool leads(const struct shortcut *shortcut, const struct shortcut_call *call,
                  uint64_t generation) {
  return shortcut && shortcut->hash == call->hash && shortcut->generation == generation &&
         context_equal(shortcut->context, call->context) &&
         !memcmp(&shortcut->view, call->view, sizeof shortcut->view) &&
         !memcmp(&shortcut->op, call->op, sizeof shortcut->op);
}

static struct shortcut *find_leading(struct shortcut *const *set, const struct shortcut_call *call,
                                     uint64_t generation) {
  for (int i = 0; i < WAYS; i++)
    if (leads(set[i], call, generation)) return set[i];
  return NULL;
}

bool kernel_made_for(const tptx_kernel *kernel, const struct classes *classes) {
  const struct signature *s = &kernel->ptx->plan.signature;
  return s->align == classes->align && s->tile_align == classes->tile_align &&
         s->arith == classes->arith && (s->picks == classes->picks || rows_flight(s) == 0);
}

/* The lock is held: no need for an addition that other threads see as one step. */
static void count_hits(struct shortcut_shard *shard, uint64_t change) {
  uint64_t hits = atomic_load_explicit(&shard->hits, memory_order_relaxed);
  atomic_store_explicit(&shard->hits, hits + change, memory_order_relaxed);
}

static tptx_kernel *choose(const struct shortcut *shortcut, const struct classes *classes) {
  if (!classes) return shortcut->kernels[0];
  for (int i = 0; i < KERNELS && shortcut->kernels[i]; i++)
    if (kernel_made_for(shortcut->kernels[i], classes)) return shortcut->kernels[i];
  return NULL;
}

tptx_kernel *shortcut_recall(struct shortcuts *shortcuts, const struct shortcut_call *call,
                             const struct classes *classes) {
  struct shortcut_shard *shard = own_shard(shortcuts);
  tptx_kernel *kernel = NULL;
  pthread_mutex_lock(&shard->lock);
  const struct shortcut *shortcut = NULL;
  if (shard->count)
    shortcut = find_leading(set_of(shard, call->hash), call, atomic_load(&shortcuts->generation));
  if (shortcut) kernel = choose(shortcut, classes);
  if (kernel) {
    kernel_retain(kernel, 1);
    count_hits(shard, 1);
  }
  pthread_mutex_unlock(&shard->lock);
  return kernel;
}

void shortcut_in_vain(struct shortcuts *shortcuts) {
  struct shortcut_shard *shard = own_shard(shortcuts);
  pthread_mutex_lock(&shard->lock);
  count_hits(shard, (uint64_t)-1);
  pthread_mutex_unlock(&shard->lock);
}

static bool open_slots(struct shortcuts *shortcuts, struct shortcut_shard *shard) {
  if (shard->count) return true;
  uint64_t count = FEWEST_SLOTS;
  while (count / 2 < shortcuts->most && count < MOST_SLOTS) count *= 2;
  shard->slots = allocate(shortcuts->allocator, count * sizeof *shard->slots);
  if (!shard->slots) return false;
  for (uint64_t i = 0; i < count; i++) shard->slots[i] = NULL;
  shard->count = count;
  return true;
}

/* In the oldest one's place. */
static struct shortcut *open_shortcut(struct shortcuts *shortcuts, struct shortcut **set,
                                      const struct shortcut_call *call, uint64_t generation) {
  struct shortcut *shortcut = set[WAYS - 1];
  if (!shortcut) shortcut = allocate(shortcuts->allocator, sizeof *shortcut);
  if (!shortcut) return NULL;
  memmove(set + 1, set, (WAYS - 1) * sizeof(struct shortcut *));
  set[0] = shortcut;
  *shortcut =
      (struct shortcut){call->hash, generation, call->context, *call->view, *call->op, {NULL}};
  return shortcut;
}

static void keep_in(struct shortcuts *shortcuts, struct shortcut_shard *shard,
                    const struct shortcut_call *call, uint64_t generation, tptx_kernel *kernel) {
  if (!open_slots(shortcuts, shard)) return;
  struct shortcut **set = set_of(shard, call->hash);
  struct shortcut *shortcut = find_leading(set, call, generation);
  if (!shortcut) shortcut = open_shortcut(shortcuts, set, call, generation);
  if (!shortcut) return;
  for (int i = 0; i < KERNELS; i++)
    if (shortcut->kernels[i] == kernel) return;
  memmove(shortcut->kernels + 1, shortcut->kernels, (KERNELS - 1) * sizeof(tptx_kernel *));
  shortcut->kernels[0] = kernel;
}

void shortcut_keep(struct shortcuts *shortcuts, const struct shortcut_call *call,
                   uint64_t generation, tptx_kernel *kernel) {
  struct shortcut_shard *shard = own_shard(shortcuts);
  pthread_mutex_lock(&shard->lock);
  keep_in(shortcuts, shard, call, generation, kernel);
  pthread_mutex_unlock(&shard->lock);
}

void shortcuts_invalidate(struct shortcuts *shortcuts) {
  atomic_fetch_add(&shortcuts->generation, 1);
}

void shortcuts_hold(struct shortcuts *shortcuts) {
  for (int i = 0; i < THREAD_SHARDS; i++) pthread_mutex_lock(&shortcuts->shards[i].lock);
}

void shortcuts_let_go(struct shortcuts *shortcuts) {
  for (int i = 0; i < THREAD_SHARDS; i++) pthread_mutex_unlock(&shortcuts->shards[i].lock);
}

uint64_t shortcuts_hits(struct shortcuts *shortcuts) {
  uint64_t hits = 0;
  for (int i = 0; i < THREAD_SHARDS; i++) hits += atomic_load(&shortcuts->shards[i].hits);
  return hits;
}
