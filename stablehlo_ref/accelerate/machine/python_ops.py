"""Ops of a loop in machine code that Python computes: the code calls `renew`, which calls the kernel of the op.

Operands and results are fields of the frame, so Python has arrays for them, which it makes once for each frame. A call
takes 1.3 microseconds more than that of a kernel in generated Python, where an op on scalars takes 0.06, and one on
small tensors 0.4. So a loop is compiled if machine code saves more for its other ops.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from stablehlo_ref.accelerate.ir import NotCompiled, shape_of
from stablehlo_ref.accelerate.machine.assembly import INDEX, Kind, Register, literal
from stablehlo_ref.accelerate.machine.large import Held, Large
from stablehlo_ref.accelerate.machine.tensors import Field, fits_registers
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


@dataclass(frozen=True)
class PythonOp:
    """An op, its kernel, and the fields of operands and results, with their shapes."""

    op: Operation
    run: Run
    operands: Sequence[tuple[Field, tuple[int, ...]]]
    results: Sequence[tuple[Field, tuple[int, ...]]]

    def compute(self, arrays: Sequence[Array | None]) -> None:
        """Compute the results in the arrays of a frame."""
        operands = [_reshaped(arrays[field.number], shape) for field, shape in self.operands]
        computed = self.run(*operands)
        if len(self.results) == 1:
            _reshaped(arrays[self.results[0][0].number], self.results[0][1])[...] = computed
        else:
            for (field, shape), result in zip(self.results, computed):
                _reshaped(arrays[field.number], shape)[...] = result


def _reshaped(x: Array | None, shape: tuple[int, ...]) -> Array:
    assert x is not None
    return x if x.shape == shape else x.reshape(shape)


def check(op: Operation) -> None:
    """Raise NotCompiled for an op whose kernel needs more than its operands, or that is large."""
    definition = resolve(op)
    if definition is None or "plan" not in definition.roles or definition.traits.effects:
        raise NotCompiled(op.name)
    if _may_count(op) or any(captured(region) for region in op.regions):
        raise NotCompiled(op.name)
    if not op.results or any(prod(shape_of(x)) > MAX_SIZE for x in (*op.operands, *op.results)):
        raise NotCompiled(op.name)


def _may_count(op: Operation) -> bool:
    """Return whether an op in the regions of `op` may count turns or calls."""
    inner = [x for region in op.regions for block in region.blocks for x in block.operations]
    return any(x.regions or x.name in ("func.call", "stablehlo.custom_call", "stablehlo.composite") for x in inner)


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
            memory = arrays.scratch(dtype, shape, self.large.loop)
            results.append((arrays.field_of[memory.buffer], shape))
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

    def _placed(self, x: Held, shape: tuple[int, ...]) -> Field:
        """Return the field of a tensor, which is copied to one if need be."""
        arrays = self.large.arrays
        if isinstance(x, Register):
            target = arrays.scratch(x.kind.dtype, shape, self.large.loop)
            self.large.code.store(x, target.pointer)
            return arrays.field_of[target.buffer]
        memory = self.large.contiguous(x, shape)
        if memory.buffer not in arrays.field_of or not arrays.is_whole(memory):
            memory = self.large.copied(memory, self.large.loop)
        return arrays.field_of[memory.buffer]
