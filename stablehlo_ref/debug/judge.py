"""Judge the result of an op that a backend returned, on the backend's own operands, under a contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from stablehlo_ref.debug.contract import PRESETS, Contract
from stablehlo_ref.debug.cut import fed_to, is_constant
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.rounding import largest, ulp
from stablehlo_ref.debug.shadow import Shadow, dtype_of, exact, transfer, widened
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.numerics.dtypes import FLOAT32, kind

DEPTH = 8  # ops that a backend may be taken to compute again in fused code


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
    special: str = ""  # "NaN", "infinity", "sign of zero" if that is what differs

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


class Judge:
    """Judges ops by the values that a backend returned for all of them."""

    def __init__(self, values: Mapping[Value, Array], contract: Contract, evaluate: Evaluator) -> None:
        self.values = values
        self.contract = contract
        self.evaluate = evaluate

    def __call__(self, op: Operation) -> Judgement:
        """Return the verdict on an op; NOT_JUDGED if values are missing or there is no bound."""
        feeds = fed_to(op)
        if not op.results or any(self._array(value) is None for value in (*feeds, *op.results)):
            return Judgement(op, Verdict.NOT_JUDGED)
        actual = [self.values[result] for result in op.results]
        ours = self.evaluate(op, [self._known(value) for value in feeds])
        if ours is not None and all(map(same_bits, actual, ours)):
            return Judgement(op, Verdict.SAME)
        found = self._excess(op, PRESETS["strict"])
        if found is None or not found:
            return Judgement(op, Verdict.NOT_JUDGED if found is None else Verdict.LEGAL)
        under_contract = self._excess(op, self.contract)
        if under_contract:
            return Judgement(op, Verdict.WRONG, excess=under_contract[0])
        if under_contract is None:
            return Judgement(op, Verdict.NOT_JUDGED)
        return Judgement(op, Verdict.PERMITTED, self._permissions(op), found[0])

    def bounds(self, op: Operation) -> list[Shadow] | None:
        """Return the widest bounds on the results of an op that the contract allows; None without bounds."""
        depth = DEPTH if self.contract.excess_precision else 1 if self.contract.fma else 0
        return self._shadows(op, self.contract, depth) or self._shadows(op, self.contract, 0)

    def known_bounds(self, op: Operation) -> list[Shadow] | None:
        """Return the bounds on the results of an op on its operands as the backend returned them."""
        return self._shadows(op, self.contract, 0)

    def _permissions(self, op: Operation) -> tuple[str, ...]:
        """Return each permission that alone makes an op legal, or all of the contract if none does."""
        each = list(self.contract.permissions())
        alone = tuple(text for text, contract in each if self._excess(op, contract) == [])
        return alone or tuple(text for text, _ in each)

    def _excess(self, op: Operation, contract: Contract) -> list[Excess] | None:
        """Return where results exceed their bounds under a contract; None without bounds."""
        shadows = self._shadows(op, contract, 0)
        if shadows is None:
            return None
        found = self._beyond(op, shadows, contract)
        if not found or not (contract.excess_precision or contract.fma):
            return found
        shadows = self._shadows(op, contract, DEPTH if contract.excess_precision else 1)
        return found if shadows is None else self._beyond(op, shadows, contract)

    def _beyond(self, op: Operation, shadows: Sequence[Shadow], contract: Contract) -> list[Excess]:
        pairs = zip(op.results, shadows)
        return [e for result, shadow in pairs if (e := excess_of(self.values[result], shadow, contract))]

    def _shadows(self, op: Operation, contract: Contract, depth: int) -> list[Shadow] | None:
        feeds = fed_to(op)
        operands = [self._operand(op, value, contract, depth) for value in feeds]
        return transfer(op, feeds, operands, contract, self.evaluate)

    def _operand(self, user: Operation, value: Value, contract: Contract, depth: int) -> Shadow:
        """Return what an operand may have been where it was used: `depth` ops may have been computed again there."""
        known = exact(self._known(value))
        op = value.owner
        if depth == 0 or not isinstance(op, Operation) or not _may_be_fused(op, user, contract):
            return known
        if op.name.partition(".")[2] in _NEVER_REPEATED:
            return _unrounded(known, value)
        shadows = (
            self._shadows(op, contract, depth - 1) if all(self._array(v) is not None for v in fed_to(op)) else None
        )
        if shadows is None:
            return known
        shadow = shadows[value.index]
        if kind(known.center.dtype) not in ("floating", "complex"):
            return Shadow(known.center, np.where(shadow.radius > 0, np.inf, 0.0))
        return _around(known, shadow)

    def _array(self, value: Value) -> Array | None:
        if value in self.values or not is_constant(value):
            return self.values.get(value)
        return self.evaluate.constant(value)

    def _known(self, value: Value) -> Array:
        array = self._array(value)
        assert array is not None
        return array


_NEVER_FUSED = ("while", "custom_call", "sort", "case", "if", "fft", "rng", "cholesky", "triangular_solve")


_NEVER_REPEATED = ("dot_general", "dot", "convolution", "reduce_window", "scatter", "select_and_scatter")


def _around(known: Shadow, again: Shadow) -> Shadow:
    """Return the shadow of an operand whose value may be the known one or one computed again.

    Nothing is known where only one of both is infinite or NaN: a narrow type may overflow where fused code does not.
    """
    with np.errstate(invalid="ignore"):
        radius = np.abs(again.center - known.center) + again.radius
    same = (again.center == known.center) | (np.isnan(again.center) & np.isnan(known.center))
    radius = np.where(same, again.radius, np.where(np.isfinite(radius), radius, np.inf))
    is_unknown = ~np.isfinite(known.center) & np.isinf(radius)
    return Shadow(np.where(is_unknown, 0.0, known.center), radius)


def _unrounded(known: Shadow, value: Value) -> Shadow:
    """Return what a sum of products in f32 may have been before it was rounded to a narrower type."""
    dtype = dtype_of(value)
    if kind(dtype) != "floating" or dtype.itemsize >= FLOAT32.itemsize:
        return known
    return Shadow(known.center, np.where(np.isfinite(known.center), 0.5 * ulp(np.abs(known.center), dtype), 0.0))


def _may_be_fused(op: Operation, user: Operation, contract: Contract) -> bool:
    name = op.name.partition(".")[2]
    if not contract.excess_precision:
        return name == "multiply" and user.name in ("stablehlo.add", "stablehlo.subtract")
    return name not in _NEVER_FUSED


def same_bits(actual: Array, expected: Array) -> bool:
    """Return whether two arrays have the same type, shape and bits; any NaN is like any other."""
    if (actual.shape, actual.dtype) != (expected.shape, expected.dtype):
        return False
    x, y = (np.ascontiguousarray(a).reshape(-1) for a in (actual, expected))
    if x.view(np.uint8).tobytes() == y.view(np.uint8).tobytes():
        return True
    if kind(actual.dtype) not in ("floating", "complex"):
        return False
    x, y = (widened(a).view(np.float64) for a in (x, y))
    return bool(np.all(((x == y) & (np.signbit(x) == np.signbit(y))) | (np.isnan(x) & np.isnan(y))))


def excess_of(actual: Array, shadow: Shadow, contract: Contract) -> Excess | None:
    """Return where an array is outside its shadow; None if it is inside."""
    if actual.shape != shadow.center.shape:
        return Excess(1, 1, (), f"shape {actual.shape}", f"shape {shadow.center.shape}", 0.0, "shape")
    with np.errstate(all="ignore"):
        wrong, apart = _wrong(actual, shadow, contract)
    count = int(np.count_nonzero(wrong))
    if not count:
        return None
    radius = np.broadcast_to(shadow.radius, actual.shape)
    badness = np.where(wrong, np.where(np.isfinite(apart), apart, np.finfo(np.float64).max), -1.0)
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(badness)), actual.shape))
    expected = shadow.center[index]
    return Excess(
        count, actual.size, index, actual[index], expected, float(radius[index]), _special(actual[index], expected)
    )


def _wrong(actual: Array, shadow: Shadow, contract: Contract) -> tuple[Array, Array]:
    """Return which elements are outside of their bounds, and how far they are from their centers."""
    x, center, radius = widened(actual), shadow.center, np.broadcast_to(shadow.radius, actual.shape)
    if kind(actual.dtype) not in ("floating", "complex"):
        differs = np.asarray(x != center)
        return differs & ~np.isinf(radius), differs.astype(np.float64)
    x_nan, c_nan = np.isnan(x), np.isnan(center)
    apart = np.where(x == center, 0.0, np.abs(x - center))
    inside = (apart <= radius) | (x_nan & c_nan) | np.isinf(radius)
    if not contract.nan_propagation:
        inside = inside | c_nan
    inside = inside | (
        np.isinf(center) & (np.abs(x) >= largest(actual.dtype)) & (np.sign(x.real) == np.sign(center.real))
    )
    if contract.signed_zeros and kind(actual.dtype) == "floating":
        zeros = (x == 0) & (center == 0) & (radius == 0)
        inside = inside & ~(zeros & (np.signbit(x) != np.signbit(center)))
    return ~inside, apart


def _special(actual: object, expected: object) -> str:
    x, y = (np.asarray(widened(np.asarray(v))) for v in (actual, expected))
    if x.dtype.kind not in "fc":
        return ""
    if np.isnan(x) or np.isnan(y):
        return "NaN"
    if np.isinf(x) or np.isinf(y):
        return "infinity"
    return "sign of zero" if x == y else ""
