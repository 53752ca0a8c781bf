/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one launch while it is carried out, shared by interpret.c and access.c. */
#ifndef EMU_MACHINE_H
#define EMU_MACHINE_H

#include "codes.h"
#include "interpret.h"
#include "memory.h"
#include "race.h"

enum thread_progress { THREAD_READY, THREAD_AT_BARRIER, THREAD_DONE, THREAD_FAILED };

struct thread {
  uint32_t at; /* the next instruction */
  enum thread_progress progress;
};

struct interpreter {
  const struct launch *launch;
  const struct kernel *kernel;
  struct race_tracker *global_races;
  struct race_tracker *shared_races;
  const struct allocation *recent[2]; /* allocations that were touched last */
  unsigned oldest;

  uint64_t *registers; /* a file of slot_count a thread that may wait at a barrier */
  uint8_t *defined;
  struct thread *threads;
  uint8_t *shared;
  size_t register_capacity, defined_capacity, thread_capacity, shared_capacity;

  uint32_t thread; /* the running thread, its block and what orders it */
  uint32_t block_at[3];
  uint32_t block; /* from 1, in order of execution */
  uint32_t epoch;
  uint64_t executed;

  int code;
  char *message;
  size_t message_size;
};

/* Notes the first error with kernel, block, thread and line; always returns false. */
bool machine_fail(struct interpreter *machine, const struct instruction *in, int code,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* access.c: everything that touches memory. */
bool access_load(struct interpreter *machine, const struct instruction *in, uint64_t *registers,
                 uint8_t *defined);
bool access_store(struct interpreter *machine, const struct instruction *in,
                  const uint64_t *registers, const uint8_t *defined);
bool access_atomic(struct interpreter *machine, const struct instruction *in, uint64_t *registers,
                   uint8_t *defined);
void load_parameter(const struct interpreter *machine, const struct instruction *in,
                    uint64_t *registers, uint8_t *defined);

#endif
