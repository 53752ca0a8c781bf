/* SPDX-License-Identifier: Apache-2.0 */
/* Public structs that may grow: `struct_size`, their first member, says how much the caller has. */
#ifndef STRUCTS_H
#define STRUCTS_H

#include <tileptx/emit.h>

/*
 * The one rule for what a caller passes in: at least `known` bytes, for no version had fewer, and
 * what a newer caller has beyond them must be zero.
 */
tptx_status struct_check(const void *from, size_t known, const char *name, tptx_error *error);

/* Checks, then copies `known` bytes. */
tptx_status struct_take(void *to, const void *from, size_t known, const char *name,
                        tptx_error *error);

/* Hands a struct out: as much of `from` as the caller has, and nothing where he has none. */
tptx_status struct_give(void *to, const void *from, size_t known, const char *name,
                        tptx_error *error);

#endif
