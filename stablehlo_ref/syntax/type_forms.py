"""The types at the end of a pretty form: all of them, or one type from which the others follow."""

from __future__ import annotations

from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import ComplexType, TensorType, TupleType, Type
from stablehlo_ref.syntax.directive import Directive, Irregular
from stablehlo_ref.syntax.draft import Draft
from stablehlo_ref.syntax.protocols import AsmParser, AsmPrinter


def assign_functional_type(parser: AsmParser, draft: Draft) -> None:
    """Parse `(operand types) -> result types`."""
    offset = parser.start
    type = parser.function_type()
    if len(type.inputs) != len(draft.operands):
        raise parser.error(f"{len(draft.operands)} operands present, but expected {len(type.inputs)}", offset)
    draft.operand_types, draft.result_types = type.inputs, type.outputs


class FunctionalType(Directive):
    """`(operand types) -> result types`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.peek() != "(":
            raise parser.expected("a functional type such as '(tensor<f32>) -> tensor<f32>'")
        assign_functional_type(parser, draft)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(printer.functional_type(op))


class Types(Directive):
    """`type(operands)` or `type(results)`."""

    def __init__(self, of: str) -> None:
        self.of = of

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        offset = parser.start
        if self.of == "results":
            draft.result_types = parser.type_list()
            return
        types = parser.type_list() if draft.operands else ()
        if len(types) != len(draft.operands):
            raise parser.error(f"{len(draft.operands)} operands present, but expected {len(types)}", offset)
        draft.operand_types = types

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        types = op.operand_types if self.of == "operands" else op.result_types
        if not types:
            raise Irregular
        printer.value(", ".join(map(str, types)))

    def present(self, op: Operation) -> bool:
        return bool(op.operands if self.of == "operands" else op.results)


class ShortType(Directive):
    """A type from which the others follow, or a functional type if they do not."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.peek() == "(":
            assign_functional_type(parser, draft)
        else:
            self.assign(parser, draft)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        shortened = self.shorten(op.operand_types, op.result_types)
        printer.value(printer.functional_type(op) if shortened is None else shortened)

    def assign(self, parser: AsmParser, draft: Draft) -> None:
        """Parse the short form."""
        raise NotImplementedError

    def shorten(self, operands: list[Type], results: list[Type]) -> str | None:
        """Return the short form; None if it cannot express these types."""
        raise NotImplementedError


class SameType(ShortType):
    """One type of all operands and results."""

    def assign(self, parser: AsmParser, draft: Draft) -> None:
        type = parser.type()
        draft.operand_types = (type,) * len(draft.operands)
        draft.result_types = (type,) * len(REGISTRY[draft.name].results)

    def shorten(self, operands: list[Type], results: list[Type]) -> str | None:
        types = {*operands, *results}
        return str(types.pop()) if len(types) == 1 else None


class ComplexTypeOfParts(ShortType):
    """A complex type whose parts have the type of the operands."""

    def assign(self, parser: AsmParser, draft: Draft) -> None:
        offset, type = parser.start, parser.type()
        part = _part_type(type)
        if part is None:
            raise parser.error(f"expected tensor with complex element type, got {type}", offset)
        draft.operand_types, draft.result_types = (part,) * len(draft.operands), (type,)

    def shorten(self, operands: list[Type], results: list[Type]) -> str | None:
        part = _part_type(results[0]) if len(results) == 1 else None
        return str(results[0]) if part is not None and set(operands) == {part} else None


def _part_type(type: Type) -> Type | None:
    """Return the type of the real and imaginary parts of a complex tensor type; None for other types."""
    if not isinstance(type, TensorType) or not isinstance(type.element_type, ComplexType):
        return None
    return TensorType(type.shape, type.element_type.element, type.bounds, type.encoding)


class SelectType(ShortType):
    """The type of the predicate, and the type of the other operands and the result."""

    def assign(self, parser: AsmParser, draft: Draft) -> None:
        pred = parser.type()
        parser.expect(",")
        type = parser.type()
        draft.operand_types, draft.result_types = (pred, *(type,) * (len(draft.operands) - 1)), (type,)

    def shorten(self, operands: list[Type], results: list[Type]) -> str | None:
        same = operands and len({*operands[1:], *results}) == 1
        return f"{operands[0]}, {results[0]}" if same and results else None


class TupleTypeOfElements(ShortType):
    """A tuple type whose elements have the types of the operands."""

    def assign(self, parser: AsmParser, draft: Draft) -> None:
        offset, type = parser.start, parser.type()
        if not isinstance(type, TupleType):
            raise parser.error(f"expected tuple type, got {type}", offset)
        if len(type.elements) != len(draft.operands):
            raise parser.error(f"{len(draft.operands)} operands present, but expected {len(type.elements)}", offset)
        draft.operand_types, draft.result_types = type.elements, (type,)

    def shorten(self, operands: list[Type], results: list[Type]) -> str | None:
        return str(results[0]) if results == [TupleType(tuple(operands))] else None
