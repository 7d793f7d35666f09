"""Faults of single elements: another function, special values, integers, comparisons, conversions, precision."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from faults.rules import Array, after, before, changed
from jax import lax

from stablehlo_ref.debug.cut import is_constant, is_literal
from stablehlo_ref.ir.core import Operation

OTHERS = {
    "add": "subtract", "subtract": "add", "multiply": "add", "divide": "multiply", "maximum": "minimum",
    "minimum": "maximum", "and": "or", "or": "and", "xor": "or", "tanh": "sine", "exponential": "exponential_minus_one",
    "exponential_minus_one": "exponential", "log": "log_plus_one", "log_plus_one": "log", "sqrt": "cbrt",
    "rsqrt": "sqrt", "sine": "cosine", "cosine": "sine", "negate": "abs", "abs": "negate", "floor": "ceil",
    "ceil": "floor", "logistic": "tanh", "sign": "negate", "power": "multiply", "cbrt": "sqrt", "atan2": "subtract",
}  # fmt: skip
UNARY = (
    "exponential exponential_minus_one log log_plus_one sqrt rsqrt cbrt sine cosine tan tanh logistic abs negate floor"
    " ceil sign round_nearest_even convert"
)
ARITHMETIC = "add subtract multiply divide maximum minimum"
CHLO = (
    "chlo.erf chlo.erfc chlo.erf_inv chlo.lgamma chlo.digamma chlo.tan chlo.sinh chlo.cosh chlo.asin chlo.acos"
    " chlo.atan chlo.asinh chlo.acosh chlo.atanh chlo.bessel_i1e chlo.next_after chlo.polygamma chlo.zeta chlo.square"
)
ANY = f"{UNARY} {ARITHMETIC} power atan2 remainder select clamp {CHLO}"


def bump(x: Array) -> Array:
    """Return numbers that no rounding explains."""
    if x.dtype == bool:
        return ~x
    return x + 1 if jnp.issubdtype(x.dtype, jnp.integer) else x * 1.25


def floats(*arrays: Array) -> None:
    if not all(jnp.issubdtype(x.dtype, jnp.floating) for x in arrays):
        raise NotImplementedError


def integers(*arrays: Array) -> None:
    if not all(jnp.issubdtype(x.dtype, jnp.integer) and x.dtype.itemsize > 0 for x in arrays):
        raise NotImplementedError


def f32(*arrays: Array) -> None:
    if not all(x.dtype == jnp.float32 for x in arrays):
        raise NotImplementedError


@changed("another op", " ".join(OTHERS))
def _(op: Operation) -> Any:
    return {"name": f"stablehlo.{OTHERS[op.name.partition('.')[2]]}"}


@before("wrong constant", f"{ARITHMETIC} power compare clamp")
def _(op: Operation, *xs: Array) -> Any:
    def constant(value: Any) -> bool:
        owner = value.owner
        if isinstance(owner, Operation) and owner.name == "stablehlo.broadcast_in_dim":
            return is_constant(owner.operands[0])
        return is_literal(value)

    which = [constant(v) for v in op.operands]
    if not any(which):
        raise NotImplementedError
    return [bump(x) + x.dtype.type(1) if c and x.dtype != bool else x for c, x in zip(which, xs)]


@before("swapped operands", "subtract divide power atan2 remainder shift_left shift_right_logical complex")
def _(op: Operation, x: Array, y: Array) -> Any:
    return [y, x]


@after("scaled", ANY)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    return bump(r)


@after("wrong for large operands", ANY)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    x = next((x for x in xs if x.shape == r.shape and jnp.issubdtype(x.dtype, jnp.floating)), None)
    if x is None:
        raise NotImplementedError
    return jnp.where(abs(x) > 2, bump(r), r)


@after("wrong for negative operands", ANY)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    if xs[0].shape != r.shape or xs[0].dtype != r.dtype or r.dtype == bool or r.dtype.kind == "c":
        raise NotImplementedError
    return jnp.where(xs[0] < 0, -r, r)


for _when in ("third", "unstable"):

    @after("in the third op only" if _when == "third" else "in every second run", ANY, when=_when)
    def _(op: Operation, r: Array, *xs: Array) -> Array:
        return bump(r)


@after("last element not written", ANY)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    return r.reshape(-1).at[-1].set(0).reshape(r.shape)


@after("last tile of 8 stale", ANY)
def last_tile_stale(op: Operation, r: Array, *xs: Array) -> Array:
    rest = r.shape[-1] % 8 if r.ndim else 0
    if not rest or r.shape[-1] < 2:
        raise NotImplementedError
    rest = min(rest, r.shape[-1] // 2)
    return jnp.concatenate([r[..., :-rest], r[..., -2 * rest : -rest]], -1)


@after("odd sizes shifted", ANY)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    if not r.ndim or r.shape[-1] % 2 == 0 or r.shape[-1] == 1:
        raise NotImplementedError
    return jnp.roll(r, 1, -1)


# --- special values -------------------------------------------------------------------------------------------------


@after("infinity saturated", f"{UNARY} {ARITHMETIC} power", inputs="special")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    floats(r)
    most = jnp.finfo(r.dtype).max
    return jnp.clip(r, -most, most)


@after("NaN dropped", "maximum minimum clamp multiply add subtract", inputs="special")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    floats(r)
    return jnp.where(jnp.isnan(r), jnp.zeros((), r.dtype), r)


@after("other operand of NaN", "maximum minimum", inputs="special")
def _(op: Operation, r: Array, x: Array, y: Array) -> Array:
    floats(r)
    return jnp.where(jnp.isnan(x), y, jnp.where(jnp.isnan(y), x, r))


@after(
    "sign of zero lost",
    "negate multiply floor ceil round_nearest_even sqrt convert select",
    inputs="zeros",
    strict=True,
)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    floats(r)
    return jnp.where(r == 0, jnp.zeros((), r.dtype), r)


@after("subnormal result flushed", "multiply add subtract divide convert", inputs="tiny", strict=True)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    floats(r)
    return jnp.where(abs(r) < jnp.finfo(r.dtype).tiny, jnp.zeros((), r.dtype), r)


@before("subnormal operand flushed", "multiply add subtract divide convert sqrt compare", inputs="tiny", strict=True)
def _(op: Operation, *xs: Array) -> Any:
    floats(*xs)
    return [jnp.where(abs(x) < jnp.finfo(x.dtype).tiny, jnp.zeros((), x.dtype), x) for x in xs]


@after("is_finite for large numbers", "is_finite", inputs="special")
def _(op: Operation, r: Array, x: Array) -> Array:
    return r & (abs(x) < 1e3)


@after("range too small", "exponential exponential_minus_one tanh logistic log sqrt rsqrt", inputs="large")
def _(op: Operation, r: Array, x: Array) -> Array:
    floats(r)
    name = op.mnemonic
    function = {"exponential": lax.exp, "exponential_minus_one": lax.expm1}.get(name) or getattr(lax, name)
    return function(jnp.clip(x, 0.5, 1.5))


@after("domain extended", "log sqrt rsqrt log_plus_one power", inputs="plain")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    floats(r)
    return jnp.where(jnp.isnan(r), jnp.zeros((), r.dtype), r)


@after("coarse approximation", f"tanh logistic sine cosine exponential {CHLO}")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    floats(r, *xs)
    return r + 0.02 * jnp.sin(3 * xs[0]).astype(r.dtype)


@after("part of a complex number lost", "multiply add subtract divide exponential tanh log sqrt complex abs real imag")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    if jnp.issubdtype(r.dtype, jnp.complexfloating):
        return r.real
    if jnp.issubdtype(xs[0].dtype, jnp.complexfloating):
        return abs(xs[0].real) if op.name.endswith("abs") else -r
    raise NotImplementedError
