/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every pair of types. Where no value can be lost, every value (all patterns of 8- and 16-bit
 * types, edges and some thousands of others of the wider ones) goes through a load, a store and a
 * read-modify-write, and must come out exactly; a NaN must stay one. Every other pair is refused
 * while planning, by a sentence that names both types. Paddings are those of the view's type,
 * converted.
 *
 * Exit 0: all right; 1: something differs; 77: no device.
 */
#include "../reference_values.h"
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  TYPES = TPTX_E5M2 + 1,
  LEGAL_PAIRS = 45, /* of two different types, counted in the table by hand */
  RANDOM_VALUES = 4096,
  MOST_VALUES = 65536 + 64,
  FIRST_SM_OF_EIGHT_BITS = 89
};

struct values {
  uint64_t bits[MOST_VALUES];
  int64_t count;
};

struct check {
  struct rig rig;
  int passed, failed, skipped;
  uint64_t values;
};

static void write_bits(unsigned char *at, size_t bytes, uint64_t bits) {
  for (size_t i = 0; i < bytes; i++) at[i] = (unsigned char)(bits >> (8 * i));
}

static uint64_t read_bits(const unsigned char *at, size_t bytes) {
  uint64_t bits = 0;
  for (size_t i = 0; i < bytes; i++) bits |= (uint64_t)at[i] << (8 * i);
  return bits;
}

static uint64_t random_bits(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state ^ *state >> 29;
}

/* Both sides of every power of two, of either sign; of floats, too, every exponent's ends. */
static void wide_values(tptx_type type, struct values *v) {
  int bits = 8 * (int)tptx_type_bytes(type), fraction = type == TPTX_F64 ? 52 : 23;
  uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1, state = 5;
  v->count = 0;
  for (int i = 0; i < bits; i++) {
    const uint64_t power = UINT64_C(1) << i, four[] = {power - 1, power, 0 - power, ~power};
    for (int k = 0; k < 4; k++) v->bits[v->count++] = four[k] & mask;
  }
  if (reference_is_float(type))
    for (uint64_t exponent = 0; exponent < UINT64_C(1) << (bits - 1 - fraction); exponent++) {
      uint64_t start = exponent << fraction, sign = UINT64_C(1) << (bits - 1);
      const uint64_t four[] = {start, start + 1, start - 1, (start | sign) + 1};
      for (int k = 0; k < 4; k++) v->bits[v->count++] = four[k] & mask;
    }
  for (int i = 0; i < RANDOM_VALUES; i++) v->bits[v->count++] = random_bits(&state) & mask;
}

static void all_values(tptx_type type, struct values *v) {
  int bits = 8 * (int)tptx_type_bytes(type);
  if (bits > 16) {
    wide_values(type, v);
  } else {
    v->count = INT64_C(1) << bits;
    for (int64_t i = 0; i < v->count; i++) v->bits[i] = (uint64_t)i;
  }
  for (int i = 0; i < 3; i++) v->bits[v->count++] = (uint64_t)i; /* the last item is cut off */
}

enum direction { LOADED, STORED, UPDATED };
static const char *const directions[] = {"load", "store", "read-modify-write"};

static tptx_operation update_of(tptx_type type) {
  return reference_is_float(type) ? TPTX_ATOMIC_ADD : TPTX_ATOMIC_XOR;
}

/* A row of `count` elements: the view's type, the operand's, as the direction has it. */
static void describe(enum direction direction, tptx_type from, tptx_type to, int64_t count,
                     tptx_view *view, tptx_op *op) {
  const int64_t shape = 256;
  tptx_view_strided(view, direction == LOADED ? from : to, 1, &count, NULL, &shape, NULL);
  tptx_op_init(op);
  op->tile.type = (int32_t)(direction == LOADED ? to : from);
  op->tile.tiles = TPTX_TILES_ARRAY;
  op->masked = 1;
  op->operation = direction == LOADED ? TPTX_LOAD : TPTX_STORE;
  if (direction != UPDATED) return;
  op->operation = update_of(to);
  op->order = TPTX_ORDER_RELAXED;
  op->scope = TPTX_SCOPE_DEVICE;
}

/* What is updated: -0 in a sum and 0 in an exclusive or leave the other operand as it is. */
static uint64_t neutral(tptx_type type) {
  return reference_is_float(type) ? UINT64_C(1) << (8 * tptx_type_bytes(type) - 1) : 0;
}

static bool right(enum direction direction, tptx_type from, tptx_type to, uint64_t value,
                  uint64_t got) {
  uint64_t wanted =
      from == to && from == TPTX_BOOL ? value != 0 : reference_convert(from, to, value);
  bool any_nan = from != to || direction == UPDATED;
  if (got == wanted) return true;
  if (any_nan && reference_is_nan(to, wanted)) return reference_is_nan(to, got);
  return direction == UPDATED && to == TPTX_F32 &&
         got == reference_update_flushing(update_of(to), neutral(to), wanted);
}

static bool convert(struct check *c, enum direction direction, tptx_type from, tptx_type to,
                    const struct values *v) {
  size_t from_bytes = tptx_type_bytes(from), to_bytes = tptx_type_bytes(to);
  size_t count = (size_t)v->count, wrong = 0;
  unsigned char *source = calloc(count, from_bytes), *target = calloc(count, to_bytes);
  tptx_view view;
  tptx_op op;
  tptx_args args;
  if (!source || !target) exit(1);
  for (size_t i = 0; i < count; i++) {
    write_bits(source + i * from_bytes, from_bytes, v->bits[i]);
    write_bits(target + i * to_bytes, to_bytes, direction == UPDATED ? neutral(to) : 0x5a);
  }
  describe(direction, from, to, v->count, &view, &op);
  tptx_args_init(&args);
  args.tile_extents[0] = v->count;
  uint64_t in = rig_put(&c->rig, source, count * from_bytes);
  uint64_t out = rig_put(&c->rig, target, count * to_bytes);
  args.span = direction == LOADED ? in : out;
  args.tile = direction == LOADED ? out : in;
  bool good = rig_run(&c->rig, &view, &op, &args);
  if (good) rig_get(&c->rig, target, out, count * to_bytes);
  for (size_t i = 0; i < count && good; i++) {
    uint64_t got = read_bits(target + i * to_bytes, to_bytes);
    if (right(direction, from, to, v->bits[i], got)) continue;
    if (wrong++ == 0)
      printf("%s, %s to %s: %llx becomes %llx, expected %llx\n", directions[direction],
             tptx_type_name(from), tptx_type_name(to), (unsigned long long)v->bits[i],
             (unsigned long long)got, (unsigned long long)reference_convert(from, to, v->bits[i]));
  }
  if (!good || wrong)
    printf("FAILED %s, %s to %s: %zu of %zu values\n", directions[direction], tptx_type_name(from),
           tptx_type_name(to), wrong, count);
  if (good) c->values += count;
  rig_free(&c->rig, in);
  rig_free(&c->rig, out);
  free(source);
  free(target);
  return good && wrong == 0;
}

/* One element, then seven that are padding. */
static bool pad(struct check *c, tptx_type from, tptx_type to) {
  static const struct {
    tptx_pad pad;
    uint16_t f16; /* the same number as an f16, which converts to all that take this padding */
  } pads[] = {{TPTX_PAD_ZERO, 0},
              {TPTX_PAD_POSITIVE_INF, 0x7c00},
              {TPTX_PAD_NEGATIVE_INF, 0xfc00},
              {TPTX_PAD_NAN, 0x7e00}};
  const int64_t one = 1, shape = 8;
  size_t bytes = tptx_type_bytes(to);
  bool infinities = from == TPTX_F16 || from == TPTX_BF16 || from == TPTX_F32 || from == TPTX_F64;
  unsigned char tile[64];
  bool good = true;
  for (int i = 0; i < (infinities ? 4 : 1) && good; i++) {
    tptx_view view;
    tptx_op op;
    tptx_args args;
    tptx_view_strided(&view, from, 1, &one, NULL, &shape, NULL);
    tptx_op_load(&op);
    op.masked = 1;
    op.pad = pads[i].pad;
    op.tile.type = (int32_t)to;
    tptx_args_init(&args);
    args.span = rig_put(&c->rig, (const unsigned char[8]){0}, 8);
    args.tile = rig_allocate(&c->rig, sizeof tile);
    rig_fill(&c->rig, args.tile, 0x5a, sizeof tile);
    good = rig_run(&c->rig, &view, &op, &args);
    rig_get(&c->rig, tile, args.tile, sizeof tile);
    uint64_t wanted =
        i == 3 ? reference_quiet_nan(to) : reference_convert(TPTX_F16, to, pads[i].f16);
    if (i == 0) wanted = 0;
    for (size_t k = 1; k < 8; k++) good = good && read_bits(tile + k * bytes, bytes) == wanted;
    if (!good)
      printf("FAILED padding %d, %s to %s: %llx, expected %llx\n", i, tptx_type_name(from),
             tptx_type_name(to), (unsigned long long)read_bits(tile + bytes, bytes),
             (unsigned long long)wanted);
    rig_free(&c->rig, args.span);
    rig_free(&c->rig, args.tile);
  }
  return good;
}

static bool is_refused(enum direction direction, tptx_type from, tptx_type to) {
  tptx_view view;
  tptx_op op;
  tptx_target target;
  tptx_error error;
  char word[32];
  tptx_error_init(&error);
  tptx_target_init(&target);
  target.sm = 120;
  describe(direction, from, to, 16, &view, &op);
  tptx_status status = tptx_plan_check(&view, &op, &target, &error);
  bool good = status == TPTX_ERROR_CONVERSION && strcmp(error.argument, "value") == 0;
  snprintf(word, sizeof word, " %s to %s", tptx_type_name(from), tptx_type_name(to));
  good = good && strstr(error.message, word);
  if (!good)
    printf("FAILED %s, %s to %s must be refused: %s: %s\n", directions[direction],
           tptx_type_name(from), tptx_type_name(to), tptx_status_name(status), error.message);
  return good;
}

static void tally(struct check *c, bool good) {
  *(good ? &c->passed : &c->failed) += 1;
}

static void legal_pair(struct check *c, tptx_type from, tptx_type to, const struct values *v) {
  bool eight_bits = from != to && (from == TPTX_E4M3 || from == TPTX_E5M2);
  if (eight_bits && device_sm(c->rig.device) < FIRST_SM_OF_EIGHT_BITS) {
    c->skipped++;
    return;
  }
  tally(c, convert(c, LOADED, from, to, v));
  tally(c, convert(c, STORED, from, to, v));
  tally(c, pad(c, from, to));
  if (!reference_takes(update_of(to), to)) return;
  bool old = to == TPTX_BF16 && device_sm(c->rig.device) < 90;
  if (!old) tally(c, convert(c, UPDATED, from, to, v));
}

static void illegal_pair(struct check *c, tptx_type from, tptx_type to) {
  tally(c, is_refused(LOADED, from, to));
  tally(c, is_refused(STORED, from, to));
  if (reference_takes(update_of(to), to)) tally(c, is_refused(UPDATED, from, to));
}

int main(void) {
  static struct check c;
  static struct values values;
  int legal = 0, illegal = 0;
  int status = rig_open(&c.rig);
  if (status) return status;
  printf("conversions on %s\n", device_name(c.rig.device));
  for (int from = 0; from < TYPES; from++) {
    all_values((tptx_type)from, &values);
    for (int to = 0; to < TYPES; to++) {
      bool possible = reference_converts((tptx_type)from, (tptx_type)to);
      legal += from != to && possible;
      illegal += !possible;
      if (possible)
        legal_pair(&c, (tptx_type)from, (tptx_type)to, &values);
      else
        illegal_pair(&c, (tptx_type)from, (tptx_type)to);
    }
  }
  if (legal != LEGAL_PAIRS) printf("FAILED: %d pairs convert, expected %d\n", legal, LEGAL_PAIRS);
  c.failed += legal != LEGAL_PAIRS;
  rig_close(&c.rig);
  printf("%d pairs convert (%d not on this device), %d are refused; %llu values\n", legal,
         c.skipped, illegal, (unsigned long long)c.values);
  printf("%d passed, %d failed\n", c.passed, c.failed);
  return c.failed != 0;
}
