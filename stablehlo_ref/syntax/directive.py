"""Directives: the parts of a pretty form, each of which parses and prints its part of the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.members import Undecodable
from stablehlo_ref.ir.attributes import Attribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.syntax.attribute_text import dictionary_text
from stablehlo_ref.syntax.draft import Draft
from stablehlo_ref.syntax.protocols import AsmParser, AsmPrinter


class Irregular(Exception):
    """Raised by `Directive.print` if the pretty form cannot express an op, which is then printed in generic form."""


class Directive:
    """A part of a pretty form. `members` are the attribute members that it contains."""

    members: tuple[str, ...] = ()

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        """Parse this part into `draft`."""
        raise NotImplementedError

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        """Print this part of `op`; Irregular if it cannot express the op."""
        raise NotImplementedError

    def is_next(self, parser: AsmParser) -> bool:
        """Return whether this part is next in the text; called for the first part of an optional group."""
        raise NotImplementedError

    def present(self, op: Operation) -> bool | None:
        """Return whether `op` has what this part describes; None for a part that does not depend on the op."""
        return None


def attribute_dictionary(parser: AsmParser, draft: Draft, keyword: str = "") -> None:
    """Parse `keyword {...}`, or `{...}` without a keyword, if it is next."""
    if keyword and not parser.accept(keyword):
        return
    if keyword or parser.peek() == "{":
        draft.dictionary = parser.start
        written = parser.dictionary()
        if twice := written.keys() & draft.attributes.keys():
            message = f"duplicate attribute '{min(twice)}', which is a property already"
            raise parser.error(message, draft.dictionary)
        draft.attributes |= written


def let_dictionary_win(parser: AsmParser, draft: Draft) -> None:
    """Drop what the pretty form says of an attribute that is in the dictionary too.

    MLIR reads the dictionary last, or refuses the attribute there: then this raises MalformedError.
    """
    for name in draft.attributes:
        if name in draft.exclusive:
            raise parser.error(f"attribute '{name}' is already given outside of the dictionary", draft.dictionary)
        for member in REGISTRY[draft.name].members_of(name):
            draft.members.pop(member, None)


def give(draft: Draft, name: str, attribute: Attribute) -> None:
    """Set the members of `draft` that an attribute, which is not in the dictionary, stands for."""
    draft.members |= REGISTRY[draft.name].decode({name: attribute})[0]


def other_attributes(op: Operation, members: Sequence[str]) -> dict[str, Attribute]:
    """Return the attributes of `op` except for those of some members."""
    rest = {name: value for name, value in op.properties.items() if name not in members}
    return REGISTRY[op.name].encode(rest) | op.attributes


def print_dictionary(printer: AsmPrinter, entries: Mapping[str, Attribute], keyword: str = "") -> None:
    """Print `keyword {...}`, or `{...}` without a keyword, if there are entries."""
    if entries:
        printer.value(f"{keyword} {dictionary_text(entries)}".lstrip())


def member_value(op: Operation, name: str) -> Any:
    """Return the value of an attribute member; Irregular if it is missing or could not be decoded."""
    value = op.properties.get(name)
    if value is None or isinstance(value, Undecodable):
        raise Irregular
    return value
