"""Where a result comes from: the program, its inputs, the backend, the contract, and versions."""

from __future__ import annotations

import platform
from dataclasses import fields
from hashlib import sha256
from importlib.metadata import version
from typing import Any

from stablehlo_ref._version import __version__
from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.diff import Diff
from stablehlo_ref.debug.evidence import Evidence


def provenance(found: Diff) -> dict[str, Any]:
    """Return what a comparison was made of, as plain data."""
    return {
        "program": None if found.evidence is None else _program(found.evidence),
        "inputs": {"origin": found.origin, "arrays": [] if found.evidence is None else _inputs(found.evidence)},
        "backend": found.backend,
        "backend_versions": dict(found.versions),
        "contract": _contract(found.contract),
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """Return the versions of this package, of what it runs on, and the machine."""
    return {
        "stablehlo-ref": __version__,
        "numpy": version("numpy"),
        "ml_dtypes": version("ml_dtypes"),
        "python": platform.python_version(),
        "platform": platform.platform(),
    }


def _program(evidence: Evidence) -> dict[str, Any]:
    program = evidence.program
    return {
        "file": program.module.location.filename,
        "sha256": sha256(str(program).encode()).hexdigest(),
        "entry": program.entry.name,
        "ops": len(evidence.flat.ops),
    }


def _inputs(evidence: Evidence) -> list[dict[str, Any]]:
    return [
        {"name": p.name, "type": str(p.type), "sha256": sha256(array.tobytes()).hexdigest()}
        for p, array in zip(evidence.program.inputs, evidence.inputs)
    ]


def _contract(contract: Contract) -> dict[str, Any]:
    return {f.name: getattr(contract, f.name) for f in fields(contract)} | {"ulps": dict(contract.ulps)}
