/* SPDX-License-Identifier: Apache-2.0 */
/* Looking inside: what the driver says about a kernel, and the names that a profile shows. */
#include "workbench.h"

#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tptx_view view;
static tptx_op op;

/* Fifty operations that differ in kind, type, rank, shape, operation or mask. */
static void describe_one(int number) {
  const int64_t extents[] = {64, 64, 64}, shape[] = {2, 4, 8 + number % 7};
  int rank = 1 + number % 3;
  tptx_type type = (tptx_type)(number % 16);
  if (number % 2)
    tptx_view_strided(&view, type, rank, extents, NULL, shape, NULL);
  else
    tptx_view_gather_scatter(&view, type, rank, extents, NULL, shape, rank - 1);
  tptx_op_init(&op);
  op.operation = number / 16 % 2 ? TPTX_STORE : TPTX_LOAD;
  op.masked = number / 32;
}

static tptx_kernel *get_kernel(void) {
  tptx_kernel *kernel = NULL;
  tptx_status status = tptx_kernel_get(bench.runtime, &view, &op, &kernel, &bench.error);
  ck_assert_msg(status == TPTX_OK, "%s\n%s", bench.error.message, bench.error.log);
  return kernel;
}

START_TEST(H_02_attributes_are_the_drivers_own_numbers) {
  for (int i = 0; i < 50; i++) {
    tptx_kernel_attributes attributes = {.struct_size = sizeof attributes};
    describe_one(i);
    tptx_kernel *kernel = get_kernel();
    tptx_status status = tptx_kernel_get_attributes(kernel, &attributes, &bench.error);
    ck_assert_msg(status == TPTX_OK, "%s", bench.error.message);
    ck_assert_int_eq(attributes.local_bytes, 0);
    ck_assert_int_eq(attributes.shared_bytes, 0);
    ck_assert_int_gt(attributes.registers, 0);
    ck_assert_int_le(attributes.registers, 255);
    ck_assert_int_ge(attributes.max_threads, tptx_ptx_threads(tptx_kernel_ptx(kernel)));
    ck_assert_int_eq(attributes.binary_version, device_sm(bench.device));
    tptx_kernel_release(kernel);
  }
}
END_TEST

/* The driver finds the kernel under the name that its text and its handle give. */
START_TEST(H_04_fifty_kernels_have_fifty_names) {
  char names[50][64];
  for (int i = 0; i < 50; i++) {
    describe_one(i);
    tptx_kernel *kernel = get_kernel();
    const tptx_ptx *ptx = tptx_kernel_ptx(kernel);
    const char *entry = tptx_ptx_entry(ptx);
    char declared[96];
    ck_assert_uint_lt(strlen(entry), sizeof names[i]);
    snprintf(names[i], sizeof names[i], "%s", entry);
    snprintf(declared, sizeof declared, ".visible .entry %s(", entry);
    ck_assert_ptr_nonnull(strstr(tptx_ptx_text(ptx), declared));
    ck_assert_msg(strncmp(entry, "tptx_", 5) == 0, "%s", entry);
    ck_assert_ptr_nonnull(strstr(entry, tptx_type_name(view.type)));
    ck_assert_ptr_nonnull(strstr(entry, op.operation == TPTX_LOAD ? "load" : "store"));
    for (const char *at = entry; *at; at++) ck_assert(isalnum((unsigned char)*at) || *at == '_');
    for (int k = 0; k < i; k++) ck_assert_str_ne(names[k], names[i]);
    tptx_kernel_release(kernel);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cases_h");
  TCase *tests = tcase_create("looking inside");
  tcase_add_checked_fixture(tests, workbench_open, workbench_close);
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, H_02_attributes_are_the_drivers_own_numbers);
  tcase_add_test(tests, H_04_fifty_kernels_have_fifty_names);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
