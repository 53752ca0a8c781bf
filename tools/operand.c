/* SPDX-License-Identifier: Apache-2.0 */
#include "operand.h"

#include "values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POISON = 0xa5 };

/* The tool shows results; an operand past this is a slip, and must not eat the machine's memory. */
static const int64_t most_bytes = INT64_C(1) << 30;

int next_position(int rank, const int64_t *extents, int64_t *position) {
  for (int k = rank - 1; k >= 0; k--) {
    if (++position[k] < extents[k]) return 1;
    position[k] = 0;
  }
  return 0;
}

int64_t product_of(int rank, const int64_t *counts) {
  int64_t product = 1;
  for (int k = 0; k < rank; k++)
    if (counts[k] == 0) return 0;
  for (int k = 0; k < rank; k++)
    if (__builtin_mul_overflow(product, counts[k], &product)) return -1;
  return product;
}

/* ---- Where it lies --------------------------------------------------------------------------- */

static enum exit_code refuse_size(const struct operand *operand) {
  return complain(EXIT_REFUSED,
                  "the %s is too large: the tool takes at most %" PRId64 " bytes (1 GiB)",
                  operand->name, most_bytes);
}

enum exit_code operand_compact(struct operand *operand, tptx_layout layout) {
  int64_t stride = 1;
  for (int i = 0; i < operand->rank; i++) {
    int k = layout == TPTX_LAYOUT_LEFT ? i : operand->rank - 1 - i;
    operand->strides[k] = stride;
    if (operand->extents[k] > 0 && __builtin_mul_overflow(stride, operand->extents[k], &stride))
      return refuse_size(operand);
  }
  return EXIT_DONE;
}

/* Adds what each axis reaches below and above element 0,...,0. */
static int find_reach(const struct operand *operand, int64_t *below, int64_t *above) {
  *below = 0;
  *above = 0;
  for (int k = 0; k < operand->rank; k++) {
    int64_t last;
    if (__builtin_mul_overflow(operand->extents[k] - 1, operand->strides[k], &last)) return -1;
    if (last < 0 ? __builtin_sub_overflow(*below, last, below)
                 : __builtin_add_overflow(*above, last, above))
      return -1;
  }
  return 0;
}

enum exit_code operand_measure(struct operand *operand) {
  int64_t above;
  int64_t bytes = (int64_t)tptx_type_bytes(operand->type);
  operand->below = 0;
  operand->elements = 0;
  if (product_of(operand->rank, operand->extents) != 0) {
    if (find_reach(operand, &operand->below, &above) != 0 ||
        __builtin_add_overflow(operand->below, above, &operand->elements) ||
        operand->elements >= most_bytes / bytes - operand->moved)
      return refuse_size(operand);
    operand->elements++;
  }
  size_t size = (size_t)(operand->elements * bytes);
  operand->image = malloc(size > 0 ? size : 1);
  if (operand->image == NULL)
    return complain(EXIT_REFUSED, "there is no memory for the %s of %zu bytes", operand->name,
                    size);
  memset(operand->image, POISON, size);
  return EXIT_DONE;
}

static size_t offset_of(const struct operand *operand, const int64_t *position) {
  int64_t element = operand->below;
  for (int k = 0; k < operand->rank; k++) element += position[k] * operand->strides[k];
  return (size_t)element * tptx_type_bytes(operand->type);
}

uint64_t operand_element(const struct operand *operand, const int64_t *position) {
  return value_load(operand->type, operand->image + offset_of(operand, position));
}

void operand_set(struct operand *operand, const int64_t *position, uint64_t bits) {
  value_store(operand->type, operand->image + offset_of(operand, position), bits);
}

/* ---- Contents -------------------------------------------------------------------------------- */

static enum exit_code refuse_count(const struct operand *operand, const char *option,
                                   int64_t given) {
  return complain_usage("%s gives %" PRId64 " elements, the %s has %" PRId64 " in memory", option,
                        given, operand->name, operand->elements);
}

static void fill_iota(struct operand *operand) {
  size_t bytes = tptx_type_bytes(operand->type);
  for (int64_t k = 0; k < operand->elements; k++)
    value_store(operand->type, operand->image + (size_t)k * bytes,
                value_iota(operand->type, (uint64_t)k));
}

static void fill_constant(struct operand *operand, const char *text) {
  size_t bytes = tptx_type_bytes(operand->type);
  uint64_t bits = 0;
  char message[16];
  value_read(operand->type, text, strlen(text), &bits, message, sizeof message);
  for (int64_t k = 0; k < operand->elements; k++)
    value_store(operand->type, operand->image + (size_t)k * bytes, bits);
}

static enum exit_code fill_list(struct operand *operand, const char *option, const char *list) {
  size_t bytes = tptx_type_bytes(operand->type);
  int64_t count = 0;
  for (const char *at = list; at != NULL && *list != '\0'; count++) {
    const char *comma = strchr(at, ',');
    size_t length = comma != NULL ? (size_t)(comma - at) : strlen(at);
    char message[256];
    uint64_t bits;
    if (value_read(operand->type, at, length, &bits, message, sizeof message) != 0)
      return complain_usage("%s, element %" PRId64 ": %s", option, count, message);
    if (count < operand->elements)
      value_store(operand->type, operand->image + (size_t)count * bytes, bits);
    at = comma != NULL ? comma + 1 : NULL;
  }
  return count == operand->elements ? EXIT_DONE : refuse_count(operand, option, count);
}

static enum exit_code fill_from_file(struct operand *operand, const char *option,
                                     const char *path) {
  size_t size = (size_t)operand->elements * tptx_type_bytes(operand->type);
  FILE *file = fopen(path, "rb");
  if (file == NULL)
    return complain(EXIT_IO, "%s: %s cannot be read: %s", option, path, strerror(errno));
  errno = 0;
  size_t got = fread(operand->image, 1, size, file);
  int more = got == size && fgetc(file) != EOF;
  int failed = ferror(file);
  int reason = errno;
  fclose(file);
  if (failed) return complain(EXIT_IO, "%s: %s cannot be read: %s", option, path, strerror(reason));
  if (more || got < size)
    return complain_usage("%s: %s has %s than the %zu bytes of the %s's %" PRId64 " elements",
                          option, path, more ? "more" : "less", size, operand->name,
                          operand->elements);
  return EXIT_DONE;
}

enum exit_code operand_fill(struct operand *operand, const char *option, const char *values) {
  static const char file[] = "file:";
  if (strncmp(values, file, sizeof file - 1) == 0)
    return fill_from_file(operand, option, values + sizeof file - 1);
  if (strcmp(values, "iota") == 0)
    fill_iota(operand);
  else if (strcmp(values, "zeros") == 0)
    fill_constant(operand, "0");
  else if (strcmp(values, "ones") == 0)
    fill_constant(operand, "1");
  else
    return fill_list(operand, option, values);
  return EXIT_DONE;
}

/* ---- On the device --------------------------------------------------------------------------- */

static size_t moved_bytes(const struct operand *operand) {
  return (size_t)operand->moved * tptx_type_bytes(operand->type);
}

static size_t image_bytes(const struct operand *operand) {
  return (size_t)operand->elements * tptx_type_bytes(operand->type);
}

static enum exit_code refuse_driver(const struct operand *operand, struct device *device, int code,
                                    const char *what) {
  return complain(EXIT_REFUSED, "the %s cannot be %s: %s (%d)", operand->name, what,
                  device_error_name(device, code), code);
}

enum exit_code operand_send(struct operand *operand, struct device *device) {
  size_t bytes = moved_bytes(operand) + image_bytes(operand);
  if (bytes == 0) bytes = 1; /* an address all the same */
  int code = device_allocate(device, bytes, &operand->allocation);
  if (code != 0) return refuse_driver(operand, device, code, "allocated");
  code = device_fill(device, operand->allocation, POISON, bytes);
  if (code == 0)
    code = device_write(device, operand->allocation + moved_bytes(operand), operand->image,
                        image_bytes(operand));
  return code == 0 ? EXIT_DONE : refuse_driver(operand, device, code, "written");
}

enum exit_code operand_fetch(struct operand *operand, struct device *device) {
  int code = device_read(device, operand->image, operand->allocation + moved_bytes(operand),
                         image_bytes(operand));
  return code == 0 ? EXIT_DONE : refuse_driver(operand, device, code, "read back");
}

void operand_release(struct operand *operand, struct device *device) {
  if (operand->allocation != 0) device_free(device, operand->allocation);
  free(operand->image);
  operand->allocation = 0;
  operand->image = NULL;
}

uint64_t operand_address(const struct operand *operand) {
  return operand->allocation +
         (uint64_t)(operand->moved + operand->below) * tptx_type_bytes(operand->type);
}
