"""Bounds of arithmetic and elementary functions, on operands that are known and on intervals of them.

If nothing is known of an operand (its radius is infinite, so that it may be NaN), nothing is known of a result.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np

from stablehlo_ref.debug.bounds.ball import (
    SLACK,
    TINY,
    Ball,
    NoBound,
    Query,
    largest,
    of_reference,
    smallest_normal,
    ulp,
    unit_roundoff,
)
from stablehlo_ref.define.facts import Arithmetic
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import StructAttribute
from stablehlo_ref.numerics.dtypes import FLOAT64, is_fractional, kind

BY_F64 = (Arithmetic.ROUNDS, Arithmetic.SELECTS)  # correctly rounded by f64 itself


def rounded(query: Query, center: Array, radius: Array, ulps: float = 0.5) -> Ball:
    """Add to the radius of an unrounded result that of its rounding."""
    magnitude = np.abs(center) + radius
    bound = query.contract.ulps_of(query.name, ulps)
    if query.dtype.itemsize <= 2:  # f64 and f32 have the bound itself
        bound = min(bound, max(query.contract.narrow_ulps, 0.5))
    is_exact = query.dtype == FLOAT64 and query.is_exact and bound <= 0.5 and query.facts.arithmetic in BY_F64
    if is_exact:  # and unrounded, or computed with other roundings, where fused code uses it
        half = 0.5 * ulp(np.abs(center), query.dtype) if query.contract.fuses else np.zeros(center.shape)
        return _overflowing(query, center, half)
    factor = 2.0 if query.is_complex else 1.0
    ours = of_reference(query.dtype, magnitude) * (1 if query.is_exact else 2)
    total = radius * SLACK + factor * bound * ulp(magnitude, query.dtype) + ours + query.contract.error_of(query.name)
    if "result_accuracy" in query.op.properties:
        total = total + _requested(query, "atol") + _requested(query, "rtol") * np.minimum(magnitude, largest(FLOAT64))
    if query.is_exact and query.dtype != FLOAT64 and query.facts.arithmetic in BY_F64:  # zeros are not rounded
        total = np.where((center == 0) & (radius == 0), 0.0, total)
    return _overflowing(query, center, total)


def stored(query: Query, center: Array, radius: Array) -> Ball:
    """Add half a ULP to the radius of a result that needs no rounding, where its operands may be unrounded."""
    radius = np.asarray(radius)
    if not radius.any() or not is_fractional(query.dtype):
        return Ball(center, radius)
    share = 0.5 * np.sqrt(2.0) if query.is_complex else 0.5
    half = share * ulp(np.abs(center) + np.where(np.isfinite(radius), radius, 0), query.dtype)
    return Ball(center, radius + np.where(radius > 0, half, 0.0))


def _overflowing(query: Query, center: Array, total: Array) -> Ball:
    """Return the ball of a result before it is stored: one that overflows keeps a center beyond the largest number.

    Where f64 overflows too, the center is infinite, with a tiny radius.
    """
    of_infinity = np.where(_all_finite(query, center) & np.isinf(center), TINY, 0.0)
    return Ball(center, np.where(np.isfinite(center) | ~np.isfinite(total), total, of_infinity))


def _all_finite(query: Query, center: Array) -> Array:
    """Return for which elements of a result the operands are finite: all of them, unless the op is elementwise."""
    masks = [np.isfinite(s.center) for s in query.operands if s.center.dtype.kind in "fc"]
    if all(mask.shape == center.shape for mask in masks):
        return np.logical_and.reduce(masks) if masks else np.ones(center.shape, bool)
    return np.asarray(all(mask.all() for mask in masks))


# --- arithmetic -----------------------------------------------------------------------------------------------------


def added(query: Query) -> Ball:
    lhs, rhs = query.operand(0), query.operand(1)
    return rounded(query, query.wide(query.centers), np.asarray(lhs.radius + rhs.radius))


def multiplied(query: Query) -> Ball:
    lhs, rhs = query.operand(0), query.operand(1)
    center, radius = query.wide(query.centers), _times(lhs, rhs.radius) + _times(rhs, lhs.radius)
    made = rounded(query, center, radius + lhs.radius * rhs.radius, 2.0 if query.is_complex else 0.5)
    return known(query, made, size_of(lhs) * size_of(rhs)) if query.is_complex else made


def _times(operand: Ball, radius: Array) -> Array:
    """Return the magnitudes of an operand times a radius; a radius of 0, and any of NaN, stays as it is."""
    return np.where((radius == 0) | np.isnan(operand.center), radius, np.abs(operand.center) * radius)


def divided(query: Query) -> Ball:
    """`divide`; of complex numbers, unknown where the squared magnitude of the divisor may overflow or underflow."""
    lhs, rhs = query.operand(0), query.operand(1)
    center, apart = query.wide(query.centers), np.abs(rhs.center) - rhs.radius
    if query.is_exact and not query.is_complex:
        return rounded(query, center, _unknown_at_zeros(query, rhs, center))
    is_apart = ~_is_tiny(query, apart) if query.is_complex else apart > 0
    radius = np.where(is_apart, (lhs.radius + np.abs(center) * rhs.radius) / np.where(is_apart, apart, 1), np.inf)
    if not query.is_complex:
        return rounded(query, center, radius)
    made = rounded(query, center, radius, 2.0 * ROUNDINGS)
    return known(query, made, np.maximum(size_of(rhs) ** 2, size_of(lhs) * size_of(rhs)))


def _unknown_at_zeros(query: Query, operand: Ball, center: Array) -> Array:
    """Return a radius that is infinite where the sign of a zero matters, if the contract does not keep it."""
    if query.contract.signed_zeros:
        return np.zeros(center.shape)
    return np.where((operand.center == 0) & ~np.isnan(center), np.inf, 0.0)


# --- functions of one operand ---------------------------------------------------------------------------------------


def ends(query: Query) -> tuple[Array, Array, Array]:
    """Return a function of one operand at the center and at both ends of the operand's interval."""
    operand = query.operand(0)
    if operand.is_exact:
        center = query.plain(query.centers) if not is_fractional(query.dtype) else query.wide(query.centers)
        return center, center, center
    low, high = interval(operand)
    return query.wide([operand.center]), query.wide([low]), query.wide([high])


def interval(operand: Ball) -> tuple[Array, Array]:
    """Return the ends of an interval, rounded outward; NaN if nothing is known."""
    if operand.is_exact:
        return operand.center, operand.center
    radius = np.where(np.isinf(operand.radius), np.nan, operand.radius)
    is_exact = radius == 0
    low = np.where(is_exact, operand.center, np.nextafter(operand.center - radius, -np.inf))
    return low, np.where(is_exact, operand.center, np.nextafter(operand.center + radius, np.inf))


def unknown_where(operand: Ball, radius: Array) -> Array:
    """Return a radius that is infinite where nothing is known of an operand."""
    return np.where(np.isinf(operand.radius), np.inf, radius)


def monotone(query: Query) -> Ball:
    """A monotone function of one operand: the interval between its values at the ends."""
    center, low, high = ends(query)
    operand = query.operand(0)
    radius = np.maximum(np.abs(low - center), np.abs(high - center))
    is_nan = np.isnan(low) & np.isnan(center) & np.isnan(high)
    return rounded(
        query, center, unknown_where(operand, np.where((low == high) | is_nan, 0.0, radius)), accuracy(query)
    )


def reciprocal_root(query: Query) -> Ball:
    """`rsqrt`, whose infinity at zero has the sign of the zero."""
    made = monotone(query)
    return Ball(made.center, made.radius + _unknown_at_zeros(query, query.operand(0), made.center))


def logistic(query: Query) -> Ball:
    """`logistic`, which the spec defines by a formula that may be computed in the element type: `1 / (1 + exp(-x))`."""
    made = monotone(query)
    size, u = np.minimum(np.abs(made.center), 1.0), unit_roundoff(query.dtype)
    ulps = query.contract.ulps_of("exponential", accuracy(query))
    formula = (2 * ulps * (1 - size) + 2 + 4 * u * ulps) * u * size
    formula = np.where(size * largest(query.dtype) < 4, size + formula, formula)  # where exp(-x) may overflow
    return Ball(made.center, np.maximum(made.radius, formula) if query.is_exact else made.radius + formula)


def function(query: Query) -> Ball:
    """Bound a function of known operands, or of one real operand by what its facts say of its shape."""
    facts, operand = query.facts, query.operand(0)
    if query.is_exact:
        return rounded(query, query.wide(query.centers), np.zeros(()), accuracy(query))
    if not facts.monotone and facts.slope == np.inf:
        raise NoBound
    if facts.slope < np.inf:
        radius = unknown_where(operand, np.minimum(facts.slope * operand.radius, facts.spread))
        return rounded(query, query.wide(query.centers), radius, accuracy(query))
    if facts.monotone is True and facts.least is None:
        return monotone(query)
    low, high = interval(operand)
    extreme = np.full(low.shape, np.nan)
    if facts.least is not None:
        argument, value = facts.least
        extreme = np.where((low < argument) & (high > argument), value, np.nan)
    return _hull(query, [[low], [high]], extreme, facts.monotone(low, high) if callable(facts.monotone) else True)


# --- functions of two operands --------------------------------------------------------------------------------------


def power(query: Query) -> Ball:
    """`power`: extremes are at corners for positive bases, and for other bases and a known integer exponent."""
    base, exponent = query.operand(0), query.operand(1)
    low, high = interval(base)
    is_integer = (exponent.radius == 0) & (exponent.center == np.round(exponent.center))
    straddles = (low <= 0) & (high >= 0)
    monotone = (low > 0) | (is_integer & (~straddles | (exponent.center >= 0)))
    return _hull(query, _corners(query), np.where(straddles & (exponent.center > 0), 0.0, np.nan), monotone)


def angle(query: Query) -> Ball:
    """`atan2`: extremes are at corners, away from the origin and from the branch cut along the negative x axis."""
    (y_low, y_high), (x_low, _) = (interval(query.operand(i)) for i in range(2))
    made = _hull(query, _corners(query), np.full(y_low.shape, np.nan), (x_low > 0) | (y_low > 0) | (y_high < 0))
    return Ball(made.center, made.radius + _unknown_at_zeros(query, query.operand(0), made.center))


def _corners(query: Query) -> Iterable[list[Array]]:
    return [list(corner) for corner in product(*(interval(query.operand(i)) for i in range(len(query.op.operands))))]


def _hull(query: Query, corners: Iterable[list[Array]], extreme: Array, holds: Array | bool = True) -> Ball:
    """Return the interval between values at corners and an extreme inside, NaN if there is none.

    Nothing is known of elements that are not exact and for which `holds` is false.
    """
    center = query.wide(query.centers)
    if query.is_exact:
        return rounded(query, center, np.zeros(()), accuracy(query))
    radius = np.where(np.isnan(extreme), 0.0, np.abs(extreme - center))
    for corner in corners:
        radius = np.maximum(radius, np.abs(query.wide(_by_value(query, corner)) - center))
    is_known = sum(np.asarray(s.radius != 0) for s in query.operands) == 0
    is_known_interval = holds & ~np.isnan(radius) & (len(query.values) == len(query.op.operands))
    radius = np.where(is_known, 0.0, np.where(is_known_interval, radius, np.inf))
    return rounded(query, center, radius, accuracy(query))


def _by_value(query: Query, corner: list[Array]) -> list[Array]:
    """Return one array for each value that the op is fed, which may be several of its operands."""
    return [corner[query.op.operands.index(value)] for value in query.values]


def accuracy(query: Query) -> float:
    """Return the bound of an elementary function in ULPs, if the contract has none for it by name."""
    is_root = query.facts.arithmetic is Arithmetic.ROUNDS and kind(query.dtype) == "floating"
    ulps = 0.5 if is_root else query.contract.elementary_ulps
    return max(ulps, _requested(query, "ulps"))


def _requested(query: Query, member: str) -> float:
    """Return a member of the accuracy that the op asks for, 0 without one."""
    requested = query.attributes.get("result_accuracy")
    return float(getattr(requested.fields.get(member), "value", 0)) if isinstance(requested, StructAttribute) else 0.0


# --- complex numbers, in the norm: the error of one is that of a point in the plane -----------------------------------

ROUNDINGS = 4  # how much larger the error of a function is than that of a real one


def known(query: Query, made: Ball, products: Array | float = 0.0) -> Ball:
    """Return a ball of which nothing is known where it, or products inside, are not finite or near to an overflow.

    The spec leaves exceptions of complex arithmetic open.
    """
    if not is_fractional(query.dtype):
        raise NoBound
    top = largest(query.dtype) / 4
    is_known = np.isfinite(made.center) & (np.abs(made.center) + made.radius < top) & (products < top)
    return Ball(np.where(is_known, made.center, 0.0), np.where(is_known, made.radius, np.inf))


def size_of(ball: Ball) -> Array:
    """Return the largest magnitude of the numbers in a ball."""
    return np.asarray(np.abs(ball.center) + ball.radius)


def _is_tiny(query: Query, size: Array) -> Array:
    """Return where the square of a magnitude may underflow."""
    return np.asarray(size * np.abs(size) <= smallest_normal(query.dtype) / unit_roundoff(query.dtype))


def magnitude(query: Query) -> Ball:
    """`abs` of a complex number, computed from squares or without their overflow."""
    operand = query.operand(0)
    size = size_of(operand)
    made = rounded(query, query.wide(query.centers), unknown_where(operand, operand.radius), float(ROUNDINGS))
    made = known(query, made, size**2)
    return Ball(made.center, np.where(_is_tiny(query, size) & (size > 0), np.inf, made.radius))


def complex_function(query: Query) -> Ball:
    """Bound an elementary function of complex numbers that are known."""
    if not query.is_exact:
        raise NoBound
    made = rounded(query, query.wide(query.centers), np.zeros(()), ROUNDINGS * accuracy(query))
    return known(query, made, np.maximum.reduce(np.broadcast_arrays(*map(np.abs, query.centers))))
