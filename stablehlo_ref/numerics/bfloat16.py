"""Arithmetic of bf16 numbers that are stored as f32, so that several operations need only one conversion."""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import floats
from stablehlo_ref.numerics.dtypes import FLOAT32
from stablehlo_ref.numerics.kernels import ArrayKernel

_ROUNDED = {"add": np.add, "multiply": np.multiply}
_EXACT = {"maximum": floats.maximum(FLOAT32), "minimum": floats.minimum(FLOAT32)}


def stored_as_f32(op: str) -> ArrayKernel | None:
    """Return the kernel of "add", "multiply", "maximum" or "minimum" of bf16 numbers stored as f32; None for others."""
    if op in _EXACT:
        return _EXACT[op]
    ufunc = _ROUNDED.get(op)
    return None if ufunc is None else lambda x, y: _rounded(np.asarray(ufunc(x, y)))


def _rounded(x: Array) -> Array:
    """Round f32 numbers to bf16 in place, ties to even. The lower half of NaNs is zero and stays so."""
    bits = x.view(np.uint32)
    half = np.right_shift(bits, 16, out=np.empty_like(bits))
    np.bitwise_and(half, 1, out=half)
    np.add(half, 0x7FFF, out=half)  # half a unit in the last place, or just less than half if the last bit is even
    np.add(bits, half, out=bits)
    np.bitwise_and(bits, 0xFFFF0000, out=bits)
    return x
