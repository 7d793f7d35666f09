"""Faults of single elements: another function, special values, integers, comparisons, conversions, precision."""

from __future__ import annotations

from typing import Any

import jax
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
        return is_literal(value) or (
            isinstance(owner, Operation) and owner.name == "stablehlo.broadcast_in_dim" and is_constant(owner.operands[0])
        )

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
    if xs[0].shape != r.shape or xs[0].dtype != r.dtype or r.dtype == bool or jnp.issubdtype(r.dtype, jnp.complexfloating):
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
def _(op: Operation, r: Array, *xs: Array) -> Array:
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


@after("sign of zero lost", "negate multiply abs floor ceil round_nearest_even sqrt convert select", inputs="zeros", strict=True)
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
    name = op.name.partition(".")[2]
    function = {"exponential": jnp.exp, "exponential_minus_one": jnp.expm1, "tanh": jnp.tanh, "logistic": jax.nn.sigmoid,
                "log": jnp.log, "sqrt": jnp.sqrt, "rsqrt": lax.rsqrt}[name]  # fmt: skip
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


# --- integers and comparisons ---------------------------------------------------------------------------------------


@after("integer overflow saturates", "add subtract multiply", inputs="integers")
def _(op: Operation, r: Array, x: Array, y: Array) -> Array:
    integers(r)
    info = jnp.iinfo(r.dtype)
    wide = {"add": lax.add, "subtract": lax.sub, "multiply": lax.mul}[op.name.partition(".")[2]]
    exact = wide(x.astype(jnp.float64), y.astype(jnp.float64))
    most, least = (jnp.asarray(n, r.dtype) for n in (info.max, info.min))
    return jnp.where(exact > float(info.max), most, jnp.where(exact < float(info.min), least, r))


@before("shift amount masked", "shift_left shift_right_logical shift_right_arithmetic", inputs="integers")
def _(op: Operation, x: Array, y: Array) -> Any:
    return [x, y % (8 * x.dtype.itemsize)]


@changed("kind of shift", "shift_right_logical shift_right_arithmetic", inputs="integers")
def _(op: Operation) -> Any:
    other = {"logical": "arithmetic", "arithmetic": "logical"}[op.name.rpartition("_")[2]]
    return {"name": f"stablehlo.shift_right_{other}"}


@after("signed as unsigned", "divide remainder convert maximum minimum compare abs", inputs="integers")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    integers(*xs)
    other = jnp.dtype(("uint" if xs[0].dtype.kind == "i" else "int") + str(8 * xs[0].dtype.itemsize))
    ys = [lax.bitcast_convert_type(x, other) for x in xs]
    name = op.name.partition(".")[2]
    if name == "convert":
        return ys[0].astype(r.dtype)
    if name == "compare":
        direction = op.properties["comparison_direction"].name.lower()
        return getattr(lax, direction)(*ys)
    if name == "abs":
        return ys[0]
    function = {"divide": lax.div, "remainder": lax.rem, "maximum": lax.max, "minimum": lax.min}[name]
    return lax.bitcast_convert_type(function(*ys), r.dtype)


@after("floor division", "divide", inputs="integers")
def _(op: Operation, r: Array, x: Array, y: Array) -> Array:
    integers(r)
    return jnp.where(y == 0, r, x // jnp.where(y == 0, 1, y))


@after("remainder has the divisor's sign", "remainder", inputs="integers")
def _(op: Operation, r: Array, x: Array, y: Array) -> Array:
    return jnp.where((r != 0) & ((r < 0) != (y < 0)), r + y, r)


@after("bit counts", "popcnt count_leading_zeros not and or xor", inputs="integers")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    if r.dtype == bool:
        return ~r
    return r ^ 1


@changed("equal operands compared wrongly", "compare", inputs="ties")
def _(op: Operation) -> Any:
    old = op.properties["comparison_direction"]
    return {"comparison_direction": type(old)[{"LT": "LE", "LE": "LT", "GT": "GE", "GE": "GT", "EQ": "NE", "NE": "EQ"}[old.name]]}


@after("comparison in total order", "compare", inputs="special")
def _(op: Operation, r: Array, x: Array, y: Array) -> Array:
    floats(x)
    direction = op.properties["comparison_direction"].name
    either = jnp.isnan(x) | jnp.isnan(y)
    return jnp.where(either, {"LT": lax.lt, "LE": lax.le, "GT": lax.gt, "GE": lax.ge, "EQ": lax.eq, "NE": lax.ne}[
        direction](jnp.isnan(x).astype(int), jnp.isnan(y).astype(int)), r)  # fmt: skip


@before("select inverted", "select")
def _(op: Operation, c: Array, x: Array, y: Array) -> Any:
    return [~c, x, y]


@after("clamp forgets a bound", "clamp")
def _(op: Operation, r: Array, low: Array, x: Array, high: Array) -> Array:
    return jnp.minimum(x, high)


# --- conversions and precision --------------------------------------------------------------------------------------


@after("convert rounds", "convert")
def _(op: Operation, r: Array, x: Array) -> Array:
    integers(r)
    floats(x)
    return jnp.round(x * 1.0)


@after("convert wraps", "convert", inputs="integers")
def _(op: Operation, r: Array, x: Array) -> Array:
    integers(x)
    return (x.astype(jnp.int8) if r.dtype.itemsize > 1 else -x).astype(r.dtype)


@after("ties of rounding", "round_nearest_even round_nearest_afz", inputs="ties")
def _(op: Operation, r: Array, x: Array) -> Array:
    return lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO if op.name.endswith("even") else lax.RoundingMethod.TO_NEAREST_EVEN)


@after("truncated instead of rounded", f"{ARITHMETIC} convert", strict=True)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    floats(r)
    bits = {2: jnp.uint16, 4: jnp.uint32, 8: jnp.uint64}[r.dtype.itemsize]
    return lax.bitcast_convert_type(lax.bitcast_convert_type(r, bits) & bits(~3 & (2 ** (8 * r.dtype.itemsize) - 1)), r.dtype)


@after("result of bf16", f"{ARITHMETIC} tanh exponential logistic log rsqrt sine cosine power", strict=True)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    f32(r)
    return lax.reduce_precision(r, 8, 7)


@before("operands of bf16", "multiply add subtract divide tanh exponential logistic power", strict=True)
def _(op: Operation, *xs: Array) -> Any:
    f32(*xs)
    return [lax.reduce_precision(x, 8, 7) for x in xs]


@after("range of f16", f"{ARITHMETIC} exponential", inputs="large")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    f32(r)
    return r.astype(jnp.float16)


@after("off by 4 ULPs", f"{ARITHMETIC} tanh exponential logistic log sqrt rsqrt sine cosine", strict=True)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    f32(r)
    return r * (1 + 2.0**-21)
