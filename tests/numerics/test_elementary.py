"""Compare elementary.py with mpmath, and special values with IEEE-754 and C99."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from exact import assert_same

from stablehlo_ref.numerics import elementary
from stablehlo_ref.numerics.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64

INF, NAN = math.inf, math.nan

EXACT = {
    "exponential": mpmath.exp,
    "exponential_minus_one": mpmath.expm1,
    "log": mpmath.log,
    "log_plus_one": mpmath.log1p,
    "logistic": lambda x: 1 / (1 + mpmath.exp(-x)),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "sine": mpmath.sin,
    "cosine": mpmath.cos,
    "tan": mpmath.tan,
    "tanh": mpmath.tanh,
}
DOMAIN = {"log": 0, "log_plus_one": -1, "rsqrt": 0}


@pytest.fixture(autouse=True)
def precise():
    with np.errstate(all="ignore"), mpmath.workprec(200):
        yield


def samples(dtype, lowest=-INF):
    """Return numbers of all magnitudes, branch points of implementations, and random numbers, all above `lowest`."""
    rng = np.random.default_rng(1)
    limits = np.finfo(np.float32 if dtype != FLOAT64 else np.float64)
    special = [1, 1.5, 0.5, 0.34657359, 0.5493, 20, 36.7, 39.5, 87.5, 88.7, 103.9, 700, 1e4, 3.14159265, 1.57079633]
    sizes = [limits.smallest_subnormal, limits.tiny, 1e-30, 1e-8, 2.0**-28, 1e5, 1e22, limits.max]
    numbers = np.concatenate([special, sizes, rng.uniform(0, 4, 60), np.exp2(rng.uniform(-30, 9, 60))])
    numbers = np.unique(np.concatenate([numbers, -numbers]).astype(dtype))
    return numbers[(numbers > lowest) & np.isfinite(numbers) & (numbers != 0)]


def error(actual, exact, dtype):
    """Return the error in units in the last place of `exact`; infinity counts as the next power of two."""
    limits = np.finfo(dtype)
    exponent = max(mpmath.frexp(exact)[1] - 1, int(limits.minexp)) if exact else int(limits.minexp)
    value = mpmath.mpf(float(actual))
    if math.isinf(actual):
        value = mpmath.sign(exact) * mpmath.mpf(2) ** int(limits.maxexp)
    return float(abs(value - exact) / mpmath.mpf(2) ** (exponent - int(limits.nmant)))


def assert_accurate(results, exact, dtype, bound, cases):
    for case, actual, value in zip(cases, results, exact):
        if abs(value) < mpmath.mpf(2) ** (int(np.finfo(dtype).maxexp)):
            assert error(actual, value, dtype) <= bound, (case, actual, value)
        else:
            assert actual == math.copysign(INF, value), (case, actual, value)


@pytest.mark.parametrize("dtype, bound", [(FLOAT16, 0.5), (FLOAT32, 0.5001), (FLOAT64, 1.0)])
@pytest.mark.parametrize("name", EXACT)
def test_unary_functions_are_accurate(name, dtype, bound):
    x = samples(dtype, DOMAIN.get(name, -INF))
    exact = [EXACT[name](mpmath.mpf(float(v))) for v in x]
    results = getattr(elementary, name)(dtype)(x)
    assert_accurate(results, exact, dtype, bound, x)
    assert_same(getattr(elementary, name)(dtype)(np.resize(x, 4000))[: len(x)], results)  # may compute in another way


@pytest.mark.parametrize("dtype, bound", [(FLOAT16, 0.5), (FLOAT32, 0.5001), (FLOAT64, 1.0)])
def test_atan2_and_power_are_accurate(dtype, bound):
    x, y = (side.ravel() for side in np.meshgrid(samples(dtype)[::11], samples(dtype)[::7]))
    exact = [mpmath.atan2(float(b), float(a)) for a, b in zip(x, y)]
    assert_accurate(elementary.atan2(dtype)(y, x), exact, dtype, bound, list(zip(y, x)))
    x, y = (side.ravel() for side in np.meshgrid(samples(dtype, 0)[::7], samples(dtype)[::7]))
    exact = [mpmath.mpf(float(a)) ** mpmath.mpf(float(b)) for a, b in zip(x, y)]
    assert_accurate(elementary.power(dtype)(x, y), exact, dtype, bound, list(zip(x, y)))


@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16, FLOAT32, FLOAT64])
@pytest.mark.parametrize(
    "name, cases",
    [
        ("exponential", [(INF, INF), (-INF, 0.0), (0.0, 1), (-0.0, 1)]),
        ("exponential_minus_one", [(INF, INF), (-INF, -1), (0.0, 0.0), (-0.0, -0.0)]),
        ("log", [(INF, INF), (0.0, -INF), (-0.0, -INF), (1, 0.0), (-1, NAN), (-INF, NAN)]),
        ("log_plus_one", [(INF, INF), (-1, -INF), (0.0, 0.0), (-0.0, -0.0), (-2, NAN)]),
        ("logistic", [(INF, 1), (-INF, 0.0), (0.0, 0.5), (-0.0, 0.5), (6e4, 1), (-6e4, 0.0)]),
        ("cbrt", [(INF, INF), (-INF, -INF), (0.0, 0.0), (-0.0, -0.0), (-27, -3), (64, 4)]),
        ("rsqrt", [(INF, 0.0), (0.0, INF), (-0.0, -INF), (-1, NAN), (-INF, NAN), (16, 0.25)]),
        ("sine", [(INF, NAN), (-INF, NAN), (0.0, 0.0), (-0.0, -0.0)]),
        ("cosine", [(INF, NAN), (-INF, NAN), (0.0, 1), (-0.0, 1)]),
        ("tan", [(INF, NAN), (-INF, NAN), (0.0, 0.0), (-0.0, -0.0)]),
        ("tanh", [(INF, 1), (-INF, -1), (0.0, 0.0), (-0.0, -0.0), (100, 1)]),
    ],
)
def test_special_values(name, cases, dtype):
    x, expected = (np.array(column, dtype) for column in zip(*cases, (NAN, NAN)))
    kernel = getattr(elementary, name)(dtype)
    assert_same(kernel(x), expected)
    assert_same(kernel(np.resize(x, 70_000))[: len(x)], expected)
    assert_same([kernel(v) for v in x], expected)


@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16, FLOAT32, FLOAT64])
def test_special_values_of_power(dtype):
    """See pow in IEEE-754, 9.2.1."""
    cases = [(x, 0.0, 1) for x in (NAN, INF, 0.0, -2)] + [(1, y, 1) for y in (NAN, INF, -INF, 3)]
    cases += [(-1, INF, 1), (-1, -INF, 1), (0.5, INF, 0.0), (0.5, -INF, INF), (2, INF, INF), (2, -INF, 0.0)]
    cases += [(0.0, -3, INF), (-0.0, -3, -INF), (-0.0, -2, INF), (-0.0, 3, -0.0), (-0.0, 2, 0.0), (0.0, -INF, INF)]
    cases += [
        (-INF, 3, -INF),
        (-INF, 2, INF),
        (-INF, -3, -0.0),
        (INF, -1, 0.0),
    ]
    cases += [(-2, 0.5, NAN), (-2, 3, -8), (NAN, 2, NAN), (2, NAN, NAN), (9, 0.5, 3), (4, -1.5, 0.125)]
    x, y, expected = (np.array(column, dtype) for column in zip(*cases))
    assert_same(elementary.power(dtype)(x, y), expected)


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64])
def test_quadrants_of_atan2(dtype):
    pi = math.pi
    cases = [(0.0, 1, 0.0), (-0.0, 1, -0.0), (0.0, -1, pi), (-0.0, -1, -pi), (0.0, -0.0, pi), (-0.0, -0.0, -pi)]
    cases += [(1, 0.0, pi / 2), (-1, -0.0, -pi / 2), (INF, INF, pi / 4), (INF, -INF, 3 * pi / 4), (-INF, INF, -pi / 4)]
    cases += [(0.0, 0.0, 0.0), (1, -INF, pi), (-1, -INF, -pi), (-1, INF, -0.0), (NAN, 1, NAN), (1, NAN, NAN)]
    y, x, expected = (np.array(column, dtype) for column in zip(*cases))
    assert_same(elementary.atan2(dtype)(y, x), expected)


def test_atan2_rounds_down_just_below_tie():
    """With l the smallest number, atan2(3 l, 2) is just below 1.5 l, which is a tie; atan2(2 l, 2) is just below l."""
    least, atan2 = 2.0**-133, elementary.atan2(BFLOAT16)
    y, x = np.array([3 * least, -3 * least, 2 * least], BFLOAT16), np.array([2, 2, 2], BFLOAT16)
    for actual in (atan2(y, x), atan2(np.tile(y, 30_000), np.tile(x, 30_000))[:3]):
        assert (actual.astype(np.float64) / least).tolist() == [1, -1, 1]


def test_cosine_and_sine_of_f32_near_zeros_are_accurate():
    """Check f32 numbers closest to multiples of pi/2; the last one is the closest of all."""
    quarters = np.array([1, 2, 3, 4, 5, 710, 711, 123456, 9876543], np.float64)
    x = np.append((quarters * (math.pi / 2)), 16367173.0 * 2.0**72).astype(np.float32)
    for name, exact in (("cosine", mpmath.cos), ("sine", mpmath.sin)):
        values = [exact(mpmath.mpf(float(v))) for v in x]
        assert_accurate(getattr(elementary, name)(FLOAT32)(x), values, FLOAT32, 0.5001, x)


def test_exponential_of_f32_underflows_to_zero():
    x = np.array([-103.9, -104.1, -110.5, -1e10, -INF, NAN], np.float32)
    many = np.tile(x, 1000)
    expected = [1e-45, 0, 0, 0, 0, NAN]
    for actual in (elementary.exponential(FLOAT32)(x), elementary.exponential(FLOAT32)(many)[-6:]):
        assert_same(actual, np.array(expected, np.float32))
