/* SPDX-License-Identifier: Apache-2.0 */
/* One loaded kernel: text, machine code, module, and who holds it. */
#ifndef KERNEL_H
#define KERNEL_H

#include "context.h"
#include "holders.h"
#include "ptx.h"

#include <tileptx/runtime.h>

#include <stdatomic.h>
#include <stdbool.h>

struct cache_entry;

struct tptx_kernel {
  tptx_runtime *runtime;     /* a reference */
  atomic_bool captured;      /* launched into a capture: a graph may use the module */
  atomic_bool touched;       /* a shortcut led here since the cache last looked */
  atomic_bool abandoned;     /* its context answered that it is gone */
  struct cache_entry *entry; /* guarded by the cache's lock; NULL where no cache keeps it */
  struct context context;
  tptx_ptx *ptx;
  void *module;
  void *function;
  tptx_kernel_attributes attributes;
  size_t binary_bytes;
  struct holders holders; /* the cache keeps the kernel; whoever launches it holds it */
  unsigned char binary[];
};

/*
 * Renders, compiles and loads a kernel for `context`, which must be current. The caller keeps the
 * kernel, and nobody holds it. Safe while the thread captures a stream.
 */
tptx_status kernel_build(tptx_runtime *runtime, struct context context,
                         const struct signature *signature, const struct key *key,
                         tptx_kernel **out, tptx_error *error);

void kernel_retain(tptx_kernel *kernel, unsigned count);
/* A holder's reference, and the keeper's. The last one unloads the module and frees the kernel. */
void kernel_drop(tptx_kernel *kernel);
void kernel_let_go(tptx_kernel *kernel);

#endif
