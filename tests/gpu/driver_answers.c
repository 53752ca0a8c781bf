/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_answers: asks a driver the questions whose answers tileptx is built on, and prints a line
 * for each answer:
 *
 *   question: code name "text"
 *
 * The text is the first line of the compiler's log, or a remark. Run on a real driver it writes the
 * record, driver_answers.expected; run on the emulated one it shows whether that answers alike.
 */
#define _POSIX_C_SOURCE 200809L

#include "../../tools/device.h"

#include <tileptx/runtime.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The driver's own numbers, so that building needs no CUDA header. */
enum {
  CODE_SUCCESS = 0,
  JIT_ERROR_LOG_BUFFER = 5,
  JIT_ERROR_LOG_BUFFER_BYTES = 6,
  JIT_INPUT_PTX = 1,
  CAPTURE_GLOBAL = 0,
  CAPTURE_RELAXED = 2,
  EXIT_NO_DEVICE = 77
};

#define ENTRY_POINTS(X) \
  X(cuInit, (unsigned flags)) \
  X(cuDeviceGet, (int *device, int ordinal)) \
  X(cuDevicePrimaryCtxRetain, (void **context, int device)) \
  X(cuDevicePrimaryCtxReset_v2, (int device)) \
  X(cuCtxCreate_v2, (void **context, unsigned flags, int device)) \
  X(cuCtxDestroy_v2, (void *context)) \
  X(cuCtxGetCurrent, (void **context)) \
  X(cuCtxSetCurrent, (void *context)) \
  X(cuCtxGetDevice, (int *device)) \
  X(cuCtxGetId, (void *context, unsigned long long *id)) \
  X(cuCtxSynchronize, (void)) \
  X(cuLinkCreate_v2, (unsigned count, int *options, void **values, void **link)) \
  X(cuLinkAddData_v2, (void *link, int type, void *data, size_t bytes, const char *name, \
                       unsigned count, int *options, void **values)) \
  X(cuLinkComplete, (void *link, void **binary, size_t *bytes)) \
  X(cuLinkDestroy, (void *link)) \
  X(cuModuleLoadData, (void **module, const void *image)) \
  X(cuModuleUnload, (void *module)) \
  X(cuModuleGetFunction, (void **function, void *module, const char *name)) \
  X(cuLaunchKernel, (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, \
                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, \
                     void *stream, void **parameters, void **extra)) \
  X(cuStreamCreate, (void **stream, unsigned flags)) \
  X(cuStreamBeginCapture_v2, (void *stream, int mode)) \
  X(cuStreamEndCapture, (void *stream, void **graph)) \
  X(cuStreamIsCapturing, (void *stream, int *status)) \
  X(cuThreadExchangeStreamCaptureMode, (int *mode)) \
  X(cuMemAlloc_v2, (uint64_t * address, size_t bytes))

/* One question is asked in a process of its own, with a device that it opens itself. */
struct driver {
#define MEMBER(name, parameters) int(*name) parameters;
  ENTRY_POINTS(MEMBER)
#undef MEMBER
  struct device *device;
  const char *question;
  void *stream; /* non-blocking */
  char log[8192];
  unsigned char cubin[65536];
  size_t cubin_bytes;
  void *module;
  void *function;
  uint64_t memory; /* a buffer for the kernel */
};

/* ---- Asking ---------------------------------------------------------------------------------- */

/* `what` is usually the entry point that was called. Gives `code` back. */
static int answer(struct driver *driver, const char *what, int code, const char *text) {
  printf("%s, %s: %d %s \"%.*s\"\n", driver->question, what, code,
         code == CODE_SUCCESS ? "CUDA_SUCCESS" : device_error_name(driver->device, code),
         (int)strcspn(text, "\n"), text);
  return code;
}

/* A call on the way to the question: it must succeed, or the question cannot be asked. */
static void expect(struct driver *driver, int code, const char *what) {
  if (code == CODE_SUCCESS) return;
  answer(driver, what, code, "the question could not be asked");
  exit(EXIT_FAILURE);
}

/* The kernel of every question: one 16-byte vector is read and written back. */
static const char *text_with(const char *version, const char *target, const char *opcode) {
  static char text[1024];
  snprintf(text, sizeof text,
           ".version %s\n"
           ".target %s\n"
           ".address_size 64\n"
           ".visible .entry answer(.param .u64 at)\n"
           "{\n"
           ".reg .b64 %%address;\n"
           ".reg .b32 %%x0, %%x1, %%x2, %%x3;\n"
           "ld.param.u64 %%address, [at];\n"
           "%s.global.v4.b32 {%%x0, %%x1, %%x2, %%x3}, [%%address];\n"
           "st.global.v4.b32 [%%address], {%%x0, %%x1, %%x2, %%x3};\n"
           "ret;\n"
           "}\n",
           version, target, opcode);
  return text;
}

static const char *good_text(void) {
  return text_with("6.3", "sm_75", "ld");
}

/* PTX to cubin by the path the library takes. The name of the last call made, in *call. */
static int compile(struct driver *driver, const char *text, const char **call) {
  int options[] = {JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_BYTES};
  void *values[] = {driver->log, (void *)(uintptr_t)sizeof driver->log};
  void *link = NULL;
  void *binary = NULL;
  char copy[1024];
  driver->log[0] = '\0';
  driver->cubin_bytes = 0;
  snprintf(copy, sizeof copy, "%s", text);
  *call = "cuLinkCreate";
  int code = driver->cuLinkCreate_v2(2, options, values, &link);
  if (code != CODE_SUCCESS) return code;
  *call = "cuLinkAddData";
  code = driver->cuLinkAddData_v2(link, JIT_INPUT_PTX, copy, strlen(copy) + 1, "answer", 0, NULL,
                                  NULL);
  if (code == CODE_SUCCESS) {
    *call = "cuLinkComplete";
    code = driver->cuLinkComplete(link, &binary, &driver->cubin_bytes);
  }
  if (code == CODE_SUCCESS && driver->cubin_bytes <= sizeof driver->cubin)
    memcpy(driver->cubin, binary, driver->cubin_bytes);
  driver->cuLinkDestroy(link);
  return code;
}

static void ask_compile(struct driver *driver, const char *text) {
  const char *call = NULL;
  int code = compile(driver, text, &call);
  answer(driver, call, code, driver->log);
}

/* Compiles the good text, loads it, finds its function. */
static void load(struct driver *driver) {
  const char *call = NULL;
  int code = compile(driver, good_text(), &call);
  expect(driver, code, call);
  expect(driver, driver->cuModuleLoadData(&driver->module, driver->cubin), "cuModuleLoadData");
  expect(driver, driver->cuModuleGetFunction(&driver->function, driver->module, "answer"),
         "cuModuleGetFunction");
}

static int launch(struct driver *driver, unsigned grid_x, unsigned grid_y, unsigned block_x,
                  uint64_t address, void *stream) {
  void *parameters[] = {&address};
  return driver->cuLaunchKernel(driver->function, grid_x, grid_y, 1, block_x, 1, 1, 0, stream,
                                parameters, NULL);
}

static int ask_launch(struct driver *driver, const char *what) {
  return answer(driver, what, launch(driver, 1, 1, 1, driver->memory, driver->stream), "");
}

/* ---- Questions: text ------------------------------------------------------------------------- */

static void good(struct driver *driver) {
  const char *call = NULL;
  int code = compile(driver, good_text(), &call);
  if (answer(driver, call, code, driver->log) != CODE_SUCCESS) return;
  answer(driver, "cuModuleLoadData", driver->cuModuleLoadData(&driver->module, driver->cubin), "");
  answer(driver, "cuModuleGetFunction",
         driver->cuModuleGetFunction(&driver->function, driver->module, "answer"), "");
  ask_launch(driver, "cuLaunchKernel");
  answer(driver, "cuCtxSynchronize", driver->cuCtxSynchronize(), "");
  answer(driver, "cuModuleUnload", driver->cuModuleUnload(driver->module), "");
}

static void broken_text(struct driver *driver) {
  ask_compile(driver, text_with("6.3", "sm_75", "lad"));
}

static void version_9_9(struct driver *driver) {
  ask_compile(driver, text_with("9.9", "sm_75", "ld"));
}

/* The library's own idea of what this driver takes is put to the test with it. */
static void driver_versions(struct driver *driver) {
  tptx_runtime *runtime = NULL;
  tptx_runtime_options options;
  tptx_runtime_options_init(&options);
  options.driver = device_driver(driver->device);
  tptx_runtime_info info = {.struct_size = sizeof info};
  if (tptx_runtime_create(&options, &runtime, NULL) != TPTX_OK) return;
  tptx_runtime_get_info(runtime, &info, NULL);
  tptx_runtime_destroy(runtime);
  for (int above = 0; above <= 1; above++) {
    char version[16];
    const char *call = NULL;
    int ptx = info.ptx + above;
    snprintf(version, sizeof version, "%d.%d", ptx / 10, ptx % 10);
    int code = compile(driver, text_with(version, "sm_75", "ld"), &call);
    answer(driver, above == 0 ? "the last one" : "one above", code, driver->log);
  }
}

static void target_above(struct driver *driver) {
  ask_compile(driver, text_with("8.7", "sm_120", "ld"));
}

static void missing_name(struct driver *driver) {
  load(driver);
  answer(driver, "cuModuleGetFunction",
         driver->cuModuleGetFunction(&driver->function, driver->module, "no_such_kernel"), "");
}

/* ---- Questions: cubin ------------------------------------------------------------------------ */

static void ask_load(struct driver *driver, const char *what) {
  answer(driver, what, driver->cuModuleLoadData(&driver->module, driver->cubin), "");
}

static void damaged_cubin(struct driver *driver) {
  const char *call = NULL;
  int code = compile(driver, good_text(), &call);
  expect(driver, code, call);
  memset(driver->cubin + driver->cubin_bytes / 2, 0, driver->cubin_bytes - driver->cubin_bytes / 2);
  ask_load(driver, "its second half zeros");
  memset(driver->cubin, 0, driver->cubin_bytes);
  ask_load(driver, "all zeros");
}

/* ---- Questions: capture ---------------------------------------------------------------------- */

static void begin_capture(struct driver *driver) {
  expect(driver, driver->cuStreamBeginCapture_v2(driver->stream, CAPTURE_GLOBAL),
         "cuStreamBeginCapture");
}

static void end_capture(struct driver *driver) {
  void *graph = NULL;
  int status = -1;
  int code = driver->cuStreamIsCapturing(driver->stream, &status);
  answer(driver, "cuStreamIsCapturing", code,
         status == 0   ? "none"
         : status == 1 ? "active"
                       : "invalidated");
  answer(driver, "cuStreamEndCapture", driver->cuStreamEndCapture(driver->stream, &graph), "");
}

static void capture_build(struct driver *driver) {
  const char *call = NULL;
  begin_capture(driver);
  int code = compile(driver, good_text(), &call);
  if (answer(driver, call, code, driver->log) == CODE_SUCCESS) {
    ask_load(driver, "cuModuleLoadData");
    answer(driver, "cuModuleGetFunction",
           driver->cuModuleGetFunction(&driver->function, driver->module, "answer"), "");
    ask_launch(driver, "cuLaunchKernel");
  }
  end_capture(driver);
}

static void capture_launch(struct driver *driver) {
  load(driver);
  begin_capture(driver);
  ask_launch(driver, "cuLaunchKernel");
  end_capture(driver);
}

static void capture_allocate(struct driver *driver) {
  uint64_t address = 0;
  begin_capture(driver);
  answer(driver, "cuMemAlloc", driver->cuMemAlloc_v2(&address, 4096), "");
  end_capture(driver);
}

static void capture_unload(struct driver *driver) {
  load(driver);
  begin_capture(driver);
  answer(driver, "cuModuleUnload", driver->cuModuleUnload(driver->module), "");
  end_capture(driver);
}

static void capture_unload_relaxed(struct driver *driver) {
  int mode = CAPTURE_RELAXED;
  load(driver);
  begin_capture(driver);
  int code = driver->cuThreadExchangeStreamCaptureMode(&mode);
  answer(driver, "cuThreadExchangeStreamCaptureMode", code,
         mode == CAPTURE_GLOBAL ? "global before" : "another before");
  answer(driver, "cuModuleUnload", driver->cuModuleUnload(driver->module), "");
  driver->cuThreadExchangeStreamCaptureMode(&mode);
  end_capture(driver);
}

static void capture_legacy(struct driver *driver) {
  load(driver);
  expect(driver, driver->cuStreamCreate(&driver->stream, 0), "cuStreamCreate");
  begin_capture(driver);
  answer(driver, "cuLaunchKernel on the legacy stream",
         launch(driver, 1, 1, 1, driver->memory, NULL), "");
  end_capture(driver);
}

/* ---- Questions: contexts --------------------------------------------------------------------- */

static void no_context(struct driver *driver) {
  int device = 0;
  const char *call = NULL;
  uint64_t address = 0;
  void *context = NULL;
  load(driver);
  expect(driver, driver->cuCtxSetCurrent(NULL), "cuCtxSetCurrent");
  int code = driver->cuCtxGetCurrent(&context);
  answer(driver, "cuCtxGetCurrent", code, context == NULL ? "none" : "some");
  answer(driver, "cuCtxGetDevice", driver->cuCtxGetDevice(&device), "");
  answer(driver, "cuMemAlloc", driver->cuMemAlloc_v2(&address, 4096), "");
  code = compile(driver, good_text(), &call);
  answer(driver, call, code, driver->log);
  answer(driver, "cuModuleLoadData", driver->cuModuleLoadData(&driver->module, driver->cubin), "");
  answer(driver, "cuLaunchKernel", launch(driver, 1, 1, 1, driver->memory, NULL), "");
}

static void other_context(struct driver *driver) {
  int device = 0;
  void *context = NULL;
  load(driver);
  expect(driver, driver->cuCtxGetDevice(&device), "cuCtxGetDevice");
  expect(driver, driver->cuCtxCreate_v2(&context, 0, device), "cuCtxCreate");
  answer(driver, "cuLaunchKernel", launch(driver, 1, 1, 1, driver->memory, NULL), "");
  expect(driver, driver->cuCtxDestroy_v2(context), "cuCtxDestroy");
}

static void after_reset(struct driver *driver) {
  unsigned long long before = 0;
  unsigned long long after = 0;
  void *old_context = NULL;
  void *context = NULL;
  int device = 0;
  load(driver);
  expect(driver, driver->cuCtxGetDevice(&device), "cuCtxGetDevice");
  expect(driver, driver->cuCtxGetCurrent(&old_context), "cuCtxGetCurrent");
  expect(driver, driver->cuCtxGetId(old_context, &before), "cuCtxGetId");
  answer(driver, "cuDevicePrimaryCtxReset", driver->cuDevicePrimaryCtxReset_v2(device), "");
  answer(driver, "cuCtxSynchronize", driver->cuCtxSynchronize(), "");
  int code = driver->cuDevicePrimaryCtxRetain(&context, device);
  answer(driver, "cuDevicePrimaryCtxRetain", code,
         context == old_context ? "the same handle" : "another handle");
  expect(driver, driver->cuCtxSetCurrent(context), "cuCtxSetCurrent");
  code = driver->cuCtxGetId(context, &after);
  answer(driver, "cuCtxGetId", code, after == before ? "the same id" : "another id");
  answer(driver, "cuLaunchKernel", launch(driver, 1, 1, 1, driver->memory, NULL), "");
  /* Not asked: unloading the old module answers 400 or 201 on one driver, by its history. */
}

static void forked(struct driver *driver) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    answer(driver, "cuInit", driver->cuInit(0), "");
    fflush(stdout);
    _exit(EXIT_SUCCESS);
  }
  waitpid(child, NULL, 0);
}

/* ---- Questions: launch ----------------------------------------------------------------------- */

static void grid_limits(struct driver *driver) {
  uint64_t at = driver->memory;
  load(driver);
  answer(driver, "x of 0", launch(driver, 0, 1, 1, at, driver->stream), "");
  answer(driver, "y of 65536", launch(driver, 1, 65536, 1, at, driver->stream), "");
  answer(driver, "a block of 0", launch(driver, 1, 1, 0, at, driver->stream), "");
  answer(driver, "a block of 1025", launch(driver, 1, 1, 1025, at, driver->stream), "");
}

/*
 * A fault costs the context. The launch may report it (with CUDA_LAUNCH_BLOCKING, and the emulated
 * driver does) or leave that to the next call that waits: its own code is no answer.
 */
static void ask_fault(struct driver *driver, uint64_t address) {
  uint64_t more = 0;
  load(driver);
  launch(driver, 1, 1, 1, address, driver->stream);
  answer(driver, "cuCtxSynchronize", driver->cuCtxSynchronize(), "");
  answer(driver, "cuMemAlloc after it", driver->cuMemAlloc_v2(&more, 4096), "");
  answer(driver, "cuModuleUnload after it", driver->cuModuleUnload(driver->module), "");
}

static void misaligned(struct driver *driver) {
  ask_fault(driver, driver->memory + 4);
}

static void outside(struct driver *driver) {
  ask_fault(driver, 16);
}

/* ---- Running --------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  void (*ask)(struct driver *driver);
} questions[] = {
    {"good text", good},
    {"broken text", broken_text},
    {"version 9.9", version_9_9},
    {"version of the driver", driver_versions},
    {"target above the device", target_above},
    {"name that is not there", missing_name},
    {"damaged cubin", damaged_cubin},
    {"build in a capture", capture_build},
    {"launch in a capture", capture_launch},
    {"allocation in a capture", capture_allocate},
    {"unload in a capture", capture_unload},
    {"relaxed unload in a capture", capture_unload_relaxed},
    {"legacy stream beside a capture", capture_legacy},
    {"no current context", no_context},
    {"function of another context", other_context},
    {"primary context reset", after_reset},
    {"forked", forked},
    {"grid", grid_limits},
    {"misaligned vector", misaligned},
    {"address outside", outside},
};

static void open_driver(struct driver *driver, const char *path, int ordinal) {
  char message[512];
  if (device_open(path, ordinal, &driver->device, message, sizeof message) != 0) {
    fprintf(stderr, "driver_answers: %s\n", message);
    exit(EXIT_NO_DEVICE);
  }
  const struct {
    const char *name;
    void *member;
  } table[] = {
#define ROW(name, parameters) {#name, &driver->name},
      ENTRY_POINTS(ROW)
#undef ROW
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    void *found = device_entry_point(driver->device, table[i].name);
    if (found == NULL) {
      fprintf(stderr, "driver_answers: the driver has no entry point %s\n", table[i].name);
      exit(EXIT_FAILURE);
    }
    memcpy(table[i].member, &found, sizeof found);
  }
  expect(driver, device_stream_create(driver->device, &driver->stream), "cuStreamCreate");
  expect(driver, device_allocate(driver->device, 4096, &driver->memory), "cuMemAlloc");
  expect(driver, device_fill(driver->device, driver->memory, 0x5a, 4096), "cuMemsetD8");
}

/* In a process of its own: a fault ruins one context and no other question's answer. */
static int ask_alone(size_t number, const char *path, int ordinal) {
  fflush(stdout);
  pid_t child = fork();
  if (child < 0) {
    perror("driver_answers: fork");
    return EXIT_FAILURE;
  }
  if (child == 0) {
    static struct driver driver;
    driver.question = questions[number].name;
    open_driver(&driver, path, ordinal);
    questions[number].ask(&driver);
    device_close(driver.device);
    exit(EXIT_SUCCESS);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    printf("%s: the process ended with signal %d\n", questions[number].name, WTERMSIG(status));
  return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

int main(int argc, char **argv) {
  static const struct option known[] = {{"driver", required_argument, NULL, 'd'},
                                        {"device", required_argument, NULL, 'n'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  const char *driver = getenv("TILEPTX_DRIVER");
  int ordinal = 0;
  int worst = EXIT_SUCCESS;
  for (int letter; (letter = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (letter) {
    case 'd': driver = optarg; break;
    case 'n': ordinal = atoi(optarg); break;
    case 'h': puts("Usage: driver_answers [--driver PATH|emu] [--device N]"); return EXIT_SUCCESS;
    default: return 2;
    }
  }
  for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
    int status = ask_alone(i, driver, ordinal);
    if (status == EXIT_NO_DEVICE) return status;
    if (status != EXIT_SUCCESS) worst = status;
  }
  return worst;
}
