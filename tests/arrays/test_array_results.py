"""Test the comparisons of the check ops, and their reports of differences."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from stablehlo_ref.arrays.results import almost_equal, close, equal, report

INF, NAN = np.inf, np.nan


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_equal_treats_zeros_and_nans_as_equal() -> None:
    np.testing.assert_array_equal(equal(f32(0, 1, NAN, INF), f32(-0.0, 2, NAN, -INF)), [True, False, True, False])
    np.testing.assert_array_equal(equal(np.array([1, 2]), np.array([1, 3])), [True, False])


@np.errstate(all="ignore")
def test_almost_equal_compares_with_tolerance() -> None:
    agree = almost_equal(f32(1, 1, NAN, INF, INF, 1), f32(1.0001, 1.001, NAN, INF, -INF, NAN), 2e-4)
    np.testing.assert_array_equal(agree, [True, False, True, True, False, False])
    x = np.array([1 + 1j], np.complex64)
    assert not almost_equal(x, x + np.complex64(0.1j), 0.01).any()


def test_close_compares_ulp_distance() -> None:
    one = f32(1)
    third = np.nextafter(np.nextafter(np.nextafter(one, f32(2)), f32(2)), f32(2))
    assert close(one, third, 0, 3).all()
    assert not close(one, third, 0, 2).any()
    assert close(one, third, 3, 3).all()
    assert not close(one, third, 4, 9).any()


def test_close_with_infinities_and_nans() -> None:
    actual, expected = f32(INF, INF, NAN, INF, 1), f32(INF, -INF, NAN, 3e38, NAN)
    np.testing.assert_array_equal(close(actual, expected, 0, 3), [True, False, True, False, False])
    far = 2**64 - 1
    np.testing.assert_array_equal(close(actual, expected, far, far), [False, True, False, True, True])


def test_compares_narrow_floats() -> None:
    x, y = np.array([1.0], ml_dtypes.bfloat16), np.array([1.0078125], ml_dtypes.bfloat16)
    assert close(x, y, 1, 1).all()
    assert almost_equal(x, y, 0.01).all()
    assert not equal(x, y).any()


def test_report_counts_mismatches_and_shows_worst_and_first() -> None:
    expected = f32(*[1] * 10)
    actual = expected.copy()
    actual[3:] = f32(2, 1.5, 1.25, 1.125, 4, 8, 1.0625)
    message, notes = report(actual, expected, actual == expected)
    assert message == "7 of 10 elements differ"
    assert notes[0] == "worst: at [8]: actual 8.0, expected 1.0 (25165824 ULP)"
    assert notes[1] == "at [3]: actual 2.0, expected 1.0 (8388608 ULP)"
    assert notes[6] == "... and 1 more"
    assert notes[7] == "ULPs apart: >=65536: 7"


def test_report_does_not_repeat_the_worst() -> None:
    actual, expected = f32(1, 3, 2), f32(1, 1, 1)
    _, notes = report(actual, expected, actual == expected)
    assert [note.partition(":")[0] for note in notes] == ["worst", "at [2]", "ULPs apart"]


def test_report_of_scalars() -> None:
    message, notes = report(np.array(1), np.array(2), np.array(False))
    assert (message, notes) == ("1 of 1 elements differ", ["at []: actual 1, expected 2"])


def test_compares_large_arrays_block_by_block() -> None:
    """Three of 2**17 + 5 elements differ, in three blocks; the last has the largest distance."""
    expected = np.ones((1, (1 << 17) + 5), np.float32)
    actual = expected.copy()
    actual[0, [7, 70_000, -1]] = 1.5, 1.25, 3
    for agree in (equal(actual, expected), almost_equal(actual, expected, 0.1), close(actual, expected, 0, 3)):
        assert agree.shape == actual.shape
        assert np.flatnonzero(~agree).tolist() == [7, 70_000, (1 << 17) + 4]
    message, notes = report(actual, expected, agree)
    assert message == "3 of 131077 elements differ"
    assert [note.split(":")[0] for note in notes] == ["worst", "at [0, 7]", "at [0, 70000]", "ULPs apart"]
    assert notes[0] == "worst: at [0, 131076]: actual 3.0, expected 1.0 (12582912 ULP)"
    assert notes[-1] == "ULPs apart: >=65536: 3"
