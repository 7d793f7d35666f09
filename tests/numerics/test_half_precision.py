"""Sums of f16 are those of f64, which are exact, rounded once."""

import numpy as np
import pytest

from stablehlo_ref.numerics import floats
from stablehlo_ref.numerics.dtypes import FLOAT16

EVERY = np.arange(1 << 16).astype(np.uint16).view(np.float16)


def pairs():
    """Yield arrays of all numbers, NaNs and infinities among them, with others: random, equal, close and scalars."""
    rng = np.random.default_rng(0)
    near = EVERY.view(np.uint16) ^ rng.integers(0, 1 << 12, EVERY.size).astype(np.uint16)
    yield from ((EVERY, other) for other in (*(rng.permutation(EVERY) for _ in range(8)), EVERY, near.view(np.float16)))
    yield from ((EVERY, np.float16(value)) for value in (0.0, -0.0, 6e-8, 1.0, 65504.0, np.inf, np.nan))
    finite = EVERY[np.isfinite(EVERY) & (np.abs(EVERY) < 30_000)]
    yield finite, rng.permutation(finite)


@pytest.mark.parametrize("name, exact", [("add", np.add), ("subtract", np.subtract)])
def test_sums_are_correctly_rounded(name, exact):
    with np.errstate(all="ignore"):
        for x, y in pairs():
            expected = exact(x.astype(np.float64), y.astype(np.float64)).astype(np.float16)
            actual = getattr(floats, name)(FLOAT16)(x, y)
            is_nan = np.isnan(expected)
            assert np.array_equal(np.isnan(actual), is_nan)
            assert np.array_equal(actual.view(np.uint16)[~is_nan], expected.view(np.uint16)[~is_nan])
