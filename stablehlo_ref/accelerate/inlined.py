"""Functions take the place of their calls when a program is planned for fast paths: small ones, and those called once.

So liveness, updates in place and chains see through calls, which programs exported by JAX make for many a helper. The
program itself does not change: what differs is shared or copied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from copy import copy

from stablehlo_ref.define.processes import callee
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.limits.budget import check_time
from stablehlo_ref.passes.call_graph import bottom_up, callees

CONTROL_FLOW = ("stablehlo.while", "stablehlo.if", "stablehlo.case")
SMALL = 64  # ops of a function that takes the place of its calls
IN_LOOP = 4096  # ops of one that does in a loop, which may be compiled then
GROWTH = 10_000  # ops that copies may add to a program, besides as many as it has


def with_inlined_calls(
    functions: Mapping[str, Operation], inner: Mapping[str, Sequence[Operation]], called: Set[str]
) -> dict[str, Operation]:
    """Return functions by name, in which others, except those in `called`, have taken the place of their calls.

    `inner` are each function and the ops in it.
    """
    made = dict(functions)
    if len(functions) < 2:  # there is nothing to call but itself
        return made
    graph = {name: callees(operations) for name, operations in inner.items()}
    if not any(graph.values()):
        return made
    calls = Counter(callee(op) for operations in inner.values() for op in operations if op.name == "func.call")
    inliner = _Inliner(GROWTH + sum(map(len, inner.values())), calls)
    for component in bottom_up(graph):
        for name in component:
            if not graph[name].isdisjoint(inliner.bodies):
                made[name] = inliner.op(functions[name], {})
            if name not in called:
                inliner.learn(name, made[name])
    return made


class _Inliner:
    """Copies functions with bodies in place of calls; `left` is the number of ops that these may still add."""

    def __init__(self, left: int, calls: Mapping[str, int]) -> None:
        self.bodies: dict[str, Block] = {}  # of functions
        self._sizes: dict[str, int] = {}
        self._left, self._calls, self._in_loop = left, calls, False

    def learn(self, name: str, function: Operation) -> None:
        """Let a function of one block take the place of calls."""
        if self._calls[name] and len(function.regions[0].blocks) == 1:
            self.bodies[name] = function.regions[0].block
            self._sizes[name] = sum(1 for _ in function.walk()) - 1

    def op(self, op: Operation, mapping: dict[Value, Value]) -> Operation:
        """Return an op on other operands, and with bodies in place of calls in its regions; itself if nothing differs.

        Its results are the same values.
        """
        has_blocks = op.name in CONTROL_FLOW or op.name == "func.func"
        before, self._in_loop = self._in_loop, self._in_loop or op.name == "stablehlo.while"
        regions = [self._region(region, mapping, has_blocks) for region in op.regions]
        self._in_loop = before
        if regions == [*op.regions] and mapping.keys().isdisjoint(op.operands):
            return op
        made = copy(op)
        made.operands = [mapping.get(operand, operand) for operand in op.operands]
        made.regions = regions
        for region in regions:
            region.parent = made
        return made

    def _region(self, region: Region, mapping: dict[Value, Value], may_inline: bool) -> Region:
        may_inline = may_inline and len(region.blocks) == 1
        blocks = [self._block(block, mapping, may_inline) for block in region.blocks]
        if blocks == region.blocks:
            return region
        made = Region([])
        made.blocks = blocks
        for block in blocks:
            block.parent = made
        return made

    def _block(self, block: Block, mapping: dict[Value, Value], may_inline: bool) -> Block:
        operations: list[Operation] = []
        for op in block.operations:
            body = self._body(op) if may_inline and op.name == "func.call" else None
            if body is not None:
                operations += _inlined(op, body, mapping)
            elif op.regions or not mapping.keys().isdisjoint(op.operands):
                operations.append(self.op(op, mapping))
            else:
                operations.append(op)
        if operations == block.operations:
            return block
        made = Block([], [], block.label)  # whose arguments and other ops still belong to the program
        made.arguments, made.operations = block.arguments, operations
        return made

    def _body(self, op: Operation) -> Block | None:
        """Return the body that takes the place of a call, or None."""
        check_time("planning", location=op.location)
        name = op.properties["callee"]
        block = self.bodies.get(name)
        if block is None or "no_inline" in op.attributes:
            return None
        size = self._sizes[name]
        growth = size if self._calls[name] > 1 else 0
        if growth > min(self._left, IN_LOOP if self._in_loop else SMALL):
            return None
        returned = [value.type for value in block.operations[-1].operands]
        if [v.type for v in block.arguments] != op.operand_types or returned != op.result_types:
            return None
        self._left -= growth
        return block


def _inlined(call: Operation, body: Block, mapping: dict[Value, Value]) -> list[Operation]:
    """Return the ops of a body on the operands of a call, whose results are mapped to those of the body."""
    inner = {argument: mapping.get(v, v) for argument, v in zip(body.arguments, call.operands)}
    *operations, terminator = body.operations
    made = [clone(op, inner) for op in operations]
    for op in made:
        op.parent = call.parent  # where ops look up symbols
    mapping.update((result, inner.get(v, v)) for result, v in zip(call.results, terminator.operands))
    return made
