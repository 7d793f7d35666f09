"""Composed kernels, run block by block in a wider type so that their temporaries stay in the cache."""

from __future__ import annotations

from typing import Any

import numpy as np

from stablehlo_ref.numerics.dtypes import FLOAT64
from stablehlo_ref.numerics.narrow import Array, Kernel, by_pieces, copy_into

BLOCK = 1 << 14  # elements: 128 KiB of f64, so that half a dozen temporaries fit into the L2 cache


def blockwise(function: Kernel, wide: np.dtype[Any], dtype: np.dtype[Any]) -> Kernel:
    """An elementwise `function` of arrays of dtype `wide`, as a kernel for other operands with results of `dtype`.

    Operands are converted to `wide` and results to `dtype`, which rounds once. They have one shape, or broadcast.
    `function` takes numpy scalars too, and may not write into its operands.
    """

    def small(*operands: Array) -> Array:
        return function(*map(load, operands)).astype(dtype, copy=False)

    def load(x: Array) -> Array:
        return x if x.dtype == wide else x.astype(wide)

    return by_pieces(function, dtype, copy_into, small, load, few=BLOCK + 1, block=BLOCK)


def partwise(function: Kernel, dtype: np.dtype[Any], rest: Kernel, wide: np.dtype[Any] = FLOAT64) -> Kernel:
    """A kernel for arrays of the complex `dtype`, of shapes that broadcast, that works on their parts in dtype `wide`.

    `function` takes the real and the imaginary part of each operand and returns those of the result. Where one of
    these is NaN, be it that `function` knows no better, `rest`, a function of complex<f64> arrays, decides.
    """

    def run(*operands: Array) -> Array:
        shape = operands[0].shape
        if any(x.shape != shape for x in operands):
            shape = np.broadcast_shapes(*[x.shape for x in operands])
            operands = tuple(np.broadcast_to(x, shape) for x in operands)
        flat = [x.reshape(-1) for x in operands]
        out = np.empty(flat[0].size, dtype)
        for start in range(0, out.size, BLOCK):
            blocks = [x[start : start + BLOCK] for x in flat]
            result = out[start : start + BLOCK]
            result.real, result.imag = function(*[part.astype(wide) for x in blocks for part in (x.real, x.imag)])
            left = np.isnan(result)
            if left.any():
                result[left] = rest(*[x[left].astype(np.complex128) for x in blocks])
        return out.reshape(shape)

    return run
