/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated driver by itself. The tables beside this file say what instructions do, what the
 * reader refuses and what a launch may not do. The values alone also run on a real driver:
 * TILEPTX_EMU_PATH names the library, and `values` as an argument leaves the rest out. */
#define _GNU_SOURCE
#include <check.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tileptx_emu.h"

#define ENTRY(name, needs, parameters) static int(*name) parameters;
#include "entry_points.def"
#undef ENTRY

static int (*emu_configure)(const char *name, int64_t value);
static int (*emu_fail)(const char *entry, int nth, int code);
static int64_t (*emu_count)(const char *name);
static const char *(*emu_last_error)(void);
static void *context;

static void find(void *library, const char *name, void *function, bool needed) {
  void *symbol = dlsym(library, name);
  ck_assert_msg(symbol != NULL || !needed, "%s is missing", name);
  memcpy(function, &symbol, sizeof symbol);
}

static void open_driver(void) {
  const char *path = getenv("TILEPTX_EMU_PATH");
  void *library = dlopen(path != NULL ? path : "libtileptx-emu.so", RTLD_NOW | RTLD_LOCAL);
  ck_assert_msg(library != NULL, "%s", dlerror());
#define ENTRY(name, needs, parameters) find(library, #name, &name, true);
#include "entry_points.def"
#undef ENTRY
  find(library, "tileptx_emu_configure", &emu_configure, false);
  find(library, "tileptx_emu_fail", &emu_fail, false);
  find(library, "tileptx_emu_count", &emu_count, false);
  find(library, "tileptx_emu_last_error", &emu_last_error, false);
}

#define OK(call) ck_assert_msg((code = (call)) == 0, "%s gave %d", #call, code)
static int code;

static void setup(void) {
  open_driver();
  if (emu_configure != NULL) {
    emu_configure("reset", 1);
  }
  OK(cuInit(0));
  OK(cuDevicePrimaryCtxReset_v2(0));
  OK(cuDevicePrimaryCtxRetain(&context, 0));
  OK(cuCtxSetCurrent(context));
}

static void teardown(void) {
  OK(cuCtxSetCurrent(NULL));
  OK(cuDevicePrimaryCtxReset_v2(0));
  OK(cuDevicePrimaryCtxRelease_v2(0));
}

/* ---- Kernels ------------------------------------------------------------------------------ */

/* The instructions of a row stand on line 12. `scratch`: %at lies past the result, which is
 * stored. */
static const char *frame(int target, int version, const char *instructions, bool scratch) {
  static char text[8192];
  snprintf(
      text, sizeof text,
      ".version %d.%d\n.target sm_%d\n.address_size 64\n"
      ".visible .entry k(.param .u64 out, .param .u64 in_a, .param .u64 in_b)\n{\n"
      ".shared .align 16 .b8 tile[64];\n"
      ".reg .pred %%p, %%q, %%w; .reg .b16 %%h, %%g, %%a16, %%b16; .reg .f32 %%f; .reg .u32 %%u;\n"
      ".reg .b32 %%s, %%t, %%a32, %%b32, %%thread, %%block; .reg .b64 %%r, %%a, %%b, %%at, %%out;\n"
      "ld.param.u64 %%out, [out]; ld.param.u64 %%a, [in_a]; ld.param.u64 %%b, [in_b];\n"
      "add.u64 %%at, %%out, %d; cvt.u32.u64 %%a32, %%a; cvt.u32.u64 %%b32, %%b; "
      "cvt.u16.u64 %%a16, %%a; cvt.u16.u64 %%b16, %%b;\n"
      "mov.u32 %%thread, %%tid.x; mov.u32 %%block, %%ctaid.x;\n"
      "%s\n%s\nret;\n}\n",
      version / 10, version % 10, target, scratch ? 64 : 0, instructions,
      scratch ? "st.global.b64 [%out], %r;" : "");
  return text;
}

static char log_text[4096];

/* Through the linker, as the library does it. Returns the code of the step that failed. */
static int load(const char *text, void **module) {
  int options[] = {5, 6};
  void *values[] = {log_text, (void *)sizeof log_text};
  void *link;
  void *image;
  size_t size;
  log_text[0] = '\0';
  OK(cuLinkCreate_v2(2, options, values, &link));
  int result =
      cuLinkAddData_v2(link, 1, (void *)(uintptr_t)text, strlen(text) + 1, "k", 0, NULL, NULL);
  if (result == 0) {
    OK(cuLinkComplete(link, &image, &size));
    result = cuModuleLoadData(module, image);
  }
  OK(cuLinkDestroy(link));
  return result;
}

static void *load_function(const char *text, void **module) {
  void *function;
  ck_assert_msg((code = load(text, module)) == 0, "%d: %s\n%s", code, log_text, text);
  OK(cuModuleGetFunction(&function, *module, "k"));
  return function;
}

static int launch(void *function, unsigned blocks, unsigned threads, uint64_t out, uint64_t a,
                  uint64_t b, void *stream) {
  void *parameters[] = {&out, &a, &b};
  return cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, NULL);
}

static unsigned long long allocate(size_t size) {
  unsigned long long address = 0;
  OK(cuMemAlloc_v2(&address, size));
  return address;
}

/* ---- The tables --------------------------------------------------------------------------- */

static const struct value {
  const char *name;
  int target;
  int version;
  const char *instructions;
  uint64_t a;
  uint64_t b;
  uint64_t result;
  bool emulated; /* a GPU may do it another way */
} values[] = {
#define VALUE(name, target, version, instructions, a, b, result) \
  {#name, target, version, instructions, (uint64_t)(a), (uint64_t)(b), (uint64_t)(result), false},
#define EMULATED(name, target, version, instructions, a, b, result) \
  {#name, target, version, instructions, (uint64_t)(a), (uint64_t)(b), (uint64_t)(result), true},
#include "emu_values.def"
#undef EMULATED
#undef VALUE
};
enum { VALUE_COUNT = sizeof values / sizeof values[0] };

START_TEST(values_of_instructions) {
  const struct value *row = &values[_i];
  void *module;
  uint64_t result = 0;
  if ((row->target > 90 || row->emulated) && emu_configure == NULL) {
    return; /* a newer device than most have, or one as strict */
  }
  if (row->target > 90) {
    emu_configure("sm", row->target);
  }
  void *function =
      load_function(frame(row->target, row->version, row->instructions, true), &module);
  unsigned long long out = allocate(128);
  OK(cuMemsetD8_v2(out, 0, 128));
  code = launch(function, 1, 1, out, row->a, row->b, NULL);
  ck_assert_msg(code == 0, "%s: %d: %s", row->name, code,
                emu_last_error != NULL ? emu_last_error() : "");
  OK(cuMemcpyDtoH_v2(&result, out, 8));
  ck_assert_msg(result == row->result, "%s: 0x%llx instead of 0x%llx", row->name,
                (unsigned long long)result, (unsigned long long)row->result);
  OK(cuMemFree_v2(out));
  OK(cuModuleUnload(module));
}
END_TEST

static const struct refusal {
  const char *name;
  int target;
  int version;
  const char *instructions;
  const char *text;
} refusals[] = {
#define REFUSED(name, target, version, instructions, text) \
  {#name, target, version, instructions, text},
#include "emu_refusals.def"
#undef REFUSED
};
enum { REFUSAL_COUNT = sizeof refusals / sizeof refusals[0] };

START_TEST(refused_texts) {
  const struct refusal *row = &refusals[_i];
  void *module;
  code = load(frame(row->target, row->version, row->instructions, false), &module);
  ck_assert_msg(code == 218, "%s gave %d", row->name, code);
  ck_assert_msg(strstr(log_text, row->text) != NULL, "%s: the log is: %s", row->name, log_text);
  ck_assert_msg(strncmp(log_text, "line ", 5) == 0, "%s: %s", row->name, log_text);
  ck_assert_int_eq(emu_count("modules"), 0);
}
END_TEST

enum { FAULT_BYTES = 62 };

static const struct fault {
  const char *name;
  int code;
  const char *instructions;
  const char *text;
} faults[] = {
#define FAULT(name, code, instructions, text) {#name, code, instructions, text},
#include "emu_faults.def"
#undef FAULT
};
enum { FAULT_COUNT = sizeof faults / sizeof faults[0] };

START_TEST(failing_launches) {
  const struct fault *row = &faults[_i];
  void *module;
  unsigned long long out = allocate(FAULT_BYTES);
  void *function = load_function(frame(90, 78, row->instructions, false), &module);
  emu_configure("instruction_limit", 100000);
  code = launch(function, 2, 4, out, 1, 2, NULL);
  const char *message = emu_last_error();
  ck_assert_msg(code == row->code, "%s gave %d: %s", row->name, code, message);
  ck_assert_msg(strstr(message, row->text) != NULL, "%s: the message is: %s", row->name, message);
  ck_assert_msg(strstr(message, "kernel k, block (") != NULL, "%s", message);
  ck_assert_msg(strstr(message, ", line 12: ") != NULL, "%s: %s", row->name, message);
  size_t shown = strcspn(row->instructions, ";");
  ck_assert_msg(memmem(message, strlen(message), row->instructions, shown) != NULL, "%s", message);
  /* The context is lost, as on hardware. */
  ck_assert_int_eq(cuCtxSynchronize(), row->code);
  ck_assert_int_eq(cuMemFree_v2(out), row->code);
  ck_assert_int_eq(cuModuleUnload(module), row->code);
}
END_TEST

static const struct harmless {
  const char *name;
  const char *instructions;
} harmless[] = {
#define HARMLESS(name, instructions) {#name, instructions},
#include "emu_harmless.def"
#undef HARMLESS
};
enum { HARMLESS_COUNT = sizeof harmless / sizeof harmless[0] };

START_TEST(harmless_launches) {
  const struct harmless *row = &harmless[_i];
  void *module;
  unsigned long long out = allocate(FAULT_BYTES);
  void *function = load_function(frame(90, 78, row->instructions, false), &module);
  for (int order = 0; order < 3; order++) {
    emu_configure("block_order", order);
    code = launch(function, 2, 4, out, 1, 2, NULL);
    ck_assert_msg(code == 0, "%s: %d: %s", row->name, code, emu_last_error());
  }
}
END_TEST

/* ---- Versions, targets, images ------------------------------------------------------------ */

static const char empty_kernel[] = ".visible .entry k(.param .u64 out) { ret; }";

static int load_header(const char *version, const char *target) {
  char text[256];
  void *module;
  snprintf(text, sizeof text, ".version %s\n.target %s\n.address_size 64\n%s\n", version, target,
           empty_kernel);
  return load(text, &module);
}

START_TEST(F_01_versions_that_a_driver_takes) {
  int version;
  ck_assert_int_eq(load_header("9.0", "sm_90"), 0);
  ck_assert_int_eq(load_header("9.1", "sm_90"), 222);
  ck_assert_ptr_nonnull(strstr(log_text, "Unsupported .version 9.1; current version is '9.0'"));
  ck_assert_int_eq(load_header("7.9", "sm_80"), 222);
  ck_assert_int_eq(load_header("7.0", "sm_90"), 218);
  OK(cuDriverGetVersion(&version));
  ck_assert_int_eq(version, 13000);
  emu_configure("ptx", 80);
  OK(cuDriverGetVersion(&version));
  ck_assert_int_eq(version, 12000);
  ck_assert_int_eq(load_header("8.1", "sm_90"), 222);
  ck_assert_int_eq(load_header("8.0", "sm_90"), 0);
}
END_TEST

START_TEST(F_05_codes_tell_causes_apart) {
  void *module;
  void *function;
  ck_assert_int_eq(load_header("8.7", "sm_120"), 218);
  ck_assert_ptr_nonnull(strstr(log_text, "higher"));
  ck_assert_int_eq(load_header("6.0", "sm_60"), 0);
  ck_assert_int_eq(load_header("9.0", "sm_77"), 218);
  ck_assert_int_eq(load("hello", &module), 200);
  OK(load(frame(75, 63, "", false), &module));
  ck_assert_int_eq(cuModuleGetFunction(&function, module, "missing"), 500);
  OK(cuCtxSetCurrent(NULL));
  ck_assert_int_eq(cuModuleLoadData(&module, "hello"), 201);
  OK(cuCtxSetCurrent(context));
  emu_configure("jit_missing", 1);
  ck_assert_int_eq(load_header("6.3", "sm_75"), 221);
  emu_configure("jit_missing", 0);
  emu_configure("jit_disabled", 1);
  ck_assert_int_eq(load_header("6.3", "sm_75"), 223);
}
END_TEST

/* Links an empty kernel; the image is the caller's. */
static unsigned char *linked_image(size_t *size) {
  const char *text = frame(75, 63, "// a comment may change and still be read", false);
  void *link;
  void *image;
  OK(cuLinkCreate_v2(0, NULL, NULL, &link));
  OK(cuLinkAddData_v2(link, 1, (void *)(uintptr_t)text, strlen(text) + 1, "k", 0, NULL, NULL));
  OK(cuLinkComplete(link, &image, size));
  unsigned char *copy = malloc(*size);
  memcpy(copy, image, *size);
  OK(cuLinkDestroy(link));
  return copy;
}

START_TEST(E_01_images_are_for_one_device) {
  void *module;
  size_t size;
  unsigned char *image = linked_image(&size);
  OK(cuModuleLoadData(&module, image));
  emu_configure("sm", 100);
  ck_assert_int_eq(cuModuleLoadData(&module, image), 209);
  emu_configure("sm", 80);
  ck_assert_int_eq(cuModuleLoadData(&module, image), 209);
  free(image);
}
END_TEST

START_TEST(E_07_damaged_images_are_refused) {
  void *module;
  size_t size;
  unsigned char *image = linked_image(&size);
  for (size_t k = 1; k < size; k++) {
    image[k] ^= 4;
    ck_assert_int_eq(cuModuleLoadData(&module, image), 200);
    image[k] ^= 4;
  }
  OK(cuModuleLoadData(&module, image));
  free(image);
}
END_TEST

START_TEST(logs_say_how_much_was_written) {
  char info[64] = "x";
  char error[24];
  int options[] = {3, 4, 5, 6};
  void *sizes[] = {info, (void *)sizeof info, error, (void *)sizeof error};
  void *module;
  ck_assert_int_eq(cuModuleLoadDataEx(&module, ".version 6.3 hello", 4, options, sizes), 218);
  ck_assert_uint_eq((uintptr_t)sizes[3], sizeof error);
  ck_assert_uint_eq(strlen(error), sizeof error - 1);
  sizes[3] = (void *)sizeof error;
  OK(cuModuleLoadDataEx(&module, frame(75, 63, "", false), 4, options, sizes));
  ck_assert_uint_eq((uintptr_t)sizes[3], 0);
  ck_assert_str_eq(error, "");
}
END_TEST

/* ---- Contexts, devices, processes --------------------------------------------------------- */

START_TEST(E_15_functions_belong_to_a_context) {
  void *module;
  void *other;
  void *function = load_function(frame(75, 63, "", false), &module);
  unsigned long long out = allocate(64);
  OK(cuCtxCreate_v2(&other, 0, 0));
  ck_assert_int_eq(launch(function, 1, 1, out, 0, 0, NULL), 400);
  ck_assert_int_eq(cuModuleUnload(module), 400);
  OK(cuCtxDestroy_v2(other));
  OK(launch(function, 1, 1, out, 0, 0, NULL));
}
END_TEST

START_TEST(E_16_ids_never_come_back) {
  void *module;
  void *again;
  unsigned long long first;
  unsigned long long second;
  void *function = load_function(frame(75, 63, "", false), &module);
  OK(cuCtxGetId(context, &first));
  unsigned long long out = allocate(64);
  OK(cuDevicePrimaryCtxReset_v2(0));
  ck_assert_int_eq(cuCtxSynchronize(), 709);
  ck_assert_int_eq(cuModuleUnload(module), 709);
  OK(cuDevicePrimaryCtxRetain(&again, 0));
  ck_assert_ptr_eq(again, context);
  OK(cuCtxGetId(context, &second));
  ck_assert_uint_ne(first, second);
  ck_assert_int_eq(launch(function, 1, 1, out, 0, 0, NULL), 400);
  ck_assert_int_eq(cuModuleUnload(module), 400);
  ck_assert_int_eq(emu_count("modules"), 0);
  ck_assert_int_eq(emu_count("allocations"), 0);
  ck_assert_int_eq(cuMemFree_v2(out), 1);
  OK(cuDevicePrimaryCtxRelease_v2(0));
}
END_TEST

START_TEST(E_17_a_forked_child_gets_3) {
  pid_t child = fork();
  if (child == 0) {
    int version;
    _exit(cuInit(0) == 3 && cuDriverGetVersion(&version) == 3 && cuCtxSynchronize() == 3 ? 0 : 1);
  }
  int status;
  waitpid(child, &status, 0);
  ck_assert_int_eq(status, 0);
  OK(cuCtxSynchronize());
}
END_TEST

START_TEST(G_01_no_device_and_stub) {
  const char *text = "x";
  int count;
  emu_configure("no_device", 1);
  ck_assert_int_eq(cuInit(0), 100);
  emu_configure("no_device", 0);
  emu_configure("stub", 1);
  ck_assert_int_eq(cuInit(0), 34);
  ck_assert_int_eq(cuDeviceGetCount(&count), 34);
  ck_assert_int_eq(cuGetErrorString(34, &text), 34);
  ck_assert_ptr_null(text);
  emu_configure("stub", 0);
  OK(cuGetErrorString(218, &text));
  ck_assert_str_eq(text, "a PTX JIT compilation failed");
  OK(cuGetErrorName(218, &text));
  ck_assert_str_eq(text, "CUDA_ERROR_INVALID_PTX");
  ck_assert_int_eq(cuGetErrorName(987, &text), 1);
}
END_TEST

START_TEST(devices_have_their_own_capability) {
  int value;
  int device;
  void *second;
  emu_configure("devices", 2);
  emu_configure("sm0", 80);
  emu_configure("sm1", 121);
  OK(cuDeviceGet(&device, 1));
  OK(cuDeviceGetAttribute(&value, 75, device));
  ck_assert_int_eq(value, 12);
  OK(cuDeviceGetAttribute(&value, 76, device));
  ck_assert_int_eq(value, 1);
  ck_assert_int_eq(cuDeviceGet(&device, 2), 101);
  ck_assert_int_eq(load_header("7.8", "sm_90"), 218);
  OK(cuDevicePrimaryCtxRetain(&second, 1));
  OK(cuCtxPushCurrent_v2(second));
  OK(cuCtxGetDevice(&device));
  ck_assert_int_eq(device, 1);
  OK(load_header("8.7", "sm_120"));
  OK(cuCtxPopCurrent_v2(&second));
  OK(cuDevicePrimaryCtxRelease_v2(1));
}
END_TEST

START_TEST(planned_failures) {
  unsigned long long out;
  emu_fail("cuMemAlloc_v2", 2, 2);
  OK(cuMemAlloc_v2(&out, 4));
  OK(cuCtxSynchronize());
  ck_assert_int_eq(cuMemAlloc_v2(&out, 4), 2);
  OK(cuMemAlloc_v2(&out, 4));
  emu_configure("fail_code", 987);
  emu_configure("fail_at", 3);
  OK(cuCtxSynchronize());
  OK(cuCtxSynchronize());
  ck_assert_int_eq(cuCtxSynchronize(), 987);
  OK(cuCtxSynchronize());
  ck_assert_int_eq(emu_count("cuMemAlloc_v2"), 3);
  ck_assert_int_eq(emu_count("nothing"), -1);
  ck_assert_int_eq(emu_fail("nothing", 1, 1), 1);
  ck_assert_int_eq(emu_configure("nothing", 1), 1);
}
END_TEST

/* ---- Launches and memory ------------------------------------------------------------------ */

START_TEST(launch_checks_shapes_and_parameters) {
  void *module;
  struct {
    uint64_t out, a, b;
  } buffer = {allocate(128), 41, 1};
  size_t size = sizeof buffer;
  void *extra[] = {(void *)1, &buffer, (void *)2, &size, NULL};
  uint64_t result;
  void *function = load_function(frame(75, 63, "add.u64 %r, %a, %b;", true), &module);
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
  OK(cuMemcpyDtoH_v2(&result, buffer.out, 8));
  ck_assert_uint_eq(result, 42);
  size = 16;
  ck_assert_int_eq(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), 1);
  ck_assert_int_eq(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), 1);
  ck_assert_int_eq(launch(function, 0, 1, buffer.out, 0, 0, NULL), 1);
  ck_assert_int_eq(launch(function, 1, 1025, buffer.out, 0, 0, NULL), 1);
}
END_TEST

START_TEST(memory_is_exact_and_lazy) {
  unsigned long long large = allocate((size_t)6 << 30);
  unsigned long long small = allocate(5);
  unsigned char bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  OK(cuMemsetD8_v2(large + ((unsigned long long)5 << 30), 7, 4));
  OK(cuMemcpyDtoH_v2(bytes, large + ((unsigned long long)5 << 30), 4));
  ck_assert_int_eq(bytes[3], 7);
  ck_assert_int_eq(cuMemcpyHtoD_v2(small, bytes, 6), 1);
  OK(cuMemcpyHtoD_v2(small, bytes, 5));
  ck_assert_int_eq(cuMemcpyDtoD_v2(small + 1, large, 5), 1);
  ck_assert_int_eq(cuMemFree_v2(small + 1), 1);
  OK(cuMemFree_v2(small));
  ck_assert_int_eq(cuMemFree_v2(small), 1);
  ck_assert_int_eq(cuMemcpyHtoD_v2(small, bytes, 1), 1);
  ck_assert_int_eq(cuMemAlloc_v2(&small, (size_t)1 << 45), 2);
  ck_assert_int_eq(cuMemAlloc_v2(&small, 0), 1);
  OK(cuMemFree_v2(large));
  ck_assert_int_eq(emu_count("allocations"), 0);
}
END_TEST

START_TEST(subnormals_of_f32_are_a_setting) {
  void *module;
  uint64_t result;
  unsigned long long out = allocate(128);
  void *function = load_function(
      frame(75, 63,
            "st.global.b64 [%at], %a; red.global.add.f32 [%at], %b32; ld.global.b64 %r, [%at];",
            true),
      &module);
  emu_configure("flush_f32", 0);
  OK(launch(function, 1, 1, out, 1, 2, NULL));
  OK(cuMemcpyDtoH_v2(&result, out, 8));
  ck_assert_uint_eq(result, 3);
}
END_TEST

/* ---- Capture ------------------------------------------------------------------------------ */

enum { ADD_ONE_BYTES = 64 };

START_TEST(E_18_captured_work_runs_when_the_graph_does) {
  void *module;
  void *stream;
  void *graph;
  void *executable;
  int status;
  uint32_t value;
  unsigned long long out = allocate(ADD_ONE_BYTES);
  void *function = load_function(frame(75, 63, "red.global.add.u32 [%at], %a32;", false), &module);
  OK(cuMemsetD8_v2(out, 0, ADD_ONE_BYTES));
  OK(cuStreamCreate(&stream, 0));
  OK(cuStreamBeginCapture_v2(stream, 0));
  OK(cuStreamIsCapturing(stream, &status));
  ck_assert_int_eq(status, 1);
  OK(launch(function, 1, 2, out, 5, 0, stream));
  OK(cuMemcpyDtoDAsync_v2(out + 4, out, 4, stream));
  OK(load(frame(75, 63, "", false), &module));
  OK(cuStreamEndCapture(stream, &graph));
  OK(cuMemcpyDtoH_v2(&value, out, 4));
  ck_assert_uint_eq(value, 0);
  OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  OK(cuGraphDestroy(graph));
  OK(cuGraphLaunch(executable, stream));
  OK(cuGraphLaunch(executable, stream));
  OK(cuMemcpyDtoH_v2(&value, out + 4, 4));
  ck_assert_uint_eq(value, 20);
  OK(cuGraphExecDestroy(executable));
  OK(cuStreamDestroy_v2(stream));
}
END_TEST

/* Begins a capture, does one thing, ends it. */
static int capture_with(int what, int mode) {
  void *module;
  void *stream;
  void *graph;
  unsigned long long out;
  int relaxed = 2;
  OK(load(frame(75, 63, "", false), &module));
  OK(cuStreamCreate(&stream, 0));
  OK(cuStreamBeginCapture_v2(stream, mode));
  if (what == 1) {
    ck_assert_int_eq(cuMemAlloc_v2(&out, 4), mode == 2 ? 0 : 900);
  } else if (what == 2) {
    ck_assert_int_eq(cuModuleUnload(module), mode == 2 ? 0 : 900);
  } else if (what == 3) {
    OK(cuThreadExchangeStreamCaptureMode(&relaxed));
    OK(cuModuleUnload(module));
    OK(cuThreadExchangeStreamCaptureMode(&relaxed));
    ck_assert_int_eq(relaxed, 2);
  } else if (what == 4) {
    ck_assert_int_eq(cuMemcpyDtoDAsync_v2(0, 0, 0, NULL), 906);
  }
  int ended = cuStreamEndCapture(stream, &graph);
  OK(cuStreamDestroy_v2(stream));
  return ended;
}

START_TEST(E_18_unsafe_calls_end_a_capture) {
  ck_assert_int_eq(capture_with(0, 0), 0);
  ck_assert_int_eq(capture_with(1, 0), 901);
  ck_assert_int_eq(capture_with(1, 1), 901);
  ck_assert_int_eq(capture_with(1, 2), 0);
  ck_assert_int_eq(capture_with(2, 0), 901);
  ck_assert_int_eq(capture_with(3, 0), 0);
  ck_assert_int_eq(capture_with(4, 0), 901);
}
END_TEST

/* ---- Threads ------------------------------------------------------------------------------ */

static void *link_load_and_launch(void *argument) {
  intptr_t number = (intptr_t)argument;
  for (int round = 0; round < 20; round++) {
    const char *text = "\n.version 6.3\n.target sm_75\n.visible .entry k(.param .u64 out) {\n"
                       ".reg .b64 %a; .reg .b32 %t; ld.param.u64 %a, [out]; mov.u32 %t, %tid.x;\n"
                       "mad.wide.u32 %a, %t, 4, %a; st.global.b32 [%a], %t; }\n";
    void *link;
    void *image;
    void *module;
    void *function;
    size_t size;
    unsigned long long out;
    unsigned seen[64];
    if (cuCtxSetCurrent(context) != 0 || cuLinkCreate_v2(0, NULL, NULL, &link) != 0 ||
        cuLinkAddData_v2(link, 1, (void *)(uintptr_t)text, strlen(text), "k", 0, NULL, NULL) != 0 ||
        cuLinkComplete(link, &image, &size) != 0 || cuModuleLoadData(&module, image) != 0 ||
        cuLinkDestroy(link) != 0 || cuModuleGetFunction(&function, module, "k") != 0 ||
        cuMemAlloc_v2(&out, sizeof seen) != 0) {
      return argument;
    }
    void *parameters[] = {&out};
    if (cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, parameters, NULL) != 0 ||
        cuMemcpyDtoH_v2(seen, out, sizeof seen) != 0 || seen[number] != (unsigned)number ||
        cuMemFree_v2(out) != 0 || cuModuleUnload(module) != 0) {
      return argument;
    }
  }
  return NULL;
}

START_TEST(E_14_threads_load_and_launch_at_once) {
  pthread_t threads[8];
  void *result;
  for (intptr_t k = 0; k < 8; k++) {
    ck_assert_int_eq(pthread_create(&threads[k], NULL, link_load_and_launch, (void *)(k + 1)), 0);
  }
  for (int k = 0; k < 8; k++) {
    pthread_join(threads[k], &result);
    ck_assert_ptr_null(result);
  }
  ck_assert_int_eq(emu_count("allocations"), 0);
  ck_assert_int_eq(emu_count("modules"), 0);
}
END_TEST

int main(int argc, char **argv) {
  bool values_only = argc > 1 && strcmp(argv[1], "values") == 0;
  Suite *suite = suite_create("emu");
  TCase *group = tcase_create("driver");
  tcase_add_checked_fixture(group, setup, teardown);
  tcase_set_timeout(group, 60);
  tcase_add_loop_test(group, values_of_instructions, 0, VALUE_COUNT);
  if (!values_only) {
    tcase_add_loop_test(group, refused_texts, 0, REFUSAL_COUNT);
    tcase_add_loop_test(group, failing_launches, 0, FAULT_COUNT);
    tcase_add_loop_test(group, harmless_launches, 0, HARMLESS_COUNT);
    tcase_add_test(group, F_01_versions_that_a_driver_takes);
    tcase_add_test(group, F_05_codes_tell_causes_apart);
    tcase_add_test(group, E_01_images_are_for_one_device);
    tcase_add_test(group, E_07_damaged_images_are_refused);
    tcase_add_test(group, logs_say_how_much_was_written);
    tcase_add_test(group, E_15_functions_belong_to_a_context);
    tcase_add_test(group, E_16_ids_never_come_back);
    tcase_add_test(group, E_17_a_forked_child_gets_3);
    tcase_add_test(group, G_01_no_device_and_stub);
    tcase_add_test(group, devices_have_their_own_capability);
    tcase_add_test(group, planned_failures);
    tcase_add_test(group, launch_checks_shapes_and_parameters);
    tcase_add_test(group, memory_is_exact_and_lazy);
    tcase_add_test(group, subnormals_of_f32_are_a_setting);
    tcase_add_test(group, E_18_captured_work_runs_when_the_graph_does);
    tcase_add_test(group, E_18_unsafe_calls_end_a_capture);
    tcase_add_test(group, E_14_threads_load_and_launch_at_once);
  }
  suite_add_tcase(suite, group);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}
