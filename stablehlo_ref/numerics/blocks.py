"""Run composed kernels block by block in a wider dtype, so that temporaries stay in the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics.dtypes import FLOAT64
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.narrow_floats import blockwise_kernel, copy_into
from stablehlo_ref.numerics.workers import share

PartsKernel: TypeAlias = Callable[..., tuple[Array, Array]]  # from parts of operands to those of the result

BLOCK = 1 << 14  # elements: 128 KiB of f64, so that about six temporaries fit into the L2 cache


def blockwise(function: ArrayKernel, wide: DType, dtype: DType) -> ArrayKernel:
    """Return a kernel with results of `dtype` that applies an elementwise `function` of arrays of dtype `wide`.

    Operands are converted to `wide` and results to `dtype`, which rounds once. Operands broadcast.
    `function` must accept numpy scalars and must not write into its operands.
    """

    def small(*operands: Array) -> Array:
        return function(*map(load, operands)).astype(dtype, copy=False)

    def load(x: Array) -> Array:
        return x if x.dtype == wide else x.astype(wide)

    return blockwise_kernel(function, dtype, copy_into, small, load, min_size=BLOCK + 1, block=BLOCK, in_threads=True)


def partwise(function: PartsKernel, dtype: DType, fallback: ArrayKernel, wide: DType = FLOAT64) -> ArrayKernel:
    """Return a kernel for arrays of the complex `dtype` that computes on real and imaginary parts in dtype `wide`.

    `function` takes the real and imaginary parts of each operand and returns those of the result. Elements where
    either is NaN, also as a mark for "cannot compute this", are computed by `fallback`, a function of complex<f64>
    arrays. Operands broadcast.
    """

    def run(*operands: Array) -> Array:
        shape = operands[0].shape
        if any(x.shape != shape for x in operands):
            shape = np.broadcast_shapes(*[x.shape for x in operands])
            operands = tuple(np.broadcast_to(x, shape) for x in operands)
        flat = [x.reshape(-1) for x in operands]
        out = np.empty(flat[0].size, dtype)

        def work(starts: Iterable[int]) -> None:
            for start in starts:
                blocks = [x[start : start + BLOCK] for x in flat]
                result = out[start : start + BLOCK]
                result.real, result.imag = function(*[part.astype(wide) for x in blocks for part in (x.real, x.imag)])
                is_nan = np.isnan(result)
                if is_nan.any():
                    result[is_nan] = fallback(*[x[is_nan].astype(np.complex128) for x in blocks])

        share(work, range(0, out.size, BLOCK))
        return out.reshape(shape)

    return run
