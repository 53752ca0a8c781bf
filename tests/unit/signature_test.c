/* SPDX-License-Identifier: Apache-2.0 */
/* The signature line: read, written, refused; the key that is made of it. */
#include "key.h"
#include "signature.h"
#include "status.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tileptx/emit.h>

struct pair {
  const char *read, *canonical;
};

static const struct pair pairs[] = {
    {"strided_view:f32:4x11:shape=2x4:strides=1x1:load_masked:pad=nan:target=sm_90",
     "strided_view:f32:4x11:shape=2x4:strides=1x1:load_masked:pad=nan:target=sm_90"},
    {"gather_scatter_view:bf16:_x_:shape=16x256:dim=0:load_masked:tiles=array:indices=s64:target="
     "sm_90",
     "gather_scatter_view:bf16:_x_:shape=16x256:dim=0:load_masked:indices=s64:tiles=array:target="
     "sm_90"},
    {"strided_view:s32:?:load:shape=256", "strided_view:s32:_:shape=256:load:target=sm_80"},
    {"strided_view:f32:4x4:shape=2x2:strides=2x2:load:pad=zero:layout=right:tiles=packed:align=4:"
     "arith=64:allow_tma=1:index=s64:value=f32:indices=s32",
     "strided_view:f32:4x4:shape=2x2:load:target=sm_80"},
    {"strided_view:u8:scalar:shape=scalar:store",
     "strided_view:u8:scalar:shape=scalar:store:target=sm_80"},
    {"strided_view:f16:5x_:target=sm_75:shape=1x8:layout=-10x1:load:ptx=8.1:flight=2:threads=64",
     "strided_view:f16:5x_:shape=1x8:load:layout=-10x1:target=sm_75:ptx=8.1:threads=64:flight=2"},
    {"strided_view:f32:8x8:shape=4x4:load:tiles=array:tile_layout=_x1:latency=3:allow_tma=0",
     "strided_view:f32:8x8:shape=4x4:load:tiles=array:tile_layout=_x1:latency=3:allow_tma=0:target="
     "sm_80"},
    {"strided_view:f32:2147483648:shape=4:load",
     "strided_view:f32:2147483648:shape=4:load:target=sm_80"},
};

static void write_canonical(const char *line, char *out) {
  tptx_view view;
  tptx_op op;
  tptx_target target;
  tptx_error error;
  tptx_error_init(&error);
  ck_assert_msg(tptx_signature_parse(line, &view, &op, &target, &error) == TPTX_OK, "%s: %s", line,
                error.message);
  ck_assert_msg(tptx_signature_format(&view, &op, &target, out, TPTX_MAX_SIGNATURE + 1, &error) ==
                    TPTX_OK,
                "%s: %s", line, error.message);
}

START_TEST(lines_have_one_canonical_form) {
  char line[TPTX_MAX_SIGNATURE + 1], again[TPTX_MAX_SIGNATURE + 1];
  write_canonical(pairs[_i].read, line);
  ck_assert_str_eq(line, pairs[_i].canonical);
  write_canonical(line, again);
  ck_assert_str_eq(again, line);
}
END_TEST

struct bad_line {
  const char *line;
  tptx_status status;
  int position;
  const char *argument;
};

static const struct bad_line bad_lines[] = {
    {"", TPTX_ERROR_SYNTAX, 0, "kind"},
    {"view:f32:4:shape=2:load", TPTX_ERROR_SYNTAX, 0, "kind"},
    {"strided_view", TPTX_ERROR_SYNTAX, 12, ""},
    {"strided_view:f33:4:shape=2:load", TPTX_ERROR_SYNTAX, 13, "type"},
    {"strided_view:f32", TPTX_ERROR_SYNTAX, 16, ""},
    {"strided_view:f32:04:shape=2:load", TPTX_ERROR_SYNTAX, 17, "extents"},
    {"strided_view:f32:-4:shape=2:load", TPTX_ERROR_SYNTAX, 17, "extents"},
    {"strided_view:f32:+4:shape=2:load", TPTX_ERROR_SYNTAX, 17, "extents"},
    {"strided_view:f32:4x:shape=2:load", TPTX_ERROR_SYNTAX, 19, "extents"},
    {"strided_view:f32:9223372036854775808:shape=2:load", TPTX_ERROR_SYNTAX, 17, "extents"},
    {"strided_view:f32:1x2x3x4x5x6x7x8x9:shape=2:load", TPTX_ERROR_RANK, 33, "extents"},
    {"strided_view:f32:4:shape=2x2:load", TPTX_ERROR_RANK, 28, "shape"},
    {"strided_view:f32:4:shape=_:load", TPTX_ERROR_SYNTAX, 25, "shape"},
    {"strided_view:f32:4:shape=2:load:load", TPTX_ERROR_SYNTAX, 32, "operation"},
    {"strided_view:f32:4:shape=2:load:pad=zero:pad=nan", TPTX_ERROR_SYNTAX, 41, "pad"},
    {"strided_view:f32:4:shape=2:load:pad=maybe", TPTX_ERROR_SYNTAX, 36, "pad"},
    {"strided_view:f32:4:shape=2:load:speed=9", TPTX_ERROR_SYNTAX, 32, ""},
    {"strided_view:f32:4:shape=2:load:", TPTX_ERROR_SYNTAX, 32, ""},
    {"strided_view:f32:4:shape=2:LOAD", TPTX_ERROR_SYNTAX, 27, ""},
    {"strided_view:f32:4:shape=2", TPTX_ERROR_SYNTAX, 26, "operation"},
    {"strided_view:f32:4:load", TPTX_ERROR_SYNTAX, 23, "shape"},
    {"strided_view:f32:4:shape=2:load:dim=0", TPTX_ERROR_DIM, 37, "dim"},
    {"gather_scatter_view:f32:4:shape=2:load", TPTX_ERROR_DIM, 38, "dim"},
    {"gather_scatter_view:f32:4:shape=2:load:dim=0:strides=1", TPTX_ERROR_STRIDE, 54, "strides"},
    {"strided_view:f32:4:shape=2:load:target=90", TPTX_ERROR_SYNTAX, 39, "target"},
    {"strided_view:f32:4:shape=2:load:ptx=8", TPTX_ERROR_SYNTAX, 36, "ptx"},
    {"strided_view:f32:4:shape=2:load:layout=-0", TPTX_ERROR_SYNTAX, 39, "layout"},
    {"strided_view:f32:4:shape=2:load:align=99999999999", TPTX_ERROR_SYNTAX, 38, "align"},
    {"strided_view:f32:4:shape=2:load ", TPTX_ERROR_SYNTAX, 27, ""},
};

START_TEST(bad_lines_are_refused_with_their_position) {
  const struct bad_line *bad = &bad_lines[_i];
  tptx_error error;
  tptx_error_init(&error);
  ck_assert_msg(tptx_signature_parse(bad->line, NULL, NULL, NULL, &error) == bad->status,
                "%s: %s, %s", bad->line, tptx_status_name(error.status), error.message);
  ck_assert_msg(error.position == bad->position, "%s: position %d, expected %d: %s", bad->line,
                error.position, bad->position, error.message);
  ck_assert_str_eq(error.argument, bad->argument);
  ck_assert_ptr_nonnull(strstr(error.message, "expected"));
}
END_TEST

START_TEST(a_line_of_1024_bytes_is_the_longest) {
  char line[TPTX_MAX_SIGNATURE + 2];
  memset(line, 'x', sizeof line);
  line[TPTX_MAX_SIGNATURE + 1] = '\0';
  tptx_error error;
  tptx_error_init(&error);
  ck_assert_int_eq(tptx_signature_parse(line, NULL, NULL, NULL, &error), TPTX_ERROR_SYNTAX);
  ck_assert_ptr_nonnull(strstr(error.message, "longer than 1024"));
}
END_TEST

/* A signature in which every field stands for something. */
static void make_full(struct signature *signature) {
  ck_assert_int_eq(
      signature_read("gather_scatter_view:f32:9x8:shape=3x2:dim=0:load:layout=8x1:tiles=array:"
                     "tile_layout=2x1:target=sm_90",
                     signature, NULL),
      TPTX_OK);
  signature->value = signature->type;
  signature->align = 4;
  signature->arith = 64;
  signature->ptx = 90;
}

static void key_of(const struct signature *signature, struct key *key) {
  ck_assert_int_eq(key_make(signature, key, NULL), TPTX_OK);
}

/* The member itself, or the first entry of a list. */
static void raise_by_one(void *member) {
  int32_t value;
  memcpy(&value, member, sizeof value);
  value++;
  memcpy(member, &value, sizeof value);
}

/* One row of fields.def, one change: no list of fields stands here. */
START_TEST(every_field_changes_the_key) {
  struct signature full, changed;
  struct key key, other;
  make_full(&full);
  key_of(&full, &key);
#define FIELD(form, word, member, descriptor, standard) \
  changed = full; \
  raise_by_one(&changed.member); \
  key_of(&changed, &other); \
  ck_assert_msg(!key_equal(&key, &other) && key.hash != other.hash, #member);
#include "fields.def"
#undef FIELD
}
END_TEST

START_TEST(descriptors_and_signature_carry_the_same_fields) {
  struct signature full, back;
  tptx_view view;
  tptx_op op;
  tptx_target target;
  make_full(&full);
  tptx_view_init(&view);
  tptx_op_init(&op);
  tptx_target_init(&target);
  memset(&back, 0, sizeof back);
  signature_to_descriptors(&full, &view, &op, &target);
  signature_from_descriptors(&view, &op, &target, &back);
#define FIELD(form, word, member, descriptor, standard) \
  ck_assert_msg(!memcmp(&full.member, &back.member, sizeof full.member), #member);
#include "fields.def"
#undef FIELD
}
END_TEST

/* E-04: the hash finds, the bytes decide. */
START_TEST(E_04_equal_hashes_are_not_equal_keys) {
  struct signature full;
  struct key key, other;
  make_full(&full);
  key_of(&full, &key);
  full.type = TPTX_S32;
  key_of(&full, &other);
  other.hash = key.hash;
  ck_assert(!key_equal(&key, &other));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("signature");
  TCase *cases = tcase_create("signature");
  tcase_add_loop_test(cases, lines_have_one_canonical_form, 0, sizeof pairs / sizeof *pairs);
  tcase_add_loop_test(cases, bad_lines_are_refused_with_their_position, 0,
                      sizeof bad_lines / sizeof *bad_lines);
  tcase_add_test(cases, a_line_of_1024_bytes_is_the_longest);
  tcase_add_test(cases, every_field_changes_the_key);
  tcase_add_test(cases, descriptors_and_signature_carry_the_same_fields);
  tcase_add_test(cases, E_04_equal_hashes_are_not_equal_keys);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
