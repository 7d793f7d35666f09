"""What the pretty form of an op is made of: directives, each of which parses and prints its part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stablehlo_ref.define import Op, Undecodable
from stablehlo_ref.ir.core import Operation, Region
from stablehlo_ref.ir.types import Type
from stablehlo_ref.syntax.attribute_text import dictionary_text

if TYPE_CHECKING:
    from stablehlo_ref.syntax.parser import Parser
    from stablehlo_ref.syntax.printer import Printer


class Draft:
    """An op as far as it is read. Types that the text leaves out are those of the values, or stay None for results."""

    __slots__ = (
        "attributes", "definition", "members", "name", "offset", "operand_types", "operands", "regions",
        "result_types", "successors",
    )  # fmt: skip

    def __init__(self, name: str, definition: type[Op] | None, offset: int) -> None:
        self.name = name
        self.definition = definition
        self.offset = offset
        self.operands: list[tuple[str, int]] = []  # names with the offsets they stand at
        self.operand_types: tuple[Type, ...] | None = None
        self.result_types: tuple[Type, ...] = ()
        self.members: dict[str, Any] = {}  # attributes as the op's members hold them
        self.attributes: dict[str, Any] = {}  # attributes as they are written, to be decoded
        self.regions: list[Region] = []
        self.successors: list[str] = []


class Irregular(Exception):
    """Raised by `Directive.print` for an op that the pretty form cannot express; it is printed in generic form."""


class Directive:
    """One part of a pretty form. `members` are the attribute members that it writes."""

    members: tuple[str, ...] = ()

    def parse(self, parser: Parser, draft: Draft) -> None:
        raise NotImplementedError

    def print(self, printer: Printer, op: Operation) -> None:
        raise NotImplementedError

    def stands(self, parser: Parser) -> bool:
        """Whether this part stands next in the text; only asked of the first part of an optional group."""
        raise NotImplementedError

    def present(self, op: Operation) -> bool | None:
        """Whether `op` has what this part is about; None if that depends on nothing."""
        return None


def attribute_dictionary(parser: Any, draft: Draft, keyword: str = "") -> None:
    """`(attributes)? {...}`, if it stands there."""
    if keyword and not parser.accept(keyword):
        return
    if keyword or parser.peek() == "{":
        draft.attributes |= parser.dictionary()


def other_attributes(op: Operation, members: tuple[str, ...]) -> dict[str, Any]:
    """The attributes of `op`, as written, less some of its members."""
    rest = {name: value for name, value in op.properties.items() if name not in members}
    return op.definition.encode(rest) | op.attributes  # type: ignore[union-attr]


def print_dictionary(printer: Any, entries: dict[str, Any], keyword: str = "") -> None:
    if entries:
        printer.value(f"{keyword} {dictionary_text(entries)}".lstrip())


def member_value(op: Operation, name: str) -> Any:
    """The value of an attribute member; Irregular where there is none."""
    value = op.properties.get(name)
    if value is None or isinstance(value, Undecodable):
        raise Irregular
    return value
