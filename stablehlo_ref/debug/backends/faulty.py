"""`faulty:FAULT:OP[:TYPE]`: this interpreter with a fault, to try out and to measure how faults are found.

The fault is in all ops of a name, or in those whose first result has a type (`tensor<4xf32>`). With `fused-` before its
name, it is only in ops whose first operand is computed by an op that nothing else uses, as a faulty fusion has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.debug.cut import Flat, fed_to, is_constant, operands_of
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.loading import load
from stablehlo_ref.numerics.dtypes import kind

Again: TypeAlias = Callable[[Sequence[Array]], Array]  # evaluates the op on other operands
Fault: TypeAlias = Callable[[Array, Sequence[Array], Again], Array]  # from the right result to a wrong one


class Faulty:
    """Runs programs op by op, with a fault in the ops that match."""

    def __init__(self, fault: str, op: str, type: str) -> None:
        self.is_fused = fault.startswith("fused-")
        self.name = f"{fault} in {op}"
        self._fault = FAULTS[fault.removeprefix("fused-")]
        self._op, self._type = op, type

    def run(self, program: str, inputs: Sequence[Any]) -> list[Any]:
        flat = Flat(load(program))
        evaluate = Evaluator(flat)
        values: dict[Value, Array] = dict(zip(flat.arguments, inputs))
        uses = Counter(value for op in flat.ops for value in operands_of(op)) + Counter(flat.outputs)
        for op in flat.ops:
            operands = [evaluate.constant(v) if is_constant(v) else values[v] for v in fed_to(op)]
            results = evaluate(op, operands)
            if results is None:
                raise RuntimeError(f"cannot evaluate {op.name}")
            if self._matches(op, uses):
                again = _again(evaluate, op)
                results = [self._fault(results[0], operands, again).astype(results[0].dtype), *results[1:]]
            values.update(zip(op.results, results))
        return [values[value] for value in flat.outputs]

    def _matches(self, op: Operation, uses: Mapping[Value, int]) -> bool:
        if op.name != self._op or (self._type and str(op.results[0].type) != self._type):
            return False
        producer = op.operands[0].owner if op.operands else None
        is_inside = isinstance(producer, Operation) and not is_constant(op.operands[0]) and uses[op.operands[0]] == 1
        return is_inside or not self.is_fused


def _again(evaluate: Evaluator, op: Operation) -> Again:
    def run(operands: Sequence[Array]) -> Array:
        results = evaluate(op, operands)
        assert results is not None
        return results[0]

    return run


def backend(argument: str) -> Faulty:
    """Return the backend of `FAULT:OP[:TYPE]`; ValueError for an unknown fault."""
    fault, _, rest = argument.partition(":")
    op, _, type = rest.partition(":")
    if fault.removeprefix("fused-") not in FAULTS or not op:
        raise ValueError(f"expected faulty:FAULT:OP with a fault of {', '.join(FAULTS)}; got 'faulty:{argument}'")
    return Faulty(fault, op, type)


# --- wrong under every contract -------------------------------------------------------------------------------------


def _dropped(result: Array, operands: Sequence[Array], again: Again) -> Array:
    """The last element is not written."""
    wrong = result.copy()
    wrong[(-1,) * wrong.ndim] = 0
    return wrong


def _stale(result: Array, operands: Sequence[Array], again: Again) -> Array:
    """The last element has the value of the one before."""
    wrong = result.reshape(-1).copy()
    wrong[-1:] = wrong[-2:-1] if wrong.size > 1 else wrong + wrong.dtype.type(1)
    return wrong.reshape(result.shape)


def _shifted(result: Array, operands: Sequence[Array], again: Again) -> Array:
    """Elements are off by one along the last axis."""
    return np.roll(result, 1, -1) if result.ndim else result + result.dtype.type(1)


def _wrong_dimension(result: Array, operands: Sequence[Array], again: Again) -> Array:
    """The first axis runs backwards."""
    return np.flip(result, 0) if result.ndim else -result


def _swapped(result: Array, operands: Sequence[Array], again: Again) -> Array:
    """The first two operands are swapped."""
    return again([operands[1], operands[0], *operands[2:]])


def _negated(result: Array, operands: Sequence[Array], again: Again) -> Array:
    """The sign is wrong where an operand is negative."""
    return np.where(np.asarray(operands[0]) < 0, -result, result)


def _no_nan(result: Array, operands: Sequence[Array], again: Again) -> Array:
    """NaN is 0."""
    return np.where(np.isnan(result), np.zeros((), result.dtype), result)


def _scaled(result: Array, operands: Sequence[Array], again: Again) -> Array:
    """A factor of 1 + 2^-7."""
    return np.asarray(result.astype(np.float64) * (1 + 2.0**-7))


# --- wrong under a strict contract ----------------------------------------------------------------------------------


def _keeping(bits: int) -> Callable[[Array], Array]:
    """Return a function that rounds to nearest with `bits` of mantissa."""

    def rounded(x: Array) -> Array:
        mantissa, exponent = np.frexp(x.astype(np.float64))
        return np.ldexp(np.round(mantissa * 2.0**bits) / 2.0**bits, exponent).astype(x.dtype)

    return rounded


def _with_operands(rounded: Callable[[Array], Array]) -> Fault:
    def fault(result: Array, operands: Sequence[Array], again: Again) -> Array:
        return again([rounded(x) if kind(x.dtype) == "floating" else x for x in operands])

    return fault


def _truncated(result: Array, operands: Sequence[Array], again: Again) -> Array:
    """The result is rounded toward zero twice as far as its type has bits."""
    wide = result.astype(np.float64)
    return np.where(np.isfinite(wide), wide - np.sign(wide) * 2.0 * np.spacing(np.abs(result)).astype(np.float64), wide)


def _flushed(result: Array, operands: Sequence[Array], again: Again) -> Array:
    """Subnormal results are 0."""
    return np.where(np.abs(result) < np.finfo(result.dtype).tiny, np.zeros((), result.dtype), result)


def _flushed_operand(x: Array) -> Array:
    return np.where(np.abs(x) < np.finfo(np.float32).tiny, np.zeros((), x.dtype), x)


FAULTS: Mapping[str, Fault] = {
    "dropped": _dropped,
    "stale": _stale,
    "shifted": _shifted,
    "wrong-dimension": _wrong_dimension,
    "swapped": _swapped,
    "negated": _negated,
    "no-nan": _no_nan,
    "scaled": _scaled,
    "tf32": _with_operands(_keeping(11)),
    "bf16": _with_operands(_keeping(8)),
    "truncated": _truncated,
    "flushed": _flushed,
    "flushed-operand": _with_operands(_flushed_operand),
}
