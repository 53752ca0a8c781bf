/* SPDX-License-Identifier: Apache-2.0 */
/* Every status of the public header has its row in status.def, and its number is pinned. */
#include "status.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The statuses as the header declares them: "  TPTX_ERROR_RANK = 102,". */
START_TEST(every_declared_status_has_its_name) {
  char path[4096], text[512], name[64];
  const char *source = getenv("top_srcdir");
  snprintf(path, sizeof path, "%s/include/tileptx/emit.h", source ? source : ".");
  FILE *header = fopen(path, "r");
  ck_assert_msg(header != NULL, "%s", path);
  int declared = 0, number;
  while (fgets(text, sizeof text, header)) {
    if (sscanf(text, " TPTX_ERROR_%63[A-Z_] = %d", name, &number) != 2) continue;
    declared++;
    const char *known = tptx_status_name((tptx_status)number);
    ck_assert_msg(!strncmp(known, "TPTX_ERROR_", 11) && !strcmp(known + 11, name),
                  "%d is %s in the header and %s in status.def", number, name, known);
  }
  fclose(header);
  int named = 0;
  for (number = 1; number < 1000; number++)
    named += strcmp(tptx_status_name((tptx_status)number), "TPTX_ERROR_UNKNOWN") != 0;
  ck_assert_int_eq(named, declared);
  ck_assert_str_eq(tptx_status_name(TPTX_OK), "TPTX_OK");
}
END_TEST

START_TEST(a_refusal_fills_the_whole_record_and_says_when_it_was_cut) {
  tptx_error error;
  memset(&error, 0x5a, sizeof error);
  tptx_status status =
      refuse(&error, (struct fault){TPTX_ERROR_RANK, "rank", 3}, "rank %d, expected %s", 9, "less");
  ck_assert_int_eq(status, TPTX_ERROR_RANK);
  ck_assert_int_eq(error.status, TPTX_ERROR_RANK);
  ck_assert_int_eq(error.axis, 3);
  ck_assert_int_eq(error.position, -1);
  ck_assert_int_eq(error.driver_code, 0);
  ck_assert_str_eq(error.argument, "rank");
  ck_assert_str_eq(error.message, "rank 9, expected less");
  ck_assert_int_eq(error.truncated, 0);
  char wide[2000];
  memset(wide, 'x', sizeof wide - 1);
  wide[sizeof wide - 1] = '\0';
  refuse(&error, (struct fault){TPTX_ERROR_RANK, "rank", 3}, "%s", wide);
  ck_assert_int_eq(error.truncated, 1);
  ck_assert_int_eq(refuse(NULL, (struct fault){TPTX_ERROR_RANK, "", -1}, "x"), TPTX_ERROR_RANK);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("status");
  TCase *cases = tcase_create("status");
  tcase_add_test(cases, every_declared_status_has_its_name);
  tcase_add_test(cases, a_refusal_fills_the_whole_record_and_says_when_it_was_cut);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
