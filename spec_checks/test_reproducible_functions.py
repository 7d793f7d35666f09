"""Elementary functions of f64 are correctly rounded in the reproducible mode: compared with mpmath to 250 bits."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.running_error import nearest_f64
from stablehlo_ref.numerics import elementary
from stablehlo_ref.numerics.correct_rounding import in_mode
from stablehlo_ref.numerics.exact_sums import nearest

Array = npt.NDArray[np.float64]

EXACT: dict[str, Callable[..., Any]] = {
    "exponential": mpmath.exp, "exponential_minus_one": mpmath.expm1, "exp2": lambda x: mpmath.power(2, x),
    "log": mpmath.log, "log2": lambda x: mpmath.log(x) / mpmath.log(2), "log10": mpmath.log10,
    "log_plus_one": mpmath.log1p, "logistic": lambda x: 1 / (1 + mpmath.exp(-x)), "tanh": mpmath.tanh,
    "sinh": mpmath.sinh, "cosh": mpmath.cosh, "asinh": mpmath.asinh, "acosh": mpmath.acosh, "atanh": mpmath.atanh,
    "sine": mpmath.sin, "cosine": mpmath.cos, "tan": mpmath.tan, "asin": mpmath.asin, "acos": mpmath.acos,
    "atan": mpmath.atan, "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), "power": mpmath.power, "atan2": mpmath.atan2,
}  # fmt: skip
COUNT = 150


def operands(op: str) -> list[Array]:
    """Draw operands: of moderate size, close to 1, and with all exponents that the function takes."""
    g = np.random.default_rng(sorted(EXACT).index(op))
    signed = g.uniform(-1, 1, COUNT)
    spread = np.ldexp(signed, g.integers(-60, 9, COUNT))
    match op:
        case "power":
            squares = g.integers(1 << 26, 1 << 27, COUNT).astype(float)  # many of their squares are ties
            return [np.concatenate([np.exp(5 * signed), -np.abs(spread), squares]),
                    np.concatenate([g.uniform(-60, 60, COUNT), g.integers(-9, 9, COUNT).astype(float),
                                    np.full(COUNT, 2.0)])]  # fmt: skip
        case "atan2":
            return [np.concatenate([signed, spread]), np.concatenate([g.uniform(-1, 1, COUNT), signed])]
        case "asin" | "acos" | "atanh":
            return [np.concatenate([signed, 1 - np.ldexp(np.abs(signed), -g.integers(1, 50, COUNT))])]
        case "acosh":
            return [1 + np.ldexp(np.abs(signed), g.integers(-50, 50, COUNT))]
        case "log" | "log2" | "log10" | "rsqrt":
            near_one = 1 + np.ldexp(signed, -g.integers(1, 50, COUNT))
            return [np.concatenate([np.exp(700 * signed), near_one, 2.0 ** np.arange(-9, 9), 10.0 ** np.arange(23)])]
        case "log_plus_one":
            return [np.concatenate([signed, np.abs(spread)])]
        case "sine" | "cosine" | "tan":
            near_zero = np.arange(1, COUNT) * (np.pi / 2)
            return [np.concatenate([10 * signed, 1e6 * signed, spread, near_zero, [1e22, 1e300, 2.0**20]])]
        case "exponential" | "exp2" | "sinh" | "cosh" | "exponential_minus_one" | "logistic":
            return [np.concatenate([690 * signed, signed, spread])]
    return [np.concatenate([20 * signed, spread])]


def evaluate(op: str, *xs: Array) -> Array:
    """Return the results of a function in the reproducible mode."""
    with np.errstate(all="ignore"):
        return np.asarray(in_mode(getattr(elementary, op), reproducible=True)(np.dtype(np.float64))(*xs))


@pytest.mark.parametrize("op", EXACT)
def test_functions_are_correctly_rounded(op: str) -> None:
    xs = operands(op)
    results = evaluate(op, *xs)
    with mpmath.workprec(1400 if op in ("sine", "cosine", "tan") else 250):
        expected = [nearest_f64(EXACT[op](*map(mpmath.mpf, row))) for row in zip(*(x.tolist() for x in xs))]
    np.testing.assert_array_equal(results, np.array(expected))


@pytest.mark.parametrize("op", sorted({*EXACT} - {"rsqrt", "acosh"}))
def test_special_operands_give_the_values_of_the_default_mode(op: str) -> None:
    """Zeros, infinities, NaNs and results that overflow or vanish are those of C."""
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-310, -1e-310, 1e4, -1e4])
    xs = [special] if op not in ("power", "atan2") else [x.ravel() for x in np.meshgrid(special, special)]
    default = {name: getattr(np, NUMPY.get(name, name), None) for name in [op]}[op]
    with np.errstate(all="ignore"):
        expected = default(*xs) if default else 1 / (1 + np.exp(-xs[0]))
    results = evaluate(op, *xs)
    np.testing.assert_allclose(results, expected, rtol=1e-15, atol=0)
    np.testing.assert_array_equal(np.signbit(results)[~np.isnan(results)], np.signbit(expected)[~np.isnan(results)])


NUMPY = {
    "exponential": "exp", "exponential_minus_one": "expm1", "log_plus_one": "log1p", "sine": "sin", "cosine": "cos",
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh", "atanh": "arctanh",
}  # fmt: skip


PRODUCT = sr.parse("""func.func @main(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>) -> tensor<complex<f64>> {
  %0 = stablehlo.multiply %a, %b : tensor<complex<f64>>
  return %0 : tensor<complex<f64>> }""")


@settings(max_examples=200, deadline=None)
@given(*[st.floats(allow_nan=False, allow_infinity=False)] * 4)
def test_complex_products_are_exact_and_rounded_once(a: float, b: float, c: float, d: float) -> None:
    result = PRODUCT.run(complex(a, b), complex(c, d), reproducible=True)[0]
    f, g, h, i = map(Fraction, (a, b, c, d))
    assert (result.real, result.imag) == (nearest(f * h - g * i), nearest(f * i + g * h))


@pytest.mark.parametrize("fast", [True, False])
def test_chains_of_complex_functions_are_correctly_rounded(fast: bool) -> None:
    program = sr.parse("""func.func @main(%x: tensor<9xcomplex<f64>>) -> tensor<9xcomplex<f64>> {
      %0 = stablehlo.tanh %x : tensor<9xcomplex<f64>>
      %1 = stablehlo.divide %0, %x : tensor<9xcomplex<f64>>
      %2 = stablehlo.add %1, %x : tensor<9xcomplex<f64>>
      return %2 : tensor<9xcomplex<f64>> }""")
    g = np.random.default_rng(0)
    x = g.standard_normal(9) + 1j * g.standard_normal(9)

    def rounded(z: Any) -> Any:
        return mpmath.mpc(nearest_f64(z.real), nearest_f64(z.imag))

    with mpmath.workprec(400):
        tanh = [rounded(mpmath.tanh(z)) for z in map(mpmath.mpc, x.tolist())]
        quotients = np.array([complex(rounded(t / mpmath.mpc(z))) for t, z in zip(tanh, x.tolist())])
    np.testing.assert_array_equal(program.run(x, reproducible=True, fast=fast)[0], quotients + x)
