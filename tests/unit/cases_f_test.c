/* SPDX-License-Identifier: Apache-2.0 */
/* Targets and versions: texts that an older driver refuses, chips newer than the tables. */
#include "workbench.h"

#include "target.h"
#include "tileptx_emu.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tptx_view view;
static tptx_op op;

static void describe_load(tptx_view_kind kind, tptx_type type, tptx_operation operation,
                          int masked) {
  const int64_t extents[] = {TPTX_DYNAMIC, TPTX_DYNAMIC}, shape[] = {8, 32};
  if (kind == TPTX_STRIDED_VIEW)
    tptx_view_strided(&view, type, 2, extents, NULL, shape, NULL);
  else
    tptx_view_gather_scatter(&view, type, 2, extents, NULL, shape, 0);
  tptx_op_init(&op);
  op.operation = operation;
  op.masked = masked;
}

static int configure(const char *name, int64_t value) {
  int (*entry)(const char *, int64_t) = NULL;
  void *symbol = device_entry_point(bench.device, "tileptx_emu_configure");
  ck_assert_ptr_nonnull(symbol);
  memcpy(&entry, &symbol, sizeof entry);
  return entry(name, value);
}

/* Loads two elements, which any driver that is in order does. */
static void run_small(tptx_runtime *runtime, tptx_kernel **kept) {
  const int64_t extent = 2;
  int32_t got[2], wanted[2] = {0, 1};
  tptx_args args;
  tptx_error error;
  tptx_error_init(&error);
  tptx_view_strided(&view, TPTX_S32, 1, &extent, NULL, &extent, NULL);
  tptx_op_load(&op);
  tptx_args_init(&args);
  args.span = put(wanted, sizeof wanted);
  args.tile = put(NULL, sizeof got);
  tptx_status status = tptx_kernel_get(runtime, &view, &op, kept, &error);
  ck_assert_msg(status == TPTX_OK, "%s\n%s", error.message, error.log);
  ck_assert_int_eq(tptx_launch(*kept, &args, NULL, &error), TPTX_OK);
  ck_assert_int_eq(device_synchronize(bench.device), 0);
  get(got, args.tile, sizeof got);
  expect_s32("load", got, wanted, 2);
}

static tptx_runtime *another_runtime(void) {
  tptx_runtime_options options;
  tptx_runtime *runtime = NULL;
  tptx_error error;
  tptx_error_init(&error);
  tptx_runtime_options_init(&options);
  options.driver = device_driver(bench.device);
  options.read_environment = 0;
  tptx_status status = tptx_runtime_create(&options, &runtime, &error);
  ck_assert_msg(status == TPTX_OK, "%s", error.message);
  return runtime;
}

static const struct {
  int sm, lowest_ptx;
} versions[] = {
    {75, 63},  {80, 70},  {86, 71},  {87, 74},  {89, 78},  {90, 78},
    {100, 86}, {103, 88}, {110, 90}, {120, 87}, {121, 88},
};
enum { VERSIONS = sizeof versions / sizeof *versions };

/* No text carries more than its target needs, least of all the newest version there is. */
START_TEST(F_01_texts_carry_the_lowest_version) {
  int sm = versions[_i].sm;
  for (int type = TPTX_BOOL; type <= TPTX_E5M2; type++)
    for (int bits = 0; bits < 8; bits++) {
      tptx_target target;
      tptx_ptx *ptx = NULL;
      char line[32];
      tptx_target_init(&target);
      target.sm = sm;
      describe_load((tptx_view_kind)(bits & 1), (tptx_type)type, (tptx_operation)(bits >> 1 & 1),
                    bits >> 2);
      tptx_status status = tptx_emit(&view, &op, &target, &ptx, &bench.error);
      ck_assert_msg(status == TPTX_OK, "%s", bench.error.message);
      int version = tptx_ptx_version(ptx);
      ck_assert_int_le(version, versions[_i].lowest_ptx);
      ck_assert_int_le(tptx_ptx_target(ptx), sm);
      snprintf(line, sizeof line, "\n.version %d.%d\n", version / 10, version % 10);
      ck_assert_ptr_nonnull(strstr(tptx_ptx_text(ptx), line));
      snprintf(line, sizeof line, "\n.target sm_%d\n", (int)tptx_ptx_target(ptx));
      ck_assert_ptr_nonnull(strstr(tptx_ptx_text(ptx), line));
      ck_assert_int_ge(version, target_lowest_ptx(tptx_ptx_target(ptx)));
      tptx_ptx_free(ptx);
    }
}
END_TEST

START_TEST(F_01_texts_load_on_a_driver_of_ptx_8_0) {
  tptx_kernel *kernel = NULL;
  tptx_runtime_info info = {.struct_size = sizeof info};
  ck_assert_int_eq(configure("ptx", 80), 0);
  tptx_runtime *runtime = another_runtime();
  ck_assert_int_eq(tptx_runtime_get_info(runtime, &info, NULL), TPTX_OK);
  ck_assert_int_eq(info.ptx, 80);
  run_small(runtime, &kernel);
  ck_assert_int_le(tptx_ptx_version(tptx_kernel_ptx(kernel)), 80);
  tptx_kernel_release(kernel);
  tptx_runtime_destroy(runtime);
}
END_TEST

/* By numbers: as text, "sm_100" sorts before "sm_90". */
START_TEST(F_02_targets_are_compared_as_numbers) {
  for (int i = 0; i < VERSIONS; i++) {
    int sm = versions[i].sm;
    ck_assert_int_eq(target_lowest_ptx(sm), versions[i].lowest_ptx);
    ck_assert_int_eq(target_of_device(sm / 10, sm % 10), sm);
  }
  ck_assert_int_gt(target_of_device(10, 0), target_of_device(9, 0));
  ck_assert_int_eq(target_lowest_ptx(200), 0);
}
END_TEST

START_TEST(F_04_an_unknown_chip_gets_the_newest_target_below_it) {
  ck_assert_int_eq(target_of_device(20, 0), 121);
  ck_assert_int_eq(target_of_device(12, 9), 121);
  ck_assert_int_eq(target_of_device(11, 9), 110);
  ck_assert_int_eq(target_of_device(9, 9), 90);
  ck_assert_int_eq(target_of_device(8, 5), 80);
  ck_assert_int_eq(target_of_device(7, 0), 0);
}
END_TEST

START_TEST(F_04_an_unknown_chip_runs) {
  tptx_kernel *kernel = NULL;
  ck_assert_int_eq(configure("sm", 200), 0);
  tptx_runtime *runtime = another_runtime();
  run_small(runtime, &kernel);
  ck_assert_ptr_nonnull(strstr(tptx_ptx_signature(tptx_kernel_ptx(kernel)), ":target=sm_121"));
  tptx_kernel_release(kernel);
  tptx_runtime_destroy(runtime);
}
END_TEST

static const int devices[] = {75, 80, 89, 90, 120};

START_TEST(F_05_the_target_is_the_devices) {
  tptx_kernel *kernel = NULL;
  char wanted[32];
  ck_assert_int_eq(configure("sm", devices[_i]), 0);
  tptx_runtime *runtime = another_runtime();
  run_small(runtime, &kernel);
  snprintf(wanted, sizeof wanted, ":target=sm_%d", devices[_i]);
  ck_assert_ptr_nonnull(strstr(tptx_ptx_signature(tptx_kernel_ptx(kernel)), wanted));
  tptx_kernel_release(kernel);
  tptx_runtime_destroy(runtime);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cases_f");
  TCase *tests = tcase_create("targets and versions");
  tcase_add_checked_fixture(tests, workbench_open, workbench_close);
  tcase_set_timeout(tests, 60);
  tcase_add_loop_test(tests, F_01_texts_carry_the_lowest_version, 0, VERSIONS);
  tcase_add_test(tests, F_01_texts_load_on_a_driver_of_ptx_8_0);
  tcase_add_test(tests, F_02_targets_are_compared_as_numbers);
  tcase_add_test(tests, F_04_an_unknown_chip_gets_the_newest_target_below_it);
  tcase_add_test(tests, F_04_an_unknown_chip_runs);
  tcase_add_loop_test(tests, F_05_the_target_is_the_devices, 0,
                      (int)(sizeof devices / sizeof *devices));
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
