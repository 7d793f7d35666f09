"""Special functions of f64 are correctly rounded in the reproducible mode: compared with mpmath on extreme operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest

from spec_checks.running_error import nearest_f64
from stablehlo_ref.numerics import elementary, special
from stablehlo_ref.numerics.correct_rounding import in_mode

Array = npt.NDArray[np.float64]

EXACT: dict[str, Callable[..., Any]] = {
    "erf": mpmath.erf, "erfc": mpmath.erfc, "erf_inv": mpmath.erfinv,
    "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))) if abs(x) < 1e4 else mpmath.re(mpmath.loggamma(x)),
    "digamma": mpmath.digamma,
}  # fmt: skip
BITS = 2800  # so that what cancels against 1 is seen, and exp(-27**2)
FEW_BITS = 500  # where nothing cancels against 1
COUNT = 24


def operands(op: str) -> Array:
    """Draw operands: of moderate size, of all exponents, subnormal, and close to zeros, poles and limits."""
    g = np.random.default_rng(sorted(EXACT).index(op))
    signed = g.uniform(-1, 1, COUNT)
    tiny = np.concatenate([np.ldexp(signed, g.integers(-1070, -1, COUNT)), [5e-324, -5e-324, 1e-310]])
    match op:
        case "erf":
            return np.concatenate([tiny, 6 * signed, [5.999, 5.86, -5.92]])
        case "erfc":
            return np.concatenate([tiny, 27.3 * signed, 2.0**-54 * signed, [27.226017111108366, 26.55, -5.9, 27.29]])
        case "erf_inv":
            return np.concatenate([tiny, signed, 1 - np.ldexp(np.abs(signed), -g.integers(1, 52, COUNT))])
    poles = -np.arange(1.0, 1 + COUNT) + np.ldexp(signed, -g.integers(2, 45, COUNT))
    zeros = [
        1 + 2**-52,
        1 - 2**-53,
        2 + 2**-51,
        2 - 2**-52,
        -2.457024738220801,
        1.4616321449683623,
        -0.5040830082644554,
    ]
    huge = [1e308, 2.5e305, 2.6e305, 1e15, 1e5, *np.arange(-30.5, 30.0)]
    return np.concatenate([tiny, 60 * np.abs(signed), -100 * np.abs(signed), poles, zeros, huge])


def evaluate(op: str, *operands: Array) -> Array:
    """Return the results of a function in the reproducible mode."""
    factory = getattr(special, op, None) or getattr(elementary, op)
    with np.errstate(all="ignore"):
        return np.asarray(in_mode(factory, reproducible=True)(np.dtype(np.float64))(*operands))


@pytest.mark.parametrize("op", EXACT)
def test_functions_are_correctly_rounded(op: str) -> None:
    x = operands(op)
    with mpmath.workprec(FEW_BITS if op in ("lgamma", "digamma") else BITS):
        expected = [nearest_f64(EXACT[op](mpmath.mpf(v))) for v in x.tolist()]
    np.testing.assert_array_equal(evaluate(op, x), np.array(expected))


def hurwitz(s: Any, q: Any) -> Any:
    """Return zeta(s, q); below 0 by its value at the distance from the nearest integer, and those of 1 - q."""
    if q > 0:
        return mpmath.zeta(s, q)
    r = q - mpmath.nint(q)
    return r**-s + mpmath.zeta(s, 1 + r) + (-1) ** int(s) * (mpmath.zeta(s, 1 - r) - mpmath.zeta(s, 1 - q))


ZETA = [(1.5, 0.3), (2.0, 1e-150), (3.0, -1e-100), (20.0, 3.0), (2.0, -1.5), (3.0, -2.5), (7.0, -7.3), (2.0, 1e10),
        (1 + 2**-52, 0.7), (50.0, 100.0), (2.0, -1e15 - 0.5), (4.0, 2.0), (2.5, 1e-300), (5.0, -2.9999)]  # fmt: skip
POLYGAMMA = [(0.0, 1.5), (0.0, -0.5), (1.0, 0.3), (1.0, 1e-100), (2.0, -34.3), (5.0, 100.0), (250.0, 90.0),
             (170.0, 0.5), (200.0, -5.2)]  # fmt: skip


def test_zeta_and_polygamma_are_correctly_rounded() -> None:
    with mpmath.workprec(1200):
        zeta = [nearest_f64(hurwitz(mpmath.mpf(s), mpmath.mpf(q))) for s, q in ZETA]
        polygamma = [
            nearest_f64(
                (-1) ** int(n + 1) * mpmath.factorial(int(n)) * hurwitz(mpmath.mpf(n + 1), mpmath.mpf(x))
                if n
                else mpmath.digamma(mpmath.mpf(x))
            )
            for n, x in POLYGAMMA
        ]
    np.testing.assert_array_equal(evaluate("zeta", *np.array(ZETA).T), zeta)
    np.testing.assert_array_equal(evaluate("polygamma", *np.array(POLYGAMMA).T), polygamma)


def polygamma_of_large_order(n: float, x: float) -> float:
    """Return the sum of exponentials of log n! - (n + 1) log(x + k), for even `n` and positive `x`."""
    with mpmath.workdps(400):
        factorial = mpmath.loggamma(mpmath.mpf(n) + 1)
        logs = [factorial - (mpmath.mpf(n) + 1) * mpmath.log(mpmath.mpf(x) + k) for k in range(200)]
        if logs[0] > 1000:
            return -np.inf
        return nearest_f64(-sum(map(mpmath.exp, logs))) if logs[0] > -2000 else -0.0


@pytest.mark.parametrize(
    ("n", "x", "mirrored"),
    [
        (100, -2.5, 3.5), (150, -0.5, 1.5), (170, -0.5, 1.5), (1e6, -367879.5, 367880.5), (1e6, 367879.5, 367879.5),
        (1e17, 3.678794411714423e16, 3.678794411714423e16), (1e17, 1e16, 1e16), (1e17, 1e18, 1e18), (1e100, -0.5, 1.5),
        (1e100, 1e102, 1e102), (1e100, 9e99, 9e99), (1e308, 1e308, 1e308),
    ],
)  # fmt: skip
def test_derivatives_of_even_order(n: float, x: float, mirrored: float) -> None:
    """They are those of 1 - x where terms cancel in pairs, that is, for x = -1/2, -3/2, ..."""
    expected = polygamma_of_large_order(n, mirrored)
    for reproducible in (False, True):
        with np.errstate(all="ignore"):
            polygamma = in_mode(special.polygamma, reproducible)(np.dtype(np.float64))
            result = polygamma(np.array([n]), np.array([x]))[0]
        assert result == expected or (not reproducible and result == np.nextafter(expected, result))
        assert np.signbit(result)


def test_zeta_of_odd_powers_that_cancel_in_pairs() -> None:
    with mpmath.workprec(500):
        expected = nearest_f64(sum(mpmath.mpf(k + 1.5) ** -171 for k in range(60)))
    assert evaluate("zeta", np.array([171.0]), np.array([-0.5])) == expected


@pytest.mark.parametrize("op", ["zeta", "polygamma"])
def test_limits_are_those_of_the_default_mode(op: str) -> None:
    limits = np.array([-np.inf, -3.0, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 170.0, np.inf, np.nan])
    first, second = (x.ravel() for x in np.meshgrid(limits, limits))
    results = []
    for reproducible in (False, True):
        with np.errstate(all="ignore"):
            results.append(in_mode(getattr(special, op), reproducible)(np.dtype(np.float64))(first, second))
    np.testing.assert_allclose(results[1], results[0], rtol=1e-15)


@pytest.mark.parametrize(
    ("op", "x", "expected"),
    [
        ("erf", [0.0, -0.0, 6.0, -6.0, np.inf, -np.inf, np.nan], [0.0, -0.0, 1.0, -1.0, 1.0, -1.0, np.nan]),
        ("erfc", [0.0, 2.0**-55, -6.0, 27.3, np.inf, -np.inf, np.nan], [1.0, 1.0, 2.0, 0.0, 0.0, 2.0, np.nan]),
        ("erf_inv", [0.0, -0.0, 1.0, -1.0, 1.5, np.inf, np.nan], [0.0, -0.0, np.inf, -np.inf, np.nan, np.nan, np.nan]),
        ("lgamma", [0.0, -0.0, 1.0, 2.0, -3.0, -1e300, np.inf, -np.inf, np.nan],
         [np.inf, np.inf, 0.0, 0.0, np.inf, np.inf, np.inf, np.inf, np.nan]),
        ("digamma", [0.0, -0.0, -3.0, -1e300, np.inf, -np.inf, np.nan],
         [-np.inf, np.inf, np.nan, np.nan, np.inf, np.nan, np.nan]),
        ("bessel_i1e", [0.0, -0.0, np.inf, -np.inf, np.nan], [0.0, -0.0, 0.0, -0.0, np.nan]),
    ],
)  # fmt: skip
def test_special_operands(op: str, x: list[float], expected: list[float]) -> None:
    """Poles, infinities, zeros and NaNs give what they give in the default mode."""
    factory = getattr(special, op)
    for reproducible in (False, True):
        with np.errstate(all="ignore"):
            results = in_mode(factory, reproducible)(np.dtype(np.float64))(np.array(x))
        np.testing.assert_array_equal(results, expected)
        given = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(results)[given], np.signbit(expected)[given])


def test_bessel_i1e_is_correctly_rounded() -> None:
    g = np.random.default_rng(0)
    x = np.concatenate([g.uniform(0, 66, 50), np.ldexp(g.uniform(0.5, 1, 30), g.integers(-890, 890, 30))])
    x = np.concatenate([np.copysign(x, g.uniform(-1, 1, x.size)), [5e-324, -1e-322, 1e-300, 1e300, -1.7e308]])
    with mpmath.workprec(400):
        exact = [mpmath.besseli(1, v) * mpmath.exp(-abs(v)) for v in map(mpmath.mpf, x.tolist())]
        np.testing.assert_array_equal(evaluate("bessel_i1e", x), list(map(nearest_f64, exact)))


def test_results_next_to_limits() -> None:
    """Of erf and erfc next to 1, 2 and 0, and of asinh of a huge number."""
    limits = np.array([2.0**-900, 2.0**-55, 6.0, 26.5, 27.2])
    x = np.concatenate([np.nextafter(limits, 0), limits, np.nextafter(limits, 30)])
    x = np.concatenate([x, -x])
    with mpmath.workprec(BITS):
        for op in ("erf", "erfc"):
            np.testing.assert_array_equal(evaluate(op, x), [nearest_f64(EXACT[op](mpmath.mpf(v))) for v in x.tolist()])
        assert evaluate("asinh", np.array([2.0**400])) == nearest_f64(mpmath.asinh(mpmath.mpf(2.0**400)))
