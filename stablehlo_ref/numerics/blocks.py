"""Elementwise kernels that compute large arrays block by block, so that temporaries stay in the cache.

`by_blocks` takes what stores the results of a block, `in_blocks` a function that returns them, `computed_in` one of
another element type, and `partwise` one of real and imaginary parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.dtypes import COMPLEX128, FLOAT64, signed_bits_dtype
from stablehlo_ref.numerics.kernels import ArrayKernel, Into, stored
from stablehlo_ref.numerics.workers import share

PartsKernel: TypeAlias = Callable[..., tuple[Array, Array]]  # from parts of operands to those of the result

SMALL = 1 << 10  # elements: below this, one slow conversion costs less than several fast calls
BLOCK = 1 << 17  # elements: 512 KiB of f32, in the cache for several passes, each of which takes about 1 µs to start
WIDE_BLOCK = 1 << 14  # elements: 128 KiB of f64, so that about six temporaries fit into the L2 cache


def by_blocks(into: Into, dtype: DType, small: ArrayKernel, is_wide: bool = False) -> ArrayKernel:
    """Return an elementwise kernel with results of `dtype`, which it may write into an argument `out`.

    Operands broadcast. `into` stores the results of operands of one dimension in a last argument; a scalar, also a
    broadcast one, is passed as a scalar. `small` computes small arrays, and broadcast scalars. If the kernel computes
    in a wide type (`is_wide`), with calls of numpy that take 0.1 ms or more for a block, threads share the blocks.
    """
    min_size, block = (WIDE_BLOCK + 1, WIDE_BLOCK) if is_wide else (SMALL, BLOCK)

    def run(*operands: Array, out: Array | None = None) -> Array:
        for x in operands:
            if x.size >= min_size:
                break
        else:
            return stored(small(*operands), out)
        shape = _shape(operands)
        if all(map(is_broadcast_scalar, operands)):
            result = np.broadcast_to(small(*map(first_element, operands)), shape)
            return result.copy() if out is None else stored(result, out)
        flat = [first_element(x) if is_broadcast_scalar(x) else _flat(x, shape) for x in operands]
        result = np.empty(shape, dtype) if out is None or not out.flags.c_contiguous else out
        results = result.reshape(-1)

        def work(starts: Iterable[int]) -> None:
            for start in starts:
                some = slice(start, start + block)
                into(*[x[some] if x.ndim else x for x in flat], results[some])

        if results.size <= block:
            into(*flat, results)
        else:
            starts = range(0, results.size, block)
            share(work, starts) if is_wide else work(within_time(starts))
        return stored(result, out)

    return run


def _shape(operands: Sequence[Array]) -> tuple[int, ...]:
    """Return the shape that operands broadcast to."""
    shape: tuple[int, ...] = operands[0].shape
    if any(x.shape != shape for x in operands):
        shape = np.broadcast_shapes(*(x.shape for x in operands))
    return shape


def copy_into(x: Array, out: Array) -> Array:
    """Copy `x` into `out` with numpy's own conversion."""
    np.copyto(out, x, casting="unsafe")
    return out


def in_blocks(
    function: ArrayKernel,
    dtype: DType,
    load: ArrayKernel = lambda x: x,
    store: Into = copy_into,
    small: ArrayKernel | None = None,
    is_wide: bool = False,
) -> ArrayKernel:
    """Return a kernel that loads operands, applies an elementwise `function`, and stores results of `dtype`.

    By default small arrays are computed without `store`. The rest is as for `by_blocks`.
    """

    def of_loaded(*operands: Array) -> Array:
        return function(*map(load, operands))

    def into(*operands_and_out: Array) -> Array:
        *operands, out = operands_and_out
        return store(of_loaded(*operands), out)

    return by_blocks(into, dtype, small or of_loaded, is_wide)


def computed_in(wide: DType, function: ArrayKernel, dtype: DType) -> ArrayKernel:
    """Return a kernel with results of `dtype` that applies an elementwise `function` of arrays of dtype `wide`.

    Operands are converted to `wide` and results to `dtype`, which rounds once. `function` must
    accept numpy scalars and must not write into its operands.
    """

    def load(x: Array) -> Array:
        return x if x.dtype == wide else x.astype(wide)

    def small(*operands: Array) -> Array:
        return function(*map(load, operands)).astype(dtype, copy=False)

    return in_blocks(function, dtype, load, small=small, is_wide=True)


def partwise(function: PartsKernel, dtype: DType, fallback: ArrayKernel, wide: DType = FLOAT64) -> ArrayKernel:
    """Return a kernel for arrays of the complex `dtype` that computes on real and imaginary parts in dtype `wide`.

    `function` takes the real and imaginary parts of each operand and returns those of the result. Elements where
    either is NaN, also as a mark for "cannot compute this", are computed by `fallback`, a function of complex<f64>
    arrays. Operands broadcast.
    """

    def into(*operands_and_out: Array) -> Array:
        *operands, out = operands_and_out
        operands = [x if x.shape == out.shape else np.broadcast_to(x, out.shape) for x in operands]
        out.real, out.imag = function(*[part.astype(wide) for x in operands for part in (x.real, x.imag)])
        is_nan = np.isnan(out)
        if is_nan.any():
            out[is_nan] = fallback(*[x[is_nan].astype(np.complex128) for x in operands])
        return out

    def small(*operands: Array) -> Array:
        result = np.empty(_shape(operands), dtype)
        into(*[_flat(x, result.shape) for x in operands], result.reshape(-1))
        return result

    return by_blocks(into, dtype, small, is_wide=True)


def from_parts(real: Array, imag: Array) -> Array:
    """Return complex numbers from parts in f64 or long double, which broadcast."""
    shape = np.broadcast_shapes(np.shape(real), np.shape(imag))
    z = np.empty(shape, np.result_type(real, imag, COMPLEX128))
    z.real, z.imag = real, imag
    return z


# --- operands -------------------------------------------------------------------------------------------------------


def is_broadcast_scalar(x: Array) -> bool:
    """Return whether `x` is a scalar, or a broadcast view of one."""
    return not any(x.strides)


def first_element(x: Array) -> Array:
    """Return the first element as a scalar."""
    element: Array = x[(0,) * x.ndim]
    return element


def _flat(x: Array, shape: tuple[int, ...]) -> Array:
    return np.ascontiguousarray(x if x.shape == shape else np.broadcast_to(x, shape)).reshape(-1)


# --- selection by a mask, by bitwise operations, which are several times as fast as `np.where` ----------------------

_SELECTED = 1 << 14  # elements, so that a block of operands, mask and result fits into the L2 cache
_FEW = 1 << 9  # elements: below this, np.where is as fast


def select(dtype: DType) -> ArrayKernel:
    """Return the kernel of (pred, on_true, on_false), the last two of `dtype`; `pred` may have rank 0."""
    blend = _blend(signed_bits_dtype(dtype)) if dtype.itemsize <= 8 else np.where

    def run(pred: Array, on_true: Array, on_false: Array) -> Array:
        if pred.ndim == 0:
            return on_true if pred else on_false
        if pred.size < _FEW:
            return np.where(pred, on_true, on_false)
        if is_uniform(pred) and on_true.shape == on_false.shape == pred.shape:
            return on_true if pred.item(0) else on_false
        return blend(pred, on_true, on_false)

    return run


def is_uniform(pred: Array) -> bool:
    """Return whether all elements of a mask are the same; it returns early if the first elements differ."""
    return bool(pred.all() if pred.item(0) else not pred.any())


def _blend(bits: DType) -> ArrayKernel:
    """Return on_false ^ (mask & (on_true ^ on_false)), where the mask has all bits set if `pred` is true."""

    def run(pred: Array, on_true: Array, on_false: Array) -> Array:
        shape = np.broadcast_shapes(pred.shape, on_true.shape, on_false.shape)
        out = np.empty(shape, on_true.dtype)
        masks, results = _flat_or_scalar(pred, shape).view(np.int8), out.reshape(-1).view(bits)
        x, y = _flat_or_scalar(on_true, shape).view(bits), _flat_or_scalar(on_false, shape).view(bits)
        for start in range(0, prod(shape), _SELECTED):
            block = slice(start, start + _SELECTED)
            mask = np.negative(masks[block]).astype(bits, copy=False)
            some, other, result = x[block] if x.ndim else x, y[block] if y.ndim else y, results[block]
            np.bitwise_xor(some, other, out=result)
            result &= mask
            result ^= other
        return out

    return run


def _flat_or_scalar(x: Array, shape: tuple[int, ...]) -> Array:
    """Broadcast `x` to `shape` and flatten it; arrays of rank 0 stay as they are."""
    if x.ndim == 0:
        return np.asarray(x)
    return (x if x.shape == shape else np.broadcast_to(x, shape)).reshape(-1)
