"""Judge the result of an op that a backend returned, on the backend's own operands, under a contract."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from itertools import islice
from math import prod

import numpy as np

from stablehlo_ref.debug.bounds.ball import (
    UNKNOWN,
    Ball,
    dtype_of,
    exact,
    largest,
    overflow_threshold,
    overflowed,
    shape_of,
    smallest_normal,
    ulp,
    used,
)
from stablehlo_ref.debug.bounds.transfer import aligned_operands, is_broadcasting, transfer
from stablehlo_ref.debug.contract import PRESETS, Contract
from stablehlo_ref.debug.cut import BRANCHES, LOOP, fed_to, is_constant
from stablehlo_ref.debug.evaluate import Evaluator, checked, same_bits, widened
from stablehlo_ref.debug.session import Session
from stablehlo_ref.define.definition import attributes_of, facts_of, traits_of
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.numerics.dtypes import FLOAT32, has_infinity, is_fractional, kind

MOST = 3  # ops that are run alone
NO_BOUND = "no bound"  # why an op is not judged
_RECENT = 4  # balls of ops under a contract that are kept
MAX_BYTES = 1 << 29  # of balls that are kept
_TRIED = 8  # wrong elements of which the spec may leave nothing open


class Verdict(Enum):
    """What is said of an op; only `WRONG` is a fault."""

    SAME = "bit for bit what the interpreter computes"
    LEGAL = "within the rounding errors of the strict contract"
    PERMITTED = "legal only under permissions of the contract"
    WRONG = "certainly wrong"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Excess:
    """Where a value exceeds its bound: the number of elements, and the worst with its expected value and bound."""

    count: int
    size: int
    index: tuple[int, ...]
    actual: object
    expected: object
    bound: float
    special: str = ""  # "NaN", "infinity", "sign of zero", "subnormal" if that is what differs

    def __str__(self) -> str:
        where = f"[{', '.join(map(str, self.index))}]"
        bound = "exactly" if not self.bound else f"within {self.bound:.3g} of it"
        label = f" ({self.special})" if self.special else ""
        values = f"got {self.actual}, expected {self.expected} {bound}"
        return f"{self.count} of {self.size} elements{label}; at {where} {values}"


@dataclass(frozen=True)
class Judgement:
    """The verdict on an op, the permissions that make it legal, and where it is wrong."""

    op: Operation
    verdict: Verdict
    permissions: tuple[str, ...] = ()
    excess: Excess | None = None
    reason: str = ""  # why it is not judged


class Judge:
    """Judges ops by the values that a backend returned for all of them."""

    def __init__(self, values: Mapping[Value, Array], contract: Contract, evaluate: Evaluator) -> None:
        self.values = values
        self.contract = contract
        self.evaluate = evaluate
        self._balls = lru_cache(_RECENT)(self._find_balls)  # verdicts and reports ask for them again
        self._again: dict[Contract, dict[Value, Ball]] = {}  # what values may be if they are computed again
        self._bytes = 0  # of these

    def __call__(self, op: Operation) -> Judgement:
        """Return the verdict on an op; NOT_JUDGED, and why, if values are missing or there is no bound."""
        if not op.results or not self.knows(op):
            return Judgement(op, Verdict.NOT_JUDGED, reason="values are missing")
        ours = self.evaluate(op, self.operands(op))
        if ours is not None and all(map(same_bits, self._results(op), ours)):
            return Judgement(op, Verdict.SAME)
        strict = self._excess(op, PRESETS["strict"])
        if strict == []:
            return Judgement(op, Verdict.LEGAL)
        found = self._excess(op, self.contract)
        if found is None:
            return Judgement(op, Verdict.NOT_JUDGED, reason=NO_BOUND)
        if not found:
            return Judgement(op, Verdict.PERMITTED, self._permissions(op), strict[0] if strict else None)
        choices = self.evaluate.choices(op, self.operands(op))
        excess = self._decided_excess(op) if choices else found[0]
        if excess is None:
            return Judgement(op, Verdict.NOT_JUDGED, excess=found[0], reason=f"the spec leaves it open: {choices[0]}")
        return Judgement(op, Verdict.WRONG, excess=excess)

    def _decided_excess(self, op: Operation) -> Excess | None:
        """Return where an elementwise op is wrong at an element of which the spec leaves nothing open."""
        if not (traits_of(op).elementwise or is_broadcasting(op)):
            return None
        operands, actual = self.operands(op), self.values[op.results[0]]
        aligned = list(aligned_operands(op, dict(zip(fed_to(op), operands))).values())
        if any(array.shape != actual.shape for array in aligned):
            return None
        (ball,) = self.bounds(op)
        for _ in range(_TRIED):
            if (found := excess_of(actual, ball, self.contract)) is None:
                return None
            alike = [np.full_like(array, each[found.index]) for array, each in zip(operands, aligned)]
            if not self.evaluate.choices(op, alike):
                return found
            radius = np.broadcast_to(ball.radius, actual.shape).copy()
            radius[found.index] = np.inf
            ball = replace(ball, radius=radius)
        return None

    def bounds(self, op: Operation) -> list[Ball]:
        """Return the widest bounds on the results of an op that the contract allows."""
        fused = self._balls(op, self.contract, self.contract.fuses)
        return self.known_bounds(op) if UNKNOWN in fused else fused

    def known_bounds(self, op: Operation) -> list[Ball]:
        """Return the bounds on the results of an op on its operands as the backend returned them."""
        return self._balls(op, self.contract, False)

    def unknown_excess(self, op: Operation) -> Excess | None:
        """Return where results exceed the bounds on known operands, and fused code has none."""
        if not self.knows(op):
            return None
        known, fused = self.known_bounds(op), self._balls(op, self.contract, self.contract.fuses)
        radii = [np.where(np.isinf(f.radius), k.radius, np.inf) for k, f in zip(known, fused)]
        balls = [replace(ball, radius=radius) for ball, radius in zip(known, radii)]
        return next(iter(excesses(self._results(op), balls, self.contract)), None)

    def is_open(self, op: Operation) -> bool:
        """Return whether an op has results that are not unique on its operands, and that differ."""
        if not self.knows(op):
            return False
        if self.evaluate.choices(op, self.operands(op)):
            return True
        if op.name in (LOOP, *BRANCHES):
            return False
        ours, bounds = self.evaluate(op, self.operands(op)) or [], self.known_bounds(op)
        if UNKNOWN in bounds:  # NaN for what the type rounds to 0, such as a small epsilon, need not be NaN
            wide = self.evaluate(op, self.operands(op), wide=True) or []
            return any(np.any(np.isfinite(w) & ~np.isfinite(widened(x))) for x, w in zip(ours, wide))
        results = zip(self._results(op), ours, bounds)
        return any(np.any(np.isinf(s.radius) & (widened(x) != widened(y))) for x, y, s in results)

    def _permissions(self, op: Operation) -> tuple[str, ...]:
        """Return each permission that alone makes an op legal, or all of the contract if none does."""
        each = list(self.contract.permissions())
        alone = tuple(text for text, contract in each if self._excess(op, contract) == [])
        return alone or tuple(text for text, _ in each)

    def _excess(self, op: Operation, contract: Contract) -> list[Excess] | None:
        """Return where results exceed their bounds under a contract; None without bounds."""
        found = self._beyond(op, self._balls(op, contract, False), contract)
        return self._beyond(op, self._balls(op, contract, True), contract) if found and contract.fuses else found

    def _beyond(self, op: Operation, balls: Sequence[Ball], contract: Contract) -> list[Excess] | None:
        """Return where results are outside of their balls; None if nothing is known of one, and none is outside."""
        found = excesses(self._results(op), balls, contract)
        is_unknown = any(ball.center.size and np.all(np.isinf(ball.radius)) for ball in balls)
        return None if is_unknown and not found else found

    def _find_balls(self, op: Operation, contract: Contract, fused: bool) -> list[Ball]:
        """Return the balls of results on operands as the backend returned them, or as fused code may have them."""
        feeds = fed_to(op)
        operands = [self._fused(v, op, contract) if fused else self._known(v) for v in feeds]
        if fused and all(operand.is_exact for operand in operands):
            return self._balls(op, contract, False)
        return transfer(op, feeds, operands, contract, self.evaluate)

    def knows(self, op: Operation) -> bool:
        """Return whether the values of an op's operands and results are known."""
        return all(value in self.values or is_constant(value) for value in (*fed_to(op), *op.results))

    def operands(self, op: Operation) -> list[Array]:
        """Return what an op is fed (`fed_to`), of an op whose values are known."""
        return [self.evaluate.value(value, self.values) for value in fed_to(op)]

    def _results(self, op: Operation) -> list[Array]:
        return [self.values[result] for result in op.results]

    def _known(self, value: Value) -> Ball:
        """Return the ball of a value as the backend returned it; UNKNOWN if it did not."""
        is_known = value in self.values or is_constant(value)
        return exact(self.evaluate.value(value, self.values)) if is_known else UNKNOWN

    # --- what a value may have been where fused code used it: as it was returned, unrounded, or computed again ------

    def _fused(self, value: Value, user: Operation, contract: Contract) -> Ball:
        """Return the ball of a returned value as `user` may have read it, which may be from before it was rounded."""
        if contract.excess_precision:
            return self._computed_again(value, contract)
        known, op = self._known(value), value.owner
        if contract.fma and facts_of(user).adds and isinstance(op, Operation) and op.name == "stablehlo.multiply":
            (product,) = transfer(op, fed_to(op), list(map(self._known, fed_to(op))), contract, self.evaluate)
            return known if product is UNKNOWN else _around(known, product)
        return known

    def _computed_again(self, value: Value, contract: Contract) -> Ball:
        """Return the ball of a value that may have been computed again, from operands that were computed again."""
        if self._bytes > MAX_BYTES:
            self._again.clear()
            self._bytes = 0
        balls = self._again.setdefault(contract, {})
        stack = [] if value in balls else [value]
        while stack:
            if missing := [v for v in _inputs_of(stack[-1]) if v not in balls]:
                stack += missing
            elif (top := stack.pop()) not in balls:
                balls[top] = made = self._made(top, contract, balls)
                self._bytes += made.center.nbytes + made.radius.nbytes
        return balls[value]

    def _made(self, value: Value, contract: Contract, balls: Mapping[Value, Ball]) -> Ball:
        known, op = self._known(value), value.owner
        if known is UNKNOWN or not isinstance(op, Operation) or facts_of(op).fusion == "never":
            return known
        if not _is_repeated(op):
            return _unrounded(known, value)
        feeds = fed_to(op)
        found = transfer(op, feeds, [balls[v] for v in feeds], contract, self.evaluate)
        return _around(known, used(found[value.index], value))


def excesses(results: Sequence[Array], balls: Sequence[Ball], contract: Contract) -> list[Excess]:
    """Return where arrays are outside of their balls."""
    return [found for x, ball in zip(results, balls) if (found := excess_of(x, ball, contract))]


def excess_of(actual: Array, ball: Ball, contract: Contract) -> Excess | None:
    """Return where an array is outside its ball; None if it is inside."""
    if ball is UNKNOWN:
        return None
    if actual.shape != ball.center.shape:
        return Excess(1, 1, (), f"shape {actual.shape}", f"shape {ball.center.shape}", 0.0, "shape")
    ball = _representable(overflowed(ball, actual.dtype), actual.dtype)
    errors = errors_of(actual, ball.center)
    with np.errstate(all="ignore"):
        wrong = ~_is_inside(actual, errors, ball, contract)
    count = int(np.count_nonzero(wrong))
    if not count:
        return None
    radius = np.broadcast_to(ball.radius, actual.shape)
    badness = np.where(wrong, np.minimum(errors, np.finfo(np.float64).max), -1.0)
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(badness)), actual.shape))
    expected = ball.center[index]
    return Excess(
        count, actual.size, index, actual[index], expected, float(radius[index]), _special(actual[index], expected)
    )


def _representable(ball: Ball, dtype: DType) -> Ball:
    """Return a ball of which nothing is known where it has what the type lacks: NaN, infinities, zero."""
    if kind(dtype) != "floating" or dtype.itemsize > 1:
        return ball
    center = ball.center
    with np.errstate(all="ignore"):
        is_open = ~np.isfinite(center) & np.isfinite(center.astype(dtype).astype(np.float64))
        if np.isnan(np.zeros(()).astype(dtype)):
            is_open |= center <= ball.radius
    return ball.unknown_where(is_open)


def errors_of(actual: Array, center: Array) -> Array:
    """Return the distances of elements from their centers: 0 if both are NaN, infinite if one of them is special."""
    x = widened(actual)
    if not is_fractional(actual.dtype):
        apart = np.abs(x.astype(np.float64) - center.astype(np.float64))
        return np.where(x == center, 0.0, np.maximum(apart, 1.0))
    with np.errstate(all="ignore"):
        same, apart = (x == center) | (np.isnan(x) & np.isnan(center)), np.abs(x - center)
    return np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart))


def _is_inside(actual: Array, errors: Array, ball: Ball, contract: Contract) -> Array:
    """Return which elements are within their bounds."""
    x, center, radius = widened(actual), ball.center, np.broadcast_to(ball.radius, actual.shape)
    inside = (errors <= radius) | np.isinf(radius)
    if not is_fractional(actual.dtype):
        return np.asarray(inside)
    inside = inside | _overflows(x, center, radius, actual.dtype)
    if not contract.nan_propagation:
        inside = inside | np.isnan(center)
    if contract.signed_zeros and kind(actual.dtype) == "floating":
        zeros = (x == 0) & (center == 0) & (radius == 0)
        inside = inside & ~(zeros & (np.signbit(x) != np.signbit(center)))
    return np.asarray(inside)


def _overflows(x: Array, center: Array, radius: Array, dtype: DType) -> Array:
    """Return which results have overflowed where a legal result does: to infinity, in any part of a complex number.

    What a type without infinities has instead is open: NaN, or the largest number.
    """
    top, beyond = largest(dtype), overflow_threshold(dtype)
    if kind(dtype) == "complex":
        return np.asarray(np.isinf(x) & (np.isinf(center) | (np.abs(center) + radius >= beyond)))
    upward, downward = center + radius >= beyond, center - radius <= -beyond
    if has_infinity(dtype):
        return np.asarray((upward & (x == np.inf)) | (downward & (x == -np.inf)))
    return np.asarray((upward & ((x == top) | np.isnan(x))) | (downward & ((x == -top) | np.isnan(x))))


def _special(actual: Array, expected: object) -> str:
    """Return how the result differs if it is not by a number: "NaN", "infinity", "sign of zero" or "subnormal"."""
    x, y = (np.asarray(widened(np.asarray(v))) for v in (actual, expected))
    if x.dtype.kind not in "fc":
        return ""
    if np.isnan(x) or np.isnan(y):
        return "NaN"
    if np.isinf(x) or np.isinf(y):
        return "infinity"
    if x == y:
        return "sign of zero"
    return "subnormal" if max(abs(x), abs(y)) < smallest_normal(actual.dtype) else ""


def wrong_in_isolation(judge: Judge, judgements: Sequence[Judgement], session: Session) -> Iterator[Judgement]:
    """Yield the verdicts on ops that only fused code may explain, and that are wrong alone, on the same operands.

    An op in a program of its own has nothing before it that could be computed again or left unrounded, so that the
    bounds on its operands as the backend returned them hold.
    """
    doubtful = (j for j in judgements if j.verdict is Verdict.PERMITTED or j.reason == NO_BOUND)
    for judgement in islice((j for j in doubtful if judge.unknown_excess(j.op)), MOST):
        made = judge.evaluate.subprogram(judgement.op)
        outcome = checked(session.run(made.text, judge.operands(judgement.op)), made.wanted)
        if found := excesses(outcome.results, judge.known_bounds(judgement.op), judge.contract):
            yield replace(judgement, verdict=Verdict.WRONG, permissions=(), excess=found[0], reason="")


# --- what fused code may compute again -------------------------------------------------------------------------------


def _is_repeated(op: Operation) -> bool:
    """Return whether fused code may compute an op again: products of vectors too, which are rewritten to `multiply`."""
    if op.name != "stablehlo.dot_general":
        return facts_of(op).fusion == "again"
    sizes, attributes = [_size(value) for value in op.operands], attributes_of(op)
    batch, terms = (_size(op.operands[0], attributes[f"lhs_{of}_dimensions"]) for of in ("batching", "contracting"))
    return terms == 1 or min(sizes) <= batch * terms


def _size(value: Value, dimensions: Sequence[int] | None = None) -> int:
    """Return the number of elements of a value, or that along some dimensions."""
    shape = shape_of(value)
    return prod(shape if dimensions is None else (shape[d] for d in dimensions))


def _inputs_of(value: Value) -> list[Value]:
    """Return what a value is computed again from."""
    op = value.owner
    return fed_to(op) if isinstance(op, Operation) and _is_repeated(op) else []


def _around(known: Ball, again: Ball) -> Ball:
    """Return the ball of an operand whose value may be the known one or one computed again.

    Nothing is known of one that may be infinite or finite: a narrow type may overflow where fused code does not.
    """
    if known.kind not in "fc":
        return known.unknown_where(again.radius > 0)
    with np.errstate(invalid="ignore"):
        radius = np.abs(again.center - known.center) + again.radius
    same = (again.center == known.center) | (np.isnan(again.center) & np.isnan(known.center))
    radius = np.where(same, again.radius, np.where(np.isfinite(radius), radius, np.inf))
    return Ball(known.center, radius).unknown_where(~np.isfinite(known.center) & (radius > 0))


def _unrounded(known: Ball, value: Value) -> Ball:
    """Return what a sum of products in f32 may have been before it was rounded to a narrower type."""
    dtype = dtype_of(value)
    if kind(dtype) != "floating" or dtype.itemsize >= FLOAT32.itemsize:
        return known
    radius = np.where(np.isnan(known.center), 0.0, 0.5 * ulp(np.abs(known.center), dtype))
    return Ball(known.center, radius).unknown_where(np.isinf(known.center))
