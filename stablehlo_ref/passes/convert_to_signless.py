"""Replace signed and unsigned integer types by signless ones."""

from __future__ import annotations

from dataclasses import replace

from stablehlo_ref.ir.attributes import DenseElements, TypeAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import BufferType, FunctionType, IntegerType, TensorType, TupleType, Type, integer_type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.passes.emit import read_only
from stablehlo_ref.passes.registry import Pass


def convert_to_signless(module: Operation) -> None:
    """Replace `ui8` and `si8` by `i8` in all types, and the same for other widths; the bits of constants stay.

    Consumers of such programs know from elsewhere which integers have a sign. Here signless integers are signed, so the
    program computes the same bits only where the sign does not matter: `add`, `multiply`, `xor`, but not `divide`,
    `compare` or `convert` of unsigned integers. Quantized types are kept.
    """
    for op in module.walk():
        for value in (*op.results, *(a for region in op.regions for block in region.blocks for a in block.arguments)):
            value.type = signless(value.type)
        op.properties = {name: _converted(value) for name, value in op.properties.items()}


def signless(type: Type) -> Type:
    """Return a type without signed and unsigned integers."""
    match type:
        case IntegerType(width=width):
            return integer_type(width)
        case TensorType(element_type=element) | BufferType(element_type=element):
            return replace(type, element_type=signless(element))
        case TupleType(elements=elements):
            return TupleType(tuple(map(signless, elements)))
        case FunctionType(inputs=inputs, outputs=outputs):
            return FunctionType(tuple(map(signless, inputs)), tuple(map(signless, outputs)))
    return type


def _converted(value: object) -> object:
    match value:
        case DenseElements(type=TensorType() as type, array=array) if signless(type) != type:
            made = signless(type)
            assert isinstance(made, TensorType)
            return DenseElements(made, read_only(array.view(numpy_dtype(made.element_type))))
        case TypeAttribute(type=type):
            return TypeAttribute(signless(type))
        case Type():
            return signless(value)
    return value


PASS = Pass(
    "stablehlo-convert-to-signless", "replace signed and unsigned integer types by signless ones", convert_to_signless
)
