"""Reductions of a row as instructions: sums of floats by the tree of pairs, and ops whose order makes no difference.

The tree is that of algorithms/reduction_schedule.py. On each level, adjacent elements are added, and a surplus element
at the end is kept, to be added last. Maxima and minima are those of IEEE 754-2019, for which -0 is less than +0; which
of several NaNs they return cannot be observed, as NaNs are made canonical where they can be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stablehlo_ref.execute.fuse.machine.assembly import INDEX, Assembly, Kind, Register, literal
from stablehlo_ref.execute.fuse.machine.sums import GROUP, vectors_to_sums
from stablehlo_ref.ir.arrays import DType

LANES = 64  # elements that are reduced in registers
_PASS = GROUP * GROUP  # elements that one step of three levels turns into eight
_LEVEL = 16  # results of a step of one level

Emit = Callable[[Register, Register], Register]


def row_sum(code: Assembly, row: str, scratch: str, size: int, dtype: DType) -> Register:
    """Append the sum of a row of floats; `scratch` is a pointer to room for half as many elements."""
    tail: Register | None = None
    while size > LANES:
        if size % _PASS == 0:
            _three_levels(code, row, scratch, size, dtype)
            size //= GROUP
        else:
            if size % 2:
                tail = _plus_tail(code, _element(code, row, size - 1, dtype), tail)
            size //= 2
            _level(code, row, scratch, size, dtype)
        row = scratch
    x = code.load(row, Kind(dtype, size))
    while size > 1:
        if size % 2:
            tail = _plus_tail(code, code.element(x, size - 1), tail)
        size //= 2
        x = code.binary("fadd", _every_second(code, x, 0, size), _every_second(code, x, 1, size))
    return _plus_tail(code, x, tail)


def _plus_tail(code: Assembly, x: Register, tail: Register | None) -> Register:
    return x if tail is None else code.binary("fadd", x, tail)


def _element(code: Assembly, row: str, number: int, dtype: DType) -> Register:
    return code.load(code.address(row, literal(Kind(INDEX), number), Kind(dtype)), Kind(dtype))


def _every_second(code: Assembly, x: Register, first: int, count: int) -> Register:
    return code.shuffled([x], [(0, first + 2 * n) for n in range(count)])


def _three_levels(code: Assembly, row: str, scratch: str, size: int, dtype: DType) -> None:
    steps = literal(Kind(INDEX), size // _PASS)
    code.count(0, steps, 1, lambda i: vectors_to_sums(code, i, row, scratch, dtype))


def _level(code: Assembly, row: str, scratch: str, size: int, dtype: DType) -> None:
    """Add the pairs of a row, which may be in place: an element is read before one is stored where it was."""
    index, one = Kind(INDEX), Kind(dtype)

    def pairs(first: Register, count: int) -> None:
        twice = code.binary("add", first, first)
        x = code.load(code.address(row, twice, one), Kind(dtype, 2 * count))
        total = code.binary("fadd", _every_second(code, x, 0, count), _every_second(code, x, 1, count))
        code.store(total, code.address(scratch, first, one))

    whole = size - size % _LEVEL
    code.count(0, literal(index, whole), _LEVEL, lambda i: pairs(i, _LEVEL))
    if rest := size % _LEVEL:
        pairs(literal(index, size - rest), rest)


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
