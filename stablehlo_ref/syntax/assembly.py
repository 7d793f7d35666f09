"""The pretty forms of ops: the `syntax` line of a class, compiled once into directives that parse and print.

================================  ====================================================================================
in the line                       in the text
================================  ====================================================================================
``,`` ``=`` ``:`` ``[`` words     the same token
``operands``                      all operands, separated by commas
``$member``                       an attribute in its pretty form: `[0, 1]`, `5`, `true`, `"..."`, `@f`, `LT`, a tensor
                                  constant with its type; or a region, or regions separated by commas
``attr-dict``                     the remaining attributes `{...}`; nothing if there are none
``( ... )?``                      the parts inside, if the first attribute, region or operand list among them is
                                  present; the first part must be a token or `operands`
``type(operands)``                the types, separated by commas; also ``type(results)``
``functional_type``               `(operand types) -> result types`
``same_type``                     the one type of all operands and results, or a functional type
``complex_type``                  the type of the result, or a functional type if it does not follow from the operands
``select_type``                   the type of the predicate and that of the other values, or a functional type
``tuple_type``                    the type of the result, whose elements have the types of the operands
``custom(name)``                  the irregular form of that name in a module `custom*.py`
================================  ====================================================================================

An attribute that a form contains may be in the dictionary too, and then that value counts (`let_dictionary_win`).

A form may omit operand types, which are those of the values, and the result type of a constant, which is that of its
attribute.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from stablehlo_ref.define.attribute_codecs import Dense
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.define.op import Attr, Bodies, Body, In, Ins
from stablehlo_ref.ir import attributes
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.syntax.attribute_text import dictionary_text
from stablehlo_ref.syntax.custom import FORMS
from stablehlo_ref.syntax.custom_buffers import BUFFER_FORMS
from stablehlo_ref.syntax.custom_cf import CF_FORMS
from stablehlo_ref.syntax.custom_dialects import DIALECT_FORMS
from stablehlo_ref.syntax.custom_scf import SCF_FORMS
from stablehlo_ref.syntax.custom_sdy import SDY_FORMS
from stablehlo_ref.syntax.custom_tensor import TENSOR_FORMS
from stablehlo_ref.syntax.directive import Directive, attribute_dictionary, member_value
from stablehlo_ref.syntax.draft import Draft
from stablehlo_ref.syntax.forms import form_of
from stablehlo_ref.syntax.protocols import AsmParser, AsmPrinter
from stablehlo_ref.syntax.type_forms import (
    ComplexTypeOfParts,
    FunctionalType,
    SameType,
    SelectType,
    TupleTypeOfElements,
    Types,
)

# --- literals, operands, groups -------------------------------------------------------------------------------------


class Literal(Directive):
    """A token, or several in a row. (Compiling an expression for them would take longer than most programs save.)"""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = tokens

    def is_next(self, parser: AsmParser) -> bool:
        return parser.peek() == self.tokens[0]

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        for expected in self.tokens:
            parser.expect(expected)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        for literal in self.tokens:
            printer.literal(literal)


class Operands(Directive):
    """`operands`."""

    def is_next(self, parser: AsmParser) -> bool:
        return parser.peek()[:1] == "%"

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands += parser.operand_list()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if op.operands:
            printer.value(printer.operands(op.operands))

    def present(self, op: Operation) -> bool:
        return bool(op.operands)


class OptionalGroup(Directive):
    """`( ... )?`: parts that are present together or not at all."""

    def __init__(self, parts: Sequence[Directive]) -> None:
        self.parts = parts
        self.members = tuple(member for part in parts for member in part.members)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if self.parts[0].is_next(parser):
            for part in self.parts:
                part.parse(parser, draft)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if self.present(op):
            for part in self.parts:
                part.print(printer, op)

    def present(self, op: Operation) -> bool:
        return next((p for p in (part.present(op) for part in self.parts) if p is not None), False)


# --- attributes -----------------------------------------------------------------------------------------------------


class Attribute(Directive):
    """`$member` of an attribute."""

    def __init__(self, member: Attr) -> None:
        self.member = member
        self.members = (member.name,)
        self.form = form_of(member.codec)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.members[self.member.name] = value = self.form.parse(parser)
        if self.member.value_type is Dense and not draft.result_types and REGISTRY[draft.name].results:
            draft.result_types = (value.type,)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(self.form.text(member_value(op, self.member.name)))

    def present(self, op: Operation) -> bool:
        return self.member.name in op.properties


class AttributeDictionary(Directive):
    """`attr-dict`: all attributes that no other part contains."""

    def __init__(self, definition: OpDefinition) -> None:
        self.definition = definition
        self.elsewhere: frozenset[str] = frozenset()

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        attribute_dictionary(parser, draft)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if entries := self.entries(op):
            printer.value(dictionary_text(entries))

    def entries(self, op: Operation) -> dict[str, attributes.Attribute]:
        """Return the attributes to print."""
        members = {name: value for name, value in op.properties.items() if name not in self.elsewhere}
        return self.definition.encode(members) | op.attributes


class Regions(Directive):
    """`$member` of a region, or of several regions."""

    def __init__(self, several: bool) -> None:
        self.several = several

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.regions.append(parser.region())
        while self.several and parser.accept(","):
            draft.regions.append(parser.region())

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        for index, region in enumerate(op.regions):
            if index:
                printer.literal(",")
            printer.value("")
            printer.region(region)

    def present(self, op: Operation) -> bool:
        return bool(op.regions)


# --- compiling a syntax line ----------------------------------------------------------------------------------------

_TOKEN = re.compile(r"\$\w+|(?:custom|type)\(\w+\)|attr-dict|->|\)\?|[A-Za-z_]\w*|\S")
_CUSTOM = FORMS | BUFFER_FORMS | CF_FORMS | DIALECT_FORMS | SCF_FORMS | SDY_FORMS | TENSOR_FORMS
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
        self.parts = _compile(definition, _TOKEN.findall(definition.syntax))
        elsewhere = frozenset(member for part in self.parts for member in part.members)
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


def _compile(definition: OpDefinition, tokens: list[str]) -> list[Directive]:
    parts: list[Directive] = []
    position = 0
    while position < len(tokens):
        end = _end_of_group(tokens, position)
        if end:
            parts.append(OptionalGroup(_compile(definition, tokens[position + 1 : end])))
            position = end
        elif (part := _directive(definition, tokens[position])) is not None:
            parts.append(part)
        elif parts and isinstance(parts[-1], Literal):
            parts[-1] = Literal([*parts[-1].tokens, tokens[position]])
        else:
            parts.append(Literal([tokens[position]]))
        position += 1
    return parts


def _end_of_group(tokens: list[str], start: int) -> int | None:
    """Return the position of the `)?` if `tokens[start]` opens an optional group; None otherwise."""
    depth = 0
    for position in range(start, len(tokens)):
        depth += (tokens[position] == "(") - (tokens[position] in (")", ")?"))
        if depth <= 0:
            return position if tokens[position] == ")?" else None
    return None


def _directive(definition: OpDefinition, token: str) -> Directive | None:
    """Return the directive of an item of a syntax line; None for a token of the text."""
    if token == "attr-dict":
        return AttributeDictionary(definition)
    if token.startswith("type("):
        return Types(token[5:-1])
    if token.startswith("custom("):
        form = _CUSTOM.get(token[7:-1])
        if form is None:
            raise TypeError(f"{definition.name}.syntax: no custom form '{token[7:-1]}'")
        return form
    if token.startswith("$"):
        member = definition.members.get(token[1:])
        if isinstance(member, Attr):
            return Attribute(member)
        if isinstance(member, In | Ins) and definition.operands == (member,):
            return Operands()
        if isinstance(member, Body | Bodies):
            return Regions(isinstance(member, Bodies))
        raise TypeError(f"{definition.name}.syntax: no attribute or region '{token}'")
    return _WORDS[token]() if token in _WORDS else None
