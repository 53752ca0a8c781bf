/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one launch while it is carried out, shared by interpret.c, access.c and copy.c. */
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
  uint32_t oldest_copy; /* its running copies in order: places in interpreter.copies, 0: none */
  uint32_t newest_copy;
  uint64_t copy_groups; /* committed so far */
};

/* An asynchronous copy that was issued and not yet waited for. */
struct copy {
  const struct instruction *in;
  const uint8_t *host; /* where the source lies, NULL if nothing of it is read */
  uint64_t from;
  uint64_t to;
  uint32_t bytes; /* that are read; the rest becomes zeros */
  uint32_t next;
  uint64_t group;
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
  struct copy *copies; /* of the running block; place 0 stays empty */
  size_t register_capacity, defined_capacity, thread_capacity, shared_capacity, copy_capacity;
  uint32_t copy_count;
  uint32_t idle_copy; /* first place that serves again, 0: none */

  struct thread *running;
  uint32_t thread; /* number of the running thread, its block and what orders it */
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
bool access_aligned(struct interpreter *machine, const struct instruction *in, uint64_t address,
                    uint32_t bytes);
/* The host's memory behind a range, or NULL and an error. */
uint8_t *access_shared(struct interpreter *machine, const struct instruction *in, uint64_t address,
                       uint32_t bytes);
uint8_t *access_global(struct interpreter *machine, const struct instruction *in, uint64_t address,
                       uint32_t bytes);
bool access_note(struct interpreter *machine, const struct instruction *in,
                 struct race_tracker *races, const struct race_access *access);

/* copy.c: asynchronous copies. One moves its bytes when its thread waits for it, and is an access
 * of every epoch until then. One that nobody waits for is dropped with its block. */
void copies_clear(struct interpreter *machine);
bool copy_run(struct interpreter *machine, const struct instruction *in, const uint64_t *registers);
/* Notes the running copies of a thread again, after a barrier. */
bool copies_note(struct interpreter *machine, const struct thread *thread);

#endif
