"""LAPACK's routines on f64 and complex<f64> arrays, on numpy alone, for all matrices of a batch at once.

Arguments and results are those of the routines, with leading batch dimensions; `info` has one element per matrix.
Eigenvectors and singular vectors, which are unique only up to a factor, are those of numpy's LAPACK. The Schur
decomposition needs SciPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import Literal

import numpy as np

from stablehlo_ref.arrays.interop import how_to_install
from stablehlo_ref.define.mode import DEFAULT, Mode
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import TensorType, tensor_type
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics import exact_factorizations, factorizations
from stablehlo_ref.numerics.dtypes import COMPLEX128, FLOAT64, element_type_of
from stablehlo_ref.numerics.eigenvectors import left_eigenvectors
from stablehlo_ref.numerics.factorizations import Multiply, adjoint, block_reflector
from stablehlo_ref.ops.linear_algebra import Cholesky, Transpose, TriangularSolve

Transposition = Literal["N", "T", "C"]
JobLetter = Literal["A", "S", "N"]

TRANSPOSES = {"N": Transpose.NO_TRANSPOSE, "T": Transpose.TRANSPOSE, "C": Transpose.ADJOINT}


class ExactLapack:
    """LAPACK in f64; results are rounded to the types of the call."""

    def __init__(self, mode: Mode = DEFAULT) -> None:
        self.mode = mode
        self.multiply: Multiply = exact_factorizations.product if mode.reproducible else np.matmul

    def operand(self, x: Array) -> Array:
        """Return an operand in the precision in which routines compute; integers unchanged."""
        if x.dtype.kind in "iu":
            return x
        return x.astype(COMPLEX128 if x.dtype.kind == "c" else FLOAT64, copy=False)

    # --- triangles --------------------------------------------------------------------------------------------------

    def potrf(self, a: Array, lower: bool) -> tuple[Array, Array]:
        """Return the Cholesky factor in one triangle of `a`, and the order of the first minor that is not positive."""
        factor: Array = Cholesky.plan(self.mode, type_of(a), lower)(a)
        info = np.asarray(np.isnan(factor).any((-1, -2)), np.int32)
        for batch in map(tuple, np.argwhere(info)):
            info[batch] = first_minor(a[batch] if lower else adjoint(a[batch]), self.mode)
        keep = np.tri(a.shape[-1], dtype=bool)
        return np.where(keep if lower else keep.T, factor, a), info

    def getrf(self, a: Array) -> tuple[Array, Array, Array]:
        """Return the packed LU factors, the pivots, counted from 1, and the number of the first zero pivot."""
        return factorizations.lu(a, self.multiply)

    def trsm(
        self, a: Array, b: Array, left: bool, lower: bool, transposition: Transposition, unit: bool, alpha: Array
    ) -> Array:
        """Solve `op(a) x = alpha b`, or `x op(a) = alpha b` unless `left`."""
        solve = TriangularSolve.plan(
            self.mode,
            type_of(a),
            type_of(b),
            left_side=left,
            lower=lower,
            unit_diagonal=unit,
            transpose_a=TRANSPOSES[transposition],
        )
        x: Array = solve(a, b if np.all(alpha == 1) else alpha * b)
        return x

    def gtsv(self, lower: Array, diagonal: Array, upper: Array, b: Array) -> tuple[Array, ...]:
        """Return the diagonals of the factor, the solution of a tridiagonal system and `info`."""
        return factorizations.solve_tridiagonal(lower, diagonal, upper, b)

    # --- reflectors -------------------------------------------------------------------------------------------------

    def geqrf(self, a: Array) -> tuple[Array, Array]:
        """Return the packed QR factorization and `tau`."""
        return factorizations.qr(a, self.multiply)

    def geqp3(self, a: Array, jpvt: Array) -> tuple[Array, Array, Array]:
        """Return the packed QR factorization with column pivoting, the columns, counted from 1, and `tau`."""
        return factorizations.pivoted_qr(a, jpvt, self.multiply)

    def orgqr(self, packed: Array, tau: Array) -> Array:
        """Return the product of reflectors as a matrix of the shape of `packed`."""
        return factorizations.product(packed, tau, self.multiply)

    def ormqr(self, packed: Array, tau: Array, c: Array, left: bool, transpose: bool) -> Array:
        """Return `Q c`, or `c Q` unless `left`; with `transpose`, of the adjoint of `Q`."""
        multiply = self.multiply
        v, t = block_reflector(packed, tau, multiply)
        t = adjoint(t) if transpose else t
        if left:
            return c - multiply(v, multiply(t, multiply(adjoint(v), c)))
        return c - multiply(multiply(multiply(c, v), t), adjoint(v))

    def gehrd(self, a: Array, low: int, high: int) -> tuple[Array, Array, Array]:
        """Return the packed reduction to Hessenberg form of rows and columns `low` to `high`, `tau` and `info`."""
        packed, tau = factorizations.hessenberg(a, low - 1, high, self.multiply)
        return packed, tau, np.zeros(a.shape[:-2], np.int32)

    def sytrd(self, a: Array, lower: bool) -> tuple[Array, Array, Array, Array, Array]:
        """Return the packed reduction to tridiagonal form, its diagonals, `tau` and `info`.

        The upper triangle is handled as the lower triangle of the matrix with rows and columns reversed.
        """
        order = 1 if lower else -1
        packed, diagonal, off, tau = factorizations.tridiagonal(a[..., ::order, ::order], self.multiply)
        diagonal, off, tau = (x[..., ::order] for x in (diagonal, off, tau))
        return packed[..., ::order, ::order], diagonal, off, tau, np.zeros(a.shape[:-2], np.int32)

    # --- eigenvalues and singular values ----------------------------------------------------------------------------

    def singular_values(self, a: Array, job: JobLetter, routine: str) -> tuple[Array, Array, Array, Array]:
        """Return singular values, left and right vectors, and `info`.

        `job` is "A" for all vectors, "S" for as many as there are values, "N" for none. `routine` is gesdd or gesvd.
        """
        if job == "N":
            (values,), info = converged(lambda x: [np.linalg.svd(x, compute_uv=False)], a)
            return values, unused(a), unused(a), info
        (u, values, v), info = converged(lambda x: np.linalg.svd(x, full_matrices=job == "A"), a)
        return values, u, v, info

    def syevd(self, a: Array, lower: bool, with_vectors: bool) -> tuple[Array, Array, Array]:
        """Return eigenvectors and eigenvalues of Hermitian matrices in ascending order, and `info`."""
        uplo: Literal["L", "U"] = "L" if lower else "U"
        if not with_vectors:
            (values,), info = converged(lambda x: [np.linalg.eigvalsh(x, uplo)], a)
            return a, values, info
        (values, vectors), info = converged(lambda x: np.linalg.eigh(x, uplo), a)
        return vectors, values, info

    def geev(self, a: Array, with_left: bool, with_right: bool) -> tuple[Array, Array, Array, Array]:
        """Return complex eigenvalues, left and right eigenvectors, and `info`."""
        (values, right), info = converged(lambda x: [r.astype(COMPLEX128) for r in np.linalg.eig(x)], a)
        left = left_eigenvectors(a, values, right) if with_left else unused(right)
        return values, left, right, info

    def gees(self, a: Array) -> tuple[Array, Array, Array, Array]:
        """Return the Schur form, its vectors, complex eigenvalues and `info`."""
        linalg = scipy_linalg()
        if linalg is None:
            raise UnsupportedError(f"the Schur decomposition needs SciPy: {how_to_install('lapack')}")
        form, vectors = np.zeros_like(a), np.zeros_like(a)
        for batch in within_time(np.ndindex(a.shape[:-2])):
            finite = np.isfinite(a[batch]).all()
            form[batch], vectors[batch] = linalg.schur(a[batch], check_finite=False) if finite else (np.nan, np.nan)
        info = np.asarray(np.isnan(form).any((-1, -2)), np.int32)
        return form, vectors, eigenvalues_of_schur_form(form), info


EXACT = ExactLapack()
REPRODUCIBLE = ExactLapack(Mode(reproducible=True))


@cache
def scipy_linalg() -> ModuleType | None:
    """Return `scipy.linalg`, None if SciPy is not installed."""
    try:
        import scipy.linalg
    except ImportError:
        return None
    module: ModuleType = scipy.linalg
    return module


def type_of(a: Array) -> TensorType:
    """Return the tensor type of an array."""
    return tensor_type(a.shape, element_type_of(a.dtype))


def unused(like: Array) -> Array:
    """Return zeros for vectors that are not requested."""
    return np.zeros_like(like)


def first_minor(a: Array, mode: Mode) -> int:
    """Return the order of the first leading minor that is not positive."""
    for order in range(1, len(a)):
        minor = a[:order, :order]
        if np.isnan(Cholesky.plan(mode, type_of(minor), True)(minor)).any():
            return order
    return len(a)


def converged(decompose: Callable[[Array], Sequence[Array]], a: Array) -> tuple[list[Array], Array]:
    """Return the results of `decompose` and `info`: 0, or 1 for matrices without convergence, whose results are NaN."""
    info = np.zeros(a.shape[:-2], np.int32)
    try:
        return list(decompose(a)), info
    except np.linalg.LinAlgError:
        like = decompose(np.broadcast_to(np.eye(*a.shape[-2:], dtype=a.dtype), a.shape))
    results = [np.full_like(x, np.nan) for x in like]
    for batch in within_time(np.ndindex(info.shape)):
        try:
            for result, value in zip(results, decompose(a[batch])):
                result[batch] = value
        except np.linalg.LinAlgError:
            info[batch] = 1
    return results, info


def eigenvalues_of_schur_form(form: Array) -> Array:
    """Return complex eigenvalues: the diagonal, or for real matrices those of its 1x1 and standardized 2x2 blocks."""
    diagonal = np.diagonal(form, axis1=-2, axis2=-1)
    if np.iscomplexobj(form):
        return diagonal
    above, below = (np.diagonal(form, k, -2, -1) for k in (1, -1))
    size = np.where(below == 0, 0, np.sqrt(np.abs(above)) * np.sqrt(np.abs(below)))
    imaginary = np.zeros(diagonal.shape)
    imaginary[..., :-1] += size
    imaginary[..., 1:] -= size
    values: Array = diagonal + 1j * imaginary
    return values
