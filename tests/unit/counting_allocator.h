/* SPDX-License-Identifier: Apache-2.0 */
/* A host's memory functions that count what is out and fail on demand. Safe on many threads. */
#ifndef COUNTING_ALLOCATOR_H
#define COUNTING_ALLOCATOR_H

#include <tileptx/emit.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct counting {
  atomic_long outstanding;
  atomic_long calls;
  atomic_long fail_at; /* the call that gets NULL, from 1; 0: none */
};

static inline void *counting_allocate(void *user, size_t bytes) {
  struct counting *counting = user;
  if (atomic_fetch_add(&counting->calls, 1) + 1 == atomic_load(&counting->fail_at)) return NULL;
  void *memory = malloc(bytes);
  if (!memory) return NULL;
  memset(memory, 0xA5, bytes); /* nobody may count on zeroes */
  atomic_fetch_add(&counting->outstanding, 1);
  return memory;
}

static inline void counting_release(void *user, void *memory) {
  struct counting *counting = user;
  atomic_fetch_sub(&counting->outstanding, 1);
  free(memory);
}

static inline tptx_allocator counting_allocator(struct counting *counting) {
  atomic_init(&counting->outstanding, 0);
  atomic_init(&counting->calls, 0);
  atomic_init(&counting->fail_at, 0);
  return (tptx_allocator){sizeof(tptx_allocator), counting_allocate, counting_release, counting};
}

#endif
