/* SPDX-License-Identifier: Apache-2.0 */
/* Counting holders in shards: whoever is the last learns it, and only he. */
#include "holders.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>

/* ---- One thread ------------------------------------------------------------------------------ */

START_TEST(the_keeper_alone_is_the_last) {
  struct holders holders;
  holders_open(&holders);
  ck_assert_int_eq(holders_count(&holders), 0);
  ck_assert(holders_let_go(&holders));
}
END_TEST

START_TEST(holders_come_and_go_while_the_keeper_stays) {
  struct holders holders;
  holders_open(&holders);
  holders_add(&holders, 3);
  ck_assert_int_eq(holders_count(&holders), 3);
  for (int left = 2; left >= 0; left--) {
    ck_assert(!holders_remove(&holders));
    ck_assert_int_eq(holders_count(&holders), left);
  }
  ck_assert(holders_let_go(&holders));
}
END_TEST

START_TEST(a_holder_who_stays_longer_than_the_keeper_is_the_last) {
  struct holders holders;
  holders_open(&holders);
  holders_add(&holders, 2);
  ck_assert(!holders_let_go(&holders));
  holders_add(&holders, 1); /* by one who holds it */
  ck_assert(!holders_remove(&holders));
  ck_assert(!holders_remove(&holders));
  ck_assert(holders_remove(&holders));
}
END_TEST

static void *add_three(void *holders) {
  holders_add(holders, 3);
  return NULL;
}

/* The shard of a finished thread is still counted, whichever shard the others work in. */
START_TEST(one_thread_gives_back_what_others_took) {
  struct holders holders;
  pthread_t thread;
  holders_open(&holders);
  for (int i = 0; i < HOLDER_SHARDS; i++)
    atomic_fetch_add(&holders.shards[i].count, 10); /* a thread of every shard */
  ck_assert_int_eq(pthread_create(&thread, NULL, add_three, &holders), 0);
  pthread_join(thread, NULL);
  ck_assert_int_eq(holders_count(&holders), 10 * HOLDER_SHARDS + 3);
  for (int i = 0; i < 10 * HOLDER_SHARDS + 2; i++) ck_assert(!holders_remove(&holders));
  ck_assert_int_eq(holders_count(&holders), 1);
  ck_assert(!holders_let_go(&holders));
  ck_assert(holders_remove(&holders));
}
END_TEST

/* ---- Many threads ---------------------------------------------------------------------------- */

enum { THREADS = 5, ROUNDS = 1000, MOST_STEPS = 50 };

struct scene {
  struct holders holders;
  bool ended;        /* not atomic: only who is ordered behind all others may write it */
  atomic_int ends;   /* how many were told to be the last, or came later */
  atomic_int handed; /* references that whoever comes first gives back */
  atomic_int steps;
  int patience;       /* so many steps the keeper stays */
  atomic_bool let_go; /* the holders go on until then, to be busy when it happens */
};

static void use(struct scene *scene) {
  if (scene->ended) atomic_fetch_add(&scene->ends, 1);
}

static void end_if(struct scene *scene, bool last) {
  if (!last) return;
  atomic_fetch_add(&scene->ends, 1);
  scene->ended = true;
}

static void hand_over(struct scene *scene) {
  use(scene);
  holders_add(&scene->holders, 1);
  atomic_fetch_add(&scene->handed, 1);
}

static bool take_over(struct scene *scene) {
  int handed = atomic_load(&scene->handed);
  while (handed > 0 && !atomic_compare_exchange_weak(&scene->handed, &handed, handed - 1)) {
  }
  if (handed <= 0) return false;
  use(scene);
  end_if(scene, holders_remove(&scene->holders));
  return true;
}

static void *hold(void *user) {
  struct scene *scene = user;
  for (bool busy = true; busy;) {
    busy = !atomic_load_explicit(&scene->let_go, memory_order_relaxed);
    hand_over(scene);
    take_over(scene);
    atomic_fetch_add_explicit(&scene->steps, 1, memory_order_relaxed);
  }
  use(scene);
  end_if(scene, holders_remove(&scene->holders));
  while (take_over(scene)) {
  }
  return NULL;
}

/* Ordered before the others by nothing but its removal. */
static void *leave(void *user) {
  struct scene *scene = user;
  use(scene);
  end_if(scene, holders_remove(&scene->holders));
  return NULL;
}

static void *keep(void *user) {
  struct scene *scene = user;
  while (atomic_load_explicit(&scene->steps, memory_order_relaxed) < scene->patience) use(scene);
  bool last = holders_let_go(&scene->holders);
  atomic_store_explicit(&scene->let_go, true, memory_order_relaxed);
  end_if(scene, last);
  return NULL;
}

static void play(struct scene *scene) {
  void *(*const roles[THREADS])(void *) = {keep, leave, hold, hold, hold};
  pthread_t threads[THREADS];
  scene->ended = false;
  atomic_store(&scene->ends, 0);
  atomic_store(&scene->handed, 0);
  atomic_store(&scene->steps, 0);
  atomic_store(&scene->let_go, false);
  holders_open(&scene->holders);
  holders_add(&scene->holders, THREADS - 1); /* one each but for the keeper */
  for (int i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, roles[i], scene), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

START_TEST(whenever_the_keeper_lets_go_exactly_one_is_the_last) {
  struct scene scene;
  for (int round = 0; round < ROUNDS; round++) {
    scene.patience = round % MOST_STEPS;
    play(&scene);
    ck_assert_int_eq(atomic_load(&scene.ends), 1);
    ck_assert_int_eq(atomic_load(&scene.handed), 0);
  }
}
END_TEST

/* ---- Shards ---------------------------------------------------------------------------------- */

static void *own_shard(void *shard) {
  *(unsigned *)shard = thread_shard();
  return NULL;
}

START_TEST(a_thread_always_gets_the_same_number) {
  pthread_t thread;
  unsigned other = THREAD_SHARDS;
  ck_assert_uint_eq(thread_shard(), thread_shard());
  ck_assert_int_eq(pthread_create(&thread, NULL, own_shard, &other), 0);
  pthread_join(thread, NULL);
  ck_assert_uint_lt(other, THREAD_SHARDS);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("holders");
  TCase *one = tcase_create("one thread");
  tcase_add_test(one, the_keeper_alone_is_the_last);
  tcase_add_test(one, holders_come_and_go_while_the_keeper_stays);
  tcase_add_test(one, a_holder_who_stays_longer_than_the_keeper_is_the_last);
  tcase_add_test(one, one_thread_gives_back_what_others_took);
  suite_add_tcase(suite, one);
  TCase *many = tcase_create("many threads");
  tcase_set_timeout(many, 120);
  tcase_add_test(many, whenever_the_keeper_lets_go_exactly_one_is_the_last);
  tcase_add_test(many, a_thread_always_gets_the_same_number);
  suite_add_tcase(suite, many);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
