"""MLIR's cf dialect: assertions. Jumps between blocks are not evaluated."""

from __future__ import annotations

from stablehlo_ref.define import Attr, In, Op
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects.foreign.values import Array, Run, boolean
from stablehlo_ref.kinds import String


class Assert(Op, op="assert", dialect="cf"):
    """EvaluationError with the message `msg` unless `arg` is true."""

    effects = True

    arg = In(boolean)
    msg = Attr(String)

    syntax = "operands, $msg attr-dict custom(what_is_true)"

    @staticmethod
    def plan(msg: str) -> Run:
        def run(context: object, arg: Array) -> tuple[()]:
            if not arg:
                raise EvaluationError(f"assertion failed: {msg}")
            return ()

        return run
