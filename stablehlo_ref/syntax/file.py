"""The parts of a file besides operations: aliases of attributes and types, resources, and names of values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TypeVar, cast

from stablehlo_ref.define.assembly import Draft
from stablehlo_ref.diagnostics import MalformedError, Source, UnsupportedError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import Attribute, DenseResource, StructAttribute, TypeAttribute
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.lexer import MAX_NESTING, STRING, SUFFIX, TRIVIA, token
from stablehlo_ref.ir.locations import DebugLocation, LocationAlias
from stablehlo_ref.ir.types import ComplexType, FunctionType, FutureType, TensorType, TupleType, Type
from stablehlo_ref.suggestions import did_you_mean
from stablehlo_ref.syntax import literals
from stablehlo_ref.syntax.attribute_text import attribute_text
from stablehlo_ref.syntax.foreign import ForeignParser

_substitute_names = re.compile(rf"{STRING}|[#!][A-Za-z_$][\w$]*+(?![\w.<])", re.ASCII).sub
_find_aliases = re.compile(r"^[ \t]*([#!](?:[A-Za-z_$.\-][\w$.\-]*|\d+))[ \t]*=", re.ASCII | re.MULTILINE).finditer

MAX_ALIAS_SIZE = 10_000  # types and attributes in an alias, with the aliases in it expanded

MAX_RESULTS = 1 << 20  # of an operation

VALUE = rf"{SUFFIX}(?:\#\d++)?+"
RESULT = rf"%({SUFFIX})(?:\s*:\s*(\d++))?+"
_find_results = re.compile(RESULT, re.ASCII).finditer
_match_operand = token(rf"%({VALUE})")
_match_next_operand = token(rf",{TRIVIA}%({VALUE})")

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


class Scope:
    """The names of values inside an isolated region, or inside a region that may shadow names of the scope `above`."""

    __slots__ = ("above", "defined", "expected", "values")

    def __init__(self, above: Scope | None = None) -> None:
        self.above = above
        self.values: dict[str, Value] = {}
        self.defined: list[str] = []  # in order, so that the names of a region can be removed at its end
        self.expected: dict[str, int] = {}  # offsets of the first uses of names that are not yet defined

    def forward_uses(self) -> None:
        """Leave the definition of names that are used and not defined here to the scope above."""
        assert self.above is not None
        self.above.values |= {name: self.values[name] for name in self.expected}
        self.above.expected |= self.expected


class FileParser(ForeignParser):
    """Parses aliases, which may be used before their definition, resources, which always are, and names of values."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.attribute_aliases: dict[str, Attribute] = {}
        self.alias_ends: dict[int, int] = {}  # end offsets of the definitions parsed so far, by their start offsets
        self.blobs: dict[str, tuple[int, bytes]] = {}  # alignments and data
        self.measures: dict[int, tuple[int, int]] = {}
        self.measured: list[object] = []
        self.scope = Scope()
        self.assumed: set[Value] = set()  # values whose types are guesses until they are used

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

    # --- values -------------------------------------------------------------------------------------------------------

    # operand ::= %name (#index)?
    def operand(self) -> tuple[str, int]:
        """Parse the name of a value; return it without `%`, with its offset."""
        match = self.take(_match_operand(self.text, self.position))
        if not match:
            raise self.expected("a value such as '%0'")
        return match[1], match.start(1) - 1

    # operands ::= (operand (, operand)*)?
    def operand_list(self) -> list[tuple[str, int]]:
        """Parse names of values, separated by commas, if there are any."""
        if self.peek()[:1] != "%":
            return []
        operands = [self.operand()]
        while match := self.take(_match_next_operand(self.text, self.position)):
            operands.append((match[1], match.start(1) - 1))
        return operands

    def resolve(self, draft: Draft) -> list[Value]:
        """Return the values that the operands of an op refer to."""
        types: Sequence[Type | None] = draft.operand_types or (None,) * len(draft.operands)
        if len(types) != len(draft.operands):
            raise self.error(f"{len(draft.operands)} operands present, but expected {len(types)}", draft.offset)
        return [self._value(name, offset, type) for (name, offset), type in zip(draft.operands, types)]

    def _value(self, name: str, offset: int, type: Type | None) -> Value:
        value = self.scope.values.get(name)
        if value is None and name.endswith("#0"):
            value = self.scope.values.get(name[:-2])
        if value is None and self.scope.above is not None:
            value = self.scope.above.values.get(name)
        if value is None:
            return self._expect_value(name, offset, type)
        if type is not None and value.type is not type and value.type != type:
            if value in self.assumed:
                self.assumed.discard(value)
                value.type = type
                return value
            raise self._conflict(name, type, value.type, offset)
        return value

    def _conflict(self, name: str, used: Type, defined: Type, offset: int) -> MalformedError:
        message = f"use of value '%{name}' expects different type than prior uses: '{used}' vs '{defined}'"
        return self.error(message, offset)

    def _expect_value(self, name: str, offset: int, type: Type | None) -> Value:
        """Return a value that is used before its definition, which may be in a later block of the region."""
        if type is None:
            raise self.error(f"use of undeclared SSA value name '%{name}'", offset)
        value = self.scope.values[name] = Value(type, None, 0, name)
        self.scope.expected[name] = offset
        return value

    def define_results(self, op: Operation, match: re.Match[str]) -> None:
        """Give the results of `op` the names that precede it in the text."""
        if match[2] is None and not match[3] and len(op.results) == 1:
            op.results[0] = self.define(match[1], op.results[0], match.start(1) - 1)
            return
        start, names = match.start(1) - 1, self.result_groups(match)
        declared = sum(count for _, count in names)
        if declared != len(op.results):
            raise self.error(f"expected {len(op.results)} result names for '{op.name}', got {declared}", start)
        index = 0
        for name, count in names:
            for part in range(count):
                full = name if count == 1 else f"{name}#{part}"
                op.results[index] = self.define(full, op.results[index], start)
                index += 1
            if count > 1:  # the name without a number is that of the first
                self.define(name, op.results[index - count], start)

    def result_groups(self, match: re.Match[str]) -> list[tuple[str, int]]:
        """Return the names before an op, each with the number of results that it stands for."""
        if match[1] is None:
            return []
        start, stop = match.start(1) - 1, match.start(4 if match[4] else 5)
        return [(m[1], self._result_count(m)) for m in _find_results(self.text, start, stop)]

    def is_visible(self, name: str) -> bool:
        """Return whether a name is that of a value here."""
        scopes = (self.scope, self.scope.above) if self.scope.above is not None else (self.scope,)
        return any(name in scope.values for scope in scopes)

    def _result_count(self, match: re.Match[str]) -> int:
        count = 1 if match[2] is None else self.to_integer(match[2], match.start(2))
        if not 1 <= count <= MAX_RESULTS:
            raise self.error(f"expected a number of results from 1 to {MAX_RESULTS}", match.start(2))
        return count

    def define(self, name: str, value: Value, offset: int) -> Value:
        """Bind a name to `value`; return the value, or the one that earlier uses of the name refer to."""
        values = self.scope.values
        if name in values:
            value = self._redefine(name, value, offset)
        else:
            self.scope.defined.append(name)
        values[name] = value
        if not value.name:
            value.name = name
        return value

    def _redefine(self, name: str, value: Value, offset: int) -> Value:
        if name not in self.scope.expected:
            raise self.error(f"redefinition of SSA value '%{name}'", offset)
        used = self.scope.expected.pop(name)
        known = self.scope.values[name]
        if known.type != value.type and value not in self.assumed:
            raise self._conflict(name, known.type, value.type, used)
        known.owner, known.index = value.owner, value.index
        self.scope.defined.append(name)
        return known

    def check_scope(self) -> None:
        """Raise MalformedError for a name that is used and never defined."""
        for name, offset in self.scope.expected.items():
            raise self.error(f"use of undeclared SSA value name '%{name}'", offset)

    def leave(self, first_defined: int) -> None:
        """Remove the names that were defined after the first `first_defined`."""
        scope = self.scope
        for name in scope.defined[first_defined:]:
            scope.values.pop(name, None)
        del scope.defined[first_defined:]

    # argument ::= %name : type location?
    def argument(self) -> Value:
        """Parse a block argument, whose name is not yet bound."""
        name, _ = self.operand()
        self.expect(":")
        value = Value(self.type(), None, 0, name)
        value.location = self.trailing_location()
        return value

    # argument-list ::= ( (argument (, argument)*)? )
    def argument_list(self) -> list[Value]:
        """Parse block arguments in parentheses."""
        arguments = self.items(self.argument, "(", ")")
        for index, argument in enumerate(arguments):
            argument.index = index
        return arguments

    def arguments(self, names: Sequence[tuple[str, int]], types: Sequence[Type]) -> list[Value]:
        """Return block arguments with these names and types."""
        return [Value(type, None, index, name) for index, ((name, _), type) in enumerate(zip(names, types))]
