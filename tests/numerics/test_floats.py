"""Test floats.py: special cases of IEEE-754 by hand, and 8-bit formats against tables of their values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from exact import assert_same

from stablehlo_ref.numerics import floats
from stablehlo_ref.numerics.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, FLOAT_DTYPES, has_infinity

INF, NAN = math.inf, math.nan
WIDE = (FLOAT32, FLOAT64)
EIGHT_BIT = [dtype for dtype in FLOAT_DTYPES if dtype.itemsize == 1 and has_infinity(dtype)]


@pytest.fixture(autouse=True)
def no_warnings():
    with np.errstate(all="ignore"):
        yield


def run(factory, dtype, *operands):
    """Compute results for lists of numbers as short arrays, as long arrays and as scalars, and compare them."""
    kernel = factory(dtype)
    short = [np.array(x, dtype) for x in operands]
    result = kernel(*short)
    long = kernel(*[np.resize(x, 70_000) for x in short])
    scalars = [kernel(*(x[i] for x in short)) for i in range(len(short[0]))]
    assert_same(long[: len(result)], result)
    assert_same(np.array(scalars, result.dtype), result)
    return result


@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16, *WIDE])
@pytest.mark.parametrize(
    "factory, cases",
    [
        (floats.maximum, [(0.0, -0.0, 0.0), (-0.0, 0.0, 0.0), (-0.0, -0.0, -0.0), (NAN, 1, NAN), (-1, 2, 2)]),
        (floats.minimum, [(0.0, -0.0, -0.0), (-0.0, 0.0, -0.0), (0.0, 0.0, 0.0), (NAN, 1, NAN), (-1, 2, -1)]),
        (floats.remainder, [(17, 3, 2), (-17, 3, -2), (17, -3, 2), (-17, -3, -2), (-6, 3, -0.0), (0.0, 5, 0.0)]),
        (floats.remainder, [(5, INF, 5), (-5, -INF, -5), (INF, 2, NAN), (1, 0, NAN), (NAN, 1, NAN), (1, NAN, NAN)]),
        (floats.remainder, [(2.0**14, 3, 1), (2.0**-20, 2.0**14, 2.0**-20), (2.0**14, 2.0**-22, 0.0)]),
        (floats.divide, [(1, 0.0, INF), (1, -0.0, -INF), (0, 0, NAN), (INF, INF, NAN), (1, INF, 0.0), (-1, INF, -0.0)]),
        (floats.multiply, [(0, INF, NAN), (-0.0, 3, -0.0), (2, 3, 6)]),
        (floats.maximum, [(1, NAN, NAN), (NAN, NAN, NAN), (-INF, INF, INF)]),
        (floats.minimum, [(1, NAN, NAN), (NAN, NAN, NAN), (-INF, INF, -INF)]),
        (floats.add, [(INF, -INF, NAN), (-0.0, -0.0, -0.0), (0.0, -0.0, 0.0)]),
        (floats.subtract, [(INF, INF, NAN), (-0.0, 0.0, -0.0), (3, 5, -2)]),
    ],
)
def test_special_cases_of_binary_functions(factory, cases, dtype):
    x, y, expected = zip(*cases)
    assert_same(run(factory, dtype, x, y), np.array(expected, dtype))


@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16, *WIDE])
@pytest.mark.parametrize(
    "factory, cases",
    [
        (floats.sign, [(NAN, NAN), (-0.0, -0.0), (0.0, 0.0), (-3, -1), (2.0**-20, 1), (INF, 1), (-INF, -1)]),
        (floats.abs, [(-0.0, 0.0), (-INF, INF), (-2, 2), (NAN, NAN)]),
        (floats.negate, [(0.0, -0.0), (-0.0, 0.0), (INF, -INF), (2, -2)]),
        (floats.sqrt, [(-0.0, -0.0), (INF, INF), (-1, NAN), (2.25, 1.5)]),
        (floats.ceil, [(-0.5, -0.0), (0.5, 1), (-INF, -INF), (NAN, NAN), (-0.0, -0.0)]),
        (floats.floor, [(-0.5, -1), (0.5, 0.0), (INF, INF), (NAN, NAN), (-0.0, -0.0)]),
        (floats.round_nearest_even, [(0.5, 0.0), (1.5, 2), (2.5, 2), (-0.5, -0.0), (-2.5, -2), (INF, INF), (NAN, NAN)]),
        (floats.round_nearest_afz, [(0.5, 1), (1.5, 2), (2.5, 3), (-0.5, -1), (-2.5, -3), (0.25, 0.0), (-0.25, -0.0)]),
        (floats.round_nearest_afz, [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN), (127, 127)]),
        (floats.is_finite, [(1, True), (-0.0, True), (INF, False), (-INF, False), (NAN, False)]),
    ],
)
def test_special_cases_of_unary_functions(factory, cases, dtype):
    x, expected = zip(*cases)
    result = run(factory, dtype, x)
    assert result.dtype == (bool if factory is floats.is_finite else dtype)
    assert_same(result, np.array(expected, result.dtype))


@pytest.mark.parametrize("dtype", WIDE)
def test_rounds_numbers_next_to_ties(dtype):
    half, digits = dtype.type(0.5), np.finfo(dtype).nmant
    below = np.nextafter(half, dtype.type(0))
    large = 2.0**digits + 1  # odd; half an ULP more would be a tie
    result = run(floats.round_nearest_afz, dtype, [below, -below, large, large / 2])
    assert_same(result, [0.0, -0.0, large, large // 2 + 1])


def test_remainder_is_exact_for_inexact_quotients():
    rng = np.random.default_rng(0)
    x = (rng.uniform(-1, 1, 20_000) * np.exp2(rng.uniform(-40, 60, 20_000))).astype(np.float32)
    y = (rng.uniform(-1, 1, 20_000) * np.exp2(rng.uniform(-40, 20, 20_000))).astype(np.float32)
    expected = [math.fmod(a, b) for a, b in zip(x.tolist(), y.tolist())]
    assert_same(floats.remainder(FLOAT32)(x, y), expected)


@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16, *WIDE])
def test_clamp_handles_signed_zeros_and_nans(dtype):
    cases = [(0, -1, 6, 0.0), (0, -0.0, 6, 0.0), (0, 7, 6, 6), (-1, 0.0, -0.0, -0.0), (0, NAN, 6, NAN), (5, 1, 3, 3)]
    low, operand, high, expected = zip(*cases)
    assert_same(run(floats.clamp, dtype, low, operand, high), expected)
    x = np.linspace(-3, 9, 40_000).astype(dtype)
    assert_same(floats.clamp(dtype)(dtype.type(0), x, np.array(6, dtype)), [min(max(v, 0.0), 6.0) for v in x.tolist()])


@pytest.mark.parametrize("scalar", [0.0, -0.0, 1.5, INF, -INF, NAN])
@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_extrema_of_large_arrays_and_scalars(name, dtype, scalar):
    """Elements beside a scalar, of rank 0, of one element or broadcast, are those of small arrays."""
    kernel, values = getattr(floats, name)(dtype), [0.0, -0.0, 1.0, -1.0, 2.0, INF, -INF, NAN]
    expected = np.resize(kernel(np.array(values, dtype), np.full(8, scalar, dtype)), (40, 50))
    x, single = np.resize(np.array(values, dtype), (40, 50)), np.array(scalar, dtype)
    for y in (single, single.reshape(1, 1), np.broadcast_to(single, x.shape)):
        assert_same(kernel(x, y).ravel(), expected.ravel())
        assert_same(kernel(y, x).ravel(), expected.ravel())


@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16, *WIDE])
@pytest.mark.parametrize("direction", floats.COMPARISONS)
def test_compare_in_float_and_total_order(direction, dtype):
    """Compare FLOAT with Python's operators, and TOTALORDER with the positions in a list in that order."""
    values = [-NAN, -INF, -1.0, -0.0, 0.0, 1.0, INF, NAN]
    positions = list(range(len(values)))
    method = f"__{direction.lower()}__"
    x, y = (np.array(side, dtype) for side in zip(*[(a, b) for a in values for b in values]))
    by_float = [getattr(a, method)(b) for a in values for b in values]
    by_order = [getattr(a, method)(b) for a in positions for b in positions]
    assert floats.compare(direction)(dtype)(x, y).tolist() == by_float
    assert floats.compare(direction, "TOTALORDER")(dtype)(x, y).tolist() == by_order


@pytest.mark.parametrize("dtype", EIGHT_BIT)
@pytest.mark.parametrize("name, exact", [("add", np.add), ("multiply", np.multiply), ("divide", np.divide)])
def test_arithmetic_of_8_bit_formats_is_correctly_rounded(name, exact, dtype):
    """Check all pairs against the value of the format that is nearest to the f64 result, ties to even."""
    patterns = np.arange(256, dtype=np.uint8)
    x, y = (side.view(dtype) for side in (np.repeat(patterns, 256), np.tile(patterns, 256)))
    values = patterns[:128].view(dtype).astype(np.float64)
    finite = values[np.isfinite(values)]
    result = exact(x.astype(np.float64), y.astype(np.float64))
    middle = (finite + np.append(finite[1:], 2 * finite[-1] - finite[-2])) / 2
    index = np.searchsorted(middle, np.abs(result))
    index += (index < len(finite)) & (np.abs(result) == middle[np.minimum(index, len(finite) - 1)]) & (index % 2 == 1)
    expected = np.copysign(np.where(index < len(finite), finite[np.minimum(index, len(finite) - 1)], INF), result)
    expected[np.isnan(result)] = NAN
    assert_same(getattr(floats, name)(dtype)(x, y), expected)


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_accepts_any_layout_and_does_not_modify_operands(dtype):
    x = np.ones((60, 50), dtype)
    before = x.tobytes()
    for factory in (floats.add, floats.maximum, floats.remainder, floats.minimum):
        assert factory(dtype)(x.T, x.T).shape == (50, 60)
        assert factory(dtype)(x[:0], x[:0]).shape == (0, 50)
    for factory in (floats.sign, floats.round_nearest_afz, floats.sqrt):
        assert factory(dtype)(x[::2, ::3]).shape == (30, 17)
        assert factory(dtype)(x[0, 0]).shape == ()
    assert x.tobytes() == before
