"""Reductions of a row by one op, in the order of their schedule (algorithms/reduction_schedule.py).

Sums of floats are reduced by the tree of that schedule: on each level, adjacent elements are added, and a surplus
element at the end is kept, to be added last. The order of other reductions makes no difference. Maxima and minima are
those of IEEE 754-2019, for which -0 is less than +0; which of several NaNs they return cannot be observed, as NaNs are
made canonical where they can be.
"""

from __future__ import annotations

from collections.abc import Callable

from stablehlo_ref.accelerate.elements import elementwise, has_code
from stablehlo_ref.accelerate.ir import dtype_of
from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind, Register, literal
from stablehlo_ref.accelerate.machine.nests import VECTOR
from stablehlo_ref.accelerate.machine.tensors import MachineArrays, Memory
from stablehlo_ref.execute.regions import recognised_op
from stablehlo_ref.ir.arrays import DType
from stablehlo_ref.ir.core import Operation

SUM = "stablehlo.add"
FOLDS = ("stablehlo.maximum", "stablehlo.minimum", "stablehlo.and", "stablehlo.or")  # idempotent, in any order
LANES = 64  # elements that are reduced in registers
STEP = 16  # sums that are computed at a time

Emit = Callable[[Register, Register], Register]


def reduction_of(op: Operation) -> Operation | None:
    """Return the op by which a reduction reduces one tensor, if it has code for that; else None."""
    body = recognised_op(op.regions[0]) if len(op.operands) == 2 else None
    if body is None or body.name not in (SUM, *FOLDS) or not has_code(body):
        return None
    return body if len({dtype_of(v) for v in (*op.operands, *op.results)}) == 1 else None


def is_sum(body: Operation, dtype: DType) -> bool:
    """Return whether the body of a reduction is an addition of floats."""
    return body.name == SUM and dtype.kind == "f"


def reduced_row(arrays: MachineArrays, loop: int, body: Operation, row: Memory, init: Register) -> Register:
    """Append the reduction of a contiguous row by an op, one of `FOLDS` or a sum, in a loop."""
    code, (length,), dtype = arrays.code, row.shape, row.dtype

    def combined(x: Register, y: Register) -> Register:
        return elementwise(code, body, [x, y])

    if is_sum(body, dtype):
        scratch = arrays.scratch(dtype, (length // 2,), loop).pointer if length > LANES else ""
        return combined(init, row_sum(code, row.pointer, scratch, length, dtype))
    width = VECTOR // dtype.itemsize
    if body.name in FOLDS:
        return row_fold(code, row.pointer, length, init, combined, width)
    return combined(init, row_fold(code, row.pointer, length, literal(init.kind, 0), combined, width))


def row_sum(code: Assembly, row: str, scratch: str, size: int, dtype: DType) -> Register:
    """Append the sum of a row of floats; `scratch` is a pointer to room for half as many elements."""
    tail: Register | None = None
    while size > LANES:
        levels = 1 if size % 8 else 3
        if size % 2:
            tail = _plus_tail(code, _element(code, row, size - 1, dtype), tail)
        size >>= levels
        _levels(code, row, scratch, size, dtype, levels)
        row = scratch
    x = code.load(row, Kind(dtype, size))
    while size > 1:
        if size % 2:
            tail = _plus_tail(code, code.element(x, size - 1), tail)
        size //= 2
        x = _pairs(code, x, size)
    return _plus_tail(code, x, tail)


def _plus_tail(code: Assembly, x: Register, tail: Register | None) -> Register:
    return x if tail is None else code.binary("fadd", x, tail)


def _element(code: Assembly, row: str, number: int, dtype: DType) -> Register:
    return code.load(code.address(row, literal(Kind(INDEX), number), Kind(dtype)), Kind(dtype))


def _pairs(code: Assembly, x: Register, count: int) -> Register:
    """Add the elements of each of the first `count` pairs."""
    return code.binary("fadd", *[code.shuffled(x, range(first, 2 * count, 2)) for first in (0, 1)])


def _levels(code: Assembly, row: str, scratch: str, size: int, dtype: DType, levels: int) -> None:
    """Write `size` sums of so many levels, which may be in place: an element is read before one is stored there."""
    index, one = Kind(INDEX), Kind(dtype)

    def sums(first: Register, count: int) -> None:
        at = code.binary("shl", first, literal(index, levels))
        x = code.load(code.address(row, at, one), Kind(dtype, count << levels))
        for level in reversed(range(levels)):
            x = _pairs(code, x, count << level)
        code.store(x, code.address(scratch, first, one))

    whole = size - size % STEP
    code.count(0, literal(index, whole), STEP, lambda i: sums(i, STEP))
    if rest := size % STEP:
        sums(literal(index, whole), rest)


def row_fold(code: Assembly, row: str, size: int, start: Register, emit: Emit, width: int) -> Register:
    """Append the reduction of a row in any order by `emit`, for which `start` is an identity, or idempotent."""
    index, dtype = Kind(INDEX), start.kind.dtype
    steps, found = size // (2 * width), start
    if steps:
        cells = [code.variable(code.splat(start, width)) for _ in range(2)]

        def step(first: Register) -> None:
            for number, cell in enumerate(cells):
                at = code.binary("add", first, literal(index, number * width))
                x = code.load(code.address(row, at, Kind(dtype)), Kind(dtype, width))
                code.store(emit(code.load(cell, x.kind), x), cell)

        code.count(0, literal(index, steps * 2 * width), 2 * width, step)
        found = emit(*[code.load(cell, Kind(dtype, width)) for cell in cells])
        while (half := found.kind.count // 2) > 0:
            found = emit(code.shuffled(found, range(half)), code.shuffled(found, range(half, 2 * half)))
    for number in range(steps * 2 * width, size):
        found = emit(found, _element(code, row, number, dtype))
    return found
