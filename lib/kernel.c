/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"

#include "runtime_state.h"
#include "status.h"
#include "structs.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- Compile: text to machine code ----------------------------------------------------------- */

/* The driver writes into `values` and `log` until the link is destroyed. */
struct compilation {
  const struct driver *driver;
  const tptx_ptx *ptx;
  void *link;
  int options[2];
  void *values[2];
  char log[sizeof((tptx_error *)NULL)->log];
};

/* What the caller must know beside the code: versions, and the compiler's own text. */
static tptx_status compile_check(const struct compilation *compilation, int code,
                                 const char *function, tptx_error *error) {
  char detail[160] = "";
  const struct driver *driver = compilation->driver;
  int version = tptx_ptx_version(compilation->ptx);
  if (code == DRIVER_UNSUPPORTED_PTX_VERSION)
    snprintf(detail, sizeof detail,
             "the text is PTX %d.%d, the driver is of CUDA %d.%d and takes PTX up to %d.%d",
             version / 10, version % 10, driver->version / 1000, driver->version % 1000 / 10,
             driver->ptx / 10, driver->ptx % 10);
  else if (code != DRIVER_SUCCESS)
    snprintf(detail, sizeof detail, "kernel %s, target sm_%d", compilation->ptx->entry,
             tptx_ptx_target(compilation->ptx));
  tptx_status status = driver_check(code, function, detail, error);
  if (status != TPTX_OK && error) {
    memcpy(error->log, compilation->log, sizeof error->log);
    error->log[sizeof error->log - 1] = '\0';
    if (strlen(error->log) == sizeof error->log - 1) error->truncated = 1;
  }
  return status;
}

static tptx_status compile_begin(struct compilation *compilation, const struct driver *driver,
                                 const tptx_ptx *ptx, tptx_error *error) {
  compilation->driver = driver;
  compilation->ptx = ptx;
  memset(compilation->log, 0, sizeof compilation->log);
  compilation->options[0] = JIT_ERROR_LOG_BUFFER;
  compilation->values[0] = compilation->log;
  compilation->options[1] = JIT_ERROR_LOG_BUFFER_BYTES;
  compilation->values[1] = (void *)(uintptr_t)sizeof compilation->log;
  int code = driver->cuLinkCreate(2, compilation->options, compilation->values, &compilation->link);
  return compile_check(compilation, code, "cuLinkCreate", error);
}

/* *binary lives until the link is destroyed. The first failure ends it: later calls may succeed. */
static tptx_status compile(struct compilation *compilation, void **binary, size_t *bytes,
                           tptx_error *error) {
  const struct driver *driver = compilation->driver;
  const tptx_ptx *ptx = compilation->ptx;
  /* The driver takes the text with its NUL and does not write to it. */
  void *text = (void *)(uintptr_t)ptx->text;
  int code = driver->cuLinkAddData(compilation->link, JIT_INPUT_PTX, text, ptx->text_bytes + 1,
                                   ptx->entry, 0, NULL, NULL);
  FORWARD(compile_check(compilation, code, "cuLinkAddData", error));
  code = driver->cuLinkComplete(compilation->link, binary, bytes);
  return compile_check(compilation, code, "cuLinkComplete", error);
}

/* ---- Load: machine code to a kernel ---------------------------------------------------------- */

/* Also makes the driver load what it would otherwise load at the first launch. */
static tptx_status read_attributes(const struct driver *driver, tptx_kernel *kernel,
                                   tptx_error *error) {
  tptx_kernel_attributes *attributes = &kernel->attributes;
  const struct {
    int attribute;
    int32_t *value;
  } wanted[] = {
      {FUNCTION_REGISTERS, &attributes->registers},
      {FUNCTION_LOCAL_BYTES, &attributes->local_bytes},
      {FUNCTION_SHARED_BYTES, &attributes->shared_bytes},
      {FUNCTION_CONSTANT_BYTES, &attributes->constant_bytes},
      {FUNCTION_MAX_THREADS, &attributes->max_threads},
      {FUNCTION_BINARY_VERSION, &attributes->binary_version},
  };
  attributes->struct_size = sizeof *attributes;
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    int value = 0;
    FORWARD(driver_check(driver->cuFuncGetAttribute(&value, wanted[i].attribute, kernel->function),
                         "cuFuncGetAttribute", NULL, error));
    *wanted[i].value = value;
  }
  return TPTX_OK;
}

static tptx_status load(tptx_kernel *kernel, tptx_error *error) {
  const struct driver *driver = &kernel->runtime->driver;
  FORWARD(driver_check(driver->cuModuleLoadData(&kernel->module, kernel->binary),
                       "cuModuleLoadData", NULL, error));
  tptx_status status = driver_check(
      driver->cuModuleGetFunction(&kernel->function, kernel->module, kernel->ptx->entry),
      "cuModuleGetFunction", NULL, error);
  if (status == TPTX_OK) status = read_attributes(driver, kernel, error);
  if (status != TPTX_OK) driver->cuModuleUnload(kernel->module);
  return status;
}

/* Takes the text over on success. */
static tptx_status kernel_from_binary(tptx_runtime *runtime, struct context context, tptx_ptx *ptx,
                                      const void *binary, size_t bytes, tptx_kernel **out,
                                      tptx_error *error) {
  tptx_kernel *kernel = allocate(&runtime->allocator, sizeof *kernel + bytes);
  REFUSE_IF(!kernel, error, TPTX_ERROR_OUT_OF_MEMORY, "", -1, "no memory for a kernel");
  memset(kernel, 0, sizeof *kernel);
  kernel->runtime = runtime;
  kernel->context = context;
  kernel->ptx = ptx;
  kernel->binary_bytes = bytes;
  memcpy(kernel->binary, binary, bytes);
  holders_open(&kernel->holders);
  atomic_init(&kernel->captured, false);
  atomic_init(&kernel->touched, false);
  atomic_init(&kernel->abandoned, false);
  tptx_status status = load(kernel, error);
  if (status != TPTX_OK) {
    release(&runtime->allocator, kernel);
    return status;
  }
  atomic_fetch_add(&runtime->references, 1);
  *out = kernel;
  return TPTX_OK;
}

static tptx_status compile_and_load(tptx_runtime *runtime, struct context context, tptx_ptx *ptx,
                                    tptx_kernel **out, tptx_error *error) {
  struct compilation compilation;
  FORWARD(compile_begin(&compilation, &runtime->driver, ptx, error));
  void *binary = NULL;
  size_t bytes = 0;
  tptx_status status = compile(&compilation, &binary, &bytes, error);
  if (status == TPTX_OK)
    status = kernel_from_binary(runtime, context, ptx, binary, bytes, out, error);
  runtime->driver.cuLinkDestroy(compilation.link);
  return status;
}

/*
 * Loads and unloads are forbidden, or break the capture, while the calling thread captures a stream
 * in another mode than relaxed. The exchange changes this thread's mode, and changes it back.
 */
static int exchange_capture_mode(const struct driver *driver, int *mode) {
  return driver->cuThreadExchangeStreamCaptureMode(mode);
}

tptx_status kernel_build(tptx_runtime *runtime, struct context context,
                         const struct signature *signature, const struct key *key,
                         tptx_kernel **out, tptx_error *error) {
  const struct driver *driver = &runtime->driver;
  tptx_ptx *ptx = NULL;
  *out = NULL;
  FORWARD(ptx_render(&runtime->allocator, signature, key, &ptx, error));
  trace_dump(&runtime->trace, ptx);
  int mode = CAPTURE_MODE_RELAXED;
  tptx_status status = driver_check(exchange_capture_mode(driver, &mode),
                                    "cuThreadExchangeStreamCaptureMode", NULL, error);
  if (status == TPTX_OK) {
    status = compile_and_load(runtime, context, ptx, out, error);
    exchange_capture_mode(driver, &mode);
  }
  if (status != TPTX_OK) tptx_ptx_free(ptx);
  return status;
}

/* ---- Holders --------------------------------------------------------------------------------- */

/* What a driver answers about a module whose context is gone, and it with it. */
static bool module_is_gone(int code) {
  return code == DRIVER_INVALID_HANDLE || code == DRIVER_CONTEXT_IS_DESTROYED ||
         code == DRIVER_DEINITIALIZED || code == DRIVER_INVALID_CONTEXT;
}

/*
 * In the kernel's own context, pushed and popped. A context that is gone took its modules with it:
 * not even asked to unload, for a new module may have the old one's address.
 */
static void unload(tptx_kernel *kernel) {
  const struct driver *driver = &kernel->runtime->driver;
  if (atomic_load(&kernel->abandoned) || !context_alive(driver, kernel->context)) return;
  int mode = CAPTURE_MODE_RELAXED;
  bool exchanged = exchange_capture_mode(driver, &mode) == DRIVER_SUCCESS;
  int code = driver->cuCtxPushCurrent(kernel->context.handle);
  if (code == DRIVER_SUCCESS) {
    void *popped;
    code = driver->cuModuleUnload(kernel->module);
    driver->cuCtxPopCurrent(&popped);
  }
  if (exchanged) exchange_capture_mode(driver, &mode);
  if (code != DRIVER_SUCCESS && !module_is_gone(code))
    trace_line(&kernel->runtime->trace, TPTX_TOPIC_WARNING,
               "warning: unloading answered %d (%s), %s", code,
               driver_code_name(code) ? driver_code_name(code) : "an unknown code",
               kernel->ptx->key.line);
}

void kernel_retain(tptx_kernel *kernel, unsigned count) {
  holders_add(&kernel->holders, count);
}

static void end(tptx_kernel *kernel) {
  tptx_runtime *runtime = kernel->runtime;
  unload(kernel);
  tptx_ptx_free(kernel->ptx);
  release(&runtime->allocator, kernel);
  runtime_release(runtime);
}

void kernel_drop(tptx_kernel *kernel) {
  if (holders_remove(&kernel->holders)) end(kernel);
}

void kernel_let_go(tptx_kernel *kernel) {
  if (holders_let_go(&kernel->holders)) end(kernel);
}

void tptx_kernel_release(tptx_kernel *kernel) {
  if (kernel && !runtime_forked(kernel->runtime)) cache_give_back(&kernel->runtime->cache, kernel);
}

/* ---- What a kernel tells --------------------------------------------------------------------- */

const tptx_ptx *tptx_kernel_ptx(const tptx_kernel *kernel) {
  return kernel ? kernel->ptx : NULL;
}

tptx_status tptx_kernel_binary(const tptx_kernel *kernel, const void **data, size_t *bytes,
                               tptx_error *error) {
  REFUSE_IF(!kernel || !data || !bytes, error, TPTX_ERROR_INVALID_ARGUMENT, "", -1,
            "tptx_kernel_binary needs a kernel and two places for its results");
  *data = kernel->binary;
  *bytes = kernel->binary_bytes;
  return TPTX_OK;
}

tptx_status tptx_kernel_get_attributes(const tptx_kernel *kernel,
                                       tptx_kernel_attributes *attributes, tptx_error *error) {
  REFUSE_IF(!kernel, error, TPTX_ERROR_INVALID_ARGUMENT, "kernel", -1, "kernel is NULL");
  return struct_give(attributes, &kernel->attributes, sizeof *attributes, "kernel_attributes",
                     error);
}
