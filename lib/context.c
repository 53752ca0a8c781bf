/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

#include "status.h"
#include "target.h"

struct context_record {
  struct context_record *next;
  struct context context;
  int sm;
};

tptx_status context_current(const struct driver *driver, struct context *context,
                            tptx_error *error) {
  context->handle = NULL;
  context->id = 0;
  FORWARD(driver_check(driver->cuCtxGetCurrent(&context->handle), "cuCtxGetCurrent", NULL, error));
  REFUSE_IF(!context->handle, error, TPTX_ERROR_NO_CONTEXT, "", -1,
            "no context is current on this thread; make one current before the call "
            "(cuCtxSetCurrent, or any call of the CUDA runtime that uses the device)");
  if (!driver->cuCtxGetId) return TPTX_OK;
  unsigned long long id = 0;
  FORWARD(driver_check(driver->cuCtxGetId(context->handle, &id), "cuCtxGetId", NULL, error));
  context->id = id;
  return TPTX_OK;
}

bool context_alive(const struct driver *driver, struct context context) {
  if (driver->cuCtxGetId) {
    unsigned long long id = 0;
    return driver->cuCtxGetId(context.handle, &id) == DRIVER_SUCCESS && id == context.id;
  }
  unsigned int version;
  return !driver->cuCtxGetApiVersion ||
         driver->cuCtxGetApiVersion(context.handle, &version) == DRIVER_SUCCESS;
}

tptx_status context_device_target(const struct driver *driver, int *sm, tptx_error *error) {
  int device = 0, major = 0, minor = 0;
  FORWARD(driver_check(driver->cuCtxGetDevice(&device), "cuCtxGetDevice", NULL, error));
  FORWARD(
      driver_check(driver->cuDeviceGetAttribute(&major, DEVICE_COMPUTE_CAPABILITY_MAJOR, device),
                   "cuDeviceGetAttribute", NULL, error));
  FORWARD(
      driver_check(driver->cuDeviceGetAttribute(&minor, DEVICE_COMPUTE_CAPABILITY_MINOR, device),
                   "cuDeviceGetAttribute", NULL, error));
  *sm = target_of_device(major, minor);
  REFUSE_IF(
      *sm == 0, error, TPTX_ERROR_TARGET, "target", -1,
      "the device of the current context has compute capability %d.%d; 7.5 is the lowest that "
      "this library writes for",
      major, minor);
  return TPTX_OK;
}

void contexts_open(struct contexts *contexts, const struct driver *driver,
                   const tptx_allocator *allocator, int fixed_sm) {
  contexts->driver = driver;
  contexts->allocator = allocator;
  contexts->fixed_sm = fixed_sm;
  contexts->first = NULL;
  pthread_mutex_init(&contexts->lock, NULL);
}

void contexts_close(struct contexts *contexts) {
  while (contexts->first) {
    struct context_record *record = contexts->first;
    contexts->first = record->next;
    release(contexts->allocator, record);
  }
  pthread_mutex_destroy(&contexts->lock);
}

/* Where the record of the context at this address hangs, or would. */
static struct context_record **place_of(struct contexts *contexts, const void *handle) {
  struct context_record **place = &contexts->first;
  while (*place && (*place)->context.handle != handle) place = &(*place)->next;
  return place;
}

static int find(struct contexts *contexts, struct context context) {
  pthread_mutex_lock(&contexts->lock);
  const struct context_record *record = *place_of(contexts, context.handle);
  int sm = record && record->context.id == context.id ? record->sm : 0;
  pthread_mutex_unlock(&contexts->lock);
  return sm;
}

tptx_status contexts_sm(struct contexts *contexts, struct context context, int *sm, bool *replaced,
                        tptx_error *error) {
  *replaced = false;
  *sm = find(contexts, context);
  if (*sm) return TPTX_OK;
  *sm = contexts->fixed_sm;
  if (!*sm) FORWARD(context_device_target(contexts->driver, sm, error));
  struct context_record *spare = allocate(contexts->allocator, sizeof *spare);
  REFUSE_IF(!spare, error, TPTX_ERROR_OUT_OF_MEMORY, "", -1, "no memory for a context's record");
  spare->next = NULL;
  pthread_mutex_lock(&contexts->lock);
  struct context_record **place = place_of(contexts, context.handle);
  if (*place) {
    *replaced = (*place)->context.id != context.id;
  } else {
    *place = spare;
    spare = NULL;
  }
  (*place)->context = context;
  (*place)->sm = *sm;
  pthread_mutex_unlock(&contexts->lock);
  release(contexts->allocator, spare);
  return TPTX_OK;
}

void contexts_forget(struct contexts *contexts, struct context context) {
  pthread_mutex_lock(&contexts->lock);
  struct context_record **place = place_of(contexts, context.handle);
  struct context_record *record = *place;
  if (record && record->context.id == context.id)
    *place = record->next;
  else
    record = NULL;
  pthread_mutex_unlock(&contexts->lock);
  release(contexts->allocator, record);
}
