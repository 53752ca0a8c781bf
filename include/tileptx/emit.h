/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pure half of tileptx: descriptors, the signature line, planning and PTX text.
 *
 * Nothing here touches a driver, a GPU or global state. Every function may be called from any
 * thread at any time; an object may be read by many threads at once. Nothing is printed.
 *
 * The model, in six words (the meaning of each operation is that of CUDA 13.4's
 * cuda::tiles::strided_view and cuda::tiles::gather_scatter_view):
 *
 *   span          an array of up to eight dimensions in device memory: element type, extents,
 *                 element strides (layout), address of element 0,...,0
 *   view          a span cut into chunks of a tile's shape: at a stride (strided_view), or as rows
 *                 or columns picked by an index array (gather_scatter_view)
 *   tile          a dense block of values of the view's shape
 *   operation     what happens between a chunk and a tile: load, store, ...
 *   batch         the box of chunk indices that one launch covers
 *   tile operand  where the tiles of the batch lie in device memory
 *
 * Element p of the span belongs to position J of the tile at chunk index I when
 *   strided_view:         p[k] = I[k] * strides[k] + J[k]
 *   gather_scatter_view:  p[k] = I[k] + J[k] for k != dim, p[dim] = index array entry J[dim]
 * and is inside when 0 <= p[k] < extents[k] on every axis.
 *
 * Kinds of things (types, operations, statuses, ...) are int32_t: one width for every caller.
 * Extents, shapes and strides count elements, never bytes, unless a name ends in `_bytes`.
 * Every struct that is passed by itself begins with `struct_size`; its `_init` function fills it
 * and sets the defaults. tptx_tile and tptx_indices are parts of tptx_op.
 * All of this header exists since 0.1.0 unless said otherwise.
 */
#ifndef TILEPTX_EMIT_H
#define TILEPTX_EMIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TPTX_API __attribute__((visibility("default")))
#else
#define TPTX_API
#endif

enum {
  TPTX_MAX_RANK = 8,
  TPTX_MAX_SIGNATURE = 1024,      /* bytes of a signature line, without the terminating NUL */
  TPTX_MAX_TILE = 16777216,       /* elements of one tile */
  TPTX_MAX_DENSE_ROW = 49136,     /* bytes of a row; see tptx_picks */
  TPTX_MAX_PARAMETER_BYTES = 1024 /* of one kernel */
};

/* An extent or element stride that is given at launch, in tptx_args, not baked into the code. */
#define TPTX_DYNAMIC INT64_MIN
/* In tptx_args.count: as many chunks as the index space has from `first` on. */
#define TPTX_ALL (-1)

/* ---- Status ---------------------------------------------------------------------------------- */

/*
 * Pinned numbers; a family per hundred. 1..99 general, 100..199 refused while planning (nothing is
 * emitted), 200..299 refused at launch (nothing is launched), 300..399 driver.
 */
typedef int32_t tptx_status;
enum {
  TPTX_OK = 0,
  TPTX_ERROR_INVALID_ARGUMENT = 1, /* a null pointer, a struct_size that is not known */
  TPTX_ERROR_OUT_OF_MEMORY = 2,
  TPTX_ERROR_INTERNAL = 3, /* a fault of the library; please report it with the message */

  TPTX_ERROR_SYNTAX = 100,
  TPTX_ERROR_TYPE = 101,
  TPTX_ERROR_RANK = 102,
  TPTX_ERROR_EXTENT = 103,
  TPTX_ERROR_SHAPE = 104,
  TPTX_ERROR_STRIDE = 105,
  TPTX_ERROR_LAYOUT = 106,
  TPTX_ERROR_NOT_INJECTIVE = 107, /* a written layout maps two indices to one element */
  TPTX_ERROR_DIM = 108,
  TPTX_ERROR_OPERATION = 109,
  TPTX_ERROR_PADDING = 110,
  TPTX_ERROR_ORDER = 111,
  TPTX_ERROR_SCOPE = 112,
  TPTX_ERROR_CONVERSION = 113,
  TPTX_ERROR_READ_ONLY = 114,
  TPTX_ERROR_INDEX_TYPE = 115,
  TPTX_ERROR_TARGET = 116,
  TPTX_ERROR_PTX_VERSION = 117,
  TPTX_ERROR_ALIGNMENT_CLASS = 118,
  TPTX_ERROR_INDEX_WIDTH_CLASS = 119,
  TPTX_ERROR_OVERFLOW = 120, /* a product of sizes passes 2^63 */
  TPTX_ERROR_TUNING = 121,

  TPTX_ERROR_BOX = 200,           /* chunk indices outside the index space */
  TPTX_ERROR_PARTIAL_CHUNK = 201, /* an unmasked operation on a chunk that leaves the span */
  TPTX_ERROR_OVERLAP = 202, /* plain stores, or writes at scope block, to chunks that overlap */
  TPTX_ERROR_NULL_ADDRESS = 203,
  TPTX_ERROR_MISALIGNED = 204,
  TPTX_ERROR_INDEX_WIDTH = 205, /* a coordinate or byte stride too wide for the kernel */
  TPTX_ERROR_GRID = 206,
  TPTX_ERROR_OPERAND = 207, /* extents or strides of an operand missing, negative or overflowing */
  TPTX_ERROR_WRONG_CONTEXT = 208,
  TPTX_ERROR_CAPTURING = 209, /* a kernel would have to be compiled while the stream is captured */

  TPTX_ERROR_NO_DRIVER = 300,
  TPTX_ERROR_STUB_DRIVER = 301,
  TPTX_ERROR_NO_DEVICE = 302,
  TPTX_ERROR_OLD_DRIVER = 303, /* a required entry point is missing */
  TPTX_ERROR_NO_CONTEXT = 304,
  TPTX_ERROR_PTX_REJECTED = 305,
  TPTX_ERROR_PTX_TOO_NEW = 306,
  TPTX_ERROR_WRONG_BINARY = 307,
  TPTX_ERROR_NO_COMPILER = 308, /* the driver's PTX compiler is missing or switched off */
  TPTX_ERROR_FORKED = 309,      /* the process forked after the driver was started */
  TPTX_ERROR_DRIVER = 310       /* any other code of the driver; see tptx_error.driver_code */
};

/* The name of a status, "TPTX_ERROR_RANK"; "TPTX_ERROR_UNKNOWN" for a number that is none. */
TPTX_API const char *tptx_status_name(tptx_status status);

/*
 * What went wrong, in a record of the caller's. Optional wherever it is taken (NULL is allowed).
 * It is written only on failure. `message` says what was wrong, what was expected and what to do.
 */
typedef struct tptx_error {
  size_t struct_size;
  tptx_status status;
  int32_t driver_code;      /* CUresult, 0 where the driver was not involved */
  int32_t axis;             /* the axis at fault, -1 where none is */
  int32_t position;         /* byte of the signature line at fault, -1 where none is */
  int32_t truncated;        /* 1 if message or log did not fit */
  char driver_function[40]; /* "cuLinkAddData", empty where the driver was not involved */
  char argument[40];        /* the field at fault: "strides", "args.first", "target", ... */
  char message[600];
  char log[8192]; /* the compiler's own text, where it wrote one */
} tptx_error;

TPTX_API void tptx_error_init(tptx_error *error);

/*
 * Memory functions of the host's. Both must be safe to call from any thread, and must not call the
 * library: it may hold a lock.
 */
typedef struct tptx_allocator {
  size_t struct_size;
  void *(*allocate)(void *user, size_t bytes); /* aligned for any object; NULL when there is none */
  void (*release)(void *user, void *memory);   /* never called with NULL */
  void *user;
} tptx_allocator;

TPTX_API void tptx_allocator_init(tptx_allocator *allocator); /* the functions are left to set */

/* ---- Descriptors ----------------------------------------------------------------------------- */

/* Storage types. bool is one byte: written 0 or 1, any other byte than 0 reads as 1. */
typedef int32_t tptx_type;
enum {
  TPTX_BOOL = 0,
  TPTX_S8 = 1,
  TPTX_U8 = 2,
  TPTX_S16 = 3,
  TPTX_U16 = 4,
  TPTX_S32 = 5,
  TPTX_U32 = 6,
  TPTX_S64 = 7,
  TPTX_U64 = 8,
  TPTX_F16 = 9,
  TPTX_BF16 = 10,
  TPTX_TF32 = 11, /* stored in 32 bits */
  TPTX_F32 = 12,
  TPTX_F64 = 13,
  TPTX_E4M3 = 14,
  TPTX_E5M2 = 15
};

/* The signature line's word for a type, "f32"; NULL for a number that is no type. */
TPTX_API const char *tptx_type_name(tptx_type type);
/* Bytes of one stored element; 0 for a number that is no type. */
TPTX_API size_t tptx_type_bytes(tptx_type type);

typedef int32_t tptx_view_kind;
enum { TPTX_STRIDED_VIEW = 0, TPTX_GATHER_SCATTER_VIEW = 1 };

/*
 * How indices map to elements. RIGHT: row major, the last axis is contiguous. LEFT: column major.
 * STRIDED: element strides given one by one; negative and zero strides are allowed (zero only where
 * the array is read). Static strides of RIGHT and LEFT follow from the extents.
 */
typedef int32_t tptx_layout;
enum { TPTX_LAYOUT_RIGHT = 0, TPTX_LAYOUT_LEFT = 1, TPTX_LAYOUT_STRIDED = 2 };

typedef struct tptx_view {
  size_t struct_size;
  tptx_view_kind kind;
  tptx_type type;
  int32_t rank;         /* 0..8; rank 0 (one element) on a strided view only */
  int32_t dim;          /* gather-scatter: the axis that the index array picks on, 0..rank-1 */
  tptx_type index_type; /* integer type that every extent must fit; default TPTX_S64 */
  int32_t read_only;    /* 1: operations that write the span are refused */
  int32_t align;        /* promise in bytes: 16, 4 (1- and 2-byte types) or the element's size; 0
                           (default) means the element's size in tptx_emit and tptx_kernel_get, and
                           is found from the operands by tptx_run. Multiples of it must be, on both
                           sides: the address; every pitch but that of the axis along which vectors
                           lie (contiguous, mostly the last), even of extent 1; on that axis
                           shape, first and step of the chunks. Where span and tile operand are
                           contiguous along different axes, each has its own, and the extent along
                           it must be a multiple, too; of a gather along that axis only the span's
                           address and pitches are asked. A launch that breaks it is refused where
                           the code relies on it (MISALIGNED). */
  tptx_layout layout;
  int64_t extents[TPTX_MAX_RANK];        /* 0.. or TPTX_DYNAMIC */
  int64_t layout_strides[TPTX_MAX_RANK]; /* LAYOUT_STRIDED only: any number or TPTX_DYNAMIC */
  int64_t shape[TPTX_MAX_RANK];          /* of the tile, 1.. on every axis, at most 2^24 elements */
  int64_t strides[TPTX_MAX_RANK];        /* strided view: elements from chunk to chunk, 1.. */
} tptx_view;

TPTX_API void tptx_view_init(tptx_view *view);

/*
 * A strided view. `extents`, `shape`: rank entries. `layout_strides`: rank entries, or NULL for row
 * major. `strides`: rank entries, or NULL for the shape (a partition). The arrays are copied.
 * Nothing is checked here except the rank (an impossible one is kept and refused while planning).
 */
TPTX_API void tptx_view_strided(tptx_view *view, tptx_type type, int32_t rank,
                                const int64_t *extents, const int64_t *layout_strides,
                                const int64_t *shape, const int64_t *strides);

/* A gather-scatter view along `dim`; otherwise as above. */
TPTX_API void tptx_view_gather_scatter(tptx_view *view, tptx_type type, int32_t rank,
                                       const int64_t *extents, const int64_t *layout_strides,
                                       const int64_t *shape, int32_t dim);

/*
 * Without mask (see tptx_op.masked): the tile is read from or written to the span as a whole.
 *
 * A plain load of 1- or 2-byte elements may also read other elements of the same rows, up to 3
 * bytes before a chunk and 4 behind it, and a gather all of the rows that it picks from densely
 * (tptx_picks), never outside the extents: all of a row must be readable.
 *
 * Atomic operations need tptx_op.order, and read-modify-writes tptx_op.scope too, block or device;
 * doc/atomics.md has the types and targets. f32 sums flush subnormals, even where 0 is added. A sum
 * of one f16 or bf16 element is a compare-and-swap on the aligned 4-byte word around it; the
 * neighbour is read and never changed.
 */
typedef int32_t tptx_operation;
enum {
  TPTX_LOAD = 0,
  TPTX_STORE = 1,
  TPTX_ATOMIC_LOAD = 2,
  TPTX_ATOMIC_STORE = 3,
  TPTX_ATOMIC_AND = 4,
  TPTX_ATOMIC_OR = 5,
  TPTX_ATOMIC_XOR = 6,
  TPTX_ATOMIC_MAX = 7,
  TPTX_ATOMIC_MIN = 8,
  TPTX_ATOMIC_ADD = 9,
  TPTX_ATOMIC_SUB = 10
};

/* What a masked load gives outside the span. All but ZERO and VALUE need f16, bf16, f32 or f64. */
typedef int32_t tptx_pad;
enum {
  TPTX_PAD_ZERO = 0,
  TPTX_PAD_POSITIVE_INF = 1,
  TPTX_PAD_NEGATIVE_INF = 2,
  TPTX_PAD_NAN = 3,  /* quiet, payload zero: 7E00, 7FC0, 7FC00000, 7FF8000000000000 */
  TPTX_PAD_VALUE = 4 /* any value of the element type, tptx_args.pad_value */
};

typedef int32_t tptx_order;
enum {
  TPTX_ORDER_NONE = 0,
  TPTX_ORDER_RELAXED = 1,
  TPTX_ORDER_ACQUIRE = 2,
  TPTX_ORDER_RELEASE = 3
};

/*
 * DEFAULT is system for atomic loads and stores. With BLOCK, writes to chunks that overlap are
 * refused, but gather indices that repeat in several chunks cannot be seen: use DEVICE there.
 */
typedef int32_t tptx_scope;
enum { TPTX_SCOPE_DEFAULT = 0, TPTX_SCOPE_BLOCK = 1, TPTX_SCOPE_DEVICE = 2, TPTX_SCOPE_SYSTEM = 3 };

/*
 * Where the tiles of a batch lie. PACKED: tile number b (row major over the box) is the b-th block
 * of prod(shape) elements, row major inside. ARRAY: the tiles lie side by side in an array of the
 * view's rank, position J of tile b at b[k] * shape[k] + J[k]; what passes the array's extents is
 * neither read nor written.
 */
typedef int32_t tptx_tiles;
enum { TPTX_TILES_PACKED = 0, TPTX_TILES_ARRAY = 1 };

typedef struct tptx_tile {
  int32_t type; /* a tptx_type, or -1 (default) for the view's */
  tptx_tiles tiles;
  tptx_layout layout; /* of an ARRAY; its extents are always given at launch */
  int32_t align; /* promise about the tile operand alone, where it keeps more than tptx_view.align
                    promises about both; 0 (default): that one where it is set, else found by
                    tptx_run. Only plain loads of 1- and 2-byte elements without conversion gain. */
  int64_t layout_strides[TPTX_MAX_RANK]; /* ARRAY with LAYOUT_STRIDED: a number or TPTX_DYNAMIC */
} tptx_tile;

typedef struct tptx_indices {
  tptx_type type; /* any integer type, read at its own width and sign; default TPTX_S32 */
} tptx_indices;

/*
 * How much of a row a gather picks that goes along the axis on which the span is contiguous. DENSE
 * is a promise about every launch: a row has at most TPTX_MAX_DENSE_ROW bytes, all of which can be
 * read. Plain loads then bring whole rows into shared memory and pick there, where that can be:
 * for sm_80 and PTX 7.0 on; from rank 2 on; for tiles of an array that is contiguous along `dim` or
 * along no axis that is known, or packed ones and `dim` the last axis; a quarter of the tile along
 * `dim` no more than the threads of a block (1024, or tptx_op.threads); no static extent beyond
 * that size; staging RULE. Elsewhere the promise says nothing, and the signature leaves it out.
 */
typedef int32_t tptx_picks;
enum {
  TPTX_PICKS_UNKNOWN = 0, /* SPARSE in tptx_emit and tptx_kernel_get; found by tptx_run, which takes
                             DENSE where rows fit and the launch picks enough of each */
  TPTX_PICKS_SPARSE = 1,
  TPTX_PICKS_DENSE = 2
};

typedef int32_t tptx_staging;
enum {
  TPTX_STAGING_RULE = 0, /* through shared memory where the planner's rules say so */
  TPTX_STAGING_NONE = 1
};

typedef struct tptx_op {
  size_t struct_size;
  tptx_operation operation;
  int32_t masked; /* 1: outside elements are padded (loads) or skipped (writes) */
  tptx_pad pad;
  tptx_order order;
  tptx_scope scope;
  int32_t fetch; /* 1: a read-modify-write returns the old values in the tile operand, 0 for what
                    is outside; the tile operand then has the view's type */
  tptx_tile tile;
  tptx_indices indices;
  int32_t assume_in_bounds; /* the caller promises that every gather index is inside the span */
  int32_t assume_injective; /* the caller promises that a written layout of rank 3.. is injective */
  int32_t arith;            /* width of the index arithmetic: 32, 64, or 0 (default): 64 in
                               tptx_emit and tptx_kernel_get, found from the operands by tptx_run */
  int32_t latency;          /* hint, 1..10, 0 for none: recorded and explained, code unchanged */
  int32_t allow_tma;        /* hint, default 1: recorded and explained, code unchanged */
  int32_t threads;          /* tuning: threads a block, a multiple of 32 up to 1024; 0: the rule */
  int32_t flight;           /* tuning: independent items a thread, 1 2 4 8, 0 for the rule. Either
                               keeps transposed spans out of shared memory. */
  tptx_picks picks;
  tptx_staging staging; /* tuning */
} tptx_op;

TPTX_API void tptx_op_init(tptx_op *op);
TPTX_API void tptx_op_load(tptx_op *op);  /* an unmasked load into packed tiles */
TPTX_API void tptx_op_store(tptx_op *op); /* an unmasked store from packed tiles */

/*
 * Whom the text is for: a compute capability and the highest PTX ISA version that the reader of the
 * text takes, each as major * 10 + minor (90 is sm_90, 81 is 8.1). The text itself carries the
 * lowest target and version that its instructions need.
 */
typedef struct tptx_target {
  size_t struct_size;
  int32_t sm;  /* 75..; 0 (default): 80 */
  int32_t ptx; /* 63..; 0 (default): the newest that this library knows */
} tptx_target;

TPTX_API void tptx_target_init(tptx_target *target);

/* ---- The signature line ---------------------------------------------------------------------- */

/*
 * Reads a signature line, such as
 *   strided_view:f32:4x11:shape=2x4:strides=1x1:load_masked:pad=nan:target=sm_90
 * into descriptors (all three are initialised first; any may be NULL). Only the form is checked:
 * TPTX_ERROR_SYNTAX with the position; tptx_plan_check says whether it can be planned.
 */
TPTX_API tptx_status tptx_signature_parse(const char *line, tptx_view *view, tptx_op *op,
                                          tptx_target *target, tptx_error *error);

/*
 * Writes the canonical line of descriptors that can be planned. `capacity` counts bytes with the
 * NUL; TPTX_MAX_SIGNATURE + 1 always suffices. Equal lines name byte-identical PTX.
 */
TPTX_API tptx_status tptx_signature_format(const tptx_view *view, const tptx_op *op,
                                           const tptx_target *target, char *line, size_t capacity,
                                           tptx_error *error);

/* ---- Planning and emission ------------------------------------------------------------------- */

/* Everything that planning refuses, and nothing else: TPTX_OK means that tptx_emit succeeds too. */
TPTX_API tptx_status tptx_plan_check(const tptx_view *view, const tptx_op *op,
                                     const tptx_target *target, tptx_error *error);

typedef struct tptx_ptx tptx_ptx;

/*
 * Writes the PTX text of a view operation. `target` may be NULL (the defaults). On success *out is
 * the caller's and is freed by tptx_ptx_free; on failure *out is NULL. The text depends on nothing
 * but the descriptors: not on locale, address, order of calls or process.
 */
TPTX_API tptx_status tptx_emit(const tptx_view *view, const tptx_op *op, const tptx_target *target,
                               tptx_ptx **out, tptx_error *error);
/* The same with the host's memory functions (NULL: malloc and free). */
TPTX_API tptx_status tptx_emit_with(const tptx_allocator *allocator, const tptx_view *view,
                                    const tptx_op *op, const tptx_target *target, tptx_ptx **out,
                                    tptx_error *error);
TPTX_API void tptx_ptx_free(tptx_ptx *ptx); /* NULL is allowed */

/* What these return belongs to the tptx_ptx and lives as long as it does. */
TPTX_API const char *tptx_ptx_text(const tptx_ptx *ptx);      /* NUL-terminated ASCII */
TPTX_API size_t tptx_ptx_text_bytes(const tptx_ptx *ptx);     /* without the NUL */
TPTX_API const char *tptx_ptx_entry(const tptx_ptx *ptx);     /* the kernel's name */
TPTX_API const char *tptx_ptx_signature(const tptx_ptx *ptx); /* the canonical line */
TPTX_API int32_t tptx_ptx_target(const tptx_ptx *ptx);        /* of the text: 75 is sm_75 */
TPTX_API int32_t tptx_ptx_version(const tptx_ptx *ptx);       /* of the text: 63 is 6.3 */
TPTX_API int32_t tptx_ptx_threads(const tptx_ptx *ptx);       /* of a tile block, in x */
TPTX_API int32_t tptx_ptx_parameter_count(const tptx_ptx *ptx);

/* One kernel parameter. The strings belong to the tptx_ptx. */
typedef struct tptx_parameter {
  size_t struct_size;
  const char *name;    /* as in the text */
  const char *meaning; /* one line */
  int32_t bytes;       /* 4 or 8 */
  int32_t offset;      /* bytes from the start of the parameter block */
} tptx_parameter;

TPTX_API void tptx_parameter_init(tptx_parameter *parameter);

TPTX_API tptx_status tptx_ptx_parameter(const tptx_ptx *ptx, int32_t number,
                                        tptx_parameter *parameter, tptx_error *error);

/*
 * Explains a plan: the canonical line, every field of the plan, the launch shape, the parameters
 * with their offsets, and which rules decided. As text for people, and as one JSON
 * object for programs (`json` = 1; {"schema": 1, ...}).
 */
typedef struct tptx_explanation tptx_explanation;
TPTX_API tptx_status tptx_explain(const tptx_view *view, const tptx_op *op,
                                  const tptx_target *target, int32_t json, tptx_explanation **out,
                                  tptx_error *error);
TPTX_API const char *tptx_explanation_text(const tptx_explanation *explanation);
TPTX_API void tptx_explanation_free(tptx_explanation *explanation); /* NULL is allowed */

/* ---- Arguments of a launch ------------------------------------------------------------------- */

/*
 * The values of one launch. Addresses are device addresses (CUdeviceptr). The span, the tile
 * operand and the index array must not overlap where one of them is written (not checked).
 *
 * The batch is the box first[k] .. first[k] + count[k] - 1:
 *   strided_view         chunk indices; the index space is 0 .. ceil(extents[k] / strides[k]) - 1
 *   gather, k != dim     chunk b starts at element first[k] + b * step[k]
 *   gather, k == dim     chunk b takes the entries (first + b) * shape[dim] .. of the index array;
 *                        missing entries of a short last tile are padded or skipped
 */
typedef struct tptx_args {
  size_t struct_size;
  uint64_t span;        /* address of element 0,...,0, also where strides are negative */
  uint64_t tile;        /* address of the first tile, or of element 0,...,0 of an ARRAY operand */
  uint64_t indices;     /* gather-scatter: address of entry 0 */
  int64_t index_count;  /* entries of the index array, 0.. */
  int64_t index_stride; /* elements from entry to entry, any number; default 1 */
  int64_t extents[TPTX_MAX_RANK];        /* values of the view's dynamic extents; others ignored */
  int64_t layout_strides[TPTX_MAX_RANK]; /* values of the view's dynamic element strides */
  int64_t tile_extents[TPTX_MAX_RANK];   /* ARRAY operand: its extents */
  int64_t tile_strides[TPTX_MAX_RANK];   /* ARRAY operand: values of its dynamic strides */
  int64_t first[TPTX_MAX_RANK];          /* default 0 */
  int64_t count[TPTX_MAX_RANK];          /* 0.. or TPTX_ALL (default) */
  int64_t step[TPTX_MAX_RANK]; /* gather, k != dim: elements from chunk to chunk; 0: the shape */
  uint64_t pad_value;          /* PAD_VALUE: the bit pattern, in the low bits */
} tptx_args;

TPTX_API void tptx_args_init(tptx_args *args);

/*
 * Sets view->align, op->tile.align, op->arith and op->picks, where they are 0, to the best classes
 * that hold for `args`; with a view->align, op->tile.align 0 means that one. It is what tptx_run
 * does before it looks for a kernel. A caller who keeps kernels does it once; for other operands he
 * starts from descriptors in which they are 0.
 */
TPTX_API tptx_status tptx_specialise(tptx_view *view, tptx_op *op, const tptx_args *args,
                                     tptx_error *error);

/* A launch, worked out: what cuLaunchKernel wants. */
typedef struct tptx_binding {
  size_t struct_size;
  int64_t tiles;            /* chunks in the box; 0: there is nothing to launch */
  uint32_t blocks;          /* grid size in x; y and z are 1 */
  uint32_t threads;         /* block size in x; y and z are 1 */
  uint32_t parameter_bytes; /* used bytes of `parameters` */
  unsigned char parameters[TPTX_MAX_PARAMETER_BYTES];
} tptx_binding;

TPTX_API void tptx_binding_init(tptx_binding *binding);

/*
 * Checks the arguments of a launch of `ptx` and packs its parameters. Every refusal of the launch
 * family except WRONG_CONTEXT and CAPTURING comes from here. For hosts that load and launch the
 * text themselves; tptx_launch does the same.
 */
TPTX_API tptx_status tptx_bind(const tptx_ptx *ptx, const tptx_args *args, tptx_binding *binding,
                               tptx_error *error);

#ifdef __cplusplus
}
#endif

#endif
