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

/*
 * Moves the operands inside their allocations, to alignments of every class that keep what the case
 * promises about them; each `turn` to other ones. The case has to be placed again.
 */
void random_case_move(struct random_case *c, uint64_t turn);

/* Applies a weaker class than tptx_specialise found, where the case says so. */
void random_case_weaken(const struct random_case *c, tptx_view *view, tptx_op *op);

/*
 * The ways to break a case: its descriptors, what only atomic operations and conversions can do
 * wrong, its arguments.
 */
#define SPOIL_DESCRIPTOR_WAYS(WAY) \
  WAY(SHAPE, "a shape of 0") \
  WAY(STRIDE, "a negative stride of chunks") \
  WAY(EXTENT, "a negative extent") \
  WAY(RANK, "a rank too high") \
  WAY(DIM, "a gather axis that the view has not") \
  WAY(READ_ONLY, "a write to a read-only span") \
  WAY(PADDING, "padding that the type or the operation does not take") \
  WAY(TYPE, "an unknown type") \
  WAY(ORDER, "an order of another operation") \
  WAY(THREADS, "33 threads")
#define SPOIL_MEANING_WAYS(WAY) \
  WAY(SCOPE, "a scope that the operation does not take") \
  WAY(ATOMIC_ORDER, "acquire for a write, release for a load") \
  WAY(FETCH, "old values of what is no read-modify-write") \
  WAY(ATOMIC_TYPE, "a read-modify-write of 16-bit integers") \
  WAY(CONVERSION, "an integer made a float, or the reverse")
#define SPOIL_ARGUMENT_WAYS(WAY) \
  WAY(NO_SPAN, "no span") \
  WAY(NO_TILE, "no tile operand") \
  WAY(NO_INDICES, "no index array") \
  WAY(SPAN_ADDRESS, "a span off its elements") \
  WAY(TILE_ADDRESS, "a tile operand off its elements") \
  WAY(INDICES_ADDRESS, "an index array off its elements") \
  WAY(FAR_BOX, "a box far outside") \
  WAY(NEGATIVE_BOX, "a box that starts below 0") \
  WAY(BOX_OF_INDICES, "a box past the index array")

enum spoil_way {
#define WAY(name, text) SPOIL_##name,
  SPOIL_DESCRIPTOR_WAYS(WAY) SPOIL_MEANING_WAYS(WAY) SPOIL_ARGUMENT_WAYS(WAY)
#undef WAY
      SPOIL_WAYS
};

const char *spoil_way_text(enum spoil_way way);

/*
 * Breaks a placed case in this way and returns the status it must be refused with; TPTX_OK if the
 * way does not apply to this case, which is unchanged then.
 */
tptx_status random_case_spoil(struct random_case *c, enum spoil_way way);

/* Everything a person needs to see it again: signature, options of the tool, arguments. */
void random_case_print(FILE *out, const struct random_case *c);

#endif
