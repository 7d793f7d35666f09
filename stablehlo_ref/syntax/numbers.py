"""Lists of numbers as arrays: decimal, hexadecimal, true and false, parsed by whole-array operations.

Decimal fractions become the nearest doubles, which are rounded to narrower types as if the decimals were.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import TypeVar

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.lexer import shorten
from stablehlo_ref.ir.types import BooleanType, FloatType, IndexType, IntegerType, QuantizedType, Type
from stablehlo_ref.limits.budget import check_time, within_time
from stablehlo_ref.numerics import dtypes
from stablehlo_ref.numerics.narrow_floats import narrow

T = TypeVar("T", str, bytes)

MAX_INT64, MIN_INT64 = (1 << 63) - 1, -(1 << 63)
PIECE = 1 << 20  # characters that are parsed between two looks at the clock; a few hundredths of a second
FEW = 16  # numbers, of which Python parses that many faster than whole-array operations do
MAX_WORD = 4000  # characters of one number; Python refuses to convert longer integers
FINITE = {  # magnitudes up to which numbers of common types are finite
    np.dtype(name): bound for name, bound in (("f8", np.inf), ("f4", 1e38), (dtypes.BFLOAT16, 1e38), ("f2", 6e4))
}
FLOAT32 = np.dtype(np.float32)
SPLIT = 2.0**28 + 1.0  # `p - (p - x)` with `p = SPLIT * x` is the double `x` rounded to 25 bits (Veltkamp)
LAST_BITS = 0xFFFFFFF  # those of a double that are 0 if it is halfway between two numbers of 32 bits

_WORDS = re.compile(r"[^\[\](),\s]+")
_is_float = re.compile(r"-?\d+\.\d*(?:[eE][+-]?\d+)?|0x[0-9a-fA-F]+").fullmatch
_is_integer = re.compile(r"-?\d+|-?0x[0-9a-fA-F]+").fullmatch
FLOAT = r"-?+\d++\.\d*+(?:[eE][+-]?+\d++)?+"
_FEW_FLOAT = rb"\s*+" + FLOAT.encode() + rb"\s*+"
_FEW_INTEGER = rb"\s*+-?\d{1,18}+\s*+"
_are_few_floats = re.compile(_FEW_FLOAT + rb"(?:," + _FEW_FLOAT + rb")*+").fullmatch
_are_few_integers = re.compile(_FEW_INTEGER + rb"(?:," + _FEW_INTEGER + rb")*+").fullmatch
_COMMA, _POINT = b",."  # the codes of these characters


class LiteralError(ValueError):
    """An error in a literal, at an offset of its text."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.offset = offset


def parse_numbers(text: bytes, count: int, element_type: Type, body: str) -> Array:
    """Return the `count` comma-separated numbers in `text`; `body` is the text with its brackets, for messages."""
    match element_type:
        case BooleanType():
            return _booleans(text, count, body)
        case FloatType():
            return _floats(text, count, element_type, body)
        case IntegerType() | IndexType():
            return _integers(text, count, element_type, body)
        case QuantizedType(storage_type=storage):
            return _integers(text, count, storage, body)
    raise LiteralError(f"unsupported element type {element_type}")


def _tight(text: bytes) -> bytes:
    """Return `text` without the usual spaces."""
    return text.replace(b", ", b",").strip()


def _read(text: bytes, dtype: type[np.generic], count: int) -> Array | None:
    """Parse decimal numbers with numpy; return None unless it accepts all of them. Integers saturate."""
    if not count:
        return np.zeros(0, dtype)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values = np.fromstring(text, dtype, sep=" , ")
    except (DeprecationWarning, ValueError):
        return None
    return values if values.size == count else None


def _pieces(text: T) -> Iterator[tuple[int, int]]:
    """Yield where pieces of a text start and end, at commas, within the time."""
    end = -1
    while end < len(text):
        check_time("parsing")
        start = end + 1
        comma = text.find("," if isinstance(text, str) else b",", start + PIECE)
        end = len(text) if comma < 0 else comma
        yield start, end


def _in_pieces(parse: Callable[[bytes, int], Array | None], text: bytes, count: int) -> Array | None:
    """Return the `count` numbers of a text, parsed piece by piece; None if `parse` returns None for one."""
    if len(text) <= PIECE:
        return parse(_tight(text), count)
    parsed: list[Array] = []
    for start, end in _pieces(text):
        piece = _tight(text[start:end])
        numbers = parse(piece, piece.count(b",") + 1)
        if numbers is None:
            return None
        parsed.append(numbers)
    values = np.concatenate(parsed)
    return values if values.size == count else None


def _words(body: str) -> list[str]:
    """Return the words of a literal."""
    return [word for start, end in _pieces(body) for word in _WORDS.findall(body, start, end)]


# --- booleans and integers ------------------------------------------------------------------------------------------


def _booleans(text: bytes, count: int, body: str) -> Array:
    digits = text.translate(None, b" \t\r\n").replace(b"true", b"1").replace(b"false", b"0")
    values = np.frombuffer(digits, np.uint8)
    bits, commas = values[::2] - ord("0"), values[1::2]
    if values.size != max(2 * count - 1, 0) or (bits > 1).any() or (commas != _COMMA).any():
        raise _bad_word(body, "true or false", lambda word: word in ("true", "false", "0", "1"))
    return bits.view(np.bool_)


def _integers(text: bytes, count: int, element_type: Type, body: str) -> Array:
    dtype = dtypes.numpy_dtype(element_type)
    values = _few_integers(text, count) if count <= FEW else None
    if values is None:
        values = _in_pieces(lambda piece, size: _read(piece, np.int64, size), text, count)
    if values is None:
        return _integers_one_by_one(body, element_type)
    lowest, highest = int(values.min(initial=0)), int(values.max(initial=0))
    low, high = _integer_range(element_type)
    if not max(low, MIN_INT64 + 1) <= lowest <= highest <= min(high, MAX_INT64 - 1):
        return _integers_one_by_one(body, element_type)
    return values.astype(dtype, copy=False)


def _few_integers(text: bytes, count: int) -> Array | None:
    """Return a few decimal integers of at most 18 digits; None for any others."""
    values = list(map(int, text.split(b","))) if count and _are_few_integers(text) else []
    return np.array(values, np.int64) if len(values) == count else None


def _integer_range(element_type: Type) -> tuple[int, int]:
    """Return the least and the greatest literal of a type; signless types take signed and unsigned literals."""
    width = dtypes.bit_width(dtypes.numpy_dtype(element_type))
    signedness = element_type.signedness if isinstance(element_type, IntegerType) else ""
    low = 0 if signedness == "u" else -(1 << width - 1)
    return low, (1 << width - 1) - 1 if signedness == "s" else (1 << width) - 1


def _integers_one_by_one(body: str, element_type: Type) -> Array:
    """Parse integers that numpy does not: hexadecimal ones, and those near the limits of 64 bits."""
    low, high = _integer_range(element_type)
    dtype = dtypes.numpy_dtype(element_type)
    mask = (1 << dtypes.bit_width(dtype)) - 1
    values = []
    for match in within_time(_WORDS.finditer(body), "parsing"):
        word = match[0]
        if len(word) > MAX_WORD or not _is_integer(word):
            raise LiteralError(f"expected an integer, got '{shorten(word)}'", match.start())
        value = int(word, 16 if "x" in word else 10)
        if not low <= value <= high:
            raise LiteralError(f"{shorten(word)} is out of range for {element_type}", match.start())
        values.append(value & mask)
    if body.count(",") + 1 != len(values):
        raise LiteralError("expected a comma between integers")
    return np.array(values, np.uint64).astype(dtypes.bits_dtype(dtype)).view(dtype)


# --- floats ---------------------------------------------------------------------------------------------------------


def _floats(text: bytes, count: int, element_type: FloatType, body: str) -> Array:
    dtype = dtypes.numpy_dtype(element_type)
    if count <= FEW and _are_few_floats(text) and (few := few_floats(text.split(b","), count, dtype)) is not None:
        return few
    values = None if b"x" in text else _in_pieces(_decimals, text, count)
    if values is None:
        return _floats_one_by_one(body, count, dtype)
    return round_once(values, dtype, body)


def few_floats(words: Sequence[str | bytes], count: int, dtype: DType) -> Array | None:
    """Return a few decimal fractions, rounded once; None if there are not `count`, or rounding them takes more care.

    Rounding the nearest double is right if it changes nothing, or if the double is not halfway between two numbers of
    32 bits (`round_once`), as those of more than 25 bits are not.
    """
    bound = FINITE.get(dtype)
    if bound is None or len(words) != count:
        return None
    doubles = list(map(float, words))
    if not -bound < min(doubles) <= max(doubles) < bound:
        return None
    rounded = np.array(doubles, dtype)
    values = rounded.tolist() if dtype is FLOAT32 else rounded.astype(np.float64).tolist()
    for double, value in zip(doubles, values):
        if double != value and (dtype is not FLOAT32 or (p := SPLIT * double) - (p - double) == double):
            return None
    return rounded


def _decimals(text: bytes, count: int) -> Array | None:
    """Return the doubles nearest to decimal fractions; None unless all have the form `digits.digits[e[sign]digits]`."""
    if not count:
        return np.zeros(0)
    if text.translate(None, b"0123456789.,+-eE"):
        return None
    characters = np.frombuffer(text, np.uint8)
    stops = np.append(np.flatnonzero(characters == _COMMA), len(text))  # the end of each number
    points = np.flatnonzero(characters == _POINT)
    if points.size != count or stops.size != count or (points >= stops).any() or (points[1:] <= stops[:-1]).any():
        return None
    before = characters[points - 1]
    if points[0] == 0 or not ((ord("0") <= before) & (before <= ord("9"))).all():
        return None
    return _read(text, np.float64, count)


def _floats_one_by_one(body: str, count: int, dtype: DType) -> Array:
    """Parse floats some of which are given by their bits; LiteralError for the first bad one."""
    words = _words(body)
    if not all(map(_is_float, within_time(words, "parsing"))) or len(words) != count or body.count(",") + 1 < count:
        raise _bad_word(
            body, "a number with a decimal point, such as 1.0", _is_float, lambda word: _as_bits(word, dtype)
        )
    if all(word.startswith("0x") for word in words):
        rounded = np.empty(count, dtype)
    else:
        values = np.array([1.0 if word.startswith("0x") else float(word) for word in within_time(words, "parsing")])
        rounded = np.array(round_once(values, dtype, body))
    bits = rounded.view(dtypes.bits_dtype(dtype))
    for position, word in within_time(enumerate(words), "parsing"):
        if word.startswith("0x"):
            bits[position] = _float_bits(word, dtype)
    return rounded


def _float_bits(word: str, dtype: DType) -> int:
    digits = word[2:].lstrip("0")
    if 4 * len(digits) > dtypes.bit_width(dtype) + 3 or int(digits or "0", 16) >> dtypes.bit_width(dtype):
        raise LiteralError(f"'{shorten(word)}' exceeds the bit width of {dtype}")
    return int(digits or "0", 16)


def round_once(values: Array, dtype: DType, body: str) -> Array:
    """Round `values`, the doubles nearest to the decimal numbers in `body`, as if those decimals were rounded directly.

    Rounding a double differs from that only where it is halfway between two numbers of `dtype` and the decimal is not.
    """
    if dtype == np.float64:
        return values
    with np.errstate(all="ignore"):
        rounded = np.array(narrow(dtype)(values))
        halfway = _halfway(values, dtype)
        if halfway.size:
            words = _words(body)
            for position in within_time(halfway.tolist(), "parsing"):
                side = Decimal(words[position]).compare(Decimal(float(values[position])))
                nudged = np.nextafter(values[position : position + 1], np.inf if side > 0 else -np.inf)
                if side:
                    rounded[position] = narrow(dtype)(nudged)[0]
    return rounded


def _halfway(values: Array, dtype: DType) -> Array:
    """Return the indices of doubles halfway between two adjacent numbers of a narrower type."""
    candidates = np.flatnonzero((values.view(np.int64) & LAST_BITS == 0) & (values != 0))
    few = values[candidates]
    wide = narrow(dtype)(few).astype(np.float64)
    below = narrow(dtype)(np.nextafter(few, -np.inf)).astype(np.float64)
    above = narrow(dtype)(np.nextafter(few, np.inf)).astype(np.float64)
    halfway: Array = candidates[(wide != few) & (below != above) & np.isfinite(few)]
    return halfway


# --- messages -------------------------------------------------------------------------------------------------------


def _as_bits(word: str, dtype: DType) -> str:
    """Return how MLIR writes the word `nan` or `inf`; "" for another word, or if the type has no such value."""
    if word.lower().lstrip("+-") not in ("nan", "inf", "infinity"):
        return ""
    with np.errstate(all="ignore"):
        value = np.array(float(word)).astype(dtype)
    if np.isnan(value) != np.isnan(float(word)):
        return ""
    digits = -(-dtypes.bit_width(dtype) // 4)
    return f"; write its bits, 0x{int(value.view(dtypes.bits_dtype(dtype))):0{digits}X}"


def _bad_word(
    body: str, what: str, is_good: Callable[[str], object], hint: Callable[[str], str] = lambda word: ""
) -> LiteralError:
    """Return the error for the first word that is not good, or for a missing one."""
    for match in within_time(_WORDS.finditer(body), "parsing"):
        if not is_good(match[0]):
            return LiteralError(f"expected {what}, got '{shorten(match[0])}'{hint(match[0])}", match.start())
    return LiteralError(f"expected {what} between commas")
