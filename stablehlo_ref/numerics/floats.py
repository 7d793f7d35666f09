"""Arithmetic, rounding and comparison of floating-point numbers, all exact or correctly rounded.

Each public name is a kernel factory for the op of that name (spec, "Operations"); `compare` makes factories. Kernels
for f32 and f64 are numpy's ufuncs wherever those are right. Narrower formats compute in f32, which has more than
twice their precision, so that rounding its results rounds once in effect; large arrays of theirs go through tables.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.numerics.blocks import blockwise
from stablehlo_ref.numerics.dtypes import BOOL, FLOAT32, FLOAT64, bits_dtype, is_narrow_float, signed_bits_dtype
from stablehlo_ref.numerics.narrow import (
    SMALL,
    Array,
    Kernel,
    each_block,
    first,
    in_blocks,
    is_uniform,
    rounded,
    tabulated,
    tabulated_pairs,
    widened,
)
from stablehlo_ref.numerics.ulp import ordered_bits

DType: TypeAlias = np.dtype[Any]
Factory: TypeAlias = Callable[[DType], Kernel]

_SMALL = 256  # elements: below, one slow call costs less than several fast ones


# --- factories ------------------------------------------------------------------------------------------------------


def unary(function: Factory) -> Factory:
    """Kernels from those for f32 and f64; a narrower operand is widened to f32, the result rounded."""

    @cache
    def factory(dtype: DType) -> Kernel:
        if not is_narrow_float(dtype):
            return function(dtype)
        return tabulated(rounded(function(FLOAT32), dtype), dtype)

    return factory


def binary(function: Factory) -> Factory:
    """Kernels of two operands from those for f32 and f64; narrower operands are widened to f32, the result rounded."""

    @cache
    def factory(dtype: DType) -> Kernel:
        if not is_narrow_float(dtype):
            return function(dtype)
        kernel = rounded(function(FLOAT32), dtype)
        return tabulated_pairs(kernel, dtype) if dtype.itemsize == 1 else kernel

    return factory


def same(function: Kernel) -> Factory:
    """The same kernel for f32 and f64."""
    return lambda dtype: function


def predicate(function: Kernel) -> Factory:
    """Kernels with boolean results from a `function` of f32 or f64 arrays."""
    return lambda dtype: widened(function, dtype, BOOL)


# --- kernels for f32 and f64 ----------------------------------------------------------------------------------------


def _sign(dtype: DType) -> Kernel:
    """numpy's, which is +0 of -0, with the sign bits of the operand; np.copysign takes much longer."""
    bits = bits_dtype(dtype)
    sign_bit = bits.type(1 << 8 * dtype.itemsize - 1)

    def step(x: Array, out: Array) -> None:
        np.sign(x, out=out)
        np.bitwise_or(out.view(bits), np.bitwise_and(x.view(bits), sign_bit), out=out.view(bits))

    def run(x: Array) -> Array:
        if x.size >= SMALL:
            return each_block(step, x, dtype)
        return np.bitwise_or(np.sign(x).view(bits), np.bitwise_and(x.view(bits), sign_bit)).view(dtype)

    return run


def _round_nearest_afz(dtype: DType) -> Kernel:
    """Adds not quite one half, so that the numbers next to a tie do not reach it, and the addition rounds up ties."""
    below_half = np.nextafter(dtype.type(0.5), dtype.type(0))
    return lambda x: np.trunc(np.copysign(below_half, x) + x)


def _remainder(dtype: DType) -> Kernel:
    if dtype == FLOAT64:
        return np.fmod
    of_many = blockwise(_remainder_of_f32, FLOAT64, FLOAT32)
    return lambda x, y: np.fmod(x, y) if x.size < _SMALL else of_many(x, y)


def _remainder_of_f32(x: Array, y: Array) -> Array:
    """`x` and `y` are f32 numbers in f64, where a quotient below 2**28 rounds to no integer that it is not, and the
    product with that is exact. The rest, which includes infinities and NaNs, takes C's slow but exact way."""
    quotient = np.trunc(x / y)
    result = np.copysign(x - quotient * y, x)
    rest = np.isnan(result) | (np.abs(quotient) >= 2.0**28)
    return np.where(rest, np.fmod(x, y), result) if rest.any() else result


def _lacks(zero: float, dtype: DType, least_of: Callable[[DType], DType]) -> Kernel:
    """Whether an array is without `zero`, which is the least of numbers if seen as integers of `least_of(dtype)`."""
    value, least = dtype.type(zero), least_of(dtype)
    value_bytes, value_bits = value.tobytes(), value.view(least)

    def run(x: Array) -> bool:
        if x.size < _SMALL:
            return value_bytes not in x.tobytes()  # which may be found across elements, too
        return bool(np.minimum.reduce(x.view(least), axis=None) != value_bits)

    return run


def _with_ordered_zeros(pick: Any, wrong_zero: float, least_of: Callable[[DType], DType]) -> Factory:
    """`pick`, np.maximum or np.minimum, with -0 < +0, about which numpy does not care.

    It can only be wrong where it picked `wrong_zero`. Picking from the operands in the other order finds the other zero
    if there is one, and integers compare as they must.
    """

    def factory(dtype: DType) -> Kernel:
        is_right, signed = _lacks(wrong_zero, dtype, least_of), signed_bits_dtype(dtype)
        zero = dtype.type(wrong_zero).tobytes()

        def run(x: Array, y: Array) -> Array:
            result = pick(x, y)
            if result.size < _SMALL and (np.count_nonzero(result) == result.size or zero not in result.tobytes()):
                return result
            if is_right(result) or _is_one_nonzero(x) or _is_one_nonzero(y):
                return result
            return pick(result.view(signed), pick(y, x).view(signed)).view(dtype)

        return run

    return factory


def _is_one_nonzero(x: Array) -> bool:
    """Whether all elements are one that is not zero, and known to be because the array is a broadcast scalar."""
    return is_uniform(x) and x.size > 0 and bool(first(x) != 0)


_maximum = _with_ordered_zeros(np.maximum, -0.0, signed_bits_dtype)
_minimum = _with_ordered_zeros(np.minimum, +0.0, bits_dtype)


def _clamp(dtype: DType) -> Kernel:
    """np.clip, if the signs of zeros allow it: no -0 comes out, and no +0 can be wrong because `high` is no zero."""
    above, below, lacks_minus_zero = _maximum(dtype), _minimum(dtype), _lacks(-0.0, dtype, signed_bits_dtype)

    def run(low: Array, operand: Array, high: Array) -> Array:
        if operand.size >= _SMALL and _is_one_nonzero(high):
            result = np.clip(operand, first(low) if is_uniform(low) else low, first(high))
            if lacks_minus_zero(result):
                return result
        return below(above(operand, low), high)

    return run


# --- public ---------------------------------------------------------------------------------------------------------

add = binary(same(np.add))
subtract = binary(same(np.subtract))
multiply = binary(same(np.multiply))
divide = binary(same(np.divide))
remainder = binary(_remainder)  # exact, with the dividend's sign; x rem inf is x, inf rem x and x rem 0 are NaN
maximum = binary(_maximum)  # NaN if either operand is; -0 < +0
minimum = binary(_minimum)

abs = unary(same(np.absolute))
negate = unary(same(np.negative))
sign = unary(_sign)  # -0 of -0, NaN of NaN
sqrt = unary(same(np.sqrt))
ceil = unary(same(np.ceil))
floor = unary(same(np.floor))
round_nearest_afz = unary(_round_nearest_afz)
round_nearest_even = unary(same(np.rint))

is_finite = predicate(np.isfinite)


@cache
def clamp(dtype: DType) -> Kernel:
    """`minimum(maximum(operand, min), max)` of operands (min, operand, max); min and max may have rank 0."""
    return rounded(_clamp(FLOAT32), dtype) if is_narrow_float(dtype) else _clamp(dtype)


COMPARISONS: dict[str, np.ufunc] = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "GE": np.greater_equal,
    "GT": np.greater,
    "LE": np.less_equal,
    "LT": np.less,
}


def compare(direction: str, compare_type: str = "FLOAT") -> Factory:
    """The factory for a comparison direction ("EQ", ...) and type: "FLOAT" (NaNs are unordered) or "TOTALORDER".

    By TOTALORDER all six directions go by IEEE-754's totalOrder, so that -0 and +0 differ, and a NaN equals itself.
    """
    comparison = COMPARISONS[direction]
    if compare_type == "TOTALORDER":
        return same(in_blocks(lambda x, y: comparison(ordered_bits(x), ordered_bits(y)), BOOL))
    return predicate(comparison)
