"""LAPACK's routines as JAX calls them on CPUs: `lapack_<letter><routine>_ffi`, the letter being s, d, c or z.

Operands and results are those of the routine, with batch dimensions in front, and `info` for each matrix of the batch.
Letters among the arguments (`uplo`, `side`, ...) are numbers, as in ASCII. All is computed in f64 or complex<f64> and
rounded once. Vectors that are determined up to a factor (of eigenvalues, of singular values) have that of numpy's
LAPACK. The Schur decomposition needs SciPy, which is the extra `lapack`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.numerics import factorizations
from stablehlo_ref.numerics.dtypes import COMPLEX128, FLOAT64, numpy_dtype
from stablehlo_ref.numerics.factorizations import adjoint, block_of
from stablehlo_ref.ops.extensibility import CustomCall, register_custom_call
from stablehlo_ref.ops.linear_algebra import Cholesky, Transpose, TriangularSolve
from stablehlo_ref.spec import is_complex, rank, shape

Array = Any
Routine = Callable[..., Sequence[Array]]

TRANSPOSES = {"N": Transpose.NO_TRANSPOSE, "T": Transpose.TRANSPOSE, "C": Transpose.ADJOINT}


def letter(call: CustomCall, name: str) -> str:
    """An argument that is a letter."""
    return chr(call.backend_config[name])


def is_lower(call: CustomCall) -> bool:
    """Whether the lower triangle of a matrix is meant; libraries for GPUs are told so by a flag."""
    return call.backend_config["lower"] if "lower" in call.backend_config else letter(call, "uplo") == "L"


def rounding(routine: Routine) -> Routine:
    """A handler out of a routine on arrays of f64 or complex<f64>, whose results may have more digits than promised.

    Older versions of JAX have further results after those of today, zero for all that anybody sees: workspaces, and
    `info` of what always succeeds.
    """

    def handler(call: CustomCall, *operands: Array) -> Sequence[Array]:
        values = list(routine(call, *[widened(np.asarray(x)) for x in operands]))
        values += [empty(call, index) for index in range(len(values), len(call.result_types))]
        return [np.asarray(v).astype(numpy_dtype(t.element_type)) for v, t in zip(values, call.result_types)]  # type: ignore[attr-defined]

    return handler


def widened(x: Array) -> Array:
    return x if x.dtype.kind in "iu" else x.astype(COMPLEX128 if x.dtype.kind == "c" else FLOAT64, copy=False)


def empty(call: CustomCall, index: int) -> Array:
    """A result that is asked for by nobody."""
    return np.zeros(shape(call.result_types[index]))


def converged(decompose: Callable[[Array], Sequence[Array]], a: Array) -> tuple[list[Array], Array]:
    """What `decompose` makes of each matrix, and 0; NaN and 1 for those on which it gives up."""
    info = np.zeros(a.shape[:-2], np.int32)
    try:
        return list(decompose(a)), info
    except np.linalg.LinAlgError:
        like = decompose(np.broadcast_to(np.eye(*a.shape[-2:], dtype=a.dtype), a.shape))
    results = [np.full_like(x, np.nan) for x in like]
    for batch in np.ndindex(info.shape):
        try:
            for result, value in zip(results, decompose(a[batch])):
                result[batch] = value
        except np.linalg.LinAlgError:
            info[batch] = 1
    return results, info


# --- triangles ------------------------------------------------------------------------------------------------------


def potrf(call: CustomCall, a: Array) -> Sequence[Array]:
    """The Cholesky factor in one triangle of `a`, and the order of the first minor that is not positive."""
    lower = is_lower(call)
    factor = Cholesky.plan(call.operand_types[0], lower)(a.astype(numpy_dtype(call.operand_types[0].element_type)))  # type: ignore[attr-defined]
    info = np.isnan(factor).any((-1, -2)).astype(np.int32)
    for batch in np.argwhere(info):
        info[tuple(batch)] = first_minor(a[tuple(batch)] if lower else adjoint(a[tuple(batch)]))
    keep = np.tri(a.shape[-1], dtype=bool)
    return np.where(keep if lower else keep.T, factor, a), info


def first_minor(a: Array) -> int:
    """The order of the first leading minor that is not positive."""
    for order in range(1, len(a)):
        try:
            if np.isnan(np.linalg.cholesky(a[:order, :order])).any():
                return order
        except np.linalg.LinAlgError:
            return order
    return len(a)


def getrf(call: CustomCall, a: Array) -> Sequence[Array]:
    return factorizations.lu(a)


def trsm(call: CustomCall, a: Array, b: Array, alpha: float | Array = 1.0) -> Sequence[Array]:
    """Solves `a x = alpha b`; `alpha` is an operand in older versions of JAX."""
    solve = TriangularSolve.plan(
        call.operand_types[0],
        left_side=letter(call, "side") == "L",
        lower=is_lower(call),
        unit_diagonal=letter(call, "diag") == "U",
        transpose_a=TRANSPOSES[letter(call, "trans_x")],
    )
    return [solve(a, alpha * b)]


def gtsv(call: CustomCall, lower: Array, diagonal: Array, upper: Array, b: Array) -> Sequence[Array]:
    *results, info = factorizations.solve_tridiagonal(lower, diagonal, upper, b)
    return [*[x[..., : shape(t)[-1]] for x, t in zip(results, call.result_types)], info]


def perturbed(call: CustomCall, lower: Array, diagonal: Array, upper: Array, b: Array) -> Sequence[Array]:
    """`gtsv` where pivots too small to divide by are what rounding errors would make of them."""
    epsilon = np.finfo(numpy_dtype(call.result_types[0].element_type)).eps  # type: ignore[attr-defined]
    return [factorizations.solve_tridiagonal(lower, diagonal, upper, b, epsilon)[3]]


# --- reflectors -----------------------------------------------------------------------------------------------------


def geqrf(call: CustomCall, a: Array) -> Sequence[Array]:
    return factorizations.qr(a)


def geqp3(call: CustomCall, a: Array, chosen: Array) -> Sequence[Array]:
    return factorizations.pivoted_qr(a, chosen)


def orgqr(call: CustomCall, packed: Array, tau: Array) -> Sequence[Array]:
    return [factorizations.product(packed, tau)]


def ormqr(call: CustomCall, packed: Array, tau: Array, c: Array) -> Sequence[Array]:
    """`Q c`, `c Q`, or those with `Q^H`."""
    v, t = block_of(packed, tau)
    t = adjoint(t) if call.backend_config["transpose"] else t
    if call.backend_config["left"]:
        return [c - v @ (t @ (adjoint(v) @ c))]
    return [c - ((c @ v) @ t) @ adjoint(v)]


def gehrd(call: CustomCall, a: Array) -> Sequence[Array]:
    packed, tau = factorizations.hessenberg(a, call.backend_config["low"] - 1, call.backend_config["high"])
    return packed, tau, np.zeros(a.shape[:-2])


def sytrd(call: CustomCall, a: Array) -> Sequence[Array]:
    """For the upper triangle, all that is done to the lower one with rows and columns in reverse."""
    order = 1 if is_lower(call) else -1
    packed, diagonal, off, tau = factorizations.tridiagonal(a[..., ::order, ::order])
    turned = [x[..., ::order] for x in (diagonal, off, tau)]
    return packed[..., ::order, ::order], *turned, np.zeros(a.shape[:-2])


# --- eigenvalues and singular values --------------------------------------------------------------------------------


def gesdd(call: CustomCall, a: Array) -> Sequence[Array]:
    return singular_values(call, a, letter(call, "mode"))


def singular_values(call: CustomCall, a: Array, mode: str) -> Sequence[Array]:
    """`mode` says which vectors are wanted: "A"ll, "S"ome (as many as there are values), "N"one."""
    if mode == "N":
        (values,), info = converged(lambda x: [np.linalg.svd(x, compute_uv=False)], a)
        return a, values, empty(call, 2), empty(call, 3), info
    (u, values, v), info = converged(lambda x: np.linalg.svd(x, full_matrices=mode == "A"), a)
    return a, values, u, v, info


def syevd(call: CustomCall, a: Array) -> Sequence[Array]:
    uplo: Literal["L", "U"] = "L" if is_lower(call) else "U"
    if "mode" in call.backend_config and letter(call, "mode") == "N":
        (values,), info = converged(lambda x: [np.linalg.eigvalsh(x, uplo)], a)
        return a, values, info
    (values, vectors), info = converged(lambda x: np.linalg.eigh(x, uplo), a)
    return vectors, values, info


def geev(call: CustomCall, a: Array) -> Sequence[Array]:
    return eigenvectors(call, a, letter(call, "compute_left") == "V")


def eigenvectors(call: CustomCall, a: Array, with_left: bool) -> Sequence[Array]:
    """Eigenvalues, of real matrices in their parts; left and right vectors."""
    (values, right), info = converged(lambda x: [r.astype(COMPLEX128) for r in np.linalg.eig(x)], a)
    left = left_vectors(right) if with_left else np.zeros_like(right)
    parts = [values] if is_complex(call.operand_types[0]) else [values.real, values.imag]
    return *parts, left, right, info


def left_vectors(right: Array) -> Array:
    """The left eigenvectors to the right ones, of length 1 and with a largest element that is real."""
    left = adjoint(np.linalg.pinv(right)) if np.isfinite(right).all() else np.full_like(right, np.nan)
    left = left / np.linalg.norm(left, axis=-2, keepdims=True)
    largest = np.take_along_axis(left, np.abs(left).argmax(-2, keepdims=True), -2)
    return left * np.conjugate(largest) / np.abs(largest)


def gees(call: CustomCall, a: Array) -> Sequence[Array]:
    """In the order of today's JAX, or that of 2024, which has the vectors behind the eigenvalues."""
    form, vectors, values, *counts = schur(call, a)
    in_front = rank(call.result_types[1]) == a.ndim
    return [form, vectors, *values, *counts] if in_front else [form, *values, vectors, *counts]


def schur(call: CustomCall, a: Array) -> tuple[Array, Array, Sequence[Array], Array, Array]:
    """The Schur form, its vectors, the eigenvalues (in parts, of a real matrix), how many were sorted, and info."""
    try:
        from scipy import linalg
    except ImportError:
        raise UnsupportedError(f"@{call.target} needs SciPy: pip install 'stablehlo-ref[lapack]'") from None
    form, vectors = np.zeros_like(a), np.zeros_like(a)
    for batch in np.ndindex(a.shape[:-2]):
        finite = np.isfinite(a[batch]).all()
        form[batch], vectors[batch] = linalg.schur(a[batch], check_finite=False) if finite else (np.nan, np.nan)
    info = np.isnan(form).any((-1, -2)).astype(np.int32)
    return form, vectors, eigenvalues_of_schur_form(form), np.zeros_like(info), info


def eigenvalues_of_schur_form(form: Array) -> Sequence[Array]:
    """The diagonal, or the real and the imaginary part where blocks of two on it are conjugate pairs."""
    diagonal = np.diagonal(form, axis1=-2, axis2=-1)
    if form.dtype == COMPLEX128:
        return [diagonal]
    above, below = (np.diagonal(form, k, -2, -1) for k in (1, -1))
    size = np.where(below == 0, 0, np.sqrt(np.abs(above)) * np.sqrt(np.abs(below)))
    imaginary = np.zeros(diagonal.shape)
    imaginary[..., :-1] += size
    imaginary[..., 1:] -= size
    return diagonal, imaginary


# --- names ----------------------------------------------------------------------------------------------------------

BOTH: dict[str, Routine] = {
    "potrf": potrf, "getrf": getrf, "trsm": trsm, "gtsv": gtsv, "geqrf": geqrf, "geqp3": geqp3, "gehrd": gehrd,
    "gesdd": gesdd, "gesvd": gesdd, "geev": geev, "gees": gees,
}  # fmt: skip
REAL: dict[str, Routine] = {"orgqr": orgqr, "ormqr": ormqr, "sytrd": sytrd, "syevd": syevd}
COMPLEX: dict[str, Routine] = {"ungqr": orgqr, "unmqr": ormqr, "hetrd": sytrd, "heevd": syevd}

for letters, routines in (("sdcz", BOTH), ("sd", REAL), ("cz", COMPLEX)):
    for name, function in routines.items():
        for first in letters:
            register_custom_call(f"lapack_{first}{name}_ffi", rounding(function))
for first in "sdcz":
    register_custom_call(f"blas_{first}trsm_ffi", rounding(trsm))
register_custom_call("tridiagonal_solve_perturbed_ffi", rounding(perturbed))
