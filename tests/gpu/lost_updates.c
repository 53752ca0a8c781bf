/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Updates that meet in an element: none may get lost, none may be torn, no neighbour may change.
 *
 *   C_07   overlapping chunks add ones, 1,000 rounds, u32 s64 f32 f64; small chunks, and chunks so
 *          large that each needs thread blocks of its own
 *   C_08   scopes: what the text says, what is refused, sums at scope block from one thread block
 *   scatter-add: a million rows onto 1,024, u32 s64 f32 f16 bf16, values whose sums are exact in
 *          every order; rows of whole items, rows with an odd edge, rows without any alignment
 *   old values: with fetch, every count is handed out once
 *
 *   lost_updates [--small]     small sizes, as on the emulated driver
 *
 * Exit 0: all right; 1: something differs; 77: no device.
 */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AXES(...) ((const int64_t[]){__VA_ARGS__})

struct lost {
  struct rig rig;
  bool small;
  int passed, failed;
};

static void report(struct lost *l, bool good, const char *name, tptx_type type) {
  printf("%s %s, %s\n", good ? "passed" : "FAILED", name, tptx_type_name(type));
  *(good ? &l->passed : &l->failed) += 1;
}

/* ---- Whole numbers in every type ------------------------------------------------------------- */

/* The pattern of a whole number that the type holds exactly. */
static uint64_t pattern(tptx_type type, int64_t number) {
  double wide = (double)number;
  float narrow = (float)number;
  uint64_t bits64;
  uint32_t bits32;
  memcpy(&bits64, &wide, sizeof bits64);
  memcpy(&bits32, &narrow, sizeof bits32);
  switch (type) {
  case TPTX_F64: return bits64;
  case TPTX_F32: return bits32;
  case TPTX_BF16: return bits32 >> 16;
  case TPTX_F16: /* the exponent moves from bias 127 to 15, the fraction loses zeros */
    if (number == 0) return 0;
    return (bits32 >> 16 & 0x8000) | ((bits32 & 0x7fffffff) - (UINT32_C(112) << 23)) >> 13;
  default: return (uint64_t)number;
  }
}

static void write_number(unsigned char *at, tptx_type type, int64_t number) {
  uint64_t bits = pattern(type, number);
  for (size_t i = 0; i < tptx_type_bytes(type); i++) at[i] = (unsigned char)(bits >> (8 * i));
}

static bool holds_number(const unsigned char *at, tptx_type type, int64_t number) {
  unsigned char wanted[8];
  write_number(wanted, type, number);
  return memcmp(at, wanted, tptx_type_bytes(type)) == 0;
}

static uint64_t hash(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static void *need(size_t count, size_t bytes) {
  void *memory = calloc(count, bytes);
  if (!memory) exit(1);
  return memory;
}

/* ---- C_07 ------------------------------------------------------------------------------------ */

static void describe_overlap(tptx_type type, int64_t unit, tptx_view *view, tptx_op *op,
                             tptx_args *args) {
  tptx_view_strided(view, type, 1, AXES(8 * unit), NULL, AXES(4 * unit), AXES(unit));
  tptx_op_init(op);
  op->operation = TPTX_ATOMIC_ADD;
  op->order = TPTX_ORDER_RELAXED;
  op->scope = TPTX_SCOPE_DEVICE;
  tptx_args_init(args);
  args->count[0] = 5; /* chunks 5 to 7 leave the span */
}

/* Elements of one unit are covered by the same chunks: 1, 2, 3, 4, 4, 3, 2, 1 of them. */
static bool C_07_chunks_that_overlap(struct lost *l, tptx_type type, int64_t unit) {
  static const int covered[] = {1, 2, 3, 4, 4, 3, 2, 1};
  size_t bytes = tptx_type_bytes(type), size = 8 * (size_t)unit * bytes;
  int rounds = 1000;
  unsigned char *tiles = need(20 * (size_t)unit, bytes), *span = need(8 * (size_t)unit, bytes);
  tptx_view view;
  tptx_op op;
  tptx_args args;
  describe_overlap(type, unit, &view, &op, &args);
  if (unit > 1 && l->small) rounds = 10;
  for (int64_t i = 0; i < 20 * unit; i++) write_number(tiles + (size_t)i * bytes, type, 1);
  args.span = rig_put(&l->rig, span, size);
  args.tile = rig_put(&l->rig, tiles, 20 * (size_t)unit * bytes);
  bool good = true;
  for (int round = 0; round < rounds - 1 && good; round++) { /* nothing waits between rounds */
    rig_configure(&l->rig, "block_order", round % 3);
    rig_configure(&l->rig, "seed", round);
    good = tptx_run(l->rig.runtime, &view, &op, &args, NULL, NULL) == TPTX_OK;
  }
  good = good && rig_run(&l->rig, &view, &op, &args);
  rig_get(&l->rig, span, args.span, size);
  for (int64_t i = 0; i < 8 * unit && good; i++)
    good = holds_number(span + (size_t)i * bytes, type, (int64_t)rounds * covered[i / unit]);
  rig_free(&l->rig, args.span);
  rig_free(&l->rig, args.tile);
  free(tiles);
  free(span);
  return good;
}

static bool C_07_chunks_that_leave_the_span_are_refused(struct lost *l, tptx_type type) {
  tptx_view view;
  tptx_op op;
  tptx_args args;
  describe_overlap(type, 1, &view, &op, &args);
  args.count[0] = TPTX_ALL;
  args.span = args.tile = 4096;
  return tptx_run(l->rig.runtime, &view, &op, &args, NULL, NULL) == TPTX_ERROR_PARTIAL_CHUNK;
}

/* ---- C_08 ------------------------------------------------------------------------------------ */

static bool text_has(const tptx_view *view, const tptx_op *op, const char *wanted) {
  tptx_ptx *ptx = NULL;
  if (tptx_emit(view, op, NULL, &ptx, NULL) != TPTX_OK) return false;
  bool good = strstr(tptx_ptx_text(ptx), wanted) && !strstr(tptx_ptx_text(ptx), ".sys");
  tptx_ptx_free(ptx);
  return good;
}

static bool C_08_scopes_are_in_the_text(tptx_type type) {
  tptx_view view;
  tptx_op op;
  tptx_args args;
  describe_overlap(type, 1, &view, &op, &args);
  bool good = text_has(&view, &op, "red.relaxed.gpu.");
  op.scope = TPTX_SCOPE_BLOCK;
  good = good && text_has(&view, &op, "red.relaxed.cta.");
  op.fetch = 1;
  good = good && text_has(&view, &op, "atom.relaxed.cta.");
  op.scope = TPTX_SCOPE_DEVICE;
  good = good && text_has(&view, &op, "atom.relaxed.gpu.");
  op.scope = TPTX_SCOPE_SYSTEM;
  good = good && tptx_plan_check(&view, &op, NULL, NULL) == TPTX_ERROR_SCOPE;
  op.scope = TPTX_SCOPE_DEVICE;
  for (int order = TPTX_ORDER_NONE; order <= TPTX_ORDER_RELEASE; order++) {
    op.order = (tptx_order)order;
    tptx_status status = tptx_plan_check(&view, &op, NULL, NULL);
    good = good && (status == TPTX_OK) == (order == TPTX_ORDER_RELAXED);
  }
  return good;
}

/* One chunk, one thread block: rows that an index array names again and again, at scope block. */
static bool C_08_sums_within_one_block(struct lost *l, tptx_type type) {
  enum { ENTRIES = 512, ROWS = 4, WIDTH = 8 };
  size_t bytes = tptx_type_bytes(type);
  unsigned char *tile = need(ENTRIES * WIDTH, bytes), *span = need(ROWS * WIDTH, bytes);
  int32_t indices[ENTRIES];
  int64_t sums[ROWS] = {0};
  tptx_view view;
  tptx_op op;
  tptx_args args;
  tptx_view_gather_scatter(&view, type, 2, AXES(ROWS, WIDTH), NULL, AXES(ENTRIES, WIDTH), 0);
  tptx_op_init(&op);
  op.operation = TPTX_ATOMIC_ADD;
  op.order = TPTX_ORDER_RELAXED;
  op.scope = TPTX_SCOPE_BLOCK;
  tptx_args_init(&args);
  for (int i = 0; i < ENTRIES; i++) {
    indices[i] = (int32_t)(hash((uint64_t)i) % ROWS);
    sums[indices[i]] += i % 2;
    for (int k = 0; k < WIDTH; k++)
      write_number(tile + (size_t)(i * WIDTH + k) * bytes, type, i % 2);
  }
  args.index_count = ENTRIES;
  args.span = rig_put(&l->rig, span, ROWS * WIDTH * bytes);
  args.tile = rig_put(&l->rig, tile, ENTRIES * WIDTH * bytes);
  args.indices = rig_put(&l->rig, indices, sizeof indices);
  bool good = rig_run(&l->rig, &view, &op, &args);
  rig_get(&l->rig, span, args.span, ROWS * WIDTH * bytes);
  for (int i = 0; i < ROWS * WIDTH && good; i++)
    good = holds_number(span + (size_t)i * bytes, type, sums[i / WIDTH]);
  rig_free(&l->rig, args.span);
  rig_free(&l->rig, args.tile);
  rig_free(&l->rig, args.indices);
  free(tile);
  free(span);
  return good;
}

/* ---- Scatter-add ----------------------------------------------------------------------------- */

struct scatter {
  const char *name;
  int64_t width, pitch; /* of a row of the span */
};

/* The magnitudes that meet in an element stay below 256, what bf16 holds exactly. */
static int64_t addend(tptx_type type, uint64_t number) {
  uint64_t h = hash(number + 77);
  switch (type) {
  case TPTX_U32: return (int64_t)(h & UINT32_MAX);
  case TPTX_S64: return (int64_t)h;
  case TPTX_F32: return (int64_t)(h % 17) - 8;
  default: return h % 8 ? 0 : (h >> 8 & 1) ? 1 : -1;
  }
}

static bool sums_are_right(struct lost *l, const tptx_args *args, tptx_type type,
                           const struct scatter *s, const uint64_t *sums, int64_t targets) {
  size_t bytes = tptx_type_bytes(type), size = (size_t)(targets * s->pitch) * bytes;
  unsigned char *span = need(size, 1);
  bool good = true;
  rig_get(&l->rig, span, args->span, size);
  for (int64_t i = 0; i < targets * s->pitch && good; i++) {
    int64_t column = i % s->pitch;
    uint64_t sum = column < s->width ? sums[i / s->pitch * s->width + column] : 0;
    good = holds_number(span + (size_t)i * bytes, type, (int64_t)sum);
    if (!good) printf("  row %lld, column %lld\n", (long long)(i / s->pitch), (long long)column);
  }
  free(span);
  return good;
}

static bool scatter_add(struct lost *l, tptx_type type, const struct scatter *s) {
  int64_t rows = l->small ? 2000 : 1 << 20, targets = l->small ? 16 : 1024;
  size_t bytes = tptx_type_bytes(type);
  unsigned char *tile = need((size_t)(rows * s->pitch), bytes);
  uint64_t *sums = need((size_t)(targets * s->width), sizeof *sums);
  int32_t *indices = need((size_t)rows, sizeof *indices);
  tptx_view view;
  tptx_op op;
  tptx_args args;
  tptx_view_gather_scatter(&view, type, 2, AXES(targets, s->width), AXES(s->pitch, 1),
                           AXES(16, s->pitch), 0);
  tptx_op_init(&op);
  op.operation = TPTX_ATOMIC_ADD;
  op.order = TPTX_ORDER_RELAXED;
  op.scope = TPTX_SCOPE_DEVICE;
  op.masked = 1;
  tptx_args_init(&args);
  op.tile.tiles = TPTX_TILES_ARRAY;
  for (int64_t i = 0; i < rows; i++) {
    indices[i] = (int32_t)(hash((uint64_t)i) % (uint64_t)targets);
    for (int64_t k = 0; k < s->pitch; k++) {
      int64_t number = addend(type, (uint64_t)(i * s->pitch + k));
      write_number(tile + (size_t)(i * s->pitch + k) * bytes, type, number);
      if (k < s->width) sums[indices[i] * s->width + k] += (uint64_t)number;
    }
  }
  args.tile_extents[0] = rows;
  args.tile_extents[1] = s->pitch;
  args.index_count = rows;
  args.span = rig_allocate(&l->rig, (size_t)(targets * s->pitch) * bytes);
  rig_fill(&l->rig, args.span, 0, (size_t)(targets * s->pitch) * bytes);
  args.tile = rig_put(&l->rig, tile, (size_t)(rows * s->pitch) * bytes);
  args.indices = rig_put(&l->rig, indices, (size_t)rows * sizeof *indices);
  bool good =
      rig_run(&l->rig, &view, &op, &args) && sums_are_right(l, &args, type, s, sums, targets);
  rig_free(&l->rig, args.span);
  rig_free(&l->rig, args.tile);
  rig_free(&l->rig, args.indices);
  free(tile);
  free(sums);
  free(indices);
  return good;
}

/* ---- Old values ------------------------------------------------------------------------------ */

/* Each row counts who comes; the tickets of a row are 0, 1, 2, ... each once. */
static bool every_ticket_is_given_once(struct lost *l) {
  enum { TARGETS = 64 };
  int64_t rows = l->small ? 4000 : 1 << 20;
  uint32_t *tickets = need((size_t)rows, sizeof *tickets);
  unsigned char *given = need((size_t)rows * TARGETS / 8, 1);
  int32_t *indices = need((size_t)rows, sizeof *indices);
  uint32_t counts[TARGETS] = {0};
  tptx_view view;
  tptx_op op;
  tptx_args args;
  tptx_view_gather_scatter(&view, TPTX_U32, 1, AXES(TARGETS), NULL, AXES(128), 0);
  tptx_op_init(&op);
  op.operation = TPTX_ATOMIC_ADD;
  op.order = TPTX_ORDER_RELAXED;
  op.scope = TPTX_SCOPE_DEVICE;
  op.masked = op.fetch = 1;
  op.tile.tiles = TPTX_TILES_ARRAY;
  tptx_args_init(&args);
  for (int64_t i = 0; i < rows; i++) {
    tickets[i] = 1;
    indices[i] = (int32_t)(hash((uint64_t)i) % TARGETS);
  }
  args.tile_extents[0] = args.index_count = rows;
  args.span = rig_put(&l->rig, counts, sizeof counts);
  args.tile = rig_put(&l->rig, tickets, (size_t)rows * sizeof *tickets);
  args.indices = rig_put(&l->rig, indices, (size_t)rows * sizeof *indices);
  bool good = rig_run(&l->rig, &view, &op, &args);
  rig_get(&l->rig, counts, args.span, sizeof counts);
  rig_get(&l->rig, tickets, args.tile, (size_t)rows * sizeof *tickets);
  for (int64_t i = 0; i < rows && good; i++) {
    good = tickets[i] < counts[indices[i]];
    if (!good) break;
    uint64_t bit = (uint64_t)tickets[i] * TARGETS + (uint64_t)indices[i];
    good = (given[bit / 8] >> bit % 8 & 1) == 0;
    given[bit / 8] |= (unsigned char)(1u << bit % 8);
  }
  rig_free(&l->rig, args.span);
  rig_free(&l->rig, args.tile);
  rig_free(&l->rig, args.indices);
  free(tickets);
  free(given);
  free(indices);
  return good;
}

/* ---- The program ----------------------------------------------------------------------------- */

int main(int argc, char **argv) {
  static const tptx_type overlapping[] = {TPTX_U32, TPTX_S64, TPTX_F32, TPTX_F64};
  static const tptx_type scattered[] = {TPTX_U32, TPTX_S64, TPTX_F32, TPTX_F16, TPTX_BF16};
  static const struct scatter scatters[] = {{"scatter-add, whole items", 16, 16},
                                            {"scatter-add, rows with an odd edge", 7, 8},
                                            {"scatter-add, unaligned rows", 7, 7}};
  struct lost l;
  memset(&l, 0, sizeof l);
  int status = rig_open(&l.rig);
  if (status) return status;
  l.small = device_is_emulated(l.rig.device) || (argc > 1 && strcmp(argv[1], "--small") == 0);
  printf("lost updates on %s\n", device_name(l.rig.device));
  for (int i = 0; i < 4; i++) {
    tptx_type type = overlapping[i];
    report(&l, C_07_chunks_that_overlap(&l, type, 1), "C_07_chunks_that_overlap", type);
    report(&l, C_07_chunks_that_overlap(&l, type, 1024), "C_07_large_chunks_that_overlap", type);
    report(&l, C_07_chunks_that_leave_the_span_are_refused(&l, type),
           "C_07_chunks_that_leave_the_span_are_refused", type);
    report(&l, C_08_scopes_are_in_the_text(type), "C_08_scopes_are_in_the_text", type);
    report(&l, C_08_sums_within_one_block(&l, type), "C_08_sums_within_one_block", type);
  }
  for (int i = 0; i < 5; i++) {
    bool old = scattered[i] == TPTX_BF16 && device_sm(l.rig.device) < 90;
    for (int k = 0; k < 3 && !old; k++)
      report(&l, scatter_add(&l, scattered[i], &scatters[k]), scatters[k].name, scattered[i]);
  }
  report(&l, every_ticket_is_given_once(&l), "old values: every ticket once", TPTX_U32);
  rig_close(&l.rig);
  printf("%d passed, %d failed\n", l.passed, l.failed);
  return l.failed != 0;
}
