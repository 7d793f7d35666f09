"""Affine maps, parsed from their text and evaluated, and MLIR's affine dialect, which applies them to indices.

A map is written `affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2)>`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, TypeAlias

from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Directive, Draft, Irregular, give, member_value
from stablehlo_ref.define.attribute_codecs import AttributeCodec
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.op import Attr, Ins, Op, Out
from stablehlo_ref.define.spec import size
from stablehlo_ref.define.type_constraints import index
from stablehlo_ref.diagnostics import EvaluationError, MalformedError, Source
from stablehlo_ref.dialects.mlir_types import Implied
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import Attribute, OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.lexer import Cursor
from stablehlo_ref.ir.types import INDEX, IndexType
from stablehlo_ref.numerics.dtypes import INT64

Expression: TypeAlias = Callable[[Sequence[int]], int]  # of the dimensions and then the symbols

MAX_DEPTH = 64  # of brackets

_is_plain = re.compile(r"[\w$.\s\-+*()\[\],<>]*", re.ASCII).fullmatch
_PRODUCTS = ("*", "floordiv", "ceildiv", "mod")


def _ceildiv(x: int, y: int) -> int:
    return -(-x // y)


_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "floordiv": operator.floordiv,
    "ceildiv": _ceildiv,
    "mod": operator.mod,
}


@dataclass(frozen=True)
class AffineMap:
    """A function of integers. `dims` and `symbols` count its arguments; a divisor must be positive."""

    text: str  # `affine_map<...>` as written
    dims: int
    symbols: int
    results: tuple[Expression, ...] = field(compare=False, repr=False)

    def __call__(self, *arguments: int) -> list[int]:
        """Return the results, as signed numbers of 64 bits. ZeroDivisionError for a divisor that is not positive."""
        return [(result(arguments) + (1 << 63)) % (1 << 64) - (1 << 63) for result in self.results]


class _Reader(Cursor):
    """A position in the text of a map."""

    def __init__(self, text: str) -> None:
        super().__init__(Source(text))
        self.names: dict[str, int] = {}

    def expected(self, what: str, starts_line: bool = False, hint: str = "") -> MalformedError:
        return self.error(f"expected {what}, found '{self.peek()}'")

    def parameters(self, opening: str, closing: str) -> int:
        """Parse names of arguments and return their number."""
        self.expect(opening)
        count = 0
        while not self.accept(closing):
            if count:
                self.expect(",")
            self.names[self.advance()] = len(self.names)
            count += 1
        return count

    # sum ::= product ((+ | -) product)*
    def sum(self) -> Expression:
        value = self.product()
        while self.peek() in ("+", "-"):
            value = self._binary(value, self.product)
        return value

    # product ::= factor ((* | floordiv | ceildiv | mod) factor)*
    def product(self) -> Expression:
        value = self.factor()
        while self.peek() in _PRODUCTS:
            value = self._binary(value, self.factor)
        return value

    def _binary(self, lhs: Expression, parse_rhs: Callable[[], Expression]) -> Expression:
        name = self.advance()
        rhs, apply = parse_rhs(), _OPERATORS[name]
        if name in ("floordiv", "ceildiv", "mod"):
            return lambda arguments: apply(lhs(arguments), _positive(rhs(arguments)))
        return lambda arguments: apply(lhs(arguments), rhs(arguments))

    # factor ::= - factor | ( sum ) | integer | name
    def factor(self) -> Expression:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ValueError(f"must be an affine map of at most {MAX_DEPTH} nested brackets")
        value = self._factor()
        self.depth -= 1
        return value

    def _factor(self) -> Expression:
        if self.accept("-"):
            inner = self.factor()
            return lambda arguments: -inner(arguments)
        if self.accept("("):
            inner = self.sum()
            self.expect(")")
            return inner
        token = self.advance()
        if token.isdecimal():
            number = int(token)
            return lambda arguments: number
        if token not in self.names:
            raise self.error(f"unknown name '{token}'")
        index = self.names[token]
        return lambda arguments: arguments[index]


def _positive(x: int) -> int:
    if x <= 0:
        raise ZeroDivisionError(f"division by {x} in an affine map")
    return x


@lru_cache(maxsize=1024)
def parse_affine_map(text: str) -> AffineMap:
    """Return the map that a text `affine_map<...>` describes; ValueError if it describes none."""
    if not _is_plain(text):
        raise ValueError("must be an affine map")
    try:
        return _parse(_Reader(text))
    except MalformedError as error:
        raise ValueError(f"must be an affine map: {error.diagnostics[0].message}") from None


def _parse(reader: _Reader) -> AffineMap:
    reader.expect("affine_map")
    reader.expect("<")
    dims = reader.parameters("(", ")")
    symbols = reader.parameters("[", "]") if reader.peek() == "[" else 0
    reader.expect("->")
    results = reader.items(reader.sum, "(", ")")
    reader.expect(">")
    if reader.peek():
        raise reader.expected("the end")
    return AffineMap(reader.text, dims, symbols, tuple(results))


class AffineMapCodec(AttributeCodec[AffineMap]):
    """`affine_map<...>`."""

    name = "affine map"

    def decode(self, attribute: Attribute) -> AffineMap:
        if isinstance(attribute, OpaqueAttribute):
            return parse_affine_map(attribute.text)
        raise self.mismatch()

    def encode(self, value: AffineMap) -> Attribute:
        return OpaqueAttribute(value.text)


Map: TypeAlias = Annotated[AffineMap, AffineMapCodec()]


def kernel(map: AffineMap, choose: Callable[[list[int]], int]) -> Run:
    """Return a kernel that applies a map to indices and chooses one of its results."""

    def run(operands: tuple[Array, ...]) -> Array:
        try:
            results = map(*[int(operand) for operand in operands])
        except ZeroDivisionError as error:
            raise EvaluationError(str(error)) from None
        chosen: Array = INT64.type(choose(results))
        return chosen

    return run


class AppliedMap(Directive):
    """`affine_map<...>(%dims)[%symbols]`."""

    members = ("map",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        offset, attribute = parser.start, parser.attribute()
        if not isinstance(attribute, OpaqueAttribute):
            raise parser.error("expected an affine map", offset)
        give(draft, "map", attribute)
        draft.exclusive = self.members
        draft.operands = parser.items(parser.operand, "(", ")")
        if parser.peek() == "[":
            draft.operands += parser.items(parser.operand, "[", "]")

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        map = member_value(op, "map")
        if not isinstance(map, AffineMap) or map.dims + map.symbols != len(op.operands):
            raise Irregular
        dims, symbols = op.operands[: map.dims], op.operands[map.dims :]
        listed = f"[{printer.operands(symbols)}]" if symbols else ""
        printer.value(f"{map.text}({printer.operands(dims)}){listed}")


class Apply(Op, op="apply", dialect="affine"):
    """Return the result of `map`, applied to the operands: its dimensions and then its symbols."""

    map = Attr(Map)
    operands = Ins(index)
    result = Out(index)

    syntax = (AppliedMap(), "attr-dict", Implied([INDEX], lambda n: [INDEX] * n))

    @staticmethod
    def constraints(C: Checker, map: Map, operands: Sequence[IndexType]) -> None:
        C(1, map.dims + map.symbols == size(operands))
        C(2, size(map.results) == 1)

    @staticmethod
    def plan(map: Map) -> Run:
        return kernel(map, lambda results: results[0])


class Min(Apply, op="min"):
    """Return the smallest result of `map`."""

    @staticmethod
    def constraints(C: Checker, map: Map, operands: Sequence[IndexType]) -> None:
        C(1, map.dims + map.symbols == size(operands))
        C(2, size(map.results) >= 1)

    @staticmethod
    def plan(map: Map) -> Run:
        return kernel(map, min)


class Max(Min, op="max"):
    """Return the largest result of `map`."""

    @staticmethod
    def plan(map: Map) -> Run:
        return kernel(map, max)
