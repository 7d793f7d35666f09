"""MLIR's cf dialect: assertions. Branches between blocks are not supported."""

from __future__ import annotations

from stablehlo_ref.define.attribute_codecs import String
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.op import Attr, In, Op
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects.mlir_types import boolean
from stablehlo_ref.ir.arrays import Array


class Assert(Op, op="assert", dialect="cf", effects=True):
    """Raise EvaluationError with the message `msg` unless `arg` is true."""

    arg = In(boolean)
    msg = Attr(String)

    syntax = "operands, $msg attr-dict custom(boolean_operands)"

    @staticmethod
    def plan(msg: String) -> Run:
        def run(context: Context, arg: Array) -> tuple[()]:
            if not arg:
                raise EvaluationError(f"assertion failed: {msg}")
            return ()

        return run
