"""Affine maps: `affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2)>`, parsed from their text and evaluated."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from stablehlo_ref.diagnostics import MalformedError, Source
from stablehlo_ref.ir.lexer import Cursor

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
