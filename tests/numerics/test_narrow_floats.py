"""Compare widening, rounding and lookup tables with the formats' definitions, for all values and midpoints."""

import ml_dtypes
import numpy as np
import pytest
from formats import FORMATS, Format

from stablehlo_ref.numerics.blocks import SMALL
from stablehlo_ref.numerics.kernels import into_form
from stablehlo_ref.numerics.narrow_floats import (
    narrow,
    rounded,
    tabulated,
    tabulated_pairs,
    widen,
    widened,
)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # as in the interpreter
BFLOAT16, FLOAT16 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16)
FLOAT8 = np.dtype(ml_dtypes.float8_e4m3fn)


def bits(x: np.ndarray) -> np.ndarray:
    return x.view(f"u{x.dtype.itemsize}")


def in_small_parts(kernel, *operands: np.ndarray) -> np.ndarray:
    """Apply `kernel` to parts that are small enough to be computed directly."""
    step = SMALL // 4
    parts = [kernel(*(x[i : i + step] for x in operands)) for i in range(0, operands[0].size, step)]
    return np.concatenate([part.view(f"u{part.dtype.itemsize}") for part in parts]).view(parts[0].dtype)


def results_of_all_paths(kernel, x: np.ndarray) -> list[np.ndarray]:
    """Apply `kernel` to `x` as part of a large array, and in small parts."""
    large = kernel(np.tile(x, 1 + SMALL // x.size))[: x.size]
    return [large, in_small_parts(kernel, x)]


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_widen_is_exact_for_all_values(format: Format) -> None:
    for actual in results_of_all_paths(widen, format.every_element()):
        assert actual.dtype == np.float32
        assert np.array_equal(actual.astype(np.float64), format.values, equal_nan=True)
        numbers = ~np.isnan(format.values)
        assert np.array_equal(np.signbit(actual[numbers]), np.signbit(format.values[numbers]))


def rounding_cases(format: Format, wide: type) -> tuple[np.ndarray, np.ndarray]:
    """Return positive numbers of a wide format and the patterns they round to; larger patterns mean overflow."""
    numbers = format.magnitudes
    step = 2 * numbers[-1] if format.specials == "unsigned" else 2 * numbers[-1] - numbers[-2]
    midpoints = (numbers + np.append(numbers[1:], step)) / 2
    patterns = np.arange(numbers.size)
    to_even = patterns + (1 if format.specials == "unsigned" else patterns % 2)  # f8E8M0FNU rounds ties up
    below = np.nextafter(midpoints.astype(wide), wide(0))
    above = np.nextafter(midpoints.astype(wide), wide(np.inf))
    exact = midpoints.astype(wide) == midpoints  # false for half of the smallest f32 number
    x = np.concatenate([numbers, below[exact], midpoints[exact], above[exact]]).astype(wide)
    return x, np.concatenate([patterns, patterns[exact], to_even[exact], patterns[exact] + 1])


def overflow(format: Format) -> int:
    last = format.magnitudes.size - 1
    return {"mx": last, "fnuz": format.sign_bit}.get(format.specials, last + 1)


@pytest.mark.parametrize("wide", [np.float32, np.float64])
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_narrow_rounds_once_to_even(format: Format, wide: type) -> None:
    x, patterns = rounding_cases(format, wide)
    patterns = np.where(patterns >= format.magnitudes.size, overflow(format), patterns)
    for actual in results_of_all_paths(narrow(format.dtype), x):
        assert actual.dtype == format.dtype
        wrong = bits(actual) != patterns
        assert not wrong.any(), (x[wrong][:5], bits(actual)[wrong][:5], patterns[wrong][:5])
    if format.specials == "unsigned":
        return
    keeps_zero = format.specials == "fnuz"
    negative = np.where((patterns == 0) & keeps_zero, 0, patterns | format.sign_bit)
    for actual in results_of_all_paths(narrow(format.dtype), -x):
        assert np.array_equal(bits(actual), negative)


@pytest.mark.parametrize("wide", [np.float32, np.float64])
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_narrow_converts_special_values_as_ml_dtypes(format: Format, wide: type) -> None:
    x = np.array([np.inf, -np.inf, np.nan, -np.nan, 0.0, -0.0, -1.0, 1e-45, -1e-45, 3e38, -3e38, 1e5, 5e8], wide)
    if wide is np.float32:
        patterns = [0x7F800001, 0x7FFFFFFF, 0xFF800001, 0xFFFFFFFF, 0x7FBFFFFF, 0x7F802000]
        x = np.append(x, np.array(patterns, np.uint32).view(np.float32))
    for actual in results_of_all_paths(narrow(format.dtype), x):
        expected = x.astype(np.float32).astype(format.dtype)
        assert np.array_equal(bits(actual), bits(expected)), (x, actual, expected)


def test_narrow_rounds_f64_outside_range_of_f32() -> None:
    tiny, huge = 1e-300, 1e300
    x = np.array([tiny, -tiny, huge, -huge, 2.0**-134, 2.0**-134 * (1 + 2**-50), (2 - 2**-8) * 2.0**127])
    expected = [0x0000, 0x8000, 0x7F80, 0xFF80, 0x0000, 0x0001, 0x7F80]
    for actual in results_of_all_paths(narrow(BFLOAT16), x):
        assert bits(actual).tolist() == expected


@pytest.mark.parametrize("dtype", [np.dtype(np.float32), np.dtype(np.float64)], ids=str)
def test_wide_formats_need_no_rounding(dtype: np.dtype) -> None:
    x = np.array([0.1, -3.0])
    assert np.array_equal(narrow(dtype)(x), x.astype(dtype))
    assert rounded(np.add, dtype) is np.add and widened(np.less, dtype, np.dtype(bool)) is np.less


@pytest.mark.parametrize("function", [np.add, np.subtract, np.multiply], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [FLOAT16, FLOAT8], ids=str)
def test_rounded_arithmetic_rounds_once(dtype: np.dtype, function: np.ufunc) -> None:
    """f64 represents sums and products of these formats exactly; other tests cover `narrow`."""
    random = np.random.default_rng(4)
    x, y = (random.integers(0, 1 << 8 * dtype.itemsize, 200_001).astype(f"u{dtype.itemsize}").view(dtype) for _ in "xy")
    expected = narrow(dtype)(function(widen(x).astype(np.float64), widen(y).astype(np.float64)))
    for actual in (rounded(function, dtype)(x, y), in_small_parts(rounded(function, dtype), x, y)):
        assert actual.dtype == dtype
        assert np.array_equal(widen(actual), widen(expected), equal_nan=True)


def test_rounded_accepts_scalars_and_broadcasts() -> None:
    x = np.arange(6000).astype(BFLOAT16).reshape(3, 2000)
    one = np.ones((), BFLOAT16)
    clip = rounded(lambda low, x, high: np.minimum(np.maximum(x, low), high), BFLOAT16)
    assert np.array_equal(clip(one, x, one * 4), np.clip(x.astype(np.float32), 1, 4).astype(BFLOAT16))
    same = np.broadcast_to(one, x.shape)
    assert np.array_equal(clip(same, x, same * 4), clip(one, x, one * 4))
    assert np.array_equal(rounded(np.exp, BFLOAT16)(same), np.full(x.shape, np.e, BFLOAT16))
    row = x[:1]
    assert np.array_equal(rounded(np.add, BFLOAT16)(x, row), (x + row))
    for scalar in (one, one[()]):
        assert rounded(np.add, BFLOAT16)(scalar, scalar) == 2
        assert rounded(np.exp, BFLOAT16)(scalar).dtype == BFLOAT16


@pytest.mark.parametrize("size", [0, 1, 3, 70_001])
def test_accepts_any_size_and_strides(size: int) -> None:
    random = np.random.default_rng(5)
    for dtype in (BFLOAT16, FLOAT16, FLOAT8):
        whole = random.standard_normal((size, 3)).astype(dtype)
        for x in (whole[:, 1], whole[::-1, 0], whole.T, np.broadcast_to(whole[:, :1], (size, 3))):
            assert np.array_equal(widen(x), x.astype(np.float32)) and widen(x).shape == x.shape
            assert np.array_equal(narrow(dtype)(widen(x)), x)
            add = rounded(np.add, dtype)
            assert np.array_equal(add(x, x), x + x)


@pytest.mark.parametrize("dtype", [BFLOAT16, FLOAT16, FLOAT8, np.dtype(ml_dtypes.float6_e3m2fn)], ids=str)
@pytest.mark.parametrize("result", ["same", "bool", "int32", "float64"])
def test_tables_match_kernel(dtype: np.dtype, result: str) -> None:
    kernel = {
        "same": rounded(np.tanh, dtype),
        "bool": widened(np.isfinite, dtype, np.dtype(bool)),
        "int32": lambda x: bits(x).astype(np.int32),
        "float64": lambda x: widen(x).astype(np.float64),
    }[result]
    every = next(f for f in FORMATS if f.dtype == dtype).every_element()
    x = np.random.default_rng(6).choice(every, 131_073)
    actual, expected = tabulated(kernel, dtype)(x), in_small_parts(kernel, x)
    assert actual.dtype == expected.dtype and np.array_equal(bits(actual), bits(expected))


def test_tables_of_pairs_match_kernel() -> None:
    random = np.random.default_rng(7)
    x, y = (random.integers(0, 256, (5, 20_001)).astype(np.uint8).view(FLOAT8) for _ in "xy")
    kernel = rounded(np.divide, FLOAT8)
    table = tabulated_pairs(kernel, FLOAT8)
    assert np.array_equal(bits(table(x, y)), bits(kernel(x, y)))
    assert np.array_equal(bits(table(x.T, y.T)), bits(kernel(x, y).T))
    assert np.array_equal(bits(table(x, y[0, :1])), bits(kernel(x, y[0, :1])))


def test_table_is_computed_once_for_first_large_array() -> None:
    sizes = []

    def kernel(x: np.ndarray) -> np.ndarray:
        sizes.append(x.size)
        return x

    run = tabulated(kernel, FLOAT16)
    for size in (4, 70_000, 70_000):
        run(np.zeros(size, FLOAT16))
    assert sizes == [4, 65_536]


def test_does_not_modify_operands() -> None:
    for dtype in (BFLOAT16, FLOAT16, FLOAT8):
        x = np.linspace(-3, 3, 5000).astype(dtype)
        wide = x.astype(np.float32)
        x.flags.writeable = wide.flags.writeable = False
        widen(x), narrow(dtype)(wide), rounded(np.add, dtype)(x, x), tabulated(rounded(np.exp, dtype), dtype)(x)


# --- forms that write into an argument ------------------------------------------------------------------------------


@pytest.mark.parametrize("format", [BFLOAT16, FLOAT16, FLOAT8], ids=str)
@pytest.mark.parametrize("layout", [np.s_[:, :], np.s_[:, ::2], np.s_[::-1], np.s_[:3, :3]])
def test_forms_that_write_into_an_argument_agree(format: np.dtype, layout: object) -> None:
    x = np.random.default_rng(0).standard_normal((50, 60)).astype(np.float32)
    for kernel, operand in ((widen, x.astype(format)), (narrow(format), x)):
        into, part = into_form(kernel), operand[layout]
        expected = kernel(part)
        out = np.empty_like(np.repeat(expected, 2, axis=1))[:, ::2]
        for target in (out, np.empty_like(expected)):
            assert into is not None
            assert into(part, out=target) is target
            assert np.array_equal(bits(np.ascontiguousarray(target)), bits(np.ascontiguousarray(expected)))
