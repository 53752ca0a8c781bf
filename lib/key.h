/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key of a kernel: its canonical signature line and the hash of that line. The line is the one
 * serialisation: cache key, hash input, entry name, trace line and the tool's input are all it.
 */
#ifndef KEY_H
#define KEY_H

#include "signature.h"

#include <stdbool.h>

struct key {
  uint64_t hash;
  size_t bytes; /* of line, without the NUL */
  char line[TPTX_MAX_SIGNATURE + 1];
};

/* `argument` of a failure is "signature": the line passes TPTX_MAX_SIGNATURE. */
tptx_status key_make(const struct signature *signature, struct key *key, tptx_error *error);

/* The hash finds, the bytes decide. */
bool key_equal(const struct key *a, const struct key *b);

#endif
