/* SPDX-License-Identifier: Apache-2.0 */
/* cuStream*, cuEvent*, and the work that streams carry out: at once, in the order of the calls. */
#define _POSIX_C_SOURCE 200809L
#include "stream.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture.h"
#include "control.h"

struct event {
  struct object object;
  _Atomic int64_t nanoseconds; /* of the last record, 0 before it */
};

int work_run(struct context *context, const struct work *work) {
  switch (work->kind) {
  case WORK_LAUNCH: return launch_run(context, work);
  case WORK_COPY:
  case WORK_FILL: return transfer_run(work);
  case WORK_RECORD: event_record_now(work->event); return 0;
  }
  return 0;
}

bool work_copy(struct work *to, const struct work *from) {
  *to = *from;
  if (from->parameters == NULL) {
    return true;
  }
  to->parameters = malloc(from->parameter_bytes + 1);
  if (to->parameters != NULL) {
    memcpy(to->parameters, from->parameters, from->parameter_bytes);
  }
  return to->parameters != NULL;
}

void work_free(struct work *work) {
  free(work->parameters);
  work->parameters = NULL;
}

int stream_acquire(const struct context *context, void *handle, struct stream **stream) {
  *stream = NULL;
  if (handle == NULL || handle == (void *)1 || handle == (void *)2) {
    return 0;
  }
  struct stream *found = object_acquire(handle, OBJECT_STREAM);
  if (found == NULL || found->object.context != context_id(context)) {
    object_release(found);
    return fail(ERROR_INVALID_HANDLE, "%p is no stream of the current context", handle);
  }
  *stream = found;
  return 0;
}

static void destroy_stream(struct object *object) {
  struct stream *stream = (struct stream *)object;
  capture_abandon(stream);
  free(stream);
}

int cuStreamCreate(void **out, unsigned flags) {
  struct context *context;
  int code = enter(ENTRY_cuStreamCreate, &context);
  if (code != 0) {
    return code;
  }
  struct stream *stream = calloc(1, sizeof *stream);
  if (stream == NULL) {
    return fail(ERROR_OUT_OF_MEMORY, "no memory for a stream");
  }
  stream->flags = flags;
  *out = object_register(&stream->object, OBJECT_STREAM, context_id(context), destroy_stream);
  return 0;
}

int cuStreamDestroy_v2(void *stream) {
  int code = enter(ENTRY_cuStreamDestroy_v2, NULL);
  if (code == 0 && !object_remove(stream, OBJECT_STREAM)) {
    code = fail(ERROR_INVALID_HANDLE, "%p is no live stream", stream);
  }
  return code;
}

int cuStreamSynchronize(void *handle) {
  struct context *context;
  struct stream *stream;
  int code = enter(ENTRY_cuStreamSynchronize, &context);
  if (code != 0 || (code = stream_acquire(context, handle, &stream)) != 0) {
    return code;
  }
  object_release(stream);
  return capture_refuses("cuStreamSynchronize");
}

int cuCtxSynchronize(void) {
  int code = enter(ENTRY_cuCtxSynchronize, NULL);
  return code != 0 ? code : capture_refuses("cuCtxSynchronize");
}

static void destroy_event(struct object *object) {
  free(object);
}

int cuEventCreate(void **out, unsigned flags) {
  struct context *context;
  int code = enter(ENTRY_cuEventCreate, &context);
  (void)flags;
  if (code != 0) {
    return code;
  }
  struct event *event = calloc(1, sizeof *event);
  if (event == NULL) {
    return fail(ERROR_OUT_OF_MEMORY, "no memory for an event");
  }
  *out = object_register(&event->object, OBJECT_EVENT, context_id(context), destroy_event);
  return 0;
}

void event_record_now(void *handle) {
  struct event *event = object_acquire(handle, OBJECT_EVENT);
  struct timespec now;
  if (event != NULL && clock_gettime(CLOCK_MONOTONIC, &now) == 0) {
    atomic_store(&event->nanoseconds, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
  }
  object_release(event);
}

int cuEventRecord(void *event, void *stream) {
  struct context *context;
  struct work work = {.kind = WORK_RECORD, .event = event};
  int code = enter(ENTRY_cuEventRecord, &context);
  if (code != 0) {
    return code;
  }
  struct event *known = object_acquire(event, OBJECT_EVENT);
  object_release(known);
  return known == NULL ? fail(ERROR_INVALID_HANDLE, "%p is no live event", event)
                       : capture_or_run(context, stream, &work, "cuEventRecord");
}

int cuEventSynchronize(void *handle) {
  int code = enter(ENTRY_cuEventSynchronize, NULL);
  if (code != 0) {
    return code;
  }
  struct event *event = object_acquire(handle, OBJECT_EVENT);
  object_release(event);
  return event == NULL ? fail(ERROR_INVALID_HANDLE, "%p is no live event", handle) : 0;
}

int cuEventElapsedTime(float *milliseconds, void *start, void *end) {
  int code = enter(ENTRY_cuEventElapsedTime, NULL);
  if (code != 0) {
    return code;
  }
  struct event *first = object_acquire(start, OBJECT_EVENT);
  struct event *second = object_acquire(end, OBJECT_EVENT);
  int64_t from = first != NULL ? atomic_load(&first->nanoseconds) : 0;
  int64_t to = second != NULL ? atomic_load(&second->nanoseconds) : 0;
  if (from == 0 || to == 0) {
    code = fail(ERROR_INVALID_HANDLE, "an event that was not recorded");
  } else {
    *milliseconds = (float)((double)(to - from) / 1e6);
  }
  object_release(first);
  object_release(second);
  return code;
}

int cuEventDestroy_v2(void *event) {
  int code = enter(ENTRY_cuEventDestroy_v2, NULL);
  if (code == 0 && !object_remove(event, OBJECT_EVENT)) {
    code = fail(ERROR_INVALID_HANDLE, "%p is no live event", event);
  }
  return code;
}
