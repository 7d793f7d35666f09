"""Values while a program runs: numpy arrays and scalars, tuples of values, and None for tokens."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]  # of any shape and dtype; a 0-dimensional value may be a numpy scalar
DType: TypeAlias = np.dtype[Any]
RuntimeValue: TypeAlias = "Array | tuple[RuntimeValue, ...] | None"
