"""The pretty forms of `func.func` and `builtin.module`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar

from stablehlo_ref.define.members import Undecodable
from stablehlo_ref.ir.attributes import Attribute
from stablehlo_ref.ir.core import Operation, Region, Value
from stablehlo_ref.ir.types import FunctionType, Type
from stablehlo_ref.syntax import attribute_text as text
from stablehlo_ref.syntax.directive import (
    Directive,
    Irregular,
    attribute_dictionary,
    other_attributes,
    print_dictionary,
)
from stablehlo_ref.syntax.draft import Draft
from stablehlo_ref.syntax.protocols import AsmParser, AsmPrinter

T = TypeVar("T")
Dictionaries: TypeAlias = "tuple[Mapping[str, Attribute], ...]"  # the attributes of each argument or result


class Module(Directive):
    """`@name attributes {...} {...}`; the name and the attributes are optional."""

    members = ("sym_name",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.peek()[:1] == "@":
            draft.members["sym_name"] = parser.symbol_name()
        attribute_dictionary(parser, draft, "attributes")
        draft.regions = [parser.region(isolated=True)]

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if len(op.regions) != 1 or len(op.regions[0].blocks) > 1:
            raise Irregular
        if "sym_name" in op.properties:
            printer.value(text.symbol(_plain(op.properties["sym_name"])))
        print_dictionary(printer, other_attributes(op, self.members), "attributes")
        printer.value("")
        printer.region(op.regions[0], ())


class Function(Directive):
    """`visibility @name(arguments) -> results attributes {...} {...}`; a declaration has no body."""

    members = ("sym_name", "sym_visibility", "function_type", "arg_attrs", "res_attrs")

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.peek() in ("public", "private", "nested"):
            draft.members["sym_visibility"] = parser.advance()
        draft.members["sym_name"] = parser.symbol_name()
        arguments, argument_attributes = self._arguments(parser)
        results, result_attributes = self._results(parser)
        inputs = tuple(a.type for a in arguments)
        draft.members["function_type"] = FunctionType(inputs, results)
        if any(argument_attributes):
            draft.members["arg_attrs"] = argument_attributes
        if any(result_attributes):
            draft.members["res_attrs"] = result_attributes
        attribute_dictionary(parser, draft, "attributes")
        draft.exclusive = ("sym_name", "sym_visibility", "function_type")
        draft.regions = [self._body(parser, arguments)]

    def _body(self, parser: AsmParser, arguments: list[Value]) -> Region:
        if parser.peek() != "{":
            return Region([])
        if not arguments or arguments[0].name:
            return parser.region(arguments, isolated=True)
        offset = parser.start
        region = parser.region(isolated=True)
        if not region.blocks or not region.blocks[0].arguments:
            raise parser.error("expected names for the arguments of a function with a body", offset)
        return region

    # arguments ::= ( (argument (, argument)*)? ) ; argument ::= (%name :)? type dictionary? location?
    def _arguments(self, parser: AsmParser) -> tuple[list[Value], Dictionaries]:
        attributes: list[dict[str, Attribute]] = []

        def argument() -> Value:
            named = parser.peek()[:1] == "%"
            offset = parser.start
            name = parser.operand()[0] if named else ""
            names.append(name)
            if named != bool(names[0]):
                raise parser.error("expected names for all arguments or for none", offset)
            if named:
                parser.expect(":")
            value = Value(parser.type(), None, len(attributes), name)
            attributes.append(parser.dictionary() if parser.peek() == "{" else {})
            value.location = parser.trailing_location()
            return value

        names: list[str] = []
        return parser.items(argument, "(", ")"), tuple(attributes)

    # results ::= (-> (type | ( (type dictionary? (, type dictionary?)*)? )))?
    def _results(self, parser: AsmParser) -> tuple[tuple[Type, ...], Dictionaries]:
        attributes: list[dict[str, Attribute]] = []

        def result() -> Type:
            type = parser.type()
            attributes.append(parser.dictionary() if parser.peek() == "{" else {})
            return type

        if not parser.accept("->"):
            return (), ()
        if parser.peek() != "(":
            return (parser.type(),), ()
        return tuple(parser.items(result, "(", ")")), tuple(attributes)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        properties = {name: _plain(value) for name, value in op.properties.items()}
        type = properties.get("function_type")
        if len(op.regions) != 1 or not isinstance(type, FunctionType) or "sym_name" not in properties:
            raise Irregular
        if "sym_visibility" in properties:
            printer.value(properties["sym_visibility"])
        body = op.regions[0]
        names = self._argument_names(printer, body, type)
        arguments = self._argument_texts(printer, body, names, type, _of_each(properties, "arg_attrs", type.inputs))
        results = self._result_text(type, _of_each(properties, "res_attrs", type.outputs))
        printer.value(f"{text.symbol(properties['sym_name'])}({', '.join(arguments)}){results}")
        print_dictionary(printer, other_attributes(op, self.members), "attributes")
        if body.blocks:
            printer.value("")
            printer.region(body, names)

    def _argument_names(self, printer: AsmPrinter, body: Region, type: FunctionType) -> list[str]:
        """Return names for the arguments of a function with a body; Irregular if its type has other arguments."""
        if not body.blocks:
            return []
        arguments = body.blocks[0].arguments
        if [a.type for a in arguments] != list(type.inputs):
            raise Irregular
        return printer.region_argument_names(arguments)

    def _argument_texts(
        self, printer: AsmPrinter, body: Region, names: list[str], type: FunctionType, attributes: Dictionaries
    ) -> list[str]:
        suffixes = map(_suffix, attributes)
        if not body.blocks:
            return [str(t) + suffix for t, suffix in zip(type.inputs, suffixes)]
        return list(map(printer.argument_text, body.blocks[0].arguments, names, suffixes))

    def _result_text(self, type: FunctionType, attributes: Dictionaries) -> str:
        if not type.outputs:
            return ""
        types = [str(t) + _suffix(a) for t, a in zip(type.outputs, attributes)]
        bare = len(types) == 1 and not attributes[0] and not isinstance(type.outputs[0], FunctionType)
        return f" -> {types[0]}" if bare else f" -> ({', '.join(types)})"


def _of_each(properties: Mapping[str, Any], name: str, types: tuple[Type, ...]) -> Dictionaries:
    """Return the attributes of each argument or result. A list of empty ones is omitted, as by MLIR."""
    attributes: Dictionaries = properties.get(name) or ({},) * len(types)
    if len(attributes) != len(types):
        raise Irregular
    return attributes


def _suffix(attributes: Mapping[str, Attribute]) -> str:
    return f" {text.dictionary_text(attributes)}" if attributes else ""


def _plain(value: T) -> T:
    """Return the value of a member; Irregular if it could not be decoded."""
    if isinstance(value, Undecodable):
        raise Irregular
    return value
