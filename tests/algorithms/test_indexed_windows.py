"""Row numbers of windows at indices, in bounds or not."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from stablehlo_ref.algorithms.indexed_windows import IndexedWindows, index_components

ELEMENT = IndexedWindows(sizes=(4, 5), extents=(1, 1), shape=(), window_axes={}, batching_axes={}, indexed=(0, 1))


@pytest.mark.parametrize("index", [np.array([2**31 - 1, 7], np.int32), np.array([1 << 62, -(1 << 62)])])
def test_row_numbers_of_starts_out_of_bounds_do_not_warn(index: npt.NDArray[Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ELEMENT.row_numbers(index_components(index, 0)).shape == (1,)
    assert ELEMENT.row_numbers(index_components(np.array([2, 3], index.dtype), 0)).tolist() == [13]


def test_row_numbers_of_a_range_have_its_offset() -> None:
    windows = IndexedWindows(
        sizes=(3, 4),
        extents=(1, 1),
        shape=(3, 2),
        window_axes={},
        batching_axes={0: 0},
        indexed=(1,),
    )
    starts = index_components(np.array([[0, 1], [2, 3], [1, 0]], np.int32)[..., np.newaxis], 2)
    assert windows.row_numbers(starts).tolist() == [0, 1, 6, 7, 9, 8]
    assert windows.row_numbers(starts, slice(1, 2)).tolist() == [6, 7]
