"""Faults that are wrong under every contract, as changes of a right result: elements that are dropped, stale or moved.

A fault maps the right result of an op to a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.debug.cut import fed_to
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value


@dataclass(frozen=True)
class Case:
    """An op with its right result and operands, and the values of the ops before it."""

    op: Operation
    result: Array
    operands: Mapping[Value, Array]
    values: Mapping[Value, Array]
    evaluate: Evaluator
    index: int = 0  # of the result

    def operand(self, index: int) -> Array:
        """Return an operand by its number."""
        return self.operands[self.op.operands[index]]

    def on(self, changed: Mapping[Value, Array]) -> Array:
        """Return the result for other operands."""
        return self._run(self.op, {**self.operands, **changed})

    def changed(self, name: str = "", **properties: object) -> Array:
        """Return the result of the op with another name or properties; the right one if that is not a valid op."""
        op = copy(self.op)
        op.name, op.properties = name or op.name, {**op.properties, **properties}
        return self._run(op, self.operands)

    def again(self, op: Operation, operands: Mapping[Value, Array]) -> Array:
        return self._run(op, operands)

    def _run(self, op: Operation, operands: Mapping[Value, Array]) -> Array:
        results = self.evaluate(op, [operands[value] for value in fed_to(op)])
        return self.result if results is None else np.asarray(results[self.index])

    def property(self, name: str) -> Any:
        return self.op.properties.get(name)


Fault: TypeAlias = Callable[[Case], Array]
OnResult: TypeAlias = Callable[[Array], Array]


def _of_result(change: OnResult) -> Fault:
    return lambda case: change(case.result)


def _dropped(result: Array) -> Array:
    """The last element is not written."""
    wrong = result.copy()
    wrong[(-1,) * wrong.ndim] = 0
    return wrong


def _dropped_row(result: Array) -> Array:
    """The last row is not written."""
    wrong = result.copy()
    wrong[-1:] = 0
    return wrong if result.ndim else np.zeros_like(result)


def _stale(result: Array) -> Array:
    """The last element has the value of the one before."""
    wrong = result.reshape(-1).copy()
    wrong[-1:] = wrong[-2:-1] if wrong.size > 1 else wrong + wrong.dtype.type(1)
    return wrong.reshape(result.shape)


def _stale_tail(result: Array) -> Array:
    """The rest of a loop in steps of 8 has the values of the step before."""
    wrong = result.reshape(-1).copy()
    rest = (wrong.size >= 16 and wrong.size % 8) or min(8, wrong.size // 2)
    wrong[wrong.size - rest :] = wrong[wrong.size - 2 * rest : wrong.size - rest]
    return wrong.reshape(result.shape)


def _shifted(result: Array) -> Array:
    """Elements are off by one along the last axis."""
    return np.roll(result, 1, -1) if result.ndim else result + result.dtype.type(1)


def _flipped(result: Array) -> Array:
    """The first axis runs backwards."""
    return np.flip(result, 0) if result.ndim else -result


def _transposed(result: Array) -> Array:
    """The result is stored in column-major order."""
    return result.T.reshape(result.shape)


def _first_batch(result: Array) -> Array:
    """Each index of the first axis has the values of the first."""
    return np.broadcast_to(result[:1], result.shape).copy() if result.ndim else result


def _no_nan(result: Array) -> Array:
    """NaN is 0."""
    return np.where(np.isnan(result), np.zeros((), result.dtype), result)


def _saturated(result: Array) -> Array:
    """Infinities are the largest finite numbers."""
    return np.nan_to_num(result, nan=np.nan)


def _scaled(result: Array) -> Array:
    """A factor of 1 + 2^-7."""
    return np.asarray(result.astype(np.float64) * (1 + 2.0**-7))


def _rounded_down(result: Array) -> Array:
    """A float is rounded down to an integer where it is larger than 1."""
    return np.where(np.abs(result) > 1, np.floor(result.astype(np.float64)), result.astype(np.float64))


def _off_by_one(result: Array) -> Array:
    return np.asarray(result + result.dtype.type(1))


def _swapped(case: Case) -> Array:
    """The first two operands are swapped."""
    first, second = case.op.operands[:2]
    return case.on({first: case.operands[second], second: case.operands[first]})


def _negated(case: Case) -> Array:
    """The sign is wrong where an operand is negative."""
    first = case.operand(0)
    return np.where(first < 0, -case.result, case.result) if first.shape == case.result.shape else -case.result


def _last_term(case: Case) -> Array:
    """The last element of the contracted or reduced axis of the first operand is left out."""
    axes: Sequence[int] = case.property("lhs_contracting_dimensions") or case.property("dimensions") or (-1,)
    first = case.op.operands[0]
    wrong = case.operands[first].copy()
    wrong[(slice(None),) * (axes[-1] % wrong.ndim) + (-1,)] = 0
    return case.on({first: wrong})


FAULTS: Mapping[str, Fault] = {
    "dropped": _of_result(_dropped),
    "dropped-row": _of_result(_dropped_row),
    "stale": _of_result(_stale),
    "stale-tail": _of_result(_stale_tail),
    "shifted": _of_result(_shifted),
    "wrong-dimension": _of_result(_flipped),
    "wrong-layout": _of_result(_transposed),
    "first-batch": _of_result(_first_batch),
    "no-nan": _of_result(_no_nan),
    "saturated": _of_result(_saturated),
    "scaled": _of_result(_scaled),
    "rounded-down": _of_result(_rounded_down),
    "off-by-one": _of_result(_off_by_one),
    "swapped": _swapped,
    "negated": _negated,
    "last-term": _last_term,
}
