"""Attributes as they stand in a program's text, before an op's members turn them into plain Python values.

Strings are `str`, booleans `bool`, arrays `tuple`, dictionaries `dict`, types are types; the rest are the classes here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.ir.types import BooleanType, FloatType, IntegerType, Type


@dataclass(frozen=True)
class Unit:
    """`unit`: an attribute whose presence says it all."""


UNIT = Unit()


@dataclass(frozen=True)
class IntegerAttribute:
    """`5 : i64`; the type is None where the text leaves it out."""

    value: int
    type: Type | None = None


@dataclass(frozen=True)
class FloatAttribute:
    """`1.5 : f32`. `value` is the double nearest to the text, already rounded to the type; `text` keeps hex forms."""

    value: float
    type: Type | None = None
    text: str = ""


@dataclass(frozen=True, eq=False)
class DenseElements:
    """`dense<...> : type`. `array` is read-only and has the type's shape; a splat is a stride-0 view."""

    type: Any
    array: np.ndarray

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
        """Without the elements, of which there may be any number."""
        return f"dense<...> : {self.type}"


@dataclass(frozen=True)
class DenseResource:
    """`dense_resource<key> : type`; `array` is a view of the blob in the file's metadata, None where there is none."""

    key: str
    type: Any
    array: Any = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DenseResource) and (self.key, self.type) == (other.key, other.type)

    def __hash__(self) -> int:
        return hash((self.key, self.type))


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
    """`#stablehlo<comparison_direction LT>`: `kind` is what stands before the value."""

    dialect: str
    kind: str
    value: str


@dataclass(frozen=True, eq=True)
class StructAttribute:
    """`#stablehlo.gather<offset_dims = [1], ...>`: `name` is `stablehlo.gather`."""

    name: str
    fields: Mapping[str, Any]

    def __hash__(self) -> int:
        return hash((self.name, tuple(self.fields)))


@dataclass(frozen=True)
class OpaqueAttribute:
    """An attribute that this project does not know (`#sdy.mesh<...>`, affine maps, ...), kept as it was written."""

    text: str


@dataclass(frozen=True)
class TypeAttribute:
    """A type that stands as an attribute, such as a function's `function_type`."""

    type: Type


Attribute: TypeAlias = (
    Unit | bool | str | tuple[Any, ...] | dict[str, Any] | IntegerAttribute | FloatAttribute | DenseElements
    | DenseResource | DenseArray | SymbolReference | EnumAttribute | StructAttribute | OpaqueAttribute | TypeAttribute
)  # fmt: skip
