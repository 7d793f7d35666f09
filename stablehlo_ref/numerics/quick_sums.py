"""Sums of the rows and columns of matrices in f64, in any order, with bounds of their errors.

Numbers of 24 bits or fewer are added in f64: the error of a sum of n numbers is at most n * 2**-53 times the sum of
their magnitudes (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, 4.2). Other numbers are cut at a power
of two: sums of their upper parts are exact, and the error bound applies to the lower parts, which are far smaller
(Rump, Ogita and Oishi, "Accurate floating-point summation", 2008). A sum of magnitudes is at most the square root of n
times the Euclidean norm of a block. A block fits in the cache, and BLAS adds it.
"""

from __future__ import annotations

from functools import cache
from math import frexp, inf, ldexp, sqrt

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.dtypes import FLOAT64, is_narrow_float
from stablehlo_ref.numerics.exact_sums import Approximation, cut
from stablehlo_ref.numerics.narrow_floats import widen
from stablehlo_ref.numerics.scratch import wide

BLOCK = 1 << 15  # f64 elements: two blocks fit in an L2 cache
PIECE = 1 << 13  # elements that BLAS adds at a time, so that it starts no threads
LONG = 1 << 8  # elements of a row from which on a product with each row is as fast as one with a matrix
ROW = 1 << 10  # elements into which a row longer than a piece is cut
WIDTH = 1 << 7  # columns of a block of long columns
SHORT = 1 << 5  # terms: many sums of fewer are ties, which only exact sums decide
UNIT = 2.0**-53
_LARGEST, _SMALLEST = 2.0**900, 2.0**-450  # norms: squares of numbers below this one's 2**-53 may underflow


def sums_of_rows(x: Array, is_double: bool) -> Approximation:
    """Return the sums of the rows of a matrix of floats, f64 if `is_double`. Where the error is unknown, it is inf."""
    rows, length = x.shape
    if length > (BLOCK if is_double else 2 * ROW):
        return _of_long_rows(x, is_double)
    sums = _unknown(rows)
    step = max(1, BLOCK // length)
    for start in within_time(range(0, rows, step)):
        _add_block(x[start : start + step], 1, is_double, sums, slice(start, start + step))
    return sums


def _of_long_rows(x: Array, is_double: bool) -> Approximation:
    count = x.shape[1] // ROW
    parts = [sums_of_rows(x[:, : count * ROW].reshape(-1, ROW), is_double)]
    parts[0] = Approximation(*[y.reshape(-1, count) for y in parts[0]])
    if x.shape[1] % ROW:
        rest = sums_of_rows(x[:, count * ROW :], is_double)
        parts.append(Approximation(*[y[:, np.newaxis] for y in rest]))
    high, low, error = (np.concatenate(values, 1) for values in zip(*parts))
    sums = sums_of_rows(np.concatenate([high, low], 1), True)
    return Approximation(sums.high, sums.low, sums.error + error.sum(1) * (1 + 2.0**-20))


def sums_of_columns(x: Array, is_double: bool) -> Approximation:
    """Return the sums of the columns of a matrix of floats, f64 if `is_double`; an unknown error is inf."""
    length, columns = x.shape
    width = min(columns, max(WIDTH, BLOCK // length))
    step = max(1, BLOCK // width)
    if length > step:
        return _of_long_columns(x, step, is_double)
    sums = _unknown(columns)
    for start in within_time(range(0, columns, width)):
        _add_block(x[:, start : start + width], 0, is_double, sums, slice(start, start + width))
    return sums


def _of_long_columns(x: Array, step: int, is_double: bool) -> Approximation:
    parts = [sums_of_columns(x[start : start + step], is_double) for start in range(0, len(x), step)]
    sums = sums_of_columns(np.concatenate([[p.high for p in parts], [p.low for p in parts]]), True)
    error = np.sum([p.error for p in parts], 0)
    return Approximation(sums.high, sums.low, sums.error + error * (1 + 2.0**-20))


def _unknown(count: int) -> Approximation:
    return Approximation(np.zeros(count), np.zeros(count), np.full(count, inf))


def _add_block(block: Array, axis: int, is_double: bool, sums: Approximation, where: slice) -> None:
    """Store the sums of a block along an axis, unless it has infinities, NaNs, or extreme numbers."""
    block = widen(block) if is_narrow_float(block.dtype) else block
    length = block.shape[axis]
    x = np.ascontiguousarray(wide("a", block))
    if axis and LONG <= length <= PIECE:
        magnitudes = np.sqrt(np.vecdot(x, x)) * (sqrt(length) * (1 + 2.0**-20))  # of each row
    else:
        magnitudes = np.float64(_norm(x.reshape(-1)) * sqrt(length) * (1 + 2.0**-20))
    largest = float(magnitudes.max())
    if not largest < _LARGEST or (is_double and largest < _SMALLEST and x.any()):
        return
    if is_double and largest:
        unit = frexp(largest)[1] - 52  # lower parts are at most 2**unit
        upper, lower = cut(x, unit + 54)
        sums.high[where] = _summed(upper, axis)
        sums.low[where] = _summed(lower, axis)
        magnitudes = np.float64(ldexp(length, unit))
    else:
        sums.high[where] = _summed(x, axis)
    is_exact = length <= SHORT and magnitudes <= _smallest(x) * (1 if is_double else 2.0**28)
    sums.error[where] = 0.0 if is_exact else length * UNIT * magnitudes * (1 + 2.0**-20)


def _smallest(x: Array) -> float:
    """Return the smallest magnitude of nonzero numbers, or 0.

    If its exponent is e, f64 numbers are multiples of 2**(e - 53), and numbers of 24 bits of 2**(e - 24). Sums in f64
    are exact if the sum of magnitudes is at most 2**53 times that.
    """
    magnitudes = np.abs(x)
    smallest = magnitudes.min()
    return float(smallest or magnitudes[magnitudes > 0].min(initial=inf))


def _norm(x: Array) -> float:
    """Return the Euclidean norm of a vector."""
    count = len(x) // PIECE * PIECE
    pieces, rest = x[:count].reshape(-1, PIECE), x[count:]
    return sqrt(float(np.vecdot(pieces, pieces).sum(dtype=FLOAT64)) + float(rest.dot(rest)))


def _summed(x: Array, axis: int) -> Array:
    """Sum a matrix along an axis, some rows or columns at a time."""
    ones, count = _ones(x.shape[axis]), x.shape[1 - axis]
    if axis and LONG <= len(ones) <= PIECE:
        return np.vecdot(x, ones)  # type: ignore[no-any-return]
    step = max(1, PIECE // len(ones))
    if count <= step or count % step:
        return x @ ones if axis else ones @ x
    pieces = x.reshape(-1, step, len(ones)) if axis else x.reshape(len(ones), -1, step).transpose(1, 0, 2)
    return (pieces @ ones if axis else ones @ pieces).reshape(-1)


@cache
def _ones(length: int) -> Array:
    ones = np.ones(length)
    ones.flags.writeable = False
    return ones
