/* SPDX-License-Identifier: Apache-2.0 */
/* Which form of ptx_forms.def an instruction is, and what its modifiers say. */
#include <stdio.h>
#include <string.h>

#include "ptx_reader.h"

enum { BASE_TARGET = 75, BASE_VERSION = 63 };

const struct type_facts type_facts[TYPE_COUNT] = {
#define TYPE(spelling, bits, class, format) {#spelling, bits, CLASS_##class, FORMAT_##format},
#include "ptx_types.def"
#undef TYPE
};

static const struct form forms[] = {
#define FORM(pattern, operands, operation, target, version) \
  {pattern, operands, OP_##operation, target, version},
#include "ptx_forms.def"
#undef FORM
};

enum modifier_kind {
  MODIFIER_SEMANTICS,
  MODIFIER_SCOPE,
  MODIFIER_SPACE,
  MODIFIER_VECTOR,
  MODIFIER_ACTION,
  MODIFIER_ROUNDING,
  MODIFIER_SATURATE,
  MODIFIER_HINT
};

static const struct modifier {
  const char *spelling;
  enum modifier_kind kind;
  unsigned value;
  int target;
  int version;
} modifier_facts[] = {
#define MODIFIER(spelling, kind, value, target, version) \
  {spelling, MODIFIER_##kind, value, target, version},
#include "ptx_modifiers.def"
#undef MODIFIER
};

/* Length of one element of a pattern, and whether `word` is one of its alternatives. */
static size_t match_element(const char *pattern, struct slice word, bool *optional, bool *matches) {
  size_t length = 0;
  size_t start = 0;
  *matches = false;
  *optional = false;
  for (;; length++) {
    char c = pattern[length];
    if (c == '|' || c == '.' || c == '?' || c == '\0') {
      size_t size = length - start;
      *matches |= size == word.length && memcmp(pattern + start, word.text, size) == 0;
      start = length + 1;
    }
    if (c == '?') {
      *optional = true;
      length++;
      break;
    }
    if (c == '.' || c == '\0') {
      break;
    }
  }
  return length;
}

static bool match(const char *pattern, const struct slice *words, uint32_t count) {
  if (*pattern == '\0') {
    return count == 0;
  }
  bool optional;
  bool matches;
  pattern++; /* the dot */
  struct slice word = count > 0 ? words[0] : (struct slice){"", 0};
  size_t length = match_element(pattern, word, &optional, &matches);
  if (count > 0 && matches && match(pattern + length, words + 1, count - 1)) {
    return true;
  }
  return optional && match(pattern + length, words, count);
}

static bool has_opcode(const char *pattern, struct slice opcode) {
  return strncmp(pattern, opcode.text, opcode.length) == 0 &&
         (pattern[opcode.length] == '.' || pattern[opcode.length] == '\0');
}

static void note(struct modifiers *modifiers, const struct modifier *fact) {
  switch (fact->kind) {
  case MODIFIER_SEMANTICS: modifiers->semantics = (enum semantics)fact->value; break;
  case MODIFIER_SCOPE: modifiers->scope = (enum scope)fact->value; break;
  case MODIFIER_SPACE: modifiers->space = (enum space)fact->value; break;
  case MODIFIER_VECTOR: modifiers->vector = fact->value; break;
  case MODIFIER_ACTION: modifiers->action = (enum action)fact->value; break;
  case MODIFIER_ROUNDING: modifiers->rounding = (enum rounding)fact->value; break;
  case MODIFIER_SATURATE: modifiers->saturate = true; break;
  case MODIFIER_HINT: break;
  }
}

/* Raises the minima of a form by those of one modifier. */
static void read_modifier(struct slice word, struct modifiers *modifiers, int *target,
                          int *version) {
  for (size_t k = 0; k < sizeof modifier_facts / sizeof modifier_facts[0]; k++) {
    const struct modifier *fact = &modifier_facts[k];
    if (slice_is(word, fact->spelling)) {
      note(modifiers, fact);
      *target = fact->target > *target ? fact->target : *target;
      *version = fact->version > *version ? fact->version : *version;
      return;
    }
  }
  for (int k = 0; k < TYPE_COUNT; k++) {
    if (slice_is(word, type_facts[k].spelling) && modifiers->type_count < 2) {
      modifiers->types[modifiers->type_count++] = (enum type)k;
      return;
    }
  }
}

static bool check_minima(struct reader *reader, const struct statement *statement, int target,
                         int version) {
  const struct program *program = reader->program;
  if (program->target < target && target > BASE_TARGET) {
    return reader_fail(reader, statement->line, ERROR_INVALID_PTX,
                       "'%.*s' requires .target sm_%d or higher", (int)statement->opcode.length,
                       statement->opcode.text, target);
  }
  if (program->version < version && version > BASE_VERSION) {
    return reader_fail(reader, statement->line, ERROR_INVALID_PTX,
                       "'%.*s' requires PTX ISA .version %d.%d or later",
                       (int)statement->opcode.length, statement->opcode.text, version / 10,
                       version % 10);
  }
  return true;
}

bool form_find(struct reader *reader, const struct statement *statement, const struct form **form,
               struct modifiers *modifiers) {
  bool known = false;
  for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
    if (!has_opcode(forms[k].pattern, statement->opcode)) {
      continue;
    }
    known = true;
    if (!match(forms[k].pattern + statement->opcode.length, statement->modifiers,
               statement->modifier_count)) {
      continue;
    }
    int target = forms[k].target;
    int version = forms[k].version;
    bool another = k + 1 < sizeof forms / sizeof forms[0] &&
                   strcmp(forms[k].pattern, forms[k + 1].pattern) == 0;
    if (another && (reader->program->target < target || reader->program->version < version)) {
      continue;
    }
    *form = &forms[k];
    memset(modifiers, 0, sizeof *modifiers);
    modifiers->vector = 1;
    for (uint32_t m = 0; m < statement->modifier_count; m++) {
      read_modifier(statement->modifiers[m], modifiers, &target, &version);
    }
    return check_minima(reader, statement, target, version);
  }
  const struct slice *last = statement->modifier_count > 0
                                 ? &statement->modifiers[statement->modifier_count - 1]
                                 : &statement->opcode;
  return reader_fail(reader, statement->line, ERROR_INVALID_PTX, "%s '%.*s'",
                     known ? "unknown form of instruction" : "unknown instruction",
                     (int)(last->text + last->length - statement->opcode.text),
                     statement->opcode.text);
}
