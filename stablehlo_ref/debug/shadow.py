"""Worst-case bounds on what a legal backend computes: each value as a center and a radius around it.

`transfer` maps the shadows of an op's operands to those of its results under a contract. If the radii of operands are
zero, as they are for values that a backend returned, the radius of a result bounds the rounding errors of this op
alone; composed over several ops, it bounds those of a fused group. All bounds are worst cases, in exact arithmetic up
to roundings of f64 that are accounted for: those of sums hold for each order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.cut import is_constant
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.rounding import largest, smallest_normal
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import has_infinity, kind, numpy_dtype
from stablehlo_ref.program import Program

TINY = 5e-324  # the radius of an infinite center that is an overflow


@dataclass(frozen=True)
class Shadow:
    """Where the value of a legal run lies: within `radius` of `center`, per element.

    The center is in f64 or complex128 for floating-point types, else in the value's own type. The radius is in f64 and
    broadcasts; it is infinite where nothing is known, not even whether the value is NaN. A center that is NaN is
    certain if its radius is finite. One that is infinite is certain if its radius is 0; else it is an overflow, as is a
    center beyond the largest number, and unrounded values may be finite.
    """

    center: Array
    radius: Array

    @property
    def is_exact(self) -> bool:
        return not np.any(self.radius)


Evaluate: TypeAlias = Callable[[Sequence[Array]], Array]  # an op in f64, on arrays for its operands


@dataclass(frozen=True)
class Site:
    """What a rule may use: the op, its dtypes, the contract, and ways to evaluate the op."""

    op: Operation
    values: Sequence[Value]  # that the op is fed
    operands: Sequence[Shadow]
    index: int  # of the result
    dtype: DType  # of the result
    contract: Contract
    wide: Evaluate
    plain: Evaluate
    evaluate: Evaluator

    @property
    def name(self) -> str:
        return self.op.name.partition(".")[2]

    def operand(self, index: int) -> Shadow:
        """Return the shadow of an operand by its number."""
        value = self.op.operands[index]
        if value not in self.values and is_constant(value):
            return exact(self.evaluate.constant(value))
        return self.operands[self.values.index(value)]

    def body(self, index: int) -> Program:
        """Return the program of a region by its number; Unknown if it uses values from outside."""
        try:
            return self.evaluate.body(self.op, index).program
        except KeyError as error:
            raise Unknown from error

    @property
    def centers(self) -> list[Array]:
        return [operand.center for operand in self.operands]

    @property
    def is_exact(self) -> bool:
        return all(operand.is_exact for operand in self.operands)


class Unknown(Exception):
    """There is no bound for this op."""


def exact(array: Array) -> Shadow:
    """Return the shadow of a value that is known."""
    return Shadow(widened(array), np.zeros((), np.float64))


def widened(array: Array) -> Array:
    name = kind(array.dtype)
    if name in ("floating", "complex"):
        with np.errstate(invalid="ignore"):  # of signalling NaNs
            return array.astype(np.complex128 if name == "complex" else np.float64)
    return array


def dtype_of(value: Value) -> DType:
    if not isinstance(value.type, TensorType):
        raise Unknown
    return numpy_dtype(value.type.element_type)


def transfer(
    op: Operation, values: Sequence[Value], operands: Sequence[Shadow], contract: Contract, evaluate: Evaluator
) -> list[Shadow] | None:
    """Return the shadows of an op's results; None if there is no rule for the op.

    `values` are what the op is fed (`fed_to`), and `operands` their shadows.
    """
    from stablehlo_ref.debug.control_flow import BRANCHES, LOOP, of_branch, of_loop  # in terms of this module
    from stablehlo_ref.debug.rules import rule_of

    try:
        if op.name in BRANCHES:
            return of_branch(op, dict(zip(values, operands)), contract, evaluate)
        if op.name == LOOP:
            return of_loop(op, dict(zip(values, operands)), contract, evaluate)
        dtypes = [dtype_of(value) for value in values]
        shadows = [_flushed(s, dtype, contract) for s, dtype in zip(operands, dtypes)]
        made = []
        for index, result in enumerate(op.results):
            site = Site(
                op, values, shadows, index, dtype_of(result), contract,
                _evaluation(evaluate, op, index, True), _evaluation(evaluate, op, index, False),
                evaluate,
            )  # fmt: skip
            with np.errstate(all="ignore"):
                made.append(_finished(site, rule_of(site)(site)))
        return made
    except Unknown:
        return None


def _evaluation(evaluate: Evaluator, op: Operation, index: int, wide: bool) -> Evaluate:
    def run(arrays: Sequence[Array]) -> Array:
        results = evaluate(op, arrays, wide)
        if results is None:
            raise Unknown
        return results[index]

    return run


def _flushed(shadow: Shadow, dtype: DType, contract: Contract) -> Shadow:
    """Let subnormal operands be zero, if the contract does."""
    if not contract.flush_subnormals or kind(dtype) not in ("floating", "complex"):
        return shadow
    magnitude = np.abs(shadow.center)
    subnormal = (magnitude > 0) & (magnitude < smallest_normal(dtype))
    return (
        Shadow(shadow.center, np.where(subnormal, shadow.radius + magnitude, shadow.radius))
        if subnormal.any()
        else shadow
    )


def _finished(site: Site, shadow: Shadow) -> Shadow:
    """Make radii that are NaN infinite, and let results that are flushed be zero.

    An infinity or NaN that exact operands give is exact; rules leave it unknown if it depends on the order of a sum.
    """
    radius = np.broadcast_to(np.asarray(shadow.radius, np.float64), shadow.center.shape)
    if kind(site.dtype) not in ("floating", "complex"):
        return Shadow(shadow.center, np.where(np.isnan(radius), np.inf, radius))
    surely = site.is_exact & ~np.isfinite(shadow.center) & ~np.isinf(radius)
    radius = np.where(np.isnan(radius), np.inf, radius)
    if not site.is_exact:  # then the sign of zero is not known
        radius = np.where((radius == 0) & (shadow.center == 0), TINY, radius)
    if site.contract.flush_subnormals:
        magnitude, tiny = np.abs(shadow.center), smallest_normal(site.dtype)
        may_be_flushed = (magnitude - radius < tiny) & (magnitude + radius > 0)
        radius = np.where(may_be_flushed, radius + tiny, radius)
    return Shadow(shadow.center, np.where(surely, np.minimum(radius, TINY), radius))


def overflowed(shadow: Shadow, dtype: DType) -> Shadow:
    """Return the shadow of a value that is rounded to its type: infinite where each legal result overflows."""
    if kind(dtype) != "floating" or not has_infinity(dtype):
        return shadow
    radius = np.broadcast_to(shadow.radius, shadow.center.shape)
    with np.errstate(invalid="ignore"):
        overflows = (np.abs(shadow.center) - radius > largest(dtype)) & ~np.isinf(radius)
    if not overflows.any():
        return shadow
    return Shadow(
        np.where(overflows, np.copysign(np.inf, shadow.center), shadow.center),
        np.where(overflows, 0.0, radius),
    )


def used(shadow: Shadow, dtype: DType) -> Shadow:
    """Return the shadow of an operand in fused code, which may or may not overflow as its type does."""
    if kind(dtype) not in ("floating", "complex"):
        return shadow
    with np.errstate(invalid="ignore"):
        beyond = np.abs(shadow.center) + shadow.radius > largest(dtype)
    is_unknown = beyond & ~(np.isinf(shadow.center) & (shadow.radius == 0))
    if not is_unknown.any():
        return shadow
    return Shadow(np.where(is_unknown, 0.0, shadow.center), np.where(is_unknown, np.inf, shadow.radius))
