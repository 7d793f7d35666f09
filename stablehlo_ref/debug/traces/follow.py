"""Follow a run: which op runs in which turn of which loops and calls, in which process."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from stablehlo_ref.define.context import Observer
from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.define.processes import Process
from stablehlo_ref.ir.core import Block, Operation
from stablehlo_ref.ir.graph import labelled, successors
from stablehlo_ref.ir.value_index import ValueIndex


class Frame:
    """An op in progress, or the entry: what has run in its regions or in the function that it calls."""

    def __init__(self, index: ValueIndex, op: Operation | None, outer: Frame | None, turn: int | None) -> None:
        self.index = index
        self.op = op
        self.outer = outer
        self.turn = turn  # of the innermost loop around the op; None outside of loops
        self.counts: dict[int, int] = {}  # how often each op in it has run
        self.arguments: dict[int, int] = {}  # the turn in which each block argument was last recorded
        self.data: Any = None  # of the follower

    @cached_property
    def turns(self) -> tuple[int, ...]:
        """The turns of the loops around the op, in calling functions too, the outermost first."""
        outer = self.outer.turns if self.outer else ()
        return outer if self.turn is None else (*outer, self.turn)

    @cached_property
    def prefix(self) -> str:
        """What the addresses of the op's results begin with."""
        outer = self.outer.address if self.outer else ""
        return outer if self.turn is None else f"{outer}[{self.turn}]"

    @cached_property
    def address(self) -> str:
        """The address of the op."""
        return "" if self.op is None else joined(self.prefix, self.index.segment(self.op))


class Follower(Observer):
    """Has a stack of frames for each process; derived classes implement `entered` and `left`."""

    def __init__(self, index: ValueIndex) -> None:
        self.index = index
        self.process = Process()
        self._repeats: dict[Block, bool] = {}  # whether the ops of a block may run several times in one frame
        self.stacks: dict[int, tuple[Process, list[Frame]]] = {}
        self.frames = self._frames_of(self.process)

    def entered(self, frame: Frame, op: Operation, operands: Sequence[Any]) -> None:
        """Called before an op runs."""

    def left(self, frame: Frame, op: Operation, results: Sequence[Any]) -> None:
        """Called after an op has run, when its frame is no longer on the stack."""

    def new_stack(self, entry: Frame) -> None:
        """Called with the frame of the entry of a process that starts."""

    def _frames_of(self, process: Process) -> list[Frame]:
        if id(process) not in self.stacks:
            entry = Frame(self.index, None, None, None)
            self.new_stack(entry)
            self.stacks[id(process)] = process, [entry]
        return self.stacks[id(process)][1]

    def resumes(self, process: Process) -> None:
        self.process = process
        self.frames = self._frames_of(process)

    def before(self, op: Operation, operands: Sequence[Any]) -> None:
        outer = self.frames[-1]
        count = outer.counts.get(id(op), 0)
        outer.counts[id(op)] = count + 1
        is_repeated = op.parent is not None and self._is_repeated(op.parent)
        frame = Frame(self.index, op, outer, count if is_repeated else None)
        self.frames.append(frame)
        self.entered(frame, op, operands)

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        self.left(self.frames.pop(), op, results)

    def _is_repeated(self, block: Block) -> bool:
        """Return whether the block runs several times when the op around it runs once."""
        found = self._repeats.get(block)
        if found is None:
            op = block.parent.parent if block.parent else None
            definition = definition_of(op) if op is not None else None
            is_once = op is None or (definition is not None and definition.traits.runs_once)
            found = not is_once or _is_in_cycle(block)
            self._repeats[block] = found
        return found


def joined(prefix: str, segment: str) -> str:
    """Return an address with one more segment."""
    return f"{prefix}/{segment}" if prefix else segment


def _is_in_cycle(block: Block) -> bool:
    """Return whether branches lead from the block back to it."""
    if block.parent is None or len(block.parent.blocks) == 1:
        return False
    labels = labelled(block.parent)
    pending, seen = successors(block, labels), set[Block]()
    while pending:
        following = pending.pop()
        if following is block:
            return True
        if following not in seen:
            seen.add(following)
            pending += successors(following, labels)
    return False
