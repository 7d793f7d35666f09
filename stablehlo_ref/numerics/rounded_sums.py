"""Sums along an axis, each the exact sum, rounded once to the element type: independent of any order.

Rows are summed in f64 with an error bound (quick_sums.py), those that this leaves undecided to about 100 bits by
error-free transformations (exact_sums.py), and the few that are left in integers. Infinities and NaNs are those of
IEEE-754 arithmetic; an exact zero is +0, unless all terms are -0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import check_time, within_time
from stablehlo_ref.numerics.double_double import two_sum
from stablehlo_ref.numerics.dtypes import FLOAT64, part_dtype
from stablehlo_ref.numerics.exact_products import Rounding, round_sums, rounding
from stablehlo_ref.numerics.exact_sums import Approximation, sum_rows
from stablehlo_ref.numerics.narrow_floats import narrow
from stablehlo_ref.numerics.quick_sums import UNIT, sums_of_columns, sums_of_rows

MiddleSums: TypeAlias = Callable[[Array, Array], Array]  # of an array (a, k, b) and an init value

COLUMNS = 1 << 13  # terms of a row that are summed at a time, so that they stay in the cache
TERMS = 1 << 13  # of a block of rows
RESULTS = 1 << 13  # computed at a time
THIN = 1 << 11  # elements of a matrix: smaller ones are transposed and stacked, as their columns are too short
TERMS_IN_INTEGERS = 1 << 22  # summed at a time; sums of as many 27-bit numbers are exact in f64
HUGE = 2.0**900  # larger terms are summed in integers


@cache
def rounded_sums(dtype: DType) -> MiddleSums:
    """Return a function of an array (a, k, b) and a scalar of `dtype`, float or complex, to an array (a, b) of it.

    Each result is the exact sum of k elements and the scalar, correctly rounded; of complex numbers, each part is. If
    `dtype` is a float, elements and scalar may also be f64.
    """
    if dtype.kind == "c":
        return _of_complex(dtype, rounded_sums(part_dtype(dtype)))
    to_result, to_dtype = rounding(dtype), narrow(dtype)

    def run(x: Array, init: Array) -> Array:
        a, k, b = x.shape
        if not x.size:
            return np.broadcast_to(to_dtype(np.asarray(init)), (a, b))
        if a > 1 and k * b < THIN and b > 1:
            return run(x.transpose(0, 2, 1).reshape(a * b, k, 1), init).reshape(a, b)
        result = np.empty((a, b), to_result.keep)
        step = max(1, RESULTS // b) if b == 1 else 1
        for start in within_time(range(0, a, step)):
            some = slice(start, start + step)
            result[some] = _sums(x[some], float(init), to_result)
        return to_dtype(_with_negative_zeros(result, x, init))

    return run


def _of_complex(dtype: DType, of_parts: MiddleSums) -> MiddleSums:
    def run(x: Array, init: Array) -> Array:
        result = np.empty((x.shape[0], x.shape[2]), dtype)
        result.real, result.imag = of_parts(x.real, init.real), of_parts(x.imag, init.imag)
        return result

    return run


def _sums(x: Array, init: float, to_result: Rounding) -> Array:
    """Return the sums of an array (a, k, 1) or (1, k, b) as the dtype that `to_result` keeps."""
    along = x[:, :, 0] if x.shape[2] == 1 else x[0].T
    is_double = to_result.is_f64 or x.dtype == FLOAT64
    quick = sums_of_rows(along, is_double) if x.shape[2] == 1 else sums_of_columns(x[0], is_double)
    result, is_open = _rounded(quick, init, to_result)
    rows = np.flatnonzero(is_open)
    step = max(1, TERMS // (x.shape[1] + 1))
    for start in within_time(range(0, len(rows), step)):
        some = rows[start : start + step]
        result[some] = _sums_to_100_bits(along[some], init, to_result)
    return result.reshape(len(x), x.shape[2])


def _rounded(sums: Approximation, init: float, to_result: Rounding) -> tuple[Array, Array]:
    """Round the sums of approximations and `init`, and return where the error leaves the result undecided."""
    with np.errstate(all="ignore"):
        high, rest = two_sum(sums.high, init)
        low = rest + sums.low
        rounding_error = np.abs(high) * (4 * UNIT * UNIT if to_result.is_f64 else 4 * UNIT)  # of the next lines
        error = sums.error + rounding_error + np.abs(sums.low) * (4 * UNIT)
        is_exact = (sums.error == 0) & ((rest == 0) | (sums.low == 0))  # as high + low
        error[is_exact if to_result.is_f64 else is_exact & (low == 0)] = 0
        lowest, highest = (to_result.round(high + (low + e)) + 0 for e in (-error, error))
    return highest, (lowest != highest) | (sums.error >= HUGE)


def _sums_to_100_bits(x: Array, init: float, to_result: Rounding) -> Array:
    """Return the sums of the rows of a few rows, or of one long row, as the dtype that `to_result` keeps."""
    special, bad = np.zeros(len(x)), np.zeros(len(x), np.bool)
    parts = []
    for terms in _blocks(x, init):
        finite = np.isfinite(terms)
        if not finite.all():
            with np.errstate(invalid="ignore"):
                special += np.where(finite, 0.0, terms).sum(1)
            terms = np.where(finite, terms, 0.0)
        if x.dtype == FLOAT64 and (huge := np.maximum(terms.max(1), -terms.min(1)) >= HUGE).any():
            bad |= huge
            terms = np.where(huge[:, np.newaxis], 0.0, terms)
        parts.append(sum_rows(terms))
    sums = parts[0] if len(parts) == 1 else _joined(parts)
    result, is_open = round_sums(sums, to_result, None)
    bad |= is_open & ((sums.low != 0) | (sums.error != 0))
    for row in np.flatnonzero(bad & (special == 0)).tolist():
        check_time()
        exact = sum(map(exact_sum, _blocks(x[row : row + 1], init)), Fraction(0))
        result[row] = to_result.exact(exact)
    return np.where(special == 0, result, special.astype(result.dtype))


def _blocks(x: Array, init: float) -> Iterator[Array]:
    """Yield the terms of rows as f64 matrices of a few columns, `init` last."""
    last = (x.shape[1] - 1) // COLUMNS * COLUMNS
    for start in within_time(range(0, last, COLUMNS)):
        yield x[:, start : start + COLUMNS].astype(FLOAT64)
    terms = np.empty((len(x), x.shape[1] - last + 1))
    terms[:, :-1], terms[:, -1] = x[:, last:], init
    yield terms


def _joined(parts: list[Approximation]) -> Approximation:
    sums = sum_rows(np.stack([x for part in parts for x in (part.high, part.low)], 1))
    errors = np.sum([part.error for part in parts], 0) * 1.01
    return Approximation(sums.high, sums.low, sums.error + errors)


def _with_negative_zeros(result: Array, x: Array, init: Array) -> Array:
    """Set the sums (a, b) that have no other terms than -0."""
    if init != 0 or not np.signbit(init):
        return result
    for index in within_time(range(len(x))):
        if not result[index].all():
            result[index, np.signbit(x[index]).all(0) & (result[index] == 0)] = -0.0
    return result


def exact_sum(x: Array) -> Fraction:
    """Return the sum of finite f64 numbers exactly, as integers per exponent."""
    total = 0
    terms = x.reshape(-1)
    for start in within_time(range(0, terms.size, TERMS_IN_INTEGERS)):
        mantissa, exponent = np.frexp(terms[start : start + TERMS_IN_INTEGERS])
        whole = np.ldexp(mantissa, 53)
        high = np.floor(np.ldexp(whole, -27))
        low, place = whole - np.ldexp(high, 27), exponent + 1073
        highs, lows = np.bincount(place, high), np.bincount(place, low)
        for i in np.flatnonzero((highs != 0) | (lows != 0)).tolist():
            total += ((int(highs[i]) << 27) + int(lows[i])) << i
    return Fraction(total, 1 << 1126)
