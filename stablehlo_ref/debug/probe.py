"""Run an op again on small integers, for which every legal order of operations gives the same bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stablehlo_ref.debug.contract import DOT_ALGORITHMS, Contract
from stablehlo_ref.debug.cut import Flat, fed_to, is_constant, single
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.judge import Excess, excess_of, same_bits
from stablehlo_ref.debug.regions import recognised
from stablehlo_ref.debug.rounding import accumulator_dtype, unit_roundoff
from stablehlo_ref.debug.session import Outcome, Session
from stablehlo_ref.debug.shadow import dtype_of, exact
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.numerics.dtypes import kind

_EXACT = (
    "add", "subtract", "multiply", "negate", "abs", "maximum", "minimum", "select", "clamp", "compare", "dot_general",
    "dot", "convolution", "transpose", "reshape", "broadcast_in_dim", "slice", "concatenate", "pad", "reverse",
    "dynamic_slice", "dynamic_update_slice", "gather", "floor", "ceil", "sign", "convert",
)  # fmt: skip
_BODIES = ("add", "maximum", "minimum", "second")


@dataclass(frozen=True)
class Probed:
    """What the backend returned for an op alone: `differs` from the only legal bits, or not, or it failed."""

    op: Operation
    differs: bool = False
    excess: Excess | None = None
    failure: Outcome | None = None


def probe(
    flat: Flat, op: Operation, arrays: Mapping[Value, Array], contract: Contract, session: Session, evaluate: Evaluator
) -> Probed | None:
    """Return how the backend computes an op alone on small integers; None for an op that has no such test.

    Indices and other integers are those in `arrays`.
    """
    inputs = probe_inputs(op, arrays, contract, evaluate)
    expected = None if inputs is None else evaluate(op, inputs)
    if inputs is None or expected is None:
        return None
    outcome = session.run(str(single(flat, op).program), inputs)
    if outcome.failure:
        return Probed(op, failure=outcome)
    for actual, wanted in zip(outcome.results, expected):
        if not same_bits(actual, wanted) and (found := excess_of(actual, exact(wanted), contract)):
            return Probed(op, True, found)
    return Probed(op)


def probe_inputs(
    op: Operation, arrays: Mapping[Value, Array], contract: Contract, evaluate: Evaluator
) -> list[Array] | None:
    """Return integers, as the op's types, whose sums of magnitudes are exact in each type that may hold them."""
    name = op.name.partition(".")[2]
    bodies = [recognised(region) for region in op.regions]
    if name not in _EXACT and not (bodies and bodies[-1] in _BODIES and len(op.results) == 1):
        return None
    bound = _largest_exact(op, contract)
    draw = np.random.default_rng(0)
    for limit in _limits(_largest_factor(contract)):
        inputs = [_drawn(draw, value, arrays, limit, evaluate) for value in fed_to(op)]
        if any(array is None for array in inputs):
            return None
        known = [array for array in inputs if array is not None]
        totals = evaluate(op, [np.abs(a) if kind(a.dtype) == "floating" else a for a in known], wide=True)
        if totals is not None and all(np.max(np.abs(total), initial=0) <= bound for total in totals):
            return known
    return None


def _limits(largest: int) -> Sequence[float]:
    """Return bounds on magnitudes from large to small; below 1 they are the share of elements that are not 0."""
    return [float(largest >> k) for k in range(largest.bit_length())] + [2.0**-k for k in range(1, 12)]


def _largest_factor(contract: Contract) -> int:
    """Return an integer below which operands keep all bits under the contract's algorithm of dots, at most 64."""
    roundoff = DOT_ALGORITHMS[contract.dot_algorithm].roundoff
    return min(64, int(0.5 / roundoff)) if roundoff else 64


def _largest_exact(op: Operation, contract: Contract) -> float:
    """Return the integer up to which each type of a result, and of partial sums, has all integers."""
    dtypes = [dtype_of(value) for value in (*op.operands, *op.results)]
    bounds = [
        1 / unit_roundoff(t)
        for d in dtypes
        if kind(d) == "floating"
        for t in (d, accumulator_dtype(d, contract.accumulator))
    ]
    return min(bounds, default=1.0)


def _drawn(
    draw: np.random.Generator, value: Value, arrays: Mapping[Value, Array], limit: float, evaluate: Evaluator
) -> Array | None:
    dtype = dtype_of(value)
    known = evaluate.constant(value) if is_constant(value) else arrays.get(value)
    if known is None or kind(dtype) == "complex":
        return None
    if kind(dtype) != "floating":
        return known
    top = max(int(limit), 1)
    numbers = draw.integers(-top, top + 1, known.shape) * (draw.random(known.shape) < min(limit, 1.0))
    return np.asarray(numbers).astype(dtype)
