"""The irregular pretty forms of Shardy's ops."""

from __future__ import annotations

from typing import Any

from stablehlo_ref.define.attribute_codecs import AttributeCodec
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.ir.attributes import Attribute, IntegerAttribute, OpaqueAttribute
from stablehlo_ref.ir.core import Operation, Region
from stablehlo_ref.syntax import attribute_text as text
from stablehlo_ref.syntax.directive import (
    Directive,
    Irregular,
    attribute_dictionary,
    member_value,
    other_attributes,
    print_dictionary,
)
from stablehlo_ref.syntax.draft import Draft
from stablehlo_ref.syntax.protocols import AsmParser, AsmPrinter


def codec(draft: Draft, name: str) -> AttributeCodec[Any]:
    """Return the codec of an attribute member of an op that is being parsed."""
    return REGISTRY[draft.name].attributes[name].codec


def parse_value(parser: AsmParser, draft: Draft, name: str, mnemonic: str, what: str) -> None:
    """Parse an attribute of which only the part in brackets need be written."""
    offset = parser.start
    written = parser.attribute() if parser.peek()[:1] == "#" else _part(parser.balanced_text(what), mnemonic)
    try:
        draft.members[name] = codec(draft, name).decode(written)
    except ValueError as error:
        raise parser.error(f"{what} {error}", offset) from error


def _part(body: str, mnemonic: str) -> Attribute:
    """Return the attribute whose part in brackets is `body`."""
    if mnemonic == "sharding_per_value":
        return OpaqueAttribute(f"#sdy.{mnemonic}<{body}>")
    return OpaqueAttribute(f"#sdy.{mnemonic}{body}" if body.startswith("<") else f"#sdy<{mnemonic}{body}>")


class Mesh(Directive):
    """`@name = <["x"=2, "y"=4]>`."""

    members = ("sym_name", "mesh")

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.members["sym_name"] = parser.symbol_name()
        parser.expect("=")
        parse_value(parser, draft, "mesh", "mesh", "mesh")

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(f"{text.symbol(member_value(op, 'sym_name'))} = {member_value(op, 'mesh')}")


class Part(Directive):
    """An attribute without its dialect and mnemonic, after a keyword if it has one: `out_sharding=<@mesh, [{}]>`."""

    def __init__(self, name: str, mnemonic: str, what: str, keyword: str = "", optional: bool = False) -> None:
        self.members = (name,)
        self.name, self.mnemonic, self.what = name, mnemonic, what
        self.keyword = keyword
        self.optional = optional

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if self.optional and parser.peek() != self.keyword:
            return
        if self.keyword:
            parser.expect(self.keyword)
            parser.expect("=")
        parse_value(parser, draft, self.name, self.mnemonic, self.what)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if self.optional and self.name not in op.properties:
            return
        printer.value(f"{self.keyword}={member_value(op, self.name)}".removeprefix("="))


class Shardings(Part):
    """`in_shardings=[<@mesh, [{"x"}]>, ...]`."""

    def __init__(self, name: str, optional: bool) -> None:
        super().__init__(name, "sharding_per_value", "shardings", name, optional)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if not self.optional or self.name in op.properties:
            printer.value(f"{self.keyword}={str(member_value(op, self.name))[1:-1]}")


class Direction(Directive):
    """`allowed_direction=NONE`, `FORWARD`, `BACKWARD` or `BOTH`."""

    members = ("allowed_direction",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        parser.expect("allowed_direction")
        parser.expect("=")
        words = codec(draft, "allowed_direction").enum  # type: ignore[attr-defined]
        if parser.peek() not in words.__members__:
            raise parser.expected(", ".join(words.__members__))
        draft.members["allowed_direction"] = words[parser.advance()]

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(f"allowed_direction={member_value(op, 'allowed_direction').value}")


class ReductionOp(Directive):
    """`sum`, `max`, `min` or nothing."""

    members = ("reduction_op",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        words = {word.value: word for word in codec(draft, "reduction_op").enum}  # type: ignore[attr-defined]
        if parser.peek() in words:
            draft.members["reduction_op"] = words[parser.advance()]

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if op.properties.get("reduction_op") and (word := member_value(op, "reduction_op").value) != "sum":
            printer.value(word)


class GroupId(Directive):
    """`group_id=21`."""

    members = ("group_id",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        parser.expect("group_id")
        parser.expect("=")
        draft.members["group_id"] = codec(draft, "group_id").decode(IntegerAttribute(parser.integer()))

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(f"group_id={member_value(op, 'group_id')}")


# --- regions --------------------------------------------------------------------------------------------------------


class BodyWithArguments(Directive):
    """`(%arg: type, ...) {...} attr-dict : (types) -> types`, the end of the form; `parts` are what comes before."""

    def __init__(self, *parts: Part) -> None:
        self.parts = parts
        self.members = tuple(member for part in parts for member in part.members)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands = parser.items(parser.operand, "(", ")")
        for part in self.parts:
            part.parse(parser, draft)
        arguments = parser.items(parser.argument, "(", ")")
        for index, argument in enumerate(arguments):
            argument.index = index
        draft.regions = [parser.region(arguments, isolated=True)]
        attribute_dictionary(parser, draft)
        parser.expect(":")
        parser.functional_type(draft)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if len(op.regions) != 1 or len(op.regions[0].blocks) != 1:
            raise Irregular
        printer.literal("(")
        printer.value(f"{printer.operands(op.operands)})")
        for part in self.parts:
            part.print(printer, op)
        self._print_body(printer, op.regions[0])
        print_dictionary(printer, other_attributes(op, self.members))
        printer.value(f": {printer.functional_type(op)}")

    def _print_body(self, printer: AsmPrinter, region: Region) -> None:
        arguments = region.block.arguments
        names = printer.region_argument_names(arguments)
        printer.value(f"({', '.join(map(printer.argument_text, arguments, names))}) ")
        printer.region(region, names)


class NamedComputation(BodyWithArguments):
    """`<"name">(%x) in_shardings=[...] out_shardings=[...] (%arg: type) {...} : (types) -> types`."""

    def __init__(self, *parts: Part) -> None:
        super().__init__(*parts)
        self.members = ("name", *self.members)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        parser.expect("<")
        draft.members["name"] = parser.string()
        parser.expect(">")
        super().parse(parser, draft)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.literal("<")
        printer.value(f"{text.quoted(member_value(op, 'name'))}>")
        super().print(printer, op)


SDY_FORMS: dict[str, Directive] = {
    "axes": Part("axes", "axis_ref_list", "axes"),
    "axes_per_dimension": Part("axes", "list_of_axis_ref_lists", "axes"),
    "direction": Direction(),
    "edge_sharding": Part("sharding", "sharding", "sharding", "sharding", optional=True),
    "gathering_axes": Part("gathering_axes", "list_of_axis_ref_lists", "axes"),
    "group_id": GroupId(),
    "manual_computation": BodyWithArguments(
        Shardings("in_shardings", optional=False),
        Shardings("out_shardings", optional=False),
        Part("manual_axes", "manual_axes", "axes", "manual_axes"),
    ),
    "mesh": Mesh(),
    "named_computation": NamedComputation(
        Shardings("in_shardings", optional=True), Shardings("out_shardings", optional=True)
    ),
    "out_sharding": Part("out_sharding", "sharding", "sharding", "out_sharding"),
    "params": Part("params", "all_to_all_param_list", "axes and dimensions"),
    "reduce_scatter_axes": Part("reduce_scatter_axes", "list_of_axis_ref_lists", "axes"),
    "reduction_axes": Part("reduction_axes", "axis_ref_list", "axes"),
    "reduction_op": ReductionOp(),
    "sharding": Part("sharding", "sharding", "sharding"),
    "slicing_axes": Part("slicing_axes", "list_of_axis_ref_lists", "axes"),
}
