"""Bounds of reductions, windows, scatters and sorts, by what their bodies compute.

The spec lets an implementation insert the init value of a reduction anywhere and any number of times, even none. Where
that changes the result, nothing is known of it, or it is one of two for `maximum` and `minimum`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stablehlo_ref.algorithms.associativity import ASSOCIATIVE
from stablehlo_ref.algorithms.comparators import partially_ordered_inputs
from stablehlo_ref.debug.elementary import interval, stored
from stablehlo_ref.debug.regions import is_exact_body, recognised
from stablehlo_ref.debug.rounding import OURS, gamma, largest, smallest_normal, unit_roundoff
from stablehlo_ref.debug.shadow import TINY, Shadow, Site, Unknown, dtype_of, widened
from stablehlo_ref.debug.sums import sum_of
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import BOOL, kind

SAMPLES = 32  # elements on which bodies are tried
_IDENTITY = {"maximum": -np.inf, "minimum": np.inf}


def reduced(site: Site) -> Shadow:
    """`reduce` and `reduce_window` with a body of one op, or with one that rounds nothing."""
    body = recognised(site.op.regions[0])
    is_real = len(site.op.results) == 1 and kind(site.dtype) == "floating"
    if is_real and body == "add":
        return _unknown(site) if np.any(site.operand(1).center) else sum_of(site, _terms(site))
    if is_real and body == "multiply":
        return _unknown(site) if np.any(site.operand(1).center != 1) else _product(site)
    if is_real and body in _IDENTITY:
        return _extreme(site, _IDENTITY[body])
    if not all(map(is_exact_body, site.op.regions)):
        raise Unknown
    if not site.is_exact:
        return _unknown(site)
    laws = _laws_of(site)
    if not laws.is_associative or not (laws.has_identity or laws.selects):
        return _unknown(site)
    center = widened(site.plain(site.centers))
    return Shadow(center, np.zeros(()) if laws.has_identity else np.where(_wins(site), np.inf, 0.0))


def _unknown(site: Site) -> Shadow:
    center = widened(site.plain(site.centers))
    return Shadow(center, np.full(center.shape, np.inf))


def _extreme(site: Site, identity: float) -> Shadow:
    """Return the largest or smallest elements, with or without the init value: between those of the operands' ends."""
    center = site.wide(site.centers)
    radius = np.asarray(max(float(np.max(s.radius, initial=0.0)) for s in site.operands))
    if radius:
        ends = [site.wide(each) for each in zip(*(interval(s) for s in site.operands))]
        apart = np.maximum(*(np.abs(end - center) for end in ends))
        radius = np.where(np.isfinite(center), apart, radius)
    if np.all(site.operand(1).center == identity) or not site.operand(0).center.size:
        return stored(site, center, radius)
    init = site.op.operands[1]
    without = site.wide([np.full_like(s.center, identity) if v is init else s.center for v, s in _fed(site)])
    apart = np.where((center == without) | (np.isnan(center) & np.isnan(without)), 0.0, np.abs(center - without))
    return stored(site, center, radius + apart)


def _fed(site: Site) -> Sequence[tuple[object, Shadow]]:
    return list(zip(site.values, site.operands))


def _product(site: Site) -> Shadow:
    """Bound a product in any order, unless a partial one overflows or underflows in some order."""
    if not site.is_exact:
        return _unknown(site)
    center, terms, u = site.wide(site.centers), _terms(site), unit_roundoff(site.dtype)
    most = site.wide([np.maximum(np.abs(c), 1) for c in site.centers])
    least = site.wide([np.where(c == 0, 1, np.minimum(np.abs(c), 1)) for c in site.centers])
    radius = np.abs(center) * (gamma(terms, u) + gamma(terms, OURS))
    overflows = np.isfinite(center) & (np.abs(center) - radius > largest(site.dtype))  # in each order
    is_known = ((most < largest(site.dtype) / 2) | overflows) & (least > 2 * smallest_normal(site.dtype))
    return Shadow(center, np.where(is_known, radius, np.inf))


@dataclass
class _Laws:
    """What holds for a body on some elements: `selects` if it returns one of its arguments."""

    is_associative: bool = True
    has_identity: bool = True  # the init values
    selects: bool = True


def _laws_of(site: Site) -> _Laws:
    """Return which laws a body obeys, tried on elements of the operands."""
    count = len(site.op.operands) // 2
    arrays = [site.operand(i).center for i in range(2 * count)]
    dtypes = [dtype_of(value) for value in site.op.operands]
    drawn = np.random.default_rng(0).integers(0, max(arrays[0].size, 1), (SAMPLES, 3))
    inits = [a.astype(d) for a, d in zip(arrays[count:], dtypes)]
    found = _Laws()
    if not arrays[0].size or _starts_from_identity(site):
        return found
    run = site.body(0).run
    is_associative = f"stablehlo.{recognised(site.op.regions[0])}" in ASSOCIATIVE
    for indices in drawn:
        x, y, z = ([np.asarray(a.reshape(-1)[i]).astype(d) for a, d in zip(arrays[:count], dtypes)] for i in indices)
        found.has_identity &= _same(run(*inits, *x), x) and _same(run(*x, *inits), x)
        if not is_associative:
            found.is_associative &= _same(run(*run(*x, *y), *z), run(*x, *run(*y, *z)))
        both = run(*x, *y)
        found.selects &= _same(run(*x, *x), x) and _same(both, run(*y, *x)) and (_same(both, x) or _same(both, y))
    return found


def _starts_from_identity(site: Site) -> bool:
    """Return whether a body of one associative op on integers starts from the identity of that."""
    if len(site.op.results) != 1 or kind(site.dtype) not in ("integer", "boolean"):
        return False
    identities = {"add": 0, "or": 0, "xor": 0, "multiply": 1} | ({"and": 1} if site.dtype == BOOL else {})
    body = recognised(site.op.regions[0])
    return body in identities and bool(np.all(site.operand(1).center == identities[body]))


def _wins(site: Site) -> Array:
    """Return which results are the init values, although no element is the same: they need not be inserted."""
    count = len(site.op.operands) // 2
    if "dimensions" not in site.op.properties:
        raise Unknown
    inits = [site.operand(count + i).center for i in range(count)]
    elements = np.logical_and.reduce([site.operand(i).center == inits[i] for i in range(count)])
    results = site.evaluate(site.op, [c.astype(dtype_of(v)) for v, c in zip(site.values, site.centers)])
    if results is None:
        raise Unknown
    chosen = np.logical_and.reduce([widened(r) == init for r, init in zip(results, inits)])
    return np.asarray(chosen & ~elements.any(tuple(site.op.properties["dimensions"])))


def _same(found: Sequence[Array], expected: Sequence[Array]) -> bool:
    return all(
        np.array_equal(widened(np.asarray(x)), widened(y), equal_nan=kind(y.dtype) == "floating")
        for x, y in zip(found, expected)
    )


def scattered(site: Site) -> Shadow:
    """`scatter` that adds or overwrites, and `select_and_scatter` that adds."""
    body = recognised(site.op.regions[-1])
    if body == "add" and len(site.op.results) == 1 and (site.name == "scatter" or site.is_exact):
        return sum_of(site, _terms_by_counting(site))
    if site.is_exact and all(map(is_exact_body, site.op.regions)):
        return Shadow(widened(site.plain(site.centers)), np.zeros(()))
    if body != "second" or site.name != "scatter":
        raise Unknown
    return _kept(site)


def _kept(site: Site) -> Shadow:
    """Return elements of operands that are not exact, at places that are known: the largest radius of all operands."""
    fractional = [(s, kind(dtype_of(v)) == "floating") for v, s in zip(site.values, site.operands)]
    if not all(is_float or s.is_exact for s, is_float in fractional):
        raise Unknown
    radius = max(float(np.max(s.radius, initial=0.0)) for s, _ in fractional)
    return stored(site, site.wide(site.centers), np.asarray(radius))


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


def ordered(site: Site) -> Shadow:
    """`sort` of operands, if no two elements can be in either order.

    Without `is_stable`, that is so for one operand that is compared with itself; zeros may have either sign. If such an
    operand is not known, no element of the result is further off than the largest radius.
    """
    block = site.op.regions[0].block
    compared = partially_ordered_inputs(block)
    if not is_exact_body(site.op.regions[0]):
        raise Unknown
    if any(s.center.dtype.kind == "f" and np.isnan(s.center).any() for i, s in _operands(site) if i in compared):
        raise Unknown
    if not site.is_exact:
        if len(site.op.results) > 1 or not _compares_elements(site) or kind(site.dtype) != "floating":
            raise Unknown
        return _kept(site)
    center = widened(site.plain(site.centers))
    if site.op.properties.get("is_stable"):
        return Shadow(center, np.zeros(()))
    if len(site.op.results) > 1 or not _compares_elements(site):
        raise Unknown
    return Shadow(center, np.where(center == 0, TINY, 0.0) if center.dtype.kind == "f" else np.zeros(()))


def _operands(site: Site) -> Sequence[tuple[int, Shadow]]:
    return [(i, site.operand(i)) for i, value in enumerate(site.op.operands) if value in site.values]


def _compares_elements(site: Site) -> bool:
    """Return whether a comparator compares its two arguments, and nothing else."""
    return recognised(site.op.regions[0]) == "compare"
