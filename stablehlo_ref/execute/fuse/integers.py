"""Scalars of integers and booleans as Python's own numbers, which take a third of the time of numpy's.

A result that may not fit its type wraps, with a test that is cheap as long as it does not; a result whose range
(`ranges.py`) fits needs no test. If only sums, products and other ops that ignore higher bits read a value, it need
not wrap before they do. What is used once is written where it is used. Kernels take numpy's scalars, made when needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from stablehlo_ref.execute.fuse.number_code import (
    RING,
    TRUTH_OPS,
    Number,
    conversion,
    equality,
    ignores_high_bits,
    logic,
    outside,
    shifted,
    wrapped,
)
from stablehlo_ref.execute.fuse.ranges import (
    TRUTH,
    Planned,
    Range,
    Ranges,
    bits,
    compared,
    exact,
    is_integer,
    is_number,
    is_truth,
    whole,
)
from stablehlo_ref.execute.fuse.scalar_code import is_scalar, scalar_code
from stablehlo_ref.execute.fuse.tensor_code import scalar_type
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import Type

if TYPE_CHECKING:
    from stablehlo_ref.execute.fuse.frames import Frame
    from stablehlo_ref.execute.fuse.writer import Writer

MAX_TEXT = 120  # characters of an expression that is written where it is used
MAX_BITS = 90  # of a value that has not wrapped yet

_SAME = frozenset(("reshape", "broadcast_in_dim", "optimization_barrier"))


class Integers:
    """The scalars of a source that are Python's numbers."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.prologue: list[str] = []  # lines that convert what the source reads from slots
        self._numbers: dict[str, Number] = {}
        self._scalars: dict[str, str] = {}  # numpy's scalars that were made of numbers
        self._converted: dict[str, str] = {}  # numbers that were made of numpy's scalars
        self._ranges: dict[Frame, Ranges] = {}
        self.planned = Planned()
        self._wrapping: dict[Value, int] = {}  # the next state of loops that need not fit: bits to keep

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Drop at the end the conversions that are written inside, as these statements may not run."""
        scalars, converted = dict(self._scalars), dict(self._converted)
        yield
        self._scalars, self._converted = scalars, converted

    # --- values -------------------------------------------------------------------------------------------------

    def scalar(self, name: str, type: Type) -> str:
        """Return the name of a value as a scalar of numpy, or of a tensor."""
        number = self._numbers.get(name)
        if number is None:
            return name
        if number.text in ("True", "False") or number.text.lstrip("-").isdigit():
            return self.writer.constant(scalar_type(type)(number.range.low))
        if name not in self._scalars:
            made = f"{name}n"
            true, false = (self._constant(type, x) for x in (1, 0))
            text = (
                f"{true} if {number.text} else {false}"
                if is_truth(type)
                else f"{false} + {self._wrapped(number, type)}"
            )
            self.writer.source.line(f"{made} = {text}")
            self._scalars[name] = made
        return self._scalars[name]

    def _constant(self, type: Type, value: int) -> str:
        return self.writer.expressions.number(type, value)

    def number(self, frame: Frame, name: str, value: Value) -> Number:
        """Return the number of a scalar, which may have to be converted."""
        if name in self._numbers:
            number = self._numbers[name]
            return (
                Number(self._wrapped(number, value.type), whole(value.type))
                if not self._fits(number, value)
                else number
            )
        if name in self.writer.constants:
            known = int(self.writer.constants[name])
            return Number(str(bool(known)) if is_truth(value.type) else str(known), Range(known, known))
        if is_truth(value.type):
            return Number(name, TRUTH)
        if name not in self._converted:
            line = f"{name}i = index({name})"
            if name not in self.writer.loaded:
                self.writer.source.line(line)
            elif line not in self.prologue:
                self.prologue.append(line)
            self._converted[name] = f"{name}i"
        return Number(self._converted[name], self.range_of(frame, value))

    def _fits(self, number: Number, value: Value) -> bool:
        return number.range.within(whole(value.type))

    def atom(self, name: str) -> str:
        """Return the text of a number, which may not have wrapped yet, that may be written several times."""
        number = self._numbers.get(name)
        if number is None:
            return name
        if not number.is_atom:
            self.writer.source.line(f"{name} = {number.text}")
            number = self._numbers[name] = Number(name, number.range)
        return number.operand

    def operands(self, op: Operation, names: Sequence[str]) -> list[str]:
        """Return the names of the operands of an op for which there is other code; indices may be numbers."""
        is_index = op.name in ("stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice")
        first = len(names) - is_index * len(getattr(op.operands[0].type, "shape", ())) if names else 0
        return [
            self._within_type(name, value)
            if is_scalar(value.type) and (number >= first or (number == 0 and op.name == "stablehlo.select"))
            else self.scalar(name, value.type)
            for number, (name, value) in enumerate(zip(names, op.operands))
        ]

    def _within_type(self, name: str, value: Value) -> str:
        """Return the text of a number within its type, or a numpy scalar, that may be written several times."""
        number = self._numbers.get(name)
        if number is None or self._fits(number, value):
            return self.atom(name)
        self.writer.source.line(f"{name}i = {self._wrapped(number, value.type)}")
        self.define(f"{name}i", whole(value.type))
        return f"{name}i"

    def ranges(self, names: Sequence[str]) -> list[Range | None]:
        """Return the ranges of values that are numbers."""
        return [self._numbers[name].range if name in self._numbers else None for name in names]

    def range_of(self, frame: Frame, value: Value) -> Range:
        """Return the range of a value in a frame."""
        return self._ranges_in(frame).of(value)

    def _ranges_in(self, frame: Frame) -> Ranges:
        if frame not in self._ranges:
            self._ranges[frame] = Ranges(frame.planner.constant, self.planned)
        return self._ranges[frame]

    def define(self, name: str, range: Range) -> None:
        """Let a variable hold a number."""
        self._scalars.pop(name, None)
        self._converted.pop(name, None)
        self._numbers[name] = Number(name, range)

    def define_all(self, frame: Frame, names: Sequence[str], values: Sequence[Value]) -> None:
        """Let the variables of scalars of integers and booleans hold numbers."""
        for name, value in zip(names, values):
            if is_number(value.type):
                self.define(name, self.range_of(frame, value))

    def moved(self, frame: Frame, names: Sequence[str], values: Sequence[Value]) -> list[str]:
        """Return the texts of values that are assigned to other variables."""
        return [self.number(frame, x, v).text if is_number(v.type) else x for x, v in zip(names, values)]

    # --- loops --------------------------------------------------------------------------------------------------

    def enter(self, frame: Frame, names: Sequence[str], loop: Operation, region: int) -> None:
        """Let the variables of the state of a loop hold numbers, as the arguments of the condition or the body."""
        following = loop.regions[1].block.operations[-1].operands
        for name, value, next_value in zip(names, loop.regions[region].block.arguments, following):
            if is_number(value.type):
                kept = self._wrapping.get(next_value)
                range = self.range_of(frame, value)
                self.define(name, range.union(Range(0, (1 << kept) - 1)) if kept else range)

    def state(self, frame: Frame, loop: Operation) -> None:
        """Decide which values of the state of a loop keep only as many bits as they have, whatever these stand for."""
        cond, body = (region.block for region in loop.regions)
        for number, (following, argument) in enumerate(zip(body.operations[-1].operands, body.arguments)):
            owner = self.planned.owner(following)
            if not is_integer(argument.type) or owner is None or self.planned.places.get(owner) is not body:
                continue
            users = [*self.planned.uses[argument], *self.planned.uses[cond.arguments[number]]]
            users = [op for op in users if op is not body.operations[-1] or following is argument]
            is_ring = owner.name.removeprefix("stablehlo.") in RING and all(map(ignores_high_bits, users))
            if is_ring and self.range_of(frame, following) == whole(argument.type):
                self._wrapping[following] = bits(argument.type)

    def leave(self, names: Sequence[str], loop: Operation) -> None:
        """Write what makes the state of a loop, after its last turn, numbers within their types."""
        for name, value in zip(names, loop.regions[1].block.operations[-1].operands):
            if value in self._wrapping and not self._fits(self._numbers[name], value):
                high = whole(value.type).high
                self.writer.source.line(f"if {name} > {high}: {name} -= {1 << bits(value.type)}")
                self.define(name, whole(value.type))

    def counter(self, frame: Frame, names: Sequence[str], loop: Operation) -> tuple[int, str] | None:
        """Return the index of the state that each turn increments by one, and the text of its upper bound, excluded.

        None if the loop does not go on as long as such a counter is less than a bound that no turn changes.
        """
        cond, body = (region.block for region in loop.regions)
        test = self.planned.owner(cond.operations[-1].operands[0])
        found = self._ranges_in(frame).counter(loop)
        if test is None or found is None or found.step != 1 or test.properties["comparison_direction"].name != "LT":
            return None
        bound = test.operands[1]
        if bound in cond.arguments:
            if body.operations[-1].operands[bound.index] is not body.arguments[bound.index]:
                return None
            return found.number, names[bound.index]
        if (known := frame.planner.constant(bound)) is not None:
            return found.number, str(int(known))
        return None

    def following(self, frame: Frame, name: str, value: Value) -> str:
        """Return the text of the next state of a loop."""
        return self._numbers[name].text if value in self._wrapping else self.number(frame, name, value).text

    # --- ops ----------------------------------------------------------------------------------------------------

    def compute(self, frame: Frame, op: Operation, names: Sequence[str], result: str) -> bool:
        """Write an op on scalars if it computes integers or booleans from such, or floats from integers."""
        name = op.name.removeprefix("stablehlo.")
        if op.regions or len(op.results) != 1 or name == op.name or not all(map(is_scalar, op.operand_types)):
            return False
        if name == "select" and is_scalar(op.results[0].type) and (chosen := self._chosen(names)) is not None:
            self.writer.same[result] = names[chosen]
            return True
        types, data = [*op.operand_types, *op.result_types], names[1:] if name == "select" else names
        if not data or (name in (*_SAME, "select") and self._is_of_numpy(data)):
            return False
        if name == "convert" and is_number(op.operands[0].type) and not is_number(op.results[0].type):
            return self._to_float(frame, op, names[0], result)
        if name == "compare" and (text := self._compared_floats(op, names)) is not None:
            self._write(op, result, text, TRUTH)
            return True
        if not all(map(is_number, types)):
            return False
        found = self._expression(frame, op, name, names)
        if found is not None:
            self._write(op, result, *found)
        return found is not None

    def _is_of_numpy(self, names: Sequence[str]) -> bool:
        """Return whether none of the values is a number, so that an op that only moves them needs none."""
        return self._numbers.keys().isdisjoint(names) and not self.writer.constants.keys() >= {*names}

    def _chosen(self, names: Sequence[str]) -> int | None:
        """Return the number of the operand that a select returns, if that is known."""
        known = self._numbers.get(names[0])
        return None if known is None or known.range == TRUTH else 1 if known.range.low else 2

    def _to_float(self, frame: Frame, op: Operation, name: str, result: str) -> bool:
        type = op.results[0].type
        if scalar_type(type) not in (np.float32, np.float64):
            return False
        number = self.number(frame, name, op.operands[0])
        one, zero = (self._constant(type, x) for x in (1, 0))
        if is_truth(op.operands[0].type):
            self.writer.source.line(f"{result} = {one} if {number.text} else {zero}", op)
            return True
        if max(map(abs, number.range)) > 1 << 53:
            return False
        self.writer.source.line(f"{result} = {one} * float({number.text})", op)
        return True

    def _compared_floats(self, op: Operation, names: Sequence[str]) -> str | None:
        """Return the code of a comparison of floats, which are scalars of numpy."""
        code = None if is_number(op.operands[0].type) else scalar_code(op, [None, None])
        return None if code is None else code.format(*names)

    def _expression(self, frame: Frame, op: Operation, name: str, names: Sequence[str]) -> tuple[str, Range] | None:
        """Return the code of an op and the range of its value before it wraps; None if it is left to numpy."""
        if name in RING and is_integer(op.operands[0].type):
            a, b = (self._any(frame, x, v) for x, v in zip(names, op.operands))
            range = exact(name, a.range, b.range)
            return None if range is None else (f"{a.operand} {RING[name]} {b.operand}", range)
        if name in ("negate", "not") and is_integer(op.operands[0].type):
            a = self._any(frame, names[0], op.operands[0])
            return (f"-{a.operand}", a.range.negated) if name == "negate" else (f"~{a.operand}", a.range.inverted)
        read = [self._any if ignores_high_bits(op) else self.number, *[self.number] * len(names)]
        numbers = [get(frame, x, v) for get, x, v in zip(read, names, op.operands)]
        if name == "compare":
            direction = op.properties["comparison_direction"]
            range = compared(direction.name, *(n.range for n in numbers))
            if is_truth(op.operands[0].type) and direction.name in ("EQ", "NE"):
                return equality(numbers, direction.name == "EQ")
            text = f"{numbers[0].operand} {direction.value} {numbers[1].operand}"
            return (text, range) if range == TRUTH else (str(bool(range.low)), range)
        if name in TRUTH_OPS and is_truth(op.operands[0].type):
            return logic(name, numbers)
        if name == "convert":
            return conversion(op, numbers[0])
        return self._of_several(op, name, names, numbers)

    def _any(self, frame: Frame, name: str, value: Value) -> Number:
        """Return the number of a scalar, of which higher bits are ignored."""
        return self._numbers.get(name) or self.number(frame, name, value)

    def _of_several(
        self, op: Operation, name: str, names: Sequence[str], numbers: list[Number]
    ) -> tuple[str, Range] | None:
        match name, numbers:
            case _, [a] if name in _SAME:
                return a
            case "select", [chosen, a, b]:
                return f"{a.operand} if {chosen.operand} else {b.operand}", a.range.union(b.range)
            case "divide" | "remainder", [a, b] if b.range.low > 0 and is_integer(op.operands[0].type):
                if a.range.low < 0:
                    a, b = self._atom(names[0], a), self._atom(names[1], b)
                code, range = "//" if name == "divide" else "%", exact(name, a.range, b.range)
                text = f"{a.operand} {code} {b.operand}"
                if a.range.low < 0:
                    text += f" if {a.operand} >= 0 else -(-{a.operand} {code} {b.operand})"
                return None if range is None else (text, range)
            case (("maximum" | "minimum"), [a, b]) if is_integer(op.operands[0].type):
                return self._extremum(name, self._atom(names[0], a), self._atom(names[1], b))
            case "clamp", [low, a, high] if is_integer(op.operands[1].type):
                if low.range.high <= a.range.low and a.range.high <= high.range.low:
                    return a
                low, a, high = (self._atom(x, n) for x, n in zip(names, (low, a, high)))
                inner = Number(*self._extremum("maximum", a, low))
                text = f"{a.text} if {low.operand} <= {a.text} <= {high.operand} else {inner.operand}"
                text += f" if {inner.operand} < {high.operand} else {high.operand}"
                return text, exact("minimum", inner.range, high.range) or high.range
            case "abs", [a]:
                return f"abs({a.text})", a.range.magnitude
            case "sign", [a] if is_integer(op.operands[0].type):
                if a.range.low > 0:
                    return "1", Range(1, 1)
                a = self._atom(names[0], a)
                signs = Range(*((x > 0) - (x < 0) for x in a.range))
                return f"1 if {a.operand} > 0 else -1 if {a.operand} < 0 else 0", signs
        return shifted(op, name, numbers)

    def _atom(self, name: str, number: Number) -> Number:
        """Return the number of a value as one that may be written several times."""
        return Number(self.atom(name), number.range) if self._numbers.get(name) == number else number

    def _extremum(self, name: str, a: Number, b: Number) -> tuple[str, Range]:
        """Return the code of a maximum or minimum."""
        first, second = (a, b) if name == "maximum" else (b, a)
        if first.range.low >= second.range.high:
            return a
        if second.range.low >= first.range.high:
            return b
        sign = ">" if name == "maximum" else "<"
        range = exact(name, a.range, b.range)
        assert range is not None
        return f"{a.operand} if {a.operand} {sign} {b.operand} else {b.operand}", range

    # --- writing ------------------------------------------------------------------------------------------------

    def _write(self, op: Operation, result: str, text: str, range: Range) -> None:
        """Write the value of an op, or keep the text if it is used once."""
        value, users = op.results[0], self.planned.uses[op.results[0]]
        type, wraps, place = whole(value.type), False, self.planned.places
        if not range.within(type):
            mask = (1 << bits(value.type)) - 1
            is_large = max(x.bit_length() for x in range) > MAX_BITS
            if type.low == 0 or value in self._wrapping or (is_large and all(map(ignores_high_bits, users))):
                text, range = f"{Number(text, range).operand} & {mask}", Range(0, mask)
            else:
                wraps = not all(map(ignores_high_bits, users))
        number = Number(text, range)
        if wraps:
            self.writer.source.line(f"{result} = {text}", op)
            self.writer.source.line(f"if {outside(result, range, type)}: {result} = {wrapped(result, value.type)}", op)
            self._numbers[result] = Number(result, type)
        elif number.is_atom or (len(users) == 1 and place[users[0]] is place[op] and len(text) <= MAX_TEXT):
            self._numbers[result] = number
        else:
            self.writer.source.line(f"{result} = {text}", op)
            self._numbers[result] = Number(result, range)

    def _wrapped(self, number: Number, type: Type) -> str:
        return number.operand if number.range.within(whole(type)) else wrapped(number.operand, type)
