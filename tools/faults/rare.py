"""Faults that are small, late or in ops that few programs have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from faults.elementwise import ANY, CHLO, bump, floats
from faults.loops import copied, is_index
from faults.rules import Array, Site, after, before, rule

from stablehlo_ref.debug.cut import is_constant
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import clone

SUMS = "dot_general convolution reduce reduce_window scatter select_and_scatter fft cholesky triangular_solve"
RARE = (
    "map reduce_precision optimization_barrier dynamic_reshape dynamic_gather dynamic_pad dynamic_iota dynamic_conv"
    " dynamic_broadcast_in_dim real_dynamic_slice einsum torch_index_select set_dimension_size get_dimension_size"
    " cbrt popcnt count_leading_zeros round_nearest_afz real imag complex batch_norm_training"
    " chlo.top_k chlo.ragged_dot chlo.broadcast_add chlo.constant_like chlo.is_inf chlo.conj"
)


def slightly(x: Array) -> Array:
    if jnp.dtype(x.dtype).itemsize < 4 or x.dtype.kind in "iub":
        raise NotImplementedError
    return x * x.dtype.type(1 + 2.0**-10)


@after("slightly off", f"{ANY} {SUMS}")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    return slightly(r)


@after("one element slightly off", f"{ANY} {SUMS}")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    return jnp.where(jnp.arange(r.size).reshape(r.shape) == r.size // 2, slightly(r), r)


@after("one element off", f"{ANY} {SUMS} {RARE} sort gather")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    return jnp.where(jnp.arange(r.size).reshape(r.shape) == r.size // 2, bump(r), r)


@after("two elements exchanged", f"{ANY} {SUMS} {RARE} sort gather reverse transpose concatenate")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    if r.size < 2:
        raise NotImplementedError
    flat = r.reshape(-1)
    return flat.at[jnp.array([0, -1])].set(flat[jnp.array([-1, 0])]).reshape(r.shape)


@after("special function off", f"{CHLO} cbrt tan atan2 power log_plus_one exponential_minus_one logistic")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    floats(r)
    return bump(r)


@after("branch of a special function", f"{CHLO} cbrt tan atan2 power log_plus_one exponential_minus_one logistic")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    """Where the first operand is in [0.25, 1), as where a polynomial has a wrong coefficient."""
    floats(r, *xs)
    return jnp.where((abs(xs[0]) >= 0.25) & (abs(xs[0]) < 1), r * (1 + 2.0**-6), r)


@after("rare op off", RARE)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    return bump(r)


@after("rare op stale", RARE)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    if not r.ndim or len(r) < 2:
        raise NotImplementedError
    return r.at[-1].set(r[-2])


@after("folded wrongly", f"{ANY} broadcast_in_dim reshape iota compare")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    """An op on constants has another result."""
    if not all(map(is_constant, op.operands)):
        raise NotImplementedError
    return bump(r)


@rule("wrong in later turns", "while")
def _(site: Site) -> Sequence[Value] | None:
    """A carried value is wrong once the counter is larger than 1."""
    made = copied(site)
    block = made.regions[1].block
    terminator = block.operations[-1]
    counter = next((i for i, value in enumerate(made.operands) if is_index(value)), None)
    for index, value in reversed(list(enumerate(terminator.operands))):
        if counter is None or is_index(value) or value is block.arguments[index]:
            continue
        inner = Site(made, site.rewriter)
        late = inner.traced(lambda op, x, i: jnp.where(i > 1, bump(x), x), [value, block.arguments[counter]])
        if late is None:
            continue
        mapping = dict(zip(late.arguments, [value, block.arguments[counter]]))
        *ops, returned = late.operations
        added = [clone(op, mapping) for op in ops]
        for op in added:
            op.parent = block
        terminator.operands[index] = mapping[returned.operands[0]]
        block.operations = [*block.operations[:-1], *added, terminator]
        return site.insert(made)
    return None


@before("low bits of an integer lost", "add multiply subtract convert dot_general reduce gather sort compare")
def _(op: Operation, *xs: Array) -> Any:
    if not jnp.issubdtype(xs[0].dtype, jnp.integer):
        raise NotImplementedError
    return [xs[0] & ~jnp.asarray(1, xs[0].dtype), *xs[1:]]


@before("negative zero is less", "sort compare maximum minimum", inputs="zeros", strict=True)
def _(op: Operation, *xs: Array) -> Any:
    floats(*xs)
    return [jnp.where((x == 0) & jnp.signbit(x), -jnp.finfo(x.dtype).tiny, x) for x in xs]
