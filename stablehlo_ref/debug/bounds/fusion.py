"""What a value may have been where fused code used it: as the backend returned it, or unrounded, or computed again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from stablehlo_ref.debug.bounds.ball import Ball, dtype_of, exact, ulp, used
from stablehlo_ref.debug.bounds.transfer import transfer
from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.cut import fed_to
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.define.definition import attributes_of, facts_of
from stablehlo_ref.define.facts import Fusion
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import FLOAT32, kind

MAX_BYTES = 1 << 29  # of balls that are kept


class FusedOperands:
    """The balls of values where fused code uses them, each computed once for a contract.

    `known` returns what the backend returned for a value, None if it did not.
    """

    def __init__(self, known: Callable[[Value], Array | None], evaluate: Evaluator) -> None:
        self._known = known
        self._evaluate = evaluate
        self._balls: dict[Contract, dict[Value, Ball]] = {}
        self._bytes = 0

    def of(self, value: Value, user: Operation, contract: Contract) -> Ball:
        """Return what an operand of `user` may have been there; the backend returned it."""
        if contract.excess_precision:
            return self._again(value, contract)
        array = self._known(value)
        assert array is not None
        if contract.fma and _is_contracted(value, user) and (made := self._unrounded_product(value, contract)):
            return _around(exact(array), made)
        return exact(array)

    def _again(self, value: Value, contract: Contract) -> Ball:
        """Return the ball of a value that may have been computed again, from operands that were computed again."""
        if self._bytes > MAX_BYTES:
            self._balls.clear()
            self._bytes = 0
        balls = self._balls.setdefault(contract, {})
        stack = [value]
        while stack:
            top = stack[-1]
            missing = [v for v in _inputs_of(top) if v not in balls] if top not in balls else []
            stack += missing
            if not missing:
                stack.pop()
                if top not in balls:
                    balls[top] = self._made(top, contract, balls)
                    self._bytes += balls[top].center.nbytes + balls[top].radius.nbytes
        return balls[value]

    def _made(self, value: Value, contract: Contract, balls: dict[Value, Ball]) -> Ball:
        array, op = self._known(value), value.owner
        if array is None:
            return Ball(np.zeros(()), np.asarray(np.inf))
        known = exact(array)
        if not isinstance(op, Operation) or _fusion(op) == "never":
            return known
        if not _is_repeated(op):
            return _unrounded(known, value)
        feeds = fed_to(op)
        if any(self._known(v) is None for v in feeds):
            return _unknown(known)
        found = transfer(op, feeds, [balls[v] for v in feeds], contract, self._evaluate)
        return _unknown(known) if found is None else _around(known, used(found[value.index], dtype_of(value)))

    def _unrounded_product(self, value: Value, contract: Contract) -> Ball | None:
        op = value.owner
        assert isinstance(op, Operation)
        arrays = [self._known(v) for v in fed_to(op)]
        operands = [exact(array) for array in arrays if array is not None]
        found = transfer(op, fed_to(op), operands, contract, self._evaluate) if len(operands) == len(arrays) else None
        return found[0] if found else None


def _fusion(op: Operation) -> Fusion:
    facts = facts_of(op)
    return "again" if facts is None else facts.fusion


def _is_repeated(op: Operation) -> bool:
    """Return whether fused code may compute an op again: products of vectors too, which are rewritten to `multiply`."""
    if op.name != "stablehlo.dot_general":
        return _fusion(op) == "again"
    sizes, attributes = [_size(value) for value in op.operands], attributes_of(op)
    batch, terms = (_size(op.operands[0], attributes[f"lhs_{of}_dimensions"]) for of in ("batching", "contracting"))
    return terms == 1 or min(sizes) <= batch * terms


def _size(value: Value, dimensions: Sequence[int] | None = None) -> int:
    """Return the number of elements of a value, or that along some dimensions."""
    assert isinstance(value.type, TensorType)
    shape = [n or 0 for n in value.type.shape]
    return prod(shape if dimensions is None else (shape[d] for d in dimensions))


def _is_contracted(value: Value, user: Operation) -> bool:
    """Return whether a fused multiply-add may compute a value and its user."""
    facts, op = facts_of(user), value.owner
    return facts is not None and facts.adds and isinstance(op, Operation) and op.name == "stablehlo.multiply"


def _inputs_of(value: Value) -> list[Value]:
    """Return what a value is computed again from."""
    op = value.owner
    if not isinstance(op, Operation) or _fusion(op) == "never" or not _is_repeated(op):
        return []
    return fed_to(op)


def _unknown(known: Ball) -> Ball:
    center = np.where(np.isfinite(known.center), known.center, 0) if known.center.dtype.kind in "fc" else known.center
    return Ball(center, np.full(known.center.shape, np.inf))


def _around(known: Ball, again: Ball) -> Ball:
    """Return the ball of an operand whose value may be the known one or one computed again.

    Nothing is known of one that may be infinite or finite: a narrow type may overflow where fused code does not.
    """
    if known.center.dtype.kind not in "fc":
        return Ball(known.center, np.where(again.radius > 0, np.inf, 0.0))
    with np.errstate(invalid="ignore"):
        radius = np.abs(again.center - known.center) + again.radius
    same = (again.center == known.center) | (np.isnan(again.center) & np.isnan(known.center))
    radius = np.where(same, again.radius, np.where(np.isfinite(radius), radius, np.inf))
    is_unknown = ~np.isfinite(known.center) & (radius > 0)
    return Ball(np.where(is_unknown, 0.0, known.center), np.where(is_unknown, np.inf, radius))


def _unrounded(known: Ball, value: Value) -> Ball:
    """Return what a sum of products in f32 may have been before it was rounded to a narrower type."""
    dtype = dtype_of(value)
    if kind(dtype) != "floating" or dtype.itemsize >= FLOAT32.itemsize:
        return known
    is_finite = np.isfinite(known.center)
    radius = np.where(is_finite, 0.5 * ulp(np.abs(known.center), dtype), np.where(np.isnan(known.center), 0.0, np.inf))
    return Ball(np.where(np.isinf(known.center), 0.0, known.center), radius)
