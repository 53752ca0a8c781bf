/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the operands of one instruction: registers, constants, addresses and { } lists. */
#include <string.h>

#include "ptx_reader.h"

bool next_token(struct reader *reader) {
  lexer_next(&reader->lexer, &reader->token);
  if (reader->token.kind == TOKEN_BAD) {
    return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX, "%s",
                       reader->token.complaint);
  }
  return true;
}

bool at_mark(const struct reader *reader, char mark) {
  return reader->token.kind == TOKEN_MARK && reader->token.mark == mark;
}

bool expect_mark(struct reader *reader, char mark) {
  if (!at_mark(reader, mark)) {
    return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX,
                       "syntax error: '%c' expected before '%.*s'", mark,
                       (int)reader->token.text.length, reader->token.text.text);
  }
  return next_token(reader);
}

static const struct {
  const char *name;
  enum special special;
} special_names[] = {
#define SPECIAL(name, index) {name, SPECIAL_##index},
#include "ptx_specials.def"
#undef SPECIAL
};

static bool special_slot(struct reader *reader, enum special special, uint32_t *slot) {
  uint32_t *known = &reader->kernel->specials[special];
  if (*known == SLOT_NONE) {
    if (!slot_new(reader, true, 0, known)) {
      return false;
    }
    reader->kernel->defined[*known] = 2; /* not a constant, see slot_constant() */
  }
  *slot = *known;
  return true;
}

/* A word: a register, a special register, or the name of something else. */
static bool read_word(struct reader *reader, struct operand *operand) {
  struct slice name = reader->token.text;
  operand->text = name;
  uint32_t number;
  struct symbol *symbol = symbol_find(reader, name, reader->scope, &number);
  if (symbol != NULL && symbol->slots != NULL) {
    if (symbol->slots[number] == SLOT_NONE && !slot_new(reader, false, 0, &symbol->slots[number])) {
      return false;
    }
    operand->kind = OPERAND_REGISTER;
    operand->slot = symbol->slots[number];
    operand->type = symbol->type;
    return next_token(reader);
  }
  operand->kind = slice_is(name, "_") ? OPERAND_SINK : OPERAND_NAME;
  for (size_t k = 0; symbol == NULL && k < sizeof special_names / sizeof special_names[0]; k++) {
    if (slice_is(name, special_names[k].name)) {
      operand->kind = OPERAND_SPECIAL;
      operand->type = TYPE_u32;
      return special_slot(reader, special_names[k].special, &operand->slot) && next_token(reader);
    }
  }
  if (operand->kind == OPERAND_NAME && name.text[0] == '%') {
    return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX, "undeclared register '%.*s'",
                       (int)name.length, name.text);
  }
  return next_token(reader);
}

static bool read_constant(struct reader *reader, struct operand *operand) {
  operand->text = reader->token.text;
  operand->minus = at_mark(reader, '-');
  if (operand->minus && !next_token(reader)) {
    return false;
  }
  const struct token *token = &reader->token;
  if (token->kind == TOKEN_INTEGER) {
    operand->kind = OPERAND_INTEGER;
    operand->integer = operand->minus ? 0 - token->integer : token->integer;
    if (operand->minus && token->integer > (uint64_t)INT64_MAX + 1) {
      return reader_fail(reader, token->line, ERROR_INVALID_PTX,
                         "integer constant exceeds 64 bits");
    }
  } else if (token->kind == TOKEN_FLOAT) {
    operand->kind = OPERAND_FLOAT;
    operand->single = token->single;
    uint64_t sign = (uint64_t)1 << (token->single ? 31 : 63);
    operand->bits = operand->minus ? token->bits ^ sign : token->bits;
  } else {
    return reader_fail(reader, token->line, ERROR_INVALID_PTX, "syntax error: operand expected");
  }
  return next_token(reader);
}

/* [register], [register+imm], [register+-imm], [name], [name+imm] */
static bool read_address(struct reader *reader, struct operand *operand) {
  struct operand base = {0};
  operand->text = reader->token.text;
  if (!expect_mark(reader, '[')) {
    return false;
  }
  if (reader->token.kind != TOKEN_WORD) {
    return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX,
                       "unknown operand form: an address begins with a register or a name");
  }
  if (!read_word(reader, &base)) {
    return false;
  }
  *operand = base;
  operand->kind = OPERAND_ADDRESS;
  operand->based = base.kind == OPERAND_REGISTER;
  if (!operand->based && base.kind != OPERAND_NAME) {
    return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX,
                       "unknown operand form: '%.*s' is no address", (int)base.text.length,
                       base.text.text);
  }
  if (at_mark(reader, '+')) {
    struct operand offset = {0};
    if (!next_token(reader) || !read_constant(reader, &offset)) {
      return false;
    }
    operand->offset = (int64_t)offset.integer;
    if (offset.kind != OPERAND_INTEGER || operand->offset < INT32_MIN ||
        operand->offset > INT32_MAX) {
      return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX,
                         "the offset of an address is a signed 32-bit integer");
    }
  }
  return expect_mark(reader, ']');
}

static bool read_scalar(struct reader *reader, struct operand *operand) {
  if (at_mark(reader, '!')) {
    if (!next_token(reader) || reader->token.kind != TOKEN_WORD || !read_word(reader, operand)) {
      return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX,
                         "unknown operand form: '!' takes a predicate");
    }
    operand->negated = true;
    if (operand->kind != OPERAND_REGISTER || operand->type != TYPE_pred) {
      return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX,
                         "unknown operand form: '!' takes a predicate");
    }
    return true;
  }
  return reader->token.kind == TOKEN_WORD ? read_word(reader, operand)
                                          : read_constant(reader, operand);
}

static bool read_list(struct reader *reader, struct statement *statement, struct operand *operand) {
  operand->kind = OPERAND_LIST;
  operand->text = reader->token.text;
  operand->items = &statement->items[statement->item_count];
  do {
    if (!next_token(reader)) {
      return false;
    }
    if (operand->count == MAX_LANES ||
        statement->item_count == sizeof statement->items / sizeof statement->items[0]) {
      return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX,
                         "unknown operand form: more than %d elements", MAX_LANES);
    }
    if (!read_scalar(reader, &statement->items[statement->item_count])) {
      return false;
    }
    statement->item_count++;
    operand->count++;
  } while (at_mark(reader, ','));
  return expect_mark(reader, '}');
}

static bool read_operand(struct reader *reader, struct statement *statement,
                         struct operand *operand) {
  if (at_mark(reader, '[')) {
    return read_address(reader, operand);
  }
  if (at_mark(reader, '{')) {
    return read_list(reader, statement, operand);
  }
  if (!read_scalar(reader, operand)) {
    return false;
  }
  if (!at_mark(reader, '|')) {
    return true;
  }
  if (statement->operand_count != 0 || !next_token(reader)) {
    return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX, "syntax error near '|'");
  }
  statement->has_second = true;
  return read_scalar(reader, &statement->second);
}

bool operands_read(struct reader *reader, struct statement *statement) {
  while (!at_mark(reader, ';')) {
    if (statement->operand_count > 0 && !expect_mark(reader, ',')) {
      return false;
    }
    if (statement->operand_count == MAX_OPERANDS) {
      return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX, "too many operands");
    }
    if (!read_operand(reader, statement, &statement->operands[statement->operand_count])) {
      return false;
    }
    statement->operand_count++;
  }
  return next_token(reader);
}
