"""cholesky and triangular_solve, for all matrices of a batch at once.

Both are computed in f64 or complex<f64> and rounded once, by BLAS and LAPACK or, in a reproducible mode, by operations
in a fixed order that are rounded correctly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import partial
from math import prod

import numpy as np

from stablehlo_ref.define.attribute_codecs import Flag
from stablehlo_ref.define.choices import Choice
from stablehlo_ref.define.computation import FindChoices, Kernel, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, In, Op, Out
from stablehlo_ref.define.spec import (
    baseline_element_type,
    baseline_type,
    compatible,
    dim,
    element_type,
    is_complex,
    rank,
    shape,
    size,
)
from stablehlo_ref.define.type_constraints import complex_tensor, float_tensor, per_tensor_quantized
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.limits.budget import check_time, within_time
from stablehlo_ref.numerics import exact_factorizations, triangular
from stablehlo_ref.numerics.contraction import FLOPS, STEP
from stablehlo_ref.numerics.dtypes import COMPLEX128, FLOAT64, numpy_dtype
from stablehlo_ref.numerics.narrow_floats import narrow

GROUP = 1 << 17  # elements of matrices that are decomposed, or solved with, at a time, or more of one matrix
SMALL = 1 << 8  # elements: so few are factored at once, without a look at the clock


class Cholesky(Op, op="cholesky", nans="computed"):
    """Compute the Cholesky decomposition of the Hermitian positive definite matrices `a`.

    The result is L with `L @ adjoint(L) = a` if `lower`, else U with `adjoint(U) @ U = a`. Only that triangle of `a` is
    read, and of the diagonal only the real part; the other triangle of the result is 0. The result of a matrix that is
    not positive definite is NaN. Both are implementation-defined.
    """

    a = In(float_tensor | complex_tensor | per_tensor_quantized)  # I1
    lower = Attr(Flag, default=False)  # I2
    result = Out(float_tensor | complex_tensor | per_tensor_quantized)

    syntax = "operands (, lower = $lower)? attr-dict : same_type"

    @staticmethod
    def infer(a: TensorType) -> TensorType:
        return a

    @staticmethod
    def constraints(C: Checker, a: TensorType, result: TensorType) -> None:
        C(1, compatible(baseline_type(a), baseline_type(result)))
        C(2, 2 <= rank(a))
        C(3, dim(a, rank(a) - 2) == dim(a, rank(a) - 1))

    @staticmethod
    def batching_rule() -> Mapping[str, object]:
        return {}

    @staticmethod
    def plan(mode: Mode, a: TensorType, lower: Flag) -> Kernel:
        """Plan LAPACK's decomposition in f64. Its oracle is `cholesky` in spec_checks/oracles/linear_algebra.py."""
        widen, round_once = arithmetic(a)
        factor = _lower_factors(exact_factorizations.lower_factors if mode.reproducible else _factors_or_nan)
        group = min(size(a), max(GROUP, dim(a, rank(a) - 1) ** 2))  # in f64, twice as LAPACK has them, and results
        copy = numpy_dtype(element_type(a)).itemsize * size(a) if rank(a) > 3 else 0
        temporaries = (2 if is_complex(a) else 1) * 3 * FLOAT64.itemsize * group + copy
        if lower:
            return Kernel(_in_groups(lambda a: round_once(factor(widen(a)))), temporaries=temporaries)
        run = _in_groups(lambda a: round_once(_adjoint(factor(_adjoint(widen(a))))))
        return Kernel(run, temporaries=temporaries)

    @staticmethod
    def implementation_defined(a: TensorType) -> FindChoices:
        widen, _ = arithmetic(a)

        def cases(a: Array) -> Iterator[Choice]:
            a = widen(a)
            if not np.array_equal(a, _adjoint(a)) or np.isnan(_lower_factors(_factors_or_nan)(a)).any():
                yield Choice.CHOLESKY_INPUT

        return cases


class Transpose(Enum):
    """What `a` is replaced by before the system is solved."""

    NO_TRANSPOSE = "NO_TRANSPOSE"
    TRANSPOSE = "TRANSPOSE"
    ADJOINT = "ADJOINT"


class TriangularSolve(Op, op="triangular_solve", row_major=True, nans="computed"):
    """Solve `op(a) @ x = b`, or `x @ op(a) = b`, for triangular matrices `a`.

    Only the triangle of `a` that `lower` selects is read. The result is all of `x`, which is not triangular in general.
    A zero on the diagonal of `a` divides as in floating-point arithmetic.
    """

    a = In(float_tensor | complex_tensor | per_tensor_quantized)  # I1
    b = In(float_tensor | complex_tensor | per_tensor_quantized)  # I2
    left_side = Attr(Flag)  # I3
    lower = Attr(Flag)  # I4
    unit_diagonal = Attr(Flag)  # I5
    transpose_a = Attr(Transpose)  # I6
    result = Out(float_tensor | complex_tensor | per_tensor_quantized)

    @staticmethod
    def infer(b: TensorType) -> TensorType:
        return b

    @staticmethod
    def constraints(C: Checker, a: TensorType, b: TensorType, left_side: Flag, result: TensorType) -> None:
        C(1, baseline_element_type(a) == baseline_element_type(b))
        C(2, 2 <= rank(a) == rank(b))
        R = rank(a)
        C(3, shape(a)[: R - 2] == shape(b)[: R - 2])
        C(3, dim(a, R - 2) == dim(a, R - 1) == dim(b, R - 2 if left_side else R - 1))
        C(4, compatible(baseline_type(b), baseline_type(result)))

    @staticmethod
    def batching_rule() -> Mapping[str, object]:
        return {}

    @staticmethod
    def plan(
        mode: Mode,
        a: TensorType,
        b: TensorType,
        left_side: Flag,
        lower: Flag,
        unit_diagonal: Flag,
        transpose_a: Transpose,
    ) -> Kernel:
        """Plan the solution x of one system for each batch index i0, ..., iR-3.

            op(a[i0, ..., iR-3, :, :]) @ x = b[i0, ..., iR-3, :, :]  if left_side
            x @ op(a[i0, ..., iR-3, :, :]) = b[i0, ..., iR-3, :, :]  otherwise

        where `op` is the identity, the transpose or the adjoint by `transpose_a`. All systems are brought into the form
        `upper @ x = b`: `x @ op(a) = b` is `transpose(op(a)) @ transpose(x) = transpose(b)`, and a lower triangle
        becomes an upper one if the order of the unknowns is reversed. Back substitution runs on all batches at once.
        Its oracle is `triangular_solve` in spec_checks/oracles/linear_algebra.py.
        """
        widen, round_once = arithmetic(a)
        is_transposed = transpose_a is not Transpose.NO_TRANSPOSE
        orient_a = _transposed if is_transposed == left_side else _unchanged
        orient_b = _unchanged if left_side else _transposed
        conjugate = np.conjugate if transpose_a is Transpose.ADJOINT else _unchanged
        reverse = slice(None, None, -1 if lower == (is_transposed != left_side) else 1)
        is_rounded = numpy_dtype(element_type(a)) not in (FLOAT64, COMPLEX128)
        exactly = exact_factorizations.substitute if mode.reproducible else None
        substitute = exactly or partial(triangular.substitute, is_rounded=is_rounded)

        def solve(a: Array, b: Array) -> Array:
            upper = np.ascontiguousarray(conjugate(widen(orient_a(a)[..., reverse, reverse])))  # or BLAS is not used
            x = substitute(upper, orient_b(b)[..., reverse, :], unit_diagonal)
            result: Array = round_once(orient_b(x[..., reverse, :]))
            return result

        group = min(size(a) + size(b), max(2 * GROUP, (size(a) + size(b)) // max(1, prod(shape(a)[:-2]))))  # in f64
        return Kernel(_in_groups(solve), temporaries=(2 if is_complex(a) else 1) * 2 * FLOAT64.itemsize * group)

    @staticmethod
    def implementation_defined(unit_diagonal: Flag) -> FindChoices:
        def cases(a: Array, b: Array) -> Iterator[Choice]:
            if (a.diagonal(axis1=-2, axis2=-1) != 1).any():
                yield Choice.UNIT_DIAGONAL

        return cases if unit_diagonal else None


def arithmetic(x: TensorType) -> tuple[Run, Run]:
    """Return functions from a tensor of the type to f64 or complex<f64>, and back, rounding once."""
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


def _in_groups(compute: Run) -> Run:
    """Return a function that decomposes many matrices, or solves systems, by groups, so that few are in f64 at a time.

    The result has the shape and the dtype of the last operand.
    """

    def run(*operands: Array) -> Array:
        count, last = prod(operands[0].shape[:-2]), operands[-1]
        if max(x.size for x in operands) <= GROUP or count == 1:
            return compute(*operands)  # type: ignore[no-any-return]
        stacks = [x.reshape(count, *x.shape[-2:]) for x in operands]
        results, step = (
            np.empty(stacks[-1].shape, last.dtype),
            max(1, GROUP * count // max(x.size for x in operands)),
        )
        for start in within_time(range(0, count, step)):
            results[start : start + step] = compute(*[x[start : start + step] for x in stacks])
        return results.reshape(last.shape)

    return run


def _lower_factors(factor: Run) -> Run:
    """Return a function from matrices, of which it reads the lower triangles, to their Cholesky factors.

    `factor` computes those of a list of matrices. They are NaN where a matrix is not positive definite.
    """

    def in_steps(matrices: Array) -> Array:
        size = matrices.shape[-1]
        step = max(1, 3 * STEP // size**3)
        check_time(needed=size**3 / 3 / FLOPS)
        factors = [factor(matrices[i : i + step]) for i in within_time(range(0, len(matrices), step))]
        return factors[0] if len(factors) == 1 else np.concatenate(factors)

    def run(a: Array) -> Array:
        if not a.size:
            return a  # there may be any number of empty matrices
        matrices = a.reshape(prod(a.shape[:-2]), *a.shape[-2:])
        flat = (factor(matrices) if a.size <= SMALL else in_steps(matrices)).reshape(-1)
        factors: Array = flat.reshape(a.shape)
        if (total := flat.dot(flat)) == total:  # which it is not if there are NaNs
            return factors
        return np.where(np.isnan(factors).any((-1, -2), keepdims=True), np.nan, factors)

    return run


def _factors_or_nan(a: Array) -> Array:
    """Factor a list of matrices, halved until it is known which of them LAPACK cannot factor."""
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        if len(a) == 1:
            return np.full_like(a, np.nan)
        return np.concatenate([_factors_or_nan(half) for half in np.array_split(a, 2)])
