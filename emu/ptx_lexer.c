/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_lexer.h"

#include <string.h>

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

static int hex_value(char c) {
  if (is_digit(c)) {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}

bool slice_is(struct slice slice, const char *text) {
  return strlen(text) == slice.length && memcmp(slice.text, text, slice.length) == 0;
}

bool slices_equal(struct slice a, struct slice b) {
  return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

void lexer_start(struct lexer *lexer, const char *text, size_t length) {
  lexer->at = text;
  lexer->end = text + length;
  lexer->line = 1;
}

static char peek(const struct lexer *lexer, size_t ahead) {
  return (size_t)(lexer->end - lexer->at) > ahead ? lexer->at[ahead] : '\0';
}

static void bad(struct token *token, const char *complaint) {
  token->kind = TOKEN_BAD;
  token->complaint = complaint;
}

/* Skips white space and comments; false at a comment that never ends. */
static bool skip_blank(struct lexer *lexer) {
  while (lexer->at < lexer->end) {
    char c = *lexer->at;
    if (c == '\n') {
      lexer->line++;
      lexer->at++;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      lexer->at++;
    } else if (c == '/' && peek(lexer, 1) == '/') {
      while (lexer->at < lexer->end && *lexer->at != '\n') {
        lexer->at++;
      }
    } else if (c == '/' && peek(lexer, 1) == '*') {
      lexer->at += 2;
      while (lexer->at < lexer->end && !(*lexer->at == '*' && peek(lexer, 1) == '/')) {
        lexer->line += *lexer->at == '\n';
        lexer->at++;
      }
      if (lexer->at >= lexer->end) {
        return false;
      }
      lexer->at += 2;
    } else {
      return true;
    }
  }
  return true;
}

/* 0f and eight digits, 0d and sixteen. */
static void lex_float_bits(struct lexer *lexer, struct token *token) {
  token->single = peek(lexer, 1) == 'f' || peek(lexer, 1) == 'F';
  int digits = token->single ? 8 : 16;
  lexer->at += 2;
  token->kind = TOKEN_FLOAT;
  for (int k = 0; k < digits; k++) {
    int value = hex_value(peek(lexer, 0));
    if (value < 0) {
      bad(token, "a hexadecimal float needs 8 digits after 0f and 16 after 0d");
      return;
    }
    token->bits = token->bits << 4 | (uint64_t)value;
    lexer->at++;
  }
  if (is_name(peek(lexer, 0))) {
    bad(token, "a hexadecimal float needs 8 digits after 0f and 16 after 0d");
  }
}

static void lex_integer(struct lexer *lexer, struct token *token, unsigned base) {
  bool any = false;
  token->kind = TOKEN_INTEGER;
  for (int value = hex_value(peek(lexer, 0)); value >= 0 && (unsigned)value < base;
       value = hex_value(peek(lexer, 0))) {
    if (token->integer > (UINT64_MAX - (uint64_t)value) / base) {
      bad(token, "integer constant exceeds 64 bits");
      return;
    }
    token->integer = token->integer * base + (uint64_t)value;
    any = true;
    lexer->at++;
  }
  if (peek(lexer, 0) == 'U') {
    lexer->at++;
  }
  if (!any || is_name(peek(lexer, 0))) {
    bad(token, "malformed integer constant");
  }
}

/* A decimal float is read by hand, so that no locale can change it: digits . digits, no exponent.
 * Exact for up to 15 significant digits. */
static void lex_decimal(struct lexer *lexer, struct token *token) {
  double value = 0;
  double scale = 1;
  while (is_digit(peek(lexer, 0))) {
    value = value * 10 + (peek(lexer, 0) - '0');
    lexer->at++;
  }
  lexer->at++;
  while (is_digit(peek(lexer, 0))) {
    value = value * 10 + (peek(lexer, 0) - '0');
    scale *= 10;
    lexer->at++;
  }
  value /= scale;
  token->kind = TOKEN_FLOAT;
  memcpy(&token->bits, &value, sizeof value);
  if (is_name(peek(lexer, 0))) {
    bad(token, "malformed float constant");
  }
}

static void lex_number(struct lexer *lexer, struct token *token) {
  char second = peek(lexer, 1);
  if (*lexer->at == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D')) {
    lex_float_bits(lexer, token);
    return;
  }
  if (*lexer->at == '0' && (second == 'x' || second == 'X')) {
    lexer->at += 2;
    lex_integer(lexer, token, 16);
    return;
  }
  if (*lexer->at == '0' && (second == 'b' || second == 'B')) {
    lexer->at += 2;
    lex_integer(lexer, token, 2);
    return;
  }
  size_t digits = 0;
  while (is_digit(peek(lexer, digits))) {
    digits++;
  }
  if (peek(lexer, digits) == '.') {
    lex_decimal(lexer, token);
    return;
  }
  lex_integer(lexer, token, *lexer->at == '0' && digits > 1 ? 8 : 10);
}

/* A name and the modifiers that follow it without a blank. */
static void lex_word(struct lexer *lexer, struct token *token) {
  token->kind = TOKEN_WORD;
  lexer->at++;
  while (is_name(peek(lexer, 0)) || (peek(lexer, 0) == '.' && is_name(peek(lexer, 1))) ||
         (peek(lexer, 0) == ':' && peek(lexer, 1) == ':')) {
    lexer->at += peek(lexer, 0) == ':' ? 2 : 1;
  }
}

static void lex_directive(struct lexer *lexer, struct token *token) {
  token->kind = TOKEN_DIRECTIVE;
  lexer->at++;
  while (is_name(peek(lexer, 0))) {
    lexer->at++;
  }
}

static void lex_string(struct lexer *lexer, struct token *token) {
  token->kind = TOKEN_STRING;
  lexer->at++;
  while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n') {
    lexer->at++;
  }
  if (peek(lexer, 0) != '"') {
    bad(token, "a string without an end");
    return;
  }
  lexer->at++;
}

void lexer_next(struct lexer *lexer, struct token *token) {
  memset(token, 0, sizeof *token);
  bool closed = skip_blank(lexer);
  token->line = lexer->line;
  token->text.text = lexer->at;
  if (!closed) {
    bad(token, "a comment without an end");
  } else if (lexer->at >= lexer->end) {
    token->kind = TOKEN_END;
  } else if (is_digit(*lexer->at)) {
    lex_number(lexer, token);
  } else if (is_letter(*lexer->at) || *lexer->at == '%' || *lexer->at == '_' || *lexer->at == '$') {
    lex_word(lexer, token);
  } else if (*lexer->at == '.' && is_letter(peek(lexer, 1))) {
    lex_directive(lexer, token);
  } else if (*lexer->at == '"') {
    lex_string(lexer, token);
  } else if (strchr("{}()[]<>,;:@!|+-=", *lexer->at) != NULL) {
    token->kind = TOKEN_MARK;
    token->mark = *lexer->at++;
  } else {
    bad(token, "a character that PTX does not know");
  }
  token->text.length = (size_t)(lexer->at - token->text.text);
}
