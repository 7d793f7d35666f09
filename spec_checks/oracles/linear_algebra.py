"""Oracles of `cholesky` and `triangular_solve`: textbook algorithms in 300 bits, rounded once, for small matrices.

Their bounds are those of the same algorithms in f32 (f64 for f64), with sums in any order and with divisions by a
number or by its reciprocal. The bound is infinite where the value is implementation-defined, and the value is NaN
where none exists.
"""

from __future__ import annotations

import numpy as np

from spec_checks.oracles.notation import Array, DType, index_space
from spec_checks.oracles.running_error import (
    INFINITY,
    Number,
    accumulation_type,
    bound_type,
    elementwise,
    number,
    numbers,
    reals,
    rounded,
    rounding_bound,
    total,
)


def cholesky(a: Array, lower: bool) -> Array:
    """`l` with `l l* = a` if `lower`, else `u` with `u* u = a`, 0 in the other triangle; NaN if not positive definite.

    Only the lower triangle of `a` is read if `lower`, else the upper one, and the real part of the diagonal.
    """
    return _values(_cholesky(a, lower, accumulation_type(a.dtype)), a.dtype)


def cholesky_bound(a: Array, lower: bool, *, arithmetic: DType | None = None) -> Array:
    """Return the error bound of `cholesky`, for each part if complex."""
    return _bounds(_cholesky(a, lower, arithmetic or accumulation_type(a.dtype)), a.dtype)


def triangular_solve(a: Array, b: Array, left_side: bool, lower: bool, unit_diagonal: bool, transpose_a: str) -> Array:
    """`x` with `op(a) x = b`, or `x op(a) = b` if not `left_side`; `x` is a full matrix.

    Only the lower triangle of `a` is read if `lower`, else the upper one; its diagonal counts as 1 if `unit_diagonal`.
    """
    solution = _triangular_solve(a, b, left_side, lower, unit_diagonal, transpose_a, accumulation_type(a.dtype))
    return _values(solution, b.dtype)


def triangular_solve_bound(
    a: Array,
    b: Array,
    left_side: bool,
    lower: bool,
    unit_diagonal: bool,
    transpose_a: str,
    *,
    arithmetic: DType | None = None,
) -> Array:
    """Return the error bound of `triangular_solve`, for each part if complex."""
    arithmetic = arithmetic or accumulation_type(a.dtype)
    return _bounds(_triangular_solve(a, b, left_side, lower, unit_diagonal, transpose_a, arithmetic), b.dtype)


def _cholesky(a: Array, lower: bool, arithmetic: DType) -> Array:
    result = np.empty(a.shape, object)
    with reals.workprec(300):
        for batch in index_space(a.shape[:-2]):
            matrix = numbers(a[batch], arithmetic)
            factor = _lower_factor(matrix if lower else np.conjugate(matrix.T), arithmetic)
            result[batch] = factor if lower else np.conjugate(factor.T)
    return result


def _lower_factor(a: Array, arithmetic: DType) -> Array:
    """Column by column: `l[i, j] = (a[i, j] - sum of l[i, k] l[j, k]* for k < j) / l[j, j]`, a root if i = j."""
    size = len(a)
    l = np.full((size, size), Number(reals.zero, INFINITY, arithmetic))  # noqa: E741
    for j in range(size):
        for i in range(j, size):
            rest = total([a[i, j], *(-(l[i, k] * l[j, k].conjugate()) for k in range(j))], arithmetic)
            l[i, j] = rest / l[j, j] if i > j else Number(reals.re(rest.value), rest.error, arithmetic).sqrt()
        if not l[j, j].value > 0:
            undefined = Number(reals.nan, INFINITY, arithmetic)
            return np.full((size, size), undefined)
    return l


def _triangular_solve(
    a: Array,
    b: Array,
    left_side: bool,
    lower: bool,
    unit_diagonal: bool,
    transpose_a: str,
    arithmetic: DType,
) -> Array:
    op = {"NO_TRANSPOSE": lambda m: m, "TRANSPOSE": lambda m: m.T, "ADJOINT": lambda m: np.conjugate(m.T)}[transpose_a]
    result = np.empty(b.shape, object)
    with reals.workprec(300):
        for batch in index_space(a.shape[:-2]):
            matrix, right = op(numbers(a[batch], arithmetic)), numbers(b[batch], arithmetic)
            # x op(a) = b is op(a)^T x^T = b^T.
            matrix, right = (matrix, right) if left_side else (matrix.T, right.T)
            forward = lower == ((transpose_a == "NO_TRANSPOSE") == left_side)
            solution = _substitute(matrix, right, forward, unit_diagonal, arithmetic)
            result[batch] = solution if left_side else solution.T
    return result


def _substitute(matrix: Array, right: Array, forward: bool, unit_diagonal: bool, arithmetic: DType) -> Array:
    """Solve row by row, forward from the first or backward from the last, using the unknowns of earlier rows."""
    x = np.empty(right.shape, object)
    order = list(range(len(matrix))) if forward else list(reversed(range(len(matrix))))
    for done, i in enumerate(order):
        for j in range(right.shape[1]):
            rest = total([right[i, j], *(-(matrix[i, k] * x[k, j]) for k in order[:done])], arithmetic)
            x[i, j] = rest / (number(1.0, arithmetic) if unit_diagonal else matrix[i, i])
    return x


def _values(array: Array, dtype: DType) -> Array:
    return elementwise(lambda x: rounded(x, dtype), array, dtype)


def _bounds(array: Array, dtype: DType) -> Array:
    return elementwise(lambda x: rounding_bound(x, dtype), array, bound_type(dtype))
