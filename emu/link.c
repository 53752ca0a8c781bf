/* SPDX-License-Identifier: Apache-2.0 */
/* cuLink*: from PTX to an image. One input a link, which is all that a kernel of one file needs. */
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "control.h"
#include "image.h"
#include "objects.h"

enum { INPUT_CUBIN = 0, INPUT_PTX = 1 };

struct link {
  struct object object;
  struct jit_logs logs;
  int failure;
  void *image;
  size_t size;
};

static void destroy_link(struct object *object) {
  struct link *link = (struct link *)object;
  free(link->image);
  free(link);
}

static struct link *acquire(void *state) {
  struct link *link = object_acquire(state, OBJECT_LINK);
  if (link == NULL) {
    fail(ERROR_INVALID_HANDLE, "%p is no live link", state);
  }
  return link;
}

int cuLinkCreate_v2(unsigned count, int *options, void **values, void **state) {
  struct context *context;
  struct jit_logs logs;
  int code = enter(ENTRY_cuLinkCreate_v2, &context);
  if (code != 0 || (code = jit_logs_read(&logs, count, options, values)) != 0) {
    return code;
  }
  struct link *link = calloc(1, sizeof *link);
  if (link == NULL) {
    return fail(ERROR_OUT_OF_MEMORY, "no memory for a link");
  }
  link->logs = logs;
  *state = object_register(&link->object, OBJECT_LINK, context_id(context), destroy_link);
  return 0;
}

static int add_ptx(struct link *link, const char *text, size_t size, int capability) {
  struct program *program;
  while (size > 0 && text[size - 1] == '\0') {
    size--;
  }
  int code = image_read_ptx(text, size, capability, &link->logs, &program);
  if (code != 0) {
    return code;
  }
  link->image = image_link(program, capability, &link->size);
  program_free(program);
  return link->image != NULL ? 0 : fail(ERROR_OUT_OF_MEMORY, "no memory for an image");
}

static int add_image(struct link *link, const void *image, size_t size, int capability) {
  int code = image_check(image, size, capability);
  if (code != 0) {
    return code;
  }
  link->image = malloc(size);
  if (link->image == NULL) {
    return fail(ERROR_OUT_OF_MEMORY, "no memory for an image");
  }
  memcpy(link->image, image, size);
  link->size = size;
  return 0;
}

int cuLinkAddData_v2(void *state, int type, void *data, size_t size, const char *name,
                     unsigned count, int *options, void **values) {
  struct context *context;
  int code = enter(ENTRY_cuLinkAddData_v2, &context);
  (void)name;
  (void)count;
  (void)options;
  (void)values;
  if (code != 0) {
    return code;
  }
  struct link *link = acquire(state);
  if (link == NULL) {
    return ERROR_INVALID_HANDLE;
  }
  int capability = device_capability(context_device(context));
  if (data == NULL || size == 0 || (type != INPUT_PTX && type != INPUT_CUBIN)) {
    code = fail(ERROR_INVALID_VALUE, "a link takes PTX (1) or an image (0) of at least one byte");
  } else if (link->image != NULL) {
    code = fail(ERROR_INVALID_VALUE, "the emulated linker takes one input");
  } else if (type == INPUT_PTX) {
    code = add_ptx(link, data, size, capability);
  } else {
    code = add_image(link, data, size, capability);
  }
  link->failure = code != 0 ? code : link->failure;
  object_release(link);
  return code;
}

int cuLinkComplete(void *state, void **image, size_t *size) {
  int code = enter(ENTRY_cuLinkComplete, NULL);
  if (code != 0) {
    return code;
  }
  struct link *link = acquire(state);
  if (link == NULL) {
    return ERROR_INVALID_HANDLE;
  }
  if (link->failure != 0) {
    code = link->failure;
  } else if (link->image == NULL) {
    code = fail(ERROR_INVALID_VALUE, "a link without input");
  } else {
    *image = link->image;
    if (size != NULL) {
      *size = link->size;
    }
  }
  object_release(link);
  return code;
}

int cuLinkDestroy(void *state) {
  int code = enter(ENTRY_cuLinkDestroy, NULL);
  if (code == 0 && !object_remove(state, OBJECT_LINK)) {
    code = fail(ERROR_INVALID_HANDLE, "%p is no live link", state);
  }
  return code;
}
