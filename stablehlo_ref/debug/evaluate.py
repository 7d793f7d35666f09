"""Evaluate single ops of a program on given arrays: in their own types, or in f64."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import ceil, inf, isfinite, log2, prod
from typing import Any

import numpy as np

from stablehlo_ref.arrays.host_values import fits
from stablehlo_ref.debug.cut import (
    BRANCHES,
    LOOP,
    Flat,
    Subprogram,
    branch_of,
    fed_to,
    is_constant,
    is_literal,
    is_observable,
    operands_of,
    single,
    subprogram,
)
from stablehlo_ref.debug.session import Outcome, Session
from stablehlo_ref.define.definition import facts_of, kind_of
from stablehlo_ref.diagnostics import Diagnostic, StablehloError
from stablehlo_ref.execute.implementation_defined import ChoiceReporter, may_be_implementation_defined
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.signature import Parameter
from stablehlo_ref.ir.types import FLOATS, ComplexType, FloatType, TensorType, Type
from stablehlo_ref.numerics.dtypes import is_fractional, kind, numpy_dtype
from stablehlo_ref.passes.element_types import replace_types, with_replaced
from stablehlo_ref.program import Program

_ALGORITHM = (
    "algorithm", "lhs_precision_type", "rhs_precision_type", "accumulation_type", "lhs_component_count",
    "rhs_component_count", "num_primitive_operations", "allow_imprecise_accumulation",
)  # fmt: skip
_RECENT = 4  # results of expensive ops, which are never computed twice, that are kept


class Evaluator:
    """Runs ops of a flat program one at a time. Plans are kept; ops that differ in their operands only share one."""

    def __init__(self, flat: Flat) -> None:
        self.flat = flat
        self._programs: dict[tuple[Hashable, bool], Subprogram] = {}
        self._bodies: dict[tuple[Operation, int], Subprogram] = {}
        self._constants: dict[Value, Array] = {}
        self._recent: deque[tuple[Operation, Sequence[Array], list[Array]]] = deque(maxlen=_RECENT)

    def __call__(self, op: Operation, arrays: Sequence[Array], wide: bool = False) -> list[Array] | None:
        """Return the results of an op, that is fed (`fed_to`) `arrays`; None on an error."""
        try:
            if wide and facts_of(op).fusion == "once":
                return self._remembered(op, arrays)
            return self._run(self.subprogram(op, wide).program, arrays)
        except StablehloError:
            return None

    def _remembered(self, op: Operation, arrays: Sequence[Array]) -> list[Array]:
        """Return the results of an expensive op in f64, which bounds under several contracts ask for."""
        for known, operands, results in self._recent:
            if known is op and all(map(same_bits, operands, arrays)):
                return results
        results = self._run(self.subprogram(op, True).program, arrays)
        self._recent.append((op, arrays, results))
        return results

    def _run(self, program: Program, arrays: Sequence[Array], **options: Any) -> list[Array]:
        dtypes = [numpy_dtype(p.element_type) for p in program.inputs]
        with np.errstate(all="ignore"):
            given = [np.asarray(array).astype(dtype, copy=False) for array, dtype in zip(arrays, dtypes, strict=True)]
            return [np.asarray(result) for result in program.run(*given, **options)]

    def choices(self, op: Operation, arrays: Sequence[Array]) -> list[str]:
        """Return the choices that the spec leaves to implementations and on which the results of an op rely."""
        if not any(map(may_be_implementation_defined, op.walk())):
            return []
        return self.choices_of(self.subprogram(op).program, arrays)

    def choices_of(self, program: Program, arrays: Sequence[Array]) -> list[str]:
        """Return the choices that the spec leaves to implementations and on which the results of a program rely."""
        found: list[Diagnostic] = []
        with suppress(StablehloError):
            self._run(program, arrays, observer=ChoiceReporter(found.append))
        return [diagnostic.message for diagnostic in found]

    def body(self, op: Operation, index: int) -> Subprogram:
        """Return the program of a region of an op, which uses nothing but its arguments; KeyError if it does."""
        if (op, index) not in self._bodies:
            *ops, terminator = op.regions[index].block.operations
            arguments = op.regions[index].block.arguments
            self._bodies[op, index] = subprogram(self.flat, ops, terminator.operands, arguments)
        return self._bodies[op, index]

    def value(self, value: Value, values: Mapping[Value, Array]) -> Array:
        """Return the array of a value: the one in `values`, or else that of a constant."""
        return values[value] if value in values else self.constant(value)

    def constant(self, value: Value) -> Array:
        """Return the array of a value that `is_constant`."""
        if value not in self._constants:
            (self._constants[value],) = subprogram(self.flat, [], [value]).program.run()
        return self._constants[value]

    def subprogram(self, op: Operation, wide: bool = False) -> Subprogram:
        """Return the program of an op; if `wide`, with f64 for all narrower floating-point types."""
        key = _key(op), wide
        if key not in self._programs:
            made = single(self.flat, op)
            if wide:
                widen(made.program.module)
                made = replace(made, program=Program(made.program.module, made.program.entry.name))
            self._programs[key] = made
        return self._programs[key]


def _key(op: Operation) -> Hashable:
    """Return what the program of an op depends on; the op itself if that is more than its types and properties."""
    fed = fed_to(op)
    if op.regions or op.attributes or any(operand not in fed for operand in op.operands):
        return op
    return kind_of(op), tuple(map(fed.index, op.operands))


def wide_type(type: Type) -> Type:
    """Return f64 for a floating-point type, complex<f64> for a complex one, and others as they are."""
    if isinstance(type, FloatType):
        return FLOATS["f64"]
    return ComplexType(FLOATS["f64"]) if isinstance(type, ComplexType) else type


def widen(module: Operation) -> None:
    """Replace floating-point types by f64 in a module, constants included, and drop algorithms of dots."""
    replace_types(module, lambda type: with_replaced(type, wide_type), lambda array, dtype: array.astype(dtype))
    for op in module.walk():
        op.properties = {name: value for name, value in op.properties.items() if name not in _ALGORITHM}


def widened(array: Array) -> Array:
    """Return an array of floating-point or complex numbers in f64 or complex128, any other as it is."""
    name = kind(array.dtype)
    if name in ("floating", "complex"):
        with np.errstate(invalid="ignore"):  # of signalling NaNs
            return array.astype(np.complex128 if name == "complex" else np.float64)
    return array


def same_bits(actual: Array, expected: Array) -> bool:
    """Return whether two arrays have the same type, shape and bits; any NaN is like any other."""
    if (actual.shape, actual.dtype) != (expected.shape, expected.dtype):
        return False
    x, y = (np.ascontiguousarray(a).reshape(-1) for a in (actual, expected))
    if x.view(np.uint8).tobytes() == y.view(np.uint8).tobytes():
        return True
    if not is_fractional(actual.dtype):
        return False
    x, y = (widened(a).view(np.float64) for a in (x, y))
    return bool(np.all(((x == y) & (np.signbit(x) == np.signbit(y))) | (np.isnan(x) & np.isnan(y))))


# --- what a backend computes: prefix cuts within a memory budget, regions, single turns of loops ---------------------

MAX_BYTES = 1 << 30  # of intermediate values that one program of a backend returns
MOST_TURNS = 64


@dataclass(frozen=True)
class RegionRun:
    """A region as a program, what it is fed, and the turn of the loop; `region` is its index."""

    turn: int
    region: int
    program: Subprogram
    feeds: Sequence[Array]


def furthest_runs(
    op: Operation, values: Mapping[Value, Array], evaluate: Evaluator, session: Session
) -> Iterator[RegionRun]:
    """Yield the runs of the regions of a loop or of a branch to compare, the most different first.

    The first turns of a loop, at most `MOST_TURNS`, are run by the backend; those are yielded whose result is furthest
    from the interpreter's, for the condition and for the body. The state before the first turn is in `values`; later
    ones are what the interpreter computes from it.
    """
    furthest: dict[int, tuple[float, RegionRun]] = {}
    for run, ours in region_runs(op, values, evaluate):
        outcome = session.run(run.program.text, run.feeds)
        pairs = zip(outcome.results, ours)
        apart = float("inf") if outcome.failure else max((distance(x, y) for x, y in pairs), default=0.0)
        if op.name in BRANCHES or apart > furthest.get(run.region, (0.0, run))[0]:
            furthest[run.region] = apart, run
        if outcome.failure:
            break
    for _, run in sorted(furthest.values(), key=lambda item: -item[0]):
        yield run


def region_runs(
    op: Operation, values: Mapping[Value, Array], evaluate: Evaluator
) -> Iterator[tuple[RegionRun, Sequence[Array]]]:
    """Yield the condition and the body of each turn, or the branch that is taken, with the interpreter's results."""
    programs: dict[int, Subprogram] = {}

    def run(turn: int, index: int, state: Sequence[Array] = ()) -> tuple[RegionRun, Sequence[Array]]:
        block = op.regions[index].block
        if index not in programs:
            programs[index] = subprogram(evaluate.flat, block.operations[:-1], block.operations[-1].operands)
        made = programs[index]
        feeds = [np.asarray(state[v.index] if v.owner is block else values[v]) for v in made.feeds]
        return RegionRun(turn, index, made, feeds), made.program.run(*feeds)

    if op.name in BRANCHES:
        yield run(0, branch_of(op, evaluate.value(op.operands[0], values)))
        return
    state: Sequence[Array] = [evaluate.value(value, values) for value in op.operands]
    for turn in range(MOST_TURNS):
        condition, goes_on = run(turn, 0, state)
        yield condition, goes_on
        if not goes_on[0]:
            return
        body, state = run(turn, 1, state)
        yield body, state


def can_enter(op: Operation, values: Mapping[Value, Array]) -> bool:
    """Return whether all that a loop or branch uses is known: static tensors, whose values the backend returned."""
    known = (is_observable(value) and (is_constant(value) or value in values) for value in operands_of(op))
    return op.name in (LOOP, *BRANCHES) and all(known)


@dataclass
class BackendValues:
    """The values by SSA value, and how the runs that returned them went."""

    arrays: dict[Value, Array] = field(default_factory=dict)
    failure: Outcome | None = None
    seen: int = 0  # ops whose values were asked for
    programs: list[Subprogram] = field(default_factory=list)  # the programs that returned them


def backend_values(flat: Flat, inputs: Sequence[Array], session: Session, max_bytes: int) -> BackendValues:
    """Return the backend's values of all ops, asked for in as few programs as `max_bytes` of outputs allow.

    Each program starts where the one before ended, fed with what the backend returned there. At most as many programs
    are run as a bisection would need; `failure` says so if that is not all ops.
    """
    found = BackendValues(dict(zip(flat.arguments, inputs)))
    ranges, most = ranges_of(flat, max_bytes), most_compilations(flat) - 5
    for start, end in ranges[:most]:
        wanted = [r for op in flat.ops[start:end] for r in op.results if is_observable(r) and not is_literal(r)]
        if wanted:
            made = subprogram(flat, flat.ops[start:end], wanted)
            outcome = run_subprogram(session, made, found.arrays)
            if outcome.failure:
                found.failure = outcome
                return found
            found.arrays.update(zip(wanted, outcome.results))
            found.programs.append(made)
        found.seen = end
    if len(ranges) > most:
        reason = f"{found.seen} of {len(flat.ops)} ops were compared, in {most} programs; more need a larger max_bytes"
        found.failure = Outcome((), "stopped", reason)
    return found


def most_compilations(flat: Flat) -> int:
    """Return how many programs a search may compile: two bisections of all ops, also those of regions, and 5."""
    ops = sum(1 for op in flat.ops for _ in op.walk())
    return 2 * ceil(log2(max(ops, 2))) + 5


def run_again(found: BackendValues, session: Session, op: Operation | None = None) -> dict[Value, Array]:
    """Return the values that a second run of the programs returns; of those with the results of an op, if one is given.

    Programs are not compiled again. Values are missing where a run fails.
    """
    again: dict[Value, Array] = {}
    for made in found.programs:
        if op is None or set(op.results) & set(made.wanted):
            outcome = run_subprogram(session, made, found.arrays)
            again.update(zip(made.wanted, outcome.results))
    return again


def run_subprogram(session: Session, made: Subprogram, arrays: Mapping[Value, Array]) -> Outcome:
    """Run a subprogram on values; a failure if one is missing. Types and shapes of the results are checked."""
    if any(value not in arrays for value in made.feeds):
        return Outcome((), "stopped", "a value at a cut is not a static tensor")
    return checked(session.run(made.text, [arrays[value] for value in made.feeds]), made.wanted)


def checked(outcome: Outcome, wanted: Sequence[Value | Parameter]) -> Outcome:
    """Return an outcome, a failure if the results are not arrays of the types of the values that were asked for."""
    if outcome.failure:
        return outcome
    if len(outcome.results) != len(wanted):
        return Outcome((), "wrong results", f"expected {len(wanted)} results, got {len(outcome.results)}")
    for index, (array, value) in enumerate(zip(outcome.results, wanted)):
        if not isinstance(type := value.type, TensorType):
            continue
        if array.dtype != numpy_dtype(type.element_type) or not fits(type, array.shape):
            reason = f"result {index} is {array.dtype}{list(array.shape)}, expected {type}"
            return Outcome((), "wrong results", reason)
    return outcome


def ranges_of(flat: Flat, max_bytes: int) -> list[tuple[int, int]]:
    """Return ranges of ops whose results are at most `max_bytes`, one op at least."""
    found, start, total = [], 0, 0
    for index, op in enumerate(flat.ops):
        size = sum(size_of(result) for result in op.results)
        if index > start and total + size > max_bytes:
            found.append((start, index))
            start, total = index, 0
        total += size
    return [*found, (start, len(flat.ops))]


def size_of(value: Value) -> int:
    """Return the bytes of a value; 0 for what cannot be observed."""
    if not is_observable(value) or is_literal(value):
        return 0
    assert isinstance(value.type, TensorType)
    return prod(n or 0 for n in value.type.shape) * np.dtype(numpy_dtype(value.type.element_type)).itemsize


def all_values(flat: Flat, inputs: Sequence[Array]) -> dict[Value, Array]:
    """Return the values of all ops that are static tensors, as the interpreter computes them."""
    wanted = [result for op in flat.ops for result in op.results if is_observable(result)]
    made = subprogram(flat, flat.ops, wanted, flat.arguments)
    return dict(zip((*flat.arguments, *wanted), (*inputs, *made.program.run(*inputs))))


def distance(actual: Array, expected: Array) -> float:
    """Return the norm of the difference relative to that of the expected array; infinity if specials differ."""
    if actual.dtype.kind in "biu":
        return float(np.mean(actual != expected)) if actual.size else 0.0
    wide = np.complex128 if actual.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        x, y = (np.asarray(a).astype(wide).reshape(-1) for a in (actual, expected))
        apart, norm = float(np.linalg.norm(x - y)), float(np.linalg.norm(y))
        if not (isfinite(apart) and isfinite(norm)):
            finite = np.isfinite(x) & np.isfinite(y)
            if not np.array_equal(x[~finite], y[~finite], equal_nan=True):
                return inf
            apart, norm = float(np.linalg.norm((x - y)[finite])), float(np.linalg.norm(y[finite]))
    return apart / norm if norm else apart
