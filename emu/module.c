/* SPDX-License-Identifier: Apache-2.0 */
/* cuModule*, cuFunc*: loaded programs and the functions in them. */
#include "module.h"

#include <pthread.h>
#include <stdlib.h>

#include "capture.h"
#include "context.h"
#include "control.h"
#include "image.h"

enum {
  FUNCTION_MAX_THREADS = 0,
  FUNCTION_SHARED = 1,
  FUNCTION_CONSTANT = 2,
  FUNCTION_LOCAL = 3,
  FUNCTION_REGISTERS = 4,
  FUNCTION_PTX_VERSION = 5,
  FUNCTION_BINARY_VERSION = 6
};

static pthread_mutex_t functions_lock = PTHREAD_MUTEX_INITIALIZER;

static void destroy_module(struct object *object) {
  struct module *module = (struct module *)object;
  program_free(module->program);
  free(module->functions);
  free(module);
  count_modules(-1);
}

static void destroy_function(struct object *object) {
  struct function *function = (struct function *)object;
  object_release(function->module);
  free(function);
}

static int load(struct context *context, void **out, const void *image,
                const struct jit_logs *logs) {
  struct program *program;
  int capability = device_capability(context_device(context));
  if (image == NULL || out == NULL) {
    return fail(ERROR_INVALID_VALUE, "no image to load");
  }
  int code = image_load(image, capability, logs, &program);
  if (code != 0) {
    return code;
  }
  struct module *module = calloc(1, sizeof *module);
  void **functions = calloc(program->kernel_count + 1, sizeof *functions);
  if (module == NULL || functions == NULL) {
    free(module);
    free(functions);
    program_free(program);
    return fail(ERROR_OUT_OF_MEMORY, "no memory for a module");
  }
  module->program = program;
  module->functions = functions;
  module->capability = capability;
  count_modules(1);
  *out = object_register(&module->object, OBJECT_MODULE, context_id(context), destroy_module);
  return 0;
}

int cuModuleLoadData(void **module, const void *image) {
  struct context *context;
  struct jit_logs none = {0};
  int code = enter(ENTRY_cuModuleLoadData, &context);
  return code != 0 ? code : load(context, module, image, &none);
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options,
                       void **values) {
  struct context *context;
  struct jit_logs logs;
  int code = enter(ENTRY_cuModuleLoadDataEx, &context);
  if (code != 0 || (code = jit_logs_read(&logs, count, options, values)) != 0) {
    return code;
  }
  return load(context, module, image, &logs);
}

/* A module of the current context, with a reference; NULL and a message otherwise. */
static struct module *acquire_module(const struct context *context, void *handle) {
  struct module *module = object_acquire(handle, OBJECT_MODULE);
  if (module != NULL && module->object.context == context_id(context)) {
    return module;
  }
  object_release(module);
  fail(ERROR_INVALID_HANDLE, "%p is no module of the current context", handle);
  return NULL;
}

int cuModuleUnload(void *handle) {
  struct context *context;
  int code = enter(ENTRY_cuModuleUnload, &context);
  if (code != 0 || (code = capture_refuses("cuModuleUnload")) != 0) {
    return code;
  }
  struct module *module = acquire_module(context, handle);
  if (module == NULL) {
    return ERROR_INVALID_HANDLE;
  }
  pthread_mutex_lock(&functions_lock);
  for (size_t k = 0; k < module->program->kernel_count; k++) {
    if (module->functions[k] != NULL) {
      object_remove(module->functions[k], OBJECT_FUNCTION);
    }
  }
  pthread_mutex_unlock(&functions_lock);
  bool removed = object_remove(handle, OBJECT_MODULE);
  object_release(module);
  return removed ? 0 : fail(ERROR_INVALID_HANDLE, "%p was unloaded at the same time", handle);
}

static int function_handle(struct module *module, const struct kernel *kernel, void **handle) {
  size_t index = (size_t)(kernel - module->program->kernels);
  int code = 0;
  pthread_mutex_lock(&functions_lock);
  if (module->functions[index] == NULL) {
    struct function *function = calloc(1, sizeof *function);
    if (function == NULL) {
      code = fail(ERROR_OUT_OF_MEMORY, "no memory for a function");
    } else {
      function->kernel = kernel;
      function->module = module;
      atomic_fetch_add(&module->object.references, 1);
      module->functions[index] = object_register(&function->object, OBJECT_FUNCTION,
                                                 module->object.context, destroy_function);
    }
  }
  *handle = module->functions[index];
  pthread_mutex_unlock(&functions_lock);
  return code;
}

int cuModuleGetFunction(void **function, void *handle, const char *name) {
  struct context *context;
  int code = enter(ENTRY_cuModuleGetFunction, &context);
  if (code != 0) {
    return code;
  }
  struct module *module = acquire_module(context, handle);
  if (module == NULL) {
    return ERROR_INVALID_HANDLE;
  }
  const struct kernel *kernel = program_find(module->program, name);
  code = kernel == NULL ? fail(ERROR_NOT_FOUND, "the module has no entry named '%s'", name)
                        : function_handle(module, kernel, function);
  object_release(module);
  return code;
}

static int attribute_value(const struct function *function, int attribute, int *value) {
  const struct kernel *kernel = function->kernel;
  const uint32_t *limit = kernel->reqntid[0] != 0 ? kernel->reqntid : kernel->maxntid;
  switch (attribute) {
  case FUNCTION_MAX_THREADS:
    *value = limit[0] != 0 ? (int)(limit[0] * limit[1] * limit[2]) : 1024;
    return 0;
  case FUNCTION_SHARED: *value = (int)kernel->shared_bytes; return 0;
  case FUNCTION_CONSTANT:
  case FUNCTION_LOCAL: *value = 0; return 0;
  case FUNCTION_REGISTERS:
    *value = kernel->register_count < 255 ? (int)kernel->register_count : 255;
    return 0;
  case FUNCTION_PTX_VERSION: *value = function->module->program->target; return 0;
  case FUNCTION_BINARY_VERSION: *value = function->module->capability; return 0;
  default: return fail(ERROR_INVALID_VALUE, "a function has no attribute %d", attribute);
  }
}

int cuFuncGetAttribute(int *value, int attribute, void *handle) {
  int code = enter(ENTRY_cuFuncGetAttribute, NULL);
  if (code != 0) {
    return code;
  }
  struct function *function = object_acquire(handle, OBJECT_FUNCTION);
  if (function == NULL) {
    return fail(ERROR_INVALID_HANDLE, "%p is no live function", handle);
  }
  code = attribute_value(function, attribute, value);
  object_release(function);
  return code;
}
