"""The indices of the largest elements: selection and sorting agree."""

from __future__ import annotations

import numpy as np
import pytest

from stablehlo_ref.numerics.top import top_indices


@pytest.mark.parametrize("distinct", [2, 50, 10**9])
@pytest.mark.parametrize("k", [1, 5, 31])
def test_selection(distinct: int, k: int) -> None:
    x = np.random.default_rng(k).integers(0, distinct, (4, 3, 1003)).astype(np.int32)
    expected = np.argsort(-x, axis=-1, kind="stable")[..., :k]
    np.testing.assert_array_equal(top_indices(x.dtype)(x, k), expected)


def test_no_rows() -> None:
    assert top_indices(np.dtype(np.float32))(np.empty((0, 900), np.float32), 3).shape == (0, 3)


def test_complex_numbers_have_no_order() -> None:
    with pytest.raises(TypeError):
        top_indices(np.dtype(np.complex64))
