"""Faults of integers, comparisons, conversions and precision."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from faults.elementwise import ARITHMETIC, f32, floats, integers
from faults.rules import Array, after, before, changed
from jax import lax

from stablehlo_ref.ir.core import Operation

DIRECTIONS = {"LT": "LE", "LE": "LT", "GT": "GE", "GE": "GT", "EQ": "NE", "NE": "EQ"}


@after("integer overflow saturates", "add subtract multiply", inputs="integers")
def _(op: Operation, r: Array, x: Array, y: Array) -> Array:
    integers(r)
    info = jnp.iinfo(r.dtype)
    wide = {"add": lax.add, "subtract": lax.sub, "multiply": lax.mul}[op.mnemonic]
    exact = wide(x.astype(jnp.float64), y.astype(jnp.float64))
    most, least = (jnp.asarray(n, r.dtype) for n in (info.max, info.min))
    return jnp.where(exact > float(info.max), most, jnp.where(exact < float(info.min), least, r))


@before("shift amount modulo half of the bits", "shift_left shift_right_logical shift_right_arithmetic")
def _(op: Operation, x: Array, y: Array) -> Any:
    return [x, y % (4 * x.dtype.itemsize)]


@changed("kind of shift", "shift_right_logical shift_right_arithmetic")
def _(op: Operation) -> Any:
    other = {"logical": "arithmetic", "arithmetic": "logical"}[op.name.rpartition("_")[2]]
    return {"name": f"stablehlo.shift_right_{other}"}


@after("signed as unsigned", "divide remainder convert maximum minimum compare abs", inputs="integers")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    integers(*xs)
    other = jnp.dtype(("uint" if xs[0].dtype.kind == "i" else "int") + str(8 * xs[0].dtype.itemsize))
    ys = [lax.bitcast_convert_type(x, other) for x in xs]
    name = op.mnemonic
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
    return {"comparison_direction": type(old)[DIRECTIONS[old.name]]}


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
    away, even = lax.RoundingMethod.AWAY_FROM_ZERO, lax.RoundingMethod.TO_NEAREST_EVEN
    return lax.round(x, away if op.name.endswith("even") else even)


@after("truncated instead of rounded", f"{ARITHMETIC} convert", strict=True)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    floats(r)
    bits = {2: jnp.uint16, 4: jnp.uint32, 8: jnp.uint64}[r.dtype.itemsize]
    return lax.bitcast_convert_type(lax.bitcast_convert_type(r, bits) >> 2 << 2, r.dtype)


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
