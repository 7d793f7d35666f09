"""MLIR's builtin dialect: the module, and the cast that stands where a conversion is unfinished."""

from __future__ import annotations

from typing import Any

from stablehlo_ref.define import Attr, Body, Ins, Op, Outs
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.kinds import String, anything
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.spec import element_type, is_tensor, shape


class Module(Op, op="module", dialect="builtin"):
    """The program, or a part of it: functions and nested modules."""

    sym_name = Attr(String, default=None)
    sym_visibility = Attr(String, default=None)
    body = Body()

    syntax = "custom(module)"
    isolated = True
    needs_terminator = False


class UnrealizedConversionCast(Op, op="unrealized_conversion_cast", dialect="builtin"):
    """Values as values of other types, as many of them, that are the same array or number here."""

    on_storage = True

    inputs = Ins(anything)
    results = Outs(anything)

    syntax = "(operands : type(operands))? to type(results) attr-dict"

    @staticmethod
    def plan(inputs: Any, results: Any) -> Any:
        if len(inputs) != len(results) or not all(map(alike, inputs, results)):
            types = ", ".join(map(str, inputs)), ", ".join(map(str, results))
            raise UnsupportedError(f"a cast from {types[0]} to {types[1]}")
        return lambda inputs: inputs[0] if len(inputs) == 1 else inputs


def alike(x: Any, y: Any) -> bool:
    """Whether values of two types are the same array or number."""
    if is_tensor(x) and is_tensor(y):
        return shape(x) == shape(y) and alike(element_type(x), element_type(y))
    try:
        return x == y or (is_tensor(x) == is_tensor(y) and numpy_dtype(x) == numpy_dtype(y))
    except TypeError:
        return False
