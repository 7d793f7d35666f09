"""The pretty forms of Shardy's ops, whose attributes are kept as they are written."""

from __future__ import annotations

from typing import Any

from stablehlo_ref.ir.attributes import OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.syntax import attribute_text as text
from stablehlo_ref.syntax.directive import Directive, Draft, Irregular, member_value, other_attributes, print_dictionary


def written(op: Operation, name: str, prefix: str, suffix: str = "") -> str:
    """An opaque attribute less what its pretty form leaves out."""
    value = member_value(op, name)
    if not isinstance(value, OpaqueAttribute) or not (value.text.startswith(prefix) and value.text.endswith(suffix)):
        raise Irregular
    return value.text[len(prefix) : len(value.text) - len(suffix)]


class Mesh(Directive):
    """`@name = <["x"=2, "y"=4]>`."""

    members = ("sym_name", "mesh")

    def parse(self, parser: Any, draft: Draft) -> None:
        draft.members["sym_name"] = parser.symbol_name()
        parser.expect("=")
        draft.members["mesh"] = OpaqueAttribute("#sdy.mesh" + parser.balanced_text("a mesh"))

    def print(self, printer: Any, op: Operation) -> None:
        printer.value(f"{text.symbol(member_value(op, 'sym_name'))} = {written(op, 'mesh', '#sdy.mesh')}")


class Sharding(Directive):
    """`<@mesh, [{"x"}, {}]>`."""

    members = ("sharding",)

    def parse(self, parser: Any, draft: Draft) -> None:
        draft.members["sharding"] = OpaqueAttribute("#sdy.sharding" + parser.balanced_text("a sharding"))

    def print(self, printer: Any, op: Operation) -> None:
        printer.value(written(op, "sharding", "#sdy.sharding"))


class Direction(Directive):
    """`NONE`, `FORWARD`, `BACKWARD` or `BOTH`."""

    members = ("allowed_direction",)

    def parse(self, parser: Any, draft: Draft) -> None:
        word = parser.word("a direction")
        draft.members["allowed_direction"] = OpaqueAttribute(f"#sdy<propagation_direction {word}>")

    def print(self, printer: Any, op: Operation) -> None:
        printer.value(written(op, "allowed_direction", "#sdy<propagation_direction ", ">"))


class ManualComputation(Directive):
    """`(%x) in_shardings=[...] out_shardings=[...] manual_axes={...} (%arg: type) {...} : (types) -> types`."""

    members = ("in_shardings", "out_shardings", "manual_axes")

    def parse(self, parser: Any, draft: Draft) -> None:
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

    def _begin(self, parser: Any, name: str) -> None:
        parser.expect(name)
        parser.expect("=")

    def print(self, printer: Any, op: Operation) -> None:
        if len(op.regions) != 1 or len(op.regions[0].blocks) != 1:
            raise Irregular
        printer.value(f"({printer.operands(op.operands)})")
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
