# SPDX-License-Identifier: Apache-2.0
"""The workloads in Triton: kernels for any size, tile shapes as constants, several configurations each."""

import math

import triton
import triton.language as tl

LOAD = tl.constexpr(0)
STORE = tl.constexpr(1)
ADD = tl.constexpr(2)
CODES = {"load": 0, "store": 1, "add": 2}
NO_LIMIT = 1 << 30


@triton.jit
def _move(span, tile, in_span, in_tile, operation: tl.constexpr):
    if operation == LOAD:
        tl.store(tile, tl.load(span, mask=in_span, other=0), mask=in_tile)
    elif operation == STORE:
        tl.store(span, tl.load(tile, mask=in_tile, other=0), mask=in_span)
    else:
        tl.atomic_add(span, tl.load(tile, mask=in_tile, other=0), mask=in_span, sem="relaxed")


@triton.jit
def chunks_2d(span, tile, extent0, extent1, stride0, stride1, chunks1, tile_extent0, tile_extent1,
              chunk_stride0, chunk_stride1, tile_stride0, tile_stride1, shape0: tl.constexpr,
              shape1: tl.constexpr, step0: tl.constexpr, step1: tl.constexpr, group: tl.constexpr,
              operation: tl.constexpr):
    """`group` chunks that follow each other on axis 1 a program."""
    groups = tl.cdiv(chunks1, group)
    number = tl.program_id(0)
    chunk0 = number // groups
    chunk1 = number % groups * group
    j0 = tl.arange(0, shape0)[:, None]
    column = tl.arange(0, shape1 * group)[None, :]
    chunk = column // shape1
    j1 = column % shape1
    p0 = chunk0 * step0 + j0
    p1 = chunk1 * step1 + chunk * step1 + j1
    q0 = chunk0 * shape0 + j0
    q1 = chunk1 * shape1 + column
    there = chunk1 + chunk < chunks1
    in_span = (p0 < extent0) & (p1 < extent1) & there
    in_tile = (q0 < tile_extent0) & (q1 < tile_extent1) & there
    base = chunk0.to(tl.int64) * chunk_stride0 + chunk1.to(tl.int64) * chunk_stride1
    _move(span + chunk0.to(tl.int64) * step0 * stride0 + chunk1.to(tl.int64) * step1 * stride1 +
          j0 * stride0 + (chunk * step1 + j1) * stride1,
          tile + base + j0 * tile_stride0 + chunk * chunk_stride1 + j1 * tile_stride1, in_span,
          in_tile, operation)


@triton.jit
def chunks_flat(span, tile, extent0, extent1, extent2, extent3, stride0, stride1, stride2, stride3,
                chunks1, chunks2, chunks3, tile_elements, shape0: tl.constexpr,
                shape1: tl.constexpr, shape2: tl.constexpr, shape3: tl.constexpr,
                step0: tl.constexpr, step1: tl.constexpr, step2: tl.constexpr,
                step3: tl.constexpr, block: tl.constexpr, operation: tl.constexpr):
    """`block` elements of one packed tile a program."""
    size: tl.constexpr = shape0 * shape1 * shape2 * shape3
    parts: tl.constexpr = size // block
    program = tl.program_id(0)
    number = program // parts
    j = program % parts * block + tl.arange(0, block)
    c3 = number % chunks3
    c2 = number // chunks3 % chunks2
    c1 = number // chunks3 // chunks2 % chunks1
    c0 = number // chunks3 // chunks2 // chunks1
    p3 = c3 * step3 + j % shape3
    p2 = c2 * step2 + j // shape3 % shape2
    p1 = c1 * step1 + j // (shape3 * shape2) % shape1
    p0 = c0 * step0 + j // (shape3 * shape2 * shape1)
    inside = (p0 < extent0) & (p1 < extent1) & (p2 < extent2) & (p3 < extent3)
    offset = number.to(tl.int64) * size + j
    start = (c0.to(tl.int64) * step0 * stride0 + c1.to(tl.int64) * step1 * stride1 +
             c2.to(tl.int64) * step2 * stride2 + c3.to(tl.int64) * step3 * stride3)
    within = (j // (shape3 * shape2 * shape1) * stride0 + j // (shape3 * shape2) % shape1 * stride1 +
              j // shape3 % shape2 * stride2 + j % shape3 * stride3)
    _move(span + start + within, tile + offset, inside, offset < tile_elements, operation)


@triton.jit
def rows(span, tile, index, entries, row_count, columns, span_pitch, tile_pitch,
         rows_each: tl.constexpr, columns_each: tl.constexpr, operation: tl.constexpr):
    entry = tl.program_id(0) * rows_each + tl.arange(0, rows_each)
    row = tl.load(index + entry, mask=entry < entries, other=-1)
    column = tl.arange(0, columns_each)[None, :]
    there = (entry < entries)[:, None] & (column < columns)
    inside = there & ((row >= 0) & (row < row_count))[:, None]
    _move(span + row.to(tl.int64)[:, None] * span_pitch + column,
          tile + entry.to(tl.int64)[:, None] * tile_pitch + column, inside, there, operation)


@triton.jit
def columns_direct(span, tile, index, entries, columns, row_count, span_pitch, tile_pitch,
                   rows_each: tl.constexpr, entries_each: tl.constexpr):
    entry = tl.program_id(1) * entries_each + tl.arange(0, entries_each)
    row = (tl.program_id(0) * rows_each + tl.arange(0, rows_each)).to(tl.int64)[:, None]
    column = tl.load(index + entry, mask=entry < entries, other=-1)
    there = (row < row_count) & (entry < entries)[None, :]
    inside = there & ((column >= 0) & (column < columns))[None, :]
    value = tl.load(span + row * span_pitch + column[None, :], mask=inside, other=0)
    tl.store(tile + row * tile_pitch + entry[None, :], value, mask=there)


@triton.jit
def columns_gather(span, tile, index, entries, columns, span_pitch, tile_pitch,
                   columns_each: tl.constexpr, entries_each: tl.constexpr):
    """A row a program, picked from in shared memory."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, columns_each)
    values = tl.load(span + row * span_pitch + at, mask=at < columns, other=0)
    entry = tl.arange(0, entries_each)
    column = tl.load(index + entry, mask=entry < entries, other=0)
    inside = (column >= 0) & (column < columns)
    picked = tl.gather(values, tl.where(inside, column, 0), 0)
    tl.store(tile + row * tile_pitch + entry, tl.where(inside, picked, 0), mask=entry < entries)


def _power_of_two(number):
    return 1 << max(0, number - 1).bit_length()


def _chunks_2d(work, o, group, warps):
    packed = work.packed
    size = work.shape[0] * work.shape[1]
    tile_extents = (NO_LIMIT, NO_LIMIT) if packed else work.tile_extents
    chunk_strides = ((work.chunks[1] * size, size) if packed else
                     [shape * stride for shape, stride in zip(work.shape, work.tile_strides)])
    grid = (work.chunks[0] * -(-work.chunks[1] // group),)
    arguments = (o.span, o.tile, *work.extents, *work.strides, work.chunks[1], *tile_extents,
                 *chunk_strides, *work.tile_strides, *work.shape, *work.steps, group,
                 CODES[work.operation])
    return lambda: chunks_2d[grid](*arguments, num_warps=warps)


def _chunks_flat(work, o, block, warps):
    def four(values):
        return (1,) * (4 - work.rank) + tuple(values)

    size = math.prod(work.shape)
    grid = (math.prod(work.chunks) * (size // block),)
    arguments = (o.span, o.tile, *four(work.extents), *four(work.strides), *four(work.chunks)[1:],
                 o.tile.numel(), *four(work.shape), *four(work.steps), block,
                 CODES[work.operation])
    return lambda: chunks_flat[grid](*arguments, num_warps=warps)


def _rows(work, o, elements, warps):
    columns_each = _power_of_two(work.extents[1])
    rows_each = max(1, elements // columns_each)
    grid = (-(-work.index_count // rows_each),)
    arguments = (o.span, o.tile, o.index, work.index_count, *work.extents, work.strides[0],
                 work.tile_strides[0], rows_each, columns_each, CODES[work.operation])
    return lambda: rows[grid](*arguments, num_warps=warps)


def _columns_direct(work, o, rows_each, entries_each, warps):
    grid = (-(-work.extents[0] // rows_each), -(-work.index_count // entries_each))
    arguments = (o.span, o.tile, o.index, work.index_count, work.extents[1], work.extents[0],
                 work.strides[0], work.tile_strides[0], rows_each, entries_each)
    return lambda: columns_direct[grid](*arguments, num_warps=warps)


def _columns_gather(work, o, warps):
    arguments = (o.span, o.tile, o.index, work.index_count, work.extents[1], work.strides[0],
                 work.tile_strides[0], _power_of_two(work.extents[1]),
                 _power_of_two(work.index_count))
    return lambda: columns_gather[(work.extents[0],)](*arguments, num_warps=warps)


def candidates(work, o):
    if work.dim == 0:
        return [(f"rows {elements}/{warps}", _rows(work, o, elements, warps))
                for elements, warps in ((2048, 4), (4096, 4), (4096, 8), (8192, 8))]
    if work.dim == 1:
        return [("columns 16x256/4", _columns_direct(work, o, 16, 256, 4)),
                ("gather/8", _columns_gather(work, o, 8)),
                ("gather/16", _columns_gather(work, o, 16))]
    size = math.prod(work.shape)
    found = []
    if work.rank == 2:
        partition = work.steps == work.shape
        groups = [1] if size >= 2048 or not partition else [4, 16]
        warps_of_size = (2, 4) if size < 2048 else (4, 8) if size < 8192 else (8, 16)
        found = [(f"tiles of {group}/{warps}", _chunks_2d(work, o, group, warps))
                 for group in groups for warps in warps_of_size]
    flat = work.packed or work.rank == 1
    contiguous = work.strides[-1] == 1
    if flat and contiguous and (work.rank != 2 or size < 2048):
        found += [(f"flat {block}/{warps}", _chunks_flat(work, o, block, warps))
                  for block, warps in ((min(size, 512), 4 if size > 256 else 2), (min(size, 1024), 4),
                                       (min(size, 4096), 8))
                  if block <= size]
    return list(dict(found).items())
