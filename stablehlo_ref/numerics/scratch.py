"""Memory for temporary f64 arrays, kept by each thread, as fresh memory takes longer than a conversion.

A process gets memory page by page, each with 0.5 to 1 µs for the first access. The C library returns arrays of some
hundred KB to the system when they are freed, so that every new one is paid for again. From 4 MB on numpy asks for
large pages, which are cheap.

glibc adapts to the largest array of up to 32 MB that has been freed: it keeps that much memory for later ones, and
twice as much at the end of the heap. So this module frees one, untouched, when it is imported.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from math import prod

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.dtypes import FLOAT64

LARGEST = (1 << 19) - 1  # elements of an array that is kept
ADAPTED = (1 << 25) - (1 << 16)  # bytes, just below the largest array that glibc adapts to

with suppress(MemoryError):
    np.empty(ADAPTED, np.uint8)


class _Memory(threading.local):
    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}


_memory = _Memory()


def scratch(name: str, shape: tuple[int, ...]) -> Array:
    """Return an f64 array with any elements, which are overwritten after the thread's next call with that name."""
    size = prod(shape)
    if size > LARGEST:
        return np.empty(shape)
    array = _memory.arrays.get(name)
    if array is None or array.size < size:
        array = _memory.arrays[name] = np.empty(size)
    return array[:size].reshape(shape)


def wide(name: str, x: Array) -> Array:
    """Return `x` itself if it is f64, else a copy in f64 as `scratch` returns it, with elements in the same order."""
    if x.dtype == FLOAT64:
        return x
    is_transposed = x.ndim > 1 and x.swapaxes(-1, -2).flags.c_contiguous
    copy = scratch(name, x.swapaxes(-1, -2).shape).swapaxes(-1, -2) if is_transposed else scratch(name, x.shape)
    np.copyto(copy, x)
    return copy
