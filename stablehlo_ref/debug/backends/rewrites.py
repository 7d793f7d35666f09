"""Faults of rewrites that join an op with one that computes its operand, as in public reports of wrong results."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stablehlo_ref.debug.backends.faults import Case, Fault
from stablehlo_ref.debug.cut import is_constant
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value


def _producer(case: Case, index: int, name: str) -> Operation | None:
    owner = case.op.operands[index].owner
    return owner if isinstance(owner, Operation) and owner.name == name else None


def _value(case: Case, value: Value) -> Array:
    return case.evaluate.constant(value) if is_constant(value) else case.values[value]


def _inverse(case: Case) -> Array:
    """`log(exponential(x))` is x also where the exponential overflows (openxla/xla#42732)."""
    inner = _producer(case, 0, "stablehlo.exponential")
    return case.result if inner is None else _value(case, inner.operands[0])


def _nested_slices(case: Case) -> Array:
    """The start of a slice of a slice is not clamped before both are joined (openxla/xla#49121)."""
    inner = _producer(case, 0, "stablehlo.dynamic_slice")
    if inner is None:
        return case.result
    outer = _value(case, inner.operands[0])
    starts = [
        int(np.clip(int(_value(case, x)) + int(_value(case, y)), 0, n - m))
        for x, y, n, m in zip(inner.operands[1:], case.op.operands[1:], outer.shape, case.result.shape)
    ]
    return outer[tuple(slice(start, start + n) for start, n in zip(starts, case.result.shape))]


def _in_place(case: Case) -> Array:
    """An update that is a slice of the operand is read after elements of it are overwritten (openxla/xla#49176)."""
    inner = _producer(case, 1, "stablehlo.slice")
    if inner is None or inner.operands[0] is not case.op.operands[0]:
        return case.result
    wrong, source = case.operand(0).copy(), inner.properties["start_indices"]
    update = case.operand(1)
    starts = [int(np.clip(int(_value(case, v)), 0, n - m)) for v, n, m in
              zip(case.op.operands[2:], wrong.shape, update.shape)]  # fmt: skip
    to, of = (tuple(slice(s, s + n) for s, n in zip(first, update.shape[1:])) for first in (starts[1:], source[1:]))
    for index in range(update.shape[0]):
        wrong[starts[0] + index][to] = wrong[source[0] + index][of]
    return wrong


REWRITES: Mapping[str, Fault] = {
    "inverse": _inverse,
    "nested-slices": _nested_slices,
    "in-place": _in_place,
}
