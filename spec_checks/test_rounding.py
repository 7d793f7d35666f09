"""Compare `round_to` with ml_dtypes, numpy and Python, which round to nearest too; test formats, bits and orders."""

import math
import random
from fractions import Fraction

import ml_dtypes
import mpmath
import numpy as np
import pytest

from stablehlo_ref.semantics import ieee
from stablehlo_ref.semantics.rounding import (
    FORMATS,
    bits,
    correctly_rounded,
    exact,
    from_bits,
    inf,
    nan,
    round_to,
    saturate,
    total_order,
    wrap,
)

NARROW = [np.dtype(getattr(ml_dtypes, name)) for name in FORMATS if name.startswith(("float4_", "float6_", "float8_"))]
HALF = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
INTEGERS = [np.dtype(t) for t in (ml_dtypes.int2, ml_dtypes.uint2, ml_dtypes.int4, ml_dtypes.uint4)]
INTEGERS += [np.dtype(f"{sign}int{width}") for sign in ("", "u") for width in (8, 16, 32, 64)]


def name(dtype):
    return dtype.name


def same(x, y):
    """Return whether two floating-point elements are the same; NaN equals NaN, and -0.0 differs from +0.0."""
    x, y = float(x), float(y)
    return (x != x and y != y) or (x == y and math.copysign(1, x) == math.copysign(1, y))


def finite_values(dtype):
    """Return all finite values of a type of up to 16 bits, in ascending order."""
    patterns = np.arange(256, dtype=np.uint8) if dtype.itemsize == 1 else np.arange(65536, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        values = patterns[: 1 << ml_dtypes.finfo(dtype).bits].view(dtype).astype(np.float64)
    return np.unique(values[np.isfinite(values)])


@pytest.mark.parametrize("dtype", [np.dtype(getattr(ml_dtypes, f, f)) for f in FORMATS], ids=name)
def test_formats_match_finfo(dtype):
    form, info = FORMATS[dtype.name], ml_dtypes.finfo(dtype)
    assert (form.mantissa_bits, form.largest) == (info.nmant, float(info.max))
    assert Fraction(2) ** form.min_exponent == Fraction(float(info.smallest_normal))


@pytest.mark.parametrize("dtype", NARROW + HALF, ids=name)
def test_round_to_rounds_ties_to_even(dtype):
    """Check points in f32, since ml_dtypes rounds f64 to f32 first."""
    values = finite_values(dtype).astype(np.float32)
    ties = ((values[:-1].astype(np.float64) + values[1:]) / 2).astype(np.float32)
    neighbours = np.concatenate([np.nextafter(ties, np.float32(-inf)), np.nextafter(ties, np.float32(inf))])
    beyond = np.float64(values[-1]) + (np.float64(values[-1]) - values[-2]) / 2 * np.array([0.99, 1, 1.01, 2])
    special = [0.0, -0.0, inf, -inf]
    with np.errstate(over="ignore"):
        points = np.concatenate([values, ties, neighbours, beyond, -beyond, special]).astype(np.float32)
        expected = points.astype(dtype)
    every = 1 if dtype.itemsize == 1 else 7
    for x, y in zip(points[::every].tolist(), expected[::every], strict=True):
        if not (dtype.name == "float8_e8m0fnu" and 2.0**-127 < x < 2.0**-126):  # ml_dtypes rounds these up
            assert same(round_to(dtype, x), y), x
    assert same(round_to(dtype, nan), nan if FORMATS[dtype.name].has_nan else -0.0)


def test_round_to_f32_and_f64_matches_python():
    rng = random.Random(0)
    for _ in range(2000):
        x = math.ldexp(rng.choice((-1, 1)) * rng.random(), rng.randint(-160, 140))
        with np.errstate(over="ignore"):
            assert same(round_to(np.dtype(np.float32), x), np.float32(x))
        q = Fraction(rng.getrandbits(80), rng.getrandbits(80) + 1) * Fraction(2) ** rng.randint(-1090, 1000)
        assert same(round_to(np.dtype(np.float64), q), float(q))
    assert round_to(np.dtype(np.float64), Fraction(2) ** 1024) == inf


def test_round_to_mpf_with_huge_exponents():
    assert round_to(np.dtype(np.float32), mpmath.exp(mpmath.mpf(1e300))) == inf
    assert same(round_to(np.dtype(np.float32), -mpmath.exp(mpmath.mpf(-1e300))), -0.0)


def test_correctly_rounded_just_below_tie():
    """1.5 * 2**-1074 is a tie of subnormal numbers, and its arctangent is smaller by one part in 2**2148."""
    y, x = exact(3 * 2.0**-1074), exact(2.0)
    assert correctly_rounded(np.dtype(np.float64), ieee.division, y, x) == 2 * 2.0**-1074
    assert correctly_rounded(np.dtype(np.float64), ieee.atan2, y, x) == 2.0**-1074


@pytest.mark.parametrize("function", ["exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "sqrt", "cbrt"])
def test_elementary_functions_of_f16_match_numpy(function):
    """Numpy computes in f64, which rounds to the nearest f16 unless the result is next to a tie."""
    names = {"log1p": "logp1", "sqrt": "square_root", "cbrt": "cube_root"}
    exactly = getattr(ieee, names.get(function, function))
    operand = np.arange(0, 65536, 37, dtype=np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        expected = getattr(np, function)(operand.astype(np.float64)).astype(np.float16)
    for x, y in zip(operand, expected, strict=True):
        assert same(correctly_rounded(operand.dtype, exactly, exact(float(x))), y), x


@pytest.mark.parametrize("dtype", INTEGERS, ids=name)
def test_wrap_and_saturate_integers(dtype):
    width = int(dtype.name.removeprefix("u").removeprefix("int"))
    least = 0 if dtype.name.startswith("u") else -(2 ** (width - 1))
    greatest = least + 2**width - 1
    for n in (least - 1, least, -1, 0, 1, greatest, greatest + 1, 12345678901234567890123):
        wrapped, saturated = wrap(dtype, n), saturate(dtype, n)
        assert (int(wrapped) - n) % 2**width == 0 and least <= int(wrapped) <= greatest
        assert int(saturated) == min(max(n, least), greatest)
        assert wrapped.dtype == saturated.dtype == dtype
        assert int(from_bits(dtype, bits(wrapped))) == int(wrapped)


@pytest.mark.parametrize("dtype", NARROW + HALF, ids=name)
def test_bits_round_trip_and_total_order_matches(dtype):
    values = [round_to(dtype, float(x)) for x in finite_values(dtype)[::7]]
    assert all(same(from_bits(dtype, bits(x)), x) for x in values)
    assert [total_order(x) for x in values] == sorted(total_order(x) for x in values)


def test_total_order_of_special_values():
    ascending = [-nan, -inf, -1.0, -0.0, 0.0, 1.0, inf, nan]
    orders = [total_order(np.float32(x)) for x in ascending]
    assert orders == sorted(set(orders))
