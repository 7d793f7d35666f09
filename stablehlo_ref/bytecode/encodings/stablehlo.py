"""Attributes and types of the StableHLO and CHLO dialects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stablehlo_ref.bytecode.encodings.tables import (
    ATTRIBUTE,
    BOOLEAN,
    BOUNDS,
    DOUBLE,
    INTEGER,
    INTEGERS,
    OPTIONAL,
    STRING,
    TYPE_ATTRIBUTE,
    Enumeration,
    FieldCodec,
    Struct,
    Table,
    constant,
    fielded,
)
from stablehlo_ref.bytecode.encodings.tables import ATTRIBUTES as ATTRIBUTE_LIST
from stablehlo_ref.bytecode.encodings.tables import TYPES as TYPE_LIST
from stablehlo_ref.ir.attributes import EnumAttribute, FloatAttribute
from stablehlo_ref.ir.types import TOKEN, FutureType
from stablehlo_ref.syntax.structs import STRUCTS as PARSED
from stablehlo_ref.syntax.structs import ZERO

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
CHLO_CODES = {"comparison_direction": 0, "comparison_type": 1}  # of enumerations; other attributes are text


def struct(code: int, defaults: Mapping[str, Any] | None = None, **fields: FieldCodec) -> Struct:
    """Describe a struct attribute. Integers and lists of them that are left out are zero and empty."""
    of_codec = {INTEGER: ZERO, INTEGERS: ()}
    implied = {name: of_codec[codec] for name, codec in fields.items() if codec in of_codec}
    return Struct(code, fields, implied | dict(defaults or {}))


def parsed_struct(code: int, name: str) -> Struct:
    """Return a struct attribute whose fields the parser knows."""
    fields = PARSED[f"stablehlo.{name}"]
    return Struct(code, {field: INTEGERS if value == () else INTEGER for field, value in fields.items()}, fields)


DEFAULT_MODE = EnumAttribute("stablehlo", "result_accuracy_mode", "DEFAULT")
ACCURACY_DEFAULTS = {"atol": FloatAttribute(0.0), "rtol": FloatAttribute(0.0), "mode": DEFAULT_MODE}
ACCURACY = replace(
    struct(17, ACCURACY_DEFAULTS, atol=DOUBLE, rtol=DOUBLE, ulps=INTEGER, mode=ATTRIBUTE),
    omitted=("atol", "rtol", "ulps"),
)

STRUCTS: Mapping[str, Struct] = {
    "channel_handle": struct(1, handle=INTEGER, type=INTEGER),
    "conv": parsed_struct(4, "conv"),
    "dot": parsed_struct(5, "dot"),
    "gather": parsed_struct(7, "gather"),
    "scatter": parsed_struct(11, "scatter"),
    "bounds": struct(13, bounds=BOUNDS),
    "type_extensions": struct(13, bounds=BOUNDS),
    "output_operand_alias": struct(
        14, output_tuple_indices=INTEGERS, operand_index=INTEGER, operand_tuple_indices=INTEGERS
    ),
    "dot_algorithm": struct(
        15,
        lhs_precision_type=TYPE_ATTRIBUTE,
        rhs_precision_type=TYPE_ATTRIBUTE,
        accumulation_type=TYPE_ATTRIBUTE,
        lhs_component_count=INTEGER,
        rhs_component_count=INTEGER,
        num_primitive_operations=INTEGER,
        allow_imprecise_accumulation=BOOLEAN,
    ),
    "result_accuracy": ACCURACY,
    "replica_group_mesh_axes": struct(18, {"axes": ()}, mesh=ATTRIBUTE, axes=ATTRIBUTE_LIST),
    "sub_axis_info": struct(19, pre_size=INTEGER, size=INTEGER),
    "axis_ref": struct(20, name=STRING, sub_axis_info=OPTIONAL),
    "mesh_axis": struct(21, name=STRING, size=INTEGER),
    "mesh": struct(22, {"axes": ()}, axes=ATTRIBUTE, device_ids=OPTIONAL),
}

ATTRIBUTES = Table("stablehlo", "attribute", [
    *[enumeration.encoding(kind) for kind, enumeration in ENUMERATIONS.items()],
    *[struct.encoding(name) for name, struct in STRUCTS.items()],
])  # fmt: skip
TYPES = Table("stablehlo", "type", [constant(0, TOKEN), fielded(1, FutureType, elements=TYPE_LIST)])
CHLO_ATTRIBUTES = Table(
    "chlo", "attribute",
    [replace(ENUMERATIONS[kind], code=code).encoding(kind, "chlo") for kind, code in CHLO_CODES.items()],
)  # fmt: skip
