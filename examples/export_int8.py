"""Export a model in int8 arithmetic from JAX, and write it in quantized types as well: `int8.mlir`.

    pip install '.[jax]'
    python examples/export_int8.py
    stablehlo-interp examples/int8.mlir

`@int8` is what JAX exports: matrix products of i8 that accumulate in i32, and explicit scales. `@quantized`, which this
script writes, is the same network in StableHLO's `!quant.uniform` types, where the scales are in the types and
`stablehlo.uniform_quantize` does what `requantize` does below. `@main` checks that both return the integers that JAX
computed.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax
from self_check import check, constant, tensor_type, with_main, write

BATCH, FEATURES, HIDDEN, CLASSES = 4, 16, 24, 10
INPUT, UP, MIDDLE, DOWN, OUTPUT = 0.03125, 0.0078125, 0.02, 0.01, 0.125  # the real value of one integer step


def int8(up: jax.Array, down: jax.Array, x: jax.Array) -> jax.Array:
    """Return the logits of a network of two layers as int8, for inputs of float32."""
    quantized = jnp.clip(jnp.round(x / INPUT), -128, 127).astype(jnp.int8)
    hidden = jnp.maximum(requantize(product(quantized, up), INPUT * UP / MIDDLE), 0)
    return requantize(product(hidden, down), MIDDLE * DOWN / OUTPUT)


def product(x: jax.Array, w: jax.Array) -> jax.Array:
    """Return the matrix product, exact in int32."""
    return lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)


def requantize(sums: jax.Array, scale: float) -> jax.Array:
    """Return int32 as the nearest int8 of another scale."""
    return jnp.clip(jnp.round(sums.astype(jnp.float32) * scale), -128, 127).astype(jnp.int8)


# The type aliases are defined by `aliases`; a weight of int8 becomes quantized by a `bitcast_convert`.
QUANTIZED = """\
  func.func private @quantized(%up: !up, %down: !down, %x: !x) -> !result {
    %up_q = stablehlo.bitcast_convert %up : (!up) -> !up_q
    %down_q = stablehlo.bitcast_convert %down : (!down) -> !down_q
    %x_q = stablehlo.uniform_quantize %x : (!x) -> !x_q
    %sums1 = stablehlo.dot_general %x_q, %up_q, contracting_dims = [1] x [0] : (!x_q, !up_q) -> !sums1_q
    %hidden = stablehlo.uniform_quantize %sums1 : (!sums1_q) -> !hidden_q
    %zeros = stablehlo.constant dense<0.0> : !hidden
    %zeros_q = stablehlo.uniform_quantize %zeros : (!hidden) -> !hidden_q
    %relu = stablehlo.maximum %hidden, %zeros_q : !hidden_q
    %sums2 = stablehlo.dot_general %relu, %down_q, contracting_dims = [1] x [0] : (!hidden_q, !down_q) -> !sums2_q
    %logits = stablehlo.uniform_quantize %sums2 : (!sums2_q) -> !logits_q
    %stored = stablehlo.bitcast_convert %logits : (!logits_q) -> !result
    return %stored : !result
  }"""


def aliases() -> str:
    """Return definitions of the types in `QUANTIZED`: `!x_q` is `!x` with quantized elements."""
    types = {
        "up": (FEATURES, HIDDEN, "i8", UP),
        "down": (HIDDEN, CLASSES, "i8", DOWN),
        "x": (BATCH, FEATURES, "i8", INPUT),
        "sums1": (BATCH, HIDDEN, "i32", INPUT * UP),
        "hidden": (BATCH, HIDDEN, "i8", MIDDLE),
        "sums2": (BATCH, CLASSES, "i32", MIDDLE * DOWN),
        "logits": (BATCH, CLASSES, "i8", OUTPUT),
    }
    plain = {"up": "i8", "down": "i8", "x": "f32", "hidden": "f32"}
    lines = [f"!{n} = tensor<{types[n][0]}x{types[n][1]}x{element}>" for n, element in plain.items()]
    lines += [f"!result = tensor<{BATCH}x{CLASSES}xi8>"]
    lines += [f"!{n}_q = tensor<{m}x{k}x!quant.uniform<{t}:f32, {scale!r}>>" for n, (m, k, t, scale) in types.items()]
    return "\n".join(lines) + "\n"


def main_function(up: np.ndarray, down: np.ndarray, x: np.ndarray, expected: np.ndarray) -> list[str]:
    signature = f"({tensor_type(up)}, {tensor_type(down)}, {tensor_type(x)}) -> {tensor_type(expected)}"
    return [
        f"  func.func public @main() -> {tensor_type(expected)} {{",
        constant("%up", up),
        constant("%down", down),
        constant("%x", x),
        constant("%expected", expected),
        f"    %int8 = call @int8(%up, %down, %x) : {signature}",
        f"    %quantized = call @quantized(%up, %down, %x) : {signature}",
        check("%int8", "%expected", expected, 0),
        check("%quantized", "%expected", expected, 0),
        f"    return %int8 : {tensor_type(expected)}",
        "  }",
    ]


def main() -> None:
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # no directories in locations
    rng = np.random.default_rng(5)
    up = rng.integers(-127, 128, (FEATURES, HIDDEN), dtype=np.int8)
    down = rng.integers(-127, 128, (HIDDEN, CLASSES), dtype=np.int8)
    x = rng.uniform(-2, 2, (BATCH, FEATURES)).astype(np.float32)
    exported = export.export(jax.jit(int8), platforms=["cpu"])(up, down, x)
    expected = np.asarray(jax.jit(int8)(up, down, x))
    functions = [*main_function(up, down, x, expected), QUANTIZED]
    write(__file__, with_main(aliases() + exported.mlir_module(), "int8", functions), f"JAX {jax.__version__}")


if __name__ == "__main__":
    main()
