"""Matrix products whose elements are the exact sums of products, rounded once: independent of order, BLAS and threads.

BLAS computes most of them. Products of f32 numbers are exact in f64, and the error of their sum in f64, in any order
and with or without fused operations, is at most gamma = k * 2**-53 times the norms of the row and the column (Higham,
"Accuracy and Stability of Numerical Algorithms", 2002, 3.5). Where the sum rounds to the same number whatever the error
is, that number is the result. f64 matrices are cut into slices of so few bits that BLAS computes products of the
leading slices without rounding errors (Ozaki, Ogita, Oishi and Rump, "Error-free transformations of matrix
multiplication", 2012); what the others contribute is bounded as above. Elements that this leaves undecided are
summed to 100 bits, and the few that remain by integers.

An exact zero is +0, as sums start at +0. Sums with infinities and NaNs are those that IEEE-754 arithmetic has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import check_time, within_time
from stablehlo_ref.numerics.double_double import two_product, two_sum
from stablehlo_ref.numerics.dtypes import FLOAT32, FLOAT64, complex_dtype, part_dtype
from stablehlo_ref.numerics.exact_sums import (
    SMALLEST,
    Approximation,
    ResultRounding,
    bits,
    cut,
    exact_product_sum,
    largest_along,
    power_of_two_above,
    round_sums,
    rounding,
    sum_rows,
)
from stablehlo_ref.numerics.kernels import ArrayKernel, stored
from stablehlo_ref.numerics.layout import scratch, wide

Multiply: TypeAlias = ArrayKernel  # np.matmul, or what does the same
Index: TypeAlias = tuple[Array, Array, Array]  # of matrix, row and column
Bound: TypeAlias = Callable[[slice, slice], Array]  # of errors, for a slice of matrices and one of their rows
Round: TypeAlias = Callable[[slice, slice], tuple[Array, Array]]  # to rounded results, and where they are in doubt
Decide: TypeAlias = Callable[[Index, Array], Index]  # stores results of elements in doubt; returns the others

BLOCK = 1 << 13  # elements of a product that are tested at a time
ROWS = 1 << 17  # products of undecided elements that are summed at a time
MANY = 1 << 6  # if one element in so many is undecided, a second product of matrices bounds errors more closely
UNIT = 2.0**-53
FEW = 1 << 12  # terms of undecided elements, up to which these are summed at once
MODERATE = 400  # matrices whose rows and columns have exponents up to this are not scaled


class Stacks(NamedTuple):
    """Stacks of as many f64 or f32 matrices, (s, m, k) and (s, k, n), and what multiplies them by BLAS."""

    a: Array
    b: Array
    multiply: Multiply
    is_single: bool = False  # whether all numbers are f32 numbers


@cache
def exact_matmul(operands: DType, result: DType, multiply: Multiply) -> ArrayKernel:
    """Return a function like np.matmul on f32, f64 or complex<f64> arrays, of numbers that `operands` represents.

    `operands` is f32, f64 or a complex dtype of these. Results are rounded correctly to `result`, whose dtype they
    have unless that is narrower than f32. `multiply` is np.matmul, or computes it in several steps.
    """
    if operands.kind == "c":
        return _with_stacks(_complex_matmul(exact_matmul(part_dtype(operands), part_dtype(result), multiply)), result)
    to_result = rounding(result)

    def run(a: Array, b: Array) -> Array:
        if operands == FLOAT32 and not to_result.is_f64:  # which would leave most undecided
            return _of_singles(Stacks(a, b, multiply, True), to_result)
        return _of_doubles(Stacks(np.asarray(a, FLOAT64), np.asarray(b, FLOAT64), multiply), to_result)

    return _with_stacks(run, to_result.keep)


def _with_stacks(function: Multiply, dtype: DType) -> ArrayKernel:
    """Extend a function of stacks of matrices (s, m, k) and (s, k, n) to what np.matmul takes; results are `dtype`."""

    def run(a: Array, b: Array, out: Array | None = None) -> Array:
        rows, columns = a.shape[-2:-1], b.shape[-1:] if b.ndim > 1 else ()
        stack, left, right = a.shape[:-2], a if a.ndim > 1 else a[np.newaxis], b if b.ndim > 1 else b[:, np.newaxis]
        if stack != b.shape[:-2]:
            stack = np.broadcast_shapes(stack, b.shape[:-2])
            left, right = (np.broadcast_to(x, (*stack, *x.shape[-2:])) for x in (left, right))
        sizes = prod(stack), left.shape[-2], left.shape[-1], right.shape[-1]
        left, right = left.reshape(sizes[0], sizes[1], sizes[2]), right.reshape(sizes[0], sizes[2], sizes[3])
        product = function(left, right) if prod(sizes) else np.zeros((sizes[0], sizes[1], sizes[3]), dtype)
        return stored(product.reshape((*stack, *rows, *columns)), out)

    return run


def _complex_matmul(matmul: ArrayKernel) -> Multiply:
    """Return a function of stacks of complex matrices; real and imaginary parts are columns of one real product."""

    def run(a: Array, b: Array) -> Array:
        rows = np.concatenate([a.real, a.imag], -1)
        columns = np.concatenate(
            [np.concatenate([b.real, b.imag], -1), np.concatenate([-b.imag, b.real], -1)], -2
        )  # fmt: skip
        parts = matmul(rows, columns)
        product = np.empty(parts[..., : b.shape[-1]].shape, complex_dtype(parts.dtype))
        product.real, product.imag = parts[..., : b.shape[-1]], parts[..., b.shape[-1] :]
        return product

    return run


def _with_infinities(x: Stacks, of_finite: Callable[[Stacks], Array]) -> Array:
    """Multiply the finite numbers of matrices, and set the sums that have infinite or NaN products.

    Counts of products are exact, as they are small integers.
    """
    a, b, multiply, is_single = x
    finite = np.where(np.isfinite(a), a, 0.0), np.where(np.isfinite(b), b, 0.0)
    result = of_finite(Stacks(*finite, multiply, is_single))
    a_infinite, b_infinite = np.isinf(a), np.isinf(b)
    a_sign, b_sign = np.nan_to_num(np.sign(a)), np.nan_to_num(np.sign(b))
    a_only = np.where(a_infinite, 0.0, a_sign)

    def count(left: Array, right: Array) -> Array:
        return multiply(left.astype(FLOAT64), right.astype(FLOAT64))

    signed = count(a_infinite * a_sign, b_sign) + count(a_only, b_infinite * b_sign)
    infinite = count(a_infinite, np.abs(b_sign)) + count(np.abs(a_only), b_infinite)
    invalid = count(np.isnan(a), np.ones_like(b)) + count(np.ones_like(a), np.isnan(b))
    invalid += count(a_infinite, b == 0) + count(a == 0, b_infinite)
    is_nan = (invalid > 0) | (np.abs(signed) != infinite)
    return np.where(is_nan, np.nan, np.where(infinite > 0, np.copysign(np.inf, signed), result))


# --- f32 and narrower -----------------------------------------------------------------------------------------------


def _of_singles(x: Stacks, to_result: ResultRounding) -> Array:
    """Multiply f32 numbers: their products are exact in f64."""
    x = x._replace(a=wide("a", x.a), b=wide("b", x.b))
    terms = x.a.shape[-1] + 2  # two more for the roundings of sum + error
    rows: Array = np.sqrt(np.einsum("smk,smk->sm", x.a, x.a))
    columns: Array = np.sqrt(np.einsum("skn,skn->sn", x.b, x.b))
    if not (np.isfinite(rows).all() and np.isfinite(columns).all()):
        return _with_infinities(x, lambda x: _of_singles(x, to_result)).astype(to_result.keep, copy=False)
    rows *= terms * UNIT * 1.001

    def error(stack: slice, some: slice) -> Array:
        return rows[stack, some, np.newaxis] * columns[stack, np.newaxis]

    y = scratch("product 0", (*x.a.shape[:2], x.b.shape[2]))
    return _tested(x, to_result, x.multiply(x.a, x.b, out=y), error)


def _tested(x: Stacks, to_result: ResultRounding, y: Array, bound: Bound) -> Array:
    """Round approximations `y` whose errors are at most those of `bound`."""

    def rounded(stack: slice, some: slice) -> tuple[Array, Array]:
        values, error = y[stack, some], bound(stack, some)
        high = to_result.round((values + error).reshape(-1))
        low = to_result.round((values - error).reshape(-1))
        return high.reshape(values.shape), (bits(high) != bits(low)).reshape(values.shape)

    return _refined(x, to_result, rounded, y.shape, lambda *where: _by_closer_bounds(x, to_result, y, *where))


def _refined(x: Stacks, to_result: ResultRounding, rounded: Round, shape: tuple[int, ...], decide: Decide) -> Array:
    """Return a product from blocks that are `rounded`, with elements in doubt computed again.

    `decide` computes those that another product of matrices decides, if there are many, and returns the others.
    """
    result, undecided = np.empty(shape, to_result.keep), [(np.zeros(0, np.intp),) * 3]
    for stack, some in within_time(_blocks(shape)):
        result[stack, some], bad = rounded(stack, some)
        if bad.any():
            s, i, j = np.nonzero(bad)
            undecided.append((s + stack.start, i + some.start, j))
    s, i, j = map(np.concatenate, zip(*undecided))
    if s.size * MANY > result.size and s.size * x.a.shape[-1] > FEW:  # another product takes less time
        s, i, j = decide((s, i, j), result)
    _sum_again(x, to_result, (s, i, j), result)
    return result


def _by_closer_bounds(x: Stacks, to_result: ResultRounding, y: Array, index: Index, result: Array) -> Index:
    """Decide elements whose error is far below the product of norms, as in sparse matrices; return the others."""
    magnitudes = np.abs(x.a, dtype=FLOAT64), np.abs(x.b, dtype=FLOAT64)
    magnitude = x.multiply(*magnitudes)[index] * ((x.a.shape[-1] + 2) * UNIT * 1.001)
    high, low = to_result.round(y[index] + magnitude), to_result.round(y[index] - magnitude)
    result[index] = np.where(magnitude > 0, high, 0)
    rest = (bits(high) != bits(low)) & (magnitude > 0)
    return index[0][rest], index[1][rest], index[2][rest]


def _blocks(shape: tuple[int, ...]) -> Iterator[tuple[slice, slice]]:
    """Yield slices of a stack of matrices, and of their rows, with about `BLOCK` elements together."""
    matrices = max(1, BLOCK // (shape[1] * shape[2]))
    rows = max(1, BLOCK // shape[2])
    for start in range(0, shape[0], matrices):
        for row in range(0, shape[1], rows):
            yield slice(start, start + matrices), slice(row, row + rows)


# --- f64 ------------------------------------------------------------------------------------------------------------


def _of_doubles(x: Stacks, to_result: ResultRounding) -> Array:
    """Multiply by slices; rows and columns with extreme exponents are scaled by powers of two."""
    largest = largest_along(x.a, 2), largest_along(x.b, 1)
    if not (np.isfinite(largest[0]).all() and np.isfinite(largest[1]).all()):
        return _with_infinities(x, lambda x: _of_doubles(x, to_result)).astype(to_result.keep, copy=False)
    a_top, b_top = map(power_of_two_above, largest)
    if max(np.abs(a_top).max(), np.abs(b_top).max()) <= MODERATE:
        return _by_slices(x, x, to_result, a_top, b_top, None)
    a, b = np.ldexp(x.a, -a_top[..., np.newaxis]), np.ldexp(x.b, -b_top[:, np.newaxis])
    shift = a_top[..., np.newaxis] + b_top[:, np.newaxis]
    zeros = np.zeros_like(a_top), np.zeros_like(b_top)
    return _by_slices(x, Stacks(a, b, x.multiply), to_result, *zeros, shift)


def _by_slices(
    x: Stacks, scaled: Stacks, to_result: ResultRounding, a_top: Array, b_top: Array, shift: Array | None
) -> Array:
    """Multiply matrices below 2**a_top by row and 2**b_top by column; results of `x` are `shift` exponents larger.

    Of a = a1 + a2 + a3, a1 has the upper `width` bits below the top and a2 the next ones. The sums of a1 b1 and of
    a1 b2 + a2 b1 are exact; the rest is below 1.25 k 2**(a_top + b_top - 2 width).
    """
    k = x.a.shape[-1]
    width = (53 - (k - 1).bit_length()) // 2
    first, second, third = _products_of_slices(scaled, a_top[..., np.newaxis], b_top[:, np.newaxis], width)
    rows = np.where(scaled.a.any(2), np.ldexp(4.0 * k * k * UNIT, a_top - 2 * width), 0.0)
    columns = np.where(scaled.b.any(1), np.ldexp(1.0, b_top), 0.0)

    def rounded(stack: slice, some: slice) -> tuple[Array, Array]:
        high, low = two_sum(first[stack, some], second[stack, some])
        error = rows[stack, some, np.newaxis] * columns[stack, np.newaxis]
        more = None if shift is None else shift[stack, some]
        return round_sums(Approximation(high, low + third[stack, some], error), to_result, more)

    return _refined(x, to_result, rounded, first.shape, partial(_with_products, x))


def _with_products(x: Stacks, index: Index, result: Array) -> Index:
    """Store zeros as sums of no products but zeros, as in sparse matrices; return the other elements."""
    rest = x.multiply((x.a != 0).astype(FLOAT64), (x.b != 0).astype(FLOAT64))[index] > 0
    result[index] = np.where(rest, result[index], 0)
    return index[0][rest], index[1][rest], index[2][rest]


def _products_of_slices(x: Stacks, a_top: Array, b_top: Array, width: int) -> list[Array]:
    """Return a1 b1, a1 b2 + a2 b1, and a1 b3 + a2 (b2 + b3) + a3 b, in memory that `scratch` keeps."""
    (stack, m, k), n = x.a.shape, x.b.shape[2]
    a = scratch("a", (stack, m, 3 * k))
    b_two, b_three = scratch("b", (stack, 2 * k, n)), scratch("more b", (stack, 3 * k, n))
    b_rest = b_three[:, k : 2 * k]
    cut(x.a, a_top + (53 - width), a[..., :k], a[..., 2 * k :])
    cut(a[..., 2 * k :], a_top + (53 - 2 * width), a[..., k : 2 * k], a[..., 2 * k :])
    cut(x.b, b_top + (53 - width), b_two[:, k:], b_rest)
    cut(b_rest, b_top + (53 - 2 * width), b_two[:, :k], b_three[:, :k])
    b_three[:, 2 * k :] = x.b
    pairs = (a[..., :k], b_two[:, k:]), (a[..., : 2 * k], b_two), (a, b_three)
    return [x.multiply(p, q, out=scratch(f"product {i}", (stack, m, n))) for i, (p, q) in enumerate(pairs)]


# --- the elements that BLAS leaves undecided ------------------------------------------------------------------------


def _sum_again(x: Stacks, to_result: ResultRounding, index: Index, result: Array) -> None:
    """Compute elements of the product one by one, to about 100 bits, and those that this leaves undecided exactly."""
    step = max(1, ROWS // x.a.shape[-1])
    columns = x.b.swapaxes(1, 2)
    for start in range(0, index[0].size, step):
        check_time()
        s, i, j = (where[start : start + step] for where in index)
        sums = _sums_of_singles if x.is_single else _sums_of_doubles
        result[s, i, j], bad = sums(x.a[s, i], columns[s, j], to_result)
        for place in np.flatnonzero(bad).tolist():
            check_time()
            where = s[place], i[place], j[place]
            exact = exact_product_sum(x.a[where[:2]].tolist(), columns[where[0], where[2]].tolist())
            result[where] = to_result.exact(exact)


def _sums_of_singles(a: Array, b: Array, to_result: ResultRounding) -> tuple[Array, Array]:
    """Return the sums of products of rows of f32 numbers, rounded, and where they are not decided."""
    return round_sums(sum_rows(a.astype(FLOAT64) * b), to_result, None)


def _sums_of_doubles(a: Array, b: Array, to_result: ResultRounding) -> tuple[Array, Array]:
    """Return the same of f64 numbers."""
    a_top, b_top = power_of_two_above(np.abs(a).max(1)), power_of_two_above(np.abs(b).max(1))
    a, b = np.ldexp(a, -a_top[:, np.newaxis]), np.ldexp(b, -b_top[:, np.newaxis])
    sums = sum_rows(np.concatenate(two_product(a, b), 1))
    values, bad = round_sums(sums, to_result, a_top + b_top)
    for x in (a, b):
        bad |= ((np.abs(x) < SMALLEST) & (x != 0)).any(1)  # bits may be lost
    return values, bad
