"""Digests of arrays: statistics, hashes of bits, histograms of exponents."""

from __future__ import annotations

import json
from hashlib import sha256

import ml_dtypes
import numpy as np
import pytest

from stablehlo_ref.arrays.descriptions import BLOCK, Digest, digest


def test_floats() -> None:
    found = digest(np.array([1, -3, 0, np.nan, np.inf, 1e-40, 2.5, -0.0], np.float32))
    assert (found.min, found.max, found.mean) == (-3, 2.5, pytest.approx((1 - 3 + 2.5) / 6))
    assert found.rms == pytest.approx(((1 + 9 + 6.25) / 6) ** 0.5)
    assert (found.nans, found.infinities, found.zeros, found.subnormals) == (1, 1, 2, 1)
    assert found.exponents == {0: 1, 1: 2}
    assert str(found).endswith("1 NaN, 1 infinite, 2 zero, 1 subnormal")


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16, np.float64, ml_dtypes.float8_e5m2])
def test_types_of_floats(dtype: type) -> None:
    found = digest(np.array([[0.5, 3], [np.inf, np.nan]], dtype))
    assert (found.min, found.max, found.mean, found.nans, found.infinities) == (0.5, 3, 1.75, 1, 1)
    assert found.exponents == {-1: 1, 1: 1} and found.shape == (2, 2)


def test_integers_booleans_and_complex_numbers() -> None:
    found = digest(np.array([2**62, -1, 0], np.int64))
    assert (found.min, found.max, found.zeros, found.exponents) == (-1, 2**62, 1, {})
    assert digest(np.array([-8, 7], ml_dtypes.int4)).min == -8
    assert digest(np.array([True, False, True])).mean == pytest.approx(2 / 3)
    found = digest(np.array([1 - 2j, 3j], np.complex64))
    assert (found.min, found.max, found.zeros) == (-2, 3, 1)


def test_hashes_are_of_bits_in_row_major_order() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    expected = sha256(x.tobytes()).hexdigest()[:32]
    assert {digest(y).hash for y in (x, np.asfortranarray(x), x[:, ::-1].copy()[:, ::-1])} == {expected}
    assert digest(np.float32(0.0)).hash != digest(np.float32(-0.0)).hash


def test_large_arrays_are_read_block_by_block() -> None:
    x = np.ones(2 * BLOCK + 5, np.float32)
    x[-1] = 4
    assert (digest(x).max, digest(x).exponents) == (4, {0: 2 * BLOCK + 4, 2: 1})
    wide = digest(np.broadcast_to(np.float32(2), (BLOCK, 3)))
    assert (wide.exponents, wide.hash) == ({1: 3 * BLOCK}, sha256(np.full(3 * BLOCK, 2, np.float32)).hexdigest()[:32])


def test_empty_arrays_and_json() -> None:
    found = digest(np.zeros((0, 3), np.float32))
    assert (str(found), found.min, found.rms) == ("empty", None, None)
    given = digest(np.array([1, 2], np.float32))
    assert Digest.from_json(json.loads(json.dumps(given.to_json()))) == given
    huge = digest(np.array([1e308, 1e308]))
    assert huge.mean is None and json.dumps(huge.to_json(), allow_nan=False)
