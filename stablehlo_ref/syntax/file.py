"""What stands around a program's operations: aliases of attributes and types, and resources at the end of the file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from stablehlo_ref.diagnostics import Source, UnsupportedError
from stablehlo_ref.ir.attributes import DenseResource, StructAttribute, TypeAttribute
from stablehlo_ref.ir.locations import DebugLocation, LocationAlias
from stablehlo_ref.ir.types import ComplexType, FunctionType, FutureType, TensorType, TupleType, Type
from stablehlo_ref.syntax import literals
from stablehlo_ref.syntax.attribute_text import attribute_text
from stablehlo_ref.syntax.attributes import AttributeParser
from stablehlo_ref.syntax.lexer import MAX_NESTING, STRING

_substitute_names = re.compile(rf"{STRING}|[#!][A-Za-z_$][\w$]*+(?![\w.<])", re.ASCII).sub
_find_aliases = re.compile(r"^[ \t]*([#!](?:[A-Za-z_$.\-][\w$.\-]*|\d+))[ \t]*=", re.ASCII | re.MULTILINE).finditer


MAX_ALIAS_SIZE = 10_000  # parts of an alias, all aliases in it spelled out


def _parts(value: Any) -> Iterable[Any]:
    """What a type or attribute is made of that may itself have parts."""
    match value:
        case tuple():
            return value
        case dict():
            return value.values()
        case StructAttribute(fields=fields):
            return fields.values()
        case TypeAttribute(type=type) | TensorType(element_type=type) | ComplexType(element=type):
            return (type,)
        case TupleType(elements=types) | FutureType(elements=types):
            return types
        case FunctionType(inputs=inputs, outputs=outputs):
            return (*inputs, *outputs)
    return ()


class FileParser(AttributeParser):
    """Reads aliases, which may be used before their definition, and resources, which always are."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.attribute_aliases: dict[str, Any] = {}
        self.alias_ends: dict[int, int] = {}  # from where a definition starts to where it ends, of those read
        self.blobs: dict[str, bytes] = {}
        self.measures: dict[int, tuple[int, int]] = {}
        self.measured: list[Any] = []

    # --- aliases ------------------------------------------------------------------------------------------------

    # alias ::= (#name | !name) = (attribute | type | location)
    def alias(self) -> None:
        offset = self.start
        if offset in self.alias_ends:  # read before, where it was used
            self.position = self.alias_ends[offset]
            return
        name = self.advance()
        if name in self.attribute_aliases or (name[0] == "!" and name in self.types):
            raise self.error(
                f"redefinition of {'type' if name[0] == '!' else 'attribute'} alias id '{name[1:]}'", offset
            )
        self.expect("=")
        if name[0] == "!":
            self.types[name] = self._bounded(self.type(), name, offset)
        elif self.peek() == "loc":
            self._location_alias_target(name, self.location_attribute())
        else:
            self.attribute_aliases[name] = self._bounded(self.attribute(), name, offset)
        self.alias_ends[offset] = self.position

    def _bounded(self, value: Any, name: str, offset: int) -> Any:
        """`value`, if it has a sane size with all aliases in it spelled out: each can double that of another."""
        height, size = self._measure(value)
        if height > MAX_NESTING or size > MAX_ALIAS_SIZE:
            raise self.error(f"alias '{name}' stands for too much: {size} parts, {height} levels deep", offset)
        return value

    def _measure(self, value: Any) -> tuple[int, int]:
        """How deep a type or attribute is nested, and of how many parts it is."""
        known = self.measures.get(id(value))
        if known is None:
            measures = [self._measure(part) for part in _parts(value)]
            known = 1 + max((h for h, _ in measures), default=0), 1 + sum(n for _, n in measures)
            self.measures[id(value)] = known
            self.measured.append(value)  # so that no other object gets its id
        return known

    def _location_alias_target(self, name: str, target: DebugLocation) -> None:
        alias = self.location_aliases.setdefault(name, LocationAlias(name))
        self.location_uses.pop(name, None)
        alias.target = self.attribute_aliases[name] = target

    def attribute_alias(self, name: str) -> Any:
        if name not in self.attribute_aliases:
            self._define_alias(name)
        return self.attribute_aliases[name]

    def type_alias(self, name: str) -> Type:
        if name not in self.types:
            self._define_alias(name)
        return self.types[name]

    def balanced_text(self, what: str) -> str:
        text = super().balanced_text(what)
        return _substitute_names(self._spelled_out, text) if "#" in text or "!" in text else text

    def _spelled_out(self, match: re.Match[str]) -> str:
        """What an alias inside a text that is kept as it is stands for; anything else unchanged."""
        name = match[0]
        if name[0] == "!" and (name in self.types or name in self._later_aliases):
            return str(self.type_alias(name))
        if name[0] == "#" and (name in self.attribute_aliases or name in self._later_aliases):
            return attribute_text(self.attribute_alias(name))
        return name

    def _define_alias(self, name: str) -> None:
        """Reads the definition of an alias that is used before it, or fails."""
        kept, offset = self.position, self._later_aliases.pop(name, None)
        if offset is None:
            raise self.error(f"alias '{name}' is not defined", kept - len(name))
        self.position = offset
        self.alias()
        self.position = kept
        if name not in self.attribute_aliases and name not in self.types:
            raise self.error(f"alias '{name}' is not of the kind that is used here", kept - len(name))

    @cached_property
    def _later_aliases(self) -> dict[str, int]:
        """Where lines of the text define aliases; looked up once, when the first is used before its definition."""
        return {match[1]: match.start(1) for match in reversed(list(_find_aliases(self.text)))}

    def check_locations(self) -> None:
        for name, offset in self.location_uses.items():
            raise self.error(f"undefined location alias '{name}'", offset)

    # --- resources ----------------------------------------------------------------------------------------------

    # metadata ::= {-# (section (, section)*)? #-} ; section ::= word : { group, ... } ; group ::= word : { entry, ... }
    def metadata(self) -> None:
        self.items(self._metadata_section, "{-#", "#-}")

    def _metadata_section(self) -> None:
        section = self.peek()
        if section not in ("dialect_resources", "external_resources"):
            raise self.expected("'dialect_resources' or 'external_resources'")
        self.advance()
        self.expect(":")

        def entry() -> None:
            key = self.string() if self.peek()[:1] == '"' else self.word("a resource's key")
            self.expect(":")
            if self.starts_with('"'):
                self._blob(section, key)
            else:
                self.attribute()

        def group() -> None:
            self.word("a dialect")
            self.expect(":")
            self.items(entry, "{", "}")

        self.items(group, "{", "}")

    def _blob(self, section: str, key: str) -> None:
        start = self.start
        end = self.text.find('"', start + 1)
        if section != "dialect_resources" or not self.text.startswith('"0x', start) or end < 0:
            self.string()
            return
        try:
            self.blobs[key] = literals.blob_bytes(self.source, start, end)
        except literals.LiteralError as error:
            raise self.error(f"{error} in resource '{key}'", start) from error
        self.position = end + 1

    def fill_resources(self) -> None:
        """Gives every `dense_resource` its array, a view of its blob."""
        for resource, offset in self.resources:
            if resource.key in self.blobs:
                object.__setattr__(resource, "array", self._view(resource, self.blobs[resource.key], offset))

    def _view(self, resource: DenseResource, blob: bytes, offset: int) -> Any:
        type = resource.type
        if not isinstance(type, TensorType) or not type.is_static:
            raise self.error(f"a resource needs a tensor type of static shape, not {type}", offset)
        try:
            return literals.from_bytes(blob, type.shape, type.element_type)  # type: ignore[arg-type]
        except literals.LiteralError as error:
            raise self.error(f"{error} in resource '{resource.key}' of type {type}", offset) from error
        except UnsupportedError:
            return None
