"""Operands for tests of semantics, and the comparison of results with bounds."""

import numpy as np

from spec_checks.running_error import within

F64 = np.dtype(np.float64)


def normal(shape, dtype=F64, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if dtype.kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def assert_within(actual, expected, bound):
    assert actual.dtype == expected.dtype and actual.shape == expected.shape == bound.shape
    assert within(actual, expected, bound).all(), (actual, expected, bound)
