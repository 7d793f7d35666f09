"""Hypothesis strategies for operands: element types, shapes, arrays with many special values."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

BOOLEANS = (np.dtype(bool),)
SIGNED = tuple(map(np.dtype, (ml_dtypes.int2, ml_dtypes.int4, np.int8, np.int16, np.int32, np.int64)))
UNSIGNED = tuple(map(np.dtype, (ml_dtypes.uint2, ml_dtypes.uint4, np.uint8, np.uint16, np.uint32, np.uint64)))
INTEGERS = SIGNED + UNSIGNED
WIDE_FLOATS = tuple(map(np.dtype, (np.float32, np.float64)))
NARROW_FLOAT_NAMES = (
    "bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2",
    "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn",
)  # fmt: skip
NARROW_FLOATS = (*(np.dtype(getattr(ml_dtypes, name)) for name in NARROW_FLOAT_NAMES), np.dtype(np.float16))
FLOATS = WIDE_FLOATS + NARROW_FLOATS
COMPLEXES = tuple(map(np.dtype, (np.complex64, np.complex128)))
NUMBERS = INTEGERS + FLOATS + COMPLEXES
ALL = BOOLEANS + NUMBERS


@cache
def width(dtype: np.dtype[Any]) -> int:
    """Return the width in bits of one element."""
    if dtype == BOOLEANS[0]:
        return 1
    if dtype in INTEGERS:
        return ml_dtypes.iinfo(dtype).bits
    return ml_dtypes.finfo(dtype).bits if dtype in FLOATS else dtype.itemsize * 8


def from_bits(bits: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Reinterpret unsigned integers as elements of a dtype, without the bits that it does not have."""
    if dtype == BOOLEANS[0]:
        return bits.astype(np.uint8) % 2 == 1
    return (bits & bits.dtype.type((1 << width(dtype)) - 1)).view(dtype)


@st.composite
def arrays(draw: st.DrawFn, dtype: np.dtype[Any], shape: tuple[int, ...], moderate: bool = False) -> np.ndarray:
    """Draw an array of any bit patterns, half of them special values; if `moderate`, of small whole numbers."""
    count = int(np.prod(shape, dtype=int))
    if moderate:
        low, high = (0, 1) if width(dtype) <= 2 or dtype == BOOLEANS[0] else (0, 4) if dtype in UNSIGNED else (-2, 3)
        values = draw(_integers(count, low, high))
        return np.array(values, np.int64).astype(np.float32).astype(dtype).reshape(shape)
    raw = np.frombuffer(draw(st.binary(min_size=count * dtype.itemsize, max_size=count * dtype.itemsize)), np.uint8)
    bits = raw.view(f"u{dtype.itemsize}") if dtype.itemsize <= 8 else raw
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        return _with_specials(draw, raw.view(f"u{part.itemsize}").view(part).copy()).view(dtype).reshape(shape)
    return _with_specials(draw, from_bits(bits.copy(), dtype)).reshape(shape)


def _with_specials(draw: st.DrawFn, array: np.ndarray) -> np.ndarray:
    specials = special_values(array.dtype)
    for index, choice in enumerate(draw(_integers(array.size, -len(specials), len(specials) - 1))):
        if choice >= 0:
            array[index] = specials[choice]
    return array


@cache
def _integers(count: int, low: int, high: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(low, high), min_size=count, max_size=count)


@cache
def special_values(dtype: np.dtype[Any]) -> np.ndarray:
    """Return bit patterns of zeros, ones, extremes, infinities, NaNs and subnormals; every type has some of them."""
    if dtype == BOOLEANS[0]:
        return np.array([False, True])
    bits = width(dtype)
    ones = (1 << bits) - 1
    top = 1 << (bits - 1)
    patterns = np.array([p & ones for p in (0, 1, 2, 3, top, top - 1, top + 1, ones, ones - 1)], np.uint64)
    values = from_bits(patterns.astype(f"u{dtype.itemsize}"), dtype)
    if dtype not in FLOATS:
        return values
    with np.errstate(all="ignore"):
        named = np.array([0.5, 1.0, -1.0, 1.5, 2.0, -3.0, np.inf, -np.inf, np.nan]).astype(dtype)
    return np.concatenate([values, named])


@cache
def shapes(
    max_rank: int = 3, max_size: int = 4, min_rank: int = 0, min_size: int = 0
) -> st.SearchStrategy[tuple[int, ...]]:
    """Return a strategy for small shapes, sizes of 0 included."""
    return st.lists(st.integers(min_size, max_size), min_size=min_rank, max_size=max_rank).map(tuple)


@cache
def dtypes(*groups: tuple[np.dtype[Any], ...]) -> st.SearchStrategy[np.dtype[Any]]:
    """Return a strategy for the dtypes of all groups."""
    return st.sampled_from([dtype for group in groups for dtype in group])


def same(actual: np.ndarray, expected: np.ndarray) -> bool:
    """Return whether two arrays are bitwise equal, except that any two NaNs are equal."""
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return False
    if actual.dtype.kind == "c":
        return same(actual.real.copy(), expected.real.copy()) and same(actual.imag.copy(), expected.imag.copy())
    bits = f"u{actual.dtype.itemsize}"
    equal = np.ascontiguousarray(actual).view(bits) == np.ascontiguousarray(expected).view(bits)
    with np.errstate(invalid="ignore"):  # of signaling NaNs
        return bool(np.all(equal | ((actual != actual) & (expected != expected))))
