"""Follow the taints of values while a program runs: by function call, through loops, branches and calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stablehlo_ref.debug.cut import BRANCHES, CALLS, LOOP, branch_of
from stablehlo_ref.debug.exceptions.taint import Taint, bits_of, sum_of_bits
from stablehlo_ref.debug.traces.follow import Frame
from stablehlo_ref.define.processes import Process
from stablehlo_ref.execute.liveness import last_uses
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.passes.call_graph import functions

Scope = dict[Value, Taint]  # of the values of one call of a function that have been seen


class State:
    """What belongs to a frame: the scope of the op, that of the ops inside, and whether those are looked at."""

    def __init__(self, scope: Scope, inner: Scope | None = None, is_leaf: bool = False) -> None:
        self.scope = scope
        self.inner = scope if inner is None else inner
        self.is_leaf = is_leaf
        self.operands: Any = ()
        self.turns: dict[Block, int] = {}  # how often each block in the op's regions has started


class Flow:
    """Moves taints along control flow: into the arguments of blocks, and from terminators to results.

    Loops (`while`), branches (`if`, `case`) and calls are followed value by value. Into and out of other ops with
    regions, and to other processes, everything is taken to go that goes in.
    """

    def __init__(self, module: Operation) -> None:
        self._functions = functions(module)
        self._entered: dict[Operation, int] = {}  # the sources that went into an op that is not followed
        self._dying: dict[Block, dict[Operation, Any]] = {}

    # --- into blocks --------------------------------------------------------------------------------------------

    def enter(self, op: Operation, state: State, taints: list[Taint]) -> None:
        """Note what goes into an op, and into the function that it calls."""
        bits = sum_of_bits(map(bits_of, taints))
        if bits:
            self._entered[op] = self._entered.get(op, 0) | bits
        if (function := self.called(op)) is not None:
            state.inner = dict(zip(function.regions[0].blocks[0].arguments, taints))

    def called(self, op: Operation) -> Operation | None:
        """Return the function that an op calls."""
        name = op.properties.get(CALLS.get(op.name, ""))
        function = None if name is None else self._functions.get(str(name))
        return function if function is not None and function.regions[0].blocks else None

    def start_turn(self, op: Operation, outer: Frame, count: int) -> None:
        """Bind the arguments of the op's block if the op is the first that runs in a turn of it."""
        block, state = op.parent, outer.data
        loop = block.parent.parent if block is not None and block.parent is not None else None
        if block is None or loop is None or loop is not outer.op or state.turns.get(block) == count:
            return
        state.turns[block] = count
        if loop.name == LOOP:
            sources = loop.operands if count == 0 else _returned(loop.regions[1])
            bound = [state.scope.get(value) for value in sources]
            for argument, taint in zip(block.arguments, bound):
                _set(state.scope, argument, taint)

    def entered(self, value: Value, scope: Scope) -> int:
        """Return the sources that may be in an argument of a block that is not bound."""
        block = value.owner
        if not isinstance(block, Block) or block.parent is None:
            return 0
        blocks = block.parent.blocks
        if block is not blocks[0]:  # of a graph: what the blocks in it pass on
            passed = (value for other in blocks for value in other.operations[-1].operands)
            return sum_of_bits(bits_of(scope.get(value, 0)) for value in passed)
        return 0 if block.parent.parent is None else self._entered.get(block.parent.parent, 0)

    def sent(self, op: Operation) -> int:
        """Return the sources that went into an op in all processes."""
        return self._entered.get(op, 0)

    # --- out of blocks ------------------------------------------------------------------------------------------

    def results(self, op: Operation, state: State) -> list[Taint | None] | None:
        """Return the taints of the results of control flow; None if it is not followed."""
        function = self.called(op)
        if function is not None:
            return _taints(state.inner, function.regions[0])
        if op.name == LOOP:
            body = op.regions[1]
            if len(body.blocks) != 1 or len(body.block.operations) < 2:
                return None
            is_run = body.block in state.turns
            return _taints(state.scope, body) if is_run else [state.scope.get(value) for value in op.operands]
        if op.name in BRANCHES:
            return _taints(state.scope, op.regions[branch_of(op, state.operands[0])])
        return None

    def drop(self, op: Operation, scope: Scope) -> None:
        """Forget the taints of values that are not used after an op."""
        block = op.parent
        if block is None or block.parent is None or len(block.parent.blocks) > 1:
            return
        if block not in self._dying:
            self._dying[block] = dict(last_uses(block))
        for value in self._dying[block].get(op, ()):
            scope.pop(value, None)


def yielded(op: Operation, scopes: Iterator[Scope]) -> int:
    """Return the sources of what the terminators in an op's regions return, in all scopes."""
    values = [v for region in op.regions for block in region.blocks for v in block.operations[-1].operands]
    return sum_of_bits(bits_of(scope.get(value, 0)) for scope in scopes for value in values)


def scopes_of(stacks: dict[int, tuple[Process, list[Frame]]]) -> Iterator[Scope]:
    """Yield the scopes of all frames of all processes."""
    for _, frames in stacks.values():
        for frame in frames:
            yield frame.data.inner


def _returned(region: Region) -> list[Value]:
    return region.block.operations[-1].operands


def _taints(scope: Scope, region: Region) -> list[Taint | None] | None:
    return [scope.get(value) for value in _returned(region)] if len(region.blocks) == 1 else None


def _set(scope: Scope, value: Value, taint: Taint | None) -> None:
    if taint is None:
        scope.pop(value, None)
    else:
        scope[value] = taint
