"""Compare the indices of the largest elements with sorting."""

from __future__ import annotations

import numpy as np
import pytest

from stablehlo_ref.numerics.top_k import top_k_indices


@pytest.mark.parametrize("distinct", [2, 50, 10**9])
@pytest.mark.parametrize("k", [1, 5, 31])
def test_matches_stable_sort(distinct: int, k: int) -> None:
    x = np.random.default_rng(k).integers(0, distinct, (4, 3, 1003)).astype(np.int32)
    expected = np.argsort(-x, axis=-1, kind="stable")[..., :k]
    np.testing.assert_array_equal(top_k_indices(x.dtype)(x, k), expected)


def test_accepts_empty_batch() -> None:
    assert top_k_indices(np.dtype(np.float32))(np.empty((0, 900), np.float32), 3).shape == (0, 3)


def test_rejects_complex_numbers() -> None:
    with pytest.raises(TypeError):
        top_k_indices(np.dtype(np.complex64))
