"""Faults of data movement: elements at the wrong place."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import jax.numpy as jnp
from faults.elementwise import bump
from faults.rules import Array, Site, after, before, changed, rule
from jax import lax

from stablehlo_ref.ir.core import Operation, Value

MOVES = (
    "reshape transpose broadcast_in_dim slice concatenate pad reverse dynamic_slice dynamic_update_slice gather iota"
    " bitcast_convert"
)


@after("last row stale", MOVES)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    if not r.ndim or len(r) < 2:
        raise NotImplementedError
    return r.at[-1].set(r[-2])


@after("column-major layout", MOVES)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    if r.ndim < 2:
        raise NotImplementedError
    return r.T.reshape(r.shape)


@after("shifted by one", MOVES)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    if not r.ndim or r.shape[-1] < 2:
        raise NotImplementedError
    return jnp.roll(r, 1, -1)


@after("first batch for all", MOVES)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    if not r.ndim or len(r) < 2:
        raise NotImplementedError
    return jnp.broadcast_to(r[:1], r.shape)


@after("scalar moved wrongly", "reshape slice dynamic_slice gather broadcast_in_dim")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    return bump(r)


def other_order(op: Operation, name: str) -> Any:
    """Return other dimensions, for which the sizes are the same."""
    old = tuple(op.properties[name])
    source = op.operands[0].type.shape
    shape = op.results[0].type.shape
    for new in permutations(range(len(shape)), len(old)):
        if name == "permutation":
            is_valid = tuple(source[d] for d in new) == tuple(shape)
        else:
            is_valid = all(n in (1, shape[d]) for n, d in zip(source, new))
        if new != old and is_valid:
            return {name: new}
    return None


@changed("transpose permuted", "transpose")
def _(op: Operation) -> Any:
    return other_order(op, "permutation")


@changed("broadcast along another dimension", "broadcast_in_dim")
def _(op: Operation) -> Any:
    return other_order(op, "broadcast_dimensions")


@rule("concatenated in another order", "concatenate")
def _(site: Site) -> Sequence[Value] | None:
    return site.copy(operands=site.op.operands[::-1]) if len(site.op.operands) > 1 else None


@changed("slice off by one", "slice")
def _(op: Operation) -> Any:
    starts, limits, shape = (*map(tuple, (op.properties["start_indices"], op.properties["limit_indices"])),
                             op.operands[0].type.shape)  # fmt: skip
    for axis, (start, limit) in enumerate(zip(starts, limits)):
        by = -1 if start > 0 else 1 if limit < shape[axis] else 0
        if by:
            moved = [tuple(x + by * (i == axis) for i, x in enumerate(xs)) for xs in (starts, limits)]
            return {"start_indices": moved[0], "limit_indices": moved[1]}
    return None


@after("stride ignored", "slice")
def _(op: Operation, r: Array, x: Array) -> Array:
    starts, strides = op.properties["start_indices"], op.properties.get("strides") or ()
    if all(s == 1 for s in strides):
        raise NotImplementedError
    return x[tuple(slice(start, start + n) for start, n in zip(starts, r.shape))]


@before("wrong padding value", "pad")
def _(op: Operation, x: Array, value: Array) -> Any:
    return [x, bump(value) + (0 if value.dtype == bool else value.dtype.type(1))]


@changed("padding shifted", "pad")
def _(op: Operation) -> Any:
    low, high = op.properties["edge_padding_low"], op.properties["edge_padding_high"]
    axis = next((i for i, (a, b) in enumerate(zip(low, high)) if a or b), 0)
    return {
        "edge_padding_low": tuple(n + (i == axis) for i, n in enumerate(low)),
        "edge_padding_high": tuple(n - (i == axis) for i, n in enumerate(high)),
    }


@after("interior padding ignored", "pad")
def _(op: Operation, r: Array, x: Array, value: Array) -> Array:
    if not any(op.properties["interior_padding"]):
        raise NotImplementedError
    low = op.properties["edge_padding_low"]
    widths = [(max(a, 0), n - m - max(a, 0)) for a, n, m in zip(low, r.shape, x.shape)]
    return lax.pad(x, value, [(a, b, 0) for a, b in widths])


@before("start not clamped but wrapped", "dynamic_slice", inputs="indices")
def _(op: Operation, x: Array, *starts: Array) -> Any:
    return [x, *(lax.rem(abs(s), s.dtype.type(max(n, 1))) for s, n in zip(starts, x.shape))]


@before("start off by one", "dynamic_slice dynamic_update_slice")
def _(op: Operation, x: Array, *rest: Array) -> Any:
    fixed = 1 if op.name.endswith("update_slice") else 0
    size = rest[0].shape if fixed else op.results[0].type.shape
    starts = [jnp.where(s > 0, s - 1, s + 1) if n < m else s for s, n, m in zip(rest[fixed:], size, x.shape)]
    return [x, *rest[:fixed], *starts]


@after("update lost", "dynamic_update_slice")
def _(op: Operation, r: Array, x: Array, *rest: Array) -> Array:
    return x


@after("not reversed", "reverse")
def _(op: Operation, r: Array, x: Array) -> Array:
    return x


@changed("another iota dimension", "iota")
def _(op: Operation) -> Any:
    old, rank = op.properties["iota_dimension"], len(op.results[0].type.shape)
    return {"iota_dimension": (old + 1) % rank} if rank > 1 else None


@after("iota from 1", "iota")
def _(op: Operation, r: Array) -> Array:
    return r + 1


@before("index wrapped", "gather", inputs="indices")
def _(op: Operation, x: Array, indices: Array) -> Any:
    n = max(x.shape[d] for d in op.properties["start_index_map"])
    return [x, lax.rem(indices + n, indices.dtype.type(n))]


@before("index off by one", "gather")
def _(op: Operation, x: Array, indices: Array) -> Any:
    return [x, jnp.where(indices > 0, indices - 1, indices + 1)]


@after("out of bounds is zero", "gather dynamic_slice", inputs="indices")
def _(op: Operation, r: Array, x: Array, *indices: Array) -> Array:
    if op.name.endswith("gather") and (indices[0].ndim != 2 or len(op.properties["start_index_map"]) != 1):
        raise NotImplementedError
    if op.name.endswith("gather"):
        axis = op.properties["start_index_map"][0]
        flat = indices[0].reshape(-1)
        last = x.shape[axis] - op.properties["slice_sizes"][axis]
        outside = (flat < 0) | (flat > last)
        batch = [d for d in range(r.ndim) if d not in op.properties["offset_dims"]]
        if len(batch) != 1 or r.shape[batch[0]] != flat.size:
            raise NotImplementedError
        shape = [flat.size if d == batch[0] else 1 for d in range(r.ndim)]
        return jnp.where(outside.reshape(shape), jnp.zeros((), r.dtype), r)
    outside = jnp.asarray(False)
    for start, n, m in zip(indices, x.shape, r.shape):
        outside |= (start < 0) | (start > n - m)
    return jnp.where(outside, jnp.zeros((), r.dtype), r)


@after("byte order", "bitcast_convert")
def _(op: Operation, r: Array, x: Array) -> Array:
    if r.dtype.kind not in "iu":
        return -r
    return r ^ 1
