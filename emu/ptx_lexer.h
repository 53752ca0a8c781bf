/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMU_PTX_LEXER_H
#define EMU_PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
  TOKEN_END,
  TOKEN_WORD,      /* name, register or opcode with its modifiers: ld.global.v4.b32, %tid.x */
  TOKEN_DIRECTIVE, /* .reg */
  TOKEN_INTEGER,
  TOKEN_FLOAT, /* 0f..., 0d... or a decimal with a point: `bits` are those of an f64 */
  TOKEN_STRING,
  TOKEN_MARK, /* one character of punctuation */
  TOKEN_BAD
};

struct slice {
  const char *text;
  size_t length;
};

struct token {
  enum token_kind kind;
  struct slice text;
  uint32_t line;
  char mark;
  uint64_t integer;
  bool single; /* a float written as 0f: `bits` are those of an f32 */
  uint64_t bits;
  const char *complaint; /* of TOKEN_BAD */
};

struct lexer {
  const char *at;
  const char *end;
  uint32_t line;
};

void lexer_start(struct lexer *lexer, const char *text, size_t length);
void lexer_next(struct lexer *lexer, struct token *token);

bool slice_is(struct slice slice, const char *text);
bool slices_equal(struct slice a, struct slice b);

#endif
