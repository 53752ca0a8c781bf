/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random view operations from a seed: descriptors, arguments and the contents of every buffer. Each
 * case is valid by construction; random_case_spoil turns one into an invalid one whose refusal is
 * known. The same seed gives the same case on every machine.
 */
#ifndef RANDOM_CASE_H
#define RANDOM_CASE_H

#include <tileptx/emit.h>

#include <stdbool.h>
#include <stdio.h>

/* One allocation of device memory and what stands in it before the launch. */
struct case_buffer {
  size_t bytes;
  int64_t base; /* from its start to the address passed at launch; that may lie outside of it */
  unsigned char *contents;
};

/* How the case reaches a kernel. */
enum case_path {
  CASE_RUN,         /* tptx_run finds the classes */
  CASE_SPECIALISED, /* tptx_specialise, perhaps weakened, then tptx_kernel_get and tptx_launch */
  CASE_DEFAULTS     /* tptx_kernel_get as it is: alignment of one element, 64-bit arithmetic */
};

struct random_case {
  uint64_t seed;
  tptx_view view;
  tptx_op op;
  tptx_args args; /* addresses are set by random_case_place */
  struct case_buffer span, tile, indices;
  enum case_path path;
  bool weaken_align, weaken_arith; /* with CASE_SPECIALISED */
  int target;                      /* 0: the device's, else an sm that it can run */
  int64_t chunks;
};

/* The lowest target on which the operation exists. */
int random_case_lowest_target(const struct random_case *c);

/* All memory is the case's until random_case_free. */
void random_case_make(uint64_t seed, struct random_case *out);
void random_case_free(struct random_case *c);

/* Points the arguments at buffers whose allocations start at these addresses. */
void random_case_place(struct random_case *c, uint64_t span, uint64_t tile, uint64_t indices);

/* Applies a weaker class than tptx_specialise found, where the case says so. */
void random_case_weaken(const struct random_case *c, tptx_view *view, tptx_op *op);

/*
 * Breaks a placed case in one way, chosen by `seed`, and returns the status it must be refused
 * with; TPTX_OK if the way chosen does not apply to this case, which is unchanged then.
 */
tptx_status random_case_spoil(struct random_case *c, uint64_t seed);

/* Everything a person needs to see it again: signature, options of the tool, arguments. */
void random_case_print(FILE *out, const struct random_case *c);

#endif
