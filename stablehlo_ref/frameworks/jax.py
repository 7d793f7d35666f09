"""Programs from JAX: functions, `jax.stages.Lowered`, `jax.export.Exported`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.frameworks.trees import TreeProgram
from stablehlo_ref.interop import require
from stablehlo_ref.limits import Limits
from stablehlo_ref.parsing import parse


def from_jax(source: Any, *arguments: Any, limits: Limits | None = None, **named: Any) -> TreeProgram:
    """Return the program of a JAX function, or of what JAX made of one.

    `source` is a function, with or without `jax.jit`, that is lowered for `arguments` (arrays, or anything that has a
    shape and a dtype, in any pytree; static arguments as for `jax.jit`), or a `jax.stages.Traced` or `Lowered`, or a
    `jax.export.Exported`. Its `run` takes the function's arguments, without the static ones, and returns its results as
    pytrees of numpy arrays.

    >>> program = sr.from_jax(jnp.sin, np.ones(3, np.float32))
    >>> program.run(np.zeros(3, np.float32))
    """
    jax = require("jax")
    if hasattr(source, "mlir_module") and hasattr(source, "module_kept_var_idx"):
        return _from_exported(jax, source, limits)
    lowered = _lowered(jax, source, arguments, named)
    text = lowered.as_text(debug_info=True)
    kept = sorted(lowered._lowering.compile_args["kept_var_idx"])
    return _program(jax, text, lowered.in_tree, lowered.out_tree, kept, limits)


def is_jax(source: Any) -> bool:
    """Return whether `from_jax` takes an object, which is not a plain function."""
    return type(source).__module__.partition(".")[0] in ("jax", "jaxlib")


def _lowered(jax: Any, source: Any, arguments: Sequence[Any], named: dict[str, Any]) -> Any:
    if isinstance(source, jax.stages.Lowered):
        return source
    if isinstance(source, jax.stages.Traced):
        return source.lower()
    if not callable(source):
        raise TypeError(f"expected a function, or a Lowered or Exported of JAX, got {type(source).__name__}")
    jitted = source if hasattr(source, "lower") else jax.jit(source)
    return jitted.lower(*arguments, **named)


def _from_exported(jax: Any, exported: Any, limits: Limits | None) -> TreeProgram:
    kept = exported.module_kept_var_idx
    return _program(jax, exported.mlir_module_serialized, exported.in_tree, exported.out_tree, kept, limits)


def _program(
    jax: Any, source: str | bytes, in_tree: Any, out_tree: Any, kept: Sequence[int], limits: Limits | None
) -> TreeProgram:
    def flatten(arguments: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        leaves, tree = jax.tree.flatten((arguments, named))
        if tree != in_tree:
            raise EvaluationError(f"expected arguments of structure {in_tree}, got {tree}")
        return [_array(leaf) for leaf in leaves]

    def unflatten(results: Sequence[Any]) -> Any:
        return jax.tree.unflatten(out_tree, [result for result in results if result is not None])

    program = TreeProgram(parse(source, filename="<jax>").module, flatten, unflatten, kept, "main", limits)
    return program.verify()  # type: ignore[return-value]


def _array(leaf: Any) -> Any:
    """Return a leaf as an array: Python numbers have JAX's default dtypes, random keys are their bits."""
    jax = require("jax")
    if isinstance(leaf, bool | int | float | complex):
        return np.asarray(leaf, jax.dtypes.canonicalize_dtype(type(leaf)))
    if isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return np.asarray(jax.random.key_data(leaf))
    return np.asarray(leaf)
