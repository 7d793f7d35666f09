"""Export JAX programs for eight devices, run them, and compare the results with JAX's on eight devices.

    python tools/exports/jax_devices.py [--only REGEX] [--save FOLDER]

Each program is exported for Shardy, JAX's partitioner, and for GSPMD, its predecessor. The exit code is 1 if a result
differs. Needs the extra `jax`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from compare import Case, Sample, main
from jax import export, lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from jax_functions import array

MESH = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
X, W = array(8, 16), array(16, 8)


def on(*axes: Any) -> NamedSharding:
    return NamedSharding(MESH, P(*axes))


def layers(x: Any, w: Any) -> Any:
    """Compute two layers whose tensors have different shardings."""
    hidden = lax.with_sharding_constraint(jnp.tanh(x @ w), on("x", "y"))
    return lax.with_sharding_constraint(hidden @ w.T, on(None, ("x", "y"))).sum(0)


def shards(function: Callable[..., Any], ins: Any, outs: Any, **options: Any) -> Callable[..., Any]:
    return jax.shard_map(function, mesh=MESH, in_specs=ins, out_specs=outs, check_vma=False, **options)


def ring(x: Any, w: Any) -> Any:
    """Compute a matrix product with the shards of `w` passed around a ring of devices."""
    places = [(i, (i + 1) % 4) for i in range(4)]

    def step(i: Any, state: Any) -> Any:
        total, part = state
        here = (lax.axis_index("y") - i) % 4
        return total + lax.dynamic_slice_in_dim(x, here * 4, 4, 1) @ part, lax.ppermute(part, "y", places)

    return lax.fori_loop(0, 4, step, (jnp.zeros((4, 8), x.dtype), w))[0]


def reductions(x: Any) -> Any:
    return (
        lax.psum(x, "y"),
        lax.pmean(x, ("x", "y")),
        lax.pmax(x, "x"),
        lax.psum_scatter(x, "y", scatter_dimension=0, tiled=True),
    )


def exchanges(x: Any) -> Any:
    tiled = lax.all_to_all(x, "y", 1, 0, tiled=True), lax.all_gather(x, "x", axis=1, tiled=True)
    return *tiled, lax.all_gather(x, "y").sum(0), lax.all_to_all(x, "y", 1, 1), lax.axis_index(("x", "y")) + x


def twice(x: Any) -> Any:
    """Join shards and split the result along another axis."""
    rows = shards(lambda v: v - lax.pmean(v, "x"), P("x", None), P("x", None))(jnp.sin(x))
    return shards(lambda v: v / lax.psum(v**2, "y").sum(), P(None, "y"), P(None, "y"))(rows) + rows


RING = shards(ring, (P("x", None), P("y", None)), P("x", None))
ROWS = P("x", "y")
PROGRAMS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "named": (jax.jit(layers, in_shardings=(on("x", None), on(None, "y")), out_shardings=on("y")), [X, W]),
    "ring": (RING, [X, W]),
    "reductions": (shards(reductions, ROWS, (ROWS, P(None), P(None, "y"), ROWS)), [X]),
    "exchanges": (shards(exchanges, ROWS, (ROWS, P(None, "y"), P("x", None), P("x", "y"), ROWS)), [X]),
    "twice": (twice, [X]),
    "gradient": (jax.grad(lambda x, w: (RING(x, w) ** 2).sum(), (0, 1)), [X, W]),
    "some axes": (shards(lambda x: lax.psum(x, "y") * 2, P(None, "y"), P(None, None), axis_names={"y"}), [X]),
    "pmap": (jax.pmap(lambda x: lax.psum(x, "i") - x + lax.axis_index("i"), "i"), [X]),
}  # fmt: skip


def case(name: str, partitioner: str, way: str) -> Case:
    function, operands = PROGRAMS[name]
    jax.config.update("jax_use_shardy_partitioner", partitioner == "shardy")
    jitted = jax.jit(function)
    expected = list(map(np.asarray, jax.tree.leaves(jitted(*operands))))
    if way == "lowered":
        return Case(jitted.lower(*operands).as_text(), operands, expected)
    program = export.export(jitted)(*operands)
    return Case(program.mlir_module(), operands, expected, program.mlir_module_serialized)


def samples() -> Iterator[Sample]:
    for name in PROGRAMS:
        for partitioner in ("shardy", "gspmd"):
            for way in ("export", "lowered"):
                yield Sample(f"{name}.{partitioner}.{way}", partial(case, name, partitioner, way))


if __name__ == "__main__":
    sys.exit(main(samples(), "JAX"))
