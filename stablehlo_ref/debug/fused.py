"""Small programs that show a fault: groups of ops, ops on which a backend fails, and programs that check themselves.

Faults that vanish where intermediate values are outputs are found by suffix cuts, with the original outputs kept. The
last ops, fed at the cut with values that the backend itself returned without the fault, are run for later and later
cuts; the last cut at which the fault persists is where the group starts. It ends at the first op for which the ops from
there on, with no other outputs than the results that none of them uses, are wrong.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from stablehlo_ref.debug.bounds.ball import UNKNOWN, Ball, dtype_of, exact, overflow_threshold, overflowed
from stablehlo_ref.debug.bounds.transfer import Propagation, propagation
from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.cut import (
    Flat,
    Subprogram,
    is_constant,
    is_constant_op,
    is_observable,
    needed_by,
    operands_of,
    sinks,
    slice_of,
    subprogram,
)
from stablehlo_ref.debug.evaluate import distance, run_subprogram
from stablehlo_ref.debug.judge import Excess, Judge, excess_of, excesses
from stablehlo_ref.debug.session import Outcome, Session
from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.define.definition import is_constant_like
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.ir.types import BOOLEAN, FunctionType, tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of, is_fractional, kind
from stablehlo_ref.passes.emit import Emitter, Expr, equal, not_equal
from stablehlo_ref.passes.symbols import functions
from stablehlo_ref.syntax.printer import print_operation

SUSPECT = "suspect"
BOOL_SCALAR = tensor_type((), BOOLEAN)
_ALONE = 4  # values that are asked for each in a program of its own, if the backend refuses one with all of them
T = TypeVar("T")
NOISE = 8.0  # how much larger than the distance of two legal runs a fault must be to be searched for


@dataclass(frozen=True)
class FaultyGroup:
    """Ops that are wrong only together, the program that shows it, and where its result exceeds the bound.

    Without `excess` the group is suspicious: it changes the result far more than other legal runs do, but its rounding
    errors have no bound that rules it out.
    """

    ops: tuple[Operation, ...]
    repro: Repro
    excess: Excess | None

    @property
    def is_certain(self) -> bool:
        return self.excess is not None


class _GroupSearch:
    def __init__(self, judge: Judge, session: Session, threshold: float) -> None:
        self.session, self.threshold, self.flat = session, threshold, judge.evaluate.flat
        self.arrays, self.contract, self.evaluate = judge.values, judge.contract, judge.evaluate
        self.composed: dict[int, Propagation] = {}  # by where they start
        self.results: dict[tuple[int, int], Mapping[Value, Array]] = {}  # of ops between two cuts

    def persists(self, start: int) -> bool:
        """Return whether the outputs are far off if the ops from `start` are run on the values of `arrays`."""
        return self._persists(self.flat.ops[start:], self.flat.outputs)

    def persists_apart(self, start: int, end: int) -> bool:
        """Return whether that is so if a barrier parts the ops from `start` to `end` from those that follow."""
        made = {result for op in self.flat.ops[start:end] for result in op.results}
        rest = [op for op in self.flat.ops[end:] if not is_constant_op(op)]
        values = [v for v in needed_by(rest, self.flat.outputs) if v in made and is_observable(v)]
        if not values:
            return True
        types, location = [value.type for value in values], self.flat.ops[start].location
        barrier = build_operation("stablehlo.optimization_barrier", values, types, location)
        mapping = dict(zip(values, barrier.results))
        ops = [*self.flat.ops[start:end], barrier, *(clone(op, mapping) for op in rest)]
        return self._persists(ops, [mapping.get(value, value) for value in self.flat.outputs])

    def _persists(self, ops: Sequence[Operation], outputs: Sequence[Value]) -> bool:
        results = self._run(subprogram(self.flat, ops, outputs))
        return results is not None and self._is_far(self.flat.outputs, results)

    def constant(self, start: int) -> FaultyGroup | None:
        """Return a constant that the op at `start` uses and that is wrong; it is in each program with that op."""
        for value in filter(is_constant, operands_of(self.flat.ops[start])):
            op, made, bounds = value.owner, subprogram(self.flat, [], [value]), [exact(self.evaluate.constant(value))]
            if isinstance(op, Operation) and not is_constant_like(op):
                for excess in excesses(self._run(made) or (), bounds, self.contract):
                    return FaultyGroup((op,), Repro(made, (), bounds), excess)
        return None

    def violates(self, start: int, end: int) -> bool:
        """Return whether values that leave the ops from `start` to `end` are beyond their bounds, or far off."""
        results = self.between(start, end)
        return self._is_far(list(results), list(results.values())) or bool(self._excess(results, start, end))

    def group(self, start: int, end: int, last: int) -> FaultyGroup | None:
        """Return the ops from `start` to `end` of which a value depends that leaves those up to `last`.

        It is the one that exceeds its bounds, or else is furthest off.
        """
        results = self.between(start, last)
        if not results:
            return None
        found = self._excess(results, start, last)
        apart = {value: distance(x, self.arrays[value]) for value, x in results.items()}
        value, excess = found if found else (max(apart, key=apart.__getitem__), None)
        made = subprogram(self.flat, self.flat.ops[start:last], list(results))
        ops = slice_of(self.flat.ops[start:last], value)
        first = set(self.flat.ops[start:end])
        kept = tuple(op for op in ops if not is_constant_op(op) and op in first)
        bounds = [self._balls(start, last).get(wanted, UNKNOWN) for wanted in made.wanted]
        return FaultyGroup(kept, Repro(made, [self.arrays[value] for value in made.feeds], bounds), excess)

    def _balls(self, start: int, end: int) -> Mapping[Value, Ball]:
        if start not in self.composed:
            self.composed = {start: propagation(self.arrays, self.contract, self.evaluate)}
        made = self.composed[start]
        made.extend(self.flat.ops[start + made.count : end])
        return made.balls

    def _excess(self, results: Mapping[Value, Array], start: int, end: int) -> tuple[Value, Excess] | None:
        balls = self._balls(start, end)
        found = ((v, excess_of(x, balls.get(v, UNKNOWN), self.contract)) for v, x in results.items())
        return next(((value, excess) for value, excess in found if excess), None)

    def between(self, start: int, end: int) -> Mapping[Value, Array]:
        """Return what ops between two cuts return, in one program, or each value in its own if that is refused."""
        if (start, end) not in self.results:
            wanted = self._leaving(start, end)
            parts = [[value] for value in wanted[:_ALONE]] if len(wanted) > 1 else []
            found: dict[Value, Array] = {}
            for part in (wanted, *parts) if wanted else ():
                results = self._run(subprogram(self.flat, self.flat.ops[start:end], part))
                found.update(zip(part, results or ()))
                if results is not None and part is wanted:
                    break
            self.results[start, end] = found
        return self.results[start, end]

    def _leaving(self, start: int, end: int) -> list[Value]:
        """Return results of ops up to a cut that depend on the first op, and that they do not use: it may hide a fault.

        Those of the last ops are the outputs.
        """
        ops, left = self.flat.ops[start:end], {*needed_by(self.flat.ops[end:], self.flat.outputs)}
        if end < len(self.flat.ops):
            left -= {operand for op in ops for operand in operands_of(op)}
        depending = set(ops[0].results)
        for op in ops:
            if not depending.isdisjoint(operands_of(op)):
                depending.update(op.results)
        left &= depending & self.arrays.keys()
        return [result for op in ops for result in op.results if result in left]

    def _run(self, made: Subprogram) -> tuple[Array, ...] | None:
        outcome = run_subprogram(self.session, made, self.arrays)
        return None if outcome.failure else outcome.results

    def _is_far(self, values: Sequence[Value], results: Sequence[Array]) -> bool:
        pairs = [(x, self.arrays[v]) for v, x in zip(values, results) if v in self.arrays]
        return any(distance(x, y) > self.threshold for x, y in pairs)


def find_group(
    judge: Judge, outputs: Sequence[Array], ours: Sequence[Array], session: Session, is_hidden: bool
) -> FaultyGroup | None:
    """Return the group of ops whose fault vanishes where intermediate values are outputs; None without such a fault.

    The values of `judge` are those of the backend with all intermediate values as outputs, `outputs` those of the
    program as it is, and `ours` the interpreter's. If outputs differ no more than legal runs do, there is nothing to
    search. If the backend returned no intermediate values (`is_hidden`), they are the interpreter's, and an op may be
    wrong alone.
    """
    flat = judge.evaluate.flat
    returned = [judge.values.get(value) for value in flat.outputs]
    apart = max((distance(x, y) for x, y in zip(outputs, returned) if y is not None), default=0.0)
    noise = max((distance(x, y) for x, y in zip(ours, returned) if y is not None), default=0.0)
    if not apart > max(NOISE * noise, 1e-12):
        return None
    search = _GroupSearch(judge, session, max(NOISE * noise, min(apart, 1.0) / 8))
    start = last(search.persists, 0, len(flat.ops))
    if is_hidden and (found := search.constant(start)):
        return found
    if is_hidden and not search.between(start, start + 1):  # the backend does not return this op's results alone
        end = first_near(lambda index: search.persists_apart(start, index), start + 1, len(flat.ops))
        return search.group(start, end, len(flat.ops))
    is_alone = is_hidden and search.violates(start, start + 1)
    end = start + 1 if is_alone else first_near(lambda index: search.violates(start, index), start + 1, len(flat.ops))
    return search.group(start, end, end)


def last(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the last index in [low, high) for which `holds`, which it does from `low` on up to there."""
    return bisect_left(range(high), True, low + 1, key=lambda index: not holds(index)) - 1


def first_near(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first index in [low, high] from which on `holds`, which it does at `high`.

    There are few calls if that is near `low`: the distance is doubled.
    """
    step = 1
    while low + step < high and not holds(low + step):
        low, step = low + step + 1, 2 * step
    end = min(low + step, high)
    return bisect_left(range(end), True, low, key=holds)


def failing_ops(
    flat: Flat, values: Mapping[Value, Array], failure: Outcome, session: Session, most: int
) -> list[Operation]:
    """Return few adjacent ops on which a backend fails as on the whole program; [] if it does not, fed at a cut.

    `values` are those of the interpreter, for at most `most` runs.
    """
    left = iter(range(most))

    def fails(ops: Sequence[Operation]) -> bool:
        wanted = sinks(ops)
        made = subprogram(flat, ops, wanted)
        if not wanted or any(value not in values for value in made.feeds) or next(left, None) is None:
            return False
        return words_of(run_subprogram(session, made, values)) == words_of(failure)

    if words_of(session.run(str(subprogram(flat, [], []).program), [])) == words_of(failure):
        return []  # not the program is at fault if the backend fails on an empty one
    return smallest(flat.ops, fails)


def smallest(members: Sequence[T], suffices: Callable[[Sequence[T]], bool]) -> list[T]:
    """Return few adjacent members that suffice, found by bisection; the empty list if not even all do."""
    if not members or not suffices(members):
        return []
    start = last(lambda index: suffices(members[index:]), 0, len(members))
    end = first_near(lambda index: suffices(members[start:index]), start + 1, len(members))
    return list(members[start:end])


def words_of(failure: Outcome) -> tuple[str, str]:
    """Return the kind of a failure and the first line of its reason, without numbers and names of values."""
    first, *_ = failure.reason.splitlines() or [""]
    return failure.failure, re.sub(r"\d+|%\w+", "#", first)


# --- programs that check themselves ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Repro:
    """A program, what it is fed, the bounds of its results, and words on what is wrong.

    Its text has the inputs as constants and uses only StableHLO, so that it runs in any backend as it does here.
    """

    program: Subprogram
    feeds: Sequence[Array]
    bounds: Sequence[Ball]
    comment: str = ""
    workarounds: tuple[str, ...] = ()  # switches of the backend that make it right

    def text(self) -> str:
        """Return the program whose @main has no inputs and returns whether all is within the bounds."""
        module = clone(self.program.program.module, {})
        suspect = functions(module)[self.program.program.entry.name]
        suspect.properties = {**suspect.properties, "sym_name": SUSPECT, "sym_visibility": "private"}
        with Rewriter(module) as rewriter:
            body = Emitter(rewriter, suspect).region((), self._main, "func.return")
        members = {"sym_name": "main", "function_type": FunctionType((), (BOOL_SCALAR,))}
        main = build_operation("func.func", (), (), suspect.location, members=members, regions=[body])
        module.regions[0].block.operations.append(main)
        comment = "".join(f"// {line}\n" for line in self.comment.splitlines())
        return comment + print_operation(module)

    def _main(self, emit: Emitter, _: Sequence[Value]) -> list[Value]:
        types = [value.type for value in self.program.feeds]
        feeds = emit.constants(types, self.feeds)
        if feeds:  # which a compiler must not fold
            feeds = emit.operation("stablehlo.optimization_barrier", feeds, types).results
        call = emit.operation("func.call", feeds, [value.type for value in self.program.wanted], callee=SUSPECT)
        checks = [_is_within(emit, value, b) for value, b in zip(call.results, self.bounds) if b is not UNKNOWN]
        return [reduce(partial(emit.value, "stablehlo.and"), checks)]

    def is_within(self, results: Sequence[Array], contract: Contract) -> bool:
        """Return whether results of the program are within the bounds."""
        return not excesses(results, self.bounds, contract)

    def write(self, path: Path) -> None:
        path.write_text(self.text(), encoding="utf-8")


def repro_of(
    flat: Flat, inputs: Sequence[Array], bounds: Sequence[Ball], expected: Sequence[Array], comment: str
) -> Repro:
    """Return a whole program; results without a bound must be those that are expected."""
    balls = [exact(array) if bound is UNKNOWN else bound for bound, array in zip(bounds, expected)]
    return Repro(subprogram(flat, flat.ops, flat.outputs, flat.arguments), inputs, balls, comment)


def _checked(bound: Ball, value: Value) -> Ball:
    """Return a bound on a value in its type, infinite where one legal result overflows and another does not."""
    dtype = dtype_of(value)
    if kind(dtype) != "floating":
        return bound
    made = overflowed(bound, dtype)
    may_overflow = np.isfinite(made.center) & (np.abs(made.center) + made.radius >= overflow_threshold(dtype))
    return made.unknown_where(may_overflow)


def _is_within(emit: Emitter, value: Value, bound: Ball) -> Value:
    """Emit whether all elements of a value are within the bound of the center, or equal it."""
    made = _checked(bound, value)
    radius = np.broadcast_to(made.radius, made.center.shape)

    def constant(array: Array) -> Expr:
        return Expr(emit, emit.constant(tensor_type(array.shape, element_type_of(array.dtype)), array))

    center = constant(made.center)
    x = Expr(emit, value).op("convert", type=center.type)
    if is_fractional(made.center.dtype):
        may_be_nan = constant(np.isnan(made.center) | np.isinf(radius))
        near = (x - center).op("abs") <= constant(radius)
        inside = near | equal(x, center) | (not_equal(x, x) & may_be_nan)
    else:
        inside = equal(x, center) | constant(radius != 0)
    both = emit.region([BOOL_SCALAR] * 2, lambda inner, two: [inner.value("stablehlo.and", *two)])
    operands, dimensions = [inside.value, emit.constant(BOOL_SCALAR, True)], tuple(range(radius.ndim))
    return emit.operation("stablehlo.reduce", operands, [BOOL_SCALAR], [both], dimensions=dimensions).results[0]


def workarounds(repro: Repro, session: Session, contract: Contract, most: int) -> Iterator[str]:
    """Yield the settings that make a program right, by their descriptions; those that fail do not count.

    A setting that is a list is cut down to members that suffice. At most `most` settings are tried.
    """
    left = iter(range(most))

    def is_right(name: str, setting: Any) -> bool:
        if next(left, None) is None:
            return False
        given = (name, setting) if isinstance(setting, list) else setting
        outcome = session.run(repro.program.text, list(repro.feeds), given)
        return not outcome.failure and repro.is_within(outcome.results, contract)

    for name, setting in session.switches().items():
        if isinstance(setting, list):
            if chosen := smallest(setting, partial(is_right, name)):
                yield f"{name}={','.join(map(str, chosen))}"
        elif is_right(name, setting):
            yield name
