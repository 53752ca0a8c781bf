/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at machine code without a disassembler: which of a few opcodes a kernel of a cubin holds.
 * From sm_75 on every instruction is 16 bytes, the opcode the lowest 12 bits. The numbers were
 * found by assembling one form at a time; rows_test.c assembles probes first, so that a new
 * generation whose numbers differ is seen.
 */
#ifndef MACHINE_CODE_H
#define MACHINE_CODE_H

#include <stdbool.h>
#include <stddef.h>

struct cubin;

struct atomics {
  int instructions;
  int updates;           /* reductions and fetching read-modify-writes */
  int compare_and_swaps; /* the loops that stand in for what the hardware has not */
};

struct cubin *cubin_open(const char *path); /* NULL where it is none */
void cubin_close(struct cubin *cubin);

/* Counts the kernel's instructions; false where there is no kernel of that name. */
bool cubin_atomics(const struct cubin *cubin, const char *kernel, struct atomics *atomics);

#endif
