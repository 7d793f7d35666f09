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
    return wrapped([value], dtype)[0]


def wrapped(values: list[int], dtype: np.dtype) -> list[int]:
    """Return the values that integers wrap around to in `dtype`."""
    half = 1 << bit_width(dtype) - 1 if is_signed(dtype) else 0
    mask = (1 << bit_width(dtype)) - 1
    return [(value + half & mask) - half for value in values]


def array(numbers: list[int], dtype: np.dtype) -> np.ndarray:
    """Build an array of integers from their bits."""
    mask = (1 << bit_width(dtype)) - 1
    return np.array([number & mask for number in numbers], f"u{dtype.itemsize}").view(dtype)


def numbers(x: np.ndarray) -> list[int]:
    """Return the elements of an array of integers, decoded from their bits."""
    return wrapped(x.reshape(-1).view(f"u{x.dtype.itemsize}").tolist(), x.dtype)


def assert_same(actual: Any, expected: Any) -> None:
    """Assert equality, also of the signs of zeros; NaN equals NaN."""
    actual, expected = (np.asarray(x).astype(np.float64) for x in (actual, expected))
    np.testing.assert_array_equal(actual, expected)
    is_number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(actual)[is_number], np.signbit(expected)[is_number])
