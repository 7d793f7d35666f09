"""The passes of MLIR's tools that upgrade VHLO, for pipelines that name them."""

from __future__ import annotations

from stablehlo_ref.ir.core import Operation
from stablehlo_ref.passes.registry import Pass


def vhlo_legalize_to_stablehlo(module: Operation) -> None:
    """Change nothing: programs of VHLO, text and portable artifacts, become StableHLO when they are read."""


PASS = Pass("vhlo-legalize-to-stablehlo", "upgrade VHLO, which reading has done already", vhlo_legalize_to_stablehlo)
DESERIALIZE = Pass("stablehlo-deserialize", "upgrade VHLO, which reading has done already", vhlo_legalize_to_stablehlo)
