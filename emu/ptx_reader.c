/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Reads the directives of a module and its kernels; instructions go to ptx_decode.c. */
#include "ptx_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  PARAMETER_BYTES = 4096,
  PARAMETER_BYTES_81 = 32764,
  SHARED_GAP = 64,
  SHARED_BYTES = 48 * 1024
};

bool reader_fail(struct reader *reader, uint32_t line, int code, const char *format, ...) {
  if (reader->code != 0) {
    return false;
  }
  int used = 0;
  if (line > 0) {
    used = snprintf(reader->message, reader->message_size, "line %u: ", line);
  }
  if (used >= 0 && (size_t)used < reader->message_size) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->message + used, reader->message_size - (size_t)used, format, arguments);
    va_end(arguments);
  }
  reader->code = code;
  return false;
}

bool syntax_error(struct reader *reader) {
  const struct token *token = &reader->token;
  if (token->kind == TOKEN_END) {
    return reader_fail(reader, token->line, ERROR_INVALID_PTX,
                       "syntax error: the text ends too early");
  }
  return reader_fail(reader, token->line, ERROR_INVALID_PTX, "syntax error near '%.*s'",
                     (int)token->text.length, token->text.text);
}

bool at_directive(const struct reader *reader, const char *name) {
  return reader->token.kind == TOKEN_DIRECTIVE && slice_is(reader->token.text, name);
}

bool read_integer(struct reader *reader, uint64_t most, uint64_t *value) {
  if (reader->token.kind != TOKEN_INTEGER || reader->token.integer > most) {
    return syntax_error(reader);
  }
  *value = reader->token.integer;
  return next_token(reader);
}

static bool read_name(struct reader *reader, struct slice *name) {
  if (reader->token.kind != TOKEN_WORD || slice_is(reader->token.text, "_") ||
      memchr(reader->token.text.text, '.', reader->token.text.length) != NULL) {
    return syntax_error(reader);
  }
  *name = reader->token.text;
  return next_token(reader);
}

/* A type of a variable: .b32, .pred. */
static bool read_type(struct reader *reader, enum type *type) {
  if (reader->token.kind == TOKEN_DIRECTIVE) {
    struct slice name = {reader->token.text.text + 1, reader->token.text.length - 1};
    for (int k = 0; k < TYPE_COUNT; k++) {
      bool variable = type_facts[k].class != CLASS_NARROW || k == TYPE_f16 || k == TYPE_f16x2;
      if (variable && slice_is(name, type_facts[k].spelling)) {
        *type = (enum type)k;
        return next_token(reader);
      }
    }
  }
  return syntax_error(reader);
}

static bool read_alignment(struct reader *reader, uint32_t *alignment) {
  uint64_t value = 0;
  if (!at_directive(reader, ".align")) {
    return true;
  }
  if (!next_token(reader) || !read_integer(reader, 512, &value)) {
    return false;
  }
  if (value == 0 || (value & (value - 1)) != 0) {
    return syntax_error(reader);
  }
  *alignment = (uint32_t)value;
  return true;
}

/* .reg .b32 %x, %y<8>; */
static bool read_registers(struct reader *reader) {
  struct symbol symbol = {.kind = SYMBOL_REGISTER, .scope = reader->scope, .count = 1};
  uint32_t line = reader->token.line;
  if (!next_token(reader) || !read_type(reader, &symbol.type)) {
    return false;
  }
  for (;;) {
    uint64_t count = 1;
    symbol.kind = SYMBOL_REGISTER;
    if (!read_name(reader, &symbol.name)) {
      return false;
    }
    if (at_mark(reader, '<')) {
      symbol.kind = SYMBOL_RANGE;
      if (!next_token(reader) || !read_integer(reader, 1u << 20, &count) ||
          !expect_mark(reader, '>')) {
        return false;
      }
    }
    symbol.count = (uint32_t)count;
    if (!symbol_add(reader, &symbol, line)) {
      return false;
    }
    unsigned words = type_facts[symbol.type].bits > 32 ? 2 : type_facts[symbol.type].bits > 1;
    reader->kernel->register_count += words * symbol.count;
    if (!at_mark(reader, ',')) {
      return expect_mark(reader, ';');
    }
    if (!next_token(reader)) {
      return false;
    }
  }
}

/* .shared .align 16 .b8 tile[4096];  or with .extern before it and [] at its end */
static bool read_shared(struct reader *reader, bool dynamic) {
  struct kernel *kernel = reader->kernel;
  struct symbol symbol = {.kind = SYMBOL_SHARED, .scope = reader->scope};
  enum type type;
  uint32_t line = reader->token.line;
  uint64_t count = 1;
  uint32_t alignment = 0;
  if (!next_token(reader) || !read_alignment(reader, &alignment) || !read_type(reader, &type) ||
      !read_name(reader, &symbol.name)) {
    return false;
  }
  if (at_mark(reader, '[') &&
      (!next_token(reader) || (!dynamic && !read_integer(reader, SHARED_BYTES, &count)) ||
       !expect_mark(reader, ']'))) {
    return false;
  }
  uint32_t size = type_facts[type].bits / 8;
  if (alignment == 0) {
    alignment = size;
  }
  if (dynamic && kernel->shared_count > 0 && kernel->shared[kernel->shared_count - 1].dynamic) {
    return reader_fail(reader, line, ERROR_INVALID_PTX,
                       "only one .extern .shared array is supported");
  }
  struct shared_variable *larger =
      realloc(kernel->shared, (kernel->shared_count + 1) * sizeof *larger);
  if (larger == NULL) {
    return reader_fail(reader, line, ERROR_OUT_OF_MEMORY, "out of memory");
  }
  kernel->shared = larger;
  uint64_t offset =
      (kernel->shared_bytes + SHARED_GAP + alignment - 1) & ~((uint64_t)alignment - 1);
  larger[kernel->shared_count] =
      (struct shared_variable){offset, dynamic ? 0 : count * size, dynamic};
  kernel->shared_bytes = offset + larger[kernel->shared_count].size;
  symbol.index = (uint32_t)kernel->shared_count++;
  return symbol_add(reader, &symbol, line) && expect_mark(reader, ';');
}

/* .file 1 "name", .loc 1 line column, .pragma "text"; */
static bool skip_directive(struct reader *reader) {
  bool closed = at_directive(reader, ".pragma");
  do {
    if (!next_token(reader)) {
      return false;
    }
  } while (reader->token.kind == TOKEN_INTEGER || reader->token.kind == TOKEN_STRING ||
           at_mark(reader, ','));
  return !closed || expect_mark(reader, ';');
}

/* .param .u64 .ptr .global .align 16 name  or  .param .align 4 .b8 name[16] */
static bool read_parameter(struct reader *reader) {
  struct kernel *kernel = reader->kernel;
  struct symbol symbol = {.kind = SYMBOL_PARAMETER, .scope = 0};
  enum type type;
  uint32_t alignment = 0;
  uint64_t count = 1;
  if (!at_directive(reader, ".param")) {
    return syntax_error(reader);
  }
  if (!next_token(reader) || !read_alignment(reader, &alignment) || !read_type(reader, &type)) {
    return false;
  }
  uint32_t size = type_facts[type].bits / 8;
  if (type == TYPE_pred) {
    return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX,
                       "a parameter cannot be .pred");
  }
  if (at_directive(reader, ".ptr")) {
    uint32_t pointer_alignment;
    if (!next_token(reader)) {
      return false;
    }
    if ((at_directive(reader, ".global") || at_directive(reader, ".shared")) &&
        !next_token(reader)) {
      return false;
    }
    if (!read_alignment(reader, &pointer_alignment)) {
      return false;
    }
  }
  if (!read_name(reader, &symbol.name)) {
    return false;
  }
  if (at_mark(reader, '[') &&
      (!next_token(reader) || !read_integer(reader, 32764, &count) || !expect_mark(reader, ']'))) {
    return false;
  }
  alignment = alignment == 0 ? size : alignment;
  struct parameter *larger =
      realloc(kernel->parameters, (kernel->parameter_count + 1) * sizeof *larger);
  char *name = strndup(symbol.name.text, symbol.name.length);
  if (larger != NULL) {
    kernel->parameters = larger;
  }
  if (larger == NULL || name == NULL) {
    free(name);
    return reader_fail(reader, reader->token.line, ERROR_OUT_OF_MEMORY, "out of memory");
  }
  uint32_t offset = (kernel->parameter_bytes + alignment - 1) & ~(alignment - 1);
  kernel->parameters[kernel->parameter_count] =
      (struct parameter){name, offset, size * (uint32_t)count, alignment};
  symbol.index = (uint32_t)kernel->parameter_count++;
  kernel->parameter_bytes = offset + size * (uint32_t)count;
  uint32_t limit = reader->program->version >= 81 ? PARAMETER_BYTES_81 : PARAMETER_BYTES;
  if (kernel->parameter_bytes > limit) {
    return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX,
                       "formal parameter space overflowed (%u bytes, %u at most)",
                       kernel->parameter_bytes, limit);
  }
  return symbol_add(reader, &symbol, reader->token.line);
}

static bool read_parameters(struct reader *reader) {
  if (!at_mark(reader, '(')) {
    return true;
  }
  if (!next_token(reader) || at_mark(reader, ')')) {
    return reader->code == 0 && next_token(reader);
  }
  while (read_parameter(reader)) {
    if (!at_mark(reader, ',')) {
      return expect_mark(reader, ')');
    }
    if (!next_token(reader)) {
      return false;
    }
  }
  return false;
}

static bool read_dimensions(struct reader *reader, uint32_t *dimensions) {
  uint64_t value = 0;
  dimensions[0] = dimensions[1] = dimensions[2] = 1;
  for (unsigned k = 0; k < 3; k++) {
    if (!next_token(reader) || !read_integer(reader, 1024, &value)) {
      return false;
    }
    dimensions[k] = (uint32_t)value;
    if (!at_mark(reader, ',')) {
      return true;
    }
  }
  return syntax_error(reader);
}

static bool read_performance(struct reader *reader) {
  uint64_t ignored;
  while (reader->token.kind == TOKEN_DIRECTIVE) {
    bool read;
    if (at_directive(reader, ".maxntid")) {
      read = read_dimensions(reader, reader->kernel->maxntid);
    } else if (at_directive(reader, ".reqntid")) {
      read = read_dimensions(reader, reader->kernel->reqntid);
    } else if (at_directive(reader, ".minnctapersm") || at_directive(reader, ".maxnreg")) {
      read = next_token(reader) && read_integer(reader, 1024, &ignored);
    } else if (at_directive(reader, ".pragma")) {
      read = skip_directive(reader);
    } else {
      read = syntax_error(reader);
    }
    if (!read) {
      return false;
    }
  }
  if (reader->kernel->maxntid[0] != 0 && reader->kernel->reqntid[0] != 0) {
    return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX,
                       ".maxntid and .reqntid exclude each other");
  }
  return true;
}

/* @p and @!p */
static bool read_guard(struct reader *reader, struct instruction *in) {
  uint32_t number;
  if (!next_token(reader)) {
    return false;
  }
  if (at_mark(reader, '!')) {
    in->negated |= 1;
    if (!next_token(reader)) {
      return false;
    }
  }
  struct symbol *symbol = reader->token.kind == TOKEN_WORD
                              ? symbol_find(reader, reader->token.text, reader->scope, &number)
                              : NULL;
  if (symbol == NULL || symbol->slots == NULL || symbol->type != TYPE_pred) {
    return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX,
                       "'%.*s' is no declared predicate register", (int)reader->token.text.length,
                       reader->token.text.text);
  }
  if (symbol->slots[number] == SLOT_NONE && !slot_new(reader, false, 0, &symbol->slots[number])) {
    return false;
  }
  in->guard = symbol->slots[number];
  return next_token(reader);
}

static bool split_opcode(struct reader *reader, struct statement *statement) {
  struct slice word = reader->token.text;
  struct slice part = {word.text, 0};
  for (size_t k = 0; k <= word.length; k++) {
    if (k < word.length && word.text[k] != '.') {
      part.length++;
      continue;
    }
    if (part.text == word.text) {
      statement->opcode = part;
    } else if (statement->modifier_count == MAX_MODIFIERS) {
      return syntax_error(reader);
    } else {
      statement->modifiers[statement->modifier_count++] = part;
    }
    part = (struct slice){word.text + k + 1, 0};
  }
  return true;
}

static bool read_label(struct reader *reader, struct slice name, uint32_t line) {
  struct symbol symbol = {.kind = SYMBOL_LABEL, .name = name, .scope = reader->scope};
  symbol.index = (uint32_t)reader->kernel->code_count;
  return symbol_add(reader, &symbol, line) && next_token(reader);
}

static bool read_instruction(struct reader *reader) {
  struct statement statement;
  memset(&statement, 0, sizeof statement);
  statement.line = reader->token.line;
  if (at_mark(reader, '@') && !read_guard(reader, &statement.instruction)) {
    return false;
  }
  if (reader->token.kind != TOKEN_WORD) {
    return syntax_error(reader);
  }
  struct slice name = reader->token.text;
  if (!split_opcode(reader, &statement) || !next_token(reader)) {
    return false;
  }
  if (at_mark(reader, ':') && statement.instruction.guard == SLOT_NONE) {
    return read_label(reader, name, statement.line);
  }
  return operands_read(reader, &statement) && statement_decode(reader, &statement);
}

/* One { } block; its names end with it. */
static bool read_block(struct reader *reader) {
  uint32_t depth = 0;
  do {
    bool read;
    if (at_mark(reader, '{')) {
      read = scope_open(reader, reader->token.line) && next_token(reader);
      depth++;
    } else if (at_mark(reader, '}')) {
      reader->scope = reader->parents[reader->scope];
      depth--;
      read = next_token(reader);
    } else if (at_directive(reader, ".reg")) {
      read = read_registers(reader);
    } else if (at_directive(reader, ".shared")) {
      read = read_shared(reader, false);
    } else if (at_directive(reader, ".loc") || at_directive(reader, ".pragma")) {
      read = skip_directive(reader);
    } else {
      read = read_instruction(reader);
    }
    if (!read) {
      return false;
    }
  } while (depth > 0);
  return true;
}

static bool resolve_labels(struct reader *reader) {
  for (size_t k = 0; k < reader->fixup_count; k++) {
    const struct fixup *fixup = &reader->fixups[k];
    uint32_t number;
    const struct symbol *symbol = symbol_find(reader, fixup->label, fixup->scope, &number);
    if (symbol == NULL || symbol->kind != SYMBOL_LABEL) {
      return reader_fail(reader, fixup->line, ERROR_INVALID_PTX, "undeclared label '%.*s'",
                         (int)fixup->label.length, fixup->label.text);
    }
    reader->kernel->code[fixup->instruction].target = symbol->index;
  }
  return true;
}

static void release_kernel(struct kernel *kernel) {
  for (size_t k = 0; k < kernel->parameter_count; k++) {
    free(kernel->parameters[k].name);
  }
  free(kernel->parameters);
  free(kernel->name);
  free(kernel->code);
  free(kernel->lists);
  free(kernel->initial);
  free(kernel->defined);
  free(kernel->shared);
}

/* Appends an empty kernel that knows the shared variables of the module. */
static bool start_kernel(struct reader *reader, struct slice name) {
  struct program *program = reader->program;
  const struct kernel *module = reader->kernel;
  for (size_t k = 0; k < program->kernel_count; k++) {
    if (slice_is(name, program->kernels[k].name)) {
      return reader_fail(reader, reader->token.line, ERROR_INVALID_PTX,
                         "duplicate definition of '%.*s'", (int)name.length, name.text);
    }
  }
  struct kernel *larger = realloc(program->kernels, (program->kernel_count + 1) * sizeof *larger);
  if (larger == NULL) {
    return reader_fail(reader, reader->token.line, ERROR_OUT_OF_MEMORY, "out of memory");
  }
  program->kernels = larger;
  struct kernel *kernel = &larger[program->kernel_count++];
  memset(kernel, 0, sizeof *kernel);
  reader->kernel = kernel;
  reader->code_capacity = reader->list_capacity = reader->slot_capacity = 0;
  kernel->name = strndup(name.text, name.length);
  kernel->shared = calloc(module->shared_count + 1, sizeof *kernel->shared);
  if (kernel->name == NULL || kernel->shared == NULL) {
    return reader_fail(reader, reader->token.line, ERROR_OUT_OF_MEMORY, "out of memory");
  }
  if (module->shared_count > 0) {
    memcpy(kernel->shared, module->shared, module->shared_count * sizeof *kernel->shared);
  }
  kernel->shared_count = module->shared_count;
  kernel->shared_bytes = module->shared_bytes;
  uint32_t none;
  return slot_new(reader, true, 0, &none);
}

/* An exit where the text just ends, and plain flags where slot_constant() kept a mark. */
static bool finish_kernel(struct reader *reader) {
  struct kernel *kernel = reader->kernel;
  struct instruction end = {.operation = OP_EXIT, .line = reader->token.line};
  if (!resolve_labels(reader) || !grow(reader, (void **)&kernel->code, &reader->code_capacity,
                                       kernel->code_count, sizeof end)) {
    return false;
  }
  kernel->code[kernel->code_count++] = end;
  for (size_t k = 0; k < kernel->slot_count; k++) {
    kernel->defined[k] = kernel->defined[k] != 0;
  }
  return true;
}

static bool read_entry(struct reader *reader) {
  struct slice name;
  struct kernel *module = reader->kernel;
  if (!next_token(reader) || !read_name(reader, &name) || !start_kernel(reader, name)) {
    return false;
  }
  bool read = read_parameters(reader) && read_performance(reader) &&
              (at_mark(reader, '{') || syntax_error(reader)) && read_block(reader) &&
              finish_kernel(reader);
  symbols_clear(reader);
  reader->kernel = module;
  return read;
}

static bool read_module(struct reader *reader) {
  if (!header_read(reader)) {
    return false;
  }
  while (reader->token.kind != TOKEN_END) {
    bool read;
    if (at_directive(reader, ".visible") || at_directive(reader, ".weak")) {
      read = next_token(reader) && (at_directive(reader, ".entry") || syntax_error(reader));
    } else if (at_directive(reader, ".entry")) {
      read = read_entry(reader);
    } else if (at_directive(reader, ".shared")) {
      read = read_shared(reader, false);
      reader->module_symbols = (uint32_t)reader->symbol_count;
    } else if (at_directive(reader, ".extern")) {
      read = next_token(reader) && (at_directive(reader, ".shared") || syntax_error(reader)) &&
             read_shared(reader, true);
      reader->module_symbols = (uint32_t)reader->symbol_count;
    } else if (at_directive(reader, ".file") || at_directive(reader, ".pragma")) {
      read = skip_directive(reader);
    } else {
      read = syntax_error(reader);
    }
    if (!read) {
      return false;
    }
  }
  return true;
}

/* Only ASCII, and no NUL inside. */
static bool check_characters(struct reader *reader, const char *text, size_t length) {
  uint32_t line = 1;
  for (size_t k = 0; k < length; k++) {
    if (text[k] == '\0' || (unsigned char)text[k] > 127) {
      return reader_fail(reader, line, ERROR_INVALID_PTX, "unexpected non-ASCII character 0x%02x",
                         (unsigned)(unsigned char)text[k]);
    }
    line += text[k] == '\n';
  }
  return true;
}

int program_read(const char *text, size_t length, const struct reader_limits *limits,
                 struct program **out, char *message, size_t message_size) {
  struct kernel module = {0};
  struct reader *reader = calloc(1, sizeof *reader);
  struct program *program = calloc(1, sizeof *program);
  uint32_t *buckets = calloc(BUCKETS, sizeof *buckets);
  char *copy = malloc(length + 1);
  int code = ERROR_OUT_OF_MEMORY;
  *out = NULL;
  message[0] = '\0';
  if (reader != NULL && program != NULL && buckets != NULL && copy != NULL) {
    memcpy(copy, text, length);
    copy[length] = '\0';
    program->text = copy;
    program->text_length = length;
    reader->buckets = buckets;
    reader->program = program;
    reader->kernel = &module;
    reader->limits = limits;
    reader->message = message;
    reader->message_size = message_size;
    reader->scope_count = 1;
    lexer_start(&reader->lexer, copy, length);
    (void)(check_characters(reader, copy, length) && read_module(reader));
    code = reader->code;
    reader->module_symbols = 0;
    symbols_clear(reader);
    free(reader->symbols);
    free(reader->chain);
    free(reader->fixups);
    free(module.shared);
    copy = NULL;
  }
  free(copy);
  free(buckets);
  free(reader);
  if (code != 0) {
    program_free(program);
    return code;
  }
  *out = program;
  return 0;
}

void program_free(struct program *program) {
  if (program == NULL) {
    return;
  }
  for (size_t k = 0; k < program->kernel_count; k++) {
    release_kernel(&program->kernels[k]);
  }
  free(program->kernels);
  free(program->text);
  free(program);
}

const struct kernel *program_find(const struct program *program, const char *name) {
  for (size_t k = 0; k < program->kernel_count; k++) {
    if (strcmp(program->kernels[k].name, name) == 0) {
      return &program->kernels[k];
    }
  }
  return NULL;
}

void program_line(const struct program *program, uint32_t line, char *buffer, size_t size) {
  const char *start = program->text;
  for (uint32_t k = 1; k < line && start != NULL; k++) {
    start = strchr(start, '\n');
    start = start != NULL ? start + 1 : NULL;
  }
  start = start != NULL ? start : "";
  start += strspn(start, " \t");
  size_t length = strcspn(start, "\r\n");
  length = length < size ? length : size - 1;
  memcpy(buffer, start, length);
  buffer[length] = '\0';
}
