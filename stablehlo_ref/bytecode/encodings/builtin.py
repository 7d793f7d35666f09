"""Attributes, debug locations and types of MLIR's builtin dialect."""

from __future__ import annotations

from typing import Any

from stablehlo_ref.bytecode.encoding import Cursor, encode_varint
from stablehlo_ref.bytecode.encodings import numbers
from stablehlo_ref.bytecode.encodings.tables import (
    ATTRIBUTE,
    NAME,
    SHAPE,
    TYPE,
    VARINT,
    Encoding,
    FieldCodec,
    Table,
    constant,
    fielded,
    list_of,
    only,
)
from stablehlo_ref.bytecode.encodings.tables import ATTRIBUTES as ATTRIBUTE_LIST
from stablehlo_ref.bytecode.encodings.tables import TYPES as TYPE_LIST
from stablehlo_ref.bytecode.entries import EntryReader, EntryWriter, untyped
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.attributes import (
    UNIT,
    DenseArray,
    DenseElements,
    DenseResource,
    FloatAttribute,
    IntegerAttribute,
    OpaqueAttribute,
    StructAttribute,
    SymbolReference,
    TypeAttribute,
    Unit,
)
from stablehlo_ref.ir.lexer import quoted
from stablehlo_ref.ir.locations import (
    UNKNOWN_LOCATION,
    CallSiteLocation,
    DebugLocation,
    FileLocation,
    FusedLocation,
    NameLocation,
    UnknownLocation,
)
from stablehlo_ref.ir.types import (
    BOOLEAN,
    FLOATS,
    INDEX,
    NONE,
    BooleanType,
    BufferType,
    ComplexType,
    FloatType,
    FunctionType,
    IntegerType,
    OpaqueType,
    TensorType,
    TupleType,
    Type,
    UnrankedBufferType,
    UnrankedTensorType,
    integer_type,
    tensor_type,
)
from stablehlo_ref.syntax.attribute_text import attribute_text, elements_text
from stablehlo_ref.syntax.numbers import LiteralError
from stablehlo_ref.syntax.types import MAX_WIDTH

# --- from bytes -----------------------------------------------------------------------------------------------------


def _integer_type(reader: EntryReader) -> Type:
    offset, encoded = reader.offset, reader.varint()
    width = encoded >> 2
    if not 1 <= width <= MAX_WIDTH or encoded & 3 > 2:
        raise reader.error(f"an integer type of {width} bits with signedness {encoded & 3}", offset)
    return integer_type(width, ("", "s", "u")[encoded & 3])


def _encoded_tensor(reader: EntryReader) -> TensorType:
    """Read a tensor type with an encoding, such as bounds."""
    encoding = reader.attribute()
    shape, element_type = SHAPE.read(reader), reader.type()
    if isinstance(encoding, StructAttribute) and encoding.name == "stablehlo.bounds":
        return TensorType(shape, element_type, encoding.fields["bounds"])
    return TensorType(shape, element_type, None, attribute_text(encoding))


def _buffer(reader: EntryReader) -> BufferType:
    shape, element_type, layout = SHAPE.read(reader), reader.type(), reader.attribute()
    is_identity = isinstance(layout, OpaqueAttribute) and layout.text == identity_map(len(shape))
    return BufferType(shape, element_type, () if is_identity else (attribute_text(layout),))


def _buffer_in_space(reader: EntryReader) -> BufferType:
    space = _space(reader)
    type = _buffer(reader)
    return BufferType(type.shape, type.element_type, (*type.layout, space))


def _space(reader: EntryReader) -> str:
    """Read a memory space, an integer that MLIR's text shows without its type."""
    return attribute_text(untyped(reader.attribute()))


def identity_map(rank: int) -> str:
    """Return the affine map that maps dimensions to themselves."""
    dimensions = ", ".join(f"d{i}" for i in range(rank))
    return f"affine_map<({dimensions}) -> ({dimensions})>"


def _unranked_buffer_in_space(reader: EntryReader) -> UnrankedBufferType:
    space = _space(reader)
    return UnrankedBufferType(reader.type(), space)


def _vector(reader: EntryReader) -> OpaqueType:
    sizes = "".join(f"{size}x" for size in SHAPE.read(reader))
    return OpaqueType(f"vector<{sizes}{reader.type()}>")


def _scalable_vector(reader: EntryReader) -> OpaqueType:
    scalable = [reader.byte() for _ in range(reader.count("dimensions"))]
    sizes = [f"[{size}]" if is_scalable else f"{size}" for size, is_scalable in zip(SHAPE.read(reader), scalable)]
    return OpaqueType(f"vector<{''.join(f'{size}x' for size in sizes)}{reader.type()}>")


# Floating-point types by their codes.
_FLOAT_CODES = {
    "bf16": 3, "f16": 4, "f32": 5, "f64": 6, "f80": 7, "f128": 8, "tf32": 21, "f8E5M2": 22, "f8E4M3": 23,
    "f8E4M3FN": 24, "f8E5M2FNUZ": 25, "f8E4M3FNUZ": 26, "f8E4M3B11FNUZ": 27, "f8E3M4": 28, "f4E2M1FN": 29,
    "f6E2M3FN": 30, "f6E3M2FN": 31, "f8E8M0FNU": 32,
}  # fmt: skip


# --- to bytes -------------------------------------------------------------------------------------------------------


def _write_integer_type(writer: EntryWriter, type: BooleanType | IntegerType) -> None:
    width, signedness = (type.width, type.signedness) if isinstance(type, IntegerType) else (1, "")
    writer.varint(width << 2 | ("", "s", "u").index(signedness))


def _write_buffer(writer: EntryWriter, type: BufferType) -> None:
    SHAPE.write(writer, type.shape)
    writer.type(type.element_type)
    writer.attribute(OpaqueAttribute(identity_map(len(type.shape))))


def _encoding(type: TensorType) -> Any:
    """Return the encoding attribute of a tensor type, None if it has none."""
    if type.bounds is not None:
        return StructAttribute("stablehlo.bounds", {"bounds": type.bounds})
    return None if type.encoding is None else OpaqueAttribute(str(type.encoding))


def _write_encoded_tensor(writer: EntryWriter, type: TensorType) -> None:
    writer.attribute(_encoding(type))
    SHAPE.write(writer, type.shape)
    writer.type(type.element_type)


def tensors(plain: int, encoded: int) -> tuple[Encoding, ...]:
    """Return the encodings of tensor types, and of those with an encoding such as bounds, with these codes."""
    holds = lambda type: _encoding(type) is None  # noqa: E731
    return (
        fielded(plain, TensorType, tensor_type, holds, shape=SHAPE, element_type=TYPE),
        Encoding(encoded, _encoded_tensor, _write_encoded_tensor, (TensorType,)),
    )


TYPES = Table("builtin", "type", [
    Encoding(0, _integer_type, _write_integer_type, (BooleanType, IntegerType)),
    constant(1, INDEX),
    fielded(2, FunctionType, inputs=TYPE_LIST, outputs=TYPE_LIST),
    *[constant(code, FLOATS[name]) for name, code in _FLOAT_CODES.items()],
    fielded(9, ComplexType, element=TYPE),
    Encoding(10, _buffer, _write_buffer, (BufferType,), lambda type: type.layout == ()),
    Encoding(11, _buffer_in_space),
    constant(12, NONE),
    *tensors(13, 14),
    fielded(15, TupleType, elements=TYPE_LIST),
    fielded(16, UnrankedBufferType, holds=lambda type: type.space == "", element_type=TYPE),
    Encoding(17, _unranked_buffer_in_space),
    fielded(18, UnrankedTensorType, element_type=TYPE),
    Encoding(19, _vector),
    Encoding(20, _scalable_vector),
])  # fmt: skip
I64, UI64 = integer_type(64), integer_type(64, "u")
F64 = FLOATS["f64"]

# --- from bytes -----------------------------------------------------------------------------------------------------


def read_dictionary(reader: EntryReader) -> dict[str, Any]:
    """Read names, which are attributes, and values."""
    entries: dict[str, Any] = {}
    for _ in range(reader.count("entries of a dictionary", 2)):
        offset, name = reader.offset, reader.a(str, "a string")
        if name in entries:
            raise reader.error(f"duplicate attribute '{name}'", offset)
        entries[name] = reader.attribute()
    return entries


def _typed_string(reader: EntryReader) -> OpaqueAttribute:
    return OpaqueAttribute(f"{quoted(reader.string())} : {reader.type()}")


def _nested_symbol(reader: EntryReader) -> SymbolReference:
    root = reader.a(str, "a string")
    count = reader.count("symbols")
    nested = [reader.a(SymbolReference, "a symbol reference").path for _ in range(count)]
    return SymbolReference((root, *(name for path in nested for name in path)))


def _integer(reader: EntryReader) -> bool | IntegerAttribute:
    """Read the type of an integer and its bits."""
    offset, type = reader.offset, reader.type()
    try:
        bits = numbers.read_bits(reader, numbers.integer_width(type))
    except ValueError as error:
        raise reader.error(f"{error}, so it has no integer attributes", offset) from None
    return bool(bits) if type == BOOLEAN else IntegerAttribute(numbers.signed_value(bits, type), type)


def _float(reader: EntryReader) -> FloatAttribute:
    """Read the type of a number and its bits."""
    offset, type = reader.offset, reader.type()
    if not isinstance(type, FloatType):
        raise reader.error(f"expected a floating-point type, got {type}", offset)
    return numbers.float_attribute(numbers.read_bits(reader, numbers.float_width(type)), type)


def _dense_resource(reader: EntryReader) -> DenseResource:
    type, resource = reader.type(), reader.resource()
    if resource.data is None:
        return DenseResource(resource.key, type)
    if not isinstance(type, TensorType) or not type.is_static:
        raise reader.error(f"expected a tensor type of static shape for resource '{resource.key}', got {type}")
    try:
        return DenseResource(resource.key, type, numbers.elements_array(resource.data, type), resource.alignment)
    except LiteralError as error:
        raise reader.error(f"{error} in resource '{resource.key}' of type {type}") from error
    except UnsupportedError:
        return DenseResource(resource.key, type)


def _dense_array(reader: EntryReader) -> DenseArray:
    offset, type = reader.offset, reader.type()
    if not isinstance(type, BooleanType | IntegerType | FloatType):
        raise reader.error(f"no arrays of {type}", offset)
    size, data = reader.varint(), reader.blob()
    if size * numbers.element_bytes(type) != len(data):
        raise reader.error(f"expected {size} elements of type {type}, got {len(data)} bytes", offset)
    return DenseArray(type, numbers.array_values(data, type))


def dense_elements(reader: EntryReader) -> DenseElements | OpaqueAttribute:
    """Read the elements of a tensor or a vector."""
    return numbers.read_elements(reader, reader.type(), reader.blob())


def _dense_strings(reader: EntryReader) -> OpaqueAttribute:
    type, is_splat = reader.type(), reader.varint()
    count = 1 if is_splat else getattr(type, "size", 0) if getattr(type, "is_static", False) else 0
    if count > reader.remaining:
        raise reader.error(f"{count} strings do not fit into {reader.remaining} bytes")
    strings = [quoted(reader.string()) for _ in range(count)]
    if is_splat:
        return OpaqueAttribute(f"dense<{strings[0]}> : {type}")
    return OpaqueAttribute(f"dense<{_nested(strings, getattr(type, 'shape', ()))}> : {type}")


def _nested(items: list[str], shape: tuple[int, ...]) -> str:
    """Return items in order as nested lists of a shape."""
    for size in reversed(shape[1:]):
        items = [f"[{', '.join(items[i : i + size])}]" for i in range(0, len(items), size or 1)]
    return f"[{', '.join(items)}]" if shape else items[0]


def _sparse(reader: EntryReader) -> OpaqueAttribute:
    type = reader.type()
    parts = [reader.a(DenseElements, "elements of a tensor") for _ in range(2)]
    indices, values = (elements_text(part.array, part.type.element_type) for part in parts)
    return OpaqueAttribute(f"sparse<{indices}, {values}> : {type}")


def _distinct(reader: EntryReader) -> OpaqueAttribute:
    offset = reader.base  # any number that no other one has
    return OpaqueAttribute(f"distinct[{offset}]<{attribute_text(reader.attribute())}>")


# --- to bytes -------------------------------------------------------------------------------------------------------


def _write_integer(writer: EntryWriter, number: IntegerAttribute) -> None:
    """Write the type of an integer and its bits; ValueError for other types."""
    value, type = number.value, number.type or I64
    if value >= numbers.SIGN_64 and type == I64:
        type = UI64
    width = numbers.integer_width(type)
    writer.type(type)
    writer.bits(value & ((1 << width) - 1), width)


def _write_float(writer: EntryWriter, number: FloatAttribute) -> None:
    """Write the type of a number and its bits."""
    type = number.type or F64
    assert isinstance(type, FloatType)
    writer.type(type)
    writer.bits(numbers.float_bits(number, type), numbers.float_width(type))


def _write_nested_symbol(writer: EntryWriter, symbol: SymbolReference) -> None:
    writer.attribute(symbol.path[0])
    ATTRIBUTE_LIST.write(writer, [SymbolReference((name,)) for name in symbol.path[1:]])


def _write_dense_array(writer: EntryWriter, attribute: DenseArray) -> None:
    writer.type(attribute.element_type)
    writer.varint(len(attribute.values))
    writer.blob(numbers.array_data(attribute.values, attribute.element_type))


def _write_dense_resource(writer: EntryWriter, attribute: DenseResource) -> None:
    writer.type(attribute.type)
    writer.resource(attribute)


def _write_dense_elements(writer: EntryWriter, attribute: DenseElements) -> None:
    writer.type(attribute.type)
    writer.blob(numbers.elements_data(attribute.array, one_is_splat=True))


# --- locations ------------------------------------------------------------------------------------------------------

LOCATIONS = (CallSiteLocation, FileLocation, FusedLocation, NameLocation, UnknownLocation)
CALL_SITE, FILE, FUSED, FUSED_WITH_METADATA, NAMED, UNKNOWN, FILE_RANGE = 10, 11, 12, 13, 14, 15, 22

# The first bytes of locations that contain no other ones.
WITHOUT_PARTS = frozenset(encode_varint(code) for code in (FILE, UNKNOWN, FILE_RANGE))


def _location(reader: EntryReader) -> Any:
    offset, found = reader.offset, reader.attribute()
    if not isinstance(found, LOCATIONS):
        reader.expected("a location", found, offset)
    return found


def _child(reader: EntryReader) -> DebugLocation | None:
    found = _location(reader)
    return None if found == UNKNOWN_LOCATION else found


def _file_range(reader: EntryReader) -> FileLocation:
    """Read up to four numbers: a line, a column, the last column and, in front of that, the last line if it differs."""
    filename = reader.a(str, "a string")
    offset, count = reader.offset, reader.count("numbers")
    if count > 4:
        raise reader.error(f"expected at most 4 numbers in a range of lines, got {count}", offset)
    given = reader.varints(count)
    line, column = (*given, 0, 0)[:2]
    end = (given[2] if count == 4 else line, given[-1]) if count > 2 else None
    return FileLocation(filename, line, column, end)


def _write_file_range(writer: EntryWriter, location: FileLocation) -> None:
    line, column, end = location.line, location.column, location.end or (0, 0)
    writer.attribute(location.filename)
    written = [line, column, end[1]] if line == end[0] else [line, column, *end]
    writer.varints([len(written), *written])


PART, CHILD = FieldCodec(_location, EntryWriter.location), FieldCodec(_child, EntryWriter.location)
PARTS = list_of(PART, "locations")
LOCATION_ENCODINGS = (
    fielded(CALL_SITE, CallSiteLocation, callee=PART, caller=PART),
    fielded(FILE, FileLocation, holds=lambda x: x.end is None, filename=NAME, line=VARINT, column=VARINT),
    fielded(FUSED, FusedLocation, holds=lambda x: x.metadata is None, locations=PARTS),
    fielded(FUSED_WITH_METADATA, FusedLocation, locations=PARTS, metadata=ATTRIBUTE),
    fielded(NAMED, NameLocation, name=NAME, child=CHILD),
    fielded(UNKNOWN, UnknownLocation, lambda: UNKNOWN_LOCATION),
    Encoding(FILE_RANGE, _file_range, _write_file_range, (FileLocation,)),
)


def location_parts(reader: Cursor) -> list[int]:
    """Return the indexes of the locations that the location at the cursor is made of."""
    code = reader.varint()
    if code == CALL_SITE:
        return reader.varints(2)
    if code in (FUSED, FUSED_WITH_METADATA):
        return reader.varints(reader.count("locations"))
    return reader.varints(2)[1:] if code == NAMED else []


INTEGERS = Encoding(8, _integer, _write_integer, (IntegerAttribute,))
REAL_NUMBERS = Encoding(9, _float, _write_float, (FloatAttribute,))

ATTRIBUTES = Table("builtin", "attribute", [
    Encoding(0, EntryReader.items, ATTRIBUTE_LIST.write, (tuple,)),
    Encoding(1, read_dictionary, EntryWriter.dictionary, (dict,)),
    Encoding(2, EntryReader.string, EntryWriter.string, (str,)),
    Encoding(3, _typed_string),
    fielded(4, SymbolReference, holds=lambda symbol: len(symbol.path) == 1, path=only(NAME)),
    Encoding(5, _nested_symbol, _write_nested_symbol, (SymbolReference,)),
    fielded(6, TypeAttribute, type=TYPE),
    fielded(7, Unit, lambda: UNIT),
    INTEGERS,
    Encoding(8, _integer, lambda writer, value: _write_integer(writer, IntegerAttribute(value, BOOLEAN)), (bool,)),
    REAL_NUMBERS,
    Encoding(16, _dense_resource, _write_dense_resource, (DenseResource,)),
    Encoding(17, _dense_array, _write_dense_array, (DenseArray,)),
    Encoding(18, dense_elements, _write_dense_elements, (DenseElements,)),
    Encoding(19, _dense_strings),
    Encoding(20, _sparse),
    Encoding(21, _distinct),
    *LOCATION_ENCODINGS,
])  # fmt: skip


def index_tensor(attribute: object) -> Any:
    """Return a dense array of integers as a tensor of type index."""
    if not isinstance(attribute, DenseArray):
        return attribute
    array = numbers.numbers_array(attribute.values, INDEX)
    return DenseElements(tensor_type(array.shape, INDEX), array)
