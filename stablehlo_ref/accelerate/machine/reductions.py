"""Reductions of small tensors in machine code, in the order in which their kernels combine elements.

The schedule of the kernels (algorithms/reduction_schedule.py) runs once on the numbers of elements, with a body that
records which numbers it combines. Each call of the body becomes an instruction on vectors, or a few.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np

from stablehlo_ref.accelerate.machine.assembly import Assembly, Kind, NotCompiled, Register, literal
from stablehlo_ref.accelerate.machine.elementwise import elementwise
from stablehlo_ref.algorithms.exact_reductions import exact_addition
from stablehlo_ref.algorithms.reduction_schedule import Arrays, Combine, planned
from stablehlo_ref.define.computation import RegionFunction
from stablehlo_ref.define.spec import element_type
from stablehlo_ref.execute.liveness import captured
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation, Region
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.ops.constants import elements_of

_CONSTANT = "stablehlo.constant"


class Recorder(Combine):
    """A body on the numbers of elements: it gives each result a new number, and keeps what it has combined."""

    def __init__(self, body: RegionFunction, count: int) -> None:
        self.folds_left = not body.is_associative
        self.each = self._record
        self.steps: list[tuple[Array, Array]] = []
        self._count = count

    def _record(self, lhs: Array, rhs: Array) -> Arrays:
        lhs, rhs = np.broadcast_arrays(lhs, rhs)
        self.steps.append((lhs.reshape(-1), rhs.reshape(-1)))
        self._count += lhs.size
        return [np.arange(self._count - lhs.size, self._count).reshape(lhs.shape)]


def reduced(
    code: Assembly,
    op: Operation,
    body: RegionFunction,
    operands: Sequence[Register],
    shape: Sequence[int],
    canonical: Set[Operation],
) -> list[Register]:
    """Append the instructions of a reduction of arrays of a shape; return its results.

    Those of `canonical` make NaNs canonical.
    """
    if exact_addition(body) or [x.kind.dtype for x in operands] * 2 != _dtypes(body) * 2:
        raise NotCompiled(op.name)
    inputs, inits = operands[: len(operands) // 2], operands[len(operands) // 2 :]
    size = inputs[0].kind.count
    recorder = Recorder(body, size + 1)
    reduction = planned(recorder, shape, tuple(sorted(op.properties["dimensions"])))
    (result,) = reduction([np.asarray(size)], [np.arange(size).reshape(shape)])
    registers = [[x, init] for x, init in zip(inputs, inits)]
    places = [*((0, n) for n in range(size)), (1, 0)]  # of each number: the register, and the element in it
    for lhs, rhs in recorder.steps:
        arguments = [_gathered(code, r, places, side) for side in (lhs, rhs) for r in registers]
        places += [(len(registers[0]), n) for n in range(lhs.size)]
        for made, computed in zip(registers, applied(code, op.regions[0], arguments, canonical)):
            made.append(computed)
    return [_gathered(code, r, places, np.reshape(result, -1)) for r in registers]


def _dtypes(body: RegionFunction) -> list[DType]:
    """Return the dtypes of the arguments of a body."""
    return [numpy_dtype(element_type(t)) for t in body.function_type.inputs]


def _gathered(
    code: Assembly, registers: Sequence[Register], places: Sequence[tuple[int, int]], numbers: Array
) -> Register:
    return code.shuffled(registers, [places[n] for n in numbers.tolist()])


def applied(code: Assembly, region: Region, arguments: Sequence[Register], canonical: Set[Operation]) -> list[Register]:
    """Append the ops of a body, a function of scalars, on each element of registers. NotCompiled if it captures any."""
    if captured(region):
        raise NotCompiled("a value of another function")
    count, values = arguments[0].kind.count, dict(zip(region.block.arguments, arguments))
    for op in region.block.operations[:-1]:
        (value,) = op.results
        if op.name == _CONSTANT:
            constant = elements_of(op.properties["value"])
            values[value] = literal(Kind(constant.dtype, count), constant)
            continue
        values[value] = elementwise(code, op, [values[x] for x in op.operands], op in canonical)
    return [values[x] for x in region.block.operations[-1].operands]
