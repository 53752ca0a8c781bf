/* SPDX-License-Identifier: Apache-2.0 */
#include "key.h"

#include "status.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

tptx_status key_make(const struct signature *signature, struct key *key, tptx_error *error) {
  struct strbuf out;
  strbuf_fixed(&out, key->line, sizeof key->line);
  signature_write(signature, &out);
  REFUSE_IF(out.failed, error, TPTX_ERROR_SYNTAX, "signature", -1,
            "the signature line passes %d bytes; make extents or strides dynamic",
            TPTX_MAX_SIGNATURE);
  key->bytes = out.bytes;
  key->hash = XXH3_64bits(key->line, key->bytes);
  return TPTX_OK;
}

bool key_equal(const struct key *a, const struct key *b) {
  return a->hash == b->hash && a->bytes == b->bytes && !memcmp(a->line, b->line, a->bytes);
}
