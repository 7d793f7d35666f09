"""Bounds of elementwise ops against MPFR: no legal result is outside; tools/measure_bounds.py has the long form."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("gmpy2")

from spec_checks.bound_oracle import DTYPES, OPS, drawn, measured
from spec_checks.test_bounds import ball_of, elementwise

SIZE = 300


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("op", OPS)
def test_all_legal_results_are_inside(op: str, type: str) -> None:
    draw = np.random.default_rng(6)
    arrays = drawn(draw, op, SIZE, DTYPES[type])
    found = measured(op, arrays, ball_of(elementwise(op, len(arrays), SIZE, type), arrays))
    assert found.evaluations == SIZE
    assert found.violations == 0
