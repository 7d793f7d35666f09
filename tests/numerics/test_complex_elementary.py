"""Compare complex_elementary.py with mpmath, for each part, and special values with C99 Annex G."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from stablehlo_ref.numerics import complex_elementary
from stablehlo_ref.numerics.dtypes import COMPLEX64, COMPLEX128, part_dtype

INF, NAN = math.inf, math.nan
DTYPES = (COMPLEX64, COMPLEX128)

EXACT = {
    "exponential": mpmath.exp,
    "exponential_minus_one": lambda z: mpmath.exp(z) - 1,
    "log": mpmath.log,
    "log_plus_one": lambda z: mpmath.log(1 + z),
    "logistic": lambda z: 1 / (1 + mpmath.exp(-z)),
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda z: 1 / mpmath.sqrt(z),
    "cbrt": lambda z: mpmath.exp(mpmath.log(z) / 3),
    "sine": mpmath.sin,
    "cosine": mpmath.cos,
    "tan": mpmath.tan,
    "tanh": mpmath.tanh,
}


@pytest.fixture(autouse=True)
def precise():
    with np.errstate(all="ignore"), mpmath.workprec(1600):
        yield


def samples(dtype):
    """Return random numbers, numbers near 0, 1, -1 and the unit circle, and numbers with large and small parts."""
    rng = np.random.default_rng(2)
    direction = np.exp(1j * rng.uniform(-math.pi, math.pi, 60))
    near = np.exp2(-rng.uniform(1, 20, 60)) * np.exp(1j * rng.uniform(-math.pi, math.pi, 60))
    sizes = np.array([1e-20, 1e-3, 0.7, 20, 50])
    grid = np.array([complex(a, b) for a in (*sizes, *-sizes) for b in (*sizes, *-sizes)])
    circle = direction * (1 + 1e-5 * rng.normal(size=60))
    return np.concatenate([direction * rng.uniform(0.2, 5, 60), near, 1 + near, -1 + near, circle, grid]).astype(dtype)


def part_error(actual, exact, dtype):
    """Return the error of a part in units in the last place of the exact part."""
    limits = np.finfo(part_dtype(dtype))
    exponent = max(mpmath.frexp(exact)[1] - 1, int(limits.minexp)) if exact else int(limits.minexp)
    return float(abs(mpmath.mpf(float(actual)) - exact) / mpmath.mpf(2) ** (exponent - int(limits.nmant)))


@pytest.mark.parametrize("dtype, bound", [(COMPLEX64, 0.501), (COMPLEX128, 8)])
@pytest.mark.parametrize("name", EXACT)
def test_unary_functions_are_accurate(name, dtype, bound):
    z = samples(dtype)
    for operand, result in zip(z, getattr(complex_elementary, name)(dtype)(z)):
        exact = EXACT[name](mpmath.mpc(complex(operand)))
        assert part_error(result.real, exact.real, dtype) <= bound, (operand, result, exact)
        assert part_error(result.imag, exact.imag, dtype) <= bound, (operand, result, exact)


def test_power_of_complex_f64_is_accurate():
    """Check the error relative to the larger part, as the smaller part can cancel."""
    z, w = samples(COMPLEX128)[:240], samples(COMPLEX128)[::-1][:240]
    for base, power, result in zip(z, w, complex_elementary.power(COMPLEX128)(z, w)):
        exact = mpmath.mpc(complex(base)) ** mpmath.mpc(complex(power))
        if 1e-30 < abs(exact) < 1e30:
            limit = 3.0 * 2.0**-52 if np.finfo(np.longdouble).nmant > 60 else 1e-12
            assert abs(mpmath.mpc(complex(result)) - exact) <= limit * abs(exact), (base, power, result, exact)


def near_axes(rng, count):
    """Return numbers with one part much smaller than the other, or zero, and numbers on diagonals."""
    tiny = np.exp2(-rng.uniform(10, 120, count)) * rng.choice([-1, 0, 1], count)
    tiny[::4] = rng.choice([-1, 1], (count + 3) // 4)
    return (rng.choice([-3, -1, 1, 0.5], count) * (1 + rng.choice([0, 0.1], count)) + 1j * tiny) * rng.choice(
        [1, 1j], count
    )


def test_power_of_complex_f32_is_accurate_in_both_parts():
    """Check both parts, also where the angle is nearly or exactly a multiple of a right angle."""
    rng = np.random.default_rng(3)
    z = np.concatenate([samples(COMPLEX64)[:240], near_axes(rng, 300)]).astype(np.complex64)
    halves = rng.integers(-20, 20, 300) / 2 + 1j * rng.choice([0, 0, 1e-18, 0.1], 300)
    w = np.concatenate([samples(COMPLEX64)[::-1][:240], halves]).astype(np.complex64)
    for base, power, result in zip(z, w, complex_elementary.power(COMPLEX64)(z, w)):
        exact = mpmath.mpc(complex(base)) ** mpmath.mpc(complex(power))
        if 1e-30 < abs(exact) < 1e30:
            for actual, part in ((result.real, exact.real), (result.imag, exact.imag)):
                part = part if abs(part) > abs(exact) * mpmath.mpf(2) ** -1000 else mpmath.mpf(0)
                assert part_error(actual, part, COMPLEX64) <= 0.501, (base, power, result, exact)


def test_power_preserves_signs_of_zeros():
    """Signs are those of products; the angle of -1 - 0i is -pi."""
    z = np.array([2j, complex(-0.0, 2), complex(-1, -0.0), 1, 2 + 2j, -2 - 2j], np.complex64)
    result = complex_elementary.power(COMPLEX64)(z, np.array([2, 2, 0.5, 0, 2, 2], np.complex64))
    assert result.tolist() == [-4, -4, -1j, 1, 8j, 8j]
    assert np.signbit(result.imag).tolist() == [False, True, True, False, False, False]
    assert not np.signbit(result.real[4:]).any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_sign_of_zero_selects_side_of_branch_cut(dtype):
    above, below = np.array([complex(-4, 0.0)], dtype), np.array([complex(-4, -0.0)], dtype)
    pi = part_dtype(dtype).type(math.pi)
    for z, side in ((above, 1), (below, -1)):
        np.testing.assert_array_equal(complex_elementary.sqrt(dtype)(z), [complex(0, 2 * side)])
        np.testing.assert_array_equal(complex_elementary.rsqrt(dtype)(z), [complex(0, -0.5 * side)])
        np.testing.assert_array_equal(complex_elementary.log(dtype)(z).imag, [side * pi])
        np.testing.assert_array_equal(complex_elementary.log_plus_one(dtype)(z).imag, [side * pi])
        np.testing.assert_array_equal(np.sign(complex_elementary.cbrt(dtype)(z).imag), [side])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "name, cases",
    [
        ("exponential", [(0j, 1 + 0j), (complex(INF, 0), complex(INF, 0)), (complex(-INF, 1), 0j)]),
        ("exponential", [(complex(-INF, INF), complex(NAN, NAN)), (complex(INF, -INF), complex(NAN, NAN))]),
        ("exponential_minus_one", [(0j, 0j), (complex(INF, 0), complex(INF, 0)), (complex(-INF, 1), -1 + 0j)]),
        ("log", [(0j, complex(-INF, 0)), (complex(INF, 1), complex(INF, 0)), (complex(NAN, 1), complex(NAN, NAN))]),
        ("log_plus_one", [(-1 + 0j, complex(-INF, 0)), (0j, 0j), (complex(INF, -1), complex(INF, -0.0))]),
        ("sqrt", [(0j, 0j), (complex(1, INF), complex(INF, INF)), (complex(-INF, 1), complex(0, INF))]),
        ("rsqrt", [(complex(INF, 1), 0j), (0j, complex(INF, NAN))]),
        ("cbrt", [(0j, 0j), (complex(INF, 0), complex(INF, 0)), (27 + 0j, 3 + 0j)]),
        ("sine", [(0j, 0j), (complex(0, INF), complex(0, INF)), (complex(INF, 1), complex(NAN, NAN))]),
        ("cosine", [(0j, 1 + 0j), (complex(0, INF), complex(INF, 0)), (complex(INF, 1), complex(NAN, NAN))]),
        ("tan", [(0j, 0j), (complex(1, INF), 1j), (complex(1, -INF), -1j), (complex(1, 500), 1j)]),
        ("tanh", [(0j, 0j), (complex(INF, 1), 1 + 0j), (complex(-INF, 1), -1 + 0j), (complex(-500, 1), -1 + 0j)]),
        ("logistic", [(0j, 0.5 + 0j), (1000 + 0j, 1 + 0j), (-1000 + 0j, 0j)]),
    ],
)
def test_special_values(name, cases, dtype):
    z, expected = (np.array(column, dtype) for column in zip(*cases))
    result = getattr(complex_elementary, name)(dtype)(z)
    np.testing.assert_array_equal(result.real, expected.real)
    np.testing.assert_array_equal(result.imag, expected.imag)


def test_squares_of_parts_do_not_overflow_or_underflow():
    """The squares of these parts overflow or underflow in f64."""
    z = np.array([1e200 + 1e200j, 1e-200 + 1e-200j, -1e300 + 1e-5j, 5e-200 - 1e-190j], COMPLEX128)
    for name in ("log", "log_plus_one", "sqrt", "rsqrt", "cbrt"):
        for operand, result in zip(z, getattr(complex_elementary, name)(COMPLEX128)(z)):
            exact = EXACT[name](mpmath.mpc(complex(operand)))
            assert part_error(result.real, exact.real, COMPLEX128) <= 4, (name, operand, result)
            assert part_error(result.imag, exact.imag, COMPLEX128) <= 4, (name, operand, result)


@pytest.mark.parametrize("dtype", DTYPES)
def test_atan2_of_real_numbers(dtype):
    y, x = np.array([1, -1, 0, 3], dtype), np.array([0, 0, 2, -4], dtype)
    result = complex_elementary.atan2(dtype)(y, x)
    np.testing.assert_allclose(result, [math.pi / 2, -math.pi / 2, 0, math.atan2(3, -4)], rtol=1e-6, atol=0)
    assert not result.imag.any()


def test_atan2_of_real_numbers_is_that_of_ieee_754():
    y = np.array([1e200, 1.0, 0.0, -0.0, -0.0, math.inf, -math.inf], complex)
    x = np.array([1.0, 1e200, 0.0, 1.0, -1.0, math.inf, -math.inf], complex)
    result = complex_elementary.atan2(COMPLEX128)(y, x)
    assert result.real.tobytes() == np.array([math.atan2(a, b) for a, b in zip(y.real, x.real)]).tobytes()
    assert not result.imag.any()


def test_atan2_neither_overflows_nor_underflows():
    y = np.array([1e200 + 1e200j, 1e-310 + 1e-310j, 3e300j, 1e200 + 1j])
    x = np.array([1e200 - 2e199j, 1e-310 + 0j, 1e300 + 0j, 1 + 0j])
    for a, b, result in zip(y, x, complex_elementary.atan2(COMPLEX128)(y, x)):
        a, b = mpmath.mpc(complex(a)), mpmath.mpc(complex(b))
        exact = complex(-1j * mpmath.log((b + 1j * a) / mpmath.sqrt(a * a + b * b)))
        assert abs(result - exact) <= 1e-15 * abs(exact)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXACT)
def test_accepts_any_shape_and_strides(name, dtype):
    kernel, z = getattr(complex_elementary, name)(dtype), np.full((150, 140), 0.5 + 0.25j, dtype)
    assert kernel(z.T).shape == (140, 150)
    assert (kernel(z[::2]) == kernel(z[0, 0])).all()
    assert kernel(z[:0]).dtype == dtype
    assert (z == 0.5 + 0.25j).all()
