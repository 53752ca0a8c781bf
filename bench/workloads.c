/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads.h"

#include "../tools/traffic.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const struct workload workloads[] = {
#define WORKLOAD(given_name, given_signature, ...) \
  {.name = given_name, .signature = given_signature, __VA_ARGS__},
#include "workloads.def"
};
const size_t workload_count = sizeof workloads / sizeof workloads[0];

/* ---- Sizes ----------------------------------------------------------------------------------- */

static int64_t divide_up(int64_t dividend, int64_t divisor) {
  return dividend / divisor + (dividend % divisor != 0);
}

/* Halves or doubles the longest scaled axis, or the entries, until the size is right. */
static void scale(struct job *job, double mib) {
  const struct workload *workload = job->workload;
  int64_t *extents = job->args.extents;
  double size = FULL_MIB;
  memcpy(extents, workload->extents, sizeof workload->extents);
  job->args.index_count = workload->entries;
  while (size > mib || size * 2 <= mib) {
    int64_t *longest = &job->args.index_count;
    for (int k = 0; k < workload->scaled; k++)
      if (k == 0 || extents[k] > *longest) longest = &extents[k];
    bool halve = size > mib;
    if (halve && *longest < 2) break;
    *longest = halve ? *longest / 2 : *longest * 2;
    if (workload->scaled > 0 && workload->entries > 0)
      job->args.index_count = halve ? job->args.index_count / 2 : job->args.index_count * 2;
    size = halve ? size / 2 : size * 2;
  }
  for (int k = 0; k < workload->scaled; k++) extents[k] |= workload->extents[k] & 1;
  job->args.index_count |= workload->entries & 1;
}

static bool is_gathered(const struct job *job, int axis) {
  return job_has_indices(job) && axis == job->view.dim;
}

bool job_has_indices(const struct job *job) {
  return job->view.kind == TPTX_GATHER_SCATTER_VIEW;
}

bool job_is_update(const struct job *job) {
  return job->op.operation == TPTX_ATOMIC_ADD;
}

bool job_writes_span(const struct job *job) {
  return job->op.operation == TPTX_STORE || job_is_update(job);
}

/* Element strides of an array, rows first or columns first, and the last element's offset. */
static int64_t set_strides(int64_t *strides, const int64_t *extents, int rank, bool left,
                           int64_t pitch_multiple) {
  int64_t stride = 1;
  int64_t last = 0;
  for (int i = 0; i < rank; i++) {
    int k = left ? i : rank - 1 - i;
    strides[k] = stride;
    stride *= extents[k];
    last += (extents[k] - 1) * strides[k];
    if (i == 0 && pitch_multiple > 0) stride = divide_up(stride, pitch_multiple) * pitch_multiple;
  }
  return last;
}

static void count_bytes(struct job *job, int64_t last_of_span) {
  bool packed = job->op.tile.tiles == TPTX_TILES_PACKED;
  int64_t in_tiles = 1;
  for (int k = 0; k < job->view.rank; k++)
    in_tiles *= packed ? job->chunks[k] * job->view.shape[k] : job->args.tile_extents[k];
  job->span_bytes = (size_t)(last_of_span + 1) * job->element_bytes;
  job->tile_bytes = (size_t)in_tiles * job->element_bytes;
  job->index_bytes = (size_t)job->args.index_count * sizeof(int32_t);
  job->moved_bytes = (size_t)traffic_bytes(&job->view, &job->op, &job->args);
}

static void set_axis(struct job *job, int axis) {
  tptx_args *args = &job->args;
  int64_t shape = job->view.shape[axis];
  bool gathered = is_gathered(job, axis);
  if (gathered && args->index_count == 0) args->index_count = args->extents[axis];
  int64_t extent = gathered ? args->index_count : args->extents[axis];
  args->tile_extents[axis] = extent;
  job->steps[axis] = job_has_indices(job) ? shape : job->view.strides[axis];
  job->chunks[axis] = divide_up(extent, job->steps[axis]);
}

tptx_status job_plan(struct job *job, const struct workload *workload, double mib,
                     tptx_error *error) {
  memset(job, 0, sizeof *job);
  job->workload = workload;
  tptx_args_init(&job->args);
  tptx_status status = tptx_signature_parse(workload->signature, &job->view, &job->op, NULL, error);
  if (status != TPTX_OK) return status;
  const tptx_view *view = &job->view;
  const tptx_tile *tile = &job->op.tile;
  job->element_bytes = tptx_type_bytes(view->type);
  scale(job, mib);
  for (int k = 0; k < view->rank; k++) set_axis(job, k);
  bool left = view->layout == TPTX_LAYOUT_LEFT ||
              (view->layout == TPTX_LAYOUT_STRIDED && view->layout_strides[0] == 1);
  int64_t last =
      set_strides(job->strides, job->args.extents, view->rank, left, workload->pitch_multiple);
  set_strides(job->tile_strides,
              tile->tiles == TPTX_TILES_PACKED ? view->shape : job->args.tile_extents, view->rank,
              tile->layout == TPTX_LAYOUT_LEFT, 0);
  memcpy(job->args.layout_strides, job->strides, sizeof job->strides);
  count_bytes(job, last);
  return TPTX_OK;
}

/* ---- For other programs ---------------------------------------------------------------------- */

static const char *operation_word(const struct job *job) {
  static const char *const words[] = {[TPTX_LOAD] = "load",
                                      [TPTX_STORE] = "store",
                                      [TPTX_ATOMIC_LOAD] = "load",
                                      [TPTX_ATOMIC_ADD] = "add"};
  return words[job->op.operation];
}

static const char *equivalent_kernel(const struct job *job) {
  if (job_has_indices(job)) return job->view.dim == 0 ? "rows" : "columns";
  bool turns = job->view.rank == 2 && job->strides[0] == 1 && job->tile_strides[0] != 1;
  return turns ? "transposed" : "strided";
}

static void write_list(char *text, size_t capacity, const char *name, const int64_t *values,
                       int rank, bool turned) {
  size_t used = (size_t)snprintf(text, capacity, "%s=", name);
  for (int i = 0; i < rank && used < capacity; i++)
    used += (size_t)snprintf(text + used, capacity - used, "%s%lld", i > 0 ? "," : "",
                             (long long)values[turned ? rank - 1 - i : i]);
}

static void write_upper(char *text, size_t capacity, const char *prefix, const char *word) {
  snprintf(text, capacity, "%s%s", prefix, word);
  for (char *at = text; *at != '\0'; at++) *at = (char)toupper((unsigned char)*at);
}

void job_find_equivalent(const struct job *job, struct equivalent *equivalent) {
  int rank = job->view.rank;
  size_t bytes = job->element_bytes;
  size_t capacity = sizeof equivalent->macros[0];
  int64_t vector = (int64_t)(16 / bytes);
  memset(equivalent, 0, sizeof *equivalent);
  equivalent->kernel = equivalent_kernel(job);
  equivalent->vector = (int)vector;
  equivalent->turned = rank > 1 && job->strides[0] == 1 && job->tile_strides[0] == 1;
  equivalent->vectors_fit = job->steps[equivalent->turned ? 0 : rank - 1] % vector == 0;
  for (int k = 0; k < rank; k++)
    if (job->strides[k] != 1 && job->strides[k] % vector != 0) equivalent->vectors_fit = false;
  write_upper(equivalent->macros[0], capacity, "KERNEL_", equivalent->kernel);
  write_upper(equivalent->macros[1], capacity, "OPERATION_", operation_word(job));
  bool sums_of_bf16 = job_is_update(job) && job->view.type == TPTX_BF16;
  snprintf(equivalent->macros[2], capacity, "%s",
           sums_of_bf16 ? "ELEMENT_BF16"
           : bytes == 4 ? "ELEMENT=float"
           : bytes == 2 ? "ELEMENT=unsigned short"
                        : "ELEMENT=unsigned char");
  snprintf(equivalent->macros[3], capacity, "RANK=%d", rank);
  write_list(equivalent->macros[4], capacity, "SHAPE", job->view.shape, rank, equivalent->turned);
  write_list(equivalent->macros[5], capacity, "STEP", job->steps, rank, equivalent->turned);
}

static void print_axes(FILE *to, const char *name, const int64_t *values, int rank) {
  fprintf(to, ", \"%s\": [", name);
  for (int k = 0; k < rank; k++) fprintf(to, "%s%lld", k > 0 ? ", " : "", (long long)values[k]);
  fputc(']', to);
}

static void print_equivalent(const struct job *job, FILE *to) {
  struct equivalent equivalent;
  job_find_equivalent(job, &equivalent);
  fprintf(
      to,
      ", \"kernel\": \"%s\", \"vector\": %d, \"vectors_fit\": %s, \"turned\": %s, \"macros\": [",
      equivalent.kernel, equivalent.vector, equivalent.vectors_fit ? "true" : "false",
      equivalent.turned ? "true" : "false");
  for (int i = 0; i < MACROS; i++) fprintf(to, "%s\"%s\"", i > 0 ? ", " : "", equivalent.macros[i]);
  fputc(']', to);
}

void job_print_json(const struct job *job, FILE *to) {
  int rank = job->view.rank;
  fprintf(to, "{\"name\": \"%s\", \"signature\": \"%s\", \"type\": \"%s\", \"operation\": \"%s\"",
          job->workload->name, job->workload->signature, tptx_type_name(job->view.type),
          operation_word(job));
  fprintf(to, ", \"dim\": %d, \"index_count\": %lld, \"packed\": %s, \"bar\": %.2f",
          job_has_indices(job) ? job->view.dim : -1, (long long)job->args.index_count,
          job->op.tile.tiles == TPTX_TILES_PACKED ? "true" : "false", job->workload->bar);
  print_axes(to, "extents", job->args.extents, rank);
  print_axes(to, "strides", job->strides, rank);
  print_axes(to, "shape", job->view.shape, rank);
  print_axes(to, "steps", job->steps, rank);
  print_axes(to, "chunks", job->chunks, rank);
  print_axes(to, "tile_extents", job->args.tile_extents, rank);
  print_axes(to, "tile_strides", job->tile_strides, rank);
  print_equivalent(job, to);
  fprintf(to, ", \"element_bytes\": %zu, \"span_bytes\": %zu, \"tile_bytes\": %zu",
          job->element_bytes, job->span_bytes, job->tile_bytes);
  fprintf(to, ", \"moved_bytes\": %zu}", job->moved_bytes);
}

/* ---- Contents -------------------------------------------------------------------------------- */

/* splitmix64: a counter, thoroughly stirred. */
static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

void fill_random(void *memory, size_t bytes) {
  unsigned char *at = memory;
  uint64_t state = 1;
  while (bytes > 0) {
    uint64_t word = next_random(&state);
    size_t some = bytes < sizeof word ? bytes : sizeof word;
    memcpy(at, &word, some);
    at += some;
    bytes -= some;
  }
}

static uint32_t bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/*
 * f32: -8 to 7, exact below 2^24. bf16 is exact up to 256 only: 1 and -1, of which a thousand in
 * random order stay far below that.
 */
void job_fill_addends(const struct job *job, void *memory, size_t bytes) {
  unsigned char *at = memory;
  uint64_t state = 3;
  uint64_t word = 0;
  bool narrow = job->view.type == TPTX_BF16;
  for (size_t i = 0; i < bytes / job->element_bytes; i++, word >>= 4) {
    if (i % 16 == 0) word = next_random(&state);
    float value = narrow ? (float)(int)(word & 2) - 1.0F : (float)(int)(word & 15) - 8.0F;
    uint32_t bits = bits_of_float(value);
    uint16_t upper = (uint16_t)(bits >> 16);
    memcpy(at + i * job->element_bytes, narrow ? (void *)&upper : (void *)&bits,
           job->element_bytes);
  }
}

void job_draw_indices(const struct job *job, int32_t *indices) {
  uint64_t state = 2;
  uint64_t rows = (uint64_t)job->args.extents[job->view.dim];
  bool repeat = (uint64_t)job->args.index_count > rows;
  for (int64_t i = 0; i < job->args.index_count; i++) {
    uint64_t j = next_random(&state) % (repeat ? rows : (uint64_t)(i + 1));
    indices[i] = repeat ? (int32_t)j : indices[j];
    if (!repeat) indices[j] = (int32_t)i;
  }
}
