"""Compare conversions with Python's integers and fractions, and implementation-defined results with those of XLA."""

import itertools
import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from exact import array, wrap
from formats import FORMATS, Format

from stablehlo_ref.numerics.conversion import bitcast, convert, reduce_precision
from stablehlo_ref.numerics.dtypes import FLOAT_DTYPES, INTEGER_DTYPES, bit_width, max_value, min_value

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # as in the interpreter
BOOL, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128 = map(np.dtype, ("?", "f4", "f8", "c8", "c16"))
BFLOAT16, FLOAT16, INT4 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16), np.dtype(ml_dtypes.int4)
IEEE_FORMATS = [Format(FLOAT32, 8, 23, 127, "ieee"), Format(FLOAT64, 11, 52, 1023, "ieee"), *FORMATS[-2:]]
LARGE = 2000  # elements: more than kernels treat as small


def integers(dtype: np.dtype) -> list[int]:
    """Return integers next to powers of two and to sums of two of them, some of them ties in some format."""
    powers = [1 << i for i in range(bit_width(dtype))]
    sums = [a + b for a, b in itertools.combinations(powers[::3] + powers[1::3], 2)]
    near = [n + d for n in powers + sums for d in (-1, 0, 1)]
    return sorted({wrap(sign * n, dtype) for n in near for sign in (1, -1)})


def check(from_dtype: np.dtype, to_dtype: np.dtype, x: np.ndarray, expected: np.ndarray) -> None:
    """Convert `x` as a whole, repeated in a large array, and as scalars; compare bits, except those of NaNs."""
    kernel = convert(from_dtype, to_dtype)
    repeat = 1 + LARGE // x.size
    for copies in (1, repeat):
        actual = kernel(np.tile(x, copies))
        assert actual.dtype == to_dtype and actual.shape == (copies * x.size,)
        expectations = np.tile(expected, copies)
        same = actual.view(f"u{to_dtype.itemsize}") == expectations.view(f"u{to_dtype.itemsize}")
        if to_dtype in FLOAT_DTYPES:
            same |= np.isnan(actual.astype(FLOAT64)) & np.isnan(expectations.astype(FLOAT64))
        wrong = np.flatnonzero(~same)[:4]
        assert same.all(), [(np.tile(x, copies)[i], actual[i], expectations[i]) for i in wrong]
    for i in range(0, x.size, 1 + x.size // 5):
        scalar = kernel(x[i])
        assert scalar.dtype == to_dtype and scalar.ndim == 0
        assert scalar.tobytes() == kernel(x[i : i + 1]).tobytes()


# --- convert --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("from_dtype", INTEGER_DTYPES, ids=str)
@pytest.mark.parametrize("to_dtype", [*INTEGER_DTYPES, BOOL], ids=str)
def test_integers_wrap_around(from_dtype: np.dtype, to_dtype: np.dtype) -> None:
    values = integers(from_dtype)
    if to_dtype == BOOL:
        expected = np.array([value != 0 for value in values])
    else:
        expected = array([wrap(value, to_dtype) for value in values], to_dtype)
    check(from_dtype, to_dtype, array(values, from_dtype), expected)


def rounded_integer(value: int, precision: int) -> int:
    """Round `value` to `precision` significant bits, ties to even."""
    unit = 1 << max(0, abs(value).bit_length() - precision)
    return round(Fraction(value, unit)) * unit


def expected_float(value: int, format: Format) -> float:
    if format.specials == "unsigned":
        return 2.0 ** round(math.log2(value * 2 / 3 + 1e-9) + 0.5) if value > 0 else math.nan
    result = rounded_integer(value, format.mantissa_bits + 1)
    largest = (2 - 2**-format.mantissa_bits) * 2.0 ** ((1 << format.exponent_bits - 1) - 1)
    largest = float(format.magnitudes[-1]) if format.dtype.itemsize < 4 else largest
    if abs(result) <= largest:
        return float(result)
    return math.copysign({"ieee": math.inf, "mx": largest}.get(format.specials, math.nan), value)


@pytest.mark.parametrize("from_dtype", INTEGER_DTYPES, ids=str)
@pytest.mark.parametrize("format", [*FORMATS, *IEEE_FORMATS[:2]], ids=str)
def test_integers_to_floats_round_once(from_dtype: np.dtype, format: Format) -> None:
    values = integers(from_dtype)
    if format.specials == "unsigned":  # powers of two only: the tests of `narrow` cover ties
        values = [value for value in values if value.bit_count() == 1]
    expected = np.array([expected_float(value, format) for value in values]).astype(format.dtype)  # exact
    check(from_dtype, format.dtype, array(values, from_dtype), expected)


def saturated(value: float, dtype: np.dtype) -> int:
    if math.isnan(value):
        return 0
    low, high = int(min_value(dtype)), int(max_value(dtype))
    return high if value >= high else low if value <= low else math.trunc(value)


@pytest.mark.parametrize("to_dtype", INTEGER_DTYPES, ids=str)
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_narrow_floats_to_integers_saturate(format: Format, to_dtype: np.dtype) -> None:
    expected = array([saturated(float(value), to_dtype) for value in format.values], to_dtype)
    check(format.dtype, to_dtype, format.every_element(), expected)


@pytest.mark.parametrize("to_dtype", INTEGER_DTYPES, ids=str)
@pytest.mark.parametrize("from_dtype", [FLOAT32, FLOAT64], ids=str)
@pytest.mark.parametrize("only", ["in range", "all"])
def test_floats_to_integers_saturate(from_dtype: np.dtype, to_dtype: np.dtype, only: str) -> None:
    limits = [2.0**i for i in range(66)] + [float(int(min_value(to_dtype))), float(int(max_value(to_dtype)))]
    near = [np.nextafter(from_dtype.type(x), from_dtype.type(y)) for x in limits for y in (-1e30, 0, 1e30)]
    x = np.array([*near, 0.5, 1.5, 2.999, 1e30, math.inf, math.nan, 0.0, 1e-40], from_dtype)
    x = np.concatenate([x, -x])
    if only == "in range":
        x = x[(x > float(int(min_value(to_dtype)))) & (x < float(int(max_value(to_dtype))))]
    expected = array([saturated(float(value), to_dtype) for value in x], to_dtype)
    check(from_dtype, to_dtype, x, expected)


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_floats_to_booleans_compare_with_zero(format: Format) -> None:
    check(format.dtype, BOOL, format.every_element(), format.values != 0)
    check(FLOAT32, BOOL, np.array([0, -0.0, 1e-45, math.nan, math.inf], np.float32), np.array([0, 0, 1, 1, 1], bool))


@pytest.mark.parametrize("dtype", [*INTEGER_DTYPES, *FLOAT_DTYPES, COMPLEX64, COMPLEX128], ids=str)
def test_booleans_convert_to_zero_and_one(dtype: np.dtype) -> None:
    x = np.array([True, False, True])
    result = convert(BOOL, dtype)(x)
    assert result.dtype == dtype
    zero = math.nan if dtype == ml_dtypes.float8_e8m0fnu else 0
    assert np.array_equal(result.astype(np.complex128), [1, zero, 1], equal_nan=True)


@pytest.mark.parametrize("from_format", FORMATS, ids=str)
@pytest.mark.parametrize("to_format", FORMATS, ids=str)
def test_narrow_floats_to_narrow_floats_round_once(from_format: Format, to_format: Format) -> None:
    """The oracle rounds f32 numbers, which represent all values of these formats, one at a time."""
    wide = from_format.values.astype(np.float32)
    nearest_to_least = (wide > 2.0**-127) & (wide < 1.5 * 2.0**-127)  # ml_dtypes rounds these up
    expected = np.where(nearest_to_least & (to_format.specials == "unsigned"), 2.0**-127, wide).astype(to_format.dtype)
    x = from_format.every_element()
    if from_format == to_format:
        expected = x
    if to_format.specials == "mx":  # NaN converts to zero of either sign
        x, expected = x[~np.isnan(wide)], expected[~np.isnan(wide)]
    check(from_format.dtype, to_format.dtype, x, expected)


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_widening_is_exact(format: Format) -> None:
    for dtype in (FLOAT32, FLOAT64):
        check(format.dtype, dtype, format.every_element(), format.values.astype(dtype))


def test_f64_to_f32_rounds_to_even() -> None:
    x = np.array([1 + 2**-24, 1 + 3 * 2**-24, 1 + 2**-24 + 2**-50, 1e300, -1e300, 2.0**-150, 1.5 * 2.0**-149])
    expected = np.array([1, 1 + 2**-22, 1 + 2**-23, math.inf, -math.inf, 0, 2.0**-148], np.float32)
    check(FLOAT64, FLOAT32, x, expected)


def test_complex_to_real_takes_real_part() -> None:
    x = np.array([1.5 + 2j, -3.7 - 1j, 0 + 1j, complex(math.nan, 0)], np.complex64)
    assert convert(COMPLEX64, np.dtype(np.int32))(x).tolist() == [1, -3, 0, 0]
    assert convert(COMPLEX64, BOOL)(x).tolist() == [True, True, False, True]
    assert np.array_equal(convert(COMPLEX64, FLOAT64)(x), x.real.astype(float), equal_nan=True)
    assert convert(COMPLEX64, BFLOAT16)(x)[1] == np.array(-3.7, np.float32).astype(BFLOAT16)
    assert convert(COMPLEX64, COMPLEX128)(x[:2]).tolist() == x[:2].tolist()
    assert convert(np.dtype(np.int64), COMPLEX128)(np.array([-1, 0, 1])).tolist() == [-1, 0, 1]
    for dtype in (INT4, BFLOAT16, BOOL):
        assert convert(dtype, COMPLEX64)(np.ones(2, dtype)).tolist() == [1, 1]


def test_conversion_to_same_type_returns_operand() -> None:
    for dtype in (*INTEGER_DTYPES, *FLOAT_DTYPES, BOOL, COMPLEX64):
        x = np.zeros(3, dtype)
        assert convert(dtype, dtype)(x) is x


# --- bitcast_convert ------------------------------------------------------------------------------------------------

REAL = [BOOL, *INTEGER_DTYPES, *FLOAT_DTYPES]


@pytest.mark.parametrize("from_dtype", REAL, ids=str)
def test_bitcast_between_all_types_of_matching_width(from_dtype: np.dtype) -> None:
    random = np.random.default_rng(8)
    for to_dtype in REAL:
        n, m = bit_width(from_dtype), bit_width(to_dtype)
        if max(n, m) % min(n, m):
            continue
        parts = [max(1, m // n)] if m > n else []
        rows = [[int.from_bytes(random.bytes(8)) >> (64 - n) for _ in range(max(1, m // n))] for _ in range(6)]
        patterns = [sum(part << n * i for i, part in enumerate(row)) for row in rows]
        x = array([part for row in rows for part in row], np.dtype(f"u{from_dtype.itemsize}")).view(from_dtype)
        result = bitcast(from_dtype, to_dtype)(x.reshape(2, 3, *parts))
        assert result.dtype == to_dtype
        assert result.shape == (2, 3, *([n // m] if n > m else []))
        expected = [pattern >> m * i & (1 << m) - 1 for pattern in patterns for i in range(max(1, n // m))]
        assert result.reshape(-1).view(f"u{to_dtype.itemsize}").tolist() == expected, to_dtype
        back = bitcast(to_dtype, from_dtype)(result)
        assert back.tobytes() == x.tobytes() and back.shape == (2, 3, *parts)


def test_bitcast_example_of_spec() -> None:
    x = np.array(0x0123456789ABCDEF, np.uint64).view(np.float64)
    for operand in (x, x[()]):
        result = bitcast(FLOAT64, FLOAT16)(operand)
        assert result.view(np.uint16).tolist() == [0xCDEF, 0x89AB, 0x4567, 0x0123]
        assert bitcast(FLOAT16, FLOAT64)(result).tobytes() == x.tobytes()


def test_bitcast_of_complex_strided_and_empty_arrays() -> None:
    x = np.arange(8, dtype=np.float32).view(np.complex64).reshape(2, 2)
    assert bitcast(COMPLEX64, COMPLEX128)(x).view(np.complex64).reshape(2, 2).tolist() == x.tolist()
    strided = np.arange(24, dtype=np.uint16).reshape(3, 2, 4).T
    assert bitcast(np.dtype(np.uint16), np.dtype(np.uint8))(strided).shape == (4, 2, 3, 2)
    halves = bitcast(np.dtype(np.uint16), INT4)(strided)
    assert bitcast(INT4, np.dtype(np.uint16))(halves).tolist() == strided.tolist()
    empty = [("u4", "u1", (0, 3), (0, 3, 4)), ("u1", "u4", (0, 4), (0,)), ("u2", INT4, (0,), (0, 4))]
    for a, b, shape, result in empty:
        assert bitcast(np.dtype(a), np.dtype(b))(np.zeros(shape, a)).shape == result
    assert bitcast(INT4, np.dtype(np.uint8))(np.zeros((0, 2), INT4)).shape == (0,)


# --- reduce_precision -----------------------------------------------------------------------------------------------


def reduced(value: float, exponents: int, mantissas: int, least: int | None, format: Format) -> float:
    """Compute the spec's three steps in fractions; numbers below 2^least share the position of the last bit.

    The last step is for formats with fewer exponent bits than `format`.
    """
    if math.isnan(value) or math.isinf(value) or value == 0:
        return value
    exponent = max(math.frexp(value)[1] - 1, least)
    unit = Fraction(2) ** (exponent - min(mantissas, format.mantissa_bits))
    result = round(Fraction(value) / unit) * unit
    if exponents < format.exponent_bits:
        bias = (1 << exponents - 1) - 1
        if abs(result) >= Fraction(2) ** (bias + 1):
            return math.copysign(math.inf, value)
        if abs(result) < Fraction(2) ** (1 - bias):
            return math.copysign(0, value)
    try:
        return math.copysign(float(result), value)
    except OverflowError:
        return math.copysign(math.inf, value)


def boundary_floats(format: Format) -> np.ndarray:
    """Return random bit patterns, numbers next to powers of two, and numbers near 1."""
    random = np.random.default_rng(9)
    bits = random.integers(0, 1 << 63, 600).astype(np.uint64) >> np.uint64(64 - 8 * format.dtype.itemsize)
    width = format.mantissa_bits
    exponents = np.arange(0, (1 << format.exponent_bits) + 1, max(1, (1 << format.exponent_bits) // 64))
    edges = (exponents.astype(np.uint64)[:, None] << np.uint64(width)) + np.arange(-3, 4).astype(np.uint64)
    near_one = np.arange(1, 200).astype(np.uint64) * np.uint64(1 << max(0, width - 7)) + np.uint64(format.bias << width)
    x = np.concatenate([bits, edges.reshape(-1), near_one]).astype(format.bits).view(format.dtype)
    return np.concatenate([x, -x])


@pytest.mark.parametrize("format", IEEE_FORMATS, ids=str)
@pytest.mark.parametrize("exponents, mantissas", [(5, 10), (8, 7), (4, 3), (2, 1), (1, 4), (11, 52), (8, 23), (40, 5)])
def test_reduce_precision_of_ieee_formats(format: Format, exponents: int, mantissas: int) -> None:
    x = boundary_floats(format)
    least = 1 - format.bias
    expected = np.array([reduced(float(v), exponents, mantissas, least, format) for v in x]).astype(format.dtype)
    kernel = reduce_precision(format.dtype, exponents, mantissas)
    for copies in (1, 70_000 // x.size):
        actual = kernel(np.tile(x, copies))[-x.size :]
        nan = np.isnan(x.astype(FLOAT64))
        assert np.array_equal(actual[nan].view(format.bits), x[nan].view(format.bits))
        wrong = (actual.view(format.bits) != expected.view(format.bits)) & ~nan
        assert not wrong.any(), (x[wrong][:4], actual[wrong][:4], expected[wrong][:4])
    for i in range(0, x.size, 50):
        assert kernel(x[i]).tobytes() == kernel(x[i : i + 1]).tobytes()


@pytest.mark.parametrize("format", [f for f in FORMATS if f.dtype.itemsize == 1], ids=str)
@pytest.mark.parametrize(("exponents", "mantissas"), [(1, 1), (2, 1), (3, 2), (4, 2), (4, 3), (5, 2), (8, 7)])
def test_reduce_precision_of_8_bits(format: Format, exponents: int, mantissas: int) -> None:
    """The oracle computes with numbers; overflow and underflow become the format's substitutes of infinity and zero."""
    expected = []
    least = 1 - format.bias if format.mantissa_bits else -1000
    for value in format.values:
        result = reduced(float(value), exponents, mantissas, least, format)
        expected.append(np.float32(result).astype(format.dtype))
    actual = reduce_precision(format.dtype, exponents, mantissas)(format.every_element())
    assert actual.dtype == format.dtype
    assert np.array_equal(actual.astype(float), np.array(expected).astype(float), equal_nan=True)


@pytest.mark.parametrize("format", [f for f in FORMATS if f.dtype.itemsize == 1 and f.mantissa_bits], ids=str)
def test_the_widths_of_a_type_itself_change_nothing(format: Format) -> None:
    x = format.every_element()
    for more in (0, 1, 5):
        actual = reduce_precision(format.dtype, format.exponent_bits + more, format.mantissa_bits + more)(x)
        assert np.array_equal(actual.astype(float), x.astype(float), equal_nan=True)
        assert np.array_equal(np.signbit(actual), np.signbit(x))


@pytest.mark.parametrize("name", ["float8_e5m2", "float8_e5m2fnuz", "bfloat16", "float16", "float32"])
@pytest.mark.parametrize("ieee", ["float8_e4m3", "float8_e3m4"])
def test_reduce_precision_converts_to_a_type_and_back(name: str, ieee: str) -> None:
    """ml_dtypes converts to a type of IEEE-754; the numbers that are normal there return, and others become zero."""
    source, finfo = np.dtype(name), ml_dtypes.finfo(ieee)
    width = bit_width(source)
    x = (np.arange(1 << min(width, 16)) << max(0, width - 16)).astype(f"u{source.itemsize}").view(source)
    values, normal = x.astype(FLOAT32), float(finfo.smallest_normal)
    expected = np.where(np.abs(values) < normal, 0, values.astype(ieee).astype(FLOAT32)).astype(source)
    actual = reduce_precision(source, int(finfo.nexp), int(finfo.nmant))(x)
    is_below = (np.abs(values) > 0.9 * normal) & (np.abs(values) < normal)  # may round to the smallest normal number
    same = (actual.astype(FLOAT32) == expected.astype(FLOAT32)) | (np.isnan(actual) & np.isnan(expected))
    assert (same | is_below).all() and np.isin(np.abs(actual[is_below]).astype(FLOAT32), (0, normal)).all()


def test_reduce_precision_without_mantissa_matches_xla() -> None:
    x = [1.5, 3, 6, 12, -1.5, 0.75, 0, -0.0, 2.0**-149, 2.0**-126, 1.75 * 2.0**127, 1.5 * 2.0**127]
    e8 = [2, 2, 8, 8, -2, 0.5, 0, -0.0, 0, 2.0**-126, math.inf, 2.0**127]
    e5 = [2, 2, 8, 8, -2, 0.5, 0, -0.0, 0, 0, math.inf, math.inf]
    for exponents, expected in ((8, e8), (5, e5)):
        actual = reduce_precision(FLOAT32, exponents, 0)(np.array(x, np.float32))
        assert actual.tobytes() == np.array(expected, np.float32).tobytes()


def test_reduce_precision_example_of_spec() -> None:
    x = np.array([math.inf, math.nan, 5e-324, 0.0, 65519.0, 65520.0])
    expected = [math.inf, math.nan, 0.0, 0.0, 65504.0, math.inf]
    kernel = reduce_precision(FLOAT64, 5, 10)
    assert np.array_equal(kernel(x), expected, equal_nan=True)
    assert [float(kernel(value)) for value in x[2:]] == expected[2:]


def test_does_not_modify_operands() -> None:
    for from_dtype in (FLOAT32, FLOAT64, BFLOAT16, INT4, np.dtype(np.int64)):
        x = np.ones(LARGE, from_dtype)
        x.flags.writeable = False
        for to_dtype in REAL:
            convert(from_dtype, to_dtype)(x)
        if from_dtype in FLOAT_DTYPES:
            reduce_precision(from_dtype, 4, 3)(x)
