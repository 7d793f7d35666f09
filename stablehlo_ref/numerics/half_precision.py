"""Sums, differences and products of f16 by operations on f32 and on bits, faster than by conversions.

An f16 number times 2^-112 has the same exponent and mantissa as f32, 13 bits further left. So numbers are only moved,
combined as f32, and rounded off by integer arithmetic. Rounding twice is harmless, as f32 has more than twice the
precision of f16; and the sums of subnormal numbers are exact. Where the result times 2^-112 is subnormal, f32 rounds
products to fewer bits; numpy computes these.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.blocks import by_blocks
from stablehlo_ref.numerics.dtypes import FLOAT16, FLOAT32
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.layout import scratch

UFUNCS = (np.add, np.subtract, np.multiply)

Block: TypeAlias = Callable[..., Array | None]  # from two blocks, the bits of results and two arrays of i32

_MAGNITUDE, _SIGN, _INFINITY = np.uint16(0x7FFF), np.uint16(0x8000), np.uint16(0x7C00)
_WITHOUT_COPIES = np.int32(~0x70000000)  # of the sign bit
_MOVED, _SIGN_POSITION, _ONE = np.int32(13), np.int32(16), np.int32(1)
_HALF = np.int32(0xFFF)  # just less than half a unit in the last place
_SCALE = np.float32(2.0**112)
_SMALLEST_NORMAL, _TOO_LARGE = np.uint32(1 << 23), np.int32(31 << 23)


def half_precision(ufunc: np.ufunc) -> ArrayKernel:
    """Return the kernel of one of `UFUNCS` for f16 arrays."""
    combine: Block = _multiply if ufunc is np.multiply else _add(ufunc)

    def into(x: Array, y: Array, out: Array) -> Array:
        both = scratch("half precision", out.shape).view(np.int32).reshape(2, -1)
        special = combine(x, y, out.view(np.uint16), *both)
        if special is not None:
            where = np.flatnonzero(np.broadcast_to(special, out.shape))
            out[where] = ufunc(*[v[where] if v.ndim else v for v in (x, y)])
        return out

    return by_blocks(into, FLOAT16, ufunc)


# --- blocks: store results except for special elements, and return where these are ----------------------------------


def _add(ufunc: np.ufunc) -> Block:
    """Return np.add or np.subtract for blocks."""

    def combine(x: Array, y: Array, out: Array, bits: Array, spare: Array) -> Array | None:
        for operand, moved in ((x, bits), (y, spare)):
            moved[...] = operand.view(np.int16)
            np.left_shift(moved, _MOVED, out=moved)
            np.bitwise_and(moved, _WITHOUT_COPIES, out=moved)
        ufunc(bits.view(FLOAT32), spare.view(FLOAT32), out=bits.view(FLOAT32))
        _round_off(bits, spare)
        sign = np.right_shift(bits, _SIGN_POSITION, out=spare).astype(np.uint16)
        _move_back(bits, out)
        finite = [not _has_special(v) for v in (x, y, out)]
        np.bitwise_or(out, np.bitwise_and(sign, _SIGN, out=sign), out=out)
        return None if all(finite) else _is_special(x) | _is_special(y) | _is_special(out)

    return combine


def _multiply(x: Array, y: Array, out: Array, bits: Array, spare: Array) -> Array | None:
    """Multiply magnitudes. Special are also overflows, and products that are subnormal numbers."""
    special = []
    for operand, moved in ((x, bits), (y, spare)):
        magnitude = np.bitwise_and(operand.view(np.uint16), _MAGNITUDE)
        if magnitude.max() >= _INFINITY:
            special.append(magnitude >= _INFINITY)
        moved[...] = magnitude
        np.left_shift(moved, _MOVED, out=moved)
    product = bits.view(FLOAT32)
    np.multiply(product, _SCALE, out=product)
    np.multiply(product, spare.view(FLOAT32), out=product)
    np.subtract(bits, _ONE, out=spare)
    is_subnormal = np.less(spare.view(np.uint32), _SMALLEST_NORMAL - np.uint32(1))  # not zero
    if np.count_nonzero(is_subnormal):
        special.append(is_subnormal)
    _round_off(bits, spare)
    if bits.max() >= _TOO_LARGE:
        special.append(bits >= _TOO_LARGE)
    _move_back(bits, out)
    sign = np.bitwise_xor(x.view(np.uint16), y.view(np.uint16))
    np.bitwise_or(out, np.bitwise_and(sign, _SIGN), out=out)
    return reduce(np.bitwise_or, special) if special else None


def _round_off(bits: Array, spare: Array) -> None:
    """Round moved f32 numbers to f16, to nearest, ties to even, or to infinity. Lower bits are arbitrary."""
    np.right_shift(bits, _MOVED, out=spare)
    np.bitwise_and(spare, _ONE, out=spare)
    np.add(spare, _HALF, out=spare)
    np.add(bits, spare, out=bits)


def _move_back(bits: Array, out: Array) -> None:
    """Shift the bits of rounded numbers back to the right, and store them as those of f16 magnitudes."""
    np.copyto(out, np.right_shift(bits, _MOVED, out=bits), casting="unsafe")


def _has_special(x: Array) -> bool:
    return bool(np.bitwise_and(x.view(np.uint16), _MAGNITUDE).max() >= _INFINITY)


def _is_special(x: Array) -> Array:
    result: Array = np.bitwise_and(x.view(np.uint16), _MAGNITUDE) >= _INFINITY
    return result
