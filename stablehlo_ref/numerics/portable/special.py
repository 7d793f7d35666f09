"""The error and gamma functions of f64, rounded correctly: pairs, then 80 digits, and results that need neither."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import multiple_precision_special as precise
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.multiple_precision import Function
from stablehlo_ref.numerics.portable import error_functions, gamma
from stablehlo_ref.numerics.portable.ziv import Domain, Stage, approximation, correctly_rounded

ERF_IS_ONE = 6.0  # erf rounds to 1 from here on, and erfc to 2 from its negative
ERFC_IS_ZERO = 27.3  # erfc is less than half of the smallest number from here on
SMALLEST = 2.0**-900  # for pairs
GAMMA_SMALLEST, GAMMA_LARGEST = 2.0**-1000, 2.0**1000
ERROR = 2.0**-83
ERFC_IS_ONE = 2.0**-55  # erfc rounds to 1 between this and its negative


def _is_pole(x: Array) -> Array:
    """Return where the gamma function has a pole, that is, at zero and the negative integers."""
    pole: Array = (x <= 0) & (np.rint(x) == x)
    return pole


def _erf(x: Array) -> Array:
    return np.where(np.abs(x) >= ERF_IS_ONE, np.copysign(1.0, x), np.where(x == 0, x, np.nan))


def _erfc(x: Array) -> Array:
    result = np.where(np.abs(x) <= ERFC_IS_ONE, 1.0, np.nan)
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


def _is_gamma_regular(x: Array) -> Array:
    magnitude = np.abs(x)
    regular: Array = (magnitude > GAMMA_SMALLEST) & (magnitude < GAMMA_LARGEST) & ~_is_pole(x) & (x != 1) & (x != 2)
    return regular


SPECIAL: dict[Function, ArrayKernel] = {
    exact: correctly_rounded([stage], exact, Domain(is_regular, otherwise, is_hard))
    for exact, stage, is_regular, otherwise, is_hard in (
        (precise.erf, Stage(approximation(error_functions.erf), ERROR),
         lambda x: (np.abs(x) > SMALLEST) & (np.abs(x) < ERF_IS_ONE), _erf,
         lambda x: (np.abs(x) < ERF_IS_ONE) & (x != 0)),
        (precise.erfc, Stage(error_functions.erfc, ERROR),
         lambda x: (np.abs(x) > ERFC_IS_ONE) & _is_between(-ERF_IS_ONE, error_functions.LARGEST)(x), _erfc,
         lambda x: (x >= error_functions.LARGEST) & (x < ERFC_IS_ZERO)),
        (precise.erf_inv, Stage(approximation(error_functions.erf_inv), ERROR),
         lambda x: (np.abs(x) < 1) & (np.abs(x) > SMALLEST), _erf_inv, lambda x: (np.abs(x) < 1) & (x != 0)),
        (precise.lgamma, Stage(approximation(gamma.lgamma), gamma.ERROR), _is_gamma_regular, _lgamma,
         lambda x: np.isfinite(x) & ~_is_pole(x) & (x != 1) & (x != 2)),
        (precise.digamma, Stage(approximation(gamma.digamma), gamma.ERROR), _is_gamma_regular, _digamma,
         lambda x: np.isfinite(x) & ~_is_pole(x)),
    )
}  # fmt: skip
DIGAMMA = SPECIAL[precise.digamma]
