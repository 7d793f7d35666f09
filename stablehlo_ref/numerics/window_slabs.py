"""Slabs of convolutions: parts of the batch, or of the windows along one axis, padded and converted in turn."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.contraction import Arithmetic, identity
from stablehlo_ref.numerics.kernels import ArrayKernel, into_form
from stablehlo_ref.numerics.window_views import BATCH, SPATIAL, Convolution, view_of_windows

SLAB_BYTES = 1 << 20  # of the padded and converted slab of the array, so that it is still in the cache when it is read
MOST_OVERLAP = 4  # a slab has at least so many times the elements along its axis that it shares with the next one


def step(c: Convolution, axis: int, arithmetic: Arithmetic) -> int:
    """Return how many indices of the batch, or windows along `axis`, to compute at a time: all if slabs save nothing.

    `axis` is that of results in the canonical order.
    """
    count, each = c.sizes[axis], _bytes(c, arithmetic) // max(1, c.sizes[axis])
    if each == 0 or (axis == BATCH == c.grouped and c.groups > 1):
        return count
    some = max(1, SLAB_BYTES // each)
    if axis >= SPATIAL:
        w = c.windows[axis - SPATIAL]
        some = max(some, MOST_OVERLAP * ((w.length - 1) * w.dilation + 1 - w.stride) // w.stride)
    return min(some, count)


def slab(c: Convolution, axis: int, start: int, stop: int) -> Convolution:
    """Return the convolution that computes the results from `start` to `stop` along `axis`.

    For slabs of the batch, that is the convolution of this range of the array, and else of the whole array.
    """
    if axis == BATCH:
        return replace(c, batch=stop - start)
    windows, j = list(c.windows), axis - SPATIAL
    windows[j] = replace(windows[j], count=stop - start, low=windows[j].low - start * windows[j].stride)
    return replace(c, windows=tuple(windows))


def view(c: Convolution, axis: int, start: int, stop: int, arithmetic: Arithmetic) -> ArrayKernel:
    """Return a function from an array to a view of the windows of a slab, padded and converted."""
    batch = slice(start, stop) if axis == BATCH and stop - start < c.batch else slice(None)
    return view_of_windows(slab(c, axis, start, stop), arithmetic.load_lhs, arithmetic.dtype, batch)


def temporaries(c: Convolution, arithmetic: Arithmetic, axis: int, step: int) -> int:
    """Return the bytes of a slab of the array that is padded and converted, and of the sums of a slab."""
    return _bytes(slab(c, axis, 0, step), arithmetic)


def store(arithmetic: Arithmetic, sums: Array, results: Array) -> None:
    """Convert `sums` to `results`, an array of the same shape."""
    into = into_form(arithmetic.store)
    if into is not None:
        into(sums, out=results)
    else:
        results[...] = arithmetic.store(sums)


def _bytes(c: Convolution, arithmetic: Arithmetic) -> int:
    """Return the bytes of the padded and converted array, and of sums that are converted; 0 if both are used as is."""
    copies = 0 if all(w.is_filled for w in c.windows) and arithmetic.load_lhs is identity else prod(c.padded_sizes)
    sums = 0 if arithmetic.store is identity else prod(c.result_sizes)
    return (copies + sums) * arithmetic.dtype.itemsize
