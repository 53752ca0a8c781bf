/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime says and leaves behind when the driver, memory or a folder fails. */
#define _POSIX_C_SOURCE 200809L
#include "host.h"

#include "runtime_state.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tptx_status get(tptx_runtime *runtime, const struct small *small, tptx_error *error) {
  tptx_kernel *kernel = NULL;
  tptx_status status = tptx_kernel_get(runtime, &small->view, &small->op, &kernel, error);
  ck_assert(status == TPTX_OK || kernel == NULL);
  tptx_kernel_release(kernel);
  return status;
}

/* ---- Texts that the driver refuses ----------------------------------------------------------- */

/* What the linker gets in place of the library's text, and the true linker. */
static const char *wrong_text;
static struct driver right;

static int add_wrong_text(void *link, int type, void *data, size_t bytes, const char *name,
                          unsigned int count, int *options, void **values) {
  ck_assert_int_eq(((char *)data)[bytes - 1], '\0'); /* the NUL belongs to it */
  ck_assert_ptr_null(memchr(data, '\0', bytes - 1));
  if (wrong_text) {
    data = (void *)(uintptr_t)wrong_text;
    bytes = strlen(wrong_text) + 1;
  }
  return right.cuLinkAddData(link, type, data, bytes, name, count, options, values);
}

static tptx_runtime *runtime_with_wrong_text(const tptx_runtime_options *options) {
  tptx_runtime *runtime = host_runtime(options);
  right = runtime->driver;
  runtime->driver.cuLinkAddData = add_wrong_text;
  return runtime;
}

START_TEST(G_05_a_rejected_text_comes_with_the_compilers_log) {
  struct small small;
  tptx_error error;
  host_open();
  host_context(0);
  tptx_runtime *runtime = runtime_with_wrong_text(NULL);
  small_describe(&small, 8);
  wrong_text = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { frob.b32; }\n";
  ck_assert_int_eq(get(runtime, &small, &error), TPTX_ERROR_PTX_REJECTED);
  ck_assert_int_eq(error.driver_code, 218);
  ck_assert_ptr_nonnull(strstr(error.message, "218 (CUDA_ERROR_INVALID_PTX)"));
  ck_assert_ptr_nonnull(strstr(error.message, error.driver_function));
  ck_assert_ptr_nonnull(strstr(error.message, "kernel tptx_")); /* where the text is in a dump */
  ck_assert_ptr_nonnull(strstr(error.log, "frob"));
  ck_assert_int_eq(error.truncated, 0);
  ck_assert_int_eq(host_modules(), 0);
  wrong_text = NULL;
  small_run(runtime, &small); /* the failure left nothing behind */
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(G_05_a_too_new_text_names_both_versions) {
  struct small small;
  tptx_error error;
  host_open();
  host_context(0);
  tptx_runtime *runtime = runtime_with_wrong_text(NULL);
  small_describe(&small, 8);
  wrong_text = ".version 9.9\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";
  ck_assert_int_eq(get(runtime, &small, &error), TPTX_ERROR_PTX_TOO_NEW);
  ck_assert_int_eq(error.driver_code, 222);
  char expected[80];
  snprintf(expected, sizeof expected, "takes PTX up to %d.%d", runtime->driver.ptx / 10,
           runtime->driver.ptx % 10);
  ck_assert_ptr_nonnull(strstr(error.message, expected));
  ck_assert_ptr_nonnull(strstr(error.message, "the text is PTX "));
  ck_assert_str_ne(error.log, "");
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(F_06_a_missing_compiler_is_named) {
  static const int codes[] = {221, 223};
  struct small small;
  tptx_error error;
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  for (int i = 0; i < 2; i++) {
    host_fail(i ? "cuLinkComplete" : "cuLinkAddData_v2", 1, codes[i]);
    ck_assert_int_eq(get(runtime, &small, &error), TPTX_ERROR_NO_COMPILER);
    ck_assert_int_eq(error.driver_code, codes[i]);
    ck_assert_ptr_nonnull(strstr(error.message, "libnvidia-ptxjitcompiler"));
  }
  small_run(runtime, &small);
  host_fail(NULL, 0, 0);
  small_run(runtime, &small); /* kernels in the cache still work */
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(F_05_G_05_wrong_binaries_and_unknown_codes_keep_their_number) {
  static const struct {
    int code;
    tptx_status status;
    const char *call, *function;
  } rows[] = {
      {209, TPTX_ERROR_WRONG_BINARY, "cuModuleLoadData", "cuModuleLoadData"},
      {500, TPTX_ERROR_DRIVER, "cuModuleGetFunction", "cuModuleGetFunction"},
      {987, TPTX_ERROR_DRIVER, "cuLinkCreate_v2", "cuLinkCreate"},
      {2, TPTX_ERROR_DRIVER, "cuFuncGetAttribute", "cuFuncGetAttribute"},
      {201, TPTX_ERROR_NO_CONTEXT, "cuCtxGetCurrent", "cuCtxGetCurrent"},
  };
  struct small small;
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tptx_error error;
    host_fail(rows[i].call, 1, rows[i].code);
    ck_assert_int_eq(get(runtime, &small, &error), rows[i].status);
    ck_assert_int_eq(error.driver_code, rows[i].code);
    ck_assert_str_eq(error.driver_function, rows[i].function);
    ck_assert_int_eq(host_modules(), 0);
  }
  tptx_runtime_destroy(runtime);
}
END_TEST

struct failing {
  pthread_t thread;
  tptx_runtime *runtime;
  void *context;
  int64_t shape;
  tptx_error error;
};

static void *fail_often(void *user) {
  struct failing *failing = user;
  struct small small;
  char entry[64];
  tptx_ptx *ptx;
  host.cuCtxSetCurrent(failing->context);
  small_describe(&small, failing->shape);
  ck_assert_int_eq(tptx_emit(&small.view, &small.op, NULL, &ptx, NULL), TPTX_OK);
  snprintf(entry, 30, "kernel %s", tptx_ptx_entry(ptx));
  tptx_ptx_free(ptx);
  for (int i = 0; i < 50; i++) {
    ck_assert_int_eq(get(failing->runtime, &small, &failing->error), TPTX_ERROR_PTX_REJECTED);
    char shape[32];
    snprintf(shape, sizeof shape, "_%lld_", (long long)failing->shape);
    ck_assert_ptr_nonnull(strstr(failing->error.message, shape));
  }
  return NULL;
}

START_TEST(G_05_each_thread_gets_its_own_error) {
  static struct failing failing[2];
  host_open();
  void *context = host_context(0);
  tptx_runtime *runtime = runtime_with_wrong_text(NULL);
  wrong_text = "nonsense";
  for (int i = 0; i < 2; i++) {
    failing[i] = (struct failing){.runtime = runtime, .context = context, .shape = 1000 + i};
    ck_assert_int_eq(pthread_create(&failing[i].thread, NULL, fail_often, &failing[i]), 0);
  }
  for (int i = 0; i < 2; i++) pthread_join(failing[i].thread, NULL);
  tptx_runtime_destroy(runtime);
}
END_TEST

/* ---- Looking inside -------------------------------------------------------------------------- */

struct notebook {
  char lines[64][TPTX_MAX_SIGNATURE + 512];
  tptx_topic topics[64];
  int count;
};

static void note(void *user, tptx_topic topic, const char *line) {
  struct notebook *notebook = user;
  ck_assert_int_lt(notebook->count, 64);
  ck_assert_ptr_null(strchr(line, '\n'));
  notebook->topics[notebook->count] = topic;
  snprintf(notebook->lines[notebook->count++], sizeof *notebook->lines, "%s", line);
}

static int lines_of(const struct notebook *notebook, tptx_topic topic, const char *part) {
  int count = 0;
  for (int i = 0; i < notebook->count; i++)
    count += notebook->topics[i] == topic && strstr(notebook->lines[i], part) != NULL;
  return count;
}

static void expect_dumped(const char *folder, const tptx_ptx *ptx) {
  char path[4096], first[TPTX_MAX_SIGNATURE + 16];
  snprintf(path, sizeof path, "%s/%s.ptx", folder, tptx_ptx_entry(ptx));
  FILE *file = fopen(path, "r");
  ck_assert_msg(file != NULL, "%s is missing", path);
  ck_assert_ptr_nonnull(fgets(first, sizeof first, file));
  ck_assert_msg(strstr(first, tptx_ptx_signature(ptx)) != NULL, "first line: %s", first);
  ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
  ck_assert_int_eq(ftell(file), (long)tptx_ptx_text_bytes(ptx));
  fclose(file);
  ck_assert_int_eq(unlink(path), 0);
}

static tptx_ptx *text_of(const tptx_runtime *runtime, const struct small *small) {
  tptx_ptx *ptx;
  tptx_target target = runtime->target;
  target.sm = runtime->contexts.fixed_sm;
  ck_assert_int_eq(tptx_emit(&small->view, &small->op, &target, &ptx, NULL), TPTX_OK);
  return ptx;
}

START_TEST(H_01_every_text_is_dumped_and_every_request_told) {
  static struct notebook notebook;
  char folder[] = "/tmp/tileptx-test-XXXXXX";
  struct small good, broken;
  tptx_runtime_options options = host_options();
  host_open();
  host_context(0);
  ck_assert_ptr_nonnull(mkdtemp(folder));
  options.dump_directory = folder;
  options.log = note;
  options.log_user = &notebook;
  options.topics = TPTX_TOPIC_WARNING | TPTX_TOPIC_CACHE | TPTX_TOPIC_BUILD | TPTX_TOPIC_LAUNCH;
  options.target.sm = 80;
  tptx_runtime *runtime = runtime_with_wrong_text(&options);
  small_describe(&good, 8);
  small_describe(&broken, 9);
  wrong_text = "nonsense";
  ck_assert_int_eq(get(runtime, &broken, NULL), TPTX_ERROR_PTX_REJECTED);
  wrong_text = NULL;
  ck_assert_int_eq(get(runtime, &good, NULL), TPTX_OK);
  tptx_kernel *kernel = small_get(runtime, &good);
  small_launch(kernel, &good);
  char request[TPTX_MAX_SIGNATURE + 64];
  snprintf(request, sizeof request, "tileptx: cache hit %s", kernel->ptx->key.line);
  ck_assert_int_eq(lines_of(&notebook, TPTX_TOPIC_CACHE, request), 1);
  snprintf(request, sizeof request, "tileptx: cache miss %s", kernel->ptx->key.line);
  ck_assert_int_eq(lines_of(&notebook, TPTX_TOPIC_CACHE, request), 1);
  ck_assert_int_eq(lines_of(&notebook, TPTX_TOPIC_CACHE, "tileptx: cache"), 3);
  ck_assert_int_eq(lines_of(&notebook, TPTX_TOPIC_BUILD, "build TPTX_OK"), 1);
  ck_assert_int_eq(lines_of(&notebook, TPTX_TOPIC_BUILD, "build TPTX_ERROR_PTX_REJECTED"), 1);
  ck_assert_int_eq(lines_of(&notebook, TPTX_TOPIC_LAUNCH, kernel->ptx->key.line), 1);
  ck_assert_int_eq(lines_of(&notebook, TPTX_TOPIC_WARNING, ""), 0);
  tptx_ptx *text = text_of(runtime, &broken);
  expect_dumped(folder, text);
  tptx_ptx_free(text);
  expect_dumped(folder, kernel->ptx);
  tptx_kernel_release(kernel);
  tptx_runtime_destroy(runtime);
  ck_assert_int_eq(rmdir(folder), 0); /* nothing else was left in it */
}
END_TEST

START_TEST(H_01_a_bad_dump_folder_warns_once_and_changes_nothing_else) {
  static struct notebook notebook;
  tptx_runtime_options options = host_options();
  struct small small;
  host_open();
  host_context(0);
  setenv("TILEPTX_DUMP_DIR", "/nonexistent/folder", 1);
  options.log = note;
  options.log_user = &notebook;
  tptx_runtime *runtime = host_runtime(&options);
  for (int64_t shape = 1; shape < 5; shape++) {
    small_describe(&small, shape);
    small_run(runtime, &small);
  }
  ck_assert_int_eq(notebook.count, 1);
  ck_assert_int_eq(lines_of(&notebook, TPTX_TOPIC_WARNING, "/nonexistent/folder"), 1);
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(H_01_what_cannot_be_put_in_place_is_not_left_behind) {
  static struct notebook notebook;
  char folder[] = "/tmp/tileptx-test-XXXXXX", path[4096];
  tptx_runtime_options options = host_options();
  struct small small;
  host_open();
  host_context(0);
  ck_assert_ptr_nonnull(mkdtemp(folder));
  options.dump_directory = folder;
  options.target.sm = 80;
  options.log = note;
  options.log_user = &notebook;
  tptx_runtime *runtime = host_runtime(&options);
  small_describe(&small, 8);
  tptx_ptx *text = text_of(runtime, &small);
  snprintf(path, sizeof path, "%s/%s.ptx", folder, tptx_ptx_entry(text));
  tptx_ptx_free(text);
  ck_assert_int_eq(mkdir(path, 0700), 0); /* a folder where the file should go */
  ck_assert_int_eq(get(runtime, &small, NULL), TPTX_OK);
  ck_assert_int_eq(lines_of(&notebook, TPTX_TOPIC_WARNING, folder), 1);
  tptx_runtime_destroy(runtime);
  ck_assert_int_eq(rmdir(path), 0);
  ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(trace_topics_come_from_the_environment_too) {
  static struct notebook notebook;
  tptx_runtime_options options = host_options();
  struct small small;
  host_open();
  host_context(0);
  setenv("TILEPTX_TRACE", "launch", 1);
  options.log = note;
  options.log_user = &notebook;
  tptx_runtime *runtime = host_runtime(&options);
  small_describe(&small, 8);
  small_run(runtime, &small);
  ck_assert_int_eq(notebook.count, 1);
  ck_assert_int_eq(notebook.topics[0], TPTX_TOPIC_LAUNCH);
  tptx_runtime_destroy(runtime);
}
END_TEST

/* ---- The n-th of everything fails ------------------------------------------------------------ */

/* Create, get, run, destroy. `failed` is the first status that was not TPTX_OK. */
static tptx_status whole_life(const tptx_runtime_options *options, struct small *small,
                              tptx_error *error) {
  tptx_runtime *runtime;
  tptx_status failed = tptx_runtime_create(options, &runtime, error);
  if (failed != TPTX_OK) {
    ck_assert_ptr_null(runtime);
    return failed;
  }
  failed = get(runtime, small, error);
  tptx_status status =
      tptx_run(runtime, &small->view, &small->op, &small->args, NULL, failed ? NULL : error);
  if (failed == TPTX_OK) failed = status;
  tptx_counters counters = {.struct_size = sizeof counters};
  ck_assert_int_eq(tptx_runtime_counters(runtime, &counters, NULL), TPTX_OK);
  ck_assert_uint_eq(counters.builds, counters.kept);
  tptx_runtime_destroy(runtime);
  return failed;
}

START_TEST(any_allocation_may_fail) {
  struct counting memory;
  tptx_allocator allocator = counting_allocator(&memory);
  tptx_runtime_options options = host_options();
  struct small small;
  int failures = 0;
  tptx_status status;
  host_open();
  host_context(0);
  options.allocator = &allocator;
  options.dump_directory = "/nonexistent";
  small_describe(&small, 8);
  small_place(&small);
  do {
    tptx_error error;
    tptx_error_init(&error);
    atomic_store(&memory.fail_at, atomic_load(&memory.calls) + failures + 1);
    status = whole_life(&options, &small, &error);
    atomic_store(&memory.fail_at, 0);
    ck_assert_int_eq(atomic_load(&memory.outstanding), 0);
    ck_assert_int_eq(host_modules(), 0);
    if (status == TPTX_OK) break;
    failures++;
    ck_assert_int_eq(status, TPTX_ERROR_OUT_OF_MEMORY);
    ck_assert_int_eq(error.status, TPTX_ERROR_OUT_OF_MEMORY);
    ck_assert_int_eq(whole_life(&options, &small, NULL), TPTX_OK); /* the next call works */
  } while (failures < 1000);
  ck_assert_int_ge(failures, 8);
  ck_assert_int_lt(failures, 1000);
}
END_TEST

START_TEST(any_driver_call_may_fail) {
  struct counting memory;
  tptx_allocator allocator = counting_allocator(&memory);
  tptx_runtime_options options = host_options();
  struct small small;
  int quiet = 0, failures = 0;
  host_open();
  void *context = host_context(0);
  options.allocator = &allocator;
  small_describe(&small, 8);
  small_place(&small);
  long before = host_calls(NULL);
  ck_assert_int_eq(whole_life(&options, &small, NULL), TPTX_OK);
  long calls = host_calls(NULL) - before;
  ck_assert_int_gt(calls, 20);
  for (long nth = 1; nth <= calls; nth++) {
    tptx_error error;
    tptx_error_init(&error);
    host_fail(NULL, nth, 999);
    tptx_status status = whole_life(&options, &small, &error);
    host_fail(NULL, 0, 0);
    ck_assert_int_eq(atomic_load(&memory.outstanding), 0);
    ck_assert_ptr_eq(host_current(), context);
    if (status == TPTX_OK) {
      quiet++; /* a call that gives something back: there is nothing to report */
    } else {
      failures++;
      ck_assert_int_eq(status, TPTX_ERROR_DRIVER);
      ck_assert_int_eq(error.driver_code, 999);
      ck_assert_str_ne(error.driver_function, "");
    }
    ck_assert_int_eq(whole_life(&options, &small, NULL), TPTX_OK); /* the next call works */
  }
  ck_assert_int_ge(failures, 20);
  /* Of each of two kernels: link destroyed, mode back; id, mode, push, unload, pop, mode back. */
  ck_assert_int_eq(quiet, 2 * 8);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("faults");
  TCase *refusals = tcase_create("refusals");
  tcase_add_test(refusals, G_05_a_rejected_text_comes_with_the_compilers_log);
  tcase_add_test(refusals, G_05_a_too_new_text_names_both_versions);
  tcase_add_test(refusals, F_06_a_missing_compiler_is_named);
  tcase_add_test(refusals, F_05_G_05_wrong_binaries_and_unknown_codes_keep_their_number);
  tcase_add_test(refusals, G_05_each_thread_gets_its_own_error);
  suite_add_tcase(suite, refusals);
  TCase *looking = tcase_create("looking inside");
  tcase_add_test(looking, H_01_every_text_is_dumped_and_every_request_told);
  tcase_add_test(looking, H_01_a_bad_dump_folder_warns_once_and_changes_nothing_else);
  tcase_add_test(looking, H_01_what_cannot_be_put_in_place_is_not_left_behind);
  tcase_add_test(looking, trace_topics_come_from_the_environment_too);
  suite_add_tcase(suite, looking);
  TCase *nth = tcase_create("the n-th fails");
  tcase_set_timeout(nth, 120);
  tcase_add_test(nth, any_allocation_may_fail);
  tcase_add_test(nth, any_driver_call_may_fail);
  suite_add_tcase(suite, nth);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
