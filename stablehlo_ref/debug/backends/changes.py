"""Faults that compute another op: another name, or other attributes that the result's type allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np

from stablehlo_ref.debug.backends.faults import Case, Fault
from stablehlo_ref.debug.cut import is_constant
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.dtypes import kind

_OTHERS = {
    "add": "subtract", "subtract": "add", "multiply": "add", "divide": "multiply", "maximum": "minimum",
    "minimum": "maximum", "and": "or", "or": "and", "tanh": "sine", "exponential": "exponential_minus_one",
    "log": "log_plus_one", "sqrt": "cbrt", "rsqrt": "sqrt", "sine": "cosine", "cosine": "sine", "negate": "abs",
    "abs": "negate", "floor": "ceil", "ceil": "floor", "round_nearest_even": "round_nearest_afz", "xor": "or",
    "shift_right_logical": "shift_right_arithmetic", "logistic": "tanh",
}  # fmt: skip
MOST_AXES = 5  # whose permutations are all tried
_DIRECTIONS = {"LT": "LE", "LE": "LT", "GT": "GE", "GE": "GT", "EQ": "NE", "NE": "EQ"}


def _wrong_op(case: Case) -> Array:
    name = case.op.name.partition(".")[2]
    return case.changed(f"stablehlo.{_OTHERS[name]}") if name in _OTHERS else case.result


def _wrong_direction(case: Case) -> Array:
    """`compare` treats equal operands as the other direction does."""
    old = case.property("comparison_direction")
    return case.changed(comparison_direction=type(old)[_DIRECTIONS[old.name]])


def _wrong_axis(case: Case) -> Array:
    """Another axis, or two that are swapped, where the type of the result allows it."""
    for name in ("iota_dimension", "dimension"):
        if case.property(name) is not None:
            return _first_other(case, name, [i for i in range(case.result.ndim) if i != case.property(name)])
    for name in ("permutation", "broadcast_dimensions", "dimensions", "lhs_contracting_dimensions"):
        if (axes := case.property(name)) is not None:
            rank = case.operand(0).ndim if case.op.operands else case.result.ndim
            moved = [tuple((axis + by) % max(rank, 1) for axis in axes) for by in range(1, rank)]
            swapped = list(permutations(axes)) if len(axes) <= MOST_AXES else [tuple(reversed(axes))]
            return _first_other(case, name, [*swapped[::-1], *moved])
    return case.result


def _first_other(case: Case, name: str, choices: Sequence[object]) -> Array:
    """Return the first result of another value of a property that has the right shape and other elements."""
    for choice in choices:
        if choice != case.property(name):
            made = case.changed("", **{name: choice})
            if made.shape == case.result.shape and not np.array_equal(made, case.result):
                return made
    return case.result


def _start_off_by_one(case: Case) -> Array:
    """`slice` starts one element too early or too late; `dynamic_slice` and updates start one too late."""
    if (starts := case.property("start_indices")) is None:
        first = 2 if case.op.name.endswith("update_slice") else 1
        value = case.op.operands[-1]
        return case.on({value: case.operands[value] + 1}) if len(case.op.operands) > first else case.result
    limits, shape = case.property("limit_indices"), case.operand(0).shape
    for axis, (start, limit) in enumerate(zip(starts, limits)):
        by = -1 if start > 0 else 1 if limit < shape[axis] else 0
        if by:
            moved = [tuple(x + by * (i == axis) for i, x in enumerate(xs)) for xs in (starts, limits)]
            return case.changed(start_indices=moved[0], limit_indices=moved[1])
    return case.result


def _wrong_padding(case: Case) -> Array:
    """One element less before, and one more after, along the last axis that is padded."""
    if (low := case.property("edge_padding_low")) is not None:
        high = case.property("edge_padding_high")
        axis = max((i for i, (x, y) in enumerate(zip(low, high)) if x or y), default=len(low) - 1)
        moved = [tuple(x + by * (i == axis) for i, x in enumerate(xs)) for xs, by in ((low, -1), (high, 1))]
        return case.changed(edge_padding_low=moved[0], edge_padding_high=moved[1])
    old = tuple(tuple(pair) for pair in case.property("padding"))
    axis = max((i for i, pair in enumerate(old) if any(pair)), default=len(old) - 1)
    return case.changed(padding=tuple((x - 1, y + 1) if i == axis else (x, y) for i, (x, y) in enumerate(old)))


def _wrong_init(case: Case) -> Array:
    """A reduction starts from 1 more than its initial value, or from 1 if that is infinite."""
    value = case.op.operands[-1] if not case.op.name.endswith("pad") else case.op.operands[1]
    if value not in case.operands:
        return np.asarray(case.result + case.result.dtype.type(1))
    old = case.operands[value]
    return case.on({value: np.where(np.isfinite(old), old + old.dtype.type(1), old.dtype.type(1)).astype(old.dtype)})


def _unclamped(case: Case) -> Array:
    """Indices that are out of bounds wrap around, or address what is 0."""
    name = "start_index_map" if case.op.name.endswith("gather") else ""
    indices = [v for v in case.op.operands[1:] if kind(case.operands[v].dtype) == "integer"] if name else []
    if not indices:
        return _start_off_by_one(case)
    (value,) = indices[:1]
    size = max(case.operand(0).shape[d] for d in case.property(name))
    old = case.operands[value]
    return case.on({value: np.where((old < 0) | (old >= size), old % size, old).astype(old.dtype)})


def _wrong_order(case: Case) -> Array:
    """Operands are concatenated in reverse, or sorted elements are in reverse order."""
    axis = case.property("dimension")
    if case.op.name.endswith("sort"):
        return np.flip(case.result, axis)
    return np.concatenate([case.operands[v] for v in reversed(case.op.operands) if not is_constant(v)], axis)


def _inverted(case: Case) -> Array:
    """`select` takes the other operand."""
    first, second, third = case.op.operands[:3]
    known = {v: case.operands.get(v, case.values.get(v)) for v in (second, third)}
    if any(array is None for array in known.values()) or len({first, second, third}) < 3:
        return case.result
    return case.on({second: case.operands[third], third: case.operands[second]})


def _reversed_kernel(case: Case) -> Array:
    """The window of a convolution runs backwards, or `reverse` does nothing."""
    if (old := case.property("window_reversal")) is not None:
        return case.changed(window_reversal=tuple(not x for x in old))
    return case.operand(0)


def _last_update(case: Case) -> Array:
    """`scatter` keeps the last of several updates of an element: the others are 0."""
    value = case.op.operands[-1]
    updates = case.operands[value].copy()
    updates[: len(updates) // 2] = 0
    return case.on({value: updates})


CHANGES: Mapping[str, Fault] = {
    "wrong-op": _wrong_op,
    "wrong-direction": _wrong_direction,
    "wrong-axis": _wrong_axis,
    "wrong-start": _start_off_by_one,
    "wrong-padding": _wrong_padding,
    "wrong-init": _wrong_init,
    "unclamped": _unclamped,
    "wrong-order": _wrong_order,
    "inverted": _inverted,
    "reversed-kernel": _reversed_kernel,
    "last-update": _last_update,
}
