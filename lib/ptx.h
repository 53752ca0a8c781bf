/* SPDX-License-Identifier: Apache-2.0 */
/* The finished text of a kernel together with the plan it was written from. */
#ifndef PTX_H
#define PTX_H

#include "alloc.h"
#include "key.h"
#include "plan.h"

#include <tileptx/emit.h>

struct tptx_ptx {
  tptx_allocator allocator;
  struct plan plan;
  struct key key;
  char entry[64];
  char names[MAX_QUANTITIES][16]; /* of the plan's quantities, as in the text */
  size_t text_bytes;
  char text[];
};

/* Plans and renders `signature`. The key must be the signature's (see key_make). */
tptx_status ptx_render(const tptx_allocator *allocator, const struct signature *signature,
                       const struct key *key, tptx_ptx **out, tptx_error *error);

#endif
