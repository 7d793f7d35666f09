"""Bounds of complex ops, in the norm: the error of a complex number is that of a point in the plane.

The spec leaves exceptions of complex arithmetic open, so nothing is known where operands, results or the products
inside are infinite, NaN or near to an overflow.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stablehlo_ref.debug.elementary import accuracy, rounded, stored, unknown_where
from stablehlo_ref.debug.regions import recognised
from stablehlo_ref.debug.rounding import OURS, gamma, largest, smallest_normal, unit_roundoff
from stablehlo_ref.debug.shadow import Shadow, Site, Unknown
from stablehlo_ref.debug.sums import dot_algorithm, terms_of
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.dtypes import kind

ROUNDINGS = 4  # how much larger the error of a function is than that of a real one


def _bounded(site: Site, radius: Array, ulps: float, products: Array) -> Shadow:
    """Return the shadow of a finite result, computed from finite products of these magnitudes."""
    if kind(site.dtype) not in ("floating", "complex"):
        raise Unknown
    center = site.wide(site.centers)
    made = rounded(site, center, radius, ulps)
    top = largest(site.dtype) / 4
    is_finite = np.isfinite(center) & (products < top) & (np.abs(center) < top)
    return Shadow(np.where(is_finite, center, 0.0), np.where(is_finite, made.radius, np.inf))


def multiplied(site: Site) -> Shadow:
    lhs, rhs = site.operand(0), site.operand(1)
    sizes = [np.abs(s.center) + s.radius for s in (lhs, rhs)]
    radius = sizes[0] * rhs.radius + sizes[1] * lhs.radius
    return _bounded(site, np.asarray(radius), 2.0, sizes[0] * sizes[1])


def divided(site: Site) -> Shadow:
    """`divide`: unknown where the squared magnitude of the divisor may overflow or underflow."""
    lhs, rhs = site.operand(0), site.operand(1)
    low, high = np.abs(rhs.center) - rhs.radius, np.abs(rhs.center) + rhs.radius
    is_large = low**2 > smallest_normal(site.dtype) / unit_roundoff(site.dtype)
    center = site.wide(site.centers)
    radius = np.where(is_large, (lhs.radius + np.abs(center) * rhs.radius) / np.where(is_large, low, 1), np.inf)
    return _bounded(site, radius, 2.0 * ROUNDINGS, np.maximum(high**2, (np.abs(lhs.center) + lhs.radius) * high))


def same_radius(site: Site) -> Shadow:
    return stored(site, site.wide(site.centers), np.asarray(site.operand(0).radius))


def magnitude(site: Site) -> Shadow:
    """`abs`, computed from squares or without their overflow."""
    operand = site.operand(0)
    size = np.abs(operand.center) + operand.radius
    made = _bounded(site, unknown_where(operand, operand.radius), float(ROUNDINGS), size**2)
    is_tiny = size**2 < smallest_normal(site.dtype) / unit_roundoff(site.dtype)
    return Shadow(made.center, np.where(is_tiny & (size > 0), np.inf, made.radius))


def converted(site: Site) -> Shadow:
    return rounded(site, site.wide(site.centers), np.asarray(site.operand(0).radius))


def function(site: Site) -> Shadow:
    """An elementary function of operands that are known."""
    if not site.is_exact:
        raise Unknown
    sizes = [np.abs(c) for c in site.centers]
    return _bounded(site, np.zeros(()), ROUNDINGS * accuracy(site), np.asarray(np.max(np.stack(sizes), axis=0)))


def summed(site: Site, terms: Callable[[Site], float], roundoff: float) -> Shadow:
    """Bound a sum of complex numbers, or of their products, in any order; each part of it is one of real numbers."""
    if not site.is_exact:
        raise Unknown
    count, u = 2 * terms(site) + 2, unit_roundoff(site.dtype)
    total = np.abs(site.wide([np.abs(c) for c in site.centers]))
    share = 2.0 if site.contract.flush_subnormals else 2 * u
    of_operands = roundoff * (2 + roundoff)
    radius = np.sqrt(2) * ((gamma(count, u) + gamma(count, OURS)) * (1 + of_operands) + of_operands) * total
    radius = radius + count * share * smallest_normal(site.dtype)
    return _bounded(site, radius, 0.5, 2 * total + radius)


def _reduced(site: Site) -> Shadow:
    if recognised(site.op.regions[0]) != "add" or len(site.op.results) > 1 or np.any(site.operand(1).center):
        raise Unknown
    return summed(site, lambda site: site.operand(0).center.size / max(site.wide(site.centers).size, 1) + 1, 0.0)


def _contracted(site: Site) -> Shadow:
    algorithm = dot_algorithm(site)
    return summed(site, lambda site: terms_of(site) * algorithm.products, algorithm.roundoff)


_FUNCTIONS = (
    "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "tanh", "sqrt", "rsqrt", "cbrt", "sine",
    "cosine", "tan", "power", "sign", "atan2", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh",
)  # fmt: skip
RULES: dict[str, Callable[[Site], Shadow]] = {
    **dict.fromkeys(_FUNCTIONS, function),
    "multiply": multiplied, "divide": divided, "negate": same_radius, "abs": magnitude, "convert": converted,
    "reduce": _reduced, **dict.fromkeys(("dot_general", "dot", "convolution"), _contracted),
}  # fmt: skip
