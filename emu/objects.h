/* SPDX-License-Identifier: Apache-2.0 */
/* What handles stand for. A handle is a number that never comes back, so a stale one is noticed. */
#ifndef EMU_OBJECTS_H
#define EMU_OBJECTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum object_kind {
  OBJECT_LINK,
  OBJECT_MODULE,
  OBJECT_FUNCTION,
  OBJECT_STREAM,
  OBJECT_EVENT,
  OBJECT_GRAPH,
  OBJECT_EXECUTABLE
};

/* The first member of every object. */
struct object {
  struct object *next;
  void *handle;
  enum object_kind kind;
  uint64_t context; /* id of the one that it belongs to */
  _Atomic int references;
  void (*destroy)(struct object *object);
};

/* Puts an object into the table, which holds one reference. Never fails. */
void *object_register(struct object *object, enum object_kind kind, uint64_t context,
                      void (*destroy)(struct object *object));
/* NULL where the handle stands for nothing (any more) or for something else. */
void *object_acquire(void *handle, enum object_kind kind);
void object_release(void *object);
/* Takes it out of the table; false where it was not in it. */
bool object_remove(void *handle, enum object_kind kind);
/* Takes out everything of a context. */
void objects_drop(uint64_t context);

#endif
