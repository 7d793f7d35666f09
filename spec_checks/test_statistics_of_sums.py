"""Statistical tests of `stablehlo_ref.debug`: accumulators that truncate are found, those that round are not."""

from __future__ import annotations

import numpy as np
import pytest

from spec_checks.test_bounds import dot, shadow_of
from stablehlo_ref.debug.statistics import LEVEL, SMALLEST_BIAS, bias_of, normalised, spread_of

ROWS, COLUMNS = 8, 50  # 400 outputs


def truncated(x: np.ndarray) -> np.ndarray:
    """Round f64 toward zero to f32."""
    near = x.astype(np.float32)
    return np.where(np.abs(near.astype(np.float64)) > np.abs(x), np.nextafter(near, np.float32(0)), near)


def accumulated(x: np.ndarray, y: np.ndarray, truncates: bool) -> np.ndarray:
    total = np.zeros((x.shape[0], y.shape[1]), np.float32)
    for k in range(x.shape[1]):
        exact = total.astype(np.float64) + x[:, k : k + 1].astype(np.float64) * y[k : k + 1]
        total = truncated(exact) if truncates else exact.astype(np.float32)
    return total


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("n", [1, 2, 16, 128, 1000])
def test_truncation_is_found_from_400_outputs(n: int, positive: bool) -> None:
    draw = np.random.default_rng(n)
    x, y = (draw.standard_normal(shape).astype(np.float32) for shape in ((ROWS, n), (n, COLUMNS)))
    if positive:
        x, y = np.abs(x), np.abs(y)
    shadow = shadow_of(dot(n, "f32").replace("x5x", f"x{COLUMNS}x"), [x, y])
    for truncates in (False, True):
        result = accumulated(x, y, truncates)
        assert np.all(np.abs(result - shadow.center) <= shadow.radius) or truncates
        errors, directions = normalised(result, shadow)
        bias, p = bias_of(errors * directions)
        found = p < LEVEL and abs(bias) > SMALLEST_BIAS
        assert found == truncates, (bias, p)
        assert truncates or spread_of(errors)[1] > LEVEL
        assert np.median(1 / np.maximum(np.abs(errors), 1e-9)) <= 50  # how much larger the deviation is than the errors


def test_too_few_bits_are_found_by_their_variance() -> None:
    draw = np.random.default_rng(0)
    n = 1000
    x, y = (draw.standard_normal(shape).astype(np.float32) for shape in ((ROWS, n), (n, COLUMNS)))
    shadow = shadow_of(dot(n, "f32").replace("x5x", f"x{COLUMNS}x"), [x, y])
    short = [((a.view(np.uint32) + 0x400) & 0xFFFFF800).view(np.float32) for a in (x, y)]  # 13 bits
    errors, _ = normalised(accumulated(*short, False), shadow)
    spread, p = spread_of(errors)
    assert spread > 1 and p < LEVEL
