"""Tell which outputs rounding does not explain: beyond the bound of the whole program, or far beyond random rounding.

The program runs again a few times on this interpreter, with random errors in each rounded result, as large as the
contract allows. Worst-case bounds over a whole program say nothing after a few ops; this says what is usual, in norms
of whole tensors. It is no proof, and no op is called wrong for it: but an output that is further off than runs with
errors `LARGER` times as large is not explained by rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isfinite, isnan, prod, sqrt
from time import perf_counter
from typing import TypeAlias

import numpy as np

from stablehlo_ref.debug.bounds.ball import Ball, dtype_of, real_dtype, shape_of, smallest_normal, ulp, unit_roundoff
from stablehlo_ref.debug.bounds.reductions import adds_up, is_exact_body
from stablehlo_ref.debug.bounds.sums import roundoff_of
from stablehlo_ref.debug.bounds.transfer import propagation
from stablehlo_ref.debug.contract import DOT_ALGORITHMS, Contract
from stablehlo_ref.debug.cut import Flat, has_fractions, is_control_flow, slice_of
from stablehlo_ref.debug.evaluate import Evaluator, distance, same_bits, widened
from stablehlo_ref.debug.judge import NO_BOUND, Excess, Judge, Judgement, Verdict, excess_of
from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.define.definition import attributes_of, facts_of
from stablehlo_ref.define.facts import Arithmetic
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.numerics.dtypes import float_info, kind
from stablehlo_ref.ops.extensibility import OPEN_TARGETS, CustomCall
from stablehlo_ref.program import Program

Arrays: TypeAlias = Sequence[Array]
RUNS = 3
EXPLAINED = 8.0  # a larger factor is outside of what random rounding explains
LARGER = 64.0  # how much larger than the contract's errors are in runs that right outputs are not beyond
LARGER_RUNS = 6
TARGET = "stablehlo_ref.debug.random_rounding"
FAR = 2.0  # times the largest distance of runs with larger errors
NOT_EXPLAINED = "is not explained by rounding"
MOST = 4  # ops without a bound that are compared with runs that round at random


@dataclass(frozen=True)
class Sensitivity:
    """The relative norm by which an output differs, and that of runs with random rounding, a root mean square."""

    output: int
    distance: float
    noise: float

    @property
    def factor(self) -> float:
        """How much larger the difference is than what random rounding makes."""
        if not self.distance or self.noise == inf:
            return 0.0
        return self.distance / self.noise if self.noise else inf

    @property
    def is_explained(self) -> bool:
        return self.factor <= EXPLAINED

    def __str__(self) -> str:
        side = "within" if self.is_explained else "outside"
        noise = f"random rounding of every op makes {self.noise:.2g}"
        return f"output {self.output} differs by {self.distance:.2g}, {side} what {noise} (factor {self.factor:.2g})"


def sensitivities(
    program: Program, inputs: Arrays, ours: Arrays, actual: Arrays, contract: Contract, seconds: float = inf
) -> list[Sensitivity]:
    """Return how each output differs from the interpreter's, beside runs with random rounding; none if these fail.

    After `seconds` no further run is started; there is one at least.
    """
    apart = _distances(program, inputs, ours, contract, 1.0, seconds)
    if not apart:
        return []
    found = []
    for index, (x, y) in enumerate(zip(actual, ours)):
        noise = sqrt(sum(d[index] ** 2 for d in apart) / len(apart))
        found.append(Sensitivity(index, distance(x, y), noise if isfinite(noise) else inf))
    return found


def limits_of(
    program: Program, inputs: Arrays, ours: Arrays, contract: Contract, perturbs: bool = False
) -> list[float]:
    """Return how far each output moves at most with errors `LARGER` times as large, of inputs too if it `perturbs`.

    They are 0 if no op rounds, and infinite if runs fail.
    """
    apart = _distances(program, inputs, ours, contract, LARGER, perturbs=perturbs)
    return [max((inf if isnan(run[i]) else run[i] for run in apart), default=inf) for i in range(len(ours))]


def _distances(
    program: Program,
    inputs: Arrays,
    ours: Arrays,
    contract: Contract,
    scale: float,
    seconds: float = inf,
    perturbs: bool = False,
) -> list[list[float]]:
    """Return the distances of the outputs of runs with random rounding, `scale` times as large; [] if these fail."""
    started = perf_counter()
    runs: list[list[float]] = []
    try:
        noise = _Noise(program.module, contract, scale)
        noisy = Program(noise.module, program.entry.name, program.limits)
        if not perturbs and not noise.errors:
            return [[0.0] * len(ours)]
        for number in range(LARGER_RUNS if scale > 1 else RUNS):
            if runs and perf_counter() - started > seconds:
                break
            draw = np.random.default_rng(number)
            fed = [_by_ulps(draw, x, 0.5 * scale) for x in inputs] if perturbs else inputs
            fed = [_lossy(contract, draw, x) for x in fed] if scale > 1 else fed
            results = noisy.run(*fed, custom_calls={TARGET: partial(noise.add, draw)} if noise.errors else None)
            runs.append([distance(np.asarray(x), y) for x, y in zip(results, ours)])
    except StablehloError:
        return []
    return runs


# --- the program with random errors ---------------------------------------------------------------------------------


class _Noise:
    """A copy of a module with a custom call after each op that rounds, and before each sum of products.

    The configuration of a call is the number of what it does in `errors`.
    """

    def __init__(self, module: Operation, contract: Contract, scale: float) -> None:
        self.module = clone(module, {})
        self.errors: list[Callable[[np.random.Generator, Array], Array]] = []
        self._contract = contract
        self._scale = scale
        is_lossy = scale > 1 and contract.flush_subnormals  # also an op that does not round may lose numbers
        with Rewriter(self.module) as rewriter:
            for op in list(_entered(self.module)):
                for result in filter(has_fractions, op.results if _rounds(op) or is_lossy else ()):
                    self._add_to_result(rewriter, op, result)
                if _rounds(op):
                    self._add_to_terms(rewriter, op)

    def add(self, draw: np.random.Generator, call: CustomCall, array: Array) -> list[Array]:
        """Return what a call makes of an array."""
        made = self.errors[int(call.backend_config)](draw, array)
        return [_lossy(self._contract, draw, made) if self._scale > 1 else made]

    def _call(self, errors: Callable[[np.random.Generator, Array], Array], value: Value, op: Operation) -> Operation:
        members = {"call_target_name": TARGET, "backend_config": str(len(self.errors))}
        self.errors.append(errors)
        return build_operation("stablehlo.custom_call", [value], [value.type], op.location, members=members)

    def _add_to_result(self, rewriter: Rewriter, op: Operation, result: Value) -> None:
        is_arithmetic = facts_of(op).arithmetic is Arithmetic.ROUNDS or _adds_terms(op)
        name = op.mnemonic.removeprefix("broadcast_")
        default = 0.5 if is_arithmetic else self._contract.elementary_ulps
        ulps = self._contract.ulps_of(name, default, _itemsize(result))
        is_off = self._scale > 1 and ulps > 0.5  # also where the result is an integer
        errors = partial(_by_ulps, ulps=self._scale * ulps if _rounds(op) else 0.0, keeps_integers=not is_off)
        call, uses = self._call(errors, result, op), rewriter.uses(result)
        rewriter.insert_after(op, call)
        for user, index in uses:
            rewriter.set_operand(user, index, call.results[0])

    def _add_to_terms(self, rewriter: Rewriter, op: Operation) -> None:
        """Add relative errors to the terms of sums, as roundings of their partial sums and of operands have."""
        operand, result = op.operands[0], op.results[0]
        if not (_adds_terms(op) and has_fractions(operand) and has_fractions(result)):
            return
        is_product = facts_of(op).arithmetic is Arithmetic.SUMS
        roundoff = DOT_ALGORITHMS[self._contract.dot_algorithm].roundoff if is_product else 0.0
        requested = (attributes_of(op).get(f"{side}_precision_type") for side in ("lhs", "rhs"))
        roundoff = max(roundoff, *map(roundoff_of, filter(None, requested)), 0.0)
        sizes = [prod(shape_of(value)) for value in (operand, result)]
        of_sums = unit_roundoff(dtype_of(result)) * sqrt(max(sizes[0] / max(sizes[1], 1), 1))
        call = self._call(partial(_relative, size=self._scale * max(roundoff, of_sums)), operand, op)
        rewriter.insert_before(op, call)
        rewriter.set_operand(op, 0, call.results[0])


def _entered(op: Operation) -> Iterator[Operation]:
    """Yield the ops inside functions, loops and conditionals, but not those in bodies of reductions and the like."""
    for region in op.regions if is_control_flow(op) or op.name in ("builtin.module", "func.func") else ():
        for block in region.blocks:
            for inner in block.operations:
                yield inner
                yield from _entered(inner)


def _adds_terms(op: Operation) -> bool:
    return adds_up(op) or facts_of(op).arithmetic is Arithmetic.SUMS


def _itemsize(value: Value) -> int:
    return real_dtype(dtype_of(value)).itemsize


def _rounds(op: Operation) -> bool:
    """Return whether an op is known to round; folds round if their bodies do, conversions from wider numbers."""
    arithmetic = facts_of(op).arithmetic
    if not arithmetic.rounds:
        return False
    if arithmetic is Arithmetic.FOLDS:
        return not op.regions or not all(map(is_exact_body, op.regions))
    operand, result = op.operands[0], op.results[0]
    is_conversion = len(op.operands) == 1 and dtype_of(operand) != dtype_of(result)
    are_fractions = has_fractions(operand) and has_fractions(result)
    return not is_conversion or (are_fractions and _itemsize(operand) > _itemsize(result))


# --- random errors --------------------------------------------------------------------------------------------------


def _relative(draw: np.random.Generator, array: Array, size: float) -> Array:
    factors = 1 + size * np.asarray(draw.uniform(-1, 1, array.shape))
    with np.errstate(all="ignore"):
        return np.asarray(array * factors).astype(array.dtype)


def _lossy(contract: Contract, draw: np.random.Generator, array: Array) -> Array:
    """Return an array without what the contract lets a backend lose: subnormals, signs of zeros."""
    if kind(array.dtype) != "floating":
        return array
    with np.errstate(invalid="ignore"):
        if contract.flush_subnormals:
            array = np.where(np.abs(array) < smallest_normal(array.dtype), np.zeros((), array.dtype), array)
        if not contract.signed_zeros:
            array = np.where((array == 0) & (draw.random(array.shape) < 0.5), -array, array)
    return array


def _by_ulps(draw: np.random.Generator, array: Array, ulps: float, keeps_integers: bool = True) -> Array:
    """Return numbers with random errors of a whole number of ULPs; integers, infinities and NaN are left as they are.

    Integers are most often exact, such as counts, masks and positions; but large numbers, and most of 8 bits and fewer,
    are integers too. With half a ULP, a quarter of the others goes to either side.
    """
    dtype = real_dtype(array.dtype)
    if kind(dtype) != "floating" or not ulps:
        return array
    flat = np.ascontiguousarray(array).reshape(-1).view(dtype)
    wide = flat.astype(np.float64)
    if ulps >= 1:
        steps = draw.integers(-round(2 * ulps), round(2 * ulps) + 1, flat.shape, np.int32) // 2
    else:
        steps = draw.choice(np.array([0, 0, 1, -1], np.int32), flat.shape)
    largest = 2.0 ** float_info(dtype).nmant if keeps_integers and dtype.itemsize > 1 else 0.0
    with np.errstate(all="ignore"):
        is_exact = (wide == np.rint(wide)) & (np.abs(wide) <= largest)
        made = np.where(is_exact, wide, wide + steps * ulp(wide, dtype)).astype(dtype)
    kept = np.isfinite(made) & (np.signbit(made) == np.signbit(flat))
    return np.where(kept, made, flat).view(array.dtype).reshape(array.shape)


@dataclass(frozen=True)
class Beyond:
    """An output that is beyond the bound of the whole program, or far beyond rounding if there is no `excess`."""

    output: int
    excess: Excess | None

    def __str__(self) -> str:
        if self.excess is None:
            return f"output {self.output} {NOT_EXPLAINED}"
        return f"output {self.output} is beyond the bound of the whole program: {self.excess}"


def bounds_of(flat: Flat, inputs: Arrays, contract: Contract, evaluate: Evaluator) -> list[Ball]:
    """Return the bounds of the outputs of a program, which go through all of its ops."""
    whole = propagation(dict(zip(flat.arguments, inputs)), contract, evaluate)
    whole.extend(flat.ops)
    return [whole.balls[value] if value in whole.balls else whole.operand(value) for value in flat.outputs]


def beyond(
    inputs: Arrays, outputs: Arrays, ours: Arrays, judge: Judge, judgements: Sequence[Judgement], explained: set[int]
) -> Iterator[Beyond]:
    """Yield the outputs, but for `explained` ones, that neither bounds of all ops nor rounding at random explain."""
    flat = judge.evaluate.flat
    unsure = [i for i, (x, y) in enumerate(zip(outputs, ours)) if i not in explained and not same_bits(x, y)]
    if not unsure:
        return
    bounds = bounds_of(flat, inputs, judge.contract, judge.evaluate)
    limits: list[float] = []
    for index in unsure:
        value, ball = flat.outputs[index], bounds[index]
        excess = excess_of(outputs[index], ball, judge.contract)
        if excess or ball.is_known:
            yield from [Beyond(index, excess)] if excess else []
            continue
        limits = limits or limits_of(flat.program, inputs, ours, judge.contract)
        radius = np.broadcast_to(ball.radius, ours[index].shape)
        unknown = np.where(np.isinf(radius), outputs[index], ours[index])  # the others are within their bounds
        is_far = distance(unknown, ours[index]) > FAR * limits[index]
        if is_far and _can_be_nan(value) and not _is_open(inputs, value, judge, judgements):
            yield Beyond(index, None)


def _is_open(inputs: Arrays, value: Value, judge: Judge, judgements: Sequence[Judgement]) -> bool:
    """Return whether a value may depend on a result that is not unique: the spec leaves it open, or it is random."""
    verdicts = {j.op: j.verdict for j in judgements}
    needed = [op for op in slice_of(judge.evaluate.flat.ops, value) if verdicts.get(op) is not Verdict.SAME]
    if any(map(_is_random, needed)) or any(judge.is_open(op) for op in needed if op in verdicts):
        return True
    return bool(judge.evaluate.choices_of(judge.evaluate.flat.program, inputs))


def _is_random(op: Operation) -> bool:
    """Return whether operands do not decide the results: of random numbers, and of calls such as for eigenvectors."""
    targets = {None, *OPEN_TARGETS}
    opened = (inner for inner in op.walk() if facts_of(inner).arithmetic is Arithmetic.OPEN)
    return any(inner.properties.get("call_target_name") in targets for inner in opened)


def far_from_rounding(judge: Judge, judgements: Sequence[Judgement]) -> Iterator[Operation]:
    """Yield ops without a bound whose results, on the backend's operands, are far beyond what rounding makes."""
    unjudged = [j.op for j in judgements if j.reason == NO_BOUND and not _is_random(j.op)]
    for op in unjudged[:MOST]:
        made, feeds = judge.evaluate.subprogram(op), judge.operands(op)
        ours = judge.evaluate(op, feeds)
        if ours is None or judge.is_open(op):
            continue
        limits = limits_of(made.program, feeds, ours, judge.contract, perturbs=True)
        results = zip(op.results, ours, limits)
        if any(distance(judge.values[r], y) > FAR * limit and _can_be_nan(r) for r, y, limit in results):
            yield op


def _can_be_nan(value: Value) -> bool:
    """Return whether the type of a value has NaN: what invalid operations return in those of 4 and 6 bits is open."""
    return not has_fractions(value) or bool(np.isnan(widened(np.array(np.nan, real_dtype(dtype_of(value))))))
