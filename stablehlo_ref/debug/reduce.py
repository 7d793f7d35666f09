"""Make a program small that still shows what a predicate looks for: delta debugging on valid programs.

Candidates are subsets of the ops of the entry, with functions inlined. What they need from other ops are inputs, with
the values that the interpreter computes, so that each candidate is a valid program on real values. First the end and
the start of the program are cut by bisection, then subsets are removed (Zeller and Hildebrandt, Simplifying and
Isolating Failure-Inducing Input, 2002). If a loop or branch is left, its regions are tried in its place, one turn of a
loop at a time (Misherghi and Su, HDD: Hierarchical Delta Debugging, 2006). Then sizes of dimensions, attributes and
values of inputs are made simple. The fingerprint must stay, so that the search does not slip to another fault.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.arrays.interop import to_arrays
from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.cut import BRANCHES, LOOP, Flat, is_constant_op, needed_by, sinks, subprogram
from stablehlo_ref.debug.evaluate import Evaluator, all_values, can_enter, region_runs
from stablehlo_ref.debug.predicates import CachedPredicate, OutOfCalls, Predicate, Variant, by_backend
from stablehlo_ref.debug.session import Session
from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.define.members import REQUIRED
from stablehlo_ref.diagnostics import EvaluationError, LimitError, StablehloError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.ir.types import FunctionType, TensorType, Type
from stablehlo_ref.limits import check_positive
from stablehlo_ref.limits.budget import Budget, check_time, in_force
from stablehlo_ref.numerics.dtypes import kind
from stablehlo_ref.passes.element_types import replace_types
from stablehlo_ref.program import Program
from stablehlo_ref.text.tokens import counted

_EXTENTS = ("limit_indices", "slice_sizes", "window_dimensions", "broadcast_sizes", "fft_length")
MAX_CALLS = 150
MOST_INPUTS = 8  # whose values are simplified
MOST_TURNS = 8  # turns of a loop that are tried, for each of its regions
__all__ = ["MAX_CALLS", "Predicate", "Reduced", "reduce"]


@dataclass(frozen=True)
class Reduced:
    """A small program and its inputs, what it shows, and how it was found."""

    program: Program
    inputs: tuple[Array, ...]
    fingerprint: Hashable
    ops: int  # in the entry, without constants
    before: int  # of the whole program, once calls are inlined
    calls: int  # of the predicate
    is_complete: bool  # no single op can be left out; else the limit of calls or of time was reached
    is_flaky: bool = False  # a last call for the same program returned something else

    def __str__(self) -> str:
        end = "" if self.is_complete else "; the limit of calls or of time was reached"
        end += "; the predicate is flaky: a second call differs" if self.is_flaky else ""
        return f"{counted(self.ops, 'op')} of {self.before}, after {counted(self.calls, 'call')} of the predicate{end}"


@checks_arguments
def reduce(
    program: Program,
    inputs: Sequence[Any],
    predicate: Predicate | str | Session,
    contract: str | Contract = "xla-cpu",
    *,
    max_calls: int = MAX_CALLS,
    jobs: int = 1,
    folder: str | Path | None = None,
) -> Reduced:
    """Return a small program on which a backend still goes wrong, or that is interesting by another predicate.

    `predicate` is a backend as for `diff`, a description (`jax`, `python:module:function`, ...) or a `Session`, and
    `contract` says what it may do: the program must show the kind of failure or the wrong op that this one shows. Or it
    is a function of the text of a program and its inputs, which returns a fingerprint that must stay, None or False for
    what is not interesting.

    It is called at most `max_calls` times; with more than one of `jobs`, from several threads at a time. Answers and
    the best program so far are kept in `folder`, from which a search that was interrupted goes on. The program that is
    returned has been checked. Raises the interpreter's errors, and EvaluationError if the backend cannot be opened, if
    nothing is wrong (the predicate returns None or False) for the whole program, if two calls differ, or if a program
    without ops is as interesting.

    >>> small = sr.debug.reduce(program, inputs, "jax")
    """
    check_positive("max_calls", max_calls)
    check_positive("jobs", jobs)
    if isinstance(predicate, str | Session):
        program.run(*inputs)  # raises what the predicate would take for a program that is not interesting
        with ExitStack() as stack:
            sessions = [predicate] if isinstance(predicate, Session) else _opened(predicate, jobs, stack)
            judged = by_backend(sessions, contract)
            return reduce(program, inputs, judged, max_calls=max_calls, jobs=len(sessions), folder=folder)
    given = Variant(program, tuple(to_arrays(inputs)))
    cached = CachedPredicate(predicate, max_calls, jobs, None if folder is None else Path(folder))
    search = _Reduction(given, predicate, cached)
    is_complete = is_flaky = False
    try:
        search.run()
        is_complete = True
        is_flaky = search.is_flaky()
    except (OutOfCalls, LimitError):
        if search.fingerprint is None:
            raise
    best = search.best
    with in_force(Budget()):  # what was found is described after the deadline too
        ops = _op_count(best.program)
    return Reduced(
        best.program, best.inputs, search.fingerprint, ops, search.before, cached.calls, is_complete, is_flaky
    )


def _opened(backend: str, count: int, stack: ExitStack) -> list[Session]:
    """Return open sessions of a backend, which end with `stack`."""
    sessions = [stack.enter_context(Session(backend)) for _ in range(count)]
    for session in sessions:
        session.open()
    return sessions


def _op_count(program: Program) -> int:
    """Return the number of ops in the entry, with calls inlined and without constants."""
    return sum(not is_constant_op(op) for op in Flat(program).ops)


class _Reduction:
    """The search; `best` is the smallest program so far that has the fingerprint."""

    def __init__(self, given: Variant, predicate: Predicate, cached: CachedPredicate) -> None:
        self.best = given
        self.fingerprint: Hashable = None
        self.before = _op_count(given.program)
        self._predicate = predicate
        self._cached = cached

    def run(self) -> None:
        """Make ops fewer, enter regions, and make what is left simple."""
        self._ask_first()
        self._fewer_ops()
        while self._enter():
            self._fewer_ops()
        self._smaller_sizes()
        while self._take_first(list(simplified(self.best))):
            pass
        for index in range(min(len(self.best.inputs), MOST_INPUTS)):
            program, inputs = self.best.program, self.best.inputs
            changed = ((*inputs[:index], array, *inputs[index + 1 :]) for array in simple_values(inputs[index]))
            self._take_first([c for given in changed if (c := Variant(program, given)).key != self.best.key])

    def _ask_first(self) -> None:
        """Ask for the fingerprint of the whole program; EvaluationError if there is none, or it is not stable."""
        found = self._predicate(self.best.text, self.best.inputs)
        self._cached.calls += 1
        check_time("the search")
        if found is None or found is False:
            raise EvaluationError(f"the program is not interesting, the predicate returns {found}: nothing to reduce")
        self.fingerprint = found
        again = self._cached.answer_again(self.best)
        if again != repr(found):
            raise EvaluationError(f"the predicate is flaky: it returned {found!r} and then {again}")
        empty = Variant(subprogram(Flat(self.best.program), [], []).program, ())
        if self._cached.answer(empty) == repr(found):
            raise EvaluationError(f"the predicate returns {found!r} for a program without ops too: nothing to reduce")
        self._cached.save(self.best)

    def is_flaky(self) -> bool:
        return self._cached.answer_again(self.best) != repr(self.fingerprint)

    def _take_first(self, candidates: Sequence[Variant]) -> Variant | None:
        """Make the first candidate in order that has the fingerprint the best, and return it; None if none has."""
        found = self._cached.first(candidates, repr(self.fingerprint))
        if found is not None:
            self.best = found
            self._cached.save(found)
        return found

    def _fewer_ops(self) -> None:
        located = getattr(self._predicate, "located", {}).get(self.best.text, ())
        _Subset(self.best, self._take_first).run(located)

    def _enter(self) -> bool:
        """Replace a program of one loop or branch by one of its regions."""
        flat = Flat(self.best.program)
        ops = [op for op in flat.ops if op.name in (LOOP, *BRANCHES)]
        values: dict[Value, Array] = dict(zip(flat.arguments, self.best.inputs))
        for op in ops:
            if can_enter(op, values):
                first = islice(region_runs(op, values, Evaluator(flat)), 2 * MOST_TURNS)
                runs = sorted((run for run, _ in first), key=lambda run: -run.region)  # bodies, then conditions
                if self._take_first([Variant(run.program.program, tuple(run.feeds)) for run in runs]):
                    return True
        return False

    def _smaller_sizes(self) -> None:
        for size in sizes_of(self.best):
            for new in sorted({1, 2, 3, size // 2}):
                made = resized(self.best, size, new) if new < size else None
                if made is not None and self._take_first([made]):
                    break


class _Subset:
    """The search for few ops of a program."""

    def __init__(self, given: Variant, take_first: Callable[[Sequence[Variant]], Variant | None]) -> None:
        self.flat = Flat(given.program)
        self._take_first = take_first
        self.values = all_values(self.flat, given.inputs)
        self.ops = [op for op in self.flat.ops if not is_constant_op(op)]
        self.kept = tuple(range(len(self.ops)))

    def run(self, located: Sequence[int]) -> None:
        """Try the ops that are said to be at fault; else cut the end, then the start. Then remove subsets."""
        if not self.kept:
            raise EvaluationError("the program has no ops besides constants: there is nothing to reduce")
        if not self.holds(self.kept):
            raise EvaluationError("the program is not interesting once calls are inlined and outputs are kept")
        named = tuple(i for i, op in enumerate(self.ops) if op in {self.flat.ops[j] for j in located})
        if not named or len(named) == len(self.kept) or not self.holds(named):
            self._cut(lambda kept, index: kept[: index + 1])
            self._cut(lambda kept, index: kept[len(kept) - 1 - index :])
        self._remove_subsets()

    def _cut(self, cut: Callable[[tuple[int, ...], int], tuple[int, ...]]) -> None:
        """Bisect for the smallest cut that is interesting."""
        kept = self.kept
        bisect_left(range(len(kept) - 1), True, key=lambda index: self.holds(cut(kept, index)))

    def _remove_subsets(self) -> None:
        count = 2
        while len(self.kept) > 1:
            kept = self.kept
            size = max(len(kept) // count, 1)
            chunks = [kept[i : i + size] for i in range(0, len(kept), size)]
            smaller = [tuple(i for i in kept if i not in set(chunk)) for chunk in chunks]
            if not self.take([candidate for candidate in [*chunks, *smaller] if candidate]):
                if size == 1:
                    return
                count = min(2 * count, len(kept))
            else:
                count = 2

    def holds(self, kept: tuple[int, ...]) -> bool:
        return self.take([kept])

    def take(self, subsets: Sequence[tuple[int, ...]]) -> bool:
        """Keep the first subset whose program is interesting; return whether there is one."""
        made = {c: subset for subset in subsets if (c := self.candidate(subset)) is not None}
        found = self._take_first(list(made))
        if found is not None:
            self.kept = made[found]
        return found is not None

    def candidate(self, kept: Sequence[int]) -> Variant | None:
        """Return the program of some ops; None if it would need a value that is not a static tensor."""
        ops = [self.ops[index] for index in kept]
        wanted = sinks(ops, self.flat.outputs)
        if not wanted or any(value not in self.values for value in needed_by(ops, wanted)):
            return None
        made = subprogram(self.flat, ops, wanted)
        return Variant(made.program, tuple(self.values[v] for v in made.feeds))


def sizes_of(candidate: Variant) -> list[int]:
    """Return the sizes of dimensions that may be made smaller, the largest first."""
    types = [v.type for op in candidate.program.module.walk() for v in (*op.results, *op.operands)]
    types += [p.type for p in candidate.program.inputs]
    found = {n for t in types if isinstance(t, TensorType) for n in t.shape if n is not None and n > 1}
    return sorted(found, reverse=True)


def resized(candidate: Variant, old: int, new: int) -> Variant | None:
    """Return the program with all dimensions of a size made smaller, and its inputs cut; None if that is not valid."""
    module = clone(candidate.program.module, {})
    try:
        replace_types(module, lambda type: _smaller(type, old, new), lambda array, _: _cut(array, old, new))
        for op in module.walk():
            extents = {name: op.properties[name] for name in _EXTENTS if isinstance(op.properties.get(name), tuple)}
            op.properties |= {name: tuple(new if n == old else n for n in sizes) for name, sizes in extents.items()}
        return _checked(module, candidate.program, [_cut(array, old, new) for array in candidate.inputs])
    except (IndexError, ValueError):
        return None


def _smaller(type: Type, old: int, new: int) -> Type:
    if isinstance(type, FunctionType):
        inputs, outputs = (tuple(_smaller(t, old, new) for t in types) for types in (type.inputs, type.outputs))
        return replace(type, inputs=inputs, outputs=outputs)
    if not isinstance(type, TensorType):
        return type
    return replace(type, shape=tuple(new if n == old else n for n in type.shape))


def _cut(array: Array, old: int, new: int) -> Array:
    return np.ascontiguousarray(array[tuple(slice(0, new) if n == old else slice(None) for n in array.shape)])


def simplified(candidate: Variant) -> Iterator[Variant]:
    """Yield the program without discardable attributes and with default properties: all at once, then one by one."""
    ops = list(candidate.program.module.walk())
    places = [(i, name) for i, op in enumerate(ops) for name in _not_default(op)]
    for chosen in [places, *([place] for place in places if len(places) > 1)]:
        if not chosen:
            continue
        module = clone(candidate.program.module, {})
        copies = list(module.walk())
        for index, name in chosen:
            op = copies[index]
            op.attributes.pop(name, None)
            op.properties = {n: value for n, value in op.properties.items() if n != name}
        if (made := _checked(module, candidate.program, candidate.inputs)) is not None:
            yield made


def _not_default(op: Operation) -> list[str]:
    definition = definition_of(op)
    names = list(op.attributes)
    if definition is None or not op.name.startswith(("stablehlo.", "chlo.")):
        return names
    optional = [name for name, member in definition.attributes.items() if member.default is not REQUIRED]
    return names + [n for n in optional if n in op.properties and op.properties[n] != definition.defaults[n]]


def simple_values(array: Array) -> Iterator[Array]:
    """Yield simpler values for an input: zeros, ones, and small integers, of its own type."""
    if kind(array.dtype) == "complex" or not array.size:
        return
    yield np.zeros(array.shape, array.dtype)
    yield np.ones(array.shape, array.dtype)
    if kind(array.dtype) == "floating":
        with np.errstate(all="ignore"):
            wide = array.astype(np.float64)
            yield np.clip(np.round(wide), -8, 8).astype(array.dtype)
            yield np.round(wide * 8).astype(array.dtype)


def _checked(module: Operation, program: Program, inputs: Sequence[Array]) -> Variant | None:
    """Return a candidate if the program is valid and runs."""
    made = Program(module, program.entry.name, program.limits)
    try:
        made.verify().run(*inputs)
    except StablehloError:
        return None
    return Variant(made, tuple(inputs))
