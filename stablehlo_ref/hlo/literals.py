"""The elements of constants: `5`, `{1, 2}`, `{ { 1, nan }, { -inf, (1, 2) } }`."""

from __future__ import annotations

import re

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import BooleanType, ComplexType, FloatType, IntegerType, TensorType, Type
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics import dtypes
from stablehlo_ref.syntax.literals import LiteralError, filled
from stablehlo_ref.syntax.numbers import round_once

_find_pairs = re.compile(r"\(([^(),{}]*),([^(),{}]*)\)").sub
_find_words = re.compile(r"[^\s{},]+").findall
_match_float = re.compile(
    r"[+\-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+\-]?\d+)?|inf|nan(?:\(0x([0-9a-fA-F]{1,16})\))?)"
).fullmatch
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}
MAX_DIGITS = 100  # of one integer


def parse_literal(text: str, type: TensorType) -> Array:
    """Return the read-only array of a literal; LiteralError if it is none of this type, with an offset in the text."""
    shape = tuple(size for size in type.shape if size is not None)
    if not type.is_static:
        raise LiteralError(f"a constant needs a static shape, got {type}")
    if "..." in text:
        raise LiteralError("the elements are left out; print the module with `print_large_constants=True`")
    text = re.sub(r"/\*.*?\*/", lambda comment: " " * len(comment[0]), text)
    element = type.element_type
    if isinstance(element, ComplexType):
        text = _find_pairs(lambda pair: f"{pair[1].strip()};{pair[2].strip()}", text)
    words = _find_words(text)
    is_splat = len(words) == 1 and "{" not in text
    if len(words) != (1 if is_splat else type.size):
        raise LiteralError(f"expected {type.size} elements of {type}, got {len(words)}")
    structure = re.sub(r"[^{},]+", "", text)
    if not is_splat and type.size and structure != _structure(shape):
        raise LiteralError(f"expected elements in braces as of shape ({', '.join(map(str, shape))})")
    values = _values(words, element)
    if is_splat:
        return filled(values, shape)
    values = values.reshape(shape)
    values.setflags(write=False)
    return values


def _structure(shape: tuple[int, ...]) -> str:
    """Return the braces and commas of a literal of a shape."""
    expected = ""
    for size in reversed(shape):
        expected = "{" + ",".join([expected] * size) + "}"
    return expected


def _values(words: list[str], element: Type) -> Array:
    match element:
        case BooleanType():
            checked = (_checked(word, word in _BOOLEANS, element) for word in within_time(words, "parsing"))
            return np.array([_BOOLEANS[word] for word in checked], np.bool_)
        case IntegerType():
            return _integers(words, element)
        case FloatType():
            return _floats(words, element)
        case ComplexType(element=FloatType() as part):
            pairs = [word.split(";") for word in words]
            for word, pair in zip(words, pairs):
                _checked(word, len(pair) == 2, element)
            return _floats([number for pair in pairs for number in pair], part).view(dtypes.numpy_dtype(element))
    raise LiteralError(f"constants of {element} are not supported")


def _checked(word: str, is_good: object, type: Type) -> str:
    if not is_good:
        raise LiteralError(f"expected an element of {type}, got '{word[:60]}'")
    return word


def _integers(words: list[str], element: IntegerType) -> Array:
    low, high = element.range
    timed = within_time(words, "parsing")
    values = [int(_checked(w, len(w) < MAX_DIGITS and re.fullmatch(r"-?\d+", w), element)) for w in timed]
    for value, word in zip(values, words):
        _checked(word, low <= value <= high, element)
    wide = np.array(values, np.uint64 if low == 0 else np.int64)
    return wide.astype(dtypes.numpy_dtype(element))


def _floats(words: list[str], element: FloatType) -> Array:
    matches = [_match_float(word) for word in within_time(words, "parsing")]
    for word, match in within_time(zip(words, matches), "parsing"):
        _checked(word, match, element)
    dtype = dtypes.numpy_dtype(element)
    plain = [word.partition("(")[0] for word in words]
    rounded = np.array([float(word) for word in within_time(plain, "parsing")])
    values = np.array(round_once(rounded, dtype, " ".join(plain)))
    bits = values.view(dtypes.bits_dtype(dtype))
    for index, match in enumerate(matches):
        if match and match[1]:  # the mantissa of a NaN
            payload = int(match[1], 16) & ((1 << dtypes.mantissa_bits(dtype)) - 1)
            bits[index] = (int(bits[index]) >> dtypes.mantissa_bits(dtype) << dtypes.mantissa_bits(dtype)) | payload
    return values
