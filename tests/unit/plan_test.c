/* SPDX-License-Identifier: Apache-2.0 */
/* Planning: who moves which element, the divisions, the tables, the text's constancy. */
#define _POSIX_C_SOURCE 200809L
#include "desc.h"
#include "injective.h"
#include "plan.h"
#include "ptx.h"
#include "target.h"

#include <check.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t bound) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(random_state >> 33) % bound;
}

static struct signature read_signature(const char *line) {
  tptx_view view;
  tptx_op op;
  tptx_target target;
  tptx_error error;
  struct signature signature;
  tptx_error_init(&error);
  ck_assert_msg(tptx_signature_parse(line, &view, &op, &target, &error) == TPTX_OK, "%s: %s", line,
                error.message);
  ck_assert_msg(describe(&view, &op, &target, &signature, &error) == TPTX_OK, "%s: %s", line,
                error.message);
  return signature;
}

/* ---- Division -------------------------------------------------------------------------------- */

static uint32_t divide(uint32_t dividend, struct division division) {
  return (uint32_t)((uint64_t)dividend * division.multiplier >> division.shift);
}

START_TEST(division_by_multiplication_is_exact) {
  static const uint32_t corners[] = {1, 2, 3, 5, 7, 641, 65535, 65536, 65537, 1u << 30, INT32_MAX};
  enum { CORNERS = sizeof corners / sizeof *corners };
  for (int i = 0; i < 20000; i++) {
    uint32_t divisor =
        i < CORNERS ? corners[i] : 1 + random_below(INT32_MAX) % (1u << (i % 31 + 1));
    struct division division = division_by(divisor);
    uint32_t last = INT32_MAX / divisor * divisor;
    uint32_t dividends[] = {0,
                            1,
                            divisor - 1,
                            divisor,
                            last - 1,
                            INT32_MAX,
                            last,
                            INT32_MAX - 1,
                            random_below(INT32_MAX)};
    for (size_t k = 0; k < sizeof dividends / sizeof *dividends; k++)
      ck_assert_msg(dividends[k] > INT32_MAX ||
                        divide(dividends[k], division) == dividends[k] / divisor,
                    "%u / %u", dividends[k], divisor);
  }
}
END_TEST

/* ---- Mapping --------------------------------------------------------------------------------- */

/* Marks the elements of every item along one axis as the template deals them out. */
static void mark_axis(const struct plan *plan, int32_t axis, unsigned char *hits) {
  bool fast = axis == plan->fast;
  int32_t flight = axis == plan->moving ? plan->flight : 1;
  int32_t vector = fast ? plan->vector : 1;
  for (int32_t part = 0; part < plan->parts[axis]; part++)
    for (int32_t number = 0; number < flight; number++)
      for (int32_t thread = 0; thread < plan->threads[axis]; thread++) {
        int32_t item = (part * flight + number) * plan->threads[axis] + thread;
        for (int32_t lane = 0; lane < vector; lane++)
          if (item * vector + lane < plan->shape[axis]) hits[item * vector + lane]++;
      }
}

static void check_mapping(const struct plan *plan, const char *line) {
  for (int32_t k = 0; k < plan->rank; k++) {
    unsigned char *hits = calloc((size_t)plan->shape[k], 1);
    mark_axis(plan, k, hits);
    for (int32_t i = 0; i < plan->shape[k]; i++)
      ck_assert_msg(hits[i] == 1, "%s: element %d of axis %d is moved %d times", line, i, k,
                    hits[i]);
    free(hits);
    int32_t reach = plan->parts[k] * plan->threads[k] * (k == plan->moving ? plan->flight : 1);
    ck_assert_msg((reach > plan->items[k]) == (plan->ragged >> k & 1), "%s: axis %d", line, k);
  }
  int32_t busy = plan->tiles_per_block * plan_threads_of_tile(plan);
  ck_assert_msg(busy <= plan->block && plan->block <= 1024 && plan->block % 32 == 0, "%s", line);
}

START_TEST(every_element_of_a_tile_is_moved_once) {
  static const char *const types[] = {"u8", "bf16", "f32", "f64"};
  static const int32_t bytes[] = {1, 2, 4, 8};
  for (int i = 0; i < 3000; i++) {
    char extents[64] = "", shape[64] = "", line[256];
    int type = (int)random_below(4), rank = 1 + (int)random_below(4);
    for (int k = 0; k < rank; k++) {
      size_t at = strlen(shape);
      uint32_t most = rank == 1 ? 5000 : rank == 2 ? 200 : 20;
      uint32_t size = 1 + random_below(most);
      if (random_below(2)) size = (size + 15) / 16 * 16;
      snprintf(shape + at, sizeof shape - at, "%s%u", k ? "x" : "", size);
      strcat(extents, k ? "x_" : "_");
    }
    snprintf(line, sizeof line, "%s:%s:%s:shape=%s:load:align=%d%s",
             i % 3 ? "strided_view" : "gather_scatter_view", types[type], extents, shape,
             i % 2 ? 16 : bytes[type], i % 3 ? "" : ":dim=0");
    struct signature signature = read_signature(line);
    struct plan plan;
    ck_assert_int_eq(plan_make(&signature, &plan, NULL), TPTX_OK);
    check_mapping(&plan, line);
  }
}
END_TEST

START_TEST(quantities_are_aligned_and_do_not_overlap) {
  struct signature signature =
      read_signature("gather_scatter_view:f32:_x_x_x_x_x_x_x_:shape=2x2x2x2x2x2x2x2:dim=3:"
                     "load_masked:pad=value:layout=_x_x_x_x_x_x_x_:tiles=array:"
                     "tile_layout=_x_x_x_x_x_x_x_:indices=u8");
  struct plan plan;
  ck_assert_int_eq(plan_make(&signature, &plan, NULL), TPTX_OK);
  int32_t end = 0;
  for (int32_t i = 0; i < plan.quantity_count; i++) {
    const struct quantity *q = &plan.quantities[i];
    if (q->constant) continue;
    ck_assert_int_ge(q->offset, end);
    ck_assert_int_eq(q->offset % (q->bits / 8), 0);
    end = q->offset + q->bits / 8;
  }
  ck_assert_int_eq(end, plan.parameter_bytes);
  ck_assert_int_le(end, TPTX_MAX_PARAMETER_BYTES);
  ck_assert_int_le(plan.quantity_count, MAX_QUANTITIES);
}
END_TEST

/* ---- Layouts --------------------------------------------------------------------------------- */

static int aliases(int32_t rank, const int64_t *extents, const int64_t *strides) {
  int64_t offsets[512];
  int count = 0;
  int64_t total = 1;
  for (int32_t k = 0; k < rank; k++) total *= extents[k];
  for (int64_t n = 0; n < total; n++) {
    int64_t rest = n, offset = 0;
    for (int32_t k = 0; k < rank; k++, rest /= extents[k - 1])
      offset += rest % extents[k] * strides[k];
    for (int i = 0; i < count; i++)
      if (offsets[i] == offset) return 1;
    offsets[count++] = offset;
  }
  return 0;
}

START_TEST(injective_layouts_are_told_from_aliasing_ones) {
  int proven = 0;
  for (int i = 0; i < 20000; i++) {
    int32_t rank = 1 + (int32_t)random_below(3);
    int64_t extents[3], strides[3];
    for (int32_t k = 0; k < rank; k++) {
      extents[k] = random_below(6);
      strides[k] = (int64_t)random_below(25) - 12;
    }
    int alias = aliases(rank, extents, strides);
    enum injective answer = layout_injective(rank, extents, strides);
    ck_assert(answer != INJECTIVE_YES || !alias);
    ck_assert(answer != INJECTIVE_NO || alias);
    ck_assert_msg(rank > 2 || answer != INJECTIVE_NOT_PROVEN, "two axes are decided exactly");
    proven += answer == INJECTIVE_YES;
  }
  ck_assert_int_gt(proven, 5000);
}
END_TEST

/* ---- Text ------------------------------------------------------------------------------------ */

static char *emit_line(const char *line) {
  tptx_view view;
  tptx_op op;
  tptx_target target;
  tptx_ptx *ptx;
  tptx_error error;
  tptx_error_init(&error);
  ck_assert_int_eq(tptx_signature_parse(line, &view, &op, &target, &error), TPTX_OK);
  ck_assert_msg(tptx_emit(&view, &op, &target, &ptx, &error) == TPTX_OK, "%s", error.message);
  char *text = strdup(tptx_ptx_text(ptx));
  ck_assert_uint_eq(strlen(text), tptx_ptx_text_bytes(ptx));
  tptx_ptx_free(ptx);
  return text;
}

START_TEST(text_depends_on_the_signature_alone) {
  static const char *const line = "gather_scatter_view:f16:_x1000000:shape=4x64:dim=0:load_masked:"
                                  "pad=negative_inf:tiles=array:target=sm_90";
  static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8", "C.UTF-8"};
  char *first = emit_line(line);
  free(emit_line("strided_view:u8:9:shape=4:store:target=sm_75"));
  for (size_t i = 0; i < sizeof locales / sizeof *locales; i++) {
    setlocale(LC_ALL, locales[i]);
    char *again = emit_line(line);
    ck_assert_str_eq(again, first);
    free(again);
  }
  setlocale(LC_ALL, "C");
  for (const char *c = first; *c; c++) ck_assert((*c >= ' ' && *c <= '~') || *c == '\n');
  free(first);
}
END_TEST

START_TEST(hints_change_the_name_but_no_instruction) {
  char *plain = emit_line("strided_view:f32:_x_:shape=4x64:load_masked");
  char *hinted = emit_line("strided_view:f32:_x_:shape=4x64:load_masked:latency=3:allow_tma=0");
  ck_assert_str_eq(strchr(strstr(plain, ".entry"), '('), strchr(strstr(hinted, ".entry"), '('));
  ck_assert_str_ne(plain, hinted);
  free(plain);
  free(hinted);
}
END_TEST

/* H-04: kernel names are valid identifiers below 64 characters that differ and say what they do. */
START_TEST(H_04_entry_names_are_short_different_and_readable) {
  enum { NAMES = 50 };
  char names[NAMES][64];
  for (int i = 0; i < NAMES; i++) {
    char line[200];
    snprintf(line, sizeof line,
             "strided_view:%s:_x_x_x_x_x_:shape=1048576x1x1x1x%dx1:load_masked:tiles=%s",
             i % 2 ? "bf16" : "s32", 1 + i / 4, i / 2 % 2 ? "array" : "packed");
    char *text = emit_line(line);
    const char *entry = strstr(text, ".entry ") + 7;
    size_t bytes = strcspn(entry, "(");
    ck_assert_uint_lt(bytes, 64);
    memcpy(names[i], entry, bytes);
    names[i][bytes] = '\0';
    ck_assert(!strncmp(
        names[i], i % 2 ? "tptx_strided_load_masked_bf16_r6_" : "tptx_strided_load_masked_s32_r6_",
        31));
    ck_assert_uint_eq(strspn(names[i], "abcdefghijklmnopqrstuvwxyz0123456789_"), bytes);
    for (int k = 0; k < i; k++) ck_assert_str_ne(names[k], names[i]);
    free(text);
  }
}
END_TEST

/* The dense pitch beside an extent of 0 is one element; nothing lies there to be misaligned. */
START_TEST(an_operand_without_elements_keeps_every_promise) {
  tptx_view view;
  tptx_op op;
  tptx_args args;
  tptx_ptx *ptx = NULL;
  tptx_binding binding;
  tptx_error error;
  tptx_view_strided(&view, TPTX_U16, 3, (const int64_t[]){8, 8, 8}, NULL,
                    (const int64_t[]){2, 2, 8}, NULL);
  tptx_op_load(&op);
  op.masked = 1;
  op.tile.tiles = TPTX_TILES_ARRAY;
  op.tile.align = 4;
  tptx_args_init(&args);
  args.span = args.tile = 4096;
  args.tile_extents[0] = 8;
  args.tile_extents[1] = 8;
  tptx_binding_init(&binding);
  ck_assert_int_eq(tptx_emit(&view, &op, NULL, &ptx, &error), TPTX_OK);
  ck_assert_msg(tptx_bind(ptx, &args, &binding, &error) == TPTX_OK, "%s", error.message);
  args.tile_extents[2] = 7; /* the pitch is 14 bytes */
  ck_assert_int_eq(tptx_bind(ptx, &args, &binding, &error), TPTX_ERROR_MISALIGNED);
  tptx_ptx_free(ptx);
}
END_TEST

START_TEST(a_caller_with_less_room_gets_what_fits) {
  enum { ROOM = 2 * sizeof(size_t) };
  tptx_view view;
  tptx_op op;
  tptx_args args;
  tptx_ptx *ptx = NULL;
  tptx_binding binding;
  tptx_parameter parameter;
  static const unsigned char behind[sizeof binding] = {0};
  tptx_view_strided(&view, TPTX_F32, 1, (const int64_t[]){8}, NULL, (const int64_t[]){8}, NULL);
  tptx_op_load(&op);
  tptx_args_init(&args);
  args.span = args.tile = 4096;
  memset(&binding, 0, sizeof binding);
  memset(&parameter, 0, sizeof parameter);
  binding.struct_size = parameter.struct_size = ROOM;
  ck_assert_int_eq(tptx_emit(&view, &op, NULL, &ptx, NULL), TPTX_OK);
  ck_assert_int_eq(tptx_bind(ptx, &args, &binding, NULL), TPTX_OK);
  ck_assert_int_eq(tptx_ptx_parameter(ptx, 0, &parameter, NULL), TPTX_OK);
  ck_assert_ptr_nonnull(parameter.name);
  ck_assert_uint_eq(binding.struct_size, ROOM);
  ck_assert_mem_eq((unsigned char *)&binding + ROOM, behind, sizeof binding - ROOM);
  ck_assert_mem_eq((unsigned char *)&parameter + ROOM, behind, sizeof parameter - ROOM);
  tptx_ptx_free(ptx);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("plan");
  TCase *cases = tcase_create("plan");
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, division_by_multiplication_is_exact);
  tcase_add_test(cases, every_element_of_a_tile_is_moved_once);
  tcase_add_test(cases, quantities_are_aligned_and_do_not_overlap);
  tcase_add_test(cases, injective_layouts_are_told_from_aliasing_ones);
  tcase_add_test(cases, text_depends_on_the_signature_alone);
  tcase_add_test(cases, hints_change_the_name_but_no_instruction);
  tcase_add_test(cases, H_04_entry_names_are_short_different_and_readable);
  tcase_add_test(cases, an_operand_without_elements_keeps_every_promise);
  tcase_add_test(cases, a_caller_with_less_room_gets_what_fits);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
