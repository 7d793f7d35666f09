"""The irregular pretty forms of Shardy's ops, whose attributes are kept as text."""

from __future__ import annotations

from stablehlo_ref.ir.attributes import IntegerAttribute, OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import IntegerType
from stablehlo_ref.syntax import attribute_text as text
from stablehlo_ref.syntax.directive import Directive, Irregular, member_value, other_attributes, print_dictionary
from stablehlo_ref.syntax.draft import Draft
from stablehlo_ref.syntax.protocols import AsmParser, AsmPrinter


def written(op: Operation, name: str, prefix: str, suffix: str = "") -> str:
    """Return the text of an opaque attribute without the prefix and suffix that the pretty form omits."""
    value = member_value(op, name)
    if not isinstance(value, OpaqueAttribute) or not (value.text.startswith(prefix) and value.text.endswith(suffix)):
        raise Irregular
    return value.text[len(prefix) : len(value.text) - len(suffix)]


class Mesh(Directive):
    """`@name = <["x"=2, "y"=4]>`."""

    members = ("sym_name", "mesh")

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.members["sym_name"] = parser.symbol_name()
        parser.expect("=")
        draft.members["mesh"] = OpaqueAttribute("#sdy.mesh" + parser.balanced_text("a mesh"))

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(f"{text.symbol(member_value(op, 'sym_name'))} = {written(op, 'mesh', '#sdy.mesh')}")


class Sharding(Directive):
    """`<@mesh, [{"x"}, {}]>`."""

    members = ("sharding",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.members["sharding"] = OpaqueAttribute("#sdy.sharding" + parser.balanced_text("a sharding"))

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(written(op, "sharding", "#sdy.sharding"))


class Direction(Directive):
    """`NONE`, `FORWARD`, `BACKWARD` or `BOTH`, which are integers in generic form."""

    members = ("allowed_direction",)
    words = ("NONE", "FORWARD", "BACKWARD", "BOTH")

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.peek() not in self.words:
            raise parser.expected("NONE, FORWARD, BACKWARD or BOTH")
        number = self.words.index(parser.advance())
        draft.members["allowed_direction"] = IntegerAttribute(number, IntegerType(32))

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        value = member_value(op, "allowed_direction")
        if not isinstance(value, IntegerAttribute) or not 0 <= value.value < len(self.words):
            raise Irregular
        printer.value(self.words[value.value])


class ManualComputation(Directive):
    """`(%x) in_shardings=[...] out_shardings=[...] manual_axes={...} (%arg: type) {...} : (types) -> types`."""

    members = ("in_shardings", "out_shardings", "manual_axes")

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands = parser.items(parser.operand, "(", ")")
        for name in ("in_shardings", "out_shardings"):
            self._begin(parser, name)
            draft.members[name] = OpaqueAttribute(f"#sdy.sharding_per_value<{parser.balanced_text('shardings')}>")
        self._begin(parser, "manual_axes")
        draft.members["manual_axes"] = OpaqueAttribute(f"#sdy<manual_axes{parser.balanced_text('axes')}>")
        arguments = parser.items(parser.argument, "(", ")")
        for index, argument in enumerate(arguments):
            argument.index = index
        draft.regions = [parser.region(arguments, isolated=True)]
        if parser.peek() == "{":
            draft.attributes |= parser.dictionary()
        parser.expect(":")
        parser.functional_type(draft)

    def _begin(self, parser: AsmParser, name: str) -> None:
        parser.expect(name)
        parser.expect("=")

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if len(op.regions) != 1 or len(op.regions[0].blocks) != 1:
            raise Irregular
        printer.literal("(")
        printer.value(f"{printer.operands(op.operands)})")
        for name in ("in_shardings", "out_shardings"):
            printer.value(f"{name}={written(op, name, '#sdy.sharding_per_value<', '>')}")
        printer.value(f"manual_axes={written(op, 'manual_axes', '#sdy<manual_axes', '>')}")
        arguments = op.regions[0].block.arguments
        names = printer.region_argument_names(arguments)
        printer.value(f"({', '.join(map(printer.argument_text, arguments, names))}) ")
        printer.region(op.regions[0], names)
        print_dictionary(printer, other_attributes(op, self.members))
        printer.value(f": {printer.functional_type(op)}")


SDY_FORMS: dict[str, Directive] = {
    "direction": Direction(),
    "manual_computation": ManualComputation(),
    "mesh": Mesh(),
    "sharding": Sharding(),
}
