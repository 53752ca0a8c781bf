/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct host host;

/* The emulated driver's own controls, found like its entry points. */
static int (*emu_configure)(const char *name, int64_t value);
static int (*emu_fail)(const char *entry, int nth, int code);
static int64_t (*emu_count)(const char *name);

static void find(const char *name, void *place, size_t bytes) {
  void *symbol = dlsym(host.library, name);
  ck_assert_msg(symbol != NULL, "the emulated driver has no %s", name);
  memcpy(place, &symbol, bytes);
}

void host_open(void) {
  const char *path = getenv("TILEPTX_EMU_PATH");
  ck_assert_msg(path != NULL, "TILEPTX_EMU_PATH does not name the emulated driver");
  host.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  ck_assert_msg(host.library != NULL, "%s", dlerror());
#define HOST_ENTRY(name, exact, parameters) find(exact, &host.name, sizeof host.name);
  HOST_ENTRIES
#undef HOST_ENTRY
  find("tileptx_emu_configure", &emu_configure, sizeof emu_configure);
  find("tileptx_emu_fail", &emu_fail, sizeof emu_fail);
  find("tileptx_emu_count", &emu_count, sizeof emu_count);
  ck_assert_int_eq(host.cuInit(0), 0);
}

void host_two_devices(int first_sm, int second_sm) {
  char targets[32];
  snprintf(targets, sizeof targets, "%d,%d", first_sm, second_sm);
  setenv("TILEPTX_EMU_DEVICES", "2", 1);
  setenv("TILEPTX_EMU_SM", targets, 1);
}

long host_calls(const char *name) {
  int64_t count = emu_count(name ? name : "calls");
  ck_assert_int_ge(count, 0);
  return (long)count;
}

long host_modules(void) {
  return host_calls("modules");
}

void host_fail(const char *name, long nth, int code) {
  if (name) {
    ck_assert_int_eq(emu_fail(name, (int)nth, code), 0);
  } else {
    if (nth) ck_assert_int_eq(emu_configure("fail_code", code), 0);
    ck_assert_int_eq(emu_configure("fail_at", nth), 0);
  }
}

void *host_context(int ordinal) {
  void *context;
  int device;
  ck_assert_int_eq(host.cuDeviceGet(&device, ordinal), 0);
  ck_assert_int_eq(host.cuCtxCreate(&context, 0, device), 0);
  return context;
}

void *host_stream(void) {
  void *stream;
  ck_assert_int_eq(host.cuStreamCreate(&stream, 1), 0);
  return stream;
}

void host_make_current(void *context) {
  ck_assert_int_eq(host.cuCtxSetCurrent(context), 0);
}

void *host_current(void) {
  void *context;
  ck_assert_int_eq(host.cuCtxGetCurrent(&context), 0);
  return context;
}

tptx_runtime_options host_options(void) {
  tptx_runtime_options options;
  tptx_runtime_options_init(&options);
  options.driver = "emu";
  return options;
}

tptx_runtime *host_runtime(const tptx_runtime_options *options) {
  tptx_runtime *runtime;
  tptx_runtime_options defaults = host_options();
  tptx_error error;
  tptx_error_init(&error);
  tptx_runtime_create(options ? options : &defaults, &runtime, &error);
  ck_assert_msg(runtime != NULL, "%s", error.message);
  return runtime;
}

tptx_counters host_counters(tptx_runtime *runtime) {
  tptx_counters counters = {.struct_size = sizeof counters};
  ck_assert_int_eq(tptx_runtime_counters(runtime, &counters, NULL), TPTX_OK);
  return counters;
}

/* ---- The small operation --------------------------------------------------------------------- */

void small_describe(struct small *small, int64_t shape) {
  small->extent = 4 * shape;
  tptx_view_strided(&small->view, TPTX_S32, 1, (int64_t[]){TPTX_DYNAMIC}, NULL, &shape, NULL);
  tptx_op_load(&small->op);
  tptx_args_init(&small->args);
  small->args.extents[0] = small->extent;
}

static uint64_t place(int64_t count, bool iota) {
  uint64_t address;
  int32_t values[4096];
  ck_assert_int_le(count, 4096);
  for (int32_t i = 0; i < count; i++) values[i] = iota ? i : -1;
  size_t bytes = (size_t)count * sizeof *values;
  ck_assert_int_eq(host.cuMemAlloc(&address, bytes), 0);
  ck_assert_int_eq(host.cuMemcpyHtoD(address, values, bytes), 0);
  return address;
}

void small_place(struct small *small) {
  small->args.span = place(small->extent, true);
  small->args.tile = place(small->extent, false);
}

static void expect(const struct small *small, bool done) {
  int32_t values[4096];
  ck_assert_int_eq(host.cuCtxSynchronize(), 0);
  ck_assert_int_eq(
      host.cuMemcpyDtoH(values, small->args.tile, (size_t)small->extent * sizeof *values), 0);
  for (int32_t i = 0; i < small->extent; i++) ck_assert_int_eq(values[i], done ? i : -1);
}

void small_expect_done(const struct small *small) {
  expect(small, true);
}

void small_expect_untouched(const struct small *small) {
  expect(small, false);
}

void small_run(tptx_runtime *runtime, struct small *small) {
  tptx_error error;
  small_place(small);
  tptx_status status = tptx_run(runtime, &small->view, &small->op, &small->args, NULL, &error);
  ck_assert_msg(status == TPTX_OK, "%s: %s", tptx_status_name(status), error.message);
  small_expect_done(small);
}

tptx_kernel *small_get(tptx_runtime *runtime, const struct small *small) {
  tptx_kernel *kernel;
  tptx_error error;
  tptx_status status = tptx_kernel_get(runtime, &small->view, &small->op, &kernel, &error);
  ck_assert_msg(status == TPTX_OK, "%s: %s", tptx_status_name(status), error.message);
  return kernel;
}

void small_launch(tptx_kernel *kernel, struct small *small) {
  tptx_error error;
  small_place(small);
  tptx_status status = tptx_launch(kernel, &small->args, NULL, &error);
  ck_assert_msg(status == TPTX_OK, "%s: %s", tptx_status_name(status), error.message);
  small_expect_done(small);
}
