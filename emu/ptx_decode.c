/* SPDX-License-Identifier: Apache-2.0 */
/* From a statement to an instruction: what each operand may be, and where its value lies. */
#include <string.h>

#include "ptx_reader.h"

/* What an operand has to be: a type, and how the register may differ from it. */
struct demand {
  enum type type;
  unsigned bits;
  bool wider; /* the register may be wider (ld, st, cvt) */
};

static uint64_t mask_of(unsigned bits) {
  return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static bool refuse(struct reader *reader, const struct statement *statement,
                   const struct operand *operand, const char *reason) {
  return reader_fail(reader, statement->line, ERROR_INVALID_PTX,
                     "unknown operand form: '%.*s' in '%.*s': %s", (int)operand->text.length,
                     operand->text.text, (int)statement->opcode.length, statement->opcode.text,
                     reason);
}

static bool class_fits(enum type_class wanted, enum type type) {
  enum type_class class = type_facts[type].class;
  switch (wanted) {
  case CLASS_PREDICATE: return class == CLASS_PREDICATE;
  case CLASS_BITS: return class != CLASS_PREDICATE;
  case CLASS_INTEGER_U:
  case CLASS_INTEGER_S:
    return class == CLASS_BITS || class == CLASS_INTEGER_U || class == CLASS_INTEGER_S;
  case CLASS_FLOATING: return class == CLASS_BITS || class == CLASS_FLOATING;
  case CLASS_NARROW: return class == CLASS_BITS || class == CLASS_NARROW;
  }
  return false;
}

static bool register_fits(const struct demand *demand, enum type type) {
  unsigned bits = type_facts[type].bits;
  enum type_class wanted = type_facts[demand->type].class;
  if (!class_fits(wanted, type)) {
    return false;
  }
  /* A float type goes into a wider register only where that is untyped. */
  bool wider = demand->wider && (wanted != CLASS_FLOATING || type_facts[type].class == CLASS_BITS);
  return wider ? bits >= demand->bits : bits == demand->bits;
}

static bool take_register(struct reader *reader, const struct statement *statement,
                          const struct operand *operand, const struct demand *demand,
                          uint32_t *slot) {
  if (operand->kind == OPERAND_NAME) {
    return reader_fail(reader, statement->line, ERROR_INVALID_PTX, "undeclared register '%.*s'",
                       (int)operand->text.length, operand->text.text);
  }
  if (operand->kind != OPERAND_REGISTER || operand->negated) {
    return refuse(reader, statement, operand, "a register is expected");
  }
  if (!register_fits(demand, operand->type)) {
    return reader_fail(reader, statement->line, ERROR_INVALID_PTX,
                       "arguments mismatch for instruction '%.*s': register '%.*s' is .%s, "
                       "type .%s is wanted",
                       (int)statement->opcode.length, statement->opcode.text,
                       (int)operand->text.length, operand->text.text,
                       type_facts[operand->type].spelling, type_facts[demand->type].spelling);
  }
  *slot = operand->slot;
  return true;
}

/* The bits of a float constant in a type of f32, f64 or plain bits. */
static bool float_bits(const struct operand *operand, enum type type, uint64_t *bits) {
  if (operand->single) {
    *bits = operand->bits;
    return type_facts[type].bits == 32;
  }
  if (type_facts[type].bits == 64) {
    *bits = operand->bits;
    return true;
  }
  double wide;
  memcpy(&wide, &operand->bits, sizeof wide);
  float narrow = (float)wide;
  uint32_t pattern;
  memcpy(&pattern, &narrow, sizeof pattern);
  *bits = pattern;
  return type == TYPE_f32;
}

static bool take_constant(struct reader *reader, const struct statement *statement,
                          const struct operand *operand, const struct demand *demand,
                          uint32_t *slot) {
  enum type_class class = type_facts[demand->type].class;
  uint64_t value = operand->integer;
  if (operand->kind == OPERAND_FLOAT) {
    if ((class != CLASS_BITS && class != CLASS_FLOATING) ||
        !float_bits(operand, demand->type, &value)) {
      return refuse(reader, statement, operand, "a float constant does not fit the type");
    }
    return slot_constant(reader, value, slot);
  }
  if (class == CLASS_FLOATING || class == CLASS_NARROW) {
    return refuse(reader, statement, operand, "an integer constant for a float type");
  }
  uint64_t mask = mask_of(demand->bits);
  bool fits = operand->minus ? (value | mask >> 1) == UINT64_MAX || value == 0 : value <= mask;
  if (!fits) {
    return refuse(reader, statement, operand, "the constant does not fit the type");
  }
  return slot_constant(reader, value & mask, slot);
}

static bool take_source(struct reader *reader, const struct statement *statement,
                        const struct operand *operand, const struct demand *demand,
                        uint32_t *slot) {
  if (operand->kind == OPERAND_INTEGER || operand->kind == OPERAND_FLOAT) {
    return take_constant(reader, statement, operand, demand, slot);
  }
  if (operand->kind == OPERAND_SPECIAL) {
    return refuse(reader, statement, operand, "only mov and cvt read special registers");
  }
  return take_register(reader, statement, operand, demand, slot);
}

static bool take_predicate(struct reader *reader, struct statement *statement,
                           const struct operand *operand, unsigned index) {
  struct demand demand = {TYPE_pred, 1, false};
  struct operand plain = *operand;
  if (operand->negated) {
    statement->instruction.negated |= (uint8_t)(2u << index);
    plain.negated = false;
  }
  return take_source(reader, statement, &plain, &demand, &statement->instruction.source[index]);
}

static bool count_operands(struct reader *reader, const struct statement *statement,
                           uint32_t wanted) {
  if (statement->operand_count != wanted || statement->has_second) {
    return reader_fail(reader, statement->line, ERROR_INVALID_PTX, "'%.*s' takes %u operands",
                       (int)statement->opcode.length, statement->opcode.text, wanted);
  }
  return true;
}

/* The plain forms: one letter an operand, see ptx_forms.def. */
static bool decode_plain(struct reader *reader, struct statement *statement,
                         const struct form *form, const struct modifiers *modifiers) {
  struct instruction *in = &statement->instruction;
  enum type type = modifiers->types[0];
  unsigned bits = type_facts[type].bits;
  struct demand same = {type, bits, false};
  struct demand twice = {bits == 16 ? TYPE_u32 : TYPE_u64, 2 * bits, false};
  struct demand count = {TYPE_u32, 32, false};
  struct demand predicate = {TYPE_pred, 1, false};
  unsigned sources = 0;
  if (!count_operands(reader, statement, (uint32_t)strlen(form->operands))) {
    return false;
  }
  for (uint32_t k = 0; form->operands[k] != '\0'; k++) {
    const struct operand *operand = &statement->operands[k];
    char letter = form->operands[k];
    const struct demand *demand = letter == 'W' || letter == 'w'   ? &twice
                                  : letter == 'U' || letter == 'u' ? &count
                                  : letter == 'P' || letter == 'p' ? &predicate
                                                                   : &same;
    bool taken;
    if (letter == 'D' || letter == 'W' || letter == 'U' || letter == 'P') {
      in->mask = mask_of(demand->bits);
      taken = take_register(reader, statement, operand, demand, &in->destination);
    } else if (letter == 'p') {
      taken = take_predicate(reader, statement, operand, sources++);
    } else if (letter == 'i') {
      in->offset = (int64_t)operand->integer;
      taken = (operand->kind == OPERAND_INTEGER && operand->integer <= 255) ||
              refuse(reader, statement, operand, "a constant of 0 to 255 is expected");
    } else {
      taken = take_source(reader, statement, operand, demand, &in->source[sources++]);
    }
    if (!taken) {
      return false;
    }
  }
  return true;
}

static bool add_lane(struct reader *reader, uint32_t slot) {
  struct kernel *kernel = reader->kernel;
  if (!grow(reader, (void **)&kernel->lists, &reader->list_capacity, kernel->list_count,
            sizeof *kernel->lists)) {
    return false;
  }
  kernel->lists[kernel->list_count++] = slot;
  return true;
}

/* The registers of a { } list or of a single operand; sinks become SLOT_NONE. */
static bool take_lanes(struct reader *reader, struct statement *statement,
                       const struct operand *operand, const struct demand *demand, bool written) {
  struct instruction *in = &statement->instruction;
  const struct operand *items = operand->kind == OPERAND_LIST ? operand->items : operand;
  uint32_t count = operand->kind == OPERAND_LIST ? operand->count : 1;
  const struct operand *typed = NULL;
  in->list = (uint32_t)reader->kernel->list_count;
  if (count != in->lanes || (operand->kind == OPERAND_LIST && count == 1)) {
    return refuse(reader, statement, operand, "number of elements");
  }
  for (uint32_t k = 0; k < count; k++) {
    const struct operand *item = &items[k];
    uint32_t slot = SLOT_NONE;
    if (item->kind == OPERAND_SINK && written && count > 1) {
      if (!add_lane(reader, SLOT_NONE)) {
        return false;
      }
      continue;
    }
    if (written ? !take_register(reader, statement, item, demand, &slot)
                : !take_source(reader, statement, item, demand, &slot)) {
      return false;
    }
    if (item->kind == OPERAND_REGISTER && typed != NULL &&
        type_facts[item->type].class != CLASS_BITS && type_facts[typed->type].class != CLASS_BITS &&
        !class_fits(type_facts[typed->type].class, item->type)) {
      return refuse(reader, statement, operand, "elements of different types");
    }
    if (item->kind == OPERAND_REGISTER && typed != NULL &&
        type_facts[item->type].bits != type_facts[typed->type].bits) {
      return refuse(reader, statement, operand, "elements of different widths");
    }
    typed = item->kind == OPERAND_REGISTER ? item : typed;
    if (!add_lane(reader, slot)) {
      return false;
    }
  }
  if (written) {
    in->mask = mask_of(typed != NULL ? type_facts[typed->type].bits : 64);
  }
  return true;
}

static bool decode_pack(struct reader *reader, struct statement *statement, enum type type,
                        bool unpack) {
  struct instruction *in = &statement->instruction;
  const struct operand *list = &statement->operands[unpack ? 0 : 1];
  const struct operand *whole = &statement->operands[unpack ? 1 : 0];
  unsigned bits = type_facts[type].bits;
  struct demand demand = {type, bits, false};
  if (type_facts[type].class != CLASS_BITS || bits == 16 ||
      (list->count != 2 && list->count != 4) || (bits == 32 && list->count > 4)) {
    return refuse(reader, statement, list, "mov.b32 and mov.b64 take lists of 2 or 4 elements");
  }
  in->operation = unpack ? OP_UNPACK : OP_PACK;
  in->lanes = (uint8_t)list->count;
  unsigned lane_bits = bits / list->count;
  in->shift = (uint8_t)lane_bits;
  struct demand lane = {lane_bits == 8    ? TYPE_b8
                        : lane_bits == 16 ? TYPE_b16
                                          : TYPE_b32,
                        lane_bits, false};
  in->mask = mask_of(lane_bits);
  return take_lanes(reader, statement, list, &lane, unpack) &&
         (unpack ? take_register(reader, statement, whole, &demand, &in->source[0])
                 : take_register(reader, statement, whole, &demand, &in->destination));
}

static bool shared_address(struct reader *reader, const struct operand *operand, uint64_t *value) {
  uint32_t number;
  const struct symbol *symbol = symbol_find(reader, operand->text, reader->scope, &number);
  if (operand->kind != OPERAND_NAME || symbol == NULL || symbol->kind != SYMBOL_SHARED) {
    return false;
  }
  *value = reader->kernel->shared[symbol->index].offset;
  return true;
}

static bool decode_move(struct reader *reader, struct statement *statement,
                        const struct modifiers *modifiers) {
  struct instruction *in = &statement->instruction;
  enum type type = modifiers->types[0];
  struct demand demand = {type, type_facts[type].bits, false};
  if (!count_operands(reader, statement, 2)) {
    return false;
  }
  const struct operand *from = &statement->operands[1];
  if (statement->operands[0].kind == OPERAND_LIST || from->kind == OPERAND_LIST) {
    return decode_pack(reader, statement, type, statement->operands[0].kind == OPERAND_LIST);
  }
  in->mask = mask_of(demand.bits);
  if (!take_register(reader, statement, &statement->operands[0], &demand, &in->destination)) {
    return false;
  }
  uint64_t address;
  if (demand.bits >= 32 && shared_address(reader, from, &address)) {
    return slot_constant(reader, address, &in->source[0]);
  }
  if (type == TYPE_pred) {
    return take_predicate(reader, statement, from, 0) &&
           (!from->negated || refuse(reader, statement, from, "mov takes no '!'"));
  }
  if (from->kind == OPERAND_SPECIAL) {
    in->source[0] = from->slot;
    return register_fits(&demand, TYPE_u32) ||
           refuse(reader, statement, from, "the register is 32 bits wide");
  }
  return take_source(reader, statement, from, &demand, &in->source[0]);
}

/* ld.param takes no register: its address is known, and so is whether it lies inside. */
static bool take_parameter(struct reader *reader, struct statement *statement,
                           const struct operand *operand) {
  struct instruction *in = &statement->instruction;
  uint32_t number;
  const struct symbol *symbol =
      operand->based ? NULL : symbol_find(reader, operand->text, reader->scope, &number);
  if (symbol == NULL || symbol->kind != SYMBOL_PARAMETER) {
    return refuse(reader, statement, operand, "no parameter of that name");
  }
  const struct parameter *parameter = &reader->kernel->parameters[symbol->index];
  int64_t bytes = (int64_t)in->size * in->lanes;
  if (operand->offset < 0 || operand->offset + bytes > parameter->size) {
    return reader_fail(reader, statement->line, ERROR_INVALID_PTX,
                       "ld.param of %d bytes at offset %d is outside parameter '%s' of %u bytes",
                       (int)bytes, (int)operand->offset, parameter->name, parameter->size);
  }
  if ((parameter->offset + (uint64_t)operand->offset) % (uint64_t)bytes != 0) {
    return reader_fail(reader, statement->line, ERROR_INVALID_PTX,
                       "ld.param of %d bytes at offset %d of '%s' is misaligned", (int)bytes,
                       (int)operand->offset, parameter->name);
  }
  in->offset = (int64_t)parameter->offset + operand->offset;
  return true;
}

static bool take_address(struct reader *reader, struct statement *statement,
                         const struct operand *operand) {
  struct instruction *in = &statement->instruction;
  if (operand->kind != OPERAND_ADDRESS) {
    return refuse(reader, statement, operand, "an address in [ ] is expected");
  }
  if (in->space == SPACE_PARAM) {
    return take_parameter(reader, statement, operand);
  }
  in->offset = operand->offset;
  if (operand->based) {
    struct operand base = *operand;
    struct demand demand = {TYPE_u64, 64, false};
    base.kind = OPERAND_REGISTER;
    if (in->space == SPACE_SHARED && type_facts[operand->type].bits == 32) {
      demand = (struct demand){TYPE_u32, 32, false};
    }
    return take_register(reader, statement, &base, &demand, &in->source[0]);
  }
  struct operand name = *operand;
  uint64_t address;
  name.kind = OPERAND_NAME;
  if (!shared_address(reader, &name, &address)) {
    return reader_fail(reader, statement->line, ERROR_INVALID_PTX,
                       "undeclared name '%.*s' in an address", (int)operand->text.length,
                       operand->text.text);
  }
  if (in->space != SPACE_SHARED) {
    return refuse(reader, statement, operand, "wrong state space: the variable is .shared");
  }
  return slot_constant(reader, address, &in->source[0]);
}

static void note_access(struct instruction *in, const struct modifiers *modifiers) {
  enum type type = modifiers->types[0];
  in->lanes = (uint8_t)modifiers->vector;
  in->size = (uint8_t)(type_facts[type].bits / 8);
  in->space = (uint8_t)modifiers->space;
  in->action = (uint8_t)modifiers->action;
  in->is_signed = type_facts[type].class == CLASS_INTEGER_S;
  if (modifiers->semantics == SEMANTICS_VOLATILE) {
    in->strong = SCOPE_SYS;
  } else if (modifiers->semantics != SEMANTICS_WEAK) {
    in->strong = (uint8_t)(modifiers->scope == SCOPE_NONE ? SCOPE_GPU : modifiers->scope);
  }
}

static bool decode_load(struct reader *reader, struct statement *statement,
                        const struct modifiers *modifiers) {
  enum type type = modifiers->types[0];
  struct demand demand = {type, type_facts[type].bits, true};
  note_access(&statement->instruction, modifiers);
  return count_operands(reader, statement, 2) &&
         take_lanes(reader, statement, &statement->operands[0], &demand, true) &&
         take_address(reader, statement, &statement->operands[1]);
}

static bool decode_store(struct reader *reader, struct statement *statement,
                         const struct modifiers *modifiers) {
  enum type type = modifiers->types[0];
  struct demand demand = {type, type_facts[type].bits, true};
  note_access(&statement->instruction, modifiers);
  return count_operands(reader, statement, 2) &&
         take_address(reader, statement, &statement->operands[0]) &&
         take_lanes(reader, statement, &statement->operands[1], &demand, false);
}

/* red and atom: the accesses are strong whatever is written. */
static void note_atomic(struct instruction *in, const struct modifiers *modifiers) {
  note_access(in, modifiers);
  in->strong = (uint8_t)(modifiers->scope == SCOPE_NONE ? SCOPE_GPU : modifiers->scope);
}

static bool decode_reduce(struct reader *reader, struct statement *statement,
                          const struct modifiers *modifiers) {
  enum type type = modifiers->types[0];
  struct demand demand = {type, type_facts[type].bits, false};
  note_atomic(&statement->instruction, modifiers);
  return count_operands(reader, statement, 2) &&
         take_address(reader, statement, &statement->operands[0]) &&
         take_lanes(reader, statement, &statement->operands[1], &demand, false);
}

/* atom d, [a], b{, c}: the list holds the destinations, then the sources. */
static bool decode_atomic(struct reader *reader, struct statement *statement,
                          const struct modifiers *modifiers) {
  struct instruction *in = &statement->instruction;
  enum type type = modifiers->types[0];
  struct demand demand = {type, type_facts[type].bits, false};
  uint32_t operands = modifiers->action == ACTION_CAS ? 4 : 3;
  note_atomic(in, modifiers);
  if (!count_operands(reader, statement, operands)) {
    return false;
  }
  const struct operand *result = &statement->operands[0];
  uint32_t first = (uint32_t)reader->kernel->list_count;
  bool taken = result->kind == OPERAND_SINK && in->lanes == 1
                   ? add_lane(reader, SLOT_NONE)
                   : take_lanes(reader, statement, result, &demand, true);
  taken = taken && take_address(reader, statement, &statement->operands[1]) &&
          take_lanes(reader, statement, &statement->operands[2], &demand, false) &&
          (operands == 3 ||
           take_source(reader, statement, &statement->operands[3], &demand, &in->source[1]));
  in->list = first;
  return taken;
}

/* .ca takes 4, 8 and 16 bytes, .cg only 16. */
static bool take_copy_size(struct reader *reader, struct statement *statement,
                           const struct operand *operand) {
  uint64_t size = operand->kind == OPERAND_INTEGER ? operand->integer : 0;
  bool all_levels = slice_is(statement->modifiers[1], "ca");
  if (size != 16 && !(all_levels && (size == 4 || size == 8))) {
    return refuse(reader, statement, operand,
                  all_levels ? ".ca copies 4, 8 or 16 bytes" : ".cg copies 16 bytes");
  }
  statement->instruction.size = (uint8_t)size;
  return true;
}

/* How many bytes are read; all of them where nothing is said. */
static bool take_source_size(struct reader *reader, struct statement *statement,
                             const struct operand *operand) {
  struct instruction *in = &statement->instruction;
  struct demand count = {TYPE_u32, 32, false};
  if (operand == NULL) {
    return slot_constant(reader, in->size, &in->source[2]);
  }
  if (operand->kind == OPERAND_INTEGER && operand->integer > in->size) {
    return refuse(reader, statement, operand, "more bytes than are copied");
  }
  return take_source(reader, statement, operand, &count, &in->source[2]);
}

/* cp.async [shared], [global], size{, source size} */
static bool decode_copy(struct reader *reader, struct statement *statement,
                        const struct modifiers *modifiers) {
  struct instruction *in = &statement->instruction;
  struct operand *operands = statement->operands;
  bool sized = statement->operand_count == 4;
  (void)modifiers;
  in->space = SPACE_GLOBAL;
  if (!count_operands(reader, statement, sized ? 4 : 3) ||
      !take_address(reader, statement, &operands[1])) {
    return false;
  }
  in->source[1] = in->source[0];
  in->offset2 = (int32_t)in->offset;
  in->space = SPACE_SHARED;
  return take_address(reader, statement, &operands[0]) &&
         take_copy_size(reader, statement, &operands[2]) &&
         take_source_size(reader, statement, sized ? &operands[3] : NULL);
}

static enum comparison comparison_of(struct slice word) {
  static const char *const names[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                      "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  static const char *const unsigned_names[] = {"lo", "ls", "hi", "hs"};
  for (unsigned k = 0; k < sizeof names / sizeof names[0]; k++) {
    if (slice_is(word, names[k])) {
      return (enum comparison)k;
    }
  }
  for (unsigned k = 0; k < 4; k++) {
    if (slice_is(word, unsigned_names[k])) {
      return (enum comparison)(COMPARE_LT + k);
    }
  }
  return COMPARE_EQ;
}

/* setp.CMP.TYPE p{|q}, a, b   and   setp.CMP.BOOL.TYPE p{|q}, a, b, {!}c */
static bool decode_compare(struct reader *reader, struct statement *statement,
                           const struct modifiers *modifiers) {
  struct instruction *in = &statement->instruction;
  enum type type = modifiers->types[0];
  struct demand demand = {type, type_facts[type].bits, false};
  struct demand predicate = {TYPE_pred, 1, false};
  bool combined = statement->modifier_count == 3;
  in->compare = (uint8_t)comparison_of(statement->modifiers[0]);
  in->combine = combined ? (uint8_t)(1 + modifiers->action) : 0;
  in->is_signed = type_facts[type].class == CLASS_INTEGER_S;
  if (statement->has_second &&
      !take_register(reader, statement, &statement->second, &predicate, &in->destination2)) {
    return false;
  }
  statement->has_second = false;
  return count_operands(reader, statement, combined ? 4 : 3) &&
         take_register(reader, statement, &statement->operands[0], &predicate, &in->destination) &&
         take_source(reader, statement, &statement->operands[1], &demand, &in->source[0]) &&
         take_source(reader, statement, &statement->operands[2], &demand, &in->source[1]) &&
         (!combined || take_predicate(reader, statement, &statement->operands[3], 2));
}

/* Registers of cvt may be wider than the type, those of bf16 and tf32 may not. */
static struct demand conversion_demand(enum type type) {
  enum float_format format = type_facts[type].format;
  bool exact = format == FORMAT_BF16 || format == FORMAT_TF32 || format == FORMAT_F32 ||
               format == FORMAT_F64 || format == FORMAT_E4M3 || format == FORMAT_E5M2;
  return (struct demand){type, type_facts[type].bits, !exact};
}

static bool decode_convert(struct reader *reader, struct statement *statement,
                           const struct modifiers *modifiers) {
  struct instruction *in = &statement->instruction;
  struct demand to = conversion_demand(modifiers->types[0]);
  struct demand from = conversion_demand(modifiers->types[1]);
  const struct operand *source = &statement->operands[1];
  uint32_t sources = in->operation == OP_CVT_PAIR ? 2 : 1;
  in->source_type = (uint8_t)modifiers->types[1];
  in->source_format = (uint8_t)type_facts[modifiers->types[1]].format;
  in->is_signed = type_facts[modifiers->types[0]].class == CLASS_INTEGER_S;
  in->saturate = modifiers->saturate;
  if (!count_operands(reader, statement, 1 + sources) ||
      !take_register(reader, statement, &statement->operands[0], &to, &in->destination)) {
    return false;
  }
  in->mask = mask_of(type_facts[statement->operands[0].type].bits);
  if (source->kind == OPERAND_SPECIAL && register_fits(&from, TYPE_u32)) {
    in->source[0] = source->slot;
    return true;
  }
  for (uint32_t k = 0; k < sources; k++) {
    if (!take_source(reader, statement, &statement->operands[1 + k], &from, &in->source[k])) {
      return false;
    }
  }
  return true;
}

static bool decode_branch(struct reader *reader, struct statement *statement) {
  if (!count_operands(reader, statement, 1)) {
    return false;
  }
  if (statement->operands[0].kind != OPERAND_NAME) {
    return refuse(reader, statement, &statement->operands[0], "a label is expected");
  }
  if (!grow(reader, (void **)&reader->fixups, &reader->fixup_capacity, reader->fixup_count,
            sizeof *reader->fixups)) {
    return false;
  }
  reader->fixups[reader->fixup_count++] = (struct fixup){
      reader->kernel->code_count, statement->operands[0].text, reader->scope, statement->line};
  return true;
}

static bool decode_barrier(struct reader *reader, struct statement *statement) {
  const struct operand *number = &statement->operands[0];
  reader->kernel->has_barrier = true;
  return count_operands(reader, statement, 1) &&
         ((number->kind == OPERAND_INTEGER && number->integer < 16) ||
          refuse(reader, statement, number, "the number of a barrier is a constant of 0 to 15"));
}

static bool decode_named(struct reader *reader, struct statement *statement, const char *name,
                         const struct modifiers *modifiers) {
  static const struct {
    const char *name;
    bool (*decode)(struct reader *, struct statement *, const struct modifiers *);
  } decoders[] = {{"move", decode_move},       {"load", decode_load},
                  {"store", decode_store},     {"reduce", decode_reduce},
                  {"atomic", decode_atomic},   {"compare", decode_compare},
                  {"convert", decode_convert}, {"copy", decode_copy}};
  for (size_t k = 0; k < sizeof decoders / sizeof decoders[0]; k++) {
    if (strcmp(decoders[k].name, name) == 0) {
      return decoders[k].decode(reader, statement, modifiers);
    }
  }
  return strcmp(name, "branch") == 0 ? decode_branch(reader, statement)
                                     : decode_barrier(reader, statement);
}

bool statement_decode(struct reader *reader, struct statement *statement) {
  struct kernel *kernel = reader->kernel;
  struct instruction *in = &statement->instruction;
  const struct form *form;
  struct modifiers modifiers;
  if (!form_find(reader, statement, &form, &modifiers)) {
    return false;
  }
  enum type type = modifiers.types[0];
  in->operation = (uint16_t)form->operation;
  in->line = statement->line;
  in->type = (uint8_t)type;
  in->shift = (uint8_t)(64 - type_facts[type].bits);
  in->format = (uint8_t)type_facts[type].format;
  in->rounding = (uint8_t)modifiers.rounding;
  in->lanes = 1;
  in->packed = strstr(type_facts[type].spelling, "x2") != NULL ? 2 : 1;
  if (!(form->operands[0] == '@' ? decode_named(reader, statement, form->operands + 1, &modifiers)
                                 : decode_plain(reader, statement, form, &modifiers))) {
    return false;
  }
  if (!grow(reader, (void **)&kernel->code, &reader->code_capacity, kernel->code_count,
            sizeof *kernel->code)) {
    return false;
  }
  kernel->code[kernel->code_count++] = *in;
  return true;
}
