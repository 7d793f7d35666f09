"""Ops that are defined on whole tensors, and not on those of one process of a grid, which are local."""

from __future__ import annotations

from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.core import Operation

CALLEES = ("callee", "decomposition")  # attributes that name a function that the op calls


def callee(op: Operation) -> str:
    """Return the name of the function that an op calls; "" if it calls none."""
    named = (op.properties.get(name) for name in CALLEES)
    return next((found for found in named if found and isinstance(found, str)), "")


def check_local_tensors(function: Operation | None, grid: Grid) -> None:
    """Raise UnsupportedError if a function that runs in each process of a grid needs whole tensors, also in calls."""
    seen = {function}
    pending = [function] if grid.count > 1 else []
    while pending:
        here = pending.pop()
        for op in here.walk() if here is not None else ():
            definition = definition_of(op)
            if definition is not None and definition.traits.whole_tensors:
                reason = f"is defined on whole tensors, but in a grid of {grid} each has tensors of its own"
                hint = "run the program without a grid, or use the collectives of StableHLO"
                raise UnsupportedError(f"'{op.name}' op {reason}; {hint}", op.location)
            for name in filter(None, (callee(op), *op.properties.get("called_computations", ()))):
                if (called := op.symbol(name)) not in seen:
                    seen.add(called)
                    pending.append(called)
