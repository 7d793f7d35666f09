"""Elementary functions of f32 are correctly rounded, whatever the last bits of f64 functions are."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import gmpy2
import mpmath
import numpy as np
import pytest

from stablehlo_ref.numerics import (
    elementary,
    multiple_precision,
    special,
)
from stablehlo_ref.numerics.correct_rounding import rounded_to_f32
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
MODULES = (elementary, special)
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


MPFR: dict[str, Callable[..., Any]] = {
    "exponential": gmpy2.exp, "exponential_minus_one": gmpy2.expm1, "exp2": gmpy2.exp2, "log": gmpy2.log,
    "log2": gmpy2.log2, "log10": gmpy2.log10, "log_plus_one": gmpy2.log1p, "cbrt": gmpy2.cbrt,
    "rsqrt": gmpy2.rec_sqrt, "power": lambda x, y: x**y, "logistic": lambda x: 1 / (1 + gmpy2.exp(-x)),
    "sine": gmpy2.sin, "cosine": gmpy2.cos, "tan": gmpy2.tan, "asin": gmpy2.asin, "acos": gmpy2.acos,
    "atan": gmpy2.atan, "atan2": gmpy2.atan2, "sinh": gmpy2.sinh, "cosh": gmpy2.cosh, "tanh": gmpy2.tanh,
    "asinh": gmpy2.asinh, "acosh": gmpy2.acosh, "atanh": gmpy2.atanh,
    "erf": gmpy2.erf, "erfc": gmpy2.erfc, "lgamma": lambda x: gmpy2.lgamma(x)[0], "digamma": gmpy2.digamma,
}  # fmt: skip


def in_mpfr(function: Callable[..., Any], *operands: float) -> Fraction:
    """Return the result of a function of MPFR with 600 bits."""
    with gmpy2.context(precision=600):
        return as_fraction(function(*(gmpy2.mpfr(gmpy2.mpq(*x.as_integer_ratio())) for x in operands)))


def as_fraction(x: Any) -> Fraction:
    numerator, denominator = x.as_integer_ratio()
    return Fraction(int(numerator), int(denominator))


@pytest.mark.parametrize("op", MPFR)
def test_multiple_precision(op: str) -> None:
    """Results have 200 right bits, also for extreme operands."""
    for x in SPECIAL[op][1] if op in SPECIAL else operands_of(op):
        operands = [float(v) for v in np.atleast_1d(x)]
        actual = getattr(multiple_precision, op)(*map(multiple_precision.context().mpf, operands))
        expected = in_mpfr(MPFR[op], *operands)
        assert abs(as_fraction(actual) - expected) <= abs(expected) / 2**200, operands


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0x1.8p-1074", 2 * 2.0**-1074), ("0x0.8p-1074", 0.0), ("0x0.80001p-1074", 2.0**-1074),
        ("0x1.fffffffffffff7ffp+1023", 1.7976931348623157e308), ("0x1.fffffffffffff8p+1023", np.inf),
        ("-0x1.00000000000008p+0", -1.0), ("-0x1.000000000000080001p+0", -(1 + 2.0**-52)), ("-0x1p-9999", -0.0),
        ("0x1.00000000000018p-1022", 2.0**-1022 * (1 + 2.0**-51)), ("0x1.0000000000001p-1023", 2.0**-1023),
    ],
)  # fmt: skip
def test_numbers_are_rounded_once(text: str, expected: float) -> None:
    """To the nearest f64, ties to even, also to subnormal ones."""
    mantissa, _, exponent = text.partition("p")
    whole, _, digits = mantissa.lstrip("-").removeprefix("0x").partition(".")
    ctx = multiple_precision.context()
    value = ctx.ldexp(int(whole + digits, 16), int(exponent) - 4 * len(digits))
    result = multiple_precision.nearest_f64(-value if text[0] == "-" else value)[0]
    assert (result, np.signbit(result)) == (expected, np.signbit(expected))


def test_threads_do_not_share_a_precision() -> None:
    with multiple_precision.context().workprec(20), ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: multiple_precision.context().prec).result() == multiple_precision.BITS


SPECIAL: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "erf": (mpmath.erf, [1e-30, 1e-3, 0.5, 3.9, -2.0]),
    "erfc": (mpmath.erfc, [1e-3, 0.5, 9.9, -2.0, -5.0, 20.0]),
    "erf_inv": (mpmath.erfinv, [0.3, -0.7, 0.999999, 1e-20, -0.9999999999]),
    "lgamma": (lambda x: mpmath.re(mpmath.loggamma(x)), [1e-300, 0.1, 0.5, 1.00001, 2.5, 3e38, -1e-8, -12345.678]),
    "digamma": (mpmath.digamma, [0.1, 0.5, 1.4616321449683625, 1e10, -0.5040830082644554, -12345.678]),
    "zeta": (mpmath.zeta, [(1.5, 0.3), (20.0, 3.0), (1.0001, 100.0), (3.0, -2.5), (50.0, 1.5), (2.0, 1e10)]),
    "polygamma": (lambda n, x: mpmath.polygamma(int(n), x), [(0, 1.5), (1, 0.3), (5, 100.0), (2, -34.3), (250, 90.0)]),
}


@pytest.mark.parametrize("op", ["zeta", "polygamma"])
def test_series_in_multiple_precision(op: str) -> None:
    exact, operands = SPECIAL[op]
    with mpmath.workdps(140):
        for x in operands:
            actual = getattr(multiple_precision, op)(*map(multiple_precision.context().mpf, x))
            assert mpmath.almosteq(actual, exact(*map(mpmath.mpf, x)), rel_eps=mpmath.mpf("1e-58")), x


@pytest.mark.parametrize("x", SPECIAL["erf_inv"][1])
def test_erf_inv_in_multiple_precision(x: float) -> None:
    """With y = erf_inv(x), erf(y) is x: an error of y is at most that times 1 + 2 y**2 in x."""
    y = multiple_precision.erf_inv(multiple_precision.context().mpf(x))
    error = abs(in_mpfr(gmpy2.erf, y) - Fraction(x))
    assert error <= Fraction(abs(x)) * (1 + 2 * Fraction(float(y)) ** 2) / 2**200


@pytest.mark.parametrize("x", OPERANDS["bessel_i1e"])
def test_bessel_i1e_in_multiple_precision(x: float) -> None:
    """Sum the power series (Abramowitz and Stegun, 9.6.10) with rationals, or the asymptotic one (9.7.1)."""
    value, total, term = gmpy2.mpq(x), gmpy2.mpq(0), gmpy2.mpq(1)
    if abs(x) < 200:
        for n in range(1, 900):
            total += term
            term *= value * value / (4 * n * (n + 1))
        factor = in_mpfr(lambda x: gmpy2.exp(-abs(x)) * x / 2, x)
    else:
        for n in range(1, 60):
            total += term
            term *= -(4 - gmpy2.mpq(2 * n - 1) ** 2) / (8 * n * abs(value))
        factor = in_mpfr(lambda x: gmpy2.sign(x) / gmpy2.sqrt(2 * gmpy2.const_pi() * abs(x)), x)
    actual = as_fraction(multiple_precision.bessel_i1e(multiple_precision.context().mpf(x)))
    expected = factor * as_fraction(total)
    assert abs(actual - expected) <= abs(expected) / 2**200


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
def test_results_in_doubt_are_computed_again(error: float, shape: tuple[int, ...]) -> None:
    """Results within 2**-51 of a tie are rounded as exact ones, also if the function is off by more than that."""
    x = np.full(shape, 1.0 + 2.0**-24) * (1.0 + 2.0**-52)  # one f64 ULP above a tie of f32
    exact = Fraction(1) + Fraction(2) ** -24 + Fraction(2) ** -52
    assert all(Fraction(v) == exact for v in np.ravel(x).tolist())
    function = rounded_to_f32(lambda x: x * (1.0 + error), lambda x: x)
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
