/* SPDX-License-Identifier: Apache-2.0 */
#include "one_row.h"
#include "workbench.h"

#include <check.h>
#include <inttypes.h>
#include <string.h>

void row_view(tptx_view *view, tptx_type type, int count) {
  const int64_t extent = count;
  tptx_view_strided(view, type, 1, &extent, NULL, &extent, NULL);
}

void row_update(tptx_op *op, tptx_operation operation) {
  tptx_op_init(op);
  op->operation = operation;
  op->order = TPTX_ORDER_RELAXED;
  op->scope = TPTX_SCOPE_DEVICE;
}

static void to_bytes(const uint64_t *bits, int count, size_t size, unsigned char *bytes) {
  for (int i = 0; i < count; i++)
    for (size_t k = 0; k < size; k++)
      bytes[(size_t)i * size + k] = (unsigned char)(bits[i] >> 8 * k);
}

static void to_bits(const unsigned char *bytes, int count, size_t size, uint64_t *bits) {
  for (int i = 0; i < count; i++) {
    bits[i] = 0;
    for (size_t k = 0; k < size; k++) bits[i] |= (uint64_t)bytes[(size_t)i * size + k] << 8 * k;
  }
}

void row_run(tptx_type type, const tptx_op *op, int count, uint64_t *memory, uint64_t *tile) {
  tptx_type tile_type = op->tile.type < 0 ? type : (tptx_type)op->tile.type;
  size_t size = tptx_type_bytes(type), tile_size = tptx_type_bytes(tile_type);
  unsigned char span[8 * MOST_IN_A_ROW], operand[8 * MOST_IN_A_ROW];
  tptx_view view;
  tptx_args args;
  ck_assert_int_le(count, MOST_IN_A_ROW);
  row_view(&view, type, count);
  to_bytes(memory, count, size, span);
  to_bytes(tile, count, tile_size, operand);
  tptx_args_init(&args);
  args.span = put(span, (size_t)count * size);
  args.tile = put(operand, (size_t)count * tile_size);
  run_well(&view, op, &args);
  get(span, args.span, (size_t)count * size);
  get(operand, args.tile, (size_t)count * tile_size);
  to_bits(span, count, size, memory);
  to_bits(operand, count, tile_size, tile);
}

void row_updated(tptx_operation operation, tptx_type type, int count, uint64_t *memory,
                 const uint64_t *tile) {
  uint64_t copy[MOST_IN_A_ROW];
  tptx_op op;
  row_update(&op, operation);
  memcpy(copy, tile, (size_t)count * sizeof *copy);
  row_run(type, &op, count, memory, copy);
}

void row_stored(tptx_type from, tptx_type to, int count, const uint64_t *tile, uint64_t *memory) {
  uint64_t copy[MOST_IN_A_ROW];
  tptx_op op;
  tptx_op_store(&op);
  op.tile.type = (int32_t)from;
  memcpy(copy, tile, (size_t)count * sizeof *copy);
  memset(memory, 0x5a, (size_t)count * sizeof *memory);
  row_run(to, &op, count, memory, copy);
}

void expect_bits(const char *what, const uint64_t *got, const uint64_t *wanted, int count) {
  for (int i = 0; i < count; i++)
    ck_assert_msg(got[i] == wanted[i], "%s: element %d is %" PRIx64 ", expected %" PRIx64, what, i,
                  got[i], wanted[i]);
}

void expect_plan(tptx_type type, const tptx_op *op, int sm, tptx_status status, const char *hint) {
  tptx_view view;
  tptx_target target;
  tptx_error error;
  tptx_error_init(&error);
  tptx_target_init(&target);
  target.sm = sm ? sm : 120;
  row_view(&view, type, 4);
  tptx_status got = tptx_plan_check(&view, op, &target, &error);
  ck_assert_msg(got == status, "%s, sm_%d: %s, expected %s: %s", tptx_type_name(type), target.sm,
                tptx_status_name(got), tptx_status_name(status), error.message);
  if (status != TPTX_OK)
    ck_assert_msg(strstr(error.message, hint), "\"%s\" does not say \"%s\"", error.message, hint);
}
