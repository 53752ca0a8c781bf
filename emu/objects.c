/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "objects.h"

#include <pthread.h>
#include <stddef.h>

enum { BUCKETS = 1024, FIRST_HANDLE = 16 };

static struct {
  pthread_rwlock_t lock;
  struct object *buckets[BUCKETS];
  uintptr_t count;
} objects = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static struct object **bucket_of(void *handle) {
  return &objects.buckets[(uintptr_t)handle / FIRST_HANDLE % BUCKETS];
}

void *object_register(struct object *object, enum object_kind kind, uint64_t context,
                      void (*destroy)(struct object *object)) {
  object->kind = kind;
  object->context = context;
  object->destroy = destroy;
  atomic_init(&object->references, 1);
  pthread_rwlock_wrlock(&objects.lock);
  /* Looks like a pointer, is none. */
  object->handle = (void *)((uintptr_t)0x5e0000000000 + ++objects.count * FIRST_HANDLE);
  void *handle = object->handle;
  struct object **bucket = bucket_of(handle);
  object->next = *bucket;
  *bucket = object;
  pthread_rwlock_unlock(&objects.lock);
  return handle;
}

void *object_acquire(void *handle, enum object_kind kind) {
  pthread_rwlock_rdlock(&objects.lock);
  struct object *object = *bucket_of(handle);
  while (object != NULL && (object->handle != handle || object->kind != kind)) {
    object = object->next;
  }
  if (object != NULL) {
    atomic_fetch_add(&object->references, 1);
  }
  pthread_rwlock_unlock(&objects.lock);
  return object;
}

void object_release(void *object) {
  struct object *released = object;
  if (released != NULL && atomic_fetch_sub(&released->references, 1) == 1) {
    released->destroy(released);
  }
}

bool object_remove(void *handle, enum object_kind kind) {
  pthread_rwlock_wrlock(&objects.lock);
  struct object **place = bucket_of(handle);
  while (*place != NULL && ((*place)->handle != handle || (*place)->kind != kind)) {
    place = &(*place)->next;
  }
  struct object *object = *place;
  if (object != NULL) {
    *place = object->next;
  }
  pthread_rwlock_unlock(&objects.lock);
  object_release(object);
  return object != NULL;
}

void objects_drop(uint64_t context) {
  struct object *dropped = NULL;
  pthread_rwlock_wrlock(&objects.lock);
  for (int k = 0; k < BUCKETS; k++) {
    for (struct object **place = &objects.buckets[k]; *place != NULL;) {
      struct object *object = *place;
      if (object->context == context) {
        *place = object->next;
        object->next = dropped;
        dropped = object;
      } else {
        place = &object->next;
      }
    }
  }
  pthread_rwlock_unlock(&objects.lock);
  while (dropped != NULL) {
    struct object *next = dropped->next;
    object_release(dropped);
    dropped = next;
  }
}
