"""cholesky and triangular_solve, for all matrices of a batch at once.

Both are computed in f64 or complex<f64> and rounded once, by BLAS and LAPACK or, in a reproducible mode, by operations
in a fixed order that are rounded correctly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import Enum
from functools import partial
from math import prod

import numpy as np

from stablehlo_ref.define.attribute_codecs import Flag
from stablehlo_ref.define.choices import Choice
from stablehlo_ref.define.computation import FindChoices, Kernel, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import ALGORITHM
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, In, Op, Out, type_of, without_change
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
from stablehlo_ref.numerics import factorizations
from stablehlo_ref.numerics.contraction import FLOPS, STEP, subtract_product
from stablehlo_ref.numerics.dtypes import COMPLEX128, FLOAT64, numpy_dtype
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.narrow_floats import narrow

GROUP = 1 << 17  # elements of matrices that are decomposed, or solved with, at a time, or more of one matrix
SMALL = 1 << 8  # elements: so few are factored at once, without a look at the clock


class Cholesky(Op, op="cholesky", nans="computed", facts=replace(ALGORITHM, fusion="never")):
    """Compute the Cholesky decomposition of the Hermitian positive definite matrices `a`.

    The result is L with `L @ adjoint(L) = a` if `lower`, else U with `adjoint(U) @ U = a`. Only that triangle of `a` is
    read, and of the diagonal only the real part; the other triangle of the result is 0. The result of a matrix that is
    not positive definite is NaN. Both are implementation-defined.
    """

    a = In(float_tensor | complex_tensor | per_tensor_quantized)  # I1
    lower = Attr(Flag, default=False)  # I2
    result = Out(float_tensor | complex_tensor | per_tensor_quantized)

    syntax = "operands (, lower = $lower)? attr-dict : same_type"

    infer = type_of("a")

    @staticmethod
    def constraints(C: Checker, a: TensorType, result: TensorType) -> None:
        C(1, compatible(baseline_type(a), baseline_type(result)))
        C(2, 2 <= rank(a))
        C(3, dim(a, rank(a) - 2) == dim(a, rank(a) - 1))

    batching_rule = without_change

    @staticmethod
    def plan(mode: Mode, a: TensorType, lower: Flag) -> Kernel:
        """Plan LAPACK's decomposition in f64: see `semantics.linear_algebra.cholesky`."""
        widen, round_once = arithmetic(a)
        factor = _lower_factors(factorizations.exact_lower_factors if mode.reproducible else _factors_or_nan)
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


class TriangularSolve(
    Op, op="triangular_solve", row_major=True, nans="computed", facts=replace(ALGORITHM, fusion="never")
):
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

    infer = type_of("b")

    @staticmethod
    def constraints(C: Checker, a: TensorType, b: TensorType, left_side: Flag, result: TensorType) -> None:
        C(1, baseline_element_type(a) == baseline_element_type(b))
        C(2, 2 <= rank(a) == rank(b))
        R = rank(a)
        C(3, shape(a)[: R - 2] == shape(b)[: R - 2])
        C(3, dim(a, R - 2) == dim(a, R - 1) == dim(b, R - 2 if left_side else R - 1))
        C(4, compatible(baseline_type(b), baseline_type(result)))

    batching_rule = without_change

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
        """Plan the solution x of one system for each batch index: see `semantics.linear_algebra.triangular_solve`.

        All systems are brought into the form `upper @ x = b`: `x @ op(a) = b` is `transpose(op(a)) @ transpose(x) =
        transpose(b)`, and a lower triangle becomes an upper one if the order of the unknowns is reversed. Back
        substitution runs on all batches at once.
        """
        widen, round_once = arithmetic(a)
        is_transposed = transpose_a is not Transpose.NO_TRANSPOSE
        orient_a = _transposed if is_transposed == left_side else _unchanged
        orient_b = _unchanged if left_side else _transposed
        conjugate = np.conjugate if transpose_a is Transpose.ADJOINT else _unchanged
        reverse = slice(None, None, -1 if lower == (is_transposed != left_side) else 1)
        is_rounded = numpy_dtype(element_type(a)) not in (FLOAT64, COMPLEX128)

        def load(block: Array) -> Array:
            return np.ascontiguousarray(conjugate(widen(block)))  # or BLAS is not used

        def solve(a: Array, b: Array) -> Array:
            upper, sides = orient_a(a)[..., reverse, reverse], orient_b(b)[..., reverse, :]
            if mode.reproducible:
                x = factorizations.exact_substitute(load(upper), sides, unit_diagonal)
            else:
                x = substitute(upper, sides, unit_diagonal, is_rounded, load)
            return round_once(orient_b(x[..., reverse, :]))

        group = min(1.0, max(2 * GROUP / max(1, size(a) + size(b)), 1 / max(1, prod(shape(a)[:-2]))))
        parts = (2, 2) if mode.reproducible else (0.25, 1.5)  # of `a` and of `b` that are in f64 (measured)
        wide = (2 if is_complex(a) else 1) * FLOAT64.itemsize
        return Kernel(_in_groups(solve), temporaries=int(wide * group * (parts[0] * size(a) + parts[1] * size(b))))

    @staticmethod
    def implementation_defined(unit_diagonal: Flag) -> FindChoices:
        def cases(a: Array, b: Array) -> Iterator[Choice]:
            if (a.diagonal(axis1=-2, axis2=-1) != 1).any():
                yield Choice.UNIT_DIAGONAL

        return cases if unit_diagonal else None


def arithmetic(x: TensorType) -> tuple[ArrayKernel, ArrayKernel]:
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


def _in_groups(compute: ArrayKernel) -> ArrayKernel:
    """Return a function that decomposes many matrices, or solves systems, by groups, so that few are in f64 at a time.

    The result has the shape and the dtype of the last operand.
    """

    def run(*operands: Array) -> Array:
        count, last = prod(operands[0].shape[:-2]), operands[-1]
        if max(x.size for x in operands) <= GROUP or count == 1:
            return compute(*operands)
        stacks = [x.reshape(count, *x.shape[-2:]) for x in operands]
        results = np.empty(stacks[-1].shape, last.dtype)
        step = max(1, GROUP * count // max(x.size for x in operands))
        for start in within_time(range(0, count, step)):
            results[start : start + step] = compute(*[x[start : start + step] for x in stacks])
        return results.reshape(last.shape)

    return run


def _lower_factors(factor: ArrayKernel) -> ArrayKernel:
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
        factors = flat.reshape(a.shape)
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


# --- back substitution, for stacks of matrices in f64 or complex<f64> -------------------------------------------------

BLOCK = 32  # rows that are solved together before one matrix product subtracts them from the other rows
PART = 1 << 16  # elements of matrices that are solved at a time
FEW = 8  # rows of which each is solved by itself, which takes less time than to invert their block
GROWTH = 2.0**12  # what inverting a block may add to the error bound of substitution, as a factor


def substitute(u: Array, b: Array, unit_diagonal: bool, is_rounded: bool, load: Run = np.ascontiguousarray) -> Array:
    """Solve `u @ x = b` for upper triangular matrices `u`, of which nothing else is read, by back substitution.

    `load` converts a block of `u` when it is needed, and `b` may be narrower. If the result `is_rounded` to f32
    or a narrower type, blocks of rows are multiplied by their inverses where that is accurate enough.
    """
    x = b.astype(load(u[..., :0, :0]).dtype, order="C")
    solve = partial(_solve_by_inverses if is_rounded else _substitute_rows, unit_diagonal=unit_diagonal)
    matrices, n = prod(u.shape[:-2]), u.shape[-1]
    stack, sides, step = u.reshape(matrices, n, n), x.reshape(matrices, *x.shape[-2:]), max(1, PART // max(1, n * n))
    for start in within_time(range(0, matrices, step)):
        _substitute_blocks(stack[start : start + step], sides[start : start + step], solve, load)
    return x


def _substitute_blocks(u: Array, x: Array, solve: Callable[[Array, Array], None], load: Run) -> None:
    """Replace the right-hand sides in `x` by the solution, half by half down to blocks, which `solve` does."""
    check_time()
    if u.shape[-1] <= BLOCK:
        solve(load(u), x)
        return
    half = (u.shape[-1] // BLOCK + 1) // 2 * BLOCK
    _substitute_blocks(u[..., half:, half:], x[..., half:, :], solve, load)
    subtract_product(x[..., :half, :], load(u[..., :half, half:]), x[..., half:, :])
    _substitute_blocks(u[..., :half, :half], x[..., :half, :], solve, load)


def _substitute_rows(u: Array, x: Array, unit_diagonal: bool) -> None:
    """Replace the right-hand sides in `x` by the solution, row by row."""
    for i in reversed(range(u.shape[-1])):
        row = x[..., i : i + 1, :]
        if i + 1 < u.shape[-1]:
            row -= u[..., i : i + 1, i + 1 :] @ x[..., i + 1 :, :]
        if not unit_diagonal:
            row /= u[..., i : i + 1, i : i + 1]


def _solve_by_inverses(u: Array, x: Array, unit_diagonal: bool) -> None:
    """Multiply `x` by the inverses of `u`, and where there are none, or not `_is_accurate` ones, solve row by row.

    The products are used only if they are finite: by them an infinity in `x` makes all rows NaN.
    """
    if u.shape[-1] <= FEW:
        _substitute_rows(u, x, unit_diagonal)
        return
    triangle, diagonal = np.triu(u), range(u.shape[-1])
    if unit_diagonal:
        triangle[..., diagonal, diagonal] = 1
    is_good = np.isfinite(triangle).all((-1, -2)) & (triangle[..., diagonal, diagonal] != 0).all(-1)
    triangle[~is_good] = np.eye(u.shape[-1])  # has an inverse
    inverse = np.linalg.inv(triangle)
    product: Array = inverse @ x
    is_good &= _is_accurate(triangle, inverse) & np.isfinite(product).all((-1, -2))
    if is_good.all():
        x[...] = product
        return
    _substitute_rows(u, x, unit_diagonal)
    x[is_good] = product[is_good]


def _is_accurate(u: Array, inverse: Array) -> Array:
    """Return for each matrix whether a product with its inverse is about as accurate as substitution in f32.

    With M = |inverse| @ |u|, the errors of substitution are at most `c * epsilon * M @ |x|` for a small c, and those of
    `inverse @ b` at most `c * epsilon * M @ M @ |x|` (N. J. Higham, Accuracy and Stability of Numerical Algorithms,
    chapters 8 and 14). So where no element of M @ M exceeds that of M by more than GROWTH, the bound in f64 is 2**-17
    of that of substitution in f32.
    """
    m = np.abs(inverse) @ np.abs(u)
    result: Array = (m @ m <= GROWTH * m).all((-1, -2))
    return result
