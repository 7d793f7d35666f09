"""Optional code that makes plans faster: loops and chains as generated code, and functions in place of their calls.

`execute/run.py` has the hooks by which the planner asks for code. Without this package every program runs by
its plan, with the same results.

Small functions, and those called once, take the place of their calls, so that liveness, updates in place, loops and
chains see through calls, of which programs exported by JAX have many. The program itself does not change.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from stablehlo_ref.accelerate.chains import MANY, with_chains
from stablehlo_ref.accelerate.loops import HotLoop, hot_loop
from stablehlo_ref.define.computation import FinishLoop
from stablehlo_ref.define.processes import callee
from stablehlo_ref.execute.run import Accelerator, BlockPlan
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.limits.budget import check_time
from stablehlo_ref.passes.symbols import bottom_up, callees

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner, Planner

FEW_ELEMENTS = 16  # of a tensor that is in no chain
LOOP, CONTROL_FLOW = "stablehlo.while", ("stablehlo.while", "stablehlo.if", "stablehlo.case")
SMALL = 64  # ops of a function that takes the place of its calls
IN_LOOP = 4096  # ops of one that does in a loop, which may be compiled then
GROWTH = 10_000  # ops that copies may add to a program, besides as many as it has


class PlanAccelerator(Accelerator):
    """The accelerator of one planner, and what loops and chains share."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self.loops: dict[Operation, HotLoop] = {}
        self.seconds: dict[str, float] = defaultdict(float)  # that plans of chains have taken
        self.have_code: dict[object, bool] = {}  # on small tensors, by kinds of ops

    def program(
        self, functions: Mapping[str, Operation], inner: Mapping[str, Sequence[Operation]], called: Set[str]
    ) -> Mapping[str, Operation]:
        return with_inlined_calls(functions, inner, called) if len(functions) > 1 else functions

    def block(
        self, frame: FramePlanner, plan: BlockPlan, block: Block, dying: Mapping[Operation, Sequence[Value]]
    ) -> BlockPlan:
        types = [t for op in plan.ops for t in (*op.operand_types, *op.result_types) if isinstance(t, TensorType)]
        is_large = any(t.is_static and t.size > FEW_ELEMENTS for t in types)
        return with_chains(frame, plan, block, dying) if is_large or len(plan.ops) >= MANY else plan

    def loop(self, frame: FramePlanner, op: Operation) -> FinishLoop | None:
        return hot_loop(frame, op)


def with_inlined_calls(
    functions: Mapping[str, Operation], inner: Mapping[str, Sequence[Operation]], called: Set[str]
) -> dict[str, Operation]:
    """Return functions by name, in which others, except those in `called`, have taken the place of their calls.

    `inner` are each function and the ops in it.
    """
    made = dict(functions)
    graph = {name: callees(operations) for name, operations in inner.items()}
    counts = Counter(callee(op) for operations in inner.values() for op in operations if op.name == "func.call")
    bodies: dict[str, Operation] = {}  # functions that may take the place of calls
    left = GROWTH + sum(map(len, inner.values()))
    for component in bottom_up(graph):
        for name in component:
            if not graph[name].isdisjoint(bodies):
                made[name], left = _inlined(functions[name], bodies, counts, left)
            if name not in called and counts[name] and len(made[name].regions[0].blocks) == 1:
                bodies[name] = made[name]
    return made


def _inlined(
    function: Operation, bodies: Mapping[str, Operation], counts: Mapping[str, int], left: int
) -> tuple[Operation, int]:
    """Return a copy of a function with calls inlined, and how many ops copies may still add."""
    copy = clone(function, {})
    copy.parent = function.parent  # where ops look up symbols
    with Rewriter(copy) as rewriter:
        for call, is_in_loop in _calls(copy, False):
            check_time("planning", location=call.location)
            body = bodies.get(call.properties["callee"])
            if body is None or "no_inline" in call.attributes:
                continue
            block = body.regions[0].block
            returned = [value.type for value in block.operations[-1].operands]
            if [v.type for v in block.arguments] != call.operand_types or returned != call.result_types:
                continue
            size = sum(1 for _ in body.walk()) - 1
            growth = size if counts[call.properties["callee"]] > 1 else 0
            if growth <= min(left, IN_LOOP if is_in_loop else SMALL):
                left -= growth
                rewriter.inline(call, block, call.operands)
    return copy, left


def _calls(op: Operation, is_in_loop: bool) -> Iterator[tuple[Operation, bool]]:
    """Yield the calls in a function or in control flow, and whether they are in a loop."""
    for region in op.regions if len(op.regions) and all(len(r.blocks) == 1 for r in op.regions) else ():
        for inner in region.block.operations:
            if inner.name == "func.call":
                yield inner, is_in_loop
            elif inner.name in CONTROL_FLOW:
                yield from _calls(inner, is_in_loop or inner.name == LOOP)
