/* SPDX-License-Identifier: Apache-2.0 */
/* A context that goes leaves its structure behind: the next one on the same device gets the same
 * pointer, as on real drivers, but an id that never was. */
#include "context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "memory.h"
#include "objects.h"

enum { STACK_DEPTH = 32 };

struct context {
  struct context *next; /* among those that cuCtxCreate made */
  int device;
  bool primary;
  _Atomic bool alive;
  _Atomic uint64_t id;
  int references; /* of a primary context */
  _Atomic int failure;
  char message[MESSAGE_BYTES];
};

static struct {
  pthread_mutex_t lock;
  struct context primary[MAX_DEVICES];
  struct context *created;
  uint64_t last_id;
} contexts = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
  struct context *entries[STACK_DEPTH];
  int depth;
} stack;

struct context *context_current(void) {
  return stack.depth > 0 ? stack.entries[stack.depth - 1] : NULL;
}

bool context_is_alive(const struct context *context) {
  return atomic_load(&context->alive);
}

uint64_t context_id(const struct context *context) {
  return atomic_load(&context->id);
}

int context_device(const struct context *context) {
  return context->device;
}

int context_failure(const struct context *context) {
  return atomic_load(&context->failure);
}

const char *context_message(const struct context *context) {
  return atomic_load(&context->failure) != 0 ? context->message : "";
}

void context_break(struct context *context, int code, const char *message) {
  pthread_mutex_lock(&contexts.lock);
  if (atomic_load(&context->failure) == 0) {
    snprintf(context->message, sizeof context->message, "%s", message);
    atomic_store(&context->failure, code);
  }
  pthread_mutex_unlock(&contexts.lock);
}

static void bring_up(struct context *context, int device) {
  context->device = device;
  atomic_store(&context->id, ++contexts.last_id);
  atomic_store(&context->failure, 0);
  atomic_store(&context->alive, true);
}

/* With the lock held. What the context held goes with it. */
static void take_down(struct context *context) {
  uint64_t id = atomic_load(&context->id);
  atomic_store(&context->alive, false);
  objects_drop(id);
  memory_release(id);
}

static bool is_context(const struct context *context) {
  for (int k = 0; k < MAX_DEVICES; k++) {
    if (context == &contexts.primary[k]) {
      return true;
    }
  }
  for (const struct context *other = contexts.created; other != NULL; other = other->next) {
    if (other == context) {
      return true;
    }
  }
  return false;
}

static int check_handle(const struct context *context) {
  pthread_mutex_lock(&contexts.lock);
  bool good = context != NULL && is_context(context) && atomic_load(&context->alive);
  pthread_mutex_unlock(&contexts.lock);
  return good ? 0 : fail(ERROR_INVALID_CONTEXT, "%p is no live context", (const void *)context);
}

static int check_device(int device) {
  return device >= 0 && device < setting(SETTING_devices)
             ? 0
             : fail(ERROR_INVALID_DEVICE, "there is no device %d", device);
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  int code = enter(ENTRY_cuDevicePrimaryCtxRetain, NULL);
  if (code != 0 || (code = check_device(device)) != 0) {
    return code;
  }
  pthread_mutex_lock(&contexts.lock);
  struct context *primary = &contexts.primary[device];
  primary->primary = true;
  if (!atomic_load(&primary->alive)) {
    bring_up(primary, device);
  }
  primary->references++;
  pthread_mutex_unlock(&contexts.lock);
  *context = primary;
  return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  int code = enter(ENTRY_cuDevicePrimaryCtxRelease_v2, NULL);
  if (code != 0 || (code = check_device(device)) != 0) {
    return code;
  }
  pthread_mutex_lock(&contexts.lock);
  struct context *primary = &contexts.primary[device];
  if (primary->references == 0) {
    code = fail(ERROR_INVALID_CONTEXT, "the primary context of device %d is not retained", device);
  } else if (--primary->references == 0 && atomic_load(&primary->alive)) {
    take_down(primary);
  }
  pthread_mutex_unlock(&contexts.lock);
  return code;
}

int cuDevicePrimaryCtxReset_v2(int device) {
  int code = enter(ENTRY_cuDevicePrimaryCtxReset_v2, NULL);
  if (code != 0 || (code = check_device(device)) != 0) {
    return code;
  }
  pthread_mutex_lock(&contexts.lock);
  struct context *primary = &contexts.primary[device];
  if (atomic_load(&primary->alive)) {
    take_down(primary);
  }
  pthread_mutex_unlock(&contexts.lock);
  return 0;
}

static int push(struct context *context) {
  if (stack.depth == STACK_DEPTH) {
    return fail(ERROR_INVALID_VALUE, "more than %d contexts pushed", STACK_DEPTH);
  }
  stack.entries[stack.depth++] = context;
  return 0;
}

int cuCtxCreate_v2(void **context, unsigned flags, int device) {
  int code = enter(ENTRY_cuCtxCreate_v2, NULL);
  (void)flags;
  if (code != 0 || (code = check_device(device)) != 0) {
    return code;
  }
  pthread_mutex_lock(&contexts.lock);
  struct context *fresh = contexts.created;
  while (fresh != NULL && (atomic_load(&fresh->alive) || fresh->device != device)) {
    fresh = fresh->next;
  }
  if (fresh == NULL) {
    fresh = calloc(1, sizeof *fresh);
    if (fresh != NULL) {
      fresh->next = contexts.created;
      contexts.created = fresh;
    }
  }
  if (fresh != NULL) {
    bring_up(fresh, device);
  }
  pthread_mutex_unlock(&contexts.lock);
  if (fresh == NULL) {
    return fail(ERROR_OUT_OF_MEMORY, "no memory for a context");
  }
  *context = fresh;
  return push(fresh);
}

int cuCtxDestroy_v2(void *context) {
  struct context *gone = context;
  int code = enter(ENTRY_cuCtxDestroy_v2, NULL);
  if (code != 0 || (code = check_handle(gone)) != 0) {
    return code;
  }
  if (gone->primary) {
    return fail(ERROR_INVALID_CONTEXT, "a primary context is released, not destroyed");
  }
  pthread_mutex_lock(&contexts.lock);
  take_down(gone);
  pthread_mutex_unlock(&contexts.lock);
  if (context_current() == gone) {
    stack.depth--;
  }
  return 0;
}

int cuCtxGetCurrent(void **context) {
  struct context *current;
  int code = enter(ENTRY_cuCtxGetCurrent, &current);
  if (code == 0) {
    *context = current;
  }
  return code;
}

int cuCtxSetCurrent(void *context) {
  int code = enter(ENTRY_cuCtxSetCurrent, NULL);
  if (code != 0 || (context != NULL && (code = check_handle(context)) != 0)) {
    return code;
  }
  if (stack.depth > 0) {
    stack.depth--;
  }
  return context != NULL ? push(context) : 0;
}

int cuCtxPushCurrent_v2(void *context) {
  int code = enter(ENTRY_cuCtxPushCurrent_v2, NULL);
  if (code != 0 || (code = check_handle(context)) != 0) {
    return code;
  }
  return push(context);
}

int cuCtxPopCurrent_v2(void **context) {
  struct context *current;
  int code = enter(ENTRY_cuCtxPopCurrent_v2, &current);
  if (code != 0) {
    return code;
  }
  if (stack.depth == 0) {
    return fail(ERROR_INVALID_CONTEXT, "no context to pop");
  }
  stack.depth--;
  if (context != NULL) {
    *context = current;
  }
  return 0;
}

int cuCtxGetDevice(int *device) {
  struct context *current;
  int code = enter(ENTRY_cuCtxGetDevice, &current);
  if (code == 0) {
    *device = current->device;
  }
  return code;
}

int cuCtxGetId(void *context, unsigned long long *id) {
  struct context *current;
  int code = enter(ENTRY_cuCtxGetId, &current);
  struct context *asked = context != NULL ? context : current;
  if (code != 0 || (code = check_handle(asked)) != 0) {
    return code;
  }
  *id = context_id(asked);
  return 0;
}

/* So that a leak checker sees nothing after dlclose(). */
__attribute__((destructor)) static void release_contexts(void) {
  for (int k = 0; k < MAX_DEVICES; k++) {
    if (atomic_load(&contexts.primary[k].alive)) {
      take_down(&contexts.primary[k]);
    }
  }
  while (contexts.created != NULL) {
    struct context *next = contexts.created->next;
    if (atomic_load(&contexts.created->alive)) {
      take_down(contexts.created);
    }
    free(contexts.created);
    contexts.created = next;
  }
  memory_release_all();
}
