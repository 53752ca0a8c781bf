/* SPDX-License-Identifier: Apache-2.0 */
/* The head of a module: .version, .target, .address_size, and whether device and driver take
 * them. */
#include <string.h>

#include "ptx_reader.h"

static bool check_version(struct reader *reader, int version) {
  static const int known[] = {
#define PTX_VERSION(version, driver) version,
#include "ptx_versions.def"
#undef PTX_VERSION
  };
  int most = reader->limits->version;
  for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
    if (known[k] == version && version <= most) {
      reader->program->version = version;
      return true;
    }
  }
  return reader_fail(reader, reader->token.line, ERROR_UNSUPPORTED_PTX_VERSION,
                     "Unsupported .version %d.%d; current version is '%d.%d'", version / 10,
                     version % 10, most / 10, most % 10);
}

/* .version is no number to the lexer (9.0 would be a float): it is read here, by its digits. */
static bool read_version(struct reader *reader) {
  if (!at_directive(reader, ".version")) {
    return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX,
                       "a module begins with .version, not with '%.*s'",
                       (int)reader->token.text.length, reader->token.text.text);
  }
  if (!next_token(reader)) {
    return false;
  }
  struct slice text = reader->token.text;
  if (reader->token.kind != TOKEN_FLOAT || text.length != 3 || text.text[1] != '.') {
    return syntax_error(reader);
  }
  return check_version(reader, (text.text[0] - '0') * 10 + (text.text[2] - '0')) &&
         next_token(reader);
}

static bool read_target(struct reader *reader) {
  static const struct {
    int target;
    int version;
  } known[] = {
#define TARGET(target, version) {target, version},
#include "ptx_targets.def"
#undef TARGET
  };
  if (!at_directive(reader, ".target") || !next_token(reader) || reader->token.kind != TOKEN_WORD) {
    return syntax_error(reader);
  }
  struct slice name = reader->token.text;
  int target = 0;
  size_t at = 3;
  while (at < name.length && name.text[at] >= '0' && name.text[at] <= '9' && target < 1000) {
    target = target * 10 + (name.text[at++] - '0');
  }
  bool suffix = at + 1 == name.length && (name.text[at] == 'a' || name.text[at] == 'f');
  int version = 0;
  for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
    version = known[k].target == target ? known[k].version : version;
  }
  if (name.length < 4 || memcmp(name.text, "sm_", 3) != 0 || (at != name.length && !suffix) ||
      version == 0) {
    return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX, "unknown .target '%.*s'",
                       (int)name.length, name.text);
  }
  if (reader->program->version < version) {
    return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX,
                       "PTX .version %d.%d does not support .target %.*s",
                       reader->program->version / 10, reader->program->version % 10,
                       (int)name.length, name.text);
  }
  if (target > reader->limits->target || (suffix && target != reader->limits->target)) {
    return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX,
                       "SM version specified by .target %.*s is higher than that of the device, "
                       "sm_%d",
                       (int)name.length, name.text, reader->limits->target);
  }
  reader->program->target = target;
  return next_token(reader);
}

static bool read_address_size(struct reader *reader) {
  uint64_t bits = 0;
  if (!at_directive(reader, ".address_size")) {
    return true;
  }
  return next_token(reader) && read_integer(reader, 64, &bits) &&
         (bits == 64 || reader_fail(reader, reader->token.line, ERROR_INVALID_PTX,
                                    ".address_size %d is not supported", (int)bits));
}

bool header_read(struct reader *reader) {
  return next_token(reader) && read_version(reader) && read_target(reader) &&
         read_address_size(reader);
}
