"""Which elements are the largest, without sorting all of them (CHLO, `top_k`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stablehlo_ref.numerics.dtypes import (
    FLOAT8_E8M0FNU,
    bit_width,
    bits_dtype,
    is_sub_byte_integer,
    kind,
    signed_bits_dtype,
)
from stablehlo_ref.numerics.integers import unpack
from stablehlo_ref.numerics.narrow import Array

SELECTIVE = 8  # how many times more elements there must be than are wanted for a selection to be worth its passes


def top_indices(dtype: np.dtype[Any]) -> Callable[[Array, int], Array]:
    """A function from an array of `dtype` and `k` to the indices of the `k` largest elements along the last axis.

    They come in descending order, equal ones in ascending order of their indices; floats in totalOrder. TypeError if
    there is no order.
    """
    rank = descending(dtype)

    def run(x: Array, k: int) -> Array:
        keys = rank(np.asarray(x))
        if x.shape[-1] < SELECTIVE * k or k == 0:
            return np.argsort(keys, axis=-1, kind="stable")[..., :k]
        found = selection(keys, k)
        order = np.argsort(np.take_along_axis(keys, found, axis=-1), axis=-1, kind="stable")
        return np.take_along_axis(found, order, axis=-1)

    return run


def descending(dtype: np.dtype[Any]) -> Callable[[Array], Array]:
    """A function to integers that are the smaller, the larger the elements of `dtype` are."""
    match kind(dtype):
        case "complex":
            raise TypeError("complex numbers have no order")
        case "floating":
            return lambda x: ~total_order_key(x)
        case "boolean":
            return np.logical_not
    if is_sub_byte_integer(dtype):
        return lambda x: ~unpack(dtype)(x)
    return np.invert


def total_order_key(x: Array) -> Array:
    """Integers in the order of IEEE-754's totalOrder: -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN."""
    if x.dtype == FLOAT8_E8M0FNU:
        return x.view(np.uint8)
    spare = 8 * x.dtype.itemsize - bit_width(x.dtype)
    bits = (x.view(bits_dtype(x.dtype)) << spare).view(signed_bits_dtype(x.dtype))
    return bits ^ ((bits >> (8 * bits.itemsize - 1)) & np.iinfo(bits.dtype).max)


def selection(keys: Array, k: int) -> Array:
    """The indices, ascending, of the `k` smallest keys along the last axis, of equal ones those in front."""
    last = np.partition(keys, k - 1, axis=-1)[..., k - 1 : k]
    before, at = keys < last, keys == last
    missing = k - np.count_nonzero(before, axis=-1, keepdims=True)
    chosen = before | (at & (np.cumsum(at, axis=-1) <= missing))
    return np.nonzero(chosen)[-1].reshape(*keys.shape[:-1], k)
