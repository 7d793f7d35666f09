"""Bounds of complex ops, in the norm: the error of a complex number is that of a point in the plane.

The spec leaves exceptions of complex arithmetic open, so nothing is known where operands, results or the products
inside are infinite, NaN or near to an overflow.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stablehlo_ref.debug.bounds.ball import OURS, Ball, NoBound, Query, gamma, largest, smallest_normal, unit_roundoff
from stablehlo_ref.debug.bounds.elementary import accuracy, rounded, stored, unknown_where
from stablehlo_ref.debug.bounds.reductions import recognised
from stablehlo_ref.debug.bounds.sums import dot_algorithm, terms_of
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.dtypes import is_fractional

ROUNDINGS = 4  # how much larger the error of a function is than that of a real one


def _bounded(query: Query, radius: Array, ulps: float, products: Array) -> Ball:
    """Return the ball of a finite result, computed from finite products of these magnitudes."""
    if not is_fractional(query.dtype):
        raise NoBound
    center = query.wide(query.centers)
    made = rounded(query, center, radius, ulps)
    top = largest(query.dtype) / 4
    is_finite = np.isfinite(center) & (products < top) & (np.abs(center) < top)
    return Ball(np.where(is_finite, center, 0.0), np.where(is_finite, made.radius, np.inf))


def multiplied(query: Query) -> Ball:
    lhs, rhs = query.operand(0), query.operand(1)
    sizes = [np.abs(s.center) + s.radius for s in (lhs, rhs)]
    radius = sizes[0] * rhs.radius + sizes[1] * lhs.radius
    return _bounded(query, np.asarray(radius), 2.0, sizes[0] * sizes[1])


def divided(query: Query) -> Ball:
    """`divide`: unknown where the squared magnitude of the divisor may overflow or underflow."""
    lhs, rhs = query.operand(0), query.operand(1)
    low, high = np.abs(rhs.center) - rhs.radius, np.abs(rhs.center) + rhs.radius
    is_large = low**2 > smallest_normal(query.dtype) / unit_roundoff(query.dtype)
    center = query.wide(query.centers)
    radius = np.where(is_large, (lhs.radius + np.abs(center) * rhs.radius) / np.where(is_large, low, 1), np.inf)
    return _bounded(query, radius, 2.0 * ROUNDINGS, np.maximum(high**2, (np.abs(lhs.center) + lhs.radius) * high))


def same_radius(query: Query) -> Ball:
    return stored(query, query.wide(query.centers), np.asarray(query.operand(0).radius))


def magnitude(query: Query) -> Ball:
    """`abs`, computed from squares or without their overflow."""
    operand = query.operand(0)
    size = np.abs(operand.center) + operand.radius
    made = _bounded(query, unknown_where(operand, operand.radius), float(ROUNDINGS), size**2)
    is_tiny = size**2 < smallest_normal(query.dtype) / unit_roundoff(query.dtype)
    return Ball(made.center, np.where(is_tiny & (size > 0), np.inf, made.radius))


def converted(query: Query) -> Ball:
    return rounded(query, query.wide(query.centers), np.asarray(query.operand(0).radius))


def function(query: Query) -> Ball:
    """An elementary function of operands that are known."""
    if not query.is_exact:
        raise NoBound
    sizes = [np.abs(c) for c in query.centers]
    return _bounded(query, np.zeros(()), ROUNDINGS * accuracy(query), np.asarray(np.max(np.stack(sizes), axis=0)))


def summed(query: Query, terms: Callable[[Query], float], roundoff: float) -> Ball:
    """Bound a sum of complex numbers, or of their products, in any order; each part of it is one of real numbers."""
    if not query.is_exact:
        raise NoBound
    count, u = 2 * terms(query) + 2, unit_roundoff(query.dtype)
    total = np.abs(query.wide([np.abs(c) for c in query.centers]))
    share = 2.0 if query.contract.flush_subnormals else 2 * u
    of_operands = roundoff * (2 + roundoff)
    radius = np.sqrt(2) * ((gamma(count, u) + gamma(count, OURS)) * (1 + of_operands) + of_operands) * total
    radius = radius + count * share * smallest_normal(query.dtype)
    return _bounded(query, radius, 0.5, 2 * total + radius)


def reduced(query: Query) -> Ball:
    if recognised(query.op.regions[0]) != "add" or len(query.op.results) > 1 or np.any(query.operand(1).center):
        raise NoBound
    return summed(query, lambda query: query.operand(0).center.size / max(query.wide(query.centers).size, 1) + 1, 0.0)


def contracted(query: Query) -> Ball:
    algorithm = dot_algorithm(query)
    return summed(query, lambda query: terms_of(query) * algorithm.products, algorithm.roundoff)
