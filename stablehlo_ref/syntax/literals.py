"""Element literals: the text between the brackets of `dense<...>`, hexadecimal strings and resource blobs, to arrays.

Every array is read-only and shaped by its type. A splat is a stride-0 view, whatever size its type claims; what is not
a splat has as many elements as the text spells out. Floats are rounded once, from the decimal text to their type.
"""

from __future__ import annotations

import re
import warnings
from decimal import Decimal
from typing import Any

import numpy as np

from stablehlo_ref.ir.types import BooleanType, ComplexType, FloatType, IndexType, IntegerType, QuantizedType, Type
from stablehlo_ref.numerics import dtypes

Array = np.ndarray

BLOB_HEADER = 8  # hexadecimal digits in front of a resource blob: its alignment

_BRACKETS = b"[]()"
_NOT_STRUCTURE = bytes(set(range(256)) - set(b"[](),"))
_match_element = re.compile(r"\s*([^\[\](),\s]+)\s*").match
_ELEMENTS = re.compile(r"[^\[\](),\s]+")
_is_float = re.compile(r"-?\d+(?:\.\d*(?:[eE][+-]?\d+)?)?|0x[0-9a-fA-F]+").fullmatch
_is_integer = re.compile(r"-?\s*\d+|-?\s*0x[0-9a-fA-F]+").fullmatch


class LiteralError(ValueError):
    """What is wrong with a literal, and at which offset of its text."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.offset = offset


def parse_elements(body: str, shape: tuple[int, ...], element_type: Type) -> Array:
    """The array that `body`, the text between `dense<` and `>`, gives for a type: a list, a splat or a hex string."""
    body = body.strip()
    if body.startswith('"'):
        return parse_hex(body, shape, element_type)
    if not body:
        if 0 not in shape:
            raise LiteralError("only a tensor without elements has an empty literal")
        return _filled(np.zeros(1, dtypes.numpy_dtype(element_type)), shape)
    if "//" in body:
        body = re.sub(r"//[^\n]*", lambda comment: " " * len(comment[0]), body)
    if body[0] not in "[(" or (body[0] == "(" and isinstance(element_type, ComplexType)):
        return _filled(_scalars(body, element_type, ()), shape)
    values = _scalars(body, element_type, shape)
    return _read_only(values.reshape(shape))


def parse_hex(literal: str, shape: tuple[int, ...], element_type: Type) -> Array:
    """`"0x..."`: the elements' bytes in little-endian order, of all elements or of one for all."""
    if not literal.startswith('"0x') or not literal.endswith('"'):
        raise LiteralError("expected a hexadecimal string that starts with 0x")
    return from_bytes(_from_hex(literal[3:-1], 3), shape, element_type)


def parse_blob(text: str, start: int, end: int) -> bytes:
    """The bytes of a blob `"0x..."` whose quotes stand at `start` and `end`, less the four that give its alignment."""
    if end - start < 3 + BLOB_HEADER:
        raise LiteralError("expected a hexadecimal string that starts with an alignment of four bytes")
    return _from_hex(text[start + 3 + BLOB_HEADER : end], 3 + BLOB_HEADER)


def _from_hex(digits: str, offset: int) -> bytes:
    try:
        return bytes.fromhex(digits)
    except ValueError as error:
        raise LiteralError("expected an even number of hexadecimal digits", offset) from error


def from_bytes(raw: bytes, shape: tuple[int, ...], element_type: Type) -> Array:
    """A view of `raw` as elements of a type; booleans may be packed eight to a byte."""
    dtype = dtypes.numpy_dtype(element_type)
    count = _count(shape)
    if dtype == np.bool_:
        return _booleans(raw, count, shape)
    if len(raw) not in (count * dtype.itemsize, dtype.itemsize):
        raise LiteralError(f"{len(raw)} bytes of data for {count} elements of {dtype.itemsize} bytes")
    values = np.frombuffer(raw, dtype)
    if dtypes.is_sub_byte_integer(dtype) or (dtypes.is_narrow_float(dtype) and dtypes.bit_width(dtype) < 8):
        values = (np.frombuffer(raw, np.uint8) & ((1 << dtypes.bit_width(dtype)) - 1)).view(dtype)
    return _filled(values, shape) if len(values) != count else _read_only(values.reshape(shape))


def _booleans(raw: bytes, count: int, shape: tuple[int, ...]) -> Array:
    octets = np.frombuffer(raw, np.uint8)
    if len(raw) == count and count != 1:
        return _read_only((octets != 0).reshape(shape))
    if len(raw) == 1 and (count > 8 or raw[0] in (0, 255)):
        return _filled(octets != 0, shape)
    if len(raw) != -(-count // 8):
        raise LiteralError(f"{len(raw)} bytes of data for {count} booleans")
    return _read_only(np.unpackbits(octets, count=count, bitorder="little").view(np.bool_).reshape(shape))


# --- decimal text ---------------------------------------------------------------------------------------------------


def _scalars(body: str, element_type: Type, shape: tuple[int, ...]) -> Array:
    """The elements that stand in `body`, in order; LiteralError unless it is bracketed as `shape` asks for."""
    try:
        raw = body.encode("ascii")
    except UnicodeEncodeError as error:
        raise LiteralError("unexpected character", error.start) from error
    is_complex = isinstance(element_type, ComplexType)
    _check_structure(raw, shape, is_complex)
    text = raw.translate(None, _BRACKETS)
    count = 0 if not text.strip() else text.count(b",") + 1
    values = _parse(text, count, element_type.element if isinstance(element_type, ComplexType) else element_type, body)
    return values.view(dtypes.numpy_dtype(element_type)) if is_complex else values


def _check_structure(raw: bytes, shape: tuple[int, ...], is_complex: bool) -> None:
    """Compares what `raw` has of brackets and commas with what the shape asks for, whose size is known first."""
    structure = raw.translate(None, _NOT_STRUCTURE)
    length = 3 if is_complex else 0
    for size in reversed(shape):
        length = 2 + size * length + max(size - 1, 0)
    if length != len(structure):
        raise LiteralError(f"the elements are not nested as the shape ({'x'.join(map(str, shape))}) asks for")
    expected = b"(,)" if is_complex else b""
    for size in reversed(shape):
        expected = b"[" + b",".join([expected] * size) + b"]"
    if expected != structure:
        raise LiteralError(f"the elements are not nested as the shape ({'x'.join(map(str, shape))}) asks for")


def _parse(text: bytes, count: int, element_type: Type, body: str) -> Array:
    match element_type:
        case BooleanType():
            return _parse_booleans(text, count, body)
        case FloatType():
            return _parse_floats(text, count, element_type, body)
        case IntegerType() | IndexType():
            return _parse_integers(text, count, element_type, body)
        case QuantizedType(storage_type=storage):
            return _parse_integers(text, count, storage, body)
    raise LiteralError(f"no literals of type {element_type}")


def _parse_booleans(text: bytes, count: int, body: str) -> Array:
    words = text.replace(b"true", b"1").replace(b"false", b"0")
    values = _read(words, np.int64, count)
    if values is None or values.min(initial=0) < 0 or values.max(initial=0) > 1:
        raise _bad_element(body, "true or false", lambda word: word in ("true", "false", "0", "1"))
    return values.astype(np.bool_)


def _parse_integers(text: bytes, count: int, element_type: Type, body: str) -> Array:
    dtype = dtypes.numpy_dtype(element_type)
    values = _read(text, np.int64, count)
    width = dtypes.bit_width(dtype)
    if values is None or (width == 64 and values.size and (values.max() == MAX_INT64 or values.min() == MIN_INT64)):
        return _parse_integers_slowly(body, element_type)
    low, high = _integer_range(element_type)
    if values.size and not (low <= int(values.min()) and int(values.max()) <= high):
        return _parse_integers_slowly(body, element_type)
    return values.astype(dtype)


MAX_INT64, MIN_INT64 = (1 << 63) - 1, -(1 << 63)


def _integer_range(element_type: Type) -> tuple[int, int]:
    """What may be written for an integer type: for a signless one the signed and the unsigned values."""
    width = dtypes.bit_width(dtypes.numpy_dtype(element_type))
    signedness = element_type.signedness if isinstance(element_type, IntegerType) else ""
    low = 0 if signedness == "u" else -(1 << width - 1)
    return low, (1 << width - 1) - 1 if signedness == "s" else (1 << width) - 1


def _parse_integers_slowly(body: str, element_type: Type) -> Array:
    """Integers that numpy's reader does not know: hexadecimal, or out of its range."""
    low, high = _integer_range(element_type)
    dtype = dtypes.numpy_dtype(element_type)
    mask = (1 << dtypes.bit_width(dtype)) - 1
    values = []
    for match in _ELEMENTS.finditer(body):
        word = match[0]
        if len(word) > 40 or not _is_integer(word):
            raise LiteralError(f"expected an integer, found '{_shorten(word)}'", match.start())
        value = int(word, 0 if "x" in word else 10)
        if not low <= value <= high:
            raise LiteralError(f"{word} is out of the range of {element_type}", match.start())
        values.append(value & mask)
    return _from_bits(values, dtype)


def _from_bits(values: list[int], dtype: np.dtype[Any]) -> Array:
    if dtypes.is_sub_byte_integer(dtype):
        return np.array(values, np.uint8).view(dtype)
    return np.array(values, f"u{dtype.itemsize}").view(dtype)


def _parse_floats(text: bytes, count: int, element_type: FloatType, body: str) -> Array:
    dtype = dtypes.numpy_dtype(element_type)
    values = None if b"x" in text else _read(text, np.float64, count)
    if values is None:
        return _parse_floats_slowly(body, dtype)
    return values if dtype == np.float64 else _round_once(values, dtype, body)


def _parse_floats_slowly(body: str, dtype: np.dtype[Any]) -> Array:
    """Floats some of which are given by their bits."""
    words = _ELEMENTS.findall(body)
    if not all(map(_is_float, words)):
        raise _bad_element(body, "a number", _is_float)
    values = np.array([1.0 if word.startswith("0x") else float(word) for word in words])
    rounded = np.array(_round_once(values, dtype, body))
    bits = rounded.view(f"u{dtype.itemsize}")
    for position, word in enumerate(words):
        if word.startswith("0x"):
            bits[position] = _float_bits(word, dtype)
    return rounded


def _float_bits(word: str, dtype: np.dtype[Any]) -> int:
    digits = word[2:].lstrip("0")
    if 4 * len(digits) > dtypes.bit_width(dtype) + 3 or int(digits or "0", 16) >> dtypes.bit_width(dtype):
        raise LiteralError(f"'{_shorten(word)}' has more bits than the type")
    return int(digits or "0", 16)


def _round_once(values: Array, dtype: np.dtype[Any], body: str) -> Array:
    """`values` (doubles nearest to the decimal numbers in `body`) as the numbers of `dtype` nearest to those decimals.

    Rounding the double differs only where it lies halfway between two numbers of `dtype` and the decimal does not.
    """
    with np.errstate(all="ignore"):
        rounded = values.astype(dtype)
        halfway = np.flatnonzero(_is_halfway(values, rounded))
    if halfway.size:
        words = _ELEMENTS.findall(body)
        for position in halfway.tolist():
            rest = Decimal(words[position]).compare(Decimal(float(values[position])))
            if rest:
                nudged = np.nextafter(values[position], np.inf if rest > 0 else -np.inf)
                rounded[position] = np.asarray(nudged).astype(dtype)
    return rounded


def _is_halfway(values: Array, rounded: Array) -> Array:
    """Where a double lies exactly between two neighbouring numbers of the narrower type."""
    wide = rounded.astype(np.float64)
    below = np.nextafter(values, -np.inf).astype(rounded.dtype)
    above = np.nextafter(values, np.inf).astype(rounded.dtype)
    different = below.astype(np.float64) != above.astype(np.float64)
    return different & (wide != values) & np.isfinite(values)


def _read(text: bytes, dtype: Any, count: int) -> Array | None:
    """Numbers with commas between them, by numpy's reader; None unless it understands them all."""
    if not count:
        return np.zeros(0, dtype)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values = np.fromstring(text, dtype, sep=" , ")  # type: ignore[call-overload]
    except (DeprecationWarning, ValueError):
        return None
    return values if values.size == count else None


def _bad_element(body: str, what: str, is_good: Any) -> LiteralError:
    for match in _ELEMENTS.finditer(body):
        if not is_good(match[0]):
            return LiteralError(f"expected {what}, found '{_shorten(match[0])}'", match.start())
    return LiteralError(f"expected {what}")


def _shorten(word: str) -> str:
    return word if len(word) <= 40 else word[:40] + "..."


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
        raise LiteralError(f"a tensor of shape ({'x'.join(map(str, shape))}) is too large") from error


def _read_only(values: Array) -> Array:
    values.flags.writeable = False
    return values
