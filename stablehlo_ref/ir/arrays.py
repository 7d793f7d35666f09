"""Values while a program runs: numpy arrays and scalars, tuples of values, and None for tokens."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]  # of any shape and dtype; a 0-dimensional value may be a numpy scalar
DType: TypeAlias = np.dtype[Any]
RuntimeValue: TypeAlias = "Array | tuple[RuntimeValue, ...] | None"


def without_repetition(array: Array) -> Array:
    """Return an array that broadcasts to `array`: for a splat its element, which the base of an empty splat holds."""
    base = array.base
    if isinstance(base, np.ndarray) and base.nbytes == array.itemsize:
        return base.view(array.dtype).reshape(())
    is_splat = array.size and not any(array.strides)
    return np.asarray(array[(0,) * array.ndim], array.dtype) if is_splat else array
