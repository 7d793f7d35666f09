"""Linear algebra libraries that JAX calls on GPUs: LAPACK routines under other names, with boolean parameters.

They compute in f64 or complex<f64>, because no library on CPUs has the same order and signs of vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.factorizations import adjoint, solve_tridiagonal
from stablehlo_ref.ops.extensibility import CustomCall
from stablehlo_ref.targets.configuration import boolean, register
from stablehlo_ref.targets.exact_lapack import ExactLapack, JobLetter
from stablehlo_ref.targets.lapack import (
    OPEN,
    Table,
    eigenvectors,
    empty,
    exactly,
    geqp3,
    geqrf,
    getrf,
    orgqr,
    ormqr,
    potrf,
    singular_values,
    syevd,
    sytrd,
)


def job(call: CustomCall) -> JobLetter:
    """Return the LAPACK job letter of a singular value decomposition."""
    full_matrices = boolean(call, "full_matrices")
    if not boolean(call, "compute_uv"):
        return "N"
    return "A" if full_matrices else "S"


def gesvd(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the singular value decomposition; with `transposed`, right vectors precede left ones."""
    results = singular_values(lapack, call, a, job(call))
    if not boolean(call, "transposed", default=False) or job(call) == "N":
        return results
    a, values, u, v, info = results
    return a, values, v, u, info


def gesvdj(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the singular value decomposition with right vectors as columns."""
    _, values, u, v, info = singular_values(lapack, call, a, job(call))
    return a, values, u, v if job(call) == "N" else adjoint(v), info


def eig(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return eigenvalues, left and right eigenvectors, and `info`."""
    return eigenvectors(lapack, call, a, boolean(call, "left"), boolean(call, "right", default=True))


def geev(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
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


ROUTINES: Table = {
    "potrf": (potrf, "nn"), "getrf": (getrf, "mn"), "geqrf": (geqrf, "mn"), "orgqr": (orgqr, "mk t"),
    "ormqr": (ormqr, "mk t rc"), "syevd": (syevd, "nn"), "sytrd": (sytrd, "nn"), "gesvd": (gesvd, "mn"),
    "gesdd": (gesvd, "mn"), "gesvdj": (gesvdj, "mn"), "gesvdp": (gesvdj, "mn"), "geev": (geev, "nn"),
    "syrk": (syrk, "mn kk - -"),
}  # fmt: skip

for library in ("cusolver", "hipsolver", "rocsolver"):
    for name, (function, dimensions) in ROUTINES.items():
        register(f"{library}_{name}_ffi", exactly(function, dimensions), function in (*OPEN, gesvd, gesvdj, geev))
register("cu_cholesky_update_ffi", exactly(cholesky_update, "nn n"))
for library in ("cuhybrid", "hiphybrid"):
    register(f"{library}_eig_real", exactly(eig, "nn"), is_open=True)
    register(f"{library}_eig_comp", exactly(eig, "nn"), is_open=True)
    register(f"{library}_geqp3", exactly(geqp3, "mn n"))
for library in ("cusparse", "hipsparse"):
    register(f"{library}_gtsv2_ffi", exactly(gtsv2, "p n p nr"))
