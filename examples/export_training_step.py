"""Export a step of training, sharded over 8 devices, from JAX: `training_step.mlir`.

    pip install '.[jax]'
    python examples/export_training_step.py
    stablehlo-interp examples/training_step.mlir

The mesh has 4 x 2 devices: the batch is split along `data`, the hidden layer along `model`. The program holds an
`sdy.manual_computation`, whose body runs once for each device; its `all_reduce` ops sum over the devices of one axis.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P
from self_check import self_checking, write

BATCH, FEATURES, HIDDEN, CLASSES, RATE = 16, 6, 8, 3, 0.5

Params = tuple[jax.Array, jax.Array]
SHARDED_PARAMS = (P(None, "model"), P("model", None))


def loss(params: Params, x: jax.Array, labels: jax.Array) -> jax.Array:
    """Return the cross-entropy of one device's part of the batch; its parameters are parts of the hidden layer."""
    up, down = params
    logits = lax.psum(jnp.tanh(x @ up) @ down, "model")
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1).mean()


def step(params: Params, x: jax.Array, labels: jax.Array) -> tuple[Params, jax.Array]:
    """Return the parameters after one step of gradient descent, and the loss before it."""
    value, gradients = jax.value_and_grad(lambda p: lax.pmean(loss(p, x, labels), "data"))(params)
    return jax.tree.map(lambda p, g: p - RATE * g, params, gradients), value


def example_inputs() -> tuple[Params, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)

    def weights(*shape: int) -> np.ndarray:
        return (rng.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)

    x = rng.standard_normal((BATCH, FEATURES)).astype(np.float32)
    return (weights(FEATURES, HIDDEN), weights(HIDDEN, CLASSES)), x, rng.integers(0, CLASSES, BATCH, dtype=np.int32)


def main() -> None:
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # no directories in locations
    inputs = example_inputs()
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    shard = partial(jax.shard_map, mesh=mesh, in_specs=(SHARDED_PARAMS, P("data"), P("data")))
    training_step = jax.jit(shard(step, out_specs=(SHARDED_PARAMS, P())))
    exported = export.export(training_step, platforms=["cpu"])(*inputs)
    expected = list(map(np.asarray, jax.tree.leaves(training_step(*inputs))))
    # Sums of at most 16 terms below 1 in f32, in an order that the all-reduce may choose: errors of 1e-6 at most.
    text = self_checking(exported.mlir_module(), "training_step", jax.tree.leaves(inputs), expected, 2e-6, 2)
    write(__file__, text, f"JAX {jax.__version__}")


if __name__ == "__main__":
    main()
