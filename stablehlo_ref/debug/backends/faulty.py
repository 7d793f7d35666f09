"""`faulty:FAULT:OP[:TYPE]`: this interpreter with a fault, to try out and to measure how faults are found.

The fault is in all ops of a name, or in those whose first result has a type (`tensor<4xf32>`). Prefixes say when:

- `fused-`: only in ops whose first operand is computed by an op that nothing else uses, as a faulty fusion has it.
- `unobserved-`: only where that operand is not an output of the program, however many ops use it.
- `odd-`: only if the size of the last dimension is odd. `large-`: only for more than 4,096 elements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.debug.backends.changes import CHANGES
from stablehlo_ref.debug.backends.faults import FAULTS as WRONG
from stablehlo_ref.debug.backends.faults import Case, Fault
from stablehlo_ref.debug.backends.imprecise import IMPRECISE
from stablehlo_ref.debug.backends.rewrites import REWRITES
from stablehlo_ref.debug.cut import Flat, fed_to, is_constant, operands_of
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.similar_ops import did_you_mean_op
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.loading import load
from stablehlo_ref.numerics.dtypes import BOOL

FAULTS: Mapping[str, Fault] = {**WRONG, **CHANGES, **REWRITES, **IMPRECISE}
CONDITIONS = ("fused", "unobserved", "odd", "large")
LARGE = 4096  # elements
_BLOCKS = ("stablehlo.while", "stablehlo.if", "stablehlo.case")


class Faulty:
    """Runs programs op by op, with a fault in the ops that match, also in the bodies of loops and branches."""

    def __init__(self, fault: str, op: str, type: str) -> None:
        self.name = f"{fault} in {op}"
        self._conditions, name = split(fault)
        self._fault = FAULTS[name]
        self._op, self._type = op, type

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
                results = self._evaluated(op, known, evaluate)
                if self._matches(op, uses, outputs):
                    index = next((i for i, value in enumerate(op.results) if uses[value] or value in outputs), 0)
                    case = Case(op, np.asarray(results[index]), known, values, evaluate, index)
                    results = list(results)
                    results[index] = self._fault(case).astype(results[index].dtype)
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

    def _matches(self, op: Operation, uses: Mapping[Value, int], outputs: Sequence[Value]) -> bool:
        if op.name != self._op or not op.results or (self._type and str(op.results[0].type) != self._type):
            return False
        return all(_holds(condition, op, uses, outputs) for condition in self._conditions)


def _holds(condition: str, op: Operation, uses: Mapping[Value, int], outputs: Sequence[Value]) -> bool:
    if condition in ("odd", "large"):
        shape = op.results[0].type.shape if isinstance(op.results[0].type, TensorType) else ()
        if condition == "odd":
            return bool(shape) and (shape[-1] or 0) % 2 == 1
        return prod(n or 0 for n in shape) > LARGE
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


def backend(argument: str) -> Faulty:
    """Return the backend of `FAULT:OP[:TYPE]`; ValueError for an unknown fault or op."""
    fault, _, rest = argument.partition(":")
    op, _, type = rest.partition(":")
    if split(fault)[1] not in FAULTS or not op:
        raise ValueError(f"expected faulty:FAULT:OP with a fault of {', '.join(FAULTS)}; got 'faulty:{argument}'")
    if op not in REGISTRY:
        raise ValueError(f"unknown op {op!r}{did_you_mean_op(op, ())}")
    return Faulty(fault, op, type)
