"""Compare the order and the distances of floats with lists of all values and with math.nextafter."""

import math

import numpy as np
import pytest

from stablehlo_ref.numerics.dtypes import FLOAT8_E8M0FNU, FLOAT_DTYPES, bit_width
from stablehlo_ref.numerics.ulp import ordered_bits, ulp_distance

pytestmark = pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # signaling NaNs

NARROW = [dtype for dtype in FLOAT_DTYPES if dtype.itemsize <= 2]
FAR = 2**64 - 1


def every_value(dtype: np.dtype) -> np.ndarray:
    return np.arange(1 << bit_width(dtype)).astype(f"u{dtype.itemsize}").view(dtype)


def total_order(x: np.ndarray) -> list[int]:
    """Return the indices that sort `x` in IEEE-754 totalOrder, by signs and values."""

    def key(i: int) -> tuple:
        value, bits = float(x[i]), int(x.view(f"u{x.itemsize}")[i])
        negative = bool(bits >> (bit_width(x.dtype) - 1)) and x.dtype != FLOAT8_E8M0FNU
        if math.isnan(value):
            return (-2, -bits) if negative else (2, bits)
        return (-1 if negative else 1, value)

    return sorted(range(x.size), key=key)


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_ordered_bits_are_in_total_order(dtype: np.dtype) -> None:
    x = every_value(dtype)
    keys = ordered_bits(x)
    assert keys.dtype.kind == "i"
    assert np.argsort(keys, kind="stable").tolist() == total_order(x)
    assert np.unique(keys).size == x.size


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_distance_between_adjacent_numbers_is_one(dtype: np.dtype) -> None:
    x = every_value(dtype)
    wide = x.astype(np.float64)
    numbers = x[~np.isnan(wide)]
    numbers = numbers[np.argsort(numbers.astype(np.float64), kind="stable")]
    values = numbers.astype(np.float64)
    expected = (values[1:] != values[:-1]).astype(np.uint64)  # 0 between -0 and +0
    assert np.array_equal(ulp_distance(numbers[1:], numbers[:-1]), expected)
    assert np.array_equal(ulp_distance(numbers[:-1], numbers[1:]), expected)
    from_first = ulp_distance(numbers, np.broadcast_to(numbers[0], numbers.shape))
    assert from_first.dtype == np.uint64
    assert np.array_equal(from_first, np.concatenate([[0], np.cumsum(expected)]))


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_distance_to_nan_is_largest(dtype: np.dtype) -> None:
    x = every_value(dtype)
    nans = x[np.isnan(x.astype(np.float64))]
    one = np.ones(1, dtype)
    for nan in nans[:, None]:
        assert ulp_distance(nan, one)[0] == ulp_distance(one, nan)[0] == FAR
        assert (ulp_distance(nans, np.broadcast_to(nan, nans.shape)) == 0).all()


def test_distance_counts_steps_of_f64() -> None:
    random = np.random.default_rng(3)
    for start in [0.0, -0.0, 1.0, -1.0, 5e-324, 2.0**-1022, 1.7e308, *random.standard_normal(20)]:
        value = start
        for steps in range(1, 6):
            value = math.nextafter(value, math.inf)
            assert ulp_distance(np.array([start]), np.array([value])).tolist() == [steps]
            assert ordered_bits(np.array([value]))[0] > ordered_bits(np.array([start]))[0]


def test_distance_of_f64_does_not_overflow() -> None:
    x = np.array([-math.inf, math.inf, math.nan])
    assert ulp_distance(x, x[[1, 0, 0]]).tolist() == [2 * 0x7FF0000000000000] * 2 + [FAR]


def test_order_and_distance_of_f32() -> None:
    x = np.array([-math.nan, -math.inf, -1.0, -1e-45, -0.0, 0.0, 1e-45, 1.0, math.inf, math.nan], np.float32)
    x[0] = np.array(0xFFC00000, np.uint32).view(np.float32)
    assert (np.diff(ordered_bits(x).astype(np.int64)) > 0).all()
    assert ordered_bits(x)[4:7].tolist() == [-1, 0, 1]
    assert ulp_distance(x[3:6], x[4:7]).tolist() == [1, 0, 1]


def test_distance_of_complex_numbers_is_that_of_worse_part() -> None:
    x = np.array([1 + 2j, 1 + 1j, complex(math.nan, 0)])
    y = np.array([math.nextafter(1, 2) + 2j, 1 + math.nextafter(1, 0) * 1j, 0])
    assert ulp_distance(x, y).tolist() == [1, 1, FAR]


def test_accepts_scalars() -> None:
    for dtype in FLOAT_DTYPES:
        one, two = np.array([1, 2]).astype(dtype)
        assert ulp_distance(one, one) == 0 and ulp_distance(one, two) > 0
        assert ordered_bits(two) > ordered_bits(one)
