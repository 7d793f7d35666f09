"""Sums and differences of f16 by operations on f32 and on bits, faster than by conversions.

An f16 number times 2^-112 has the same exponent and mantissa as f32, 13 bits further left. So numbers are only moved,
added as f32, and rounded off by integer arithmetic. Rounding twice is harmless, as f32 has more than twice the
precision of f16; and the sums of subnormal numbers are exact.
"""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.dtypes import FLOAT16, FLOAT32
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.narrow_floats import blockwise_kernel, copy_into

UFUNCS = (np.add, np.subtract)

_UNUSED_EXPONENT = 0x70000000  # copies of the sign bit
_MAGNITUDE, _INFINITY, _SIGN = np.uint16(0x7FFF), 0x7C00, np.uint16(0x8000)


def half_precision(ufunc: np.ufunc) -> ArrayKernel:
    """Return the kernel of one of `UFUNCS` for f16 arrays."""

    def block(x: Array, y: Array) -> Array:
        bits, spare = np.empty((2, max(x.size, y.size)), np.int32)
        _move_into(x, bits)
        _move_into(y, spare)
        ufunc(bits.view(FLOAT32), spare.view(FLOAT32), out=bits.view(FLOAT32))
        result = _rounded(bits, spare)
        if not all(map(_is_finite, (x, y, result))):
            operands = [np.broadcast_to(v, result.shape) for v in (x, y)]
            special = np.flatnonzero(~np.isfinite(operands).all(0) | ~np.isfinite(result))
            result[special] = ufunc(*[v[special] for v in operands])
        return result

    return blockwise_kernel(block, FLOAT16, copy_into, ufunc, lambda x: x)


def _move_into(x: Array, bits: Array) -> None:
    """Store the bits of the f32 numbers `x * 2**-112`, of finite f16 numbers."""
    bits[...] = x.view(np.int16)
    np.left_shift(bits, 13, out=bits)
    np.bitwise_and(bits, ~_UNUSED_EXPONENT, out=bits)


def _rounded(bits: Array, spare: Array) -> Array:
    """Return the f16 numbers of moved f32 numbers, rounded to nearest, ties to even, or to infinity."""
    np.right_shift(bits, 13, out=spare)
    np.bitwise_and(spare, 1, out=spare)
    np.add(spare, 0xFFF, out=spare)  # half a unit in the last place, or just less than half if the last bit is even
    np.add(bits, spare, out=bits)
    sign = np.right_shift(bits, 16, out=spare).astype(np.uint16)
    result = np.right_shift(bits, 13, out=bits).astype(np.uint16)
    np.bitwise_and(sign, _SIGN, out=sign)
    np.bitwise_or(result, sign, out=result)
    return result.view(FLOAT16)


def _is_finite(x: Array) -> bool:
    return bool(np.bitwise_and(x.view(np.uint16), _MAGNITUDE).max() < _INFINITY)
