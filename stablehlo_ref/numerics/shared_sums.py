"""Exact sums that share terms, as those of overlapping windows do, each rounded once.

The terms are cut at fixed powers of two into slices, until nothing is left. All partial sums of a slice are exact,
because they are integers of at most 53 bits in the last place of the slice, so that any function that only adds may
compute them, in any order. What remains is to round the sum of a few numbers, one for each slice: of up to three as in
Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from math import frexp, prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import check_time, reserve, within_time
from stablehlo_ref.numerics.double_double import two_sum
from stablehlo_ref.numerics.dtypes import FLOAT64, part_dtype
from stablehlo_ref.numerics.exact_products import rounding
from stablehlo_ref.numerics.exact_sums import cut, round_to_odd
from stablehlo_ref.numerics.narrow_floats import narrow, widen_if_narrow
from stablehlo_ref.numerics.rounded_sums import HUGE, rounded_sums

Add: TypeAlias = Callable[[Array], Array]  # adds elements of an f64 array, in any order
SharedSums: TypeAlias = Callable[[Array, Add, int, Array], Array]

BLOCK = 1 << 14  # results rounded at a time
RUNNING = 1 << 15  # elements whose sums with all before them are computed at a time
TEMPORARIES = 4  # arrays of the size of the terms: what is left of them, their slice, and what `add` needs
DOWN = 600  # exponents by which huge terms are scaled


@cache
def shared_sums(dtype: DType) -> SharedSums:
    """Return a function `(x, add, count, starts)` to the exact sums of `starts` and `add(x)`, rounded once to `dtype`.

    `dtype` is that of `x` and `starts`, float or complex, and `count` the largest number of elements that are added;
    `starts` broadcasts to the results. An exact zero is +0, unless all terms are -0.
    """
    if dtype.kind == "c":
        return _of_complex(dtype, shared_sums(part_dtype(dtype)))
    to_round = _rounding_of_parts(dtype)

    def run(x: Array, add: Add, count: int, starts: Array) -> Array:
        wide = np.asarray(widen_if_narrow(x), FLOAT64)
        largest = _largest(wide)
        if not largest < HUGE:
            return _of_special_terms(dtype, wide, add, count, starts)
        result = to_round(_sums_of_slices(wide, largest, count, add), starts)
        return _with_negative_zeros(result, wide, add, starts)

    return run


def _largest(x: Array) -> float:
    return float(np.maximum(x.max(initial=0), -x.min(initial=0)))  # NaN if there is one


def _of_special_terms(dtype: DType, x: Array, add: Add, count: int, starts: Array) -> Array:
    """Add f64 numbers with infinities, NaNs, or huge numbers, which are scaled."""
    to_result, to_dtype = rounding(dtype), narrow(dtype)
    finite = np.isfinite(x)
    terms = np.where(finite, x, 0.0)
    huge = np.abs(terms) >= HUGE
    small, scaled = np.where(huge, 0.0, terms), np.ldexp(np.where(huge, terms, 0.0), -DOWN)
    parts = _sums_of_slices(small, _largest(small), count, add)
    result, starts = _rounding_of_parts(dtype)(parts, starts), np.broadcast_to(starts, parts[0].shape)
    upper = _sums_of_slices(scaled, _largest(scaled), count, add)
    for index in map(tuple, np.argwhere(np.any(upper, 0) & np.isfinite(starts))):
        check_time()
        exact = sum((Fraction(float(part[index])) for part in upper), Fraction(0)) * 2**DOWN
        exact += sum((Fraction(float(part[index])) for part in (starts, *parts)), Fraction(0))
        result[index] = to_result.exact(exact)
    with np.errstate(invalid="ignore"):
        special = add(np.where(finite, 0.0, x)) + starts.astype(FLOAT64)
    result = np.where(np.isfinite(special), result, to_dtype(special))
    return _with_negative_zeros(result, x, add, starts)


@cache
def _rounding_of_parts(dtype: DType) -> Callable[[list[Array], Array], Array]:
    """Return a function that rounds the sum of f64 arrays and `starts`, which broadcasts, to `dtype`."""
    to_result, to_dtype, of_many = rounding(dtype), narrow(dtype), rounded_sums(dtype)

    def of_few(parts: list[Array]) -> Array:
        if len(parts) == 1:
            return to_dtype(parts[0] + 0.0)
        high, low = two_sum(parts[0], parts[1])
        if len(parts) == 3:
            high, middle = two_sum(parts[2], high)
            middle, low = two_sum(middle, low)
            high, low = two_sum(high, round_to_odd(middle, low))
        return to_dtype((high if to_result.is_f64 else round_to_odd(high, low)) + 0.0)

    def run(parts: list[Array], starts: Array) -> Array:
        shape = parts[0].shape
        if np.any(starts):
            parts = [*parts, np.broadcast_to(starts, shape).astype(FLOAT64)]
        if len(parts) > 3 or not _largest(parts[-1]) < HUGE:
            return of_many(np.stack(parts).reshape(1, len(parts), -1), np.array(-0.0)).reshape(shape)
        flat, result = [part.reshape(-1) for part in parts], np.empty(prod(shape), dtype)
        for start in within_time(range(0, len(result), BLOCK)):
            block = slice(start, start + BLOCK)
            result[block] = of_few([part[block] for part in flat])
        return result.reshape(shape)

    return run


def _of_complex(dtype: DType, of_parts: SharedSums) -> SharedSums:
    def run(x: Array, add: Add, count: int, starts: Array) -> Array:
        real, imag = (of_parts(a, add, count, b) for a, b in ((x.real, starts.real), (x.imag, starts.imag)))
        result = np.empty(real.shape, dtype)
        result.real, result.imag = real, imag
        return result

    return run


def _sums_of_slices(x: Array, largest: float, count: int, add: Add) -> list[Array]:
    """Return the sums of each slice. The memory for them is reserved as it turns out how many there are."""
    parts: list[Array] = []
    for part in _slices(x, largest, count):
        parts.append(add(part))
        reserve(0, TEMPORARIES * x.nbytes + 2 * len(parts) * parts[0].nbytes)  # `of_many` gets a copy
    return parts


def _slices(x: Array, largest: float, count: int) -> Iterator[Array]:
    """Cut f64 numbers into parts whose sums of up to `count` numbers are exact; there is at least one."""
    grow = max(2, (count - 1).bit_length())
    while True:
        check_time()
        part, x = cut(x, frexp(largest)[1] + grow)
        yield part
        largest = _largest(x)
        if not largest:
            return


@cache
def running_sums(dtype: DType) -> Callable[[Array, Array, Array], None]:
    """Return a function `(x, start, out)` that stores the sums of `start` and each element with all before it.

    `x` and `out` are arrays (a, n, b) of `dtype`, and sums are along n. They are computed for about `RUNNING` elements
    at a time, unless there are infinities, NaNs, or huge terms.
    """
    if dtype.kind == "c":
        return _running_of_complex(running_sums(part_dtype(dtype)))
    to_round = _rounding_of_parts(dtype)

    def run(x: Array, start: Array, out: Array) -> None:
        step = max(1, RUNNING // (x.shape[0] * x.shape[2]))
        blocks = [slice(begin, begin + step) for begin in range(0, x.shape[1], step)]
        largest = np.max([_largest(np.asarray(widen_if_narrow(x[:, block]), FLOAT64)) for block in blocks])
        if not largest < HUGE:
            out[...] = shared_sums(dtype)(x, _accumulated, x.shape[1], start)
            return
        sums, before = _RunningSums(float(largest), x.shape[1]), np.zeros(())
        for block in within_time(blocks):
            terms = np.asarray(widen_if_narrow(x[:, block]), FLOAT64)
            result = to_round(sums.parts(terms), start)
            if start == 0 and np.signbit(start):
                others = _accumulated(np.where((terms == 0) & np.signbit(terms), 0.0, 1.0)) + before
                result[(result == 0) & (others == 0)] = -0.0
                before = others[:, -1:]
            out[:, block] = result

    return run


def _running_of_complex(of_parts: Callable[[Array, Array, Array], None]) -> Callable[[Array, Array, Array], None]:
    def run(x: Array, start: Array, out: Array) -> None:
        of_parts(x.real, start.real, out.real)
        of_parts(x.imag, start.imag, out.imag)

    return run


def _accumulated(x: Array) -> Array:
    sums: Array = np.add.accumulate(x, 1)
    return sums


class _RunningSums:
    """Sums of slices of all terms so far. Slices are cut at the same powers of two in all blocks, and numbered."""

    def __init__(self, largest: float, count: int) -> None:
        self.grow = max(2, (count - 1).bit_length())
        self.top = frexp(largest)[1]
        self.totals: dict[int, Array] = {}

    def parts(self, x: Array) -> list[Array]:
        """Return numbers whose sums are those of each element of a block (a, n, b) with all before it."""
        sums = {number: np.broadcast_to(total, x.shape) for number, total in self.totals.items()}
        while largest := _largest(x):
            check_time()
            number = (self.top - frexp(largest)[1]) // (53 - self.grow)
            part, x = cut(x, self.top - number * (53 - self.grow) + self.grow)
            sums[number] = _accumulated(part) + self.totals.get(number, 0.0)
            self.totals[number] = sums[number][:, -1:].copy()
            reserve(0, (TEMPORARIES + 2 * len(sums)) * x.nbytes)  # `of_many` gets a copy
        return [sums[number] for number in sorted(sums)] or [x]


def _with_negative_zeros(result: Array, x: Array, add: Add, starts: Array) -> Array:
    """Set zeros whose start is -0 and that have no other terms than -0."""
    is_negative = (starts == 0) & np.signbit(starts)
    if np.any(is_negative) and (zeros := (result == 0) & is_negative).any():
        result[zeros & (add(np.where((x == 0) & np.signbit(x), 0.0, 1.0)) == 0)] = -0.0
    return result
