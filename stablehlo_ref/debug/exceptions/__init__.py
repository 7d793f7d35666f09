"""Where do NaN and infinities come from, and do they reach an output? Overflow, underflow and cancellation too.

>>> print(sr.debug.exceptions(program, x, y))

An observer of a run finds where exceptional values come from, how they go on, and what removes them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.arrays.descriptions import statistics
from stablehlo_ref.arrays.interop import to_arrays
from stablehlo_ref.debug.cut import Flat, is_control_flow, operands_of, subprogram
from stablehlo_ref.debug.evaluate import MAX_BYTES, backend_values
from stablehlo_ref.debug.exceptions.findings import (
    FOLLOWED,
    GENERATIONS,
    ORIGINS,
    WORDS,
    Effect,
    Event,
    ExceptionKind,
    Exceptions,
    Finding,
    OnlyInBackend,
    Reach,
    Slicer,
    call_text,
    kinds_of,
    yielded,
)
from stablehlo_ref.debug.exceptions.taint import (
    Taint,
    at_pole,
    bits_of,
    cancellation,
    carried,
    compact,
    element_at,
    expanded,
    first_index,
    has_exceptions,
    is_exact,
    is_float,
    is_same,
    masks,
    moved,
    moves,
    only_taint,
    removed,
    sum_of_bits,
    underflow,
)
from stablehlo_ref.debug.session import Session
from stablehlo_ref.debug.traces.record import Follower, Frame, Place, is_input, place_of
from stablehlo_ref.define.definition import is_constant_like, traits_of
from stablehlo_ref.define.processes import GRID_SIZES
from stablehlo_ref.diagnostics import ArgumentTypeError, ArgumentValueError, EvaluationError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation, Value, last_uses
from stablehlo_ref.ir.value_index import defining_op
from stablehlo_ref.numerics.dtypes import UINT64
from stablehlo_ref.passes.symbols import functions
from stablehlo_ref.program import Program

LOSSY_SLICE = 256  # ops of the slice of what is not followed: there are many of these
SHARED = 63  # the bit of all sources after the first 63


@checks_arguments
def exceptions(
    program: Program,
    /,
    *inputs: Any,
    kinds: str | Iterable[ExceptionKind | str] = GENERATIONS,
    threshold: int | None = None,
    first: bool = False,
    **named: Any,
) -> Exceptions:
    """Run a program on inputs, in order or by name, and return where exceptional values come from.

    `kinds` are the generations to look for, names or members of `ExceptionKind`: nan, overflow, division-by-zero (inf
    is both), underflow, cancellation; all by default. A cancellation loses at least `threshold` bits, by default half
    of those of the type. With `first`, the first generation is an EvaluationError at its op. Options of `Program.run`
    are keywords too, except `observer` and `until`. Raises the run's errors, and EvaluationError for an unknown kind.
    """
    watcher = _watcher(program, kinds, threshold, first, named)
    return watcher.found([program.run(*inputs, observer=watcher, **named)])


@checks_arguments
def exceptions_parallel(
    program: Program,
    inputs_per_process: Sequence[Any],
    *,
    kinds: str | Iterable[ExceptionKind | str] = GENERATIONS,
    threshold: int | None = None,
    first: bool = False,
    **options: Any,
) -> Exceptions:
    """Run a program in a grid of processes as `Program.run_parallel` does, and return what `exceptions` returns."""
    sizes = map(options.get, GRID_SIZES)
    program = program.on_shards(program.grid(len(inputs_per_process), *sizes))
    watcher = _watcher(program, kinds, threshold, first, options)
    return watcher.found(program.run_parallel(inputs_per_process, observer=watcher, **options))


def _watcher(
    program: Program, names: str | Iterable[str], threshold: int | None, first: bool, options: Mapping[str, Any]
) -> ExceptionWatcher:
    """Return the observer of a run; ArgumentTypeError for an option of a run that cannot be given."""
    for name in ("observer", "until"):
        if name in options:
            raise ArgumentTypeError(f"expected no option {name!r}: the run is observed until its end")
    kinds = kinds_of(names)
    return ExceptionWatcher(program, kinds, threshold, kinds if first else ())


@checks_arguments
def backend_exceptions(
    program: Program, inputs: Sequence[Any], backend: str | Session, *, max_bytes: int = MAX_BYTES
) -> list[OnlyInBackend]:
    """Return the values of a program that have NaN or infinities only in a backend, in the order of the program.

    The backend returns at most `max_bytes` of intermediate values in one compilation. Raises the interpreter's errors,
    and EvaluationError if the backend fails.
    """
    if not isinstance(backend, Session):
        with Session(backend) as session:
            return backend_exceptions(program, inputs, session, max_bytes=max_bytes)
    flat, arrays = Flat(program), to_arrays(inputs)
    values = backend_values(flat, arrays, backend, max_bytes)
    if values.failure is not None:
        raise EvaluationError(f"the backend failed: {values.failure}", program.entry.location)
    return only_in_backend(flat, arrays, values.arrays)


def only_in_backend(flat: Flat, inputs: Sequence[Array], arrays: Mapping[Value, Array]) -> list[OnlyInBackend]:
    """Return where the backend's values of a flat program, `arrays`, are exceptional and ours are not.

    The program is run again, and only if the backend has exceptional values at all.
    """
    results = (result for op in flat.ops for result in op.results if result in arrays)
    suspects = {result: arrays[result] for result in results if has_exceptions(arrays[result])}
    ours = subprogram(flat, flat.ops, [*suspects], flat.arguments).program.run(*inputs) if suspects else ()
    found: dict[Value, OnlyInBackend] = {}
    for (value, theirs), expected in zip(suspects.items(), ours):
        other = masks(theirs)
        where = other.any & ~masks(expected).any if np.shape(theirs) == np.shape(expected) else np.zeros((), bool)
        if where.any():
            index, op = first_index(where), value.owner
            is_generated = isinstance(op, Operation) and not any(operand in found for operand in operands_of(op))
            found[value] = OnlyInBackend(
                place_of(flat.program.value_index, value), "nan" if other.nan[index] else "inf",
                int(np.count_nonzero(where)), where.size, index, element_at(theirs, index), element_at(expected, index),
                is_generated,
            )  # fmt: skip
    return list(found.values())


# --- the observer ---------------------------------------------------------------------------------------------------


@dataclass
class Followed:
    """An op that runs: its operands, and in its regions the values that are still used, with their taints."""

    operands: Sequence[Any] = ()
    taints: dict[Value, tuple[Any, Taint]] = field(default_factory=dict)


def _is_followed(frame: Frame | None) -> bool:
    """Return whether the ops inside of an op are looked at one by one."""
    return frame is not None and (frame.op is None or (frame.data is not None and is_control_flow(frame.op)))


def _last_uses(block: Block) -> Mapping[Operation, Sequence[Value]]:
    """Return the values that no op uses after one; where blocks use values of others, none."""
    return last_uses(block) if block.parent is not None and len(block.parent.blocks) == 1 else {}


class ExceptionWatcher(Follower):
    """Watches one run, of one process or a grid, as the observer of `Program.run`; `found` returns the findings.

    `kinds` are the kinds of generation that are looked for; origins (inputs, constants) always are. `threshold` is the
    number of bits that a cancellation loses at least; by default half of those of the type. The first generation of a
    kind in `trap` raises EvaluationError at the op.
    """

    sees_every_op = True

    @checks_arguments
    def __init__(
        self,
        program: Program,
        kinds: Iterable[ExceptionKind] = GENERATIONS,
        threshold: int | None = None,
        trap: Collection[ExceptionKind] = (),
    ) -> None:
        if threshold is not None and threshold < 0:
            raise ArgumentValueError(f"threshold must not be negative, got {threshold}")
        self.program = program
        self.kinds = tuple(kind for kind in GENERATIONS if kind in {*kinds, *trap})
        self.threshold = threshold
        self.ops = 0
        self._trap = trap
        self._sources: dict[tuple[Value, ExceptionKind], Finding] = {}
        self._bits: dict[tuple[Value, ExceptionKind], int] = {}  # of sources; 0 if their values are not followed
        self._effects: dict[tuple[Operation, bool], Effect] = {}  # what ops pass on, and what they remove
        self._effect_bits: dict[tuple[Operation, bool], int] = {}  # whose values these are
        self._sources_of: dict[Value, int] = {}  # in all turns and processes
        self._sent: dict[Operation, int] = {}  # the sources that went into ops with regions, or to other processes
        self._programs: dict[Operation, Program] = {}  # ops that move elements, as programs that move taints
        self._dying = cache(_last_uses)
        super().__init__(program.value_index)

    def found(self, results: Sequence[Sequence[Any]]) -> Exceptions:
        """Return the findings after the run; `results` are those of each process."""
        reached = [self._reached(i, value, results) for i, value in enumerate(self._returned())]
        slicer, kinds = Slicer(self.index), {*self.kinds, *ORIGINS}
        found = {key: finding for key, finding in self._sources.items() if finding.kind in kinds}
        for (value, _), finding in found.items():
            self._complete(finding, value, reached, slicer)
        return Exceptions(list(found.values()), self.kinds, self.ops, self.threshold)

    def _complete(self, finding: Finding, value: Value, reached: Sequence[int], slicer: Slicer) -> None:
        """Add what is known of a source after the run; `reached` are those of the exceptions of each output."""
        bit, op = self._bits[value, finding.kind], value.owner
        if finding.kind not in ORIGINS and isinstance(op, Operation):
            finding.slice = slicer(op.operands, None if bit else LOSSY_SLICE)
        if bit:
            finding.outputs = tuple(i for i, bits in enumerate(reached) if bits & bit)
            finding.reach = Reach.OUTPUT if finding.outputs else Reach.MASKED
            for key, effect in self._effects.items():
                if self._effect_bits[key] & bit:
                    (finding.removed if key[1] else finding.propagated).append(effect)

    def _returned(self) -> list[list[Value]]:
        """Return the values that are returned as each output, of which there is one for each return."""
        blocks = functions(self.program.module)[self.program.entry.name].regions[0].blocks
        ends = [block.operations[-1] for block in blocks if not block.operations[-1].successors]
        return [list(values) for values in zip(*(end.operands for end in ends))]

    def _reached(self, number: int, values: Sequence[Value], results: Sequence[Sequence[Any]]) -> int:
        """Return the sources of the exceptional elements of an output, in all processes."""
        bits = sum_of_bits(self._sources_of.get(value, 0) for value in values)
        wrong = [given[number] for given in results if number < len(given) and has_exceptions(given[number])]
        if wrong and not bits:
            bits = self._origin(ExceptionKind.UNKNOWN, values[0], wrong[0], self.frames[0])
        return bits

    # --- the run ------------------------------------------------------------------------------------------------

    def new_stack(self, entry: Frame) -> None:
        entry.data = Followed()

    def enters(self, block: Block, arguments: Sequence[Any]) -> None:
        super().enters(block, arguments)
        frame = self.frames[-1]
        if _is_followed(frame):
            self._pass(block.arguments, arguments, frame)

    def entered(self, frame: Frame, op: Operation, operands: Sequence[Any]) -> None:
        if not _is_followed(frame.outer):
            return  # inside an op that is looked at as a whole
        frame.data = Followed(operands)
        if is_control_flow(op) or traits_of(op).communicates:
            bits = sum_of_bits(map(bits_of, self._operands(op)))
            self._sent[op] = self._sent.get(op, 0) | bits

    def left(self, frame: Frame, op: Operation, results: Sequence[Any]) -> None:
        if frame.data is None:
            return
        if is_control_flow(op):
            self._pass(op.results, results, frame)
        elif is_constant_like(op):
            taint = self._bits.get((op.results[0], ExceptionKind.CONSTANT), 0)
            if not taint and has_exceptions(results[0]):
                taint = self._origin(ExceptionKind.CONSTANT, op.results[0], results[0], frame)
            self._set(op.results[0], results[0], taint)
        else:
            self.ops += 1
            self._leaf(frame, op, results)
        for value in self._dying(op.parent).get(op, ()):
            self.frames[-1].data.taints.pop(value, None)

    def _leaf(self, frame: Frame, op: Operation, results: Sequence[Any]) -> None:
        taints = self._operands(op)
        if any(type(taint) is not int or taint for taint in taints) or any(map(has_exceptions, results)):
            self._exceptional(frame, op, taints, results)
        else:
            for value, result in zip(op.results, results):
                self._set(value, result, 0)
        if len(results) == 1:
            self._rounding(frame, op, results[0])

    # --- taints -------------------------------------------------------------------------------------------------

    def _set(self, value: Value, data: Any, taint: Taint) -> None:
        """Keep the taint of a value while the op around it runs, and its sources in all turns and processes."""
        bits = bits_of(taint)
        self.frames[-1].data.taints[value] = data if bits else None, taint
        if bits:
            self._sources_of[value] = self._sources_of.get(value, 0) | bits

    def _operands(self, op: Operation) -> list[Taint]:
        return list(map(self._operand, op.operands))

    def _operand(self, value: Value) -> Taint:
        for outer in reversed(self.frames):
            if outer.data is not None and value in outer.data.taints:
                known: Taint = outer.data.taints[value][1]
                return known
        return 0

    def _pass(self, values: Sequence[Value], given: Sequence[Any], frame: Frame) -> None:
        """Set the taints of what control flow passes on; all are found before one is set."""
        taints = [self._passed(value, data, frame) for value, data in zip(values, given)]
        for value, data, taint in zip(values, given, taints):
            self._set(value, data, taint)

    def _passed(self, value: Value, data: Any, frame: Frame) -> Taint:
        """Return the taint of what control flow passes on; if its memory is new, of all that it may be a copy of.

        For a result of an op, that is what its regions return; else, all that went into the op.
        """
        if not has_exceptions(data):
            return 0
        if frame.op is None and is_input(self.index, value):
            return self._origin(ExceptionKind.INPUT, value, data, frame)
        kept = [pair for outer in (frame, *reversed(self.frames)) if outer.data for pair in outer.data.taints.values()]
        known: Taint | None = next((taint for x, taint in kept if is_same(x, data)), None)
        if known is not None:
            return known
        around = defining_op(value)
        ends = yielded(around.regions, value.index) if around is not None and value.owner is around else ()
        taint = sum_of_bits(self._sources_of.get(end, 0) for end in ends)
        taint = taint or (self._sent.get(around, 0) if around else 0)
        return taint or self._origin(ExceptionKind.UNKNOWN, value, data, frame)

    def _origin(self, kind: ExceptionKind, value: Value, array: Any, frame: Frame) -> int:
        """Return the bit of a value whose exceptions come from elsewhere."""
        return self._source(kind, value, array, masks(array).any if is_float(array) else np.asarray(True), frame)

    # --- ops ----------------------------------------------------------------------------------------------------

    def _rounding(self, frame: Frame, op: Operation, result: Any) -> None:
        """Look for underflow and cancellation."""
        cancels = partial(cancellation, threshold=self.threshold)
        for kind, find in ((ExceptionKind.UNDERFLOW, underflow), (ExceptionKind.CANCELLATION, cancels)):
            if kind in self.kinds and (lossy := find(op, frame.data.operands, result)) is not None:
                where, bits = lossy
                self._source(kind, op.results[0], result, where, frame, bits)

    def _exceptional(self, frame: Frame, op: Operation, taints: Sequence[Taint], results: Sequence[Any]) -> None:
        """Find what an op does with exceptional operands, and which of its results are new."""
        operands, taint, followed = frame.data.operands, only_taint(op, taints), None
        arrays = [] if taint else [expanded(t, x) for t, x in zip(taints, operands)]
        through: Sequence[Array]
        nan_through: Sequence[Array]
        if taint:  # all are kept
            through = nan_through = [np.asarray(UINT64.type(taint))] * len(results)
        elif moves(op) and (followed := moved(op, operands, arrays, self._programs)):
            through = nan_through = followed[0]
        elif traits_of(op).communicates and (sent := self._sent[op]):
            through = nan_through = [np.asarray(UINT64.type(sent))] * len(results)
        else:
            nan_only = [np.where(masks(x).nan, t, UINT64.type(0)) for t, x in zip(arrays, operands)]
            through, nan_through = (carried(op, operands, given, results) for given in (arrays, nan_only))
        made: list[Array] = []
        for value, result, all_of, nan_of in zip(op.results, results, through, nan_through):
            made.append(self._result(frame, op, value, result, all_of, nan_of))
            self._set(value, result, compact(made[-1]))
        is_exact = followed is not None or (traits_of(op).elementwise and len(made) == 1)
        for before, gone in zip(arrays, followed[1]) if followed else removed(op, arrays, made, is_exact):
            bits = bits_of(np.where(gone, before, UINT64.type(0)))
            self._effect(op, True, bits, gone, frame, is_exact)

    def _result(self, frame: Frame, op: Operation, value: Value, result: Any, through: Array, nan_of: Array) -> Array:
        """Return the taint of a result: the sources that come through the op, and those that are new."""
        if not is_float(result):
            bits = bits_of(through) if has_exceptions(result) else 0
            return np.full(np.shape(result) if not isinstance(result, tuple) else (), bits, UINT64)
        nan, inf = masks(result)
        taint = np.where(nan | inf, through, UINT64.type(0))
        passed = taint != 0
        self._effect(op, False, bits_of(taint), passed, frame, is_exact(op))
        new_inf, pole = inf & ~passed, at_pole(op, frame.data.operands)
        new = {
            ExceptionKind.NAN: nan & (nan_of == 0),
            ExceptionKind.OVERFLOW: new_inf & ~pole,
            ExceptionKind.DIVISION: new_inf & pole,
        }
        if not traits_of(op).elementwise and not any(map(is_float, frame.data.operands)):
            new = {ExceptionKind.UNKNOWN: (nan | inf) & ~passed}  # such as of the infeed
        for kind, where in new.items():
            if where.any():
                taint = np.where(where, taint | UINT64.type(self._source(kind, value, result, where, frame)), taint)
        return taint

    # --- what is counted ----------------------------------------------------------------------------------------

    def _source(
        self, kind: ExceptionKind, value: Value, array: Any, where: Array, frame: Frame, lost_bits: int = 0
    ) -> int:
        """Count elements `where` exceptional values come up, and return the bit of their source.

        The first one of a kind in `trap` raises EvaluationError.
        """
        if (value, kind) not in self._sources:
            self._add_source(kind, value, array, where, frame)
        finding = self._sources[value, kind]
        finding.elements += int(np.count_nonzero(where))
        finding.runs += 1
        finding.lost_bits = max(finding.lost_bits, lost_bits)
        if self.process.id not in finding.processes:
            finding.processes += (self.process.id,)
        return self._bits[value, kind]

    def _add_source(self, kind: ExceptionKind, value: Value, array: Any, where: Array, frame: Frame) -> None:
        op, at = value.owner, first_index(where) if where.ndim else ()
        is_origin = kind in ORIGINS
        is_exact = is_origin or (isinstance(op, Operation) and traits_of(op).elementwise)
        address = (frame.address, frame.turns) if isinstance(op, Operation) else (self.index.unique_name(value), ())
        operands = () if is_origin else frame.data.operands
        event = Event(
            *address, self.process.id, at, tuple(_shown(x, at, is_exact) for x in operands),
            element_at(array, at) if is_float(array) else "",
        )  # fmt: skip
        followed = sum(map(bool, self._bits.values()))
        self._bits[value, kind] = 1 << min(followed, SHARED) if kind in FOLLOWED else 0
        finding = Finding(kind, place_of(self.index, value), str(value.type), is_exact, event)
        self._sources[value, kind] = finding
        if kind in self._trap and isinstance(op, Operation):
            raise _trapped(finding, where, op, operands)

    def _effect(self, op: Operation, removes: bool, bits: int, where: Array, frame: Frame, exact: bool) -> None:
        """Count elements that an op passes on, or removes."""
        if not where.any():
            return
        key = op, removes
        if key not in self._effects:
            place = Place(op.name, op.name, str(op.location), op.model_location)
            place = place_of(self.index, op.results[0]) if op.results else place
            self._effects[key] = Effect(place, 0, 0, exact, (frame.address, first_index(where)))
        self._effect_bits[key] = self._effect_bits.get(key, 0) | bits
        self._effects[key].elements += int(np.count_nonzero(where))
        self._effects[key].runs += 1


def _shown(value: Any, at: tuple[int, ...], exact: bool) -> str:
    """Return the element of an operand that an elementwise op uses, or else statistics of all elements."""
    if not isinstance(value, np.ndarray | np.generic):
        return "?"
    array = np.asarray(value)
    if array.ndim == 0 or (exact and array.ndim == len(at) and all(i < n for i, n in zip(at, array.shape))):
        return element_at(array, at)
    return str(statistics(array))


def _trapped(finding: Finding, where: Array, op: Operation, operands: Sequence[Any]) -> EvaluationError:
    first = finding.first
    count = f"{np.count_nonzero(where)} of {where.size} elements"
    example = f"at {list(first.index)}: {call_text(op.name, first)}"
    message = f"'{op.name}' op generates {WORDS[finding.kind]}: {count}; {example}"
    notes = [f"at {first.address} in process {first.process}"] if first.turns or first.process != (0, 0) else []
    texts = (statistics(np.asarray(x)) if isinstance(x, np.ndarray | np.generic) else "not an array" for x in operands)
    notes += [f"operand {i}: {text}" for i, text in enumerate(texts)]
    return EvaluationError(message, op.location, notes=notes)
