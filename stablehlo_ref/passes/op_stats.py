"""How often each op occurs in a program."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping

from stablehlo_ref.ir.core import Operation


def op_counts(module: Operation) -> dict[str, int]:
    """Return the number of ops by name, in alphabetical order; the module itself counts too."""
    return dict(sorted(Counter(op.name for op in module.walk()).items()))


def as_table(counts: Mapping[str, int]) -> str:
    """Return counts as MLIR's `--print-op-stats` prints them."""
    width = max(map(len, counts), default=0)
    rows = (f"  {name:{width}} , {count}" for name, count in counts.items())
    return "\n".join(["Operations encountered:", "-----------------------", *rows]) + "\n"


def as_json(counts: Mapping[str, int]) -> str:
    """Return counts as a JSON object."""
    return json.dumps(counts, indent=2) + "\n"
