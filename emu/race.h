/* SPDX-License-Identifier: Apache-2.0 */
/* Data races inside one launch. Two accesses of different threads race if they touch a common
 * byte, at least one writes, no barrier lies between them, and they are not both strong, of the
 * same element and size, each inside the other's scope. */
#ifndef EMU_RACE_H
#define EMU_RACE_H

#include <stdbool.h>
#include <stdint.h>

struct race_tracker;

struct race_access {
  uint64_t address;
  uint32_t size;   /* bytes of one element; elements are aligned */
  uint32_t thread; /* number of the thread in its block */
  uint32_t block;  /* number of the block in the order of execution, from 1 */
  uint32_t epoch;  /* barriers that the block has passed */
  uint8_t scope;   /* enum scope of a strong access, 0 of a weak one */
  bool write;
};

struct race_report {
  uint32_t thread;
  uint32_t block;
  bool write;
  bool strong;
};

struct race_tracker *race_tracker_new(void);
void race_tracker_free(struct race_tracker *tracker);
/* Forgets everything; memory is kept for the next launch. */
void race_tracker_clear(struct race_tracker *tracker);

/* Notes one access. Returns 0, 1 where it races with the reported earlier one, -1 without
 * memory. */
int race_note(struct race_tracker *tracker, const struct race_access *access,
              struct race_report *report);

#endif
