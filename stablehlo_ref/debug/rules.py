"""The bound of each op: how errors of operands propagate, and how far a legal backend may round the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import ml_dtypes
import numpy as np

from stablehlo_ref.debug import complexes, elementary, linear_algebra, reductions
from stablehlo_ref.debug.elementary import FRACTIONAL, ends, rounded, stored, unknown_where
from stablehlo_ref.debug.regions import is_exact_body
from stablehlo_ref.debug.shadow import Shadow, Site, Unknown, dtype_of, widened
from stablehlo_ref.debug.sums import product_sum
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Value
from stablehlo_ref.ir.types import QuantizedType, TensorType
from stablehlo_ref.numerics.dtypes import FLOAT32, kind

Rule: TypeAlias = Callable[[Site], Shadow]


def rule_of(site: Site) -> Rule:
    """Return the rule of a site's op; Unknown if there is none."""
    if not site.op.name.startswith(("stablehlo.", "chlo.")):
        raise Unknown
    values = (*site.op.operands, *site.op.results)
    if any(map(_is_quantized, values)):
        return exactly if site.name in MOVES else quantized
    if not _has_fractions(site):
        return reductions.reduced if site.name in ("reduce", "reduce_window") else exactly
    if site.name in _FOR_ALL:
        return _FOR_ALL[site.name]
    is_complex = any(kind(dtype_of(value)) == "complex" for value in values)
    found = (complexes.RULES if is_complex else _RULES).get(site.name)
    if found is None:
        raise Unknown
    return found


def _is_quantized(value: Value) -> bool:
    return isinstance(value.type, TensorType) and isinstance(value.type.element_type, QuantizedType)


def _has_fractions(site: Site) -> bool:
    return any(kind(dtype_of(value)) in FRACTIONAL for value in (*site.op.operands, *site.op.results))


# --- without rounding -----------------------------------------------------------------------------------------------


def exactly(site: Site) -> Shadow:
    """An op on integers and booleans, or one whose result on known operands is unique: what the interpreter returns."""
    if site.op.regions and not all(map(is_exact_body, site.op.regions)):
        raise Unknown
    if site.name in NOT_UNIQUE:
        raise Unknown
    center = widened(site.plain(site.centers))
    return Shadow(center, np.asarray(0.0 if site.is_exact else np.inf))


def quantized(site: Site) -> Shadow:
    """An op on quantized tensors: at most one step from what the interpreter computes, as it rounds to a step."""
    if not site.is_exact or (site.op.regions and site.name != "reduce_window"):
        raise Unknown
    center = widened(site.plain(site.centers))
    if kind(site.dtype) not in FRACTIONAL:
        return Shadow(center, np.ones(()))
    return rounded(site, center, np.zeros(()), 2.0)  # `uniform_dequantize`, computed in its own type


def part(site: Site) -> Shadow:
    """`real` and `imag`, whose errors are at most those of the complex number."""
    operand = site.operand(0)
    return stored(site, site.wide(site.centers), np.asarray(operand.radius))


def bits(site: Site) -> Shadow:
    """`bitcast_convert`: the bits of NaN are not known."""
    made = exactly(site)
    is_nan = any(s.center.dtype.kind in "fc" and np.isnan(s.center).any() for s in site.operands)
    return Shadow(made.center, np.asarray(np.inf)) if is_nan else made


def moved(site: Site) -> Shadow:
    """Data movement: radii move as the elements do."""
    center = widened(site.plain(site.centers)) if site.is_exact else site.wide(site.centers)
    return stored(site, center, _moved_radii(site, center))


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
    radius = np.asarray(np.max(np.stack(np.broadcast_arrays(*radii)), axis=0))
    return stored(site, site.wide(site.centers), radius)


def steps(site: Site) -> Shadow:
    """Monotone step functions (`floor`, `sign`, `convert` to integers): known where both ends give the same."""
    center, low, high = ends(site)
    if kind(site.dtype) in FRACTIONAL:
        same = (low == center) & (high == center)
        radius = np.where(same, 0.0, np.maximum(np.abs(low - center), np.abs(high - center)))
        return stored(site, center, radius if site.is_exact else unknown_where(site.operand(0), radius))
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
        inside = (operand.center - operand.radius > low - 1) & (operand.center + operand.radius < high + 1)
        return Shadow(made.center, np.where(inside, made.radius, np.inf))  # out of range: implementation-defined
    center, radius = site.wide(site.centers), site.operand(0).radius if site.values else np.zeros(())
    return (
        stored(site, center, radius)
        if _is_contained(dtype_of(site.op.operands[0]), site.dtype)
        else rounded(site, center, radius)
    )


def _is_contained(source: DType, target: DType) -> bool:
    """Return whether one floating-point type has all numbers of another, so that no conversion rounds."""
    if kind(source) != "floating" or kind(target) != "floating":
        return False
    return (
        source == target
        or (target.itemsize >= FLOAT32.itemsize > source.itemsize)
        or target.itemsize > FLOAT32.itemsize
    )


NOT_UNIQUE = ("rng", "rng_bit_generator", "custom_call", "infeed", "recv", "partition_id")
MOVES = (
    "reshape", "broadcast_in_dim", "broadcast", "transpose", "reverse", "concatenate", "pad", "slice", "dynamic_slice",
    "dynamic_update_slice", "gather", "dynamic_gather", "dynamic_reshape", "dynamic_broadcast_in_dim", "dynamic_pad",
    "real_dynamic_slice", "optimization_barrier", "complex", "constant", "iota", "conj",
)  # fmt: skip
_MONOTONE = (
    "exponential", "exponential_minus_one", "log", "log_plus_one", "tanh", "sqrt", "rsqrt", "cbrt", "erf",
    "erfc", "atan", "asinh", "sinh", "asin", "acos", "acosh", "atanh", "erf_inv",
)  # fmt: skip
_FOR_ALL: dict[str, Rule] = {
    **dict.fromkeys(MOVES, moved), "select": selected, "real": part, "imag": part, "fft": linear_algebra.transformed,
    "triangular_solve": linear_algebra.solved, "cholesky": linear_algebra.factored, "add": elementary.added,
    "subtract": elementary.added, "compare": compared,
}  # fmt: skip
_RULES: dict[str, Rule] = {
    **dict.fromkeys(_MONOTONE, elementary.monotone),
    **dict.fromkeys(("floor", "ceil", "round_nearest_afz", "round_nearest_even", "sign"), steps),
    **dict.fromkeys(("negate", "abs", "maximum", "minimum", "clamp"), same_radius),
    **dict.fromkeys(("sine", "cosine"), elementary.periodic),
    **dict.fromkeys(("is_finite", "is_inf", "is_pos_inf", "is_neg_inf", "reduce_precision", "next_after"), exactly),
    **dict.fromkeys(("reduce", "reduce_window"), reductions.reduced),
    **dict.fromkeys(("scatter", "select_and_scatter"), reductions.scattered),
    **dict.fromkeys(("dot_general", "dot", "convolution"), product_sum),
    "multiply": elementary.multiplied, "divide": elementary.divided, "convert": converted, "sort": reductions.ordered,
    "remainder": exactly, "bitcast_convert": bits, "tan": elementary.tangent, "power": elementary.power,
    "atan2": elementary.angle, "logistic": elementary.logistic, "cosh": elementary.even, "lgamma": elementary.log_gamma,
    "digamma": elementary.increasing_if_positive, "bessel_i1e": elementary.half_slope,
    "batch_norm_inference": linear_algebra.normalised, "batch_norm_training": linear_algebra.normalised,
    "batch_norm_grad": linear_algebra.normalised,
}  # fmt: skip


def integer_range(dtype: DType) -> tuple[float, float]:
    """Return the least and largest number of an integer type."""
    info = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
    return float(info.min), float(info.max)
