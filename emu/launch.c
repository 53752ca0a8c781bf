/* SPDX-License-Identifier: Apache-2.0 */
/* cuLaunchKernel: checks, parameters, and a free interpreter. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "control.h"
#include "interpret.h"
#include "memory.h"
#include "module.h"

enum { MAX_THREADS = 1024, MAX_BLOCK_Z = 64, MAX_GRID_YZ = 65535, MAX_IDLE = 8 };
enum { EXTRA_END = 0, EXTRA_POINTER = 1, EXTRA_SIZE = 2, SHARED_LIMIT = 227 * 1024 };

/* Interpreters that no launch uses: their buffers are worth keeping. */
static struct {
  pthread_mutex_t lock;
  struct interpreter *idle[MAX_IDLE];
  int count;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct interpreter *take_interpreter(void) {
  struct interpreter *machine = NULL;
  pthread_mutex_lock(&pool.lock);
  if (pool.count > 0) {
    machine = pool.idle[--pool.count];
  }
  pthread_mutex_unlock(&pool.lock);
  return machine != NULL ? machine : interpreter_new();
}

static void return_interpreter(struct interpreter *machine) {
  pthread_mutex_lock(&pool.lock);
  if (pool.count < MAX_IDLE) {
    pool.idle[pool.count++] = machine;
    machine = NULL;
  }
  pthread_mutex_unlock(&pool.lock);
  interpreter_free(machine);
}

__attribute__((destructor)) static void release_pool(void) {
  while (pool.count > 0) {
    interpreter_free(pool.idle[--pool.count]);
  }
}

static struct function *acquire_function(const struct context *context, void *handle) {
  struct function *function = object_acquire(handle, OBJECT_FUNCTION);
  if (function != NULL && function->object.context == context_id(context)) {
    return function;
  }
  object_release(function);
  fail(ERROR_INVALID_HANDLE, "%p is no function of the current context", handle);
  return NULL;
}

static int check_shape(const struct work *work, const struct kernel *kernel) {
  const uint32_t *grid = work->grid;
  const uint32_t *block = work->block;
  uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || threads == 0) {
    return fail(ERROR_INVALID_VALUE, "kernel %s: empty grid or block", kernel->name);
  }
  if (grid[0] > INT32_MAX || grid[1] > MAX_GRID_YZ || grid[2] > MAX_GRID_YZ ||
      block[0] > MAX_THREADS || block[1] > MAX_THREADS || block[2] > MAX_BLOCK_Z ||
      threads > MAX_THREADS) {
    return fail(ERROR_INVALID_VALUE, "kernel %s: grid or block too large", kernel->name);
  }
  const uint32_t *most = kernel->maxntid;
  if (most[0] != 0 && threads > (uint64_t)most[0] * most[1] * most[2]) {
    return fail(ERROR_INVALID_VALUE, "kernel %s: %llu threads, .maxntid says %u", kernel->name,
                (unsigned long long)threads, most[0] * most[1] * most[2]);
  }
  if (kernel->reqntid[0] != 0 && memcmp(kernel->reqntid, block, sizeof kernel->reqntid) != 0) {
    return fail(ERROR_INVALID_VALUE, "kernel %s: the block is not what .reqntid says",
                kernel->name);
  }
  if (work->dynamic_shared + kernel->shared_bytes > SHARED_LIMIT) {
    return fail(ERROR_INVALID_VALUE, "kernel %s: too much shared memory", kernel->name);
  }
  return 0;
}

/* From CU_LAUNCH_PARAM_BUFFER_POINTER and _SIZE. */
static int take_buffer(struct work *work, const struct kernel *kernel, void **extra) {
  const void *buffer = NULL;
  size_t size = 0;
  for (; (uintptr_t)extra[0] != EXTRA_END; extra += 2) {
    if ((uintptr_t)extra[0] == EXTRA_POINTER) {
      buffer = extra[1];
    } else if ((uintptr_t)extra[0] == EXTRA_SIZE) {
      size = *(const size_t *)extra[1];
    } else {
      return fail(ERROR_INVALID_VALUE, "kernel %s: unknown entry in extra", kernel->name);
    }
  }
  if (buffer == NULL || size < kernel->parameter_bytes) {
    return fail(ERROR_INVALID_VALUE, "kernel %s: %zu bytes of parameters, %u are needed",
                kernel->name, size, kernel->parameter_bytes);
  }
  memcpy(work->parameters, buffer, kernel->parameter_bytes);
  return 0;
}

static int take_parameters(struct work *work, const struct kernel *kernel, void **parameters,
                           void **extra) {
  if (parameters != NULL && extra != NULL) {
    return fail(ERROR_INVALID_VALUE, "kernel %s: parameters given twice", kernel->name);
  }
  work->parameter_bytes = kernel->parameter_bytes;
  work->parameters = calloc(1, work->parameter_bytes + 1);
  if (work->parameters == NULL) {
    return fail(ERROR_OUT_OF_MEMORY, "no memory for parameters");
  }
  if (extra != NULL) {
    return take_buffer(work, kernel, extra);
  }
  for (size_t k = 0; k < kernel->parameter_count; k++) {
    const struct parameter *parameter = &kernel->parameters[k];
    if (parameters == NULL || parameters[k] == NULL) {
      return fail(ERROR_INVALID_VALUE, "kernel %s: parameter %zu is missing", kernel->name, k);
    }
    memcpy(work->parameters + parameter->offset, parameters[k], parameter->size);
  }
  return 0;
}

int cuLaunchKernel(void *handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void *stream, void **parameters, void **extra) {
  struct context *context;
  struct work work = {.kind = WORK_LAUNCH,
                      .function = handle,
                      .grid = {grid_x, grid_y, grid_z},
                      .block = {block_x, block_y, block_z},
                      .dynamic_shared = shared_bytes};
  int code = enter(ENTRY_cuLaunchKernel, &context);
  if (code != 0) {
    return code;
  }
  struct function *function = acquire_function(context, handle);
  if (function == NULL) {
    return ERROR_INVALID_HANDLE;
  }
  code = check_shape(&work, function->kernel);
  if (code == 0) {
    code = take_parameters(&work, function->kernel, parameters, extra);
  }
  if (code == 0) {
    code = capture_or_run(context, stream, &work, "cuLaunchKernel");
  }
  object_release(function);
  work_free(&work);
  return code;
}

static bool breaks_context(int code) {
  return code == ERROR_ILLEGAL_ADDRESS || code == ERROR_MISALIGNED_ADDRESS ||
         code == ERROR_LAUNCH_FAILED || code == ERROR_LAUNCH_TIMEOUT;
}

int launch_run(struct context *context, const struct work *work) {
  char message[MESSAGE_BYTES];
  uint64_t executed = 0;
  struct function *function = acquire_function(context, work->function);
  if (function == NULL) {
    return ERROR_INVALID_HANDLE;
  }
  struct interpreter *machine = take_interpreter();
  if (machine == NULL) {
    object_release(function);
    return fail(ERROR_OUT_OF_MEMORY, "no memory for a launch");
  }
  struct launch launch = {.program = function->module->program,
                          .kernel = function->kernel,
                          .dynamic_shared = work->dynamic_shared,
                          .parameters = work->parameters,
                          .context = context_id(context),
                          .order = (enum block_order)setting(SETTING_block_order),
                          .seed = (uint64_t)setting(SETTING_seed),
                          .flush_f32 = setting(SETTING_flush_f32) != 0,
                          .instruction_limit = (uint64_t)setting(SETTING_instruction_limit)};
  memcpy(launch.grid, work->grid, sizeof launch.grid);
  memcpy(launch.block, work->block, sizeof launch.block);
  memory_enter();
  int code = interpret(machine, &launch, &executed, message, sizeof message);
  memory_leave();
  count_instructions(executed);
  return_interpreter(machine);
  object_release(function);
  if (code != 0) {
    fail(code, "%s", message);
  }
  /* After memory_leave(): whoever takes a context down waits for launches. */
  if (breaks_context(code)) {
    context_break(context, code, message);
  }
  return code;
}
