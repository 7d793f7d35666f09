"""MLIR's arith and affine dialects: arithmetic on scalars and tensors, and affine maps of indices.

Floats are rounded to nearest even; other rounding modes are not supported.
Integers are signless: an op whose result depends on the sign has a signed and an unsigned form. Where MLIR's result is
undefined or poison, these ops return what StableHLO's do: `x / 0` has all bits set, `x % 0` is `x`, and shifts by the
bit width or more shift all bits out. The same holds for i1, where `true` is 1 as unsigned and -1 as signed integer.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, TypeAlias

import numpy as np

from stablehlo_ref.define.assembly import (
    AsmParser,
    AsmPrinter,
    Directive,
    Draft,
    Irregular,
    give,
    implied,
    member_value,
)
from stablehlo_ref.define.attribute_codecs import NO_OVERFLOW, AttributeCodec, Opaque, Overflow
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import CONSTANT, SELECTS
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, Ins, Op, Out
from stablehlo_ref.define.spec import num_bits, size
from stablehlo_ref.define.type_constraints import anything, index
from stablehlo_ref.diagnostics import EvaluationError, UnsupportedError
from stablehlo_ref.dialects import mlir_types
from stablehlo_ref.dialects.mlir_types import constant_value, define, define_like, type_of
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.attributes import Attribute, IntegerAttribute, OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.lexer import shorten
from stablehlo_ref.ir.types import BOOLEAN, INDEX, IndexType, Type, integer_type
from stablehlo_ref.numerics import floats, integers
from stablehlo_ref.numerics.dtypes import INT64, bit_width, bits_dtype, is_signed
from stablehlo_ref.numerics.kernels import same_kernel
from stablehlo_ref.ops import elementwise

Factory: TypeAlias = Callable[[DType], Run]  # from the dtype of the operands to a kernel

NEAREST_EVEN = IntegerAttribute(0, integer_type(32))
# Kernels for i1.
AND, OR, XOR = map(same_kernel, (np.logical_and, np.logical_or, np.not_equal))
QUOTIENT = same_kernel(np.greater_equal)  # x / 1 = x, and x / 0 has all bits set
REMAINDER = same_kernel(np.greater)  # x % 1 = 0 and x % 0 = x; also x << y and the logical x >> y
FIRST = same_kernel(lambda x, y: x)


class TypedValue(Directive):
    """`dense<...> : type`, `5 : index`, `true`: a constant, whose type is that of the result."""

    members = ("value",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        offset, value = parser.start, parser.attribute()
        type = BOOLEAN if isinstance(value, bool) else getattr(value, "type", None)
        if type is None:
            raise parser.error("expected a constant with a type", offset)
        draft.members["value"], draft.result_types = value, (type,)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        value = member_value(op, "value")
        if op.result_types != [BOOLEAN if isinstance(value, bool) else getattr(value, "type", None)]:
            raise Irregular
        printer.value(printer.attribute(value))


class Constant(Op, op="constant", dialect="arith", computes_on_storage=True, facts=CONSTANT):
    """Return the constant `value`, a scalar or a tensor."""

    value = Attr(Opaque)
    result = Out(anything)

    syntax = ("attr-dict", TypedValue())

    @staticmethod
    def constraints(C: Checker, value: Opaque, result: Type) -> None:
        C(1, type_of(value) == result)
        if isinstance(value, IntegerAttribute):
            C(2, -(2 ** (num_bits(result) - 1)) <= value.value < 2 ** num_bits(result))

    @staticmethod
    def plan(value: Opaque, result: Type) -> Run:
        array = constant_value(value, result)
        return lambda: array


# --- two operands of one type ---------------------------------------------------------------------------------------


def unsigned(factory: Factory) -> Factory:
    """Return a factory of kernels that interpret integer operands as unsigned."""

    def make(dtype: DType) -> Run:
        natural = unsigned_dtype(dtype)
        kernel = factory(natural)
        return lambda *operands: kernel(*[x.view(natural) for x in operands]).view(dtype)

    return make


def unsigned_dtype(dtype: DType) -> DType:
    """Return the unsigned dtype of the same width."""
    return np.dtype(f"u{dtype.name}") if bit_width(dtype) < 8 and is_signed(dtype) else bits_dtype(dtype)


def rounded(up: bool) -> Factory:
    """Return a factory of integer division kernels that round toward +inf if `up`, else toward -inf.

    `x / 0` has all bits set, as in truncating division.
    """

    def make(dtype: DType) -> Run:
        divide, remainder = integers.divide(dtype), integers.remainder(dtype)
        step = (integers.add if up else integers.subtract)(dtype)

        def run(x: Array, y: Array) -> Array:
            rest = remainder(x, y)
            is_positive = np.equal(np.less(rest, 0), np.less(y, 0))  # the fraction that truncation discards
            adjusts = np.not_equal(rest, 0) & np.not_equal(y, 0) & np.equal(is_positive, up)
            return step(divide(x, y), adjusts.astype(dtype))

        return run

    return make


class Binary(mlir_types.Binary, dialect="arith"):
    """The base class of ops on two integers."""


class Wrapping(Binary):
    """The base class of those whose result may be known not to wrap."""

    overflow = Attr(Overflow, default=NO_OVERFLOW, name="overflowFlags")


class Exact(Binary):
    """The base class of those whose result may be known to discard nothing."""

    is_exact = Attr(Opaque, default=None, name="isExact")


INTEGER_OPS: Sequence[tuple[type[Binary], str, str, Factory, Factory]] = (  # with kernels for i1 and for wider integers
    (Wrapping, "addi", "Add integers modulo 2**bit width.", XOR, integers.add),
    (Wrapping, "subi", "Subtract integers modulo 2**bit width.", XOR, integers.subtract),
    (Wrapping, "muli", "Multiply integers modulo 2**bit width.", AND, integers.multiply),
    (Exact, "divsi", "Divide signed integers, rounding toward zero.", QUOTIENT, integers.divide),
    (Exact, "divui", "Divide unsigned integers, rounding toward zero.", QUOTIENT, unsigned(integers.divide)),
    (Binary, "floordivsi", "Divide signed integers, rounding toward -inf.", QUOTIENT, rounded(up=False)),
    (Binary, "ceildivsi", "Divide signed integers, rounding toward +inf.", QUOTIENT, rounded(up=True)),
    (Binary, "ceildivui", "Divide unsigned integers, rounding up.", QUOTIENT, unsigned(rounded(up=True))),
    (Binary, "remsi", "Return the remainder of division, with the sign of `lhs`.", REMAINDER, integers.remainder),
    (Binary, "remui", "Return the remainder of unsigned division.", REMAINDER, unsigned(integers.remainder)),
    (Binary, "andi", "Return the bitwise and.", AND, integers.bitwise_and),
    (Binary, "ori", "Return the bitwise or.", OR, integers.bitwise_or),
    (Binary, "xori", "Return the bitwise exclusive or.", XOR, integers.bitwise_xor),
    (Wrapping, "shli", "Shift `lhs` left by `rhs` bits.", REMAINDER, integers.shift_left),
    (Exact, "shrsi", "Shift `lhs` right by `rhs` bits, filling with the sign bit.", FIRST,
     integers.shift_right_arithmetic),
    (Exact, "shrui", "Shift `lhs` right by `rhs` bits, filling with zeros.", REMAINDER, integers.shift_right_logical),
    (Binary, "maxsi", "Return the maximum of signed integers.", AND, integers.maximum),
    (Binary, "maxui", "Return the maximum of unsigned integers.", OR, unsigned(integers.maximum)),
    (Binary, "minsi", "Return the minimum of signed integers.", OR, integers.minimum),
    (Binary, "minui", "Return the minimum of unsigned integers.", AND, unsigned(integers.minimum)),
)  # fmt: skip
for base, mnemonic, doc, of_booleans, of_integers in INTEGER_OPS:
    define(base, mnemonic, doc, boolean=of_booleans, integer=of_integers)


class BinaryF(mlir_types.BinaryF, dialect="arith"):
    """The base class of ops on two floats."""


class RoundedF(BinaryF):
    """The base class of ops on two floats whose result is rounded."""

    rounding_mode = Attr(Opaque, default=None, name="roundingmode")

    @classmethod
    def plan(cls, mode: Mode, lhs: Type, rounding_mode: Opaque | None) -> Run:
        check_rounding(rounding_mode)
        return cls.kernel(lhs, mode)


def check_rounding(mode: Opaque | None) -> None:
    """Raise UnsupportedError for a rounding mode other than to nearest even."""
    if mode not in (None, NEAREST_EVEN):
        raise UnsupportedError("unsupported rounding mode; expected to_nearest_even, or none")


define_like(
    RoundedF,
    {
        "addf": elementwise.Add,
        "subf": elementwise.Subtract,
        "mulf": elementwise.Multiply,
        "divf": elementwise.Divide,
    },
)
define_like(
    BinaryF,
    {"remf": elementwise.Remainder, "maximumf": elementwise.Maximum, "minimumf": elementwise.Minimum},
)


def ignoring_nan(choose: Run) -> Factory:
    """Return a factory of kernels that return the other operand where one is NaN.

    `np.fmax` and `np.fmin` cannot be used: they return NaN for a signaling NaN.
    """

    def run(x: Array, y: Array) -> Array:
        return np.where(np.isnan(x), y, np.where(np.isnan(y), x, choose(x, y)))[()]

    return floats.binary(same_kernel(run))


for mnemonic, extremum, choose in (("maxnumf", "maximum", np.maximum), ("minnumf", "minimum", np.minimum)):
    doc = f"Return the {extremum} of floats; the other operand if one is NaN."
    define(BinaryF, mnemonic, doc, floating=ignoring_nan(choose), facts=SELECTS)


class UnaryF(mlir_types.UnaryF, dialect="arith"):
    """The base class of ops on one float."""


define_like(UnaryF, {"negf": elementwise.Negate})


# --- affine maps ------------------------------------------------------------------------------------------------------

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

    def read(self, attribute: Attribute) -> AffineMap | None:
        return parse_affine_map(attribute.text) if isinstance(attribute, OpaqueAttribute) else None

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

    syntax = (AppliedMap(), "attr-dict", implied([INDEX], lambda n: [INDEX] * n))

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
