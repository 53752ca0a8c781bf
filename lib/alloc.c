/* SPDX-License-Identifier: Apache-2.0 */
#include "alloc.h"

#include "status.h"
#include "structs.h"

#include <stdlib.h>

static void *allocate_from_heap(void *user, size_t bytes) {
  (void)user;
  return malloc(bytes);
}

static void release_to_heap(void *user, void *memory) {
  (void)user;
  free(memory);
}

tptx_status allocator_make(const tptx_allocator *host, tptx_allocator *out, tptx_error *error) {
  if (!host) {
    *out = (tptx_allocator){sizeof *out, allocate_from_heap, release_to_heap, NULL};
    return TPTX_OK;
  }
  FORWARD(struct_check(host, sizeof *host, "allocator", error));
  REFUSE_IF(
      !host->allocate || !host->release, error, TPTX_ERROR_INVALID_ARGUMENT, "allocator", -1,
      "an allocator needs both functions, allocate and release; pass NULL for malloc and free");
  *out = *host;
  return TPTX_OK;
}

void *allocate(const tptx_allocator *allocator, size_t bytes) {
  return allocator->allocate(allocator->user, bytes);
}

void release(const tptx_allocator *allocator, void *memory) {
  if (memory) allocator->release(allocator->user, memory);
}
