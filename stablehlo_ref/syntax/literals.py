"""Element literals as arrays: the text between the brackets of `dense<...>`, hexadecimal strings and resource blobs.

Arrays are read-only and have the shape of their type. A splat is a view with strides of 0, so that a short literal
never needs much memory, whatever its type. Floats are rounded once, from the decimal text to their type.
"""

from __future__ import annotations

import re

import numpy as np

from stablehlo_ref.diagnostics import Source
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import ComplexType, Type
from stablehlo_ref.limits.budget import check_time
from stablehlo_ref.numerics import dtypes
from stablehlo_ref.syntax.numbers import LiteralError, parse_numbers

__all__ = ["LiteralError", "from_bytes", "hex_bytes", "parse_blob", "parse_elements"]

BLOB_HEADER = 8  # hexadecimal digits of the alignment at the start of a resource blob

_BRACKETS = b"[]()"
_NOT_STRUCTURE = bytes(set(range(256)) - set(b"[](),"))
_find_items = re.compile(rb"\[|\]|\([^)]*\)|[^\s\[\](),]+").findall
MAX_INFERRED = 100_000  # bytes of a literal whose shape an error says


def parse_elements(body: str, shape: tuple[int, ...], element_type: Type) -> Array:
    """Return the array of `body`, the text between `dense<` and `>`: a list, a splat or a hexadecimal string.

    Raises LiteralError if the text is not such a literal, or does not fit the shape and element type.
    """
    body = body.strip()
    if body.startswith('"'):
        source = Source(body)
        return from_hex(source, 0, len(body), shape, element_type)
    if not body:
        if 0 not in shape:
            raise LiteralError("expected elements; only the literal of an empty tensor has none")
        return _shaped(np.zeros(0, dtypes.numpy_dtype(element_type)), shape)
    if "//" in body:
        body = re.sub(r"//[^\n]*", lambda comment: " " * len(comment[0]), body)
    if body[0] not in "[(" or (body[0] == "(" and isinstance(element_type, ComplexType)):
        return filled(_scalars(body, element_type, ()), shape)
    values = _scalars(body, element_type, shape)
    return _shaped(values, shape)


def hex_bytes(source: Source, start: int, stop: int) -> bytes:
    """Return the bytes of the literal `"0x..."` in the text from `start` to `stop`, quotes included.

    Elements are stored in little-endian order: either all of them, or the one of a splat.
    """
    if stop - start < 4 or not source.text.startswith('"0x', start) or source.text[stop - 1] != '"':
        raise LiteralError("expected a hexadecimal string that starts with 0x")
    return _unhex(source, start, start + 3, stop - 1)


def parse_blob(source: Source, start: int, end: int) -> tuple[int, bytes]:
    """Return the alignment and the data of the blob `"0x..."` with quotes at `start` and `end`."""
    if end - start < 3 + BLOB_HEADER:
        raise LiteralError("expected a hexadecimal string that starts with a four-byte alignment")
    alignment = _unhex(source, start, start + 3, start + 3 + BLOB_HEADER)
    return int.from_bytes(alignment, "little"), _unhex(source, start, start + 3 + BLOB_HEADER, end)


def _unhex(source: Source, start: int, first: int, end: int) -> bytes:
    try:
        return source.unhex(first, end)
    except ValueError as error:
        raise LiteralError("expected an even number of hexadecimal digits", first - start) from error


def from_hex(source: Source, start: int, end: int, shape: tuple[int, ...], element_type: Type) -> Array:
    """Return the elements of a literal `"0x..."`; one byte is a splat, also of booleans."""
    return from_bytes(hex_bytes(source, start, end), shape, element_type, one_byte_is_splat=True)


def from_bytes(raw: bytes, shape: tuple[int, ...], element_type: Type, *, one_byte_is_splat: bool = False) -> Array:
    """Return a view of `raw` as elements of a type, aligned; booleans have a byte each, or a bit.

    One byte for at most eight booleans has a bit for each of them, unless it is 0 or 255 or `one_byte_is_splat`.
    """
    dtype = dtypes.numpy_dtype(element_type)
    count = _count(shape)
    if dtype == np.bool_:
        return _booleans(raw, count, shape, one_byte_is_splat)
    if len(raw) not in (count * dtype.itemsize, dtype.itemsize):
        raise LiteralError(f"expected {count} elements of {dtype.itemsize} bytes, got {len(raw)} bytes of data")
    values = np.frombuffer(raw, dtype) if raw else np.zeros(0, dtype)
    if not values.flags.aligned:
        values = values.copy()
    if dtypes.is_sub_byte_integer(dtype) or (dtypes.is_narrow_float(dtype) and dtypes.bit_width(dtype) < 8):
        values = (np.frombuffer(raw, np.uint8) & ((1 << dtypes.bit_width(dtype)) - 1)).view(dtype)
    return filled(values, shape) if len(values) != count else _shaped(values, shape)


def _booleans(raw: bytes, count: int, shape: tuple[int, ...], one_byte_is_splat: bool) -> Array:
    octets = np.frombuffer(raw, np.uint8)
    if len(raw) == count and count != 1:
        return _shaped(octets != 0, shape)
    if len(raw) == 1 and (one_byte_is_splat or count > 8 or raw[0] in (0, 255)):
        return filled(octets != 0, shape)
    if len(raw) != -(-count // 8):
        raise LiteralError(f"expected {count} booleans, got {len(raw)} bytes of data")
    return _shaped(np.unpackbits(octets, count=count, bitorder="little").view(np.bool_), shape)


# --- lists ----------------------------------------------------------------------------------------------------------


def _scalars(body: str, element_type: Type, shape: tuple[int, ...]) -> Array:
    """Return the elements of `body` in order; LiteralError unless its brackets match `shape`."""
    try:
        raw = body.encode("ascii")
    except UnicodeEncodeError as error:
        raise LiteralError("unexpected character", error.start) from error
    is_complex = isinstance(element_type, ComplexType)
    check_time("parsing")
    _check_structure(raw, shape, is_complex)
    count = _count(shape) * (2 if is_complex else 1)
    text = raw.translate(None, _BRACKETS)
    if not count and text.strip(b", \t\r\n"):
        raise LiteralError("expected no elements, as a dimension has the size 0")
    text = text if count else b""
    part_type = element_type.element if isinstance(element_type, ComplexType) else element_type
    values = parse_numbers(text, count, part_type, body)
    return values.view(dtypes.numpy_dtype(element_type)) if is_complex else values


def _check_structure(raw: bytes, shape: tuple[int, ...], is_complex: bool) -> None:
    """Check that the brackets and commas of `raw` match the shape; their number is compared before they are built."""
    structure = raw.translate(None, _NOT_STRUCTURE)
    length = 3 if is_complex else 0
    sizes = shape[: shape.index(0) + 1] if 0 in shape else shape  # `[]` ends the nesting, whatever sizes follow the 0
    for size in reversed(sizes):
        length = 2 + size * length + max(size - 1, 0)
    if length != len(structure) or _structure(sizes, is_complex) != structure:
        raise LiteralError(_mismatch(raw, shape, is_complex))


def _mismatch(raw: bytes, shape: tuple[int, ...], is_complex: bool) -> str:
    """Return the message for elements whose brackets do not match the shape."""
    expected = f"expected elements of shape {_in_brackets(shape)}"
    if is_complex != (b"(" in raw):
        return f"expected {'pairs of numbers in parentheses' if is_complex else 'numbers, not pairs in parentheses'}"
    if len(raw) > MAX_INFERRED:
        return f"{expected}, got others"
    lists: list[set[tuple[int, ...]]] = [set()]  # for each open bracket, the shapes of its elements
    counts = [0]
    for item in _find_items(raw):
        if item == b"[":
            lists.append(set())
            counts.append(0)
            continue
        found: set[tuple[int, ...]] = {()}
        if item == b"]" and len(lists) > 1:
            found, count = lists.pop(), counts.pop()
            if len(found) > 1:
                return f"{expected}, got a list of elements of shapes {' and '.join(map(_in_brackets, sorted(found)))}"
            found = {(count, *inner) for inner in found or {()}}
        lists[-1] |= found
        counts[-1] += 1
    if counts[-1] != 1:
        return "expected one element, or a list of elements in brackets"
    inner = lists[-1].pop()
    return f"{expected}, " + ("with a comma between elements" if inner == shape else f"got {_in_brackets(inner)}")


def _in_brackets(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))})"


def _structure(sizes: tuple[int, ...], is_complex: bool) -> bytes:
    """Return the brackets and commas of a literal with these dimension sizes."""
    expected = b"(,)" if is_complex else b""
    for size in reversed(sizes):
        expected = b"[" + (expected + b",") * (size - 1) + expected + b"]" if size else b"[]"
    return expected


# --- arrays ---------------------------------------------------------------------------------------------------------


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def filled(value: Array, shape: tuple[int, ...]) -> Array:
    """Return an array of any shape whose elements are all `value`, as a view with strides of 0."""
    if not shape:
        return _shaped(value, shape)
    value.setflags(write=False)
    try:
        return np.ndarray(shape, value.dtype, value, strides=(0,) * len(shape))  # as `np.broadcast_to`, which is slow
    except ValueError as error:
        raise LiteralError(f"numpy cannot represent the shape {'x'.join(map(str, shape))}") from error


def _shaped(values: Array, shape: tuple[int, ...]) -> Array:
    """Return `values` in a shape with as many elements, read-only."""
    try:
        values = values.reshape(shape)
    except ValueError as error:
        raise LiteralError(f"numpy cannot represent the shape {'x'.join(map(str, shape))}") from error
    values.setflags(write=False)
    return values
