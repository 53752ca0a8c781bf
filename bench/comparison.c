/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a workload must give, in plain C: a walk over all tiles, position by position, that knows
 * nothing of how the library does it. Threads share the chunks of the first axis.
 */
#include "workloads.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 8 };

struct walk {
  const struct job *job;
  unsigned char *span;
  const unsigned char *tile;
  const int32_t *indices;
  int64_t first, end;              /* chunks of the first axis */
  int64_t chunk[TPTX_MAX_RANK];    /* b */
  int64_t position[TPTX_MAX_RANK]; /* J */
  int64_t number;                  /* of the chunk, row major */
  int64_t run;                     /* positions of the last axis that lie together */
  bool stopped;                    /* at a difference */
};

/* One run: offsets in elements, and how many positions are inside. */
struct place {
  int64_t in_span, span_inside;
  int64_t in_tile, tile_inside;
};

static bool is_gathered(const struct job *job, int axis) {
  return job_has_indices(job) && axis == job->view.dim;
}

/* The next index of a box in row major order, without the axes from `axes` on; false at the end. */
static bool advance(int64_t *index, const int64_t *limits, int axes) {
  for (int k = axes - 1; k >= 0; k--) {
    if (++index[k] < limits[k]) return true;
    index[k] = 0;
  }
  return false;
}

/* p[axis] of the span, -1 past the end of the index array. */
static int64_t span_coordinate(const struct walk *at, int axis) {
  const struct job *job = at->job;
  if (!is_gathered(job, axis)) return at->chunk[axis] * job->steps[axis] + at->position[axis];
  int64_t entry = at->chunk[axis] * job->view.shape[axis] + at->position[axis];
  return entry < job->args.index_count ? at->indices[entry] : -1;
}

static int64_t limit(int64_t inside, int64_t left, bool last) {
  if (left <= 0) return 0;
  return last && left < inside ? left : inside;
}

static struct place locate(const struct walk *at) {
  const struct job *job = at->job;
  bool packed = job->op.tile.tiles == TPTX_TILES_PACKED;
  struct place place = {0, at->run, 0, at->run};
  int64_t tile_elements = 1;
  for (int k = 0; k < job->view.rank; k++) {
    bool last = k == job->view.rank - 1;
    int64_t p = span_coordinate(at, k);
    int64_t q = at->position[k] + (packed ? 0 : at->chunk[k] * job->view.shape[k]);
    place.in_span += p * job->strides[k];
    place.in_tile += q * job->tile_strides[k];
    place.span_inside = limit(place.span_inside, p < 0 ? 0 : job->args.extents[k] - p, last);
    if (!packed) place.tile_inside = limit(place.tile_inside, job->args.tile_extents[k] - q, last);
    tile_elements *= job->view.shape[k];
  }
  if (packed) place.in_tile += at->number * tile_elements;
  return place;
}

static bool is_zero(const unsigned char *memory, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i++)
    if (memory[i] != 0) return false;
  return true;
}

static bool same_run(struct walk *at) {
  struct place place = locate(at);
  int64_t bytes = (int64_t)at->job->element_bytes;
  int64_t both = place.span_inside < place.tile_inside ? place.span_inside : place.tile_inside;
  const unsigned char *tile = at->tile + place.in_tile * bytes;
  if (both > 0 && memcmp(tile, at->span + place.in_span * bytes, (size_t)(both * bytes)) != 0)
    return false;
  return job_writes_span(at->job) ||
         is_zero(tile + both * bytes, (place.tile_inside - both) * bytes);
}

static float bf16_value(const unsigned char *at) {
  uint16_t upper;
  memcpy(&upper, at, sizeof upper);
  uint32_t bits = (uint32_t)upper << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Sums that are exact in bf16, so that rounding does nothing. */
static void add_bf16(unsigned char *to, const unsigned char *from, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    float sum = bf16_value(to + 2 * i) + bf16_value(from + 2 * i);
    uint32_t bits;
    memcpy(&bits, &sum, sizeof bits);
    uint16_t upper = (uint16_t)(bits >> 16);
    memcpy(to + 2 * i, &upper, sizeof upper);
  }
}

static void add_f32(unsigned char *to, const unsigned char *from, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    float sum;
    float addend;
    memcpy(&sum, to + 4 * i, sizeof sum);
    memcpy(&addend, from + 4 * i, sizeof addend);
    sum += addend;
    memcpy(to + 4 * i, &sum, sizeof sum);
  }
}

static bool add_run(struct walk *at) {
  struct place place = locate(at);
  int64_t bytes = (int64_t)at->job->element_bytes;
  int64_t both = place.span_inside < place.tile_inside ? place.span_inside : place.tile_inside;
  if (both <= 0) return true;
  (at->job->view.type == TPTX_BF16 ? add_bf16 : add_f32)(at->span + place.in_span * bytes,
                                                         at->tile + place.in_tile * bytes, both);
  return true;
}

/* Every run of every tile of the walk's share, until a visit says false. */
static void visit_all(struct walk *at, bool (*visit)(struct walk *)) {
  const struct job *job = at->job;
  int last = job->view.rank - 1;
  int64_t limits[TPTX_MAX_RANK];
  memcpy(limits, job->chunks, sizeof limits);
  limits[0] = at->end;
  at->chunk[0] = at->first;
  at->number = at->first;
  for (int k = 1; k <= last; k++) at->number *= job->chunks[k];
  if (at->first >= at->end) return;
  do {
    memset(at->position, 0, sizeof at->position);
    do {
      for (at->position[last] = 0; at->position[last] < job->view.shape[last];
           at->position[last] += at->run) {
        if (visit(at)) continue;
        at->stopped = true;
        return;
      }
    } while (advance(at->position, job->view.shape, last));
    at->number++;
  } while (advance(at->chunk, limits, job->view.rank));
}

static struct walk start_walk(const struct job *job, unsigned char *span, const unsigned char *tile,
                              const int32_t *indices) {
  int last = job->view.rank - 1;
  bool together =
      !is_gathered(job, last) && job->strides[last] == 1 && job->tile_strides[last] == 1;
  struct walk walk = {.job = job, .span = span, .tile = tile, .indices = indices};
  walk.end = job->chunks[0];
  walk.run = together ? job->view.shape[last] : 1;
  return walk;
}

static void *compare_share(void *walk) {
  visit_all(walk, same_run);
  return NULL;
}

static void say_where(const struct walk *at, char *message, size_t capacity) {
  size_t used = 0;
  for (int k = 0; k < 2 * at->job->view.rank && used < capacity; k++) {
    bool chunk = k < at->job->view.rank;
    int axis = chunk ? k : k - at->job->view.rank;
    int length = snprintf(message + used, capacity - used, "%s%lld",
                          axis > 0 ? ","
                          : chunk  ? "first difference in chunk "
                                   : " from position ",
                          (long long)(chunk ? at->chunk[axis] : at->position[axis]));
    used += length > 0 ? (size_t)length : 0;
  }
}

bool job_compare(const struct job *job, const unsigned char *span, const unsigned char *tile,
                 const int32_t *indices, char *message, size_t capacity) {
  struct walk walks[THREADS];
  pthread_t threads[THREADS];
  bool started[THREADS];
  for (int i = 0; i < THREADS; i++) {
    /* Only job_add writes to the span. */
    walks[i] = start_walk(job, (unsigned char *)(uintptr_t)span, tile, indices);
    walks[i].first = job->chunks[0] * i / THREADS;
    walks[i].end = job->chunks[0] * (i + 1) / THREADS;
    started[i] = pthread_create(&threads[i], NULL, compare_share, &walks[i]) == 0;
    if (!started[i]) compare_share(&walks[i]);
  }
  for (int i = 0; i < THREADS; i++)
    if (started[i]) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++) {
    if (!walks[i].stopped) continue;
    say_where(&walks[i], message, capacity);
    return false;
  }
  return true;
}

void job_add(const struct job *job, unsigned char *span, const unsigned char *tile,
             const int32_t *indices) {
  struct walk walk = start_walk(job, span, tile, indices);
  visit_all(&walk, add_run);
}
