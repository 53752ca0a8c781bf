/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMU_INTERPRET_H
#define EMU_INTERPRET_H

#include "program.h"

enum block_order { ORDER_FORWARD, ORDER_REVERSE, ORDER_SHUFFLED };

struct launch {
  const struct program *program;
  const struct kernel *kernel;
  uint32_t grid[3];
  uint32_t block[3];
  uint64_t dynamic_shared;
  const uint8_t *parameters;
  uint64_t context; /* whose allocations the kernel may touch */
  enum block_order order;
  uint64_t seed;
  bool flush_f32; /* red and atom add of f32 in global memory lose subnormals */
  uint64_t instruction_limit;
};

struct interpreter;

/* The buffers of an interpreter serve one launch after another. */
struct interpreter *interpreter_new(void);
void interpreter_free(struct interpreter *interpreter);

/* Carries a launch out, between memory_enter() and memory_leave(). Returns 0, or a driver code and
 * a message of several lines; `executed` counts the instructions of all threads. */
int interpret(struct interpreter *interpreter, const struct launch *launch, uint64_t *executed,
              char *message, size_t message_size);

#endif
