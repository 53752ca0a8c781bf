/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMU_STREAM_H
#define EMU_STREAM_H

#include <pthread.h>

#include "objects.h"
#include "work.h"

enum capture_status { CAPTURE_NONE, CAPTURE_ACTIVE, CAPTURE_INVALIDATED };
enum capture_mode { CAPTURE_GLOBAL, CAPTURE_THREAD_LOCAL, CAPTURE_RELAXED };
enum { STREAM_NON_BLOCKING = 1 };

/* What a graph or an executable holds: work in the order of its recording. */
struct sequence {
  struct work *items;
  size_t count;
  size_t capacity;
};

struct stream {
  struct object object;
  unsigned flags;
  /* the rest under the lock of capture.c */
  enum capture_status status;
  enum capture_mode mode;
  pthread_t owner;
  struct sequence recorded;
  struct stream *next; /* among the capturing ones */
};

void sequence_free(struct sequence *sequence);
void capture_abandon(struct stream *stream);

/* NULL, 1 (legacy) and 2 (per thread) are streams without a structure of their own: *stream is
 * NULL. */
int stream_acquire(const struct context *context, void *handle, struct stream **stream);

#endif
