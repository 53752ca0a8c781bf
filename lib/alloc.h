/* SPDX-License-Identifier: Apache-2.0 */
/* The host's memory functions, or malloc and free. */
#ifndef ALLOC_H
#define ALLOC_H

#include <tileptx/emit.h>

/* A complete allocator made of the host's, or of malloc and free where `host` is NULL. */
tptx_status allocator_make(const tptx_allocator *host, tptx_allocator *out, tptx_error *error);

void *allocate(const tptx_allocator *allocator, size_t bytes); /* NULL when there is none */
void release(const tptx_allocator *allocator, void *memory);   /* NULL is allowed */

#endif
