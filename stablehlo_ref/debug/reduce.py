"""Make a program small that still shows what a predicate looks for: delta debugging on valid programs.

Candidates are subsets of the ops of the entry. What they need from other ops are inputs, with the values that the
interpreter computes, so that each candidate is a valid program on real values. First the end and the start of the
program are cut by bisection, then subsets are removed (Zeller and Hildebrandt, Simplifying and Isolating
Failure-Inducing Input, 2002). The fingerprint must stay, so that the search does not slip to another fault.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stablehlo_ref.debug.cut import CONSTANTS, Flat, Segment, is_observable, needed_by, operands_of, segment
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.program import Program

Predicate = Callable[[str, Sequence[Array]], Hashable]  # from a program and its inputs to a fingerprint, or None
MAX_CALLS = 150


@dataclass(frozen=True)
class Reduced:
    """A small program and its inputs, what it shows, and how it was found."""

    program: Program
    inputs: tuple[Array, ...]
    fingerprint: Hashable
    ops: int  # in the entry, without constants
    before: int  # of the whole program, once calls are inlined
    calls: int  # of the predicate
    is_complete: bool  # no single op can be left out; else the limit of calls was reached

    def __str__(self) -> str:
        end = "" if self.is_complete else "; the limit of calls was reached"
        return f"{self.ops} ops of {self.before}, after {self.calls} calls of the predicate{end}"


def reduce(program: Program, inputs: Sequence[Any], predicate: Predicate, *, max_calls: int = MAX_CALLS) -> Reduced:
    """Return a small program for which `predicate` returns the fingerprint that it returns for this one.

    `predicate` takes the text of a program and its inputs, and returns None for what is not interesting. It is called
    at most `max_calls` times. EvaluationError if it returns None for the whole program, if two calls differ, or if it
    returns another fingerprint once calls of functions are inlined.
    """
    search = _Search(program, [np.asarray(array) for array in inputs], predicate, max_calls)
    try:
        search.run()
        is_complete = True
    except _OutOfCalls:
        is_complete = False
    return search.result(is_complete)


class _OutOfCalls(Exception):
    pass


class _Search:
    def __init__(self, program: Program, inputs: Sequence[Array], predicate: Predicate, max_calls: int) -> None:
        self.flat = Flat(program)
        self.predicate = predicate
        self.max_calls = max_calls
        self.calls = 0
        self.fingerprint = self._fingerprint(program, inputs)
        self.values = all_values(self.flat, inputs)
        self.ops = [op for op in self.flat.ops if op.name not in CONSTANTS]
        self.known: dict[tuple[int, ...], bool] = {}
        self.best = tuple(range(len(self.ops)))

    def _fingerprint(self, program: Program, inputs: Sequence[Array]) -> Hashable:
        """Return the fingerprint of the whole program; EvaluationError if there is none, or it is not stable."""
        found, again = (self.predicate(str(program), inputs) for _ in range(2))
        self.calls += 2
        if found is None:
            raise EvaluationError("the program is not interesting: there is nothing to reduce")
        if found != again:
            raise EvaluationError(f"the predicate is flaky: it returned {found!r} and then {again!r}")
        return found

    def run(self) -> None:
        """Cut the end, then the start, then subsets; `best` is the smallest interesting candidate so far."""
        if not self.holds(self.best):
            raise EvaluationError("the program is not interesting once calls are inlined and outputs are kept")
        self._cut(lambda kept, index: kept[: index + 1])
        self._cut(lambda kept, index: kept[len(kept) - 1 - index :])
        self._remove_subsets()

    def _cut(self, cut: Callable[[tuple[int, ...], int], tuple[int, ...]]) -> None:
        """Bisect for the smallest cut that is interesting."""
        kept, low, high = self.best, 0, len(self.best) - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.holds(cut(kept, middle)) else (middle + 1, high)

    def _remove_subsets(self) -> None:
        count = 2
        while len(self.best) > 1:
            kept = self.best
            size = max(len(kept) // count, 1)
            chunks = [kept[i : i + size] for i in range(0, len(kept), size)]
            smaller = [tuple(i for i in kept if i not in set(chunk)) for chunk in chunks]
            if not any(self.holds(candidate) for candidate in [*chunks, *smaller] if candidate):
                if size == 1:
                    return
                count = min(2 * count, len(kept))
            else:
                count = 2

    def holds(self, kept: tuple[int, ...]) -> bool:
        """Return whether a candidate has the fingerprint; the smallest such candidate is kept."""
        if kept not in self.known:
            made = self.candidate(kept)
            self.known[kept] = made is not None and self._ask(made) == self.fingerprint
        if self.known[kept] and len(kept) < len(self.best):
            self.best = kept
        return self.known[kept]

    def _ask(self, made: Segment) -> Hashable:
        if self.calls >= self.max_calls:
            raise _OutOfCalls
        self.calls += 1
        return self.predicate(str(made.program), self._inputs(made))

    def candidate(self, kept: Sequence[int]) -> Segment | None:
        """Return the program of some ops; None if it would need a value that is not a static tensor."""
        ops = [self.ops[index] for index in kept]
        wanted = self._sinks(ops)
        if not wanted or any(value not in self.values for value in needed_by(ops, wanted)):
            return None
        return segment(self.flat, ops, wanted)

    def _sinks(self, ops: Sequence[Operation]) -> list[Value]:
        """Return the results that no other of the ops uses, or that are outputs of the program."""
        used = {operand for op in ops for operand in operands_of(op)} - set(self.flat.outputs)
        results = [result for op in ops for result in op.results]
        return [value for value in results if value not in used and is_observable(value)]

    def _inputs(self, made: Segment) -> list[Array]:
        return [self.values[value] for value in made.feeds]

    def result(self, is_complete: bool) -> Reduced:
        made = self.candidate(self.best)
        assert made is not None
        count = len(self.best)
        return Reduced(
            made.program, tuple(self._inputs(made)), self.fingerprint, count, len(self.ops), self.calls, is_complete
        )


def all_values(flat: Flat, inputs: Sequence[Array]) -> dict[Value, Array]:
    """Return the values of all ops that are static tensors, as the interpreter computes them."""
    wanted = [result for op in flat.ops for result in op.results if is_observable(result)]
    made = segment(flat, flat.ops, wanted, flat.arguments)
    return dict(zip((*flat.arguments, *wanted), (*inputs, *made.program.run(*inputs))))
