/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime among contexts, devices, processes and threads that belong to the host. */
#define _POSIX_C_SOURCE 200809L
#include "host.h"

#include "runtime_state.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static tptx_status run(tptx_runtime *runtime, const struct small *small, void *stream,
                       tptx_error *error) {
  return tptx_run(runtime, &small->view, &small->op, &small->args, stream, error);
}

/* ---- Contexts -------------------------------------------------------------------------------- */

START_TEST(G_02_without_a_context_there_is_a_clear_error) {
  struct small small;
  tptx_kernel *kernel;
  tptx_error error;
  host_open();
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  small.args.span = small.args.tile = UINT64_C(1) << 20;
  tptx_request request = {sizeof request, &small.view, &small.op, TPTX_OK};
  ck_assert_int_eq(tptx_kernel_get(runtime, &small.view, &small.op, &kernel, &error),
                   TPTX_ERROR_NO_CONTEXT);
  ck_assert_ptr_nonnull(strstr(error.message, "cuCtxSetCurrent"));
  ck_assert_int_eq(run(runtime, &small, NULL, &error), TPTX_ERROR_NO_CONTEXT);
  ck_assert_int_eq(tptx_prepare(runtime, &request, 1, 4, &error), TPTX_ERROR_NO_CONTEXT);
  ck_assert_ptr_null(host_current());
  tptx_runtime_destroy(runtime);
}
END_TEST

static void *release_without_context(void *kernel) {
  ck_assert_ptr_null(host_current());
  tptx_kernel_release(kernel);
  ck_assert_ptr_null(host_current());
  return NULL;
}

START_TEST(G_02_the_current_context_is_the_same_after_every_call) {
  struct small small, wrong;
  tptx_kernel *kernel;
  tptx_runtime_options options = host_options();
  host_open();
  void *other = host_context(0), *mine = host_context(0);
  options.capacity = 1;
  tptx_runtime *runtime = host_runtime(&options);
  small_describe(&small, 8);
  wrong = small;
  wrong.view.shape[0] = 0;
  /* A kernel of the other context is unloaded below, for room, and that one is not left current. */
  host_make_current(other);
  small_run(runtime, &small);
  ck_assert_ptr_eq(host_current(), other);
  host_make_current(mine);
  small_run(runtime, &small);
  ck_assert_uint_eq(host_counters(runtime).evictions, 1);
  ck_assert_ptr_eq(host_current(), mine);
  ck_assert_int_ne(tptx_kernel_get(runtime, &wrong.view, &wrong.op, &kernel, NULL), TPTX_OK);
  ck_assert_ptr_eq(host_current(), mine);
  tptx_runtime_clear(runtime);
  host_fail("cuModuleLoadData", 1, 2);
  ck_assert_int_eq(tptx_kernel_get(runtime, &small.view, &small.op, &kernel, NULL),
                   TPTX_ERROR_DRIVER);
  ck_assert_ptr_eq(host_current(), mine);
  kernel = small_get(runtime, &small);
  tptx_runtime_destroy(runtime);
  pthread_t thread;
  ck_assert_int_eq(pthread_create(&thread, NULL, release_without_context, kernel), 0);
  pthread_join(thread, NULL);
  ck_assert_int_eq(host_modules(), 0);
}
END_TEST

START_TEST(F_05_the_target_is_the_current_contexts_devices) {
  struct small small;
  host_two_devices(80, 90);
  host_open();
  void *first = host_context(0), *second = host_context(1);
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  tptx_kernel *on_second = small_get(runtime, &small);
  ck_assert_ptr_nonnull(strstr(on_second->ptx->key.line, "target=sm_90"));
  host_make_current(first);
  tptx_kernel *on_first = small_get(runtime, &small);
  ck_assert_ptr_nonnull(strstr(on_first->ptx->key.line, "target=sm_80"));
  /* E-01: each got machine code of its own. */
  ck_assert_int_eq(on_first->attributes.binary_version, 80);
  ck_assert_int_eq(on_second->attributes.binary_version, 90);
  small_launch(on_first, &small);
  host_make_current(second);
  small_launch(on_second, &small);
  tptx_runtime_info info = {.struct_size = sizeof info};
  ck_assert_int_eq(tptx_runtime_get_info(runtime, &info, NULL), TPTX_OK);
  ck_assert_int_eq(info.sm, 90);
  tptx_kernel_release(on_first);
  tptx_kernel_release(on_second);
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(E_15_two_contexts_take_turns) {
  struct small small;
  tptx_error error;
  host_open();
  void *contexts[] = {host_context(0), host_context(0)};
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  for (int i = 0; i < 100; i++) {
    host_make_current(contexts[i % 2]);
    small_run(runtime, &small);
  }
  ck_assert_uint_eq(host_counters(runtime).misses, 2);
  tptx_kernel *kernel = small_get(runtime, &small);
  small_place(&small);
  host_make_current(contexts[0]);
  ck_assert_int_eq(tptx_launch(kernel, &small.args, NULL, &error), TPTX_ERROR_WRONG_CONTEXT);
  ck_assert_int_eq(error.driver_code, 0); /* the driver was not asked */
  host_make_current(contexts[1]);
  small_expect_untouched(&small);
  tptx_kernel_release(kernel);
  tptx_runtime_destroy(runtime);
}
END_TEST

static void after_a_reset(bool with_ids) {
  struct small small;
  void *context;
  int device;
  host_open();
  ck_assert_int_eq(host.cuDeviceGet(&device, 0), 0);
  ck_assert_int_eq(host.cuDevicePrimaryCtxRetain(&context, device), 0);
  host_make_current(context);
  tptx_runtime *runtime = host_runtime(NULL);
  if (!with_ids) runtime->driver.cuCtxGetId = NULL;
  small_describe(&small, 8);
  tptx_kernel *held = small_get(runtime, &small);
  small_run(runtime, &small);
  ck_assert_int_eq(host.cuDevicePrimaryCtxReset(device), 0);
  ck_assert_int_eq(host.cuDevicePrimaryCtxRetain(&context, device), 0);
  host_make_current(context);
  if (!with_ids) {
    /* The address is all that is known, and it is the same; the driver's answer tells. */
    small_place(&small);
    ck_assert_int_ne(run(runtime, &small, NULL, NULL), TPTX_OK);
    ck_assert_uint_eq(host_counters(runtime).kept, 0);
    ck_assert_ptr_null(runtime->contexts.first); /* nor is its device taken for granted */
  }
  small_run(runtime, &small);
  ck_assert_uint_eq(host_counters(runtime).kept, 1);
  if (with_ids)
    ck_assert_int_eq(tptx_launch(held, &small.args, NULL, NULL), TPTX_ERROR_WRONG_CONTEXT);
  tptx_kernel_release(held);
  small_run(runtime, &small);
  tptx_runtime_destroy(runtime);
  ck_assert_int_eq(host_modules(), 0);
}

START_TEST(E_16_after_a_reset_kernels_are_made_anew) {
  after_a_reset(true);
}
END_TEST

START_TEST(E_16_without_context_ids_too) {
  after_a_reset(false);
}
END_TEST

START_TEST(E_16_a_destroyed_context_is_no_error) {
  struct small small;
  host_open();
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  for (int i = 0; i < 3; i++) {
    void *context = host_context(0);
    small_run(runtime, &small);
    ck_assert_int_eq(host.cuCtxDestroy(context), 0);
  }
  tptx_runtime_destroy(runtime); /* closed after the context is gone */
  ck_assert_int_eq(host_modules(), 0);
}
END_TEST

static int say_dead(void *context, unsigned int *version) {
  (void)context;
  (void)version;
  return 201;
}

START_TEST(E_16_a_dead_context_is_never_pushed) {
  host_open();
  for (int with_ids = 0; with_ids < 2; with_ids++) {
    struct small small;
    void *context = host_context(0);
    tptx_runtime *runtime = host_runtime(NULL);
    if (!with_ids) {
      runtime->driver.cuCtxGetId = NULL;
      runtime->driver.cuCtxGetApiVersion = say_dead;
    }
    small_describe(&small, 8);
    small_run(runtime, &small);
    ck_assert_int_eq(host.cuCtxDestroy(context), 0);
    long pushes = host_calls("cuCtxPushCurrent_v2");
    tptx_runtime_destroy(runtime);
    ck_assert_int_eq(host_calls("cuCtxPushCurrent_v2"), pushes);
  }
}
END_TEST

START_TEST(E_16_a_driver_that_has_shut_down_is_no_error) {
  static const int codes[] = {4, 201, 400, 709};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
    struct small small;
    host_open();
    host_context(0);
    tptx_runtime *runtime = host_runtime(NULL);
    small_describe(&small, 8);
    small_run(runtime, &small);
    host_fail(i % 2 ? "cuModuleUnload" : "cuCtxPushCurrent_v2", 1, codes[i]);
    tptx_runtime_destroy(runtime);
  }
}
END_TEST

/* ---- Fork ------------------------------------------------------------------------------------ */

static int exit_status_of(pid_t child) {
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* In the child: every entry refuses or does nothing. 0: as it should be. */
static int entries_in_child(tptx_runtime *runtime, tptx_kernel *kernel, struct small *small) {
  tptx_kernel *another;
  tptx_counters counters = {.struct_size = sizeof counters};
  tptx_runtime_info info = {.struct_size = sizeof info};
  tptx_request request = {sizeof request, &small->view, &small->op, TPTX_OK};
  const tptx_status forked = TPTX_ERROR_FORKED;
  if (tptx_kernel_get(runtime, &small->view, &small->op, &another, NULL) != forked) return 1;
  if (run(runtime, small, NULL, NULL) != forked) return 2;
  if (tptx_launch(kernel, &small->args, NULL, NULL) != forked) return 3;
  if (tptx_prepare(runtime, &request, 1, 2, NULL) != forked) return 4;
  if (tptx_runtime_counters(runtime, &counters, NULL) != forked) return 5;
  if (tptx_runtime_get_info(runtime, &info, NULL) != forked) return 6;
  tptx_runtime_clear(runtime);
  tptx_kernel_release(kernel);
  tptx_runtime_destroy(runtime);
  return 0;
}

START_TEST(E_17_a_child_of_a_started_process_is_told_so) {
  struct small small;
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  small_run(runtime, &small);
  tptx_kernel *kernel = small_get(runtime, &small);
  /* The child inherits held locks: it must not try them. */
  pthread_mutex_lock(&runtime->cache.lock);
  pthread_mutex_lock(&runtime->contexts.lock);
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(entries_in_child(runtime, kernel, &small));
  }
  pthread_mutex_unlock(&runtime->contexts.lock);
  pthread_mutex_unlock(&runtime->cache.lock);
  ck_assert_int_eq(exit_status_of(child), 0);
  small_run(runtime, &small);
  tptx_kernel_release(kernel);
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(E_17_a_child_of_a_process_that_only_emitted_works) {
  struct small small;
  tptx_ptx *ptx;
  small_describe(&small, 8);
  ck_assert_int_eq(tptx_emit(&small.view, &small.op, NULL, &ptx, NULL), TPTX_OK);
  tptx_ptx_free(ptx);
  pid_t child = fork();
  if (child == 0) {
    host_open();
    host_context(0);
    tptx_runtime *runtime = host_runtime(NULL);
    small_run(runtime, &small);
    tptx_runtime_destroy(runtime);
    _exit(0);
  }
  ck_assert_int_eq(exit_status_of(child), 0);
}
END_TEST

START_TEST(E_17_a_runtime_made_in_a_child_of_a_started_process) {
  host_open();
  pid_t child = fork();
  if (child == 0) {
    tptx_runtime *runtime;
    tptx_runtime_options options = host_options();
    _exit(tptx_runtime_create(&options, &runtime, NULL) == TPTX_ERROR_FORKED ? 0 : 1);
  }
  ck_assert_int_eq(exit_status_of(child), 0);
}
END_TEST

/* ---- Threads --------------------------------------------------------------------------------- */

enum { THREADS = 16 };

struct asker {
  pthread_t thread;
  pthread_barrier_t *barrier;
  tptx_runtime *runtime;
  void *context;
  struct small small;
  tptx_kernel *kernel;
  tptx_status status;
  tptx_error error;
};

static void *ask(void *user) {
  struct asker *asker = user;
  host.cuCtxSetCurrent(asker->context);
  pthread_barrier_wait(asker->barrier);
  asker->status = tptx_kernel_get(asker->runtime, &asker->small.view, &asker->small.op,
                                  &asker->kernel, &asker->error);
  return NULL;
}

static void ask_at_once(struct asker *askers, tptx_runtime *runtime, bool one_shape) {
  pthread_barrier_t barrier;
  void *context = host_current();
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) {
    askers[i] = (struct asker){.barrier = &barrier, .runtime = runtime, .context = context};
    small_describe(&askers[i].small, one_shape ? 8 : 8 + i);
    ck_assert_int_eq(pthread_create(&askers[i].thread, NULL, ask, &askers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(askers[i].thread, NULL);
  pthread_barrier_destroy(&barrier);
}

START_TEST(E_14_one_module_however_many_ask) {
  static struct asker askers[THREADS];
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  ask_at_once(askers, runtime, true);
  ck_assert_int_eq(host_calls("cuModuleLoadData"), 1);
  for (int i = 0; i < THREADS; i++) {
    ck_assert_int_eq(askers[i].status, TPTX_OK);
    ck_assert_ptr_eq(askers[i].kernel, askers[0].kernel);
    tptx_kernel_release(askers[i].kernel);
  }
  tptx_runtime_clear(runtime);
  ask_at_once(askers, runtime, false);
  ck_assert_int_eq(host_modules(), THREADS);
  for (int i = 0; i < THREADS; i++) tptx_kernel_release(askers[i].kernel);
  tptx_runtime_destroy(runtime);
}
END_TEST

static int reject_slowly(void *link, void **binary, size_t *bytes) {
  (void)link;
  (void)binary;
  (void)bytes;
  nanosleep(&(struct timespec){0, 30000000}, NULL);
  return 218;
}

START_TEST(E_14_a_failure_reaches_all_who_wait_and_the_next_try_works) {
  static struct asker askers[THREADS];
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  int (*right)(void *, void **, size_t *) = runtime->driver.cuLinkComplete;
  runtime->driver.cuLinkComplete = reject_slowly;
  ask_at_once(askers, runtime, true);
  for (int i = 0; i < THREADS; i++) {
    ck_assert_int_eq(askers[i].status, TPTX_ERROR_PTX_REJECTED);
    ck_assert_int_eq(askers[i].error.driver_code, 218);
    ck_assert_str_eq(askers[i].error.driver_function, "cuLinkComplete");
    ck_assert_ptr_null(askers[i].kernel);
  }
  tptx_counters counters = host_counters(runtime);
  ck_assert_uint_eq(counters.failures + counters.waits, THREADS);
  ck_assert_uint_eq(counters.kept, 0);
  runtime->driver.cuLinkComplete = right;
  small_run(runtime, &askers[0].small);
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(prepare_serves_good_and_bad_requests_on_any_number_of_threads) {
  enum { COUNT = 37 };
  static struct small smalls[COUNT];
  tptx_request requests[COUNT];
  host_open();
  void *context = host_context(0);
  for (uint32_t threads = 0; threads <= 9; threads += 3) {
    tptx_error error;
    tptx_runtime *runtime = host_runtime(NULL);
    for (int i = 0; i < COUNT; i++) {
      small_describe(&smalls[i], 1 + i % 30); /* some twice */
      if (i % 7 == 3) smalls[i].view.shape[0] = 0;
      if (i % 7 == 5) smalls[i].view.type = (tptx_type)99;
      requests[i] =
          (tptx_request){sizeof *requests, &smalls[i].view, &smalls[i].op, TPTX_ERROR_INTERNAL};
    }
    requests[20].view = NULL;
    ck_assert_int_eq(tptx_prepare(runtime, requests, COUNT, threads, &error), TPTX_ERROR_SHAPE);
    ck_assert_int_eq(error.status, TPTX_ERROR_SHAPE); /* request 3, however the threads ran */
    for (int i = 0; i < COUNT; i++)
      ck_assert_int_eq(requests[i].status, i == 20      ? TPTX_ERROR_INVALID_ARGUMENT
                                           : i % 7 == 3 ? TPTX_ERROR_SHAPE
                                           : i % 7 == 5 ? TPTX_ERROR_TYPE
                                                        : TPTX_OK);
    ck_assert_ptr_eq(host_current(), context);
    small_run(runtime, &smalls[0]);
    ck_assert_uint_eq(host_counters(runtime).builds, host_counters(runtime).kept);
    ck_assert_int_eq(tptx_prepare(runtime, requests, 3, threads, NULL), TPTX_OK);
    ck_assert_int_eq(tptx_prepare(runtime, NULL, 0, threads, NULL), TPTX_OK);
    requests[1].struct_size = 1;
    ck_assert_int_eq(tptx_prepare(runtime, requests, 3, threads, NULL),
                     TPTX_ERROR_INVALID_ARGUMENT);
    tptx_runtime_destroy(runtime);
    ck_assert_int_eq(host_modules(), 0);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("contexts");
  TCase *contexts = tcase_create("contexts");
  tcase_add_test(contexts, G_02_without_a_context_there_is_a_clear_error);
  tcase_add_test(contexts, G_02_the_current_context_is_the_same_after_every_call);
  tcase_add_test(contexts, F_05_the_target_is_the_current_contexts_devices);
  tcase_add_test(contexts, E_15_two_contexts_take_turns);
  tcase_add_test(contexts, E_16_after_a_reset_kernels_are_made_anew);
  tcase_add_test(contexts, E_16_without_context_ids_too);
  tcase_add_test(contexts, E_16_a_destroyed_context_is_no_error);
  tcase_add_test(contexts, E_16_a_dead_context_is_never_pushed);
  tcase_add_test(contexts, E_16_a_driver_that_has_shut_down_is_no_error);
  suite_add_tcase(suite, contexts);
  TCase *processes = tcase_create("fork");
  tcase_set_timeout(processes, 60);
  tcase_add_test(processes, E_17_a_child_of_a_started_process_is_told_so);
  tcase_add_test(processes, E_17_a_child_of_a_process_that_only_emitted_works);
  tcase_add_test(processes, E_17_a_runtime_made_in_a_child_of_a_started_process);
  suite_add_tcase(suite, processes);
  TCase *threads = tcase_create("threads");
  tcase_set_timeout(threads, 120);
  tcase_add_test(threads, E_14_one_module_however_many_ask);
  tcase_add_test(threads, E_14_a_failure_reaches_all_who_wait_and_the_next_try_works);
  tcase_add_test(threads, prepare_serves_good_and_bad_requests_on_any_number_of_threads);
  suite_add_tcase(suite, threads);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
