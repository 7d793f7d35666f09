"""Affine maps, parsed from their text and evaluated, and MLIR's affine dialect, which applies them to indices.

A map is written `affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2)>`.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
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
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects.mlir_types import Implied
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import Attribute, OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.lexer import shorten
from stablehlo_ref.ir.types import INDEX, IndexType
from stablehlo_ref.numerics.dtypes import INT64

Expression: TypeAlias = Callable[[Sequence[int]], int]  # of the dimensions and then the symbols

MAX_OPERATORS = 256  # and brackets, of a map

_NAMES = r"\s*((?:[\w$.]+\s*(?:,\s*[\w$.]+\s*)*+)?+)"
_match_map = re.compile(
    rf"affine_map\s*<\s*\({_NAMES}\)\s*(?:\[{_NAMES}\]\s*)?->\s*\((.*)\)\s*>", re.ASCII | re.DOTALL
).fullmatch
_find_tokens = re.compile(r"[\w$.]+|\S", re.ASCII).findall
_SPELLED = {"floordiv": "//", "ceildiv": "@", "mod": "%", **{token: token for token in "+-*(),"}}  # in Python


def _positive(x: int) -> int:
    if x <= 0:
        raise ZeroDivisionError(f"division by {x} in an affine map")
    return x


_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: lambda x, y: x // _positive(y),
    ast.MatMult: lambda x, y: -(-x // _positive(y)),
    ast.Mod: lambda x, y: x % _positive(y),
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


@lru_cache(maxsize=1024)
def parse_affine_map(text: str) -> AffineMap:
    """Return the map that a text `affine_map<...>` describes; ValueError if it describes none.

    The results are read as Python, in which all operators have the same precedence.
    """
    match = _match_map(text)
    if match is None:
        raise ValueError("must be an affine map")
    dims, symbols = (re.findall(r"[\w$.]+", names) for names in match.groups("")[:2])
    numbers = {name: f"_{index}" for index, name in enumerate((*dims, *symbols))}
    tokens = _find_tokens(match[3])
    if sum(token in _SPELLED for token in tokens) > MAX_OPERATORS:
        raise ValueError(f"must be an affine map of at most {MAX_OPERATORS} operators and brackets")
    spelled = {t: str(int(t)) if t.isdecimal() else _SPELLED.get(t, numbers.get(t)) for t in tokens}
    for token, found in spelled.items():
        if found is None:
            raise ValueError(f"must be an affine map: unknown name '{token}'")
    try:
        results = ast.parse(f"[{' '.join(str(spelled[token]) for token in tokens)}]", mode="eval").body
    except (SyntaxError, RecursionError, MemoryError):
        results = None
    if not isinstance(results, ast.List) or tokens[-1:] == [","]:
        raise ValueError(f"must be an affine map: malformed results '{shorten(match[3].strip())}'")
    return AffineMap(text, len(dims), len(symbols), tuple(map(_expression, results.elts)))


def _expression(node: ast.expr) -> Expression:
    match node:
        case ast.Constant(int(number)):
            return lambda arguments: number
        case ast.Name(name):
            index = int(name[1:])
            return lambda arguments: arguments[index]
        case ast.UnaryOp(ast.USub(), operand):
            inner = _expression(operand)
            return lambda arguments: -inner(arguments)
        case ast.BinOp(left, operation, right):
            lhs, apply, rhs = _expression(left), _OPERATORS[type(operation)], _expression(right)
            return lambda arguments: apply(lhs(arguments), rhs(arguments))
    raise ValueError("must be an affine map: expected numbers, names and operators")


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
