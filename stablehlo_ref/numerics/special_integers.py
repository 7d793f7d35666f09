"""Kernel factory of the upper half of integer products (CHLO, `mulhi`)."""

from __future__ import annotations

from functools import cache

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics.blocks import in_blocks
from stablehlo_ref.numerics.dtypes import INT8, INT64, UINT8, UINT64, bit_width, is_signed, is_sub_byte_integer
from stablehlo_ref.numerics.integers import pack, unpack
from stablehlo_ref.numerics.kernels import ArrayKernel

_LOW = np.uint64(0xFFFFFFFF)


@cache
def mulhi(dtype: DType) -> ArrayKernel:
    """Return the kernel of the upper half of the bits of `x * y`."""
    if dtype == UINT64:
        return in_blocks(_unsigned_64, dtype)
    if dtype == INT64:
        return in_blocks(_signed_64, dtype)
    return _via_wider(INT64 if is_signed(dtype) else UINT64, dtype)


def _via_wider(wide: DType, dtype: DType) -> ArrayKernel:
    width = bit_width(dtype)
    if not is_sub_byte_integer(dtype):
        return in_blocks(lambda x, y: np.right_shift(x.astype(wide) * y.astype(wide), width).astype(dtype), dtype)
    load, store, eight = unpack(dtype), pack(dtype), INT8 if is_signed(dtype) else UINT8
    return lambda x, y: store(np.right_shift(load(x) * load(y), eight.type(width)))


def _unsigned_64(x: Array, y: Array) -> Array:
    """Multiply halves of 32 bits: (a*2**32 + b) * (c*2**32 + d)."""
    a, b, c, d = x >> np.uint64(32), x & _LOW, y >> np.uint64(32), y & _LOW
    middle = a * d + (b * d >> np.uint64(32))  # does not overflow
    high: Array = a * c + (middle >> np.uint64(32)) + ((middle & _LOW) + b * c >> np.uint64(32))
    return high


def _signed_64(x: Array, y: Array) -> Array:
    """Correct the unsigned product: a negative operand counts as 2**64 too large, so subtract the other operand."""
    high = _unsigned_64(x.view(UINT64), y.view(UINT64)).view(INT64)
    signed: Array = high - (x >> np.int64(63) & y) - (y >> np.int64(63) & x)
    return signed
