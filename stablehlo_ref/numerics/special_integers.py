"""The upper half of integer products, as a kernel factory (CHLO, `mulhi`)."""

from __future__ import annotations

from functools import cache

import numpy as np

from stablehlo_ref.numerics.dtypes import INT8, INT64, UINT8, UINT64, bit_width, is_signed, is_sub_byte_integer
from stablehlo_ref.numerics.integers import pack, unpack
from stablehlo_ref.numerics.narrow import Array, DType, Kernel, in_blocks

_LOW = np.uint64(0xFFFFFFFF)


@cache
def mulhi(dtype: DType) -> Kernel:
    """`x * y`, computed with twice the bits, of which the upper half is kept."""
    if dtype == UINT64:
        return in_blocks(_unsigned_64, dtype)
    if dtype == INT64:
        return in_blocks(_signed_64, dtype)
    return _through(INT64 if is_signed(dtype) else UINT64, dtype)


def _through(wide: DType, dtype: DType) -> Kernel:
    width = bit_width(dtype)
    if not is_sub_byte_integer(dtype):
        return in_blocks(lambda x, y: np.right_shift(x.astype(wide) * y.astype(wide), width).astype(dtype), dtype)
    load, store, eight = unpack(dtype), pack(dtype), INT8 if is_signed(dtype) else UINT8
    return lambda x, y: store(np.right_shift(load(x) * load(y), eight.type(width)))


def _unsigned_64(x: Array, y: Array) -> Array:
    """By halves of 32 bits: (a*2**32 + b) * (c*2**32 + d)."""
    a, b, c, d = x >> np.uint64(32), x & _LOW, y >> np.uint64(32), y & _LOW
    middle = a * d + (b * d >> np.uint64(32))  # does not overflow
    return a * c + (middle >> np.uint64(32)) + ((middle & _LOW) + b * c >> np.uint64(32))


def _signed_64(x: Array, y: Array) -> Array:
    """A negative operand is 2**64 too large when it is read as unsigned: the other one has to be subtracted."""
    high = _unsigned_64(x.view(UINT64), y.view(UINT64)).view(INT64)
    return high - (x >> np.int64(63) & y) - (y >> np.int64(63) & x)
