"""LAPACK routines as JAX calls them on CPUs: `lapack_<letter><routine>_ffi`, where the letter is s, d, c or z.

Operands and results are those of the routine with leading batch dimensions, and `info` for each matrix of the batch.
Character arguments (`uplo`, `side`, ...) are ASCII codes. With SciPy, its LAPACK computes in the precision of the
program, as in JAX; without it, and in runs with `exact_lapack`, numpy computes in f64 or complex<f64> and the results
are rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.define.spec import UNKNOWN, element_type, is_complex, rank, shape
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import Type
from stablehlo_ref.limits.budget import check_time
from stablehlo_ref.numerics.contraction import FLOPS
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.factorizations import solve_tridiagonal
from stablehlo_ref.ops.extensibility import CustomCall, PureHandler
from stablehlo_ref.targets.configuration import (
    Routine,
    boolean,
    check_shapes,
    configuration,
    integer,
    letter,
    malformed,
    register,
)
from stablehlo_ref.targets.exact_lapack import EXACT, REPRODUCIBLE, ExactLapack, JobLetter, Transposition, scipy_linalg
from stablehlo_ref.targets.scipy_lapack import SCIPY, is_supported

LapackRoutine: TypeAlias = Callable[..., Sequence[Array]]  # from an ExactLapack, a CustomCall and arrays of operands


SMALL = 1 << 8  # elements: decompositions of so few take no time that a deadline matters for
MAX_CHECKED = 1 << 10  # shapes and dtypes that are remembered

_CHECKED: set[tuple[object, ...]] = set()  # dimensions, and the shapes and dtypes of operands that passed the checks


# --- precision ------------------------------------------------------------------------------------------------------


def exactly(routine: LapackRoutine, dimensions: str) -> Routine:
    """Return a handler that computes in f64 or complex<f64> and rounds the results to the result types.

    `dimensions` are those of the operands, as for `check_shapes`.
    """

    @wraps(partial(routine, EXACT))
    def handler(call: CustomCall, *operands: Array) -> Sequence[Array]:
        check_operands(call, dimensions, operands)
        lapack = REPRODUCIBLE if is_reproducible(call, routine, operands) else EXACT
        return rounded(routine, lapack, call, operands)

    return PureHandler(handler)


def in_program_precision(routine: LapackRoutine, dimensions: str) -> Routine:
    """Return a handler that computes by SciPy's LAPACK in the precision of the operands, else as `exactly` does."""

    @wraps(partial(routine, EXACT))
    def handler(call: CustomCall, *operands: Array) -> Sequence[Array]:
        check_operands(call, dimensions, operands)
        if is_reproducible(call, routine, operands):
            return rounded(routine, REPRODUCIBLE, call, operands)
        is_exact = call.exact_lapack or scipy_linalg() is None or not all(map(is_supported, operands))
        return rounded(routine, EXACT if is_exact else SCIPY, call, operands)

    return PureHandler(handler)


def check_operands(call: CustomCall, dimensions: str, operands: Sequence[Array]) -> None:
    """Check the dimensions of operands, and that all but integers have one floating-point or complex type.

    Shapes and dtypes that passed are not checked again.
    """
    kinds = dimensions, *((x.shape, x.dtype) for x in operands)
    if kinds in _CHECKED:
        return
    check_shapes(call, dimensions, operands)
    dtypes = {x.dtype for x in operands if x.dtype.kind not in "iu"}
    if len(dtypes) > 1 or any(dtype.kind not in "fc" for dtype in dtypes):
        types = ", ".join(map(str, call.operand_types))
        raise malformed(call, f"expected operands of one floating-point or complex element type, got {types}")
    if len(_CHECKED) < MAX_CHECKED:
        _CHECKED.add(kinds)


def rounded(routine: LapackRoutine, lapack: ExactLapack, call: CustomCall, operands: Sequence[Array]) -> list[Array]:
    """Return the results of `routine` in the types of the call.

    Older versions of JAX have further results, which are zero: workspaces, and `info` of routines that always succeed.
    """
    for x in operands:
        if x.size > SMALL:
            check_time(needed=lapack_seconds(x.shape))
    values = list(routine(lapack, call, *(lapack.operand(np.asarray(x)) for x in operands)))
    if len(values) > len(call.result_types):
        raise malformed(call, f"expected at least {len(values)} results, got {len(call.result_types)}")
    values += [empty(call, index) for index in range(len(values), len(call.result_types))]
    return [_as_declared(call, np.asarray(v), t) for v, t in zip(values, call.result_types)]


def lapack_seconds(sizes: Sequence[int]) -> float:
    """Return the least time in which LAPACK decomposes matrices of these sizes: n^3 / 3 operations for each."""
    return prod(sizes) * min(sizes[-2:]) / 3 / FLOPS if len(sizes) > 1 else 0.0


def _as_declared(call: CustomCall, value: Array, type: Type) -> Array:
    """Round a result to its type in the call."""
    dtype = numpy_dtype(element_type(type))
    if value.dtype.kind == "c" and dtype.kind != "c":
        raise malformed(call, f"expected a result of complex element type, got {type}")
    return value.astype(dtype, order="C")


def empty(call: CustomCall, index: int) -> Array:
    """Return zeros for a result that the call does not request."""
    sizes = shape(call.result_types[index]) if index < len(call.result_types) else ()
    return np.zeros([0 if size is UNKNOWN else size for size in sizes])


# --- triangles ------------------------------------------------------------------------------------------------------


def is_lower(call: CustomCall) -> bool:
    """Return whether the routine reads the lower triangle: the flag `lower` of GPU libraries, or `uplo`."""
    return boolean(call, "lower") if "lower" in configuration(call) else letter(call, "uplo", "LU") == "L"


def potrf(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the Cholesky factor in one triangle of `a`, and the order of the first minor that is not positive."""
    return lapack.potrf(a, is_lower(call))


def getrf(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the packed LU factors, the pivots, counted from 1, and the number of the first zero pivot."""
    return lapack.getrf(a)


def trsm(lapack: ExactLapack, call: CustomCall, a: Array, b: Array, alpha: Array | None = None) -> Sequence[Array]:
    """Solve `op(a) x = alpha b` or `x op(a) = alpha b`; `alpha` is an operand in older versions of JAX."""
    left, is_unit = letter(call, "side", "LR") == "L", letter(call, "diag", "NU") == "U"
    transposition: Transposition = letter(call, "trans_x", "NTC")  # type: ignore[assignment]
    number = a.dtype.type(1) if alpha is None else alpha
    return [lapack.trsm(a, b, left, is_lower(call), transposition, is_unit, number)]


def gtsv(
    lapack: ExactLapack, call: CustomCall, lower: Array, diagonal: Array, upper: Array, b: Array
) -> Sequence[Array]:
    """Solve a tridiagonal system; also return the factors and `info`."""
    *results, info = lapack.gtsv(lower, diagonal, upper, b)
    return [*[x[..., : y.shape[-1]] for x, y in zip(results, (lower, diagonal, upper, b))], info]


def perturbed(
    lapack: ExactLapack, call: CustomCall, lower: Array, diagonal: Array, upper: Array, b: Array
) -> Sequence[Array]:
    """Solve a tridiagonal system with zero pivots replaced by the rounding error of the largest element."""
    epsilon = float(np.finfo(numpy_dtype(element_type(call.result_types[0]))).eps)
    return [solve_tridiagonal(lower, diagonal, upper, b, epsilon)[3]]


# --- reflectors -----------------------------------------------------------------------------------------------------


def geqrf(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the packed QR factorization and `tau`."""
    return lapack.geqrf(a)


def geqp3(lapack: ExactLapack, call: CustomCall, a: Array, jpvt: Array) -> Sequence[Array]:
    """Return the packed QR factorization with column pivoting, the columns, counted from 1, and `tau`."""
    return lapack.geqp3(a, jpvt)


def orgqr(lapack: ExactLapack, call: CustomCall, packed: Array, tau: Array) -> Sequence[Array]:
    """Return the product of reflectors as a matrix."""
    return [lapack.orgqr(packed, tau)]


def ormqr(lapack: ExactLapack, call: CustomCall, packed: Array, tau: Array, c: Array) -> Sequence[Array]:
    """Return `Q c` or `c Q`, or with `transpose` `Q^H c` or `c Q^H`."""
    return [lapack.ormqr(packed, tau, c, boolean(call, "left"), boolean(call, "transpose"))]


def gehrd(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the packed reduction to Hessenberg form, `tau` and `info`."""
    size = a.shape[-1]
    high = integer(call, "high", 0, size)
    return lapack.gehrd(a, integer(call, "low", 1, max(1, high)), high)


def sytrd(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the packed reduction to tridiagonal form, its diagonals, `tau` and `info`."""
    return lapack.sytrd(a, is_lower(call))


# --- eigenvalues and singular values --------------------------------------------------------------------------------


def gesdd(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the singular value decomposition and `info`, after a placeholder for the overwritten operand."""
    return singular_values(lapack, call, a, letter(call, "mode", "ASN"), "gesdd")  # type: ignore[arg-type]


def gesvd(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return what `gesdd` does, by QR iteration."""
    return singular_values(lapack, call, a, letter(call, "mode", "ASN"), "gesvd")  # type: ignore[arg-type]


def singular_values(
    lapack: ExactLapack, call: CustomCall, a: Array, job: JobLetter, routine: str = "gesdd"
) -> tuple[Array, Array, Array, Array, Array]:
    """Return the singular value decomposition; `job` is "A" for all vectors, "S" for leading ones, "N" for none."""
    values, u, v, info = lapack.singular_values(a, job, routine)
    return (a, values, empty(call, 2), empty(call, 3), info) if job == "N" else (a, values, u, v, info)


def syevd(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return eigenvectors and eigenvalues of Hermitian matrices in ascending order, and `info`."""
    with_vectors = "mode" not in configuration(call) or letter(call, "mode", "VN") == "V"
    return lapack.syevd(a, is_lower(call), with_vectors)


def geev(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return eigenvalues, left and right eigenvectors, and `info`."""
    left, right = (letter(call, name, "VN") == "V" for name in ("compute_left", "compute_right"))
    return eigenvectors(lapack, call, a, left, right)


def eigenvectors(lapack: ExactLapack, call: CustomCall, a: Array, with_left: bool, with_right: bool) -> Sequence[Array]:
    """Return eigenvalues (for real matrices as real and imaginary parts), left and right eigenvectors, and `info`."""
    values, left, right, info = lapack.geev(a, with_left, with_right)
    return *parts(call, values), left, right, info


def parts(call: CustomCall, values: Array) -> Sequence[Array]:
    """Return eigenvalues of the operand as routines do: of a real matrix as their real and their imaginary parts."""
    return [values] if is_complex(call.operand_types[0]) else [values.real, values.imag]


def gees(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the Schur decomposition; JAX versions of 2024 expect the vectors after the eigenvalues."""
    letter(call, "mode", "VN")
    letter(call, "sort", "N")
    form, vectors, values, selected, info = schur(lapack, call, a)
    vectors_first = rank(call.result_types[1]) == a.ndim
    between = [vectors, *values] if vectors_first else [*values, vectors]
    return [form, *between, selected, info]


def schur(lapack: ExactLapack, call: CustomCall, a: Array) -> tuple[Array, Array, Sequence[Array], Array, Array]:
    """Return the Schur form, its vectors, eigenvalues (as parts for real matrices), the number sorted, and `info`."""
    form, vectors, values, info = lapack.gees(a)
    return form, vectors, parts(call, values), np.zeros_like(info), info


# --- targets --------------------------------------------------------------------------------------------------------

Table: TypeAlias = dict[str, tuple[LapackRoutine, str]]  # routine and dimensions of operands by name

BOTH: Table = {
    "potrf": (potrf, "nn"), "getrf": (getrf, "mn"), "trsm": (trsm, "kk mn"), "gtsv": (gtsv, "p n p nr"),
    "geqrf": (geqrf, "mn"), "geqp3": (geqp3, "mn n"), "gehrd": (gehrd, "nn"), "gesdd": (gesdd, "mn"),
    "gesvd": (gesvd, "mn"), "geev": (geev, "nn"), "gees": (gees, "nn"),
}  # fmt: skip
PRODUCT, MULTIPLY, TRIDIAGONAL, HERMITIAN = (orgqr, "mk t"), (ormqr, "mk t rc"), (sytrd, "nn"), (syevd, "nn")
REAL: Table = {"orgqr": PRODUCT, "ormqr": MULTIPLY, "sytrd": TRIDIAGONAL, "syevd": HERMITIAN}
COMPLEX: Table = {"ungqr": PRODUCT, "unmqr": MULTIPLY, "hetrd": TRIDIAGONAL, "heevd": HERMITIAN}

OPEN = (gesdd, gesvd, geev, gees, syevd)  # whose vectors have any sign

for letters, routines in (("sdcz", BOTH), ("sd", REAL), ("cz", COMPLEX)):
    for name, (function, dimensions) in routines.items():
        for first in letters:
            register(f"lapack_{first}{name}_ffi", in_program_precision(function, dimensions), function in OPEN)
for first in "sdcz":
    register(f"blas_{first}trsm_ffi", in_program_precision(*BOTH["trsm"]))
register("tridiagonal_solve_perturbed_ffi", exactly(perturbed, "p n p nr"))


EXACT_ROUTINES = frozenset({
    "potrf", "trsm", "getrf", "gtsv", "gtsv2", "perturbed", "geqrf", "geqp3", "orgqr", "ormqr", "gehrd", "sytrd",
    "lu_decomposition", "qr", "householder_product",
})  # fmt: skip
EXACT_COMPLEX_ROUTINES = frozenset({"potrf", "trsm"})


def is_reproducible(call: CustomCall, routine: object, operands: Sequence[Array]) -> bool:
    """Return whether results must be reproducible; UnsupportedError if those of the routine cannot be."""
    if not call.reproducible:
        return False
    has_complex = any(np.iscomplexobj(x) for x in operands)
    name = getattr(routine, "__name__", "")
    if name not in (EXACT_COMPLEX_ROUTINES if has_complex else EXACT_ROUTINES):
        types = ", ".join(dict.fromkeys(map(str, call.operand_types)))
        reason = (
            "the rounding of its complex products depends on the processor"
            if name in EXACT_ROUTINES
            else "it is computed by LAPACK, whose results depend on the machine"
        )
        message = f"custom call @{call.target} has no reproducible implementation for {types}: {reason}"
        raise UnsupportedError(message, call.location)
    return True
