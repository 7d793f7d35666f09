"""Select the numpy ufunc that computes an op of two scalars, and decide whether its result depends on the order.

numpy chooses the order of reductions: along a contiguous axis of floats, for example, with eight interleaved
accumulators. `ufunc.reduce` is therefore only allowed where results are the same in any order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics.dtypes import (
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    is_sub_byte_integer,
    kind,
    signed_bits_dtype,
)

SMALL = 256  # elements: below this, searching the bytes of an array is faster than comparing its elements

_BOOLEAN = {
    "add": np.logical_or, "or": np.logical_or, "maximum": np.logical_or,
    "multiply": np.logical_and, "and": np.logical_and, "minimum": np.logical_and,
    "xor": np.logical_xor,
}  # fmt: skip
_INTEGER = {
    "add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip
_WIDE_FLOAT = {"maximum": np.maximum, "minimum": np.minimum}
_ROUNDED = {"add": (FLOAT32, FLOAT64, COMPLEX64, COMPLEX128), "multiply": (FLOAT32, FLOAT64)}
_LEFT = {"subtract": (FLOAT32, FLOAT64, COMPLEX64, COMPLEX128), "divide": (FLOAT32, FLOAT64)}


def order_independent_ufunc(op: str, dtype: DType) -> np.ufunc | None:
    """Return the ufunc for an op ("add", ...) whose result is the same in any order, or None.

    For floats these are np.maximum and np.minimum, except for the sign of zeros: see `ambiguous_zero_check`.
    """
    if kind(dtype) == "boolean":
        return _BOOLEAN.get(op)
    if kind(dtype) == "integer" and not is_sub_byte_integer(dtype):
        return _INTEGER.get(op)
    return _WIDE_FLOAT.get(op) if dtype in (FLOAT32, FLOAT64) else None


def rounding_ufunc(op: str, dtype: DType) -> np.ufunc | None:
    """Return the ufunc for an op that rounds each result, so that the order matters, or None."""
    return {"add": np.add, "multiply": np.multiply}[op] if dtype in _ROUNDED.get(op, ()) else None


def left_fold_ufunc(op: str, dtype: DType) -> np.ufunc | None:
    """Return the ufunc for an op that is not associative, which numpy folds from the left, or None."""
    return {"subtract": np.subtract, "divide": np.divide}[op] if dtype in _LEFT.get(op, ()) else None


def ambiguous_zero_check(ufunc: np.ufunc, dtype: DType) -> Callable[[Array], bool] | None:
    """Return a test that a result may contain a zero of the wrong sign, for np.maximum and np.minimum of floats.

    These may return any of several zeros. None for dtypes where that makes no difference.
    """
    if kind(dtype) != "floating":
        return None
    wrong, bits = dtype.type(-0.0 if ufunc is np.maximum else 0.0), signed_bits_dtype(dtype)
    wrong_bits, wrong_bytes = wrong.view(bits), wrong.tobytes()

    def is_ambiguous(result: Array) -> bool:
        if result.size < SMALL:
            return wrong_bytes in result.tobytes()
        return bool((result.view(bits) == wrong_bits).any())

    return is_ambiguous
