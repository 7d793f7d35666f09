"""The ranges of integer scalars: what their types, constants, and the ops and loops that compute them allow.

A counter of a loop that is compared with a bound is at most that bound, so that adding to it cannot overflow, and a
value that starts with 0 and grows in each turn is not negative, so that comparing it with 0 needs no code.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache, reduce
from typing import NamedTuple

import numpy as np

from stablehlo_ref.execute.fuse.scalar_code import is_scalar
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.numerics.dtypes import BOOL, numpy_dtype


class Range(NamedTuple):
    """The integers from `low` to `high`."""

    low: int
    high: int

    def within(self, other: Range) -> bool:
        """Return whether all of these integers are in another range."""
        return other.low <= self.low and self.high <= other.high

    def union(self, other: Range) -> Range:
        """Return the smallest range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))

    @property
    def negated(self) -> Range:
        """The range of -x."""
        return Range(-self.high, -self.low)

    @property
    def inverted(self) -> Range:
        """The range of ~x."""
        return Range(~self.high, ~self.low)

    @property
    def magnitude(self) -> Range:
        """The range of abs(x)."""
        return Range(max(self.low, -self.high, 0), max(-self.low, self.high))


TRUTH = Range(0, 1)
MAX_DEPTH = 20  # of ops that a range is computed from, beyond which the type tells it
_BITWISE = frozenset(("and", "or", "xor"))
_STEPS = {"LT": (1, 0), "LE": (1, 1), "GT": (-1, 0), "GE": (-1, 1)}  # of a counter: direction, and if it may be equal


@lru_cache(maxsize=4096)  # often asked for the same types
def is_integer(type: Type) -> bool:
    """Return whether values of a type are scalars of integers, of numpy's own types."""
    return is_scalar(type) and isinstance(type, TensorType) and numpy_dtype(type.element_type).kind in "iu"


def is_truth(type: Type) -> bool:
    """Return whether values of a type are scalars of booleans."""
    return is_scalar(type) and isinstance(type, TensorType) and numpy_dtype(type.element_type) == BOOL


@lru_cache(maxsize=4096)
def is_number(type: Type) -> bool:
    """Return whether scalars of a type are integers or booleans, which are Python's numbers in a source."""
    return is_integer(type) or is_truth(type)


@lru_cache(maxsize=4096)
def whole(type: Type) -> Range:
    """Return the range of the type of integer scalars."""
    assert isinstance(type, TensorType)
    dtype = numpy_dtype(type.element_type)
    return TRUTH if dtype == BOOL else Range(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))


def bits(type: Type) -> int:
    """Return the number of bits of a type of integers."""
    assert isinstance(type, TensorType)
    return numpy_dtype(type.element_type).itemsize * 8


def exact(name: str, a: Range, b: Range) -> Range | None:
    """Return the range of a sum, product or other result before it wraps; None for other ops."""
    match name:
        case "add":
            return Range(a.low + b.low, a.high + b.high)
        case "subtract":
            return Range(a.low - b.high, a.high - b.low)
        case "multiply":
            products = [x * y for x in a for y in b]
            return Range(min(products), max(products))
        case "maximum":
            return Range(max(a.low, b.low), max(a.high, b.high))
        case "minimum":
            return Range(min(a.low, b.low), min(a.high, b.high))
        case "divide" if b.low > 0:
            quotients = [_truncated(x, y) for x in a for y in b]
            return Range(min(quotients), max(quotients))
        case "remainder" if b.low > 0:
            return Range(max(min(a.low, 0), 1 - b.high), min(max(a.high, 0), b.high - 1))
        case "shift_left":
            return exact("multiply", a, Range(1 << b.low, 1 << b.high))
        case "shift_right":
            return Range(min(a.low >> b.low, a.low >> b.high), max(a.high >> b.low, a.high >> b.high))
        case _ if name in _BITWISE:
            return _bitwise(name, a, b)
    return None


def is_shift(op: Operation, count: Range) -> bool:
    """Return whether a shift is by fewer bits than there are."""
    return count.low >= 0 and count.high < bits(op.operands[0].type)


def keeps_sign(op: Operation, shifted: Range) -> bool:
    """Return whether a shift to the right divides by a power of two and rounds down."""
    is_signed, is_arithmetic = whole(op.operands[0].type).low < 0, op.name == "stablehlo.shift_right_arithmetic"
    return is_signed == is_arithmetic or (shifted.low >= 0 and shifted.high >> (bits(op.operands[0].type) - 1) == 0)


def _truncated(a: int, b: int) -> int:
    return a // b if a >= 0 else -(-a // b)


def _bitwise(name: str, a: Range, b: Range) -> Range:
    high = (1 << max(x.bit_length() for x in (*a, *b))) - 1
    if a.low >= 0 and b.low >= 0:
        return Range(0, min(a.high, b.high) if name == "and" else high)
    if name == "and" and max(a.low, b.low) >= 0:
        return Range(0, a.high if a.low >= 0 else b.high)
    return Range(-high - 1, high)


def compared(direction: str, a: Range, b: Range) -> Range:
    """Return the range of a comparison, which is known if the ranges of the operands do not overlap."""
    match direction:
        case "LT":
            return Range(int(a.high < b.low), int(a.low < b.high))
        case "LE":
            return Range(int(a.high <= b.low), int(a.low <= b.high))
        case "GT" | "GE":
            return compared("LT" if direction == "GT" else "LE", b, a)
        case "EQ":
            return Range(int(a.low == a.high == b.low == b.high), int(a.low <= b.high and b.low <= a.high))
    low, high = compared("EQ", a, b)
    return Range(1 - high, 1 - low)


class Planned:
    """The ops of a source as they are planned: other ones than were parsed where calls became part of a function."""

    def __init__(self) -> None:
        self.uses: dict[Value, list[Operation]] = defaultdict(list)  # ops that use a value, as often as they do
        self.places: dict[Operation, Block] = {}
        self._owners: dict[Value, Operation] = {}
        self._loops: dict[Value, tuple[Operation, int]] = {}  # the ops of arguments of blocks, and which region it is
        self._blocks: set[Block] = set()

    def add(self, block: Block) -> None:
        """Add the ops of a block, and those in their regions."""
        pending = [block]
        while pending:
            block = pending.pop()
            if block in self._blocks:
                continue
            self._blocks.add(block)
            for op in block.operations:
                self.places[op] = block
                self._owners.update((result, op) for result in op.results)
                for operand in op.operands:
                    self.uses[operand].append(op)
                for number, region in enumerate(op.regions):
                    pending += region.blocks
                    self._loops.update((argument, (op, number)) for b in region.blocks for argument in b.arguments)

    def add_loop(self, loop: Operation) -> None:
        """Add the ops in a loop."""
        for number, region in enumerate(loop.regions):
            self.add(region.block)
            self._loops.update((argument, (loop, number)) for argument in region.block.arguments)

    def owner(self, value: Value) -> Operation | None:
        """Return the op of which a value is a result."""
        return self._owners.get(value) or (value.owner if isinstance(value.owner, Operation) else None)

    def loop(self, value: Value) -> tuple[Operation, int] | None:
        """Return the loop of which a value is an argument of the condition (region 0) or the body (1), if it is."""
        found = self._loops.get(value)
        if found is None and isinstance(value.owner, Block) and (region := value.owner.parent) is not None:
            op = region.parent
            found = (op, op.regions.index(region)) if op is not None else None
        if found is None or found[0].name != "stablehlo.while" or any(len(r.blocks) != 1 for r in found[0].regions):
            return None
        return found


class Counter(NamedTuple):
    """The value `number` of a loop's state, to which each turn adds `step`; no turn starts with one beyond `last`."""

    number: int
    last: int
    step: int


class Ranges:
    """The ranges of the values of a function; `constant` returns the array of a value that is known."""

    def __init__(self, constant: Callable[[Value], Array | None], planned: Planned) -> None:
        self._constant = constant
        self._planned = planned
        self._known: dict[Value, Range] = {}
        self._depth = 0

    def of(self, value: Value) -> Range:
        """Return the range of an integer scalar, or of a boolean as 0 or 1."""
        if value not in self._known:
            if self._depth == MAX_DEPTH:
                return whole(value.type)
            self._depth += 1
            self._known[value] = whole(value.type)  # of values that depend on themselves
            self._known[value] = self._found(value)
            self._depth -= 1
        return self._known[value]

    def _found(self, value: Value) -> Range:
        known = self._constant(value)
        if known is not None:
            return Range(int(known), int(known))
        if (owner := self._planned.owner(value)) is not None:
            return self._result(owner, value)
        loop = self._planned.loop(value)
        return whole(value.type) if loop is None else self._state(loop[0], value.index, is_after=loop[1] == 0)

    def _result(self, op: Operation, value: Value) -> Range:
        """Return the range of the result of an op."""
        type, name = whole(value.type), op.name.removeprefix("stablehlo.")
        if op.regions and any(len(region.blocks) != 1 for region in op.regions):
            return type
        if name == "while":
            return self._state(op, value.index, is_after=True)
        if name in ("if", "case"):
            ranges = [self.of(region.block.operations[-1].operands[value.index]) for region in op.regions]
            return reduce(Range.union, ranges)
        if op.regions or not all(is_integer(t) or is_truth(t) for t in op.operand_types):
            return type
        found = self._computed(op, name, [self.of(operand) for operand in op.operands])
        return found if found is not None and found.within(type) else type

    def _computed(self, op: Operation, name: str, ranges: list[Range]) -> Range | None:
        match name, ranges:
            case "compare", [a, b]:
                return compared(op.properties["comparison_direction"].name, a, b)
            case "select", [chosen, a, b]:
                return a.union(b) if chosen == TRUTH else a if chosen.low else b
            case "clamp", [low, a, high]:
                return exact("minimum", exact("maximum", a, low) or a, high)
            case (("convert" | "reshape" | "broadcast_in_dim"), [a]):
                return a if not is_truth(op.results[0].type) or is_truth(op.operands[0].type) else None
            case "negate", [a]:
                return a.negated
            case "abs", [a]:
                return a.magnitude
            case "shift_left", [a, b] if is_shift(op, b):
                return exact(name, a, b)
            case (("shift_right_arithmetic" | "shift_right_logical"), [a, b]) if is_shift(op, b) and keeps_sign(op, a):
                return exact("shift_right", a, b)
            case (("shift_left" | "shift_right_arithmetic" | "shift_right_logical"), _):
                return None
            case _, [a, b] if not is_truth(op.operands[0].type):
                return exact(name, a, b)
        return None

    # --- loops --------------------------------------------------------------------------------------------------

    def _state(self, loop: Operation, number: int, is_after: bool) -> Range:
        """Return the range of a value of a loop's state before a turn, or before the condition is tested as well."""
        initial, body = loop.operands[number], loop.regions[1].block
        if body.operations[-1].operands[number] is body.arguments[number]:
            return self.of(initial)
        start, counter = self.of(initial), self.counter(loop)
        if counter is not None and counter.number == number:
            _, last, step = counter
            before, after = min(start.low, last), max(start.high, last + step)
            if step < 0:
                before, after = min(start.low, last + step), max(start.high, last)
            return Range(before, after) if is_after else Range(*((before, last) if step > 0 else (last, after)))
        grown = self._step(body, number)
        if counter is None or grown is None:
            return whole(initial.type)
        turns = self._turns(loop, counter)
        all_turns = Range(start.low + min(grown * turns, 0), start.high + max(grown * turns, 0))
        if not all_turns.within(whole(initial.type)):
            return whole(initial.type)
        last = grown * (turns if is_after else max(turns - 1, 0))
        return Range(start.low + min(last, 0), start.high + max(last, 0))

    def _step(self, body: Block, number: int) -> int | None:
        """Return the constant that each turn adds to a value of the state."""
        op, argument = self._planned.owner(body.operations[-1].operands[number]), body.arguments[number]
        if op is None or op.name not in ("stablehlo.add", "stablehlo.subtract") or not is_integer(argument.type):
            return None
        a, b = op.operands
        if b is argument and op.name == "stablehlo.add":
            a, b = b, a
        known = self._constant(b)
        if a is not argument or known is None:
            return None
        return int(known) if op.name == "stablehlo.add" else -int(known)

    def counter(self, loop: Operation) -> Counter | None:
        """Return the counter that the condition of a loop compares with a bound, if it has one."""
        condition, body = (region.block for region in loop.regions)
        test = self._planned.owner(condition.operations[-1].operands[0])
        if test is None or test.name != "stablehlo.compare":
            return None
        argument, bound = test.operands
        direction = _STEPS.get(test.properties["comparison_direction"].name)
        if direction is None or argument not in condition.arguments or not is_integer(argument.type):
            return None
        step = self._step(body, argument.index)
        if not step or (step > 0) != (direction[0] > 0):
            return None
        ends, type = self.of(bound), whole(argument.type)
        last = ends.high - (1 - direction[1]) if step > 0 else ends.low + (1 - direction[1])
        return Counter(argument.index, last, step) if type.low <= last + step <= type.high else None

    def _turns(self, loop: Operation, counter: Counter) -> int:
        """Return how many turns a loop with a counter makes at most."""
        number, last, step = counter
        start = self.of(loop.operands[number])
        return max((last - start.low) // step if step > 0 else (start.high - last) // -step, -1) + 1
