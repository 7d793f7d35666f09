"""Attributes and types of VHLO, which are those of StableHLO and MLIR under codes of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from stablehlo_ref.bytecode.encodings import builtin, numbers, quant, stablehlo
from stablehlo_ref.bytecode.encodings.structs import (
    ATTRIBUTE,
    DOUBLE,
    INTEGER,
    INTEGERS,
    Enumeration,
    FieldCodec,
    Struct,
)
from stablehlo_ref.bytecode.entries import EntryReader, described
from stablehlo_ref.bytecode.pool import EntryWriter, sorted_entries
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.attributes import (
    DenseArray,
    DenseElements,
    EnumAttribute,
    FloatAttribute,
    IntegerAttribute,
    StructAttribute,
    SymbolReference,
    TypeAttribute,
)
from stablehlo_ref.ir.types import (
    BOOLEAN,
    FLOATS,
    INDEX,
    NONE,
    TOKEN,
    BufferType,
    ComplexType,
    FunctionType,
    FutureType,
    OpaqueType,
    QuantizedType,
    TensorType,
    TupleType,
    Type,
    UnrankedTensorType,
    integer_type,
    tensor_type,
)

I32, I64, F64 = integer_type(32), integer_type(64), FLOATS["f64"]
WITNESS = OpaqueType("!shape.witness")

ENUMERATIONS: Mapping[str, Enumeration] = {
    kind: replace(stablehlo.ENUMERATIONS[kind], code=code)
    for kind, code in {
        "comparison_direction": 3, "comparison_type": 4, "fft_type": 7, "precision": 11, "rng_algorithm": 12,
        "rng_distribution": 13, "transpose": 16, "result_accuracy_mode": 19,
    }.items()
}  # fmt: skip
API_VERSION, API_VERSIONS = 5, 5  # its code, and the number of its values


def _read_optional(reader: EntryReader) -> Any:
    return reader.attribute() if reader.varint() else None


def _write_optional(writer: EntryWriter, value: object) -> None:
    writer.varint(value is not None)
    if value is not None:
        writer.attribute(value)


def _read_mesh(reader: EntryReader) -> Any:
    """Read the mesh of replica groups: a string is the symbol of one."""
    mesh = reader.attribute()
    return SymbolReference((mesh,)) if isinstance(mesh, str) else mesh


MARKED = FieldCodec(_read_optional, _write_optional)  # an attribute after a number that says whether there is one
OPTIONAL = FieldCodec(EntryReader.optional_attribute, EntryWriter.optional_attribute)
MESH = FieldCodec(_read_mesh, EntryWriter.attribute)

struct = stablehlo.struct
STRUCTS: Mapping[str, Struct] = {
    "output_operand_alias": struct(
        10, output_tuple_indices=INTEGERS, operand_index=INTEGER, operand_tuple_indices=INTEGERS
    ),
    "bounds": replace(stablehlo.STRUCTS["bounds"], code=18),
    "type_extensions": replace(stablehlo.STRUCTS["bounds"], code=18),
    "result_accuracy": struct(20, stablehlo.ACCURACY_DEFAULTS, atol=DOUBLE, rtol=DOUBLE, ulps=INTEGER, mode=ATTRIBUTE),
    "sub_axis_info": struct(21, pre_size=INTEGER, size=INTEGER),
    "axis_ref": struct(22, name=ATTRIBUTE, sub_axis_info=MARKED),
    "replica_group_mesh_axes": struct(23, {"axes": ()}, mesh=MESH, axes=ATTRIBUTE),
    "mesh_axis": struct(24, name=ATTRIBUTE, size=INTEGER),
    "mesh": struct(25, {"axes": ()}, axes=ATTRIBUTE, device_ids=OPTIONAL),
}
_ENUMERATIONS_BY_CODE = {enumeration.code: (kind, enumeration) for kind, enumeration in ENUMERATIONS.items()}
_STRUCTS_BY_CODE = {struct.code: (name, struct) for name, struct in STRUCTS.items() if name != "type_extensions"}

# --- attributes: from bytes -----------------------------------------------------------------------------------------


def _boolean(reader: EntryReader) -> bool:
    offset, value = reader.offset, reader.varint()
    if value > 1:
        raise reader.error(f"expected 0 or 1 for a boolean, got {value}", offset)
    return value == 1


def _api_version(reader: EntryReader) -> IntegerAttribute:
    offset, value = reader.offset, reader.varint()
    if value >= API_VERSIONS:
        raise reader.unsupported(f"unknown version {value} of the API of custom calls", offset)
    return IntegerAttribute(value, I32)


_ATTRIBUTES: dict[int, Callable[[EntryReader], Any]] = {
    1: EntryReader.items,
    2: _boolean,
    API_VERSION: _api_version,
    6: builtin.read_dictionary,
    8: builtin.read_float,
    9: builtin.read_integer,
    14: EntryReader.string,
    15: lambda reader: numbers.read_elements(reader, reader.type(), reader.blob()),
    17: lambda reader: TypeAttribute(reader.type()),
}


def read_attribute(reader: EntryReader) -> Any:
    offset, code = reader.offset, reader.varint()
    if code in _ATTRIBUTES:
        return _ATTRIBUTES[code](reader)
    if code in _ENUMERATIONS_BY_CODE:
        kind, enumeration = _ENUMERATIONS_BY_CODE[code]
        return enumeration.read("stablehlo", kind, reader)
    if code in _STRUCTS_BY_CODE:
        name, struct = _STRUCTS_BY_CODE[code]
        return stablehlo.without_defaults(struct.read(f"stablehlo.{name}", reader))
    raise reader.unsupported(f"unknown attribute {code} of dialect 'vhlo'", offset)


# --- types: from bytes ----------------------------------------------------------------------------------------------

# Types without parts, by their codes.
SIMPLE: Mapping[int, Type] = {
    0: BOOLEAN, 2: FLOATS["bf16"], 3: FLOATS["f16"], 4: FLOATS["f32"], 5: FLOATS["f64"], 6: FLOATS["f8E4M3FN"],
    7: FLOATS["f8E5M2"], 9: INDEX, 10: integer_type(4), 11: integer_type(8), 12: integer_type(16),
    13: integer_type(32), 14: integer_type(64), 15: integer_type(4, "u"), 16: integer_type(8, "u"),
    17: integer_type(16, "u"), 18: integer_type(32, "u"), 19: integer_type(64, "u"), 22: TOKEN, 26: WITNESS,
    27: FLOATS["f8E4M3FNUZ"], 28: FLOATS["f8E5M2FNUZ"], 29: FLOATS["f8E4M3B11FNUZ"], 31: integer_type(2),
    32: integer_type(2, "u"), 33: NONE, 34: FLOATS["tf32"], 35: FLOATS["f8E4M3"], 36: FLOATS["f8E3M4"],
    37: FLOATS["f4E2M1FN"], 38: FLOATS["f6E2M3FN"], 39: FLOATS["f6E3M2FN"], 40: FLOATS["f8E8M0FNU"],
}  # fmt: skip
SIMPLE_CODES = {type: code for code, type in SIMPLE.items()}
PER_TENSOR, PER_AXIS = 24, 30

_TYPES: dict[int, Callable[[EntryReader], Type]] = {
    1: lambda reader: ComplexType(reader.type()),
    8: lambda reader: FunctionType(reader.types(), reader.types()),
    20: lambda reader: tensor_type(builtin.read_shape(reader), reader.type()),
    21: builtin.read_encoded_tensor,
    23: lambda reader: TupleType(reader.types()),
    PER_TENSOR: quant.read_per_tensor,
    25: lambda reader: UnrankedTensorType(reader.type()),
    PER_AXIS: quant.read_per_axis,
    41: lambda reader: BufferType(builtin.read_shape(reader), reader.type()),
    42: lambda reader: FutureType(reader.types()),
}


def read_type(reader: EntryReader) -> Type:
    offset, code = reader.offset, reader.varint()
    if code in SIMPLE:
        return SIMPLE[code]
    if code not in _TYPES:
        raise reader.unsupported(f"unknown type {code} of dialect 'vhlo'", offset)
    return _TYPES[code](reader)


# --- to bytes -------------------------------------------------------------------------------------------------------


def write_attribute(writer: EntryWriter, attribute: object) -> None:
    """Write an attribute; UnsupportedError for what VHLO does not have."""
    writer.dialect = "vhlo"
    match attribute:
        case bool():
            writer.varint(2)
            writer.varint(int(attribute))
        case str():
            writer.varint(14)
            writer.string(attribute)
        case tuple():
            writer.varint(1)
            writer.attributes(attribute)
        case dict():
            writer.varint(6)
            writer.varint(len(attribute))
            for name, value in sorted_entries(attribute):
                writer.attribute(name)
                writer.attribute(value)
        case IntegerAttribute(value, type):
            writer.varint(9)
            builtin.write_integer(writer, value, type or I64)
        case FloatAttribute(type=type):
            writer.varint(8)
            builtin.write_float(writer, attribute, type or F64)
        case SymbolReference(path=(name,)):
            writer.varint(14)
            writer.string(name)
        case TypeAttribute(type):
            writer.varint(17)
            writer.type(type)
        case DenseElements(type, array):
            writer.varint(15)
            writer.type(type)
            writer.blob(numbers.elements_data(array, one_is_splat=False))
        case DenseArray(element_type, values) if element_type in (I64, BOOLEAN):
            array = numbers.numbers_array(values, element_type)
            write_attribute(writer, DenseElements(tensor_type((len(values),), element_type), array))
        case EnumAttribute(kind="api_version", value=value):
            writer.varint(API_VERSION)
            writer.varint(int(value))
        case EnumAttribute(kind=kind) if kind in ENUMERATIONS:
            ENUMERATIONS[kind].write(attribute, writer)
        case StructAttribute(name=name) if name.removeprefix("stablehlo.") in STRUCTS:
            STRUCTS[name.removeprefix("stablehlo.")].write(attribute, writer)
        case _:
            raise UnsupportedError(f"portable artifacts have no attribute such as {described(attribute)}")


def write_type(writer: EntryWriter, type: Type) -> None:
    """Write a type; UnsupportedError for what VHLO does not have."""
    writer.dialect = "vhlo"
    if type in SIMPLE_CODES:
        writer.varint(SIMPLE_CODES[type])
        return
    match type:
        case ComplexType(element):
            writer.varint(1)
            writer.type(element)
        case FunctionType(inputs, outputs):
            writer.varint(8)
            writer.types(inputs)
            writer.types(outputs)
        case TensorType():
            _write_tensor(writer, type)
        case TupleType(elements):
            writer.varint(23)
            writer.types(elements)
        case UnrankedTensorType(element_type):
            writer.varint(25)
            writer.type(element_type)
        case QuantizedType():
            quant.write_type(writer, type, PER_TENSOR, PER_AXIS)
        case BufferType(shape, element_type, ()):
            writer.varint(41)
            builtin.write_shape(writer, shape)
            writer.type(element_type)
        case FutureType(elements):
            writer.varint(42)
            writer.types(elements)
        case _:
            raise UnsupportedError(f"portable artifacts have no type {type}")


def _write_tensor(writer: EntryWriter, type: TensorType) -> None:
    encoding = builtin.tensor_encoding(type)
    writer.varint(20 if encoding is None else 21)
    if encoding is not None:
        writer.attribute(encoding)
    builtin.write_shape(writer, type.shape)
    writer.type(type.element_type)
