"""The hooks of an accelerator, by which a plan runs faster with the same results, bit for bit.

The planner asks for a faster block, loop or function whenever it has planned one. The package
`stablehlo_ref.accelerate` has an accelerator; where that is not installed, all stays as it is planned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from stablehlo_ref.define.computation import Slots
from stablehlo_ref.execute.run import BlockPlan
from stablehlo_ref.ir.core import Block, Operation, Value

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner, Planner

RunFast: TypeAlias = Callable[[Slots], bool]  # runs code on what is in slots, and returns whether it did

_PACKAGE = "stablehlo_ref.accelerate"


class Accelerator:
    """The hooks, which leave everything as it is."""

    def program(
        self, functions: Mapping[str, Operation], inner: Mapping[str, Sequence[Operation]], called: Set[str]
    ) -> Mapping[str, Operation]:
        """Return the functions to plan, by name; `inner` are each function and the ops in it.

        Calls of `called` have to stay calls.
        """
        return functions

    def block(
        self, frame: FramePlanner, plan: BlockPlan, block: Block, dying: Mapping[Operation, Sequence[Value]]
    ) -> BlockPlan:
        """Return the plan to use for a block; `dying` are the values that each op is the last to use."""
        return plan

    def loop(self, frame: FramePlanner, op: Operation) -> RunFast | None:
        """Return what may finish a loop between two of its iterations; None for other ops."""
        return None

    def function(self, frame: FramePlanner, block: Block) -> RunFast | None:
        """Return what may run the block of a function or a region, which captures nothing."""
        return None


@cache
def _accelerate() -> Callable[[Planner], Accelerator] | None:
    try:
        found: Callable[[Planner], Accelerator] = import_module(_PACKAGE).PlanAccelerator
    except ModuleNotFoundError as error:
        if error.name != _PACKAGE:
            raise
        return None
    return found


def accelerator_of(planner: Planner, fast: bool) -> Accelerator:
    """Return the accelerator of a planner: one that has no effect without `fast`, or where none is installed."""
    make = _accelerate() if fast else None
    return Accelerator() if make is None else make(planner)
