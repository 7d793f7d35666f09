"""MLIR's affine dialect: affine maps applied to indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from stablehlo_ref.ir.affine import AffineMap, parse_affine_map
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import Attribute, OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import INDEX, IndexType
from stablehlo_ref.numerics.dtypes import INT64


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
