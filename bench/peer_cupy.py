# SPDX-License-Identifier: Apache-2.0
"""The workloads in CUDA C++ (kernels.cu), compiled by NVRTC and launched through CuPy."""

import math
import pathlib

import cupy
import numpy

SOURCE = (pathlib.Path(__file__).parent / "kernels.cu").read_text()
THREADS = 256
MOST_SHARED_BYTES = 49152


def _kernel(work, vector, items, span_vector=True):
    macros = [*work.macros, f"VECTOR={vector}", f"ITEMS={items}", f"SPAN_VECTOR={int(span_vector)}"]
    return cupy.RawKernel(SOURCE, work.kernel, options=("--std=c++17", "-I/usr/local/cuda/include",
                                                        *("-D" + macro for macro in macros)))


def _launcher(kernel, blocks, arguments, shared=0):
    return lambda: kernel((blocks,), (THREADS,), arguments, shared_mem=shared)


def _address(tensor):
    return numpy.uint64(tensor.data_ptr())


def _integers(values):
    return [numpy.int64(value) for value in values]


def _strided(work, o, vector, items, span_vector):
    def axes(values, fill):
        return _integers(values[::-1 if work.turned else 1] + [fill] * (4 - work.rank))

    kernel = _kernel(work, vector, items, span_vector)
    vectors = math.prod(work.chunks) * math.prod(work.shape) // vector
    arguments = [_address(o.span), _address(o.tile), *axes(work.extents, 1), *axes(work.strides, 0),
                 *axes(work.tile_strides, 0), *axes(work.chunks, 1), numpy.int64(work.packed)]
    return _launcher(kernel, -(-vectors // (THREADS * items)), tuple(arguments))


def _transposed(work, o, vector, items):
    kernel = _kernel(work, vector, items)
    arguments = (_address(o.span), _address(o.tile),
                 *_integers([*work.extents, work.strides[1], work.chunks[1]]))
    return _launcher(kernel, math.prod(work.chunks), arguments)


def _rows(work, o, vector, items):
    kernel = _kernel(work, vector, items)
    vectors = work.index_count * -(-work.extents[1] // vector)
    arguments = (_address(o.span), _address(o.tile), _address(o.index),
                 *_integers([work.index_count, *work.extents, work.strides[0],
                             work.tile_strides[0]]))
    return _launcher(kernel, -(-vectors // (THREADS * items)), arguments)


def _columns(work, o, vector, items):
    shared = work.extents[1] * work.element_bytes
    if shared > MOST_SHARED_BYTES:
        return None
    kernel = _kernel(work, vector, items)
    arguments = (_address(o.span), _address(o.tile), _address(o.index),
                 *_integers([work.index_count, work.extents[1], work.strides[0],
                             work.tile_strides[0]]))
    return _launcher(kernel, work.extents[0], arguments, shared)


def candidates(work, o):
    vector = work.vector
    if work.kernel == "rows":
        return [(f"rows {items}", _rows(work, o, vector, items)) for items in (1, 2, 4)]
    if work.kernel == "columns":
        return [(f"columns {items}", _columns(work, o, vector, items)) for items in (2, 4)]
    if work.kernel == "transposed":
        return [(f"transposed {items}", _transposed(work, o, vector, items)) for items in (4, 16)]
    if work.vectors_fit:
        return [(f"vectors {items}", _strided(work, o, vector, items, True)) for items in (1, 2)]
    return ([(f"scalars {items}", _strided(work, o, 1, items, False)) for items in (4, 8)] +
            [("scalars to vectors", _strided(work, o, vector, 1, False))])
