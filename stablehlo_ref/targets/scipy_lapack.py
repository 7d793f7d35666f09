"""LAPACK's routines in the precision of the operands, by SciPy's LAPACK, which is the one that JAX calls on CPUs.

With the same routines and job flags, the signs and the order of vectors and values agree with JAX's. SciPy is the extra
`lapack`; it is imported when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.targets.exact_lapack import (
    EXACT,
    ExactLapack,
    JobLetter,
    Transposition,
    scipy_linalg,
    unused,
)

LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}  # of routines, by the character of the dtype
NO_CONVERGENCE = 1  # `info` of matrices with NaN or infinities, on which LAPACK is not called


def is_supported(operand: Array) -> bool:
    """Return whether LAPACK has a routine for an operand, which must not be empty."""
    return (operand.size > 0 and operand.dtype.char in LETTERS) or operand.dtype.kind in "iu"


@cache
def routine(name: str, dtype: DType, library: str = "lapack") -> Callable[..., Any]:
    """Return a routine for a dtype: `routine("getrf", float32)` is `scipy.linalg.lapack.sgetrf`.

    It raises ValueError for operands that do not fit together.
    """
    function: Callable[..., Any] = getattr(getattr(scipy_linalg(), library), LETTERS[dtype.char] + name)

    def checked(*arguments: object, **options: object) -> tuple[Any, ...] | Array:
        try:
            results: tuple[Any, ...] | Array = function(*arguments, **options)
            return results
        except Exception as error:  # f2py's own class, which has no public name
            raise ValueError(error) from error

    return checked


def by_dtype(dtype: DType, real: str, hermitian: str) -> str:
    """Return the name of a routine, which differs for complex matrices: orgqr and ungqr, syevd and heevd."""
    return hermitian if dtype.kind == "c" else real


@lru_cache(maxsize=1 << 10)
def workspace(name: str, dtype: DType, *arguments: int) -> int:
    """Return the optimal size of a routine's workspace."""
    size, *_ = routine(f"{name}_lwork", dtype)(*arguments)
    return int(np.real(size))


def each(compute: Callable[..., Sequence[Array]], *operands: Array, vectors: int = 0) -> list[Array]:
    """Call `compute` on each matrix of a batch and stack its results.

    The last `vectors` operands have one core dimension, all others two.
    """
    batch = operands[0].shape[: operands[0].ndim - (2 if vectors < len(operands) else 1)]
    if not batch:
        return list(map(np.asarray, compute(*operands)))
    rows = [compute(*(x[index] for x in operands)) for index in within_time(np.ndindex(batch))]
    return [np.reshape(np.stack(column), (*batch, *np.shape(column[0]))) for column in zip(*rows)]


def is_finite(a: Array) -> bool:
    return bool(np.isfinite(a).all())


class SciPyLapack(ExactLapack):
    """LAPACK in the precision of the operands. Neither matrices nor batches may be empty."""

    def operand(self, x: Array) -> Array:
        return x

    # --- triangles --------------------------------------------------------------------------------------------------

    def potrf(self, a: Array, lower: bool) -> tuple[Array, Array]:
        potrf = routine("potrf", a.dtype)
        factor, info = each(lambda a: potrf(a, lower=lower, clean=False), a)
        return factor, info

    def getrf(self, a: Array) -> tuple[Array, Array, Array]:
        packed, pivots, info = each(routine("getrf", a.dtype), a)
        return packed, pivots + 1, info

    def trsm(
        self, a: Array, b: Array, left: bool, lower: bool, transposition: Transposition, unit: bool, alpha: Array
    ) -> Array:
        trsm, number = routine("trsm", a.dtype, "blas"), "NTC".index(transposition)
        (x,) = each(lambda a, b: [trsm(alpha, a, b, not left, lower, number, unit)], a, b)
        return x

    def gtsv(self, lower: Array, diagonal: Array, upper: Array, b: Array) -> tuple[Array, ...]:
        size = diagonal.shape[-1]
        if size < 2:
            return EXACT.gtsv(lower, diagonal, upper, b)
        gtsv = routine("gtsv", b.dtype)
        lower, upper = lower[..., lower.shape[-1] - size + 1 :], upper[..., : size - 1]
        return tuple(self._solved(gtsv, b, lower, diagonal, upper))

    def _solved(self, gtsv: Callable[..., Any], b: Array, *diagonals: Array) -> list[Array]:
        """Return the diagonals of the factor, padded to the size of the matrix, the solutions and `info`."""

        def solve(b: Array, lower: Array, diagonal: Array, upper: Array) -> Sequence[Array]:
            third, main, second, x, info = gtsv(lower, diagonal, upper, b)
            size = len(diagonal)
            return np.resize(third, size), main, np.resize(second, size), x, info

        return each(solve, b, *diagonals, vectors=3)

    # --- reflectors -------------------------------------------------------------------------------------------------

    def geqrf(self, a: Array) -> tuple[Array, Array]:
        geqrf, size = routine("geqrf", a.dtype), workspace("geqrf", a.dtype, *a.shape[-2:])
        packed, tau = each(lambda a: geqrf(a, lwork=size)[:2], a)
        return packed, tau

    def geqp3(self, a: Array, jpvt: Array) -> tuple[Array, Array, Array]:
        if jpvt.any():  # SciPy's wrapper does not pass columns to move to the front
            return super().geqp3(EXACT.operand(a), jpvt)
        geqp3 = routine("geqp3", a.dtype)
        size = int(np.real(geqp3(a[(0,) * (a.ndim - 2)], lwork=-1)[3][0]))
        packed, columns, tau = each(lambda a: geqp3(a, lwork=size)[:3], a)
        return packed, columns, tau

    def orgqr(self, packed: Array, tau: Array) -> Array:
        if packed.shape[-1] > packed.shape[-2]:  # which LAPACK does not compute
            return super().orgqr(packed, tau)
        orgqr, first = routine(by_dtype(packed.dtype, "orgqr", "ungqr"), packed.dtype), (0,) * (packed.ndim - 2)
        size = int(np.real(orgqr(packed[first], tau[first], lwork=-1)[1][0]))
        (q,) = each(lambda packed, tau: orgqr(packed, tau, lwork=size)[:1], packed, tau, vectors=1)
        return q

    def ormqr(self, packed: Array, tau: Array, c: Array, left: bool, transpose: bool) -> Array:
        ormqr, first = routine(by_dtype(packed.dtype, "ormqr", "unmqr"), packed.dtype), (0,) * (packed.ndim - 2)
        flags = "L" if left else "R", by_dtype(packed.dtype, "T", "C") if transpose else "N"
        size = int(np.real(ormqr(*flags, packed[first], tau[first], c[first], -1)[1][0]))
        (product,) = each(lambda c, packed, tau: ormqr(*flags, packed, tau, c, size)[:1], c, packed, tau, vectors=1)
        return product

    def gehrd(self, a: Array, low: int, high: int) -> tuple[Array, Array, Array]:
        gehrd, bounds = routine("gehrd", a.dtype), (low - 1, high - 1)
        size = max(a.shape[-1], workspace("gehrd", a.dtype, a.shape[-1], *bounds))  # LAPACK needs less for one row
        packed, tau, info = each(lambda a: gehrd(a, *bounds, lwork=size), a)
        return packed, tau, info

    def sytrd(self, a: Array, lower: bool) -> tuple[Array, Array, Array, Array, Array]:
        name = by_dtype(a.dtype, "sytrd", "hetrd")
        sytrd, size = routine(name, a.dtype), workspace(name, a.dtype, a.shape[-1], lower)
        packed, diagonal, off, tau, info = each(lambda a: sytrd(a, lower=lower, lwork=size), a)
        return packed, diagonal, off, tau, info

    # --- eigenvalues and singular values ----------------------------------------------------------------------------

    def singular_values(self, a: Array, job: JobLetter, routine_name: str) -> tuple[Array, Array, Array, Array]:
        flags = job != "N", job == "A"
        decompose = routine(routine_name, a.dtype)
        size = workspace(routine_name, a.dtype, *a.shape[-2:], *flags)

        def compute(a: Array) -> Sequence[Array]:
            u, values, v, info = decompose(a if is_finite(a) else np.zeros_like(a), *flags, size)
            return or_nan(a, [values, *((u, v) if job != "N" else (unused(a), unused(a)))], info)

        values, u, v, info = each(compute, a)
        return values, u, v, info

    def syevd(self, a: Array, lower: bool, with_vectors: bool) -> tuple[Array, Array, Array]:
        syevd = routine(by_dtype(a.dtype, "syevd", "heevd"), a.dtype)  # with the smallest workspace, as in JAX

        def compute(a: Array) -> Sequence[Array]:
            values, vectors, info = syevd(a if is_finite(a) else np.zeros_like(a), with_vectors, lower)
            return or_nan(a, [vectors if with_vectors else a, values], info)

        vectors, values, info = each(compute, a)
        return vectors, values, info

    def geev(self, a: Array, with_left: bool, with_right: bool) -> tuple[Array, Array, Array, Array]:
        geev, size = routine("geev", a.dtype), workspace("geev", a.dtype, a.shape[-1], with_left, with_right)

        def compute(a: Array) -> Sequence[Array]:
            *parts, left, right, info = geev(a if is_finite(a) else np.zeros_like(a), with_left, with_right, size)
            values = parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]
            left, right = (
                vectors_of(values, x) if wanted else unused(a) for x, wanted in ((left, with_left), (right, with_right))
            )
            return or_nan(a, [values, left, right], info)

        values, left, right, info = each(compute, a)
        return values, left, right, info

    def gees(self, a: Array) -> tuple[Array, Array, Array, Array]:
        gees = routine("gees", a.dtype)
        size = int(np.real(gees(keep_order, a[(0,) * (a.ndim - 2)], lwork=-1)[-2][0]))

        def compute(a: Array) -> Sequence[Array]:
            form, _, *parts, vectors, _, info = gees(keep_order, a if is_finite(a) else np.zeros_like(a), lwork=size)
            values = parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]
            return or_nan(a, [form, vectors, values], info)

        form, vectors, values, info = each(compute, a)
        return form, vectors, values, info


SCIPY = SciPyLapack()


def keep_order(*eigenvalue: float) -> None:
    """Select no eigenvalues to sort to the front of a Schur form."""


def or_nan(a: Array, results: list[Array], info: int) -> Sequence[Array]:
    """Return results and `info` of a matrix, NaN if it has NaN or infinities, on which LAPACK may not return."""
    if is_finite(a):
        return [*results, np.asarray(info)]
    return [*(np.full_like(x, np.nan) for x in results), np.asarray(NO_CONVERGENCE)]


def vectors_of(values: Array, packed: Array) -> Array:
    """Return complex eigenvectors; LAPACK packs conjugate pairs of a real matrix as real and imaginary parts."""
    if np.iscomplexobj(packed):
        return packed
    vectors = packed.astype(np.result_type(packed, np.complex64))
    (first,) = np.nonzero(values.imag > 0)
    vectors[:, first] += 1j * packed[:, first + 1]
    vectors[:, first + 1] = np.conjugate(vectors[:, first])
    return vectors
