"""Optional code that makes plans faster: loops and chains as generated code.

`execute/run.py` has the hooks by which the planner asks for code. Without this package every program runs by
its plan, with the same results.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING

from stablehlo_ref.accelerate.chains import with_chains
from stablehlo_ref.accelerate.inlined import with_inlined_calls
from stablehlo_ref.accelerate.loops import HotLoop, hot_function, hot_loop
from stablehlo_ref.accelerate.policy import FEW_OPS
from stablehlo_ref.execute.run import Accelerator, BlockPlan, RunFast
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.types import TensorType

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner, Planner

FEW_ELEMENTS = 16  # of a tensor that is in no chain


class PlanAccelerator(Accelerator):
    """The accelerator of one planner, and what loops and chains share."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self.loops: dict[Operation, HotLoop] = {}
        self.seconds: dict[object, float] = defaultdict(float)  # that plans of chains have taken

    def program(
        self, functions: Mapping[str, Operation], inner: Mapping[str, Sequence[Operation]], called: Set[str]
    ) -> Mapping[str, Operation]:
        return with_inlined_calls(functions, inner, called) if len(functions) > 1 else functions

    def block(
        self, frame: FramePlanner, plan: BlockPlan, block: Block, dying: Mapping[Operation, Sequence[Value]]
    ) -> BlockPlan:
        return with_chains(frame, plan, block, dying) if any(map(_is_large, plan.ops)) else plan

    def loop(self, frame: FramePlanner, op: Operation) -> RunFast | None:
        return hot_loop(frame, op)

    def function(self, frame: FramePlanner, block: Block) -> RunFast | None:
        return hot_function(frame, block) if len(block.operations) > FEW_OPS else None


def _is_large(op: Operation) -> bool:
    """Return whether an op has an operand or a result with so many elements that it may be in a chain."""
    types = op.operand_types + op.result_types
    return any(isinstance(t, TensorType) and t.is_static and t.size > FEW_ELEMENTS for t in types)
