"""Attributes: recursive descent over MLIR's grammar."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import cast

import numpy as np

from stablehlo_ref.diagnostics import Source, UnsupportedError
from stablehlo_ref.distribution import sdy_attributes
from stablehlo_ref.ir.attributes import (
    UNIT,
    Attribute,
    DenseArray,
    DenseElements,
    DenseResource,
    FloatAttribute,
    IntegerAttribute,
    OpaqueAttribute,
    SymbolReference,
    TypeAttribute,
)
from stablehlo_ref.ir.lexer import NUMBER, STRING, shorten, token
from stablehlo_ref.ir.locations import DebugLocation
from stablehlo_ref.ir.types import (
    BooleanType,
    FloatType,
    IndexType,
    IntegerType,
    OpaqueType,
    TensorType,
    Type,
)
from stablehlo_ref.syntax import literals
from stablehlo_ref.syntax.attribute_text import attribute_text
from stablehlo_ref.syntax.structs import StructParser
from stablehlo_ref.syntax.types import SIMPLE_TYPE

DIALECTS_WITH_STRUCTS = ("stablehlo", "chlo")
MEMOIZED_LENGTH = 100  # characters of the longest literal that is memoized

_match_number = token(rf"(-?)\s*({NUMBER})(?!\w)")
_match_list = token(r"\[(\s*+(?:-?\d++\s*+(?:,\s*+-?\d++\s*+)*+)?+)\]")
_match_affine = token(r"(affine_(?:map|set)<(?:->|>=|<=|[^<>\"])*+>)")
_match_array = token(rf"<\s*({SIMPLE_TYPE})\s*(?::([^<>]*+))?>")
_skip_spaces = re.compile(r"\s*+").match
_match_short_dense = token(rf'dense(<[^<>"/]{{0,{MEMOIZED_LENGTH}}}+>\s*:\s*{SIMPLE_TYPE})')
_match_dense_rest = re.compile(rf'(?:[^>"/]++|{STRING}|//[^\n]*+|/)*+>').match
_find_numbers = re.compile(r"-?\d+").findall


class AttributeParser(StructParser):
    """Parses attributes. Subclasses define `attribute_alias` for aliases (`#name`)."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.dense_literals: dict[str, DenseElements] = {}
        self.resources: list[tuple[DenseResource, int]] = []  # with their offsets

    def attribute_alias(self, name: str) -> Attribute:
        """Return the attribute that the alias `#name` stands for."""
        raise NotImplementedError

    # attribute ::= string | list | dictionary | symbol | dialect-attribute | number | keyword ... | type
    def attribute(self) -> Attribute:
        """Parse an attribute."""
        start = self.peek()
        read = _BY_START.get(start) or _BY_FIRST_CHARACTER.get(start[:1])
        self.descend()
        value = read(self) if read else TypeAttribute(self._type_attribute())
        self.depth -= 1
        return cast(Attribute, value)

    def _type_attribute(self) -> Type:
        start = self.peek()
        if not (start[:1].isalpha() or start[:1] in ("!", "(")):
            raise self.expected("an attribute")
        return self.type()

    def attribute_text(self) -> str:
        """Parse an attribute and return its text with aliases expanded."""
        return attribute_text(self.attribute())

    def _keyword(self, value: Attribute) -> Attribute:
        self.advance()
        return value

    # string ::= "..." (: type)?
    def _string(self) -> str | OpaqueAttribute:
        start, value = self.start, self.string()
        if not self.accept(":"):
            return value
        self.type()  # of a dialect's type, such as !tf.string
        return OpaqueAttribute(self.text[start : self.position])

    # list ::= [ (attribute (, attribute)*)? ]
    def _list(self) -> tuple[Attribute, ...]:
        match = self.take(_match_list(self.text, self.position))
        if not match:
            return tuple(self.items(self.attribute, "[", "]"))
        return tuple(self._integer(n, match.start(1)) for n in _find_numbers(match[1]))

    # dictionary ::= { (entry (, entry)*)? }
    def dictionary(self) -> dict[str, Attribute]:
        """Parse `{name = attribute, ...}`."""
        entries: dict[str, Attribute] = {}
        self.items(lambda: self.entry(entries), "{", "}")
        return entries

    # entry ::= (word | string) (= attribute)?
    def entry(self, entries: dict[str, Attribute]) -> None:
        """Parse an entry of a dictionary and add it to `entries`."""
        start, offset = self.peek(), self.start
        name = self.string() if start[:1] == '"' else self.word("an attribute name")
        if name in entries:
            raise self.error(f"duplicate attribute '{shorten(name)}'", offset)
        entries[name] = self.attribute() if self.accept("=") else UNIT

    # symbol ::= @name (:: @name)*
    def _symbol(self) -> SymbolReference:
        path = [self.symbol_name()]
        while self.accept("::"):
            path.append(self.symbol_name())
        return SymbolReference(tuple(path))

    def symbol_name(self) -> str:
        """Parse `@name` and return the name."""
        offset, name = self.start, self.peek()
        if name[:1] != "@" or len(name) < 2:
            raise self.expected("a symbol name such as '@main'")
        self.advance()
        return self.unescape(name[1:], offset + 1) if name[1] == '"' else name[1:]

    # number ::= -? (integer | float) (: type)?
    def number(self, typed: bool = True) -> IntegerAttribute | FloatAttribute:
        """Parse a number, with `: type` after it if `typed`."""
        match = self.take(_match_number(self.text, self.position))
        if not match:
            raise self.expected("a number")
        sign, digits = match.groups()
        offset = match.start(1)
        type = self.type() if typed and self.accept(":") else None
        if isinstance(type, FloatType):
            return self._float(sign, digits, type, offset)
        if "." in digits:
            if type is not None:
                raise self.error(f"expected a literal of type {type}, got a floating-point literal", offset)
            return FloatAttribute(float(sign + digits))
        if type is not None and not isinstance(type, BooleanType | IntegerType | IndexType):
            raise self.error(f"expected an integer or floating-point type, got {type}", offset)
        return self._integer(sign + digits, offset, type)

    def real(self, type: FloatType) -> float:
        """Parse a number of a floating-point type that the text does not repeat."""
        match = self.take(_match_number(self.text, self.position))
        if not match:
            raise self.expected("a number")
        return self._float(match[1], match[2], type, match.start(1)).value

    def _integer(self, digits: str, offset: int, type: Type | None = None) -> IntegerAttribute:
        value = self.to_integer(digits, offset)
        width = max(64, type.width if isinstance(type, IntegerType) else 0)  # ops look closer at narrow types
        if not -1 << width - 1 <= value < 1 << width:
            raise self.error("integer constant out of range for attribute", offset)
        return IntegerAttribute(value, type)

    def _float(self, sign: str, digits: str, type: FloatType, offset: int) -> FloatAttribute:
        if "." not in digits and not digits.startswith("0x"):
            raise self.error(f"expected a literal of type {type}, got an integer literal", offset)
        try:
            value = literals.parse_elements(sign + digits, (), type)
        except UnsupportedError:  # a format that has no arrays
            return FloatAttribute(float(sign + digits) if "." in digits else 0.0, type, sign + digits)
        except literals.LiteralError as error:
            raise self.error(str(error), offset) from error
        return FloatAttribute(float(value), type, digits if digits.startswith("0x") else "")

    # --- elements -----------------------------------------------------------------------------------------------

    # dense ::= dense < ... > : type
    def _dense(self) -> DenseElements | OpaqueAttribute:
        match = _match_short_dense(self.text, self.position)
        if match and (known := self.dense_literals.get(match[1])):
            self.position = match.end()
            return known
        offset = self.start
        self.advance()
        self.expect("<")
        start, stop = self.position, self._dense_end()
        self.position = stop + 1
        self.expect(":")
        type = self.type()
        value = self._elements(start, stop, type, offset)
        if match and match.end() == self.position and isinstance(value, DenseElements):
            self.dense_literals[match[1]] = value
        return value

    def elements(self, type: Type) -> Attribute:
        """Parse `dense<...>` or `dense_resource<...>` of a type that the text does not repeat."""
        offset, is_dense = self.start, self.accept("dense")
        if not is_dense:
            self.expect("dense_resource")
        self.expect("<")
        if not is_dense:
            resource = DenseResource(self._resource_key(), type)
            self.expect(">")
            self.resources.append((resource, offset))
            return resource
        start, stop = self.position, self._dense_end()
        self.position = stop + 1
        return self._elements(start, stop, type, offset)

    def _resource_key(self) -> str:
        return self.string() if self.peek()[:1] == '"' else self.word("a resource key")

    def _dense_end(self) -> int:
        """Return the offset of the `>` that ends the dense literal whose elements are next."""
        start = self.position
        stop = self.text.find(">", start)
        if stop >= 0 and self.text.find('"', start, stop) < 0 and self.text.find("//", start, stop) < 0:
            return stop
        quote = self.start
        if self.text.startswith('"0x', quote):
            close = self.text.find('"', quote + 1)
            if close >= 0 and self.text.startswith(">", close + 1):
                return close + 1
        match = _match_dense_rest(self.text, start)
        if not match:
            raise self.error("unterminated dense literal", start)
        return match.end() - 1

    def _elements(self, start: int, stop: int, type: Type, offset: int) -> DenseElements | OpaqueAttribute:
        """Return the dense literal of a type whose elements are the text from `start` to `stop`."""
        if not isinstance(type, TensorType) or isinstance(type.element_type, OpaqueType):
            return OpaqueAttribute(f"dense<{self.text[start:stop]}> : {type}")
        if not type.is_static:
            raise self.error(f"elements literal type must have static shape, got {type}", offset)
        shape = cast("tuple[int, ...]", type.shape)
        first = _skip_spaces(self.text, start).end()  # type: ignore[union-attr]  # it matches everywhere
        try:
            if self.text.startswith('"0x', first) and self.text[stop - 1] == '"':
                return DenseElements(type, literals.from_hex(self.source, first, stop, shape, type.element_type))
            return DenseElements(type, literals.parse_elements(self.text[start:stop], shape, type.element_type))
        except literals.LiteralError as error:
            raise self.error(f"{error} in literal of type {type}", first + error.offset) from error
        except UnsupportedError:
            return OpaqueAttribute(f"dense<{self.text[start:stop]}> : {type}")

    # dense-resource ::= dense_resource < (word | string) > : type
    def _dense_resource(self) -> DenseResource:
        offset = self.start
        self.advance()
        self.expect("<")
        key = self._resource_key()
        self.expect(">")
        self.expect(":")
        resource = DenseResource(key, self.type())
        self.resources.append((resource, offset))
        return resource

    # array ::= array < type (: element (, element)*)? >
    def _array(self) -> DenseArray:
        start = self.start
        self.advance()
        match = self.take(_match_array(self.text, self.position))
        if not match:
            raise self.expected("'<', an element type and the elements of an array")
        kept, self.position = self.position, match.start(1)
        element_type = self.type()
        self.position = kept
        if not isinstance(element_type, BooleanType | IntegerType | FloatType):
            raise self.error(f"unsupported element type {element_type} of an array", match.start(1))
        body = match[2] or ""
        return DenseArray(element_type, self._array_values(body, element_type, match.start(2) if body else start))

    def _array_values(self, body: str, element_type: Type, offset: int) -> tuple[bool | int | float, ...]:
        """Return the elements of an array, separated by commas in `body`, which is at `offset`."""
        count = body.count(",") + 1 if body.strip() else 0
        try:
            values = literals.parse_elements(f"[{body}]", (count,), element_type)
        except literals.LiteralError as error:
            raise self.error(f"{error} in array of {element_type}", offset + max(error.offset - 1, 0)) from error
        except UnsupportedError as error:
            raise self.error(str(error), offset) from error
        if values.dtype.kind not in "bui":  # types that numpy lacks
            values = values.astype(np.float64)
            values = values if isinstance(element_type, FloatType) else values.astype(np.int64)
        return tuple(values.tolist())

    # --- dialects -----------------------------------------------------------------------------------------------

    # dialect-attribute ::= #alias | # dialect . name (< ... >)? | # dialect < ... >
    def _hash(self) -> Attribute:
        start, name = self.start, self.advance()
        angled = self.text.startswith("<", self.position)
        dialect, dot, _ = name[1:].partition(".")
        if dialect in DIALECTS_WITH_STRUCTS and angled:
            return self.struct(name[1:]) if dot else self.enum(dialect)
        if dialect in ("mhlo", "vhlo") and angled:
            return self.foreign_attribute(name[1:])
        if not dot and not angled:
            self.position = start
            return self.attribute_alias(self.advance())
        text = name + (self.balanced_text("dialect attribute") if angled else "")
        self._check_sdy(text, start)
        return OpaqueAttribute(text)

    def foreign_attribute(self, name: str) -> Attribute:
        """Parse what follows `#name` of mhlo or vhlo."""
        raise NotImplementedError

    def _check_sdy(self, text: str, start: int) -> None:
        try:
            sdy_attributes.read_attribute(text)
        except sdy_attributes.SdySyntaxError as error:
            raise self.error(str(error), start + error.offset) from error

    def _affine(self) -> OpaqueAttribute:
        """Parse `affine_map<...>` or `affine_set<...>`, whose brackets may contain comparisons and arrows."""
        match = self.take(_match_affine(self.text, self.position))
        if not match:
            raise self.error("unterminated affine map or set")
        return OpaqueAttribute(match[1])

    def _opaque(self) -> OpaqueAttribute:
        """Parse `sparse<...>` and other attributes that are kept as text."""
        start = self.start
        self.advance()
        while self.peek() in ("<", "["):
            self.balanced("attribute")
        if self.accept(":"):
            self.type()
        return OpaqueAttribute(self.text[start : self.position])


_BY_START: dict[str, Callable[[AttributeParser], Attribute | DebugLocation]] = {
    **dict.fromkeys(("affine_map", "affine_set"), AttributeParser._affine),
    **dict.fromkeys(("sparse", "opaque", "strided", "distinct"), AttributeParser._opaque),
    "true": lambda parser: parser._keyword(True),
    "false": lambda parser: parser._keyword(False),
    "unit": lambda parser: parser._keyword(UNIT),
    "dense": AttributeParser._dense,
    "dense_resource": AttributeParser._dense_resource,
    "array": AttributeParser._array,
    "loc": AttributeParser.location_attribute,
}
_BY_FIRST_CHARACTER: dict[str, Callable[[AttributeParser], Attribute]] = {
    **dict.fromkeys("-0123456789", AttributeParser.number),
    '"': AttributeParser._string,
    "[": AttributeParser._list,
    "{": AttributeParser.dictionary,
    "@": AttributeParser._symbol,
    "#": AttributeParser._hash,
}
