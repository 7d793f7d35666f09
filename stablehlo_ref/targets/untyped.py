"""LAPACK as JAX called it until 2024: numbers that say what to do are operands in front of matrices, or bytes of text.

Results are those of today's targets, and workspaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from stablehlo_ref.ops.extensibility import CustomCall, register_custom_call
from stablehlo_ref.ops.linear_algebra import TriangularSolve
from stablehlo_ref.targets.gpu import gesvd
from stablehlo_ref.targets.lapack import (
    TRANSPOSES,
    Routine,
    eigenvectors,
    empty,
    gehrd,
    geqrf,
    getrf,
    orgqr,
    potrf,
    rounding,
    schur,
    syevd,
    sytrd,
)

Array = Any


def trsm(call: CustomCall, alpha: Array, a: Array, b: Array) -> Sequence[Array]:
    config = call.backend_config
    solve = TriangularSolve.plan(
        call.operand_types[1],
        left_side=bool(config["left"]),
        lower=bool(config["lower"]),
        unit_diagonal=bool(config["unit_diagonal"]),
        transpose_a=tuple(TRANSPOSES.values())[config["transpose"]],
    )
    return [solve(a, alpha * b)]


def geev(call: CustomCall, a: Array) -> Sequence[Array]:
    """Workspaces come first."""
    results = eigenvectors(call, a, call.backend_config["compute_left"] == ord("V"))
    return [*(empty(call, index) for index in range(len(call.result_types) - len(results))), *results]


def gees(call: CustomCall, a: Array) -> Sequence[Array]:
    """There is a workspace for complex matrices only."""
    form, vectors, values, *counts = schur(call, a)
    return [form, *([empty(call, 1)] if len(values) == 1 else []), *values, vectors, *counts]


def told_by_operands(routine: Routine, numbers: str) -> Routine:
    """A handler that gives a routine its first operands, by their names, as what it is told."""
    names = numbers.split()

    def handler(call: CustomCall, *operands: Array) -> Sequence[Array]:
        config = dict(zip(names, map(int, operands)))
        call = replace(call, backend_config=config, operand_types=call.operand_types[len(names) :])
        return rounding(routine)(call, *operands[len(names) :])

    return handler


def syevd_told_by_bytes(call: CustomCall, a: Array) -> Sequence[Array]:
    """The fifth byte says which triangle: the lower one is 0 of CUDA, 122 of ROCm."""
    return syevd(replace(call, backend_config={"lower": call.backend_config[4] in "\0z"}), a)


Table = dict[str, tuple[Routine, str]]

BOTH: Table = {
    "lapack_?potrf": (potrf, "lower batch n"),
    "lapack_?getrf": (getrf, "batch m n"),
    "lapack_?geqrf": (geqrf, "batch m n size"),
    "lapack_?gehrd": (gehrd, "n low high stride batch size"),
    "lapack_?gesdd": (gesvd, "full_matrices compute_uv batch m n size"),
    "lapack_?geev": (geev, "batch n compute_left compute_right"),
    "lapack_?gees": (gees, "batch n mode sort"),
    "blas_?trsm": (trsm, "left lower transpose unit_diagonal m n batch"),
}
PRODUCT, TRIDIAGONAL = (orgqr, "batch m n k size"), (sytrd, "n lower stride batch size")
REAL: Table = {"lapack_?orgqr": PRODUCT, "lapack_?sytrd": TRIDIAGONAL, "lapack_?syevd": (syevd, "lower batch n")}
COMPLEX: Table = {"lapack_?ungqr": PRODUCT, "lapack_?hetrd": TRIDIAGONAL, "lapack_?heevd": (syevd, "lower batch n")}

for letters, routines in (("sdcz", BOTH), ("sd", REAL), ("cz", COMPLEX)):
    for target, (function, numbers) in routines.items():
        for letter in letters:
            register_custom_call(target.replace("?", letter), told_by_operands(function, numbers))
for device in ("cu", "hip"):
    register_custom_call(f"{device}solver_geqrf", rounding(geqrf))
    register_custom_call(f"{device}blas_geqrf_batched", rounding(geqrf))
    register_custom_call(f"{device}solver_orgqr", rounding(orgqr))
    register_custom_call(f"{device}solver_syevd", rounding(syevd_told_by_bytes))
    register_custom_call(f"{device}solver_syevj", rounding(syevd_told_by_bytes))
