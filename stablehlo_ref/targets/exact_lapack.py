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
from stablehlo_ref.numerics import factorizations
from stablehlo_ref.numerics.dtypes import COMPLEX128, FLOAT64, element_type_of
from stablehlo_ref.numerics.factorizations import Multiply, adjoint, block_reflector
from stablehlo_ref.ops.linear_algebra import Cholesky, Transpose, TriangularSolve

Transposition = Literal["N", "T", "C"]
JobLetter = Literal["A", "S", "N"]

TRANSPOSES = {"N": Transpose.NO_TRANSPOSE, "T": Transpose.TRANSPOSE, "C": Transpose.ADJOINT}


class ExactLapack:
    """LAPACK in f64; results are rounded to the types of the call."""

    def __init__(self, mode: Mode = DEFAULT) -> None:
        self.mode = mode
        self.multiply: Multiply = factorizations.exact_product if mode.reproducible else np.matmul

    def operand(self, x: Array) -> Array:
        """Return an operand in the precision in which routines compute; integers unchanged."""
        if x.dtype.kind in "iu":
            return x
        return x.astype(COMPLEX128 if x.dtype.kind == "c" else FLOAT64, copy=False)

    # --- triangles --------------------------------------------------------------------------------------------------

    def potrf(self, a: Array, lower: bool) -> Sequence[Array]:
        """Return the Cholesky factor in one triangle of `a`, and the order of the first minor that is not positive."""
        factor: Array = Cholesky.plan(self.mode, type_of(a), lower)(a)
        info = np.asarray(np.isnan(factor).any((-1, -2)), np.int32)
        for batch in map(tuple, np.argwhere(info)):
            info[batch] = first_minor(a[batch] if lower else adjoint(a[batch]), self.mode)
        keep = np.tri(a.shape[-1], dtype=bool)
        return np.where(keep if lower else keep.T, factor, a), info

    def getrf(self, a: Array) -> Sequence[Array]:
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

    def gtsv(self, lower: Array, diagonal: Array, upper: Array, b: Array) -> Sequence[Array]:
        """Return the diagonals of the factor, the solution of a tridiagonal system and `info`."""
        return factorizations.solve_tridiagonal(lower, diagonal, upper, b)

    # --- reflectors -------------------------------------------------------------------------------------------------

    def geqrf(self, a: Array) -> Sequence[Array]:
        """Return the packed QR factorization and `tau`."""
        return factorizations.qr(a, self.multiply)

    def geqp3(self, a: Array, jpvt: Array) -> Sequence[Array]:
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

    def gehrd(self, a: Array, low: int, high: int) -> Sequence[Array]:
        """Return the packed reduction to Hessenberg form of rows and columns `low` to `high`, `tau` and `info`."""
        packed, tau = factorizations.hessenberg(a, low - 1, high, self.multiply)
        return packed, tau, np.zeros(a.shape[:-2], np.int32)

    def sytrd(self, a: Array, lower: bool) -> Sequence[Array]:
        """Return the packed reduction to tridiagonal form, its diagonals, `tau` and `info`.

        The upper triangle is handled as the lower triangle of the matrix with rows and columns reversed.
        """
        order = 1 if lower else -1
        packed, diagonal, off, tau = factorizations.tridiagonal(a[..., ::order, ::order], self.multiply)
        diagonal, off, tau = (x[..., ::order] for x in (diagonal, off, tau))
        return packed[..., ::order, ::order], diagonal, off, tau, np.zeros(a.shape[:-2], np.int32)

    # --- eigenvalues and singular values ----------------------------------------------------------------------------

    def singular_values(self, a: Array, job: JobLetter, routine: str) -> Sequence[Array]:
        """Return singular values, left and right vectors, and `info`.

        `job` is "A" for all vectors, "S" for as many as there are values, "N" for none. `routine` is gesdd or gesvd.
        """
        if job == "N":
            (values,), info = converged(lambda x: [np.linalg.svd(x, compute_uv=False)], a)
            return values, np.zeros_like(a), np.zeros_like(a), info
        (u, values, v), info = converged(lambda x: np.linalg.svd(x, full_matrices=job == "A"), a)
        return values, u, v, info

    def syevd(self, a: Array, lower: bool, with_vectors: bool) -> Sequence[Array]:
        """Return eigenvectors and eigenvalues of Hermitian matrices in ascending order, and `info`."""
        uplo: Literal["L", "U"] = "L" if lower else "U"
        if not with_vectors:
            (values,), info = converged(lambda x: [np.linalg.eigvalsh(x, uplo)], a)
            return a, values, info
        (values, vectors), info = converged(lambda x: np.linalg.eigh(x, uplo), a)
        return vectors, values, info

    def geev(self, a: Array, with_left: bool, with_right: bool) -> Sequence[Array]:
        """Return complex eigenvalues, left and right eigenvectors, and `info`."""
        (values, right), info = converged(lambda x: [r.astype(COMPLEX128) for r in np.linalg.eig(x)], a)
        left = left_eigenvectors(a, values, right) if with_left else np.zeros_like(right)
        return values, left, right, info

    def gees(self, a: Array) -> Sequence[Array]:
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


# --- left eigenvectors, also of defective matrices --------------------------------------------------------------------

TOLERANCE = 10  # residuals above this many times epsilon times the norm of the matrix are reduced by iteration
MAX_BYTES = 1 << 26  # of the matrices that are factored at the same time

EPSILON = np.finfo(np.float64).eps


def left_eigenvectors(a: Array, values: Array, right: Array) -> Array:
    """Return left eigenvectors `u` with `u^H a = value u^H` as columns, of norm 1 and with a real largest element.

    `a` is f64 or complex<f64> of shape (..., n, n), `values` are its eigenvalues (..., n) and `right` the right
    eigenvectors (..., n, n) as columns. The results are complex<f64>, NaN for matrices with NaN in `right`.
    """
    if not right.size:
        return np.zeros_like(right)
    is_finite = np.isfinite(right).all((-1, -2), keepdims=True)
    left = adjoint(np.linalg.pinv(np.where(is_finite, right, 0)))
    for batch in within_time(np.ndindex(left.shape[:-2])):
        if np.isfinite(right[batch]).all():
            left[batch] = _corrected(a[batch], values[batch], left[batch])
    return _normalized(np.where(is_finite, left, np.nan))


def _corrected(a: Array, values: Array, left: Array) -> Array:
    """Return left eigenvectors of one matrix, with those replaced whose residual is large.

    The inverse of the right eigenvectors is exact up to rounding unless they are nearly dependent.
    """
    scale = np.abs(a).max() or 1.0  # squares of other numbers may overflow
    a, values = a / scale, values / scale
    norm = float(np.linalg.norm(a)) or 1.0
    lengths = np.linalg.norm(left, axis=0)
    residuals = np.linalg.norm(adjoint(a) @ left - left * np.conjugate(values), axis=0)
    wrong = ~(residuals <= TOLERANCE * EPSILON * norm * lengths) | (lengths == 0)
    columns, left = np.flatnonzero(wrong), left.copy()
    chunk = max(1, MAX_BYTES // (16 * a.size))
    for start in within_time(range(0, len(columns), chunk)):
        part = columns[start : start + chunk]
        left[:, part] = _by_inverse_iteration(a, values[part], norm).T
    return left if np.iscomplexobj(a) else _of_real_matrix(left, values)


def _by_inverse_iteration(a: Array, values: Array, norm: float) -> Array:
    """Return, as rows, unit vectors `u` that minimize the norm of `u^H (a - value)`.

    They are left singular vectors of `b = a - value` for its smallest singular value, by one step of inverse iteration
    on `b b^H`. It reduces components of other singular vectors by the square of the ratio of singular values, which
    is about epsilon, also for defective matrices. A shift by the rounding error of `a` makes the smallest singular
    values of a repeated eigenvalue equal, so that its vectors differ as their random starts do.
    """
    count, size = len(values), len(a)
    b = a - (values + EPSILON * norm)[:, np.newaxis, np.newaxis] * np.eye(size)
    u = np.random.default_rng(0).normal(size=(count, size, 1)).astype(b.dtype)
    try:
        u = _unit(np.linalg.solve(adjoint(b), _unit(np.linalg.solve(b, u))))
    except np.linalg.LinAlgError:  # exactly singular in spite of the shift
        u = np.linalg.svd(b)[0][..., -1:]
    return u[..., 0]


def _unit(x: Array) -> Array:
    """Return column vectors scaled to norm 1."""
    scaled = x / np.abs(x).max(-2, keepdims=True)  # whose squares do not overflow
    unit: Array = scaled / np.linalg.norm(scaled, axis=-2, keepdims=True)
    return unit


def _of_real_matrix(left: Array, values: Array) -> Array:
    """Return eigenvectors without rounding errors: real for real eigenvalues, conjugate for conjugate neighbours."""
    left[:, values.imag == 0] = left[:, values.imag == 0].real
    (first,) = np.nonzero(values.imag > 0)
    second = first[first + 1 < len(values)] + 1
    left[:, second] = np.conjugate(left[:, second - 1])
    return left


def _normalized(vectors: Array) -> Array:
    """Return columns of norm 1 with a real and positive largest element."""
    vectors = _unit(vectors)
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(-2, keepdims=True), -2)
    rotated: Array = vectors * np.conjugate(largest) / np.abs(largest)
    return rotated
