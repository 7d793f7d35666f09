"""Programs from PyTorch, exported through torchax, and PyTorch's tensors as arrays."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.arrays.files import narrowed
from stablehlo_ref.arrays.interop import require, to_array, to_tensor
from stablehlo_ref.diagnostics import ArgumentTypeError, EvaluationError
from stablehlo_ref.frameworks.trees import TreeProgram
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits import Limits
from stablehlo_ref.reading.parsing import parse


@checks_arguments
def from_torch(
    source: object,
    arguments: Sequence[Any] = (),
    named: Mapping[str, Any] | None = None,
    *,
    limits: Limits | None = None,
) -> TreeProgram:
    """Return the program of a PyTorch module, or of a `torch.export.ExportedProgram`.

    A module is exported for `arguments` and `named`, the inputs of its `forward`. The program holds the weights; its
    `run` takes what `forward` takes, tensors or arrays, and returns what it returns, with tensors. torchax makes the
    StableHLO, so JAX is needed too; the extra `torch` has both.

    >>> program = sr.from_torch(module.eval(), (torch.ones(1, 3, 224, 224),))
    >>> program.run(image)
    """
    torch = require("torch")
    program = source
    if isinstance(source, torch.nn.Module):
        program = torch.export.export(source, tuple(arguments), dict(named or {}))
    if not isinstance(program, torch.export.ExportedProgram):
        raise ArgumentTypeError(f"expected a torch.nn.Module or ExportedProgram, got {type(source).__name__}")
    weights, exported = export_program(program)
    leaves = [np.asarray(weight) for weight in (weights.values() if isinstance(weights, Mapping) else weights)]
    return _program(program, leaves, exported, limits)


def is_torch(source: object) -> bool:
    """Return whether `from_torch` takes an object."""
    return type(source).__name__ == "ExportedProgram" and type(source).__module__.startswith("torch.")


def export_program(program: object) -> tuple[Any, Any]:
    """Return the weights and the `jax.export.Exported` that torchax makes of a `torch.export.ExportedProgram`."""
    torchax = import_torchax()
    _describe_inputs(program)
    return torchax.export.exported_program_to_stablehlo(program)  # type: ignore[no-any-return]


def _describe_inputs(program: Any) -> None:
    """Add the metadata of inputs that torchax reads and that a program from a file does not have."""
    torch = require("torch")
    describe = require("torch.fx.passes.shape_prop")._extract_tensor_metadata
    for node in program.graph.nodes:
        value = node.meta.get("val")
        if node.op == "placeholder" and "tensor_meta" not in node.meta and isinstance(value, torch.Tensor):
            node.meta["tensor_meta"] = describe(value)


@cache
def import_torchax() -> ModuleType:
    """Return torchax, with its exporter; ImportError that says what to install if it is missing.

    torchax 0.0.13, the last one, registers functions for overloads of ATen's ops with named dimensions, such as
    `aten.prod.dim_Dimname`, which PyTorch 2.13 has removed, so that it cannot be imported. No program has such ops: it
    is enough that the names exist. After this call `import torchax` works anywhere.
    """
    _define_missing_overloads()
    require("torchax.export")
    return require("torchax")


def _define_missing_overloads() -> None:
    """Declare the overloads of ATen's ops that torchax names and PyTorch does not have."""
    spec = find_spec("torchax")
    if spec is None or spec.origin is None:
        return
    torch = require("torch")
    sources = "\n".join(path.read_text(encoding="utf-8") for path in Path(spec.origin).parent.rglob("*.py"))
    for name, overload in sorted(set(re.findall(r"ops\.aten\.(\w+)\.(\w+)", sources))):
        op = getattr(torch.ops.aten, name, None)
        if op is not None and not hasattr(op, overload):
            _declarations().define(f"{name}.{overload}(Tensor self) -> Tensor")


@cache
def _declarations() -> Any:
    """Return the library of our declarations, which must stay alive."""
    return require("torch").library.Library("aten", "FRAGMENT")


def _program(program: Any, weights: list[Array], exported: Any, limits: Limits | None) -> TreeProgram:
    dtypes = [np.dtype(aval.dtype) for aval in exported.in_avals]
    trees = TorchTrees(program.call_spec.in_spec, program.call_spec.out_spec, weights, dtypes)
    module = parse(exported.mlir_module_serialized, filename="<torch>").module
    return TreeProgram(module, trees, exported.module_kept_var_idx, "main", limits).verify()  # type: ignore[return-value]


@dataclass(frozen=True)
class TorchTrees:
    """The containers of a module's inputs and outputs, and its weights, which are the first inputs of the program.

    `dtypes` are those of all inputs.
    """

    in_spec: Any
    out_spec: Any
    weights: list[Array]
    dtypes: list[DType]

    def flatten(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """Return the weights and the leaves of the arguments as arrays; EvaluationError for another structure."""
        leaves, spec = require("torch.utils._pytree").tree_flatten((tuple(arguments), dict(named)))
        if spec != self.in_spec:
            raise EvaluationError(f"expected arguments of structure {self.in_spec}, got {spec}")
        return list(map(narrowed, [*self.weights, *map(to_array, leaves)], self.dtypes))

    def unflatten(self, results: Sequence[Any]) -> Any:
        """Return results as tensors, in the containers that the module returns."""
        return require("torch.utils._pytree").tree_unflatten([to_tensor(result) for result in results], self.out_spec)
