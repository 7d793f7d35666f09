"""Upstream test programs whose checks fail because the expected values are inaccurate.

Upstream disables most of them. The tests compute exact values in rational arithmetic or with mpmath. In every element
that fails the check, the error of the expected value exceeds the check's tolerance, while this interpreter's result is
correctly rounded, or the result of correctly rounded products.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.arrays.results import almost_equal, close
from tests.shared import UPSTREAM, needs_upstream

pytestmark = needs_upstream

TOLERANCE, MAX_ULPS = 1e-3, 3  # of `check.expect_almost_eq` and of `check.expect_close`
HALF = 0.5001  # ULP, the error bound of correct rounding
UNIT = 149  # f32 values are multiples of 2**-149
BITS = 120  # fraction bits of the roots of unity

Numbers = tuple[np.ndarray, ...]


@cache
def run(name: str) -> tuple[Numbers, np.ndarray, np.ndarray]:
    """Return the inputs, the expected and the actual results of a test program whose check must fail."""
    text = (UPSTREAM / "testdata" / f"{name}.mlir").read_text(encoding="utf-8")
    program = sr.parse(text)
    with pytest.raises(sr.EvaluationError, match="elements differ"):
        program.run()
    unchecked = "".join(line for line in text.splitlines(keepends=True) if "@check." not in line)
    inputs, (expected,) = program.with_entry("inputs").run(), program.with_entry("expected").run()
    return inputs, expected, sr.parse(unchecked).run()[0]


def parts(x: np.ndarray) -> np.ndarray:
    """Return complex numbers as pairs of f32 in a new last dimension."""
    return x.view(np.float32).reshape(*x.shape, -1)


def integers(x: np.ndarray) -> np.ndarray:
    """Return f32 values times 2**UNIT as Python integers."""
    return np.frompyfunc(int, 1, 1)(np.ldexp(x.astype(np.float64), UNIT))


def ulps(x: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Return the errors of f32 values in ULPs of the exact ones."""
    nearly = exact.astype(np.float64)
    difference = (np.frompyfunc(rational, 1, 1)(x) - exact).astype(np.float64)
    return np.abs(difference) / np.spacing(np.abs(nearly).astype(np.float32)).astype(np.float64)


def rational(x: Any) -> Fraction:
    if isinstance(x, mpmath.mpf):
        return Fraction(*map(int, mpmath.libmp.to_rational(x._mpf_)))
    return Fraction(float(x))


def exactly(function: Any, *operands: np.ndarray) -> np.ndarray:
    """Evaluate an elementwise complex function with mpmath, as pairs of fractions."""
    with mpmath.workprec(300):
        results = [function(*[mpmath.mpc(complex(x)) for x in xs]) for xs in zip(*(x.flat for x in operands))]
        pairs = [rational(part) for z in results for part in (z.real, z.imag)]
    return np.array(pairs, object).reshape(*operands[0].shape, 2)


def is_beyond(expected: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Return which complex numbers differ from the exact ones by more than TOLERANCE in a part."""
    return (np.abs(np.frompyfunc(rational, 1, 1)(parts(expected)) - exact) > Fraction(TOLERANCE)).any(-1)


# --- elementwise ------------------------------------------------------------------------------------------------------


def test_complex_power_expects_inaccurate_values() -> None:
    operands, expected, actual = run("pow_complex64_20_30_complex64_20_30")
    exact = exactly(mpmath.power, *operands)
    assert ulps(parts(actual), exact).max() < HALF
    failing = ~almost_equal(actual, expected, TOLERANCE)
    assert np.count_nonzero(failing) == 69
    assert is_beyond(expected, exact)[failing].all()
    assert ulps(parts(expected), exact)[failing].max() > 100


def test_complex_sine_expects_inaccurate_values() -> None:
    """The program computes in f32, and TOLERANCE is below the spacing of f32 where it fails."""
    (operand,), expected, actual = run("sin_complex64_20_20")
    exact = exactly(mpmath.sin, operand)
    failing = ~almost_equal(actual, expected, TOLERANCE)
    assert np.argwhere(failing).tolist() == [[1, 19]]
    assert is_beyond(expected, exact)[failing].all()
    (wrong,), (right,) = ulps(parts(expected), exact)[failing], ulps(parts(actual), exact)[failing]
    assert wrong[1] > 0.69 and right[1] < HALF


def hyperbolic(name: str) -> Numbers:
    """Return the exact, the expected and the actual values of a function; the actual ones are correctly rounded."""
    (operand,), expected, actual = run(f"{name}_float32_20_20_chlo")
    with mpmath.workprec(300):
        exact = np.frompyfunc(lambda x: rational(getattr(mpmath, name)(mpmath.mpf(float(x)))), 1, 1)(operand)
    assert ulps(actual, exact).max() < HALF
    return exact, expected, actual


def test_sinh_expects_inaccurate_values() -> None:
    exact, expected, actual = hyperbolic("sinh")
    failing = ~almost_equal(actual, expected, TOLERANCE)
    assert np.count_nonzero(failing) == 4
    assert (np.abs(np.frompyfunc(rational, 1, 1)(expected) - exact)[failing] > Fraction(TOLERANCE)).all()


def test_cosh_expects_inaccurate_values() -> None:
    exact, expected, actual = hyperbolic("cosh")
    failing = ~close(actual, expected, 0, MAX_ULPS)
    assert np.count_nonzero(failing) == 1
    assert (ulps(expected, exact)[failing] > MAX_ULPS).all()


# --- products and sums ------------------------------------------------------------------------------------------------


def test_cumulative_product_expects_inaccurate_values() -> None:
    """No order of correctly rounded products agrees with all of the last row within TOLERANCE."""
    (operand,), expected, actual = run("cumprod_complex64_8_9")
    failing = ~almost_equal(actual, expected, TOLERANCE)
    assert np.argwhere(failing).tolist() == [[6, 3], [7, 3], [7, 5]]
    exact = exactly(lambda *factors: mpmath.fprod(factors), *operand)
    assert is_beyond(expected[7], exact)[failing[7]].all()
    assert (ulps(parts(actual)[7], exact).max(-1) < ulps(parts(expected)[7], exact).max(-1))[failing[7]].all()
    orders: list[set[str]] = []
    for column, wanted, ours in zip(operand.T, expected[7], actual[7]):
        results = products([complex(z) for z in column])
        assert complex(ours) in results
        near = [
            trees for z, trees in results.items() if almost_equal(np.complex128(z), np.complex128(wanted), TOLERANCE)
        ]
        orders.append(set[str]().union(*near))
    assert all(orders) and not set.intersection(*orders)


def products(factors: list[complex]) -> dict[complex, set[str]]:
    """Return the products of factors over all binary trees, rounded to f32 at each node, with their trees."""
    spans: dict[tuple[int, int], dict[complex, set[str]]] = {(i, i + 1): {z: {str(i)}} for i, z in enumerate(factors)}
    for size in range(2, len(factors) + 1):
        for i, j in ((i, i + size) for i in range(len(factors) - size + 1)):
            found = spans[i, j] = {}
            for k in range(i + 1, j):
                for (z, left), (w, right) in itertools.product(spans[i, k].items(), spans[k, j].items()):
                    found.setdefault(rounded_product(z, w), set()).update(f"({x}{y})" for x in left for y in right)
    return spans[0, len(factors)]


def rounded_product(z: complex, w: complex) -> complex:
    with mpmath.workprec(300):
        product = mpmath.mpc(z) * mpmath.mpc(w)
    with mpmath.workprec(24):
        return complex(+product.real, +product.imag)


def test_triangular_solve_expects_inaccurate_values() -> None:
    (a, b), expected, actual = run("triangular_solve_float32_2_8_8_float32_2_10_8")
    a, rest = (np.frompyfunc(rational, 1, 1)(x) for x in (a, b))
    for j in range(8):  # solve x a = b for upper triangular a
        rest[:, :, j] /= a[:, j, j, np.newaxis]
        rest[:, :, j + 1 :] -= rest[:, :, j, np.newaxis] * a[:, j, np.newaxis, j + 1 :]
    assert ulps(actual, rest).max() < HALF
    failing = ~close(actual, expected, 0, MAX_ULPS)
    assert np.count_nonzero(failing) == 25
    assert (ulps(expected, rest)[failing] > MAX_ULPS).all()


# --- Fourier transforms -----------------------------------------------------------------------------------------------


def roots_of_unity(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return cosines and sines of 2 pi j k / n for j, k < n, times 2**BITS, as integers."""
    with mpmath.workdps(60):
        angles = [2 * mpmath.pi * k / n for k in range(n)]
        cosines, sines = (
            [int(mpmath.nint(mpmath.ldexp(f(x), BITS))) for x in angles] for f in (mpmath.cos, mpmath.sin)
        )
    index = np.outer(range(n), range(n)) % n
    return np.array(cosines, object)[index], np.array(sines, object)[index]


def check_transform(actual: np.ndarray, expected: np.ndarray, exact: np.ndarray, scale: int) -> int:
    """Check f32 results against exact values times `scale`; return the number of inaccurate expected values."""
    unit = np.spacing(np.abs(exact / scale).astype(np.float32)).astype(np.float64)
    errors = [
        np.abs(((integers(x) * (scale >> UNIT) - exact) / scale).astype(np.float64)) / unit for x in (actual, expected)
    ]
    assert errors[0].max() < HALF
    failing = ~close(actual, expected, 0, MAX_ULPS)
    assert (errors[1][failing] > MAX_ULPS).all()
    return np.count_nonzero(failing)


def test_rfft_expects_inaccurate_values() -> None:
    (operand,), expected, actual = run("fft_float32_14_15_16_17")
    cosines, sines = roots_of_unity(17)
    x = integers(operand).reshape(-1, 17)
    for part, root in (("real", cosines), ("imag", -sines)):
        ours, theirs = (getattr(y, part).reshape(-1, 9) for y in (actual, expected))
        assert check_transform(ours, theirs, x @ root[:, :9], 1 << UNIT + BITS) > 2000


def test_irfft_expects_inaccurate_values() -> None:
    (operand,), expected, actual = run("fft_complex64_14_15_16_17")
    real, imag = integers(operand.real), integers(operand.imag)
    for axis in (1, 2):
        cosines, sines = roots_of_unity(operand.shape[axis])
        real, imag = (
            along(axis, cosines, real) - along(axis, sines, imag),
            along(axis, cosines, imag) + along(axis, sines, real),
        )
    cosines, sines = roots_of_unity(32)
    twice = np.array([1, *[2] * 15, 1])[:, np.newaxis]  # by symmetry, inner frequencies count twice
    exact = real @ (twice * cosines[:17]) - imag @ (twice * sines[:17])
    assert check_transform(actual, expected, exact, 15 * 16 * 32 << UNIT + 3 * BITS) == 25698


def along(axis: int, matrix: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Multiply by a symmetric matrix along one axis."""
    return np.moveaxis(np.moveaxis(x, axis, -1) @ matrix, -1, axis)
