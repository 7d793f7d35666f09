"""cholesky and triangular_solve: the textbook algorithms on real or complex numbers in 300 bits, rounded once."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np

from stablehlo_ref.semantics.elements import arithmetic_of, each_element
from stablehlo_ref.semantics.notation import Array, index_space
from stablehlo_ref.semantics.rounding import element, number

PRECISION = 300  # bits


def cholesky(a: Array, lower: bool) -> Array:
    """Return `l` with `l l* = a` if `lower`, else `u` with `u* u = a`; the elements of the other triangle are 0.

    `a` consists of matrices `a[i0, ..., iR-3, :, :]`. Only the lower triangle of each is read if `lower`, else the
    upper one, and the real part of the diagonal. A matrix that is not Hermitian positive definite, whose result is
    undefined, gives NaN.
    """
    numbers, result = numbers_of(a), np.empty(a.shape, object)
    with mpmath.workprec(PRECISION):
        for batch in index_space(a.shape[:-2]):
            result[batch] = factor(numbers[batch], lower, arithmetic_of(a.dtype))
    return each_element(lambda x: element(a.dtype, x), result, element_type=a.dtype)


def factor(a: Array, lower: bool, arithmetic: Any) -> Array:
    """Return the factor of one matrix.

    Column by column: `l[i, j] = (a[i, j] - sum of l[i, k] l[j, k]* for k < j) / l[j, j]`, a square root if i = j.
    """
    conjugate, times = arithmetic.conjugate, arithmetic.multiplication
    size = len(a)
    l = np.empty((size, size), object)  # noqa: E741
    for index in index_space(l.shape):
        l[index] = arithmetic.ZERO
    for j in range(size):
        for i in range(j, size):
            a_ij = a[i, j] if lower else conjugate(a[j, i])
            products = (arithmetic.negate(times(l[i, k], conjugate(l[j, k]))) for k in range(j))
            rest = arithmetic.total([a_ij, *products])
            l[i, j] = arithmetic.division(rest, l[j, j]) if i > j else arithmetic.root_of_real(rest)
        if not arithmetic.is_positive(l[j, j]):
            for index in index_space(l.shape):
                l[index] = arithmetic.NAN
            break
    return l if lower else conjugate_transpose(l, arithmetic)


def triangular_solve(a: Array, b: Array, left_side: bool, lower: bool, unit_diagonal: bool, transpose_a: str) -> Array:
    """Return `x` with `op(a) x = b` if `left_side`, else `x op(a) = b`, for each matrix of `a` and of `b`.

    `op(a)` is `a`, its transpose or its conjugate transpose. Only the lower triangle of `a` is read if `lower`, else
    the upper one; if `unit_diagonal`, the elements of its diagonal count as 1. `x` is a full matrix.
    """
    matrices, right_sides, result = numbers_of(a), numbers_of(b), np.empty(b.shape, object)
    with mpmath.workprec(PRECISION):
        for batch in index_space(a.shape[:-2]):
            result[batch] = solve(
                matrices[batch], right_sides[batch], left_side, lower, unit_diagonal, transpose_a,
                arithmetic_of(a.dtype),
            )  # fmt: skip
    return each_element(lambda x: element(b.dtype, x), result, element_type=b.dtype)


def solve(
    a: Array, b: Array, left_side: bool, lower: bool, unit_diagonal: bool, transpose_a: str, arithmetic: Any
) -> Array:
    """Return the solution for one matrix."""
    matrix = {"NO_TRANSPOSE": a, "TRANSPOSE": a.T, "ADJOINT": conjugate_transpose(a, arithmetic)}[transpose_a]
    forward = lower == ((transpose_a == "NO_TRANSPOSE") == left_side)
    if left_side:
        return substitute(matrix, b, forward, unit_diagonal, arithmetic)
    return substitute(matrix.T, b.T, forward, unit_diagonal, arithmetic).T  # x op(a) = b is op(a)^T x^T = b^T


def substitute(matrix: Array, right: Array, forward: bool, unit_diagonal: bool, arithmetic: Any) -> Array:
    """Solve row by row, forward from the first or backward from the last, using the unknowns of earlier rows."""
    x = np.empty(right.shape, object)
    order = list(range(len(matrix))) if forward else list(reversed(range(len(matrix))))
    for done, i in enumerate(order):
        for j in range(right.shape[1]):
            products = (arithmetic.negate(arithmetic.multiplication(matrix[i, k], x[k, j])) for k in order[:done])
            rest = arithmetic.total([right[i, j], *products])
            x[i, j] = rest if unit_diagonal else arithmetic.division(rest, matrix[i, i])
    return x


def numbers_of(array: Array) -> Array:
    """Return the elements as numbers, on which arithmetic is exact."""
    return each_element(number, array, element_type=np.dtype(object))


def conjugate_transpose(a: Array, arithmetic: Any) -> Array:
    return each_element(arithmetic.conjugate, a.T, element_type=np.dtype(object))
