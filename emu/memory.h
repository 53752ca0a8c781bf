/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: allocations with addresses of their own that never come back, so that every use
 * after a free and every access past an end is noticed to the byte. */
#ifndef EMU_MEMORY_H
#define EMU_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct allocation {
  uint64_t base;
  uint64_t size;
  uint8_t *host;
  uint64_t context; /* id of the owner */
};

/* 0, or a driver code: 1 for a size of 0, 2 where memory is short. */
int memory_allocate(uint64_t context, uint64_t size, uint64_t *address);
int memory_free(uint64_t address);
void memory_release(uint64_t context);
void memory_release_all(void);
void memory_info(uint64_t *available, uint64_t *total);
int64_t memory_count(void);

/* Between enter and leave no allocation comes or goes; several threads may be inside. */
void memory_enter(void);
void memory_leave(void);
/* The allocation that holds the address, or NULL; only between enter and leave. */
const struct allocation *memory_find(uint64_t address);
/* Where a range lies in the host's memory, NULL if not whole in one allocation. */
uint8_t *memory_range(uint64_t address, uint64_t size);

#endif
