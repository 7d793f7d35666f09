"""Prepare CHLO's ops for portable artifacts, which have ops of StableHLO only."""

from __future__ import annotations

from stablehlo_ref.ir.core import Operation
from stablehlo_ref.passes.chlo_legalize_to_stablehlo import chlo_legalize_to_stablehlo
from stablehlo_ref.passes.registry import Pass
from stablehlo_ref.passes.wrap_in_composite import wrap

# Ops that consumers may have a function of their own for.
HIGH_LEVEL = frozenset(
    f"chlo.{name}" for name in ("acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "sinh", "top_k")
)
VERSION = 1  # of the composites


def chlo_pre_serialization(module: Operation) -> None:
    """Replace CHLO's ops by ops that portable artifacts have.

    `acos`, `acosh`, `asin`, `asinh`, `atanh`, `cosh`, `erf`, `sinh` and `top_k` become composites of the same name, so
    that a consumer can still tell them: with the op's attributes, and a function that `--chlo-legalize-to-stablehlo`
    makes as their decomposition. That pass decomposes all other ops.
    """
    wrap(module, HIGH_LEVEL, VERSION)
    chlo_legalize_to_stablehlo(module)


PASS = Pass(
    "chlo-pre-serialization-pipeline",
    "replace CHLO's ops by ops and composites that portable artifacts have",
    chlo_pre_serialization,
)
