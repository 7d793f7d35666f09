"""Sums of floats, each the exact sum, rounded once to the element type: independent of any order.

Numbers are cut at fixed powers of two into slices whose sums have no rounding error, in any order, because they are
integers of at most 53 bits in the last place of the slice (Rump, Ogita and Oishi, "Accurate floating-point summation",
2008; Demmel and Nguyen, "Parallel reproducible summation", 2015). So any function that only adds may compute them.
What remains is to round the sum of a few numbers, one for each slice. An exact zero is +0, unless all terms are -0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from math import frexp, inf, nextafter, prod
from typing import NamedTuple, TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import check_time, reserve, within_time
from stablehlo_ref.numerics.double_double import two_sum
from stablehlo_ref.numerics.dtypes import FLOAT32, FLOAT64, part_dtype
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.narrow_floats import narrow, widen, widen_if_narrow

Add: TypeAlias = Callable[[Array], Array]  # adds elements of an f64 array, in any order

BLOCK = 1 << 14  # results rounded at a time, and about as many terms added
TEMPORARIES = 4  # arrays of the size of the terms: what is left of them, their slice, and what `add` needs
ROW = 1 << 6  # columns added at a time, at least
HUGE, DOWN = 2.0**900, 600  # larger terms are scaled, by so many exponents
SMALLEST = 2.0**-480  # products of numbers with larger magnitudes, below 1, are exact in two f64
CUTS = 3  # each yields 53 - log2(n) bits of sums of n numbers


class Approximation(NamedTuple):
    """Numbers as high + low, with an absolute error of at most `error`."""

    high: Array
    low: Array
    error: Array


def sum_rows(x: Array) -> Approximation:
    """Return the sums of the rows of a finite f64 matrix, which may be empty, of numbers below 2**900.

    Cuts stop once nothing is left of any row.
    """
    if not x.size:
        zeros = np.zeros(len(x))
        return Approximation(zeros, zeros, zeros)
    axis = 1 if x.shape[1] > x.shape[0] else 0  # reductions of short rows are slow
    rest = x.copy() if axis else np.array(x.T, order="C")
    grow, length = max(2, (x.shape[1] - 1).bit_length()), x.shape[1]
    largest = largest_along(rest, axis)
    top = np.frexp(largest)[1]
    sums = [np.zeros(len(x))] * CUTS
    upper = np.empty_like(rest)
    for i in range(CUTS):
        cut(rest, np.expand_dims(top + grow, axis), upper, rest)
        sums[i] = upper.sum(axis)
        top = top + (grow - 53)
        largest = largest_along(rest, axis)
        if not largest.any():
            break
    high, middle = two_sum(sums[0], sums[1])
    middle, low = two_sum(middle, sums[2])
    high, middle = two_sum(high, middle)
    return Approximation(high, middle, largest * length * 1.01 + np.abs(low))


def cut(x: Array, exponent: Array | int, upper: Array | None = None, rest: Array | None = None) -> tuple[Array, Array]:
    """Return the multiples of 2**(exponent - 53) next to `x`, exactly for |x| < 2**(exponent - 2), and what is left.

    They are stored in `upper` and `rest`, which may be `x`, if these are given.
    """
    bound = np.ldexp(0.75, exponent)  # a sum with it loses the bits below its last one
    upper = np.add(x, bound, out=upper)
    upper -= bound
    return upper, np.subtract(x, upper, out=rest)


def largest_along(x: Array, axis: int) -> Array:
    """Return the largest magnitudes along an axis."""
    largest: Array = np.maximum(x.max(axis), -x.min(axis))
    return largest


def bounds(sums: Approximation) -> tuple[Array, Array]:
    """Return the lower and upper bounds of `low` between which high + low is the exact sum."""
    error = np.where(sums.error > 0, sums.error * (1 + 2.0**-50) + np.abs(sums.low) * 2.0**-51, 0.0)
    return sums.low - error, sums.low + error


def round_to_odd(high: Array, low: Array) -> Array:
    """Return high + low, where `high` is its nearest f64, as f64 whose last bit is set unless it is exact.

    Rounding the result to a format of at most 51 bits yields the same as rounding the exact sum.
    """
    high, low = np.broadcast_arrays(high, low)
    bits = high.view(np.int64)
    away = (low > 0) == (high > 0)
    inexact = (low != 0) & (bits & 1 == 0) & (high != 0) & np.isfinite(high)
    return (bits + np.where(inexact, np.where(away, 1, -1), 0)).view(np.float64)


def exact_product_sum(x: Iterable[float], y: Iterable[float]) -> Fraction:
    """Return the sum of products of finite numbers exactly."""
    products = []
    for a, b in zip(x, y):
        if a and b:
            (p, q), (r, s) = a.as_integer_ratio(), b.as_integer_ratio()
            products.append((p * r, q * s))  # denominators are powers of two
    if not products:
        return Fraction(0)
    denominator = max(q for _, q in products)
    return Fraction(sum(p * (denominator // q) for p, q in products), denominator)


def nearest(x: Fraction) -> float:
    """Return the f64 nearest to `x`."""
    try:
        return float(x)
    except OverflowError:
        return inf if x > 0 else -inf


def nearest_odd(x: Fraction) -> float:
    """Return `x` as f64 with its last bit set unless it is exact, as `round_to_odd`."""
    rounded = nearest(x)
    if abs(rounded) == inf:
        return rounded
    error = x - Fraction(rounded)
    if not error or int(np.float64(rounded).view(np.int64)) & 1:
        return rounded
    return nextafter(rounded, inf if error > 0 else -inf)


def power_of_two_above(x: Array) -> Array:
    """Return the exponents of powers of two that are larger than the magnitudes of `x`; 0 for zeros."""
    return np.asarray(np.frexp(x)[1])


def bits(x: Array) -> Array:
    """Return the bits of f32 or f64 numbers."""
    return x.view(np.int32 if x.itemsize == 4 else np.int64)


# --- rounding -------------------------------------------------------------------------------------------------------


class ResultRounding(NamedTuple):
    """How results are rounded to a format, and kept as f32 or f64."""

    keep: DType  # of the results
    is_f64: bool  # whether that is the format itself
    round: ArrayKernel  # from f64, once

    def exact(self, x: Fraction) -> Array:
        """Return `x`, rounded once, as a scalar."""
        scalar: Array = self.round(np.array([nearest(x) if self.is_f64 else nearest_odd(x)]))[0]
        return scalar


@cache
def rounding(dtype: DType) -> ResultRounding:
    """Return the rounding of f64 to a format `dtype`; results of formats narrower than f32 are kept as f32."""
    to_dtype = narrow(dtype)
    if dtype in (FLOAT32, FLOAT64):
        return ResultRounding(dtype, dtype == FLOAT64, lambda x: x.astype(dtype, copy=False))
    return ResultRounding(FLOAT32, False, lambda x: widen(to_dtype(x)))


def round_sums(sums: Approximation, to_result: ResultRounding, shift: Array | None) -> tuple[Array, Array]:
    """Round sums times 2**shift, and return where the error leaves the result undecided."""
    below, above = bounds(sums)
    if to_result.is_f64:
        lowest, highest = sums.high + below, sums.high + above
    else:
        lowest, highest = (round_to_odd(*two_sum(sums.high, low)) for low in (below, above))
    bad = np.zeros(highest.shape, np.bool)
    exponent = power_of_two_above(highest)
    if shift is not None:
        lowest, highest, exponent = np.ldexp(lowest, shift), np.ldexp(highest, shift), exponent + shift
    if to_result.is_f64 or shift is not None:
        bad |= (highest != 0) & ((exponent < -1020) | (exponent > 1023))
    lowest, highest = to_result.round(lowest.reshape(-1)), to_result.round(highest.reshape(-1) + 0.0)
    bad |= (bits(lowest + 0) != bits(highest)).reshape(bad.shape)
    return highest.reshape(bad.shape), bad


@cache
def _rounding_of_parts(dtype: DType) -> Callable[[Sequence[Array], Array], Array]:
    """Return a function that rounds the sum of f64 arrays and `starts`, which broadcasts, to `dtype`.

    Up to three numbers are added as in Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved
    algorithms using rounding to odd", 2008.
    """
    to_result, to_dtype = rounding(dtype), narrow(dtype)

    def of_few(parts: Sequence[Array]) -> Array:
        if len(parts) == 1:
            return to_dtype(parts[0] + 0.0)
        high, low = two_sum(parts[0], parts[1])
        if len(parts) == 3:
            high, middle = two_sum(parts[2], high)
            middle, low = two_sum(middle, low)
            high, low = two_sum(high, round_to_odd(middle, low))
        return to_dtype((high if to_result.is_f64 else round_to_odd(high, low)) + 0.0)

    def of_many(parts: Sequence[Array]) -> Array:
        rows = np.stack(parts, 1)
        finite, is_moderate = np.isfinite(rows).all(1), (np.abs(rows) < HUGE).all(1)
        result, bad = round_sums(sum_rows(np.where(is_moderate[:, np.newaxis], rows, 0.0)), to_result, None)
        for row in within_time(np.flatnonzero(finite & (bad | ~is_moderate)).tolist()):
            result[row] = to_result.exact(sum(map(Fraction, rows[row].tolist()), Fraction(0)))
        with np.errstate(invalid="ignore"):
            return to_dtype(np.where(finite, result, rows.sum(1)))

    def run(parts: Sequence[Array], starts: Array) -> Array:
        shape = parts[0].shape
        if np.any(starts):
            parts = [*parts, np.broadcast_to(starts, shape).astype(FLOAT64)]
        are_few = len(parts) <= 3 and _largest(parts[-1]) < HUGE
        of_parts, step = (of_few, BLOCK) if are_few else (of_many, BLOCK // len(parts) + 1)
        flat, result = [part.reshape(-1) for part in parts], np.empty(prod(shape), dtype)
        for start in within_time(range(0, len(result), step)):
            block = slice(start, start + step)
            result[block] = of_parts([part[block] for part in flat])
        return result.reshape(shape)

    return run


# --- slices ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Slices:
    """Where numbers of which up to `count` are added are cut, from above the largest one; slices are numbered."""

    largest: float
    count: int

    def of(self, x: Array) -> Iterator[tuple[int, Array]]:
        """Yield the slices of f64 numbers that are not zero."""
        grow, top = max(2, (self.count - 1).bit_length()), frexp(self.largest)[1]
        while largest := _largest(x):
            check_time()
            number = (top - frexp(largest)[1]) // (53 - grow)
            part, x = cut(x, top - number * (53 - grow) + grow)
            yield number, part

    def sums(self, x: Array, add: Add) -> list[Array]:
        """Return the sums of all slices. The memory for them is reserved as it turns out how many there are."""
        parts: list[Array] = []
        for _, part in self.of(x):
            parts.append(add(part))
            reserve(0, TEMPORARIES * x.nbytes + 2 * len(parts) * parts[0].nbytes)  # a copy is rounded
        return parts or [add(x)]


def _largest(x: Array) -> float:
    return float(np.maximum(x.max(initial=0), -x.min(initial=0)))  # NaN if there is one


def _wide(x: Array) -> Array:
    return np.asarray(widen_if_narrow(x), FLOAT64)


# --- sums that share terms, as those of overlapping windows do --------------------------------------------------------


@cache
def shared_sums(dtype: DType) -> Callable[[Array, Add, int, Array], Array]:
    """Return a function `(x, add, count, starts)` to the exact sums of `starts` and `add(x)`, rounded once to `dtype`.

    `dtype` is that of `starts`, float or complex, and `count` the largest number of elements that are added; `starts`
    broadcasts to the results.
    """
    if dtype.kind == "c":
        of_parts = shared_sums(part_dtype(dtype))
        return lambda x, add, count, starts: _of_parts(dtype, lambda x, s: of_parts(x, add, count, s), x, starts)
    to_round = _rounding_of_parts(dtype)

    def run(x: Array, add: Add, count: int, starts: Array) -> Array:
        wide = _wide(x)
        if not (largest := _largest(wide)) < HUGE:
            return _of_special_terms(dtype, wide, add, count, starts)
        result = to_round(_Slices(largest, count).sums(wide, add), starts)
        return _with_negative_zeros(result, wide, add, starts)

    return run


def _of_parts(dtype: DType, function: ArrayKernel, x: Array, starts: Array) -> Array:
    """Add the parts of complex numbers."""
    real, imag = function(x.real, starts.real), function(x.imag, starts.imag)
    result = np.empty(real.shape, dtype)
    result.real, result.imag = real, imag
    return result


def _of_special_terms(dtype: DType, x: Array, add: Add, count: int, starts: Array) -> Array:
    """Add f64 numbers with infinities, NaNs, or huge numbers, which are scaled."""
    to_result, to_dtype = rounding(dtype), narrow(dtype)
    finite = np.isfinite(x)
    terms = np.where(finite, x, 0.0)
    huge = np.abs(terms) >= HUGE
    small, scaled = np.where(huge, 0.0, terms), np.ldexp(np.where(huge, terms, 0.0), -DOWN)
    parts = _Slices(_largest(small), count).sums(small, add)
    result, starts = _rounding_of_parts(dtype)(parts, starts), np.broadcast_to(starts, parts[0].shape)
    upper = _Slices(_largest(scaled), count).sums(scaled, add)
    for index in map(tuple, within_time(np.argwhere(np.any(upper, 0) & np.isfinite(starts)))):
        exact = sum((Fraction(float(part[index])) for part in upper), Fraction(0)) * 2**DOWN
        exact += sum((Fraction(float(part[index])) for part in (starts, *parts)), Fraction(0))
        result[index] = to_result.exact(exact)
    with np.errstate(invalid="ignore"):
        special = add(np.where(finite, 0.0, x)) + starts.astype(FLOAT64)
    result = np.where(np.isfinite(special), result, to_dtype(special))
    return _with_negative_zeros(result, x, add, starts)


def _with_negative_zeros(result: Array, x: Array, add: Add, starts: Array) -> Array:
    """Set zeros whose start is -0 and that have no other terms than -0."""
    is_negative = (starts == 0) & np.signbit(starts)
    if np.any(is_negative) and (zeros := (result == 0) & is_negative).any():
        result[zeros & (add(_others(x)) == 0)] = -0.0
    return result


def _others(x: Array) -> Array:
    """Return 0 for the terms -0, and 1 for others."""
    return np.where((x == 0) & np.signbit(x), 0.0, 1.0)


# --- sums along an axis ---------------------------------------------------------------------------------------------


@cache
def rounded_sums(dtype: DType) -> ArrayKernel:
    """Return a function of an array (a, k, b) and a scalar of `dtype`, float or complex, to an array (a, b) of it.

    Each result is the exact sum of k elements and the scalar, correctly rounded; of complex numbers, each part is. If
    `dtype` is a float, elements may also be of a narrower one.
    """
    if dtype.kind == "c":
        of_parts = rounded_sums(part_dtype(dtype))
        return lambda x, init: _of_parts(dtype, of_parts, x, init)

    def run(x: Array, init: Array) -> Array:
        (a, k, b), start = x.shape, np.asarray(init)
        result, height = np.empty((a, b), dtype), max(1, BLOCK // max(1, k * b))
        width = max(1, BLOCK // max(1, k), ROW)
        for i, j in within_time(product(range(0, a, height), range(0, b, width))):
            block = x[i : i + height, :, j : j + width]
            result[i : i + height, j : j + width] = _sums_along(dtype, block, start)
        return result

    return run


def _sums_along(dtype: DType, x: Array, start: Array) -> Array:
    """Return the sums of an array (a, k, b) along k, some terms at a time."""
    step = max(1, BLOCK // (x.shape[0] * x.shape[2]))
    blocks = [x[:, begin : begin + step] for begin in range(0, x.shape[1], step)]
    largest = np.max([_largest(_wide(block)) for block in blocks], initial=0)
    if len(blocks) == 1 or not largest < HUGE:
        return shared_sums(dtype)(x, _summed, x.shape[1], start)
    totals: dict[int, Array] = {}
    for block in within_time(blocks):
        for number, part in _Slices(float(largest), x.shape[1]).of(_wide(block)):
            totals[number] = totals.get(number, 0.0) + _summed(part)
    result = _rounding_of_parts(dtype)(list(totals.values()) or [np.zeros((x.shape[0], x.shape[2]))], start)
    if start == 0 and np.signbit(start) and (zeros := result == 0).any():
        result[zeros & (sum(_summed(_others(_wide(block))) for block in blocks) == 0)] = -0.0
    return result


def _summed(x: Array) -> Array:
    return np.asarray(x.sum(1))
