"""Do two programs compute the same? A search for inputs on which they differ by more than rounding explains.

A difference is proved where the results are beyond what the rounding errors of both programs explain, by the bounds of
`debug`, or where all values of both programs are exact, so that there is no rounding. Without a bound, one far beyond
what random rounding makes is a difference too, though not proved. Where the first program fails, or the spec leaves a
result open, the second may compute anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, count, islice, product
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, Literal, TypeAlias

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.conform.cases import contents, every_value, special_values
from stablehlo_ref.debug.bounds.ball import UNKNOWN, Ball, exact
from stablehlo_ref.debug.contract import Contract, contract_of
from stablehlo_ref.debug.cut import Flat, is_observable
from stablehlo_ref.debug.evaluate import Evaluator, distance, same_bits
from stablehlo_ref.debug.explain import bounds_of, limits_of
from stablehlo_ref.debug.fused import Repro, repro_of
from stablehlo_ref.debug.judge import Excess, excess_of
from stablehlo_ref.define.spec import compatible
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError, LimitError, StablehloError, UnsupportedError
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.ir.signature import Parameter
from stablehlo_ref.ir.types import ComplexType, FloatType, QuantizedType, TensorType, tensor_type
from stablehlo_ref.limits.budget import check_time, reserve
from stablehlo_ref.numerics.dtypes import bit_width, kind, numpy_dtype
from stablehlo_ref.passes.emit import read_only, static_shape
from stablehlo_ref.passes.refinements import refine_arguments
from stablehlo_ref.program import Program
from stablehlo_ref.reading.inputs import check_size

INPUTS = 300
CONTRACT = "strict,signed_zeros=false"  # as rewrites of sums change the signs of zeros
MOST = 1 << 40
DRAWN = 8  # bytes of an element as it is drawn
DRAWING = 1e-7  # seconds of an element
SHAPES = 20  # tuples of sizes for unknown dimensions that are tried
MAX_SECONDS = 2.0  # of one run
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
        shown = (np.array2string(array, threshold=16, separator=", ").replace("\n", "") for array in self.inputs)
        lines = [f"input {i}: {text} ({self.inputs[i].dtype})" for i, text in enumerate(shown)]
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

    @property
    def example(self) -> Counterexample | None:
        """The inputs on which the results differ, or else the first of those that are undecided."""
        return self.counterexample or next(iter(self.undecided), None)

    def __bool__(self) -> bool:
        """Return whether there is no difference that rounding does not explain, and something was compared."""
        return self.verdict in ("same on all inputs", "no difference found")

    def __str__(self) -> str:
        counts = [f"{self.tried} inputs were tried"]
        if self.rounded:
            counts.append(f"the bits of results differ on {self.rounded} of them, as rounding explains")
        if self.skipped:
            reason = "the first program fails or the spec leaves a result open"
            counts.append(f"{self.skipped} others were left out: {reason}")
        line = f"{self.verdict}: {'; '.join(counts)}"
        return line if self.example is None else f"{line}\n{self.example}"


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

    At most `inputs` are tried; none is drawn that would not be there after `seconds`. `contract` says what rounding may
    do, as for `diff`. ArgumentValueError for programs of different signatures, UnsupportedError for those that take or
    return no tensors, EvaluationError for inputs that are larger than the limit of a tensor.
    """
    if not (1 <= inputs <= MOST and seed >= 0):
        raise ArgumentValueError(
            f"expected 1 to {MOST} inputs and a seed that is not negative, got {inputs} and {seed}"
        )
    rules = contract if isinstance(contract, Contract) else contract_of(contract)
    types = _inputs(first.verify(), second.verify())
    found, end = Equivalence(), monotonic() + seconds
    made = list(shapes(types, SHAPES)) if any(not t.is_static for t in types) else [types]
    most = max(10, inputs // len(made)) if len(made) > 1 else inputs
    pools = literals([first.module, second.module])
    for number, sizes in enumerate(made):
        try:
            pair = _Pair(first, second, sizes, rules, found)
        except StablehloError:
            found.skipped += 1
            continue
        for parameter, type in zip(first.inputs, sizes):
            check_size(parameter, type, DRAWN, first.limits)
        reserve(0, temporaries=2 * DRAWN * sum(type.size for type in sizes))
        needed = DRAWING * sum(type.size for type in sizes)
        drawn = islice(probes(sizes, pools, seed + number), None if is_complete(sizes) else most)
        while found.counterexample is None and not found.is_stopped:
            check_time("the search", needed)
            if monotonic() + needed > end:
                return found
            if (arrays := next(drawn, None)) is None:
                break
            pair.compare(arrays)
        else:
            return found
    found.is_complete = len(made) == 1 and is_complete(made[0])
    return found


def _inputs(first: Program, second: Program) -> list[TensorType]:
    """Return the types of inputs, which both programs take; ArgumentValueError unless their signatures agree."""
    one, two = ([_tensors(p.inputs), _tensors(p.outputs)] for p in (first, second))
    pairs = [*zip(chain(*one), chain(*two))]
    if list(map(len, one)) != list(map(len, two)) or not all(
        compatible(x, y) and x.element_type == y.element_type for x, y in pairs
    ):
        texts = [f"({', '.join(map(str, types))})" for types in (*one, *two)]
        raise ArgumentValueError(
            f"the programs have different signatures: {texts[0]} -> {texts[1]} and {texts[2]} -> {texts[3]}"
        )
    return [x if x.is_static else y for x, y in zip(one[0], two[0])]


def _tensors(parameters: Sequence[Parameter]) -> list[TensorType]:
    """Return the types of inputs or outputs; UnsupportedError for others than ranked tensors."""
    types = [p.type for p in parameters]
    for type in types:
        if not isinstance(type, TensorType):
            raise UnsupportedError(f"programs are compared on ranked tensors, got {type}")
    return types  # type: ignore[return-value]


def _refined(program: Program, types: Sequence[TensorType]) -> Program:
    """Return a program with inputs of static types."""
    is_static = all(type.is_static for type in _tensors([*program.inputs, *program.outputs]))
    if is_static or (len(program.functions) > 1 and program.entry.name != "main"):
        return program
    module = clone(program.module, {})
    refine_arguments(module, types)
    made = Program(module, program.entry.name, program.limits)
    return made.transform("stablehlo-refine-shapes", "stablehlo-canonicalize-dynamism")


# --- one pair ---------------------------------------------------------------------------------------------------------


class _Side:
    """One of two programs, with what tells how far its results may be off."""

    def __init__(self, program: Program, contract: Contract) -> None:
        most = min(program.limits.max_seconds or inf, MAX_SECONDS)
        self.program = Program(program.module, program.entry.name, replace(program.limits, max_seconds=most))
        self.contract = contract

    @cached_property
    def flat(self) -> tuple[Flat, Evaluator] | None:
        """The program as a list of ops; None if an input or output is no static tensor, or it cannot be flattened."""
        try:
            flat = Flat(self.program)
        except StablehloError:
            return None
        return (flat, Evaluator(flat)) if all(map(is_observable, (*flat.arguments, *flat.outputs))) else None

    @cached_property
    def has_floats(self) -> bool:
        """Whether the program computes with numbers that are rounded."""
        types = [result.type for op in self.program.module.walk() for result in op.results]
        types += [p.type for p in self.program.inputs]
        return any(isinstance(t, TensorType) and isinstance(t.element_type, _ROUNDED) for t in types)

    def bounds(self, arrays: Sequence[Array]) -> list[Ball]:
        """Return the bounds of the results."""
        if self.flat is None:
            return [UNKNOWN] * len(self.program.outputs)
        flat, evaluate = self.flat
        return bounds_of(flat, arrays, self.contract, evaluate)


class _Pair:
    """Two programs with inputs of the same static types; StablehloError if the first cannot have them."""

    def __init__(
        self, first: Program, second: Program, types: Sequence[TensorType], contract: Contract, found: Equivalence
    ) -> None:
        self.first = _Side(_refined(first, types), contract)
        with suppress(StablehloError):  # which a run says
            second = _refined(second, types)
        self.second = _Side(second, contract)
        self.contract = contract
        self.found = found

    def compare(self, arrays: list[Array]) -> None:
        """Run both programs, and count or keep what they show."""
        found = self.found
        try:
            ours = list(map(np.asarray, self.first.program.run(*arrays)))
        except StablehloError:
            found.skipped += 1
            return
        try:
            theirs = list(map(np.asarray, self.second.program.run(*arrays)))
        except LimitError as error:
            found.is_stopped = True
            reason = f"the second program reaches a limit: {error}"
            self._keep(Counterexample(tuple(arrays), None, reason, is_proved=False), is_difference=False)
        except StablehloError as error:
            if self._is_open(arrays):
                found.skipped += 1
            else:
                example = Counterexample(tuple(arrays), None, f"the second program fails: {error}", is_proved=True)
                self._keep(example, is_difference=True)
        else:
            different = [i for i, (x, y) in enumerate(zip(ours, theirs)) if not same_bits(y, x)]
            if not different:
                found.tried += 1
            elif self._is_open(arrays):
                found.skipped += 1
            elif len(found.undecided) < UNDECIDED:
                self._judge(arrays, ours, theirs, different)

    def _is_open(self, arrays: Sequence[Array]) -> bool:
        """Return whether the spec leaves a result of an op of the first program open."""
        try:
            self.first.program.run(*arrays, on_implementation_defined="error")
        except LimitError:  # no choice was found until then
            return False
        except StablehloError:
            return True
        return False

    def _keep(self, example: Counterexample, is_difference: bool) -> None:
        """Count inputs, and keep them as those of a difference, or of one that is undecided."""
        self.found.tried += 1
        if is_difference:
            self.found.counterexample = example
        else:
            self.found.undecided.append(example)

    def _judge(self, arrays: list[Array], ours: list[Array], theirs: list[Array], different: list[int]) -> None:
        """Judge a difference of bits, by the bounds of both programs; programs of integers have exact ones."""
        sides = (self.first, self.second)
        rounds = any(side.has_floats for side in sides)
        balls = [s.bounds(arrays) if rounds else list(map(exact, results)) for s, results in zip(sides, (ours, theirs))]
        excess = {i: e for i in different if (e := self._excess(ours[i], theirs[i], balls[0][i], balls[1][i]))}
        if not excess and all(b[i].is_known for b in balls for i in different):
            self.found.tried += 1
            self.found.rounded += 1
            return
        index = next(iter(excess), different[0])
        apart = distance(theirs[index], ours[index])
        is_far = not excess and all(
            limits_of(side.program, arrays, results, self.contract, perturbs=True)[index] < apart < inf
            for side, results in zip(sides, (ours, theirs))
        )
        worst = excess_of(theirs[index], exact(ours[index]), self.contract)
        reason = str(excess[index]) if excess else f"{FAR if is_far else NO_BOUND}: {worst}"
        repro = None
        if self.second.flat is not None:
            both = [_widened(x, *pair) for x, pair in zip(ours, zip(*balls))]
            repro = repro_of(self.second.flat[0], arrays, both, ours, f"result {index}: {reason}")
        self._keep(Counterexample(tuple(arrays), index, reason, bool(excess), repro), bool(excess) or is_far)

    def _excess(self, x: Array, y: Array, first: Ball, second: Ball) -> Excess | None:
        """Return where results are further apart than both programs may be off; None if nowhere, or not known."""
        if x.shape != y.shape or x.dtype != y.dtype:
            return excess_of(y, exact(x), self.contract) or Excess(1, 1, (), y.dtype, x.dtype, 0.0)
        around_first, around_second = _widened(x, first, second), _widened(y, second, first)
        return excess_of(y, around_first, self.contract) or excess_of(x, around_second, self.contract)


def _widened(result: Array, ball: Ball, other: Ball) -> Ball:
    """Return where a result of the other program lies if both compute the same."""
    if UNKNOWN in (ball, other) or ball.center.shape != result.shape:
        return UNKNOWN
    return replace(ball, radius=np.asarray(ball.radius + np.broadcast_to(other.radius, result.shape)))


# --- inputs that tell programs apart ----------------------------------------------------------------------------------

SIZES = (2, 3, 1, 0)  # of unknown dimensions: an even and an odd one first, then the special ones
COMPLETE = 12  # bits of all inputs together of which all values are tried
EACH_VALUE = 8  # bits of an element type all of whose values occur
LITERALS = 32  # of the programs that inputs have among their values
WAYS = ("numbered", "ones", "special", "small", "literal", "random", "counts", "moderate", "each value", "wide")


def shapes(types: Sequence[TensorType], most: int) -> Iterator[list[TensorType]]:
    """Yield types with sizes in place of unknown ones: all the same size first, then others, at most `most`."""
    unknown = sum(n is None for type in types for n in type.shape)
    same = [(size,) * unknown for size in SIZES]
    for sizes in islice(dict.fromkeys([*same, *product(SIZES, repeat=min(unknown, 6))]), most):
        given = iter((*sizes, *[2] * unknown))
        yield [tensor_type(tuple(next(given) if n is None else n for n in t.shape), t.element_type) for t in types]


def literals(modules: Sequence[Operation]) -> dict[DType, Array]:
    """Return numbers that stand in programs, and their neighbours, by dtype: results may change at them."""
    found: dict[DType, list[Array]] = {}
    for module in modules:
        for op in module.walk():
            array = getattr(op.properties.get("value"), "array", None)
            if op.name == "stablehlo.constant" and isinstance(array, np.ndarray) and array.size:
                found.setdefault(array.dtype, []).append(array.reshape(-1)[:LITERALS])
    pools = {}
    for dtype, arrays in found.items():
        values = np.concatenate(arrays)[:LITERALS]
        if kind(dtype) in ("integer", "floating"):
            with np.errstate(all="ignore"):
                one = np.ones((), dtype)
                values = np.concatenate([values, values + one, values - one]).astype(dtype)
        pools[dtype] = values
    return pools


def is_complete(types: Sequence[TensorType]) -> bool:
    """Return whether all values of inputs of these static types are tried."""
    return sum(bit_width(numpy_dtype(t.element_type)) * t.size for t in types) <= COMPLETE


def probes(types: Sequence[TensorType], pools: dict[DType, Array], seed: int) -> Iterator[list[Array]]:
    """Yield inputs of static types, without end unless all values are tried, or there is nothing to vary."""
    if is_complete(types):
        values = [every_value(numpy_dtype(t.element_type)) for t in types for _ in range(t.size)]
        for elements in map(iter, product(*values)):
            drawn = [np.array([next(elements) for _ in range(t.size)], numpy_dtype(t.element_type)) for t in types]
            yield [read_only(array.reshape(static_shape(t))) for array, t in zip(drawn, types)]
        return
    generator = np.random.Generator(np.random.Philox(seed))
    for number in count():
        way, own = WAYS[number % len(WAYS)], [pools.get(numpy_dtype(t.element_type)) for t in types]
        numbered = enumerate(zip(types, own), number)
        yield [read_only(_filled(way, generator, type, pool, i)) for i, (type, pool) in numbered]


def _filled(way: str, generator: np.random.Generator, type: TensorType, pool: Array | None, number: int) -> Array:
    """Return an array that is filled in one of `WAYS`, or with moderate numbers where its type does not have it."""
    dtype, shape, size = numpy_dtype(type.element_type), static_shape(type), type.size
    match way, kind(dtype):
        case "numbered", _:  # by which data that moved is known
            return _numbers(type, (np.arange(size) + 1 + number) % 127)
        case "ones", _:
            return _numbers(type, np.ones(size, int))
        case "counts", _:  # for which conversions and indices are defined
            return _numbers(type, generator.integers(0, 4, size))
        case "wide", "floating":
            sizes = 10.0 ** generator.uniform(-4, 4, shape) * generator.choice([-1.0, 1.0, 1.0], shape)
            with np.errstate(all="ignore"):
                return np.asarray(sizes).astype(dtype)
        case "wide", _:  # as shifts are
            return _numbers(type, generator.integers(0, 40, size))
        case "literal", _ if pool is not None:
            return np.asarray(pool[generator.integers(0, len(pool), shape)])
        case "small" | "literal", _:  # equal ones are frequent, and products and sums exact
            low = 0 if str(type.element_type).startswith("ui") else -4
            return _numbers(type, generator.integers(low, 5, size))
        case "special", "integer" | "floating":
            pool = special_values(type.element_type)
            return np.asarray(pool[generator.integers(0, len(pool), shape)])
        case "random", "integer" if bit_width(dtype) >= 8:
            return np.frombuffer(generator.bytes(dtype.itemsize * size), dtype).reshape(shape)
        case "each value", of if of != "complex" and bit_width(dtype) <= EACH_VALUE:
            return np.asarray(np.resize(generator.permutation(every_value(dtype)), size).reshape(shape))
    return np.array(contents(generator, type))


def _numbers(type: TensorType, values: Array) -> Array:
    """Return integers as numbers of a type, as far as it has them."""
    dtype, shape = numpy_dtype(type.element_type), static_shape(type)
    if kind(dtype) == "boolean":
        return np.asarray(values % 2 != 0).reshape(shape)
    if kind(dtype) == "integer" and bit_width(dtype) < 8:
        values = values % (1 << bit_width(dtype) - 1)
    with np.errstate(all="ignore"):
        return np.asarray(values.astype(np.int8).astype(dtype).reshape(shape))
