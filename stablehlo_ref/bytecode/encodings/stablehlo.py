"""Attributes and types of the StableHLO dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stablehlo_ref.bytecode.encodings.structs import (
    ATTRIBUTE,
    ATTRIBUTES,
    BOOLEAN,
    BOUNDS,
    DOUBLE,
    INTEGER,
    INTEGERS,
    OPTIONAL,
    STRING,
    TYPE,
    Enumeration,
    FieldCodec,
    Struct,
)
from stablehlo_ref.bytecode.entries import EntryReader
from stablehlo_ref.bytecode.pool import EntryWriter
from stablehlo_ref.ir.attributes import EnumAttribute, FloatAttribute, IntegerAttribute, StructAttribute
from stablehlo_ref.ir.types import TOKEN, FutureType, TokenType, Type

ENUMERATIONS: Mapping[str, Enumeration] = {
    "comparison_direction": Enumeration(2, ("EQ", "NE", "GE", "GT", "LE", "LT")),
    "comparison_type": Enumeration(3, ("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")),
    "fft_type": Enumeration(6, ("FFT", "IFFT", "RFFT", "IRFFT")),
    "precision": Enumeration(8, ("DEFAULT", "HIGH", "HIGHEST")),
    "rng_algorithm": Enumeration(9, ("DEFAULT", "THREE_FRY", "PHILOX")),
    "rng_distribution": Enumeration(10, ("UNIFORM", "NORMAL"), first=1),
    "transpose": Enumeration(12, ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")),
    "result_accuracy_mode": Enumeration(16, ("DEFAULT", "HIGHEST", "TOLERANCE")),
}


def struct(code: int, defaults: Mapping[str, Any] | None = None, **fields: FieldCodec) -> Struct:
    """Describe a struct attribute. Integers and lists of them that are left out are zero and empty."""
    implied = {name: () if codec is INTEGERS else 0 for name, codec in fields.items() if codec in (INTEGER, INTEGERS)}
    return Struct(code, fields, implied | dict(defaults or {}))


DEFAULT_MODE = EnumAttribute("stablehlo", "result_accuracy_mode", "DEFAULT")
ACCURACY_DEFAULTS = {"atol": FloatAttribute(0.0), "rtol": FloatAttribute(0.0), "mode": DEFAULT_MODE}

STRUCTS: Mapping[str, Struct] = {
    "channel_handle": struct(1, handle=INTEGER, type=INTEGER),
    "conv": struct(
        4,
        input_batch_dimension=INTEGER,
        input_feature_dimension=INTEGER,
        input_spatial_dimensions=INTEGERS,
        kernel_input_feature_dimension=INTEGER,
        kernel_output_feature_dimension=INTEGER,
        kernel_spatial_dimensions=INTEGERS,
        output_batch_dimension=INTEGER,
        output_feature_dimension=INTEGER,
        output_spatial_dimensions=INTEGERS,
    ),
    "dot": struct(
        5,
        lhs_batching_dimensions=INTEGERS,
        rhs_batching_dimensions=INTEGERS,
        lhs_contracting_dimensions=INTEGERS,
        rhs_contracting_dimensions=INTEGERS,
    ),
    "gather": struct(
        7,
        offset_dims=INTEGERS,
        collapsed_slice_dims=INTEGERS,
        operand_batching_dims=INTEGERS,
        start_indices_batching_dims=INTEGERS,
        start_index_map=INTEGERS,
        index_vector_dim=INTEGER,
    ),
    "scatter": struct(
        11,
        update_window_dims=INTEGERS,
        inserted_window_dims=INTEGERS,
        input_batching_dims=INTEGERS,
        scatter_indices_batching_dims=INTEGERS,
        scatter_dims_to_operand_dims=INTEGERS,
        index_vector_dim=INTEGER,
    ),
    "bounds": struct(13, bounds=BOUNDS),
    "type_extensions": struct(13, bounds=BOUNDS),
    "output_operand_alias": struct(
        14, output_tuple_indices=INTEGERS, operand_index=INTEGER, operand_tuple_indices=INTEGERS
    ),
    "dot_algorithm": struct(
        15,
        lhs_precision_type=TYPE,
        rhs_precision_type=TYPE,
        accumulation_type=TYPE,
        lhs_component_count=INTEGER,
        rhs_component_count=INTEGER,
        num_primitive_operations=INTEGER,
        allow_imprecise_accumulation=BOOLEAN,
    ),
    "result_accuracy": struct(17, ACCURACY_DEFAULTS, atol=DOUBLE, rtol=DOUBLE, ulps=INTEGER, mode=ATTRIBUTE),
    "replica_group_mesh_axes": struct(18, {"axes": ()}, mesh=ATTRIBUTE, axes=ATTRIBUTES),
    "sub_axis_info": struct(19, pre_size=INTEGER, size=INTEGER),
    "axis_ref": struct(20, name=STRING, sub_axis_info=OPTIONAL),
    "mesh_axis": struct(21, name=STRING, size=INTEGER),
    "mesh": struct(22, {"axes": ()}, axes=ATTRIBUTE, device_ids=OPTIONAL),
}

_ENUMERATIONS_BY_CODE = {enumeration.code: (kind, enumeration) for kind, enumeration in ENUMERATIONS.items()}
_STRUCTS_BY_CODE = {struct.code: (name, struct) for name, struct in STRUCTS.items() if name != "type_extensions"}


def read_attribute(reader: EntryReader) -> Any:
    offset, code = reader.offset, reader.varint()
    if code in _ENUMERATIONS_BY_CODE:
        kind, enumeration = _ENUMERATIONS_BY_CODE[code]
        return enumeration.read("stablehlo", kind, reader)
    if code in _STRUCTS_BY_CODE:
        name, struct = _STRUCTS_BY_CODE[code]
        return without_defaults(struct.read(f"stablehlo.{name}", reader))
    raise reader.unsupported(f"unknown attribute {code} of dialect 'stablehlo'", offset)


def without_defaults(attribute: StructAttribute) -> StructAttribute:
    """Leave out what MLIR's text leaves out of the accuracy of a result."""
    if attribute.name != "stablehlo.result_accuracy":
        return attribute
    implied = ACCURACY_DEFAULTS | {"ulps": IntegerAttribute(0)}
    kept = {k: v for k, v in attribute.fields.items() if k == "mode" or v != implied[k]}
    return StructAttribute(attribute.name, kept)


def read_type(reader: EntryReader) -> Type:
    offset, code = reader.offset, reader.varint()
    if code == 0:
        return TOKEN
    if code == 1:
        return FutureType(reader.types())
    raise reader.unsupported(f"unknown type {code} of dialect 'stablehlo'", offset)


def write_attribute(writer: EntryWriter, attribute: object) -> None:
    """Write an attribute. NotImplementedError for what has no encoding and is written as text."""
    match attribute:
        case EnumAttribute(kind=kind) if kind in ENUMERATIONS:
            ENUMERATIONS[kind].write(attribute, writer)
        case StructAttribute(name=name) if name.removeprefix("stablehlo.") in STRUCTS:
            STRUCTS[name.removeprefix("stablehlo.")].write(attribute, writer)
        case _:
            raise NotImplementedError


def write_type(writer: EntryWriter, type: Type) -> None:
    """Write a type. NotImplementedError for what has no encoding and is written as text."""
    match type:
        case TokenType():
            writer.varint(0)
        case FutureType(elements):
            writer.varint(1)
            writer.types(elements)
        case _:
            raise NotImplementedError
