"""The same elements in other memory layouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

Layout = Callable[[np.ndarray], np.ndarray]


def fortran(x: np.ndarray) -> np.ndarray:
    """Return a copy whose first axis is contiguous."""
    return x.copy(order="F")


def transposed(x: np.ndarray) -> np.ndarray:
    """Return a copy with the last two axes exchanged in memory, as a transposition of matrices leaves them."""
    return x.swapaxes(-1, -2).copy().swapaxes(-1, -2) if x.ndim > 1 else x.copy()


def reversed_axes(x: np.ndarray) -> np.ndarray:
    """Return a copy with negative strides along all axes."""
    return np.flip(np.flip(x).copy())


def strided(x: np.ndarray) -> np.ndarray:
    """Return a copy with gaps between the elements of all axes."""
    wide = np.zeros([2 * n + 1 for n in x.shape], x.dtype)
    view = wide[tuple(slice(1, None, 2) for _ in x.shape)]
    view[...] = x
    return view


def rows_apart(x: np.ndarray) -> np.ndarray:
    """Return a copy with gaps between rows, as a slice of the last axis leaves them."""
    if not x.ndim:
        return x.copy()
    wide = np.zeros((*x.shape[:-1], x.shape[-1] + 3), x.dtype)
    wide[..., 1:-2] = x
    return wide[..., 1:-2]


def turned(x: np.ndarray) -> np.ndarray:
    """Return a copy with the first two axes exchanged in memory, as a transposition of heads and tokens leaves them."""
    return x.swapaxes(0, 1).copy().swapaxes(0, 1) if x.ndim > 1 else x.copy()


def offset(x: np.ndarray) -> np.ndarray:
    """Return a copy that starts one element after an aligned address."""
    buffer = np.zeros(x.size + 1, x.dtype)
    view = buffer[1:].reshape(x.shape)
    view[...] = x
    return view


def unaligned(x: np.ndarray) -> np.ndarray:
    """Return a copy at an address that is not a multiple of the size of an element."""
    buffer = np.zeros(x.nbytes + 1, np.uint8)
    view = buffer[1:].view(x.dtype).reshape(x.shape)
    view[...] = x
    return view


def stretched(x: np.ndarray) -> np.ndarray:
    """Return a copy in which dimensions of size 1 have a stride of 0, as adding axes leaves them."""
    x = x.copy()
    strides = [0 if n == 1 else stride for n, stride in zip(x.shape, x.strides)]
    return np.lib.stride_tricks.as_strided(x.view(f"V{x.itemsize}"), x.shape, strides).view(x.dtype)


LAYOUTS: Mapping[str, Layout] = {
    "Fortran": fortran,
    "transposed": transposed,
    "reversed": reversed_axes,
    "strided": strided,
    "rows apart": rows_apart,
    "turned": turned,
    "offset": offset,
    "unaligned": unaligned,
    "stretched": stretched,
}
