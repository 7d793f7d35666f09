"""Tensors in registers and in memory: ops that move elements, slices and updates at indices.

A tensor of more than `MAX_ELEMENTS` elements stays in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from stablehlo_ref.accelerate.machine.arrays import Memory, offset
from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind, NotCompiled, Register, literal
from stablehlo_ref.accelerate.python.expressions import is_plain as is_of_numpy
from stablehlo_ref.accelerate.python.expressions import shape_of
from stablehlo_ref.define.computation import Run
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import numpy_dtype

MAX_ELEMENTS = 64  # of a tensor in registers


def moved(code: Assembly, op: Operation, operands: Sequence[Register], run: Run) -> Register:
    """Append an op that moves elements; its kernel `run` shows how, on their numbers.

    The numbers have the type of the elements, for kernels that make views of a type; booleans have none for numbers.
    """
    numbers: list[Array] = []
    places: list[tuple[int, int]] = []
    for number, (x, value) in enumerate(zip(operands, op.operands)):
        dtype = INDEX if x.kind.dtype.kind == "b" else x.kind.dtype
        numbers.append(np.arange(len(places), len(places) + x.kind.count, dtype=dtype).reshape(shape_of(value)))
        places += [(number, index) for index in range(x.kind.count)]
    found = np.asarray(run(*numbers)).reshape(-1)
    if len(places) == 1:
        found = np.zeros(found.size, INDEX)
    if found.dtype.kind == "b":  # the kernel of booleans has converted the numbers
        raise NotCompiled(op.name)
    return code.shuffled(operands, [places[int(n)] for n in found])


# --- slices ---------------------------------------------------------------------------------------------------------


def sliced(code: Assembly, x: Memory, start: Register, steps: Sequence[int], sizes: Sequence[int]) -> Register:
    """Load the elements from the number `start` on, `steps` apart along each axis."""
    places = _places(x.strides, steps, sizes)
    one = Kind(x.dtype)
    if places == list(range(places[0], places[0] + len(places))):
        return code.load(code.address(x.pointer, start, one), Kind(x.dtype, len(places)))
    parts = [code.load(code.address(x.pointer, _plus(code, start, n), one), one) for n in places]
    return code.shuffled(parts, [(number, 0) for number in range(len(parts))])


def updated(code: Assembly, x: Memory, update: Register, start: Register, sizes: Sequence[int]) -> None:
    """Store the elements of an update from the element number `start` on."""
    places = _places(x.strides, [1] * len(sizes), sizes)
    one = Kind(x.dtype)
    if places == list(range(places[0], places[0] + len(places))):
        return code.store(update, code.address(x.pointer, start, one))
    for index, n in enumerate(places):
        code.store(code.element(update, index), code.address(x.pointer, _plus(code, start, n), one))
    return None


def _places(strides: Sequence[int], steps: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Return the numbers of a slice's elements in an array, counted from the first."""
    places: Array = np.zeros((), INDEX)
    for stride, step, size in zip(strides, steps, sizes):
        places = np.add.outer(places, np.arange(size) * step * stride)
    return [int(n) for n in places.reshape(-1)]


def _plus(code: Assembly, start: Register, n: int) -> Register:
    return code.binary("add", start, literal(start.kind, n)) if n else start


def clamped_start(code: Assembly, starts: Sequence[Register], x: Memory, sizes: Sequence[int]) -> Register:
    """Return the place of a slice's first element; each start index, of any integer type, is clamped."""
    index, clamped = Kind(INDEX), []
    for start, whole, size in zip(starts, x.shape, sizes):
        last = whole - size
        if not last:
            clamped.append(literal(index, 0))
            continue
        is_unsigned = start.kind.dtype.kind == "u"
        if start.kind.dtype.itemsize < 8:
            start = code.cast("zext" if is_unsigned else "sext", start, INDEX)
        start = replace(start, kind=index)
        if not is_unsigned:
            start = code.intrinsic("smax", start, literal(index, 0))
        clamped.append(code.intrinsic("umin", start, literal(index, last)))
    strides = [stride if whole > size else 0 for stride, whole, size in zip(x.strides, x.shape, sizes)]
    return offset(code, clamped, strides)


def fits_registers(value: Value) -> bool:
    """Return whether a value is a tensor of a few elements; NotCompiled for one that machine code does not have."""
    type = value.type
    if not isinstance(type, TensorType) or not type.is_static or not is_plain(type) or not type.size:
        raise NotCompiled(f"a value of type {type}")
    return type.size <= MAX_ELEMENTS


def is_plain(type: TensorType) -> bool:
    """Return whether elements of a type are those of a processor: booleans, integers from 8 bits on, f32 and f64."""
    return is_of_numpy(type) and numpy_dtype(type.element_type).str[1:] != "f2"
