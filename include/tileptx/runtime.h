/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver half of tileptx: compile, keep, launch.
 *
 * The CUDA driver is opened with dlopen when a runtime is created; programs that use tileptx start
 * on machines without one. The library uses the caller's current context and the caller's stream,
 * creates no context, changes none, and starts no thread except in tptx_prepare when asked.
 *
 * A tptx_runtime may be used by any number of threads at once, but not by a child of the process
 * that created it: there every call is refused (FORKED), release, clear and destroy do nothing, and
 * what a kernel tells about itself stays readable.
 * All of this header exists since 0.1.0 unless said otherwise.
 */
#ifndef TILEPTX_RUNTIME_H
#define TILEPTX_RUNTIME_H

#include <tileptx/emit.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tptx_runtime tptx_runtime;
typedef struct tptx_kernel tptx_kernel;
typedef void *tptx_stream; /* a CUstream; NULL and the two special values are passed on untouched */

/* What a log or trace line is about; bits of tptx_runtime_options.topics. */
typedef int32_t tptx_topic;
enum {
  TPTX_TOPIC_WARNING = 1, /* something was left out, such as a dump that could not be written */
  TPTX_TOPIC_CACHE = 2,   /* one line a request: hit, wait or miss, and the signature */
  TPTX_TOPIC_BUILD = 4,   /* one line a build: milliseconds, PTX and cubin bytes, status */
  TPTX_TOPIC_LAUNCH = 8   /* one line a launch: blocks, threads, signature */
};

/*
 * `line` is one line without newline, alive during the call. May be called from any thread, and
 * must not call back into the runtime it comes from.
 */
typedef void (*tptx_log)(void *user, tptx_topic topic, const char *line);

typedef struct tptx_runtime_options {
  size_t struct_size;
  const char *driver; /* path of the driver library, "emu" for the emulated one, NULL: the
                         environment's TILEPTX_DRIVER, else libcuda.so.1 */
  int64_t capacity;   /* kernels kept, 0: none is kept beyond its last holder; default 1024. Room is
                         made when a kernel is built, the least recently used first, never of one
                         that is held or was launched into a capture: with more of those than
                         capacity, more are kept */
  tptx_target target; /* 0 fields (default): the current device's, the driver's */
  int32_t read_environment;   /* 1 (default): TILEPTX_* variables fill what is not set here */
  int32_t compile_in_capture; /* 1: tptx_run may compile while its stream is being captured */
  const char *dump_directory; /* every PTX text is written here, before it is compiled */
  tptx_log log;
  void *log_user;
  int32_t topics;                  /* which lines `log` gets; default TPTX_TOPIC_WARNING */
  const tptx_allocator *allocator; /* copied; NULL: malloc and free */
} tptx_runtime_options;

TPTX_API void tptx_runtime_options_init(tptx_runtime_options *options);

/*
 * Opens the driver. `options` may be NULL. Fails with NO_DRIVER (with the loader's own text),
 * STUB_DRIVER, OLD_DRIVER, NO_DEVICE; a later call may succeed. Environment, read once here unless
 * read_environment is 0: TILEPTX_DRIVER, TILEPTX_EMU_PATH (the emulated driver's file),
 * TILEPTX_TARGET (sm_90), TILEPTX_DUMP_DIR, TILEPTX_TRACE (comma-separated topics warning, cache,
 * build, launch, all; adds to `topics`, and does nothing without `log`).
 */
TPTX_API tptx_status tptx_runtime_create(const tptx_runtime_options *options, tptx_runtime **out,
                                         tptx_error *error);

/*
 * Drops every kernel and closes the runtime. Kernels still held stay valid until released; the last
 * release frees what remains. Contexts that are gone are no error. NULL is allowed.
 *
 * Whatever drops a kernel for good (destroy, clear, the last release of one that left the cache)
 * unloads its module: launches under way are let finish by the driver, but a graph that was
 * captured from it must not be launched any more. None of them may be called from a host function
 * in a stream.
 */
TPTX_API void tptx_runtime_destroy(tptx_runtime *runtime);

/*
 * A loaded kernel for the current context: from the cache, or built now. Compilation happens once
 * however many threads ask; the others wait for its result or its error. A failed build leaves
 * nothing behind. view->align, op->arith and op->picks 0 mean the element's size, 64 and SPARSE
 * here; what tptx_run will look for is got with the classes that tptx_specialise finds. The handle
 * is the caller's and is given back by tptx_kernel_release.
 */
TPTX_API tptx_status tptx_kernel_get(tptx_runtime *runtime, const tptx_view *view,
                                     const tptx_op *op, tptx_kernel **out, tptx_error *error);
TPTX_API void tptx_kernel_release(tptx_kernel *kernel); /* NULL is allowed */

/* The text, signature, parameters of a kernel; belongs to the kernel. */
TPTX_API const tptx_ptx *tptx_kernel_ptx(const tptx_kernel *kernel);
/* The machine code the driver made; belongs to the kernel. */
TPTX_API tptx_status tptx_kernel_binary(const tptx_kernel *kernel, const void **data, size_t *bytes,
                                        tptx_error *error);

typedef struct tptx_kernel_attributes {
  size_t struct_size;
  int32_t registers;    /* a thread */
  int32_t local_bytes;  /* a thread */
  int32_t shared_bytes; /* a block, static */
  int32_t constant_bytes;
  int32_t max_threads;    /* a block */
  int32_t binary_version; /* 90 is sm_90 */
} tptx_kernel_attributes;

TPTX_API void tptx_kernel_attributes_init(tptx_kernel_attributes *attributes);

TPTX_API tptx_status tptx_kernel_get_attributes(const tptx_kernel *kernel,
                                                tptx_kernel_attributes *attributes,
                                                tptx_error *error);

/*
 * Launches on the caller's stream, in the current context, which must be the kernel's
 * (WRONG_CONTEXT otherwise). Allocates nothing, waits for nothing, compiles nothing. Everything
 * tptx_bind refuses is refused before the driver is called. An empty box succeeds and launches
 * nothing. May be captured.
 */
TPTX_API tptx_status tptx_launch(tptx_kernel *kernel, const tptx_args *args, tptx_stream stream,
                                 tptx_error *error);

/*
 * Finds the classes of the operands (tptx_specialise), gets the kernel, launches it. On a miss
 * while `stream` is being captured: CAPTURING, unless options.compile_in_capture.
 */
TPTX_API tptx_status tptx_run(tptx_runtime *runtime, const tptx_view *view, const tptx_op *op,
                              const tptx_args *args, tptx_stream stream, tptx_error *error);

typedef struct tptx_request {
  size_t struct_size;
  const tptx_view *view;
  const tptx_op *op;
  tptx_status status; /* out */
} tptx_request;

TPTX_API void tptx_request_init(tptx_request *request);

/*
 * Builds many kernels for the current context, on `threads` threads (0 and 1: the calling one; 64
 * at most are started).
 * Every request gets its own status; the first failure, in the order of the requests, is returned
 * and described in `error`. Kernels stay in the cache as long as its capacity allows.
 */
TPTX_API tptx_status tptx_prepare(tptx_runtime *runtime, tptx_request *requests, size_t count,
                                  uint32_t threads, tptx_error *error);

typedef struct tptx_counters {
  size_t struct_size;
  uint64_t hits;     /* read while other threads call: up to one a thread too many */
  uint64_t misses;   /* requests that had to build */
  uint64_t waits;    /* requests that waited for another thread's build */
  uint64_t builds;   /* finished, good ones */
  uint64_t failures; /* finished, failed ones */
  uint64_t evictions;
  uint64_t launches;
  uint64_t kept;               /* kernels in the cache now */
  uint64_t build_microseconds; /* sum over builds, emission, compilation and load together */
} tptx_counters;

TPTX_API void tptx_counters_init(tptx_counters *counters);

TPTX_API tptx_status tptx_runtime_counters(tptx_runtime *runtime, tptx_counters *counters,
                                           tptx_error *error);

/*
 * Drops every kernel that nobody holds, captured or not (see tptx_runtime_destroy); held ones leave
 * the cache and live until released.
 */
TPTX_API void tptx_runtime_clear(tptx_runtime *runtime);

typedef struct tptx_runtime_info {
  size_t struct_size;
  const char *driver_path; /* what was opened; belongs to the runtime */
  int32_t driver_version;  /* cuDriverGetVersion: 13000 is 13.0 */
  int32_t ptx;             /* highest PTX version the driver takes: 90 is 9.0 */
  int32_t emulated;        /* 1 with the emulated driver */
  int32_t sm;              /* of the current context's device, 0 without a current context */
} tptx_runtime_info;

TPTX_API void tptx_runtime_info_init(tptx_runtime_info *info);

TPTX_API tptx_status tptx_runtime_get_info(tptx_runtime *runtime, tptx_runtime_info *info,
                                           tptx_error *error);

#ifdef __cplusplus
}
#endif

#endif
