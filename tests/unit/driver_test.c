/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the driver, and what its codes mean. */
#define _POSIX_C_SOURCE 200809L
#include "driver.h"

#include <tileptx/runtime.h>

#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Driver libraries to open ---------------------------------------------------------------- */

static const char *module_path(const char *name) {
  static char path[4096];
  const char *build = getenv("top_builddir");
  snprintf(path, sizeof path, "%s/tests/unit/.libs/%s.so", build ? build : ".", name);
  return path;
}

static int *setting(void *module, const char *name) {
  int *place = dlsym(module, name);
  ck_assert_ptr_nonnull(place);
  return place;
}

/* Kept open, so that what is set in it holds while the library under test opens it too. */
static void *fake_driver(void) {
  void *module = dlopen(module_path("fake_driver"), RTLD_NOW | RTLD_LOCAL);
  ck_assert_msg(module != NULL, "%s", dlerror());
  return module;
}

static bool is_open(const char *path) {
  void *module = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (module) dlclose(module);
  return module != NULL;
}

static tptx_status open_with_init_code(int code, tptx_error *error) {
  struct driver driver;
  void *module = fake_driver();
  *setting(module, "fake_driver_init_code") = code;
  tptx_status status = driver_open(&driver, module_path("fake_driver"), NULL, error);
  dlclose(module);
  ck_assert(!is_open(module_path("fake_driver")));
  return status;
}

/* ---- Opening --------------------------------------------------------------------------------- */

START_TEST(G_01_no_driver_comes_with_the_loaders_text) {
  struct driver driver;
  tptx_error error;
  ck_assert_int_eq(driver_open(&driver, "/nonexistent/libcuda.so.1", NULL, &error),
                   TPTX_ERROR_NO_DRIVER);
  ck_assert_int_eq(error.status, TPTX_ERROR_NO_DRIVER);
  ck_assert_ptr_nonnull(strstr(error.message, "/nonexistent/libcuda.so.1"));
  ck_assert_ptr_nonnull(strstr(error.message, "No such file"));
  ck_assert_ptr_nonnull(strstr(error.message, "TILEPTX_DRIVER"));
  ck_assert_ptr_null(driver.library);
}
END_TEST

START_TEST(G_01_stub_and_no_device_have_their_own_status) {
  tptx_error error;
  ck_assert_int_eq(open_with_init_code(34, &error), TPTX_ERROR_STUB_DRIVER);
  ck_assert_int_eq(error.driver_code, 34);
  ck_assert_str_eq(error.driver_function, "cuInit");
  ck_assert_ptr_nonnull(strstr(error.message, "stub"));
  ck_assert_int_eq(open_with_init_code(100, &error), TPTX_ERROR_NO_DEVICE);
  ck_assert_ptr_nonnull(strstr(error.message, "CUDA_VISIBLE_DEVICES"));
  ck_assert_int_eq(open_with_init_code(999, &error), TPTX_ERROR_DRIVER);
  ck_assert_int_eq(error.driver_code, 999);
}
END_TEST

START_TEST(E_17_not_initialized_from_the_start_means_forked) {
  tptx_error error;
  ck_assert_int_eq(open_with_init_code(3, &error), TPTX_ERROR_FORKED);
  ck_assert_int_eq(error.status, TPTX_ERROR_FORKED);
  ck_assert_int_eq(error.driver_code, 3);
  ck_assert_ptr_nonnull(strstr(error.message, "fork"));
}
END_TEST

START_TEST(G_01_a_later_call_may_succeed) {
  struct driver driver;
  ck_assert_int_eq(open_with_init_code(100, NULL), TPTX_ERROR_NO_DEVICE);
  ck_assert_int_eq(driver_open(&driver, module_path("fake_driver"), NULL, NULL), TPTX_OK);
  ck_assert_int_eq(driver.version, 13000);
  ck_assert_int_eq(driver.ptx, 90);
  ck_assert(!driver.emulated);
  ck_assert_ptr_nonnull(strstr(driver.path, "fake_driver.so"));
  driver_close(&driver);
  ck_assert(!is_open(module_path("fake_driver")));
  driver_close(&driver); /* a second time does nothing */
}
END_TEST

START_TEST(a_missing_entry_point_is_named_with_the_drivers_version) {
  struct driver driver;
  tptx_error error;
  ck_assert_int_eq(driver_open(&driver, module_path("old_driver"), NULL, &error),
                   TPTX_ERROR_OLD_DRIVER);
  ck_assert_ptr_nonnull(strstr(error.message, "cuLinkCreate_v2"));
  ck_assert_ptr_nonnull(strstr(error.message, "CUDA 13.0"));
  ck_assert(!is_open(module_path("old_driver")));
  ck_assert_int_eq(driver_open(&driver, "libm.so.6", NULL, &error), TPTX_ERROR_OLD_DRIVER);
  ck_assert_ptr_nonnull(strstr(error.message, "cuInit"));
}
END_TEST

START_TEST(a_driver_that_takes_none_of_our_ptx_is_too_old) {
  struct driver driver;
  tptx_error error;
  void *module = fake_driver();
  *setting(module, "fake_driver_version") = 9020;
  ck_assert_int_eq(driver_open(&driver, module_path("fake_driver"), NULL, &error),
                   TPTX_ERROR_OLD_DRIVER);
  ck_assert_ptr_nonnull(strstr(error.message, "CUDA 9.2"));
  dlclose(module);
}
END_TEST

START_TEST(G_06_only_the_exact_forms_are_looked_up) {
  struct driver driver;
  void *module = fake_driver(), *symbol;
  ck_assert_int_eq(driver_open(&driver, module_path("fake_driver"), NULL, NULL), TPTX_OK);
#define ENTRY(need, name, exact, parameters) \
  symbol = dlsym(module, exact); \
  ck_assert_ptr_nonnull(symbol); \
  ck_assert_int_eq(memcmp(&symbol, &driver.name, sizeof symbol), 0);
#include "driver.def"
  driver.cuLinkCreate(0, NULL, NULL, NULL);
  driver.cuLinkAddData(NULL, 0, NULL, 0, NULL, 0, NULL, NULL);
  driver.cuCtxPushCurrent(NULL);
  driver.cuCtxPopCurrent(NULL);
  ck_assert_int_eq(*setting(module, "fake_driver_wrong_form_calls"), 0);
  driver_close(&driver);
  dlclose(module);
}
END_TEST

START_TEST(the_emulator_is_taken_from_where_it_is_said_to_be) {
  struct driver driver;
  tptx_error error;
  ck_assert_int_eq(driver_open(&driver, "emu", module_path("fake_driver"), NULL), TPTX_OK);
  driver_close(&driver);
  ck_assert_int_eq(driver_open(&driver, "emu", "/nonexistent/emu.so", &error),
                   TPTX_ERROR_NO_DRIVER);
  ck_assert_ptr_nonnull(strstr(error.message, "/nonexistent/emu.so"));
}
END_TEST

/* ---- Codes ----------------------------------------------------------------------------------- */

START_TEST(G_05_a_known_code_says_call_number_name_and_what_to_do) {
  tptx_error error;
  ck_assert_int_eq(driver_check(221, "cuLinkAddData", "kernel x", &error), TPTX_ERROR_NO_COMPILER);
  ck_assert_int_eq(error.status, TPTX_ERROR_NO_COMPILER);
  ck_assert_int_eq(error.driver_code, 221);
  ck_assert_str_eq(error.driver_function, "cuLinkAddData");
  ck_assert_ptr_nonnull(strstr(error.message, "cuLinkAddData answered 221 "
                                              "(CUDA_ERROR_JIT_COMPILER_NOT_FOUND): kernel x; "));
  ck_assert_ptr_nonnull(strstr(error.message, "libnvidia-ptxjitcompiler"));
}
END_TEST

START_TEST(G_05_an_unknown_code_is_a_number) {
  tptx_error error;
  ck_assert_int_eq(driver_check(987, "cuLaunchKernel", NULL, &error), TPTX_ERROR_DRIVER);
  ck_assert_int_eq(error.driver_code, 987);
  ck_assert_ptr_nonnull(strstr(error.message, "cuLaunchKernel answered 987 (an unknown code)"));
  ck_assert_ptr_null(driver_code_name(987));
}
END_TEST

START_TEST(success_is_no_error_and_writes_none) {
  tptx_error error;
  tptx_error_init(&error);
  ck_assert_int_eq(driver_check(0, "cuInit", NULL, &error), TPTX_OK);
  ck_assert_str_eq(error.message, "");
  ck_assert_int_eq(driver_check(2, "cuInit", NULL, NULL), TPTX_ERROR_DRIVER);
}
END_TEST

START_TEST(F_05_codes_that_are_mixed_up_elsewhere_have_their_own_status) {
  static const struct {
    int code;
    tptx_status status;
  } rows[] = {
      {34, TPTX_ERROR_STUB_DRIVER},   {100, TPTX_ERROR_NO_DEVICE},    {201, TPTX_ERROR_NO_CONTEXT},
      {209, TPTX_ERROR_WRONG_BINARY}, {218, TPTX_ERROR_PTX_REJECTED}, {221, TPTX_ERROR_NO_COMPILER},
      {222, TPTX_ERROR_PTX_TOO_NEW},  {223, TPTX_ERROR_NO_COMPILER},  {500, TPTX_ERROR_DRIVER},
      {709, TPTX_ERROR_NO_CONTEXT},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    ck_assert_int_eq(driver_check(rows[i].code, "cuCall", NULL, NULL), rows[i].status);
}
END_TEST

/*
 * A slip in a table is found where a toolkit is installed; nothing else needs one. The header
 * stands down here because its macros give our members other names.
 */
#if defined(__has_include)
#if __has_include(<cuda.h>)
#include <cuda.h>
#endif
#endif

START_TEST(the_tables_agree_with_cuda_h) {
#if defined(CUDA_VERSION) && CUDA_VERSION >= 12000
#define DRIVER_STATUS(code, name, status, advice) \
  ck_assert_int_eq((int)CUDA_ERROR_##name, code); \
  ck_assert_str_eq(driver_code_name(code), "CUDA_ERROR_" #name);
#include "driver_status.def"
  ck_assert_int_eq(DEVICE_COMPUTE_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  ck_assert_int_eq(DEVICE_COMPUTE_CAPABILITY_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  ck_assert_int_eq(FUNCTION_MAX_THREADS, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  ck_assert_int_eq(FUNCTION_SHARED_BYTES, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  ck_assert_int_eq(FUNCTION_CONSTANT_BYTES, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
  ck_assert_int_eq(FUNCTION_LOCAL_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  ck_assert_int_eq(FUNCTION_REGISTERS, CU_FUNC_ATTRIBUTE_NUM_REGS);
  ck_assert_int_eq(FUNCTION_BINARY_VERSION, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  ck_assert_int_eq(JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER);
  ck_assert_int_eq(JIT_ERROR_LOG_BUFFER_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
  ck_assert_int_eq(JIT_INPUT_PTX, CU_JIT_INPUT_PTX);
  ck_assert_int_eq(CAPTURE_MODE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED);
  ck_assert_int_eq(CAPTURE_STATUS_NONE, CU_STREAM_CAPTURE_STATUS_NONE);
  ck_assert_ptr_eq((void *)(size_t)LAUNCH_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_POINTER);
  ck_assert_ptr_eq((void *)(size_t)LAUNCH_BUFFER_BYTES, CU_LAUNCH_PARAM_BUFFER_SIZE);
  ck_assert_ptr_eq((void *)(size_t)LAUNCH_END, CU_LAUNCH_PARAM_END);
#else
  fputs("note: no cuda.h here, the tables are not compared with it\n", stderr);
#endif
}
END_TEST

int main(void) {
  Suite *suite = suite_create("driver");
  TCase *opening = tcase_create("opening");
  tcase_add_test(opening, G_01_no_driver_comes_with_the_loaders_text);
  tcase_add_test(opening, G_01_stub_and_no_device_have_their_own_status);
  tcase_add_test(opening, E_17_not_initialized_from_the_start_means_forked);
  tcase_add_test(opening, G_01_a_later_call_may_succeed);
  tcase_add_test(opening, a_missing_entry_point_is_named_with_the_drivers_version);
  tcase_add_test(opening, a_driver_that_takes_none_of_our_ptx_is_too_old);
  tcase_add_test(opening, G_06_only_the_exact_forms_are_looked_up);
  tcase_add_test(opening, the_emulator_is_taken_from_where_it_is_said_to_be);
  suite_add_tcase(suite, opening);
  TCase *codes = tcase_create("codes");
  tcase_add_test(codes, G_05_a_known_code_says_call_number_name_and_what_to_do);
  tcase_add_test(codes, G_05_an_unknown_code_is_a_number);
  tcase_add_test(codes, success_is_no_error_and_writes_none);
  tcase_add_test(codes, F_05_codes_that_are_mixed_up_elsewhere_have_their_own_status);
  tcase_add_test(codes, the_tables_agree_with_cuda_h);
  suite_add_tcase(suite, codes);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
