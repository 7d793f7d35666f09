"""Element literals: the text between the brackets of `dense<...>`, hexadecimal strings and resource blobs, to arrays.

Every array is read-only and shaped by its type. A splat is a stride-0 view, whatever size its type claims; what is not
a splat has as many elements as the text spells out. Floats are rounded once, from the decimal text to their type.
"""

from __future__ import annotations

import re

import numpy as np

from stablehlo_ref.diagnostics import Source
from stablehlo_ref.ir.types import ComplexType, Type
from stablehlo_ref.numerics import dtypes
from stablehlo_ref.syntax.numbers import LiteralError, parse_numbers

Array = np.ndarray

BLOB_HEADER = 8  # hexadecimal digits in front of a resource blob: its alignment

_BRACKETS = b"[]()"
_NOT_STRUCTURE = bytes(set(range(256)) - set(b"[](),"))


def parse_elements(body: str, shape: tuple[int, ...], element_type: Type) -> Array:
    """The array that `body`, the text between `dense<` and `>`, gives for a type: a list, a splat or a hex string."""
    body = body.strip()
    if body.startswith('"'):
        source = Source(body)
        return from_bytes(hex_bytes(source, 0, len(body)), shape, element_type)
    if not body:
        if 0 not in shape:
            raise LiteralError("only a tensor without elements has an empty literal")
        return _filled(np.zeros(1, dtypes.numpy_dtype(element_type)), shape)
    if "//" in body:
        body = re.sub(r"//[^\n]*", lambda comment: " " * len(comment[0]), body)
    if body[0] not in "[(" or (body[0] == "(" and isinstance(element_type, ComplexType)):
        return _filled(_scalars(body, element_type, ()), shape)
    values = _scalars(body, element_type, shape)
    return _shaped(values, shape)


def hex_bytes(source: Source, start: int, stop: int) -> bytes:
    """The bytes of the string `"0x..."` whose quotes are the first and the last character from `start` to `stop`.

    For elements they are in little-endian order, those of all elements or of one for all.
    """
    if stop - start < 4 or not source.text.startswith('"0x', start) or source.text[stop - 1] != '"':
        raise LiteralError("expected a hexadecimal string that starts with 0x")
    return _unhex(source, start, start + 3, stop - 1)


def blob_bytes(source: Source, start: int, end: int) -> bytes:
    """The bytes of a blob `"0x..."` whose quotes stand at `start` and `end`, less the four that give its alignment."""
    if end - start < 3 + BLOB_HEADER:
        raise LiteralError("expected a hexadecimal string that starts with an alignment of four bytes")
    return _unhex(source, start, start + 3 + BLOB_HEADER, end)


def _unhex(source: Source, start: int, first: int, end: int) -> bytes:
    try:
        return source.unhex(first, end)
    except ValueError as error:
        raise LiteralError("expected an even number of hexadecimal digits", first - start) from error


def from_bytes(raw: bytes, shape: tuple[int, ...], element_type: Type) -> Array:
    """A view of `raw` as elements of a type; booleans may be packed eight to a byte."""
    dtype = dtypes.numpy_dtype(element_type)
    count = _count(shape)
    if dtype == np.bool_:
        return _booleans(raw, count, shape)
    if len(raw) not in (count * dtype.itemsize, dtype.itemsize):
        raise LiteralError(f"{len(raw)} bytes of data for {count} elements of {dtype.itemsize} bytes")
    values = np.frombuffer(raw, dtype) if raw else np.zeros(0, dtype)
    if dtypes.is_sub_byte_integer(dtype) or (dtypes.is_narrow_float(dtype) and dtypes.bit_width(dtype) < 8):
        values = (np.frombuffer(raw, np.uint8) & ((1 << dtypes.bit_width(dtype)) - 1)).view(dtype)
    return _filled(values, shape) if len(values) != count else _shaped(values, shape)


def _booleans(raw: bytes, count: int, shape: tuple[int, ...]) -> Array:
    octets = np.frombuffer(raw, np.uint8)
    if len(raw) == count and count != 1:
        return _shaped(octets != 0, shape)
    if len(raw) == 1 and (count > 8 or raw[0] in (0, 255)):
        return _filled(octets != 0, shape)
    if len(raw) != -(-count // 8):
        raise LiteralError(f"{len(raw)} bytes of data for {count} booleans")
    return _shaped(np.unpackbits(octets, count=count, bitorder="little").view(np.bool_), shape)


# --- lists ----------------------------------------------------------------------------------------------------------


def _scalars(body: str, element_type: Type, shape: tuple[int, ...]) -> Array:
    """The elements that stand in `body`, in order; LiteralError unless it is bracketed as `shape` asks for."""
    try:
        raw = body.encode("ascii")
    except UnicodeEncodeError as error:
        raise LiteralError("unexpected character", error.start) from error
    is_complex = isinstance(element_type, ComplexType)
    _check_structure(raw, shape, is_complex)
    count = _count(shape) * (2 if is_complex else 1)
    text = raw.translate(None, _BRACKETS) if count else b""
    part_type = element_type.element if isinstance(element_type, ComplexType) else element_type
    values = parse_numbers(text, count, part_type, body)
    return values.view(dtypes.numpy_dtype(element_type)) if is_complex else values


def _check_structure(raw: bytes, shape: tuple[int, ...], is_complex: bool) -> None:
    """Compares what `raw` has of brackets and commas with what the shape asks for, whose size is known first."""
    structure = raw.translate(None, _NOT_STRUCTURE)
    length = 3 if is_complex else 0
    sizes = shape[: shape.index(0) + 1] if 0 in shape else shape  # an empty list has nothing in it, whatever its type
    for size in reversed(sizes):
        length = 2 + size * length + max(size - 1, 0)
    if length != len(structure):
        raise LiteralError(f"the elements are not nested as the shape ({'x'.join(map(str, shape))}) asks for")
    expected = b"(,)" if is_complex else b""
    for size in reversed(sizes):
        expected = b"[" + (expected + b",") * (size - 1) + expected + b"]" if size else b"[]"
    if expected != structure:
        raise LiteralError(f"the elements are not nested as the shape ({'x'.join(map(str, shape))}) asks for")


# --- arrays ---------------------------------------------------------------------------------------------------------


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _filled(value: Array, shape: tuple[int, ...]) -> Array:
    """One element as an array of any shape, a view of stride 0."""
    try:
        return np.broadcast_to(value.reshape(()), shape)
    except ValueError as error:
        raise LiteralError(f"an array of shape ({'x'.join(map(str, shape))}) is too large") from error


def _shaped(values: Array, shape: tuple[int, ...]) -> Array:
    """As many elements as the shape has, read-only."""
    try:
        values = values.reshape(shape)
    except ValueError as error:
        raise LiteralError(f"an array of {len(shape)} dimensions has too many") from error
    values.flags.writeable = False
    return values
