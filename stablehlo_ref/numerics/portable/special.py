"""The special functions of f64, rounded correctly: 80 digits, or results that need none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import multiple_precision_special as precise
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.multiple_precision import Function
from stablehlo_ref.numerics.portable.ziv import exactly_rounded

ERF_IS_ONE = 6.0  # erf rounds to 1 from here on, and erfc to 2 from its negative
ERFC_IS_ZERO = 27.3  # erfc is less than half of the smallest number from here on
ERFC_IS_ONE = 2.0**-55  # erfc rounds to 1 between this and its negative


def _is_pole(x: Array) -> Array:
    """Return where the gamma function has a pole, that is, at zero and the negative integers."""
    pole: Array = (x <= 0) & (np.rint(x) == x)
    return pole


def _erf(x: Array) -> Array:
    return np.where(np.abs(x) >= ERF_IS_ONE, np.copysign(1.0, x), x)


def _erfc(x: Array) -> Array:
    result = np.where(np.abs(x) <= ERFC_IS_ONE, 1.0, x)  # NaN as it is
    return np.where(x >= ERFC_IS_ZERO, 0.0, np.where(x <= -ERF_IS_ONE, 2.0, result))


def _erf_inv(x: Array) -> Array:
    return np.where(np.abs(x) == 1, np.copysign(np.inf, x), np.where(x == 0, x, np.nan))


def _lgamma(x: Array) -> Array:
    return np.where(np.isinf(x) | _is_pole(x), np.inf, np.where((x == 1) | (x == 2), 0.0, np.nan))


def _digamma(x: Array) -> Array:
    at_zero = np.copysign(np.inf, -x)
    return np.where(x == 0, at_zero, np.where(x == np.inf, np.inf, np.nan))


def _is_between(low: float, high: float) -> Callable[[Array], Array]:
    return lambda x: (x > low) & (x < high)


SPECIAL: dict[Function, ArrayKernel] = {
    exact: exactly_rounded(exact, otherwise, is_hard)
    for exact, otherwise, is_hard in (
        (precise.erf, _erf, lambda x: (np.abs(x) < ERF_IS_ONE) & (x != 0)),
        (precise.erfc, _erfc, lambda x: (np.abs(x) > ERFC_IS_ONE) & _is_between(-ERF_IS_ONE, ERFC_IS_ZERO)(x)),
        (precise.erf_inv, _erf_inv, lambda x: (np.abs(x) < 1) & (x != 0)),
        (precise.lgamma, _lgamma, lambda x: np.isfinite(x) & ~_is_pole(x) & (x != 1) & (x != 2)),
        (precise.digamma, _digamma, lambda x: np.isfinite(x) & ~_is_pole(x)),
    )
}
DIGAMMA = SPECIAL[precise.digamma]
