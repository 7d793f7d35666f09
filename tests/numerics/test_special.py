"""Test special functions: values from tables and closed forms, and agreement of scalars and arrays of all sizes."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import mpmath
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.numerics import (
    complex_elementary,
    elementary,
    floats,
    multiple_precision,
    special,
    special_functions,
)
from stablehlo_ref.numerics.correct_rounding import EIGHT_ULP
from stablehlo_ref.numerics.dtypes import BFLOAT16, COMPLEX64, COMPLEX128, FLOAT16, FLOAT32, FLOAT64
from stablehlo_ref.numerics.libm import IS_WIDE

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # as in the interpreter

EULER = 0.5772156649015329
UNARY = {
    "acos": elementary.acos,
    "acosh": elementary.acosh,
    "asin": elementary.asin,
    "asinh": elementary.asinh,
    "atan": elementary.atan,
    "atanh": elementary.atanh,
    "bessel_i1e": special.bessel_i1e,
    "cosh": elementary.cosh,
    "digamma": special.digamma,
    "erf": special.erf,
    "erf_inv": special.erf_inv,
    "erfc": special.erfc,
    "lgamma": special.lgamma,
    "sinh": elementary.sinh,
    "square": floats.square,
}

# Values with closed forms, or from the tables of Abramowitz and Stegun.
KNOWN = [
    ("digamma", 1.0, -EULER),
    ("digamma", 0.5, -EULER - 2 * math.log(2)),
    ("digamma", 0.25, -EULER - math.pi / 2 - 3 * math.log(2)),
    ("digamma", 10.0, -EULER + sum(1 / k for k in range(1, 10))),
    ("digamma", -0.5, -EULER - 2 * math.log(2) + 2),
    ("erf", 0.5, 0.5204998778130465),
    ("erf", 2.0, 0.9953222650189527),
    ("erfc", 2.0, 0.004677734981047266),
    ("erf_inv", 0.5, 0.4769362762044699),
    ("lgamma", 0.5, 0.5 * math.log(math.pi)),
    ("lgamma", 5.0, math.log(24.0)),
    ("lgamma", 30.0, math.log(math.factorial(29))),
    ("lgamma", -0.5, math.log(2 * math.sqrt(math.pi))),
    ("lgamma", -1.5, math.log(4 * math.sqrt(math.pi) / 3)),
    ("bessel_i1e", 1.0, 0.2079104153497085),
    ("bessel_i1e", 10.0, 0.12126268138445552),
]


# The errors in f64 that kernels of f32 allow for: relative, and absolute where terms cancel.
ERRORS = {
    "bessel_i1e": (EIGHT_ULP, 0.0), "digamma": (EIGHT_ULP, 2.0**-42), "erf": (2.0**-48, 0.0), "erfc": (2.0**-48, 0.0),
    "erf_inv": (2.0**-48, 0.0), "lgamma": (EIGHT_ULP, 2.0**-42),
}  # fmt: skip


@pytest.mark.skipif(not IS_WIDE, reason="long double is not wider than f64")
@pytest.mark.parametrize("name", ERRORS)
def test_errors_in_f64_are_within_bounds(name: str) -> None:
    """Of f32 numbers of all magnitudes, near poles, and near 1, compared with long double."""
    rng = np.random.default_rng(2)
    near = -rng.integers(-1, 130, 50_000) + np.exp2(rng.uniform(-24, -1, 50_000)) * rng.choice([-1, 1], 50_000)
    bits = rng.integers(0, 1 << 32, 200_000, dtype=np.uint32).view(np.float32)
    parts = bits, near, rng.uniform(-20, 20, 100_000), rng.uniform(-1, 1, 50_000)
    x = np.concatenate([part.astype(np.float32) for part in parts]).astype(np.float64)
    function, (relative, absolute) = getattr(special_functions, name), ERRORS[name]
    expected = function(x.astype(np.longdouble))
    tested = np.isfinite(expected) & (np.abs(expected) > 2.0**-150)
    assert tested.sum() > 50_000
    error = np.abs(function(x) - expected)[tested] - relative * np.abs(expected)[tested]
    assert error.max() <= absolute
    if for_single := getattr(special, f"_{name}", None):
        limits = {"erf": (-4, 4), "erfc": (-4, 10.5), "erf_inv": (-1, 1)}[name]
        tested &= (x >= limits[0]) & (x <= limits[1])
        assert np.abs(for_single(x) / expected - 1)[tested].max() <= special.ERROR


@pytest.mark.parametrize(("name", "x", "expected"), KNOWN)
def test_matches_known_values(name: str, x: float, expected: float) -> None:
    assert UNARY[name](FLOAT64)(np.float64(x)) == pytest.approx(expected, rel=6e-16)
    assert UNARY[name](FLOAT32)(np.array([x], np.float32)) == pytest.approx(np.float32(expected), rel=1e-7)


def test_erfc_is_within_its_stated_error() -> None:
    """Numbers where the errors of exponential, polynomial and quotient add up, and the ends of intervals."""
    x = np.array([17.857670287552885, 5.056297621967403, 18.014305490602375, 2.9490017150976082, 0.999232845772092,
                  1.0000000000000002, 2.0, 4.0, 26.543, 26.6, 27.2, -0.5])  # fmt: skip
    for value, result in zip(x, special.erfc(FLOAT64)(x)):
        with mpmath.workprec(120):
            exact = mpmath.erfc(float(value))
            error = abs(mpmath.mpf(float(result)) - exact) / np.spacing(float(exact))
        assert error < 2.1, value


def test_zeta_and_polygamma_match_closed_forms() -> None:
    zeta, polygamma = special.zeta(FLOAT64), special.polygamma(FLOAT64)
    s, q = np.array([2.0, 4.0, 2.0, 3.0, 2.0]), np.array([1.0, 1.0, 0.5, 1.0, -0.5])
    apery = 1.2020569031595942
    expected = [math.pi**2 / 6, math.pi**4 / 90, math.pi**2 / 2, apery, math.pi**2 / 2 + 4]
    assert zeta(s, q) == pytest.approx(expected, rel=6e-16)
    n, x = np.array([1.0, 2.0, 3.0, 1.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.5, 1.0])
    assert polygamma(n, x) == pytest.approx(
        [math.pi**2 / 6, -2 * apery, math.pi**4 / 15, math.pi**2 / 2, -EULER], rel=6e-16
    )


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
def test_polygamma_is_symmetric_halfway_between_poles(dtype: np.dtype) -> None:
    """The powers of negative numbers cancel there: by reflection, even derivatives at x and 1 - x are equal."""
    n, x = np.array([[2.0], [6.0], [20.0]], dtype), np.array([-0.5, -1.5, -9.5, -17.5, -100.5], dtype)
    polygamma = special.polygamma(dtype)
    np.testing.assert_allclose(polygamma(n, x), polygamma(n, 1 - x), rtol=4 * np.finfo(dtype).eps)


def test_polygamma_of_high_order_does_not_overflow() -> None:
    """Compare with n! / x**n times 1 / (n) + 1 / (2 x) + ..., for large x."""
    n, x = np.array([100.0, 200.0]), np.array([1e5, 1e4])
    exact = [
        math.exp(math.lgamma(k) - k * math.log(y)) * (1 + k / (2 * y) + k * (k + 1) / (12 * y * y))
        for k, y in zip(n, x)
    ]
    assert -special.polygamma(FLOAT64)(n, x) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("semantics", [False, True])
def test_polygamma_at_the_ends_of_the_range(semantics: bool) -> None:
    """Add 1 to huge orders and values: n! / x**n overflows or underflows, with the sign of the order."""
    type = "tensor<8xf64>"
    text = f"""func.func @main(%n: {type}, %x: {type}) -> {type} {{
  %0 = chlo.polygamma %n, %x : {type}, {type} -> {type}
  return %0 : {type}
}}"""
    x = np.array([1e10, 1e100, 1e300, 1.7e308, -1.25, -1.75, -3.0, -1.5])
    n = np.array([1e300] * 7 + [170.0])
    cancelled = -math.exp(math.lgamma(171) - 171 * math.log(2.5))  # terms of -0.5 and 0.5, and of -1.5 and 1.5
    expected = [-np.inf, -np.inf, -0.0, -0.0, np.inf, -np.inf, np.nan, cancelled]
    limits = sr.Limits(max_seconds=100)
    (found,) = sr.load(text).run(n, x, semantics=semantics, limits=limits)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert np.signbit(found[2:4]).all()


def test_zeta_broadcasts_scalars() -> None:
    assert special.zeta(FLOAT64)(np.float64(2.0), np.array([1.0, 2.0])) == pytest.approx(
        [math.pi**2 / 6, math.pi**2 / 6 - 1]
    )


@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16, FLOAT32, FLOAT64], ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_large_arrays_match_scalars(name: str, dtype: np.dtype[Any]) -> None:
    kernel = UNARY[name](dtype)
    x = np.linspace(-9.0, 9.0, 701).astype(dtype)
    x[:5] = [np.inf, -np.inf, np.nan, 0.0, -0.0]
    small = np.concatenate([np.ravel(kernel(part)) for part in np.split(x, 701)])
    large = kernel(np.resize(x, 140_200).reshape(200, 701))
    assert large.dtype == dtype and large.shape == (200, 701)
    np.testing.assert_array_equal(large[7].astype(np.float64), small.astype(np.float64))


@pytest.mark.parametrize("name", UNARY)
def test_accepts_empty_arrays(name: str) -> None:
    assert UNARY[name](FLOAT32)(np.empty((0, 3), np.float32)).shape == (0, 3)


def test_next_after_steps_through_all_numbers() -> None:
    """Step from each number to the next, from the smallest to the largest."""
    for dtype in map(np.dtype, (ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float6_e2m3fn)):
        finite = np.arange(256).astype(np.uint8)[: 64 if "float6" in dtype.name else 256].view(dtype).astype(np.float32)
        numbers = np.unique(finite[np.isfinite(finite)])
        step = floats.next_after(dtype)(
            numbers[:-1].astype(dtype), np.full(numbers.size - 1, numbers[-1]).astype(dtype)
        )
        np.testing.assert_array_equal(step.astype(np.float32), numbers[1:])


def test_complex_square_of_huge_and_tiny_parts() -> None:
    huge = np.finfo(np.float64).max
    squares = complex_elementary.square(COMPLEX128)(
        np.array([complex(huge, huge), complex(huge, 1.0), complex(1e-200, 1e-200)])
    )
    np.testing.assert_array_equal(squares.real, [0.0, np.inf, 0.0])
    np.testing.assert_array_equal(squares.imag, [np.inf, np.inf, 0.0])


def test_sign_of_zero_selects_side_of_branch_cut() -> None:
    z = np.array([complex(2.0, 0.0), complex(2.0, -0.0), complex(-2.0, 0.0), complex(-2.0, -0.0)], COMPLEX64)
    log = math.log(2 + math.sqrt(3))
    np.testing.assert_allclose(complex_elementary.asin(COMPLEX64)(z).imag, [log, -log, log, -log], rtol=1e-7)
    np.testing.assert_allclose(complex_elementary.acos(COMPLEX64)(z).imag, [-log, log, -log, log], rtol=1e-7)


def test_zeta_of_a_huge_order_ends() -> None:
    ctx = multiple_precision.context()
    assert multiple_precision.nearest_f64(multiple_precision.zeta(ctx.mpf(10) ** 30, ctx.mpf(2)))[0] == 0
