/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells a forked child from the process that made a runtime, without a system call: a page that the
 * kernel wipes in the child.
 */
#ifndef FORK_GUARD_H
#define FORK_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

struct fork_guard {
  const volatile int
      *page; /* 1, and 0 in a child; NULL where the kernel cannot wipe: ask for the id */
  pid_t process;
};

void fork_guard_open(struct fork_guard *guard);
void fork_guard_close(struct fork_guard *guard);
bool fork_guard_forked(const struct fork_guard *guard);

#endif
