/* SPDX-License-Identifier: Apache-2.0 */
#include "signature.h"

#include "status.h"
#include "target.h"

#include <limits.h>
#include <string.h>

enum { NEVER = INT_MIN };

enum form {
  FORM_KIND,
  FORM_TYPE,
  FORM_EXTENTS,
  FORM_SIZES,
  FORM_CHUNK_STRIDES, /* as SIZES; left out where equal to the shape */
  FORM_NUMBER,
  FORM_OPERATION,
  FORM_PAD,
  FORM_ORDER,
  FORM_SCOPE,
  FORM_FLAG,
  FORM_LAYOUT, /* a word, or a list that goes into the companion row */
  FORM_TILES,
  FORM_PICKS,
  FORM_STAGING,
  FORM_TARGET,
  FORM_VERSION,
  FORM_COMPANION
};

struct field {
  const char *word;
  enum form form;
  size_t offset; /* of the member in struct signature */
};

static const struct field fields[] = {
#define FIELD(form, word, member, descriptor, standard) \
  {word, FORM_##form, offsetof(struct signature, member)},
#include "fields.def"
#undef FIELD
};

enum {
#define FIELD(form, word, member, descriptor, standard) ROW_##member,
#include "fields.def"
#undef FIELD
  FIELD_COUNT
};

struct word {
  enum form form;
  const char *text;
  int32_t value;
};

static const struct word words[] = {
#define WORD(form, word, value) {FORM_##form, #word, value},
#include "words.def"
#undef WORD
};

static const struct type_row types[] = {
#define TYPE(name, word, bytes, family, infinity, quiet_nan) \
  [TPTX_##name] = {#word, bytes, FAMILY_##family, infinity, quiet_nan},
#include "types.def"
#undef TYPE
};

static const struct operation_row operations[] = {
#define OPERATION(name, word, effect, atomic) \
  [TPTX_##name] = {#word, #word "_masked", EFFECT_##effect, atomic},
#include "operations.def"
#undef OPERATION
};

enum { TYPE_COUNT = sizeof types / sizeof *types };
enum { OPERATION_COUNT = sizeof operations / sizeof *operations };

const struct type_row *type_row(int32_t type) {
  return type >= 0 && type < (int32_t)TYPE_COUNT ? &types[type] : NULL;
}

const struct operation_row *operation_row(int32_t operation) {
  return operation >= 0 && operation < (int32_t)OPERATION_COUNT ? &operations[operation] : NULL;
}

bool type_is_integer(int32_t type) {
  const struct type_row *row = type_row(type);
  return row && (row->family == FAMILY_SIGNED || row->family == FAMILY_UNSIGNED);
}

const char *operation_word(const struct signature *signature) {
  const struct operation_row *row = &operations[signature->operation];
  return signature->masked ? row->masked_word : row->word;
}

int64_t type_largest(int32_t type) {
  const struct type_row *row = &types[type];
  if (row->bytes == 8) return INT64_MAX;
  int bits = 8 * row->bytes - (row->family == FAMILY_SIGNED);
  return (INT64_C(1) << bits) - 1;
}

struct classes promised_classes(const tptx_view *view, const tptx_op *op) {
  return (struct classes){view->align, op->tile.align, op->arith, op->picks};
}

struct classes classes_without_operands(struct classes promised, int32_t type) {
  const struct type_row *row = type_row(type);
  struct classes classes = promised;
  if (classes.align == 0 && row) classes.align = row->bytes;
  if (classes.tile_align == 0) classes.tile_align = classes.align;
  if (classes.arith == 0) classes.arith = 64;
  if (classes.picks == TPTX_PICKS_UNKNOWN) classes.picks = TPTX_PICKS_SPARSE;
  return classes;
}

bool signature_may_shift(const struct signature *signature) {
  const struct operation_row *row = &operations[signature->operation];
  return row->effect == EFFECT_READ && !row->atomic && signature->value == signature->type &&
         types[signature->type].bytes < 4;
}

int32_t signature_standard_scope(const struct signature *signature) {
  const struct operation_row *row = &operations[signature->operation];
  return row->atomic && row->effect != EFFECT_UPDATE ? TPTX_SCOPE_SYSTEM : TPTX_SCOPE_DEFAULT;
}

int32_t signature_standard_align(const struct signature *signature) {
  return types[signature->type].bytes;
}

void signature_from_descriptors(const tptx_view *view, const tptx_op *op, const tptx_target *target,
                                struct signature *signature) {
#define FIELD(form, word, member, descriptor, standard) \
  _Static_assert(sizeof signature->member == sizeof descriptor, #member); \
  memcpy(&signature->member, &descriptor, sizeof descriptor);
#include "fields.def"
#undef FIELD
}

void signature_to_descriptors(const struct signature *signature, tptx_view *view, tptx_op *op,
                              tptx_target *target) {
#define FIELD(form, word, member, descriptor, standard) \
  memcpy(&descriptor, &signature->member, sizeof descriptor);
#include "fields.def"
#undef FIELD
}

/* ---- Writing --------------------------------------------------------------------------------- */

static int32_t scalar(const struct signature *signature, int field) {
  int32_t value;
  memcpy(&value, (const char *)signature + fields[field].offset, sizeof value);
  return value;
}

static const int64_t *list(const struct signature *signature, int field) {
  return (const int64_t *)(const void *)((const char *)signature + fields[field].offset);
}

static bool at_standard(const struct signature *signature, int field) {
  if (fields[field].form == FORM_CHUNK_STRIDES)
    return !memcmp(signature->strides, signature->shape, sizeof signature->shape);
  int32_t standard = NEVER;
  switch (field) {
#define FIELD(form, word, member, descriptor, value) \
  case ROW_##member: \
    standard = (int32_t)(value); \
    break;
#include "fields.def"
#undef FIELD
  }
  return standard != NEVER && scalar(signature, field) == standard;
}

static void write_list(struct strbuf *out, const int64_t *numbers, int32_t rank) {
  if (rank == 0) strbuf_word(out, "scalar");
  for (int32_t k = 0; k < rank; k++) {
    if (k > 0) strbuf_char(out, 'x');
    if (numbers[k] == TPTX_DYNAMIC)
      strbuf_char(out, '_');
    else
      strbuf_number(out, numbers[k]);
  }
}

static void write_word(struct strbuf *out, enum form form, int32_t value) {
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (words[i].form == form && words[i].value == value) strbuf_word(out, words[i].text);
}

void signature_field_write(const struct signature *signature, int field, struct strbuf *out) {
  enum form form = fields[field].form;
  switch (form) {
  case FORM_TYPE: strbuf_word(out, types[scalar(signature, field)].word); break;
  case FORM_EXTENTS:
  case FORM_SIZES:
  case FORM_CHUNK_STRIDES: write_list(out, list(signature, field), signature->rank); break;
  case FORM_FLAG:
  case FORM_NUMBER: strbuf_number(out, scalar(signature, field)); break;
  case FORM_OPERATION: strbuf_word(out, operation_word(signature)); break;
  case FORM_LAYOUT:
    if (scalar(signature, field) == TPTX_LAYOUT_STRIDED)
      write_list(out, list(signature, field + 1), signature->rank);
    else
      write_word(out, form, scalar(signature, field));
    break;
  case FORM_TARGET:
    strbuf_word(out, "sm_");
    strbuf_number(out, scalar(signature, field));
    break;
  case FORM_VERSION:
    strbuf_number(out, scalar(signature, field) / 10);
    strbuf_char(out, '.');
    strbuf_number(out, scalar(signature, field) % 10);
    break;
  case FORM_KIND:
  case FORM_PAD:
  case FORM_ORDER:
  case FORM_SCOPE:
  case FORM_TILES:
  case FORM_PICKS:
  case FORM_STAGING: write_word(out, form, scalar(signature, field)); break;
  case FORM_COMPANION: break;
  }
}

int signature_field_count(void) {
  return FIELD_COUNT;
}

const char *signature_field_word(int field) {
  return fields[field].word;
}

void signature_write(const struct signature *signature, struct strbuf *out) {
  for (int field = 0; field < FIELD_COUNT; field++) {
    enum form form = fields[field].form;
    if (form == FORM_COMPANION || at_standard(signature, field)) continue;
    if (field > 0) strbuf_char(out, ':');
    strbuf_word(out, fields[field].word);
    if (form == FORM_FLAG) continue;
    if (fields[field].word[0]) strbuf_char(out, '=');
    signature_field_write(signature, field, out);
  }
}

/* ---- Reading --------------------------------------------------------------------------------- */

struct reader {
  const char *line;
  const char *at;
  const char *end; /* of the field being read */
  struct signature *signature;
  uint64_t seen; /* a bit per field */
  tptx_error *error;
};

static tptx_status misread(const struct reader *reader, tptx_status status, const char *argument,
                           const char *expected) {
  int length = (int)(reader->end - reader->at);
  tptx_status refused = refuse(
      reader->error, (struct fault){status, argument, -1}, "position %d, \"%.*s\": expected %s",
      (int)(reader->at - reader->line), length > 60 ? 60 : length, reader->at, expected);
  if (reader->error) reader->error->position = (int32_t)(reader->at - reader->line);
  return refused;
}

static bool accept(struct reader *reader, const char *text) {
  size_t bytes = strlen(text);
  if ((size_t)(reader->end - reader->at) < bytes || memcmp(reader->at, text, bytes)) return false;
  reader->at += bytes;
  return true;
}

/* The whole rest of the field is `text`. */
static bool accept_rest(struct reader *reader, const char *text) {
  size_t bytes = strlen(text);
  return (size_t)(reader->end - reader->at) == bytes && accept(reader, text);
}

/* A decimal without sign or leading zero, up to 2^63 - 1. */
static bool accept_number(struct reader *reader, int64_t *number) {
  const char *at = reader->at;
  int64_t value = 0;
  for (; at < reader->end && *at >= '0' && *at <= '9'; at++) {
    int digit = *at - '0';
    if (value > (INT64_MAX - digit) / 10) return false;
    value = value * 10 + digit;
  }
  if (at == reader->at || (*reader->at == '0' && at - reader->at > 1)) return false;
  reader->at = at;
  *number = value;
  return true;
}

static tptx_status read_number(struct reader *reader, int field, int32_t *number) {
  const char *start = reader->at;
  int64_t value;
  bool good = accept_number(reader, &value) && reader->at == reader->end && value <= INT32_MAX;
  if (!good) reader->at = start;
  if (!good)
    return misread(reader, TPTX_ERROR_SYNTAX, fields[field].word, "a decimal number below 2^31");
  *number = (int32_t)value;
  return TPTX_OK;
}

static bool accept_entry(struct reader *reader, bool dynamic, bool sign, int64_t *number) {
  if (dynamic && (accept(reader, "_") || accept(reader, "?"))) {
    *number = TPTX_DYNAMIC;
    return true;
  }
  const char *start = reader->at;
  bool negative = sign && accept(reader, "-");
  if (!accept_number(reader, number) || (negative && *number == 0)) {
    reader->at = start;
    return false;
  }
  if (negative) *number = -*number;
  return true;
}

/* Entries separated by x. Extents set the rank; everything after them must have that many. */
static tptx_status read_list(struct reader *reader, int field, int64_t *numbers) {
  enum form form = fields[field].form;
  bool dynamic = form == FORM_EXTENTS || form == FORM_LAYOUT;
  const char *argument = form == FORM_EXTENTS ? "extents" : fields[field].word;
  int32_t rank = 0;
  if (!accept_rest(reader, "scalar")) {
    do {
      if (rank == TPTX_MAX_RANK)
        return misread(reader, TPTX_ERROR_RANK, argument, "at most 8 entries");
      if (!accept_entry(reader, dynamic, form == FORM_LAYOUT, &numbers[rank++]))
        return misread(reader, TPTX_ERROR_SYNTAX, argument,
                       dynamic ? "a number up to 2^63 - 1, without leading zeros, or _"
                               : "a number up to 2^63 - 1, without leading zeros");
    } while (accept(reader, "x"));
    if (reader->at != reader->end)
      return misread(reader, TPTX_ERROR_SYNTAX, argument,
                     "x and another entry, or the field's end");
  }
  if (form == FORM_EXTENTS) reader->signature->rank = rank;
  if (rank != reader->signature->rank)
    return misread(reader, TPTX_ERROR_RANK, argument, "as many entries as there are extents");
  return TPTX_OK;
}

static tptx_status read_word(struct reader *reader, int field, int32_t *value) {
  enum form form = fields[field].form;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (words[i].form != form || !accept_rest(reader, words[i].text)) continue;
    *value = words[i].value;
    return TPTX_OK;
  }
  static const char *const expected[] = {
      [FORM_KIND] = "strided_view or gather_scatter_view",
      [FORM_PAD] = "zero, positive_inf, negative_inf, nan or value",
      [FORM_ORDER] = "relaxed, acquire or release",
      [FORM_SCOPE] = "block, device or system",
      [FORM_TILES] = "packed or array",
      [FORM_PICKS] = "sparse or dense",
      [FORM_STAGING] = "rule or none",
  };
  return misread(reader, TPTX_ERROR_SYNTAX, form == FORM_KIND ? "kind" : fields[field].word,
                 expected[form]);
}

static tptx_status read_type(struct reader *reader, int field, int32_t *type) {
  for (int32_t i = 0; i < (int32_t)TYPE_COUNT; i++) {
    if (!accept_rest(reader, types[i].word)) continue;
    *type = i;
    return TPTX_OK;
  }
  return misread(reader, TPTX_ERROR_SYNTAX, fields[field].word[0] ? fields[field].word : "type",
                 "bool s8 u8 s16 u16 s32 u32 s64 u64 f16 bf16 tf32 f32 f64 e4m3 or e5m2");
}

static tptx_status read_layout(struct reader *reader, int field, int32_t *layout) {
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (words[i].form != FORM_LAYOUT || !accept_rest(reader, words[i].text)) continue;
    *layout = words[i].value;
    return TPTX_OK;
  }
  *layout = TPTX_LAYOUT_STRIDED;
  return read_list(reader, field,
                   (int64_t *)(void *)((char *)reader->signature + fields[field + 1].offset));
}

static tptx_status read_version(struct reader *reader, int field, int32_t *version) {
  const char *start = reader->at;
  int64_t major, minor;
  bool good = accept_number(reader, &major) && accept(reader, ".") &&
              accept_number(reader, &minor) && reader->at == reader->end && major < 100 &&
              minor < 10;
  if (!good) reader->at = start;
  if (!good)
    return misread(reader, TPTX_ERROR_SYNTAX, fields[field].word, "a PTX version such as 8.1");
  *version = (int32_t)(major * 10 + minor);
  return TPTX_OK;
}

static tptx_status read_value(struct reader *reader, int field) {
  void *member = (char *)reader->signature + fields[field].offset;
  switch (fields[field].form) {
  case FORM_TYPE: return read_type(reader, field, member);
  case FORM_EXTENTS:
  case FORM_SIZES:
  case FORM_CHUNK_STRIDES: return read_list(reader, field, member);
  case FORM_NUMBER: return read_number(reader, field, member);
  case FORM_LAYOUT: return read_layout(reader, field, member);
  case FORM_TARGET:
    if (!accept(reader, "sm_"))
      return misread(reader, TPTX_ERROR_SYNTAX, fields[field].word, "sm_ and a number, sm_90");
    return read_number(reader, field, member);
  case FORM_VERSION: return read_version(reader, field, member);
  default: return read_word(reader, field, member);
  }
}

static bool accept_operation(struct reader *reader) {
  for (int32_t i = 0; i < (int32_t)OPERATION_COUNT; i++) {
    bool masked = accept_rest(reader, operations[i].masked_word);
    if (!masked && !accept_rest(reader, operations[i].word)) continue;
    reader->signature->operation = i;
    reader->signature->masked = masked;
    return true;
  }
  return false;
}

/* Which row a field after the first three belongs to; -1 for none. Moves past "word=". */
static int find_field(struct reader *reader) {
  for (int field = 0; field < FIELD_COUNT; field++) {
    const struct field *row = &fields[field];
    const char *start = reader->at;
    if (row->form == FORM_OPERATION && accept_operation(reader)) return field;
    if (row->form == FORM_FLAG && accept_rest(reader, row->word)) {
      int32_t set = 1;
      memcpy((char *)reader->signature + row->offset, &set, sizeof set);
      return field;
    }
    if (row->form == FORM_FLAG || !row->word[0]) continue;
    if (accept(reader, row->word) && accept(reader, "=")) return field;
    reader->at = start;
  }
  return -1;
}

static tptx_status read_field(struct reader *reader) {
  const char *start = reader->at;
  int field = find_field(reader);
  if (field < 0)
    return misread(reader, TPTX_ERROR_SYNTAX, "",
                   "an operation (load, store_masked, ...) or a field (shape=, pad=, ...)");
  if (reader->seen >> field & 1) {
    reader->at = start;
    return misread(reader, TPTX_ERROR_SYNTAX,
                   fields[field].word[0] ? fields[field].word : "operation",
                   "every field once and exactly one operation");
  }
  reader->seen |= UINT64_C(1) << field;
  if (fields[field].form == FORM_OPERATION || fields[field].form == FORM_FLAG) return TPTX_OK;
  return read_value(reader, field);
}

/* The field that starts at `at`, up to the next colon. */
static void next_field(struct reader *reader) {
  reader->end = reader->at + strcspn(reader->at, ":");
}

static bool past_field(struct reader *reader) {
  reader->at = reader->end;
  if (*reader->at != ':') return false;
  reader->at++;
  next_field(reader);
  return true;
}

static bool seen(const struct reader *reader, size_t offset) {
  for (int field = 0; field < FIELD_COUNT; field++)
    if (fields[field].offset == offset) return reader->seen >> field & 1;
  return false;
}

static tptx_status read_positional(struct reader *reader) {
  static const char *const missing[] = {"a colon and an element type", "a colon and extents"};
  next_field(reader);
  FORWARD(read_value(reader, 0));
  for (int field = 1; field <= 2; field++) {
    if (!past_field(reader)) return misread(reader, TPTX_ERROR_SYNTAX, "", missing[field - 1]);
    FORWARD(read_value(reader, field));
  }
  return TPTX_OK;
}

static tptx_status read_defaults(struct reader *reader) {
  struct signature *signature = reader->signature;
  if (!seen(reader, offsetof(struct signature, shape)))
    return misread(reader, TPTX_ERROR_SYNTAX, "shape", "shape= somewhere in the line");
  if (!seen(reader, offsetof(struct signature, operation)))
    return misread(reader, TPTX_ERROR_SYNTAX, "operation", "an operation, such as load_masked");
  bool dim = seen(reader, offsetof(struct signature, dim));
  bool strides = seen(reader, offsetof(struct signature, strides));
  bool gather = signature->kind == TPTX_GATHER_SCATTER_VIEW;
  if (gather && !dim)
    return misread(reader, TPTX_ERROR_DIM, "dim", "dim= on a gather_scatter_view");
  if (!gather && dim) return misread(reader, TPTX_ERROR_DIM, "dim", "no dim= on a strided_view");
  if (gather && strides)
    return misread(reader, TPTX_ERROR_STRIDE, "strides", "no strides= on a gather_scatter_view");
  if (!strides) memcpy(signature->strides, signature->shape, sizeof signature->shape);
  return TPTX_OK;
}

tptx_status signature_read(const char *line, struct signature *signature, tptx_error *error) {
  tptx_view view;
  tptx_op op;
  tptx_target target;
  tptx_view_init(&view);
  tptx_op_init(&op);
  tptx_target_init(&target);
  signature_from_descriptors(&view, &op, &target, signature);
  REFUSE_IF(strlen(line) > TPTX_MAX_SIGNATURE, error, TPTX_ERROR_SYNTAX, "signature", -1,
            "the line is longer than %d bytes", TPTX_MAX_SIGNATURE);
  struct reader reader = {.line = line, .at = line, .signature = signature, .error = error};
  FORWARD(read_positional(&reader));
  while (past_field(&reader)) FORWARD(read_field(&reader));
  return read_defaults(&reader);
}
