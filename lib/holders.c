/* SPDX-License-Identifier: Apache-2.0 */
#include "holders.h"

/* Neither is reached by counting, so a closed shard stays one whatever is still added to it. */
static const int64_t keeper = INT64_C(1) << 62;
static const int64_t closed = INT64_MIN / 2;

void holders_open(struct holders *holders) {
  atomic_init(&holders->exact, keeper);
  for (int i = 0; i < HOLDER_SHARDS; i++) atomic_init(&holders->shards[i].count, 0);
}

/* False where the caller's shard is closed. */
static bool count_in_shard(struct holders *holders, int64_t change) {
  unsigned shard = thread_shard() * HOLDER_SHARDS / THREAD_SHARDS;
  return atomic_fetch_add(&holders->shards[shard].count, change) > closed / 2;
}

void holders_add(struct holders *holders, int64_t count) {
  if (!count_in_shard(holders, count)) atomic_fetch_add(&holders->exact, count);
}

bool holders_remove(struct holders *holders) {
  return !count_in_shard(holders, -1) && atomic_fetch_sub(&holders->exact, 1) == 1;
}

bool holders_let_go(struct holders *holders) {
  int64_t change = -keeper;
  for (int i = 0; i < HOLDER_SHARDS; i++)
    change += atomic_exchange(&holders->shards[i].count, closed);
  return atomic_fetch_add(&holders->exact, change) + change == 0;
}

int64_t holders_count(const struct holders *holders) {
  int64_t count = 0;
  for (int i = 0; i < HOLDER_SHARDS; i++) count += atomic_load(&holders->shards[i].count);
  return count;
}
