# SPDX-License-Identifier: Apache-2.0
"""The workloads through PyTorch's own operations, each the fastest way known to write it."""

import itertools

import torch


def _regions(work):
    """The chunks by how much of them is inside the span: (first chunk, chunks, elements) an axis."""
    axes = []
    for extent, shape, step, chunks in zip(work.extents, work.shape, work.steps, work.chunks):
        whole = min(chunks, max(0, (extent - shape) // step + 1))
        axis = [(0, whole, shape)] if whole else []
        axis += [(b, 1, extent - b * step) for b in range(whole, chunks)]
        axes.append(axis)
    return list(itertools.product(*axes))


def _chunks_of_region(work, span, region):
    """The chunks of a region as one strided tensor: chunk axes, then positions."""
    offset = sum(first * step * stride
                 for (first, _, _), step, stride in zip(region, work.steps, work.strides))
    size = [count for _, count, _ in region] + [inside for _, _, inside in region]
    stride = [step * stride for step, stride in zip(work.steps, work.strides)] + list(work.strides)
    return span.as_strided(size, stride, offset)


def _tiles_of_region(tiles, region):
    return tiles[tuple(slice(first, first + count) for first, count, _ in region)]


def _inside(tiles, region):
    return tiles[(Ellipsis, *(slice(0, inside) for _, _, inside in region))]


def _load_chunks(work, o):
    regions = _regions(work)

    def run():
        for region in regions:
            tiles = _tiles_of_region(o.tiles, region)
            if any(inside < shape for (_, _, inside), shape in zip(region, work.shape)):
                tiles.zero_()
            _inside(tiles, region).copy_(_chunks_of_region(work, o.span, region))

    return run


def _store_chunks(work, o):
    regions = _regions(work)

    def run():
        for region in regions:
            _chunks_of_region(work, o.span, region).copy_(
                _inside(_tiles_of_region(o.tiles, region), region))

    return run


def _add_overlapping(work, o):
    """Chunks that do not overlap each other at once: every other one, where two overlap."""
    ways = [-(-shape // step) for shape, step in zip(work.shape, work.steps)]
    parts = []
    for region in _regions(work):
        tiles = _inside(_tiles_of_region(o.tiles, region), region)
        chunks = _chunks_of_region(work, o.span, region)
        for start in itertools.product(*(range(way) for way in ways)):
            pick = tuple(slice(first, None, way) for first, way in zip(start, ways))
            if chunks[pick].numel():
                parts.append((chunks[pick], tiles[pick]))

    def run():
        for chunks, tiles in parts:
            chunks.add_(tiles)

    return run


def candidates(work, o):
    array, picked = o.span_array, o.tiles
    if work.dim < 0:
        if not work.packed:
            if work.operation != "load":
                return []
            return [("copy_", lambda: picked.copy_(array))]
        if work.operation == "load":
            return [("strided copy_", _load_chunks(work, o))]
        if work.operation == "store":
            return [("strided copy_", _store_chunks(work, o))]
        return [("strided add_", _add_overlapping(work, o))]
    if work.operation == "load":
        return [("index_select", lambda: torch.index_select(array, work.dim, o.index, out=picked))]
    long_index = o.index.long()
    if work.operation == "store":
        return [("index_copy_", lambda: array.index_copy_(work.dim, long_index, picked))]
    return [("index_add_", lambda: array.index_add_(work.dim, o.index, picked)),
            ("index_add_ of s64", lambda: array.index_add_(work.dim, long_index, picked))]
