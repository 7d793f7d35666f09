"""Ops of a loop in machine code that Python computes: the code calls `renew`, which calls the kernel of the op.

Operands and results are fields of the frame, so Python has arrays for them, which it makes once for each frame. A call
takes 1.3 microseconds more than that of a kernel in generated Python, where an op on scalars takes 0.06, and one on
small tensors 0.4. So a loop is compiled if machine code saves more for its other ops.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from stablehlo_ref.accelerate.machine.arrays import Field, Memory
from stablehlo_ref.accelerate.machine.assembly import INDEX, Kind, NotCompiled, Register, literal
from stablehlo_ref.accelerate.machine.large import Held, Large
from stablehlo_ref.accelerate.machine.tensors import fits_registers
from stablehlo_ref.accelerate.python.expressions import shape_of
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.definition import resolve
from stablehlo_ref.execute.liveness import captured
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import BOOL, numpy_dtype

FIRST = -(1 << 62)  # the argument of `renew` for the first op; others follow downwards, below all negated addresses
MAX_SIZE = 1 << 16  # elements of an operand or a result, which is copied
COST = 20  # of a call, as a number of ops on scalars in generated Python
TENSOR_OP = 6  # the cost of an op on tensors
_WORK = 1 << 11  # what a call counts, as a number of instructions
_COUNTING = ("func.call", "stablehlo.while")  # ops that count turns, and are not counted here


@dataclass(frozen=True)
class PythonOp:
    """An op, its kernel, and the fields of operands and results, with their shapes."""

    op: Operation
    run: Run
    operands: Sequence[tuple[Field, tuple[int, ...]]]
    results: Sequence[tuple[Field, tuple[int, ...]]]

    def compute(self, arrays: Mapping[int, Array]) -> None:
        """Compute the results in arrays, which are given by the offsets of their fields."""
        operands = [_reshaped(arrays[field.offset], shape) for field, shape in self.operands]
        computed = self.run(*operands)
        if len(self.results) == 1:
            arrays[self.results[0][0].offset][...] = computed
        else:
            for (field, _), result in zip(self.results, computed):
                arrays[field.offset][...] = result


def _reshaped(x: Array, shape: tuple[int, ...]) -> Array:
    return x if x.shape == shape else x.reshape(shape)


def check(op: Operation) -> None:
    """Raise NotCompiled for an op whose kernel needs more than its operands, or that is large."""
    definition = resolve(op)
    if definition is None or "plan" not in definition.roles or definition.traits.effects:
        raise NotCompiled(op.name)
    inner = [x for region in op.regions for block in region.blocks for x in block.operations]
    if any(x.regions or x.name in _COUNTING for x in inner) or any(captured(region) for region in op.regions):
        raise NotCompiled(op.name)
    if not op.results or any(prod(shape_of(x)) > MAX_SIZE for x in (*op.operands, *op.results)):
        raise NotCompiled(op.name)


class PythonOps:
    """Writes calls of ops that Python computes."""

    def __init__(self, large: Large) -> None:
        self.large = large
        self.ops: list[PythonOp] = []

    def check_saved(self, cost: int) -> None:
        """Raise NotCompiled if calls cost more than the other ops of a loop do in generated Python."""
        if len(self.ops) * COST > cost:
            raise NotCompiled(self.ops[0].op.name)

    def write(self, op: Operation, run: Run, operands: Iterable[Held]) -> list[Held]:
        """Write the call of an op; return its results."""
        fields = [(self._placed(x, shape_of(v)), shape_of(v)) for x, v in zip(operands, op.operands)]
        self.large.groups.flush()
        code, arrays = self.large.code, self.large.arrays
        held, results = [], []
        for value in op.results:
            type = value.type
            assert isinstance(type, TensorType)
            dtype, shape = numpy_dtype(type.element_type), shape_of(value)
            memory = self._new(dtype, shape, fits_registers(value))
            results.append((arrays.fields[memory.buffer], shape))
            held.append(memory)
        request = literal(Kind(INDEX), FIRST - len(self.ops))
        got, go = code.let(f"call i64 %renew(i64 {request})", Kind(INDEX)), code.name("L")
        failed = code.let(f"icmp slt i64 {got}, 0", Kind(BOOL))
        code.do(f"br i1 {failed}, label %stop, label %{go}")
        code.label(go)
        self.ops.append(PythonOp(op, run, fields, results))
        arrays.work += _WORK + sum(prod(shape) for _, shape in (*fields, *results))
        return [code.load(x.pointer, Kind(x.dtype, prod(x.shape))) if fits_registers(v) else x
                for x, v in zip(held, op.results)]  # fmt: skip

    def _new(self, dtype: Any, shape: tuple[int, ...], is_small: bool) -> Memory:
        """Return new memory: in the frame itself if it is small."""
        arrays = self.large.arrays
        return arrays.inline(dtype, shape) if is_small else arrays.scratch(dtype, shape, self.large.loop)

    def _placed(self, x: Held, shape: tuple[int, ...]) -> Field:
        """Return the field of a tensor, which is copied to one if need be."""
        arrays = self.large.arrays
        if isinstance(x, Register):
            target = arrays.inline(x.kind.dtype, shape)
            self.large.code.store(x, target.pointer)
            return arrays.fields[target.buffer]
        memory = self.large.contiguous(x, shape)
        if memory.buffer not in arrays.fields or not arrays.is_whole(memory):
            memory = self.large.copied(memory, self.large.loop)
        return arrays.fields[memory.buffer]
