"""Export small JAX and Flax models with random weights, run them, and compare the results with JAX's.

    python tools/exports/jax_models.py [--only REGEX] [--save FOLDER]

Each model is exported by `jax.export`, with a static and with a symbolic batch size, and lowered by
`jit(...).lower(...)`, with and without locations. The exit code is 1 if a result differs. Needs the extra `jax`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from compare import Case, Sample, main
from flax import linen as nn
from flax import nnx
from jax import export
from jax_functions import array
from jax_modules import Autoencoder, Bert, Block, Experts, Mixer, Perceptron, Recurrent, Resnet, Ssm, Unet, Vit

warnings.filterwarnings("ignore", message="Some donated buffers")  # only training steps return buffers of donated types
WAYS = ("export", "symbolic", "lowered", "located")
TOKENS = array(3, 8, dtype=np.uint8).astype(np.int32)
IMAGE, SEQUENCE = array(3, 8, 8, 3), array(3, 8, 16)


def perceptron() -> tuple[Callable[..., Any], Any, Any]:
    graph, state = nnx.split(Perceptron(nnx.Rngs(0)))
    return lambda weights, x: nnx.merge(graph, weights)(x), state, SEQUENCE


def applied(model: nn.Module, x: Any) -> tuple[Callable[..., Any], Any, Any]:
    """Return a function of weights and inputs, the weights, and the inputs."""
    return model.apply, jax.jit(model.init)(jax.random.key(0), x), x


def trained(
    optimizer: Any, loss_of: Callable[..., Any], model: nn.Module, x: Any
) -> tuple[Callable[..., Any], Any, Any]:
    """Return a training step that donates its state, the state, and the inputs."""
    weights = jax.jit(model.init)(jax.random.key(0), x)

    def step(state: Any, x: Any) -> Any:
        weights, moments = state
        loss, gradient = jax.value_and_grad(loss_of(lambda w: jnp.square(model.apply(w, x)).mean()))(weights)
        updates, moments = optimizer.update(gradient, moments, weights)
        return loss, optax.apply_updates(weights, updates), moments

    return step, (weights, optimizer.init(weights)), x


MODELS: dict[str, Callable[[], tuple[Callable[..., Any], Any, Any]]] = {
    "mlp": perceptron,
    "resnet": partial(applied, Resnet(), IMAGE),
    "vit": partial(applied, Vit(), IMAGE),
    "bert": partial(applied, Bert(), TOKENS),
    "bert-bf16": partial(applied, Bert(jnp.bfloat16), TOKENS),
    "gpt-block": partial(applied, Block(causal=True), SEQUENCE),
    "lstm": partial(applied, Recurrent(nn.OptimizedLSTMCell(8)), SEQUENCE),
    "unet": partial(applied, Unet(), IMAGE),
    "vae": partial(applied, Autoencoder(), SEQUENCE[:, 0]),
    "mixer": partial(applied, Mixer(), IMAGE),
    "moe": partial(applied, Experts(), SEQUENCE),
    "ssm": partial(applied, Ssm(), SEQUENCE),
    "adam": partial(trained, optax.adam(1e-2), lambda f: f, Resnet(), IMAGE),
    "sgd": partial(trained, optax.sgd(1e-2, momentum=0.9, nesterov=True), lambda f: f, Ssm(), SEQUENCE),
    "lamb": partial(
        trained, optax.chain(optax.clip_by_global_norm(1.0), optax.lamb(1e-2)), jax.checkpoint, Vit(), IMAGE
    ),
}


def called(make: Callable[[], tuple[Callable[..., Any], Any, Any]]) -> tuple[Any, list[np.ndarray], list[np.ndarray]]:
    """Return a model as a jitted function that donates its weights, its arguments, and its results."""
    function, weights, x = make()
    leaves, tree = jax.tree.flatten(weights)
    donated = tuple(range(1, len(leaves) + 1))
    call = lambda x, *leaves: function(tree.unflatten(leaves), x)  # noqa: E731
    jitted = jax.jit(call, keep_unused=True, donate_argnums=donated)  # unused weights stay arguments
    arguments = [np.asarray(a) for a in (x, *leaves)]
    return jitted, arguments, list(map(np.asarray, jax.tree.leaves(jitted(*arguments))))


def case(model: Callable[[], tuple[Any, list[np.ndarray], list[np.ndarray]]], way: str) -> Case:
    """Export a model in one of the `WAYS`."""
    jitted, arguments, expected = model()
    types = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arguments]
    if way == "symbolic":
        types[0] = jax.ShapeDtypeStruct((*export.symbolic_shape("n"), *types[0].shape[1:]), types[0].dtype)
    if way in ("lowered", "located"):
        return Case(jitted.lower(*types).as_text(debug_info=way == "located"), arguments, expected)
    program = export.export(jitted)(*types)
    return Case(program.mlir_module(), arguments, expected, program.mlir_module_serialized)


def samples() -> Iterator[Sample]:
    for name, make in MODELS.items():
        model = cache(partial(called, make))
        for way in WAYS:
            yield Sample(f"{name}.{way}", partial(case, model, way))


if __name__ == "__main__":
    sys.exit(main(samples(), "JAX"))
