"""Cholesky decomposition and triangular systems, of all matrices of a batch at once.

Both are computed in f64, or complex<f64>, and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.choices import Choice
from stablehlo_ref.define import Attr, In, Op, Out
from stablehlo_ref.kinds import Flag, complex_tensor, float_tensor, per_tensor_quantized
from stablehlo_ref.numerics.dtypes import COMPLEX128, FLOAT64, numpy_dtype
from stablehlo_ref.numerics.narrow import narrow
from stablehlo_ref.spec import (
    baseline_element_type,
    baseline_type,
    compatible,
    dim,
    element_type,
    is_complex,
    rank,
    shape,
)

Array = Any
Run = Callable[..., Array]

BLOCK = 32  # rows that are substituted one by one, before a matrix product puts all of them into the others


class Cholesky(Op, op="cholesky"):
    """The triangular matrices that give the Hermitian positive definite matrices `a` if multiplied by their adjoints.

    Only the lower triangle of `a` is read if `lower`, else only the upper one, and of the diagonal the real part; the
    other triangle of the result is 0. Where a matrix is not positive definite, all of its result is NaN.
    """

    a = In(float_tensor | complex_tensor | per_tensor_quantized)  # I1
    lower = Attr(Flag, default=False)  # I2
    result = Out(float_tensor | complex_tensor | per_tensor_quantized)

    syntax = "operands (, lower = $lower)? attr-dict : same_type"

    @staticmethod
    def infer(a: Any) -> Any:
        return a

    @staticmethod
    def constraints(C: Any, a: Any, result: Any) -> None:
        C(1, compatible(baseline_type(a), baseline_type(result)))
        C(2, 2 <= rank(a))
        C(3, dim(a, rank(a) - 2) == dim(a, rank(a) - 1))

    @staticmethod
    def lift() -> Any:
        return {}

    @staticmethod
    def plan(a: Any, lower: bool) -> Run:
        widen, round_once = arithmetic(a)
        if lower:
            return lambda a: round_once(_lower_factors(widen(a)))
        return lambda a: round_once(_adjoint(_lower_factors(_adjoint(widen(a)))))

    @staticmethod
    def open_cases(a: Any) -> Any:
        widen, _ = arithmetic(a)

        def cases(a: Array) -> Iterator[Choice]:
            a = widen(a)
            if not np.array_equal(a, _adjoint(a)) or np.isnan(_lower_factors(a)).any():
                yield Choice.CHOLESKY_INPUT

        return cases


class Transpose(Enum):
    NO_TRANSPOSE = "NO_TRANSPOSE"
    TRANSPOSE = "TRANSPOSE"
    ADJOINT = "ADJOINT"


class TriangularSolve(Op, op="triangular_solve"):
    """The matrices `x` with `op(a) x = b`, or `x op(a) = b`, for triangular `a`; of `a` no other triangle is read.

    The result has all of `x`, which is no triangle in general. A zero on the diagonal of `a` divides as a float does.
    """

    a = In(float_tensor | complex_tensor | per_tensor_quantized)  # I1
    b = In(float_tensor | complex_tensor | per_tensor_quantized)  # I2
    left_side = Attr(Flag)  # I3
    lower = Attr(Flag)  # I4
    unit_diagonal = Attr(Flag)  # I5
    transpose_a = Attr(Transpose)  # I6
    result = Out(float_tensor | complex_tensor | per_tensor_quantized)

    @staticmethod
    def infer(b: Any) -> Any:
        return b

    @staticmethod
    def constraints(C: Any, a: Any, b: Any, left_side: bool, result: Any) -> None:
        C(1, baseline_element_type(a) == baseline_element_type(b))
        C(2, 2 <= rank(a) == rank(b))
        R = rank(a)
        C(3, shape(a)[: R - 2] == shape(b)[: R - 2])
        C(3, dim(a, R - 2) == dim(a, R - 1) == dim(b, R - 2 if left_side else R - 1))
        C(4, compatible(baseline_type(b), baseline_type(result)))

    @staticmethod
    def lift() -> Any:
        return {}

    @staticmethod
    def plan(a: Any, left_side: bool, lower: bool, unit_diagonal: bool, transpose_a: Transpose) -> Run:
        widen, round_once = arithmetic(a)
        is_transposed = transpose_a is not Transpose.NO_TRANSPOSE
        # x op(a) = b is op(a)^T x^T = b^T; and a lower triangle is an upper one with the order of unknowns reversed.
        turn_a = _transposed if is_transposed == left_side else _unchanged
        turn_b = _unchanged if left_side else _transposed
        conjugate = np.conjugate if transpose_a is Transpose.ADJOINT else _unchanged
        backwards = slice(None, None, -1 if lower == (is_transposed != left_side) else 1)

        def run(a: Array, b: Array) -> Array:
            upper = np.triu(conjugate(turn_a(widen(a)))[..., backwards, backwards])
            x = _substitute(upper, turn_b(widen(b))[..., backwards, :], unit_diagonal)
            return round_once(turn_b(x[..., backwards, :]))

        return run

    @staticmethod
    def open_cases(unit_diagonal: bool) -> Any:
        def cases(a: Array, b: Array) -> Iterator[Choice]:
            if (a.diagonal(axis1=-2, axis2=-1) != 1).any():
                yield Choice.UNIT_DIAGONAL

        return cases if unit_diagonal else None


def arithmetic(x: Any) -> tuple[Run, Run]:
    """From a tensor of the type to f64 or complex<f64>, and back, rounded once."""
    dtype = numpy_dtype(element_type(x))
    if is_complex(x):
        return lambda x: x.astype(COMPLEX128, copy=False), lambda x: x.astype(dtype, copy=False)
    return lambda x: x.astype(FLOAT64, copy=False), narrow(dtype)


def _unchanged(x: Array) -> Array:
    return x


def _transposed(x: Array) -> Array:
    return x.swapaxes(-1, -2)


def _adjoint(x: Array) -> Array:
    return np.conjugate(x.swapaxes(-1, -2))


def _lower_factors(a: Array) -> Array:
    """The Cholesky factors of matrices given by their lower triangles; NaN if not positive definite."""
    if not a.size:
        return a  # of empty matrices, too, there may be more than anybody could go through
    factors = _factors_or_nan(a.reshape(prod(a.shape[:-2]), *a.shape[-2:])).reshape(a.shape)
    failed = np.isnan(factors).any((-1, -2), keepdims=True)
    return np.where(failed, np.nan, factors) if failed.any() else factors


def _factors_or_nan(a: Array) -> Array:
    """The same of a row of matrices, which is halved until it is known which of them LAPACK cannot factor."""
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        if len(a) == 1:
            return np.full_like(a, np.nan)
        return np.concatenate([_factors_or_nan(half) for half in np.array_split(a, 2)])


def _substitute(u: Array, b: Array, unit_diagonal: bool) -> Array:
    """The solution of `u x = b` for upper triangles `u`, from the last unknown back to the first."""
    x = b.copy()
    for stop in range(u.shape[-1], 0, -BLOCK):
        start = max(0, stop - BLOCK)
        for i in reversed(range(start, stop)):
            row = x[..., i : i + 1, :]
            if i + 1 < stop:
                row -= u[..., i : i + 1, i + 1 : stop] @ x[..., i + 1 : stop, :]
            if not unit_diagonal:
                row /= u[..., i : i + 1, i : i + 1]
        if start:
            x[..., :start, :] -= u[..., :start, start:stop] @ x[..., start:stop, :]
    return x
