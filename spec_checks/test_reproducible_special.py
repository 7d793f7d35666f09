"""Special functions of f64 are correctly rounded in the reproducible mode: compared with mpmath on extreme operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest

from spec_checks.oracles.rounding import nearest_f64
from stablehlo_ref import mode
from stablehlo_ref.numerics import multiple_precision_special as precise
from stablehlo_ref.numerics import special_error, special_gamma
from stablehlo_ref.numerics.portable.special import SPECIAL

Array = npt.NDArray[np.float64]

EXACT: dict[str, Callable[..., Any]] = {
    "erf": mpmath.erf, "erfc": mpmath.erfc, "erf_inv": mpmath.erfinv,
    "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))) if abs(x) < 1e4 else mpmath.re(mpmath.loggamma(x)),
    "digamma": mpmath.digamma,
}  # fmt: skip
BITS = 2800  # so that what cancels against 1 is seen, and exp(-27**2)
COUNT = 12


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
    huge = [1e308, 2.5e305, 2.6e305, 1e15, 1e5]
    return np.concatenate([tiny, 60 * np.abs(signed), -100 * np.abs(signed), poles, zeros, huge])


@pytest.mark.parametrize("op", EXACT)
def test_functions_are_correctly_rounded(op: str) -> None:
    x = operands(op)
    with mpmath.workprec(BITS):
        expected = [nearest_f64(EXACT[op](mpmath.mpf(v))) for v in x.tolist()]
    np.testing.assert_array_equal(SPECIAL[getattr(precise, op)](x), np.array(expected))


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
    ],
)  # fmt: skip
def test_special_operands(op: str, x: list[float], expected: list[float]) -> None:
    """Poles, infinities, zeros and NaNs give what they give in the default mode."""
    factory = getattr(special_gamma if op in ("lgamma", "digamma") else special_error, op)
    for reproducible in (False, True):
        with mode.in_force(mode.Mode(reproducible)), np.errstate(all="ignore"):
            results = factory(np.dtype(np.float64))(np.array(x))
        np.testing.assert_array_equal(results, expected)
        given = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(results)[given], np.signbit(expected)[given])
