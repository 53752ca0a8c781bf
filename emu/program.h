/* SPDX-License-Identifier: Apache-2.0 */
/* A decoded PTX module: what the reader makes and the interpreter runs. */
#ifndef EMU_PROGRAM_H
#define EMU_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  MAX_LANES = 8,
  MAX_SOURCES = 4,
  /* Slot 0 of every register file holds a defined zero: an operand that an instruction lacks. */
  SLOT_NONE = 0
};

enum float_format {
  FORMAT_NONE,
  FORMAT_F16,
  FORMAT_BF16,
  FORMAT_TF32,
  FORMAT_F32,
  FORMAT_F64,
  FORMAT_E4M3,
  FORMAT_E5M2
};

enum type_class {
  CLASS_BITS,
  CLASS_INTEGER_U,
  CLASS_INTEGER_S,
  CLASS_FLOATING,
  CLASS_NARROW,
  CLASS_PREDICATE
};

enum type {
#define TYPE(spelling, bits, class, format) TYPE_##spelling,
#include "ptx_types.def"
#undef TYPE
  TYPE_COUNT
};

struct type_facts {
  const char *spelling;
  unsigned bits;
  enum type_class class;
  enum float_format format;
};

extern const struct type_facts type_facts[TYPE_COUNT];

enum semantics {
  SEMANTICS_WEAK,
  SEMANTICS_RELAXED,
  SEMANTICS_ACQUIRE,
  SEMANTICS_RELEASE,
  SEMANTICS_ACQ_REL,
  SEMANTICS_VOLATILE
};
enum scope { SCOPE_NONE, SCOPE_CTA, SCOPE_GPU, SCOPE_SYS };
enum space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_PARAM };
enum rounding { ROUND_NEAREST_EVEN, ROUND_NEAREST_AWAY, ROUND_TO_ZERO };
enum action {
  ACTION_ADD,
  ACTION_MIN,
  ACTION_MAX,
  ACTION_AND,
  ACTION_OR,
  ACTION_XOR,
  ACTION_INC,
  ACTION_DEC,
  ACTION_EXCH,
  ACTION_CAS
};

/* Integer comparisons are decided on widened 64-bit values; the unordered float ones follow. */
enum comparison {
  COMPARE_EQ,
  COMPARE_NE,
  COMPARE_LT,
  COMPARE_LE,
  COMPARE_GT,
  COMPARE_GE,
  COMPARE_EQU,
  COMPARE_NEU,
  COMPARE_LTU,
  COMPARE_LEU,
  COMPARE_GTU,
  COMPARE_GEU,
  COMPARE_NUM,
  COMPARE_NAN
};

enum operation {
  OP_MOVE,
  OP_PACK,
  OP_UNPACK,
  OP_LOAD_PARAM,
  OP_LOAD,
  OP_STORE,
  OP_RED,
  OP_ATOM,
  OP_COPY,
  OP_COPY_COMMIT,
  OP_COPY_WAIT,
  OP_COPY_WAIT_ALL,
  OP_ADD,
  OP_SUB,
  OP_MUL_LO,
  OP_MUL_HI_U,
  OP_MUL_HI_S,
  OP_MUL_WIDE_U,
  OP_MUL_WIDE_S,
  OP_MAD_LO,
  OP_MAD_HI_U,
  OP_MAD_HI_S,
  OP_MAD_WIDE_U,
  OP_MAD_WIDE_S,
  OP_DIV_U,
  OP_DIV_S,
  OP_REM_U,
  OP_REM_S,
  OP_MIN_U,
  OP_MIN_S,
  OP_MAX_U,
  OP_MAX_S,
  OP_ABS_S,
  OP_NEG,
  OP_AND,
  OP_OR,
  OP_XOR,
  OP_NOT,
  OP_CNOT,
  OP_SHL,
  OP_SHR_U,
  OP_SHR_S,
  OP_BFE_U,
  OP_BFE_S,
  OP_BFI,
  OP_PRMT,
  OP_LOP3,
  OP_SHF_L_WRAP,
  OP_SHF_L_CLAMP,
  OP_SHF_R_WRAP,
  OP_SHF_R_CLAMP,
  OP_POPC,
  OP_CLZ,
  OP_BREV,
  OP_SETP,
  OP_SETP_FLOAT,
  OP_SELP,
  OP_AND_PREDICATE,
  OP_OR_PREDICATE,
  OP_XOR_PREDICATE,
  OP_NOT_PREDICATE,
  OP_ADD_FLOAT,
  OP_SUB_FLOAT,
  OP_MUL_FLOAT,
  OP_FMA_FLOAT,
  OP_MIN_FLOAT,
  OP_MAX_FLOAT,
  OP_NEG_FLOAT,
  OP_ABS_FLOAT,
  OP_CVT_INTEGER,
  OP_CVT_TO_FLOAT,
  OP_CVT_FROM_FLOAT,
  OP_CVT_FLOAT,
  OP_CVT_PAIR,
  OP_CVT_BOTH,
  OP_BRANCH,
  OP_BARRIER,
  OP_FENCE,
  OP_EXIT,
  OP_TRAP
};

/* Registers hold their value zero-extended to 64 bits; `mask` cuts a result to its register, and
 * `shift` = 64 - width turns a value into its sign-extended form. */
struct instruction {
  uint16_t operation;
  uint8_t shift;
  uint8_t lanes;         /* of a vector access, a pack or an unpack; 1 for scalars */
  uint8_t size;          /* bytes of one element in memory, or of an asynchronous copy */
  uint8_t negated;       /* bit 0: the guard; bit 1 + k: predicate source k */
  uint8_t compare;       /* enum comparison */
  uint8_t combine;       /* 0, or 1 + enum action of a setp with .and, .or, .xor */
  uint8_t space;         /* enum space */
  uint8_t strong;        /* access is strong: enum scope, else 0 */
  uint8_t action;        /* enum action of red and atom */
  uint8_t format;        /* enum float_format of the (destination) type */
  uint8_t source_format; /* of the source type of a conversion */
  uint8_t type;          /* enum type that the instruction names first */
  uint8_t source_type;   /* the second one of a conversion */
  uint8_t rounding;      /* enum rounding */
  uint8_t is_signed;     /* loads and conversions that extend the sign */
  uint8_t saturate;
  uint8_t packed; /* values in a register: 2 for f16x2 and its like */
  uint32_t guard; /* slot, or SLOT_NONE */
  uint32_t destination;
  uint32_t destination2; /* second predicate of setp */
  uint32_t source[MAX_SOURCES];
  uint32_t list;   /* first entry of a vector in kernel.lists */
  uint32_t target; /* of a branch: index of an instruction */
  uint32_t line;
  int32_t offset2; /* of the source address of an asynchronous copy */
  uint64_t mask;
  int64_t offset; /* of an address; truth table of lop3; groups that a wait leaves running */
};

enum special {
#define SPECIAL(name, index) SPECIAL_##index,
#include "ptx_specials.def"
#undef SPECIAL
  SPECIAL_COUNT
};

struct parameter {
  char *name;
  uint32_t offset;
  uint32_t size;
  uint32_t element; /* alignment that a load may assume */
};

struct shared_variable {
  uint64_t offset;
  uint64_t size; /* of an .extern array: what the launch gives */
  bool dynamic;
};

struct kernel {
  char *name;
  struct instruction *code;
  size_t code_count;
  uint32_t *lists; /* slots of vectors; destination sinks are SLOT_NONE */
  size_t list_count;
  uint64_t *initial; /* one register file: constants in place */
  uint8_t *defined;  /* and which of its slots have a value before the thread starts */
  size_t slot_count;
  uint32_t specials[SPECIAL_COUNT]; /* slot of a special register, or SLOT_NONE */
  struct parameter *parameters;
  size_t parameter_count;
  uint32_t parameter_bytes;
  struct shared_variable *shared;
  size_t shared_count;
  uint64_t shared_bytes;
  uint32_t maxntid[3]; /* zeros if absent */
  uint32_t reqntid[3];
  uint32_t register_count; /* 32-bit registers, estimated */
  bool has_barrier;
};

struct program {
  char *text;
  size_t text_length;
  struct kernel *kernels;
  size_t kernel_count;
  int version; /* 63 for 6.3 */
  int target;  /* 75 for sm_75 */
};

/* What a device and its driver take. */
struct reader_limits {
  int version;
  int target;
};

/* Reads a module. Returns 0 and a program, or a driver code and a message ("line N: ..."). */
int program_read(const char *text, size_t length, const struct reader_limits *limits,
                 struct program **out, char *message, size_t message_size);
void program_free(struct program *program);
const struct kernel *program_find(const struct program *program, const char *name);

/* The text of one line, without white space at its ends; cut to the buffer. */
void program_line(const struct program *program, uint32_t line, char *buffer, size_t size);

#endif
