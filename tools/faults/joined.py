"""Faults of ops that are joined: each alone is right."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from faults.elementwise import ANY, ARITHMETIC, bump, last_tile_stale
from faults.rules import Array, Site, after, rule
from jax import lax

from stablehlo_ref.ir.core import Operation, Value

SUMS = "reduce dot_general convolution reduce_window"
MOVES = "transpose broadcast_in_dim reshape slice concatenate pad"


@after("joined: scaled", ANY, when="fused")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    return bump(r)


@after("joined: last row not written", f"{ANY} {SUMS}", when="fused")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    if not r.ndim or len(r) < 2:
        raise NotImplementedError
    return r.at[-1].set(0)


@after("joined: shifted", f"{MOVES} {SUMS}", when="fused")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    if not r.ndim or r.shape[-1] < 2:
        raise NotImplementedError
    return jnp.roll(r, 1, -1)


@after("joined: first row for all", f"{MOVES} {ARITHMETIC}", when="fused")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    if not r.ndim or len(r) < 2:
        raise NotImplementedError
    return jnp.broadcast_to(r[:1], r.shape)


@after("joined: last tile of 8 stale", ANY, when="fused")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    return last_tile_stale(op, r, *xs)


def producer(site: Site, names: str) -> tuple[int, Operation] | None:
    """Return the number of an operand that one of some ops computes, and that op."""
    for index, value in enumerate(site.op.operands):
        owner = value.owner
        if isinstance(owner, Operation) and owner.mnemonic in names.split():
            return index, owner
    return None


@rule("product and sum in the wrong order", "add subtract", when="fused")
def _(site: Site) -> Sequence[Value] | None:
    """`a * b + c` is `a * (b + c)`."""
    found = producer(site, "multiply")
    if found is None:
        return None
    index, inner = found
    a, b = inner.operands
    return site.computed(lambda op, c, a, b: a * (b + c), [site.op.operands[1 - index], a, b])


@rule("inverse functions cancelled", "log exponential sqrt", inputs="large")
def _(site: Site) -> Sequence[Value] | None:
    """`log(exp(x))` is x also where it overflows, and `sqrt(x * x)` is x."""
    name = site.op.mnemonic
    found = producer(site, {"log": "exponential", "exponential": "log", "sqrt": "multiply"}[name])
    if found is None or (name == "sqrt" and found[1].operands[0] is not found[1].operands[1]):
        return None
    return [found[1].operands[0]]


@rule("negation lost", "add subtract multiply exponential", when="fused")
def _(site: Site) -> Sequence[Value] | None:
    found = producer(site, "negate subtract")
    if found is None:
        return None
    index, inner = found
    operands = list(site.op.operands)
    operands[index] = inner.operands[0]
    return site.copy(operands=operands)


@rule("transposition lost", "dot_general add multiply reduce reshape", when="fused")
def _(site: Site) -> Sequence[Value] | None:
    found = producer(site, "transpose reverse")
    if found is None or found[1].operand_types != found[1].result_types:
        return None
    operands = list(site.op.operands)
    operands[found[0]] = found[1].operands[0]
    return site.copy(operands=operands)


@rule("conversion lost", "add multiply subtract divide reduce dot_general", strict=True, when="fused")
def _(site: Site) -> Sequence[Value] | None:
    """An operand is rounded twice."""
    value = site.op.operands[0]

    def rounded(op: Operation, x: Array) -> Array:
        if x.dtype != jnp.float32:
            raise NotImplementedError
        return lax.reduce_precision(x, 5, 10)

    made = site.computed(rounded, [value])
    return None if made is None else site.copy(operands=[*made, *site.op.operands[1:]])


@rule("slices of slices joined", "dynamic_slice slice", inputs="indices", when="fused")
def _(site: Site) -> Sequence[Value] | None:
    """The inner start is left out."""
    found = producer(site, "slice dynamic_slice pad concatenate")
    if found is None or found[0] != 0:
        return None
    outer, shape = found[1].operands[0].type.shape, site.op.operands[0].type.shape
    if any(n < m for n, m in zip(outer, shape)):
        return None
    return site.copy(operands=[found[1].operands[0], *site.op.operands[1:]])


@rule("update of the operand itself", "dynamic_update_slice scatter")
def _(site: Site) -> Sequence[Value] | None:
    """The update is read after the operand is overwritten with zeros."""
    index = 1 if site.op.name.endswith("update_slice") else -1
    zeros = site.computed(lambda op, x: x.at[..., -1].set(0) if x.ndim else x * 0, [site.op.operands[index]])
    if zeros is None:
        return None
    operands = list(site.op.operands)
    operands[index] = zeros[0]
    return site.copy(operands=operands)
