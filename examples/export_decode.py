"""Export a greedy decode loop with a key-value cache from JAX: `decode.mlir`.

    pip install '.[jax]'
    python examples/export_decode.py
    stablehlo-interp examples/decode.mlir

Each turn of the `stablehlo.while` writes the key and the value of one token into the cache with
`dynamic_update_slice`, attends to what the cache holds so far, and appends the likeliest next token.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax
from self_check import self_checking, write

VOCABULARY, WIDTH, LENGTH, PROMPT = 24, 12, 16, 4

Params = dict[str, jax.Array]


def decode(params: Params, prompt: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return `LENGTH` tokens that begin with `prompt`, and the logits of the last step."""
    tokens = jnp.zeros(LENGTH, jnp.int32).at[:PROMPT].set(prompt)
    cache = jnp.zeros((2, LENGTH, WIDTH))
    state = (jnp.int32(0), tokens, cache, jnp.zeros(VOCABULARY))
    _, tokens, _, logits = lax.while_loop(lambda s: s[0] < LENGTH - 1, lambda s: step(params, *s), state)
    return tokens, logits


def step(params: Params, i: jax.Array, tokens: jax.Array, cache: jax.Array, _: jax.Array) -> tuple[jax.Array, ...]:
    """Append one token; tokens of the prompt stay."""
    x = params["embedding"][tokens[i]] + params["position"][i]
    query, key, value = jnp.split(x @ params["qkv"], 3)
    cache = lax.dynamic_update_slice(cache, jnp.stack([key, value])[:, None], (0, i, 0))
    x = x + attend(query, cache, i) @ params["out"]
    logits = x @ params["embedding"].T
    chosen = jnp.where(i + 1 < PROMPT, tokens[i + 1], jnp.argmax(logits).astype(jnp.int32))
    return i + 1, tokens.at[i + 1].set(chosen), cache, logits


def attend(query: jax.Array, cache: jax.Array, i: jax.Array) -> jax.Array:
    """Return the mean of the cached values up to `i`, weighted by how well their keys fit the query."""
    keys, values = cache
    scores = jnp.where(jnp.arange(LENGTH) <= i, keys @ query / np.sqrt(WIDTH), -jnp.inf)
    return jax.nn.softmax(scores) @ values


def example_inputs() -> tuple[Params, np.ndarray]:
    rng = np.random.default_rng(7)

    def weights(*shape: int) -> np.ndarray:
        return (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)

    params = {
        "embedding": weights(VOCABULARY, WIDTH),
        "position": 2 * weights(LENGTH, WIDTH),
        "qkv": weights(WIDTH, 3 * WIDTH),
        "out": weights(WIDTH, WIDTH),
    }
    return params, np.array([3, 1, 4, 1], np.int32)


def main() -> None:
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # no directories in locations
    params, prompt = example_inputs()
    exported = export.export(jax.jit(decode), platforms=["cpu"])(params, prompt)
    expected = list(map(np.asarray, jax.jit(decode)(params, prompt)))
    # Sums of 12 products below 2 in f32, one after the other: errors of 2e-6 at most.
    text = self_checking(exported.mlir_module(), "decode", jax.tree.leaves((params, prompt)), expected, 1e-5)
    write(__file__, text, f"JAX {jax.__version__}")


if __name__ == "__main__":
    main()
