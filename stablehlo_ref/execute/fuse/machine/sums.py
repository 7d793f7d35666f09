"""Sums of f32 along rows as machine code: the first levels of the tree of pairs that reductions follow.

The schedule of a sum (algorithms/reduction_schedule.py) adds adjacent elements, level by level. Three levels turn each
eight elements into one; as long as the length of a row is divisible by eight, machine code computes these, and the
kernel the rest of the tree. No addition changes, nor its operands.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from stablehlo_ref import mode
from stablehlo_ref.algorithms.reduction_schedule import BLOCK
from stablehlo_ref.define.bound import BoundOp
from stablehlo_ref.execute.fuse.machine.assembly import INDEX, Assembly, Kind, Register, literal
from stablehlo_ref.execute.fuse.machine.compiler import Compiled, address, is_available
from stablehlo_ref.execute.fuse.machine.timing import TimedCode
from stablehlo_ref.execute.regions import recognised_op
from stablehlo_ref.execute.run import current
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import FLOAT32, numpy_dtype

GROUP = 8  # elements that become one
FEW = 1 << 12  # elements of a tensor: below this, a call of machine code saves nothing

_VECTORS = 8  # of eight elements, which become one of eight sums
_WIDTH = GROUP * _VECTORS
_FRAME = ctypes.c_int64 * 4

Reduce = Callable[[Array, Array], Array]


_SUMS = TimedCode[Compiled]()  # of the process


def with_machine_sums(bound: BoundOp, plan: Callable[[tuple[int, ...]], Reduce], box: tuple[int, ...]) -> Reduce:
    """Return the reduction that `plan` returns for tensors of the shape `box`, or one that computes the same faster."""
    plain, rows = plan(box), len(box) - len(bound.op.properties["dimensions"])
    length = prod(box[rows:])
    passes, size = 0, prod(box)
    if size < FEW or length > BLOCK or not _adds_rows(bound, rows):
        return plain
    while length % GROUP == 0 and length > GROUP and size % _WIDTH == 0:
        passes, size, length = passes + 1, size // GROUP, length // GROUP
    if not passes:
        return plain
    shape = (*box[:rows], *[1] * (len(box) - rows - 1), length)
    rest = plan(shape)

    def run(x: Array, init: Array) -> Array:
        is_contiguous = x.flags.c_contiguous and x.flags.aligned
        if not is_contiguous or x.shape != box or not _SUMS.may_run(current.get()):
            return plain(x, init)
        if _SUMS.code is None:
            return _SUMS.timed(lambda: plain(x, init), lambda: Compiled(source()))
        return rest(_sums_of_rows(_SUMS.code, x, passes).reshape(shape), init)

    return run


def _sums_of_rows(code: Compiled, x: Array, passes: int) -> Array:
    """Return the sums of each `8**passes` elements of a contiguous array, of a multiple of 64 in each pass."""
    made = np.empty(x.size // (GROUP - 1), FLOAT32)  # by all passes
    frame = _FRAME(passes, x.size // _WIDTH, address(x), address(made))
    code.run(ctypes.addressof(frame), None, 0)
    count = x.size // GROUP**passes
    start = sum(x.size // GROUP**n for n in range(1, passes))
    return made[start : start + count]


def _adds_rows(bound: BoundOp, rows: int) -> bool:
    """Return whether an op adds numbers of f32 along the last dimensions, in the order of the schedule."""
    op = bound.op
    if len(op.operands) != 2 or not is_available() or mode.current().exact_sums:
        return False
    types = [*bound.operands, *bound.results]
    if not all(isinstance(t, TensorType) and numpy_dtype(t.element_type) == FLOAT32 for t in types):
        return False
    body, axes = recognised_op(op.regions[0]), sorted(op.properties["dimensions"])
    return body is not None and body.name == "stablehlo.add" and axes == list(range(rows, rows + len(axes)))


def source() -> str:
    """Return the code: passes over elements, each of which turns 64 at a time into eight sums."""
    code, index = Assembly(), Kind(INDEX)
    words = [code.load(code.address("%frame", literal(index, n), index), index) for n in range(4)]
    passes, count, operands, results = (code.variable(word) for word in words)

    def one_pass() -> None:
        n, x, y = (code.load(cell, index) for cell in (count, operands, results))
        source, target = (code.let(f"inttoptr i64 {word} to ptr", index).name for word in (x, y))
        code.count(0, n, 1, lambda i: vectors_to_sums(code, i, source, target, FLOAT32))
        code.store(y, operands)
        made = code.binary("mul", n, literal(index, GROUP * FLOAT32.itemsize))
        code.store(code.binary("add", y, made), results)
        code.store(code.binary("lshr", n, literal(index, 3)), count)
        code.store(code.binary("sub", code.load(passes, index), literal(index, 1)), passes)

    code.repeat(lambda: code.compare("sgt", code.load(passes, index), literal(index, 0)), one_pass)
    code.do("ret i64 0")
    return code.text


def vectors_to_sums(code: Assembly, i: Register, operands: str, results: str, dtype: DType) -> None:
    """Turn the 64 elements with number `i` into eight sums."""
    index, one = Kind(INDEX), Kind(dtype)
    first = code.address(operands, code.binary("mul", i, literal(index, _WIDTH)), one)
    places = [code.address(first, literal(index, GROUP * n), one) for n in range(_VECTORS)]
    sums = _sums(code, [code.load(place, Kind(dtype, GROUP)) for place in places])
    code.store(sums, code.address(results, code.binary("mul", i, literal(index, GROUP)), one))


def _sums(code: Assembly, vectors: Sequence[Register]) -> Register:
    """Return the sum of each of eight vectors, which are halves of four elements until the last addition."""
    pairs = [_adjacent(code, x, y) for x, y in zip(vectors[::2], vectors[1::2])]
    low, high = (_adjacent(code, x, y) for x, y in zip(pairs[::2], pairs[1::2]))
    firsts = _shuffle(code, low, high, [0, 1, 2, 3, 8, 9, 10, 11])
    return code.binary("fadd", firsts, _shuffle(code, low, high, [4, 5, 6, 7, 12, 13, 14, 15]))


def _adjacent(code: Assembly, x: Register, y: Register) -> Register:
    """Add adjacent elements: in each half, first those of x, then those of y."""
    even = _shuffle(code, x, y, [0, 2, 8, 10, 4, 6, 12, 14])
    return code.binary("fadd", even, _shuffle(code, x, y, [1, 3, 9, 11, 5, 7, 13, 15]))


def _shuffle(code: Assembly, x: Register, y: Register, places: Sequence[int]) -> Register:
    mask = ", ".join(f"i32 {n}" for n in places)
    return code.let(f"shufflevector {x.kind} {x}, {y.kind} {y}, <{len(places)} x i32> <{mask}>", x.kind)
