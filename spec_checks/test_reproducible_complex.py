"""Functions of complex<f64> are correctly rounded in the reproducible mode: compared with mpmath and rationals."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

import gmpy2
import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.running_error import nearest_f64
from stablehlo_ref.numerics import complex_elementary, complexes
from stablehlo_ref.numerics.correct_rounding import in_mode
from stablehlo_ref.numerics.exact_sums import nearest

Array = npt.NDArray[Any]

EXACT: dict[str, tuple[ModuleType, Callable[..., Any]]] = {
    "abs": (complexes, abs), "sign": (complexes, lambda z: z / abs(z)), "divide": (complexes, lambda z, w: z / w),
    "exponential": (complex_elementary, mpmath.exp), "log": (complex_elementary, mpmath.log),
    "exponential_minus_one": (complex_elementary, lambda z: mpmath.exp(z) - 1),
    "log_plus_one": (complex_elementary, lambda z: mpmath.log(1 + z)),
    "sine": (complex_elementary, mpmath.sin), "cosine": (complex_elementary, mpmath.cos),
    "tan": (complex_elementary, mpmath.tan), "tanh": (complex_elementary, mpmath.tanh),
    "logistic": (complex_elementary, lambda z: 1 / (1 + mpmath.exp(-z))), "sqrt": (complex_elementary, mpmath.sqrt),
    "rsqrt": (complex_elementary, lambda z: 1 / mpmath.sqrt(z)),
    "cbrt": (complex_elementary, lambda z: mpmath.exp(mpmath.log(z) / 3)),
    "power": (complex_elementary, lambda z, w: mpmath.exp(w * mpmath.log(z))),
    "atan2": (complex_elementary, lambda y, x: -1j * mpmath.log((x + 1j * y) / mpmath.sqrt(x * x + y * y))),
    "sinh": (complex_elementary, mpmath.sinh), "cosh": (complex_elementary, mpmath.cosh),
    "multiply": (complexes, lambda z, w: z * w), "square": (complex_elementary, lambda z: z * z),
    "acos": (complex_elementary, mpmath.acos),
    "acosh": (complex_elementary, mpmath.acosh), "asin": (complex_elementary, mpmath.asin),
    "asinh": (complex_elementary, mpmath.asinh), "atan": (complex_elementary, mpmath.atan),
    "atanh": (complex_elementary, mpmath.atanh),
}  # fmt: skip
BINARY = ("multiply", "divide", "power", "atan2")
BITS = 2500  # so that parts of 1e-300 beside others are seen
LARGEST = 3000  # exponents that are compared
HARD = [1 + 1j, 3 + 4j, -3 + 4j, 1e-200 + 1e-200j, 1e200 + 1e-3j, 1e-160 - 1e-300j, -1 + 1e-9j, 1 + 1e-20j,
        -1e-300 + 1e-160j, 700 + 2j, 2 + 1j, -2.5 - 1e-18j, 1e5 + 1e5j, 1e-9 + 1e-4j, -5e-9 + 1e-4j,
        0.6 + 0.8j]  # fmt: skip
EXPONENTS = [2, 2, 3, 1j, 0.5, 2, 1, 2 + 1j, 2, 0.1, 3, 2, 1, 4, 0.5, 1e10j]


def operands(op: str) -> list[Array]:
    g = np.random.default_rng(sorted(EXACT).index(op))

    def normal(count: int = 12) -> Array:
        return g.standard_normal(count) + 1j * g.standard_normal(count)

    def draw() -> Array:
        spread = normal() * np.ldexp(1.0, g.integers(-40, 8, 12))
        unit = normal()
        near_circle = unit / abs(unit) * (1 + np.ldexp(normal().real, -g.integers(1, 50, 12)))
        uneven = normal().real + 1j * np.ldexp(normal().real, -g.integers(0, 60, 12))
        return np.concatenate([normal(), 5 * normal(), spread, near_circle, uneven, [100, 1j] * normal()[:2]])

    z = np.concatenate([draw(), HARD])
    if op not in BINARY:
        return [z]
    return [z, np.concatenate([g.permutation(draw()) / 3, EXPONENTS if op == "power" else g.permutation(HARD)])]


def evaluate(op: str, *xs: Array, reproducible: bool = True) -> Array:
    with np.errstate(all="ignore"):
        factory = in_mode(getattr(EXACT[op][0], op), reproducible)
        return factory(np.dtype(np.complex128))(*xs)


@pytest.mark.parametrize("op", EXACT)
def test_parts_are_correctly_rounded(op: str) -> None:
    xs = operands(op)
    results = np.asarray(evaluate(op, *xs), complex)
    with mpmath.workprec(BITS):
        for result, *row in zip(results.tolist(), *(x.tolist() for x in xs)):
            exact = mpmath.mpc(EXACT[op][1](*map(mpmath.mpc, row)))
            for actual, part in ((result.real, exact.real), (result.imag, exact.imag)):
                if not part or abs(mpmath.mag(part)) < LARGEST:
                    assert actual == nearest_f64(part), (op, row, result)


MPC: dict[str, Callable[..., Any]] = {
    "exponential": gmpy2.exp, "log": gmpy2.log, "sine": gmpy2.sin, "cosine": gmpy2.cos, "tan": gmpy2.tan,
    "tanh": gmpy2.tanh, "sqrt": gmpy2.sqrt, "sinh": gmpy2.sinh, "cosh": gmpy2.cosh, "acos": gmpy2.acos,
    "acosh": gmpy2.acosh, "asin": gmpy2.asin, "asinh": gmpy2.asinh, "atan": gmpy2.atan, "atanh": gmpy2.atanh,
}  # fmt: skip


@pytest.mark.parametrize("op", MPC)
def test_parts_are_those_of_mpc(op: str) -> None:
    """MPC rounds both parts correctly, to 53 bits."""
    (z,) = operands(op)
    results = np.asarray(evaluate(op, z), complex)
    with gmpy2.context(precision=53):
        for result, operand in zip(results.tolist(), z.tolist()):
            exact = MPC[op](gmpy2.mpc(operand))
            for actual, part in ((result.real, exact.real), (result.imag, exact.imag)):
                assert actual == part or not 1e-290 < abs(part) < 1e308, (operand, result)


@pytest.mark.parametrize("op", ["acos", "acosh", "asin", "asinh", "atan", "atanh"])
def test_inverse_functions_near_branch_points_and_cuts(op: str) -> None:
    g = np.random.default_rng(len(op))
    near, small = (np.ldexp(g.uniform(-1, 1, 30), -g.integers(1, n, 30)) for n in (50, 60))
    z = np.sign(g.uniform(-1, 1, 30)) + near + 1j * small
    z = np.concatenate([z, 1j * z, 3 * near + 1j * small, np.ldexp(1 / small, 4) + 1j * near])
    with mpmath.workprec(400):
        for result, operand in zip(evaluate(op, z).tolist(), z.tolist()):
            exact = EXACT[op][1](mpmath.mpc(operand))
            assert (result.real, result.imag) == (nearest_f64(exact.real), nearest_f64(exact.imag)), operand


def test_atan2_near_poles_and_cuts() -> None:
    """Operands with x close to iy and -iy, with x**2 + y**2 close to the cut of its root, and angles close to pi."""
    g = np.random.default_rng(0)
    y = g.standard_normal(90) + 1j * g.standard_normal(90)
    small = np.ldexp(g.standard_normal(90), -g.integers(1, 60, 90))
    flat = g.standard_normal(90) + 1j * small
    pairs = [(y, 1j * np.copysign(1, small) * y * (1 + small)), (1j * flat, flat / 2), (flat * small, -abs(flat.real))]
    y, x = (np.concatenate(zs) for zs in zip(*pairs))
    with mpmath.workprec(400):
        for i, result in enumerate(evaluate("atan2", y, x).tolist()):
            v, w = mpmath.mpc(complex(y[i])), mpmath.mpc(complex(x[i]))
            if norm := v * v + w * w:
                exact = -1j * mpmath.log((w + 1j * v) / mpmath.sqrt(norm))
                assert (result.real, result.imag) == (nearest_f64(exact.real), nearest_f64(exact.imag))


@pytest.mark.parametrize("op", ["exponential", "exponential_minus_one", "logistic", "sinh", "cosh", "tanh"])
def test_huge_angles_are_reduced_exactly(op: str) -> None:
    z = np.array([2.0**1022 * 1j, 0.1 - 1.7976931348623157e308j, -3 + 1e22j])
    with mpmath.workprec(BITS):
        for result, operand in zip(evaluate(op, z).tolist(), z.tolist()):
            exact = EXACT[op][1](mpmath.mpc(operand))
            assert (result.real, result.imag) == (nearest_f64(exact.real), nearest_f64(exact.imag)), operand


def test_products_of_infinities_are_not_nan_because_finite_products_overflow() -> None:
    """(ac - bd) + (ad + bc)i, of which bd or the finite part of ad overflows in f64."""
    z, w = np.array([complex(np.inf, -1e308)]), np.array([complex(1e-308, -700)])
    assert evaluate("multiply", z, w)[0] == complex(np.inf, -np.inf)


@pytest.mark.parametrize("op", EXACT)
def test_special_operands_give_the_values_of_the_default_mode(op: str) -> None:
    """Zeros, infinities, NaNs and poles are those of Annex G, with the signs of zeros."""
    special = [0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, np.nan]
    z = np.array([complex(a, b) for a in special for b in special])
    xs = [x.ravel() for x in np.meshgrid(z, z)] if op in BINARY else [z]
    default, results = (evaluate(op, *xs, reproducible=flag) for flag in (False, True))
    tolerance = 0.0
    if op == "atan2":  # a formula with rounding errors in the default mode, also of the side of its branch cut
        off_cut, tolerance = np.abs(results.real) != np.pi, 1e-15
        default, results = default[off_cut], results[off_cut]
    for actual, expected in ((results.real, default.real), (results.imag, default.imag)):
        np.testing.assert_allclose(actual, expected, rtol=1e-15, atol=tolerance)
        given = ~np.isnan(expected) & ((np.abs(expected) > tolerance) | (tolerance == 0))
        np.testing.assert_array_equal(np.signbit(actual)[given], np.signbit(expected)[given])


@pytest.mark.parametrize("op", ["exponential", "logistic"])
def test_zeros_keep_their_signs_where_the_other_part_underflows(op: str) -> None:
    """The imaginary part of either is e**-800 sin(-0), but for a positive factor."""
    result = evaluate(op, np.array([complex(-800, -0.0), complex(-800, 0.0)]))
    np.testing.assert_array_equal(result, 0)
    np.testing.assert_array_equal(np.signbit(result.real), False)
    np.testing.assert_array_equal(np.signbit(result.imag), [True, False])


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(EXACT)), *[st.floats(allow_nan=False, allow_infinity=False)] * 4)
def test_any_operands_have_a_result(op: str, a: float, b: float, c: float, d: float) -> None:
    """Extreme operands neither raise nor give NaN, unless they are poles."""
    z = np.array([complex(a, b), complex(1.5, b)])
    result = np.asarray(evaluate(op, *([z, np.array([complex(c, d), complex(c, 0)])] if op in BINARY else [z])))
    assert op in BINARY or not np.isnan(result).any() or 0 in (a, b)


def test_powers_with_huge_exponents_have_their_angle() -> None:
    z, w = 0.6 + 0.8j, complex(1e150, 0.0)
    result = evaluate("power", np.array([z]), np.array([w]))[0]
    with mpmath.workprec(BITS):
        exact = mpmath.exp(mpmath.mpc(w) * mpmath.log(mpmath.mpc(z)))
        if abs(mpmath.mag(exact)) < LARGEST:
            assert result == complex(nearest_f64(exact.real), nearest_f64(exact.imag))
    z = np.array([1j, 1 + 1j])
    np.testing.assert_array_equal(evaluate("power", z, np.array([1e15 + 1, 8 + 0j])), [1j, 16])


QUOTIENT = sr.parse("""func.func @main(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>) -> tensor<complex<f64>> {
  %0 = stablehlo.divide %a, %b : tensor<complex<f64>>
  return %0 : tensor<complex<f64>> }""")


@settings(max_examples=200, deadline=None)
@given(*[st.floats(allow_nan=False, allow_infinity=False)] * 4)
def test_quotients_are_exact_and_rounded_once(a: float, b: float, c: float, d: float) -> None:
    if not c and not d:
        return
    result = QUOTIENT.run(complex(a, b), complex(c, d), reproducible=True)[0]
    f, g, h, i = map(Fraction, (a, b, c, d))
    norm = h * h + i * i
    assert (result.real, result.imag) == (nearest((f * h + g * i) / norm), nearest((g * h - f * i) / norm))


def test_real_powers_are_correctly_rounded() -> None:
    """As powers of real numbers, with a zero imaginary part; also of scalars, and beside others."""
    z = np.array([3, -3, 2.0**27 + 1, 0.7, -2.5, 1e200, -1e-200, 2, -2])
    w = np.array([5, -3, 2, 0.3, 7, 2, 3, -0.5, 0.5])
    with mpmath.workprec(BITS):
        powers = [mpmath.mpc(a) ** mpmath.mpf(b) for a, b in zip(z, w)]
        expected = np.array([complex(nearest_f64(x.real), nearest_f64(x.imag)) for x in powers])
        expected[-1] = complex(0, nearest_f64(mpmath.sqrt(2)))
    result = np.asarray(evaluate("power", z + 0j, w + 0j))
    np.testing.assert_array_equal(result, expected)
    assert evaluate("power", np.array(3 + 0j), np.array(5 + 0j)) == 243
