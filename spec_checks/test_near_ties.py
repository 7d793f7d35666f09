"""Results next to ties: functions whose first term is a tie, and whose second one is too small for 270 bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from spec_checks.running_error import nearest_f64
from stablehlo_ref.numerics import (
    complex_elementary,
    complexes,
    elementary,
    special,
)
from stablehlo_ref.numerics.correct_rounding import in_mode
from stablehlo_ref.numerics.kernels import KernelFactory

UNIT = 2.0**-1074
BITS = 8000  # the second term of a square root may be 2**-3170 of the first one


def bessel_i1e(x: Any) -> Any:
    return mpmath.besseli(1, x) * mpmath.exp(-abs(x))


@pytest.mark.parametrize(
    ("factory", "exact", "operands"),
    [
        (elementary.logistic, lambda x: 1 / (1 + mpmath.exp(-x)), [3 * 2.0**-52]),
        (elementary.logistic, lambda x: 1 / (1 + mpmath.exp(-x)), [-5 * 2.0**-53]),
        (elementary.atan2, mpmath.atan2, [3 * UNIT, 2.0]),
        (elementary.atan2, mpmath.atan2, [-7 * UNIT, 2.0]),
        (elementary.cosh, mpmath.cosh, [2.0**-26]),
        (elementary.exp2, lambda x: mpmath.mpf(2) ** x, [-1075.0]),
        (elementary.power, lambda x, y: x**y, [2.0**27 + 1, 2.0]),
        (elementary.power, lambda x, y: x**y, [2.0**27 + 3, 2.0]),
    ],
)
def test_of_f64(factory: KernelFactory, exact: Callable[..., Any], operands: list[float]) -> None:
    with mpmath.workprec(BITS):
        expected = nearest_f64(exact(*map(mpmath.mpf, operands)))
    with np.errstate(all="ignore"):
        kernel = in_mode(factory, reproducible=True)(np.dtype(np.float64))
        assert kernel(*[np.array([x]) for x in operands])[0] == expected


@pytest.mark.parametrize(
    ("factory", "exact", "operands"),
    [
        (special.bessel_i1e, bessel_i1e, [3 * UNIT]),
        (special.bessel_i1e, bessel_i1e, [-7 * UNIT]),
        (special.zeta, lambda s, q: sum((q + k) ** -s for k in range(9)), [1074.5, 2.0]),
    ],
)
def test_of_special_functions(factory: KernelFactory, exact: Callable[..., Any], operands: list[float]) -> None:
    with mpmath.workprec(BITS):
        expected = nearest_f64(exact(*map(mpmath.mpf, operands)))
    with np.errstate(all="ignore"):
        kernel = in_mode(factory, reproducible=True)(np.dtype(np.float64))
        assert kernel(*[np.array([x]) for x in operands])[0] == expected


@pytest.mark.parametrize(
    ("factory", "exact", "operand"),
    [
        (complex_elementary.sqrt, mpmath.sqrt, complex(1, 3 * UNIT)),
        (complex_elementary.sqrt, mpmath.sqrt, complex(2.0**1000, 3 * 2.0**-574)),
        (complex_elementary.cosh, mpmath.cosh, complex((1 + 2**-26) * 2.0**-200, (1 + 2**-27) * 2.0**-250)),
        (complex_elementary.log, mpmath.log, complex(2, 3 * UNIT)),
        (complexes.sign, lambda z: z / abs(z), complex(2, 3 * UNIT)),
    ],
)
def test_of_complex_f64(factory: KernelFactory, exact: Callable[..., Any], operand: complex) -> None:
    with mpmath.workprec(BITS):
        value = exact(mpmath.mpc(operand))
        expected = complex(nearest_f64(value.real), nearest_f64(value.imag))
    dtype = np.dtype(np.complex128)
    with np.errstate(all="ignore"):
        assert in_mode(factory, reproducible=True)(dtype)(np.array([operand]))[0] == expected


def test_of_f32() -> None:
    """By default: atan2(1.5u, 1) and bessel_i1e(3u) are below 1.5u for the unit u = 2**-149, and round down."""
    dtype, unit = np.dtype(np.float32), np.float32(2.0**-149)
    y, two = np.array([3, -3, 7], dtype) * unit, np.array([2], dtype)
    np.testing.assert_array_equal(elementary.atan2(dtype)(y, two) / unit, [1, -1, 3])
    np.testing.assert_array_equal(special.bessel_i1e(dtype)(y) / unit, [1, -1, 3])


@pytest.mark.parametrize(("function", "power", "count"), [("erf", 1, 7_430_000), ("erf_inv", -1, 9_460_000)])
def test_products_of_subnormal_f32(function: str, power: int, count: int) -> None:
    """Of nearly all operands with subnormal results, multiples of 2**-149 like these, those closest to ties."""
    with mpmath.workprec(200):
        factor = int(mpmath.floor((2 / mpmath.sqrt(mpmath.pi)) ** power * 2**62))
    operands, mask = np.arange(1, count, dtype=np.uint32), np.uint64(2**31 - 1)
    product, low = (operands * np.uint64(digit) for digit in divmod(factor, 2**31))
    product += (low >> np.uint64(31)) + np.uint64(2**30)  # a half: rounds to nearest
    expected = (product >> np.uint64(31)).astype(np.uint32)
    assert 8_380_000 < expected[-1] < 1 << 23
    from_tie = np.minimum(product & mask, mask - (product & mask))
    assert (from_tie / product).min() > 2.0**-49
    closest = np.argpartition(from_tie, 100_000)[:100_000]
    actual = getattr(special, function)(np.dtype(np.float32))(operands[closest].view(np.float32))
    np.testing.assert_array_equal(actual.view(np.uint32), expected[closest])
