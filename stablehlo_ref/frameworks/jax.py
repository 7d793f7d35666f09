"""Programs from JAX: functions, `jax.stages.Lowered`, `jax.export.Exported`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.arrays.interop import require
from stablehlo_ref.diagnostics import ArgumentTypeError, EvaluationError
from stablehlo_ref.frameworks.trees import TreeProgram
from stablehlo_ref.limits import Limits
from stablehlo_ref.reading.parsing import parse


@checks_arguments
def from_jax(
    source: object, *arguments: object, limits: Limits | None = None, mesh: object = None, **named: object
) -> TreeProgram:
    """Return the program of a JAX function, or of what JAX made of one.

    `source` is a function, with or without `jax.jit`, that is lowered for `arguments` (arrays, or anything that has a
    shape and a dtype, in any pytree; static arguments as for `jax.jit`), or a `jax.stages.Traced` or `Lowered`, or a
    `jax.export.Exported`. Its `run` takes the function's arguments, without the static ones, and returns its results as
    pytrees of numpy arrays.

    With a `mesh`, a function is lowered as inside of it: a `jax.sharding.Mesh`, or an `AbstractMesh`, which needs no
    devices. The program takes whole tensors; see `debug.spmd_check` for what its shardings mean.

    >>> program = sr.from_jax(jnp.sin, np.ones(3, np.float32))
    >>> program.run(np.zeros(3, np.float32))
    """
    jax = require("jax")
    if hasattr(source, "mlir_module") and hasattr(source, "module_kept_var_idx"):
        return _from_exported(source, limits)
    lowered = _lowered(jax, source, mesh, arguments, named)
    names = _names(source, lowered.in_tree)
    text = lowered.as_text(debug_info=True)
    kept = sorted(lowered._lowering.compile_args["kept_var_idx"])
    return _program(text, JaxTrees(lowered.in_tree, lowered.out_tree, names), kept, limits)


def is_jax(source: object) -> bool:
    """Return whether `from_jax` takes an object, which is not a plain function."""
    return type(source).__module__.partition(".")[0] in ("jax", "jaxlib")


def _lowered(jax: Any, source: Any, mesh: Any, arguments: Sequence[Any], named: dict[str, Any]) -> Any:
    if isinstance(source, jax.stages.Lowered):
        return source
    if isinstance(source, jax.stages.Traced):
        return source.lower()
    if not callable(source):
        raise ArgumentTypeError(f"expected a function, or a Lowered or Exported of JAX, got {type(source).__name__}")
    jitted = source if hasattr(source, "lower") else jax.jit(source)
    if isinstance(mesh, jax.sharding.AbstractMesh):
        with jax.sharding.use_abstract_mesh(mesh):
            return jitted.trace(*arguments, **named).lower(lowering_platforms=(jax.default_backend(),))
    with nullcontext() if mesh is None else jax.set_mesh(mesh):
        return jitted.lower(*arguments, **named)


def _from_exported(exported: Any, limits: Limits | None) -> TreeProgram:
    kept = exported.module_kept_var_idx
    return _program(exported.mlir_module_serialized, JaxTrees(exported.in_tree, exported.out_tree), kept, limits)


def _names(source: Any, in_tree: Any) -> tuple[str, ...]:
    """Return the names of a function's positional arguments; none if they are not known, or some are static."""
    try:
        parameters = inspect.signature(source).parameters.values()
    except (TypeError, ValueError):  # not a function, or one without a signature
        return ()
    names = tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD)
    positional, _ = in_tree.children()
    return names if len(positional.children()) == len(names) else ()


def _program(source: str | bytes, trees: JaxTrees, kept: Sequence[int], limits: Limits | None) -> TreeProgram:
    return TreeProgram(parse(source, filename="<jax>").module, trees, kept, "main", limits).verify()  # type: ignore[return-value]


@dataclass(frozen=True)
class JaxTrees:
    """The pytrees of a function's arguments and results, and the names of its positional arguments, if known."""

    in_tree: Any
    out_tree: Any
    names: tuple[str, ...] = ()

    def flatten(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """Return the leaves of the arguments as arrays; EvaluationError for another structure."""
        flatten = require("jax").tree.flatten
        leaves, tree = flatten((tuple(arguments), dict(named)))
        if tree != self.in_tree and set(self.names[len(arguments) :]) == set(named):
            leaves, tree = flatten(((*arguments, *(named[name] for name in self.names[len(arguments) :])), {}))
        if tree != self.in_tree:
            raise EvaluationError(f"expected arguments of structure {self.in_tree}, got {tree}")
        return [_array(leaf) for leaf in leaves]

    def unflatten(self, results: Sequence[Any]) -> Any:
        """Return results, of which tokens are left out, as the pytree that the function returns."""
        return require("jax").tree.unflatten(self.out_tree, [result for result in results if result is not None])


def _array(leaf: object) -> Any:
    """Return a leaf as an array: Python numbers have JAX's default dtypes, random keys are their bits."""
    jax = require("jax")
    if isinstance(leaf, bool | int | float | complex):
        return np.asarray(leaf, jax.dtypes.canonicalize_dtype(type(leaf)))
    if isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return np.asarray(jax.random.key_data(leaf))
    return np.asarray(leaf)
