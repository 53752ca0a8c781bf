#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a kernel from a signature line, through ctypes: no package beside Python's own is needed.

    load_tile.py [SIGNATURE]

The library is looked for as libtileptx.so.0, or where TILEPTX_LIBRARY says.
"""

import ctypes
import os
import sys

SIGNATURE = "strided_view:f32:4x11:shape=2x4:strides=1x1:load_masked:pad=nan:target=sm_90"


class Error(ctypes.Structure):
    """tptx_error of tileptx/emit.h, member by member."""

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


def open_library():
    library = ctypes.CDLL(os.environ.get("TILEPTX_LIBRARY", "libtileptx.so.0"))
    library.tptx_status_name.restype = ctypes.c_char_p
    for name in ("tptx_ptx_entry", "tptx_ptx_text"):
        getattr(library, name).restype = ctypes.c_char_p
    return library


def check(library, status, error):
    if status != 0:
        sys.exit(f"{library.tptx_status_name(status).decode()}: {error.message.decode()}")


def main():
    signature = sys.argv[1] if len(sys.argv) > 1 else SIGNATURE
    library = open_library()
    error = Error()
    library.tptx_error_init(ctypes.byref(error))
    # View, operation and target are only handed on, so room for them is enough: reading a signature
    # sets every member. A program that changes them declares them like Error.
    descriptors = [ctypes.create_string_buffer(4096) for _ in range(3)]
    status = library.tptx_signature_parse(signature.encode(), *descriptors, ctypes.byref(error))
    check(library, status, error)
    ptx = ctypes.c_void_p()
    status = library.tptx_emit(*descriptors, ctypes.byref(ptx), ctypes.byref(error))
    check(library, status, error)
    print("//", library.tptx_ptx_entry(ptx).decode())
    print(library.tptx_ptx_text(ptx).decode(), end="")
    library.tptx_ptx_free(ptx)


if __name__ == "__main__":
    main()
