/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, stores and atomic operations: where they go, whether they may, and what they do. */
#include <string.h>

#include "arithmetic.h"
#include "machine.h"

static const char *access_name(const struct instruction *in) {
  return in->operation == OP_LOAD    ? "load"
         : in->operation == OP_STORE ? "store"
         : in->operation == OP_COPY  ? "asynchronous copy"
                                     : "atomic operation";
}

bool access_aligned(struct interpreter *machine, const struct instruction *in, uint64_t address,
                    uint32_t bytes) {
  return address % bytes == 0 || machine_fail(machine, in, ERROR_MISALIGNED_ADDRESS,
                                              "misaligned address: %s of %u bytes at 0x%llx",
                                              access_name(in), bytes, (unsigned long long)address);
}

uint8_t *access_shared(struct interpreter *machine, const struct instruction *in, uint64_t address,
                       uint32_t bytes) {
  const struct kernel *kernel = machine->kernel;
  for (size_t k = 0; k < kernel->shared_count; k++) {
    const struct shared_variable *variable = &kernel->shared[k];
    uint64_t size = variable->dynamic ? machine->launch->dynamic_shared : variable->size;
    if (address >= variable->offset && address - variable->offset <= size &&
        size - (address - variable->offset) >= bytes) {
      return machine->shared + address;
    }
  }
  machine_fail(machine, in, ERROR_ILLEGAL_ADDRESS,
               "%s of %u bytes at 0x%llx is in no .shared variable", access_name(in), bytes,
               (unsigned long long)address);
  return NULL;
}

static const struct allocation *recall(struct interpreter *machine, uint64_t address) {
  for (unsigned k = 0; k < 2; k++) {
    const struct allocation *entry = machine->recent[k];
    if (entry != NULL && address - entry->base < entry->size) {
      return entry;
    }
  }
  const struct allocation *entry = memory_find(address);
  if (entry != NULL && entry->context == machine->launch->context) {
    machine->recent[machine->oldest] = entry;
    machine->oldest ^= 1;
    return entry;
  }
  return NULL;
}

uint8_t *access_global(struct interpreter *machine, const struct instruction *in, uint64_t address,
                       uint32_t bytes) {
  const struct allocation *entry = recall(machine, address);
  if (entry == NULL) {
    machine_fail(machine, in, ERROR_ILLEGAL_ADDRESS,
                 "%s of %u bytes at 0x%llx is in no live allocation", access_name(in), bytes,
                 (unsigned long long)address);
    return NULL;
  }
  uint64_t offset = address - entry->base;
  if (entry->size - offset < bytes) {
    machine_fail(machine, in, ERROR_ILLEGAL_ADDRESS,
                 "%s of %u bytes at 0x%llx passes the end of an allocation of %llu bytes at 0x%llx",
                 access_name(in), bytes, (unsigned long long)address,
                 (unsigned long long)entry->size, (unsigned long long)entry->base);
    return NULL;
  }
  return entry->host + offset;
}

static bool report_race(struct interpreter *machine, const struct instruction *in,
                        const struct race_access *access, const struct race_report *report) {
  return machine_fail(machine, in, ERROR_LAUNCH_FAILED,
                      "data race on %u bytes at 0x%llx: a %s %s of thread %u in the %u. block run, "
                      "and this %s %s of thread %u in the %u. block run",
                      access->size, (unsigned long long)access->address,
                      report->strong ? "strong" : "weak", report->write ? "write" : "read",
                      report->thread, report->block, access->scope != 0 ? "strong" : "weak",
                      access->write ? "write" : "read", access->thread, access->block);
}

bool access_note(struct interpreter *machine, const struct instruction *in,
                 struct race_tracker *races, const struct race_access *access) {
  struct race_report report;
  int found = race_note(races, access, &report);
  if (found > 0) {
    return report_race(machine, in, access, &report);
  }
  return found == 0 ||
         machine_fail(machine, in, ERROR_OUT_OF_MEMORY, "no memory to track accesses");
}

/* A weak vector is one access to the race tracker, a strong one an access an element. */
static bool track(struct interpreter *machine, const struct instruction *in, uint64_t address) {
  struct race_tracker *races =
      in->space == SPACE_SHARED ? machine->shared_races : machine->global_races;
  uint32_t parts = in->strong != 0 ? (uint32_t)in->lanes * in->packed : 1;
  uint32_t size = (uint32_t)in->size * in->lanes / parts;
  struct race_access access = {.address = address,
                               .size = size,
                               .thread = machine->thread,
                               .block = machine->block,
                               .epoch = machine->epoch,
                               .scope = in->strong,
                               .write = in->operation != OP_LOAD};
  for (uint32_t k = 0; k < parts; k++) {
    if (!access_note(machine, in, races, &access)) {
      return false;
    }
    access.address += size;
  }
  return true;
}

/* The host's memory behind an access, or NULL and an error. */
static uint8_t *reach(struct interpreter *machine, const struct instruction *in,
                      const uint64_t *registers) {
  uint64_t address = registers[in->source[0]] + (uint64_t)in->offset;
  uint32_t bytes = (uint32_t)in->size * in->lanes;
  if (!access_aligned(machine, in, address, bytes)) {
    return NULL;
  }
  uint8_t *host = in->space == SPACE_SHARED ? access_shared(machine, in, address, bytes)
                                            : access_global(machine, in, address, bytes);
  return host != NULL && track(machine, in, address) ? host : NULL;
}

static uint64_t read_element(const uint8_t *from, unsigned size) {
  uint8_t byte;
  uint16_t half;
  uint32_t word;
  uint64_t wide;
  switch (size) {
  case 1: memcpy(&byte, from, 1); return byte;
  case 2: memcpy(&half, from, 2); return half;
  case 4: memcpy(&word, from, 4); return word;
  default: memcpy(&wide, from, 8); return wide;
  }
}

static void write_element(uint8_t *to, unsigned size, uint64_t value) {
  uint8_t byte = (uint8_t)value;
  uint16_t half = (uint16_t)value;
  uint32_t word = (uint32_t)value;
  switch (size) {
  case 1: memcpy(to, &byte, 1); break;
  case 2: memcpy(to, &half, 2); break;
  case 4: memcpy(to, &word, 4); break;
  default: memcpy(to, &value, 8); break;
  }
}

/* Into every lane's register, extended to its width; `mask` is that of the destination
 * registers. */
static void fill_lanes(const struct interpreter *machine, const struct instruction *in,
                       const uint8_t *from, uint64_t *registers, uint8_t *defined) {
  const uint32_t *list = machine->kernel->lists + in->list;
  for (unsigned k = 0; k < in->lanes; k++) {
    uint64_t value = read_element(from + k * in->size, in->size);
    if (in->is_signed) {
      value = (uint64_t)widen(value, in->shift) & in->mask;
    }
    if (list[k] != SLOT_NONE) {
      registers[list[k]] = value;
      defined[list[k]] = 1;
    }
  }
}

void load_parameter(const struct interpreter *machine, const struct instruction *in,
                    uint64_t *registers, uint8_t *defined) {
  fill_lanes(machine, in, machine->launch->parameters + in->offset, registers, defined);
}

bool access_load(struct interpreter *machine, const struct instruction *in, uint64_t *registers,
                 uint8_t *defined) {
  const uint8_t *from = reach(machine, in, registers);
  if (from == NULL) {
    return false;
  }
  fill_lanes(machine, in, from, registers, defined);
  return true;
}

static bool check_lanes(struct interpreter *machine, const struct instruction *in,
                        const uint32_t *list, const uint8_t *defined) {
  for (unsigned k = 0; k < in->lanes; k++) {
    if (!defined[list[k]]) {
      return machine_fail(machine, in, ERROR_LAUNCH_FAILED,
                          "read of a register that nothing wrote (element %u)", k);
    }
  }
  return true;
}

bool access_store(struct interpreter *machine, const struct instruction *in,
                  const uint64_t *registers, const uint8_t *defined) {
  const uint32_t *list = machine->kernel->lists + in->list;
  if (!check_lanes(machine, in, list, defined)) {
    return false;
  }
  uint8_t *to = reach(machine, in, registers);
  if (to == NULL) {
    return false;
  }
  for (unsigned k = 0; k < in->lanes; k++) {
    write_element(to + k * in->size, in->size, registers[list[k]]);
  }
  return true;
}

static uint64_t add_values(const struct instruction *in, uint64_t old, uint64_t value, bool flush) {
  enum float_format format = (enum float_format)in->format;
  if (format == FORMAT_NONE) {
    return old + value;
  }
  if (format == FORMAT_F32 && flush) {
    return flush_subnormal(float_add(format, flush_subnormal(old), flush_subnormal(value)));
  }
  if (in->packed == 2) {
    return float_add(format, old & 0xffff, value & 0xffff) |
           float_add(format, old >> 16, value >> 16) << 16;
  }
  return float_add(format, old, value);
}

static uint64_t extreme(const struct instruction *in, uint64_t old, uint64_t value, bool maximum) {
  enum float_format format = (enum float_format)in->format;
  if (format != FORMAT_NONE && in->packed == 2) {
    return float_minimum(format, old & 0xffff, value & 0xffff, maximum) |
           float_minimum(format, old >> 16, value >> 16, maximum) << 16;
  }
  if (format != FORMAT_NONE) {
    return float_minimum(format, old, value, maximum);
  }
  bool less = in->is_signed ? widen(old, in->shift) < widen(value, in->shift) : old < value;
  return less == maximum ? value : old;
}

static uint64_t combine(const struct interpreter *machine, const struct instruction *in,
                        uint64_t old, uint64_t value, uint64_t swap) {
  bool flush = machine->launch->flush_f32 && in->space != SPACE_SHARED;
  switch ((enum action)in->action) {
  case ACTION_ADD: return add_values(in, old, value, flush);
  case ACTION_MIN: return extreme(in, old, value, false);
  case ACTION_MAX: return extreme(in, old, value, true);
  case ACTION_AND: return old & value;
  case ACTION_OR: return old | value;
  case ACTION_XOR: return old ^ value;
  case ACTION_INC: return old >= value ? 0 : old + 1;
  case ACTION_DEC: return old == 0 || old > value ? value : old - 1;
  case ACTION_EXCH: return value;
  case ACTION_CAS: return old == value ? swap : old;
  }
  return old;
}

/* red: the list holds the operands; atom: the destinations, then the operands. */
bool access_atomic(struct interpreter *machine, const struct instruction *in, uint64_t *registers,
                   uint8_t *defined) {
  const uint32_t *list = machine->kernel->lists + in->list;
  const uint32_t *results = NULL;
  uint64_t old[MAX_LANES];
  if (in->operation == OP_ATOM) {
    results = list;
    list += in->lanes;
  }
  if (!check_lanes(machine, in, list, defined)) {
    return false;
  }
  uint8_t *at = reach(machine, in, registers);
  if (at == NULL) {
    return false;
  }
  for (unsigned k = 0; k < in->lanes; k++) {
    old[k] = read_element(at + k * in->size, in->size);
    write_element(at + k * in->size, in->size,
                  combine(machine, in, old[k], registers[list[k]], registers[in->source[1]]));
  }
  for (unsigned k = 0; results != NULL && k < in->lanes; k++) {
    if (results[k] != SLOT_NONE) {
      registers[results[k]] = old[k];
      defined[results[k]] = 1;
    }
  }
  return true;
}
