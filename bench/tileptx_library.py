# SPDX-License-Identifier: Apache-2.0
"""The C library through ctypes, as much of it as peers.py needs."""

import ctypes

MOST_AXES = 8
OPAQUE_BYTES = 4096  # more than any descriptor; what they hold is the library's business


class Error(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("status", ctypes.c_int),
        ("driver_code", ctypes.c_int32),
        ("axis", ctypes.c_int32),
        ("position", ctypes.c_int32),
        ("truncated", ctypes.c_int32),
        ("driver_function", ctypes.c_char * 40),
        ("argument", ctypes.c_char * 40),
        ("message", ctypes.c_char * 600),
        ("log", ctypes.c_char * 8192),
    ]


class Args(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("span", ctypes.c_uint64),
        ("tile", ctypes.c_uint64),
        ("indices", ctypes.c_uint64),
        ("index_count", ctypes.c_int64),
        ("index_stride", ctypes.c_int64),
        ("extents", ctypes.c_int64 * MOST_AXES),
        ("layout_strides", ctypes.c_int64 * MOST_AXES),
        ("tile_extents", ctypes.c_int64 * MOST_AXES),
        ("tile_strides", ctypes.c_int64 * MOST_AXES),
        ("first", ctypes.c_int64 * MOST_AXES),
        ("count", ctypes.c_int64 * MOST_AXES),
        ("step", ctypes.c_int64 * MOST_AXES),
        ("pad_value", ctypes.c_uint64),
    ]


class Library:
    """A runtime in the current context of the calling thread."""

    def __init__(self, path, driver=None):
        self.c = ctypes.CDLL(path)
        self.c.tptx_status_name.restype = ctypes.c_char_p
        self.c.tptx_kernel_ptx.restype = ctypes.c_void_p
        self.c.tptx_ptx_signature.restype = ctypes.c_char_p
        self.error = Error()
        self.c.tptx_error_init(ctypes.byref(self.error))
        options = ctypes.create_string_buffer(OPAQUE_BYTES)
        self.c.tptx_runtime_options_init(options)
        if driver is not None:  # the second member, behind struct_size
            self.driver = ctypes.c_char_p(driver.encode())
            ctypes.memmove(ctypes.addressof(options) + ctypes.sizeof(ctypes.c_size_t),
                           ctypes.byref(self.driver), ctypes.sizeof(ctypes.c_char_p))
        self.runtime = ctypes.c_void_p()
        self._call("tptx_runtime_create", options, ctypes.byref(self.runtime))

    def _call(self, name, *arguments):
        status = getattr(self.c, name)(*arguments, ctypes.byref(self.error))
        if status != 0:
            raise RuntimeError(f"{name}: {self.c.tptx_status_name(status).decode()}: "
                               f"{self.error.message.decode()}")

    def kernel(self, work, span, tile, indices):
        """The kernel of a workload for operands at these addresses: a launcher, and its signature."""
        view, op, target = (ctypes.create_string_buffer(OPAQUE_BYTES) for _ in range(3))
        self._call("tptx_signature_parse", work.signature.encode(), view, op, target)
        args = Args()
        self.c.tptx_args_init(ctypes.byref(args))
        args.span, args.tile, args.indices = span, tile, indices
        args.index_count = work.index_count
        for k in range(work.rank):
            args.extents[k] = work.extents[k]
            args.layout_strides[k] = work.strides[k]
            args.tile_extents[k] = work.tile_extents[k]
            args.tile_strides[k] = work.tile_strides[k]
        self._call("tptx_specialise", view, op, ctypes.byref(args))
        kernel = ctypes.c_void_p()
        self._call("tptx_kernel_get", self.runtime, view, op, ctypes.byref(kernel))
        signature = self.c.tptx_ptx_signature(ctypes.c_void_p(self.c.tptx_kernel_ptx(kernel)))

        def launch(stream):
            self._call("tptx_launch", kernel, ctypes.byref(args), ctypes.c_void_p(stream))

        return launch, signature.decode()
