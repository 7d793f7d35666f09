"""Do two programs compute the same? A search for inputs on which they differ by more than rounding explains.

A difference is proved where the results are beyond what the rounding errors of both programs explain, by the bounds of
`debug`, or where all values of both programs are exact, so that there is no rounding. Without a bound, one far beyond
what random rounding makes is a difference too, though not proved. Where the first program fails, or the spec leaves a
result open, the second may compute anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any, Literal, TypeAlias

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.conform.bounds import Bounds, is_known
from stablehlo_ref.conform.probes import is_complete, literals, probes, shapes
from stablehlo_ref.debug.bounds.ball import Ball, exact
from stablehlo_ref.debug.contract import Contract, contract_of
from stablehlo_ref.debug.cut import subprogram
from stablehlo_ref.debug.evaluate import distance, same_bits, widen, widened
from stablehlo_ref.debug.explain import limits_of
from stablehlo_ref.debug.fused import Repro
from stablehlo_ref.debug.judge import Excess, excess_of
from stablehlo_ref.define.context import Observer
from stablehlo_ref.diagnostics import (
    ArgumentValueError,
    Diagnostic,
    EvaluationError,
    LimitError,
    StablehloError,
    UnsupportedError,
)
from stablehlo_ref.execute.implementation_defined import ChoiceReporter
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.ir.types import ComplexType, FloatType, QuantizedType, TensorType, Type
from stablehlo_ref.limits import Limits
from stablehlo_ref.limits.budget import reserve, within_time
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.passes.refine_arguments import refine_arguments
from stablehlo_ref.program import Program
from stablehlo_ref.reading.inputs import check_size

INPUTS = 300
CONTRACT = "strict,signed_zeros=false"  # as rewrites of sums change the signs of zeros
MOST = 1 << 40
DRAWN = 8  # bytes of an element as it is drawn
SHAPES = 20  # tuples of sizes for unknown dimensions that are tried
LIMITS = Limits(max_seconds=2.0)  # of one run
FAR = "no bound is known, but it is far beyond what random rounding makes"
NO_BOUND = "no bound is known"
UNDECIDED = 24  # differences without a verdict, after which the search goes on without looking at them

_ROUNDED = (FloatType, ComplexType, QuantizedType)

Verdict: TypeAlias = Literal["different", "undecided", "same on all inputs", "no difference found", "not compared"]


@dataclass(frozen=True, repr=False)
class Counterexample:
    """Inputs on which two programs differ, where and how, or how the second fails."""

    inputs: tuple[Array, ...]
    output: int | None  # None if the second program fails
    reason: str
    is_proved: bool
    repro: Repro | None = None

    def save(self, path: Path | str) -> None:
        """Write the inputs to a .npz file, as arg0, arg1, ..."""
        named: dict[str, Any] = {f"arg{i}": array for i, array in enumerate(self.inputs)}
        np.savez(path, **named)

    def program(self) -> str:
        """Return the second program with these inputs: @main returns whether its results are the first's, or within
        the rounding errors of both. EvaluationError where there is no such program."""
        if self.repro is None:
            raise EvaluationError(
                "there is no program that shows the difference: the second fails, or has unknown sizes"
            )
        return self.repro.text()

    def __str__(self) -> str:
        where = "" if self.output is None else f"result {self.output}: "
        lines = [f"input {i}: {_shown(array)}" for i, array in enumerate(self.inputs)]
        return "\n".join([f"{where}{self.reason}", *lines])

    def __repr__(self) -> str:
        return f"<Counterexample: {self.reason}>"


@dataclass
class Equivalence:
    """What a search found. It proves nothing if it finds no difference, unless it tried all inputs."""

    tried: int = 0  # inputs on which the results were compared
    rounded: int = 0  # of these, on which bits differ, as rounding explains
    skipped: int = 0  # on which the first program fails or the spec leaves a result open
    is_complete: bool = False  # all values of all inputs were tried
    counterexample: Counterexample | None = None
    undecided: list[Counterexample] = field(default_factory=list)  # differences of which there is no bound
    is_stopped: bool = False  # as the second program reached a limit

    @property
    def verdict(self) -> Verdict:
        """What is known."""
        if self.counterexample is not None:
            return "different"
        if self.undecided:
            return "undecided"
        if not self.tried:
            return "not compared"
        return "same on all inputs" if self.is_complete and not self.skipped else "no difference found"

    def __bool__(self) -> bool:
        """Return whether there is no difference that rounding does not explain, and something was compared."""
        return self.verdict in ("same on all inputs", "no difference found")

    def __str__(self) -> str:
        counts = [f"{self.tried} inputs were tried"]
        counts += (
            [f"the bits of results differ on {self.rounded} of them, as rounding explains"] if self.rounded else []
        )
        skipped = "the first program fails or the spec leaves a result open"
        counts += [f"{self.skipped} others were left out: {skipped}"] if self.skipped else []
        lines = [f"{self.verdict}: {'; '.join(counts)}"]
        found = [self.counterexample] if self.counterexample is not None else self.undecided[:1]
        return "\n".join([*lines, *map(str, found)])


@checks_arguments
def equivalent(
    first: Program,
    second: Program,
    *,
    inputs: int = INPUTS,
    seconds: float = 60.0,
    contract: str | Contract = CONTRACT,
    seed: int = 0,
) -> Equivalence:
    """Search for inputs on which two programs of one signature differ, as before and after a rewrite.

    At most `inputs` are tried, and no new one after `seconds`. `contract` says what rounding may do, as for `diff`.
    ArgumentValueError for programs of different signatures, UnsupportedError for those that take or return no tensors,
    EvaluationError for inputs that are larger than the limit of a tensor.
    """
    if not (1 <= inputs <= MOST and seed >= 0):
        raise ArgumentValueError(
            f"expected 1 to {MOST} inputs and a seed that is not negative, got {inputs} and {seed}"
        )
    rules = contract if isinstance(contract, Contract) else contract_of(contract)
    types = _signature(first.verify(), second.verify())
    found, end = Equivalence(), monotonic() + seconds
    made = list(shapes(types, SHAPES)) if any(not t.is_static for t in types) else [types]
    pools = literals([first.module, second.module])
    for number, sizes in enumerate(made):
        pair = _pair(first, second, sizes, rules)
        if pair is None:
            found.skipped += 1
            continue
        for parameter, type in zip(first.entry.inputs, sizes):
            check_size(parameter, type, DRAWN, first.limits)
        reserve(0, temporaries=2 * DRAWN * sum(type.size for type in sizes))
        drawn = islice(probes(sizes, pools, seed + number), None if is_complete(sizes) else _share(inputs, made))
        for arrays in within_time(drawn, "the search"):
            pair.compare(arrays, found)
            if found.counterexample is not None or found.is_stopped or monotonic() > end:
                return found
    found.is_complete = len(made) == 1 and is_complete(made[0])
    return found


def _share(inputs: int, made: Sequence[object]) -> int:
    return max(10, inputs // len(made)) if len(made) > 1 else inputs


def _signature(first: Program, second: Program) -> list[TensorType]:
    """Return the types of inputs, which both programs take; errors unless these are tensors, and results agree."""
    pairs = list(zip(_types(first, "inputs"), _types(second, "inputs")))
    outputs = list(zip(_types(first, "outputs"), _types(second, "outputs")))
    counts = [(len(p.entry.inputs), len(p.entry.outputs)) for p in (first, second)]
    if counts[0] != counts[1] or not all(_agree(x, y) for x, y in (*pairs, *outputs)):
        texts = [
            f"({', '.join(map(str, _types(p, 'inputs')))}) -> ({', '.join(map(str, _types(p, 'outputs')))})"
            for p in (first, second)
        ]
        raise ArgumentValueError(f"the programs have different signatures: {texts[0]} and {texts[1]}")
    return [x if x.is_static else y for x, y in pairs]


def _types(program: Program, part: Literal["inputs", "outputs"]) -> list[TensorType]:
    """Return the types of inputs or outputs of the entry."""
    types: list[Type] = [p.type for p in getattr(program.entry, part)]
    for type in types:
        if not isinstance(type, TensorType):
            raise UnsupportedError(f"programs are compared on ranked tensors, got {type}")
    return types  # type: ignore[return-value]


def _agree(x: TensorType, y: TensorType) -> bool:
    return (
        x.element_type == y.element_type
        and len(x.shape) == len(y.shape)
        and all(None in pair or pair[0] == pair[1] for pair in zip(x.shape, y.shape))
    )


def _pair(first: Program, second: Program, types: Sequence[TensorType], rules: Contract) -> _Pair | None:
    """Return two programs with inputs of static types; None if the first cannot have them."""
    try:
        one = _refined(first, types)
    except StablehloError:
        return None
    try:
        two = _refined(second, types)
    except StablehloError:  # which a run says
        two = second
    return _Pair(_Side(one, rules), _Side(two, rules), rules)


def _refined(program: Program, types: Sequence[TensorType]) -> Program:
    """Return a program with inputs of static types."""
    if all(t.is_static for t in _types(program, "inputs")) and all(t.is_static for t in _types(program, "outputs")):
        return program
    if len(program.functions) > 1 and program.entry.name != "main":
        return program
    module = clone(program.module, {})
    refine_arguments(module, types)
    made = Program(module, program.entry.name, program.limits)
    return made.transform("stablehlo-refine-shapes", "stablehlo-canonicalize-dynamism")


# --- one pair ---------------------------------------------------------------------------------------------------------


class _Side:
    """One of two programs, with what tells how far its results may be off."""

    def __init__(self, program: Program, contract: Contract) -> None:
        self.program = program
        self.contract = contract
        self.bounds = Bounds(program, contract)
        program.limits = replace(
            program.limits, max_seconds=min(program.limits.max_seconds or 1e9, LIMITS.max_seconds or 1e9)
        )

    @cached_property
    def has_floats(self) -> bool:
        """Whether the program computes with numbers that are rounded."""
        types = [result.type for op in self.program.module.walk() for result in op.results]
        types += [p.type for p in self.program.entry.inputs]
        return any(isinstance(t, TensorType) and isinstance(t.element_type, _ROUNDED) for t in types)

    @cached_property
    def _wide(self) -> Program:
        """The program in f64."""
        module = clone(self.program.module, {})
        widen(module)
        return Program(module, self.program.entry.name, self.program.limits)

    def is_exact(self, arrays: Sequence[Array]) -> bool:
        """Return whether all values are the same in f64, so that nothing was rounded."""
        ours, theirs = _Results(), _Results()
        dtypes = [numpy_dtype(p.element_type) for p in self._wide.entry.inputs]
        try:
            self.program.run(*arrays, observer=ours)
            self._wide.run(*[widened(a).astype(dtype) for a, dtype in zip(arrays, dtypes)], observer=theirs)
        except (StablehloError, TypeError, ValueError):
            return False
        is_same = len(ours.found) == len(theirs.found) and all(map(_are_equal, ours.found, theirs.found))
        return is_same and all(map(_is_short, ours.found))

    def limits(self, arrays: Sequence[Array], results: Sequence[Array]) -> list[float]:
        """Return how far results move if each op and each input is off by far more than the contract allows."""
        return limits_of(self.program, arrays, results, self.contract, perturbs=True)

    def is_open(self, arrays: Sequence[Array]) -> bool:
        """Return whether the spec leaves a result of an op of the program open."""
        found: list[Diagnostic] = []
        with suppress(StablehloError):
            self.program.run(*arrays, observer=ChoiceReporter(found.append))
        return bool(found)


def _shown(array: Array) -> str:
    return np.array2string(array, threshold=16, separator=", ").replace("\n", "") + f" ({array.dtype})"


class _Results(Observer):
    """Keeps the results of all ops."""

    sees_every_op = True

    def __init__(self) -> None:
        self.found: list[Any] = []

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        self.found += results


def _are_equal(x: Any, y: Any) -> bool:
    """Return whether a value is the same in f64."""
    if not (isinstance(x, np.ndarray | np.generic) and isinstance(y, np.ndarray | np.generic)):
        return x is None and y is None
    return np.array_equal(widened(np.asarray(x)), np.asarray(y))


def _is_short(value: Any) -> bool:
    """Return whether numbers of f64 end in zeros, as those that were rounded seldom do."""
    array = np.asarray(value)
    if array.dtype not in (np.float64, np.complex128):
        return True
    bits = np.ascontiguousarray(array).reshape(-1).view(np.uint64)
    return not np.any(bits & np.uint64(0xFFF))


class _Pair:
    """Two programs with inputs of the same static types."""

    def __init__(self, first: _Side, second: _Side, contract: Contract) -> None:
        self.first = first
        self.second = second
        self.contract = contract

    def compare(self, arrays: list[Array], found: Equivalence) -> None:
        """Run both programs, and count or store what they show."""
        try:
            ours = self.first.program.run(*arrays)
        except StablehloError:
            found.skipped += 1
            return
        try:
            theirs = self.second.program.run(*arrays)
        except LimitError as error:
            found.is_stopped = True
            self._store(
                found, Counterexample(tuple(arrays), None, f"the second program reaches a limit: {error}", False), False
            )
            return
        except StablehloError as error:
            if self.first.is_open(arrays):
                found.skipped += 1
                return
            self._store(found, Counterexample(tuple(arrays), None, f"the second program fails: {error}", True), True)
            return
        pairs = [(np.asarray(x), np.asarray(y)) for x, y in zip(ours, theirs)]
        different = [index for index, (x, y) in enumerate(pairs) if not same_bits(y, x)]
        if not different:
            found.tried += 1
        elif self.first.is_open(arrays):
            found.skipped += 1
        else:
            self._judge(arrays, pairs, different, found)

    def _judge(
        self, arrays: list[Array], pairs: list[tuple[Array, Array]], different: list[int], found: Equivalence
    ) -> None:
        """Judge a difference of bits."""
        if len(found.undecided) >= UNDECIDED:
            return
        bounds = self._bounds(arrays, pairs)
        excess = {i: e for i in different if (e := bounds[i].excess(pairs[i], self.contract)) is not None}
        if not excess and all(bounds[i].is_known for i in different):
            found.tried += 1
            found.rounded += 1
            return
        index = next(iter(excess), different[0])
        x, y = pairs[index]
        is_far = not excess and self._is_far(arrays, pairs, index)
        reason = (
            str(excess[index]) if excess else f"{FAR if is_far else NO_BOUND}: {excess_of(y, exact(x), self.contract)}"
        )
        repro, flat = None, self.second.bounds.flat
        if flat is not None:
            made = subprogram(flat, flat.ops, flat.outputs, flat.arguments)
            balls = [bound.around(x) for bound, (x, _) in zip(bounds, pairs)]
            repro = Repro(made, arrays, balls, f"result {index}: {reason}")
        self._store(found, Counterexample(tuple(arrays), index, reason, bool(excess), repro), bool(excess) or is_far)

    def _is_far(self, arrays: list[Array], pairs: list[tuple[Array, Array]], index: int) -> bool:
        """Return whether a result is further off than runs of both programs with large random errors."""
        ours, theirs = zip(*pairs)
        apart = distance(theirs[index], ours[index])
        limits = (self.first.limits(arrays, ours)[index], self.second.limits(arrays, theirs)[index])
        return bool(np.isfinite(apart)) and apart > max(limits)

    def _bounds(self, arrays: list[Array], pairs: list[tuple[Array, Array]]) -> list[_BoundsOfBoth]:
        """Return the bounds of both programs; those of integers, or where nothing is rounded, are exact."""
        sides = (self.first, self.second)
        if not any(s.has_floats for s in sides) or all(s.is_exact(arrays) for s in sides):
            return [_BoundsOfBoth(exact(x), exact(y)) for x, y in pairs]
        return [_BoundsOfBoth(a, b) for a, b in zip(self.first.bounds(arrays), self.second.bounds(arrays))]

    def _store(self, found: Equivalence, example: Counterexample, is_difference: bool) -> None:
        found.tried += 1
        if is_difference:
            found.counterexample = example
        else:
            found.undecided.append(example)


@dataclass(frozen=True)
class _BoundsOfBoth:
    """Where a result of the first program lies, and one of the second."""

    first: Ball | None
    second: Ball | None

    @property
    def is_known(self) -> bool:
        return is_known(self.first) and is_known(self.second)

    def around(self, result: Array) -> Ball:
        """Return where results of the second program lie if both compute the same."""
        if self.first is None or self.second is None or self.first.center.shape != self.second.center.shape:
            return exact(result)
        return replace(self.first, radius=self.first.radius + np.broadcast_to(self.second.radius, result.shape))

    def excess(self, pair: tuple[Array, Array], contract: Contract) -> Excess | None:
        """Return where the results are further apart than both programs may be off; None if nowhere, or not known."""
        x, y = pair
        if x.shape != y.shape or x.dtype != y.dtype:
            return excess_of(y, exact(x), contract) or Excess(1, 1, (), y.dtype, x.dtype, 0.0)
        if self.first is None or self.second is None:
            return None
        radius = np.asarray(self.first.radius + np.broadcast_to(self.second.radius, x.shape))
        return excess_of(y, replace(self.first, radius=radius), contract) or excess_of(
            x, replace(self.second, radius=radius), contract
        )
