"""The parts of a file besides operations: aliases of attributes and types, and resources."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import TypeVar, cast

from stablehlo_ref.diagnostics import Source, UnsupportedError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import Attribute, DenseResource, StructAttribute, TypeAttribute
from stablehlo_ref.ir.lexer import MAX_NESTING, STRING
from stablehlo_ref.ir.locations import DebugLocation, LocationAlias
from stablehlo_ref.ir.types import ComplexType, FunctionType, FutureType, TensorType, TupleType, Type
from stablehlo_ref.suggestions import did_you_mean
from stablehlo_ref.syntax import literals
from stablehlo_ref.syntax.attribute_text import attribute_text
from stablehlo_ref.syntax.foreign import ForeignParser

_substitute_names = re.compile(rf"{STRING}|[#!][A-Za-z_$][\w$]*+(?![\w.<])", re.ASCII).sub
_find_aliases = re.compile(r"^[ \t]*([#!](?:[A-Za-z_$.\-][\w$.\-]*|\d+))[ \t]*=", re.ASCII | re.MULTILINE).finditer


MAX_ALIAS_SIZE = 10_000  # types and attributes in an alias, with the aliases in it expanded

T = TypeVar("T")


def _is_alias(type: str) -> bool:
    return type[0] == "!" and "<" not in type


def _parts(value: object) -> Iterable[object]:
    """Return the types and attributes directly inside a type or attribute."""
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


class FileParser(ForeignParser):
    """Parses aliases, which may be used before their definition, and resources, which always are."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.attribute_aliases: dict[str, Attribute] = {}
        self.alias_ends: dict[int, int] = {}  # end offsets of the definitions parsed so far, by their start offsets
        self.blobs: dict[str, tuple[int, bytes]] = {}  # alignments and data
        self.measures: dict[int, tuple[int, int]] = {}
        self.measured: list[object] = []

    # --- aliases ------------------------------------------------------------------------------------------------

    # alias ::= (#name | !name) = (attribute | type | location)
    def alias(self) -> None:
        """Parse the definition of an alias."""
        offset = self.start
        if offset in self.alias_ends:  # parsed before, at its first use
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

    def _bounded(self, value: T, name: str, offset: int) -> T:
        """Return `value` if its size with all aliases expanded is within the limits: each alias can double another."""
        height, size = self._measure(value)
        if size > MAX_ALIAS_SIZE:
            raise self.error(f"alias '{name}' expands beyond the limit of {MAX_ALIAS_SIZE} elements", offset)
        if height > MAX_NESTING:
            raise self.error(f"alias '{name}' expands beyond the limit of {MAX_NESTING} levels", offset)
        return value

    def _measure(self, value: object) -> tuple[int, int]:
        """Return the depth of a type or attribute, and the number of types and attributes in it."""
        known = self.measures.get(id(value))
        if known is None:
            measures = [self._measure(part) for part in _parts(value)]
            known = 1 + max((h for h, _ in measures), default=0), 1 + sum(n for _, n in measures)
            self.measures[id(value)] = known
            self.measured.append(value)  # keeps the object alive, so that its id stays unique
        return known

    def _location_alias_target(self, name: str, target: DebugLocation) -> None:
        alias = self.location_aliases.setdefault(name, LocationAlias(name))
        self.location_uses.pop(name, None)
        alias.target = target
        self.attribute_aliases[name] = cast(Attribute, target)

    def attribute_alias(self, name: str) -> Attribute:
        """Return the attribute that the alias `#name` stands for."""
        if name not in self.attribute_aliases:
            self._define_alias(name)
        return self.attribute_aliases[name]

    def type_alias(self, name: str) -> Type:
        """Return the type that the alias `!name` stands for."""
        if name not in self.types:
            self._define_alias(name)
        return self.types[name]

    def balanced_text(self, what: str) -> str:
        """Return the text from the next bracket to the one that closes it, with aliases expanded."""
        return self.without_aliases(super().balanced_text(what))

    def without_aliases(self, text: str) -> str:
        """Return a text with aliases expanded."""
        return _substitute_names(self._expanded, text) if "#" in text or "!" in text else text

    def _expanded(self, match: re.Match[str]) -> str:
        """Return the text of the type or attribute that a name stands for; other matches unchanged."""
        name = match[0]
        if name[0] == "!" and (name in self.types or name in self._later_aliases):
            return str(self.type_alias(name))
        if name[0] == "#" and (name in self.attribute_aliases or name in self._later_aliases):
            return attribute_text(self.attribute_alias(name))
        return name

    def _define_alias(self, name: str) -> None:
        """Parse the definition of an alias that is used before it; MalformedError if there is none."""
        kept, offset = self.position, self._later_aliases.pop(name, None)
        if offset is None:
            known = (*self._later_aliases, *self.attribute_aliases, *filter(_is_alias, self.types))
            hint = did_you_mean(name, (other for other in known if other[0] == name[0]))
            raise self.error(f"undefined alias '{name}'{hint}", kept - len(name))
        self.position = offset
        self.alias()
        self.position = kept

    @cached_property
    def _later_aliases(self) -> dict[str, int]:
        """The offsets of alias definitions, found when an alias is first used before its definition."""
        return {match[1]: match.start(1) for match in reversed(list(_find_aliases(self.text)))}

    def check_locations(self) -> None:
        """Raise MalformedError for a location alias that is used and never defined."""
        for name, offset in self.location_uses.items():
            raise self.error(f"undefined location alias '{name}'", offset)

    # --- resources ----------------------------------------------------------------------------------------------

    # metadata ::= {-# (section (, section)*)? #-} ; section ::= word : { group, ... } ; group ::= word : { entry, ... }
    def metadata(self) -> None:
        """Parse `{-# ... #-}`, which holds resources."""
        self.items(self._metadata_section, "{-#", "#-}")

    def _metadata_section(self) -> None:
        section = self.peek()
        if section not in ("dialect_resources", "external_resources"):
            raise self.expected("'dialect_resources' or 'external_resources'")
        self.advance()
        self.expect(":")

        def entry() -> None:
            key = self.string() if self.peek()[:1] == '"' else self.word("a resource key")
            self.expect(":")
            if self.starts_with('"'):
                self._blob(section, key)
            else:
                self.attribute()

        def group() -> None:
            self.word("a dialect name")
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
            self.blobs[key] = literals.parse_blob(self.source, start, end)
        except literals.LiteralError as error:
            raise self.error(f"{error} in resource '{key}'", start) from error
        self.position = end + 1

    def fill_resources(self) -> None:
        """Set the array of every `dense_resource` to a view of its blob."""
        for resource, offset in self.resources:
            if resource.key in self.blobs:
                alignment, blob = self.blobs[resource.key]
                object.__setattr__(resource, "array", self._view(resource, blob, offset))
                object.__setattr__(resource, "alignment", alignment)

    def _view(self, resource: DenseResource, blob: bytes, offset: int) -> Array | None:
        """Return the blob as an array of the resource's type; None for an element type without arrays."""
        type = resource.type
        if not isinstance(type, TensorType) or not type.is_static:
            raise self.error(f"expected a tensor type with static shape for a resource, got {type}", offset)
        try:
            return literals.from_bytes(blob, cast("tuple[int, ...]", type.shape), type.element_type)
        except literals.LiteralError as error:
            raise self.error(f"{error} in resource '{resource.key}' of type {type}", offset) from error
        except UnsupportedError:
            return None
