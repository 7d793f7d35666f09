"""bf16 numbers stored as f32 are computed as ml_dtypes computes bf16 numbers."""

import numpy as np
import pytest

from stablehlo_ref.numerics import floats
from stablehlo_ref.numerics.dtypes import BFLOAT16, FLOAT32
from stablehlo_ref.numerics.floats import stored_as_f32

EVERY = np.arange(1 << 16).astype(np.uint16).view(BFLOAT16)
EXACT = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": floats.maximum(BFLOAT16),
    "minimum": floats.minimum(BFLOAT16),
}


@pytest.mark.parametrize("op", EXACT)
def test_stored_as_f32(op):
    """Among the pairs are those of equal numbers, and of numbers whose sum is a tie."""
    rng, kernel = np.random.default_rng(0), stored_as_f32(op)
    near = EVERY.view(np.uint16) ^ rng.integers(0, 1 << 11, EVERY.size).astype(np.uint16)
    with np.errstate(all="ignore"):
        for y in (*(rng.permutation(EVERY) for _ in range(5)), EVERY, near.view(BFLOAT16)):
            expected = EXACT[op](EVERY, y)
            actual = kernel(EVERY.astype(FLOAT32), y.astype(FLOAT32))
            is_nan = np.isnan(expected)
            assert np.array_equal(np.isnan(actual), is_nan)
            assert np.array_equal(actual.view(np.uint32)[~is_nan], expected.astype(FLOAT32).view(np.uint32)[~is_nan])


def test_other_ops_have_no_kernel():
    assert stored_as_f32("divide") is None
