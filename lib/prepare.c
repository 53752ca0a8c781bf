/* SPDX-License-Identifier: Apache-2.0 */
/* Many kernels at once. The only place where the library starts threads, and only when asked. */
#define _POSIX_C_SOURCE 200809L
#include "runtime_state.h"

#include "status.h"

#include <pthread.h>
#include <signal.h>

enum { MOST_THREADS = 64 };

struct preparation {
  tptx_runtime *runtime;
  struct context context; /* the caller's; every thread works in it */
  tptx_request *requests;
  size_t count;
  atomic_size_t next;   /* the first request that nobody has taken yet */
  pthread_mutex_t lock; /* of what follows */
  size_t failed;        /* the lowest request that failed; count where none did */
  tptx_error *error;    /* of that one; the caller's, may be NULL */
};

static void note_failure(struct preparation *preparation, size_t number, const tptx_error *error) {
  pthread_mutex_lock(&preparation->lock);
  if (number < preparation->failed) {
    preparation->failed = number;
    if (preparation->error) *preparation->error = *error;
  }
  pthread_mutex_unlock(&preparation->lock);
}

static void work(struct preparation *preparation) {
  tptx_error error;
  tptx_kernel *kernel;
  for (;;) {
    size_t number = atomic_fetch_add(&preparation->next, 1);
    if (number >= preparation->count) return;
    tptx_request *request = &preparation->requests[number];
    request->status =
        tptx_kernel_get(preparation->runtime, request->view, request->op, &kernel, &error);
    if (request->status == TPTX_OK)
      tptx_kernel_release(kernel);
    else
      note_failure(preparation, number, &error);
  }
}

/* A thread that cannot enter the context leaves its share to the others. */
static void *work_in_context(void *user) {
  struct preparation *preparation = user;
  const struct driver *driver = &preparation->runtime->driver;
  if (driver->cuCtxPushCurrent(preparation->context.handle) != DRIVER_SUCCESS) return NULL;
  work(preparation);
  void *popped;
  driver->cuCtxPopCurrent(&popped);
  return NULL;
}

/*
 * The host's signal handlers do not run on our threads, but those of faults do: they are raised by
 * the thread itself, and a crash is reported the host's way.
 */
static unsigned start_threads(struct preparation *preparation, pthread_t *threads,
                              unsigned wanted) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  sigset_t others, before;
  unsigned started = 0;
  sigfillset(&others);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&others, faults[i]);
  if (wanted == 0 || pthread_sigmask(SIG_SETMASK, &others, &before) != 0) return 0;
  while (started < wanted &&
         pthread_create(&threads[started], NULL, work_in_context, preparation) == 0)
    started++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

static tptx_status check_requests(const tptx_request *requests, size_t count, tptx_error *error) {
  REFUSE_IF(!requests && count > 0, error, TPTX_ERROR_INVALID_ARGUMENT, "requests", -1,
            "requests is NULL, expected %zu requests", count);
  /* An array has one size of elements, so here the size must be exactly ours. */
  for (size_t i = 0; i < count; i++)
    REFUSE_IF(requests[i].struct_size != sizeof *requests, error, TPTX_ERROR_INVALID_ARGUMENT,
              "requests", -1, "requests[%zu].struct_size is %zu, expected %zu", i,
              requests[i].struct_size, sizeof *requests);
  return TPTX_OK;
}

tptx_status tptx_prepare(tptx_runtime *runtime, tptx_request *requests, size_t count,
                         uint32_t threads, tptx_error *error) {
  pthread_t started[MOST_THREADS];
  struct preparation preparation = {
      .runtime = runtime, .requests = requests, .count = count, .failed = count, .error = error};
  FORWARD(runtime_enter(runtime, error));
  FORWARD(check_requests(requests, count, error));
  FORWARD(context_current(&runtime->driver, &preparation.context, error));
  atomic_init(&preparation.next, 0);
  pthread_mutex_init(&preparation.lock, NULL);
  size_t wanted = threads < count ? threads : count;
  if (wanted > MOST_THREADS) wanted = MOST_THREADS;
  unsigned others = start_threads(&preparation, started, wanted > 1 ? (unsigned)wanted - 1 : 0);
  work(&preparation);
  for (unsigned i = 0; i < others; i++) pthread_join(started[i], NULL);
  pthread_mutex_destroy(&preparation.lock);
  return preparation.failed < count ? requests[preparation.failed].status : TPTX_OK;
}
