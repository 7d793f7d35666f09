"""Replace types in a whole module: those of values, in functions' types, and of constants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.attributes import DenseElements, DenseResource, TypeAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import (
    BufferType,
    FunctionType,
    FutureType,
    IntegerType,
    TensorType,
    TupleType,
    Type,
    UnrankedBufferType,
    UnrankedTensorType,
    integer_type,
)
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.passes.emit import read_only
from stablehlo_ref.passes.registry import transformation

Replacement = Callable[[Type], Type]
Conversion = Callable[[Array, DType], Array]  # of the elements of a constant to the dtype of its new type


def replace_element_types(module: Operation, replacement: Replacement) -> None:
    """Replace element types, by others of as many bits, everywhere in a module; the bits of constants stay."""
    replace_types(module, lambda type: with_replaced(type, replacement), lambda array, dtype: array.view(dtype))


def replace_types(module: Operation, replacement: Replacement, conversion: Conversion) -> None:
    """Replace whole types everywhere in a module, and convert the elements of constants whose types are others then."""
    for op in module.walk():
        for value in (*op.results, *op.block_arguments):
            value.type = replacement(value.type)
        op.properties = {name: _replaced(value, replacement, conversion) for name, value in op.properties.items()}


def with_replaced(type: Type, replacement: Replacement) -> Type:
    """Return a type with other element types."""

    def recur(types: tuple[Type, ...]) -> tuple[Type, ...]:
        return tuple(with_replaced(inner, replacement) for inner in types)

    match type:
        case TensorType() | BufferType() | UnrankedBufferType() | UnrankedTensorType():
            return replace(type, element_type=with_replaced(type.element_type, replacement))
        case TupleType() | FutureType():
            return replace(type, elements=recur(type.elements))
        case FunctionType(inputs=inputs, outputs=outputs):
            return FunctionType(recur(inputs), recur(outputs))
    return replacement(type)


def _replaced(value: object, replacement: Replacement, conversion: Conversion) -> object:
    match value:
        case DenseElements(type=TensorType()) | DenseResource(type=TensorType()):
            made = replacement(value.type)
            if made == value.type or not isinstance(made, TensorType):
                return value
            if value.array is None:
                return replace(value, type=made)
            return replace(value, type=made, array=read_only(conversion(value.array, numpy_dtype(made.element_type))))
        case TypeAttribute(type=type):
            return TypeAttribute(replacement(type))
        case Type():
            return replacement(value)
    return value


@transformation("stablehlo-convert-to-signless", "replace signed and unsigned integer types by signless ones")
def convert_to_signless(module: Operation) -> None:
    """Replace `ui8` and `si8` by `i8` in all types, and the same for other widths; the bits of constants stay.

    Consumers of such programs know from elsewhere which integers have a sign. Here signless integers are signed, so the
    program computes the same bits only where the sign does not matter: `add`, `multiply`, `xor`, but not `divide`,
    `compare` or `convert` of unsigned integers. Quantized types are kept.
    """
    replace_element_types(module, signless)


def signless(type: Type) -> Type:
    """Return a type without a sign if it is an integer type."""
    return integer_type(type.width) if isinstance(type, IntegerType) else type
