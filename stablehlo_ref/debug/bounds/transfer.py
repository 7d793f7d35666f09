"""The bound of each op: how errors of operands propagate, and how far a legal backend may round the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import ml_dtypes
import numpy as np

from stablehlo_ref.debug.bounds import complexes, elementary, reductions, sums
from stablehlo_ref.debug.bounds.ball import (
    TINY,
    Ball,
    Evaluate,
    NoBound,
    Query,
    dtype_of,
    exact,
    smallest_normal,
    used,
    widened,
)
from stablehlo_ref.debug.bounds.elementary import FRACTIONAL, ends, rounded, stored, unknown_where
from stablehlo_ref.debug.bounds.reductions import is_exact_body
from stablehlo_ref.debug.bounds.sums import product_sum
from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.cut import fed_to, is_constant, operands_of
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.types import BooleanType, IntegerType, QuantizedType, TensorType
from stablehlo_ref.numerics.dtypes import FLOAT32, kind

Rule: TypeAlias = Callable[[Query], Ball]


def transfer(
    op: Operation, values: Sequence[Value], operands: Sequence[Ball], contract: Contract, evaluate: Evaluator
) -> list[Ball] | None:
    """Return the balls of an op's results; None if there is no rule for the op.

    `values` are what the op is fed (`fed_to`), and `operands` their balls.
    """
    try:
        if op.name in BRANCHES:
            return of_branch(op, dict(zip(values, operands)), contract, evaluate)
        if op.name == LOOP:
            return of_loop(op, dict(zip(values, operands)), contract, evaluate)
        dtypes = [dtype_of(value) for value in values]
        balls = [_flushed(s, dtype, contract) for s, dtype in zip(operands, dtypes)]
        made = []
        for index, result in enumerate(op.results):
            query = Query(
                op, values, balls, index, dtype_of(result), contract,
                _evaluation(evaluate, op, index, True), _evaluation(evaluate, op, index, False),
                evaluate,
            )  # fmt: skip
            with np.errstate(all="ignore"):
                made.append(_finished(query, rule_of(query)(query)))
        return made
    except NoBound:
        return None


def _evaluation(evaluate: Evaluator, op: Operation, index: int, wide: bool) -> Evaluate:
    def run(arrays: Sequence[Array]) -> Array:
        results = evaluate(op, arrays, wide)
        if results is None:
            raise NoBound
        return results[index]

    return run


def _flushed(ball: Ball, dtype: DType, contract: Contract) -> Ball:
    """Let subnormal operands be zero, if the contract does."""
    if not contract.flush_subnormals or kind(dtype) not in ("floating", "complex"):
        return ball
    magnitude = np.abs(ball.center)
    subnormal = (magnitude > 0) & (magnitude < smallest_normal(dtype))
    return Ball(ball.center, np.where(subnormal, ball.radius + magnitude, ball.radius)) if subnormal.any() else ball


def _finished(query: Query, ball: Ball) -> Ball:
    """Make radii that are NaN infinite, and let results that are flushed be zero.

    An infinity or NaN that exact operands give is exact; rules leave it unknown if it depends on the order of a sum.
    """
    radius = np.broadcast_to(np.asarray(ball.radius, np.float64), ball.center.shape)
    if kind(query.dtype) not in ("floating", "complex"):
        return Ball(ball.center, np.where(np.isnan(radius), np.inf, radius))
    surely = query.is_exact & ~np.isfinite(ball.center) & ~np.isinf(radius)
    radius = np.where(np.isnan(radius), np.inf, radius)
    if not query.is_exact:  # then the sign of zero is not known
        radius = np.where((radius == 0) & (ball.center == 0), TINY, radius)
    if query.contract.flush_subnormals:
        magnitude, tiny = np.abs(ball.center), smallest_normal(query.dtype)
        may_be_flushed = (magnitude - radius < tiny) & (magnitude + radius > 0)
        radius = np.where(may_be_flushed, radius + tiny, radius)
    return Ball(ball.center, np.where(surely, np.minimum(radius, TINY), radius))


def rule_of(query: Query) -> Rule:
    """Return the rule of a query's op; NoBound if there is none."""
    if not query.op.name.startswith(("stablehlo.", "chlo.")):
        raise NoBound
    values = (*query.op.operands, *query.op.results)
    if any(map(_is_quantized, values)):
        return exactly if query.name in MOVES else quantized
    if not _has_fractions(query):
        return reductions.reduced if query.name in ("reduce", "reduce_window") else exactly
    if query.name in _FOR_ALL:
        return _FOR_ALL[query.name]
    is_complex = any(kind(dtype_of(value)) == "complex" for value in values)
    found = (complexes.RULES if is_complex else _RULES).get(query.name)
    if found is None:
        raise NoBound
    return found


def _is_quantized(value: Value) -> bool:
    return isinstance(value.type, TensorType) and isinstance(value.type.element_type, QuantizedType)


def _has_fractions(query: Query) -> bool:
    return any(kind(dtype_of(value)) in FRACTIONAL for value in (*query.op.operands, *query.op.results))


# --- without rounding -----------------------------------------------------------------------------------------------


def exactly(query: Query) -> Ball:
    """An op on integers and booleans, or one whose result on known operands is unique: what the interpreter returns."""
    if query.op.regions and not all(map(is_exact_body, query.op.regions)):
        raise NoBound
    if query.name in NOT_UNIQUE:
        raise NoBound
    center = widened(query.plain(query.centers))
    return Ball(center, np.asarray(0.0 if query.is_exact else np.inf))


def quantized(query: Query) -> Ball:
    """An op on quantized tensors: at most one step from what the interpreter computes, as it rounds to a step."""
    if not query.is_exact or (query.op.regions and query.name != "reduce_window"):
        raise NoBound
    center = widened(query.plain(query.centers))
    if kind(query.dtype) not in FRACTIONAL:
        return Ball(center, np.ones(()))
    return rounded(query, center, np.zeros(()), 2.0)  # `uniform_dequantize`, computed in its own type


def part(query: Query) -> Ball:
    """`real` and `imag`, whose errors are at most those of the complex number."""
    operand = query.operand(0)
    return stored(query, query.wide(query.centers), np.asarray(operand.radius))


def bits(query: Query) -> Ball:
    """`bitcast_convert`: the bits of NaN are not known."""
    made = exactly(query)
    is_nan = any(s.center.dtype.kind in "fc" and np.isnan(s.center).any() for s in query.operands)
    return Ball(made.center, np.asarray(np.inf)) if is_nan else made


def moved(query: Query) -> Ball:
    """Data movement: radii move as the elements do."""
    center = widened(query.plain(query.centers)) if query.is_exact else query.wide(query.centers)
    return stored(query, center, _moved_radii(query, center))


def _moved_radii(query: Query, center: Array) -> Array:
    if query.is_exact:
        return np.zeros(())
    others = [s for v, s in zip(query.values, query.operands) if kind(dtype_of(v)) not in FRACTIONAL]
    if kind(query.dtype) not in FRACTIONAL or (query.name != "select" and not all(s.is_exact for s in others)):
        return np.full(center.shape, np.inf)
    radii = [
        np.broadcast_to(s.radius, s.center.shape) if kind(dtype_of(v)) in FRACTIONAL else s.center
        for v, s in zip(query.values, query.operands)
    ]
    return np.abs(query.wide(radii))


def selected(query: Query) -> Ball:
    """`select`: as data movement, and unknown where the predicate is."""
    made = moved(query)
    uncertain = [s.radius for v, s in zip(query.values, query.operands) if v is query.op.operands[0]]
    return Ball(made.center, made.radius + sum(uncertain, np.zeros(())))


def same_radius(query: Query) -> Ball:
    """`negate`, `abs`, and what returns one of its operands: the largest radius of them."""
    radii = [s.radius for v, s in zip(query.values, query.operands) if kind(dtype_of(v)) in FRACTIONAL]
    radius = np.asarray(np.max(np.stack(np.broadcast_arrays(*radii)), axis=0))
    return stored(query, query.wide(query.centers), radius)


def steps(query: Query) -> Ball:
    """Monotone step functions (`floor`, `sign`, `convert` to integers): known where both ends give the same."""
    center, low, high = ends(query)
    if kind(query.dtype) in FRACTIONAL:
        same = (low == center) & (high == center)
        radius = np.where(same, 0.0, np.maximum(np.abs(low - center), np.abs(high - center)))
        return stored(query, center, radius if query.is_exact else unknown_where(query.operand(0), radius))
    return Ball(center, np.where((low == center) & (high == center), 0.0, np.inf))


def compared(query: Query) -> Ball:
    """`compare`: unknown where the operands may be equal or in another order than their centers."""
    lhs, rhs = query.operand(0), query.operand(1)
    radius = lhs.radius + rhs.radius
    center = query.plain(query.centers) if query.is_exact else query.wide(query.centers)
    if query.is_exact:
        return Ball(center, np.zeros(()))
    apart = np.abs(lhs.center - rhs.center) > radius
    return Ball(center, np.where(apart | (radius == 0), 0.0, np.inf))


def converted(query: Query) -> Ball:
    """`convert`: rounds to floating-point types; a step function to integers, as all are from booleans and integers."""
    target = kind(query.dtype)
    if target not in FRACTIONAL:
        made = steps(query)
        operand = query.operand(0)
        if target == "boolean":  # not monotone: only zero is false
            may_be_zero = (operand.radius > 0) & (np.abs(operand.center) <= operand.radius)
            return Ball(made.center, np.where(may_be_zero, np.inf, made.radius))
        low, high = integer_range(query.dtype)
        inside = (operand.center - operand.radius > low - 1) & (operand.center + operand.radius < high + 1)
        return Ball(made.center, np.where(inside, made.radius, np.inf))  # out of range: implementation-defined
    center, radius = query.wide(query.centers), query.operand(0).radius if query.values else np.zeros(())
    return (
        stored(query, center, radius)
        if _is_contained(dtype_of(query.op.operands[0]), query.dtype)
        else rounded(query, center, radius)
    )


def _is_contained(source: DType, target: DType) -> bool:
    """Return whether one floating-point type has all numbers of another, so that no conversion rounds."""
    if kind(source) != "floating" or kind(target) != "floating":
        return False
    return (
        source == target
        or (target.itemsize >= FLOAT32.itemsize > source.itemsize)
        or target.itemsize > FLOAT32.itemsize
    )


NOT_UNIQUE = ("rng", "rng_bit_generator", "custom_call", "infeed", "recv", "partition_id")
MOVES = (
    "reshape", "broadcast_in_dim", "broadcast", "transpose", "reverse", "concatenate", "pad", "slice", "dynamic_slice",
    "dynamic_update_slice", "gather", "dynamic_gather", "dynamic_reshape", "dynamic_broadcast_in_dim", "dynamic_pad",
    "real_dynamic_slice", "optimization_barrier", "complex", "constant", "iota", "conj",
)  # fmt: skip
_MONOTONE = (
    "exponential", "exponential_minus_one", "log", "log_plus_one", "tanh", "sqrt", "rsqrt", "cbrt", "erf",
    "erfc", "atan", "asinh", "sinh", "asin", "acos", "acosh", "atanh", "erf_inv",
)  # fmt: skip
_FOR_ALL: dict[str, Rule] = {
    **dict.fromkeys(MOVES, moved), "select": selected, "real": part, "imag": part, "fft": sums.transformed,
    "triangular_solve": sums.solved, "cholesky": sums.factored, "add": elementary.added,
    "subtract": elementary.added, "compare": compared,
}  # fmt: skip
_RULES: dict[str, Rule] = {
    **dict.fromkeys(_MONOTONE, elementary.monotone),
    **dict.fromkeys(("floor", "ceil", "round_nearest_afz", "round_nearest_even", "sign"), steps),
    **dict.fromkeys(("negate", "abs", "maximum", "minimum", "clamp"), same_radius),
    **dict.fromkeys(("sine", "cosine"), elementary.periodic),
    **dict.fromkeys(("is_finite", "is_inf", "is_pos_inf", "is_neg_inf", "reduce_precision", "next_after"), exactly),
    **dict.fromkeys(("reduce", "reduce_window"), reductions.reduced),
    **dict.fromkeys(("scatter", "select_and_scatter"), reductions.scattered),
    **dict.fromkeys(("dot_general", "dot", "convolution"), product_sum),
    "multiply": elementary.multiplied, "divide": elementary.divided, "convert": converted, "sort": reductions.ordered,
    "remainder": exactly, "bitcast_convert": bits, "tan": elementary.tangent, "power": elementary.power,
    "atan2": elementary.angle, "logistic": elementary.logistic, "cosh": elementary.even, "lgamma": elementary.log_gamma,
    "digamma": elementary.increasing_if_positive, "bessel_i1e": elementary.half_slope,
    "batch_norm_inference": sums.normalised, "batch_norm_training": sums.normalised,
    "batch_norm_grad": sums.normalised,
}  # fmt: skip


def integer_range(dtype: DType) -> tuple[float, float]:
    """Return the least and largest number of an integer type."""
    info = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
    return float(info.min), float(info.max)


BRANCHES = ("stablehlo.if", "stablehlo.case")
LOOP = "stablehlo.while"
MOST_STEPS = 1024  # ops that are executed in a loop with bounds on its floating-point numbers
MOST_BYTES = 1 << 28  # of their results

Balls = Mapping[Value, Ball]


def of_branch(op: Operation, balls: Balls, contract: Contract, evaluate: Evaluator) -> list[Ball] | None:
    """Return the balls of the results of the branch that is taken; None if that is not known."""
    condition = balls.get(op.operands[0])
    if condition is None or not condition.is_exact:
        return None
    taken = branch_of(op, condition.center)
    found = _through(op.regions[taken].block, dict(balls), contract, evaluate)
    return [s or _unknown(value) for s, value in zip(found, op.results)]


def branch_of(op: Operation, index: Array) -> int:
    """Return the number of the region that is taken."""
    number, count = int(index), len(op.regions)
    if op.name == "stablehlo.if":
        return 1 - number
    return number if 0 <= number < count else count - 1


def of_loop(op: Operation, balls: Balls, contract: Contract, evaluate: Evaluator) -> list[Ball] | None:
    """Return the balls of the results of a loop; None if it is not known how often the body runs.

    Nothing is known of floating-point numbers in a loop that is long.
    """
    state: list[Ball | None] = [_known(value, balls, evaluate) for value in op.operands]
    condition, body = (region.block for region in op.regions)
    ops = [inner for block in (condition, body) for inner in block.operations]
    most = min(MOST_STEPS, MOST_BYTES // max(sum(map(_bytes_of, ops)), 1) * len(ops))
    for _ in range(0, max(most, 1), len(ops)):
        (goes_on,) = _through(condition, {**balls, **_arguments(condition, state)}, contract, evaluate)
        if goes_on is None or not goes_on.is_exact:
            return None
        if not goes_on.center:
            return [s or _unknown(value) for s, value in zip(state, op.results)]
        state = _through(body, {**balls, **_arguments(body, state)}, contract, evaluate)
    return _exact_results(op, state, balls, evaluate)


def _arguments(block: Block, state: Sequence[Ball | None]) -> dict[Value, Ball]:
    return {argument: ball for argument, ball in zip(block.arguments, state) if ball is not None}


def _through(block: Block, balls: dict[Value, Ball], contract: Contract, evaluate: Evaluator) -> list[Ball | None]:
    """Return the balls of what a block returns, None where there is no bound; those of its values are added."""
    *ops, terminator = block.operations
    for inner in ops:
        if not inner.results or is_constant(inner.results[0]):
            continue
        feeds = fed_to(inner)
        found = [_known(value, balls, evaluate) for value in feeds]
        known = [ball for ball in found if ball is not None]
        made = transfer(inner, feeds, known, contract, evaluate) if len(known) == len(found) else None
        results = zip(inner.results, made or ())
        balls.update((result, used(ball, dtype_of(result))) for result, ball in results)
    return [_known(value, balls, evaluate) for value in terminator.operands]


def _known(value: Value, balls: Balls, evaluate: Evaluator) -> Ball | None:
    return exact(evaluate.constant(value)) if is_constant(value) else balls.get(value)


def _unknown(value: Value) -> Ball:
    assert isinstance(value.type, TensorType)
    dtype = dtype_of(value)
    wide = {"floating": np.dtype(np.float64), "complex": np.dtype(np.complex128)}.get(kind(dtype), dtype)
    return Ball(np.zeros([n or 0 for n in value.type.shape], wide), np.asarray(np.inf))


def _bytes_of(op: Operation) -> int:
    types = [type for type in op.result_types if isinstance(type, TensorType)]
    return 8 * sum(int(np.prod([n or 0 for n in type.shape])) for type in types)


# --- long loops: what rounding cannot change ------------------------------------------------------------------------


def _exact_results(op: Operation, state: Sequence[Ball | None], balls: Balls, evaluate: Evaluator) -> list[Ball] | None:
    """Return what the interpreter computes for carries that depend on no rounding; None if the condition depends on it.

    `state` is that after a few turns: a carry of which nothing is certain then is not certain at the end.
    """
    first = [_known(value, balls, evaluate) for value in op.operands]
    certain = {i for i, pair in enumerate(zip(first, state)) if all(s is not None and s.is_exact for s in pair)}
    kept = _exact_carries(op, certain, {value for value, ball in balls.items() if ball.is_exact})
    ours = None if kept is None else evaluate(op, [balls[v].center.astype(dtype_of(v)) for v in fed_to(op)])
    if kept is None or ours is None:
        return None
    return [exact(ours[i]) if i in kept else _unknown(value) for i, value in enumerate(op.results)]


def _exact_carries(op: Operation, certain: set[int], outside: set[Value]) -> set[int] | None:
    """Return the carries that depend on no rounding; None if the condition does."""
    condition, body = (region.block for region in op.regions)
    kept = certain
    while wrong := {i for i in kept if not _is_exact(body, body.operations[-1].operands[i], kept, outside)}:
        kept = kept - wrong
    return kept if _is_exact(condition, condition.operations[-1].operands[0], kept, outside) else None


def _is_exact(block: Block, value: Value, kept: set[int], outside: set[Value]) -> bool:
    """Return whether a value is a carry that is kept, certain from outside, or computed from such without rounding."""
    made = {result: op for op in block.operations for result in op.results}
    stack, seen = [value], set[Value]()
    while stack:
        top = stack.pop()
        if top in seen or is_constant(top):
            continue
        seen.add(top)
        if top in made:
            if not all(map(_is_integral, made[top].walk())):
                return False
            stack += operands_of(made[top])
        elif not (top.index in kept if top.owner is block else top in outside):
            return False
    return True


def _is_integral(op: Operation) -> bool:
    """Return whether an op has only one legal result: one of integers and booleans that is not random."""
    types = (*op.operand_types, *op.result_types)
    integral = (isinstance(t, TensorType) and isinstance(t.element_type, IntegerType | BooleanType) for t in types)
    return all(integral) and op.name.partition(".")[2] not in NOT_UNIQUE
