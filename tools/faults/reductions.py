"""Faults of reductions, windows, scatters and sorts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from faults.elementwise import bump, f32, floats
from faults.numbers import DIRECTIONS
from faults.rules import RULES, Array, Site, after, before, changed, rule
from jax import lax

from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import clone

COMBINERS = {"add": "maximum", "maximum": "minimum", "minimum": "maximum", "multiply": "add", "and": "or", "or": "and"}


def initial(op: Operation) -> int:
    """Return the number of arguments before the initial values."""
    return len(op.operands) // 2


def copied(site: Site) -> Operation:
    return clone(site.op, {})


@before("wrong initial value", "reduce reduce_window select_and_scatter")
def _(op: Operation, *xs: Array) -> Any:
    first = 2 if op.name.endswith("scatter") else initial(op)
    return [*xs[:first], *(jnp.where(jnp.isfinite(x), x + 1, 1) if x.dtype != bool else ~x for x in xs[first:])]


@rule("another combiner", "reduce reduce_window scatter select_and_scatter")
def _(site: Site) -> Sequence[Value] | None:
    made = copied(site)
    body = made.regions[-1].block.operations
    for op in body[:-1]:
        name = op.mnemonic
        if name in COMBINERS and op.operand_types[0] == op.result_types[0]:
            op.name = f"stablehlo.{COMBINERS[name]}"
            return site.insert(made)
    return None


@rule("arguments of the combiner swapped", "reduce reduce_window scatter sort")
def _(site: Site) -> Sequence[Value] | None:
    made = copied(site)
    block = made.regions[0].block
    if len(block.operations) < 3 and not made.name.endswith(("sort", "scatter")):  # commutative
        return None
    half = len(block.arguments) // 2
    arguments = block.arguments
    swapped = (
        [x for i in range(0, len(arguments), 2) for x in (arguments[i + 1], arguments[i])]
        if made.name.endswith("sort")
        else [*arguments[half:], *arguments[:half]]
    )
    mapping = dict(zip(arguments, swapped))
    for op in block.operations:
        for inner in op.walk():
            inner.operands = [mapping.get(v, v) for v in inner.operands]
    return site.insert(made)


@before("last element left out", "reduce reduce_window scatter sort select_and_scatter")
def _(op: Operation, x: Array, *xs: Array) -> Any:
    axes = op.properties.get("dimensions") or op.properties.get("dimension") or 0
    axis = axes[-1] if isinstance(axes, tuple) else axes
    if x.shape[axis] < 2:
        raise NotImplementedError
    index = (slice(None),) * axis
    return [x.at[(*index, -1)].set(x[(*index, -2)]), *xs]


@after("last result not written", "reduce reduce_window scatter sort select_and_scatter chlo.top_k")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    return r.reshape(-1).at[-1].set(0).reshape(r.shape)


@after("first row for all", "reduce reduce_window sort scatter chlo.top_k")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    if not r.ndim or len(r) < 2:
        raise NotImplementedError
    return jnp.broadcast_to(r[:1], r.shape)


@changed("another dimension", "reduce sort")
def _(op: Operation) -> Any:
    shape = op.operands[0].type.shape
    name = "dimension" if op.name.endswith("sort") else "dimensions"
    old = op.properties[name]
    if name == "dimension":
        return {name: (old + 1) % len(shape)} if len(shape) > 1 else None
    for other in range(len(shape)):
        if len(old) == 1 and other != old[0] and shape[other] == shape[old[0]]:
            return {name: (other,)}
    return None


@changed("half of the window", "reduce_window")
def _(op: Operation) -> Any:
    sizes = tuple(op.properties["window_dimensions"])
    padding = [list(p) for p in op.properties.get("padding") or ((0, 0),) * len(sizes)]
    axis = max(range(len(sizes)), key=sizes.__getitem__)
    dilation = (op.properties.get("window_dilations") or (1,) * len(sizes))[axis]
    if sizes[axis] < 2:
        return None
    padding[axis][1] -= dilation
    return {
        "window_dimensions": tuple(n - (i == axis) for i, n in enumerate(sizes)), "padding": tuple(map(tuple, padding)),
    }  # fmt: skip


@changed("window off by one", "reduce_window select_and_scatter")
def _(op: Operation) -> Any:
    sizes = tuple(op.properties["window_dimensions"])
    axis = max(range(len(sizes)), key=sizes.__getitem__)
    padding = [list(p) for p in op.properties.get("padding") or ((0, 0),) * len(sizes)]
    padding[axis][0] -= 1
    padding[axis][1] += 1
    return {"padding": tuple(map(tuple, padding))}


@changed("strides of a window ignored", "reduce_window")
def _(op: Operation) -> Any:
    strides = tuple(op.properties.get("window_strides") or ())
    if all(s == 1 for s in strides):
        return None
    sizes, shape = op.properties["window_dimensions"], op.operands[0].type.shape
    padding = []
    for n, size, out, (low, _) in zip(
        shape, sizes, op.results[0].type.shape, op.properties.get("padding") or ((0, 0),) * len(sizes)
    ):
        dilated = size
        padding.append((low, out - 1 + dilated - n - low))
    return {"window_strides": (1,) * len(sizes), "padding": tuple(padding)}


@after("other tie of argmax", "reduce", inputs="ties")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    if len(op.results) != 2 or not jnp.issubdtype(xs[1].dtype, jnp.integer) or len(op.properties["dimensions"]) != 1:
        raise NotImplementedError
    axis = op.properties["dimensions"][0]
    x = xs[0]
    names = {inner.properties["comparison_direction"].name for inner in op.walk() if inner.name == "stablehlo.compare"}
    if x.dtype == bool:
        x = x.astype(jnp.int8)
    best = x.max(axis, keepdims=True) if "GT" in names else x.min(axis, keepdims=True)
    last = x.shape[axis] - 1 - jnp.argmax(jnp.flip(x == best, axis), axis)
    return last if r.dtype == xs[1].dtype else r


@rule("tie of a selection", "select_and_scatter", inputs="ties")
def _(site: Site) -> Sequence[Value] | None:
    made = copied(site)
    for op in made.regions[0].block.operations:
        if op.name == "stablehlo.compare":
            old = op.properties["comparison_direction"]
            op.properties["comparison_direction"] = type(old)[DIRECTIONS[old.name]]
            return site.insert(made)
    return None


@after("sum of bf16", "reduce reduce_window scatter", strict=True)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    f32(r)
    return lax.reduce_precision(r, 8, 7)


@before("terms of bf16", "reduce reduce_window scatter", strict=True)
def _(op: Operation, *xs: Array) -> Any:
    f32(xs[0])
    return [lax.reduce_precision(x, 8, 7) if x.dtype == jnp.float32 and x.ndim else x for x in xs]


@before("NaN left out", "reduce reduce_window sort", inputs="special")
def _(op: Operation, *xs: Array) -> Any:
    floats(xs[0])
    return [jnp.where(jnp.isnan(xs[0]), jnp.zeros((), xs[0].dtype), xs[0]), *xs[1:]]


@rule("updates overwrite", "scatter select_and_scatter", inputs="ties")
def _(site: Site) -> Sequence[Value] | None:
    made = copied(site)
    block = made.regions[-1].block
    if block.operations[-1].operands[0] is block.arguments[-1]:
        return None
    block.operations[-1].operands = block.arguments[len(block.arguments) // 2 :]
    return site.insert(made)


@before("half of the updates lost", "scatter")
def _(op: Operation, *xs: Array) -> Any:
    updates = xs[-1]
    if not updates.ndim or len(updates) < 2:
        raise NotImplementedError
    return [*xs[:-1], updates.at[: len(updates) // 2].set(0)]


@before("scattered off by one", "scatter")
def _(op: Operation, *xs: Array) -> Any:
    at = len(op.results)
    return [*xs[:at], jnp.where(xs[at] > 0, xs[at] - 1, xs[at] + 1), *xs[at + 1 :]]


@before("index out of bounds clamped", "scatter", inputs="indices")
def _(op: Operation, *xs: Array) -> Any:
    at = len(op.results)
    most = max(xs[0].shape[d] for d in op.properties["scatter_dims_to_operand_dims"])
    return [*xs[:at], jnp.clip(xs[at], 0, most - 1), *xs[at + 1 :]]


@after("scattered into zeros", "scatter")
def _(op: Operation, r: Array, x: Array, *xs: Array) -> Array:
    return jnp.where(r == x, jnp.zeros((), r.dtype), r) if r.dtype != bool else ~r


@after("sorted in reverse", "sort chlo.top_k")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    return jnp.flip(r, op.properties.get("dimension", -1) if op.name.endswith("sort") else -1)


@rule("unstable sort", "sort", inputs="ties")
def _(site: Site) -> Sequence[Value] | None:
    """Elements that compare equal come out in reverse order."""
    if len(site.op.operands) < 2 or not site.op.properties.get("is_stable"):
        return None
    axis = site.op.properties["dimension"]

    def flipped(op: Operation, *xs: Array) -> Any:
        return [jnp.flip(x, axis) for x in xs]

    operands = site.computed(flipped, site.op.operands)
    return None if operands is None else site.copy(operands=operands)


@after("last pair not compared", "sort")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    axis = op.properties["dimension"]
    index = (slice(None),) * axis
    if r.shape[axis] < 2:
        raise NotImplementedError
    return r.at[(*index, -1)].set(r[(*index, -2)]).at[(*index, -2)].set(r[(*index, -1)])


@after("index of the neighbour", "chlo.top_k sort")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    return bump(r)


@before("sums in reverse order", "reduce dot_general")
def _(op: Operation, x: Array, *xs: Array) -> Any:
    """Not a fault: the order of a sum is open."""
    if op.name.endswith("reduce"):
        if len(op.results) > 1 or op.regions[0].block.operations[0].name != "stablehlo.add":
            return [x, *xs]
        return [jnp.flip(x, op.properties["dimensions"]), *xs]
    pairs = zip((x, *xs), (op.properties["lhs_contracting_dimensions"], op.properties["rhs_contracting_dimensions"]))
    return [jnp.flip(array, dims) for array, dims in pairs]


REVERSED = RULES.pop("sums in reverse order")
