"""Attributes as MLIR writes them, before codecs turn them into the Python values of an op's members.

Strings are `str`, booleans `bool`, arrays `tuple`, dictionaries `dict`, types are types; the rest are the classes here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array, without_repetition
from stablehlo_ref.ir.types import BooleanType, FloatType, IntegerType, Type


@dataclass(frozen=True)
class Unit:
    """`unit`: an attribute whose presence is its meaning."""


UNIT = Unit()


@dataclass(frozen=True)
class IntegerAttribute:
    """`5 : i64`; the type is None if the text omits it."""

    value: int
    type: Type | None = None


@dataclass(frozen=True)
class FloatAttribute:
    """`1.5 : f32`. `value` is the double nearest to the text, already rounded to the type; `text` keeps hex forms."""

    value: float
    type: Type | None = None
    text: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class DenseElements:
    """`dense<...> : type`. `array` is read-only and has the type's shape; that of a splat has strides of 0."""

    type: Any  # with a static shape and an element type
    array: Array

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DenseElements)
            and self.type == other.type
            and self.array.shape == other.array.shape
            and self.array.tobytes() == other.array.tobytes()
        )

    def __hash__(self) -> int:
        return hash((self.type, self.array.shape))

    def __str__(self) -> str:
        """Omit the elements, as there may be any number of them."""
        return f"dense<...> : {self.type}"

    def __deepcopy__(self, memo: object) -> DenseElements:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _dense_elements, (self.type, without_repetition(self.array), self.array.shape)


def _read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _dense_elements(type: object, array: Array, shape: tuple[int, ...]) -> DenseElements:
    _read_only(array)
    return DenseElements(type, array if array.shape == shape else np.broadcast_to(array, shape))


@dataclass(frozen=True)
class DenseResource:
    """`dense_resource<key> : type`; `array` is a read-only view of the blob in the file's metadata; None without it."""

    key: str
    type: Any
    array: Any = None
    alignment: int = 0  # of the blob in bytes; 0 if it is unknown

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DenseResource) and (self.key, self.type) == (other.key, other.type)

    def __hash__(self) -> int:
        return hash((self.key, self.type))

    def __deepcopy__(self, memo: object) -> DenseResource:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _dense_resource, (self.key, self.type, self.array)


def _dense_resource(key: str, type: object, array: Array | None) -> DenseResource:
    return DenseResource(key, type, None if array is None else _read_only(array))


@dataclass(frozen=True)
class DenseArray:
    """`array<i64: 1, 2>`."""

    element_type: BooleanType | IntegerType | FloatType
    values: tuple[Any, ...]


@dataclass(frozen=True)
class SymbolReference:
    """`@name` or `@root::@nested`."""

    path: tuple[str, ...]


@dataclass(frozen=True)
class EnumAttribute:
    """`#stablehlo<comparison_direction LT>`: `kind` is `comparison_direction`, `value` is `LT`."""

    dialect: str
    kind: str
    value: str
    spelling: str = field(default="", compare=False)  # the dialect that is printed, if it is another: `mhlo`


@dataclass(frozen=True, eq=True)
class StructAttribute:
    """`#stablehlo.gather<offset_dims = [1], ...>`: `name` is `stablehlo.gather`."""

    name: str
    fields: Mapping[str, Any]
    spelling: str = field(default="", compare=False)  # as of `EnumAttribute`

    def __hash__(self) -> int:
        return hash((self.name, tuple(self.fields)))


@dataclass(frozen=True)
class OpaqueAttribute:
    """An attribute of another dialect (`#sdy.mesh<...>`, an affine map, ...), kept as written."""

    text: str


@dataclass(frozen=True)
class Verbatim:
    """The pretty form of an op without a class: text around names, numbers of operands or its own."""

    parts: tuple[str, ...]
    names: tuple[int | str, ...]


VERBATIM = "<verbatim>"  # the property of such an op that holds it


@dataclass(frozen=True)
class TypeAttribute:
    """A type as an attribute, such as the `function_type` of a function."""

    type: Type


Attribute: TypeAlias = (
    Unit | bool | str | tuple[Any, ...] | dict[str, Any] | IntegerAttribute | FloatAttribute | DenseElements
    | DenseResource | DenseArray | SymbolReference | EnumAttribute | StructAttribute | OpaqueAttribute
    | TypeAttribute
)  # fmt: skip


def rebuilt(attribute: Any, change: Callable[[Any], Any]) -> Any:
    """Return an attribute after `change` of all in its lists, dictionaries and structs, and then of itself."""
    match attribute:
        case tuple() if type(attribute) is tuple:
            attribute = tuple(rebuilt(element, change) for element in attribute)
        case dict():
            attribute = {name: rebuilt(element, change) for name, element in attribute.items()}
        case StructAttribute(fields=fields):
            attribute = replace(attribute, fields={name: rebuilt(field, change) for name, field in fields.items()})
    return change(attribute)
