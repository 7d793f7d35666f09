"""MLIR's func dialect: functions, calls and returns."""

from __future__ import annotations

from stablehlo_ref.define.attribute_codecs import Dictionaries, FunctionTypeValue, String, Symbol, Visibility
from stablehlo_ref.define.bound import ControlFlowSite
from stablehlo_ref.define.computation import ControlFlow
from stablehlo_ref.define.op import Attr, Body, Ins, Op, Outs
from stablehlo_ref.define.type_constraints import anything
from stablehlo_ref.ops.control_flow import call


class Func(Op, op="func", dialect="func", isolated_from_above=True, multiple_blocks=True):
    """Define a function, or declare one if there is no body."""

    sym_name = Attr(String)
    sym_visibility = Attr(Visibility, default=None)
    function_type = Attr(FunctionTypeValue)
    arg_attrs = Attr(Dictionaries, default=())
    res_attrs = Attr(Dictionaries, default=())
    body = Body()

    syntax = "custom(function)"


class Call(Op, op="call", dialect="func", releases_operands=True):
    """Call the function `callee` of the module with `inputs`."""

    callee = Attr(Symbol)
    inputs = Ins(anything)
    results = Outs(anything)

    syntax = "$callee ( operands ) custom(no_inline) attr-dict : functional_type"

    @staticmethod
    def plan_control_flow(
        site: ControlFlowSite, callee: Symbol, inputs: tuple[int, ...], results: tuple[int, ...]
    ) -> ControlFlow:
        return call(inputs, callee, results, site.function, site.dying)


class Return(Op, op="return", dialect="func", terminator=True):
    """Return `inputs` as the results of the enclosing function."""

    inputs = Ins(anything)

    syntax = "attr-dict operands (: type(operands))?"
