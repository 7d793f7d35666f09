"""Find operands for which the result of an elementwise op is implementation-defined.

Each public name is a factory for the op of that name: it maps dtypes to a function of the operands that yields the
choices on which the result relies, or to None if the spec determines all results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TypeAlias

import numpy as np

from stablehlo_ref.define.choices import Choice
from stablehlo_ref.define.computation import FindChoices
from stablehlo_ref.define.facts import is_natural_negated
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.blocks import BLOCK
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
from stablehlo_ref.numerics.kernels import ArrayKernel

Test: TypeAlias = Callable[..., Array | bool]  # of elements of operands, or of whole operands

# --- integers -------------------------------------------------------------------------------------------------------


def abs(dtype: DType) -> FindChoices:
    return _choices_where((Choice.INTEGER_OVERFLOW, _is_min_value(dtype))) if _is_signed_integer(dtype) else None


negate = abs


def add(dtype: DType) -> FindChoices:
    return _overflow(dtype, np.add, lambda x, y, z: (x ^ z) & (y ^ z) < 0)


def subtract(dtype: DType) -> FindChoices:
    return _overflow(dtype, np.subtract, lambda x, y, z: (x ^ y) & (x ^ z) < 0)


def multiply(dtype: DType) -> FindChoices:
    return _overflow(dtype, np.multiply, _is_product_overflow)


def divide(dtype: DType) -> FindChoices:
    if kind(dtype) != "integer":
        return None

    tests: list[tuple[Choice, Test]] = [(Choice.INTEGER_DIVISION_BY_ZERO, lambda lhs, rhs: rhs == 0)]
    if is_signed(dtype):
        is_min_value = _is_min_value(dtype)
        tests.append((Choice.INTEGER_OVERFLOW, lambda lhs, rhs: is_min_value(lhs) & (_as_int64(rhs) == -1)))
    return _choices_where(*tests)


remainder = divide


def power(dtype: DType) -> FindChoices:
    if not _is_signed_integer(dtype):
        return None
    lowest, end = float(min_value(dtype)), float(int(max_value(dtype)) + 1)

    def overflows(lhs: Array, rhs: Array) -> Array:
        exact = np.power(_as_int64(lhs).astype(FLOAT64), np.maximum(_as_int64(rhs), 0))
        is_outside: Array = (exact < lowest) | (exact >= end)
        return is_outside

    is_reciprocal = (Choice.INTEGER_POWER, lambda lhs, rhs: _as_int64(rhs) < 0)
    return _choices_where(is_reciprocal, (Choice.INTEGER_OVERFLOW, overflows))


def shift(dtype: DType) -> FindChoices:
    if kind(dtype) != "integer":
        return None
    return _choices_where((Choice.SHIFT_AMOUNT, lambda lhs, rhs: _as_int64(rhs).view(UINT64) >= bit_width(dtype)))


def _overflow(dtype: DType, ufunc: np.ufunc, overflows: Callable[[Array, Array, Array], Array]) -> FindChoices:
    """Detect overflow: results of at most 32 bits are exact in 64 bits; for 64 bits, `overflows` checks the result."""
    if not _is_signed_integer(dtype):
        return None
    if dtype == INT64:
        return _choices_where((Choice.INTEGER_OVERFLOW, lambda x, y: overflows(x, y, ufunc(x, y))))
    low, high = int(min_value(dtype)), int(max_value(dtype))

    def is_out_of_range(x: Array, y: Array) -> Array:
        exact = ufunc(_as_int64(x), _as_int64(y))
        is_outside: Array = (exact < low) | (exact > high)
        return is_outside

    return _choices_where((Choice.INTEGER_OVERFLOW, is_out_of_range))


def _is_product_overflow(x: Array, y: Array, z: Array) -> Array:
    """Return whether `z`, the 64-bit product of x and y, wrapped around."""
    error = x.astype(FLOAT64) * y.astype(FLOAT64) - z.astype(FLOAT64)
    return np.asarray(np.absolute(error) > 2.0**63)


def _is_signed_integer(dtype: DType) -> bool:
    return kind(dtype) == "integer" and is_signed(dtype)


def _is_min_value(dtype: DType) -> ArrayKernel:
    return lambda x: _as_int64(x) == int(min_value(dtype))


def _as_int64(x: Array) -> Array:
    """Return integers as i64; the bits of ui64 are reinterpreted."""
    return np.asarray(conversion(x.dtype, INT64)(x))


# --- conversions ----------------------------------------------------------------------------------------------------


@cache
def convert(from_dtype: DType, to_dtype: DType) -> FindChoices:
    """Find numbers outside the range of the other type. Rounding is not implementation-defined."""
    if from_dtype in (to_dtype, BOOL) or to_dtype == BOOL:
        return None
    if kind(from_dtype) == "integer" and kind(to_dtype) == "integer":
        return _choices_where((Choice.CONVERT_OUT_OF_RANGE, _is_outside_range(from_dtype, to_dtype)))
    if kind(to_dtype) == "integer":
        return _choices_where((Choice.CONVERT_OUT_OF_RANGE, _is_outside_integers(to_dtype)))
    if kind(to_dtype) == "floating" and not has_infinity(to_dtype):
        return _choices_where((Choice.CONVERT_OUT_OF_RANGE, _is_outside_floats(to_dtype)))
    return None


def quantize(dtype: DType) -> FindChoices:
    """Find NaNs: other numbers are clamped to the range of the storage type."""
    return _choices_where((Choice.QUANTIZE_NAN, has_nan))


def has_nan(x: Array) -> bool:
    """Return whether any element is NaN."""
    return bool(np.isnan(_as_f64(x)).any())


def _is_outside_range(from_dtype: DType, to_dtype: DType) -> ArrayKernel:
    low = max(int(min_value(from_dtype)), int(min_value(to_dtype)))
    high = min(int(max_value(from_dtype)), int(max_value(to_dtype)))
    if from_dtype == UINT64:
        return lambda x: x > UINT64.type(high)
    return lambda x: (_as_int64(x) < low) | (_as_int64(x) > high)


def _is_outside_integers(to_dtype: DType) -> ArrayKernel:
    low, end = float(min_value(to_dtype)), float(int(max_value(to_dtype)) + 1)

    def test(x: Array) -> Array:
        whole = np.trunc(_as_f64(x))
        return ~((low <= whole) & (whole < end))  # true for NaN

    return test


def _is_outside_floats(to_dtype: DType) -> ArrayKernel:
    """Return a test for a format without infinities: numbers too large or below its range, and NaN if it has none."""
    low, high = float(min_value(to_dtype)), float(max_value(to_dtype))
    has_nan = bool(np.isnan(float(np.array(np.nan).astype(to_dtype))))

    def test(x: Array) -> Array:
        real = _as_f64(x)
        return np.isnan(real) & (not has_nan) | (real > high) | (real < min(low, 0)) | (low > 0) & (real <= 0)

    return test


def _as_f64(x: Array) -> Array:
    """Return the real parts as f64."""
    return np.asarray(conversion(x.dtype, FLOAT64)(x))


# --- special functions ----------------------------------------------------------------------------------------------


def digamma(dtype: DType) -> FindChoices:
    return _special(is_natural_negated)


def polygamma(dtype: DType) -> FindChoices:
    return _special(lambda n, x: (n < 0) | (np.floor(n) < n) | np.isinf(n) | is_natural_negated(x) | np.isinf(x))


def zeta(dtype: DType) -> FindChoices:
    return _special(lambda x, q: (x <= 1) | is_natural_negated(q) | np.isinf(x) | np.isinf(q))


def _special(test: Test) -> FindChoices:
    return _choices_where((Choice.SPECIAL_FUNCTION, lambda *xs: test(*map(_as_f64, xs))))


# --- results --------------------------------------------------------------------------------------------------------


def _choices_where(*tests: tuple[Choice, Test]) -> Callable[..., Iterator[Choice]]:
    """Return a function that yields the choices whose tests are true of any elements, checked block by block."""

    def find(*operands: Array) -> Iterator[Choice]:
        for choice, test in tests:
            if any(np.any(test(*xs)) for xs in _blocks(operands)):
                yield choice

    return find


def _blocks(operands: tuple[Array, ...]) -> Iterator[list[Array]]:
    flat = [np.asarray(x).reshape(-1) for x in np.broadcast_arrays(*operands)]
    for start in within_time(range(0, flat[0].size, BLOCK)):
        yield [x[start : start + BLOCK] for x in flat]
