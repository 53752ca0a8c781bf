/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts who holds an object, beside one keeper: the cache. As long as the keeper has not let go
 * nothing can end the object, so nobody needs the sum: every thread counts in a shard, a cache line
 * that it mostly has to itself. A shard may be negative, for what one thread adds another removes.
 *
 * The keeper counts as a large number in `exact`. Letting go closes the shards one by one: an
 * exchange takes what was counted and leaves a mark, and who finds the mark counts in `exact`. So
 *
 *   exact + the open shards + what was taken from closed ones = the large number + the holders
 *
 * until, with all shards closed, one addition puts what was taken into `exact` and takes the large
 * number away. Before, `exact` is far above 0; from then on it is the number of holders, and the
 * one operation that brings it to 0, this addition or a removal, is the last. Each operation
 * is ordered behind those whose counts it meets, so the last one may free the object.
 */
#ifndef HOLDERS_H
#define HOLDERS_H

#include "thread_shard.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { HOLDER_SHARDS = THREAD_SHARDS / 2 };

struct holder_shard {
  unsigned char apart[64 - sizeof(atomic_int_fast64_t)]; /* a cache line from count to count */
  atomic_int_fast64_t count;
};

/* Last in the object: what stands before it shares no cache line with a shard. */
struct holders {
  atomic_int_fast64_t exact;
  struct holder_shard shards[HOLDER_SHARDS];
};

void holders_open(struct holders *holders); /* the keeper, and nobody else */

/* The caller holds the object, or sees to it that the keeper does not let go meanwhile. */
void holders_add(struct holders *holders, int64_t count);

/* Both say whether nobody has the object any more; the keeper lets go once. */
bool holders_remove(struct holders *holders);
bool holders_let_go(struct holders *holders);

/*
 * How many hold it beside the keeper, who has not let go. If nobody is added meanwhile, no more are
 * left than it says: 0 means nobody.
 */
int64_t holders_count(const struct holders *holders);

#endif
