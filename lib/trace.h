/* SPDX-License-Identifier: Apache-2.0 */
/* What a runtime tells: lines to the host's log, texts to its dump folder. */
#ifndef TRACE_H
#define TRACE_H

#include "alloc.h"

#include <tileptx/runtime.h>

#include <stdatomic.h>
#include <stdbool.h>

struct trace {
  tptx_log log;
  void *user;
  int topics;
  char *dump_directory;    /* NULL: nothing is dumped */
  atomic_bool dump_failed; /* one warning is enough */
  atomic_uint dumps;       /* numbers the temporary names */
};

/* Takes over the options and, where `read_environment` is set, TILEPTX_TRACE and _DUMP_DIR. */
tptx_status trace_open(struct trace *trace, const tptx_runtime_options *options,
                       const tptx_allocator *allocator, tptx_error *error);
void trace_close(struct trace *trace, const tptx_allocator *allocator);

/* Ask before a line is put together. */
static inline bool trace_wants(const struct trace *trace, tptx_topic topic) {
  return trace->log && (trace->topics & (int)topic);
}

void trace_line(const struct trace *trace, tptx_topic topic, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes the text to <dump directory>/<entry name>.ptx. Failing is no error, only a warning. */
void trace_dump(struct trace *trace, const tptx_ptx *ptx);

#endif
