"""Elementary functions of f32 are correctly rounded, whatever the last bits of f64 functions are."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from stablehlo_ref.numerics import (
    elementary,
    math_functions,
    multiple_precision,
    multiple_precision_special,
    special_bessel,
    special_elementary,
    special_error,
    special_gamma,
    special_zeta,
)
from stablehlo_ref.numerics.correct_rounding import certain
from tests.processors import ELEMENTARY
from tests.shared import SHARED

SINGLE = np.dtype(np.float32)
HARD_OPERANDS = [SHARED / "reproducibility" / name for name in ("hard.npz", "hard2.npz")]
EXACT: dict[str, Callable[..., Any]] = {
    "exponential": mpmath.exp, "exponential_minus_one": mpmath.expm1, "log": mpmath.log, "log_plus_one": mpmath.log1p,
    "logistic": lambda x: 1 / (1 + mpmath.exp(-x)), "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x), "power": mpmath.power, "exp2": lambda x: mpmath.power(2, x),
    "log2": lambda x: mpmath.log(x) / mpmath.log(2), "log10": mpmath.log10,
    "sine": mpmath.sin, "cosine": mpmath.cos, "tan": mpmath.tan, "asin": mpmath.asin, "acos": mpmath.acos,
    "atan": mpmath.atan, "atan2": mpmath.atan2, "sinh": mpmath.sinh, "cosh": mpmath.cosh, "tanh": mpmath.tanh,
    "asinh": mpmath.asinh, "acosh": mpmath.acosh, "atanh": mpmath.atanh,
    "bessel_i1e": lambda x: mpmath.sign(x) * mpmath.besseli(1, abs(x)) * mpmath.exp(-abs(x)),
}  # fmt: skip
MODULES = (
    elementary, special_elementary, special_bessel, math_functions, special_error, special_gamma, special_zeta
)  # fmt: skip
OPERANDS = {
    "acosh": [1.0000001, 1.5, 3e10], "asin": [-0.999, 0.3, 1e-3], "acos": [-0.999, 0.3, 1e-3], "atanh": [0.999, -0.01],
    "power": [(1.5, 2.25), (0.3, -7.5), (-1.25, 3.0), (-3.0, 4.0), (1e-30, 1.1)],
    "atan2": [(1.0, 3.0), (3.0, 1.0), (2.0, -5.0), (-2.0, -5.0), (-7.0, 2.0), (-1e-20, 1e10)],
    "bessel_i1e": [1e-3, -2.5, 149.0, -151.0, 1e20],
}  # fmt: skip
POSITIVE = ("log", "log2", "log10", "log_plus_one", "rsqrt")
WIDE = ("sine", "cosine", "tan", "atan", "asinh")


def operands_of(op: str) -> list[Any]:
    moderate = [0.01, 0.7, 1.3, 5.5, 30.0]
    signed = moderate if op in POSITIVE else [*moderate, *(-x for x in moderate)]
    return OPERANDS.get(op, [*signed, 1.7e38] if op in WIDE else signed)


def kernel(op: str, processor: str = "this processor") -> Callable[..., Any]:
    modules = (ELEMENTARY[processor], *MODULES)
    return next(getattr(module, op) for module in modules if hasattr(module, op))(SINGLE)


def correctly_rounded(value: Any) -> np.float32:
    """Return the f32 number nearest to a number of mpmath."""
    near = np.float32(float(value))
    candidates = (np.nextafter(near, SINGLE.type(-np.inf)), near, np.nextafter(near, SINGLE.type(np.inf)))
    return min(candidates, key=lambda x: abs(mpmath.mpf(float(x)) - value))


@pytest.mark.parametrize("op", [op for op in EXACT if hasattr(multiple_precision, op)])
def test_multiple_precision(op: str) -> None:
    """Results to 80 digits have 60 right ones."""
    with mpmath.workdps(120), multiple_precision.working_precision():
        for x in operands_of(op):
            operands = [float(np.float32(v)) for v in np.atleast_1d(x)]
            actual = mpmath.mpf(str(getattr(multiple_precision, op)(*map(Decimal, operands))))
            assert mpmath.almosteq(actual, EXACT[op](*map(mpmath.mpf, operands)), rel_eps=mpmath.mpf("1e-60"))


SPECIAL: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "erf": (mpmath.erf, [1e-30, 1e-3, 0.5, 3.9, -2.0]),
    "erfc": (mpmath.erfc, [1e-3, 0.5, 9.9, -2.0, -5.0, 20.0]),
    "erf_inv": (mpmath.erfinv, [0.3, -0.7, 0.999999, 1e-20, -0.9999999999]),
    "lgamma": (lambda x: mpmath.re(mpmath.loggamma(x)), [1e-300, 0.1, 0.5, 1.00001, 2.5, 3e38, -1e-8, -12345.678]),
    "digamma": (mpmath.digamma, [0.1, 0.5, 1.4616321449683625, 1e10, -0.5040830082644554, -12345.678]),
    "zeta": (mpmath.zeta, [(1.5, 0.3), (20.0, 3.0), (1.0001, 100.0), (3.0, -2.5), (50.0, 1.5), (2.0, 1e10)]),
    "polygamma": (lambda n, x: mpmath.polygamma(int(n), x), [(0, 1.5), (1, 0.3), (5, 100.0), (2, -34.3), (250, 90.0)]),
}


@pytest.mark.parametrize("op", SPECIAL)
def test_special_functions_in_multiple_precision(op: str) -> None:
    exact, operands = SPECIAL[op]
    with mpmath.workdps(140), multiple_precision.working_precision():
        for x in operands:
            values = [float(v) for v in np.atleast_1d(x)]
            actual = mpmath.mpf(str(getattr(multiple_precision_special, op)(*map(Decimal, values))))
            assert mpmath.almosteq(actual, exact(*map(mpmath.mpf, values)), rel_eps=mpmath.mpf("1e-58")), x


def draw(op: str, rng: np.random.Generator, count: int) -> list[Any]:
    """Return operands inside the domain."""
    spread = np.exp2(rng.uniform(-12, 5, count))
    if op == "erf_inv":
        return [rng.uniform(-1, 1, count)]
    if op == "zeta":
        return [1.0 + spread, np.exp2(rng.uniform(-3, 6, count))]
    if op == "polygamma":
        return [rng.integers(0, 8, count).astype(float), spread]
    return [spread if op == "erfc" else spread * rng.choice([-1, 1], count)]


@pytest.mark.parametrize("op", SPECIAL)
def test_special_functions_are_correctly_rounded(op: str) -> None:
    rng = np.random.default_rng(7)
    operands = [x.astype(SINGLE) for x in draw(op, rng, 300)]
    with np.errstate(all="ignore"):
        actual = kernel(op)(*operands)
    with mpmath.workdps(60):
        expected = [
            correctly_rounded(SPECIAL[op][0](*map(mpmath.mpf, row))) for row in zip(*map(np.ndarray.tolist, operands))
        ]
    np.testing.assert_array_equal(actual, np.array(expected, SINGLE))


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 2.0**-60, reason="long double is not wider than f64")
@pytest.mark.parametrize("op", [*SPECIAL, "bessel_i1e", "sinh", "cosh", "asinh", "acosh", "atanh"])
def test_f64_is_within_one_ulp(op: str) -> None:
    rng = np.random.default_rng(8)
    operands = draw(op, rng, 200)
    operands = (
        [1.0 + operands[0] ** 2] if op == "acosh" else [0.99 * np.tanh(operands[0])] if op == "atanh" else operands
    )
    exact = SPECIAL[op][0] if op in SPECIAL else EXACT[op]
    with np.errstate(all="ignore"):
        actual = next(getattr(m, op) for m in MODULES if hasattr(m, op))(np.dtype(np.float64))(*operands)
    with mpmath.workdps(60):
        for x, *row in zip(actual.tolist(), *map(np.ndarray.tolist, operands)):
            error = abs(mpmath.mpf(x) - exact(*map(mpmath.mpf, row))) / mpmath.mpf(float(np.spacing(abs(x))))
            assert error < (1.0 if op == "erf" else 0.6), row


@pytest.mark.skipif(not all(p.exists() for p in HARD_OPERANDS), reason=f"there are no {HARD_OPERANDS}")
@pytest.mark.parametrize("processor", ELEMENTARY)
def test_hard_operands(processor: str) -> None:
    """All operands known whose result is within 6 f64 ULPs of a tie."""
    with mpmath.workdps(60), np.errstate(all="ignore"):  # as in a run
        for operands in map(np.load, HARD_OPERANDS):
            for op in operands.files:
                x, run = operands[op], kernel(op, processor)
                expected = [correctly_rounded(EXACT[op](mpmath.mpf(v))) for v in x.tolist()]
                np.testing.assert_array_equal(run(x), np.array(expected, SINGLE), op)
                large = np.resize(x, 1 << 14)  # may compute in another way
                np.testing.assert_array_equal(run(large), np.resize(np.array(expected, SINGLE), 1 << 14), op)


def test_hardest_operands_of_rsqrt() -> None:
    """Of all mantissas these two give the results nearest to a tie, by 1 and 11 f64 ULPs."""
    x = np.array([float.fromhex("0x1.7431c6p+1"), float.fromhex("0x1.13e07p+1")], SINGLE)
    x = np.concatenate([x, x * SINGLE.type(2.0**40), x * SINGLE.type(2.0**-100)])
    with mpmath.workdps(60):
        expected = [correctly_rounded(EXACT["rsqrt"](mpmath.mpf(v))) for v in x.tolist()]
    np.testing.assert_array_equal(kernel("rsqrt")(x), np.array(expected, SINGLE))


@pytest.mark.parametrize("base", [4097, 4099, 5791])
def test_squares_that_are_ties(base: int) -> None:
    """Odd numbers of 13 bits have squares of 25: an exact result half way between two f32 numbers."""
    square = base * base
    even = square + 1 if (square + 1) % 4 == 0 else square - 1  # the neighbour with an even mantissa
    assert kernel("power")(np.float32(base), np.float32(2)) == even


@pytest.mark.parametrize("error", [2.0**-50, -(2.0**-50)])
@pytest.mark.parametrize("shape", [(), (50,), (7, 3)])
def test_inexact_functions_are_settled(error: float, shape: tuple[int, ...]) -> None:
    """Results within 2**-51 of a tie are rounded as exact ones, also if the function is off by more than that."""
    x = np.full(shape, 1.0 + 2.0**-24) * (1.0 + 2.0**-52)  # one f64 ULP above a tie of f32
    exact = Fraction(1) + Fraction(2) ** -24 + Fraction(2) ** -52
    assert all(Fraction(v) == exact for v in np.ravel(x).tolist())
    function = certain(lambda x: x * (1.0 + error), lambda x: x)
    np.testing.assert_array_equal(function(x[()]).astype(SINGLE), np.full(shape, 1.0 + 2.0**-23, SINGLE))


@pytest.mark.parametrize("processor", ELEMENTARY)
@pytest.mark.parametrize("op", [op for op in EXACT if op not in ("power", "atan2")])
def test_scalars_and_small_arrays_are_as_in_large_arrays(op: str, processor: str) -> None:
    bits = np.random.default_rng(5).integers(0, 1 << 32, 1500, np.uint32)
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 88.8, -103.9, 3e38], SINGLE)
    x = np.concatenate([special, bits.view(SINGLE), np.linspace(-5, 5, 501, dtype=SINGLE)])
    run = kernel(op, processor)
    with np.errstate(all="ignore"):
        large = run(np.resize(x, 1 << 14))[: x.size]  # which tables may compute
        scalars = np.array([run(element) for element in x], SINGLE)
        small = np.concatenate([run(x[start : start + 8]) for start in range(0, len(x), 8)])
    is_nan = np.isnan(large)
    for other in (scalars, small):
        assert np.array_equal(other.view(np.uint32)[~is_nan], large.view(np.uint32)[~is_nan])
        assert np.array_equal(np.isnan(other), is_nan)
