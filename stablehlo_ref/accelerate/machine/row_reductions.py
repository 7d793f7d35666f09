"""Reductions of a row as instructions: sums of floats by the tree of pairs, and ops whose order makes no difference.

The tree is that of algorithms/reduction_schedule.py. On each level, adjacent elements are added, and a surplus element
at the end is kept, to be added last. Maxima and minima are those of IEEE 754-2019, for which -0 is less than +0; which
of several NaNs they return cannot be observed, as NaNs are made canonical where they can be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind, Register, literal
from stablehlo_ref.ir.arrays import DType

LANES = 64  # elements that are reduced in registers
GROUP = 8  # elements that become one
_VECTORS = 8  # of eight elements, which become one of eight sums
_WIDTH = GROUP * _VECTORS
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
    code.count(0, steps, 1, lambda i: _vectors_to_sums(code, i, row, scratch, dtype))


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


def _vectors_to_sums(code: Assembly, i: Register, operands: str, results: str, dtype: DType) -> None:
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
