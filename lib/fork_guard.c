/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include "fork_guard.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

void fork_guard_open(struct fork_guard *guard) {
  *guard = (struct fork_guard){NULL, getpid()};
#ifdef MADV_WIPEONFORK
  int *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, PAGE_BYTES, MADV_WIPEONFORK) != 0) {
    munmap(page, PAGE_BYTES);
    return;
  }
  *page = 1;
  guard->page = page;
#endif
}

void fork_guard_close(struct fork_guard *guard) {
  if (guard->page) munmap((void *)(size_t)guard->page, PAGE_BYTES);
}

bool fork_guard_forked(const struct fork_guard *guard) {
  return guard->page ? *guard->page == 0 : guard->process != getpid();
}
