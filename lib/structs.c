/* SPDX-License-Identifier: Apache-2.0 */
#include "structs.h"

#include "status.h"

#include <string.h>

/* A real struct grows by a few members; anything else is memory that was never set. */
static tptx_status read_size(const void *from, size_t fewest, size_t known, const char *name,
                             size_t *size, tptx_error *error) {
  enum { MOST_GROWTH = 4096 };
  REFUSE_IF(!from, error, TPTX_ERROR_INVALID_ARGUMENT, name, -1, "%s is a null pointer", name);
  memcpy(size, from, sizeof *size);
  REFUSE_IF(*size < fewest || *size > known + MOST_GROWTH, error, TPTX_ERROR_INVALID_ARGUMENT, name,
            -1, "%s.struct_size is %zu, expected %zu; call tptx_%s_init first", name, *size, known,
            name);
  return TPTX_OK;
}

tptx_status struct_check(const void *from, size_t known, const char *name, tptx_error *error) {
  size_t size = 0;
  FORWARD(read_size(from, known, known, name, &size, error));
  const unsigned char *bytes = from;
  for (size_t i = known; i < size; i++)
    REFUSE_IF(bytes[i] != 0, error, TPTX_ERROR_INVALID_ARGUMENT, name, -1,
              "%s sets a member that this library does not know (byte %zu of %zu); use a newer "
              "library, or call tptx_%s_init first",
              name, i, size, name);
  return TPTX_OK;
}

tptx_status struct_take(void *to, const void *from, size_t known, const char *name,
                        tptx_error *error) {
  FORWARD(struct_check(from, known, name, error));
  memcpy(to, from, known);
  memcpy(to, &known, sizeof known);
  return TPTX_OK;
}

tptx_status struct_give(void *to, const void *from, size_t known, const char *name,
                        tptx_error *error) {
  size_t size = 0;
  FORWARD(read_size(to, sizeof size, known, name, &size, error));
  memcpy((unsigned char *)to + sizeof size, (const unsigned char *)from + sizeof size,
         (size < known ? size : known) - sizeof size);
  return TPTX_OK;
}
