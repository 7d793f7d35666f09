"""The pretty forms of cf's branches: `^label(%operands : types)` for each successor."""

from __future__ import annotations

from stablehlo_ref.define.bound import bind_types
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.dialects.cf import CaseValues
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import BOOLEAN, BooleanType, IntegerType
from stablehlo_ref.syntax.directive import Directive, Irregular
from stablehlo_ref.syntax.draft import Draft
from stablehlo_ref.syntax.protocols import AsmParser, AsmPrinter


def parse_successor(parser: AsmParser, draft: Draft) -> int:
    """Parse `^label(%operands : types)` and return the number of operands."""
    draft.successors.append(parser.label())
    if not parser.accept("("):
        return 0
    operands = parser.operand_list()
    parser.expect(":")
    offset, types = parser.start, parser.type_list()
    if len(types) != len(operands):
        raise parser.error(f"{len(operands)} operands present, but expected {len(types)}", offset)
    parser.expect(")")
    draft.operands += operands
    draft.operand_types = (*(draft.operand_types or ()), *types)
    return len(operands)


def successor_texts(printer: AsmPrinter, op: Operation, first: int = 0) -> list[str]:
    """Return the text of each successor, which the operands from `first` on are for; Irregular if they do not fit."""
    try:
        sizes = [len(types) for types in bind_types(op, REGISTRY[op.name]).call("forwarded")]
    except (LookupError, TypeError, ValueError):
        raise Irregular from None
    if len(sizes) != len(op.successors) or first + sum(sizes) != len(op.operands):
        raise Irregular
    texts = []
    for label, size in zip(op.successors, sizes):
        values = op.operands[first : first + size]
        first += size
        types = ", ".join(str(value.type) for value in values)
        texts.append(f"^{label}({printer.operands(values)} : {types})" if values else f"^{label}")
    return texts


class Successor(Directive):
    """`^label(%operands : types)`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        parse_successor(parser, draft)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(", ".join(successor_texts(printer, op)))


class ConditionalSuccessors(Directive):
    """`%condition, ^label(%operands : types), ^label(%operands : types)`."""

    members = ("operand_segment_sizes",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands, draft.operand_types = [parser.operand()], (BOOLEAN,)
        sizes = [1]
        for _ in range(2):
            parser.expect(",")
            sizes.append(parse_successor(parser, draft))
        draft.members["operand_segment_sizes"] = tuple(sizes)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        texts = successor_texts(printer, op, 1)
        printer.value(", ".join((printer.operand(op.operands[0]), *texts)))


class SwitchSuccessors(Directive):
    """`%flag : type, [default: ^label(%operands : types), 42: ^label(%operands : types), ...]`."""

    members = ("case_values", "case_operand_segments", "operand_segment_sizes")

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands = [parser.operand()]
        parser.expect(":")
        offset, type = parser.start, parser.type()
        if not isinstance(type, IntegerType | BooleanType):
            raise parser.error(f"expected an integer type, got {type}", offset)
        draft.operand_types = (type,)
        parser.expect(",")
        cases = parser.items(lambda: self._case(parser, draft), "[", "]")
        if not cases or cases[0][0] is not None or any(value is None for value, _ in cases[1:]):
            raise parser.error("expected 'default' as the first of the cases, and only there", offset)
        values = [value for value, _ in cases[1:] if value is not None]
        sizes = [size for _, size in cases]
        if values:
            draft.members["case_values"] = CaseValues(type, tuple(values))
        draft.members["case_operand_segments"] = tuple(sizes[1:])
        draft.members["operand_segment_sizes"] = (1, sizes[0], sum(sizes[1:]))

    def _case(self, parser: AsmParser, draft: Draft) -> tuple[int | None, int]:
        value = None if parser.accept("default") else parser.integer()
        parser.expect(":")
        return value, parse_successor(parser, draft)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        flag, texts = op.operands[0], successor_texts(printer, op, 1)
        cases = op.properties.get("case_values") or CaseValues(flag.type, ())
        if not isinstance(cases, CaseValues) or len(texts) != 1 + len(cases.values) or cases.type != flag.type:
            raise Irregular
        labels = ["default", *map(str, cases.values)]
        written = ", ".join(f"{label}: {text}" for label, text in zip(labels, texts))
        printer.value(f"{printer.operand(flag)} : {flag.type}, [{written}]")


CF_FORMS: dict[str, Directive] = {
    "conditional_successors": ConditionalSuccessors(),
    "successor": Successor(),
    "switch_successors": SwitchSuccessors(),
}
