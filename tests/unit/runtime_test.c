/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime from outside: create, get, run, launch, prepare, clear, destroy. */
#define _POSIX_C_SOURCE 200809L
#include "host.h"

#include "runtime_state.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- Options and environment ----------------------------------------------------------------- */

static void expect_create(const tptx_runtime_options *options, tptx_status expected,
                          const char *argument) {
  tptx_runtime *runtime = (tptx_runtime *)&expected;
  tptx_error error;
  tptx_error_init(&error);
  ck_assert_int_eq(tptx_runtime_create(options, &runtime, &error), expected);
  if (expected == TPTX_OK) {
    tptx_runtime_destroy(runtime);
    return;
  }
  ck_assert_ptr_null(runtime);
  ck_assert_int_eq(error.status, expected);
  ck_assert_str_eq(error.argument, argument);
  ck_assert_str_ne(error.message, "");
}

START_TEST(the_environment_fills_what_options_leave_open) {
  setenv("TILEPTX_DRIVER", "/nonexistent/libcuda.so.1", 1);
  expect_create(NULL, TPTX_ERROR_NO_DRIVER, "driver");
  tptx_runtime_options options = host_options();
  expect_create(&options, TPTX_OK, "");
  setenv("TILEPTX_DRIVER", "emu", 1);
  expect_create(NULL, TPTX_OK, "");
  options.driver = ""; /* as good as none */
  expect_create(&options, TPTX_OK, "");
  setenv("TILEPTX_TARGET", "sm_90", 1);
  expect_create(NULL, TPTX_OK, "");
  setenv("TILEPTX_TARGET", "90", 1);
  expect_create(NULL, TPTX_ERROR_TARGET, "TILEPTX_TARGET");
  setenv("TILEPTX_TARGET", "sm_90a", 1);
  expect_create(NULL, TPTX_ERROR_TARGET, "TILEPTX_TARGET");
  options.target.sm = 80;
  expect_create(&options, TPTX_OK, "");
  options.target.sm = 0;
  options.read_environment = 0;
  options.driver = getenv("TILEPTX_EMU_PATH");
  expect_create(&options, TPTX_OK, "");
  unsetenv("TILEPTX_TARGET");
  setenv("TILEPTX_TRACE", "cache,,launch", 1);
  expect_create(NULL, TPTX_OK, "");
  setenv("TILEPTX_TRACE", "cache,everything", 1);
  expect_create(NULL, TPTX_ERROR_INVALID_ARGUMENT, "TILEPTX_TRACE");
}
END_TEST

START_TEST(wrong_options_are_refused) {
  tptx_runtime_options options = host_options();
  options.capacity = -1;
  expect_create(&options, TPTX_ERROR_INVALID_ARGUMENT, "options.capacity");
  options = host_options();
  options.target.sm = 91;
  expect_create(&options, TPTX_ERROR_TARGET, "options.target.sm");
  options = host_options();
  options.target.ptx = 79;
  expect_create(&options, TPTX_ERROR_PTX_VERSION, "options.target.ptx");
  tptx_allocator half = {sizeof half, NULL, NULL, NULL};
  options = host_options();
  options.allocator = &half;
  expect_create(&options, TPTX_ERROR_INVALID_ARGUMENT, "allocator");
  ck_assert_int_eq(tptx_runtime_create(NULL, NULL, NULL), TPTX_ERROR_INVALID_ARGUMENT);
}
END_TEST

START_TEST(an_options_struct_may_be_newer_but_has_no_older_form) {
  struct {
    tptx_runtime_options options;
    uint64_t later;
  } newer = {host_options(), 0};
  newer.options.struct_size = sizeof newer;
  expect_create(&newer.options, TPTX_OK, "");
  newer.later = 1;
  expect_create(&newer.options, TPTX_ERROR_INVALID_ARGUMENT, "runtime_options");
  tptx_runtime_options other = host_options();
  const size_t bad[] = {0, 8, offsetof(tptx_runtime_options, capacity), (size_t)-1};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    other.struct_size = bad[i];
    expect_create(&other, TPTX_ERROR_INVALID_ARGUMENT, "runtime_options");
  }
}
END_TEST

START_TEST(G_01_emission_needs_no_driver) {
  struct small small;
  tptx_ptx *ptx;
  setenv("TILEPTX_DRIVER", "/nonexistent/libcuda.so.1", 1);
  expect_create(NULL, TPTX_ERROR_NO_DRIVER, "driver");
  small_describe(&small, 8);
  ck_assert_int_eq(tptx_emit(&small.view, &small.op, NULL, &ptx, NULL), TPTX_OK);
  tptx_ptx_free(ptx);
  setenv("TILEPTX_DRIVER", "emu", 1); /* the driver has appeared */
  expect_create(NULL, TPTX_OK, "");
}
END_TEST

START_TEST(info_tells_what_was_opened) {
  host_open();
  tptx_runtime *runtime = host_runtime(NULL);
  tptx_runtime_info info = {.struct_size = sizeof info};
  ck_assert_int_eq(tptx_runtime_get_info(runtime, &info, NULL), TPTX_OK);
  ck_assert_int_eq(info.sm, 0);
  ck_assert_int_eq(info.emulated, 1);
  ck_assert_ptr_nonnull(strstr(info.driver_path, "emu"));
  ck_assert_int_ge(info.driver_version, 11000);
  ck_assert_int_ge(info.ptx, 70);
  host_context(0);
  ck_assert_int_eq(tptx_runtime_get_info(runtime, &info, NULL), TPTX_OK);
  ck_assert_int_ge(info.sm, 75);
  info.struct_size = 0;
  ck_assert_int_eq(tptx_runtime_get_info(runtime, &info, NULL), TPTX_ERROR_INVALID_ARGUMENT);
  tptx_runtime_destroy(runtime);
  tptx_runtime_destroy(NULL);
}
END_TEST

/* ---- Requests -------------------------------------------------------------------------------- */

START_TEST(a_kernel_is_built_once_and_launched_often) {
  struct small small;
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  for (int i = 0; i < 3; i++) small_run(runtime, &small);
  tptx_counters counters = host_counters(runtime);
  ck_assert_uint_eq(counters.misses, 1);
  ck_assert_uint_eq(counters.hits, 2);
  ck_assert_uint_eq(counters.builds, 1);
  ck_assert_uint_eq(counters.launches, 3);
  ck_assert_uint_eq(counters.kept, 1);
  counters.struct_size = offsetof(tptx_counters, misses); /* an older caller */
  counters.misses = 77;
  ck_assert_int_eq(tptx_runtime_counters(runtime, &counters, NULL), TPTX_OK);
  ck_assert_uint_eq(counters.misses, 77);
  tptx_runtime_destroy(runtime);
  ck_assert_int_eq(host_modules(), 0);
}
END_TEST

START_TEST(a_hit_makes_two_driver_calls_and_no_allocation) {
  struct counting memory;
  tptx_allocator allocator = counting_allocator(&memory);
  tptx_runtime_options options = host_options();
  struct small small;
  host_open();
  host_context(0);
  options.allocator = &allocator;
  tptx_runtime *runtime = host_runtime(&options);
  small_describe(&small, 8);
  tptx_kernel *kernel = small_get(runtime, &small);
  long calls = host_calls(NULL), current = host_calls("cuCtxGetCurrent");
  long id = host_calls("cuCtxGetId"), allocations = atomic_load(&memory.calls);
  ck_assert_ptr_eq(small_get(runtime, &small), kernel);
  ck_assert_int_eq(host_calls(NULL) - calls, 2);
  ck_assert_int_eq(host_calls("cuCtxGetCurrent") - current, 1);
  ck_assert_int_eq(host_calls("cuCtxGetId") - id, 1);
  ck_assert_int_eq(atomic_load(&memory.calls), allocations);
  tptx_kernel_release(kernel);
  tptx_kernel_release(kernel);
  tptx_kernel_release(NULL);
  tptx_runtime_destroy(runtime);
  ck_assert_int_eq(atomic_load(&memory.outstanding), 0);
}
END_TEST

START_TEST(a_launch_makes_exactly_these_driver_calls) {
  struct counting memory;
  tptx_allocator allocator = counting_allocator(&memory);
  tptx_runtime_options options = host_options();
  struct small small;
  host_open();
  host_context(0);
  options.allocator = &allocator;
  tptx_runtime *runtime = host_runtime(&options);
  small_describe(&small, 8);
  small_place(&small);
  tptx_kernel *kernel = small_get(runtime, &small);
  static const char *const names[] = {"cuCtxGetCurrent", "cuCtxGetId", "cuStreamIsCapturing",
                                      "cuLaunchKernel"};
  long all = host_calls(NULL), before[4], allocations = atomic_load(&memory.calls);
  for (int i = 0; i < 4; i++) before[i] = host_calls(names[i]);
  ck_assert_int_eq(tptx_launch(kernel, &small.args, NULL, NULL), TPTX_OK);
  ck_assert_int_eq(host_calls(NULL) - all, 4);
  for (int i = 0; i < 4; i++) ck_assert_int_eq(host_calls(names[i]) - before[i], 1);
  ck_assert_int_eq(atomic_load(&memory.calls), allocations);
  small_expect_done(&small);
  tptx_kernel_release(kernel);
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(an_empty_box_launches_nothing) {
  struct small small;
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  small_place(&small);
  small.args.count[0] = 0;
  ck_assert_int_eq(tptx_run(runtime, &small.view, &small.op, &small.args, NULL, NULL), TPTX_OK);
  ck_assert_uint_eq(host_counters(runtime).misses, 0); /* not even a kernel was made */
  tptx_kernel *kernel = small_get(runtime, &small);
  long calls = host_calls(NULL);
  ck_assert_int_eq(tptx_launch(kernel, &small.args, NULL, NULL), TPTX_OK);
  ck_assert_int_eq(host_calls(NULL), calls);
  ck_assert_int_eq(tptx_run(runtime, &small.view, &small.op, &small.args, NULL, NULL), TPTX_OK);
  ck_assert_uint_eq(host_counters(runtime).launches, 0);
  small_expect_untouched(&small);
  tptx_kernel_release(kernel);
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(what_is_refused_builds_and_launches_nothing) {
  struct small small, wrong;
  tptx_error error;
  tptx_kernel *kernel = (tptx_kernel *)&small;
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  small_place(&small);
  wrong = small;
  wrong.args.count[0] = 5; /* there are four chunks */
  ck_assert_int_eq(tptx_run(runtime, &wrong.view, &wrong.op, &wrong.args, NULL, &error),
                   TPTX_ERROR_BOX);
  wrong = small;
  wrong.args.tile = 0;
  ck_assert_int_eq(tptx_run(runtime, &wrong.view, &wrong.op, &wrong.args, NULL, &error),
                   TPTX_ERROR_NULL_ADDRESS);
  wrong = small;
  wrong.view.shape[0] = 0;
  ck_assert_int_eq(tptx_run(runtime, &wrong.view, &wrong.op, &wrong.args, NULL, &error),
                   TPTX_ERROR_SHAPE);
  ck_assert_int_eq(tptx_kernel_get(runtime, &wrong.view, &wrong.op, &kernel, &error),
                   TPTX_ERROR_SHAPE);
  ck_assert_ptr_null(kernel);
  tptx_counters counters = host_counters(runtime);
  ck_assert_uint_eq(counters.misses + counters.builds + counters.launches, 0);
  ck_assert_int_eq(host_modules(), 0);
  small_expect_untouched(&small);
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(null_pointers_are_refused_everywhere) {
  struct small small;
  tptx_kernel *kernel;
  const void *data;
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  const tptx_status refused = TPTX_ERROR_INVALID_ARGUMENT;
  small_describe(&small, 8);
  const tptx_view *view = &small.view;
  const tptx_op *op = &small.op;
  ck_assert_int_eq(tptx_kernel_get(NULL, view, op, &kernel, NULL), refused);
  ck_assert_int_eq(tptx_kernel_get(runtime, NULL, op, &kernel, NULL), refused);
  ck_assert_int_eq(tptx_kernel_get(runtime, view, NULL, &kernel, NULL), refused);
  ck_assert_int_eq(tptx_kernel_get(runtime, view, op, NULL, NULL), refused);
  ck_assert_int_eq(tptx_run(NULL, view, op, &small.args, NULL, NULL), refused);
  ck_assert_int_eq(tptx_run(runtime, NULL, op, &small.args, NULL, NULL), refused);
  ck_assert_int_eq(tptx_run(runtime, view, NULL, &small.args, NULL, NULL), refused);
  ck_assert_int_eq(tptx_run(runtime, view, op, NULL, NULL, NULL), refused);
  ck_assert_int_eq(tptx_launch(NULL, &small.args, NULL, NULL), refused);
  kernel = small_get(runtime, &small);
  ck_assert_int_eq(tptx_launch(kernel, NULL, NULL, NULL), refused);
  ck_assert_int_eq(tptx_kernel_binary(kernel, &data, NULL, NULL), refused);
  ck_assert_int_eq(tptx_kernel_get_attributes(kernel, NULL, NULL), refused);
  ck_assert_int_eq(tptx_kernel_get_attributes(NULL, NULL, NULL), refused);
  ck_assert_int_eq(tptx_prepare(NULL, NULL, 0, 0, NULL), refused);
  ck_assert_int_eq(tptx_prepare(runtime, NULL, 1, 0, NULL), refused);
  ck_assert_int_eq(tptx_runtime_counters(runtime, NULL, NULL), refused);
  ck_assert_int_eq(tptx_runtime_get_info(NULL, NULL, NULL), refused);
  ck_assert_ptr_null(tptx_kernel_ptx(NULL));
  tptx_runtime_clear(NULL);
  tptx_kernel_release(kernel);
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(a_kernel_tells_its_text_and_attributes) {
  struct small small;
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  tptx_kernel *kernel = small_get(runtime, &small);
  ck_assert_ptr_nonnull(strstr(tptx_ptx_text(tptx_kernel_ptx(kernel)), ".entry"));
  tptx_kernel_attributes attributes = {.struct_size = sizeof attributes, .local_bytes = -1};
  ck_assert_int_eq(tptx_kernel_get_attributes(kernel, &attributes, NULL), TPTX_OK);
  ck_assert_int_eq(attributes.local_bytes, 0);
  ck_assert_int_ge(attributes.max_threads, tptx_ptx_threads(tptx_kernel_ptx(kernel)));
  ck_assert_int_ge(attributes.binary_version, 75);
  tptx_kernel_release(kernel);
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(a_kernel_outlives_clear_and_the_runtime_while_it_is_held) {
  struct counting memory;
  tptx_allocator allocator = counting_allocator(&memory);
  tptx_runtime_options options = host_options();
  struct small small;
  host_open();
  host_context(0);
  options.allocator = &allocator;
  tptx_runtime *runtime = host_runtime(&options);
  small_describe(&small, 8);
  tptx_kernel *kernel = small_get(runtime, &small);
  tptx_runtime_clear(runtime);
  ck_assert_uint_eq(host_counters(runtime).kept, 0);
  small_launch(kernel, &small);
  tptx_runtime_destroy(runtime);
  small_launch(kernel, &small);
  ck_assert_int_eq(host_modules(), 1);
  tptx_kernel_release(kernel);
  ck_assert_int_eq(host_modules(), 0);
  ck_assert_int_eq(atomic_load(&memory.outstanding), 0);
}
END_TEST

/* ---- Keys ------------------------------------------------------------------------------------ */

START_TEST(E_02_one_field_more_or_less_is_another_kernel) {
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  static const char *const lines[] = {
      "strided_view:s32:_:shape=16:load_masked",
      "strided_view:u32:_:shape=16:load_masked",
      "strided_view:f16:_:shape=16:load_masked",
      "strided_view:bf16:_:shape=16:load_masked",
      "strided_view:f32:_:shape=16:load_masked:pad=nan",
      "strided_view:f32:_:shape=16:load_masked:pad=negative_inf",
      "strided_view:f32:_:shape=16:load_masked:pad=value",
      "strided_view:s32:_:shape=16:strides=2:load_masked",
      "strided_view:s32:_:shape=16:strides=3:load_masked",
      "strided_view:s32:_:shape=16:load_masked:align=16",
      "strided_view:s32:_:shape=16:load_masked:arith=32",
      "strided_view:s32:_:shape=16:load_masked:tiles=array",
      "strided_view:s32:_:shape=16:load_masked:layout=_",
      "strided_view:s32:_:shape=16:load",
      "strided_view:s32:_:shape=16:store",
      "strided_view:s32:64:shape=16:load_masked",
      "strided_view:s32:65:shape=16:load_masked",
      "gather_scatter_view:s32:_x_:shape=4x4:dim=0:load_masked",
      "gather_scatter_view:s32:_x_:shape=4x4:dim=1:load_masked",
      "gather_scatter_view:s32:_x_:shape=4x4:dim=0:load_masked:indices=s64",
  };
  enum { COUNT = sizeof lines / sizeof *lines };
  tptx_kernel *kernels[COUNT];
  for (int i = 0; i < COUNT; i++) {
    struct small small;
    tptx_error error;
    ck_assert_int_eq(tptx_signature_parse(lines[i], &small.view, &small.op, NULL, &error), TPTX_OK);
    kernels[i] = small_get(runtime, &small);
    for (int k = 0; k < i; k++) {
      ck_assert_ptr_ne(kernels[i], kernels[k]);
      ck_assert_str_ne(tptx_ptx_text(kernels[i]->ptx), tptx_ptx_text(kernels[k]->ptx));
      ck_assert_str_ne(tptx_ptx_entry(kernels[i]->ptx), tptx_ptx_entry(kernels[k]->ptx));
    }
  }
  ck_assert_uint_eq(host_counters(runtime).misses, COUNT);
  ck_assert_int_eq(host_modules(), COUNT);
  for (int i = 0; i < COUNT; i++) tptx_kernel_release(kernels[i]);
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(E_02_a_thousand_extents_are_one_kernel) {
  struct small small;
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  small.op.masked = 1;
  small.extent = 1000;
  small_place(&small);
  for (int64_t extent = 1; extent <= 1000; extent++) {
    small.args.extents[0] = extent;
    ck_assert_int_eq(tptx_run(runtime, &small.view, &small.op, &small.args, NULL, NULL), TPTX_OK);
  }
  small_expect_done(&small);
  ck_assert_uint_eq(host_counters(runtime).misses, 1);
  ck_assert_uint_eq(host_counters(runtime).hits, 999);
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(E_04_colliding_hashes_give_right_results) {
  tptx_runtime_options options = host_options();
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(&options);
  runtime->cache.hash_mask = 0xFF;
  for (int round = 0; round < 2; round++)
    for (int64_t shape = 1; shape <= 600; shape++) {
      struct small small;
      small_describe(&small, shape);
      small_run(runtime, &small);
    }
  ck_assert_uint_eq(host_counters(runtime).launches, 1200);
  ck_assert_uint_ge(host_counters(runtime).misses, 600);
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(E_12_modules_stay_within_the_capacity_and_come_back_right) {
  tptx_runtime_options options = host_options();
  host_open();
  host_context(0);
  options.capacity = 5;
  tptx_runtime *runtime = host_runtime(&options);
  for (int round = 0; round < 2; round++)
    for (int64_t shape = 1; shape <= 40; shape++) {
      struct small small;
      small_describe(&small, shape);
      small_run(runtime, &small);
      ck_assert_int_le(host_modules(), 5);
    }
  tptx_counters counters = host_counters(runtime);
  ck_assert_uint_eq(counters.kept, 5);
  ck_assert_uint_eq(counters.evictions, counters.builds - 5);
  tptx_runtime_destroy(runtime);
  ck_assert_int_eq(host_modules(), 0);
}
END_TEST

START_TEST(F_01_the_target_is_what_the_driver_takes_and_options_win) {
  struct small small;
  setenv("TILEPTX_EMU_PTX", "78", 1);
  setenv("TILEPTX_EMU_SM", "86", 1);
  host_open();
  host_context(0);
  tptx_runtime_options options = host_options();
  small_describe(&small, 8);
  for (int fixed = 0; fixed < 2; fixed++) {
    if (fixed) options.target.sm = 80, options.target.ptx = 71;
    tptx_runtime *runtime = host_runtime(&options);
    tptx_kernel *kernel = small_get(runtime, &small);
    const char *line = tptx_ptx_signature(tptx_kernel_ptx(kernel));
    ck_assert_msg(strstr(line, fixed ? ":target=sm_80" : ":target=sm_86") != NULL, "%s", line);
    ck_assert_msg(strstr(line, fixed ? ":ptx=7.1" : ":ptx=7.8") != NULL, "%s", line);
    small_launch(kernel, &small);
    tptx_kernel_release(kernel);
    tptx_runtime_destroy(runtime);
  }
}
END_TEST

/* ---- The exported binary and files ----------------------------------------------------------- */

START_TEST(E_01_E_07_the_exported_binary_is_whole_and_loads) {
  struct small small;
  const void *data;
  size_t bytes;
  void *module, *function;
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  tptx_kernel *kernel = small_get(runtime, &small);
  ck_assert_int_eq(tptx_kernel_binary(kernel, &data, &bytes, NULL), TPTX_OK);
  ck_assert_uint_gt(bytes, 0);
  void *copy = malloc(bytes);
  memcpy(copy, data, bytes);
  char entry[64];
  snprintf(entry, sizeof entry, "%s", tptx_ptx_entry(tptx_kernel_ptx(kernel)));
  tptx_kernel_release(kernel);
  tptx_runtime_destroy(runtime);
  ck_assert_int_eq(host.cuModuleLoadData(&module, copy), 0);
  ck_assert_int_eq(host.cuModuleGetFunction(&function, module, entry), 0);
  free(copy);
}
END_TEST

static int files_in(const char *folder) {
  int count = 0;
  DIR *directory = opendir(folder);
  ck_assert_ptr_nonnull(directory);
  while (readdir(directory)) count++;
  closedir(directory);
  return count - 2;
}

START_TEST(E_08_E_10_no_file_is_written_anywhere_we_are_not_told_to) {
  char folder[] = "/tmp/tileptx-test-XXXXXX";
  struct small small;
  ck_assert_ptr_nonnull(mkdtemp(folder));
  setenv("HOME", folder, 1);
  setenv("TMPDIR", folder, 1);
  setenv("XDG_CACHE_HOME", folder, 1);
  unsetenv("TILEPTX_DUMP_DIR");
  host_open();
  ck_assert_int_eq(chdir(folder), 0);
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  small_run(runtime, &small);
  ck_assert_int_eq(files_in(folder), 0);
  setenv("HOME", "/nonexistent", 1);
  tptx_runtime_clear(runtime);
  small_run(runtime, &small);
  unsetenv("HOME");
  tptx_runtime_clear(runtime);
  small_run(runtime, &small);
  tptx_runtime_destroy(runtime);
  ck_assert_int_eq(files_in(folder), 0);
  ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(H_04_names_are_short_different_and_readable) {
  char names[50][64];
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  for (int i = 0; i < 50; i++) {
    struct small small;
    small_describe(&small, i + 1);
    tptx_kernel *kernel = small_get(runtime, &small); /* the driver found it by this name */
    const char *name = tptx_ptx_entry(tptx_kernel_ptx(kernel));
    ck_assert_uint_lt(strlen(name), 64);
    ck_assert_int_eq(strncmp(name, "tptx_", 5), 0);
    ck_assert_uint_eq(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(name));
    snprintf(names[i], sizeof names[i], "%s", name);
    for (int k = 0; k < i; k++) ck_assert_str_ne(names[i], names[k]);
    tptx_kernel_release(kernel);
  }
  tptx_runtime_destroy(runtime);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("runtime");
  TCase *options = tcase_create("options");
  tcase_add_test(options, the_environment_fills_what_options_leave_open);
  tcase_add_test(options, wrong_options_are_refused);
  tcase_add_test(options, an_options_struct_may_be_newer_but_has_no_older_form);
  tcase_add_test(options, G_01_emission_needs_no_driver);
  tcase_add_test(options, info_tells_what_was_opened);
  suite_add_tcase(suite, options);
  TCase *requests = tcase_create("requests");
  tcase_add_test(requests, a_kernel_is_built_once_and_launched_often);
  tcase_add_test(requests, a_hit_makes_two_driver_calls_and_no_allocation);
  tcase_add_test(requests, a_launch_makes_exactly_these_driver_calls);
  tcase_add_test(requests, an_empty_box_launches_nothing);
  tcase_add_test(requests, what_is_refused_builds_and_launches_nothing);
  tcase_add_test(requests, null_pointers_are_refused_everywhere);
  tcase_add_test(requests, a_kernel_tells_its_text_and_attributes);
  tcase_add_test(requests, a_kernel_outlives_clear_and_the_runtime_while_it_is_held);
  suite_add_tcase(suite, requests);
  TCase *keys = tcase_create("keys");
  tcase_set_timeout(keys, 120);
  tcase_add_test(keys, E_02_one_field_more_or_less_is_another_kernel);
  tcase_add_test(keys, E_02_a_thousand_extents_are_one_kernel);
  tcase_add_test(keys, E_04_colliding_hashes_give_right_results);
  tcase_add_test(keys, F_01_the_target_is_what_the_driver_takes_and_options_win);
  tcase_add_test(keys, E_12_modules_stay_within_the_capacity_and_come_back_right);
  suite_add_tcase(suite, keys);
  TCase *files = tcase_create("files");
  tcase_add_test(files, E_01_E_07_the_exported_binary_is_whole_and_loads);
  tcase_add_test(files, E_08_E_10_no_file_is_written_anywhere_we_are_not_told_to);
  tcase_add_test(files, H_04_names_are_short_different_and_readable);
  suite_add_tcase(suite, files);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
