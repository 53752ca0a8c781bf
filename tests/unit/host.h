/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host program in the tests of the runtime: it owns contexts, memory and streams on the
 * emulated driver, calls that driver by itself, and describes one small operation. Every test runs
 * in a process of its own, so nothing is given back.
 */
#ifndef HOST_H
#define HOST_H

#include "counting_allocator.h"

#include <tileptx.h>

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

/* What a host calls and the library does not. */
#define HOST_ENTRIES \
  HOST_ENTRY(cuInit, "cuInit", (unsigned int flags)) \
  HOST_ENTRY(cuDeviceGet, "cuDeviceGet", (int *device, int ordinal)) \
  HOST_ENTRY(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (void **context, int device)) \
  HOST_ENTRY(cuDevicePrimaryCtxReset, "cuDevicePrimaryCtxReset_v2", (int device)) \
  HOST_ENTRY(cuCtxCreate, "cuCtxCreate_v2", (void **context, unsigned int flags, int device)) \
  HOST_ENTRY(cuCtxDestroy, "cuCtxDestroy_v2", (void *context)) \
  HOST_ENTRY(cuCtxGetCurrent, "cuCtxGetCurrent", (void **context)) \
  HOST_ENTRY(cuCtxSetCurrent, "cuCtxSetCurrent", (void *context)) \
  HOST_ENTRY(cuCtxSynchronize, "cuCtxSynchronize", (void)) \
  HOST_ENTRY(cuMemAlloc, "cuMemAlloc_v2", (uint64_t * address, size_t bytes)) \
  HOST_ENTRY(cuMemcpyHtoD, "cuMemcpyHtoD_v2", (uint64_t address, const void *data, size_t bytes)) \
  HOST_ENTRY(cuMemcpyDtoH, "cuMemcpyDtoH_v2", (void *data, uint64_t address, size_t bytes)) \
  HOST_ENTRY(cuModuleLoadData, "cuModuleLoadData", (void **module, const void *image)) \
  HOST_ENTRY(cuModuleGetFunction, "cuModuleGetFunction", \
             (void **function, void *module, const char *name)) \
  HOST_ENTRY(cuModuleUnload, "cuModuleUnload", (void *module)) \
  HOST_ENTRY(cuStreamCreate, "cuStreamCreate", (void **stream, unsigned int flags)) \
  HOST_ENTRY(cuStreamBeginCapture, "cuStreamBeginCapture_v2", (void *stream, int mode)) \
  HOST_ENTRY(cuStreamEndCapture, "cuStreamEndCapture", (void *stream, void **graph)) \
  HOST_ENTRY(cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode", (int *mode)) \
  HOST_ENTRY(cuGraphInstantiate, "cuGraphInstantiateWithFlags", \
             (void **executable, void *graph, unsigned long long flags)) \
  HOST_ENTRY(cuGraphLaunch, "cuGraphLaunch", (void *executable, void *stream))

struct host {
  void *library;
#define HOST_ENTRY(name, symbol, parameters) int(*name) parameters;
  HOST_ENTRIES
#undef HOST_ENTRY
};

extern struct host host;

/* Before host_open: devices 0 and 1 are of these targets. */
void host_two_devices(int first_sm, int second_sm);
/* Opens and starts the emulated driver. */
void host_open(void);
void *host_context(int device); /* a new one, made current */
void *host_stream(void);
void host_make_current(void *context);
void *host_current(void);

/* A runtime on the emulated driver; `options` may be NULL. */
tptx_runtime *host_runtime(const tptx_runtime_options *options);
tptx_runtime_options host_options(void); /* the defaults, on the emulated driver */
tptx_counters host_counters(tptx_runtime *runtime);

/* Calls of the driver so far: of one entry point, or of all (NULL). */
long host_calls(const char *name);
/* The nth call from now on answers `code`: of one entry point, or of all (NULL). 0: none. */
void host_fail(const char *name, long nth, int code);
long host_modules(void); /* loaded now */

/*
 * The small operation: an unmasked s32 load of four tiles of `shape` elements. Another shape is
 * another kernel. The span holds 0, 1, 2, ...; the operand is filled with -1.
 */
struct small {
  tptx_view view;
  tptx_op op;
  tptx_args args;
  int64_t extent;
};

void small_describe(struct small *small, int64_t shape);
void small_place(struct small *small); /* gives it memory in the current context */
void small_expect_done(const struct small *small);
void small_expect_untouched(const struct small *small);
void small_run(tptx_runtime *runtime, struct small *small); /* places, runs, checks */
tptx_kernel *small_get(tptx_runtime *runtime, const struct small *small);
void small_launch(tptx_kernel *kernel, struct small *small); /* places, launches, checks */

#endif
