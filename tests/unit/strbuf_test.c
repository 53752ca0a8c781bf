/* SPDX-License-Identifier: Apache-2.0 */
/* Text with a limit, and numbers in it. */
#include "strbuf.h"

#include <check.h>
#include <stdlib.h>

START_TEST(text_stops_at_its_limit) {
  char memory[8];
  struct strbuf out;
  strbuf_fixed(&out, memory, sizeof memory);
  strbuf_word(&out, "1234567");
  ck_assert(!out.failed);
  strbuf_char(&out, '8');
  ck_assert(out.failed);
  ck_assert_str_eq(memory, "1234567");
}
END_TEST

START_TEST(blanks_stop_at_it_too) {
  char memory[8];
  struct strbuf out;
  strbuf_fixed(&out, memory, sizeof memory);
  strbuf_char(&out, '1');
  strbuf_blanks(&out, 6);
  ck_assert(!out.failed);
  strbuf_blanks(&out, 1);
  ck_assert(out.failed);
  ck_assert_str_eq(memory, "1      ");
}
END_TEST

START_TEST(numbers_print_in_full) {
  char memory[64];
  struct strbuf out;
  strbuf_fixed(&out, memory, sizeof memory);
  strbuf_number(&out, INT64_MIN);
  strbuf_number(&out, INT64_MAX);
  strbuf_number(&out, 0);
  strbuf_hex(&out, 0xdeadbeef, 8);
  ck_assert_str_eq(memory, "-922337203685477580892233720368547758070deadbeef");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("strbuf");
  TCase *cases = tcase_create("strbuf");
  tcase_add_test(cases, text_stops_at_its_limit);
  tcase_add_test(cases, blanks_stop_at_it_too);
  tcase_add_test(cases, numbers_print_in_full);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
