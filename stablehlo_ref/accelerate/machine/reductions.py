"""Reductions, in the order of their schedule (algorithms/reduction_schedule.py).

For a small tensor the schedule runs once on the numbers of elements, with a body that records which it combines.
Each call of the body becomes an instruction on vectors, or a few.

Sums of floats of a row are reduced by the tree of that schedule: on each level, adjacent elements are added, and a
surplus element at the end is kept, to be added last. The order of other reductions makes no difference. Maxima
and minima are those of IEEE 754-2019, for which -0 is less than +0; which of several NaNs they return cannot be
observed, as NaNs are made canonical where they can be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stablehlo_ref.accelerate.elements import elementwise, has_code
from stablehlo_ref.accelerate.ir import NotCompiled, dtype_of, shape_of
from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind, Register, literal
from stablehlo_ref.accelerate.machine.large import VECTOR, Held, Large
from stablehlo_ref.accelerate.machine.tensors import Memory, fits_registers, offset
from stablehlo_ref.algorithms.exact_reductions import exact_addition
from stablehlo_ref.algorithms.reduction_schedule import Arrays, Combine, planned
from stablehlo_ref.define.computation import RegionFunction, Run
from stablehlo_ref.define.spec import element_type
from stablehlo_ref.execute.liveness import captured
from stablehlo_ref.execute.nans import canonical_results
from stablehlo_ref.execute.regions import recognised_op
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation, Region
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.ops.constants import elements_of

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner

SUM = "stablehlo.add"
FOLDS = ("stablehlo.maximum", "stablehlo.minimum", "stablehlo.and", "stablehlo.or")  # idempotent, in any order
LANES = 64  # elements that are reduced in registers
STEP = 16  # sums that are computed at a time
_CONSTANT = "stablehlo.constant"

Emit = Callable[[Register, Register], Register]


class Site(NamedTuple):
    """An op, its kernel, the function that it is in, and what its instructions are appended to."""

    large: Large
    frame: FramePlanner
    op: Operation
    kernel: Run

    @property
    def canonical(self) -> Set[Operation]:
        """The ops that make NaNs canonical."""
        return self.frame.planner.canonical


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


def reduce(site: Site, operands: Sequence[Held]) -> list[Held]:
    """Write a reduction: of small tensors, or of the rows of a large one."""
    op, code, body = site.op, site.large.code, site.frame.region(site.op.regions[0])
    if exact_addition(body):
        raise NotCompiled(op.name)
    if len(operands) == 2 and not isinstance(operands[0], Register):
        return [_reduced_rows(site, *operands)]
    given, shape = registers_of(op, operands), shape_of(op.operands[0])
    if [x.kind.dtype for x in given] * 2 != _dtypes(body) * 2:
        raise NotCompiled(op.name)
    inputs, inits = given[: len(given) // 2], given[len(given) // 2 :]
    size = inputs[0].kind.count
    recorder = Recorder(body, size + 1)
    reduction = planned(recorder, shape, tuple(sorted(op.properties["dimensions"])))
    (result,) = reduction([np.asarray(size)], [np.arange(size).reshape(shape)])
    registers = [[x, init] for x, init in zip(inputs, inits)]
    places = [*((0, n) for n in range(size)), (1, 0)]  # of each number: the register, and the element in it
    for lhs, rhs in recorder.steps:
        arguments = [_gathered(code, r, places, side) for side in (lhs, rhs) for r in registers]
        places += [(len(registers[0]), n) for n in range(lhs.size)]
        for made, computed in zip(registers, applied(code, op.regions[0], arguments, site.canonical)):
            made.append(computed)
    results: list[Held] = [_gathered(code, r, places, np.reshape(result, -1)) for r in registers]
    for number, _ in canonical_results(op, site.canonical):
        results[number] = site.large.canonical(results[number], ())
    return results


def _reduced_rows(site: Site, x: Held, init: Held) -> Held:
    """Write a reduction along the last axes by one op, row by row."""
    op, large, body = site.op, site.large, recognised_op(site.op.regions[0])
    code, shape, dtype = large.code, shape_of(op.operands[0]), dtype_of(op.results[0].type)
    kept, length = shape_of(op.results[0]), prod(shape) // max(1, prod(shape_of(op.results[0])))
    is_known = body is not None and (body.name == SUM or body.name in FOLDS) and has_code(body)
    if not is_known or sorted(op.properties["dimensions"]) != list(range(len(kept), len(shape))) or length < 2:
        raise NotCompiled(op.name)
    if body is None or not isinstance(init, Register) or dtype_of(op.operands[0].type) != dtype:
        raise NotCompiled(op.name)
    rows = large.contiguous(x, shape)
    large.groups.flush()
    large.arrays.work += prod(shape) // 4
    is_small = fits_registers(op.results[0])
    cell = large.arrays.memory(code.cell(Kind(dtype, prod(kept))), dtype, kept) if is_small else None
    target = cell or large.arrays.scratch(dtype, kept, large.loop)
    is_canonical = op in site.canonical and dtype.kind == "f"

    def reduce_row(i: Register) -> None:
        row = large.arrays.view(rows, offset(code, [i], [length]), (length,), (1,))
        result = reduced_row(large, body, row, init)
        result = code.canonical(result) if is_canonical else result
        code.store(result, code.address(target.pointer, i, Kind(dtype)))

    code.count(0, literal(Kind(INDEX), prod(kept)), 1, reduce_row)
    return code.load(target.pointer, Kind(dtype, prod(kept))) if is_small else target


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
        if op.name == _CONSTANT:
            constant = elements_of(op.properties["value"])
            values[op.results[0]] = literal(Kind(constant.dtype, count), constant)
        else:
            result = elementwise(code, op, [values[x] for x in op.operands], op in canonical)
            values[op.results[0]] = result
    return [values[x] for x in region.block.operations[-1].operands]


def registers_of(op: Operation, operands: Sequence[Held]) -> list[Register]:
    """Return operands that are all in registers; NotCompiled if some are not."""
    registers = [x for x in operands if isinstance(x, Register)]
    if len(registers) < len(operands):
        raise NotCompiled(op.name)
    return registers


def reduced_row(large: Large, body: Operation, row: Memory, init: Register) -> Register:
    """Append the reduction of a contiguous row by an op, one of `FOLDS` or a sum."""
    code, length, dtype = large.code, prod(row.shape), row.dtype

    def combined(x: Register, y: Register) -> Register:
        return elementwise(code, body, [x, y])

    if body.name == SUM and dtype.kind == "f":
        scratch = large.arrays.scratch(dtype, (length // 2,), large.loop).pointer if length > LANES else ""
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


def _every_second(code: Assembly, x: Register, first: int, count: int) -> Register:
    return code.shuffled([x], [(0, first + 2 * n) for n in range(count)])


def _pairs(code: Assembly, x: Register, count: int) -> Register:
    """Add the elements of each of the first `count` pairs."""
    return code.binary("fadd", _every_second(code, x, 0, count), _every_second(code, x, 1, count))


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
        found = _halved(code, emit(*[code.load(cell, Kind(dtype, width)) for cell in cells]), emit)
    return _with_rest(code, row, range(steps * 2 * width, size), found, emit)


def _halved(code: Assembly, x: Register, emit: Emit) -> Register:
    """Reduce a vector of a power of two of elements."""
    while x.kind.count > 1:
        half = x.kind.count // 2
        x = emit(*[code.shuffled([x], [(0, first + n) for n in range(half)]) for first in (0, half)])
    return x


def _with_rest(code: Assembly, row: str, numbers: Sequence[int], found: Register, emit: Emit) -> Register:
    for number in numbers:
        found = emit(found, _element(code, row, number, found.kind.dtype))
    return found
