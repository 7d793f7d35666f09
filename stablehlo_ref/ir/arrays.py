"""Values while a program runs: numpy arrays and scalars, tuples of values, and None for tokens."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]  # of any shape and dtype; a 0-dimensional value may be a numpy scalar
DType: TypeAlias = np.dtype[Any]
RuntimeValue: TypeAlias = "Array | tuple[RuntimeValue, ...] | None"

PROBED = 64  # elements that are compared before all others


def without_repetition(array: Array) -> Array:
    """Return an array that broadcasts to `array`: for a splat its element, which the base of an empty splat holds."""
    base = array.base
    if isinstance(base, np.ndarray) and base.nbytes == array.itemsize:
        return base.view(array.dtype).reshape(())
    is_splat = array.size and not any(array.strides)
    return np.asarray(array[(0,) * array.ndim], array.dtype) if is_splat else array


def is_splat(array: Array) -> bool:
    """Return whether all elements of an array, of which there are some, have the same bits."""
    if array.size <= 1 or not any(array.strides):
        return array.size > 0
    words = np.ascontiguousarray(array).reshape(-1).view(f"u{min(array.itemsize, 8)}").reshape(array.size, -1)
    return bool((words[:PROBED] == words[0]).all()) and bool((words == words[0]).all())
