"""LAPACK routines as JAX calls them on CPUs: `lapack_<letter><routine>_ffi`, where the letter is s, d, c or z.

Operands and results are those of the routine with leading batch dimensions, and `info` for each matrix of the batch.
Character arguments (`uplo`, `side`, ...) are ASCII codes. With SciPy, its LAPACK computes in the precision of the
program, as in JAX; without it, and in runs with `exact_lapack`, numpy computes in f64 or complex<f64> and the results
are rounded once.

Until 2024, JAX emitted targets without `_ffi`. Their parameters are leading integer operands, or bytes in
`backend_config`, and their results are those of the later targets, and workspaces. Targets of XLA and of libraries of
GPUs compute in f64 or complex<f64>.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from math import prod

import numpy as np

from stablehlo_ref.define.spec import UNKNOWN, dim, element_type, rank, shape
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import Type
from stablehlo_ref.limits.budget import check_time
from stablehlo_ref.numerics import factorizations
from stablehlo_ref.numerics.contraction import FLOPS
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.factorizations import adjoint, solve_tridiagonal
from stablehlo_ref.ops.extensibility import CustomCall, PureHandler
from stablehlo_ref.targets.configuration import (
    Routine,
    boolean,
    check_shapes,
    checked,
    configuration,
    integer,
    letter,
    malformed,
    register,
    scalar,
)
from stablehlo_ref.targets.exact_lapack import EXACT, REPRODUCIBLE, ExactLapack, JobLetter, Transposition, scipy_linalg
from stablehlo_ref.targets.scipy_lapack import SCIPY, is_supported, names_of

SMALL = 1 << 8  # elements: decompositions of so few take no time that a deadline matters for
MAX_CHECKED = 1 << 10  # shapes and dtypes that are remembered

_CHECKED: set[tuple[object, ...]] = set()  # dimensions, and the shapes and dtypes of operands that passed the checks


@dataclass(frozen=True)
class LapackRoutine:
    """What custom_calls of a routine compute.

    `dimensions` are those of the operands, as for `check_shapes`. A routine that `is_open` has results of which several
    are right, such as vectors of any sign. Those of real operands can be reproducible if `reproducible` has an f, those
    of complex operands if it has a c.
    """

    compute: Callable[..., Sequence[Array]]  # from an ExactLapack, a CustomCall and arrays of operands
    dimensions: str
    reproducible: str = ""
    is_open: bool = False


def register_routine(target: str, routine: LapackRoutine, in_f64: bool = False, parameters: str = "") -> None:
    """Register a routine for custom_calls of `target`, whose leading operands are `parameters`.

    It computes by SciPy's LAPACK in the precision of the operands; without SciPy, or `in_f64`, in f64 or complex<f64>,
    with results rounded to the result types.
    """

    @wraps(partial(routine.compute, EXACT))
    def handler(call: CustomCall, *operands: Array) -> Sequence[Array]:
        check_operands(call, routine.dimensions, operands)
        if call.reproducible:
            check_reproducible(call, routine, operands)
            return rounded(routine, REPRODUCIBLE, call, operands)
        is_exact = in_f64 or call.exact_lapack or scipy_linalg() is None or not all(map(is_supported, operands))
        return rounded(routine, EXACT if is_exact else SCIPY, call, operands)

    pure = PureHandler(handler)
    register(target, with_leading_parameters(pure, parameters.split()) if parameters else pure, routine.is_open)


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


def check_reproducible(call: CustomCall, routine: LapackRoutine, operands: Sequence[Array]) -> None:
    """Raise UnsupportedError if the results of a routine cannot be reproducible."""
    if ("c" if any(map(np.iscomplexobj, operands)) else "f") in routine.reproducible:
        return
    types = ", ".join(dict.fromkeys(map(str, call.operand_types)))
    reason = (
        "the rounding of its complex products depends on the processor"
        if routine.reproducible
        else "it is computed by LAPACK, whose results depend on the machine"
    )
    message = f"custom call @{call.target} has no reproducible implementation for {types}: {reason}"
    raise UnsupportedError(message, call.location)


def rounded(routine: LapackRoutine, lapack: ExactLapack, call: CustomCall, operands: Sequence[Array]) -> list[Array]:
    """Return the results of `routine` in the types of the call.

    Older versions of JAX have further results, which are zero: workspaces, and `info` of routines that always succeed.
    """
    for x in operands:
        if x.size > SMALL and x.ndim > 1:  # LAPACK takes n^3 / 3 operations at least
            check_time(needed=prod(x.shape) * min(x.shape[-2:]) / 3 / FLOPS)
    values = list(routine.compute(lapack, call, *(lapack.operand(np.asarray(x)) for x in operands)))
    if len(values) > len(call.result_types):
        raise malformed(call, f"expected at least {len(values)} results, got {len(call.result_types)}")
    values += [empty(call, index) for index in range(len(values), len(call.result_types))]
    return [_as_declared(call, np.asarray(v), t) for v, t in zip(values, call.result_types)]


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


# --- what configurations say ----------------------------------------------------------------------------------------


def is_lower(call: CustomCall) -> bool:
    """Return whether the routine reads the lower triangle: the flag `lower` of GPU libraries, or `uplo`."""
    return boolean(call, "lower") if "lower" in configuration(call) else letter(call, "uplo", "LU") == "L"


def job(call: CustomCall) -> JobLetter:
    """Return the job letter of a singular value decomposition, given as flags."""
    full_matrices = boolean(call, "full_matrices")
    if not boolean(call, "compute_uv"):
        return "N"
    return "A" if full_matrices else "S"


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


def gehrd(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the packed reduction to Hessenberg form, `tau` and `info`."""
    high = integer(call, "high", 0, a.shape[-1])
    return lapack.gehrd(a, integer(call, "low", 1, max(1, high)), high)


def gesvd(routine: str) -> LapackRoutine:
    """Return the singular value decomposition by gesdd or gesvd."""

    def compute(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
        return singular_values(lapack, call, a, letter(call, "mode", "ASN"), routine)  # type: ignore[arg-type]

    return LapackRoutine(compute, "mn", is_open=True)


def singular_values(
    lapack: ExactLapack, call: CustomCall, a: Array, job: JobLetter, routine: str = "gesdd"
) -> tuple[Array, Array, Array, Array, Array]:
    """Return the singular value decomposition and `info`, after a placeholder for the overwritten operand."""
    values, u, v, info = lapack.singular_values(a, job, routine)
    return (a, values, empty(call, 2), empty(call, 3), info) if job == "N" else (a, values, u, v, info)


def syevd(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return eigenvectors and eigenvalues of Hermitian matrices in ascending order, and `info`."""
    with_vectors = "mode" not in configuration(call) or letter(call, "mode", "VN") == "V"
    return lapack.syevd(a, is_lower(call), with_vectors)


def geev(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return eigenvalues, left and right eigenvectors, and `info`."""
    left, right = (letter(call, name, "VN") == "V" for name in ("compute_left", "compute_right"))
    return eigenvectors(lapack, a, left, right)


def eigenvectors(lapack: ExactLapack, a: Array, with_left: bool, with_right: bool) -> Sequence[Array]:
    """Return eigenvalues (for real matrices as real and imaginary parts), left and right eigenvectors, and `info`."""
    values, *rest = lapack.geev(a, with_left, with_right)
    return *parts(a, values), *rest


def parts(a: Array, values: Array) -> Sequence[Array]:
    """Return eigenvalues of `a` as routines do: of a real matrix as their real and their imaginary parts."""
    return [values] if np.iscomplexobj(a) else [values.real, values.imag]


def gees(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the Schur decomposition; JAX versions of 2024 expect the vectors after the eigenvalues."""
    letter(call, "mode", "VN")
    letter(call, "sort", "N")
    form, vectors, values, info = lapack.gees(a)
    vectors_first = rank(call.result_types[1]) == a.ndim
    between = [vectors, *parts(a, values)] if vectors_first else [*parts(a, values), vectors]
    return [form, *between, np.zeros_like(info), info]


# --- targets --------------------------------------------------------------------------------------------------------

POTRF = LapackRoutine(lambda lapack, call, a: lapack.potrf(a, is_lower(call)), "nn", "fc")
GETRF = LapackRoutine(lambda lapack, call, a: lapack.getrf(a), "mn", "f")
GEQRF = LapackRoutine(lambda lapack, call, a: lapack.geqrf(a), "mn", "f")
GEQP3 = LapackRoutine(lambda lapack, call, a, jpvt: lapack.geqp3(a, jpvt), "mn n", "f")
ORGQR = LapackRoutine(lambda lapack, call, packed, tau: [lapack.orgqr(packed, tau)], "mk t", "f")
ORMQR = LapackRoutine(
    lambda lapack, call, packed, tau, c: [
        lapack.ormqr(packed, tau, c, boolean(call, "left"), boolean(call, "transpose"))
    ],
    "mk t rc",
    "f",
)
GEHRD = LapackRoutine(gehrd, "nn", "f")
SYTRD = LapackRoutine(lambda lapack, call, a: lapack.sytrd(a, is_lower(call)), "nn", "f")
SYEVD = LapackRoutine(syevd, "nn", is_open=True)

for name, routine in {
    "potrf": POTRF, "getrf": GETRF, "trsm": LapackRoutine(trsm, "kk mn", "fc"),
    "gtsv": LapackRoutine(gtsv, "p n p nr", "f"), "geqrf": GEQRF, "geqp3": GEQP3, "orgqr": ORGQR, "ormqr": ORMQR,
    "gehrd": GEHRD, "sytrd": SYTRD, "gesdd": gesvd("gesdd"), "gesvd": gesvd("gesvd"), "syevd": SYEVD,
    "geev": LapackRoutine(geev, "nn", is_open=True), "gees": LapackRoutine(gees, "nn", is_open=True),
}.items():  # fmt: skip
    for spelling in names_of(name):
        register_routine(f"lapack_{spelling}_ffi", routine)
for spelling in names_of("trsm"):
    register_routine(f"blas_{spelling}_ffi", LapackRoutine(trsm, "kk mn", "fc"))
register_routine("tridiagonal_solve_perturbed_ffi", LapackRoutine(perturbed, "p n p nr", "f"), in_f64=True)


# --- targets without `_ffi` -----------------------------------------------------------------------------------------


def with_leading_parameters(routine: Routine, names: Sequence[str]) -> Routine:
    """Return a handler that passes its leading operands to `routine` as the configuration entries `names`."""
    inner = checked(routine)

    def handler(call: CustomCall, *operands: Array) -> Sequence[Array]:
        if len(operands) < len(names):
            raise malformed(call, f"expected the leading operands {', '.join(names)}, got {len(operands)} operands")
        config = {name: scalar(call, name, value) for name, value in zip(names, operands)}
        call = replace(call, backend_config=config, operand_types=call.operand_types[len(names) :])
        return inner(call, *operands[len(names) :])

    return handler


def legacy_trsm(lapack: ExactLapack, call: CustomCall, alpha: Array, a: Array, b: Array) -> Sequence[Array]:
    """Solve `op(a) x = alpha b` or `x op(a) = alpha b`."""
    transpositions: Sequence[Transposition] = ("N", "T", "C")
    transposition = transpositions[integer(call, "transpose", 0, 2)]
    left, lower, unit = (boolean(call, name) for name in ("left", "lower", "unit_diagonal"))
    return [lapack.trsm(a, b, left, lower, transposition, unit, alpha)]


def legacy_geev(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return workspaces, then eigenvalues, left and right eigenvectors, and `info`."""
    results = geev(lapack, call, a)
    return [*(empty(call, index) for index in range(len(call.result_types) - len(results))), *results]


def legacy_gees(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the Schur decomposition; complex matrices have a workspace after the Schur form."""
    form, vectors, values, info = lapack.gees(a)
    workspace = [empty(call, 1)] if np.iscomplexobj(a) else []
    return [form, *workspace, *parts(a, values), vectors, np.zeros_like(info), info]


def syevd_from_descriptor(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Compute `syevd`; byte 4 of the descriptor selects the triangle: 0 (CUDA) or 122 (ROCm) is the lower one."""
    descriptor = call.backend_config
    if not isinstance(descriptor, str) or len(descriptor) < 5:
        raise malformed(call, f"expected a descriptor of at least 5 bytes as backend_config, got {descriptor!r}")
    return syevd(lapack, replace(call, backend_config={"lower": descriptor[4] in "\0z"}), a)


def svd_by_flags(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the singular value decomposition that flags ask for; right vectors come first if it is `transposed`."""
    results = singular_values(lapack, call, a, job(call))
    if not boolean(call, "transposed", default=False) or job(call) == "N":
        return results
    a, values, u, v, info = results
    return a, values, v, u, info


for library, name, routine, parameters in (
    ("lapack", "potrf", POTRF, "lower batch n"),
    ("lapack", "getrf", GETRF, "batch m n"),
    ("lapack", "geqrf", GEQRF, "batch m n size"),
    ("lapack", "orgqr", ORGQR, "batch m n k size"),
    ("lapack", "gehrd", GEHRD, "n low high stride batch size"),
    ("lapack", "sytrd", SYTRD, "n lower stride batch size"),
    ("lapack", "syevd", SYEVD, "lower batch n"),
    ("lapack", "gesdd", LapackRoutine(svd_by_flags, "mn", is_open=True), "full_matrices compute_uv batch m n size"),
    ("lapack", "geev", LapackRoutine(legacy_geev, "nn", is_open=True), "batch n compute_left compute_right"),
    ("lapack", "gees", LapackRoutine(legacy_gees, "nn", is_open=True), "batch n mode sort"),
    ("blas", "trsm", LapackRoutine(legacy_trsm, "- kk mn", "fc"), "left lower transpose unit_diagonal m n batch"),
):
    for spelling in names_of(name):
        register_routine(f"{library}_{spelling}", routine, parameters=parameters)
for device in ("cu", "hip"):
    register_routine(f"{device}solver_geqrf", GEQRF, in_f64=True)
    register_routine(f"{device}blas_geqrf_batched", GEQRF, in_f64=True)
    register_routine(f"{device}solver_orgqr", ORGQR, in_f64=True)
    for name in ("syevd", "syevj"):
        descriptor = LapackRoutine(syevd_from_descriptor, "nn", is_open=True)
        register_routine(f"{device}solver_{name}", descriptor, in_f64=True)


# --- targets of XLA, and of libraries of GPUs ------------------------------------------------------------------------


def eigh(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return eigenvectors and eigenvalues of Hermitian matrices; the configuration is "lower,sorted,...,..."."""
    lower = str(call.backend_config).split(",")[0] or "1"
    if lower not in ("0", "1"):
        raise malformed(call, f"expected backend_config to start with 0 or 1, got {call.backend_config!r}")
    return lapack.syevd(a, lower == "1", with_vectors=True)[:2]


def lu_decomposition(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the packed LU factors, the pivots, counted from 0, and the permutation of rows."""
    packed, pivots, _ = lapack.getrf(a)
    return packed, pivots - 1, permutation(pivots - 1, a.shape[-2])


def lu_pivots_to_permutation(call: CustomCall, pivots: Array) -> Sequence[Array]:
    """Return the permutation of rows that pivots, counted from 0, represent."""
    return [permutation(pivots, dim(call.result_types[0], pivots.ndim - 1))]


def permutation(pivots: Array, size: int) -> Array:
    """Return the order of `size` rows after swapping each row in turn with its pivot; pivots >= `size` are skipped."""
    order = np.broadcast_to(np.arange(size, dtype=np.int32), (*pivots.shape[:-1], size)).copy()
    for k in range(pivots.shape[-1]):
        factorizations.swap(order[..., np.newaxis], k, np.where(pivots[..., k] < size, pivots[..., k], k))
    return order


def gesvdj(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the singular value decomposition with right vectors as columns."""
    _, values, u, v, info = singular_values(lapack, call, a, job(call))
    return a, values, u, v if job(call) == "N" else adjoint(v), info


def eig(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return eigenvalues, left and right eigenvectors, and `info`."""
    return eigenvectors(lapack, a, boolean(call, "left"), boolean(call, "right", default=True))


def gpu_geev(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return eigenvalues and right eigenvectors; a conjugate pair's columns are the real and imaginary parts."""
    values, _, right, info = lapack.geev(a, False, True)
    if not np.iscomplexobj(a):
        right = np.where(values.imag[..., np.newaxis, :] < 0, -right.imag, right.real)
    return a, values, empty(call, 2), right, info


def syrk(lapack: ExactLapack, call: CustomCall, a: Array, c: Array, alpha: Array, beta: Array) -> Sequence[Array]:
    """Return both triangles of `alpha a a^H + beta c`, or with `transpose` of `alpha a^H a + beta c`."""
    a = adjoint(a) if boolean(call, "transpose") else a
    return [alpha * a @ adjoint(a) + beta * c]


def cholesky_update(lapack: ExactLapack, call: CustomCall, factor: Array, w: Array) -> Sequence[Array]:
    """Return the upper triangular factor of `factor^T factor + w w^T`, by Givens rotations, and the rest of `w`."""
    factor = factor.copy()
    for k, row in enumerate(factor):
        length = np.hypot(row[k], w[k])
        c, s = (row[k] / length, w[k] / length) if length else (1.0, 0.0)
        factor[k], w = c * row + s * w, c * w - s * row
    return factor, w


def gtsv2(
    lapack: ExactLapack, call: CustomCall, lower: Array, diagonal: Array, upper: Array, b: Array
) -> Sequence[Array]:
    """Solve a tridiagonal system."""
    return [solve_tridiagonal(lower, diagonal, upper, b)[3]]


register_routine("Eigh", LapackRoutine(eigh, "nn", is_open=True), in_f64=True)
register_routine("LuDecomposition", LapackRoutine(lu_decomposition, "mn", "f"), in_f64=True)
register_routine("Qr", GEQRF, in_f64=True)
register_routine("ProductOfElementaryHouseholderReflectors", ORGQR, in_f64=True)
ROUTINES = {
    "potrf": POTRF, "getrf": GETRF, "geqrf": GEQRF, "orgqr": ORGQR, "ormqr": ORMQR, "syevd": SYEVD, "sytrd": SYTRD,
    "gesvd": LapackRoutine(svd_by_flags, "mn", is_open=True), "gesdd": LapackRoutine(svd_by_flags, "mn", is_open=True),
    "gesvdj": LapackRoutine(gesvdj, "mn", is_open=True), "gesvdp": LapackRoutine(gesvdj, "mn", is_open=True),
    "geev": LapackRoutine(gpu_geev, "nn", is_open=True), "syrk": LapackRoutine(syrk, "mn kk - -"),
}  # fmt: skip

for library in ("cusolver", "hipsolver", "rocsolver"):
    for name, function in ROUTINES.items():
        register_routine(f"{library}_{name}_ffi", function, in_f64=True)
register_routine("cu_cholesky_update_ffi", LapackRoutine(cholesky_update, "nn n"), in_f64=True)
for device in ("cu", "hip"):
    register(f"{device}_lu_pivots_to_permutation", lu_pivots_to_permutation)
for library in ("cuhybrid", "hiphybrid"):
    for part in ("real", "comp"):
        register_routine(f"{library}_eig_{part}", LapackRoutine(eig, "nn", is_open=True), in_f64=True)
    register_routine(f"{library}_geqp3", GEQP3, in_f64=True)
for library in ("cusparse", "hipsparse"):
    register_routine(f"{library}_gtsv2_ffi", LapackRoutine(gtsv2, "p n p nr", "f"), in_f64=True)
