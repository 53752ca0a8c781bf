/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signature of a kernel: everything that is baked into its code, in one flat struct and as one
 * line of text. fields.def lists the members once for both.
 */
#ifndef SIGNATURE_H
#define SIGNATURE_H

#include "strbuf.h"

#include <stdbool.h>
#include <tileptx/emit.h>

struct signature {
  int32_t kind, type, rank;
  int64_t extents[TPTX_MAX_RANK]; /* or TPTX_DYNAMIC */
  int64_t shape[TPTX_MAX_RANK];
  int64_t strides[TPTX_MAX_RANK]; /* chunk strides; the shape on a gather-scatter view */
  int32_t dim;                    /* -1 on a strided view */
  int32_t operation, masked, pad, order, scope, fetch;
  int32_t value, indices, index;
  int32_t layout;
  int64_t layout_strides[TPTX_MAX_RANK]; /* or TPTX_DYNAMIC; 0 unless the layout is strided */
  int32_t tiles, tile_layout;
  int64_t tile_strides[TPTX_MAX_RANK];
  int32_t align, tile_align, arith;
  int32_t assume_in_bounds, assume_injective;
  int32_t latency, allow_tma;
  int32_t sm, ptx;
  int32_t picks, staging;
  int32_t threads, flight;
};

enum type_family { FAMILY_BOOLEAN, FAMILY_SIGNED, FAMILY_UNSIGNED, FAMILY_FLOAT };
enum effect { EFFECT_READ, EFFECT_WRITE, EFFECT_UPDATE };

struct type_row {
  const char *word;
  int bytes;
  enum type_family family;
  uint64_t infinity, quiet_nan; /* bit patterns; 0 where the type takes no such padding */
};

struct operation_row {
  const char *word, *masked_word;
  enum effect effect;
  bool atomic;
};

const struct type_row *type_row(int32_t type);                /* NULL for no type */
const struct operation_row *operation_row(int32_t operation); /* NULL for no operation */
bool type_is_integer(int32_t type);
const char *operation_word(const struct signature *signature); /* "load_masked" */

/* The largest number that an integer type holds, at most 2^63 - 1. */
int64_t type_largest(int32_t type);

/*
 * What a kernel is made for besides its operation: alignment 16, 4 or the element's size, of both
 * operands and of the tile operand alone, index width 32 or 64, and how much of a row is picked.
 * 0: nobody has promised it.
 */
struct classes {
  int32_t align, tile_align, arith, picks;
};

struct classes promised_classes(const tptx_view *view, const tptx_op *op);

/* What is promised, and the least where nothing is: it holds for every operand. */
struct classes classes_without_operands(struct classes promised, int32_t type);

/* Narrow elements of a plain load: rows of any alignment may be read as aligned words. */
bool signature_may_shift(const struct signature *signature);

int32_t signature_standard_scope(const struct signature *signature);
int32_t signature_standard_align(const struct signature *signature);

/* Copies every field of fields.def between the public descriptors and a signature, unchecked. */
void signature_from_descriptors(const tptx_view *view, const tptx_op *op, const tptx_target *target,
                                struct signature *signature);
void signature_to_descriptors(const struct signature *signature, tptx_view *view, tptx_op *op,
                              tptx_target *target);

/* The canonical line; defaults are left out. */
void signature_write(const struct signature *signature, struct strbuf *out);

/*
 * Reads a line; only its form is checked. Fields that are left out get the descriptors' defaults
 * (target fields 0).
 */
tptx_status signature_read(const char *line, struct signature *signature, tptx_error *error);

/* For explanations: the fields one by one. */
int signature_field_count(void);
const char *signature_field_word(int field); /* "" where the field has no text of its own */
void signature_field_write(const struct signature *signature, int field, struct strbuf *out);

#endif
