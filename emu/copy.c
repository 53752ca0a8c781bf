/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous copies from global to shared memory. Their addresses are checked when they are
 * issued, their bytes move as late as a GPU may move them: a kernel that reads without a wait sees
 * what was there before. */
#include <stdlib.h>
#include <string.h>

#include "machine.h"

enum { FIRST_COPIES = 64 };

void copies_clear(struct interpreter *machine) {
  machine->copy_count = 1;
  machine->idle_copy = 0;
}

/* An unused place, or 0 without memory. */
static uint32_t take_place(struct interpreter *machine) {
  uint32_t place = machine->idle_copy;
  if (place != 0) {
    machine->idle_copy = machine->copies[place].next;
    return place;
  }
  if (machine->copy_count >= machine->copy_capacity) {
    size_t capacity = machine->copy_capacity != 0 ? 2 * machine->copy_capacity : FIRST_COPIES;
    struct copy *larger = realloc(machine->copies, capacity * sizeof *larger);
    if (larger == NULL) {
      return 0;
    }
    machine->copies = larger;
    machine->copy_capacity = capacity;
  }
  return machine->copy_count++;
}

static bool append(struct interpreter *machine, const struct copy *copy) {
  struct thread *thread = machine->running;
  uint32_t place = take_place(machine);
  if (place == 0) {
    return machine_fail(machine, copy->in, ERROR_OUT_OF_MEMORY, "no memory for a copy");
  }
  machine->copies[place] = *copy;
  if (thread->oldest_copy == 0) {
    thread->oldest_copy = place;
  } else {
    machine->copies[thread->newest_copy].next = place;
  }
  thread->newest_copy = place;
  return true;
}

/* Both sides are weak accesses. */
static bool note(struct interpreter *machine, const struct copy *copy) {
  struct race_access access = {.address = copy->to,
                               .size = copy->in->size,
                               .thread = machine->thread,
                               .block = machine->block,
                               .epoch = machine->epoch,
                               .write = true};
  if (!access_note(machine, copy->in, machine->shared_races, &access)) {
    return false;
  }
  access.address = copy->from;
  access.size = copy->bytes;
  access.write = false;
  return copy->bytes == 0 || access_note(machine, copy->in, machine->global_races, &access);
}

static bool check(struct interpreter *machine, struct copy *copy) {
  const struct instruction *in = copy->in;
  if (copy->bytes > in->size) {
    return machine_fail(machine, in, ERROR_LAUNCH_FAILED,
                        "asynchronous copy of %u bytes that reads %u", in->size, copy->bytes);
  }
  if (!access_aligned(machine, in, copy->to, in->size) ||
      !access_aligned(machine, in, copy->from, in->size) ||
      access_shared(machine, in, copy->to, in->size) == NULL) {
    return false;
  }
  copy->host = copy->bytes > 0 ? access_global(machine, in, copy->from, copy->bytes) : NULL;
  return copy->bytes == 0 || copy->host != NULL;
}

static bool issue(struct interpreter *machine, const struct instruction *in,
                  const uint64_t *registers) {
  struct copy copy = {.in = in,
                      .to = registers[in->source[0]] + (uint64_t)in->offset,
                      .from = registers[in->source[1]] + (uint64_t)in->offset2,
                      .bytes = (uint32_t)registers[in->source[2]],
                      .group = machine->running->copy_groups};
  return check(machine, &copy) && note(machine, &copy) && append(machine, &copy);
}

static void move(struct interpreter *machine, const struct copy *copy) {
  uint8_t *to = machine->shared + copy->to;
  if (copy->bytes > 0) {
    memcpy(to, copy->host, copy->bytes);
  }
  memset(to + copy->bytes, 0, copy->in->size - copy->bytes);
}

/* Carries out what was committed, but for the newest `kept` groups. */
static void finish(struct interpreter *machine, uint64_t kept) {
  struct thread *thread = machine->running;
  while (thread->oldest_copy != 0) {
    uint32_t place = thread->oldest_copy;
    struct copy *copy = &machine->copies[place];
    if (copy->group + kept >= thread->copy_groups) {
      break;
    }
    move(machine, copy);
    thread->oldest_copy = copy->next;
    copy->next = machine->idle_copy;
    machine->idle_copy = place;
  }
}

bool copy_run(struct interpreter *machine, const struct instruction *in,
              const uint64_t *registers) {
  struct thread *thread = machine->running;
  switch ((enum operation)in->operation) {
  case OP_COPY: return issue(machine, in, registers);
  case OP_COPY_COMMIT: thread->copy_groups++; break;
  case OP_COPY_WAIT: finish(machine, (uint64_t)in->offset); break;
  default: /* OP_COPY_WAIT_ALL commits as well */
    thread->copy_groups++;
    finish(machine, 0);
    break;
  }
  return true;
}

bool copies_note(struct interpreter *machine, const struct thread *thread) {
  for (uint32_t place = thread->oldest_copy; place != 0; place = machine->copies[place].next) {
    if (!note(machine, &machine->copies[place])) {
      return false;
    }
  }
  return true;
}
