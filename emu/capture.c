/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "capture.h"

#include <stdlib.h>

#include "control.h"
#include "stream.h"

static pthread_mutex_t capture_lock = PTHREAD_MUTEX_INITIALIZER;
static struct stream *capturing; /* streams between begin and end */
static _Thread_local enum capture_mode thread_mode = CAPTURE_GLOBAL;

struct graph {
  struct object object;
  struct sequence work;
};

void sequence_free(struct sequence *sequence) {
  for (size_t k = 0; k < sequence->count; k++) {
    work_free(&sequence->items[k]);
  }
  free(sequence->items);
  *sequence = (struct sequence){0};
}

static bool sequence_append(struct sequence *sequence, const struct work *work) {
  if (sequence->count == sequence->capacity) {
    size_t wanted = sequence->capacity == 0 ? 8 : sequence->capacity * 2;
    struct work *larger = realloc(sequence->items, wanted * sizeof *larger);
    if (larger == NULL) {
      return false;
    }
    sequence->items = larger;
    sequence->capacity = wanted;
  }
  if (!work_copy(&sequence->items[sequence->count], work)) {
    return false;
  }
  sequence->count++;
  return true;
}

static bool sequence_copy(struct sequence *to, const struct sequence *from) {
  for (size_t k = 0; k < from->count; k++) {
    if (!sequence_append(to, &from->items[k])) {
      sequence_free(to);
      return false;
    }
  }
  return true;
}

/* Whether that capture forbids unsafe calls of this thread. */
static bool forbids(const struct stream *stream) {
  bool own = pthread_equal(stream->owner, pthread_self());
  if (stream->status != CAPTURE_ACTIVE || thread_mode == CAPTURE_RELAXED) {
    return false;
  }
  if (own) {
    return stream->mode != CAPTURE_RELAXED;
  }
  return stream->mode == CAPTURE_GLOBAL && thread_mode == CAPTURE_GLOBAL;
}

int capture_refuses(const char *what) {
  int code = 0;
  pthread_mutex_lock(&capture_lock);
  for (struct stream *stream = capturing; stream != NULL; stream = stream->next) {
    if (forbids(stream)) {
      stream->status = CAPTURE_INVALIDATED;
      code = ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
  }
  pthread_mutex_unlock(&capture_lock);
  return code != 0 ? fail(code, "%s while a stream is capturing", what) : 0;
}

/* Work on the legacy stream would wait for every blocking stream of the context. */
static int legacy_refuses(const struct context *context, bool invalidate, const char *what) {
  int code = 0;
  for (struct stream *stream = capturing; stream != NULL; stream = stream->next) {
    if (stream->object.context == context_id(context) && stream->status == CAPTURE_ACTIVE &&
        !(stream->flags & STREAM_NON_BLOCKING)) {
      stream->status = invalidate ? CAPTURE_INVALIDATED : stream->status;
      code = ERROR_STREAM_CAPTURE_IMPLICIT;
    }
  }
  return code != 0
             ? fail(code, "%s on the legacy stream while a blocking stream is capturing", what)
             : 0;
}

static bool is_legacy(void *handle) {
  return handle == NULL || handle == (void *)1;
}

int capture_or_run(struct context *context, void *handle, struct work *work, const char *what) {
  struct stream *stream;
  bool recorded = false;
  int code = stream_acquire(context, handle, &stream);
  if (code != 0) {
    return code;
  }
  pthread_mutex_lock(&capture_lock);
  if (is_legacy(handle)) {
    code = legacy_refuses(context, true, what);
  } else if (stream != NULL && stream->status == CAPTURE_INVALIDATED) {
    code = fail(ERROR_STREAM_CAPTURE_INVALIDATED, "%s in a capture that has failed", what);
  } else if (stream != NULL && stream->status == CAPTURE_ACTIVE) {
    recorded = true;
    if (!sequence_append(&stream->recorded, work)) {
      code = fail(ERROR_OUT_OF_MEMORY, "no memory to record %s", what);
    }
  }
  pthread_mutex_unlock(&capture_lock);
  if (code == 0 && !recorded) {
    code = work_run(context, work);
  }
  object_release(stream);
  return code;
}

static void unlink_capturing(struct stream *stream) {
  struct stream **place = &capturing;
  while (*place != NULL && *place != stream) {
    place = &(*place)->next;
  }
  if (*place != NULL) {
    *place = stream->next;
  }
  stream->status = CAPTURE_NONE;
}

void capture_abandon(struct stream *stream) {
  pthread_mutex_lock(&capture_lock);
  unlink_capturing(stream);
  sequence_free(&stream->recorded);
  pthread_mutex_unlock(&capture_lock);
}

int cuStreamIsCapturing(void *handle, int *status) {
  struct context *context;
  struct stream *stream;
  int code = enter(ENTRY_cuStreamIsCapturing, &context);
  if (code != 0 || (code = stream_acquire(context, handle, &stream)) != 0) {
    return code;
  }
  pthread_mutex_lock(&capture_lock);
  *status = stream != NULL ? (int)stream->status : (int)CAPTURE_NONE;
  if (is_legacy(handle)) {
    code = legacy_refuses(context, false, "cuStreamIsCapturing");
  }
  pthread_mutex_unlock(&capture_lock);
  object_release(stream);
  return code;
}

int cuStreamBeginCapture_v2(void *handle, int mode) {
  struct context *context;
  struct stream *stream;
  int code = enter(ENTRY_cuStreamBeginCapture_v2, &context);
  if (code != 0 || (code = stream_acquire(context, handle, &stream)) != 0) {
    return code;
  }
  if (stream == NULL || mode < CAPTURE_GLOBAL || mode > CAPTURE_RELAXED) {
    object_release(stream);
    return is_legacy(handle)
               ? fail(ERROR_STREAM_CAPTURE_UNSUPPORTED, "the legacy stream cannot be captured")
               : fail(ERROR_INVALID_VALUE, "bad stream or mode of a capture");
  }
  pthread_mutex_lock(&capture_lock);
  if (stream->status != CAPTURE_NONE) {
    code = fail(ERROR_INVALID_VALUE, "the stream is capturing already");
  } else {
    stream->status = CAPTURE_ACTIVE;
    stream->mode = (enum capture_mode)mode;
    stream->owner = pthread_self();
    stream->next = capturing;
    capturing = stream;
  }
  pthread_mutex_unlock(&capture_lock);
  object_release(stream);
  return code;
}

static void destroy_graph(struct object *object) {
  struct graph *graph = (struct graph *)object;
  sequence_free(&graph->work);
  free(graph);
}

/* Takes the recorded work out of the stream, into a graph unless the capture failed. */
static int end_capture(struct stream *stream, struct graph *graph) {
  int code = 0;
  pthread_mutex_lock(&capture_lock);
  if (stream->status == CAPTURE_NONE) {
    code = fail(ERROR_INVALID_VALUE, "the stream is not capturing");
  } else if (stream->mode != CAPTURE_RELAXED && !pthread_equal(stream->owner, pthread_self())) {
    code = fail(ERROR_STREAM_CAPTURE_WRONG_THREAD, "the capture was begun by another thread");
  } else {
    if (stream->status == CAPTURE_INVALIDATED) {
      code = fail(ERROR_STREAM_CAPTURE_INVALIDATED, "the capture had failed before its end");
      sequence_free(&stream->recorded);
    }
    unlink_capturing(stream);
    graph->work = stream->recorded;
    stream->recorded = (struct sequence){0};
  }
  pthread_mutex_unlock(&capture_lock);
  return code;
}

int cuStreamEndCapture(void *handle, void **out) {
  struct context *context;
  struct stream *stream;
  int code = enter(ENTRY_cuStreamEndCapture, &context);
  if (code != 0 || (code = stream_acquire(context, handle, &stream)) != 0) {
    return code;
  }
  struct graph *graph = calloc(1, sizeof *graph);
  *out = NULL;
  if (stream == NULL) {
    code = fail(ERROR_INVALID_VALUE, "the stream is not capturing");
  } else if (graph == NULL) {
    code = fail(ERROR_OUT_OF_MEMORY, "no memory for a graph");
  } else {
    code = end_capture(stream, graph);
  }
  object_release(stream);
  if (code != 0) {
    free(graph);
    return code;
  }
  *out = object_register(&graph->object, OBJECT_GRAPH, context_id(context), destroy_graph);
  return 0;
}

int cuThreadExchangeStreamCaptureMode(int *mode) {
  int code = enter(ENTRY_cuThreadExchangeStreamCaptureMode, NULL);
  if (code != 0) {
    return code;
  }
  if (*mode < CAPTURE_GLOBAL || *mode > CAPTURE_RELAXED) {
    return fail(ERROR_INVALID_VALUE, "%d is no mode of a capture", *mode);
  }
  enum capture_mode old = thread_mode;
  thread_mode = (enum capture_mode) * mode;
  *mode = (int)old;
  return 0;
}

int cuGraphInstantiateWithFlags(void **executable, void *handle, unsigned long long flags) {
  struct context *context;
  int code = enter(ENTRY_cuGraphInstantiateWithFlags, &context);
  (void)flags;
  if (code != 0) {
    return code;
  }
  struct graph *graph = object_acquire(handle, OBJECT_GRAPH);
  if (graph == NULL) {
    return fail(ERROR_INVALID_HANDLE, "%p is no live graph", handle);
  }
  struct graph *made = calloc(1, sizeof *made);
  if (made == NULL || !sequence_copy(&made->work, &graph->work)) {
    free(made);
    made = NULL;
  }
  object_release(graph);
  if (made == NULL) {
    return fail(ERROR_OUT_OF_MEMORY, "no memory for a graph");
  }
  *executable =
      object_register(&made->object, OBJECT_EXECUTABLE, context_id(context), destroy_graph);
  return 0;
}

int cuGraphLaunch(void *handle, void *stream) {
  struct context *context;
  int code = enter(ENTRY_cuGraphLaunch, &context);
  if (code != 0) {
    return code;
  }
  struct graph *executable = object_acquire(handle, OBJECT_EXECUTABLE);
  if (executable == NULL) {
    return fail(ERROR_INVALID_HANDLE, "%p is no live executable graph", handle);
  }
  for (size_t k = 0; code == 0 && k < executable->work.count; k++) {
    code = capture_or_run(context, stream, &executable->work.items[k], "cuGraphLaunch");
  }
  object_release(executable);
  return code;
}

int cuGraphExecDestroy(void *executable) {
  int code = enter(ENTRY_cuGraphExecDestroy, NULL);
  if (code == 0 && !object_remove(executable, OBJECT_EXECUTABLE)) {
    code = fail(ERROR_INVALID_HANDLE, "%p is no live executable graph", executable);
  }
  return code;
}

int cuGraphDestroy(void *graph) {
  int code = enter(ENTRY_cuGraphDestroy, NULL);
  if (code == 0 && !object_remove(graph, OBJECT_GRAPH)) {
    code = fail(ERROR_INVALID_HANDLE, "%p is no live graph", graph);
  }
  return code;
}
