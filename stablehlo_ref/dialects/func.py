"""MLIR's func dialect: functions, calls and returns."""

from __future__ import annotations

from typing import Any

from stablehlo_ref.define import Attr, Body, Ins, Op, Outs
from stablehlo_ref.kinds import Dictionary, FunctionTypeOf, ListOf, String, Symbol, anything
from stablehlo_ref.ops.control_flow import call


class Func(Op, op="func", dialect="func"):
    """A function; one without a body is a declaration."""

    sym_name = Attr(String)
    sym_visibility = Attr(String, default=None)
    function_type = Attr(FunctionTypeOf)
    arg_attrs = Attr(ListOf(Dictionary), default=())
    res_attrs = Attr(ListOf(Dictionary), default=())
    body = Body()

    syntax = "custom(function)"
    isolated = True


class Call(Op, op="call", dialect="func"):
    """Calls the function `callee` of the module with `inputs`."""

    callee = Attr(Symbol)
    inputs = Ins(anything)
    results = Outs(anything)

    syntax = "$callee ( operands ) attr-dict : functional_type"

    @staticmethod
    def inline(callee: str, inputs: tuple[int, ...], results: tuple[int, ...], functions: Any, dying: Any) -> Any:
        return call(inputs, callee, results, functions, dying)


class Return(Op, op="return", dialect="func"):
    """The results of the function around it."""

    inputs = Ins(anything)

    syntax = "operands attr-dict (: type(operands))?"
    terminator = True
