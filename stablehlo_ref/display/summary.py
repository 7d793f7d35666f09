"""A program in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.signature import Function, Parameters


class Shown(Protocol):
    """What of a program is shown."""

    @property
    def module(self) -> Operation:
        """The module."""

    @property
    def functions(self) -> Mapping[str, Function]:
        """The signatures of all functions."""

    @property
    def entry(self) -> Function:
        """The signature of the entry."""

    @property
    def inputs(self) -> Parameters:
        """The inputs of the entry."""

    @property
    def outputs(self) -> Parameters:
        """The outputs of the entry."""


def summary(program: Shown) -> str:
    """Return a line such as `<Program main(x: tensor<4xf32>) -> (tensor<4xf32>), 3 ops, from model.mlir>`."""
    location = program.module.location
    origin = f", from {location.filename}" if location else ""
    return f"<Program {signature(program)}, {len(ops_of(program))} ops{origin}>"


def signature(program: Shown) -> str:
    """Return the entry with the types of its inputs and outputs; without an entry, the names of the functions."""
    try:
        inputs, outputs = ", ".join(map(repr, program.inputs)), ", ".join(str(p.type) for p in program.outputs)
        return f"{program.entry.name}({inputs}) -> ({outputs})"
    except EvaluationError:
        return f"functions {', '.join(f'@{name}' for name in program.functions) or 'none'}"


def ops_of(program: Shown) -> list[Operation]:
    """Return the ops of all functions, without the module and the functions themselves."""
    return [op for op in program.module.walk() if op.name not in ("builtin.module", "func.func")]
