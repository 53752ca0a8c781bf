/* SPDX-License-Identifier: Apache-2.0 */
/* Elements as text, and back: what `tileptx run` prints and reads. */
#include "values.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char message[256];

static int read_back(tptx_type type, const char *text, uint64_t *bits) {
  return value_read(type, text, strlen(text), bits, message, sizeof message);
}

static void expect_read(tptx_type type, const char *text, uint64_t expected) {
  uint64_t bits = 0;
  ck_assert_msg(read_back(type, text, &bits) == 0, "%s: %s", text, message);
  ck_assert_msg(bits == expected, "%s %s gave %llx, expected %llx", tptx_type_name(type), text,
                (unsigned long long)bits, (unsigned long long)expected);
}

static void expect_refused(tptx_type type, const char *text) {
  uint64_t bits = 0;
  ck_assert_msg(read_back(type, text, &bits) != 0, "%s was taken for a %s", text,
                tptx_type_name(type));
}

static void expect_printed(tptx_type type, uint64_t bits, const char *expected) {
  char text[VALUE_TEXT];
  value_print(type, bits, text);
  ck_assert_str_eq(text, expected);
}

/* Decimals and bit patterns; a NaN comes back as a NaN. */
static void expect_round_trip(tptx_type type, uint64_t bits) {
  char text[VALUE_TEXT];
  value_print_bits(type, bits, text);
  expect_read(type, text, bits);
  value_print(type, bits, text);
  if (strcmp(text, "nan") != 0) {
    expect_read(type, text, bits);
  } else {
    uint64_t again = 0;
    ck_assert_int_eq(read_back(type, text, &again), 0);
    expect_printed(type, again, "nan");
  }
}

START_TEST(every_pattern_of_16_bits_survives_text) {
  const tptx_type types[] = {TPTX_F16, TPTX_BF16, TPTX_S16, TPTX_U16};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    for (uint64_t bits = 0; bits <= 0xffff; bits++) expect_round_trip(types[i], bits);
}
END_TEST

START_TEST(every_pattern_of_8_bits_survives_text) {
  const tptx_type types[] = {TPTX_E4M3, TPTX_E5M2, TPTX_S8, TPTX_U8};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    for (uint64_t bits = 0; bits <= 0xff; bits++) expect_round_trip(types[i], bits);
}
END_TEST

static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state ^ *state >> 33;
}

START_TEST(random_patterns_of_32_and_64_bits_survive_text) {
  uint64_t state = 1;
  for (int i = 0; i < 20000; i++) {
    uint64_t bits = next_random(&state);
    expect_round_trip(TPTX_F64, bits);
    expect_round_trip(TPTX_S64, bits);
    expect_round_trip(TPTX_U64, bits);
    expect_round_trip(TPTX_F32, bits & UINT32_MAX);
    expect_round_trip(TPTX_S32, bits & UINT32_MAX);
    expect_round_trip(TPTX_U32, bits & UINT32_MAX);
    expect_round_trip(TPTX_TF32, bits & (UINT32_MAX << 13) & UINT32_MAX);
  }
}
END_TEST

START_TEST(f32_is_read_as_the_c_library_reads_it) {
  uint64_t state = 2;
  for (int i = 0; i < 20000; i++) {
    char text[64];
    double value = (double)(int64_t)next_random(&state) * 0x1p-70;
    snprintf(text, sizeof text, "%.*g", 3 + i % 15, value);
    float nearest = strtof(text, NULL);
    uint32_t bits;
    memcpy(&bits, &nearest, sizeof bits);
    expect_read(TPTX_F32, text, bits);
  }
}
END_TEST

START_TEST(known_values_have_known_patterns) {
  expect_read(TPTX_F16, "1", 0x3c00);
  expect_read(TPTX_F16, "-65504", 0xfbff);
  expect_read(TPTX_F16, "6.103515625e-05", 0x0400);
  expect_read(TPTX_F16, "5.9604644775390625e-08", 0x0001);
  expect_read(TPTX_BF16, "1", 0x3f80);
  expect_read(TPTX_BF16, "3.140625", 0x4049);
  expect_read(TPTX_TF32, "1", 0x3f800000);
  expect_read(TPTX_TF32, "1.0009765625", 0x3f802000);
  expect_read(TPTX_F32, "0.1", 0x3dcccccd);
  expect_read(TPTX_F64, "0.1", 0x3fb999999999999a);
  expect_read(TPTX_E4M3, "1", 0x38);
  expect_read(TPTX_E4M3, "448", 0x7e);
  expect_read(TPTX_E4M3, "0.001953125", 0x01);
  expect_read(TPTX_E5M2, "1", 0x3c);
  expect_read(TPTX_E5M2, "57344", 0x7b);
  expect_read(TPTX_E5M2, "0.0000152587890625", 0x01);
  expect_read(TPTX_F16, "nan", 0x7e00);
  expect_read(TPTX_BF16, "nan", 0x7fc0);
  expect_read(TPTX_F32, "nan", 0x7fc00000);
  expect_read(TPTX_F64, "nan", 0x7ff8000000000000);
  expect_read(TPTX_E4M3, "nan", 0x7f);
  expect_read(TPTX_E5M2, "-inf", 0xfc);
  expect_read(TPTX_F32, "-inf", 0xff800000);
  expect_read(TPTX_F64, "-0", 0x8000000000000000);
}
END_TEST

/* The double nearest to these texts is a tie of the narrow type; the text is not, or not quite. */
START_TEST(a_decimal_is_rounded_once) {
  expect_read(TPTX_F16, "1.00048828125", 0x3c00);
  expect_read(TPTX_F16, "1.0004882812500000000000000000000001", 0x3c01);
  expect_read(TPTX_F16, "1.0014648437499999999999999999999999", 0x3c01);
  expect_read(TPTX_F16, "1.00146484375", 0x3c02);
  expect_read(TPTX_F16, "0.000000029802322387695312500", 0x0000);
  expect_read(TPTX_F16, "0.000000029802322387695312501", 0x0001);
  expect_read(TPTX_F16, "2.98023223876953125000000000000000001e-8", 0x0001);
  expect_read(TPTX_BF16, "1.00390625000000000000000000000000000001e0", 0x3f81);
  expect_read(TPTX_F32, "16777217", 0x4b800000);
  expect_read(TPTX_F32, "16777217.0000000000000000000000000001", 0x4b800001);
  expect_read(TPTX_F16, "65519.99999999999999999999999999", 0x7bff);
  expect_refused(TPTX_F16, "65520");
  expect_read(TPTX_E4M3, "464", 0x7e);
  expect_refused(TPTX_E4M3, "464.00000000000000000000000000000000001");
  expect_read(TPTX_F16, "1e-400", 0x0000);
  expect_read(TPTX_F64, "1e-400", 0x0000);
}
END_TEST

START_TEST(decimals_are_short_and_whole_numbers_are_exact) {
  expect_printed(TPTX_F32, 0x3dcccccd, "0.1");
  expect_printed(TPTX_F64, 0x3fb999999999999a, "0.1");
  expect_printed(TPTX_F32, 0x7f7fffff, "3.4028235e+38");
  expect_printed(TPTX_F32, 0x00000001, "1e-45");
  expect_printed(TPTX_F16, 0x7bff, "65504");
  expect_printed(TPTX_F16, 0x0001, "6e-08");
  expect_printed(TPTX_BF16, 0x4641, "12352");
  expect_printed(TPTX_F32, 0xc0200000, "-2.5");
  expect_printed(TPTX_F32, 0x80000000, "-0");
  expect_printed(TPTX_F32, 0xffc00000, "nan");
  expect_printed(TPTX_F64, 0x430c6bf526340000, "1000000000000000");
  expect_printed(TPTX_F64, 0x4341c37937e08000, "1e+16");
  expect_printed(TPTX_TF32, 0x3f800001, "1.0000001");
  expect_printed(TPTX_BOOL, 0x02, "1");
}
END_TEST

START_TEST(what_a_type_cannot_hold_is_refused) {
  const char *const nothing[] = {"",   "-",   "+1",   " 1",   "1 ",     "1,5",      "--1",
                                 "0x", "0xg", "0x-1", "-0x1", "nan(1)", "infinity", "1e1x"};
  const tptx_type types[] = {TPTX_S32, TPTX_F32, TPTX_E4M3, TPTX_BOOL};
  for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++)
      expect_refused(types[t], nothing[i]);
  expect_refused(TPTX_F32, "1e");
  expect_refused(TPTX_F32, ".");
  expect_refused(TPTX_F32, "1.2.3");
  expect_refused(TPTX_F32, "1e39");
  expect_refused(TPTX_F64, "1e309");
  expect_refused(TPTX_F64, "1e99999999999999999999");
  expect_refused(TPTX_E4M3, "inf");
  expect_refused(TPTX_F16, "0x10000");
  expect_refused(TPTX_U64, "0x10000000000000000");
  expect_refused(TPTX_U64, "18446744073709551616");
  expect_refused(TPTX_S64, "9223372036854775808");
  expect_refused(TPTX_S64, "-9223372036854775809");
  expect_refused(TPTX_S8, "128");
  expect_refused(TPTX_S8, "-129");
  expect_refused(TPTX_U8, "-1");
  expect_refused(TPTX_S32, "1.0");
  expect_refused(TPTX_S32, "nan");
  expect_refused(TPTX_BOOL, "2");
  expect_read(TPTX_S8, "-128", 0x80);
  expect_read(TPTX_S64, "-9223372036854775808", UINT64_C(1) << 63);
  expect_read(TPTX_U64, "18446744073709551615", UINT64_MAX);
  expect_read(TPTX_BOOL, "0x02", 0x02);
}
END_TEST

START_TEST(iota_wraps_rounds_and_saturates) {
  ck_assert_uint_eq(value_iota(TPTX_U8, 258), 2);
  ck_assert_uint_eq(value_iota(TPTX_S8, 129), 0x81);
  ck_assert_uint_eq(value_iota(TPTX_BOOL, 3), 1);
  ck_assert_uint_eq(value_iota(TPTX_U32, (UINT64_C(1) << 32) + 7), 7);
  ck_assert_uint_eq(value_iota(TPTX_F16, 2049), 0x6800);
  ck_assert_uint_eq(value_iota(TPTX_F16, 2051), 0x6802);
  ck_assert_uint_eq(value_iota(TPTX_F16, 65519), 0x7bff);
  ck_assert_uint_eq(value_iota(TPTX_F16, 65520), 0x7c00);
  ck_assert_uint_eq(value_iota(TPTX_BF16, 257), 0x4380);
  ck_assert_uint_eq(value_iota(TPTX_TF32, 2049), 0x45000000);
  ck_assert_uint_eq(value_iota(TPTX_E4M3, 1000000), 0x7e);
  ck_assert_uint_eq(value_iota(TPTX_E5M2, 1000000), 0x7b);
}
END_TEST

START_TEST(memory_is_little_endian) {
  unsigned char memory[8] = {0};
  value_store(TPTX_U32, memory, 0x04030201);
  ck_assert_uint_eq(memory[0], 1);
  ck_assert_uint_eq(memory[3], 4);
  ck_assert_uint_eq(memory[4], 0);
  ck_assert_uint_eq(value_load(TPTX_U16, memory + 1), 0x0302);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("values");
  TCase *tests = tcase_create("values");
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, every_pattern_of_16_bits_survives_text);
  tcase_add_test(tests, every_pattern_of_8_bits_survives_text);
  tcase_add_test(tests, random_patterns_of_32_and_64_bits_survive_text);
  tcase_add_test(tests, f32_is_read_as_the_c_library_reads_it);
  tcase_add_test(tests, known_values_have_known_patterns);
  tcase_add_test(tests, a_decimal_is_rounded_once);
  tcase_add_test(tests, decimals_are_short_and_whole_numbers_are_exact);
  tcase_add_test(tests, what_a_type_cannot_hold_is_refused);
  tcase_add_test(tests, iota_wraps_rounds_and_saturates);
  tcase_add_test(tests, memory_is_little_endian);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
