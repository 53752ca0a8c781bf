/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only a GPU with its memory can show: offsets past 2^31 elements (A_01, A_02), reads that
 * stay inside an allocation to the byte (B_05), slices that are contiguous but not aligned (B_07).
 *
 *   large_offsets [--small]     --small leaves out the two cases that take gigabytes, and so does
 *                               the emulated driver: cases_a_test.c has them on small windows
 *
 * Exit 0: all right; 1: something differs; 77: no GPU.
 */
#include "../../tools/device.h"

#include <tileptx/runtime.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AXES(...) ((const int64_t[]){__VA_ARGS__})

struct bench {
  struct device *device;
  tptx_runtime *runtime;
  tptx_view view;
  tptx_op op;
  tptx_args args;
};

static void check(int code, const char *what) {
  if (code == 0) return;
  fprintf(stderr, "%s: driver code %d\n", what, code);
  exit(1);
}

static uint64_t allocate(struct bench *b, size_t bytes) {
  uint64_t address = 0;
  check(device_allocate(b->device, bytes, &address), "allocation");
  return address;
}

static uint64_t put(struct bench *b, const void *contents, size_t bytes) {
  uint64_t address = allocate(b, bytes);
  check(device_write(b->device, address, contents, bytes), "copy to the device");
  return address;
}

/* Runs b->view and brings `bytes` of the tile operand back. */
static bool run(struct bench *b, void *tile, size_t bytes) {
  tptx_error error;
  tptx_error_init(&error);
  b->args.tile = allocate(b, bytes);
  check(device_fill(b->device, b->args.tile, 0x5a, bytes), "fill");
  tptx_status status = tptx_run(b->runtime, &b->view, &b->op, &b->args, NULL, &error);
  int code = device_synchronize(b->device);
  if (status != TPTX_OK || code != 0) {
    printf("  %s: %s (driver: %s)\n", tptx_status_name(status), error.message,
           device_error_name(b->device, code));
    return false;
  }
  check(device_read(b->device, tile, b->args.tile, bytes), "copy from the device");
  device_free(b->device, b->args.tile);
  return true;
}

static void begin_load(struct bench *b) {
  tptx_op_load(&b->op);
  tptx_args_init(&b->args);
}

static void at_chunk(struct bench *b, int rank, const int64_t *index) {
  for (int k = 0; k < rank; k++) {
    b->args.first[k] = index[k];
    b->args.count[k] = 1;
  }
}

/* ---- Cases ----------------------------------------------------------------------------------- */

/* Row 239673 is the last that 31 bits reach, row 255999 lies past 2^31. */
static bool A_01_gather_from_a_table_past_2_to_31(struct bench *b) {
  static const int32_t rows[] = {239673, 255999};
  const int64_t row_bytes = 8960, table = 262144 * row_bytes;
  unsigned char wanted[32], tile[32];
  uint64_t span = allocate(b, (size_t)table);
  check(device_fill(b->device, span, 0xee, (size_t)table), "fill");
  for (int i = 0; i < 32; i++)
    wanted[i] = (unsigned char)((rows[i / 16] * row_bytes + 8944 + i % 16) * 7 + 3);
  for (int i = 0; i < 2; i++)
    check(
        device_write(b->device, span + (uint64_t)(rows[i] * row_bytes + 8944), wanted + 16 * i, 16),
        "copy to the device");
  tptx_view_gather_scatter(&b->view, TPTX_U8, 2, AXES(262144, 8960), NULL, AXES(2, 16), 0);
  begin_load(b);
  at_chunk(b, 2, AXES(0, 8944));
  b->args.span = span;
  b->args.indices = put(b, rows, sizeof rows);
  b->args.index_count = 2;
  bool good = run(b, tile, sizeof tile) && memcmp(tile, wanted, sizeof tile) == 0;
  b->op.masked = 1;
  good = run(b, tile, sizeof tile) && memcmp(tile, wanted, sizeof tile) == 0 && good;
  device_free(b->device, b->args.indices);
  device_free(b->device, span);
  return good;
}

/* With 32-bit offsets the last element's would be negative, and a negative offset passes `< n`. */
static bool A_02_masked_load_past_2_to_31(struct bench *b) {
  const int64_t extent = 3000000001;
  unsigned char last = 171, wanted[128] = {171}, tile[128];
  uint64_t span = allocate(b, (size_t)extent);
  check(device_fill(b->device, span, 0xee, (size_t)extent), "fill");
  check(device_write(b->device, span + 3000000000u, &last, 1), "copy to the device");
  bool good = true;
  for (int dynamic = 0; dynamic < 2; dynamic++) {
    tptx_view_strided(&b->view, TPTX_U8, 1, dynamic ? AXES(TPTX_DYNAMIC) : &extent, NULL, AXES(128),
                      NULL);
    begin_load(b);
    b->op.masked = 1;
    b->args.extents[0] = extent;
    b->args.span = span;
    at_chunk(b, 1, AXES(23437500));
    good = run(b, tile, sizeof tile) && memcmp(tile, wanted, sizeof tile) == 0 && good;
  }
  device_free(b->device, span);
  return good;
}

/* A memory checker sees any byte read past the 28 of this allocation. */
static bool B_05_the_tail_reads_nothing_past_the_end(struct bench *b) {
  const float values[7] = {0, 1, 2, 3, 4, 5, 6}, wanted[4] = {4, 5, 6, 0};
  float tile[4];
  tptx_view_strided(&b->view, TPTX_F32, 1, AXES(7), NULL, AXES(4), NULL);
  begin_load(b);
  b->op.masked = 1;
  at_chunk(b, 1, AXES(1));
  b->args.span = put(b, values, sizeof values);
  bool good = run(b, tile, sizeof tile) && memcmp(tile, wanted, sizeof tile) == 0;
  device_free(b->device, b->args.span);
  return good;
}

/* A misaligned vector access would be error 716, and no later call of this context would work. */
static bool B_07_contiguous_is_not_aligned(struct bench *b) {
  enum { COUNT = 1024 };
  static uint16_t values[COUNT + 1], tile[COUNT];
  for (int i = 0; i <= COUNT; i++) values[i] = (uint16_t)(0x3f80 + i);
  uint64_t block = put(b, values, sizeof values);
  bool good = true;
  for (int round = 0; round < 3; round++) { /* the third meets a warm cache */
    tptx_view_strided(&b->view, TPTX_BF16, 1, AXES(COUNT), NULL, AXES(8), NULL);
    begin_load(b);
    b->op.masked = 1;
    b->args.span = block + (uint64_t)(round % 2 * 2);
    good = run(b, tile, sizeof tile) && memcmp(tile, values + round % 2, sizeof tile) == 0 && good;
  }
  device_free(b->device, block);
  return good;
}

/* ---- The program ----------------------------------------------------------------------------- */

static const struct {
  const char *name;
  bool (*run)(struct bench *);
  bool large;
} cases[] = {
    {"A_01_gather_from_a_table_past_2_to_31", A_01_gather_from_a_table_past_2_to_31, true},
    {"A_02_masked_load_past_2_to_31", A_02_masked_load_past_2_to_31, true},
    {"B_05_the_tail_reads_nothing_past_the_end", B_05_the_tail_reads_nothing_past_the_end, false},
    {"B_07_contiguous_is_not_aligned", B_07_contiguous_is_not_aligned, false},
};

int main(int argc, char **argv) {
  const char *driver = getenv("TILEPTX_DRIVER");
  bool small = argc > 1 && strcmp(argv[1], "--small") == 0;
  char message[256] = "";
  struct bench b;
  tptx_runtime_options options;
  tptx_error error;
  int failed = 0, passed = 0;
  memset(&b, 0, sizeof b);
  tptx_error_init(&error);
  if (driver && (driver[0] == '\0' || strcmp(driver, "cuda") == 0)) driver = NULL;
  if (device_open(driver, 0, &b.device, message, sizeof message) != 0) {
    printf("%s: %s\n", driver ? "failed" : "skipped", message);
    return driver ? 1 : 77;
  }
  tptx_runtime_options_init(&options);
  options.driver = device_driver(b.device);
  options.read_environment = 0;
  if (tptx_runtime_create(&options, &b.runtime, &error) != TPTX_OK) {
    printf("runtime: %s\n", error.message);
    return 1;
  }
  small = small || device_is_emulated(b.device);
  printf("large offsets on %s\n", device_name(b.device));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (small && cases[i].large) continue;
    bool good = cases[i].run(&b);
    printf("%s %s\n", good ? "passed" : "FAILED", cases[i].name);
    *(good ? &passed : &failed) += 1;
  }
  tptx_runtime_destroy(b.runtime);
  device_close(b.device);
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
