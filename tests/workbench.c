/* SPDX-License-Identifier: Apache-2.0 */
#include "workbench.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct workbench bench;

void workbench_open(void) {
  char message[256] = "";
  tptx_runtime_options options;
  const char *driver = getenv("TILEPTX_DRIVER");
  memset(&bench, 0, sizeof bench);
  tptx_error_init(&bench.error);
  int code = device_open(driver ? driver : "emu", 0, &bench.device, message, sizeof message);
  ck_assert_msg(code == 0, "device: %s", message);
  tptx_runtime_options_init(&options);
  options.driver = device_driver(bench.device);
  options.read_environment = 0;
  tptx_status status = tptx_runtime_create(&options, &bench.runtime, &bench.error);
  ck_assert_msg(status == TPTX_OK, "runtime: %s", bench.error.message);
}

void workbench_close(void) {
  for (int i = 0; i < bench.allocation_count; i++) device_free(bench.device, bench.allocations[i]);
  tptx_runtime_destroy(bench.runtime);
  device_close(bench.device);
}

uint64_t put(const void *contents, size_t bytes) {
  uint64_t address = 0;
  ck_assert_int_lt(bench.allocation_count, 32);
  ck_assert_int_eq(device_allocate(bench.device, bytes, &address), 0);
  bench.allocations[bench.allocation_count++] = address;
  int code = contents ? device_write(bench.device, address, contents, bytes)
                      : device_fill(bench.device, address, 0x5a, bytes);
  ck_assert_int_eq(code, 0);
  return address;
}

void get(void *contents, uint64_t address, size_t bytes) {
  ck_assert_int_eq(device_read(bench.device, contents, address, bytes), 0);
}

tptx_status run(const tptx_view *view, const tptx_op *op, const tptx_args *args) {
  tptx_error_init(&bench.error);
  tptx_status status = tptx_run(bench.runtime, view, op, args, NULL, &bench.error);
  int code = device_synchronize(bench.device);
  ck_assert_msg(code == 0, "driver: %s", device_error_name(bench.device, code));
  return status;
}

void run_well(const tptx_view *view, const tptx_op *op, const tptx_args *args) {
  tptx_status status = run(view, op, args);
  ck_assert_msg(status == TPTX_OK, "%s: %s: %s\n%s", tptx_status_name(status), bench.error.argument,
                bench.error.message, bench.error.log);
}

void at_chunk(tptx_args *args, int rank, const int64_t *index) {
  for (int k = 0; k < rank; k++) {
    args->first[k] = index[k];
    args->count[k] = 1;
  }
}

void iota_s32(int32_t *values, int count) {
  for (int i = 0; i < count; i++) values[i] = i;
}

void expect_s32(const char *what, const int32_t *got, const int32_t *wanted, int count) {
  for (int i = 0; i < count; i++)
    ck_assert_msg(got[i] == wanted[i], "%s: element %d is %d, expected %d", what, i, got[i],
                  wanted[i]);
}
