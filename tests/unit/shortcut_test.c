/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortcuts from descriptors to kernels: that a repeated call takes one, that it leads to the
 * kernel of its own classes, and that none is followed once its kernel, or its context, is gone.
 */
#define _POSIX_C_SOURCE 200809L
#include "host.h"

#include "runtime_state.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Shortcuts by themselves ----------------------------------------------------------------- */

static tptx_kernel *kernel_of(int32_t align, int32_t tile_align, int32_t arith) {
  tptx_kernel *kernel = calloc(1, sizeof *kernel);
  ck_assert_ptr_nonnull(kernel);
  kernel->ptx = calloc(1, sizeof *kernel->ptx);
  ck_assert_ptr_nonnull(kernel->ptx);
  holders_open(&kernel->holders);
  struct signature *s = &kernel->ptx->plan.signature;
  s->align = align;
  s->tile_align = tile_align;
  s->arith = arith;
  return kernel;
}

static void free_kernels(tptx_kernel **kernels, int count) {
  for (int i = 0; i < count; i++) {
    free(kernels[i]->ptx);
    free(kernels[i]);
  }
}

struct alone {
  struct counting memory;
  tptx_allocator allocator;
  struct shortcuts shortcuts;
  struct small small;
  struct shortcut_call call;
};

static void open_alone(struct alone *alone) {
  alone->allocator = counting_allocator(&alone->memory);
  shortcuts_open(&alone->shortcuts, &alone->allocator, 100);
  small_describe(&alone->small, 8);
  struct context context = {alone, 7};
  alone->call =
      (struct shortcut_call){context, &alone->small.view, &alone->small.op,
                             shortcut_hash(context, &alone->small.view, &alone->small.op)};
}

/* The reference that comes along is given back. */
static tptx_kernel *find_of(struct alone *alone, const struct shortcut_call *call,
                            const struct classes *classes) {
  uint64_t hits = shortcuts_hits(&alone->shortcuts);
  tptx_kernel *kernel = shortcut_recall(&alone->shortcuts, call, classes);
  ck_assert_uint_eq(shortcuts_hits(&alone->shortcuts), hits + (kernel ? 1 : 0));
  if (kernel) ck_assert(holders_count(&kernel->holders) == 1 && !holders_remove(&kernel->holders));
  return kernel;
}

static tptx_kernel *find(struct alone *alone, const struct shortcut_call *call) {
  return find_of(alone, call, NULL);
}

static void keep(struct alone *alone, const struct shortcut_call *call, tptx_kernel *kernel) {
  shortcut_keep(&alone->shortcuts, call, atomic_load(&alone->shortcuts.generation), kernel);
}

static void close_alone(struct alone *alone) {
  shortcuts_close(&alone->shortcuts);
  ck_assert_int_eq(atomic_load(&alone->memory.outstanding), 0);
}

START_TEST(equal_descriptors_lead_to_the_kernel_and_others_do_not) {
  struct alone alone;
  open_alone(&alone);
  tptx_kernel *kernel = kernel_of(4, 4, 64);
  ck_assert_ptr_null(find(&alone, &alone.call)); /* before any is kept */
  keep(&alone, &alone.call, kernel);
  ck_assert_ptr_eq(find(&alone, &alone.call), kernel);
  struct small copy = alone.small;
  struct shortcut_call call = alone.call;
  call.view = &copy.view;
  call.op = &copy.op;
  ck_assert_ptr_eq(find(&alone, &call), kernel);
  shortcut_in_vain(&alone.shortcuts);
  ck_assert_uint_eq(shortcuts_hits(&alone.shortcuts), 1);
  /* The hash is left as it is: it is the bytes that must be told apart. */
  unsigned char *bytes = (unsigned char *)&copy.view;
  for (size_t i = 0; i < sizeof copy.view; i++) {
    bytes[i] ^= 1;
    ck_assert_ptr_null(find(&alone, &call));
    bytes[i] ^= 1;
  }
  bytes = (unsigned char *)&copy.op;
  for (size_t i = 0; i < sizeof copy.op; i++) {
    bytes[i] ^= 1;
    ck_assert_ptr_null(find(&alone, &call));
    bytes[i] ^= 1;
  }
  call.context.id++;
  ck_assert_ptr_null(find(&alone, &call));
  call.context = (struct context){&copy, 7};
  ck_assert_ptr_null(find(&alone, &call));
  ck_assert_ptr_eq(find(&alone, &alone.call), kernel);
  shortcuts_invalidate(&alone.shortcuts); /* some kernel has left */
  ck_assert_ptr_null(find(&alone, &alone.call));
  close_alone(&alone);
  free_kernels(&kernel, 1);
}
END_TEST

START_TEST(hashes_differ_by_descriptors_and_context) {
  struct alone alone;
  open_alone(&alone);
  struct small other = alone.small;
  const struct context context = alone.call.context, later = {context.handle, 8};
  other.op.flight = 2;
  ck_assert_uint_ne(shortcut_hash(context, &other.view, &other.op), alone.call.hash);
  other = alone.small;
  other.view.shape[0]++;
  ck_assert_uint_ne(shortcut_hash(context, &other.view, &other.op), alone.call.hash);
  ck_assert_uint_ne(shortcut_hash(later, &alone.small.view, &alone.small.op), alone.call.hash);
  other = alone.small;
  ck_assert_uint_eq(shortcut_hash(context, &other.view, &other.op), alone.call.hash);
}
END_TEST

START_TEST(of_five_calls_that_meet_the_first_is_put_out) {
  struct alone alone;
  open_alone(&alone);
  tptx_kernel *kernels[] = {kernel_of(4, 4, 64), kernel_of(1, 1, 32)};
  struct small others[4];
  struct shortcut_call call = alone.call; /* the same hash, so the same set of slots */
  keep(&alone, &alone.call, kernels[0]);
  for (int i = 0; i < 4; i++) {
    ck_assert_ptr_eq(find(&alone, &alone.call), kernels[0]);
    small_describe(&others[i], 9 + i);
    call.view = &others[i].view;
    keep(&alone, &call, kernels[0]);
  }
  ck_assert_ptr_null(find(&alone, &alone.call));
  ck_assert_ptr_eq(find(&alone, &call), kernels[0]);
  /* Once a kernel has left, what was kept before must not come back with what is kept now. */
  shortcuts_invalidate(&alone.shortcuts);
  const struct classes first = {4, 4, 64, 0}, second = {1, 1, 32, 0};
  keep(&alone, &call, kernels[1]);
  ck_assert_ptr_eq(find(&alone, &call), kernels[1]);
  ck_assert_ptr_null(find_of(&alone, &call, &first));
  ck_assert_ptr_eq(find_of(&alone, &call, &second), kernels[1]);
  close_alone(&alone);
  free_kernels(kernels, 2);
}
END_TEST

START_TEST(a_kernel_that_left_while_it_was_found_gets_no_shortcut) {
  struct alone alone;
  open_alone(&alone);
  tptx_kernel *kernel = kernel_of(4, 4, 64);
  uint64_t before = atomic_load(&alone.shortcuts.generation);
  shortcuts_invalidate(&alone.shortcuts);
  shortcut_keep(&alone.shortcuts, &alone.call, before, kernel);
  ck_assert_ptr_null(find(&alone, &alone.call));
  close_alone(&alone);
  free_kernels(&kernel, 1);
}
END_TEST

START_TEST(each_class_leads_to_its_own_kernel) {
  static const struct classes classes[] = {{1, 1, 32, 0}, {1, 4, 32, 0}, {1, 16, 32, 0},
                                           {4, 4, 32, 0}, {1, 1, 64, 0}, {16, 16, 32, 0},
                                           {4, 4, 64, 0}};
  enum { COUNT = sizeof classes / sizeof *classes };
  tptx_kernel *kernels[COUNT];
  struct alone alone;
  open_alone(&alone);
  for (int i = 0; i < COUNT; i++) {
    kernels[i] = kernel_of(classes[i].align, classes[i].tile_align, classes[i].arith);
    ck_assert_ptr_null(find_of(&alone, &alone.call, &classes[i]));
    keep(&alone, &alone.call, kernels[i]);
    ck_assert_ptr_eq(find(&alone, &alone.call), kernels[i]); /* the newest */
    for (int k = 0; k <= i; k++) {
      tptx_kernel *found = find_of(&alone, &alone.call, &classes[k]);
      if (k > 0 || i < COUNT - 1) ck_assert_ptr_eq(found, kernels[k]);
      if (found) ck_assert(kernel_made_for(found, &classes[k]));
    }
  }
  close_alone(&alone);
  free_kernels(kernels, COUNT);
}
END_TEST

START_TEST(without_memory_no_shortcut_is_kept) {
  tptx_kernel *kernel = kernel_of(4, 4, 64);
  for (long fail_at = 1; fail_at <= 2; fail_at++) {
    struct alone alone;
    open_alone(&alone);
    atomic_store(&alone.memory.fail_at, fail_at);
    keep(&alone, &alone.call, kernel);
    ck_assert_ptr_null(find(&alone, &alone.call));
    keep(&alone, &alone.call, kernel);
    ck_assert_ptr_eq(find(&alone, &alone.call), kernel);
    close_alone(&alone);
  }
  free_kernels(&kernel, 1);
}
END_TEST

/* ---- In a runtime ---------------------------------------------------------------------------- */

/* The table finds nothing any more, so a request that is a hit has come by a shortcut. */
static void blind(tptx_runtime *runtime) {
  runtime->cache.hash_mask = 0;
}

static void see(tptx_runtime *runtime) {
  runtime->cache.hash_mask = UINT64_MAX;
}

START_TEST(a_repeated_call_takes_the_shortcut_with_these_driver_calls) {
  struct counting memory;
  tptx_allocator allocator = counting_allocator(&memory);
  tptx_runtime_options options = host_options();
  struct small small;
  host_open();
  host_context(0);
  options.allocator = &allocator;
  tptx_runtime *runtime = host_runtime(&options);
  small_describe(&small, 8);
  small.view.align = 4;
  small.op.arith = 64;
  tptx_kernel *kernel = small_get(runtime, &small);
  small_place(&small);
  blind(runtime);
  long calls = host_calls(NULL), allocations = atomic_load(&memory.calls);
  long current = host_calls("cuCtxGetCurrent"), id = host_calls("cuCtxGetId");
  struct small copy = small; /* at another address */
  ck_assert_ptr_eq(small_get(runtime, &copy), kernel);
  ck_assert_int_eq(host_calls(NULL) - calls, 2);
  ck_assert_int_eq(host_calls("cuCtxGetCurrent") - current, 1);
  ck_assert_int_eq(host_calls("cuCtxGetId") - id, 1);
  ck_assert_int_eq(tptx_run(runtime, &copy.view, &copy.op, &copy.args, NULL, NULL), TPTX_OK);
  ck_assert_int_eq(host_calls(NULL) - calls, 2 + 4);
  ck_assert_int_eq(host_calls("cuCtxGetCurrent") - current, 2);
  ck_assert_int_eq(host_calls("cuCtxGetId") - id, 2);
  ck_assert_int_eq(atomic_load(&memory.calls), allocations);
  small_expect_done(&copy);
  ck_assert_uint_eq(host_counters(runtime).misses, 1);
  ck_assert_uint_eq(host_counters(runtime).hits, 2);
  see(runtime);
  tptx_kernel_release(kernel);
  tptx_kernel_release(kernel);
  tptx_runtime_destroy(runtime);
  ck_assert_int_eq(atomic_load(&memory.outstanding), 0);
}
END_TEST

START_TEST(run_takes_the_shortcut_that_an_earlier_run_left) {
  struct small small;
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8); /* no classes: run finds them */
  small_run(runtime, &small);
  small_run(runtime, &small); /* the first one that finds a kernel keeps the way to it, too */
  blind(runtime);
  for (int i = 0; i < 3; i++) small_run(runtime, &small);
  ck_assert_uint_eq(host_counters(runtime).misses, 1);
  ck_assert_uint_eq(host_counters(runtime).launches, 5);
  see(runtime);
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(after_clear_no_shortcut_is_followed) {
  struct small small;
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  tptx_kernel *held = small_get(runtime, &small);
  ck_assert_ptr_eq(small_get(runtime, &small), held);
  tptx_kernel_release(held);
  tptx_runtime_clear(runtime);
  tptx_kernel *fresh = small_get(runtime, &small);
  ck_assert_ptr_ne(fresh, held); /* the held one is out of the cache for good */
  ck_assert_ptr_eq(small_get(runtime, &small), fresh);
  tptx_kernel_release(fresh);
  tptx_kernel_release(fresh);
  tptx_runtime_clear(runtime); /* nobody holds this one: its memory is gone */
  small_run(runtime, &small);
  ck_assert_uint_eq(host_counters(runtime).misses, 3);
  ck_assert_uint_eq(host_counters(runtime).kept, 1);
  tptx_kernel_release(held);
  tptx_runtime_destroy(runtime);
  ck_assert_int_eq(host_modules(), 0);
}
END_TEST

START_TEST(after_an_eviction_no_shortcut_is_followed) {
  tptx_runtime_options options = host_options();
  struct small first, second;
  host_open();
  host_context(0);
  options.capacity = 1;
  tptx_runtime *runtime = host_runtime(&options);
  small_describe(&first, 8);
  small_describe(&second, 9);
  for (uint64_t i = 1; i <= 5; i++) {
    small_run(runtime, &first);
    small_run(runtime, &first);
    small_run(runtime, &second);
    small_run(runtime, &second);
    ck_assert_uint_eq(host_counters(runtime).misses, 2 * i);
    ck_assert_uint_eq(host_counters(runtime).kept, 1);
  }
  tptx_runtime_destroy(runtime);
  ck_assert_int_eq(host_modules(), 0);
}
END_TEST

START_TEST(without_capacity_nothing_is_left_to_follow) {
  tptx_runtime_options options = host_options();
  struct small small;
  host_open();
  host_context(0);
  options.capacity = 0;
  tptx_runtime *runtime = host_runtime(&options);
  small_describe(&small, 8);
  for (int i = 0; i < 3; i++) small_run(runtime, &small);
  ck_assert_uint_eq(host_counters(runtime).misses, 3);
  ck_assert_int_eq(host_modules(), 0);
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(each_context_has_shortcuts_of_its_own) {
  struct small small;
  host_two_devices(80, 90);
  host_open();
  void *contexts[] = {host_context(0), host_context(1)};
  tptx_kernel *kernels[2];
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  for (int i = 0; i < 2; i++) {
    host_make_current(contexts[i]);
    kernels[i] = small_get(runtime, &small);
  }
  ck_assert_ptr_ne(kernels[0], kernels[1]);
  blind(runtime);
  for (int i = 0; i < 4; i++) {
    host_make_current(contexts[i % 2]);
    tptx_kernel *kernel = small_get(runtime, &small);
    ck_assert_ptr_eq(kernel, kernels[i % 2]);
    small_launch(kernel, &small);
    tptx_kernel_release(kernel);
  }
  ck_assert_uint_eq(host_counters(runtime).misses, 2);
  see(runtime);
  for (int i = 0; i < 2; i++) tptx_kernel_release(kernels[i]);
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(a_new_context_at_the_same_address_follows_none) {
  struct small small;
  void *context, *again;
  int device;
  host_open();
  ck_assert_int_eq(host.cuDeviceGet(&device, 0), 0);
  ck_assert_int_eq(host.cuDevicePrimaryCtxRetain(&context, device), 0);
  host_make_current(context);
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  tptx_kernel *held = small_get(runtime, &small);
  ck_assert_int_eq(host.cuDevicePrimaryCtxReset(device), 0);
  ck_assert_int_eq(host.cuDevicePrimaryCtxRetain(&again, device), 0);
  host_make_current(again);
  tptx_kernel *kernel = small_get(runtime, &small);
  ck_assert_ptr_ne(kernel, held);
  small_launch(kernel, &small);
  small_run(runtime, &small);
  tptx_kernel_release(held);
  tptx_kernel_release(kernel);
  tptx_runtime_destroy(runtime);
  ck_assert_int_eq(host_modules(), 0);
}
END_TEST

/* ---- Threads --------------------------------------------------------------------------------- */

enum { THREADS = 16, ROUNDS = 40 };

struct worker {
  pthread_t thread;
  pthread_barrier_t *barrier;
  tptx_runtime *runtime;
  void *context;
  struct small small; /* memory of its own */
  bool clears;
  int bad;
};

static void *work(void *user) {
  struct worker *w = user;
  host.cuCtxSetCurrent(w->context);
  pthread_barrier_wait(w->barrier);
  for (int i = 0; i < ROUNDS; i++) {
    tptx_kernel *kernel = NULL;
    w->bad += tptx_kernel_get(w->runtime, &w->small.view, &w->small.op, &kernel, NULL) != TPTX_OK;
    w->bad +=
        tptx_run(w->runtime, &w->small.view, &w->small.op, &w->small.args, NULL, NULL) != TPTX_OK;
    w->bad += !kernel || tptx_launch(kernel, &w->small.args, NULL, NULL) != TPTX_OK;
    tptx_kernel_release(kernel);
    if (w->clears && i % 8 == 7) tptx_runtime_clear(w->runtime);
  }
  return NULL;
}

static void work_at_once(int shapes, bool clears, int64_t capacity) {
  static struct worker workers[THREADS];
  tptx_runtime_options options = host_options();
  pthread_barrier_t barrier;
  host_open();
  void *context = host_context(0);
  options.capacity = capacity;
  tptx_runtime *runtime = host_runtime(&options);
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (struct worker){.barrier = &barrier, .runtime = runtime, .context = context};
    workers[i].clears = clears && i == 0;
    small_describe(&workers[i].small, 8 + i % shapes);
    small_place(&workers[i].small);
  }
  for (int i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(workers[i].thread, NULL);
    ck_assert_int_eq(workers[i].bad, 0);
  }
  for (int i = 0; i < THREADS; i++) small_expect_done(&workers[i].small);
  tptx_counters counters = host_counters(runtime);
  ck_assert_uint_eq(counters.launches, 2 * THREADS * ROUNDS);
  /* get means arith=64, run finds arith=32: two kernels a shape. */
  if (!clears && capacity >= 64) ck_assert_uint_eq(counters.builds, (uint64_t)(2 * shapes));
  tptx_runtime_destroy(runtime);
  pthread_barrier_destroy(&barrier);
  ck_assert_int_eq(host_modules(), 0);
}

START_TEST(threads_share_the_shortcuts_of_one_operation) {
  work_at_once(1, false, 64);
}
END_TEST

START_TEST(threads_have_operations_of_their_own) {
  work_at_once(THREADS, false, 64);
}
END_TEST

START_TEST(threads_go_on_while_kernels_are_dropped) {
  work_at_once(4, true, 64);
}
END_TEST

START_TEST(threads_go_on_while_kernels_make_room) {
  work_at_once(THREADS, false, 4);
}
END_TEST

/* ---- The guard against forks ----------------------------------------------------------------- */

/* Runs `ask` in a child; what it says comes back. */
static bool in_a_child(bool (*ask)(struct fork_guard *), struct fork_guard *guard) {
  int status = 0;
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) _exit(ask(guard) ? 1 : 0);
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status));
  return WEXITSTATUS(status) == 1;
}

static bool says_forked(struct fork_guard *guard) {
  return fork_guard_forked(guard);
}

static bool grandchild_says_forked(struct fork_guard *guard) {
  return in_a_child(says_forked, guard);
}

static bool a_new_guard_says_forked(struct fork_guard *guard) {
  fork_guard_open(guard);
  return fork_guard_forked(guard);
}

START_TEST(a_child_is_told_from_its_parent) {
  struct fork_guard guard, second;
  fork_guard_open(&guard);
  fork_guard_open(&second);
  for (int way = 0; way < 2; way++) {
    ck_assert(!fork_guard_forked(&guard));
    ck_assert(in_a_child(says_forked, &guard));
    ck_assert(in_a_child(says_forked, &second));
    ck_assert(in_a_child(grandchild_says_forked, &guard));
    ck_assert(!in_a_child(a_new_guard_says_forked, &(struct fork_guard){0}));
    ck_assert(!fork_guard_forked(&guard)); /* the parent's page is whole */
    fork_guard_close(&guard);
    guard.page = NULL; /* where the kernel cannot wipe, the process id tells */
  }
  ck_assert(!fork_guard_forked(&second));
  fork_guard_close(&second);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("shortcut");
  TCase *alone = tcase_create("alone");
  tcase_add_test(alone, equal_descriptors_lead_to_the_kernel_and_others_do_not);
  tcase_add_test(alone, hashes_differ_by_descriptors_and_context);
  tcase_add_test(alone, of_five_calls_that_meet_the_first_is_put_out);
  tcase_add_test(alone, a_kernel_that_left_while_it_was_found_gets_no_shortcut);
  tcase_add_test(alone, each_class_leads_to_its_own_kernel);
  tcase_add_test(alone, without_memory_no_shortcut_is_kept);
  suite_add_tcase(suite, alone);
  TCase *runtime = tcase_create("runtime");
  tcase_add_test(runtime, a_repeated_call_takes_the_shortcut_with_these_driver_calls);
  tcase_add_test(runtime, run_takes_the_shortcut_that_an_earlier_run_left);
  tcase_add_test(runtime, after_clear_no_shortcut_is_followed);
  tcase_add_test(runtime, after_an_eviction_no_shortcut_is_followed);
  tcase_add_test(runtime, without_capacity_nothing_is_left_to_follow);
  tcase_add_test(runtime, each_context_has_shortcuts_of_its_own);
  tcase_add_test(runtime, a_new_context_at_the_same_address_follows_none);
  suite_add_tcase(suite, runtime);
  TCase *threads = tcase_create("threads");
  tcase_set_timeout(threads, 120);
  tcase_add_test(threads, threads_share_the_shortcuts_of_one_operation);
  tcase_add_test(threads, threads_have_operations_of_their_own);
  tcase_add_test(threads, threads_go_on_while_kernels_are_dropped);
  tcase_add_test(threads, threads_go_on_while_kernels_make_room);
  suite_add_tcase(suite, threads);
  TCase *forks = tcase_create("forks");
  tcase_add_test(forks, a_child_is_told_from_its_parent);
  suite_add_tcase(suite, forks);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
