"""The Hurwitz zeta function and the derivatives of digamma of f64: where they are defined, their limits, 80 digits."""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import multiple_precision_special as precise
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.multiple_precision import Function
from stablehlo_ref.numerics.piecewise import replace_where
from stablehlo_ref.numerics.portable.special import DIGAMMA
from stablehlo_ref.numerics.portable.ziv import exactly_rounded


def is_regular(s: Array, q: Array) -> Array:
    """Return whether `q` is not a pole and all powers are real."""
    is_regular: Array = (q > 0) | ((q > -np.inf) & (q != np.rint(q)) & (s == np.rint(s)))
    return is_regular


def limits(s: Array, q: Array) -> Array:
    """Return the values of zeta at and beyond the ends of the domain, NaN elsewhere."""
    even = np.fmod(s, 2.0) == 0
    pole = np.where(even & (q == np.rint(q)), np.inf, np.nan)
    endless = np.where(q < 1.0, np.inf, np.where(q == 1.0, 1.0, 0.0))
    positive = np.where(s == np.inf, endless, np.where(q == np.inf, 0.0, np.nan))
    result = np.where(q > 0, positive, pole)
    result = np.where(s > 1.0, result, np.where(s == 1.0, np.inf, np.nan))
    return np.where(np.isnan(s) | np.isnan(q), np.nan, result)


def is_natural(n: Array) -> Array:
    """Return where `n` is a positive integer."""
    natural: Array = (n >= 1.0) & (n < np.inf) & (n == np.rint(n))
    return natural


def limits_of_polygamma(n: Array, x: Array) -> Array:
    """Return the values for positive `n` at the ends of the domain, NaN elsewhere."""
    sign = np.where(np.fmod(n, 2.0) == 0, -1.0, 1.0)
    return np.where(is_natural(n), sign * limits(n + 1.0, x), np.nan)


_POSITIVE = exactly_rounded(
    precise.polygamma, limits_of_polygamma, lambda n, x: is_natural(n) & (x < np.inf) & is_regular(n, x)
)


def _polygamma(n: Array, x: Array) -> Array:
    n, x = np.broadcast_arrays(n, x)
    return replace_where(_POSITIVE(n, x), n == 0, DIGAMMA, x)


ZETA: dict[Function, ArrayKernel] = {
    precise.zeta: exactly_rounded(
        precise.zeta, limits, lambda s, q: (s > 1.0) & (s < np.inf) & (q < np.inf) & is_regular(s, q)
    ),
    precise.polygamma: _polygamma,
}
