"""Results of elementary functions do not depend on the loop that numpy would choose by strides and sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stablehlo_ref.numerics.libm import by_one_loop

LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "contiguous": lambda x: x,
    "reversed": lambda x: x[::-1],
    "strided": lambda x: x[:, ::2],
    "transposed": lambda x: x.T,
    "one element": lambda x: x[1:2, 1:2],
    "rank 0": lambda x: np.asarray(x[0, 0]),
    "scalar": lambda x: x[0, 0],
    "broadcast": lambda x: np.broadcast_to(x[0, 0], (3, 5)),
    "empty": lambda x: x[:0],
    "unaligned": lambda x: np.frombuffer(b"." + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_functions_get_contiguous_arrays(layout: Callable[[np.ndarray], Any]) -> None:
    def function(*operands: Any) -> Any:
        assert {x.shape for x in operands} == {operands[0].shape}
        assert all(x.flags.c_contiguous and x.flags.aligned and x.size != 1 for x in operands)
        return sum(operands)

    x = layout(np.arange(12.0).reshape(3, 4))
    result = by_one_loop(function)(x)
    np.testing.assert_array_equal(result, x)
    assert result.shape == x.shape
    np.testing.assert_array_equal(by_one_loop(function)(x, np.float64(2.0)), x + 2.0)
