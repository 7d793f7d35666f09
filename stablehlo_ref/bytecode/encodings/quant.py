"""Types of MLIR's quant dialect."""

from __future__ import annotations

from typing import Any

from stablehlo_ref.bytecode.encodings import numbers
from stablehlo_ref.bytecode.encodings.tables import Encoding, Table
from stablehlo_ref.bytecode.entries import EntryReader
from stablehlo_ref.bytecode.pool import EntryWriter
from stablehlo_ref.ir.attributes import DenseElements, FloatAttribute
from stablehlo_ref.ir.types import FLOATS, IntegerType, OpaqueType, QuantizedType, decimal_text, integer_type

F64 = FLOATS["f64"]
SIGNED = 1  # the flag of a signed storage type


def read_double(reader: EntryReader) -> float:
    return numbers.float_attribute(numbers.read_bits(reader, 64), F64).value


def write_double(writer: EntryWriter, value: float) -> None:
    writer.bits(numbers.float_bits(FloatAttribute(value), F64), 64)


def storage_type(reader: EntryReader, flags: int) -> IntegerType:
    """Read a storage type; flags say whether it is signed."""
    offset, type = reader.offset, reader.type()
    if not isinstance(type, IntegerType):
        raise reader.error(f"expected an integer type as storage type, got {type}", offset)
    return type if flags & SIGNED else IntegerType(type.width, "u")


def _per_tensor(reader: EntryReader) -> QuantizedType:
    flags = reader.varint()
    storage, expressed = storage_type(reader, flags), reader.type()
    scale, zero_point = read_double(reader), reader.signed_varint()
    low, high = reader.signed_varint(), reader.signed_varint()
    return QuantizedType(storage, expressed, (scale,), (zero_point,), low, high)


def _per_axis(reader: EntryReader) -> QuantizedType:
    flags = reader.varint()
    storage, expressed, axis = storage_type(reader, flags), reader.type(), reader.varint()
    low, high = reader.signed_varint(), reader.signed_varint()
    offset = reader.offset
    scales = tuple([read_double(reader) for _ in range(reader.count("scales"))])
    zero_points = reader.signed_varints()
    if len(scales) != len(zero_points):
        raise reader.error(f"{len(scales)} scales, but {len(zero_points)} zero points", offset)
    return QuantizedType(storage, expressed, scales, zero_points, low, high, axis)


def _any(reader: EntryReader, has_expressed_type: bool) -> OpaqueType:
    flags = reader.varint()
    storage = storage_type(reader, flags)
    expressed = f":{reader.type()}" if has_expressed_type else ""
    return OpaqueType(f"!quant.any<{_storage_text(storage, reader)}{expressed}>")


def _storage_text(storage: IntegerType, reader: EntryReader) -> str:
    limits = reader.signed_varint(), reader.signed_varint()
    prefix = "i" if storage.is_signed else "u"
    return f"{prefix}{storage.width}" + ("" if limits == storage.range else f"<{limits[0]}:{limits[1]}>")


def _calibrated(reader: EntryReader) -> OpaqueType:
    expressed, low, high = reader.type(), read_double(reader), read_double(reader)
    return OpaqueType(f"!quant.calibrated<{expressed}<{_number(low)}:{_number(high)}>>")


def _sub_channel(reader: EntryReader) -> OpaqueType:
    """Read a type that is quantized in blocks of several axes."""
    flags = reader.varint()
    storage, expressed = storage_type(reader, flags), reader.type()
    text = _storage_text(storage, reader)
    axes, sizes = reader.signed_varints(), reader.signed_varints()
    scales, zero_points = (reader.a(DenseElements, "elements of a tensor").array for _ in range(2))
    blocks = ", ".join(f"{axis}:{size}" for axis, size in zip(axes, sizes))
    if scales.shape != zero_points.shape:
        raise reader.error(f"scales of shape {scales.shape}, but zero points of shape {zero_points.shape}")
    return OpaqueType(f"!quant.uniform<{text}:{expressed}:{{{blocks}}}, {_parameters(scales, zero_points)}>")


def _parameters(scales: Any, zero_points: Any) -> str:
    if scales.ndim == 0:
        zero_point = int(zero_points)
        return _number(float(scales)) + (f":{zero_point}" if zero_point else "")
    return f"{{{', '.join(map(_parameters, scales, zero_points))}}}"


def _number(value: float) -> str:
    return decimal_text(repr(value))


def _is_per_tensor(type: QuantizedType) -> bool:
    return type.quantization_dimension is None


def _write_head(writer: EntryWriter, type: QuantizedType) -> None:
    writer.varint(SIGNED if type.storage_type.is_signed else 0)
    writer.type(integer_type(type.storage_type.width))
    writer.type(type.expressed_type)


def _write_per_tensor(writer: EntryWriter, type: QuantizedType) -> None:
    _write_head(writer, type)
    write_double(writer, type.scales[0])
    writer.signed_varints_bare([type.zero_points[0], type.storage_min, type.storage_max])


def _write_per_axis(writer: EntryWriter, type: QuantizedType) -> None:
    _write_head(writer, type)
    writer.varint(type.quantization_dimension or 0)
    writer.signed_varints_bare([type.storage_min, type.storage_max])
    writer.varint(len(type.scales))
    for scale in type.scales:
        write_double(writer, scale)
    writer.signed_varints(type.zero_points)


def quantized(per_tensor: int, per_axis: int) -> tuple[Encoding, ...]:
    """Return the encodings of types that are quantized per tensor and along an axis, with these codes."""
    return (
        Encoding(per_tensor, _per_tensor, _write_per_tensor, (QuantizedType,), _is_per_tensor),
        Encoding(per_axis, _per_axis, _write_per_axis, (QuantizedType,)),
    )


TYPES = Table("quant", "type", [
    Encoding(1, lambda reader: _any(reader, has_expressed_type=False)),
    Encoding(2, lambda reader: _any(reader, has_expressed_type=True)),
    Encoding(3, _calibrated),
    *quantized(4, 5),
    Encoding(6, _sub_channel),
])  # fmt: skip
