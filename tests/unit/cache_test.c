/* SPDX-License-Identifier: Apache-2.0 */
/* The module cache by itself: kernels here are empty, the driver is a few functions that count. */
#define _POSIX_C_SOURCE 200809L
#include "counting_allocator.h"

#include "cache.h"
#include "kernel.h"
#include "runtime_state.h"
#include "status.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- A world of its own ---------------------------------------------------------------------- */

static struct counting memory;
static tptx_runtime world;
static atomic_int loaded;       /* modules in the driver now */
static atomic_int building;     /* builds under way now */
static atomic_int most_at_once; /* and at most */
static atomic_int build_calls;
static atomic_int build_failures_left;

static int fake_push(void *context) {
  (void)context;
  return 0;
}

static int fake_pop(void **context) {
  *context = NULL;
  return 0;
}

static int fake_exchange(int *mode) {
  (void)mode;
  return 0;
}

static int fake_unload(void *module) {
  ck_assert_ptr_nonnull(module);
  atomic_fetch_sub(&loaded, 1);
  return 0;
}

static void open_world(uint64_t capacity) {
  memset(&world, 0, sizeof world);
  world.allocator = counting_allocator(&memory);
  world.driver.cuCtxPushCurrent = fake_push;
  world.driver.cuCtxPopCurrent = fake_pop;
  world.driver.cuThreadExchangeStreamCaptureMode = fake_exchange;
  world.driver.cuModuleUnload = fake_unload;
  atomic_init(&world.references, 1);
  atomic_store(&loaded, 0);
  atomic_store(&build_calls, 0);
  atomic_store(&most_at_once, 0);
  atomic_store(&build_failures_left, 0);
  ck_assert_int_eq(cache_open(&world.cache, &world.allocator, capacity, NULL), TPTX_OK);
}

/* Nothing may be left of anything. */
static void close_world(void) {
  cache_clear(&world.cache);
  ck_assert_uint_eq(world.cache.entries, 0);
  cache_close(&world.cache);
  ck_assert_int_eq(atomic_load(&loaded), 0);
  ck_assert_int_eq(atomic_load(&world.references), 1);
  ck_assert_int_eq(atomic_load(&memory.outstanding), 0);
}

static struct key key_of(int number) {
  struct key key = {.hash = (uint64_t)number * UINT64_C(0x9E3779B97F4A7C15)};
  key.bytes = (size_t)snprintf(key.line, sizeof key.line, "kernel-%d", number);
  return key;
}

/* A kernel without code, for the key that `user` points to. */
static tptx_status make_kernel(const struct key *key, tptx_kernel **out, tptx_error *error) {
  tptx_ptx *ptx = allocate(&world.allocator, sizeof *ptx + 1);
  REFUSE_IF(!ptx, error, TPTX_ERROR_OUT_OF_MEMORY, "", -1, "no text");
  memset(ptx, 0, sizeof *ptx + 1);
  ptx->allocator = world.allocator;
  ptx->key = *key;
  tptx_kernel *kernel = allocate(&world.allocator, sizeof *kernel);
  if (!kernel) {
    release(&world.allocator, ptx);
    REFUSE(error, TPTX_ERROR_OUT_OF_MEMORY, "", -1, "no kernel");
  }
  memset(kernel, 0, sizeof *kernel);
  kernel->runtime = &world;
  kernel->ptx = ptx;
  kernel->module = kernel;
  holders_open(&kernel->holders);
  atomic_fetch_add(&world.references, 1);
  atomic_fetch_add(&loaded, 1);
  *out = kernel;
  return TPTX_OK;
}

static void sleep_milliseconds(long milliseconds) {
  struct timespec span = {0, milliseconds * 1000000};
  nanosleep(&span, NULL);
}

static tptx_status build(void *user, tptx_kernel **out, uint64_t *microseconds, tptx_error *error) {
  int now = atomic_fetch_add(&building, 1) + 1, most = atomic_load(&most_at_once);
  while (now > most && !atomic_compare_exchange_weak(&most_at_once, &most, now)) {
  }
  int call = atomic_fetch_add(&build_calls, 1);
  *microseconds = 7;
  /* The lock is free during a build: counting takes it. */
  tptx_counters counters;
  cache_count(&world.cache, &counters);
  sleep_milliseconds(20);
  tptx_status status = TPTX_OK;
  if (atomic_fetch_sub(&build_failures_left, 1) > 0)
    status =
        refuse(error, (struct fault){TPTX_ERROR_PTX_REJECTED, "", -1}, "failed build %d", call);
  else
    atomic_fetch_add(&build_failures_left, 1);
  atomic_fetch_sub(&building, 1);
  return status == TPTX_OK ? make_kernel(user, out, error) : status;
}

/* The same without the pause. */
static tptx_status build_fast(void *user, tptx_kernel **out, uint64_t *microseconds,
                              tptx_error *error) {
  *microseconds = 7;
  atomic_fetch_add(&build_calls, 1);
  return make_kernel(user, out, error);
}

static struct cache_request request_in(struct context context, struct key *key) {
  return (struct cache_request){context, key, build_fast, key};
}

static struct cache_request request_of(struct key *key) {
  return request_in((struct context){&world, 1}, key);
}

static tptx_kernel *get(const struct cache_request *request) {
  tptx_kernel *kernel = cache_find(&world.cache, request);
  enum cache_outcome outcome;
  if (!kernel)
    ck_assert_int_eq(cache_build(&world.cache, request, &kernel, &outcome, NULL), TPTX_OK);
  ck_assert_str_eq(kernel->ptx->key.line, request->key->line);
  return kernel;
}

static void use(int number) {
  struct key key = key_of(number);
  struct cache_request request = request_of(&key);
  cache_give_back(&world.cache, get(&request));
}

static bool has(int number) {
  struct key key = key_of(number);
  struct cache_request request = request_of(&key);
  tptx_kernel *kernel = cache_find(&world.cache, &request);
  if (kernel) cache_give_back(&world.cache, kernel);
  return kernel != NULL;
}

static tptx_counters counters_now(void) {
  tptx_counters counters;
  cache_count(&world.cache, &counters);
  return counters;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

START_TEST(a_second_request_hits_and_builds_nothing) {
  open_world(8);
  use(1);
  use(1);
  tptx_counters counters = counters_now();
  ck_assert_uint_eq(counters.misses, 1);
  ck_assert_uint_eq(counters.hits, 1);
  ck_assert_uint_eq(counters.builds, 1);
  ck_assert_uint_eq(counters.kept, 1);
  ck_assert_uint_eq(counters.build_microseconds, 7);
  ck_assert_int_eq(atomic_load(&build_calls), 1);
  close_world();
}
END_TEST

START_TEST(a_hit_allocates_nothing) {
  open_world(8);
  use(1);
  long before = atomic_load(&memory.calls);
  use(1);
  ck_assert_int_eq(atomic_load(&memory.calls), before);
  close_world();
}
END_TEST

START_TEST(E_04_six_hundred_signatures_under_an_eight_bit_hash) {
  open_world(1024);
  world.cache.hash_mask = 0xFF;
  for (int round = 0; round < 2; round++)
    for (int number = 0; number < 600; number++) use(number);
  tptx_counters counters = counters_now();
  ck_assert_uint_eq(counters.misses, 600);
  ck_assert_uint_eq(counters.hits, 600);
  ck_assert_uint_eq(counters.kept, 600);
  close_world();
}
END_TEST

START_TEST(E_04_equal_hashes_of_different_lines_are_two_kernels) {
  open_world(8);
  struct key a = key_of(1), b = key_of(2);
  b.hash = a.hash;
  struct cache_request first = request_of(&a), second = request_of(&b);
  tptx_kernel *one = get(&first), *other = get(&second);
  ck_assert_ptr_ne(one, other);
  cache_give_back(&world.cache, one);
  cache_give_back(&world.cache, other);
  close_world();
}
END_TEST

START_TEST(E_15_each_context_has_its_own_kernel) {
  open_world(8);
  world.cache.hash_mask = 0; /* the hash does not tell them apart */
  struct key key = key_of(1);
  int place;
  struct context contexts[] = {{&world, 1}, {&world, 2}, {&place, 1}};
  tptx_kernel *kernels[3];
  for (int i = 0; i < 3; i++) {
    struct cache_request request = request_in(contexts[i], &key);
    kernels[i] = get(&request);
  }
  ck_assert_ptr_ne(kernels[0], kernels[1]);
  ck_assert_ptr_ne(kernels[0], kernels[2]);
  ck_assert_uint_eq(counters_now().misses, 3);
  for (int i = 0; i < 3; i++) cache_give_back(&world.cache, kernels[i]);
  close_world();
}
END_TEST

START_TEST(E_16_kernels_of_a_replaced_context_go_without_an_unload) {
  open_world(8);
  struct key key = key_of(1);
  struct cache_request old = request_in((struct context){&world, 1}, &key);
  struct cache_request new = request_in((struct context){&world, 2}, &key);
  cache_give_back(&world.cache, get(&old));
  cache_give_back(&world.cache, get(&new));
  cache_drop_replaced(&world.cache, new.context);
  ck_assert_uint_eq(counters_now().kept, 1);
  ck_assert_int_eq(atomic_load(&loaded), 2); /* the driver was not asked: it has none of them */
  ck_assert_ptr_null(cache_find(&world.cache, &old));
  cache_give_back(&world.cache, get(&new));
  ck_assert_uint_eq(counters_now().hits, 1);
  cache_drop_context(&world.cache, new.context);
  ck_assert_uint_eq(counters_now().kept, 0);
  ck_assert_int_eq(atomic_load(&loaded), 2);
  atomic_store(&loaded, 0);
  close_world();
}
END_TEST

START_TEST(E_12_the_oldest_unused_kernel_makes_room) {
  open_world(3);
  for (int number = 0; number < 3; number++) use(number);
  use(0); /* now 1 is the oldest */
  use(3);
  ck_assert(!has(1));
  ck_assert(has(0) && has(2) && has(3));
  ck_assert_uint_eq(counters_now().evictions, 1);
  ck_assert_int_eq(atomic_load(&loaded), 3);
  close_world();
}
END_TEST

START_TEST(E_12_never_more_modules_than_the_capacity) {
  open_world(16);
  for (int number = 0; number < 1000; number++) {
    use(number);
    ck_assert_int_le(atomic_load(&loaded), 16);
    ck_assert_int_le(atomic_load(&memory.outstanding), 1 + 16 * 3);
  }
  tptx_counters counters = counters_now();
  ck_assert_uint_eq(counters.kept, 16);
  ck_assert_uint_eq(counters.evictions, 1000 - 16);
  use(0); /* gone long ago, comes back */
  ck_assert_uint_eq(counters_now().misses, 1001);
  close_world();
}
END_TEST

START_TEST(a_held_kernel_is_never_dropped_for_room) {
  open_world(2);
  struct key key = key_of(0);
  struct cache_request request = request_of(&key);
  tptx_kernel *held = get(&request);
  for (int number = 1; number < 20; number++) use(number);
  ck_assert(has(0));
  ck_assert_uint_eq(counters_now().kept, 2);
  cache_give_back(&world.cache, held);
  use(20);
  use(21);
  ck_assert(!has(0)); /* released and old: an ordinary one again */
  close_world();
}
END_TEST

static void *use_another(void *unused) {
  (void)unused;
  use(1);
  return NULL;
}

START_TEST(a_kernel_taken_by_a_shortcut_while_room_is_made_stays) {
  open_world(1);
  struct key key = key_of(0);
  struct cache_request request = request_of(&key);
  tptx_kernel *kernel = get(&request);
  cache_give_back(&world.cache, kernel);
  /* What shortcut_recall does, stretched until the other thread has had time to drop the kernel. */
  pthread_t thread;
  shortcuts_hold(&world.cache.shortcuts);
  ck_assert_int_eq(pthread_create(&thread, NULL, use_another, NULL), 0);
  sleep_milliseconds(50);
  ck_assert_int_eq(atomic_load(&loaded), 1);
  kernel_retain(kernel, 1);
  shortcuts_let_go(&world.cache.shortcuts);
  pthread_join(thread, NULL);
  ck_assert(has(0));
  ck_assert_uint_eq(counters_now().evictions, 0);
  cache_give_back(&world.cache, kernel);
  close_world();
}
END_TEST

START_TEST(E_18_a_captured_kernel_stays_until_clear) {
  open_world(2);
  struct key key = key_of(0);
  struct cache_request request = request_of(&key);
  tptx_kernel *kernel = get(&request);
  atomic_store(&kernel->captured, true);
  cache_give_back(&world.cache, kernel);
  for (int number = 1; number < 20; number++) use(number);
  ck_assert(has(0));
  cache_clear(&world.cache);
  ck_assert(!has(0));
  ck_assert_int_eq(atomic_load(&loaded), 0);
  close_world();
}
END_TEST

START_TEST(a_held_kernel_outlives_clear) {
  open_world(8);
  struct key key = key_of(0);
  struct cache_request request = request_of(&key);
  tptx_kernel *held = get(&request);
  cache_clear(&world.cache);
  ck_assert_uint_eq(counters_now().kept, 0);
  ck_assert_int_eq(atomic_load(&loaded), 1);
  tptx_kernel *again = get(&request);
  ck_assert_ptr_ne(again, held);
  cache_give_back(&world.cache, held);
  ck_assert_int_eq(atomic_load(&loaded), 1);
  cache_give_back(&world.cache, again);
  close_world();
}
END_TEST

START_TEST(capacity_zero_keeps_a_kernel_as_long_as_it_is_held) {
  open_world(0);
  struct key key = key_of(0);
  struct cache_request request = request_of(&key);
  tptx_kernel *first = get(&request), *second = get(&request);
  ck_assert_ptr_eq(first, second);
  ck_assert_uint_eq(counters_now().hits, 1);
  cache_give_back(&world.cache, first);
  ck_assert_int_eq(atomic_load(&loaded), 1);
  cache_give_back(&world.cache, second);
  ck_assert_int_eq(atomic_load(&loaded), 0);
  ck_assert_uint_eq(counters_now().kept, 0);
  first = get(&request);
  cache_clear(&world.cache);
  cache_give_back(&world.cache, first);
  close_world();
}
END_TEST

/* ---- Threads --------------------------------------------------------------------------------- */

enum { THREADS = 16 };

struct worker {
  pthread_t thread;
  pthread_barrier_t *barrier;
  struct key key;
  tptx_kernel *kernel;
  tptx_status status;
  enum cache_outcome outcome;
  tptx_error error;
};

static void *request_once(void *user) {
  struct worker *worker = user;
  struct cache_request request = {{&world, 1}, &worker->key, build, &worker->key};
  pthread_barrier_wait(worker->barrier);
  worker->kernel = cache_find(&world.cache, &request);
  if (worker->kernel) return NULL;
  worker->status =
      cache_build(&world.cache, &request, &worker->kernel, &worker->outcome, &worker->error);
  return NULL;
}

/* All threads ask at once, for one key or for one each. */
static void ask_at_once(struct worker *workers, bool one_key) {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (struct worker){.barrier = &barrier, .key = key_of(one_key ? 0 : i)};
    ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, request_once, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
  pthread_barrier_destroy(&barrier);
}

static void give_back_all(const struct worker *workers) {
  for (int i = 0; i < THREADS; i++)
    if (workers[i].kernel) cache_give_back(&world.cache, workers[i].kernel);
}

START_TEST(E_14_one_build_however_many_ask) {
  static struct worker workers[THREADS];
  open_world(8);
  ask_at_once(workers, true);
  for (int i = 0; i < THREADS; i++) {
    ck_assert_int_eq(workers[i].status, TPTX_OK);
    ck_assert_ptr_eq(workers[i].kernel, workers[0].kernel);
  }
  tptx_counters counters = counters_now();
  ck_assert_int_eq(atomic_load(&build_calls), 1);
  ck_assert_uint_eq(counters.misses, 1);
  ck_assert_uint_eq(counters.waits + counters.hits, THREADS - 1);
  give_back_all(workers);
  close_world();
}
END_TEST

START_TEST(E_14_builds_of_different_keys_overlap) {
  static struct worker workers[THREADS];
  open_world(64);
  ask_at_once(workers, false);
  ck_assert_int_eq(atomic_load(&build_calls), THREADS);
  ck_assert_int_gt(atomic_load(&most_at_once), 1);
  give_back_all(workers);
  close_world();
}
END_TEST

START_TEST(E_14_a_failed_build_reaches_every_waiter_and_leaves_no_entry) {
  static struct worker workers[THREADS];
  open_world(8);
  atomic_store(&build_failures_left, 1);
  ask_at_once(workers, true);
  int failed = 0;
  for (int i = 0; i < THREADS; i++) {
    /* Who came after the failure built again, and was right to. */
    if (workers[i].status == TPTX_OK) continue;
    failed++;
    ck_assert_int_eq(workers[i].status, TPTX_ERROR_PTX_REJECTED);
    ck_assert_int_eq(workers[i].error.status, TPTX_ERROR_PTX_REJECTED);
    ck_assert_str_eq(workers[i].error.message, "failed build 0");
    ck_assert_ptr_null(workers[i].kernel);
  }
  tptx_counters counters = counters_now();
  ck_assert_uint_eq(counters.failures, 1);
  ck_assert_uint_eq((uint64_t)failed, counters.failures + counters.waits);
  ck_assert_int_gt(failed, 1);
  give_back_all(workers);
  use(0);
  close_world();
}
END_TEST

static void *churn(void *user) {
  unsigned state = (unsigned)(size_t)user;
  for (int i = 0; i < 2000; i++) {
    state = state * 1103515245u + 12345u;
    use((int)(state >> 16) % 12);
    if (i % 500 == 499) cache_clear(&world.cache);
  }
  return NULL;
}

static void churn_with_capacity(uint64_t capacity) {
  pthread_t threads[8];
  open_world(capacity);
  for (size_t i = 0; i < 8; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)), 0);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  tptx_counters counters = counters_now();
  ck_assert_uint_eq(counters.hits + counters.waits + counters.misses, 16000);
  ck_assert_uint_eq(counters.builds, counters.misses);
  close_world();
}

START_TEST(threads_that_evict_from_each_other_stay_right) {
  churn_with_capacity(4);
}
END_TEST

START_TEST(threads_without_capacity_stay_right) {
  churn_with_capacity(0);
}
END_TEST

/* ---- Faults ---------------------------------------------------------------------------------- */

START_TEST(any_allocation_may_fail) {
  struct key key = key_of(0);
  enum cache_outcome outcome;
  int failures = 0;
  for (long nth = 1;; nth++) {
    open_world(4);
    struct cache_request request = request_of(&key);
    tptx_kernel *kernel = NULL;
    tptx_error error;
    atomic_store(&memory.fail_at, atomic_load(&memory.calls) + nth);
    tptx_status status = cache_build(&world.cache, &request, &kernel, &outcome, &error);
    atomic_store(&memory.fail_at, 0);
    if (status == TPTX_OK)
      cache_give_back(&world.cache, kernel);
    else {
      failures++;
      ck_assert_int_eq(status, TPTX_ERROR_OUT_OF_MEMORY);
      ck_assert_int_eq(error.status, TPTX_ERROR_OUT_OF_MEMORY);
      ck_assert_ptr_null(kernel);
      ck_assert_uint_eq(counters_now().kept, 0);
      use(0); /* the next call works */
    }
    close_world();
    if (status == TPTX_OK) break;
  }
  ck_assert_int_eq(failures, 4); /* entry, flight, text, kernel */
  tptx_error error;
  world.allocator = counting_allocator(&memory);
  atomic_store(&memory.fail_at, 1);
  ck_assert_int_eq(cache_open(&world.cache, &world.allocator, 4, &error), TPTX_ERROR_OUT_OF_MEMORY);
  ck_assert_int_eq(atomic_load(&memory.outstanding), 0);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cache");
  TCase *one = tcase_create("one thread");
  tcase_add_test(one, a_second_request_hits_and_builds_nothing);
  tcase_add_test(one, a_hit_allocates_nothing);
  tcase_add_test(one, E_04_six_hundred_signatures_under_an_eight_bit_hash);
  tcase_add_test(one, E_04_equal_hashes_of_different_lines_are_two_kernels);
  tcase_add_test(one, E_15_each_context_has_its_own_kernel);
  tcase_add_test(one, E_16_kernels_of_a_replaced_context_go_without_an_unload);
  tcase_add_test(one, E_12_the_oldest_unused_kernel_makes_room);
  tcase_add_test(one, E_12_never_more_modules_than_the_capacity);
  tcase_add_test(one, a_held_kernel_is_never_dropped_for_room);
  tcase_add_test(one, a_kernel_taken_by_a_shortcut_while_room_is_made_stays);
  tcase_add_test(one, E_18_a_captured_kernel_stays_until_clear);
  tcase_add_test(one, a_held_kernel_outlives_clear);
  tcase_add_test(one, capacity_zero_keeps_a_kernel_as_long_as_it_is_held);
  tcase_add_test(one, any_allocation_may_fail);
  suite_add_tcase(suite, one);
  TCase *many = tcase_create("threads");
  tcase_set_timeout(many, 60);
  tcase_add_test(many, E_14_one_build_however_many_ask);
  tcase_add_test(many, E_14_builds_of_different_keys_overlap);
  tcase_add_test(many, E_14_a_failed_build_reaches_every_waiter_and_leaves_no_entry);
  tcase_add_test(many, threads_that_evict_from_each_other_stay_right);
  tcase_add_test(many, threads_without_capacity_stay_right);
  suite_add_tcase(suite, many);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
