"""A backend whose errors are known: `python:tests.conform.survey_backend:negate`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def negate(program: str, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return negated numbers: 3 ULPs too large from 2 to 4, zero for subnormal ones, and NaN from 2**100."""
    (x,) = inputs
    result = -x
    off = (x >= 2) & (x < 4)
    for _ in range(3):
        result[off] = np.nextafter(result[off], np.float32(0))
    result[np.abs(x) < np.finfo(np.float32).tiny] = 0
    result[x >= np.float32(2.0**100)] = np.nan
    return [result]
