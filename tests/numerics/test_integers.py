"""Compare integer kernels with Python's unbounded integers, exhaustively for types of up to 8 bits."""

import itertools
from functools import cache

import numpy as np
import pytest
from exact import array, bits_of, numbers, wrap, wrapped

from stablehlo_ref.numerics import integers
from stablehlo_ref.numerics.dtypes import INTEGER_DTYPES, bit_width, max_value, min_value
from stablehlo_ref.numerics.kernels import same_kernel

NARROW = [dtype for dtype in INTEGER_DTYPES if bit_width(dtype) <= 8]
WIDE = [dtype for dtype in INTEGER_DTYPES if bit_width(dtype) > 8]


def divide(x: int, y: int) -> int:
    quotient = abs(x) // abs(y) if y else 0
    return (quotient if (x < 0) == (y < 0) else -quotient) if y else -1


def power(x: int, y: int) -> int:
    if y >= 0:
        return pow(x, y, 1 << 128)
    return {1: 1, -1: -1 if y % 2 else 1}.get(x, 0)


def shift_left(x: int, y: int, dtype: np.dtype) -> int:
    return x << bits_of(y, dtype) if bits_of(y, dtype) < bit_width(dtype) else 0


def shift_right_logical(x: int, y: int, dtype: np.dtype) -> int:
    return bits_of(x, dtype) >> bits_of(y, dtype)


def shift_right_arithmetic(x: int, y: int, dtype: np.dtype) -> int:
    width = bit_width(dtype)
    signed = bits_of(x, dtype) - (bits_of(x, dtype) >> (width - 1) << width)
    return signed >> min(bits_of(y, dtype), width)


BINARY = {
    "add": lambda x, y, dtype: x + y,
    "subtract": lambda x, y, dtype: x - y,
    "multiply": lambda x, y, dtype: x * y,
    "divide": lambda x, y, dtype: divide(x, y),
    "remainder": lambda x, y, dtype: x - divide(x, y) * y,
    "power": lambda x, y, dtype: power(x, y),
    "maximum": lambda x, y, dtype: max(x, y),
    "minimum": lambda x, y, dtype: min(x, y),
    "bitwise_and": lambda x, y, dtype: x & y,
    "bitwise_or": lambda x, y, dtype: x | y,
    "bitwise_xor": lambda x, y, dtype: x ^ y,
    "shift_left": shift_left,
    "shift_right_logical": shift_right_logical,
    "shift_right_arithmetic": shift_right_arithmetic,
}
UNARY = {
    "negate": lambda x, dtype: -x,
    "bitwise_not": lambda x, dtype: ~x,
    "count_leading_zeros": lambda x, dtype: bit_width(dtype) - bits_of(x, dtype).bit_length(),
    "popcnt": lambda x, dtype: bits_of(x, dtype).bit_count(),
    "abs": lambda x, dtype: abs(x),
    "sign": lambda x, dtype: (x > 0) - (x < 0),
}
COMPARISONS = {
    "EQ": lambda x, y: x == y,
    "NE": lambda x, y: x != y,
    "GE": lambda x, y: x >= y,
    "GT": lambda x, y: x > y,
    "LE": lambda x, y: x <= y,
    "LT": lambda x, y: x < y,
}


def every_value(dtype: np.dtype) -> list[int]:
    return list(range(int(min_value(dtype)), int(max_value(dtype)) + 1))


def boundary_values(dtype: np.dtype) -> list[int]:
    """Return powers of two, their negatives and, at the widths of machine types, their neighbours; and random integers.

    The random ones have all magnitudes.
    """
    neighbours = {i: (-1, 0, 1) if i in (0, 1, 7, 8, 15, 16, 31, 32, 62, 63) else (0,) for i in range(bit_width(dtype))}
    near_powers = [sign * (1 << i) + d for i, apart in neighbours.items() for d in apart for sign in (1, -1)]
    random = np.random.default_rng(1)
    spread = [int(random.integers(0, 1 << 62)) * 4 + i % 4 >> int(random.integers(0, 64)) for i in range(30)]
    return sorted({wrap(value, dtype) for value in [*near_powers, *spread, *(-value for value in spread)]})


def values(dtype: np.dtype) -> list[int]:
    return every_value(dtype) if dtype in NARROW else boundary_values(dtype)


@cache
def pairs(dtype: np.dtype) -> tuple[list[int], list[int]]:
    """Return all pairs of values, as two lists."""
    xs, ys = zip(*itertools.product(values(dtype), repeat=2))
    return list(xs), list(ys)


def check(name: str, kernel, operands: list[list[int]], expected: list[int], dtype: np.dtype) -> None:
    with np.errstate(all="ignore"):
        actual = kernel(*(array(operand, dtype) for operand in operands))
    assert actual.dtype == dtype
    stored = actual.view(np.dtype(f"u{dtype.itemsize}"))
    assert int(stored.max()) < 1 << bit_width(dtype), f"{name}: a bit above the {bit_width(dtype)} of {dtype} is set"
    wrong = [(*xs, a, e) for *xs, a, e in zip(*operands, numbers(actual), expected) if a != e]
    assert not wrong, f"{name} of {dtype}: operands, actual, expected: {wrong[:5]}"


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_binary_ops_match_python(name: str, dtype: np.dtype) -> None:
    xs, ys = pairs(dtype)
    expected = wrapped([BINARY[name](x, y, dtype) for x, y in zip(xs, ys)], dtype)
    check(name, getattr(integers, name)(dtype), [xs, ys], expected, dtype)


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_unary_ops_match_python(name: str, dtype: np.dtype) -> None:
    expected = wrapped([UNARY[name](x, dtype) for x in values(dtype)], dtype)
    check(name, getattr(integers, name)(dtype), [values(dtype)], expected, dtype)


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
@pytest.mark.parametrize("direction", COMPARISONS)
def test_compare_matches_python(direction: str, dtype: np.dtype) -> None:
    xs, ys = pairs(dtype)
    actual = integers.compare(direction)(dtype)(array(xs, dtype), array(ys, dtype))
    assert actual.dtype == bool
    assert actual.tolist() == [COMPARISONS[direction](x, y) for x, y in zip(xs, ys)]


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
def test_clamp_matches_python(dtype: np.dtype) -> None:
    some = values(dtype)[:: max(1, len(values(dtype)) // 16)]
    low, operand, high = (list(column) for column in zip(*itertools.product(some, repeat=3)))
    expected = [min(max(x, a), b) for a, x, b in zip(low, operand, high)]
    check("clamp", integers.clamp(dtype), [low, operand, high], expected, dtype)


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
@pytest.mark.parametrize("name", [*BINARY, *UNARY])
def test_scalars_match_arrays(name: str, dtype: np.dtype) -> None:
    kernel = getattr(integers, name)(dtype)
    count = 2 if name in BINARY else 1
    for x, y in itertools.product([-1, 0, 1, 3], repeat=2):
        operands = [array([wrap(v, dtype)], dtype) for v in (x, y)[:count]]
        with np.errstate(all="ignore"):
            expected = numbers(kernel(*operands))
        for scalar in (lambda a: a[0], lambda a: a.reshape(())):
            with np.errstate(all="ignore"):
                result = kernel(*map(scalar, operands))
            assert result.dtype == dtype and result.ndim == 0
            assert numbers(result) == expected


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
@pytest.mark.parametrize("name", ["divide", "remainder", "power", "count_leading_zeros"])
def test_large_arrays_match_small_ones(name: str, dtype: np.dtype) -> None:
    random = np.random.default_rng(2)
    bits = [
        random.integers(0, 1 << bit_width(dtype), (3, 50_001), f"u{dtype.itemsize}")
        for _ in range(2 if name in BINARY else 1)
    ]
    large = [x.view(dtype) for x in bits]
    kernel = getattr(integers, name)(dtype)
    with np.errstate(all="ignore"):
        whole = kernel(*large)
        parts = [kernel(*(x[:, i : i + 300] for x in large)) for i in range(0, 50_001, 300)]
    assert whole.shape == (3, 50_001)
    assert whole.tobytes() == np.concatenate(parts, axis=1).tobytes()


def test_does_not_modify_operands() -> None:
    x = np.array([7, -7, 5], np.int32)
    y = np.array([2, 0, -1], np.int32)
    x.flags.writeable = y.flags.writeable = False
    with np.errstate(all="ignore"):
        for name in BINARY:
            getattr(integers, name)(x.dtype)(x, y)
        for name in UNARY:
            getattr(integers, name)(x.dtype)(x)


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
@pytest.mark.parametrize("last", [0, 1, 5, 1000, 2**40])
def test_clamp_index_clamps_to_range(dtype: np.dtype, last: int) -> None:
    start = array(values(dtype), dtype)
    expected = [min(max(x, 0), last) for x in values(dtype)]
    actual = integers.clamp_index(start, last)
    assert actual.dtype == np.intp and actual.tolist() == expected
    scalars = [integers.clamp_index(scalar, last) for scalar in start]
    assert scalars == expected and all(scalar.dtype == np.intp for scalar in scalars)


def test_same_kernel_for_every_dtype() -> None:
    assert all(same_kernel(np.add)(dtype) is np.add for dtype in WIDE)
