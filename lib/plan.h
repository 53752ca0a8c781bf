/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that is decided about a kernel before a line of PTX is written. Planning is one pure
 * function of the signature: no allocation, no driver, no global state.
 *
 * A tile is worked on in items: `vector` consecutive elements along the fast axis, the unit of one
 * thread's access and of every predicate. Items are dealt out per axis:
 *
 *   position of an item on axis k = (part * flight_k + number of the item) * threads_k + thread
 *
 * with flight_k = flight on the moving axis and 1 on the others.
 */
#ifndef PLAN_H
#define PLAN_H

#include "rules.h"
#include "signature.h"

enum quantity_name {
#define QUANTITY(name, word, per_axis, meaning) QUANTITY_##name,
#include "quantities.def"
#undef QUANTITY
  QUANTITY_COUNT_OF_NAMES
};

/* A register of the kernel: a launch parameter, or a constant of the text. */
struct quantity {
  uint8_t name; /* enum quantity_name */
  int8_t axis;  /* -1 where the quantity has none */
  uint8_t bits; /* 32 or 64 */
  bool constant;
  uint16_t offset; /* of a parameter, in bytes */
  int64_t value;   /* of a constant */
};

enum { MAX_QUANTITIES = 96, MAX_NOTES = 24 };

enum note_name {
#define NOTE(name, text) NOTE_##name,
#include "notes.def"
#undef NOTE
  NOTE_COUNT
};

struct note {
  int32_t name;
  int64_t first, second;
};

/* PATCHES: turned, since the unit axes differ. ROWS: of the span, as a whole, to be picked from. */
enum staging { STAGING_NONE, STAGING_PATCHES, STAGING_ROWS };

/* One side of the move: the view, or the tile operand. */
struct access {
  int32_t type; /* of an element, and its bytes */
  int32_t element_bytes;
  int32_t checked; /* bit per axis whose coordinate is compared with the extent */
  int32_t partial; /* the edge of the fast axis may cut an item */
};

struct plan {
  struct signature signature;
  int32_t fast;                 /* axis along which the elements of an item lie, but for patches */
  int32_t rank;                 /* 1..8; rank 0 is planned as one axis of one element */
  int32_t shape[TPTX_MAX_RANK]; /* of the tile, elements */
  int32_t items[TPTX_MAX_RANK]; /* of the tile, items */
  int32_t vector, lanes, lane_elements;
  int32_t shifted; /* items of the span begin at any byte: aligned words are shifted into place */
  int32_t read_bits, write_bits; /* of a register before and after conversion */
  int32_t conversion;      /* steps of rules.h; 0 where registers are written as they were read */
  int32_t strong;          /* the span's accesses carry order and scope */
  int32_t update_lanes;    /* registers of one red; 0 where nothing is updated */
  int32_t update_elements; /* elements of one register of a red: 2 for 16-bit pairs */
  int32_t flight, moving;
  int32_t threads[TPTX_MAX_RANK], parts[TPTX_MAX_RANK];
  int32_t ragged;
  int32_t tiles_per_block, block, idle;
  int32_t rounds; /* 1: one thread block works on all parts of its tile, one after the other */
  int32_t index_bits;
  int32_t padded;
  int32_t staging;   /* enum staging: what goes through shared memory */
  int32_t unit;      /* the span's unit axis where it is staged, else -1; the tile's is the last */
  int32_t registers; /* of a thread at most; 0: as many as the compiler takes */
  int32_t patch;     /* elements of a patch along each of the two axes; 0 where nothing is staged */
  int32_t needed_sm, needed_ptx; /* the lowest that every form of the text needs */
  struct access view, tile;
  int32_t quantity_count, parameter_bytes;
  struct quantity quantities[MAX_QUANTITIES];
  int32_t note_count;
  struct note notes[MAX_NOTES];
};

tptx_status plan_make(const struct signature *signature, struct plan *plan, tptx_error *error);

/* Multiplier and shift with n / divisor == (n * multiplier) >> shift for 0 <= n < 2^31. */
struct division {
  uint32_t multiplier, shift;
};
struct division division_by(uint32_t divisor);
uint32_t division_shift(uint32_t divisor); /* the shift alone, without a division */

/* What a register holds, as it is read, for an element of the view's type with that pattern. */
uint64_t plan_padding(const struct plan *plan, uint64_t pattern);

int64_t plan_parts(const struct plan *plan);           /* pieces that one tile is cut into */
int64_t plan_blocks(const struct plan *plan);          /* thread blocks of one tile */
int32_t plan_threads_of_tile(const struct plan *plan); /* threads that work on one tile */
bool plan_turns(const struct plan *plan);              /* patches */
bool plan_picks(const struct plan *plan);              /* from rows in shared memory */
/* Items of a thread have registers of their own, numbered ones. */
bool plan_items_apart(const struct plan *plan);
/* What the addresses and pitches of a side must be multiples of, in bytes. */
int32_t plan_grain(const struct plan *plan, bool view);
/* Bytes of an asynchronous copy to shared memory; what a row has before it can begin with them. */
enum { ROW_COPY = 16 };
bool plan_row_has_head(const struct plan *plan);
/*
 * A head, or a tail: what does not fill a copy. Without one, rows are aligned and whole multiples:
 * their extent is static, or the next axis's pitch, which the alignment class covers.
 */
bool plan_row_has_ends(const struct plan *plan);
/* The axis along which the items of a side lie: the fast one but for patches. */
int32_t plan_item_axis(const struct plan *plan, bool view);
/* Rows of a patch that a thread block moves at once, on either side: each as a run of items. */
int32_t plan_patch_rows(const struct plan *plan);
/* From row to row in shared memory: a word longer than a patch, so that columns spread. */
int32_t plan_stage_pitch(const struct plan *plan);

/* Threads are dealt out over the fast axis first, then over the others from the last on. */
int32_t plan_axis_in_order(const struct plan *plan, int32_t place);
/*
 * The axes of the box, from the one along which tiles follow each other on. Packed tiles lie row
 * major; those of an array are taken along the fast axis, so that thread blocks that run together
 * read whole runs of memory.
 */
int32_t plan_box_axis(const struct plan *plan, int32_t place);

/* The moving axis of the view's items, and of the tile operand's: they differ where staged. */
int32_t plan_moving(const struct plan *plan, bool view);
bool plan_moving_is_ragged(const struct plan *plan, bool view);
int32_t plan_elements_ahead(const struct plan *plan); /* from a thread's item to its next */
/* Entries of the index array are wider than coordinates: compared first, then cut. */
bool plan_cuts_entries(const struct plan *plan);
enum effect plan_effect(const struct plan *plan);
bool plan_reads_view(const struct plan *plan); /* a load; otherwise the view is written */
const struct access *plan_source(const struct plan *plan); /* where values are read from */
const struct access *plan_target(const struct plan *plan); /* where they go */
const char *quantity_word(enum quantity_name name);        /* "view_extent" */
const char *quantity_meaning(enum quantity_name name);
void quantity_write_name(const struct quantity *quantity, struct strbuf *out); /* "view_extent0" */
const char *note_text(enum note_name name); /* a format with two numbers */

#endif
