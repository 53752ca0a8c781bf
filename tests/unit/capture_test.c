/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime while the host captures streams, and what it does with a stream. */
#define _POSIX_C_SOURCE 200809L
#include "host.h"

#include "runtime_state.h"

#include <string.h>

static tptx_status run(tptx_runtime *runtime, const struct small *small, void *stream,
                       tptx_error *error) {
  return tptx_run(runtime, &small->view, &small->op, &small->args, stream, error);
}

/* ---- Capture --------------------------------------------------------------------------------- */

enum { CAPTURE_GLOBAL = 0, CAPTURE_THREAD_LOCAL = 1 };

static void *begin_capture(int mode) {
  void *stream = host_stream();
  ck_assert_int_eq(host.cuStreamBeginCapture(stream, mode), 0);
  return stream;
}

static void end_and_launch(void *stream) {
  void *graph, *executable;
  ck_assert_int_eq(host.cuStreamEndCapture(stream, &graph), 0);
  ck_assert_int_eq(host.cuGraphInstantiate(&executable, graph, 0), 0);
  ck_assert_int_eq(host.cuGraphLaunch(executable, stream), 0);
}

START_TEST(E_18_an_unprepared_kernel_is_refused_and_the_capture_lives) {
  struct small prepared, fresh;
  tptx_error error;
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&prepared, 8);
  small_describe(&fresh, 9);
  small_place(&prepared);
  small_place(&fresh);
  ck_assert_int_eq(run(runtime, &prepared, NULL, NULL), TPTX_OK);
  small_place(&prepared);
  void *stream = begin_capture(CAPTURE_GLOBAL);
  ck_assert_int_eq(run(runtime, &fresh, stream, &error), TPTX_ERROR_CAPTURING);
  ck_assert_ptr_nonnull(strstr(error.message, "tptx_prepare"));
  ck_assert_uint_eq(host_counters(runtime).misses, 1);
  ck_assert_int_eq(run(runtime, &prepared, stream, &error), TPTX_OK);
  end_and_launch(stream);
  small_expect_done(&prepared);
  small_expect_untouched(&fresh);
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(E_18_compiling_in_a_capture_leaves_it_valid) {
  tptx_runtime_options options = host_options();
  host_open();
  host_context(0);
  options.compile_in_capture = 1;
  options.capacity = 1; /* so that an unload falls into the capture, too */
  tptx_runtime *runtime = host_runtime(&options);
  struct small old, fresh;
  small_describe(&old, 8);
  small_run(runtime, &old);
  small_describe(&fresh, 9);
  for (int mode = CAPTURE_GLOBAL; mode <= CAPTURE_THREAD_LOCAL; mode++) {
    tptx_runtime_clear(runtime);
    small_run(runtime, &old);
    small_place(&fresh);
    uint64_t evictions = host_counters(runtime).evictions;
    void *stream = begin_capture(mode);
    ck_assert_int_eq(run(runtime, &fresh, stream, NULL), TPTX_OK);
    end_and_launch(stream);
    small_expect_done(&fresh);
    ck_assert_uint_eq(host_counters(runtime).evictions, evictions + 1);
  }
  tptx_runtime_destroy(runtime);
}
END_TEST

/* Of the calling thread; exchanged twice, it is as before. */
static int capture_mode(void) {
  int mode = CAPTURE_GLOBAL, before;
  host.cuThreadExchangeStreamCaptureMode(&mode);
  before = mode;
  host.cuThreadExchangeStreamCaptureMode(&mode);
  return before;
}

static int mode_at_load = -1;

static int note_mode_and_load(void **module, const void *image) {
  mode_at_load = capture_mode();
  return host.cuModuleLoadData(module, image);
}

/* Today's driver allows a load in any mode, older ones do not. */
START_TEST(E_18_loads_run_in_the_relaxed_mode) {
  struct small small;
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  runtime->driver.cuModuleLoadData = note_mode_and_load;
  small_describe(&small, 8);
  ck_assert_int_eq(capture_mode(), CAPTURE_GLOBAL);
  tptx_kernel_release(small_get(runtime, &small));
  ck_assert_int_eq(mode_at_load, CAPTURE_MODE_RELAXED);
  ck_assert_int_eq(capture_mode(), CAPTURE_GLOBAL);
  tptx_runtime_destroy(runtime);
  ck_assert_int_eq(capture_mode(), CAPTURE_GLOBAL);
}
END_TEST

START_TEST(E_18_a_captured_kernel_is_not_unloaded_for_room) {
  tptx_runtime_options options = host_options();
  struct small captured, other;
  void *graph, *executable;
  host_open();
  host_context(0);
  options.capacity = 2;
  tptx_runtime *runtime = host_runtime(&options);
  small_describe(&captured, 8);
  small_place(&captured);
  tptx_kernel *kernel = small_get(runtime, &captured);
  void *stream = begin_capture(CAPTURE_GLOBAL);
  ck_assert_int_eq(tptx_launch(kernel, &captured.args, stream, NULL), TPTX_OK);
  ck_assert_int_eq(host.cuStreamEndCapture(stream, &graph), 0);
  tptx_kernel_release(kernel);
  for (int64_t shape = 9; shape < 20; shape++) {
    small_describe(&other, shape);
    small_run(runtime, &other);
  }
  ck_assert_int_eq(host.cuGraphInstantiate(&executable, graph, 0), 0);
  ck_assert_int_eq(host.cuGraphLaunch(executable, stream), 0);
  small_expect_done(&captured);
  tptx_runtime_clear(runtime);
  ck_assert_int_eq(host_modules(), 0);
  tptx_runtime_destroy(runtime);
}
END_TEST

START_TEST(a_launch_that_would_break_a_capture_is_refused_before) {
  struct small small;
  tptx_error error;
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  tptx_kernel *kernel = small_get(runtime, &small);
  small_place(&small);
  host_fail("cuStreamIsCapturing", 1, 906);
  long launches = host_calls("cuLaunchKernel");
  ck_assert_int_eq(tptx_launch(kernel, &small.args, NULL, &error), TPTX_ERROR_DRIVER);
  ck_assert_int_eq(error.driver_code, 906);
  ck_assert_str_eq(error.driver_function, "cuStreamIsCapturing");
  ck_assert_int_eq(host_calls("cuLaunchKernel"), launches);
  tptx_kernel_release(kernel);
  tptx_runtime_destroy(runtime);
}
END_TEST

/* ---- Streams --------------------------------------------------------------------------------- */

static void *launched_on;

static int note_stream(void *function, unsigned int grid_x, unsigned int grid_y,
                       unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                       unsigned int block_z, unsigned int shared_bytes, void *stream,
                       void **parameters, void **extra) {
  ck_assert_ptr_nonnull(function);
  ck_assert_uint_gt(grid_x, 0);
  ck_assert_uint_gt(block_x, 0);
  ck_assert_uint_eq(grid_y * grid_z * block_y * block_z, 1);
  ck_assert_uint_eq(shared_bytes, 0);
  ck_assert_ptr_null(parameters);
  ck_assert_ptr_nonnull(extra);
  launched_on = stream;
  return 0;
}

static int note_capture(void *stream, int *state) {
  launched_on = stream;
  *state = 0;
  return 0;
}

START_TEST(G_03_the_stream_is_passed_on_untouched) {
  struct small small;
  host_open();
  host_context(0);
  tptx_runtime *runtime = host_runtime(NULL);
  small_describe(&small, 8);
  small_place(&small);
  runtime->driver.cuLaunchKernel = note_stream;
  runtime->driver.cuStreamIsCapturing = note_capture;
  void *streams[] = {NULL, (void *)1, (void *)2, host_stream()};
  for (int i = 0; i < 4; i++) {
    launched_on = &small;
    ck_assert_int_eq(run(runtime, &small, streams[i], NULL), TPTX_OK);
    ck_assert_ptr_eq(launched_on, streams[i]);
  }
  tptx_runtime_destroy(runtime);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("capture");
  TCase *captures = tcase_create("capture");
  tcase_add_test(captures, E_18_an_unprepared_kernel_is_refused_and_the_capture_lives);
  tcase_add_test(captures, E_18_compiling_in_a_capture_leaves_it_valid);
  tcase_add_test(captures, E_18_loads_run_in_the_relaxed_mode);
  tcase_add_test(captures, E_18_a_captured_kernel_is_not_unloaded_for_room);
  tcase_add_test(captures, a_launch_that_would_break_a_capture_is_refused_before);
  tcase_add_test(captures, G_03_the_stream_is_passed_on_untouched);
  suite_add_tcase(suite, captures);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
