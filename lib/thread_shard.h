/* SPDX-License-Identifier: Apache-2.0 */
/* A number for the calling thread: threads that work at once mostly get different ones. */
#ifndef THREAD_SHARD_H
#define THREAD_SHARD_H

#include <pthread.h>
#include <stdint.h>

enum { THREAD_SHARDS = 16 };

/*
 * Threads lie as far apart as their stacks are large, so the factor was looked for: with stacks of
 * 64 KiB to 16 MiB, a guard page or none, no more than 2 of 16 threads share a number, and no more
 * than 3 a pair of numbers.
 */
static inline unsigned thread_shard(void) {
  uint64_t thread = (uint64_t)(uintptr_t)pthread_self() * UINT64_C(0xE79FF28852DC08E7);
  return (unsigned)(thread >> 60);
}

#endif
