/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "memory.h"
#include "codes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {

  ALIGNMENT = 512,
  GAP = 1 << 16, /* between allocations: nothing is ever there */
  POISON = 0xa5, /* what fresh memory holds; large allocations are zero, for they are lazy */
  POISON_BYTES = 1 << 20
};

static const uint64_t total_bytes = (uint64_t)1 << 37;
static const uint64_t first_address = 0x300000000000;

/* Addresses only grow, so the table stays sorted by appending. */
static struct {
  pthread_rwlock_t lock;
  struct allocation *entries;
  size_t count;
  size_t capacity;
  uint64_t next;
  uint64_t used;
#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
  /* Launches that follow one another in other threads must not keep an allocation waiting. */
} memory = {.lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP};
#else
} memory = {.lock = PTHREAD_RWLOCK_INITIALIZER};
#endif

static uint8_t *map_pages(uint64_t size) {
  void *pages =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? NULL : pages;
}

static void unmap(struct allocation *entry) {
  if (entry->size > POISON_BYTES) {
    munmap(entry->host, entry->size);
  } else {
    free(entry->host);
  }
  memory.used -= entry->size;
}

static int append(uint64_t context, uint64_t size, uint64_t *address) {
  if (memory.count == memory.capacity) {
    size_t wanted = memory.capacity == 0 ? 64 : memory.capacity * 2;
    struct allocation *larger = realloc(memory.entries, wanted * sizeof *larger);
    if (larger == NULL) {
      return ERROR_OUT_OF_MEMORY;
    }
    memory.entries = larger;
    memory.capacity = wanted;
  }
  uint8_t *host = size > POISON_BYTES ? map_pages(size) : malloc(size);
  if (host == NULL) {
    return ERROR_OUT_OF_MEMORY;
  }
  if (size <= POISON_BYTES) {
    memset(host, POISON, size);
  }
  memory.next = memory.next == 0 ? first_address : memory.next;
  memory.entries[memory.count++] = (struct allocation){memory.next, size, host, context};
  *address = memory.next;
  memory.next += (size + GAP + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  memory.used += size;
  return 0;
}

int memory_allocate(uint64_t context, uint64_t size, uint64_t *address) {
  if (size == 0) {
    return ERROR_INVALID_VALUE;
  }
  pthread_rwlock_wrlock(&memory.lock);
  int code =
      size > total_bytes - memory.used ? ERROR_OUT_OF_MEMORY : append(context, size, address);
  pthread_rwlock_unlock(&memory.lock);
  return code;
}

int memory_free(uint64_t address) {
  if (address == 0) {
    return 0;
  }
  pthread_rwlock_wrlock(&memory.lock);
  const struct allocation *found = memory_find(address);
  int code = found == NULL || found->base != address ? ERROR_INVALID_VALUE : 0;
  if (code == 0) {
    size_t index = (size_t)(found - memory.entries);
    unmap(&memory.entries[index]);
    memory.count--;
    memmove(&memory.entries[index], &memory.entries[index + 1],
            (memory.count - index) * sizeof *memory.entries);
  }
  pthread_rwlock_unlock(&memory.lock);
  return code;
}

void memory_release(uint64_t context) {
  size_t kept = 0;
  pthread_rwlock_wrlock(&memory.lock);
  for (size_t k = 0; k < memory.count; k++) {
    if (memory.entries[k].context == context) {
      unmap(&memory.entries[k]);
    } else {
      memory.entries[kept++] = memory.entries[k];
    }
  }
  memory.count = kept;
  pthread_rwlock_unlock(&memory.lock);
}

void memory_release_all(void) {
  pthread_rwlock_wrlock(&memory.lock);
  for (size_t k = 0; k < memory.count; k++) {
    unmap(&memory.entries[k]);
  }
  free(memory.entries);
  memory.entries = NULL;
  memory.count = 0;
  memory.capacity = 0;
  pthread_rwlock_unlock(&memory.lock);
}

void memory_info(uint64_t *available, uint64_t *total) {
  pthread_rwlock_rdlock(&memory.lock);
  *available = total_bytes - memory.used;
  *total = total_bytes;
  pthread_rwlock_unlock(&memory.lock);
}

int64_t memory_count(void) {
  pthread_rwlock_rdlock(&memory.lock);
  int64_t count = (int64_t)memory.count;
  pthread_rwlock_unlock(&memory.lock);
  return count;
}

void memory_enter(void) {
  pthread_rwlock_rdlock(&memory.lock);
}

void memory_leave(void) {
  pthread_rwlock_unlock(&memory.lock);
}

const struct allocation *memory_find(uint64_t address) {
  size_t low = 0;
  size_t high = memory.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const struct allocation *entry = &memory.entries[middle];
    if (address < entry->base) {
      high = middle;
    } else if (address - entry->base >= entry->size) {
      low = middle + 1;
    } else {
      return entry;
    }
  }
  return NULL;
}

uint8_t *memory_range(uint64_t address, uint64_t size) {
  const struct allocation *entry = memory_find(address);
  if (entry == NULL || size > entry->size - (address - entry->base)) {
    return NULL;
  }
  return entry->host + (address - entry->base);
}
