"""What a member of an op may be: kinds of values (`In`, `Out`) and of attributes (`Attr`).

A kind of attribute turns what the parser read into the plain Python value that everything later sees (`decode`), and
back (`encode`); both the current spellings and those of older exports are read, the current one is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np

from stablehlo_ref.ir.attributes import (
    UNIT,
    DenseArray,
    DenseElements,
    DenseResource,
    EnumAttribute,
    FloatAttribute,
    IntegerAttribute,
    StructAttribute,
    SymbolReference,
    TypeAttribute,
)
from stablehlo_ref.ir.types import (
    BOOLEAN,
    BufferType,
    FloatType,
    FunctionType,
    FutureType,
    IndexType,
    OpaqueType,
    TensorType,
    TokenType,
    TupleType,
    Type,
    integer_type,
    tensor_type,
)
from stablehlo_ref.spec import (
    element_type,
    is_boolean,
    is_complex,
    is_float,
    is_integer,
    is_per_tensor_quantized,
    is_quantized,
    is_signed_integer,
    num_bits,
    rank,
)

MOST_LISTED = 1 << 20  # elements of a literal that stands for a list

# --- values ---------------------------------------------------------------------------------------------------------


class Kind:
    """A set of types by name; `|` unites two."""

    def __init__(self, name: str, holds: Callable[[Any], bool]) -> None:
        self.name = name
        self.holds = holds

    def __or__(self, other: Kind) -> Kind:
        return Kind(_either(self.name, other.name), lambda t: self.holds(t) or other.holds(t))

    def __repr__(self) -> str:
        return self.name


def _either(x: str, y: str) -> str:
    """One name or another: `tensor of integer or boolean type`."""
    first, second = (re.fullmatch(r"(.*tensor of )(.*) type", name) for name in (x, y))
    if first and second and first[1] == second[1]:
        return f"{first[1]}{first[2]} or {second[2]} type"
    return f"{x} or {y}"


def _tensor_of(name: str, holds: Callable[[Any], bool]) -> Kind:
    return Kind(name, lambda t: isinstance(t, TensorType) and holds(t))


tensor = _tensor_of("tensor", lambda t: not is_quantized(t))
boolean_tensor = _tensor_of("tensor of boolean type", is_boolean)
integer_tensor = _tensor_of("tensor of integer type", is_integer)
signed_integer_tensor = _tensor_of("tensor of signed integer type", is_signed_integer)
float_tensor = _tensor_of("tensor of floating-point type", is_float)
complex_tensor = _tensor_of("tensor of complex type", is_complex)
quantized_tensor = _tensor_of("quantized tensor", is_quantized)
per_tensor_quantized = _tensor_of("per-tensor quantized tensor", is_per_tensor_quantized)
scalar_tensor = _tensor_of("0-dimensional tensor", lambda t: rank(t) == 0)
boolean_scalar = _tensor_of("0-dimensional tensor of boolean type", lambda t: rank(t) == 0 and is_boolean(t))
integer_scalar = _tensor_of("0-dimensional tensor of integer type", lambda t: rank(t) == 0 and is_integer(t))
si32_scalar = _tensor_of(
    "0-dimensional tensor of type si32",
    lambda t: rank(t) == 0 and is_signed_integer(t) and num_bits(element_type(t)) == 32,
)
feature_vector = _tensor_of(
    "1-dimensional tensor of floating-point or per-tensor quantized type",
    lambda t: rank(t) == 1 and (is_float(t) or is_per_tensor_quantized(t)),
)
integer_vector = _tensor_of("1-dimensional tensor of integer type", lambda t: rank(t) == 1 and is_integer(t))
integer_matrix = _tensor_of("2-dimensional tensor of integer type", lambda t: rank(t) == 2 and is_integer(t))
index = Kind("index", lambda t: isinstance(t, IndexType))
witness = Kind("witness", lambda t: isinstance(t, OpaqueType) and t.text == "!shape.witness")  # holds nothing
token = Kind("token", lambda t: isinstance(t, TokenType))
tuple_value = Kind("tuple", lambda t: isinstance(t, TupleType))
future = Kind("future", lambda t: isinstance(t, FutureType))
buffer = Kind("buffer", lambda t: isinstance(t, BufferType))
anything = Kind("value", lambda t: True)

# --- attributes -----------------------------------------------------------------------------------------------------


class AttributeKind:
    """How one sort of attribute is read and written. `decode` raises ValueError on anything else."""

    name = "attribute"

    def decode(self, attribute: Any) -> Any:
        return attribute

    def encode(self, value: Any) -> Any:
        return value

    def _refuse(self) -> ValueError:
        return ValueError(f"must be a {self.name}")


def _is_integer(attribute: Any, width: int) -> bool:
    """Whether an attribute is an integer of so many bits, with or without a sign."""
    return isinstance(attribute, IntegerAttribute) and -1 << width - 1 <= attribute.value < 1 << width


def _listed(array: np.ndarray) -> Any:
    """The elements of an array as nested lists; ValueError for more than any list that an op has."""
    count = max(array.size, len(array))  # of rows, if they are empty
    if count > MOST_LISTED:
        raise ValueError(f"has {count} elements, where no list has more than {MOST_LISTED}")
    return array.tolist()


class _Int(AttributeKind):
    def __init__(self, width: int) -> None:
        self.width = width
        self.name = f"{width}-bit integer"

    def decode(self, attribute: Any) -> int:
        if _is_integer(attribute, self.width):
            return attribute.value  # type: ignore[no-any-return]
        raise self._refuse()

    def encode(self, value: int) -> IntegerAttribute:
        return IntegerAttribute(value, integer_type(self.width))


class _Real(AttributeKind):
    def __init__(self, type: str) -> None:
        self.type = FloatType(type)
        self.name = f"{type} number"

    def decode(self, attribute: Any) -> float:
        if isinstance(attribute, FloatAttribute):
            return attribute.value
        raise self._refuse()

    def encode(self, value: float) -> FloatAttribute:
        return FloatAttribute(value, self.type)


class _Flag(AttributeKind):
    name = "boolean"

    def decode(self, attribute: Any) -> bool:
        if isinstance(attribute, bool):
            return attribute
        raise self._refuse()


class _Presence(AttributeKind):
    """A flag that is set by its name alone; older programs write `= true`."""

    name = "unit or boolean"

    def decode(self, attribute: Any) -> bool:
        if attribute == UNIT or isinstance(attribute, bool):
            return attribute is not False
        raise self._refuse()

    def encode(self, value: bool) -> Any:
        return UNIT if value else False


class _String(AttributeKind):
    name = "string"

    def decode(self, attribute: Any) -> str:
        if isinstance(attribute, str):
            return attribute
        raise self._refuse()


class _Symbol(AttributeKind):
    """The name of a function, without `@`."""

    name = "symbol reference"

    def decode(self, attribute: Any) -> str:
        if isinstance(attribute, SymbolReference) and len(attribute.path) == 1:
            return attribute.path[0]
        raise self._refuse()

    def encode(self, value: str) -> SymbolReference:
        return SymbolReference((value,))


class _Dims(AttributeKind):
    """A list of integers, as `array<i64: ...>`, `dense<...> : tensor<Nxi64>` or `[...]`."""

    name = "list of 64-bit integers"

    def decode(self, attribute: Any) -> tuple[int, ...]:
        if isinstance(attribute, DenseArray) and is_integer(attribute.element_type):
            return attribute.values
        if isinstance(attribute, DenseElements) and is_integer(attribute.type) and attribute.array.ndim == 1:
            return tuple(_listed(attribute.array))
        if isinstance(attribute, tuple) and all(_is_integer(a, 64) for a in attribute):
            return tuple(a.value for a in attribute)
        raise self._refuse()

    def encode(self, value: tuple[int, ...]) -> DenseArray:
        return DenseArray(integer_type(64), value)  # type: ignore[arg-type]


class _Flags(AttributeKind):
    name = "list of booleans"

    def decode(self, attribute: Any) -> tuple[bool, ...]:
        if isinstance(attribute, DenseArray) and attribute.element_type == BOOLEAN:
            return attribute.values
        if isinstance(attribute, DenseElements) and is_boolean(attribute.type) and attribute.array.ndim == 1:
            return tuple(_listed(attribute.array))
        if isinstance(attribute, tuple) and all(isinstance(a, bool) for a in attribute):
            return attribute
        raise self._refuse()

    def encode(self, value: tuple[bool, ...]) -> DenseArray:
        return DenseArray(BOOLEAN, value)


class _Matrix(AttributeKind):
    """A 2-dimensional tensor of integers as a tuple of rows: paddings, replica groups, source-target pairs."""

    name = "2-dimensional tensor of 64-bit integers"

    def decode(self, attribute: Any) -> tuple[tuple[int, ...], ...]:
        if isinstance(attribute, DenseElements) and is_integer(attribute.type) and attribute.array.ndim == 2:
            return tuple(map(tuple, _listed(attribute.array)))
        raise self._refuse()

    def encode(self, value: tuple[tuple[int, ...], ...]) -> DenseElements:
        columns = len(value[0]) if value else 0
        array = np.array(value, np.int64).reshape(len(value), columns)
        return DenseElements(tensor_type(array.shape, integer_type(64)), array)


class _Dense(AttributeKind):
    """A tensor constant; its type and its read-only array stay together."""

    name = "tensor constant"

    def decode(self, attribute: Any) -> DenseElements | DenseResource:
        if isinstance(attribute, DenseElements | DenseResource):
            return attribute
        raise self._refuse()


class _Type(AttributeKind):
    name = "type"

    def decode(self, attribute: Any) -> Type:
        if isinstance(attribute, TypeAttribute):
            return attribute.type
        raise self._refuse()

    def encode(self, value: Type) -> TypeAttribute:
        return TypeAttribute(value)


class _FunctionType(_Type):
    name = "function type"

    def decode(self, attribute: Any) -> Type:
        type = super().decode(attribute)
        if isinstance(type, FunctionType):
            return type
        raise self._refuse()


class _Dictionary(AttributeKind):
    name = "dictionary"

    def decode(self, attribute: Any) -> dict[str, Any]:
        if isinstance(attribute, dict):
            return attribute
        raise self._refuse()


class OneOf(AttributeKind):
    """An enumeration: `#stablehlo<comparison_direction LT>` is `ComparisonDirection.LT`."""

    def __init__(self, enum: type[Enum], dialect: str = "stablehlo", kind: str = "") -> None:
        self.enum = enum
        self.dialect = dialect
        self.kind = kind or "".join(f"_{c.lower()}" if c.isupper() else c for c in enum.__name__).lstrip("_")
        self.name = f"{self.kind}: one of {', '.join(member.name for member in enum)}"

    def decode(self, attribute: Any) -> Enum:
        written = attribute.value if isinstance(attribute, EnumAttribute) else attribute
        if isinstance(written, str) and written in self.enum.__members__:
            return self.enum[written]
        raise self._refuse()

    def encode(self, value: Enum) -> EnumAttribute:
        return EnumAttribute(self.dialect, self.kind, value.name)


class ListOf(AttributeKind):
    """`[a, b]` of another kind."""

    def __init__(self, element: AttributeKind) -> None:
        self.element = element
        self.name = f"list of {element.name}"

    def decode(self, attribute: Any) -> tuple[Any, ...]:
        if isinstance(attribute, tuple):
            return tuple(map(self.element.decode, attribute))
        raise self._refuse()

    def encode(self, value: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(map(self.element.encode, value))


class Struct(AttributeKind):
    """`#stablehlo.output_operand_alias<...>` and the like, kept as the fields that were written."""

    def __init__(self, name: str) -> None:
        self.name = name

    def decode(self, attribute: Any) -> StructAttribute:
        if isinstance(attribute, StructAttribute) and attribute.name == self.name:
            return attribute
        raise self._refuse()


Opaque = AttributeKind()  # anything at all
Int = _Int(64)
Int32 = _Int(32)
Real = _Real("f64")
Real32 = _Real("f32")
Flag = _Flag()
Flags = _Flags()
Presence = _Presence()
String = _String()
Symbol = _Symbol()
Dims = _Dims()
Matrix = _Matrix()
Dense = _Dense()
TypeOf = _Type()
FunctionTypeOf = _FunctionType()
Dictionary = _Dictionary()
