"""Outputs that no op explains: beyond the bound of the whole program, or far beyond what rounding makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from stablehlo_ref.debug.cut import Flat
from stablehlo_ref.debug.fused import Composed, distance
from stablehlo_ref.debug.judge import NO_BOUND, Excess, Judge, Judgement, Verdict, excess_of, same_bits
from stablehlo_ref.debug.rules import NOT_UNIQUE
from stablehlo_ref.debug.sensitivity import Sensitivity, limits_of
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.program import Program

FAR = 2.0  # times the largest distance of runs with larger errors
MOST = 4  # ops without a bound that are compared with runs that round at random


@dataclass(frozen=True)
class Beyond:
    """An output that is beyond the bound of the whole program, or far beyond rounding if there is no `excess`."""

    output: int
    excess: Excess | None

    def __str__(self) -> str:
        if self.excess is None:
            return f"output {self.output} is not explained by rounding"
        return f"output {self.output} is beyond the bound of the whole program: {self.excess}"


def beyond(
    program: Program,
    flat: Flat,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    ours: Sequence[Array],
    judge: Judge,
    judgements: Sequence[Judgement],
    sensitivities: Sequence[Sensitivity],
) -> Iterator[Beyond]:
    """Yield the outputs that neither the bounds of all ops in a row nor rounding at random explain."""
    explained = {s.output for s in sensitivities if s.is_explained}
    unsure = [i for i, (x, y) in enumerate(zip(outputs, ours)) if i not in explained and not same_bits(x, y)]
    if not unsure:
        return
    whole = Composed(dict(zip(flat.arguments, inputs)), judge.contract, judge.evaluate)
    whole.extend(flat.ops)
    limits: list[float] = []
    for index in unsure:
        value = flat.outputs[index]
        shadow = whole.shadows.get(value)
        excess = None if shadow is None else excess_of(outputs[index], shadow, judge.contract)
        is_bounded = shadow is not None and not np.isinf(shadow.radius).any()
        if excess or is_bounded:
            yield from [Beyond(index, excess)] if excess else []
            continue
        limits = limits or limits_of(program, inputs, ours, judge.contract)
        is_far = distance(outputs[index], ours[index]) > FAR * limits[index]
        if is_far and not _is_open(flat, inputs, value, judge, judgements):
            yield Beyond(index, None)


def _is_open(flat: Flat, inputs: Sequence[Array], value: Value, judge: Judge, judgements: Sequence[Judgement]) -> bool:
    """Return whether a value may depend on a result that is not unique: the spec leaves it open, or it is random."""
    verdicts = {j.op: j.verdict for j in judgements}
    needed = [op for op in flat.slice_of(0, len(flat.ops), value) if verdicts.get(op) is not Verdict.SAME]
    if any(map(_is_random, needed)) or any(judge.is_open(op) for op in needed if op in verdicts):
        return True
    return bool(judge.evaluate.choices_of(flat.program, inputs))


def _is_random(op: Operation) -> bool:
    return any(inner.name.partition(".")[2] in NOT_UNIQUE for inner in op.walk() if not _is_unique_call(inner))


def _is_unique_call(op: Operation) -> bool:
    """Return whether a custom call has one result in exact arithmetic: eigenvectors and the like have any sign."""
    target = op.properties.get("call_target_name")
    return isinstance(target, str) and not any(part in target.lower() for part in _DECOMPOSITIONS)


_DECOMPOSITIONS = ("syev", "heev", "gesdd", "gesvd", "geev", "gees", "eigh", "svd", "qdwh", "jacobi", "rng", "threefry")


def far_from_rounding(judge: Judge, judgements: Sequence[Judgement]) -> Iterator[Operation]:
    """Yield ops without a bound whose results, on the backend's operands, are far beyond what rounding makes."""
    unjudged = [j.op for j in judgements if j.reason == NO_BOUND and not _is_random(j.op)]
    for op in unjudged[:MOST]:
        made = judge.evaluate.segment(op)
        feeds, actual = [judge.operand(v) for v in made.feeds], [judge.values[r] for r in op.results]
        ours = judge.evaluate(op, feeds)
        if ours is None or judge.is_open(op):
            continue
        limits = limits_of(made.program, feeds, ours, judge.contract, perturbs=True)
        if any(distance(x, y) > FAR * limit for x, y, limit in zip(actual, ours, limits)):
            yield op
