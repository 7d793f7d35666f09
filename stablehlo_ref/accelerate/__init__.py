"""Optional code that makes plans faster: loops and chains as generated code.

`execute/acceleration.py` has the hooks by which the planner asks for code. Without this package every program runs by
its plan, with the same results.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING

from stablehlo_ref.accelerate.chains import with_chains
from stablehlo_ref.accelerate.inlined import with_inlined_calls
from stablehlo_ref.accelerate.loops import HotLoop, hot_function, hot_loop
from stablehlo_ref.execute.acceleration import Accelerator, RunFast
from stablehlo_ref.execute.run import BlockPlan
from stablehlo_ref.ir.core import Block, Operation, Value

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner, Planner


class PlanAccelerator(Accelerator):
    """The accelerator of one planner, and what loops and chains share."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self.loops: dict[Operation, HotLoop] = {}
        self.seconds: dict[object, float] = defaultdict(float)  # that plans of chains have taken

    def program(
        self, functions: Mapping[str, Operation], inner: Mapping[str, Sequence[Operation]], called: Set[str]
    ) -> Mapping[str, Operation]:
        return with_inlined_calls(functions, inner, called)

    def block(
        self, frame: FramePlanner, plan: BlockPlan, block: Block, dying: Mapping[Operation, Sequence[Value]]
    ) -> BlockPlan:
        return with_chains(frame, plan, block, dying)

    def loop(self, frame: FramePlanner, op: Operation) -> RunFast | None:
        return hot_loop(frame, op)

    def function(self, frame: FramePlanner, block: Block) -> RunFast | None:
        return hot_function(frame, block)
