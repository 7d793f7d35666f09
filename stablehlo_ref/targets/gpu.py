"""The libraries that JAX calls for linear algebra on GPUs: LAPACK's routines by other names, told by flags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stablehlo_ref.numerics import factorizations
from stablehlo_ref.numerics.factorizations import adjoint
from stablehlo_ref.ops.extensibility import CustomCall, register_custom_call
from stablehlo_ref.targets.lapack import (
    Routine,
    eigenvectors,
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
    return a, values, u, adjoint(v), info


def eig(call: CustomCall, a: Array) -> Sequence[Array]:
    return eigenvectors(call, a, call.backend_config["left"])


def gtsv2(call: CustomCall, lower: Array, diagonal: Array, upper: Array, b: Array) -> Sequence[Array]:
    return [factorizations.solve_tridiagonal(lower, diagonal, upper, b)[3]]


ROUTINES: dict[str, Routine] = {
    "potrf": potrf, "getrf": getrf, "geqrf": geqrf, "orgqr": orgqr, "ormqr": ormqr, "syevd": syevd, "sytrd": sytrd,
    "gesvd": gesvd, "gesdd": gesvd, "gesvdj": gesvdj,
}  # fmt: skip

for library in ("cusolver", "hipsolver", "rocsolver"):
    for name, function in ROUTINES.items():
        register_custom_call(f"{library}_{name}_ffi", rounding(function))
for library in ("cuhybrid", "hiphybrid"):
    register_custom_call(f"{library}_eig_real", rounding(eig))
    register_custom_call(f"{library}_eig_comp", rounding(eig))
    register_custom_call(f"{library}_geqp3", rounding(geqp3))
for library in ("cusparse", "hipsparse"):
    register_custom_call(f"{library}_gtsv2_ffi", rounding(gtsv2))
