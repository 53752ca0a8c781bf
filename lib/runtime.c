/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "runtime_state.h"

#include "desc.h"
#include "status.h"
#include "structs.h"
#include "target.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Create and destroy ---------------------------------------------------------------------- */

void tptx_runtime_options_init(tptx_runtime_options *options) {
  if (!options) return;
  memset(options, 0, sizeof *options);
  options->struct_size = sizeof *options;
  options->capacity = 1024;
  tptx_target_init(&options->target);
  options->target.sm = 0;
  options->target.ptx = 0;
  options->read_environment = 1;
  options->topics = TPTX_TOPIC_WARNING;
}

void tptx_kernel_attributes_init(tptx_kernel_attributes *attributes) {
  *attributes = (tptx_kernel_attributes){.struct_size = sizeof *attributes};
}

void tptx_request_init(tptx_request *request) {
  *request = (tptx_request){.struct_size = sizeof *request};
}

void tptx_counters_init(tptx_counters *counters) {
  *counters = (tptx_counters){.struct_size = sizeof *counters};
}

void tptx_runtime_info_init(tptx_runtime_info *info) {
  *info = (tptx_runtime_info){.struct_size = sizeof *info};
}

static const char *environment(const tptx_runtime_options *options, const char *name) {
  const char *value = options->read_environment ? getenv(name) : NULL;
  return value && *value ? value : NULL;
}

/* "sm_90" */
static tptx_status read_target(const char *word, int32_t *sm, tptx_error *error) {
  int32_t number = 0;
  const char *digit = strncmp(word, "sm_", 3) == 0 ? word + 3 : "";
  for (; *digit >= '0' && *digit <= '9' && number < 10000; digit++)
    number = number * 10 + (*digit - '0');
  REFUSE_IF(*digit || target_lowest_ptx(number) == 0, error, TPTX_ERROR_TARGET, "TILEPTX_TARGET",
            -1, "TILEPTX_TARGET is \"%.40s\"; expected a known target such as sm_90", word);
  *sm = number;
  return TPTX_OK;
}

static tptx_status read_options(const tptx_runtime_options *given, tptx_runtime_options *options,
                                tptx_error *error) {
  tptx_runtime_options_init(options);
  if (given) FORWARD(struct_take(options, given, sizeof *options, "runtime_options", error));
  REFUSE_IF(options->capacity < 0, error, TPTX_ERROR_INVALID_ARGUMENT, "options.capacity", -1,
            "options.capacity is %lld; expected 0 or more kernels", (long long)options->capacity);
  options->target.struct_size = sizeof options->target;
  if (!options->driver || !*options->driver)
    options->driver = environment(options, "TILEPTX_DRIVER");
  const char *target = environment(options, "TILEPTX_TARGET");
  if (target && options->target.sm == 0) FORWARD(read_target(target, &options->target.sm, error));
  REFUSE_IF(options->target.sm != 0 && target_lowest_ptx(options->target.sm) == 0, error,
            TPTX_ERROR_TARGET, "options.target.sm", -1,
            "options.target.sm is %d, which is no known target; expected 0 or one such as 90",
            options->target.sm);
  REFUSE_IF(options->target.ptx != 0 && !target_ptx_exists(options->target.ptx), error,
            TPTX_ERROR_PTX_VERSION, "options.target.ptx", -1,
            "options.target.ptx is %d; expected 0 or an existing PTX version such as 80",
            options->target.ptx);
  return TPTX_OK;
}

/* Everything of a runtime but the driver, which runtime_release closes. */
static tptx_status open_parts(tptx_runtime *runtime, const tptx_runtime_options *options,
                              tptx_error *error) {
  FORWARD(cache_open(&runtime->cache, &runtime->allocator, (uint64_t)options->capacity, error));
  tptx_status status = trace_open(&runtime->trace, options, &runtime->allocator, error);
  if (status != TPTX_OK) {
    cache_close(&runtime->cache);
    return status;
  }
  contexts_open(&runtime->contexts, &runtime->driver, &runtime->allocator, options->target.sm);
  runtime->target = options->target;
  if (runtime->target.ptx == 0) runtime->target.ptx = runtime->driver.ptx;
  runtime->compile_in_capture = options->compile_in_capture != 0;
  fork_guard_open(&runtime->guard);
  atomic_init(&runtime->references, 1);
  atomic_init(&runtime->launches, 0);
  return TPTX_OK;
}

tptx_status tptx_runtime_create(const tptx_runtime_options *given, tptx_runtime **out,
                                tptx_error *error) {
  tptx_runtime_options options;
  tptx_allocator allocator;
  REFUSE_IF(!out, error, TPTX_ERROR_INVALID_ARGUMENT, "out", -1, "out is NULL");
  *out = NULL;
  FORWARD(read_options(given, &options, error));
  FORWARD(allocator_make(options.allocator, &allocator, error));
  tptx_runtime *runtime = allocate(&allocator, sizeof *runtime);
  REFUSE_IF(!runtime, error, TPTX_ERROR_OUT_OF_MEMORY, "", -1, "no memory for a runtime");
  runtime->allocator = allocator;
  tptx_status status = driver_open(&runtime->driver, options.driver,
                                   environment(&options, "TILEPTX_EMU_PATH"), error);
  if (status == TPTX_OK) {
    status = open_parts(runtime, &options, error);
    if (status != TPTX_OK) driver_close(&runtime->driver);
  }
  if (status != TPTX_OK) {
    release(&allocator, runtime);
    return status;
  }
  *out = runtime;
  return TPTX_OK;
}

void runtime_release(tptx_runtime *runtime) {
  if (atomic_fetch_sub(&runtime->references, 1) > 1) return;
  tptx_allocator allocator = runtime->allocator;
  cache_close(&runtime->cache);
  contexts_close(&runtime->contexts);
  trace_close(&runtime->trace, &allocator);
  driver_close(&runtime->driver);
  fork_guard_close(&runtime->guard);
  release(&allocator, runtime);
}

void tptx_runtime_destroy(tptx_runtime *runtime) {
  if (!runtime || runtime_forked(runtime)) return;
  cache_clear(&runtime->cache);
  runtime_release(runtime);
}

bool runtime_forked(const tptx_runtime *runtime) {
  return fork_guard_forked(&runtime->guard);
}

tptx_status runtime_enter(const tptx_runtime *runtime, tptx_error *error) {
  REFUSE_IF(!runtime, error, TPTX_ERROR_INVALID_ARGUMENT, "runtime", -1, "runtime is NULL");
  REFUSE_IF(runtime_forked(runtime), error, TPTX_ERROR_FORKED, "", -1,
            "this process was forked after the runtime had started the driver, which does not work "
            "in a child; fork first, or exec in the child, and create the runtime there");
  return TPTX_OK;
}

/* ---- Requests -------------------------------------------------------------------------------- */

tptx_status lookup_begin(tptx_runtime *runtime, struct lookup *lookup, tptx_error *error) {
  FORWARD(runtime_enter(runtime, error));
  lookup->runtime = runtime;
  lookup->generation = cache_generation(&runtime->cache);
  return context_current(&runtime->driver, &lookup->context, error);
}

tptx_status lookup_describe(struct lookup *lookup, const tptx_view *view, const tptx_op *op,
                            tptx_error *error) {
  tptx_runtime *runtime = lookup->runtime;
  bool replaced;
  int sm;
  FORWARD(contexts_sm(&runtime->contexts, lookup->context, &sm, &replaced, error));
  if (replaced) cache_drop_replaced(&runtime->cache, lookup->context);
  tptx_target target = runtime->target;
  target.sm = sm;
  FORWARD(describe(view, op, &target, &lookup->signature, error));
  return key_make(&lookup->signature, &lookup->key, error);
}

static uint64_t microseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static tptx_status build(void *user, tptx_kernel **out, uint64_t *microseconds, tptx_error *error) {
  const struct lookup *lookup = user;
  uint64_t begin = microseconds_now();
  tptx_status status =
      kernel_build(lookup->runtime, lookup->context, &lookup->signature, &lookup->key, out, error);
  *microseconds = microseconds_now() - begin;
  const struct trace *trace = &lookup->runtime->trace;
  if (!trace_wants(trace, TPTX_TOPIC_BUILD)) return status;
  if (*out)
    trace_line(trace, TPTX_TOPIC_BUILD, "build TPTX_OK %" PRIu64 " us, PTX %zu B, binary %zu B, %s",
               *microseconds, (*out)->ptx->text_bytes, (*out)->binary_bytes, lookup->key.line);
  else
    trace_line(trace, TPTX_TOPIC_BUILD, "build %s %" PRIu64 " us, %s", tptx_status_name(status),
               *microseconds, lookup->key.line);
  return status;
}

static struct cache_request request_of(struct lookup *lookup) {
  return (struct cache_request){lookup->context, &lookup->key, build, lookup};
}

static void trace_request(const struct lookup *lookup, enum cache_outcome outcome,
                          const struct key *key) {
  static const char *const words[] = {
      [CACHE_HIT] = "hit", [CACHE_WAIT] = "wait", [CACHE_MISS] = "miss"};
  if (trace_wants(&lookup->runtime->trace, TPTX_TOPIC_CACHE))
    trace_line(&lookup->runtime->trace, TPTX_TOPIC_CACHE, "cache %s %s", words[outcome], key->line);
}

tptx_kernel *lookup_recall(const struct lookup *lookup, const struct shortcut_call *call,
                           const struct classes *classes) {
  return cache_recall(&lookup->runtime->cache, call, classes);
}

void lookup_recalled(const struct lookup *lookup, const tptx_kernel *kernel) {
  trace_request(lookup, CACHE_HIT, &kernel->ptx->key);
}

void lookup_in_vain(const struct lookup *lookup, tptx_kernel *kernel) {
  cache_recalled_in_vain(&lookup->runtime->cache);
  tptx_kernel_release(kernel);
}

void lookup_keep_shortcut(const struct lookup *lookup, const struct shortcut_call *call,
                          tptx_kernel *kernel) {
  cache_keep_shortcut(&lookup->runtime->cache, call, lookup->generation, kernel);
}

tptx_kernel *lookup_find(struct lookup *lookup) {
  struct cache_request request = request_of(lookup);
  tptx_kernel *kernel = cache_find(&lookup->runtime->cache, &request);
  if (kernel) trace_request(lookup, CACHE_HIT, &lookup->key);
  return kernel;
}

tptx_status lookup_build(struct lookup *lookup, tptx_kernel **out, tptx_error *error) {
  struct cache_request request = request_of(lookup);
  enum cache_outcome outcome = CACHE_MISS;
  tptx_status status = cache_build(&lookup->runtime->cache, &request, out, &outcome, error);
  trace_request(lookup, outcome, &lookup->key);
  return status;
}

tptx_status tptx_kernel_get(tptx_runtime *runtime, const tptx_view *view, const tptx_op *op,
                            tptx_kernel **out, tptx_error *error) {
  struct lookup lookup;
  REFUSE_IF(!out, error, TPTX_ERROR_INVALID_ARGUMENT, "out", -1, "out is NULL");
  *out = NULL;
  FORWARD(lookup_begin(runtime, &lookup, error));
  FORWARD(struct_check(view, sizeof *view, "view", error));
  FORWARD(struct_check(op, sizeof *op, "op", error));
  struct classes classes = classes_without_operands(promised_classes(view, op), view->type);
  struct shortcut_call call = {lookup.context, view, op, shortcut_hash(lookup.context, view, op)};
  *out = lookup_recall(&lookup, &call, &classes);
  if (*out) {
    lookup_recalled(&lookup, *out);
    return TPTX_OK;
  }
  FORWARD(lookup_describe(&lookup, view, op, error));
  *out = lookup_find(&lookup);
  if (!*out) FORWARD(lookup_build(&lookup, out, error));
  lookup_keep_shortcut(&lookup, &call, *out);
  return TPTX_OK;
}

/* ---- Controls -------------------------------------------------------------------------------- */

tptx_status tptx_runtime_counters(tptx_runtime *runtime, tptx_counters *counters,
                                  tptx_error *error) {
  tptx_counters now;
  FORWARD(runtime_enter(runtime, error));
  cache_count(&runtime->cache, &now);
  now.launches = atomic_load(&runtime->launches);
  return struct_give(counters, &now, sizeof now, "counters", error);
}

void tptx_runtime_clear(tptx_runtime *runtime) {
  if (runtime && !runtime_forked(runtime)) cache_clear(&runtime->cache);
}

tptx_status tptx_runtime_get_info(tptx_runtime *runtime, tptx_runtime_info *info,
                                  tptx_error *error) {
  FORWARD(runtime_enter(runtime, error));
  tptx_runtime_info now = {sizeof now,          runtime->driver.path,     runtime->driver.version,
                           runtime->driver.ptx, runtime->driver.emulated, 0};
  struct context context;
  int sm = 0;
  if (context_current(&runtime->driver, &context, NULL) == TPTX_OK &&
      context_device_target(&runtime->driver, &sm, NULL) == TPTX_OK)
    now.sm = sm;
  return struct_give(info, &now, sizeof now, "runtime_info", error);
}
