/* SPDX-License-Identifier: Apache-2.0 */
/* Names and register slots of the kernel at hand. Every { } opens a scope with a number of its own;
 * a name belongs to the innermost scope around its use that declares it. */
#include <stdlib.h>
#include <string.h>

#include "ptx_reader.h"

bool grow(struct reader *reader, void **array, size_t *capacity, size_t count, size_t size) {
  if (count < *capacity) {
    return true;
  }
  size_t wanted = *capacity == 0 ? 64 : *capacity * 2;
  void *larger = realloc(*array, wanted * size);
  if (larger == NULL) {
    return reader_fail(reader, 0, ERROR_OUT_OF_MEMORY, "out of memory");
  }
  *array = larger;
  *capacity = wanted;
  return true;
}

static uint32_t hash_name(struct slice name) {
  uint32_t hash = 2166136261u;
  for (size_t k = 0; k < name.length; k++) {
    hash = (hash ^ (uint8_t)name.text[k]) * 16777619u;
  }
  return hash % BUCKETS;
}

bool scope_open(struct reader *reader, uint32_t line) {
  if (reader->scope_count == sizeof reader->parents / sizeof reader->parents[0]) {
    return reader_fail(reader, line, ERROR_INVALID_PTX, "too many { } blocks");
  }
  reader->parents[reader->scope_count] = reader->scope;
  reader->scope = reader->scope_count++;
  return true;
}

/* The symbol of that very name and scope; ranges only if asked for. */
static struct symbol *find_exact(struct reader *reader, struct slice name, uint32_t scope,
                                 bool range) {
  for (uint32_t k = reader->buckets[hash_name(name)]; k != 0; k = reader->chain[k - 1]) {
    struct symbol *symbol = &reader->symbols[k - 1];
    if (symbol->scope == scope && (symbol->kind == SYMBOL_RANGE) == range &&
        slices_equal(symbol->name, name)) {
      return symbol;
    }
  }
  return NULL;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* A name of its own, or a member of a range: `%r12` may be number 12 of `%r<20>` or 2 of
 * `%r1<4>`. */
static struct symbol *find_in_scope(struct reader *reader, struct slice name, uint32_t scope,
                                    uint32_t *number) {
  *number = 0;
  struct symbol *symbol = find_exact(reader, name, scope, false);
  uint32_t value = 0;
  uint32_t weight = 1;
  for (size_t cut = name.length - 1; symbol == NULL && cut >= 1 && is_digit(name.text[cut]);
       cut--) {
    bool leading_zero = name.text[cut] == '0' && cut + 1 < name.length;
    value += weight * (uint32_t)(name.text[cut] - '0');
    if (weight >= 100000000) {
      return NULL;
    }
    weight *= 10;
    struct symbol *range =
        leading_zero ? NULL : find_exact(reader, (struct slice){name.text, cut}, scope, true);
    if (range != NULL && value < range->count) {
      *number = value;
      symbol = range;
    }
  }
  return symbol;
}

struct symbol *symbol_find(struct reader *reader, struct slice name, uint32_t scope,
                           uint32_t *number) {
  for (;;) {
    struct symbol *symbol = find_in_scope(reader, name, scope, number);
    if (symbol != NULL || scope == 0) {
      return symbol;
    }
    scope = reader->parents[scope];
  }
}

bool symbol_add(struct reader *reader, const struct symbol *symbol, uint32_t line) {
  uint32_t number;
  bool range = symbol->kind == SYMBOL_RANGE;
  if (range ? find_exact(reader, symbol->name, symbol->scope, true) != NULL
            : find_in_scope(reader, symbol->name, symbol->scope, &number) != NULL) {
    return reader_fail(reader, line, ERROR_INVALID_PTX, "duplicate definition of '%.*s'",
                       (int)symbol->name.length, symbol->name.text);
  }
  size_t capacity = reader->symbol_capacity;
  if (!grow(reader, (void **)&reader->chain, &capacity, reader->symbol_count, sizeof(uint32_t)) ||
      !grow(reader, (void **)&reader->symbols, &reader->symbol_capacity, reader->symbol_count,
            sizeof *symbol)) {
    return false;
  }
  struct symbol *added = &reader->symbols[reader->symbol_count];
  *added = *symbol;
  if (symbol->kind == SYMBOL_REGISTER || range) {
    added->slots = calloc(symbol->count, sizeof *added->slots);
    if (added->slots == NULL) {
      return reader_fail(reader, line, ERROR_OUT_OF_MEMORY, "out of memory");
    }
  }
  uint32_t *bucket = &reader->buckets[hash_name(symbol->name)];
  reader->chain[reader->symbol_count] = *bucket;
  *bucket = (uint32_t)++reader->symbol_count;
  return true;
}

/* Forgets what belongs to a kernel and keeps what belongs to the module. */
void symbols_clear(struct reader *reader) {
  while (reader->symbol_count > reader->module_symbols) {
    struct symbol *symbol = &reader->symbols[--reader->symbol_count];
    reader->buckets[hash_name(symbol->name)] = reader->chain[reader->symbol_count];
    free(symbol->slots);
  }
  reader->scope_count = 1;
  reader->scope = 0;
  reader->fixup_count = 0;
}

bool slot_new(struct reader *reader, bool defined, uint64_t value, uint32_t *slot) {
  struct kernel *kernel = reader->kernel;
  size_t capacity = reader->slot_capacity;
  if (!grow(reader, (void **)&kernel->defined, &capacity, kernel->slot_count, 1) ||
      !grow(reader, (void **)&kernel->initial, &reader->slot_capacity, kernel->slot_count,
            sizeof *kernel->initial)) {
    return false;
  }
  kernel->defined[kernel->slot_count] = defined;
  kernel->initial[kernel->slot_count] = value;
  *slot = (uint32_t)kernel->slot_count++;
  return true;
}

bool slot_constant(struct reader *reader, uint64_t value, uint32_t *slot) {
  const struct kernel *kernel = reader->kernel;
  for (size_t k = 0; k < kernel->slot_count; k++) {
    /* Special registers are defined too, but their slots are listed. */
    if (kernel->defined[k] == 1 && kernel->initial[k] == value) {
      *slot = (uint32_t)k;
      return true;
    }
  }
  return slot_new(reader, true, value, slot);
}
