"""Select elements by a mask, by bitwise operations, which are several times as fast as `np.where`.

Masks that select all elements of one operand are common, such as those of indices in bounds, and cheap to find.
"""

from __future__ import annotations

from math import prod

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics.dtypes import signed_bits_dtype
from stablehlo_ref.numerics.kernels import ArrayKernel

BLOCK = 1 << 14  # elements, so that a block of operands, mask and result fits into the L2 cache
SMALL = 1 << 9  # elements: below this, np.where is as fast


def select(dtype: DType) -> ArrayKernel:
    """Return the kernel of (pred, on_true, on_false), the last two of `dtype`; `pred` may have rank 0."""
    blend = _blend(signed_bits_dtype(dtype)) if dtype.itemsize <= 8 else np.where

    def run(pred: Array, on_true: Array, on_false: Array) -> Array:
        if pred.ndim == 0:
            return on_true if pred else on_false
        if pred.size < SMALL:
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
        masks, results = _flat(pred, shape).view(np.int8), out.reshape(-1).view(bits)
        x, y = _flat(on_true, shape).view(bits), _flat(on_false, shape).view(bits)
        for start in range(0, prod(shape), BLOCK):
            block = slice(start, start + BLOCK)
            mask = np.negative(masks[block]).astype(bits, copy=False)
            some, other, result = x[block] if x.ndim else x, y[block] if y.ndim else y, results[block]
            np.bitwise_xor(some, other, out=result)
            result &= mask
            result ^= other
        return out

    return run


def _flat(x: Array, shape: tuple[int, ...]) -> Array:
    """Broadcast `x` to `shape` and flatten it; arrays of rank 0 stay as they are."""
    if x.ndim == 0:
        return np.asarray(x)
    return (x if x.shape == shape else np.broadcast_to(x, shape)).reshape(-1)
