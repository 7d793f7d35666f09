"""Bound reductions, windows, scatters and sorts, by what their bodies compute.

The spec lets an implementation insert the init value of a reduction anywhere and any number of times, even none. Where
that changes the result, nothing is known of it, or it is one of two for `maximum` and `minimum`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stablehlo_ref.algorithms.associativity import ASSOCIATIVE
from stablehlo_ref.debug.bounds.ball import (
    OURS,
    TINY,
    Ball,
    NoBound,
    Query,
    dtype_of,
    gamma,
    interval,
    largest,
    shape_of,
    smallest_normal,
    stored,
    unit_roundoff,
)
from stablehlo_ref.debug.bounds.sums import complex_sum, sum_of
from stablehlo_ref.debug.cut import has_fractions
from stablehlo_ref.debug.evaluate import widened
from stablehlo_ref.define.definition import facts_of
from stablehlo_ref.define.facts import Arithmetic
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Region
from stablehlo_ref.numerics.dtypes import BOOL, kind
from stablehlo_ref.ops.sort import partially_ordered_inputs

SAMPLES = 32  # elements on which bodies are tried
_EXACT = (Arithmetic.MOVES, Arithmetic.SELECTS, Arithmetic.ORDERS, Arithmetic.STEPS, Arithmetic.EXACT)
_IDENTITY = {"maximum": -np.inf, "minimum": np.inf}


def recognised(region: Region) -> str | None:
    """Return the op that a body applies to its two arguments, such as `add`; `second` if it returns the second."""
    block = region.block
    *ops, terminator = block.operations
    if not ops and terminator.operands == block.arguments[1:]:
        return "second"
    if len(ops) != 1 or terminator.operands != ops[0].results or len(block.arguments) != 2:
        return None
    arguments = block.arguments
    return ops[0].mnemonic if ops[0].operands in (arguments, arguments[::-1]) else None


def adds_up(op: Operation) -> bool:
    """Return whether an op is `reduce` by addition."""
    return op.name == "stablehlo.reduce" and len(op.results) == 1 and recognised(op.regions[0]) == "add"


def is_exact_body(region: Region) -> bool:
    """Return whether no op of a body rounds: integers, and comparisons and choices of floating-point numbers."""
    ops = (inner for outer in region.block.operations for inner in outer.walk())
    others = (op for op in ops if facts_of(op).arithmetic not in _EXACT)
    return not any(has_fractions(value) for op in others for value in (*op.operands, *op.results))


def reduced(query: Query) -> Ball:
    """`reduce` and `reduce_window` with a body of one op, or with one that rounds nothing."""
    body = recognised(query.op.regions[0])
    is_real = len(query.op.results) == 1 and kind(query.dtype) == "floating"
    if query.is_complex and body == "add" and len(query.op.results) == 1 and not np.any(query.operand(1).center):
        return complex_sum(query, query.operand(0).center.size / max(query.expected.size, 1) + 1)
    if is_real and body == "add":
        return _unknown(query) if np.any(query.operand(1).center) else sum_of(query, _terms(query))
    if is_real and body == "multiply":
        return _unknown(query) if np.any(query.operand(1).center != 1) else _product(query)
    if is_real and body in _IDENTITY:
        return _extreme(query, _IDENTITY[body])
    rounds = not all(map(is_exact_body, query.op.regions))
    if not query.is_exact and not rounds:
        return _unknown(query)
    is_associative, has_identity, selects = _laws_of(query)
    if rounds and has_identity:
        raise NoBound  # else init values may be left out
    if rounds or not is_associative or not (has_identity or selects):
        return _unknown(query)
    return Ball(query.ours, np.zeros(()) if has_identity else np.where(_wins(query), np.inf, 0.0))


def _unknown(query: Query) -> Ball:
    return Ball(query.ours, np.full(query.ours.shape, np.inf))


def _extreme(query: Query, identity: float) -> Ball:
    """Return the largest or smallest elements, with or without the init value: between those of the operands' ends."""
    center = query.expected
    radius = np.asarray(max(float(np.max(s.radius, initial=0.0)) for s in query.operands))
    if radius:
        ends = [query.wide(each) for each in zip(*(interval(s) for s in query.operands))]
        apart = np.maximum(*(np.abs(end - center) for end in ends))
        radius = np.where(np.isfinite(center), apart, radius)
    if np.all(query.operand(1).center == identity) or not query.operand(0).center.size:
        return stored(query, radius)
    init = query.op.operands[1]
    fed = zip(query.values, query.operands)
    without = query.wide([np.full_like(s.center, identity) if v is init else s.center for v, s in fed])
    apart = np.where((center == without) | (np.isnan(center) & np.isnan(without)), 0.0, np.abs(center - without))
    apart = np.where(np.isnan(apart), np.inf, apart)  # NaN with the init value, or without it
    return stored(query, radius + apart)


def _product(query: Query) -> Ball:
    """Bound a product in any order, unless a partial one overflows or underflows in some order."""
    if not query.is_exact:
        return _unknown(query)
    center, terms, u = query.expected, _terms(query), unit_roundoff(query.dtype)
    most = query.wide([np.maximum(np.abs(c), 1) for c in query.centers])
    least = query.wide([np.where(c == 0, 1, np.minimum(np.abs(c), 1)) for c in query.centers])
    radius = np.abs(center) * (gamma(terms, u) + gamma(terms, OURS))
    overflows = np.isfinite(center) & (np.abs(center) - radius > largest(query.dtype))  # in each order
    is_known = ((most < largest(query.dtype) / 2) | overflows) & (least > 2 * smallest_normal(query.dtype))
    return Ball(center, np.where(is_known, radius, np.inf))


def _laws_of(query: Query) -> tuple[bool, bool, bool]:
    """Return whether a body is associative, has init values as its identity, and returns one of its arguments.

    That is tried on elements of the operands.
    """
    count = len(query.op.operands) // 2
    arrays = [query.operand(i).center for i in range(2 * count)]
    dtypes = [dtype_of(value) for value in query.op.operands]
    drawn = np.random.default_rng(0).integers(0, max(arrays[0].size, 1), (SAMPLES, 3))
    inits = [a.astype(d) for a, d in zip(arrays[count:], dtypes)]
    is_associative = has_identity = selects = True
    if not arrays[0].size or _starts_from_identity(query):
        return True, True, True
    run = query.body(0).run
    is_known = f"stablehlo.{recognised(query.op.regions[0])}" in ASSOCIATIVE
    for indices in drawn:
        x, y, z = ([np.asarray(a.reshape(-1)[i]).astype(d) for a, d in zip(arrays[:count], dtypes)] for i in indices)
        has_identity &= _same(run(*inits, *x), x) and _same(run(*x, *inits), x)
        is_associative &= is_known or _same(run(*run(*x, *y), *z), run(*x, *run(*y, *z)))
        both = run(*x, *y)
        selects &= _same(run(*x, *x), x) and _same(both, run(*y, *x)) and (_same(both, x) or _same(both, y))
    return is_associative, has_identity, selects


def _starts_from_identity(query: Query) -> bool:
    """Return whether a body of one associative op on integers starts from the identity of that."""
    if len(query.op.results) != 1 or kind(query.dtype) not in ("integer", "boolean"):
        return False
    identities = {"add": 0, "or": 0, "xor": 0, "multiply": 1} | ({"and": 1} if query.dtype == BOOL else {})
    body = recognised(query.op.regions[0])
    return body in identities and bool(np.all(query.operand(1).center == identities[body]))


def _wins(query: Query) -> Array:
    """Return which results are the init values, although no element is the same: they need not be inserted."""
    count = len(query.op.operands) // 2
    if "dimensions" not in query.attributes:
        raise NoBound
    inits = [query.operand(count + i).center for i in range(count)]
    elements = np.logical_and.reduce([query.operand(i).center == inits[i] for i in range(count)])
    results = query.evaluate(query.op, [c.astype(dtype_of(v)) for v, c in zip(query.values, query.centers)])
    if results is None:
        raise NoBound
    chosen = np.logical_and.reduce([widened(r) == init for r, init in zip(results, inits)])
    return np.asarray(chosen & ~elements.any(tuple(query.attributes["dimensions"])))


def _same(found: Sequence[Array], expected: Sequence[Array]) -> bool:
    return all(
        np.array_equal(widened(np.asarray(x)), widened(y), equal_nan=kind(y.dtype) == "floating")
        for x, y in zip(found, expected)
    )


def scattered(query: Query) -> Ball:
    """`scatter` that adds, overwrites or keeps the larger or smaller one, and `select_and_scatter` that adds."""
    body = recognised(query.op.regions[-1])
    if body == "add" and len(query.op.results) == 1 and (query.name == "scatter" or query.is_exact):
        return sum_of(query, _terms_by_counting(query))
    if query.is_exact and all(map(is_exact_body, query.op.regions)):
        return Ball(query.ours, np.zeros(()))
    if body not in ("second", *_IDENTITY) or query.name != "scatter":
        raise NoBound
    return _kept(query)


def _kept(query: Query) -> Ball:
    """Return elements of operands that are not exact, at places that are known: the largest radius of all operands."""
    if not all(s.kind == "f" or s.is_exact for s in query.operands):
        raise NoBound
    radius = max(float(np.max(s.radius, initial=0.0)) for s in query.operands)
    return stored(query, np.asarray(radius))


def _terms(query: Query) -> float:
    properties, shape = query.attributes, shape_of(query.op.operands[0])
    if "window_dimensions" in properties:
        return float(np.prod(properties["window_dimensions"])) + 1
    return float(np.prod([shape[d] for d in properties["dimensions"]])) + 1


def _terms_by_counting(query: Query) -> Array:
    """Return the number of terms of each element of a scatter: that of its updates, which are counted, and 1."""
    first, second, third = query.op.operands
    updates, start, other = (second, third, first) if query.name == "select_and_scatter" else (third, first, second)
    if len({updates, start, other}) < 3:
        raise NoBound
    numbers = {updates: 1.0, start: 0.0}
    pairs = zip(query.values, query.operands)
    fed = [np.full_like(s.center, numbers[v]) if v in numbers else s.center for v, s in pairs]
    return query.wide(fed) + 1


def ordered(query: Query) -> Ball:
    """`sort` of operands, if no two elements can be in either order.

    Without `is_stable`, that is so for one operand that is compared with itself; zeros may have either sign. If such an
    operand is not known, no element of the result is further off than the largest radius.
    """
    block = query.op.regions[0].block
    compared = partially_ordered_inputs(block)
    if not is_exact_body(query.op.regions[0]):
        raise NoBound
    operands = [
        query.operand(i) for i, value in enumerate(query.op.operands) if i in compared and value in query.values
    ]
    if any(s.kind == "f" and np.isnan(s.center).any() for s in operands):
        raise NoBound
    if not query.is_exact:
        if len(query.op.results) > 1 or not _compares_elements(query) or kind(query.dtype) != "floating":
            raise NoBound
        return _kept(query)
    if query.attributes["is_stable"]:
        return Ball(query.ours, np.zeros(()))
    if len(query.op.results) > 1 or not _compares_elements(query):
        raise NoBound
    return Ball(query.ours, np.where(query.ours == 0, TINY, 0.0) if query.ours.dtype.kind == "f" else np.zeros(()))


def _compares_elements(query: Query) -> bool:
    """Return whether a comparator compares its two arguments, and nothing else."""
    return recognised(query.op.regions[0]) == "compare"
