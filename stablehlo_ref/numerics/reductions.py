"""Which of numpy's ufuncs do what an op does to two scalars, and which of them may reduce in numpy's own way.

numpy reduces in an order of its own: along a contiguous axis of floats by eight interleaved accumulators, say. So the
question is for which ops and element types all orders give the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.numerics.dtypes import (
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    is_sub_byte_integer,
    kind,
    signed_bits_dtype,
)

Array: TypeAlias = Any
DType: TypeAlias = np.dtype[Any]

SMALL = 256  # elements: below, searching the bytes of an array is faster than comparing its elements

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


def any_order(op: str, dtype: DType) -> np.ufunc | None:
    """The ufunc for an op ("add", ...) whose result is the same in any order; None where there is no such ufunc.

    Of floats these are np.maximum and np.minimum, but for the sign of a zero: see `zero_in_doubt`.
    """
    if kind(dtype) == "boolean":
        return _BOOLEAN.get(op)
    if kind(dtype) == "integer" and not is_sub_byte_integer(dtype):
        return _INTEGER.get(op)
    return _WIDE_FLOAT.get(op) if dtype in (FLOAT32, FLOAT64) else None


def in_order(op: str, dtype: DType) -> np.ufunc | None:
    """The ufunc for an op that rounds each result, so that the order matters; None where numpy has none for `dtype`."""
    return {"add": np.add, "multiply": np.multiply}[op] if dtype in _ROUNDED.get(op, ()) else None


def zero_in_doubt(ufunc: np.ufunc, dtype: DType) -> Callable[[Array], bool] | None:
    """Whether results have a zero of the sign that loses, for np.maximum and np.minimum: of several they take any."""
    if kind(dtype) != "floating":
        return None
    loser, bits = dtype.type(-0.0 if ufunc is np.maximum else 0.0), signed_bits_dtype(dtype)
    loser_bits, loser_bytes = loser.view(bits), loser.tobytes()

    def in_doubt(result: Array) -> bool:
        if result.size < SMALL:
            return loser_bytes in result.tobytes()
        return bool((result.view(bits) == loser_bits).any())

    return in_doubt
