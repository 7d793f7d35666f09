"""Types of MLIR's quant dialect."""

from __future__ import annotations

from typing import Any

from stablehlo_ref.bytecode.encodings import numbers
from stablehlo_ref.bytecode.encodings.tables import TYPE, Encoding, FieldCodec, Table, fielded, list_of, only
from stablehlo_ref.bytecode.entries import EntryReader, EntryWriter
from stablehlo_ref.ir.attributes import DenseElements, FloatAttribute
from stablehlo_ref.ir.types import FLOATS, IntegerType, OpaqueType, QuantizedType, decimal_text, integer_type

F64 = FLOATS["f64"]
IS_SIGNED = 1  # the flag of a signed storage type


def _read_storage(reader: EntryReader) -> IntegerType:
    """Read flags, which say whether a storage type is signed, and the type."""
    flags = reader.varint()
    offset, type = reader.offset, reader.type()
    if not isinstance(type, IntegerType):
        raise reader.error(f"expected an integer type as storage type, got {type}", offset)
    return type if flags & IS_SIGNED else IntegerType(type.width, "u")


def _write_storage(writer: EntryWriter, type: IntegerType) -> None:
    writer.varint(IS_SIGNED if type.is_signed else 0)
    writer.type(integer_type(type.width))


def _read_double(reader: EntryReader) -> float:
    return numbers.float_attribute(numbers.read_bits(reader, 64), F64).value


def _write_double(writer: EntryWriter, value: float) -> None:
    writer.bits(numbers.float_bits(FloatAttribute(value), F64), 64)


STORAGE = FieldCodec(_read_storage, _write_storage)
SIGNED = FieldCodec(EntryReader.signed_varint, EntryWriter.signed_varint)
DOUBLE = FieldCodec(_read_double, _write_double)
DOUBLES = list_of(DOUBLE, "scales")


def _per_axis(reader: EntryReader) -> QuantizedType:
    storage, expressed, axis = _read_storage(reader), reader.type(), reader.varint()
    low, high = reader.signed_varint(), reader.signed_varint()
    offset, scales, zero_points = reader.offset, DOUBLES.read(reader), reader.signed_varints()
    if len(scales) != len(zero_points):
        raise reader.error(f"{len(scales)} scales, but {len(zero_points)} zero points", offset)
    return QuantizedType(storage, expressed, scales, zero_points, low, high, axis)


def _write_per_axis(writer: EntryWriter, type: QuantizedType) -> None:
    _write_storage(writer, type.storage_type)
    writer.type(type.expressed_type)
    writer.varint(type.quantization_dimension or 0)
    writer.signed_varint(type.storage_min)
    writer.signed_varint(type.storage_max)
    DOUBLES.write(writer, type.scales)
    writer.signed_varints(type.zero_points)


def _any(reader: EntryReader, has_expressed_type: bool) -> OpaqueType:
    storage = _read_storage(reader)
    expressed = f":{reader.type()}" if has_expressed_type else ""
    return OpaqueType(f"!quant.any<{_storage_text(storage, reader)}{expressed}>")


def _storage_text(storage: IntegerType, reader: EntryReader) -> str:
    limits = reader.signed_varint(), reader.signed_varint()
    prefix = "i" if storage.is_signed else "u"
    return f"{prefix}{storage.width}" + ("" if limits == storage.range else f"<{limits[0]}:{limits[1]}>")


def _calibrated(reader: EntryReader) -> OpaqueType:
    expressed, low, high = reader.type(), _read_double(reader), _read_double(reader)
    return OpaqueType(f"!quant.calibrated<{expressed}<{_number(low)}:{_number(high)}>>")


def _sub_channel(reader: EntryReader) -> OpaqueType:
    """Read a type that is quantized in blocks of several axes."""
    storage, expressed = _read_storage(reader), reader.type()
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


def quantized(per_tensor: int, per_axis: int) -> tuple[Encoding, ...]:
    """Return the encodings of types that are quantized per tensor and along an axis, with these codes."""
    return (
        fielded(
            per_tensor, QuantizedType, holds=lambda type: type.quantization_dimension is None, storage_type=STORAGE,
            expressed_type=TYPE, scales=only(DOUBLE), zero_points=only(SIGNED), storage_min=SIGNED,
            storage_max=SIGNED,
        ),
        Encoding(per_axis, _per_axis, _write_per_axis, (QuantizedType,)),
    )  # fmt: skip


TYPES = Table("quant", "type", [
    Encoding(1, lambda reader: _any(reader, has_expressed_type=False)),
    Encoding(2, lambda reader: _any(reader, has_expressed_type=True)),
    Encoding(3, _calibrated),
    *quantized(4, 5),
    Encoding(6, _sub_channel),
])  # fmt: skip
