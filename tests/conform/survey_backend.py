"""A backend whose errors are known: `python:tests.conform.survey_backend:negate`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import stablehlo_ref as sr


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


def by_batch(program: str, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return what the interpreter does, 2 ULPs off in the last row of batches of 8."""
    results = [np.array(result) for result in sr.parse(program).run(*inputs)]
    if len(results[0]) == 8:
        for _ in range(2):
            results[0][7] = np.nextafter(results[0][7], np.float32(np.inf))
    return results


def by_transpose(program: str, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return what the interpreter does, NaN in one element if operands are transposed."""
    results = [np.array(result) for result in sr.parse(program).run(*inputs)]
    if "stablehlo.transpose" in program:
        results[0][0, 0] = np.nan
    return results
