"""MLIR's ml_program dialect: variables of a module. Each run starts from the values that the module gives them."""

from __future__ import annotations

from typing import Any

from stablehlo_ref.define import Attr, In, Op, Out
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects.foreign.values import Array, Run, number, type_of
from stablehlo_ref.ir.attributes import OpaqueAttribute
from stablehlo_ref.kinds import Opaque, Presence, String, Symbol, TypeOf, anything
from stablehlo_ref.spec import compatible


class Global(Op, op="global", dialect="ml_program"):
    """A variable, if `is_mutable`, or a constant. One without a value of its own must be stored to first."""

    sym_visibility = Attr(String, default=None)
    is_mutable = Attr(Presence, default=False)
    sym_name = Attr(String)
    value = Attr(Opaque, default=None)
    type = Attr(TypeOf)

    syntax = "custom(global) attr-dict"

    @staticmethod
    def constraints(C: Any, is_mutable: bool, value: Any, type: Any) -> None:
        C(1, is_mutable or value is not None)
        C(2, value is None or isinstance(value, OpaqueAttribute) or type_of(value) == type)


def variable_type(symbols: Any, name: str) -> Any:
    """The type of a variable, None where there is no such variable."""
    found = symbols(name)
    return found.properties["type"] if found is not None and found.definition is Global else None


class GlobalLoad(Op, op="global_load", dialect="ml_program"):
    """The value of a variable."""

    effects = True

    variable = Attr(Symbol, name="global")
    result = Out(anything)

    syntax = "$variable : type(results) attr-dict"

    @staticmethod
    def constraints(C: Any, variable: str, result: Any, symbols: Any) -> None:
        C(1, variable_type(symbols, variable) is not None)
        C(2, compatible(variable_type(symbols, variable), result))

    @staticmethod
    def plan(variable: str, symbols: Any) -> Run:
        properties = symbols(variable).properties
        initial = properties.get("value")
        known = initial is not None and not isinstance(initial, OpaqueAttribute)
        start = number(initial, properties["type"]) if known else None

        def run(context: Any) -> Array:
            value = context.variables.get(variable, start)
            if value is None:
                raise EvaluationError(f"@{variable} has no value yet")
            return value

        return run


class GlobalLoadConst(GlobalLoad, op="global_load_const"):
    """The value of a constant."""

    effects = True


class GlobalStore(Op, op="global_store", dialect="ml_program"):
    """Gives a variable a value."""

    effects = True

    variable = Attr(Symbol, name="global")
    value = In(anything)

    syntax = "$variable = operands : type(operands) attr-dict"

    @staticmethod
    def constraints(C: Any, variable: str, value: Any, symbols: Any) -> None:
        C(1, variable_type(symbols, variable) is not None)
        C(2, symbols(variable).properties.get("is_mutable", False))
        C(3, compatible(variable_type(symbols, variable), value))

    @staticmethod
    def plan(variable: str) -> Run:
        def run(context: Any, value: Array) -> tuple[()]:
            context.variables[variable] = value
            return ()

        return run
