"""The Python expressions of ops on integers and booleans that are Python's own numbers, and the ranges of results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stablehlo_ref.execute.fuse.ranges import (
    TRUTH,
    Range,
    bits,
    exact,
    is_integer,
    is_shift,
    is_truth,
    keeps_sign,
    whole,
)
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import Type
from stablehlo_ref.ops.constants import elements_of

RING = {"add": "+", "subtract": "-", "multiply": "*", "and": "&", "or": "|", "xor": "^"}
TRUTH_OPS = {
    "and": "and", "or": "or", "xor": "!=", "not": "not", "add": "or", "multiply": "and", "maximum": "or",
    "minimum": "and",
}  # fmt: skip


class Number(NamedTuple):
    """A Python number in the source: its expression and range, which is not within its type if it has not wrapped."""

    text: str
    range: Range

    @property
    def is_atom(self) -> bool:
        """Whether the text is a variable or a literal, which takes no time to compute."""
        return self.text.isidentifier() or self.text.lstrip("-").isdigit()

    @property
    def operand(self) -> str:
        """The text as part of an expression."""
        return self.text if self.text.isidentifier() or self.text.isdigit() else f"({self.text})"


def wrapped(text: str, type: Type) -> str:
    """Return the expression of the value with the lowest bits of a number that is in a type."""
    half, mask = -whole(type).low, (1 << bits(type)) - 1
    return f"(({text} + {half} & {mask}) - {half})" if half else f"({text} & {mask})"


def outside(name: str, range: Range, type: Range) -> str:
    """Return the test whether a number is not in a type."""
    if range.low >= type.low:
        return f"{name} > {type.high}"
    return f"{name} < {type.low}" if range.high <= type.high else f"not {type.low} <= {name} <= {type.high}"


def ignores_high_bits(op: Operation) -> bool:
    """Return whether an op on integers depends only on as many bits of its operands as its result has."""
    name = op.name.removeprefix("stablehlo.")
    if name == "shift_left" and is_integer(op.operands[0].type):
        count = op.operands[1].owner
        if not isinstance(count, Operation) or count.name != "stablehlo.constant":
            return False
        return is_shift(op, Range(*[int(elements_of(count.properties["value"]))] * 2))
    return (name in RING or name in ("negate", "not")) and all(map(is_integer, op.operand_types))


def conversion(op: Operation, number: Number) -> tuple[str, Range] | None:
    """Return the code of a conversion between integers and booleans."""
    source, target = op.operands[0].type, op.results[0].type
    if is_truth(source) == is_truth(target):
        return number
    if is_truth(target):
        return f"{number.operand} != 0", TRUTH
    if number.range != TRUTH:
        return str(number.range.low), number.range
    return f"1 if {number.operand} else 0", TRUTH


def logic(name: str, numbers: Sequence[Number]) -> tuple[str, Range]:
    """Return the code of an op on booleans, some of which may be known."""
    if name == "not":
        return _negated(numbers[0])
    if name == "xor":
        return equality(numbers, is_equal=False)
    code = TRUTH_OPS[name]
    for number, other in zip(numbers, reversed(numbers)):
        if number.range != TRUTH:
            return number if number.range.low == (code == "or") else other
    return f"{numbers[0].operand} {code} {numbers[1].operand}", TRUTH


def equality(numbers: Sequence[Number], is_equal: bool) -> tuple[str, Range]:
    """Return the code of a comparison of booleans."""
    for number, other in zip(numbers, reversed(numbers)):
        if number.range != TRUTH:
            return other if number.range.low == is_equal else _negated(other)
    return f"{numbers[0].operand} {'==' if is_equal else '!='} {numbers[1].operand}", TRUTH


def _negated(number: Number) -> tuple[str, Range]:
    low, high = 1 - number.range.high, 1 - number.range.low
    return (f"not {number.operand}" if low < high else str(bool(low))), Range(low, high)


def shifted(op: Operation, name: str, numbers: Sequence[Number]) -> tuple[str, Range] | None:
    """Return the code of a shift, or of an op that counts bits."""
    type = op.operands[0].type
    if name in ("popcnt", "count_leading_zeros") and is_integer(type):
        text = f"({numbers[0].operand} & {(1 << bits(type)) - 1})"
        is_popcnt = name == "popcnt"
        return f"{text}.bit_count()" if is_popcnt else f"{bits(type)} - {text}.bit_length()", Range(0, bits(type))
    if not name.startswith("shift") or not is_integer(type) or not is_shift(op, numbers[1].range):
        return None
    a, b = numbers
    if name == "shift_left":
        range = exact(name, a.range, b.range)
        return None if range is None else (f"{a.operand} << {b.operand}", range)
    if keeps_sign(op, a.range):
        range = exact("shift_right", a.range, b.range)
        return None if range is None else (f"{a.operand} >> {b.operand}", range)
    mask = (1 << bits(type)) - 1
    if name == "shift_right_logical":
        return f"({a.operand} & {mask}) >> {b.operand}", Range(0, mask >> b.range.low)
    return None
