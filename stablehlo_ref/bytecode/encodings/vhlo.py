"""Attributes and types of VHLO, which are those of StableHLO and MLIR under codes of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stablehlo_ref.bytecode.encodings import builtin, numbers, quant, stablehlo
from stablehlo_ref.bytecode.encodings.tables import (
    ATTRIBUTE,
    INTEGER,
    SHAPE,
    TYPE,
    VARINT,
    Encoding,
    Enumeration,
    FieldCodec,
    Struct,
    Table,
    constant,
    fielded,
    optional,
)
from stablehlo_ref.bytecode.encodings.tables import ATTRIBUTES as ATTRIBUTE_LIST
from stablehlo_ref.bytecode.encodings.tables import TYPES as TYPE_LIST
from stablehlo_ref.bytecode.entries import EntryReader, EntryWriter, described
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.attributes import DenseArray, DenseElements, IntegerAttribute, SymbolReference, TypeAttribute
from stablehlo_ref.ir.types import (
    BOOLEAN,
    FLOATS,
    INDEX,
    NONE,
    TOKEN,
    WITNESS,
    BufferType,
    ComplexType,
    FunctionType,
    FutureType,
    TupleType,
    Type,
    UnrankedTensorType,
    integer_type,
    tensor_type,
)

I32, I64, F64 = integer_type(32), integer_type(64), FLOATS["f64"]

ENUMERATIONS: Mapping[str, Enumeration] = {
    kind: replace(stablehlo.ENUMERATIONS[kind], code=code)
    for kind, code in {
        "comparison_direction": 3, "comparison_type": 4, "fft_type": 7, "precision": 11, "rng_algorithm": 12,
        "rng_distribution": 13, "transpose": 16, "result_accuracy_mode": 19,
    }.items()
}  # fmt: skip
API_VERSIONS = 5  # of custom calls


def _read_mesh(reader: EntryReader) -> Any:
    """Read the mesh of replica groups: a string is the symbol of one."""
    mesh = reader.attribute()
    return SymbolReference((mesh,)) if isinstance(mesh, str) else mesh


MARKED = optional(VARINT)
OPTIONAL = FieldCodec(EntryReader.optional_attribute, EntryWriter.optional_attribute)
MESH = FieldCodec(_read_mesh, EntryWriter.attribute)

struct, OF_STABLEHLO = stablehlo.struct, stablehlo.STRUCTS
STRUCTS: Mapping[str, Struct] = {
    **{
        name: replace(OF_STABLEHLO[name], code=code)
        for name, code in {
            "output_operand_alias": 10, "bounds": 18, "type_extensions": 18, "result_accuracy": 20, "sub_axis_info": 21,
        }.items()
    },
    "axis_ref": struct(22, name=ATTRIBUTE, sub_axis_info=MARKED),
    "replica_group_mesh_axes": struct(23, {"axes": ()}, mesh=MESH, axes=ATTRIBUTE),
    "mesh_axis": struct(24, name=ATTRIBUTE, size=INTEGER),
    "mesh": struct(25, {"axes": ()}, axes=ATTRIBUTE, device_ids=OPTIONAL),
}  # fmt: skip

# --- attributes -----------------------------------------------------------------------------------------------------


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


def _write_dense(writer: EntryWriter, attribute: DenseElements | DenseArray) -> None:
    if isinstance(attribute, DenseArray):
        type, array = attribute.element_type, numbers.numbers_array(attribute.values, attribute.element_type)
        attribute = DenseElements(tensor_type(array.shape, type), array)
    writer.type(attribute.type)
    writer.blob(numbers.elements_data(attribute.array, one_is_splat=False))


def _is_list(attribute: DenseElements | DenseArray) -> bool:
    return isinstance(attribute, DenseElements) or attribute.element_type in (I64, BOOLEAN)


ATTRIBUTES = Table("vhlo", "attribute", [
    Encoding(1, EntryReader.items, ATTRIBUTE_LIST.write, (tuple,)),
    Encoding(2, _boolean, EntryWriter.varint, (bool,)),
    Encoding(5, _api_version, lambda writer, version: writer.varint(int(version.value)), ("api_version",)),
    Encoding(6, builtin.read_dictionary, lambda writer, entries: writer.dictionary(entries, writer.encodings), (dict,)),
    replace(builtin.REAL_NUMBERS, code=8),
    replace(builtin.INTEGERS, code=9),
    Encoding(14, EntryReader.string, EntryWriter.string, (str,)),
    Encoding(14, EntryReader.string, lambda writer, symbol: writer.string(symbol.path[0]), (SymbolReference,),
             lambda symbol: len(symbol.path) == 1),
    Encoding(15, builtin.dense_elements, _write_dense, (DenseElements, DenseArray), _is_list),
    fielded(17, TypeAttribute, type=TYPE),
    *[enumeration.encoding(kind) for kind, enumeration in ENUMERATIONS.items()],
    *[struct.encoding(name) for name, struct in STRUCTS.items()],
])  # fmt: skip


def write_attribute(writer: EntryWriter, attribute: object) -> None:
    """Write an attribute; UnsupportedError for what VHLO does not have."""
    writer.dialect = "vhlo"
    if not ATTRIBUTES.write(writer, attribute):
        raise UnsupportedError(f"portable artifacts have no attribute such as {described(attribute)}")


# --- types ----------------------------------------------------------------------------------------------------------

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

TYPES = Table("vhlo", "type", [
    *[constant(code, type) for code, type in SIMPLE.items()],
    fielded(1, ComplexType, element=TYPE),
    fielded(8, FunctionType, inputs=TYPE_LIST, outputs=TYPE_LIST),
    *builtin.tensors(20, 21),
    fielded(23, TupleType, elements=TYPE_LIST),
    *quant.quantized(24, 30),
    fielded(25, UnrankedTensorType, element_type=TYPE),
    fielded(41, BufferType, holds=lambda type: type.layout == (), shape=SHAPE, element_type=TYPE),
    fielded(42, FutureType, elements=TYPE_LIST),
])  # fmt: skip


def write_type(writer: EntryWriter, type: Type) -> None:
    """Write a type; UnsupportedError for what VHLO does not have."""
    writer.dialect = "vhlo"
    if not TYPES.write(writer, type):
        raise UnsupportedError(f"portable artifacts have no type {type}")
