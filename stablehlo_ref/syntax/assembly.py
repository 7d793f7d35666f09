"""The pretty forms of ops: the `syntax` of a class, compiled once into directives that parse and print.

It is a line, or a tuple of lines and irregular directives.

================================  ====================================================================================
in the line                       in the text
================================  ====================================================================================
``,`` ``=`` ``:`` ``[`` words     the same token
``operands``                      all operands, separated by commas
``$member``                       an attribute in its pretty form: `[0, 1]`, `5`, `true`, `"..."`, `@f`, `LT`, a tensor
                                  constant with its type; or an operand or operands; or a region, or regions separated
                                  by commas
``symbol($member)``               a string attribute as the name of a symbol
``word=$member``                  the same as `word = $member`, printed without blanks
``attr-dict``                     the remaining attributes `{...}`; nothing if there are none
``( ... )?``                      the parts inside, if the first attribute, region or operand list among them is
                                  present; the first part must be a token or `operands`
``type(operands)``                the types, separated by commas; also ``type(results)``
``functional_type``               `(operand types) -> result types`
``same_type``                     the one type of all operands and results, or a functional type
``complex_type``                  the type of the result, or a functional type if it does not follow from the operands
``select_type``                   the type of the predicate and that of the other values, or a functional type
``tuple_type``                    the type of the result, whose elements have the types of the operands
================================  ====================================================================================

An attribute that a form contains may be in the dictionary too, and then that value counts (`let_dictionary_win`).

A form may omit operand types, which are those of the values, and the result type of a constant, which is that of its
attribute.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from stablehlo_ref.define.assembly import (
    AsmParser,
    AsmPrinter,
    Directive,
    Draft,
)
from stablehlo_ref.define.definition import OpDefinition
from stablehlo_ref.define.op import Attr, Bodies, Body, In, Ins
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.syntax.directives import (
    Attribute,
    AttributeDictionary,
    ComplexTypeOfParts,
    FunctionalType,
    Literal,
    Operand,
    Operands,
    OptionalGroup,
    Regions,
    SameType,
    SelectType,
    SymbolName,
    TupleTypeOfElements,
    Types,
)

_find_items = re.compile(
    r"\$\w+|type\(\w+\)|symbol\(\$\w+\)|attr-dict|->|\)\?|>\(|[A-Za-z_]\w*=(?=\$)|[A-Za-z_]\w*|\S"
).findall
_WORDS: dict[str, Callable[[], Directive]] = {
    "operands": Operands,
    "functional_type": FunctionalType,
    "same_type": SameType,
    "complex_type": ComplexTypeOfParts,
    "select_type": SelectType,
    "tuple_type": TupleTypeOfElements,
}


class Assembly:
    """The pretty form of an op class."""

    def __init__(self, definition: OpDefinition) -> None:
        self.definition = definition
        syntax = (definition.syntax,) if isinstance(definition.syntax, str) else definition.syntax
        self.parts = _compile(definition, [x for s in syntax for x in (_find_items(s) if isinstance(s, str) else [s])])
        elsewhere = tuple(member for part in self.parts for member in part.members)
        for part in self.parts:
            if isinstance(part, AttributeDictionary):
                part.elsewhere = elsewhere

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        """Parse what follows the name of an op."""
        for part in self.parts:
            part.parse(parser, draft)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        """Print what follows the name of an op; Irregular if the pretty form cannot express it."""
        for part in self.parts:
            part.print(printer, op)


_assemblies: dict[OpDefinition, Assembly] = {}


def assembly_of(definition: OpDefinition) -> Assembly:
    """Return the compiled `syntax` of a class, memoized; TypeError if it names something that does not exist."""
    if definition not in _assemblies:
        _assemblies[definition] = Assembly(definition)
    return _assemblies[definition]


def _compile(definition: OpDefinition, items: Sequence[str | Directive]) -> list[Directive]:
    parts: list[Directive] = []
    position = 0
    while position < len(items):
        item = items[position]
        end = _end_of_group(items, position)
        if end:
            parts.append(OptionalGroup(_compile(definition, items[position + 1 : end])))
            position = end
        elif not isinstance(item, str):
            parts.append(item)
        elif (part := _directive(definition, item)) is not None:
            parts.append(part)
        elif parts and isinstance(parts[-1], Literal):
            parts[-1] = Literal([*parts[-1].printed, item])
        else:
            parts.append(Literal([item]))
        position += 1
    return parts


def _end_of_group(items: Sequence[str | Directive], start: int) -> int | None:
    """Return the position of the `)?` if `items[start]` opens an optional group; None otherwise."""
    depth = 0
    for position in range(start, len(items)):
        depth += (items[position] == "(") - (items[position] in (")", ")?"))
        if depth <= 0:
            return position if items[position] == ")?" else None
    return None


def _directive(definition: OpDefinition, item: str) -> Directive | None:
    """Return the directive of an item of a syntax line; None for a token of the text."""
    if item == "attr-dict":
        return AttributeDictionary()
    if item.startswith("type("):
        return Types(item[5:-1])
    if item.startswith("symbol("):
        return SymbolName(item[8:-1])
    if item.startswith("$"):
        member = definition.members.get(item[1:])
        if isinstance(member, Attr):
            return Attribute(member)
        if isinstance(member, In | Ins):
            return Operands() if definition.operands == (member,) else Operand(member)
        if isinstance(member, Body | Bodies):
            return Regions(isinstance(member, Bodies))
        raise TypeError(f"{definition.name}.syntax: '{item}' is no attribute, operand or region")
    return _WORDS[item]() if item in _WORDS else None
