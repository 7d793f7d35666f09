"""Operands for which the spec does not say what an elementwise op gives.

Each public name is a factory, for the op of that name, from dtypes to a function of the operands that tells which
choices their result takes; None for dtypes of which every result is determined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.choices import Choice
from stablehlo_ref.numerics.conversion import convert as conversion
from stablehlo_ref.numerics.dtypes import (
    BOOL,
    FLOAT64,
    INT64,
    UINT64,
    bit_width,
    has_infinity,
    is_signed,
    kind,
    max_value,
    min_value,
)
from stablehlo_ref.numerics.narrow import BLOCK, Array, DType, Kernel

Found: TypeAlias = Iterator[Choice]
OpenCases: TypeAlias = Callable[..., Found] | None

# --- integers -------------------------------------------------------------------------------------------------------


def abs(dtype: DType) -> OpenCases:
    return _where((Choice.INTEGER_OVERFLOW, _is_lowest(dtype))) if _signed(dtype) else None


negate = abs


def add(dtype: DType) -> OpenCases:
    return _overflow(dtype, np.add, lambda x, y, z: (x ^ z) & (y ^ z) < 0)


def subtract(dtype: DType) -> OpenCases:
    return _overflow(dtype, np.subtract, lambda x, y, z: (x ^ y) & (x ^ z) < 0)


def multiply(dtype: DType) -> OpenCases:
    return _overflow(dtype, np.multiply, _is_no_product)


def divide(dtype: DType) -> OpenCases:
    if kind(dtype) != "integer":
        return None

    tests = [(Choice.INTEGER_DIVISION_BY_ZERO, lambda lhs, rhs: rhs == 0)]
    if is_signed(dtype):
        is_lowest = _is_lowest(dtype)
        tests.append((Choice.INTEGER_OVERFLOW, lambda lhs, rhs: is_lowest(lhs) & (_wide(rhs) == -1)))
    return _where(*tests)


remainder = divide


def power(dtype: DType) -> OpenCases:
    if not _signed(dtype):
        return None
    lowest, end = float(min_value(dtype)), float(int(max_value(dtype)) + 1)

    def overflows(lhs: Array, rhs: Array) -> Array:
        exact = np.power(_wide(lhs).astype(FLOAT64), np.maximum(_wide(rhs), 0))
        return (exact < lowest) | (exact >= end)

    return _where((Choice.INTEGER_POWER, lambda lhs, rhs: _wide(rhs) < 0), (Choice.INTEGER_OVERFLOW, overflows))


def shift(dtype: DType) -> OpenCases:
    if kind(dtype) != "integer":
        return None
    return _where((Choice.SHIFT_AMOUNT, lambda lhs, rhs: _wide(rhs).view(UINT64) >= bit_width(dtype)))


def _overflow(dtype: DType, ufunc: np.ufunc, overflows: Callable[[Array, Array, Array], Array]) -> OpenCases:
    """Sums and the like of at most 32 bits are exact in 64; of 64 bits, `overflows` tells by the result."""
    if not _signed(dtype):
        return None
    if dtype == INT64:
        return _where((Choice.INTEGER_OVERFLOW, lambda x, y: overflows(x, y, ufunc(x, y))))
    low, high = int(min_value(dtype)), int(max_value(dtype))

    def leaves_the_range(x: Array, y: Array) -> Array:
        exact = ufunc(_wide(x), _wide(y))
        return (exact < low) | (exact > high)

    return _where((Choice.INTEGER_OVERFLOW, leaves_the_range))


def _is_no_product(x: Array, y: Array, z: Array) -> Array:
    """Whether `z`, of 64 bits, is off from x * y by 2**64 or more."""
    exact = x.astype(FLOAT64) * y.astype(FLOAT64)
    return np.absolute(exact - z.astype(FLOAT64)) > 2.0**63


def _signed(dtype: DType) -> bool:
    return kind(dtype) == "integer" and is_signed(dtype)


def _is_lowest(dtype: DType) -> Kernel:
    return lambda x: _wide(x) == int(min_value(dtype))


def _wide(x: Array) -> Array:
    """Integers in 64 bits; those of unsigned 64 stand for others, with the same bits."""
    return np.asarray(conversion(x.dtype, INT64)(x))


# --- conversions ----------------------------------------------------------------------------------------------------


@cache
def convert(from_dtype: DType, to_dtype: DType) -> OpenCases:
    """Numbers that have no nearest one in the other type; rounding is not counted."""
    if from_dtype in (to_dtype, BOOL) or to_dtype == BOOL:
        return None
    if kind(from_dtype) == "integer" and kind(to_dtype) == "integer":
        return _where((Choice.CONVERT_OUT_OF_RANGE, _outside(from_dtype, to_dtype)))
    if kind(to_dtype) == "integer":
        return _where((Choice.CONVERT_OUT_OF_RANGE, _not_integers(to_dtype)))
    if kind(to_dtype) == "floating" and not has_infinity(to_dtype):
        return _where((Choice.CONVERT_OUT_OF_RANGE, _not_finite(to_dtype)))
    return None


def quantize(dtype: DType) -> OpenCases:
    """The same of numbers that are scaled, and clamped, first."""
    return _where((Choice.QUANTIZE_NAN, has_nan))


def has_nan(x: Array) -> bool:
    """Whether any element is NaN."""
    return bool(np.isnan(_real(x)).any())


def _outside(from_dtype: DType, to_dtype: DType) -> Kernel:
    low = max(int(min_value(from_dtype)), int(min_value(to_dtype)))
    high = min(int(max_value(from_dtype)), int(max_value(to_dtype)))
    if from_dtype == UINT64:
        return lambda x: x > UINT64.type(high)
    return lambda x: (_wide(x) < low) | (_wide(x) > high)


def _not_integers(to_dtype: DType) -> Kernel:
    low, end = float(min_value(to_dtype)), float(int(max_value(to_dtype)) + 1)

    def test(x: Array) -> Array:
        whole = np.trunc(_real(x))
        return ~((low <= whole) & (whole < end))  # true of NaN

    return test


def _not_finite(to_dtype: DType) -> Kernel:
    """Of a format without infinities: what is too large for it, NaN where it has none, what is below its range."""
    low, high = float(min_value(to_dtype)), float(max_value(to_dtype))
    has_nan = bool(np.isnan(float(np.array(np.nan).astype(to_dtype))))

    def test(x: Array) -> Array:
        real = _real(x)
        return np.isnan(real) & (not has_nan) | (real > high) | (real < min(low, 0)) | (low > 0) & (real <= 0)

    return test


def _real(x: Array) -> Array:
    """The real parts, in f64."""
    return np.asarray(conversion(x.dtype, FLOAT64)(x))


# --- results --------------------------------------------------------------------------------------------------------


def _where(*tests: tuple[Choice, Kernel]) -> Callable[..., Found]:
    """The choices whose tests hold of any elements, which are looked at block by block."""

    def cases(*operands: Any) -> Found:
        for choice, holds in tests:
            if any(np.any(holds(*xs)) for xs in _blocks(operands)):
                yield choice

    return cases


def _blocks(operands: tuple[Array, ...]) -> Iterator[list[Array]]:
    flat = [np.asarray(x).reshape(-1) for x in np.broadcast_arrays(*operands)]
    for start in range(0, flat[0].size, BLOCK):
        yield [x[start : start + BLOCK] for x in flat]
