// SPDX-License-Identifier: Apache-2.0
//
// The workloads in CUDA C++, as a good programmer writes them by hand for one case: peers.py runs them through
// CuPy, compile times how long NVRTC takes over them. One kernel a compilation, chosen by a macro:
//
//   KERNEL_STRIDED     chunks of any rank; KERNEL_TRANSPOSED, spans whose first axis is contiguous;
//   KERNEL_ROWS        rows picked by an index array; KERNEL_COLUMNS, columns
//
//   OPERATION_LOAD, OPERATION_STORE or OPERATION_ADD
//   ELEMENT            float, unsigned short, unsigned char; ELEMENT_BF16 for sums of bf16
//   VECTOR             elements that a thread moves at once
//   SPAN_VECTOR        1: the span allows vector accesses (the tile operand always does)
//   ITEMS              vectors a thread has in flight
//   RANK, SHAPE, STEP  of the tiles, as lists; chunks lie STEP apart

#ifdef ELEMENT_BF16
#include <cuda_bf16.h>
#define ELEMENT __nv_bfloat16
#endif

#define THREADS 256

typedef ELEMENT Element; // a name of one word, as casts need it

struct alignas(sizeof(Element) * VECTOR) Vector {
  Element at[VECTOR];
};

// `count` elements from `from` on, zeros behind them.
[[maybe_unused]] static __device__ Vector read(const Element *from, long long count, bool whole) {
  Vector vector;
  if (whole && count >= VECTOR) return *reinterpret_cast<const Vector *>(from);
#pragma unroll
  for (int i = 0; i < VECTOR; i++) vector.at[i] = i < count ? from[i] : Element(0);
  return vector;
}

[[maybe_unused]] static __device__ void write(Element *to, Vector vector, long long count, bool whole) {
  if (whole && count >= VECTOR) {
    *reinterpret_cast<Vector *>(to) = vector;
    return;
  }
#pragma unroll
  for (int i = 0; i < VECTOR; i++)
    if (i < count) to[i] = vector.at[i];
}

#ifdef OPERATION_ADD
static __device__ void add(Element *to, Vector vector, long long count, bool whole) {
  if (whole && count >= VECTOR) {
#ifdef ELEMENT_BF16
#pragma unroll
    for (int i = 0; i < VECTOR; i += 2)
      atomicAdd(reinterpret_cast<__nv_bfloat162 *>(to + i),
                __nv_bfloat162(vector.at[i], vector.at[i + 1]));
#else
    atomicAdd(reinterpret_cast<float4 *>(to),
              make_float4(vector.at[0], vector.at[1], vector.at[2], vector.at[3]));
#endif
    return;
  }
#pragma unroll
  for (int i = 0; i < VECTOR; i++)
    if (i < count) atomicAdd(to + i, vector.at[i]);
}
#endif

// Elements of a vector at p that are inside.
[[maybe_unused]] static __device__ long long left(long long extent, long long p) {
  return p < extent ? extent - p : 0;
}

#ifdef KERNEL_STRIDED
extern "C" __global__ void __launch_bounds__(THREADS)
    strided(Element *span, Element *tile, long long e0, long long e1, long long e2, long long e3,
            long long s0, long long s1, long long s2, long long s3, long long t0, long long t1,
            long long t2, long long t3, long long c0, long long c1, long long c2, long long c3,
            long long packed) {
  constexpr int shape[RANK] = {SHAPE};
  constexpr int step[RANK] = {STEP};
  const long long extent[4] = {e0, e1, e2, e3};
  const long long stride[4] = {s0, s1, s2, s3};
  const long long tile_stride[4] = {t0, t1, t2, t3};
  const unsigned chunks[4] = {(unsigned)c0, (unsigned)c1, (unsigned)c2, (unsigned)c3};
  unsigned vectors = 1, tiles = 1;
#pragma unroll
  for (int k = 0; k < RANK; k++) {
    vectors *= k == RANK - 1 ? shape[k] / VECTOR : shape[k];
    tiles *= chunks[k];
  }
  Vector vector[ITEMS];
  long long in_span[ITEMS], in_tile[ITEMS], span_left[ITEMS], tile_left[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    unsigned long long n = (unsigned long long)blockIdx.x * (THREADS * ITEMS) + i * THREADS + threadIdx.x;
    unsigned number = (unsigned)(n / vectors);
    unsigned j = (unsigned)(n % vectors);
    bool inside = number < tiles;
    in_span[i] = 0;
    in_tile[i] = packed ? (long long)n * VECTOR : 0;
    tile_left[i] = inside ? VECTOR : 0;
    span_left[i] = VECTOR;
#pragma unroll
    for (int k = RANK - 1; k >= 0; k--) {
      const unsigned on_axis = k == RANK - 1 ? shape[k] / VECTOR : shape[k];
      const unsigned position = j % on_axis * (k == RANK - 1 ? VECTOR : 1);
      const unsigned chunk = k > 0 ? number % chunks[k] : number;
      const long long p = (long long)chunk * step[k] + position;
      j /= on_axis;
      if (k > 0) number /= chunks[k];
      in_span[i] += p * stride[k];
      if (k == RANK - 1) span_left[i] = left(extent[k], p);
      inside = inside && p < extent[k];
      if (!packed) {
        in_tile[i] += p * tile_stride[k]; // array operands go with partitions here
        if (k == RANK - 1) tile_left[i] = inside ? span_left[i] : 0;
      }
    }
    if (!inside) span_left[i] = 0;
    if (!packed && !inside) tile_left[i] = 0;
#ifdef OPERATION_LOAD
    vector[i] = read(span + in_span[i], span_left[i], SPAN_VECTOR);
#else
    vector[i] = read(tile + in_tile[i], tile_left[i], true);
#endif
  }
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
#if defined OPERATION_LOAD
    write(tile + in_tile[i], vector[i], tile_left[i], true);
#elif defined OPERATION_STORE
    write(span + in_span[i], vector[i], span_left[i], SPAN_VECTOR);
#else
    add(span + in_span[i], vector[i], span_left[i], SPAN_VECTOR);
#endif
  }
}
#endif

#ifdef KERNEL_TRANSPOSED
// One chunk a block, turned in shared memory; packed tiles.
extern "C" __global__ void __launch_bounds__(THREADS)
    transposed(const Element *span, Element *tile, long long e0, long long e1, long long s1,
               long long c1) {
  constexpr int shape[2] = {SHAPE};
  constexpr int step[2] = {STEP};
  constexpr int pad = 4 / sizeof(Element);
  __shared__ Element turned[shape[1]][shape[0] + pad];
  const long long p0 = (long long)(blockIdx.x / (unsigned)c1) * step[0];
  const long long p1 = (long long)(blockIdx.x % (unsigned)c1) * step[1];
#pragma unroll ITEMS
  for (int i = threadIdx.x; i < shape[0] * shape[1]; i += THREADS) {
    const int j0 = i % shape[0], j1 = i / shape[0];
    const bool inside = p0 + j0 < e0 && p1 + j1 < e1;
    turned[j1][j0] = inside ? span[p0 + j0 + (p1 + j1) * s1] : Element(0);
  }
  __syncthreads();
  tile += (long long)blockIdx.x * (shape[0] * shape[1]);
#pragma unroll ITEMS
  for (int i = threadIdx.x; i < shape[0] * shape[1] / VECTOR; i += THREADS) {
    const int j1 = i % (shape[1] / VECTOR) * VECTOR, j0 = i / (shape[1] / VECTOR);
    Vector vector;
#pragma unroll
    for (int v = 0; v < VECTOR; v++) vector.at[v] = turned[j1 + v][j0];
    *reinterpret_cast<Vector *>(tile + i * VECTOR) = vector;
  }
}
#endif

#ifdef KERNEL_ROWS
extern "C" __global__ void __launch_bounds__(THREADS)
    rows(Element *span, Element *tile, const int *index, long long entries, long long rows,
         long long columns, long long span_pitch, long long tile_pitch) {
  const unsigned on_row = (unsigned)((columns + VECTOR - 1) / VECTOR);
  Vector vector[ITEMS];
  Element *in_span[ITEMS], *in_tile[ITEMS];
  long long span_left[ITEMS], tile_left[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    unsigned n = blockIdx.x * (THREADS * ITEMS) + i * THREADS + threadIdx.x;
    unsigned entry = n / on_row;
    unsigned column = n % on_row * VECTOR;
    unsigned row = entry < entries ? (unsigned)index[entry] : ~0U;
    tile_left[i] = entry < entries ? columns - column : 0;
    span_left[i] = row < rows ? columns - column : 0;
    in_span[i] = span + row * span_pitch + column;
    in_tile[i] = tile + entry * tile_pitch + column;
  }
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
#ifdef OPERATION_LOAD
    vector[i] = read(in_span[i], span_left[i], true);
#else
    vector[i] = read(in_tile[i], tile_left[i], true);
#endif
  }
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
#if defined OPERATION_LOAD
    write(in_tile[i], vector[i], tile_left[i], true);
#elif defined OPERATION_STORE
    write(in_span[i], vector[i], span_left[i], true);
#else
    add(in_span[i], vector[i], span_left[i], true);
#endif
  }
}
#endif

#ifdef KERNEL_COLUMNS
// One row a block: the row goes to shared memory, what is picked from it comes out in vectors.
extern "C" __global__ void __launch_bounds__(THREADS)
    columns(const Element *span, Element *tile, const int *index, long long entries,
            long long columns, long long span_pitch, long long tile_pitch) {
  extern __shared__ __align__(16) Element row[];
  const Element *from = span + (long long)blockIdx.x * span_pitch;
  Element *to = tile + (long long)blockIdx.x * tile_pitch;
#pragma unroll ITEMS
  for (int i = threadIdx.x * VECTOR; i < columns; i += THREADS * VECTOR) {
    Vector vector = read(from + i, columns - i, true);
    write(row + i, vector, columns - i, true);
  }
  __syncthreads();
#pragma unroll ITEMS
  for (int i = threadIdx.x * VECTOR; i < entries; i += THREADS * VECTOR) {
    Vector vector;
#pragma unroll
    for (int v = 0; v < VECTOR; v++) {
      const unsigned column = i + v < entries ? (unsigned)index[i + v] : ~0U;
      vector.at[v] = column < columns ? row[column] : Element(0);
    }
    write(to + i, vector, entries - i, true);
  }
}
#endif
