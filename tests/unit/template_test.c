/* SPDX-License-Identifier: Apache-2.0 */
/* The template language, construct by construct, and its errors. */
#include "template.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct sample {
  const char *text, *rendered;
};

static const struct sample samples[] = {
    {"plain\n", "plain\n"},
    {"${kernel.name} has ${kernel.threads}\n", "move has 256\n"},
    {"$if kernel.yes\na\n$else\nb\n$end\n", "a\n"},
    {"$if !kernel.yes\na\n$else\nb\n$end\n", "b\n"},
    {"$if kernel.no\na\n$end\n", ""},
    {"$if kernel.no\n$if kernel.no\n$else\n$end\n$else\nb\n$end\n", "b\n"},
    {"$each axis\n${axis.k}${axis.comma}\n$end\n", "0,\n1,\n2\n"},
    {"$each axis\n$if axis.first\nfirst\n$end\n$if axis.last\nlast\n$end\n$end\n", "first\nlast\n"},
    {"$each axis\n$each lane\n${axis.k}${lane.n}\n$end\n$end\n", "00\n01\n10\n11\n20\n21\n"},
    {"{${lane: %x${lane.n}}}\n", "{%x0, %x1}\n"},
    {"$each axis\n{${lane: %x${lane.n}_${axis.k}}}\n$end\n",
     "{%x0_0, %x1_0}\n{%x0_1, %x1_1}\n{%x0_2, %x1_2}\n"},
    {"$each none\nx\n$end\n", ""},
    {"$each view.axis\n${axis.k}\n$end\n", "7\n"},
    {"$use other\n", "from other: move\n"},
    {"ab${@8}// c\n", "ab      // c\n"},
    {"abcdefgh${@4}c\n", "abcdefgh c\n"},
    {"cost: $5\n", "cost: $5\n"},
};

struct mistake {
  const char *text, *message;
};

static const struct mistake mistakes[] = {
    {"a\n${kernel.nothing}\n", "template main, line 2: unknown name: \"kernel.nothing\""},
    {"${nobody.k}\n", "unknown name"},
    {"${axis.k}\n", "unknown name"}, /* three records, none of them chosen */
    {"$if kernel.nothing\n$end\n", "unknown flag"},
    {"$each nothing\n$end\n", "unknown list"},
    {"${nothing: x}\n", "unknown list"},
    {"$use nothing\n", "unknown template"},
    {"$use main\n", "unknown template"}, /* without end */
    {"$if kernel.yes\na\n", "$if without $end"},
    {"$each axis\na\n", "$each without $end"},
    {"a\n$end\n", "line 2: out of place"},
    {"$else\n", "out of place"},
    {"$iff kernel.yes\n", "unknown directive"},
    {"${kernel.name\n", "a hole without end"},
    {"${@x}\n", "a column is a number"},
};

static struct template_model make_model(struct record *kernel, struct record *axes,
                                        struct record *lanes, struct record *view_axis) {
  struct template_model model = {0};
  record_text(kernel, "name", "move");
  record_number(kernel, "threads", 256);
  record_number(kernel, "yes", 1);
  record_number(kernel, "no", 0);
  for (int i = 0; i < 3; i++) record_number(&axes[i], "k", i);
  for (int i = 0; i < 2; i++) record_number(&lanes[i], "n", i);
  record_number(view_axis, "k", 7);
  model_list(&model, "kernel", kernel, 1);
  model_list(&model, "axis", axes, 3);
  model_list(&model, "lane", lanes, 2);
  model_list(&model, "none", lanes, 0);
  model_list(&model, "view.axis", view_axis, 1);
  return model;
}

static tptx_status render(const char *text, char *out, size_t capacity, tptx_error *error) {
  struct record kernel = {0}, axes[3] = {{0}}, lanes[2] = {{0}}, view_axis = {0};
  struct template_model model = make_model(&kernel, axes, lanes, &view_axis);
  struct template_source sources[] = {
      {"main", text}, {"other", "from other: ${kernel.name}\n"}, {NULL, NULL}};
  struct strbuf buffer;
  strbuf_fixed(&buffer, out, capacity);
  return template_render(sources, "main", &model, &buffer, error);
}

START_TEST(constructs_render) {
  char out[256];
  tptx_error error;
  tptx_error_init(&error);
  tptx_status status = render(samples[_i].text, out, sizeof out, &error);
  ck_assert_msg(status == TPTX_OK, "%s: %s", samples[_i].text, error.message);
  ck_assert_str_eq(out, samples[_i].rendered);
}
END_TEST

START_TEST(mistakes_are_named_with_their_line) {
  char out[256];
  tptx_error error;
  tptx_error_init(&error);
  ck_assert_msg(render(mistakes[_i].text, out, sizeof out, &error) == TPTX_ERROR_INTERNAL, "%s",
                mistakes[_i].text);
  ck_assert_msg(strstr(error.message, mistakes[_i].message), "%s: %s", mistakes[_i].text,
                error.message);
}
END_TEST

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
  Suite *suite = suite_create("template");
  TCase *cases = tcase_create("template");
  tcase_add_loop_test(cases, constructs_render, 0, sizeof samples / sizeof *samples);
  tcase_add_loop_test(cases, mistakes_are_named_with_their_line, 0,
                      sizeof mistakes / sizeof *mistakes);
  tcase_add_test(cases, text_stops_at_its_limit);
  tcase_add_test(cases, numbers_print_in_full);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
