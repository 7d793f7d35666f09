"""The bound of each op: how errors of operands propagate, and how far a legal backend may round the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import ml_dtypes
import numpy as np

from stablehlo_ref.debug.regions import is_exact_body, recognised
from stablehlo_ref.debug.rounding import largest, of_reference, ulp
from stablehlo_ref.debug.shadow import Shadow, Site, Unknown, dtype_of, widened
from stablehlo_ref.debug.sums import product_sum, sum_of
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import kind

Rule: TypeAlias = Callable[[Site], Shadow]

FRACTIONAL = ("floating", "complex")


def rule_of(site: Site) -> Rule:
    """Return the rule of a site's op; Unknown if there is none."""
    if not site.op.name.startswith(("stablehlo.", "chlo.")):
        raise Unknown
    if not _has_fractions(site):
        return exactly
    found = _RULES.get(site.name)
    is_complex = any(kind(dtype_of(value)) == "complex" for value in (*site.op.operands, *site.op.results))
    if found is None or (is_complex and site.name not in _COMPLEX):
        raise Unknown
    return found


def _has_fractions(site: Site) -> bool:
    return any(kind(dtype_of(value)) in FRACTIONAL for value in (*site.op.operands, *site.op.results))


# --- without rounding -----------------------------------------------------------------------------------------------


def exactly(site: Site) -> Shadow:
    """An op on integers and booleans, or one whose result on known operands is unique: what the interpreter returns."""
    if site.op.regions and not all(map(is_exact_body, site.op.regions)):
        raise Unknown
    if site.name in _NOT_UNIQUE:
        raise Unknown
    center = widened(site.plain(site.centers))
    return Shadow(center, np.asarray(0.0 if site.is_exact else np.inf))


def moved(site: Site) -> Shadow:
    """Data movement: radii move as the elements do."""
    center = widened(site.plain(site.centers)) if site.is_exact else site.wide(site.centers)
    return Shadow(center, _moved_radii(site, center))


def _moved_radii(site: Site, center: Array) -> Array:
    if site.is_exact:
        return np.zeros(())
    others = [s for v, s in zip(site.values, site.operands) if kind(dtype_of(v)) not in FRACTIONAL]
    if kind(site.dtype) not in FRACTIONAL or (site.name != "select" and not all(s.is_exact for s in others)):
        return np.full(center.shape, np.inf)
    radii = [
        np.broadcast_to(s.radius, s.center.shape) if kind(dtype_of(v)) in FRACTIONAL else s.center
        for v, s in zip(site.values, site.operands)
    ]
    return np.abs(site.wide(radii))


def selected(site: Site) -> Shadow:
    """`select`: as data movement, and unknown where the predicate is."""
    made = moved(site)
    uncertain = [s.radius for v, s in zip(site.values, site.operands) if v is site.op.operands[0]]
    return Shadow(made.center, made.radius + sum(uncertain, np.zeros(())))


def same_radius(site: Site) -> Shadow:
    """`negate`, `abs`, and what returns one of its operands: the largest radius of them."""
    radii = [s.radius for v, s in zip(site.values, site.operands) if kind(dtype_of(v)) in FRACTIONAL]
    return Shadow(site.wide(site.centers), np.asarray(np.max(np.stack(np.broadcast_arrays(*radii)), axis=0)))


def steps(site: Site) -> Shadow:
    """Monotone step functions (`floor`, `sign`, `convert` to integers): known where both ends give the same."""
    center, low, high = _ends(site)
    if kind(site.dtype) in FRACTIONAL:
        return Shadow(center, np.maximum(np.abs(low - center), np.abs(high - center)))
    return Shadow(center, np.where((low == center) & (high == center), 0.0, np.inf))


def compared(site: Site) -> Shadow:
    """`compare`: unknown where the operands may be equal or in another order than their centers."""
    lhs, rhs = site.operand(0), site.operand(1)
    radius = lhs.radius + rhs.radius
    center = site.plain(site.centers) if site.is_exact else site.wide(site.centers)
    if site.is_exact:
        return Shadow(center, np.zeros(()))
    apart = np.abs(lhs.center - rhs.center) > radius
    return Shadow(center, np.where(apart | (radius == 0), 0.0, np.inf))


# --- rounded to half a ULP ------------------------------------------------------------------------------------------


def rounded(site: Site, center: Array, radius: Array, ulps: float = 0.5) -> Shadow:
    """Add to the radius of an unrounded result that of its rounding; unknown where it may overflow."""
    magnitude = np.abs(center) + radius
    bound = site.contract.ulps_of(site.name, ulps)
    factor = 2.0 if kind(site.dtype) == "complex" else 1.0
    total = radius + factor * bound * ulp(magnitude, site.dtype) + of_reference(site.dtype, np.abs(center))
    may_overflow = np.isfinite(center) & (np.abs(center) + total >= largest(site.dtype))
    return Shadow(center, np.where(may_overflow, np.inf, total))


def added(site: Site) -> Shadow:
    lhs, rhs = site.operand(0), site.operand(1)
    return rounded(site, site.wide(site.centers), np.asarray(lhs.radius + rhs.radius))


def multiplied(site: Site) -> Shadow:
    lhs, rhs = site.operand(0), site.operand(1)
    radius = _times(lhs, rhs.radius) + _times(rhs, lhs.radius) + lhs.radius * rhs.radius
    return rounded(site, site.wide(site.centers), radius, 2.0 if kind(site.dtype) == "complex" else 0.5)


def _times(operand: Shadow, radius: Array) -> Array:
    """Return the magnitudes of an operand times a radius; a radius of 0, and any of NaN, stays as it is."""
    return np.where((radius == 0) | np.isnan(operand.center), radius, np.abs(operand.center) * radius)


def divided(site: Site) -> Shadow:
    lhs, rhs = site.operand(0), site.operand(1)
    center = site.wide(site.centers)
    if site.is_exact:
        return rounded(site, center, np.zeros(()))
    apart = np.abs(rhs.center) - rhs.radius
    radius = np.where(apart > 0, (lhs.radius + np.abs(center) * rhs.radius) / np.where(apart > 0, apart, 1), np.inf)
    return rounded(site, center, radius)


def converted(site: Site) -> Shadow:
    """`convert`: rounds to floating-point types; a step function to integers, as all are from booleans and integers."""
    target = kind(site.dtype)
    if target not in FRACTIONAL:
        made = steps(site)
        operand = site.operand(0)
        if target == "boolean":  # not monotone: only zero is false
            may_be_zero = (operand.radius > 0) & (np.abs(operand.center) <= operand.radius)
            return Shadow(made.center, np.where(may_be_zero, np.inf, made.radius))
        low, high = integer_range(site.dtype)
        inside = (widened(operand.center) >= low) & (operand.center <= high)
        return Shadow(made.center, np.where(inside, made.radius, np.inf))  # out of range: implementation-defined
    return rounded(site, site.wide(site.centers), site.operand(0).radius if site.values else np.zeros(()))


# --- elementary functions -------------------------------------------------------------------------------------------


def _ends(site: Site) -> tuple[Array, Array, Array]:
    """Return a function of one operand at the center and at both ends of the operand's interval."""
    operand = site.operand(0)
    if operand.is_exact:
        center = site.plain(site.centers) if kind(site.dtype) not in FRACTIONAL else site.wide(site.centers)
        return center, center, center
    low = np.nextafter(operand.center - operand.radius, -np.inf)
    high = np.nextafter(operand.center + operand.radius, np.inf)
    return site.wide([operand.center]), site.wide([low]), site.wide([high])


def monotone(site: Site) -> Shadow:
    """A monotone function of one operand: the interval between its values at the ends."""
    center, low, high = _ends(site)
    is_nan = np.isnan(low) & np.isnan(center) & np.isnan(high)
    radius = np.maximum(np.abs(low - center), np.abs(high - center))
    radius = np.where((low == high) | is_nan, 0.0, radius)
    return rounded(site, center, radius, _elementary(site))


def periodic(site: Site) -> Shadow:
    """`sine` and `cosine`, whose slope is at most 1."""
    return rounded(site, site.wide(site.centers), np.minimum(site.operand(0).radius, 2.0), _elementary(site))


def smooth(site: Site) -> Shadow:
    """Other elementary functions: bounded only for operands that are known."""
    if not site.is_exact:
        raise Unknown
    return rounded(site, site.wide(site.centers), np.zeros(()), _elementary(site))


def _elementary(site: Site) -> float:
    accuracy = site.op.properties.get("result_accuracy")
    return max(site.contract.elementary_ulps, float(getattr(accuracy, "ulps", 0) or 0))


# --- reductions and windows -----------------------------------------------------------------------------------------


def reduced(site: Site) -> Shadow:
    """`reduce` and `reduce_window` with a body of one op, or with one that rounds nothing."""
    body = recognised(site.op.regions[0])
    if body == "add" and len(site.op.results) == 1:
        return sum_of(site, _terms(site))
    if body in ("maximum", "minimum"):
        largest_radius = max(float(np.max(s.radius, initial=0.0)) for s in site.operands)
        return Shadow(site.wide(site.centers), np.asarray(largest_radius))
    return exactly(site)


def scattered(site: Site) -> Shadow:
    """`scatter` that adds or overwrites, and `select_and_scatter` that adds."""
    body = recognised(site.op.regions[-1])
    if body == "add" and len(site.op.results) == 1 and (site.name == "scatter" or site.is_exact):
        return sum_of(site, _terms_by_counting(site))
    if body == "second" and site.op.properties.get("unique_indices"):
        return moved(site)
    raise Unknown


def _terms(site: Site) -> float:
    properties, shape = site.op.properties, _shape(site)
    if "window_dimensions" in properties:
        return float(np.prod(properties["window_dimensions"])) + 1
    return float(np.prod([shape[d] for d in properties["dimensions"]])) + 1


def _shape(site: Site) -> Sequence[int]:
    type = site.op.operands[0].type
    assert isinstance(type, TensorType)
    return [n or 0 for n in type.shape]


def _terms_by_counting(site: Site) -> Array:
    """Return the number of terms of each element of a scatter: that of its updates, which are counted, and 1."""
    first, second, third = site.op.operands
    updates, start, other = (second, third, first) if site.name == "select_and_scatter" else (third, first, second)
    if len({updates, start, other}) < 3:
        raise Unknown
    numbers = {updates: 1.0, start: 0.0}
    fed = [np.full_like(s.center, numbers[v]) if v in numbers else s.center for v, s in zip(site.values, site.operands)]
    return site.wide(fed) + 1


def contracted(site: Site) -> Shadow:
    """`dot_general`, `dot` and `convolution`: sums of products."""
    return product_sum(site)


def sorted_(site: Site) -> Shadow:
    """`sort`, if no two elements can be in either order."""
    if not (site.is_exact and (site.op.properties.get("is_stable") or len(site.op.results) == 1)):
        raise Unknown
    return exactly(site)


_NOT_UNIQUE = ("rng", "rng_bit_generator", "custom_call", "while", "if", "case", "infeed", "recv", "partition_id")
_MOVES = (
    "reshape", "broadcast_in_dim", "broadcast", "transpose", "reverse", "concatenate", "pad", "slice", "dynamic_slice",
    "dynamic_update_slice", "gather", "dynamic_gather", "dynamic_reshape", "dynamic_broadcast_in_dim", "dynamic_pad",
    "real_dynamic_slice", "optimization_barrier", "real", "imag", "complex", "constant", "iota", "conj",
)  # fmt: skip
_MONOTONE = (
    "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "tanh", "sqrt", "rsqrt", "cbrt", "erf",
    "erfc", "atan", "asinh", "sinh", "asin", "acos", "acosh", "atanh", "erf_inv",
)  # fmt: skip
_RULES: dict[str, Rule] = {
    **dict.fromkeys(_MOVES, moved),
    **dict.fromkeys(_MONOTONE, monotone),
    **dict.fromkeys(("floor", "ceil", "round_nearest_afz", "round_nearest_even", "sign"), steps),
    **dict.fromkeys(("negate", "abs", "maximum", "minimum", "clamp"), same_radius),
    **dict.fromkeys(("add", "subtract"), added),
    **dict.fromkeys(("sine", "cosine"), periodic),
    **dict.fromkeys(("tan", "power", "atan2", "cosh", "lgamma", "digamma", "bessel_i1e"), smooth),
    **dict.fromkeys(("is_finite", "is_inf", "is_pos_inf", "is_neg_inf", "bitcast_convert"), exactly),
    **dict.fromkeys(("reduce_precision", "next_after"), exactly),
    **dict.fromkeys(("reduce", "reduce_window"), reduced),
    **dict.fromkeys(("scatter", "select_and_scatter"), scattered),
    **dict.fromkeys(("dot_general", "dot", "convolution"), contracted),
    "multiply": multiplied, "divide": divided, "convert": converted, "compare": compared, "select": selected,
    "sort": sorted_, "remainder": exactly,
}  # fmt: skip
_COMPLEX = (*_MOVES, "add", "subtract", "multiply", "negate", "select")


def integer_range(dtype: DType) -> tuple[float, float]:
    """Return the least and largest number of an integer type."""
    info = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
    return float(info.min), float(info.max)
