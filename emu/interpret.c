/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the decoded instructions: block after block, and in a block each thread until it ends or
 * waits at a barrier. */
#include "interpret.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arithmetic.h"
#include "machine.h"

static void thread_position(const struct interpreter *machine, uint32_t position[3]) {
  const uint32_t *block = machine->launch->block;
  position[0] = machine->thread % block[0];
  position[1] = machine->thread / block[0] % block[1];
  position[2] = machine->thread / block[0] / block[1];
}

bool machine_fail(struct interpreter *machine, const struct instruction *in, int code,
                  const char *format, ...) {
  char what[512];
  char line[256];
  uint32_t thread[3];
  va_list arguments;
  if (machine->code != 0) {
    return false;
  }
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  thread_position(machine, thread);
  program_line(machine->launch->program, in->line, line, sizeof line);
  snprintf(machine->message, machine->message_size,
           "kernel %s, block (%u,%u,%u), thread (%u,%u,%u), line %u: %s\n    %s",
           machine->kernel->name, machine->block_at[0], machine->block_at[1], machine->block_at[2],
           thread[0], thread[1], thread[2], in->line, what, line);
  machine->code = code;
  return false;
}

struct interpreter *interpreter_new(void) {
  struct interpreter *machine = calloc(1, sizeof *machine);
  if (machine == NULL) {
    return NULL;
  }
  machine->global_races = race_tracker_new();
  machine->shared_races = race_tracker_new();
  if (machine->global_races == NULL || machine->shared_races == NULL) {
    interpreter_free(machine);
    return NULL;
  }
  return machine;
}

void interpreter_free(struct interpreter *machine) {
  if (machine == NULL) {
    return;
  }
  race_tracker_free(machine->global_races);
  race_tracker_free(machine->shared_races);
  free(machine->registers);
  free(machine->defined);
  free(machine->threads);
  free(machine->shared);
  free(machine->copies);
  free(machine);
}

static bool ensure(void **buffer, size_t *capacity, size_t count, size_t size) {
  if (count <= *capacity) {
    return true;
  }
  free(*buffer);
  *buffer = malloc(count * size);
  *capacity = *buffer != NULL ? count : 0;
  return *buffer != NULL;
}

/* A read of something undefined, unless it is the operand that a selp does not select. */
static bool check_sources(struct interpreter *machine, const struct instruction *in,
                          const uint64_t *registers, const uint8_t *defined) {
  unsigned skipped = MAX_SOURCES;
  if (in->operation == OP_SELP && defined[in->source[2]]) {
    skipped = registers[in->source[2]] ^ (in->negated >> 3 & 1) ? 1 : 0;
  }
  for (unsigned k = 0; k < MAX_SOURCES; k++) {
    if (k != skipped && !defined[in->source[k]]) {
      return machine_fail(machine, in, ERROR_LAUNCH_FAILED,
                          "read of a register that nothing wrote (source operand %u)", k + 1);
    }
  }
  return true;
}

static bool pack(struct interpreter *machine, const struct instruction *in, uint64_t *registers,
                 const uint8_t *defined, uint64_t *value) {
  const uint32_t *list = machine->kernel->lists + in->list;
  *value = 0;
  for (unsigned k = 0; k < in->lanes; k++) {
    if (!defined[list[k]]) {
      return machine_fail(machine, in, ERROR_LAUNCH_FAILED,
                          "read of a register that nothing wrote (element %u)", k);
    }
    *value |= (registers[list[k]] & in->mask) << (k * in->shift);
  }
  return true;
}

static void unpack(const struct interpreter *machine, const struct instruction *in,
                   uint64_t *registers, uint8_t *defined) {
  const uint32_t *list = machine->kernel->lists + in->list;
  uint64_t value = registers[in->source[0]];
  for (unsigned k = 0; k < in->lanes; k++) {
    if (list[k] != SLOT_NONE) {
      registers[list[k]] = value >> (k * in->shift) & in->mask;
      defined[list[k]] = 1;
    }
  }
}

static bool predicate(const struct instruction *in, const uint64_t *registers, unsigned index) {
  return (registers[in->source[index]] ^ (in->negated >> (1 + index) & 1)) != 0;
}

static bool combine_predicate(const struct instruction *in, bool result, bool other) {
  switch (in->combine) {
  case 1 + ACTION_AND: return result && other;
  case 1 + ACTION_OR: return result || other;
  case 1 + ACTION_XOR: return result != other;
  default: return result;
  }
}

static bool divide(struct interpreter *machine, const struct instruction *in, uint64_t a,
                   uint64_t b, uint64_t *value) {
  bool is_signed = in->operation == OP_DIV_S || in->operation == OP_REM_S;
  bool remainder = in->operation == OP_REM_S || in->operation == OP_REM_U;
  if (b == 0) {
    return machine_fail(machine, in, ERROR_LAUNCH_FAILED, "division by zero");
  }
  if (!is_signed) {
    *value = remainder ? a % b : a / b;
    return true;
  }
  int64_t x = widen(a, in->shift);
  int64_t y = widen(b, in->shift);
  if (y == -1) {
    *value = remainder ? 0 : 0 - a;
    return true;
  }
  *value = (uint64_t)(remainder ? x % y : x / y);
  return true;
}

#define A registers[in->source[0]]
#define B registers[in->source[1]]
#define C registers[in->source[2]]
#define E registers[in->source[3]]
#define SIGNED_A widen(A, in->shift)
#define SIGNED_B widen(B, in->shift)
#define BITS (64u - in->shift)
#define SET(value) \
  do { \
    registers[in->destination] = (uint64_t)(value)&in->mask; \
    defined[in->destination] = 1; \
  } while (0)

/* The operations that few kernels spend their time in. */
static bool rare(struct interpreter *machine, const struct instruction *in, uint64_t *registers,
                 uint8_t *defined) {
  uint64_t value = 0;
  switch ((enum operation)in->operation) {
  case OP_PACK:
    if (!pack(machine, in, registers, defined, &value)) {
      return false;
    }
    registers[in->destination] = value;
    defined[in->destination] = 1;
    return true;
  case OP_UNPACK: unpack(machine, in, registers, defined); return true;
  case OP_DIV_U:
  case OP_DIV_S:
  case OP_REM_U:
  case OP_REM_S:
    if (!divide(machine, in, A, B, &value)) {
      return false;
    }
    break;
  case OP_MUL_HI_S: value = high_product_signed(A, B, BITS); break;
  case OP_MAD_HI_U: value = high_product_unsigned(A, B, BITS) + C; break;
  case OP_MAD_HI_S: value = high_product_signed(A, B, BITS) + C; break;
  case OP_ABS_S: value = SIGNED_A < 0 ? 0 - A : A; break;
  case OP_CNOT: value = A == 0; break;
  case OP_BFE_U:
  case OP_BFE_S: value = bit_field(in, A, B, C); break;
  case OP_BFI: value = bit_insert(in, A, B, C, E); break;
  case OP_PRMT: value = permute_bytes(A, B, C); break;
  case OP_LOP3: value = logic3(A, B, C, in->offset); break;
  case OP_SHF_L_WRAP: value = funnel_shift(A, B, C, true, false); break;
  case OP_SHF_L_CLAMP: value = funnel_shift(A, B, C, true, true); break;
  case OP_SHF_R_WRAP: value = funnel_shift(A, B, C, false, false); break;
  case OP_SHF_R_CLAMP: value = funnel_shift(A, B, C, false, true); break;
  case OP_POPC: value = (uint64_t)__builtin_popcountll(A); break;
  case OP_CLZ: value = A == 0 ? BITS : (uint64_t)__builtin_clzll(A) - in->shift; break;
  case OP_BREV: value = reverse_bits(A, BITS); break;
  case OP_ADD_FLOAT:
  case OP_SUB_FLOAT:
  case OP_MUL_FLOAT:
  case OP_FMA_FLOAT:
  case OP_MIN_FLOAT:
  case OP_MAX_FLOAT: value = float_arithmetic(in, A, B, C); break;
  case OP_NEG_FLOAT: value = float_negate(in, A, false); break;
  case OP_ABS_FLOAT: value = float_negate(in, A, true); break;
  case OP_CVT_INTEGER:
  case OP_CVT_TO_FLOAT:
  case OP_CVT_FROM_FLOAT:
  case OP_CVT_FLOAT:
  case OP_CVT_PAIR:
  case OP_CVT_BOTH: value = convert(in, A, B); break;
  case OP_COPY:
  case OP_COPY_COMMIT:
  case OP_COPY_WAIT:
  case OP_COPY_WAIT_ALL: return copy_run(machine, in, registers);
  case OP_TRAP: return machine_fail(machine, in, ERROR_LAUNCH_FAILED, "trap");
  default: return machine_fail(machine, in, ERROR_LAUNCH_FAILED, "operation without a meaning");
  }
  SET(value);
  return true;
}

static void set_compared(const struct instruction *in, bool result, uint64_t *registers,
                         uint8_t *defined) {
  bool other = in->combine != 0 && predicate(in, registers, 2);
  registers[in->destination] = combine_predicate(in, result, other);
  defined[in->destination] = 1;
  if (in->destination2 != SLOT_NONE) {
    registers[in->destination2] = combine_predicate(in, !result, other);
    defined[in->destination2] = 1;
  }
}

/* Runs the thread at hand until it ends, waits or fails. One switch on purpose: this is the hot
 * loop. */
static enum thread_progress run_thread(struct interpreter *machine, struct thread *thread,
                                       uint64_t *registers, uint8_t *defined) {
  const struct instruction *code = machine->kernel->code;
  uint32_t at = thread->at;
  uint64_t executed = 0;
  enum thread_progress progress = THREAD_READY;
  machine->running = thread;
  while (progress == THREAD_READY) {
    const struct instruction *in = &code[at++];
    executed++;
    if (in->guard != SLOT_NONE) {
      if (!defined[in->guard]) {
        machine_fail(machine, in, ERROR_LAUNCH_FAILED,
                     "read of a register that nothing wrote (the guard)");
        progress = THREAD_FAILED;
        break;
      }
      if (registers[in->guard] == (in->negated & 1)) {
        continue;
      }
    }
    if (!(defined[in->source[0]] & defined[in->source[1]] & defined[in->source[2]] &
          defined[in->source[3]]) &&
        !check_sources(machine, in, registers, defined)) {
      progress = THREAD_FAILED;
      break;
    }
    switch ((enum operation)in->operation) {
    case OP_MOVE: SET(A); break;
    case OP_ADD: SET(A + B); break;
    case OP_SUB: SET(A - B); break;
    case OP_MUL_LO: SET(A * B); break;
    case OP_MUL_HI_U: SET(high_product_unsigned(A, B, BITS)); break;
    case OP_MUL_WIDE_U: SET(A * B); break;
    case OP_MUL_WIDE_S: SET((uint64_t)SIGNED_A * (uint64_t)SIGNED_B); break;
    case OP_MAD_LO: SET(A * B + C); break;
    case OP_MAD_WIDE_U: SET(A * B + C); break;
    case OP_MAD_WIDE_S: SET((uint64_t)SIGNED_A * (uint64_t)SIGNED_B + C); break;
    case OP_MIN_U: SET(A < B ? A : B); break;
    case OP_MAX_U: SET(A > B ? A : B); break;
    case OP_MIN_S: SET(SIGNED_A < SIGNED_B ? A : B); break;
    case OP_MAX_S: SET(SIGNED_A > SIGNED_B ? A : B); break;
    case OP_NEG: SET(0 - A); break;
    case OP_AND: SET(A & B); break;
    case OP_OR: SET(A | B); break;
    case OP_XOR: SET(A ^ B); break;
    case OP_NOT: SET(~A); break;
    case OP_SHL: SET(B < BITS ? A << B : 0); break;
    case OP_SHR_U: SET(B < BITS ? A >> B : 0); break;
    case OP_SHR_S: SET((uint64_t)(SIGNED_A >> (B < BITS ? B : BITS - 1))); break;
    case OP_SETP: set_compared(in, compare_integers(in, A, B), registers, defined); break;
    case OP_SETP_FLOAT: set_compared(in, compare_floats(in, A, B), registers, defined); break;
    case OP_SELP: SET(predicate(in, registers, 2) ? A : B); break;
    case OP_AND_PREDICATE: SET(predicate(in, registers, 0) && predicate(in, registers, 1)); break;
    case OP_OR_PREDICATE: SET(predicate(in, registers, 0) || predicate(in, registers, 1)); break;
    case OP_XOR_PREDICATE: SET(predicate(in, registers, 0) != predicate(in, registers, 1)); break;
    case OP_NOT_PREDICATE: SET((uint64_t)!predicate(in, registers, 0)); break;
    case OP_LOAD_PARAM: load_parameter(machine, in, registers, defined); break;
    case OP_LOAD:
      if (!access_load(machine, in, registers, defined)) {
        progress = THREAD_FAILED;
      }
      break;
    case OP_STORE:
      if (!access_store(machine, in, registers, defined)) {
        progress = THREAD_FAILED;
      }
      break;
    case OP_RED:
    case OP_ATOM:
      if (!access_atomic(machine, in, registers, defined)) {
        progress = THREAD_FAILED;
      }
      break;
    case OP_BRANCH:
      at = in->target;
      if (machine->executed + executed > machine->launch->instruction_limit) {
        machine_fail(machine, in, ERROR_LAUNCH_TIMEOUT, "more than %llu instructions",
                     (unsigned long long)machine->launch->instruction_limit);
        progress = THREAD_FAILED;
      }
      break;
    case OP_BARRIER: progress = THREAD_AT_BARRIER; break;
    case OP_EXIT: progress = THREAD_DONE; break;
    case OP_FENCE: break;
    default:
      if (!rare(machine, in, registers, defined)) {
        progress = THREAD_FAILED;
      }
      break;
    }
  }
  thread->at = at;
  machine->executed += executed;
  return progress;
}

static void set_specials(const struct interpreter *machine, uint64_t *registers) {
  const struct launch *launch = machine->launch;
  uint32_t position[3];
  uint32_t values[SPECIAL_COUNT];
  thread_position(machine, position);
  for (unsigned k = 0; k < 3; k++) {
    values[SPECIAL_TID_X + k] = position[k];
    values[SPECIAL_NTID_X + k] = launch->block[k];
    values[SPECIAL_CTAID_X + k] = machine->block_at[k];
    values[SPECIAL_NCTAID_X + k] = launch->grid[k];
  }
  values[SPECIAL_LANEID] = machine->thread % 32;
  values[SPECIAL_WARPID] = machine->thread / 32;
  for (unsigned k = 0; k < SPECIAL_COUNT; k++) {
    if (machine->kernel->specials[k] != SLOT_NONE) {
      registers[machine->kernel->specials[k]] = values[k];
    }
  }
}

/* All threads of a block without barriers use the first register file, one after another. */
static bool run_simple_block(struct interpreter *machine, uint32_t threads) {
  const struct kernel *kernel = machine->kernel;
  for (machine->thread = 0; machine->thread < threads; machine->thread++) {
    struct thread thread = {.progress = THREAD_READY};
    memcpy(machine->defined, kernel->defined, kernel->slot_count);
    set_specials(machine, machine->registers);
    if (run_thread(machine, &thread, machine->registers, machine->defined) == THREAD_FAILED) {
      return false;
    }
  }
  return true;
}

/* Every thread waits at the same barrier, or every one has ended; anything else is an error. */
static bool check_barrier(struct interpreter *machine, uint32_t threads, bool *ended) {
  const struct thread *first = &machine->threads[0];
  *ended = first->progress == THREAD_DONE;
  for (uint32_t k = 1; k < threads; k++) {
    const struct thread *thread = &machine->threads[k];
    if (thread->progress == first->progress && (*ended || thread->at == first->at)) {
      continue;
    }
    const struct thread *waiting = *ended ? thread : first;
    machine->thread = *ended ? k : 0;
    return machine_fail(machine, &machine->kernel->code[waiting->at - 1], ERROR_LAUNCH_FAILED,
                        "divergent barrier: this thread waits, thread %u %s", *ended ? 0 : k,
                        thread->progress == first->progress ? "waits at another barrier"
                                                            : "has ended");
  }
  return true;
}

static bool run_barrier_block(struct interpreter *machine, uint32_t threads) {
  const struct kernel *kernel = machine->kernel;
  size_t slots = kernel->slot_count;
  bool ended = false;
  for (uint32_t k = 0; k < threads; k++) {
    machine->threads[k] = (struct thread){.progress = THREAD_READY};
    machine->thread = k;
    memcpy(machine->defined + k * slots, kernel->defined, slots);
    set_specials(machine, machine->registers + k * slots);
  }
  while (!ended) {
    for (uint32_t k = 0; k < threads; k++) {
      struct thread *thread = &machine->threads[k];
      machine->thread = k;
      if (!copies_note(machine, thread)) {
        return false;
      }
      thread->progress =
          run_thread(machine, thread, machine->registers + k * slots, machine->defined + k * slots);
      if (thread->progress == THREAD_FAILED) {
        return false;
      }
    }
    if (!check_barrier(machine, threads, &ended)) {
      return false;
    }
    machine->epoch++;
  }
  return true;
}

/* Number `index` of the blocks in the chosen order. The shuffle multiplies by a number that has no
 * factor in common with the count. */
static uint64_t block_number(const struct launch *launch, uint64_t index, uint64_t count) {
  if (launch->order == ORDER_REVERSE) {
    return count - 1 - index;
  }
  if (launch->order != ORDER_SHUFFLED) {
    return index;
  }
  uint64_t factor = (launch->seed * UINT64_C(0x9e3779b97f4a7c15) >> 33) % count | 1;
  for (;;) {
    uint64_t x = factor;
    uint64_t y = count;
    while (y != 0) {
      uint64_t rest = x % y;
      x = y;
      y = rest;
    }
    if (x == 1) {
      break;
    }
    factor += 2;
  }
  return (index % count * (factor % count) + launch->seed % count) % count;
}

static bool prepare(struct interpreter *machine, uint32_t threads) {
  const struct kernel *kernel = machine->kernel;
  size_t files = kernel->has_barrier ? threads : 1;
  uint64_t shared = kernel->shared_bytes + machine->launch->dynamic_shared;
  if (!ensure((void **)&machine->registers, &machine->register_capacity, files * kernel->slot_count,
              sizeof *machine->registers) ||
      !ensure((void **)&machine->defined, &machine->defined_capacity, files * kernel->slot_count,
              1) ||
      !ensure((void **)&machine->threads, &machine->thread_capacity, files,
              sizeof *machine->threads) ||
      !ensure((void **)&machine->shared, &machine->shared_capacity, shared + 1, 1)) {
    return false;
  }
  for (size_t k = 0; k < files; k++) {
    memcpy(machine->registers + k * kernel->slot_count, kernel->initial,
           kernel->slot_count * sizeof *kernel->initial);
  }
  memset(machine->shared, 0xa5, shared);
  race_tracker_clear(machine->global_races);
  return true;
}

int interpret(struct interpreter *machine, const struct launch *launch, uint64_t *executed,
              char *message, size_t message_size) {
  uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
  uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
  machine->launch = launch;
  machine->kernel = launch->kernel;
  machine->recent[0] = machine->recent[1] = NULL;
  machine->executed = 0;
  machine->code = 0;
  machine->message = message;
  machine->message_size = message_size;
  *executed = 0;
  if (!prepare(machine, threads)) {
    snprintf(message, message_size, "kernel %s: no memory for %u threads", launch->kernel->name,
             threads);
    return ERROR_OUT_OF_MEMORY;
  }
  for (uint64_t k = 0; k < blocks && machine->code == 0; k++) {
    uint64_t number = block_number(launch, k, blocks);
    machine->block_at[0] = (uint32_t)(number % launch->grid[0]);
    machine->block_at[1] = (uint32_t)(number / launch->grid[0] % launch->grid[1]);
    machine->block_at[2] = (uint32_t)(number / launch->grid[0] / launch->grid[1]);
    machine->block = (uint32_t)(k + 1);
    machine->epoch = 0;
    copies_clear(machine);
    if (launch->kernel->shared_count > 0) {
      race_tracker_clear(machine->shared_races);
    }
    (void)(launch->kernel->has_barrier ? run_barrier_block(machine, threads)
                                       : run_simple_block(machine, threads));
  }
  *executed = machine->executed;
  return machine->code;
}
