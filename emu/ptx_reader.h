/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the PTX reader share: one module is read token by token, one kernel at a
 * time. */
#ifndef EMU_PTX_READER_H
#define EMU_PTX_READER_H

#include "codes.h"
#include "program.h"
#include "ptx_lexer.h"

enum { MAX_OPERANDS = 6, MAX_MODIFIERS = 12, MAX_SCOPES = 64 };

enum symbol_kind { SYMBOL_REGISTER, SYMBOL_RANGE, SYMBOL_LABEL, SYMBOL_PARAMETER, SYMBOL_SHARED };

struct symbol {
  struct slice name; /* of a range: what stands before the numbers */
  enum symbol_kind kind;
  enum type type;  /* of a register */
  uint32_t scope;  /* number of the block that declared it */
  uint32_t count;  /* registers in a range */
  uint32_t *slots; /* one a register, SLOT_NONE until it is used */
  uint32_t index;  /* of a label: instruction; of a parameter or variable: its number */
};

enum operand_kind {
  OPERAND_REGISTER,
  OPERAND_SPECIAL,
  OPERAND_INTEGER,
  OPERAND_FLOAT,
  OPERAND_ADDRESS,
  OPERAND_LIST,
  OPERAND_SINK,
  OPERAND_NAME /* a label, a variable, or nothing that is declared */
};

struct operand {
  enum operand_kind kind;
  struct slice text;
  enum type type; /* of a register */
  uint32_t slot;
  bool negated; /* !p */
  bool minus;   /* the constant was written with a minus */
  uint64_t integer;
  bool single;
  uint64_t bits;
  bool based; /* address: [register + offset], else [name + offset] */
  int64_t offset;
  uint32_t count; /* of a list */
  struct operand *items;
};

/* One instruction as it stands in the text. */
struct statement {
  uint32_t line;
  struct slice opcode;
  struct slice modifiers[MAX_MODIFIERS];
  uint32_t modifier_count;
  struct operand operands[MAX_OPERANDS];
  uint32_t operand_count;
  struct operand second; /* p|q: the second one of operand 0 */
  bool has_second;
  struct operand items[2 * MAX_LANES];
  uint32_t item_count;
  struct instruction instruction;
};

struct fixup {
  size_t instruction;
  struct slice label;
  uint32_t scope;
  uint32_t line;
};

struct reader {
  struct lexer lexer;
  struct token token;
  const struct reader_limits *limits;
  struct program *program;
  struct kernel *kernel;
  int code; /* 0, or the driver code of the first error */
  char *message;
  size_t message_size;

  struct symbol *symbols; /* those of the kernel at hand, every scope */
  size_t symbol_count, symbol_capacity;
  uint32_t *buckets; /* 1 + index of the newest symbol; chained through `chain` */
  uint32_t *chain;
  uint32_t parents[4096]; /* of every scope number */
  uint32_t scope_count;
  uint32_t scope;
  uint32_t module_symbols; /* those that outlive a kernel: shared variables of the module */

  struct fixup *fixups;
  size_t fixup_count, fixup_capacity;
  size_t code_capacity, list_capacity, slot_capacity;
};

enum { BUCKETS = 512 };

/* Notes the first error; always returns false, so that callers may return it. */
bool reader_fail(struct reader *reader, uint32_t line, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ptx_reader.c */
bool at_directive(const struct reader *reader, const char *name);
bool read_integer(struct reader *reader, uint64_t most, uint64_t *value);
bool syntax_error(struct reader *reader);

/* ptx_header.c */
bool header_read(struct reader *reader);

/* ptx_symbols.c */
bool scope_open(struct reader *reader, uint32_t line);
bool symbol_add(struct reader *reader, const struct symbol *symbol, uint32_t line);
struct symbol *symbol_find(struct reader *reader, struct slice name, uint32_t scope,
                           uint32_t *number);
void symbols_clear(struct reader *reader);
bool slot_new(struct reader *reader, bool defined, uint64_t value, uint32_t *slot);
bool slot_constant(struct reader *reader, uint64_t value, uint32_t *slot);
bool grow(struct reader *reader, void **array, size_t *capacity, size_t count, size_t size);

/* ptx_operands.c */
bool operands_read(struct reader *reader, struct statement *statement);
bool next_token(struct reader *reader);
bool expect_mark(struct reader *reader, char mark);
bool at_mark(const struct reader *reader, char mark);

/* ptx_forms.c */
struct form {
  const char *pattern;
  const char *operands;
  enum operation operation;
  int target;
  int version;
};

struct modifiers {
  enum type types[2];
  uint32_t type_count;
  enum semantics semantics;
  enum scope scope;
  enum space space;
  uint32_t vector;
  enum action action;
  enum rounding rounding;
  bool saturate;
};

bool form_find(struct reader *reader, const struct statement *statement, const struct form **form,
               struct modifiers *modifiers);

/* ptx_decode.c */
bool statement_decode(struct reader *reader, struct statement *statement);

#endif
