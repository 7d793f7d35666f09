"""`--chlo-pre-serialization-pipeline`: what a program with ops of CHLO needs before it becomes a portable artifact."""

from __future__ import annotations

from stablehlo_ref.ir.core import Operation
from stablehlo_ref.passes.chlo_legalize_to_stablehlo import chlo_legalize_to_stablehlo
from stablehlo_ref.passes.registry import Pass


def chlo_pre_serialization(module: Operation) -> None:
    """Replace ops of CHLO, which portable artifacts do not have, by ops of StableHLO that compute the same."""
    chlo_legalize_to_stablehlo(module)


SUMMARY = "replace CHLO's ops, which portable artifacts do not have"
PASS = Pass("chlo-pre-serialization-pipeline", SUMMARY, chlo_pre_serialization)
