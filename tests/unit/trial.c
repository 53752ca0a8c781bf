/* SPDX-License-Identifier: Apache-2.0 */
#include "trial.h"

#include "reference.h"
#include "workbench.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 16 };

void trial_begin(struct trial *t, tptx_view_kind kind, tptx_operation operation, bool masked) {
  static const int64_t extents[] = {6, 8}, shape[] = {2, 4}, rows[] = {5, 0, 3, 1};
  memset(t, 0, sizeof *t);
  tptx_op_init(&t->op);
  tptx_args_init(&t->args);
  tptx_view_init(&t->view);
  t->view.kind = kind;
  trial_shape(t, TPTX_S32, 2, extents, shape);
  t->op.operation = operation;
  t->op.masked = masked;
  if (operation >= TPTX_ATOMIC_LOAD) {
    t->op.order = TPTX_ORDER_RELAXED;
    t->op.scope = TPTX_SCOPE_DEVICE;
  }
  if (kind == TPTX_STRIDED_VIEW) return;
  t->args.index_count = 4;
  memcpy(t->entries, rows, sizeof rows);
}

void trial_shape(struct trial *t, tptx_type type, int rank, const int64_t *extents,
                 const int64_t *shape) {
  if (t->view.kind == TPTX_STRIDED_VIEW)
    tptx_view_strided(&t->view, type, rank, extents, NULL, shape, NULL);
  else
    tptx_view_gather_scatter(&t->view, type, rank, extents, NULL, shape, t->view.dim);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

struct images {
  unsigned char span[MOST_BYTES], tile[MOST_BYTES], indices[8 * MOST_ENTRIES];
};

struct sizes {
  size_t span, tile, indices; /* bytes */
};

/* Strides below zero are none of this file's. */
static struct sizes sizes_of(const struct trial *t) {
  int64_t extents[TPTX_MAX_RANK], strides[TPTX_MAX_RANK], count[TPTX_MAX_RANK], last = 0;
  int64_t elements = reference_box(&t->view, &t->args, count);
  reference_span_layout(&t->view, &t->args, extents, strides);
  for (int k = 0; k < t->view.rank; k++) {
    if (extents[k] > 0) last += (extents[k] - 1) * strides[k];
    elements *= t->view.shape[k];
  }
  if (elements <= 0) elements = 1;
  struct sizes sizes = {
      (size_t)(last + 1) * tptx_type_bytes(t->view.type),
      (size_t)elements * tptx_type_bytes(reference_tile_type(&t->view, &t->op)),
      (size_t)t->args.index_count * tptx_type_bytes(t->op.indices.type),
  };
  ck_assert_uint_le(sizes.span, MOST_BYTES);
  ck_assert_uint_le(sizes.tile, MOST_BYTES);
  return sizes;
}

static void noise(unsigned char *bytes, size_t count, uint64_t seed) {
  for (size_t i = 0; i < count; i++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    bytes[i] = (unsigned char)(seed >> 56);
  }
}

static void write_entries(const struct trial *t, unsigned char *at) {
  size_t size = tptx_type_bytes(t->op.indices.type);
  for (int64_t i = 0; i < t->args.index_count; i++)
    for (size_t byte = 0; byte < size; byte++)
      *at++ = (unsigned char)((uint64_t)t->entries[i] >> (8 * byte));
}

/* The images before, on the device, too; args gets the addresses. */
static void place(const struct trial *t, const struct sizes *sizes, struct images *images,
                  tptx_args *args) {
  *args = t->args;
  noise(images->span, sizes->span, 1);
  noise(images->tile, sizes->tile, 2);
  write_entries(t, images->indices);
  args->span = put(images->span, sizes->span);
  args->tile = put(images->tile, sizes->tile);
  args->indices = sizes->indices ? put(images->indices, sizes->indices) : 0;
}

/* What lies on the device must be this; then it is freed. */
static void expect_images(const struct sizes *sizes, const struct images *wanted,
                          const tptx_args *args, int allocations) {
  static struct images got;
  get(got.span, args->span, sizes->span);
  get(got.tile, args->tile, sizes->tile);
  for (size_t i = 0; i < sizes->span; i++)
    ck_assert_msg(got.span[i] == wanted->span[i], "byte %zu of the span is %02x, expected %02x", i,
                  got.span[i], wanted->span[i]);
  for (size_t i = 0; i < sizes->tile; i++)
    ck_assert_msg(got.tile[i] == wanted->tile[i], "byte %zu of the tiles is %02x, expected %02x", i,
                  got.tile[i], wanted->tile[i]);
  while (bench.allocation_count > allocations)
    device_free(bench.device, bench.allocations[--bench.allocation_count]);
}

void trial_run(const struct trial *t) {
  static struct images images;
  int allocations = bench.allocation_count;
  struct sizes sizes = sizes_of(t);
  tptx_args args;
  place(t, &sizes, &images, &args);
  run_well(&t->view, &t->op, &args);
  ck_assert(reference_run(
      &t->view, &t->op, &args,
      (struct reference_memory){images.span, images.tile, sizes.indices ? images.indices : NULL}));
  expect_images(&sizes, &images, &args, allocations);
}

void trial_refused(const struct trial *t, tptx_status status, int axis) {
  static struct images images;
  int allocations = bench.allocation_count;
  struct trial whole =
      *t; /* its box may be nonsense: memory for the box of the whole index space */
  tptx_args args;
  memcpy(whole.args.first, (int64_t[TPTX_MAX_RANK]){0}, sizeof whole.args.first);
  for (int k = 0; k < TPTX_MAX_RANK; k++) whole.args.count[k] = TPTX_ALL;
  struct sizes sizes = sizes_of(&whole);
  place(t, &sizes, &images, &args);
  tptx_status got = run(&t->view, &t->op, &args);
  ck_assert_msg(got == status, "%s, expected %s: %s", tptx_status_name(got),
                tptx_status_name(status), bench.error.message);
  ck_assert_msg(bench.error.axis == axis, "axis %d, expected %d: %s", bench.error.axis, axis,
                bench.error.message);
  expect_images(&sizes, &images, &args, allocations);
}

/* ---- Planning and text ----------------------------------------------------------------------- */

void trial_planned(const struct trial *t, int sm, tptx_status status) {
  tptx_target target;
  tptx_target_init(&target);
  tptx_error_init(&bench.error);
  target.sm = sm ? sm : 120;
  tptx_status got = tptx_plan_check(&t->view, &t->op, &target, &bench.error);
  ck_assert_msg(got == status, "%s with a tile operand of %s for sm_%d: %s, expected %s: %s",
                tptx_type_name(t->view.type),
                tptx_type_name(t->op.tile.type < 0 ? t->view.type : (tptx_type)t->op.tile.type),
                target.sm, tptx_status_name(got), tptx_status_name(status), bench.error.message);
}

static tptx_ptx *text_of(const struct trial *t) {
  tptx_ptx *ptx = NULL;
  tptx_target target;
  tptx_target_init(&target);
  target.sm = 90;
  tptx_status status = tptx_emit(&t->view, &t->op, &target, &ptx, &bench.error);
  ck_assert_msg(status == TPTX_OK, "%s", bench.error.message);
  return ptx;
}

bool trial_says(const struct trial *t, const char *words) {
  tptx_ptx *ptx = text_of(t);
  bool says = strstr(tptx_ptx_text(ptx), words) != NULL;
  tptx_ptx_free(ptx);
  return says;
}

/* The next line that is neither a comment nor the one with the kernel's name; NULL at the end. */
static const char *next_line(const char **text, size_t *length) {
  while (**text) {
    const char *line = *text, *end = strchr(line, '\n');
    *length = end ? (size_t)(end - line) : strlen(line);
    *text = line + *length + (end != NULL);
    if (strncmp(line, "//", 2) != 0 && strncmp(line, ".visible", 8) != 0) return line;
  }
  return NULL;
}

void trial_same_code(const struct trial *t, const struct trial *other) {
  tptx_ptx *one = text_of(t), *two = text_of(other);
  const char *left = tptx_ptx_text(one), *right = tptx_ptx_text(two);
  for (;;) {
    size_t left_length = 0, right_length = 0;
    const char *a = next_line(&left, &left_length), *b = next_line(&right, &right_length);
    if (!a && !b) break;
    ck_assert_msg(a && b && left_length == right_length && memcmp(a, b, left_length) == 0,
                  "other code: %.*s", (int)left_length, a ? a : "(end)");
  }
  tptx_ptx_free(one);
  tptx_ptx_free(two);
}
