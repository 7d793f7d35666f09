"""Assertions on arrays."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from stablehlo_ref.testing import assert_close, compare, pearson_correlation, ulp_distance

ONE = np.float32(1)
NEXT = np.nextafter(ONE, np.float32(2))  # 1 + 2**-23


def test_distance_counts_representable_values() -> None:
    assert ulp_distance(np.array([ONE, NEXT, -ONE]), np.array([NEXT, NEXT, ONE])).tolist() == [1, 0, 2 * 0x3F800000]
    assert ulp_distance(ml_dtypes.bfloat16(1), ml_dtypes.bfloat16(1 + 2**-6)).item() == 2
    with pytest.raises(TypeError, match="expected floating-point or complex arrays, got int32"):
        ulp_distance(np.int32(1), np.int32(2))


def test_equal_elements_agree_without_bounds() -> None:
    assert_close(np.array([1, np.nan, np.inf]), np.array([1, np.nan, np.inf]))
    assert_close([1, 2], [1, 2])
    with pytest.raises(AssertionError, match="1 of 2 elements differ"):
        assert_close(np.array([1, 2]), np.array([1, 3]))


def test_bounds_in_ulps() -> None:
    assert_close(NEXT, ONE, ulp=1)
    with pytest.raises(AssertionError, match=r"y: 1 of 1 elements differ[\s\S]*\(1 ULP\)"):
        assert_close(NEXT, ONE, ulp=0, names="y")


def test_relative_and_absolute_bounds() -> None:
    assert_close(np.array([101.0, 0.5]), np.array([100.0, 0.0]), rtol=0.01, atol=0.5)
    with pytest.raises(AssertionError, match="1 of 2"):
        assert_close(np.array([102.0, 0.5]), np.array([100.0, 0.0]), rtol=0.01, atol=0.5)
    assert_close(ml_dtypes.bfloat16(100), ml_dtypes.bfloat16(101), rtol=0.01)


@pytest.mark.parametrize("other", [np.inf, np.nan])
def test_special_values_agree_with_themselves_only(other: float) -> None:
    with pytest.raises(AssertionError):
        assert_close(np.array([other]), np.array([1.0]), rtol=1e300, atol=1e300)


def test_rejects_other_dtypes_and_shapes() -> None:
    with pytest.raises(TypeError, match="one dtype, got float32 and float64"):
        assert_close(np.float32(1), np.float64(1))
    with pytest.raises(ValueError, match=r"one shape, got \(2,\) and \(3,\)"):
        assert_close(np.zeros(2), np.zeros(3))


def test_correlation() -> None:
    x = np.array([1.0, 2.0, 4.0])
    assert pearson_correlation(x, 3 * x + 1) == pytest.approx(1)
    assert pearson_correlation(x, -x) == pytest.approx(-1)
    assert pearson_correlation(np.ones(3), np.ones(3)) == 1
    assert np.isnan(pearson_correlation(np.ones(3), x))
    # By hand: x - mean = (-4, -1, 5) / 3, y - mean = (-1, 0, 1); 9/3 over the root of 42/9 * 2.
    assert pearson_correlation(x, [1, 2, 3]) == pytest.approx(3 / np.sqrt(28 / 3))


def test_compare_measures_without_a_verdict() -> None:
    found = compare(np.float32([NEXT, np.nan, np.inf, ONE]), np.float32([ONE, np.nan, np.inf, ONE]))
    assert (found.different, found.size, found.max_ulp, found.max_absolute) == (1, 4, 1, 2.0**-23)
    assert found.relative_l2 == pytest.approx(2.0**-23 / 2**0.5)  # the finite numbers are 1, 1
    assert str(found).startswith("1 of 4 elements differ; max ULP 1, max absolute error 1.19e-07, relative L2 8.43e-08")
    assert compare([1, 2], [1, 4]).max_ulp is None and compare([3, 4], [3, 9]).max_absolute == 5.0
    assert compare(np.complex64([3 + 4j]), np.complex64([3])).relative_l2 == pytest.approx(4 / 3)
    assert compare(np.float32([]), np.float32([])).different == 0
