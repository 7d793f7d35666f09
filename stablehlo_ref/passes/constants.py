"""Constants that replace ops, and where they are inserted."""

from __future__ import annotations

from collections.abc import Sequence

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.passes.emit import Emitter


def replace_by_constants(rewriter: Rewriter, op: Operation, arrays: Sequence[Array]) -> None:
    """Replace the results of an op by constants."""
    emit = Emitter(rewriter, op)
    types = [type for type in op.result_types if isinstance(type, TensorType)]
    rewriter.replace(op, [emit.constant(type, array) for type, array in zip(types, arrays, strict=True)])
