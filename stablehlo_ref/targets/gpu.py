"""The libraries that JAX calls for linear algebra on GPUs: LAPACK's routines by other names, told by flags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stablehlo_ref.numerics import factorizations
from stablehlo_ref.numerics.factorizations import adjoint
from stablehlo_ref.ops.extensibility import CustomCall, register_custom_call
from stablehlo_ref.targets.lapack import (
    Routine,
    eigenvectors,
    empty,
    geqp3,
    geqrf,
    getrf,
    orgqr,
    ormqr,
    potrf,
    rounding,
    singular_values,
    syevd,
    sytrd,
)

Array = Any


def mode(call: CustomCall) -> str:
    if not call.backend_config["compute_uv"]:
        return "N"
    return "A" if call.backend_config["full_matrices"] else "S"


def gesvd(call: CustomCall, a: Array) -> Sequence[Array]:
    """Where it is told that matrices are transposed, right vectors come before left ones."""
    results = singular_values(call, a, mode(call))
    if not call.backend_config.get("transposed", False) or mode(call) == "N":
        return results
    a, values, u, v, info = results
    return a, values, v, u, info


def gesvdj(call: CustomCall, a: Array) -> Sequence[Array]:
    """Right vectors come by columns."""
    _, values, u, v, info = singular_values(call, a, mode(call))
    return a, values, u, v if mode(call) == "N" else adjoint(v), info


def eig(call: CustomCall, a: Array) -> Sequence[Array]:
    return eigenvectors(call, a, call.backend_config["left"])


def geev(call: CustomCall, a: Array) -> Sequence[Array]:
    """Of real matrices the vectors of a pair of values are conjugate: the real and the imaginary part of the first."""
    *parts, _, right, info = eigenvectors(call, a, with_left=False)
    if len(parts) == 1:
        return a, *parts, empty(call, 2), right, info
    real, imaginary = parts
    vectors = np.where(imaginary[..., np.newaxis, :] < 0, -right.imag, right.real)
    return a, real + 1j * imaginary, empty(call, 2), vectors, info


def syrk(call: CustomCall, a: Array, c: Array, alpha: Array, beta: Array) -> Sequence[Array]:
    """A symmetric product: both triangles of it."""
    a = adjoint(a) if call.backend_config["transpose"] else a
    return [alpha * a @ adjoint(a) + beta * c]


def cholesky_update(call: CustomCall, factor: Array, w: Array) -> Sequence[Array]:
    """The upper triangular factor of `factor^T factor + w w^T`, by a rotation for each row, and what is left of `w`."""
    factor = factor.copy()
    for k, row in enumerate(factor):
        length = np.hypot(row[k], w[k])
        c, s = (row[k] / length, w[k] / length) if length else (1.0, 0.0)
        factor[k], w = c * row + s * w, c * w - s * row
    return factor, w


def gtsv2(call: CustomCall, lower: Array, diagonal: Array, upper: Array, b: Array) -> Sequence[Array]:
    return [factorizations.solve_tridiagonal(lower, diagonal, upper, b)[3]]


ROUTINES: dict[str, Routine] = {
    "potrf": potrf, "getrf": getrf, "geqrf": geqrf, "orgqr": orgqr, "ormqr": ormqr, "syevd": syevd, "sytrd": sytrd,
    "gesvd": gesvd, "gesdd": gesvd, "gesvdj": gesvdj, "gesvdp": gesvdj, "geev": geev, "syrk": syrk,
}  # fmt: skip

for library in ("cusolver", "hipsolver", "rocsolver"):
    for name, function in ROUTINES.items():
        register_custom_call(f"{library}_{name}_ffi", rounding(function))
register_custom_call("cu_cholesky_update_ffi", rounding(cholesky_update))
for library in ("cuhybrid", "hiphybrid"):
    register_custom_call(f"{library}_eig_real", rounding(eig))
    register_custom_call(f"{library}_eig_comp", rounding(eig))
    register_custom_call(f"{library}_geqp3", rounding(geqp3))
for library in ("cusparse", "hipsparse"):
    register_custom_call(f"{library}_gtsv2_ffi", rounding(gtsv2))
