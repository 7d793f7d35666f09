"""LAPACK's routines in the precision of the operands, by SciPy's LAPACK, which is the one that JAX calls on CPUs.

With the same routines and job flags, the signs and the order of vectors and values agree with JAX's. SciPy is the extra
`lapack`; it is imported when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.targets.exact_lapack import EXACT, ExactLapack, JobLetter, Transposition, scipy_linalg

LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}  # of routines, by the character of the dtype
OF_COMPLEX = {"orgqr": "ungqr", "ormqr": "unmqr", "sytrd": "hetrd", "syevd": "heevd"}  # names for complex matrices
NO_CONVERGENCE = 1  # `info` of matrices with NaN or infinities, on which LAPACK is not called


def names_of(routine: str) -> list[str]:
    """Return the names of a routine in all precisions: `sorgqr`, `dorgqr`, `cungqr` and `zungqr`."""
    return [letter + (OF_COMPLEX.get(routine, routine) if letter in "cz" else routine) for letter in LETTERS.values()]


def is_supported(operand: Array) -> bool:
    """Return whether LAPACK has a routine for an operand, which must not be empty."""
    return (operand.size > 0 and operand.dtype.char in LETTERS) or operand.dtype.kind in "iu"


@cache
def routine(name: str, dtype: DType, library: str = "lapack", suffix: str = "") -> Callable[..., Any]:
    """Return a routine for a dtype: `routine("getrf", float32)` is `scipy.linalg.lapack.sgetrf`.

    It raises ValueError for operands that do not fit together.
    """
    own_name = OF_COMPLEX.get(name, name) if dtype.kind == "c" else name
    function: Callable[..., Any] = getattr(getattr(scipy_linalg(), library), LETTERS[dtype.char] + own_name + suffix)

    def checked(*arguments: object, **options: object) -> tuple[Any, ...] | Array:
        try:
            results: tuple[Any, ...] | Array = function(*arguments, **options)
            return results
        except Exception as error:  # f2py's own class, which has no public name
            raise ValueError(error) from error

    return checked


@lru_cache(maxsize=1 << 10)
def workspace(name: str, dtype: DType, *arguments: int) -> int:
    """Return the optimal size of a routine's workspace."""
    size, *_ = routine(name, dtype, suffix="_lwork")(*arguments)
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


def each_or_nan(compute: Callable[[Array], Sequence[Array]], a: Array) -> list[Array]:
    """Call `compute`, whose last result is `info`, on each matrix of a batch and stack its results.

    Results of a matrix with NaN or infinities, on which LAPACK may not return, are NaN.
    """

    def of_one(a: Array) -> Sequence[Array]:
        if np.isfinite(a).all():
            return compute(a)
        *results, _ = compute(np.zeros_like(a))
        return [*(np.full_like(x, np.nan) for x in results), np.asarray(NO_CONVERGENCE)]

    return each(of_one, a)


class SciPyLapack(ExactLapack):
    """LAPACK in the precision of the operands. Neither matrices nor batches may be empty."""

    def operand(self, x: Array) -> Array:
        return x

    # --- triangles --------------------------------------------------------------------------------------------------

    def potrf(self, a: Array, lower: bool) -> Sequence[Array]:
        return each(partial(routine("potrf", a.dtype), lower=lower, clean=False), a)

    def getrf(self, a: Array) -> Sequence[Array]:
        packed, pivots, info = each(routine("getrf", a.dtype), a)
        return packed, pivots + 1, info

    def trsm(
        self, a: Array, b: Array, left: bool, lower: bool, transposition: Transposition, unit: bool, alpha: Array
    ) -> Array:
        trsm, number = routine("trsm", a.dtype, "blas"), "NTC".index(transposition)
        (x,) = each(lambda a, b: [trsm(alpha, a, b, not left, lower, number, unit)], a, b)
        return x

    def gtsv(self, lower: Array, diagonal: Array, upper: Array, b: Array) -> Sequence[Array]:
        """Return the diagonals of the factor, padded to the size of the matrix, the solutions and `info`."""
        size = diagonal.shape[-1]
        if size < 2:
            return EXACT.gtsv(lower, diagonal, upper, b)
        gtsv = routine("gtsv", b.dtype)

        def solve(b: Array, lower: Array, diagonal: Array, upper: Array) -> Sequence[Array]:
            third, main, second, x, info = gtsv(lower, diagonal, upper, b)
            return np.resize(third, size), main, np.resize(second, size), x, info

        return each(solve, b, lower[..., lower.shape[-1] - size + 1 :], diagonal, upper[..., : size - 1], vectors=3)

    # --- reflectors -------------------------------------------------------------------------------------------------

    def geqrf(self, a: Array) -> Sequence[Array]:
        geqrf, size = routine("geqrf", a.dtype), workspace("geqrf", a.dtype, *a.shape[-2:])
        return each(lambda a: geqrf(a, lwork=size)[:2], a)

    def geqp3(self, a: Array, jpvt: Array) -> Sequence[Array]:
        if jpvt.any():  # SciPy's wrapper does not pass columns to move to the front
            return super().geqp3(EXACT.operand(a), jpvt)
        geqp3 = routine("geqp3", a.dtype)
        size = int(np.real(geqp3(a[(0,) * (a.ndim - 2)], lwork=-1)[3][0]))
        return each(lambda a: geqp3(a, lwork=size)[:3], a)

    def orgqr(self, packed: Array, tau: Array) -> Array:
        if packed.shape[-1] > packed.shape[-2]:  # which LAPACK does not compute
            return super().orgqr(packed, tau)
        orgqr, first = routine("orgqr", packed.dtype), (0,) * (packed.ndim - 2)
        size = int(np.real(orgqr(packed[first], tau[first], lwork=-1)[1][0]))
        (q,) = each(lambda packed, tau: orgqr(packed, tau, lwork=size)[:1], packed, tau, vectors=1)
        return q

    def ormqr(self, packed: Array, tau: Array, c: Array, left: bool, transpose: bool) -> Array:
        ormqr, first = routine("ormqr", packed.dtype), (0,) * (packed.ndim - 2)
        adjoint = "C" if packed.dtype.kind == "c" else "T"
        flags = "L" if left else "R", adjoint if transpose else "N"
        size = int(np.real(ormqr(*flags, packed[first], tau[first], c[first], -1)[1][0]))
        (product,) = each(lambda c, packed, tau: ormqr(*flags, packed, tau, c, size)[:1], c, packed, tau, vectors=1)
        return product

    def gehrd(self, a: Array, low: int, high: int) -> Sequence[Array]:
        gehrd, bounds = routine("gehrd", a.dtype), (low - 1, high - 1)
        size = max(a.shape[-1], workspace("gehrd", a.dtype, a.shape[-1], *bounds))  # LAPACK needs less for one row
        return each(lambda a: gehrd(a, *bounds, lwork=size), a)

    def sytrd(self, a: Array, lower: bool) -> Sequence[Array]:
        size = workspace("sytrd", a.dtype, a.shape[-1], lower)
        return each(partial(routine("sytrd", a.dtype), lower=lower, lwork=size), a)

    # --- eigenvalues and singular values ----------------------------------------------------------------------------

    def singular_values(self, a: Array, job: JobLetter, routine_name: str) -> Sequence[Array]:
        flags, decompose = (job != "N", job == "A"), routine(routine_name, a.dtype)
        size = workspace(routine_name, a.dtype, *a.shape[-2:], *flags)

        def compute(a: Array) -> Sequence[Array]:
            u, values, v, info = decompose(a, *flags, size)
            return values, *((u, v) if job != "N" else (np.zeros_like(a), np.zeros_like(a))), info

        return each_or_nan(compute, a)

    def syevd(self, a: Array, lower: bool, with_vectors: bool) -> Sequence[Array]:
        syevd = routine("syevd", a.dtype)  # with the smallest workspace, as in JAX

        def compute(a: Array) -> Sequence[Array]:
            values, vectors, info = syevd(a, with_vectors, lower)
            return vectors if with_vectors else a, values, info

        return each_or_nan(compute, a)

    def geev(self, a: Array, with_left: bool, with_right: bool) -> Sequence[Array]:
        geev, size = routine("geev", a.dtype), workspace("geev", a.dtype, a.shape[-1], with_left, with_right)

        def compute(a: Array) -> Sequence[Array]:
            *parts, left, right, info = geev(a, with_left, with_right, size)
            values = complex_values(*parts)
            wanted = zip((left, right), (with_left, with_right))
            sides = (vectors_of(values, packed) if is_wanted else np.zeros_like(a) for packed, is_wanted in wanted)
            return values, *sides, info

        return each_or_nan(compute, a)

    def gees(self, a: Array) -> Sequence[Array]:
        gees = routine("gees", a.dtype)
        size = int(np.real(gees(keep_order, a[(0,) * (a.ndim - 2)], lwork=-1)[-2][0]))

        def compute(a: Array) -> Sequence[Array]:
            form, _, *parts, vectors, _, info = gees(keep_order, a, lwork=size)
            return form, vectors, complex_values(*parts), info

        return each_or_nan(compute, a)


SCIPY = SciPyLapack()


def keep_order(*eigenvalue: float) -> None:
    """Select no eigenvalues to sort to the front of a Schur form."""


def complex_values(values: Array, imaginary: Array | None = None) -> Array:
    """Return complex eigenvalues, of which LAPACK returns the parts if the matrix is real."""
    return values if imaginary is None else values + 1j * imaginary


def vectors_of(values: Array, packed: Array) -> Array:
    """Return complex eigenvectors; LAPACK packs conjugate pairs of a real matrix as real and imaginary parts."""
    if np.iscomplexobj(packed):
        return packed
    vectors = packed.astype(np.result_type(packed, np.complex64))
    (first,) = np.nonzero(values.imag > 0)
    vectors[:, first] += 1j * packed[:, first + 1]
    vectors[:, first + 1] = np.conjugate(vectors[:, first])
    return vectors
