"""MLIR's ml_program dialect: global variables of a module. Each run starts from their initial values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from stablehlo_ref.define.attribute_codecs import Opaque, Presence, String, Symbol, TypeValue, Visibility
from stablehlo_ref.define.bound import PlanSite, Site
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.op import Attr, In, Op, Out
from stablehlo_ref.define.spec import compatible
from stablehlo_ref.define.type_constraints import anything
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects.mlir_types import constant_value, type_of
from stablehlo_ref.ir.arrays import RuntimeValue
from stablehlo_ref.ir.attributes import OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import Type

SymbolTable: TypeAlias = Callable[[str], Operation | None]  # from the name of a symbol to the op that defines it


class Global(Op, op="global", dialect="ml_program"):
    """Declare a variable if `is_mutable`, else a constant. A variable without `value` must be stored before a load."""

    sym_visibility = Attr(Visibility, default=None)
    is_mutable = Attr(Presence, default=False)
    sym_name = Attr(String)
    value = Attr(Opaque, default=None)
    type = Attr(TypeValue)

    syntax = "($sym_visibility)? (mutable $is_mutable)? symbol($sym_name) ( ( $value ) )? : $type attr-dict"

    @staticmethod
    def constraints(C: Checker, is_mutable: Presence, value: Opaque | None, type: TypeValue) -> None:
        C(1, is_mutable or value is not None)
        C(2, value is None or isinstance(value, OpaqueAttribute) or type_of(value) == type)


def global_op(symbols: SymbolTable, name: str) -> Operation | None:
    """Return the `ml_program.global` named `name`, or None."""
    found = symbols(name)
    return found if found is not None and found.name == "ml_program.global" else None


def variable_type(symbols: SymbolTable, name: str) -> Type | None:
    """Return the type of the variable `name`, or None if there is no such variable."""
    found = global_op(symbols, name)
    declared = None if found is None else found.properties.get("type")
    return declared if isinstance(declared, Type) else None


def is_mutable(symbols: SymbolTable, name: str) -> bool:
    """Return whether `name` is a variable that can be stored to."""
    found = global_op(symbols, name)
    return found is not None and found.properties.get("is_mutable") is True


class GlobalLoad(Op, op="global_load", dialect="ml_program", effects=True):
    """Return the current value of a variable."""

    variable = Attr(Symbol, name="global")
    result = Out(anything)

    syntax = "$variable : type(results) attr-dict"

    @staticmethod
    def constraints(C: Checker, site: Site, variable: Symbol, result: Type) -> None:
        C(1, variable_type(site.symbol, variable) is not None)
        C(2, compatible(variable_type(site.symbol, variable), result))

    @staticmethod
    def plan(site: PlanSite, variable: Symbol) -> Run:
        start = initial_value(site.symbol, variable)

        def run(context: Context) -> RuntimeValue:
            value: RuntimeValue = context.variables.get(variable, start)
            if value is None:
                raise EvaluationError(f"@{variable} is loaded before a value is stored")
            return value

        return run


def initial_value(symbols: SymbolTable, name: str) -> RuntimeValue:
    """Return the value that a variable has when a run starts, or None if it has none."""
    found, type = global_op(symbols, name), variable_type(symbols, name)
    value = None if found is None else found.properties.get("value")
    if value is None or type is None or isinstance(value, OpaqueAttribute):
        return None
    return constant_value(value, type)


class GlobalLoadConst(GlobalLoad, op="global_load_const", effects=True):
    """Return the value of a constant."""


class GlobalStore(Op, op="global_store", dialect="ml_program", effects=True):
    """Store `value` in a variable."""

    variable = Attr(Symbol, name="global")
    value = In(anything)

    syntax = "$variable = operands : type(operands) attr-dict"

    @staticmethod
    def constraints(C: Checker, site: Site, variable: Symbol, value: Type) -> None:
        C(1, variable_type(site.symbol, variable) is not None)
        C(2, is_mutable(site.symbol, variable))
        C(3, compatible(variable_type(site.symbol, variable), value))

    @staticmethod
    def plan(variable: Symbol) -> Run:
        def run(context: Context, value: RuntimeValue) -> tuple[()]:
            context.variables[variable] = value
            return ()

        return run
