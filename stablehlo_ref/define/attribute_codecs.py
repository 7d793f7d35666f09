"""How attributes become Python values and back.

An attribute member is declared with the Python type that its value has: `Attr(Dims)`, `Attr(Flag)`,
`Attr(ComparisonDirection)`. The types below are plain Python types (`Dims` is `tuple[int, ...]`), annotated with the
codec that converts between MLIR attributes and such values. Roles use the same names as annotations.

Codecs read the current spelling of an attribute and those of older exports, and write the current one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Generic, TypeAlias, TypeVar, get_args

import numpy as np

from stablehlo_ref.define.spec import element_type
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import (
    UNIT,
    Attribute,
    DenseArray,
    DenseElements,
    DenseResource,
    EnumAttribute,
    FloatAttribute,
    IntegerAttribute,
    OpaqueAttribute,
    StructAttribute,
    SymbolReference,
    TypeAttribute,
)
from stablehlo_ref.ir.types import (
    BOOLEAN,
    INDEX,
    BooleanType,
    FloatType,
    FunctionType,
    IntegerType,
    Type,
    integer_type,
    tensor_type,
)

MAX_LIST_ELEMENTS = 1 << 20  # elements of a tensor literal that is read as a list
PAIR = 2  # columns of a matrix of padding or of source-target pairs

SPELLINGS = ("stablehlo", "mhlo")  # dialects whose enumerations stand for those of any other

FAST_MATH = ("none", "reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "fast")  # flags of arith ops

T = TypeVar("T")


class AttributeCodec(Generic[T]):
    """Converts between an MLIR attribute and the Python value of a member. The base class keeps attributes as is."""

    name: str = "attribute"
    kinds: type | UnionType = object  # the classes of attributes that the base class keeps
    samples: Sequence[Any] = ()  # values for generated programs, of codecs that these cannot be drawn from otherwise

    def decode(self, attribute: Attribute) -> T:
        """Return the Python value of `attribute`; ValueError if the codec cannot read it."""
        value = self.read(attribute)
        if value is None:
            raise ValueError(f"must be a {self.name}")
        return value

    def read(self, attribute: Attribute) -> T | None:
        """Return the Python value of `attribute`; None if it is of another kind, ValueError if only a part is wrong."""
        return attribute if isinstance(attribute, self.kinds) else None  # type: ignore[return-value]

    def encode(self, value: T) -> Attribute:
        """Return the attribute that MLIR writes for `value`."""
        return value  # type: ignore[return-value]


def codec_of(value_type: object) -> AttributeCodec[Any]:
    """Return the codec of a member's type: that of an annotated type, or an `EnumCodec` for an `Enum` class.

    Raises TypeError for any other type.
    """
    if isinstance(value_type, type) and issubclass(value_type, Enum):
        return EnumCodec(value_type)
    codec = next((a for a in get_args(value_type)[1:] if isinstance(a, AttributeCodec)), None)
    if codec is None:
        raise TypeError(f"{value_type} has no attribute codec")
    return codec


# --- codecs ---------------------------------------------------------------------------------------------------------


def _is_integer(attribute: Attribute, width: int) -> bool:
    """Return whether an attribute is a signed or unsigned integer of `width` bits."""
    return isinstance(attribute, IntegerAttribute) and -1 << width - 1 <= attribute.value < 1 << width


def _as_list(array: Array) -> list[Any]:
    """Return the elements of an array as nested lists; ValueError above `MAX_LIST_ELEMENTS`."""
    count = max(array.size, len(array))  # rows count even if they are empty
    if count > MAX_LIST_ELEMENTS:
        raise ValueError(f"has {count} elements, more than the limit of {MAX_LIST_ELEMENTS} for a list")
    return array.tolist()  # type: ignore[no-any-return]


class IntegerCodec(AttributeCodec[int]):
    """An integer attribute of `width` bits; written with `type`, which is signless by default."""

    def __init__(self, width: int, type: Type | None = None) -> None:
        self.width = width
        self.type = type or integer_type(width)
        self.types = (None, self.type, integer_type(width))
        self.name = f"{width}-bit integer"

    def read(self, attribute: Attribute) -> int | None:
        if not isinstance(attribute, IntegerAttribute) or attribute.type not in self.types:
            return None
        return self.wrapped(attribute.value) if _is_integer(attribute, self.width) else None

    def wrapped(self, value: int) -> int:
        """Return a value as MLIR reads it: of a signless type, 2**31 and more of 32 bits are negative."""
        is_signless = self.type == integer_type(self.width)
        return value - (1 << self.width) if is_signless and value >> self.width - 1 == 1 else value

    def encode(self, value: int) -> IntegerAttribute:
        return IntegerAttribute(value, self.type)


class RealCodec(AttributeCodec[float]):
    """A floating-point attribute, written with the given type."""

    def __init__(self, type: str) -> None:
        self.type = FloatType(type)
        self.types = (None, self.type)
        self.name = f"{type} number"

    def read(self, attribute: Attribute) -> float | None:
        return attribute.value if isinstance(attribute, FloatAttribute) and attribute.type in self.types else None

    def encode(self, value: float) -> FloatAttribute:
        return FloatAttribute(value, self.type)


class BooleanCodec(AttributeCodec[bool]):
    """`true` or `false`."""

    name = "boolean"
    kinds = bool


class UnitCodec(AttributeCodec[bool]):
    """A flag that is set if the attribute is present; older programs write `= true`."""

    name = "unit or boolean"

    def read(self, attribute: Attribute) -> bool | None:
        return attribute is not False if attribute == UNIT or isinstance(attribute, bool) else None

    def encode(self, value: bool) -> Attribute:
        return UNIT if value else False


class StringCodec(AttributeCodec[str]):
    """A string."""

    name = "string"
    kinds = str


VISIBILITIES = ("public", "private", "nested")


class VisibilityCodec(StringCodec):
    """Who can use a symbol: "public", "private" or "nested"."""

    name = "visibility: one of public, private, nested"

    def read(self, attribute: Attribute) -> str | None:
        return attribute if isinstance(attribute, str) and attribute in VISIBILITIES else None


class SymbolCodec(AttributeCodec[str]):
    """The name of a symbol in the same module, without `@`."""

    name = "symbol reference"

    def read(self, attribute: Attribute) -> str | None:
        return attribute.path[0] if isinstance(attribute, SymbolReference) and len(attribute.path) == 1 else None

    def encode(self, value: str) -> SymbolReference:
        return SymbolReference((value,))


class VectorCodec(AttributeCodec[tuple[T, ...]]):
    """A list of elements of one type: `array<i64: ...>`, `dense<...> : tensor<Nxi64>` or `[...]`."""

    element: BooleanType | IntegerType

    def read(self, attribute: Attribute) -> tuple[T, ...] | None:
        match attribute:
            case DenseArray(element_type=self.element, values=values):
                return values
            case DenseElements(type=type, array=array) if element_type(type) == self.element and array.ndim == 1:
                return tuple(_as_list(array))
            case tuple():
                return self.listed(attribute)
        return None

    def listed(self, attributes: tuple[Any, ...]) -> tuple[T, ...] | None:
        """Return the elements of `[...]`; None if it has other ones."""
        raise NotImplementedError

    def encode(self, value: tuple[T, ...]) -> Attribute:
        return DenseArray(self.element, value)


class DimsCodec(VectorCodec[int]):
    """A list of integers."""

    name = "list of 64-bit integers"
    element = integer_type(64)

    def listed(self, attributes: tuple[Any, ...]) -> tuple[int, ...] | None:
        return tuple(a.value for a in attributes) if all(_is_integer(a, 64) for a in attributes) else None


class SegmentSizesCodec(DimsCodec):
    """The numbers of operands of several variadic members: `array<i32: 1, 2, 0>`."""

    name = "list of 32-bit sizes"
    element = integer_type(32)

    def read(self, attribute: Attribute) -> tuple[int, ...] | None:
        sizes = super().read(attribute)
        return None if sizes is None or any(size < 0 for size in sizes) else sizes


class IntegerListCodec(DimsCodec):
    """A list of integers that MLIR writes as `[...]`."""

    def encode(self, value: tuple[int, ...]) -> Attribute:
        return tuple(map(IntegerAttribute, value))


class ExtentsCodec(DimsCodec):
    """A list of sizes that MLIR writes as `dense<...> : tensor<Nxindex>`."""

    def read(self, attribute: Attribute) -> tuple[int, ...] | None:
        if isinstance(attribute, DenseElements) and attribute.type == tensor_type(attribute.array.shape[:1], INDEX):
            return tuple(_as_list(attribute.array))
        return super().read(attribute)

    def encode(self, value: tuple[int, ...]) -> Attribute:
        try:
            array = np.array(value, np.int64)
        except OverflowError:  # which the verifier refuses
            return tuple(map(IntegerAttribute, value))
        array.setflags(write=False)
        return DenseElements(tensor_type(array.shape, INDEX), array)


class BooleansCodec(VectorCodec[bool]):
    """A list of booleans."""

    name = "list of booleans"
    element = BOOLEAN

    def listed(self, attributes: tuple[Any, ...]) -> tuple[bool, ...] | None:
        return attributes if all(isinstance(a, bool) for a in attributes) else None


class EmptyMatrix(tuple[tuple[int, ...], ...]):
    """The rows of a matrix without elements, with its attribute, as rows alone do not determine the shape."""

    attribute: DenseElements

    @classmethod
    def of(cls, rows: tuple[tuple[int, ...], ...], attribute: DenseElements) -> EmptyMatrix:
        """Return the rows of a matrix without elements."""
        matrix = cls(rows)
        matrix.attribute = attribute
        return matrix


class MatrixCodec(AttributeCodec[tuple[tuple[int, ...], ...]]):
    """A 2-dimensional tensor of integers as a tuple of rows: padding, replica groups, source-target pairs."""

    name = "2-dimensional tensor of 64-bit integers"

    def read(self, attribute: Attribute) -> tuple[tuple[int, ...], ...] | None:
        if not isinstance(attribute, DenseElements) or element_type(attribute.type) != integer_type(64):
            return None
        if attribute.array.ndim != 2:
            return None
        rows = tuple(map(tuple, _as_list(attribute.array)))
        return rows if attribute.array.size else EmptyMatrix.of(rows, attribute)

    def encode(self, value: tuple[tuple[int, ...], ...]) -> DenseElements:
        if isinstance(value, EmptyMatrix):
            return value.attribute
        columns = len(value[0]) if value else PAIR
        array = np.array(value, np.int64).reshape(len(value), columns)
        return DenseElements(tensor_type(array.shape, integer_type(64)), array)


class DenseCodec(AttributeCodec[DenseElements | DenseResource]):
    """A tensor constant; its type and its read-only array stay together."""

    name = "tensor constant"
    kinds = DenseElements | DenseResource


class TypeCodec(AttributeCodec[Type]):
    """A type, of which a predicate may be demanded."""

    def __init__(self, name: str = "type", holds: Callable[[Type], bool] = lambda type: True) -> None:
        self.name = name
        self.holds = holds

    def read(self, attribute: Attribute) -> Type | None:
        return attribute.type if isinstance(attribute, TypeAttribute) and self.holds(attribute.type) else None

    def encode(self, value: Type) -> TypeAttribute:
        return TypeAttribute(value)


class DictionaryCodec(AttributeCodec[Mapping[str, Attribute]]):
    """A dictionary of attributes, which are kept as written."""

    name = "dictionary"
    kinds = dict

    def encode(self, value: Mapping[str, Attribute]) -> Attribute:
        return dict(value)


class EnumCodec(AttributeCodec[Enum]):
    """An enumeration: `#stablehlo<comparison_direction LT>` is `ComparisonDirection.LT`; older exports write `"LT"`."""

    def __init__(self, enum: type[Enum], dialect: str = "stablehlo") -> None:
        self.enum = enum
        self.dialect = dialect
        self.mnemonic = re.sub(r"(?<!^)(?=[A-Z])", "_", enum.__name__).lower()
        self.name = f"{self.mnemonic}: one of {', '.join(member.name for member in enum)}"

    def read(self, attribute: Attribute) -> Enum | None:
        value: object = attribute
        if isinstance(attribute, EnumAttribute):
            if attribute.kind != self.mnemonic or attribute.dialect not in (self.dialect, *SPELLINGS):
                return None
            value = attribute.value
        return self.enum.__members__.get(value) if isinstance(value, str) else None

    def encode(self, value: Enum) -> Attribute:
        return EnumAttribute(self.dialect, self.mnemonic, value.name)


class FlagsCodec(AttributeCodec[OpaqueAttribute]):
    """A set of flags such as `#arith.fastmath<nnan, ninf>`, kept as an attribute."""

    def __init__(self, name: str, flags: Collection[str]) -> None:
        self.name = f"#{name}<...> of {', '.join(flags)}"
        one = "|".join(flags)
        self._holds = re.compile(rf"#{re.escape(name)}\s*<\s*(?:{one})(?:\s*[,|]\s*(?:{one}))*\s*>").fullmatch

    def read(self, attribute: Attribute) -> OpaqueAttribute | None:
        return attribute if isinstance(attribute, OpaqueAttribute) and self._holds(attribute.text) else None


class ListCodec(AttributeCodec[tuple[Any, ...]]):
    """A list `[a, b]` of values of another codec."""

    def __init__(self, element_type: object) -> None:
        self.element = element_type if isinstance(element_type, AttributeCodec) else codec_of(element_type)
        self.name = f"list of {self.element.name}"

    def read(self, attribute: Attribute) -> tuple[Any, ...] | None:
        return tuple(map(self.element.decode, attribute)) if isinstance(attribute, tuple) else None

    def encode(self, value: tuple[Any, ...]) -> Attribute:
        return tuple(map(self.element.encode, value))


class StructCodec(AttributeCodec[StructAttribute]):
    """A struct attribute such as `#stablehlo.output_operand_alias<...>`, kept as an attribute."""

    def __init__(self, name: str) -> None:
        self.name = name

    def read(self, attribute: Attribute) -> StructAttribute | None:
        return attribute if isinstance(attribute, StructAttribute) and attribute.name == self.name else None


# --- types of attribute members -------------------------------------------------------------------------------------

Opaque: TypeAlias = Annotated[Attribute, AttributeCodec[Attribute]()]
Overflow: TypeAlias = Annotated[OpaqueAttribute, FlagsCodec("arith.overflow", ("none", "nsw", "nuw"))]
FastMath: TypeAlias = Annotated[OpaqueAttribute, FlagsCodec("arith.fastmath", FAST_MATH)]
NO_OVERFLOW, NO_FAST_MATH = OpaqueAttribute("#arith.overflow<none>"), OpaqueAttribute("#arith.fastmath<none>")
Int: TypeAlias = Annotated[int, IntegerCodec(64)]
Int32: TypeAlias = Annotated[int, IntegerCodec(32)]
Index: TypeAlias = Annotated[int, IntegerCodec(64, INDEX)]
UInt32: TypeAlias = Annotated[int, IntegerCodec(32, integer_type(32, "u"))]
UInt64: TypeAlias = Annotated[int, IntegerCodec(64, integer_type(64, "u"))]
Real: TypeAlias = Annotated[float, RealCodec("f64")]
Real32: TypeAlias = Annotated[float, RealCodec("f32")]
Flag: TypeAlias = Annotated[bool, BooleanCodec()]
Flags: TypeAlias = Annotated[tuple[bool, ...], BooleansCodec()]
Presence: TypeAlias = Annotated[bool, UnitCodec()]
String: TypeAlias = Annotated[str, StringCodec()]
Visibility: TypeAlias = Annotated[str, VisibilityCodec()]
Symbol: TypeAlias = Annotated[str, SymbolCodec()]
Dims: TypeAlias = Annotated[tuple[int, ...], DimsCodec()]
SegmentSizes: TypeAlias = Annotated[tuple[int, ...], SegmentSizesCodec()]
Extents: TypeAlias = Annotated[tuple[int, ...], ExtentsCodec()]
Integers: TypeAlias = Annotated[tuple[int, ...], IntegerListCodec()]
Matrix: TypeAlias = Annotated[tuple[tuple[int, ...], ...], MatrixCodec()]
Dense: TypeAlias = Annotated[DenseElements | DenseResource, DenseCodec()]
TypeValue: TypeAlias = Annotated[Type, TypeCodec()]
FunctionTypeValue: TypeAlias = Annotated[
    FunctionType, TypeCodec("function type", lambda type: isinstance(type, FunctionType))
]
Dictionary: TypeAlias = Annotated[Mapping[str, Attribute], DictionaryCodec()]
Symbols: TypeAlias = Annotated[tuple[str, ...], ListCodec(Symbol)]
Dictionaries: TypeAlias = Annotated[tuple[Mapping[str, Attribute], ...], ListCodec(Dictionary)]
