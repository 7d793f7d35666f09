"""The pretty forms of scf's ops, in which terminators without operands are omitted."""

from __future__ import annotations

from collections.abc import Sequence

from stablehlo_ref.ir.core import Operation, Region, Value
from stablehlo_ref.ir.types import BOOLEAN, INDEX, FunctionType, Type
from stablehlo_ref.syntax.directive import (
    Directive,
    Irregular,
    attribute_dictionary,
    member_value,
    other_attributes,
    print_dictionary,
)
from stablehlo_ref.syntax.draft import Draft
from stablehlo_ref.syntax.protocols import AsmParser, AsmPrinter, OperandName

YIELD = "scf.yield"


def parse_results(parser: AsmParser, draft: Draft) -> None:
    """Parse `-> (types)` or `-> type`, if it is next."""
    if parser.accept("->"):
        is_list = parser.peek() == "("
        draft.result_types = tuple(parser.items(parser.type, "(", ")")) if is_list else (parser.type(),)


def print_results(printer: AsmPrinter, op: Operation, bare: bool = False) -> None:
    """Print `-> (types)`, unless there are no results; one type without brackets if `bare`."""
    if op.results:
        types = ", ".join(map(str, op.result_types))
        printer.value(f"-> {types}" if bare and len(op.results) == 1 else f"-> ({types})")


def print_region(printer: AsmPrinter, region: Region, names: Sequence[str] | None = None) -> None:
    """Print a region without the terminator that is implied; Irregular if it has several blocks or labels."""
    if len(region.blocks) != 1 or (names is None and region.block.arguments):
        raise Irregular
    printer.value("")
    printer.region(region, names, implied=YIELD)


class If(Directive):
    """`%condition -> (types) {...} else {...}`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands, draft.operand_types = [parser.operand()], (BOOLEAN,)
        parse_results(parser, draft)
        draft.regions = [parser.region(implied=YIELD)]
        draft.regions.append(parser.region(implied=YIELD) if parser.accept("else") else Region([]))

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(printer.operand(op.operands[0]))
        print_results(printer, op)
        print_region(printer, op.regions[0])
        if op.regions[1].blocks:
            printer.value("else")
            print_region(printer, op.regions[1])


class IndexSwitch(Directive):
    """`%arg {...} -> types case 2 {...} case 5 {...} default {...}`."""

    members = ("cases",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands, draft.operand_types = [parser.operand()], (INDEX,)
        attribute_dictionary(parser, draft)
        if parser.accept("->"):
            is_list = parser.peek() == "("
            draft.result_types = tuple(parser.items(parser.type, "(", ")")) if is_list else parser.type_list()
        cases: list[int] = []
        while parser.accept("case"):
            cases.append(parser.integer())
            draft.regions.append(parser.region(implied=YIELD))
        parser.expect("default")
        draft.regions.insert(0, parser.region(implied=YIELD))
        draft.members["cases"] = tuple(cases)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        cases = member_value(op, "cases")
        if len(op.regions) != 1 + len(cases):
            raise Irregular
        printer.value(printer.operand(op.operands[0]))
        print_dictionary(printer, other_attributes(op, self.members))
        if op.results:
            printer.value(f"-> {', '.join(map(str, op.result_types))}")
        for head, region in zip([*(f"case {case}" for case in cases), "default"], (*op.regions[1:], op.regions[0])):
            printer.newline()
            printer.value(head)
            print_region(printer, region)


class ExecuteRegion(Directive):
    """`no_inline -> (types) {...}`; `no_inline` is optional."""

    members = ("no_inline",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.accept("no_inline"):
            draft.members["no_inline"] = True
            draft.exclusive = self.members
        parse_results(parser, draft)
        draft.regions = [parser.region()]

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if op.properties.get("no_inline"):
            printer.value("no_inline")
        print_results(printer, op, bare=True)
        printer.value("")
        printer.region(op.regions[0])


def parse_pair(parser: AsmParser) -> tuple[OperandName, OperandName]:
    """Parse `%argument = %init`."""
    argument = parser.operand()
    parser.expect("=")
    return argument, parser.operand()


class For(Directive):
    """`%i = %lower to %upper step %step iter_args(%argument = %init) -> (types) : type {...}`.

    The type is that of the bounds; it is omitted if it is `index`.
    """

    members = ("unsigned_cmp",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.accept("unsigned"):
            draft.members["unsigned_cmp"] = True
            draft.exclusive = ("unsignedCmp",)
        number, lower = parse_pair(parser)
        parser.expect("to")
        upper = parser.operand()
        parser.expect("step")
        step, pairs = parser.operand(), []
        if parser.accept("iter_args"):
            pairs = parser.items(lambda: parse_pair(parser), "(", ")")
            parse_results(parser, draft)
        offset = parser.start
        type = parser.type() if parser.accept(":") else INDEX
        if len(draft.result_types) != len(pairs):
            raise parser.error(f"expected types of {len(pairs)} iter_args, got {len(draft.result_types)}", offset)
        draft.operands = [lower, upper, step, *(init for _, init in pairs)]
        draft.operand_types = (type, type, type, *draft.result_types)
        names = [number, *(argument for argument, _ in pairs)]
        draft.regions = [parser.region(parser.arguments(names, (type, *draft.result_types)), implied=YIELD)]

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        lower, upper, step, *inits = op.operands
        arguments = _arguments(op.regions[0])
        if [v.type for v in arguments] != [lower.type, *op.result_types] or len(set(op.operand_types[:3])) != 1:
            raise Irregular
        if [v.type for v in inits] != op.result_types or _are_located(printer, arguments):
            raise Irregular
        number, *names = printer.region_argument_names(arguments)
        unsigned = "unsigned " if op.properties.get("unsigned_cmp") else ""
        bounds = f"{printer.operand(lower)} to {printer.operand(upper)} step {printer.operand(step)}"
        printer.value(f"{unsigned}%{number} = {bounds}")
        if inits:
            pairs = (f"%{name} = {printer.operand(init)}" for name, init in zip(names, inits))
            printer.value(f"iter_args({', '.join(pairs)})")
            print_results(printer, op)
        if lower.type != INDEX:
            printer.value(f": {lower.type}")
        print_region(printer, op.regions[0], [number, *names])


def _arguments(region: Region) -> list[Value]:
    return region.block.arguments if len(region.blocks) == 1 else []


def _are_located(printer: AsmPrinter, arguments: Sequence[Value]) -> bool:
    """Return whether arguments have locations to be printed, for which these forms have no place."""
    return printer.locations and any(argument.location is not None for argument in arguments)


class While(Directive):
    """`(%argument = %init, ...) : (types) -> (types) {...} do {...} attributes {...}`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        pairs = parser.items(lambda: parse_pair(parser), "(", ")") if parser.peek() == "(" else []
        parser.expect(":")
        offset, type = parser.start, parser.function_type()
        if len(type.inputs) != len(pairs):
            raise parser.error(f"{len(pairs)} operands present, but expected {len(type.inputs)}", offset)
        draft.operands = [init for _, init in pairs]
        draft.operand_types, draft.result_types = type.inputs, type.outputs
        before = parser.region(parser.arguments([argument for argument, _ in pairs], type.inputs))
        parser.expect("do")
        draft.regions = [before, parser.region(implied=YIELD)]
        attribute_dictionary(parser, draft, "attributes")

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        arguments = _arguments(op.regions[0])
        types: list[Type] = [argument.type for argument in arguments]
        if len(op.regions[0].blocks) != 1 or types != op.operand_types or _are_located(printer, arguments):
            raise Irregular
        names = printer.region_argument_names(arguments)
        if op.operands:
            pairs = (f"%{name} = {printer.operand(init)}" for name, init in zip(names, op.operands))
            printer.value(f"({', '.join(pairs)})")
        printer.value(f": {FunctionType(tuple(types), tuple(op.result_types))}")
        printer.value("")
        printer.region(op.regions[0], names)
        printer.value("do ")
        printer.region(op.regions[1], implied=YIELD)
        print_dictionary(printer, other_attributes(op, ()), "attributes")


class Condition(Directive):
    """`(%condition) {...} %args : types`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        parser.expect("(")
        condition = parser.operand()
        parser.expect(")")
        attribute_dictionary(parser, draft)
        args = parser.operand_list()
        types: tuple[Type, ...] = ()
        if args:
            parser.expect(":")
            types = parser.type_list()
        draft.operands, draft.operand_types = [condition, *args], (BOOLEAN, *types)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        condition, *args = op.operands
        printer.literal("(")
        printer.value(f"{printer.operand(condition)})")
        print_dictionary(printer, other_attributes(op, ()))
        if args:
            printer.value(f"{printer.operands(args)} : {', '.join(str(v.type) for v in args)}")


SCF_FORMS: dict[str, Directive] = {
    "scf_condition": Condition(),
    "scf_execute_region": ExecuteRegion(),
    "scf_for": For(),
    "scf_if": If(),
    "scf_index_switch": IndexSwitch(),
    "scf_while": While(),
}
