"""Faults of precision: wrong under a strict contract, and legal under one that permits them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import ml_dtypes
import numpy as np

from stablehlo_ref.debug.backends.faults import Case, Fault
from stablehlo_ref.debug.cut import fed_to, is_constant
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.numerics.dtypes import FLOAT64, float_info, kind


def keeping(bits: int) -> Callable[[Array], Array]:
    """Return a function that rounds to nearest with `bits` of mantissa."""

    def rounded(x: Array) -> Array:
        mantissa, exponent = np.frexp(x.astype(np.float64))
        return np.ldexp(np.round(mantissa * 2.0**bits) / 2.0**bits, exponent).astype(x.dtype)

    return rounded


def _with_operands(rounded: Callable[[Array], Array]) -> Fault:
    def fault(case: Case) -> Array:
        return case.on({v: rounded(x) for v, x in case.operands.items() if kind(x.dtype) == "floating"})

    return fault


def _bf16_parts(case: Case) -> Array:
    """A product as three of parts of bf16: the product of the low parts is left out."""
    first, second = case.op.operands[:2]
    parts = []
    for value in (first, second):
        high = case.operands[value].astype(ml_dtypes.bfloat16).astype(np.float32)
        low = (case.operands[value] - high).astype(ml_dtypes.bfloat16).astype(np.float32)
        parts.append((high, low))
    (a, b), (c, d) = parts
    return sum((case.on({first: x, second: y}) for x, y in ((b, c), (a, d))), case.on({first: a, second: c}))


def _truncated(case: Case) -> Array:
    """The result is rounded toward zero twice as far as its type has bits."""
    wide = case.result.astype(np.float64)
    spacing = np.spacing(np.abs(case.result)).astype(np.float64)
    return np.where(np.isfinite(wide), wide - np.sign(wide) * 2.0 * spacing, wide)


def _off_by_ulps(ulps: float) -> Fault:
    def fault(case: Case) -> Array:
        wide = case.result.astype(np.float64)
        spacing = np.spacing(np.abs(case.result)).astype(np.float64)
        return np.where(np.isfinite(wide), wide - ulps * np.sign(wide) * spacing, wide)

    return fault


def _flush(x: Array) -> Array:
    tiny = 2.0 ** float_info(x.dtype).minexp
    return np.where(np.abs(x.astype(np.float64)) < tiny, np.zeros((), x.dtype), x)


def _f16_sum(case: Case) -> Array:
    """Partial sums along the last axis that is summed are in f16, in blocks: the result has f16's precision."""
    return case.result.astype(np.float16).astype(case.result.dtype)


def _unrounded(case: Case) -> Array:
    """The op and those that compute its operands are one, without roundings in between."""
    wide = {v: _wide_value(case, v.owner, x) for v, x in case.operands.items() if kind(x.dtype) == "floating"}
    results = case.evaluate(case.op, [wide.get(v, x) for v, x in case.operands.items()], wide=True)
    return case.result if results is None else np.asarray(results[0])


def _wide_value(case: Case, op: object, rounded: Array) -> Array:
    """Return a result before it was rounded, computed from its op's operands."""
    if not isinstance(op, Operation) or op.name.partition(".")[2] not in _FUSED:
        return rounded.astype(FLOAT64)
    fed = [case.evaluate.constant(v) if is_constant(v) else case.values[v] for v in fed_to(op)]
    results = case.evaluate(op, fed, wide=True)
    return rounded.astype(FLOAT64) if results is None else results[0]


_FUSED = ("add", "subtract", "multiply", "divide", "convert", "broadcast_in_dim", "exponential", "negate", "reshape")


def _fma(case: Case) -> Array:
    """A product is used unrounded by an addition."""
    first, second = case.op.operands[:2]
    for product, other in ((first, second), (second, first)):
        op = product.owner
        if isinstance(op, Operation) and op.name == "stablehlo.multiply" and product is not other:
            factors = [case.evaluate.constant(v) if is_constant(v) else case.values[v] for v in op.operands]
            x, y, z = (array.astype(np.float64) for array in (*factors, case.operands[other]))
            if case.op.name == "stablehlo.subtract":
                return np.asarray(x * y - z if product is first else z - x * y)
            return np.asarray(x * y + z)
    return case.result


IMPRECISE: Mapping[str, Fault] = {
    "tf32": _with_operands(keeping(11)),
    "bf16": _with_operands(keeping(8)),
    "bf16x3": _bf16_parts,
    "truncated": _truncated,
    "4-ulps": _off_by_ulps(4.0),
    "flushed": lambda case: _flush(case.result),
    "flushed-operand": _with_operands(_flush),
    "f16-sum": _f16_sum,
    "unrounded": _unrounded,
    "fma": _fma,
}
