"""The pretty forms of `func.func` and `builtin.module`."""

from __future__ import annotations

from typing import Any

from stablehlo_ref.define import Undecodable
from stablehlo_ref.ir.core import Operation, Region, Value
from stablehlo_ref.ir.types import FunctionType, Type
from stablehlo_ref.syntax import attribute_text as text
from stablehlo_ref.syntax.directive import (
    Directive,
    Draft,
    Irregular,
    attribute_dictionary,
    other_attributes,
    print_dictionary,
)


class Module(Directive):
    """`@name attributes {...} {...}`; name and attributes may be missing."""

    members = ("sym_name",)

    def parse(self, parser: Any, draft: Draft) -> None:
        if parser.peek()[:1] == "@":
            draft.members["sym_name"] = parser.symbol_name()
        attribute_dictionary(parser, draft, "attributes")
        draft.regions = [parser.region(isolated=True)]

    def print(self, printer: Any, op: Operation) -> None:
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

    def parse(self, parser: Any, draft: Draft) -> None:
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
        draft.regions = [self._body(parser, arguments)]

    def _body(self, parser: Any, arguments: list[Value]) -> Region:
        if parser.peek() != "{":
            return Region([])
        if arguments and not arguments[0].name:
            raise parser.error("the arguments of a function with a body need names")
        return parser.region(arguments, isolated=True)  # type: ignore[no-any-return]

    # arguments ::= ( (argument (, argument)*)? ) ; argument ::= (%name :)? type dictionary? location?
    def _arguments(self, parser: Any) -> tuple[list[Value], tuple[dict[str, Any], ...]]:
        attributes: list[dict[str, Any]] = []

        def argument() -> Value:
            named = parser.peek()[:1] == "%"
            offset = parser.start
            name = parser.operand()[0] if named else ""
            if attributes and named != bool(first[0]):
                raise parser.error("either all arguments have names, or none has", offset)
            first.append(name)
            if named:
                parser.expect(":")
            value = Value(parser.type(), None, len(attributes), name)
            attributes.append(parser.dictionary() if parser.peek() == "{" else {})
            value.location = parser.trailing_location()
            return value

        first: list[str] = []
        return parser.items(argument, "(", ")"), tuple(attributes)

    # results ::= (-> (type | ( (type dictionary? (, type dictionary?)*)? )))?
    def _results(self, parser: Any) -> tuple[tuple[Type, ...], tuple[dict[str, Any], ...]]:
        attributes: list[dict[str, Any]] = []

        def result() -> Type:
            type = parser.type()
            attributes.append(parser.dictionary() if parser.peek() == "{" else {})
            return type  # type: ignore[no-any-return]

        if not parser.accept("->"):
            return (), ()
        if parser.peek() != "(":
            return (parser.type(),), ()
        return tuple(parser.items(result, "(", ")")), tuple(attributes)

    def print(self, printer: Any, op: Operation) -> None:
        properties = {name: _plain(value) for name, value in op.properties.items()}
        type = properties.get("function_type")
        if len(op.regions) != 1 or not isinstance(type, FunctionType) or "sym_name" not in properties:
            raise Irregular
        if "sym_visibility" in properties:
            printer.value(properties["sym_visibility"])
        arguments = self._argument_texts(printer, op.regions[0], type, properties.get("arg_attrs"))
        results = self._result_text(type, properties.get("res_attrs"))
        printer.value(f"{text.symbol(properties['sym_name'])}({', '.join(arguments)}){results}")
        print_dictionary(printer, other_attributes(op, self.members), "attributes")
        if op.regions[0].blocks:
            printer.value("")
            printer.region(op.regions[0], self.names)

    names: list[str]

    def _argument_texts(self, printer: Any, region: Region, type: FunctionType, attributes: Any) -> list[str]:
        attributes = attributes or ({},) * len(type.inputs)
        if not region.blocks:
            return [str(t) + _suffix(a) for t, a in zip(type.inputs, attributes)]
        arguments = region.blocks[0].arguments
        if [a.type for a in arguments] != list(type.inputs) or len(attributes) != len(arguments):
            raise Irregular
        self.names = printer.region_argument_names(arguments)
        return [printer.argument_text(v, n, _suffix(a)) for v, n, a in zip(arguments, self.names, attributes)]

    def _result_text(self, type: FunctionType, attributes: Any) -> str:
        if not type.outputs:
            return ""
        if attributes and len(attributes) != len(type.outputs):
            raise Irregular
        types = [str(t) + _suffix(a) for t, a in zip(type.outputs, attributes or ({},) * len(type.outputs))]
        bare = len(types) == 1 and not attributes and not isinstance(type.outputs[0], FunctionType)
        return f" -> {types[0]}" if bare else f" -> ({', '.join(types)})"


def _suffix(attributes: dict[str, Any]) -> str:
    return f" {text.dictionary_text(attributes)}" if attributes else ""


def _plain(value: Any) -> Any:
    if isinstance(value, Undecodable):
        raise Irregular
    return value
