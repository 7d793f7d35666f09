"""Exact construction and comparison of arrays, without conversions of the code under test."""

from __future__ import annotations

from typing import Any

import numpy as np

from stablehlo_ref.numerics.dtypes import bit_width, is_signed


def bits_of(value: int, dtype: np.dtype) -> int:
    """Return the bits of an integer modulo two to the width of `dtype`."""
    return value & (1 << bit_width(dtype)) - 1


def wrap(value: int, dtype: np.dtype) -> int:
    """Return the value that an integer wraps around to in `dtype`."""
    width, bits = bit_width(dtype), bits_of(value, dtype)
    return bits - (1 << width) if is_signed(dtype) and bits >> (width - 1) else bits


def array(numbers: list[int], dtype: np.dtype) -> np.ndarray:
    """Build an array of integers from their bits."""
    packed = b"".join(bits_of(number, dtype).to_bytes(dtype.itemsize, "little") for number in numbers)
    return np.frombuffer(packed, np.dtype(f"u{dtype.itemsize}")).view(dtype)


def numbers(x: np.ndarray) -> list[int]:
    """Return the elements of an array of integers, decoded from their bits."""
    return [wrap(int(value), x.dtype) for value in x.reshape(-1).view(np.dtype(f"u{x.dtype.itemsize}"))]


def assert_same(actual: Any, expected: Any) -> None:
    """Assert equality, also of the signs of zeros; NaN equals NaN."""
    actual, expected = (np.asarray(x).astype(np.float64) for x in (actual, expected))
    np.testing.assert_array_equal(actual, expected)
    is_number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(actual)[is_number], np.signbit(expected)[is_number])
