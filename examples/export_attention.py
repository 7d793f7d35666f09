"""Exports a small transformer from JAX as a StableHLO program that checks itself: `attention.mlir`.

    pip install "stablehlo-ref[jax]"
    python examples/export_attention.py
    stablehlo-interp examples/attention.mlir

The program is what `jax.export` writes, with its function renamed from `@main` to `@attention`. A new `@main` holds
weights and tokens, and the logits and next tokens that JAX computed from them on the CPU; it calls `@attention`,
compares and returns.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

VOCABULARY, LENGTH, WIDTH, HEADS, HIDDEN, LAYERS = 64, 16, 32, 4, 64, 2

Params = dict[str, Any]


def attention(params: Params, tokens: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The logits of the token after each of `tokens`, and the likeliest one: decoder blocks, one after the other."""
    x = params["embedding"][tokens] + params["position"]
    x, _ = jax.lax.scan(lambda x, block: (decoder_block(block, x), None), x, params["blocks"])
    logits = normalize(x) @ params["embedding"].T
    return logits, jnp.argmax(logits, axis=-1)


def decoder_block(block: Params, x: jax.Array) -> jax.Array:
    """Causal self-attention and a perceptron, each added to its input: (length, width) -> (length, width)."""
    x = x + self_attention(block, normalize(x) * block["norm1"])
    hidden = jax.nn.gelu(normalize(x) * block["norm2"] @ block["up"], approximate=True)
    return x + hidden @ block["down"]


def self_attention(block: Params, x: jax.Array) -> jax.Array:
    query, key, value = jnp.split((x @ block["qkv"]).reshape(LENGTH, HEADS, -1), 3, axis=-1)
    scores = jnp.einsum("qhd,khd->hqk", query, key) / np.sqrt(WIDTH / HEADS)
    causal = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -jnp.inf))
    return jnp.einsum("hqk,khd->qhd", weights, value).reshape(LENGTH, WIDTH) @ block["out"]


def normalize(x: jax.Array) -> jax.Array:
    centered = x - x.mean(axis=-1, keepdims=True)
    return centered * jax.lax.rsqrt(jnp.square(centered).mean(axis=-1, keepdims=True) + 1e-5)


def example_inputs() -> tuple[Params, np.ndarray]:
    rng = np.random.default_rng(2024)

    def weights(*shape: int) -> np.ndarray:
        return (rng.standard_normal(shape) / np.sqrt(shape[-2])).astype(np.float32)

    blocks = {
        "norm1": 1 + weights(LAYERS, 1, WIDTH) / 8,
        "qkv": weights(LAYERS, WIDTH, 3 * WIDTH),
        "out": weights(LAYERS, WIDTH, WIDTH),
        "norm2": 1 + weights(LAYERS, 1, WIDTH) / 8,
        "up": weights(LAYERS, WIDTH, HIDDEN),
        "down": weights(LAYERS, HIDDEN, WIDTH),
    }
    params = {"embedding": weights(VOCABULARY, WIDTH), "position": weights(LENGTH, WIDTH), "blocks": blocks}
    return params, rng.integers(0, VOCABULARY, LENGTH, dtype=np.int32)


def tensor_type(x: np.ndarray) -> str:
    element = {"float32": "f32", "int32": "i32"}[x.dtype.name]
    return f"tensor<{'x'.join(map(str, (*x.shape, element)))}>"


def constant(name: str, x: np.ndarray) -> str:
    return f'    {name} = stablehlo.constant dense<"0x{x.tobytes().hex().upper()}"> : {tensor_type(x)}'


def self_check(inputs: list[np.ndarray], logits: np.ndarray, next_tokens: np.ndarray) -> str:
    """The `@main` that calls `@attention` and compares."""
    names = [f"%input{i}" for i in range(len(inputs))]
    results = f"{tensor_type(logits)}, {tensor_type(next_tokens)}"
    return "\n".join(
        [
            f"  func.func public @main() -> ({results}) {{",
            *map(constant, names, inputs),
            constant("%logits", logits),
            constant("%next_tokens", next_tokens),
            f"    %0:2 = call @attention({', '.join(names)}) : ({', '.join(map(tensor_type, inputs))}) -> ({results})",
            f"    check.expect_almost_eq %0#0, %logits, tolerance = 1.0e-05 : {tensor_type(logits)}",
            f"    check.expect_eq %0#1, %next_tokens : {tensor_type(next_tokens)}",
            f"    return %0#0, %0#1 : {results}",
            "  }",
        ]
    )


def main() -> None:
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # no directories in locations
    params, tokens = example_inputs()
    exported = export.export(jax.jit(attention), platforms=["cpu"])(params, tokens)
    logits, next_tokens = map(np.asarray, jax.jit(attention)(params, tokens))

    head, function, rest = exported.mlir_module().partition("  func.func public @main(")
    check = self_check(jax.tree.leaves((params, tokens)), logits, next_tokens)
    comment = (
        f"// By export_attention.py with JAX {jax.__version__}: @main runs the exported @attention and checks it.\n"
    )
    text = comment + head + check + "\n" + function.replace("@main", "@attention") + rest
    Path(__file__).with_name("attention.mlir").write_text(text)


if __name__ == "__main__":
    main()
