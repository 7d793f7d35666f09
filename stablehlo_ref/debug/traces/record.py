"""Follow a run, turn by turn of its loops and calls, and record its values: all, or until one is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from functools import cache, cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.debug.traces.trace import Record, Trace, TraceFiles, digest_of
from stablehlo_ref.define.context import Observer, Observers
from stablehlo_ref.define.definition import traits_of
from stablehlo_ref.define.processes import Process, ProcessId
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError, StablehloError
from stablehlo_ref.execute.arguments import take_results
from stablehlo_ref.execute.regions import CONSTANTS
from stablehlo_ref.ir.arrays import RuntimeValue
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.graph import labelled, reachable, successors
from stablehlo_ref.ir.locations import model_location
from stablehlo_ref.ir.signature import Function
from stablehlo_ref.ir.value_index import ValueIndex, defining_op, local_name, segment
from stablehlo_ref.limits import check_type
from stablehlo_ref.syntax.places import defined_at

Select: TypeAlias = Callable[[Operation], bool] | str | Iterable[str]


class Frame:
    """An op in progress, or the entry: what has run in its regions or in the function that it calls."""

    def __init__(self, index: ValueIndex, op: Operation | None, outer: Frame | None, turn: int | None) -> None:
        self.index = index
        self.op = op
        self.outer = outer
        self.turn = turn  # of the innermost loop around the op; None outside of loops
        self.counts: dict[Block, int] = {}  # how often each block in it has run
        self.inner_turn = 0  # how often the block that runs did so before
        self.unused: set[Value] = set()  # arguments of that block that no op has used yet
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
        if self.op is None:
            return ""
        results = self.op.results
        return joined(self.prefix, segment(self.index.unique_name(results[0]) if results else self.op.name))


class Follower(Observer):
    """Has a stack of frames for each process; derived classes implement `argument`, `entered` and `left`."""

    def __init__(self, index: ValueIndex) -> None:
        self.index = index
        self.process = Process()
        self._is_repeated = cache(_is_repeated)
        self.stacks: dict[int, tuple[Process, list[Frame]]] = {}
        self.frames = self._frames_of(self.process)

    def argument(self, inner: Frame, op: Operation, value: Value, data: Any) -> None:
        """Called before `op` runs, the first to use a block argument in a turn; `inner` is an op in that block."""

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

    def enters(self, block: Block, arguments: Sequence[Any]) -> None:
        frame = self.frames[-1]
        frame.inner_turn = frame.counts.get(block, 0)
        frame.counts[block] = frame.inner_turn + 1
        frame.unused.update(block.arguments)

    def before(self, op: Operation, operands: Sequence[Any]) -> None:
        outer = self.frames[-1]
        is_repeated = op.parent is not None and self._is_repeated(op.parent)
        frame = Frame(self.index, op, outer, outer.inner_turn if is_repeated else None)
        for value, data in zip(op.operands, operands):
            if isinstance(value.owner, Block):
                self._use(frame, op, value, value.owner.parent, data)
        self.frames.append(frame)
        self.entered(frame, op, operands)

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        self.left(self.frames.pop(), op, results)

    def _use(self, frame: Frame, op: Operation, value: Value, region: Region | None, data: Any) -> None:
        """Tell of an argument of a block in a region, if the op is the first to use it in a turn of that block."""
        for inner in (frame, *self.frames[:0:-1]):
            if inner.outer is not None and _region_of(inner.op) is region:
                if value in inner.outer.unused:
                    inner.outer.unused.remove(value)
                    self.argument(inner, op, value, data)
                return


def _region_of(op: Operation | None) -> Region | None:
    return op.parent.parent if op is not None and op.parent is not None else None


def _is_repeated(block: Block) -> bool:
    """Return whether the block may run several times when the op around it runs once."""
    op = block.parent.parent if block.parent else None
    return (op is not None and not traits_of(op).runs_once) or _is_in_cycle(block)


def joined(prefix: str, segment: str) -> str:
    """Return an address with one more segment."""
    return f"{prefix}/{segment}" if prefix else segment


def _is_in_cycle(block: Block) -> bool:
    """Return whether branches lead from the block back to it."""
    region = block.parent
    if region is None or len(region.blocks) == 1:
        return False
    labels = labelled(region)
    return any(block in successors(other, labels) for other in reachable(region, block))


# --- values that are recorded ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """An op, or an argument: its value's unique name, and where it is in the program and in the model."""

    name: str
    op: str | None
    location: str
    model_location: str | None = None

    def __str__(self) -> str:
        model = f" ({self.model_location})" if self.op is None and self.model_location else ""
        return f"{self.op or 'argument'} {self.name}{model} at {self.location}"


def place_of(index: ValueIndex, value: Value) -> Place:
    """Return the name of a value and where it is computed."""
    op = value.owner if isinstance(value.owner, Operation) else None
    location = value.location if op is None else op.debug_location
    name = None if op is None else op.name
    return Place(index.unique_name(value), name, str(defined_at(value) or ""), model_location(location))


class Recorder(Follower):
    """Records the results of ops, and the arguments of blocks that ops use.

    `only` selects what is recorded: a function that is called with each op (inputs of the entry are recorded too); or
    names, one or several, of values (`%3`, `jit(f)/conv`), or of ops, with wildcards (`stablehlo.dot_general`,
    `chlo.*`). With `store` values are written to files in that folder as they come, with a digest of each; `keep` is a
    regular expression, and only values in one of whose names, address or op it is found are written themselves: all
    without it, none if it is empty.
    """

    sees_every_op = True

    @checks_arguments
    def __init__(
        self,
        index: ValueIndex,
        only: Select | None = None,
        store: str | PathLike[str] | None = None,
        keep: str | None = None,
    ) -> None:
        self._select = _selection(index, only)
        self._keeps = _pattern(keep, store)
        self._place = cache(partial(place_of, index))
        self._files = None if store is None else TraceFiles(Path(store))
        self._records: list[Record] = []
        self._constants: set[tuple[int, ProcessId]] = set()  # those that are recorded
        super().__init__(index)

    # --- the run ------------------------------------------------------------------------------------------------

    def enters(self, block: Block, arguments: Sequence[Any]) -> None:
        super().enters(block, arguments)
        frame = self.frames[-1]
        for value, data in zip(block.arguments, arguments) if frame.op is None else ():
            if is_input(self.index, value):
                frame.unused.remove(value)
                self._keep(value, data, "", ())

    def argument(self, inner: Frame, op: Operation, value: Value, data: Any) -> None:
        self._keep(value, data, inner.prefix, inner.turns)

    def left(self, frame: Frame, op: Operation, results: Sequence[Any]) -> None:
        for value, result in zip(op.results, results):
            self._keep(value, result, frame.prefix, frame.turns)

    # --- records ------------------------------------------------------------------------------------------------

    def _keep(self, value: Value, data: Any, prefix: str, turns: tuple[int, ...]) -> None:
        owner = value.owner
        if not self._select(value):
            return
        if isinstance(owner, Operation) and owner.name in CONSTANTS:  # has one value, however often it is reached
            if (id(value), self.process.id) in self._constants:
                return
            self._constants.add((id(value), self.process.id))
            prefix, turns = "", ()
        place, names = self._place(value), tuple(self.index.names(value))
        address = joined(prefix, local_name(place.name)) if prefix else place.name
        is_kept = self._keeps is None or any(map(self._keeps, (*names, address, place.op or "")))
        self.record(
            Record(
                number=len(self._records),
                **vars(place),
                names=names,
                address=address,
                type=str(value.type),
                turns=turns,
                process=self.process.id,
                stored=data if self._files is None else self._files.write(data, is_kept),
                digest=None if self._files is None else digest_of(data),
                value=value,
            )
        )

    def record(self, record: Record) -> None:
        """Add a record to the trace."""
        self._records.append(record)
        if self._files is not None:
            self._files.describe({name: getattr(record, name) for name in _WRITTEN}, record.stored)

    def trace(self, results: Any = ()) -> Trace:
        """Return what has been recorded."""
        return Trace(self._records, results, tuple(self.index))

    def beside(self, other: Observer | None) -> Observer:
        """Return this and another observer, if there is one, as one observer."""
        check_type("observer", other, Observer | None, "an Observer")
        return self if other is None else Observers(self, other)

    def close(self) -> None:
        """Close the index of stored files."""
        if self._files is not None:
            self._files.close()


_WRITTEN = tuple(field.name for field in fields(Record) if field.name not in ("stored", "value"))


def _pattern(keep: str | None, store: object) -> Callable[[str], object] | None:
    """Return the test of names that `keep` is; ArgumentValueError for a bad one, or one without `store`."""
    if keep is None:
        return None
    if store is None:
        raise ArgumentValueError("`keep` selects what `store` writes: it needs `store`")
    try:
        return re.compile(keep or "(?!)").search
    except re.error as error:
        raise ArgumentValueError(f"keep={keep!r} is no regular expression: {error}") from None


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Give an error of the run the values that were recorded until then, and close files."""
    try:
        yield
    except StablehloError as error:
        error.trace = recorder.trace()
        raise
    finally:
        recorder.close()


class Reached(BaseException):
    """The values that a run was to stop at are known. Not an Exception, which would become an error of an op."""


class Until(Recorder):
    """Stops a run, by raising Reached, when values are known: those of these names or addresses, at their first turn.

    `values` are the values by name.
    """

    def __init__(self, index: ValueIndex, names: str | Sequence[str]) -> None:
        super().__init__(index)
        check_type("until", names, Sequence, "the name of a value, or a list of names")
        names = (names,) if isinstance(names, str) else names
        for name in names:
            check_type("the name of a value", name, str, "a string")
        self._order = names
        self._names = dict.fromkeys(names)
        self.values: dict[str, Any] = {}
        for name in names:
            if not (name.startswith(("%", "#")) and "/" in name):  # an address is not checked before the run
                index.find(name)

    def record(self, record: Record) -> None:
        for name in self._names:
            if name not in self.values and name in (record.address, record.name, *record.names):
                self.values[name] = record.data
        if len(self.values) == len(self._names):
            raise Reached

    def reached(self, run: Callable[[], object], entry: Function) -> tuple[RuntimeValue, ...]:
        """Return the values after as much of a run as is needed; EvaluationError if it ends without computing one."""
        try:
            run()
        except Reached:
            return take_results([self.values[name] for name in self._order])
        missing = ", ".join(name for name in self._names if name not in self.values)
        raise EvaluationError(f"the run ended without computing {missing}", entry.location)


def _selection(index: ValueIndex, only: Select | None) -> Callable[[Value], bool]:
    """Return whether a value is recorded. UnknownValueError for a name of nothing in the program."""
    if only is None:
        return lambda value: True
    if callable(only):
        return lambda value: only(value.owner) if isinstance(value.owner, Operation) else is_input(index, value)
    names = [only] if isinstance(only, str) else list(only)
    ops = {op.name for op in index.module.walk()}
    patterns = [name for name in names if any(fnmatchcase(op, name) for op in ops)]
    values = {id(value) for name in names if name not in patterns for value in index.named(name)}

    def is_selected(value: Value) -> bool:
        owner = value.owner
        is_op = isinstance(owner, Operation) and any(fnmatchcase(owner.name, pattern) for pattern in patterns)
        return is_op or id(value) in values

    return is_selected


def is_input(index: ValueIndex, value: Value) -> bool:
    """Return whether a value is an argument of the entry."""
    op = defining_op(value) if isinstance(value.owner, Block) else None
    is_entry = op is not None and op.name == "func.func" and op.properties["sym_name"] == index.entry
    return is_entry and op is not None and value.owner is op.regions[0].blocks[0]
