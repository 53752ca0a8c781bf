/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the measuring programs measure: the table of workloads, what each of them moves at a given
 * size, its operands, and the comparison of its result with plain C.
 */
#ifndef WORKLOADS_H
#define WORKLOADS_H

#include <tileptx/emit.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { FULL_MIB = 1024 }; /* the size that the table's extents are for */

struct workload { /* workloads.def says what the members are */
  const char *name;
  const char *signature;
  int64_t extents[TPTX_MAX_RANK];
  int64_t pitch_multiple;
  int64_t entries;
  double bar;
  int scaled;
  bool sized;
  bool compiled;
};

extern const struct workload workloads[];
extern const size_t workload_count;

/* A workload at one size: what the library is told, and what that moves. */
struct job {
  const struct workload *workload;
  tptx_view view;
  tptx_op op;
  tptx_args args;                      /* without addresses */
  int64_t chunks[TPTX_MAX_RANK];       /* of the box */
  int64_t steps[TPTX_MAX_RANK];        /* elements from chunk to chunk */
  int64_t strides[TPTX_MAX_RANK];      /* of the span, in elements */
  int64_t tile_strides[TPTX_MAX_RANK]; /* of an array operand, or inside a packed tile */
  size_t element_bytes;
  size_t span_bytes;  /* up to the end of the last element */
  size_t tile_bytes;  /* of the tile operand */
  size_t index_bytes; /* of the index array */
  size_t moved_bytes; /* README.md says how they are counted */
};

/* The extents at `mib`; fails where the table's signature cannot be read. */
tptx_status job_plan(struct job *job, const struct workload *workload, double mib,
                     tptx_error *error);
bool job_is_update(const struct job *job); /* atomic_add: the span is read and written */
bool job_writes_span(const struct job *job);
bool job_has_indices(const struct job *job);

/* One JSON object on one line, for programs that measure the same in other ways. */
void job_print_json(const struct job *job, FILE *to);

/*
 * What kernels.cu is compiled with to do the same: which of its kernels, the macros that choose it
 * (but VECTOR, ITEMS and SPAN_VECTOR), and whether whole vectors fit everywhere in the span.
 */
enum { MACROS = 6 };
struct equivalent {
  const char *kernel; /* "strided" */
  bool vectors_fit;
  int vector;  /* elements of 16 bytes */
  bool turned; /* the kernel sees the axes in reverse order */
  char macros[MACROS][64];
};
void job_find_equivalent(const struct job *job, struct equivalent *equivalent);

/* Random bytes, the same in every run. */
void fill_random(void *memory, size_t bytes);
/* Small whole numbers, few and small enough that their sums are exact in any order. */
void job_fill_addends(const struct job *job, void *memory, size_t bytes);
/* Rows in random order, each once; more entries than rows: random ones, all of them inside. */
void job_draw_indices(const struct job *job, int32_t *indices);

/*
 * Compares every element of the result of a load or store with its input. `span` and `tile` are
 * copies of the two operands after the launch. Says where the first difference is.
 */
bool job_compare(const struct job *job, const unsigned char *span, const unsigned char *tile,
                 const int32_t *indices, char *message, size_t capacity);

/* Adds all of `tile` onto `span`, as an update does. */
void job_add(const struct job *job, unsigned char *span, const unsigned char *tile,
             const int32_t *indices);

#endif
