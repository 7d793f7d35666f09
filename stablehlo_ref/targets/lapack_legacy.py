"""LAPACK targets as JAX emitted them until 2024, before the typed FFI.

Parameters are leading integer operands, or bytes in `backend_config`. Results are those of the typed targets, and
workspaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ops.extensibility import CustomCall
from stablehlo_ref.targets.configuration import Routine, boolean, checked, integer, letter, malformed, register, scalar
from stablehlo_ref.targets.exact_lapack import ExactLapack, Transposition
from stablehlo_ref.targets.lapack import (
    OPEN,
    LapackRoutine,
    eigenvectors,
    empty,
    exactly,
    gehrd,
    geqrf,
    getrf,
    in_program_precision,
    orgqr,
    potrf,
    schur,
    singular_values,
    syevd,
    sytrd,
)
from stablehlo_ref.targets.xla import job


def trsm(lapack: ExactLapack, call: CustomCall, alpha: Array, a: Array, b: Array) -> Sequence[Array]:
    """Solve `op(a) x = alpha b` or `x op(a) = alpha b`."""
    transpositions: Sequence[Transposition] = ("N", "T", "C")
    transposition = transpositions[integer(call, "transpose", 0, 2)]
    left, lower, unit = (boolean(call, name) for name in ("left", "lower", "unit_diagonal"))
    return [lapack.trsm(a, b, left, lower, transposition, unit, alpha)]


def gesdd(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the singular value decomposition and `info`, after a placeholder for the overwritten operand."""
    return singular_values(lapack, call, a, job(call))


def geev(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return workspaces, then eigenvalues, left and right eigenvectors, and `info`."""
    left, right = (letter(call, name, "VN") == "V" for name in ("compute_left", "compute_right"))
    results = eigenvectors(lapack, call, a, left, right)
    return [*(empty(call, index) for index in range(len(call.result_types) - len(results))), *results]


def gees(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the Schur decomposition; complex matrices have a workspace after the Schur form."""
    form, vectors, values, *counts = schur(lapack, call, a)
    return [form, *([empty(call, 1)] if len(values) == 1 else []), *values, vectors, *counts]


def syevd_from_descriptor(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Compute `syevd`; byte 4 of the descriptor selects the triangle: 0 (CUDA) or 122 (ROCm) is the lower one."""
    descriptor = call.backend_config
    if not isinstance(descriptor, str) or len(descriptor) < 5:
        raise malformed(call, f"expected a descriptor of at least 5 bytes as backend_config, got {descriptor!r}")
    return syevd(lapack, replace(call, backend_config={"lower": descriptor[4] in "\0z"}), a)


def with_leading_parameters(routine: LapackRoutine, dimensions: str, parameters: str) -> Routine:
    """Return a handler that passes its leading operands to `routine` as the configuration entries `parameters`."""
    names = parameters.split()
    inner = checked(in_program_precision(routine, dimensions))

    def handler(call: CustomCall, *operands: Array) -> Sequence[Array]:
        if len(operands) < len(names):
            raise malformed(call, f"expected the leading operands {', '.join(names)}, got {len(operands)} operands")
        config = {name: scalar(call, name, value) for name, value in zip(names, operands)}
        call = replace(call, backend_config=config, operand_types=call.operand_types[len(names) :])
        return inner(call, *operands[len(names) :])

    return handler


# routine, dimensions of operands and parameters by target, with ? for the letter
Table: TypeAlias = dict[str, tuple[LapackRoutine, str, str]]

BOTH: Table = {
    "lapack_?potrf": (potrf, "nn", "lower batch n"),
    "lapack_?getrf": (getrf, "mn", "batch m n"),
    "lapack_?geqrf": (geqrf, "mn", "batch m n size"),
    "lapack_?gehrd": (gehrd, "nn", "n low high stride batch size"),
    "lapack_?gesdd": (gesdd, "mn", "full_matrices compute_uv batch m n size"),
    "lapack_?geev": (geev, "nn", "batch n compute_left compute_right"),
    "lapack_?gees": (gees, "nn", "batch n mode sort"),
    "blas_?trsm": (trsm, "- kk mn", "left lower transpose unit_diagonal m n batch"),
}
PRODUCT, TRIDIAGONAL = (orgqr, "mk t", "batch m n k size"), (sytrd, "nn", "n lower stride batch size")
REAL: Table = {"lapack_?orgqr": PRODUCT, "lapack_?sytrd": TRIDIAGONAL, "lapack_?syevd": (syevd, "nn", "lower batch n")}
COMPLEX: Table = {
    "lapack_?ungqr": PRODUCT,
    "lapack_?hetrd": TRIDIAGONAL,
    "lapack_?heevd": (syevd, "nn", "lower batch n"),
}

for letters, routines in (("sdcz", BOTH), ("sd", REAL), ("cz", COMPLEX)):
    for target, (function, dimensions, parameters) in routines.items():
        for first in letters:
            handler = with_leading_parameters(function, dimensions, parameters)
            register(target.replace("?", first), handler, function in (*OPEN, gesdd, geev, gees))
for device in ("cu", "hip"):
    register(f"{device}solver_geqrf", exactly(geqrf, "mn"))
    register(f"{device}blas_geqrf_batched", exactly(geqrf, "mn"))
    register(f"{device}solver_orgqr", exactly(orgqr, "mk t"))
    register(f"{device}solver_syevd", exactly(syevd_from_descriptor, "nn"), is_open=True)
    register(f"{device}solver_syevj", exactly(syevd_from_descriptor, "nn"), is_open=True)
