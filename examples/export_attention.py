"""Export a small transformer from JAX as a program that checks itself: `attention.mlir`.

pip install '.[jax]'
python examples/export_attention.py
stablehlo-interp examples/attention.mlir
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from self_check import self_checking, write

VOCABULARY, LENGTH, WIDTH, HEADS, HIDDEN, LAYERS = 32, 12, 16, 2, 32, 2

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


def main() -> None:
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # no directories in locations
    params, tokens = example_inputs()
    exported = export.export(jax.jit(attention), platforms=["cpu"])(params, tokens)
    expected = list(map(np.asarray, jax.jit(attention)(params, tokens)))
    # Logits are below 4. Both sides round each of some hundred sums to f32, in different orders.
    text = self_checking(exported.mlir_module(), "attention", jax.tree.leaves((params, tokens)), expected, 1e-5, 1)
    write(__file__, text, f"JAX {jax.__version__}")


if __name__ == "__main__":
    main()
