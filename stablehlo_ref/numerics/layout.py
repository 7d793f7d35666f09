"""Memory: layout of arrays, temporary arrays that threads keep, and buffers of numpy."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate, product
from math import prod

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.budget import reserve
from stablehlo_ref.numerics.dtypes import FLOAT64, bits_dtype, is_narrow_float
from stablehlo_ref.numerics.kernels import ArrayKernel

LARGE = 1 << 14  # elements: of a smaller operand, a few lines of the cache hold neighbors in both directions
CONFLICT = 1 << 9  # bytes: elements at multiples of this distance compete for few cache lines
TILE = 1 << 18  # bytes
LINE = 1 << 12  # bytes of a tile along adjacent elements; along the last axis a quarter of as many elements
NARROW = 4  # elements: rows that are always copied if they are apart, which costs little
OF_VECTORS = 32  # elements: OpenBLAS multiplies a vector with contiguous rows of eight elements or fewer in another way
ALIGNMENT = 16  # bytes: new arrays start at a multiple, and some kernels for two vectors begin at the next one
SMALLEST_ALIGNED = 8  # bytes of an element: kernels for vectors of f32 do not do that
PADDING = 64  # bytes, so that the rows of a tile are at no such distance


def contiguous(x: Array) -> Array:
    """Return a C-contiguous copy of `x`.

    numpy copies along the last axis. Where the stride of that axis in `x` makes neighbors evict each other from the
    cache, copying tile by tile is several times faster.
    """
    last = abs(x.strides[-1]) if x.ndim else 0
    if x.size < LARGE or not last or last % CONFLICT or x.itemsize not in x.strides:
        return x.copy(order="C")
    result = np.empty(x.shape, x.dtype)
    x, out = _as_integers(x), _as_integers(result)
    sizes = _tile_sizes(x, x.strides.index(x.itemsize))
    buffer = _tile_buffer(x, sizes)
    for start in product(*[range(0, n, size) for n, size in zip(x.shape, sizes)]):
        tile = tuple(slice(i, i + size) for i, size in zip(start, sizes))
        part = buffer[tuple(slice(n) for n in x[tile].shape)]
        part[...] = x[tile]
        out[tile] = part
    return result


def _as_integers(x: Array) -> Array:
    """Return a view of narrow floats as integers, which numpy copies faster, and other arrays as they are."""
    return x.view(bits_dtype(x.dtype)) if is_narrow_float(x.dtype) else x


def _tile_sizes(x: Array, adjacent: int) -> list[int]:
    """Return the shape of tiles that are long along the adjacent elements of `x` and along the last axis."""
    sizes, tile, line = [1] * x.ndim, TILE // x.itemsize, LINE // x.itemsize
    for axis, most in ((adjacent, line), (x.ndim - 1, line // 4), *((d, tile) for d in reversed(range(x.ndim - 1)))):
        if sizes[axis] == 1:
            sizes[axis] = max(1, min(x.shape[axis], most, tile // prod(sizes)))
    return sizes


def _tile_buffer(x: Array, sizes: Sequence[int]) -> Array:
    """Return an array for a tile of `x`, with axes in the same order in memory, and padding after each row."""
    order = sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis]))
    shape = [sizes[axis] for axis in order]
    shape[-1] += PADDING // x.itemsize
    return np.empty(shape, x.dtype).transpose(np.argsort(order))


def row_major_strides(sizes: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Return the strides of a new array of these sizes, none of which is 0 and of which there is at least one."""
    return tuple(accumulate(reversed(sizes[1:]), int.__mul__, initial=itemsize))[::-1]


def row_major(sizes: Sequence[int], itemsize: int, narrowest: float = 0) -> ArrayKernel:
    """Return a function that returns an array of these sizes itself if it is laid out like a new array, else a copy.

    BLAS and einsum choose the order of a sum by the strides of their operands, also by those of dimensions of size 1,
    which numpy's flag `c_contiguous` ignores, and for f64 and complex<f32> by the address too. If rows have `narrowest`
    elements or more, which is not 0, only they must be contiguous: BLAS multiplies matrices in the same way whatever
    the distance of their rows.
    """
    strides = row_major_strides(sizes, itemsize)
    row = sizes[-1] * itemsize if 0 < narrowest <= sizes[-1] else 0

    def run(x: Array) -> Array:
        if x.strides == strides or (row and x.strides[-1] == itemsize and min(x.strides[:-1], default=row) >= row):
            return x if is_aligned(x) else x.copy()
        if x.flags.c_contiguous and x.ndim > 1 and is_aligned(x):
            return x.reshape(-1).reshape(x.shape)
        if x.size > LARGE:
            reserve(0, x.nbytes)
        return contiguous(x)

    return run


def is_aligned(x: Array) -> bool:
    """Return whether an array starts where a new one may, as far as BLAS makes a difference."""
    return x.base is None or x.itemsize < SMALLEST_ALIGNED or x.ctypes.data % ALIGNMENT == 0


def raw_view(x: Array) -> Array:
    """Return a view of narrow floats as raw bytes, and other arrays as they are; `view(x.dtype)` undoes it.

    numpy cannot make strided window views of f8E5M2.
    """
    return x.view(f"V{x.itemsize}") if is_narrow_float(x.dtype) else x


# --- temporary f64 arrays -------------------------------------------------------------------------------------------

# A process gets memory page by page, each with 0.5 to 1 µs for the first access. The C library returns arrays of some
# hundred KB to the system when they are freed, so that every new one is paid for again. From 4 MB on numpy asks for
# large pages, which are cheap. glibc adapts to the largest array of up to 32 MB that has been freed: it keeps that much
# memory for later ones, and twice as much at the end of the heap. So one is freed here, untouched.
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


# --- numpy's buffers ------------------------------------------------------------------------------------------------

_DEFAULT_BUFFER = 8192  # elements


class default_buffers(np.errstate):
    """Compute with numpy's own size of buffers: large reductions, code of users, and sums that depend on the size."""

    def __enter__(self) -> None:
        super().__enter__()
        np.setbufsize(_DEFAULT_BUFFER)
