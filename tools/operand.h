/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One operand of a launch: a strided array of elements, as an image in the tool's memory and as an
 * allocation of the device. The image begins at the lowest address that the array reaches.
 */
#ifndef OPERAND_H
#define OPERAND_H

#include "complain.h"
#include "device.h"

struct operand {
  const char *name; /* "span", for messages */
  tptx_type type;
  int rank;
  int64_t extents[TPTX_MAX_RANK];
  int64_t strides[TPTX_MAX_RANK]; /* elements */
  int64_t moved;                  /* elements from the aligned allocation to the lowest address */

  int64_t below;    /* elements from the lowest address to element 0,...,0 */
  int64_t elements; /* from the lowest address to the highest, both included */
  unsigned char *image;
  uint64_t allocation; /* 0: none */
};

/* Row or column major strides for operand->extents. */
enum exit_code operand_compact(struct operand *operand, tptx_layout layout);

/* Finds out what the array reaches and makes the image, all poison. Everything above is set. */
enum exit_code operand_measure(struct operand *operand);

/*
 * Fills the image, in memory order, with what an option's VALUES say: iota, zeros, ones, a list, or
 * file:PATH.
 */
enum exit_code operand_fill(struct operand *operand, const char *option, const char *values);

/* Allocates on the device, poisons, and copies the image there. */
enum exit_code operand_send(struct operand *operand, struct device *device);
/* Copies back into the image. */
enum exit_code operand_fetch(struct operand *operand, struct device *device);
void operand_release(struct operand *operand, struct device *device);

/* The device address of element 0,...,0. */
uint64_t operand_address(const struct operand *operand);
/* The element at a position, and its replacement. */
uint64_t operand_element(const struct operand *operand, const int64_t *position);
void operand_set(struct operand *operand, const int64_t *position, uint64_t bits);

/* The next position of a box in row-major order; 0 after the last one. */
int next_position(int rank, const int64_t *extents, int64_t *position);
/* The product of counts that are 0 or more; -1 past INT64_MAX. */
int64_t product_of(int rank, const int64_t *counts);

#endif
