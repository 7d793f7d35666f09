"""MLIR's builtin dialect: the module, and the cast that stands where a conversion is unfinished."""

from __future__ import annotations

from stablehlo_ref.define import Attr, Body, Ins, Op, Outs
from stablehlo_ref.kinds import String, anything


class Module(Op, op="module", dialect="builtin"):
    """The program, or a part of it: functions and nested modules."""

    sym_name = Attr(String, default=None)
    sym_visibility = Attr(String, default=None)
    body = Body()

    syntax = "custom(module)"
    isolated = True
    needs_terminator = False


class UnrealizedConversionCast(Op, op="unrealized_conversion_cast", dialect="builtin"):
    """Values as values of other types."""

    inputs = Ins(anything)
    outputs = Outs(anything)

    syntax = "(operands : type(operands))? to type(results) attr-dict"
