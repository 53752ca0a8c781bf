/* SPDX-License-Identifier: Apache-2.0 */
/* Per touched granule the last write and a summary of the reads since. A line of 64 bytes is
 * tracked in granules of 4 bytes until something smaller touches it. Blocks run one after another,
 * so accesses of earlier blocks never gain an order with later ones; only barriers of the same
 * block order. */
#include "race.h"
#include "program.h"

#include <stdlib.h>
#include <string.h>

enum {
  LINE_BYTES = 64,
  COARSE = 4,
  FIRST_TABLE = 1 << 8,
  CHUNK_BYTES = 1 << 18,
  KEPT_CHUNKS = 256
};

/* Flags of a mark. `old_*` speak of accesses of the same block before its last barrier: they
 * matter to other blocks only. */
enum {
  MARK_WEAK = 1,
  MARK_BLOCK_SCOPE = 2, /* strong, but only inside the block */
  MARK_MANY = 4,        /* more than one thread of that block and epoch */
  MARK_MIXED = 8,       /* elements of different sizes */
  MARK_FOREIGN = 16,    /* more than one block: only strong ones, of scope gpu or sys */
  MARK_OLD_WEAK = 32
};

struct mark {
  uint32_t block; /* 0: none */
  uint16_t thread;
  uint16_t epoch;
  uint8_t flags;
  uint8_t size;
  uint8_t unused[2];
};

struct cell {
  struct mark write;
  struct mark read;
};

struct line {
  uint64_t key;
  struct cell *fine; /* one a byte, or NULL while 4-byte granules do */
  struct cell coarse[LINE_BYTES / COARSE];
};

/* Lines and fine cells come from chunks that are used again by the next launch. */
struct chunk {
  struct chunk *next;
  size_t used;
  _Alignas(16) unsigned char bytes[CHUNK_BYTES];
};

struct race_tracker {
  struct line **table;
  size_t table_size; /* a power of two */
  size_t line_count;
  struct chunk *chunks;
  struct chunk *current;
  size_t chunk_count;
  struct line *last;
};

struct race_tracker *race_tracker_new(void) {
  struct race_tracker *tracker = calloc(1, sizeof *tracker);
  if (tracker == NULL) {
    return NULL;
  }
  tracker->table_size = FIRST_TABLE;
  tracker->table = calloc(tracker->table_size, sizeof(struct line *));
  if (tracker->table == NULL) {
    free(tracker);
    return NULL;
  }
  return tracker;
}

static void free_chunks(struct race_tracker *tracker) {
  while (tracker->chunks != NULL) {
    struct chunk *next = tracker->chunks->next;
    free(tracker->chunks);
    tracker->chunks = next;
  }
  tracker->chunk_count = 0;
}

void race_tracker_free(struct race_tracker *tracker) {
  if (tracker == NULL) {
    return;
  }
  free_chunks(tracker);
  free(tracker->table);
  free(tracker);
}

void race_tracker_clear(struct race_tracker *tracker) {
  memset(tracker->table, 0, tracker->table_size * sizeof(struct line *));
  tracker->line_count = 0;
  tracker->last = NULL;
  if (tracker->chunk_count > KEPT_CHUNKS) {
    free_chunks(tracker);
  }
  tracker->current = tracker->chunks;
  if (tracker->current != NULL) {
    tracker->current->used = 0;
  }
}

static size_t hash_key(uint64_t key, size_t size) {
  return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (size - 1);
}

static struct line **find_place(struct line **table, size_t size, uint64_t key) {
  size_t at = hash_key(key, size);
  while (table[at] != NULL && table[at]->key != key) {
    at = (at + 1) & (size - 1);
  }
  return &table[at];
}

static bool enlarge(struct race_tracker *tracker) {
  size_t size = tracker->table_size * 4;
  struct line **table = calloc(size, sizeof(struct line *));
  if (table == NULL) {
    return false;
  }
  for (size_t k = 0; k < tracker->table_size; k++) {
    if (tracker->table[k] != NULL) {
      *find_place(table, size, tracker->table[k]->key) = tracker->table[k];
    }
  }
  free(tracker->table);
  tracker->table = table;
  tracker->table_size = size;
  return true;
}

static void *take(struct race_tracker *tracker, size_t size) {
  struct chunk *chunk = tracker->current;
  if (chunk == NULL || CHUNK_BYTES - chunk->used < size) {
    struct chunk *next = chunk != NULL ? chunk->next : NULL;
    if (next == NULL) {
      next = malloc(sizeof *next);
      if (next == NULL) {
        return NULL;
      }
      next->next = NULL;
      *(chunk != NULL ? &chunk->next : &tracker->chunks) = next;
      tracker->chunk_count++;
    }
    next->used = 0;
    tracker->current = chunk = next;
  }
  void *taken = chunk->bytes + chunk->used;
  chunk->used += (size + 15) & ~(size_t)15;
  return taken;
}

static struct line *find_line(struct race_tracker *tracker, uint64_t key) {
  if (tracker->last != NULL && tracker->last->key == key) {
    return tracker->last;
  }
  struct line **place = find_place(tracker->table, tracker->table_size, key);
  if (*place == NULL) {
    if (tracker->line_count * 2 >= tracker->table_size) {
      if (!enlarge(tracker)) {
        return NULL;
      }
      place = find_place(tracker->table, tracker->table_size, key);
    }
    struct line *line = take(tracker, sizeof *line);
    if (line == NULL) {
      return NULL;
    }
    memset(line, 0, sizeof *line);
    line->key = key;
    *place = line;
    tracker->line_count++;
  }
  tracker->last = *place;
  return *place;
}

static bool refine(struct race_tracker *tracker, struct line *line) {
  line->fine = take(tracker, LINE_BYTES * sizeof *line->fine);
  for (int k = 0; line->fine != NULL && k < LINE_BYTES; k++) {
    line->fine[k] = line->coarse[k / COARSE];
  }
  return line->fine != NULL;
}

/* Whether an earlier access, summed up in a mark, and a new one by another thread may be unordered
 * and not morally strong. */
static bool conflicts(const struct mark *mark, const struct race_access *access) {
  bool same_block = mark->block == access->block;
  if (mark->block == 0) {
    return false;
  }
  if (same_block && !(mark->flags & (MARK_MANY | MARK_FOREIGN)) && mark->thread == access->thread) {
    return false;
  }
  bool mixed = mark->size != access->size || (mark->flags & MARK_MIXED) != 0;
  if (same_block && !(mark->flags & MARK_FOREIGN)) {
    bool ordered = mark->epoch != (uint16_t)access->epoch;
    return !ordered && ((mark->flags & MARK_WEAK) != 0 || access->scope == 0 || mixed);
  }
  /* Another block took part. Inside one block MARK_FOREIGN says all of them were strong and
   * wide. */
  bool narrow = (mark->flags & (MARK_WEAK | MARK_BLOCK_SCOPE | MARK_OLD_WEAK)) != 0;
  return narrow || access->scope < SCOPE_GPU || mixed;
}

static void replace(struct mark *mark, const struct race_access *access) {
  uint8_t flags = 0;
  if (access->scope == 0) {
    flags = MARK_WEAK;
  } else if (access->scope < SCOPE_GPU) {
    flags = MARK_BLOCK_SCOPE;
  }
  if (mark->block == access->block && mark->epoch != (uint16_t)access->epoch &&
      (mark->flags & (MARK_WEAK | MARK_BLOCK_SCOPE | MARK_OLD_WEAK | MARK_MIXED)) != 0) {
    flags |= MARK_OLD_WEAK;
  }
  *mark = (struct mark){access->block, (uint16_t)access->thread, (uint16_t)access->epoch,
                        flags,         (uint8_t)access->size,    {0, 0}};
}

/* Adds an access that does not replace what the mark says: other threads' count as well. */
static void join(struct mark *mark, const struct race_access *access) {
  bool same_block = mark->block == access->block;
  if (mark->block == 0 ||
      (same_block && mark->thread == access->thread &&
       !(mark->flags & (MARK_MANY | MARK_FOREIGN)) && mark->epoch == (uint16_t)access->epoch)) {
    uint8_t kept = mark->block == 0 ? 0 : mark->flags;
    bool mixed = mark->block != 0 && mark->size != access->size;
    replace(mark, access);
    mark->flags = (uint8_t)(mark->flags | kept | (mixed ? MARK_MIXED : 0));
    return;
  }
  if (same_block && mark->epoch != (uint16_t)access->epoch && !(mark->flags & MARK_FOREIGN)) {
    replace(mark, access);
    return;
  }
  struct mark old = *mark;
  replace(mark, access);
  mark->flags = (uint8_t)(mark->flags | old.flags | (same_block ? MARK_MANY : MARK_FOREIGN));
  if (old.size != mark->size) {
    mark->flags |= MARK_MIXED;
  }
}

static bool check(const struct mark *mark, const struct race_access *access, bool write,
                  struct race_report *report) {
  if (!conflicts(mark, access)) {
    return false;
  }
  *report = (struct race_report){mark->thread, mark->block, write, !(mark->flags & MARK_WEAK)};
  return true;
}

int race_note(struct race_tracker *tracker, const struct race_access *access,
              struct race_report *report) {
  struct line *line = find_line(tracker, access->address / LINE_BYTES);
  if (line == NULL) {
    return -1;
  }
  uint32_t at = (uint32_t)(access->address % LINE_BYTES);
  uint32_t end = at + access->size;
  if (line->fine == NULL && access->size % COARSE != 0 && !refine(tracker, line)) {
    return -1;
  }
  struct cell *cells = line->fine;
  if (cells == NULL) {
    cells = line->coarse;
    at /= COARSE;
    end /= COARSE;
  }
  for (; at < end; at++) {
    struct cell *cell = &cells[at];
    if (check(&cell->write, access, true, report) ||
        (access->write && check(&cell->read, access, false, report))) {
      return 1;
    }
    /* Reads by another block stay unordered with any later write, so they are summed up; a write
     * that races with nothing earlier stands for all of them. */
    join(access->write ? &cell->write : &cell->read, access);
  }
  return 0;
}
