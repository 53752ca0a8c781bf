/* SPDX-License-Identifier: Apache-2.0 */
/* A piece of work in a stream: carried out at once, or kept in a graph. */
#ifndef EMU_WORK_H
#define EMU_WORK_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"

enum work_kind { WORK_LAUNCH, WORK_COPY, WORK_FILL, WORK_RECORD };

struct work {
  enum work_kind kind;
  /* launch */
  void *function;
  uint32_t grid[3];
  uint32_t block[3];
  uint64_t dynamic_shared;
  uint8_t *parameters; /* owned */
  size_t parameter_bytes;
  /* copy: a host pointer or a device address on each side */
  void *to_host;
  const void *from_host;
  uint64_t to;
  uint64_t from;
  size_t size;
  /* fill */
  uint32_t value;
  uint32_t value_bytes;
  /* record */
  void *event;
};

int work_run(struct context *context, const struct work *work);
/* A copy that owns its parameters; false without memory. */
bool work_copy(struct work *to, const struct work *from);
void work_free(struct work *work);

/* What work_run() calls. */
int launch_run(struct context *context, const struct work *work);
int transfer_run(const struct work *work);
void event_record_now(void *event);

#endif
