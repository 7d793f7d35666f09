"""The mhlo dialect in text, whose ops are read as those of StableHLO or CHLO that they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.ir.core import Operation

# Ops that CHLO has instead of StableHLO, and their names there.
OF_CHLO = {
    name: f"chlo.{name}"
    for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "erf_inv", "ragged_dot", "sinh")
} | {"topk": "chlo.top_k", "scan": "chlo.scan"}
STRUCTS = frozenset((
    "axis_ref", "bounds", "channel_handle", "conv", "dot", "dot_algorithm", "gather", "mesh", "mesh_axis",
    "output_operand_alias", "replica_group_mesh_axes", "result_accuracy", "scatter", "type_extensions",
))  # fmt: skip
ENUMERATIONS = frozenset((
    "comparison_direction", "comparison_type", "fft_type", "precision", "result_accuracy_mode", "rng_algorithm",
    "rng_distribution", "transpose",
))  # fmt: skip

_match_renamed = re.compile(r'"?([mv]hlo)\.').match


@cache
def equivalent(name: str) -> str:
    """Return the op of StableHLO or CHLO that an op of mhlo is; the name itself of any other op."""
    dialect, _, base = name.partition(".")
    if dialect != "mhlo":
        return name
    known = OF_CHLO.get(base, f"stablehlo.{base}")
    return known if known in REGISTRY else name


def struct_name(name: str) -> str | None:
    """Return the name in StableHLO or CHLO of a struct attribute `mhlo.name`; None if there is no counterpart."""
    base = name.removeprefix("mhlo.")
    if base == "ragged_dot":
        return "chlo.ragged_dot"
    return f"stablehlo.{base}" if base in STRUCTS | ENUMERATIONS else None


def renamed(module: Operation) -> Iterator[str]:
    """Yield the dialect of each op that the text of a program has as one of mhlo or vhlo."""
    for op in module.walk():
        match = _match_renamed(op.location.source.text, op.location.offset)
        if match and not op.name.startswith(match[0].lstrip('"')):
            yield match[1]
