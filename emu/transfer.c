/* SPDX-License-Identifier: Apache-2.0 */
/* cuMem*: allocations, copies and fills. */
#include <string.h>

#include "capture.h"
#include "control.h"
#include "memory.h"

static int outside(const char *side, uint64_t address, size_t size) {
  return fail(ERROR_INVALID_VALUE, "%s: %zu bytes at 0x%llx are not inside one live allocation",
              side, size, (unsigned long long)address);
}

static void fill(uint8_t *to, const struct work *work) {
  if (work->value_bytes == 1) {
    memset(to, (int)work->value, work->size);
    return;
  }
  for (size_t k = 0; k < work->size; k += work->value_bytes) {
    memcpy(to + k, &work->value, work->value_bytes);
  }
}

int transfer_run(const struct work *work) {
  int code = 0;
  if (work->size == 0) {
    return 0;
  }
  memory_enter();
  uint8_t *to = work->to_host != NULL ? work->to_host : memory_range(work->to, work->size);
  const uint8_t *from = work->from_host;
  if (work->kind == WORK_COPY && from == NULL) {
    from = memory_range(work->from, work->size);
  }
  if (to == NULL) {
    code = outside("destination", work->to, work->size);
  } else if (work->kind == WORK_FILL) {
    fill(to, work);
  } else if (from == NULL) {
    code = outside("source", work->from, work->size);
  } else {
    memmove(to, from, work->size);
  }
  memory_leave();
  return code;
}

/* Copies without a stream are unsafe in a capture; those with one are recorded. */
static int transfer_now(struct context *context, const struct work *work, const char *what) {
  int code = capture_refuses(what);
  return code != 0 ? code : work_run(context, work);
}

int cuMemAlloc_v2(unsigned long long *address, size_t size) {
  struct context *context;
  uint64_t base;
  int code = enter(ENTRY_cuMemAlloc_v2, &context);
  if (code != 0 || (code = capture_refuses("cuMemAlloc")) != 0) {
    return code;
  }
  code = memory_allocate(context_id(context), size, &base);
  if (code != 0) {
    return fail(code, "cannot allocate %zu bytes", size);
  }
  *address = base;
  return 0;
}

int cuMemFree_v2(unsigned long long address) {
  int code = enter(ENTRY_cuMemFree_v2, NULL);
  if (code != 0 || (code = capture_refuses("cuMemFree")) != 0) {
    return code;
  }
  code = memory_free(address);
  return code == 0 ? 0 : fail(code, "0x%llx is no start of a live allocation", address);
}

int cuMemGetInfo_v2(size_t *available, size_t *total) {
  uint64_t free_bytes;
  uint64_t all_bytes;
  int code = enter(ENTRY_cuMemGetInfo_v2, NULL);
  if (code == 0) {
    memory_info(&free_bytes, &all_bytes);
    *available = free_bytes;
    *total = all_bytes;
  }
  return code;
}

int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t size) {
  struct context *context;
  struct work work = {.kind = WORK_COPY, .to = to, .from_host = from, .size = size};
  int code = enter(ENTRY_cuMemcpyHtoD_v2, &context);
  return code != 0 ? code : transfer_now(context, &work, "cuMemcpyHtoD");
}

int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t size) {
  struct context *context;
  struct work work = {.kind = WORK_COPY, .to_host = to, .from = from, .size = size};
  int code = enter(ENTRY_cuMemcpyDtoH_v2, &context);
  return code != 0 ? code : transfer_now(context, &work, "cuMemcpyDtoH");
}

int cuMemcpyDtoD_v2(unsigned long long to, unsigned long long from, size_t size) {
  struct context *context;
  struct work work = {.kind = WORK_COPY, .to = to, .from = from, .size = size};
  int code = enter(ENTRY_cuMemcpyDtoD_v2, &context);
  return code != 0 ? code : transfer_now(context, &work, "cuMemcpyDtoD");
}

int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t size, void *stream) {
  struct context *context;
  struct work work = {.kind = WORK_COPY, .to = to, .from_host = from, .size = size};
  int code = enter(ENTRY_cuMemcpyHtoDAsync_v2, &context);
  return code != 0 ? code : capture_or_run(context, stream, &work, "cuMemcpyHtoDAsync");
}

int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t size, void *stream) {
  struct context *context;
  struct work work = {.kind = WORK_COPY, .to_host = to, .from = from, .size = size};
  int code = enter(ENTRY_cuMemcpyDtoHAsync_v2, &context);
  return code != 0 ? code : capture_or_run(context, stream, &work, "cuMemcpyDtoHAsync");
}

int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t size,
                         void *stream) {
  struct context *context;
  struct work work = {.kind = WORK_COPY, .to = to, .from = from, .size = size};
  int code = enter(ENTRY_cuMemcpyDtoDAsync_v2, &context);
  return code != 0 ? code : capture_or_run(context, stream, &work, "cuMemcpyDtoDAsync");
}

int cuMemsetD8_v2(unsigned long long to, unsigned char value, size_t count) {
  struct context *context;
  struct work work = {.kind = WORK_FILL, .to = to, .value = value, .value_bytes = 1, .size = count};
  int code = enter(ENTRY_cuMemsetD8_v2, &context);
  return code != 0 ? code : transfer_now(context, &work, "cuMemsetD8");
}

int cuMemsetD32_v2(unsigned long long to, unsigned value, size_t count) {
  struct context *context;
  struct work work = {.kind = WORK_FILL, .to = to, .value = value, .value_bytes = 4};
  int code = enter(ENTRY_cuMemsetD32_v2, &context);
  if (code == 0 && (count > SIZE_MAX / 4 || to % 4 != 0)) {
    code = fail(ERROR_INVALID_VALUE, "cuMemsetD32 needs an aligned address");
  }
  work.size = count * 4;
  return code != 0 ? code : transfer_now(context, &work, "cuMemsetD32");
}
