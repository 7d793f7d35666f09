"""Copies tile by tile are those of numpy."""

import numpy as np
import pytest

from stablehlo_ref.numerics.layout import CONFLICT, LARGE, contiguous

ARRANGEMENTS = {
    "transposed": lambda x: x.T,
    "reversed": lambda x: x[::-1].T,
    "strided": lambda x: x[::2].T,
    "batched": lambda x: x.reshape(3, -1, x.shape[1]).transpose(0, 2, 1),
    "outermost first": lambda x: x.reshape(3, -1, 64).transpose(2, 0, 1),
    "innermost last": lambda x: x.reshape(3, -1, 64, x.shape[1] // 64).transpose(3, 1, 0, 2),
    "broadcast": lambda x: np.broadcast_to(x[:, :, np.newaxis], (*x.shape, 3)).transpose(2, 1, 0),
}


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "f8", "c16"])
@pytest.mark.parametrize("arrange", ARRANGEMENTS.values(), ids=ARRANGEMENTS)
def test_contiguous(arrange, dtype):
    columns = CONFLICT // np.dtype(dtype).itemsize * 2
    rows = 3 * (2 * LARGE // columns // 3 + 1)
    x = arrange(np.random.default_rng(0).integers(0, 200, (rows, columns)).astype(dtype))
    copied = contiguous(x)
    assert copied.flags.c_contiguous and copied.flags.owndata
    assert np.array_equal(copied, x)
