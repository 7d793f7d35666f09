"""Approximations of f32 functions by tables, against long double, and the kernels that round them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import special, special_functions
from stablehlo_ref.numerics.dtypes import FLOAT32
from stablehlo_ref.numerics.single_tables import BLOCK, Approximation, Buffers, by_tables

FUNCTIONS: dict[str, tuple[Approximation, Callable[[Array], Array]]] = {
    "erf": (special.ERF, lambda x: special_functions.erf(np.clip(x, -4, 4))),
    "erfc": (special.ERFC, lambda x: special_functions.erfc(np.maximum(x, -4))),
    "erf_inv": (special.ERF_INV, special_functions.erf_inv),
}
has_wide_long_double = pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 2.0**-60, reason="long double is not wider than f64"
)


@pytest.fixture(autouse=True)
def without_warnings():
    with np.errstate(all="ignore"):
        yield


def operands() -> Array:
    """Return f32 numbers of all magnitudes, around 0 and 1, in between points of tables, and near multiples of pi/2."""
    rng = np.random.default_rng(3)
    between = np.arange(-600, 600) + np.array([[0.499], [0.501]])
    angles = np.arange(-32, 33) * (np.pi / 2) * np.array([[1.0], [1.0 + 2.0**-23], [1.0 - 2.0**-23]])
    parts = [
        rng.standard_normal(200_000), np.exp2(rng.uniform(-120, 7, 200_000)), -np.exp2(rng.uniform(-120, 7, 100_000)),
        1.0 + rng.standard_normal(50_000) * 2.0 ** rng.uniform(-24, -6, 50_000), between / 256, between * np.pi / 512,
        1.0 + between / 1024, angles,
        1.0 - np.exp2(rng.uniform(-24, 0, 50_000)),
    ]  # fmt: skip
    return np.concatenate([np.ravel(x) for x in parts]).astype(np.float32)


def known(approximation: Approximation, x: Array) -> tuple[Array, Array]:
    """Return the operands that an approximation covers, and its results."""
    buffers = Buffers(x.size)
    approximation.locate(x, buffers)
    is_known = buffers.bits < approximation.size
    x = x[is_known]
    buffers = Buffers(x.size)
    approximation.locate(x, buffers)
    buffers.index[...] = buffers.bits
    return x, approximation.evaluate(x, buffers)


@has_wide_long_double
@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_are_within_the_bound(name: str) -> None:
    approximation, exact = FUNCTIONS[name]
    x, result = known(approximation, operands())
    assert x.size > 200_000
    expected = exact(x.astype(np.longdouble))
    is_zero = expected == 0
    np.testing.assert_array_equal(result[is_zero], 0.0)
    largest = np.abs(result[~is_zero] / expected[~is_zero] - 1).max()
    assert largest < approximation.error


@pytest.mark.parametrize("name", FUNCTIONS)
def test_large_arrays_agree_with_small_ones(name: str) -> None:
    """Of random bits, of blocks most of which the table does not cover, and of a last block that is short."""
    rng = np.random.default_rng(4)
    bits = rng.integers(0, 1 << 32, 2 * BLOCK + 1001, dtype=np.uint32).view(np.float32)
    others = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0**-149, -(2.0**-149)], np.float32)
    x = np.concatenate([rng.standard_normal(BLOCK - 3).astype(np.float32), others, bits, others])
    kernel = getattr(special, name)(FLOAT32)
    expected = np.concatenate([kernel(x[i : i + 1000]) for i in range(0, x.size, 1000)])
    is_number = ~np.isnan(expected)
    for actual in (kernel(x), by_tables(FUNCTIONS[name][0], kernel)(x)):
        np.testing.assert_array_equal(actual, expected)
        np.testing.assert_array_equal(np.signbit(actual[is_number]), np.signbit(expected[is_number]))
    shaped = x[: 3 * 7 * 1001].reshape(3, 7, 1001)
    np.testing.assert_array_equal(kernel(shaped.transpose(2, 0, 1)), kernel(shaped).transpose(2, 0, 1))


def test_elements_in_doubt_are_computed_again() -> None:
    """Results near ties, on either side, and only those."""
    tie, bound = 1.0 + 2.0**-24, 2.0**-40
    results = np.array([tie, tie * (1 - bound / 2), tie * (1 + bound / 2), tie * (1 - 4 * bound), 1.0, 0.0, -tie])

    def evaluate(x: Array, buffers: Buffers) -> Array:
        return np.copyto(buffers.first, np.resize(results, x.size)) or buffers.first

    def locate(x: Array, buffers: Buffers) -> None:
        buffers.bits[...] = 0

    kernel = by_tables(Approximation(locate, 1, evaluate, bound), lambda x: np.full_like(x, 7.0))
    actual = kernel(np.zeros(7 * 2048, np.float32))
    np.testing.assert_array_equal(actual, np.tile(np.array([7, 7, 7, 1, 1, 0, 7], np.float32), 2048))
