"""`python:tests.faulty:FAULT:OP[:TYPE]`: the backend that is this interpreter with a fault.

The fault is in all ops of a name, or in those whose first result has a type (`tensor<4xf32>`). Prefixes say when:

- `fused-`: only in ops whose first operand is computed by an op that nothing else uses, as a faulty fusion has it.
- `unobserved-`: only where that operand is not an output of the program, however many ops use it.
- `odd-`: only if the size of the last dimension is odd.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.debug.cut import Flat, fed_to, is_constant, operands_of
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import BOOL, float_info, kind
from stablehlo_ref.reading.loading import load

CONDITIONS = ("fused", "unobserved", "odd")
_OTHERS = {"add": "subtract", "multiply": "add", "tanh": "sine", "maximum": "minimum"}
Uses: TypeAlias = tuple[Mapping[Value, int], Sequence[Value]]  # how many ops use a value, and the outputs
_BLOCKS = ("stablehlo.while", "stablehlo.if", "stablehlo.case")


@dataclass(frozen=True)
class Case:
    """An op with its right result and its operands."""

    op: Operation
    result: Array
    operands: Mapping[Value, Array]
    evaluate: Evaluator
    index: int  # of the result

    def on(self, change: Callable[[Array], Array], values: Sequence[Value]) -> Array:
        """Return the result with some operands changed, where they are floating-point numbers."""
        is_float = {value: kind(self.operands[value].dtype) == "floating" for value in values if value in self.operands}
        changed = {value: change(self.operands[value]) for value, changes in is_float.items() if changes}
        return self._run(self.op, {**self.operands, **changed})

    def renamed(self, name: str) -> Array:
        """Return the result of another op; the right one if that is not a valid op."""
        op = copy(self.op)
        op.name = name
        return self._run(op, self.operands)

    def _run(self, op: Operation, operands: Mapping[Value, Array]) -> Array:
        results = self.evaluate(op, [operands[value] for value in fed_to(op)])
        return self.result if results is None else np.asarray(results[self.index])


Fault: TypeAlias = Callable[[Case], Array]  # returns a wrong result


def _dropped(case: Case) -> Array:
    """The last element is not written."""
    wrong = case.result.copy()
    wrong[(-1,) * wrong.ndim] = 0
    return wrong


def _shifted(case: Case) -> Array:
    """Elements are off by one along the last axis."""
    return np.roll(case.result, 1, -1) if case.result.ndim else case.result + case.result.dtype.type(1)


def _scaled(case: Case) -> Array:
    """A factor of 1 + 2^-7."""
    return np.asarray(case.result.astype(np.float64) * (1 + 2.0**-7))


def _off_by_one(case: Case) -> Array:
    return np.asarray(case.result + case.result.dtype.type(1))


def _no_nan(case: Case) -> Array:
    """NaN is 0."""
    return np.where(np.isnan(case.result), np.zeros((), case.result.dtype), case.result)


def _flushed(case: Case) -> Array:
    """Subnormal results are 0."""
    if kind(case.result.dtype) != "floating":
        return case.result
    tiny = 2.0 ** float_info(case.result.dtype).minexp
    return np.where(np.abs(case.result.astype(np.float64)) < tiny, np.zeros((), case.result.dtype), case.result)


def _truncated(case: Case) -> Array:
    """The result is rounded toward zero twice as far as its type has bits."""
    if kind(case.result.dtype) != "floating":
        return case.result
    wide = case.result.astype(np.float64)
    spacing = np.spacing(np.abs(case.result)).astype(np.float64)
    return np.where(np.isfinite(wide), wide - np.sign(wide) * 2.0 * spacing, wide)


def _wrong_op(case: Case) -> Array:
    name = case.op.mnemonic
    return case.renamed(f"stablehlo.{_OTHERS[name]}") if name in _OTHERS else case.result


def _last_term(case: Case) -> Array:
    """The last element of the contracted or reduced axis of the first operand is left out."""
    properties = case.op.properties
    axes: Sequence[int] = properties.get("lhs_contracting_dimensions") or properties.get("dimensions") or (-1,)

    def without_last(operand: Array) -> Array:
        wrong = operand.copy()
        wrong[(slice(None),) * (axes[-1] % wrong.ndim) + (-1,)] = 0
        return wrong

    return case.on(without_last, case.op.operands[:1])


def _with_operands_of(bits: int) -> Fault:
    """Operands are rounded to `bits` of mantissa."""

    def rounded(operand: Array) -> Array:
        mantissa, exponent = np.frexp(operand.astype(np.float64))
        return np.ldexp(np.round(mantissa * 2.0**bits) / 2.0**bits, exponent).astype(operand.dtype)

    return lambda case: case.on(rounded, case.op.operands)


FAULTS: Mapping[str, Fault] = {
    "dropped": _dropped,
    "shifted": _shifted,
    "scaled": _scaled,
    "off-by-one": _off_by_one,
    "no-nan": _no_nan,
    "flushed": _flushed,
    "truncated": _truncated,
    "wrong-op": _wrong_op,
    "last-term": _last_term,
    "tf32": _with_operands_of(11),
    "bf16": _with_operands_of(8),
}


class OpByOp:
    """Runs programs op by op, also in the bodies of loops and branches, and may change the results of each op."""

    def changed(
        self, op: Operation, known: Mapping[Value, Array], results: Sequence[Array], evaluate: Evaluator, uses: Uses
    ) -> Sequence[Array]:
        """Return the results of an op on known operands; `uses` says what uses values."""
        raise NotImplementedError

    def run(self, program: str, inputs: Sequence[Any]) -> list[Any]:
        flat = Flat(load(program))
        values: dict[Value, Array] = dict(zip(flat.arguments, inputs))
        return self._run_ops(flat.ops, flat.outputs, values, Evaluator(flat))

    def _run_ops(
        self, ops: Sequence[Operation], outputs: Sequence[Value], values: dict[Value, Array], evaluate: Evaluator
    ) -> list[Array]:
        uses = Counter(value for op in ops for value in operands_of(op))
        for op in ops:
            if op.name in _BLOCKS:
                results: Sequence[Array] = self._run_region(op, values, evaluate)
            else:
                known = {value: evaluate.value(value, values) for value in fed_to(op)}
                results = self.changed(op, known, self._evaluated(op, known, evaluate), evaluate, (uses, outputs))
            values.update(zip(op.results, results))
        return [evaluate.value(value, values) for value in outputs]

    def _evaluated(self, op: Operation, known: Mapping[Value, Array], evaluate: Evaluator) -> Sequence[Array]:
        results = evaluate(op, list(known.values()))
        if results is None:
            raise RuntimeError(f"cannot evaluate {op.name}")
        return results

    def _run_region(self, op: Operation, values: dict[Value, Array], evaluate: Evaluator) -> Sequence[Array]:
        """Run a loop, or the branch that is taken."""
        state = [evaluate.value(value, values) for value in op.operands]
        if op.name != "stablehlo.while":
            (index,) = state
            count = len(op.regions)
            branch = 1 - int(index) if count == 2 and index.dtype == BOOL else int(index)
            return self._run_block(op, branch if 0 <= branch < count else count - 1, (), values, evaluate)
        while self._run_block(op, 0, state, values, evaluate)[0]:
            state = self._run_block(op, 1, state, values, evaluate)
        return state

    def _run_block(
        self, op: Operation, index: int, state: Sequence[Array], values: dict[Value, Array], evaluate: Evaluator
    ) -> list[Array]:
        block = op.regions[index].block
        values.update(zip(block.arguments, state))
        *ops, terminator = block.operations
        return self._run_ops(ops, terminator.operands, values, evaluate)


class Faulty(OpByOp):
    """Has a fault in the ops that match."""

    def __init__(self, fault: str, op: str, type: str) -> None:
        self.name = f"{fault} in {op}"
        self._conditions, name = split(fault)
        self._fault = FAULTS[name]
        self._op, self._type = op, type

    def changed(
        self, op: Operation, known: Mapping[Value, Array], results: Sequence[Array], evaluate: Evaluator, uses: Uses
    ) -> Sequence[Array]:
        if not self._matches(op, *uses):
            return results
        index = next((i for i, value in enumerate(op.results) if uses[0][value] or value in uses[1]), 0)
        case = Case(op, np.asarray(results[index]), known, evaluate, index)
        found = list(results)
        found[index] = self._fault(case).astype(found[index].dtype)
        return found

    def _matches(self, op: Operation, uses: Mapping[Value, int], outputs: Sequence[Value]) -> bool:
        if op.name != self._op or not op.results or (self._type and str(op.results[0].type) != self._type):
            return False
        return all(_holds(condition, op, uses, outputs) for condition in self._conditions)


def _holds(condition: str, op: Operation, uses: Mapping[Value, int], outputs: Sequence[Value]) -> bool:
    if condition == "odd":
        shape = op.results[0].type.shape if isinstance(op.results[0].type, TensorType) else ()
        return bool(shape) and (shape[-1] or 0) % 2 == 1
    operand = op.operands[0] if op.operands else None
    if operand is None or not isinstance(operand.owner, Operation) or is_constant(operand) or operand in outputs:
        return False
    return condition == "unobserved" or uses[operand] == 1


def split(fault: str) -> tuple[list[str], str]:
    """Return the conditions before the name of a fault, and the name."""
    conditions = []
    while (first := fault.partition("-"))[0] in CONDITIONS and first[1]:
        conditions.append(first[0])
        fault = first[2]
    return conditions, fault


def __getattr__(name: str) -> Any:
    """Return the function of the backend `FAULT:OP[:TYPE]`; ValueError for an unknown fault or op."""
    fault, colon, rest = name.partition(":")
    if not colon:
        raise AttributeError(name)
    op, _, type = rest.partition(":")
    if split(fault)[1] not in FAULTS or op not in REGISTRY or op in _BLOCKS:
        raise ValueError(f"expected a fault of {', '.join(FAULTS)} and an op without blocks, got {name!r}")
    return Faulty(fault, op, type).run
