"""Bound what a legal backend computes: map the balls of an op's operands to those of its results under a contract.

If the radii of operands are zero, as they are for values that a backend returned, the radius of a result bounds the
rounding errors of this op alone; composed over several ops, it bounds those of a fused group. All bounds are worst
cases, in exact arithmetic up to roundings of f64 that are accounted for: those of sums hold for each order.

A rule is that of the op's class, or else of its facts. Conditionals are followed into the branch that is taken, and
loops as long as their condition is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TypeAlias

import ml_dtypes
import numpy as np

from stablehlo_ref.debug.bounds import ball, reductions, sums
from stablehlo_ref.debug.bounds.ball import (
    TINY,
    UNKNOWN,
    Ball,
    NoBound,
    Query,
    dtype_of,
    exact,
    hull,
    rounded,
    shape_of,
    smallest_normal,
    stored,
    used,
)
from stablehlo_ref.debug.bounds.reductions import is_exact_body
from stablehlo_ref.debug.bounds.sums import product_sum
from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.cut import BRANCHES, LOOP, branch_of, fed_to, is_constant, is_constant_op, needed_by, slice_of
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.define.definition import REGISTRY, attributes_of, facts_of
from stablehlo_ref.define.facts import Arithmetic, Facts
from stablehlo_ref.dialects.chlo_broadcasting import Broadcasting, aligned
from stablehlo_ref.dialects.chlo_structured import RaggedDot, TopK
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.types import BooleanType, IntegerType, QuantizedType, TensorType, tensor_type
from stablehlo_ref.numerics.dtypes import float_info, is_fractional, kind
from stablehlo_ref.ops.comparison import Compare
from stablehlo_ref.ops.conversion import BitcastConvert, Convert, Imag, Real, ReducePrecision
from stablehlo_ref.ops.convolution import Convolution
from stablehlo_ref.ops.deprecated import Dot, Einsum, UnaryEinsum
from stablehlo_ref.ops.dot_general import DotGeneral
from stablehlo_ref.ops.dynamism import DynamicConv
from stablehlo_ref.ops.elementary import Atan2, Logistic, Rsqrt
from stablehlo_ref.ops.elementwise import Abs, Add, Divide, Multiply, Negate, Power, Sign, Subtract
from stablehlo_ref.ops.fft import Fft
from stablehlo_ref.ops.gather_scatter import Scatter
from stablehlo_ref.ops.linear_algebra import Cholesky, TriangularSolve
from stablehlo_ref.ops.normalization import BatchNormGrad, BatchNormInference, BatchNormTraining
from stablehlo_ref.ops.reduction import Reduce
from stablehlo_ref.ops.sort import Sort
from stablehlo_ref.ops.windows import ReduceWindow, SelectAndScatter

Rule: TypeAlias = Callable[[Query], Ball]
MOST_STEPS = 1024  # ops that are executed in a loop with bounds on its floating-point numbers
MOST_BYTES = 1 << 28  # of their results
Balls: TypeAlias = dict[Value, Ball]


def transfer(
    op: Operation, values: Sequence[Value], operands: Sequence[Ball], contract: Contract, evaluate: Evaluator
) -> list[Ball]:
    """Return the balls of an op's results, UNKNOWN if there is no rule for the op, or that is so for an operand.

    `values` are what the op is fed (`fed_to`), and `operands` their balls.
    """
    nothing, balls = [UNKNOWN] * len(op.results), dict(zip(values, operands))
    if UNKNOWN in operands:
        return nothing
    try:
        if op.name in BRANCHES:
            if not (condition := balls.get(op.operands[0], UNKNOWN)).is_exact:
                return nothing
            return _inside(balls, contract, evaluate).through(op.regions[branch_of(op, condition.center)].block)
        if op.name == LOOP:
            return of_loop(op, balls, contract, evaluate)
        if is_broadcasting(op):
            op, values, operands = _broadcast(op, balls, evaluate)
        with np.errstate(all="ignore"):
            known = [_flushed(ball, dtype_of(value), contract) for ball, value in zip(operands, values)]
            dtypes = [dtype_of(result) for result in op.results]
            queries = [Query(op, values, known, i, dtype, contract, evaluate) for i, dtype in enumerate(dtypes)]
            return [_finished(query, rule_of(query)(query)) for query in queries]
    except NoBound:
        return nothing


def is_broadcasting(op: Operation) -> bool:
    """Return whether an op broadcasts its operands, and then applies an elementwise op."""
    return op.name in REGISTRY and issubclass(REGISTRY[op.name].op_class, Broadcasting)


def aligned_operands(op: Operation, arrays: Mapping[Value, Array]) -> dict[Value, Array]:
    """Return operands in the shape that an op with broadcasting gives them; those of other ops as they are."""
    if not is_broadcasting(op):
        return dict(arrays)
    types = [type for type in op.operand_types if isinstance(type, TensorType)]
    shapes = dict(zip(op.operands, aligned(types, attributes_of(op).get("broadcast_dimensions"))))
    sizes = tuple(shape_of(op.results[0]))
    return {v: np.broadcast_to(array.reshape(shapes[v]), sizes) for v, array in arrays.items()}


def _broadcast(op: Operation, balls: Balls, evaluate: Evaluator) -> tuple[Operation, Sequence[Value], Sequence[Ball]]:
    """Return the op that one with broadcasting applies, and its operands of one shape with their balls."""
    op_class, attributes = REGISTRY[op.name].op_class, attributes_of(op)
    assert issubclass(op_class, Broadcasting)
    attributes.pop("broadcast_dimensions", None)
    known = {v: balls[v] if v in balls else exact(evaluate.constant(v)) for v in op.operands}
    centers = aligned_operands(op, {v: ball.center for v, ball in known.items()})
    radii = aligned_operands(op, {v: np.broadcast_to(ball.radius, ball.center.shape) for v, ball in known.items()})
    made = {
        v: Value(tensor_type(array.shape, v.type.element_type), None, index)
        for index, (v, array) in enumerate(centers.items())
        if isinstance(v.type, TensorType)
    }
    name, results = op_class.applies.definition.name, [result.type for result in op.results]
    applied = build_operation(name, [made[v] for v in op.operands], results, op.location, members=attributes)
    return applied, list(made.values()), [Ball(centers[v], radii[v]) for v in made]


def _flushed(ball: Ball, dtype: DType, contract: Contract) -> Ball:
    """Let subnormal operands be zero, if the contract does."""
    if not contract.flush_subnormals or not is_fractional(dtype):
        return ball
    magnitude = np.abs(ball.center)
    subnormal = (magnitude > 0) & (magnitude < smallest_normal(dtype))
    return Ball(ball.center, np.where(subnormal, ball.radius + magnitude, ball.radius)) if subnormal.any() else ball


def _finished(query: Query, ball: Ball) -> Ball:
    """Make radii that are NaN infinite, and let results that are flushed be zero.

    An infinity or NaN that exact operands give is exact; rules leave it unknown if it depends on the order of a sum.
    """
    radius = np.broadcast_to(np.asarray(ball.radius, np.float64), ball.center.shape)
    if not is_fractional(query.dtype):
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


class Propagation:
    """The balls of the results of ops in order, from those of values from elsewhere.

    If not `with_choices`, nothing is known of results that the spec leaves open.
    """

    def __init__(
        self, known: Callable[[Value], Ball], contract: Contract, evaluate: Evaluator, with_choices: bool = True
    ) -> None:
        self.balls: dict[Value, Ball] = {}
        self.count = 0  # ops so far
        self._known, self._contract, self._evaluate, self._with_choices = known, contract, evaluate, with_choices

    def extend(self, ops: Sequence[Operation]) -> None:
        """Add ops that follow the ones so far."""
        for op in ops:
            self.count += 1
            self.balls.update(zip(op.results, self._results(op)))

    def _results(self, op: Operation) -> Sequence[Ball]:
        if is_constant_op(op):
            return [exact(self._evaluate.constant(result)) for result in op.results]
        feeds = fed_to(op)
        operands = list(map(self.operand, feeds))
        found = transfer(op, feeds, operands, self._contract, self._evaluate)
        if self._with_choices or UNKNOWN in found:
            return found
        return [UNKNOWN] * len(found) if self._evaluate.choices(op, [ball.center for ball in operands]) else found

    def through(self, block: Block) -> list[Ball]:
        """Return the balls of what a block returns."""
        self.extend(block.operations[:-1])
        return list(map(self.operand, block.operations[-1].operands))

    def operand(self, value: Value) -> Ball:
        """Return the ball of a value where another op uses it."""
        if is_constant(value):
            return exact(self._evaluate.constant(value))
        return used(self.balls[value], value) if value in self.balls else self._known(value)


def propagation(arrays: Mapping[Value, Array], contract: Contract, evaluate: Evaluator) -> Propagation:
    """Return a propagation from known values, through results that the spec does not leave open."""
    return Propagation(lambda v: exact(arrays[v]) if v in arrays else UNKNOWN, contract, evaluate, with_choices=False)


def rule_of(query: Query) -> Rule:
    """Return the rule of a query's op; NoBound if there is none."""
    facts, values = query.facts, (*query.op.operands, *query.op.results)
    op_class = REGISTRY[query.op.name].op_class
    if any(map(_is_quantized, values)):
        return exactly if facts.arithmetic is Arithmetic.MOVES else quantized
    dtypes = [dtype_of(value) for value in values]
    if not any(map(is_fractional, dtypes)):
        return reductions.reduced if op_class in (Reduce, ReduceWindow) else exactly
    found = rule_for(op_class, facts, any(kind(dtype) == "complex" for dtype in dtypes))
    if found is None or (facts.arithmetic is Arithmetic.ALGORITHM and not query.is_exact):
        raise NoBound
    return found


def rule_for(op_class: type, facts: Facts, is_complex: bool) -> Rule | None:
    """Return the rule of a class of ops on floating-point or complex numbers, or else that of its facts; or None."""
    rules = _OF_COMPLEX if is_complex else _OF_REALS
    if facts.chooses:
        return selected
    if op_class in rules or facts.arithmetic is Arithmetic.MOVES:
        return rules.get(op_class, moved)
    if is_complex:
        return ball.complex_function if facts.arithmetic in (Arithmetic.FUNCTION, Arithmetic.ROUNDS) else None
    return _OF_ARITHMETIC.get(facts.arithmetic)


def _is_quantized(value: Value) -> bool:
    return isinstance(value.type, TensorType) and isinstance(value.type.element_type, QuantizedType)


# --- without rounding -----------------------------------------------------------------------------------------------


def exactly(query: Query) -> Ball:
    """An op on integers and booleans, or one whose result on known operands is unique: what the interpreter returns."""
    if query.op.regions and not all(map(is_exact_body, query.op.regions)):
        raise NoBound
    if query.facts.arithmetic is Arithmetic.OPEN:
        raise NoBound
    return Ball(query.ours, np.asarray(0.0 if query.is_exact else np.inf))


def largest_in_order(query: Query) -> Ball:
    """`top_k`, if equal elements have an order."""
    if not query.attributes["is_stable"]:
        raise NoBound
    return exactly(query)


def less_precise(query: Query) -> Ball:
    """`reduce_precision`, computed in the element type or a wider one: subnormals differ, and ties without mantissa."""
    made, wide = exactly(query), query.expected
    is_same = (made.center == wide) | (np.isnan(made.center) & np.isnan(wide))
    return Ball(made.center, np.where(is_same, made.radius, np.abs(made.center - wide)))


def quantized(query: Query) -> Ball:
    """An op on quantized tensors: at most one step from what the interpreter computes, as it rounds to a step."""
    if not query.is_exact or (query.op.regions and query.name != "reduce_window"):
        raise NoBound
    if not is_fractional(query.dtype):
        return Ball(query.ours, np.asarray(float(_is_quantized(query.op.results[query.index]))))
    return rounded(query, np.zeros(()), 2.0, query.ours)  # `uniform_dequantize`, computed in its own type


def bits(query: Query) -> Ball:
    """`bitcast_convert`: the bits of NaN are not known."""
    made = exactly(query)
    is_nan = any(s.kind in "fc" and np.isnan(s.center).any() for s in query.operands)
    return Ball(made.center, np.asarray(np.inf)) if is_nan else made


def moved(query: Query) -> Ball:
    """Data movement: radii move as the elements do."""
    if query.is_exact:
        return Ball(query.ours, np.zeros(()))
    is_open = not query.facts.chooses and not all(s.is_exact or s.kind in "fc" for s in query.operands)
    if is_open or not is_fractional(query.dtype):
        return stored(query, np.full(query.expected.shape, np.inf))
    radii = [np.broadcast_to(s.radius, s.center.shape) if s.kind in "fc" else s.center for s in query.operands]
    return stored(query, np.abs(query.wide(radii)))


def selected(query: Query) -> Ball:
    """`select`: as data movement, and unknown where the predicate is."""
    made = moved(query)
    uncertain = [s.radius for v, s in zip(query.values, query.operands) if v is query.op.operands[0]]
    return Ball(made.center, made.radius + sum(uncertain, np.zeros(())))


def same_radius(query: Query) -> Ball:
    """`negate`, `abs`, and what returns one of its operands: the largest radius of them."""
    radii = [s.radius for s in query.operands if s.kind in "fc"]
    radius = np.asarray(np.max(np.stack(np.broadcast_arrays(*radii)), axis=0))
    return stored(query, radius)


def steps(query: Query) -> Ball:
    """Monotone step functions (`floor`, `sign`, `convert` to integers): known where both ends give the same."""
    if query.is_exact and not is_fractional(query.dtype):
        return Ball(query.ours, np.zeros(()))
    radius, is_rounded = hull(query), is_fractional(query.dtype)
    return stored(query, radius) if is_rounded else Ball(query.expected, np.where(radius, np.inf, 0.0))


def compared(query: Query) -> Ball:
    """`compare`: unknown where the operands may be equal or in another order than their centers."""
    lhs, rhs = query.operand(0), query.operand(1)
    radius = lhs.radius + rhs.radius
    if query.is_exact:
        return Ball(query.ours, np.zeros(()))
    apart = np.abs(lhs.center - rhs.center) > radius
    return Ball(query.expected, np.where(apart | (radius == 0), 0.0, np.inf))


def converted(query: Query) -> Ball:
    """`convert`: rounds to floating-point types; a step function to integers, as all are from booleans and integers."""
    target = kind(query.dtype)
    if not is_fractional(query.dtype):
        made = steps(query)
        operand = query.operand(0)
        if target == "boolean":  # not monotone: only zero is false
            may_be_zero = (operand.radius > 0) & (np.abs(operand.center) <= operand.radius)
            return made.unknown_where(may_be_zero)
        info = ml_dtypes.iinfo(query.dtype)  # type: ignore[no-untyped-call]
        low, high = float(info.min) - 1, float(info.max) + 1
        inside = (operand.center - operand.radius > low) & (operand.center + operand.radius < high)
        return made.unknown_where(~inside)  # out of range: implementation-defined
    radius = query.operand(0).radius if query.values else np.zeros(())
    is_contained = _is_contained(dtype_of(query.op.operands[0]), query.dtype)
    return stored(query, radius) if is_contained else rounded(query, radius)


def _is_contained(source: DType, target: DType) -> bool:
    """Return whether one floating-point type has all numbers of another, so that no conversion rounds."""
    if kind(source) != "floating" or kind(target) != "floating":
        return False
    x, y = float_info(source), float_info(target)
    return bool(x.nmant <= y.nmant and x.maxexp <= y.maxexp and x.minexp - x.nmant >= y.minexp - y.nmant)


_OF_ARITHMETIC: dict[Arithmetic, Rule] = {
    Arithmetic.SELECTS: same_radius, Arithmetic.STEPS: steps, Arithmetic.EXACT: exactly,
    Arithmetic.FUNCTION: ball.function, Arithmetic.ROUNDS: ball.function,
}  # fmt: skip
_FOR_ALL: dict[type, Rule] = {
    Real: same_radius, Imag: same_radius, Convert: converted, Compare: compared, Add: ball.added,
    Subtract: ball.added, Multiply: ball.multiplied, Divide: ball.divided, Reduce: reductions.reduced,
    **dict.fromkeys((DotGeneral, Dot, Einsum, RaggedDot, Convolution), product_sum), UnaryEinsum: sums.einsum_of_one,
    Fft: sums.transformed, TriangularSolve: sums.solved, Cholesky: sums.factored,
}  # fmt: skip
_OF_REALS: dict[type, Rule] = {
    **_FOR_ALL,
    ReduceWindow: reductions.reduced, DynamicConv: product_sum, TopK: largest_in_order,
    **dict.fromkeys((Scatter, SelectAndScatter), reductions.scattered),
    **dict.fromkeys((BatchNormInference, BatchNormTraining), sums.normalised), BatchNormGrad: sums.gradients,
    Sort: reductions.ordered, BitcastConvert: bits, ReducePrecision: less_precise, Power: ball.power,
    Atan2: ball.angle, Logistic: ball.logistic, Rsqrt: ball.reciprocal_root,
}  # fmt: skip
_OF_COMPLEX: dict[type, Rule] = {
    **_FOR_ALL, Negate: same_radius, Abs: ball.magnitude, Sign: ball.complex_function,
}  # fmt: skip


def of_loop(op: Operation, balls: Balls, contract: Contract, evaluate: Evaluator) -> list[Ball]:
    """Return the balls of the results of a loop; NoBound if it is not known how often the body runs.

    Nothing is known of floating-point numbers in a loop that is long.
    """
    first = state = list(map(_inside(balls, contract, evaluate).operand, op.operands))
    condition, body = (region.block for region in op.regions)
    ops = [inner for block in (condition, body) for inner in block.operations]
    size = 8 * sum(prod(shape_of(r)) for inner in ops for r in inner.results if isinstance(r.type, TensorType))
    most = min(MOST_STEPS, MOST_BYTES // max(size, 1) * len(ops))
    for _ in range(0, max(most, 1), len(ops)):
        (goes_on,) = _inside(balls | dict(zip(condition.arguments, state)), contract, evaluate).through(condition)
        if not goes_on.is_exact:
            raise NoBound
        if not goes_on.center:
            return state
        state = _inside(balls | dict(zip(body.arguments, state)), contract, evaluate).through(body)
    return _exact_results(op, first, state, balls, evaluate)


def _inside(balls: Balls, contract: Contract, evaluate: Evaluator) -> Propagation:
    """Return a propagation through a region, from the balls of values outside of it."""
    return Propagation(lambda value: balls.get(value, UNKNOWN), contract, evaluate)


# --- long loops: what rounding cannot change ------------------------------------------------------------------------


def _exact_results(
    op: Operation, first: Sequence[Ball], state: Sequence[Ball], balls: Balls, evaluate: Evaluator
) -> list[Ball]:
    """Return what the interpreter computes for carries that depend on no rounding; NoBound if the condition does.

    `state` is that after a few turns: a carry of which nothing is certain then is not certain at the end.
    """
    kept = {i for i, (x, y) in enumerate(zip(first, state)) if x.is_exact and y.is_exact}
    outside = {value for value, ball in balls.items() if ball.is_exact}
    condition, body = (region.block for region in op.regions)
    while wrong := {i for i in kept if not _is_exact(body, body.operations[-1].operands[i], kept, outside)}:
        kept = kept - wrong
    if not _is_exact(condition, condition.operations[-1].operands[0], kept, outside):
        raise NoBound
    ours = evaluate(op, [balls[v].center.astype(dtype_of(v)) for v in fed_to(op)])
    if ours is None:
        raise NoBound
    return [exact(array) if i in kept else UNKNOWN for i, array in enumerate(ours)]


def _is_exact(block: Block, value: Value, kept: set[int], outside: set[Value]) -> bool:
    """Return whether a value is a carry that is kept, certain from outside, or computed from such without rounding."""
    ops = [op for op in slice_of(block.operations, value) if not is_constant_op(op)]
    if not all(map(_is_integral, (inner for op in ops for inner in op.walk()))):
        return False
    return all(v.index in kept if v.owner is block else v in outside for v in needed_by(ops, [value]))


def _is_integral(op: Operation) -> bool:
    """Return whether an op has only one legal result: one of integers and booleans that is not random."""
    types = (*op.operand_types, *op.result_types)
    integral = (isinstance(t, TensorType) and isinstance(t.element_type, IntegerType | BooleanType) for t in types)
    return all(integral) and facts_of(op).arithmetic not in (Arithmetic.OPEN, Arithmetic.UNKNOWN)
