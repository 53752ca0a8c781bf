/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every operation means, in plain C over host memory: the formulas, element by element, and
 * nothing clever. Shares no code with lib/; reads the public descriptors only.
 *
 *   strided view    p[k] = (first[k] + b[k]) * strides[k] + J[k]
 *   gather, k!=dim  p[k] = first[k] + b[k] * step[k] + J[k]
 *   gather, k==dim  p[k] = index array entry (first[k] + b[k]) * shape[k] + J[k]
 *   inside          0 <= p[k] < extents[k] on every axis
 *
 * for every chunk b of the box and every position J of the tile. See reference.c for the rest.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <tileptx/emit.h>

#include <stdbool.h>
#include <stdint.h>

/* Host images of what the arguments' addresses name; those of `args` itself are not looked at. */
struct reference_memory {
  unsigned char *span;
  unsigned char *tile;
  const unsigned char *indices;
};

/*
 * Carries the operation out on `memory`, element after element. The descriptors and arguments must
 * be valid ones. False if the operation is none that this file describes; nothing is written then.
 * Where elements meet (atomic stores, old values) this is one of the right outcomes; outcome.h
 * knows the others.
 */
bool reference_run(const tptx_view *view, const tptx_op *op, const tptx_args *args,
                   struct reference_memory memory);

/*
 * Calls `visit` for every chunk and position: the element's place in the span and in the tile
 * operand, NULL where it is outside.
 */
typedef void reference_visit(void *context, unsigned char *span, unsigned char *tile);
void reference_walk(const tptx_view *view, const tptx_op *op, const tptx_args *args,
                    struct reference_memory memory, reference_visit *visit, void *context);

/* The element type of the tile operand. */
tptx_type reference_tile_type(const tptx_view *view, const tptx_op *op);

/* The box with every TPTX_ALL replaced; returns the number of chunks in it. */
int64_t reference_box(const tptx_view *view, const tptx_args *args, int64_t count[TPTX_MAX_RANK]);

/* Extents and element strides of the span and of an array operand, dynamic values filled in. */
void reference_span_layout(const tptx_view *view, const tptx_args *args,
                           int64_t extents[TPTX_MAX_RANK], int64_t strides[TPTX_MAX_RANK]);
void reference_tile_layout(const tptx_view *view, const tptx_op *op, const tptx_args *args,
                           int64_t strides[TPTX_MAX_RANK]);

/* The bit pattern, of the tile operand's type, that stands for what is outside the span. */
uint64_t reference_pad(const tptx_view *view, const tptx_op *op, const tptx_args *args);

/* Entry number `entry` of an index array; -1 (outside every span) where it passes INT64_MAX. */
int64_t reference_index(const unsigned char *entry_zero, tptx_type type, int64_t stride,
                        int64_t entry);

/* One element; a bool reads as 0 or 1 and is written as such. */
uint64_t reference_read(const unsigned char *at, tptx_type type);
void reference_write(unsigned char *at, tptx_type type, uint64_t bits);

#endif
