"""Test complexes.py: exact cases by hand, order against Python's tuples, rounding against mpmath."""

from __future__ import annotations

import cmath
import math
import operator

import mpmath
import numpy as np
import pytest

from stablehlo_ref.numerics import complexes
from stablehlo_ref.numerics.dtypes import COMPLEX64, COMPLEX128, part_dtype

INF, NAN = math.inf, math.nan
DTYPES = (COMPLEX64, COMPLEX128)


@pytest.fixture(autouse=True)
def no_warnings():
    with np.errstate(all="ignore"):
        yield


def numbers(dtype, count=2000, seed=0):
    """Return random numbers whose parts have independent magnitudes."""
    rng = np.random.default_rng(seed)
    parts = rng.choice([-1, 1], (2, count)) * np.exp2(rng.uniform(-20, 20, (2, count)))
    return (parts[0] + 1j * parts[1]).astype(dtype)


def error(actual, exact, dtype):
    """Return the larger error of a part in units in the last place of the exact part."""
    limits = np.finfo(part_dtype(dtype))
    errors = []
    for part, value in ((actual.real, exact.real), (actual.imag, exact.imag)):
        exponent = max(mpmath.frexp(value)[1] - 1, int(limits.minexp)) if value else int(limits.minexp)
        errors.append(abs(mpmath.mpf(float(part)) - value) / mpmath.mpf(2) ** (exponent - int(limits.nmant)))
    return float(max(errors))


@pytest.mark.parametrize("dtype", DTYPES)
def test_real_imag_and_complex_round_trip(dtype):
    z = numbers(dtype).reshape(40, 50)
    re, im = complexes.real(dtype)(z), complexes.imag(dtype)(z)
    assert re.dtype == im.dtype == part_dtype(dtype)
    assert not np.shares_memory(re, z)
    joined = complexes.complex(re.dtype)(re, im)
    assert joined.dtype == dtype
    assert joined.tobytes() == z.tobytes()
    assert complexes.complex(re.dtype)(re[0, 0], im[0, 0]) == z[0, 0]
    assert complexes.conj(dtype)(z[0, 0]) == complex(re[0, 0], -im[0, 0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name, exact", [("multiply", operator.mul), ("divide", operator.truediv)])
def test_rounds_products_and_quotients_once(name, exact, dtype):
    x, y = numbers(dtype), numbers(dtype, seed=1)
    y[:500] = np.conj(x[:500]) * (1 + 1e-3)  # an imaginary part that nearly cancels
    bound = 0.501 if dtype == COMPLEX64 or np.finfo(np.longdouble).nmant > 60 else 2**12
    with mpmath.workprec(300):
        for a, b, c in zip(x, y, getattr(complexes, name)(dtype)(x, y)):
            expected = exact(mpmath.mpc(complex(a)), mpmath.mpc(complex(b)))
            if min(abs(expected.real), abs(expected.imag)) > abs(expected) / 64:
                assert error(c, expected, dtype) <= max(bound, 0.52), (a, b, c, expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_and_quotients_of_extreme_parts_do_not_overflow(dtype):
    large, small = float(np.finfo(dtype).max) / 2, float(np.finfo(dtype).tiny)
    divide, multiply = complexes.divide(dtype), complexes.multiply(dtype)
    z = np.array([complex(large, large), complex(small, small), complex(large, -large), complex(small, 0)], dtype)
    np.testing.assert_array_equal(divide(z, z), np.ones(4, dtype))
    one_i = np.full(4, 1j, dtype)
    np.testing.assert_array_equal(multiply(z, one_i), [complex(-v.imag, v.real) for v in z])
    np.testing.assert_array_equal(divide(z, one_i), [complex(v.imag, -v.real) for v in z])


@pytest.mark.parametrize("dtype", DTYPES)
def test_divide_follows_annex_g(dtype):
    """See C99, G.5.1."""
    cases = [
        (1 + 2j, 0j, complex(INF, INF)),
        (1 + 2j, complex(-0.0, 0), complex(-INF, -INF)),
        (1 + 0j, 0j, complex(INF, NAN)),
        (0j, 0j, complex(NAN, NAN)),
        (complex(INF, 1), 2 + 0j, complex(INF, NAN)),
        (complex(INF, INF), 1 + 1j, complex(INF, NAN)),
        (complex(NAN, INF), 1 + 0j, complex(NAN, INF)),
        (1 + 1j, complex(INF, 0), complex(0, 0)),
        (1 + 1j, complex(NAN, INF), complex(0, 0)),
        (complex(NAN, 0), 1 + 1j, complex(NAN, NAN)),
    ]
    z, w, expected = (np.array(column, dtype) for column in zip(*cases))
    result = complexes.divide(dtype)(z, w)
    np.testing.assert_array_equal(result.real, expected.real)
    np.testing.assert_array_equal(result.imag, expected.imag)


@pytest.mark.parametrize("dtype", DTYPES)
def test_multiply_evaluates_formula_for_special_values(dtype):
    z, w = np.array([complex(INF, INF), complex(INF, 0), complex(NAN, 1)], dtype), np.array([1 + 1j, 1j, 1j], dtype)
    result = complexes.multiply(dtype)(z, w)
    np.testing.assert_array_equal(result.real, [NAN, NAN, NAN])
    np.testing.assert_array_equal(result.imag, [INF, INF, NAN])


@pytest.mark.parametrize("dtype", DTYPES)
def test_abs_of_special_and_extreme_values(dtype):
    largest = float(np.finfo(dtype).max)
    cases = [(3 + 4j, 5), (-0.0 - 0j, 0), (complex(INF, NAN), INF), (complex(NAN, -INF), INF), (complex(NAN, 1), NAN)]
    cases += [
        (complex(largest, 0), largest),
        (complex(largest, largest), INF),
        (complex(0, -1e-45), abs(dtype.type(1e-45))),
    ]
    z, expected = (np.array(column) for column in zip(*cases))
    result = complexes.abs(dtype)(z.astype(dtype))
    assert result.dtype == part_dtype(dtype)
    np.testing.assert_array_equal(result, expected.astype(result.dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_sign_of_special_and_extreme_values(dtype):
    largest, smallest = float(np.finfo(dtype).max), float(np.finfo(dtype).smallest_subnormal)
    z = [
        0j,
        -0.0 - 0j,
        complex(NAN, 1),
        complex(1, NAN),
        2j,
        -3 + 0j,
        3 - 4j,
        complex(largest, 0),
        complex(0, -smallest),
    ]
    expected = [0j, 0j, complex(NAN, NAN), complex(NAN, NAN), 1j, -1 + 0j, 0.6 - 0.8j, 1 + 0j, -1j]
    result = complexes.sign(dtype)(np.array(z, dtype))
    np.testing.assert_array_equal(result, np.array(expected, dtype))
    diagonal = complexes.sign(dtype)(np.array([complex(largest, largest), complex(smallest, -smallest)], dtype))
    half = np.sqrt(part_dtype(dtype).type(0.5))
    np.testing.assert_allclose(diagonal, [complex(half, half), complex(half, -half)], rtol=1e-6)


ORDERED = [complex(a, b) for a in (-INF, -1, 0, 2, INF) for b in (-INF, -1, 0, 2, INF)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("direction", ["EQ", "NE", "GE", "GT", "LE", "LT"])
def test_compare_is_lexicographic(direction, dtype):
    pairs = [(x, y) for x in ORDERED for y in ORDERED]
    z, w = (np.array(side, dtype) for side in zip(*pairs))
    compare = getattr(operator, direction.lower())
    expected = [compare((x.real, x.imag), (y.real, y.imag)) for x, y in pairs]
    assert complexes.compare(direction)(dtype)(z, w).tolist() == expected


@pytest.mark.parametrize("dtype", DTYPES)
def test_comparisons_with_nan_are_false_except_ne(dtype):
    z = np.array([complex(NAN, 0), complex(0, NAN), complex(NAN, NAN)], dtype)
    for direction in ("EQ", "GE", "GT", "LE", "LT"):
        assert not complexes.compare(direction)(dtype)(z, z).any()
    assert complexes.compare("NE")(dtype)(z, z).all()
    assert complexes.compare("LT")(dtype)(z[1:2], np.array([1 + 0j], dtype)).all()  # the real parts differ


@pytest.mark.parametrize("dtype", DTYPES)
def test_maximum_minimum_and_clamp_are_lexicographic(dtype):
    pairs = [(x, y) for x in ORDERED for y in ORDERED]
    z, w = (np.array(side, dtype) for side in zip(*pairs))
    key = lambda v: (v.real, v.imag)  # noqa: E731
    np.testing.assert_array_equal(complexes.maximum(dtype)(z, w), [max(pair, key=key) for pair in pairs])
    np.testing.assert_array_equal(complexes.minimum(dtype)(z, w), [min(pair, key=key) for pair in pairs])
    low, high = dtype.type(-1 + 2j), np.array(2 + 0j, dtype)
    clamped = [min(max(x, complex(low), key=key), complex(high), key=key) for x in ORDERED]
    np.testing.assert_array_equal(complexes.clamp(dtype)(low, np.array(ORDERED, dtype), high), clamped)
    unordered = complexes.maximum(dtype)(
        np.array([complex(NAN, 1), 5 + 0j], dtype), np.array([0j, complex(NAN, 2)], dtype)
    )
    assert unordered[0] == 0 and cmath.isnan(unordered[1])  # lhs is only selected if it is greater


@pytest.mark.parametrize("dtype", DTYPES)
def test_accepts_any_shape_and_strides(dtype):
    z = np.full((150, 140), 3 - 4j, dtype)
    for name in ("multiply", "divide", "add", "subtract", "maximum"):
        kernel = getattr(complexes, name)(dtype)
        assert kernel(z.T, z.T).shape == (140, 150)
        assert kernel(z[:0], z[:0]).shape == (0, 140)
        assert kernel(z[0, 0], z[0, 0]).shape == ()
    for name in ("abs", "sign", "negate", "real", "imag"):
        kernel = getattr(complexes, name)(dtype)
        assert kernel(z[::2, ::3]).shape == (75, 47)
        assert kernel(z[0, 0]).shape == ()
    assert (z == 3 - 4j).all()
