"""MLIR's ml_program dialect, memref and bufferization: global variables, and buffers that hold constants.

Each run starts from the initial values of variables. Exporters keep constants in globals of memref; the conversions
around them are those of bufferization.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Directive, Draft, Irregular, member_value
from stablehlo_ref.define.attribute_codecs import Int, Opaque, Presence, String, Symbol, TypeValue, Visibility
from stablehlo_ref.define.bound import PlanSite, Site
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.definition import Syntax
from stablehlo_ref.define.op import Attr, In, Op, Out
from stablehlo_ref.define.spec import compatible, shape
from stablehlo_ref.define.type_constraints import any_buffer, anything, buffer
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects.mlir_types import CAST, any_tensor, constant_value, identity, type_of
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.attributes import UNIT, DenseElements, DenseResource, OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import BufferType, TensorType, Type, UnrankedBufferType
from stablehlo_ref.ops.constants import elements_of

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


def property_of(symbols: SymbolTable, name: str, member: str) -> Any:
    """Return a property of the `ml_program.global` named `name`; None if it has none, or if there is no such op."""
    found = symbols(name)
    return found.properties.get(member) if found is not None and found.name == "ml_program.global" else None


def variable_type(symbols: SymbolTable, name: str) -> Type | None:
    """Return the type of the variable `name`, or None if there is no such variable."""
    declared = property_of(symbols, name, "type")
    return declared if isinstance(declared, Type) else None


def is_mutable(symbols: SymbolTable, name: str) -> bool:
    """Return whether `name` is a variable that can be stored to."""
    return property_of(symbols, name, "is_mutable") is True


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
    value, type = property_of(symbols, name, "value"), variable_type(symbols, name)
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


class InitialValue(Directive):
    """`= value`, which has no type, and may be `uninitialized`.

    `alignment = 64` may follow. Earlier versions of MLIR write it as an attribute: what both read is the generic form.
    """

    members = ("initial_value",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        type = draft.members["type"]
        if parser.accept("=") and isinstance(type, Type):
            is_open = parser.accept("uninitialized")
            draft.members["initial_value"] = UNIT if is_open else parser.elements(tensor_of(type))
        if parser.accept("alignment"):
            parser.expect("=")
            draft.attributes["alignment"] = parser.attribute()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if "alignment" in (*op.properties, *op.attributes):
            raise Irregular
        type, value = member_value(op, "type"), op.properties.get("initial_value")
        if value == UNIT:
            printer.value("= uninitialized")
        elif value is not None:
            if not isinstance(value, DenseElements | DenseResource) or value.type != tensor_of(type):
                raise Irregular
            printer.value(f"= {printer.attribute(value).removesuffix(f' : {value.type}')}")


class GlobalBuffer(Op, op="global", dialect="memref"):
    """Declare a buffer with `initial_value`, with unspecified contents (a unit attribute), or of another module."""

    sym_name = Attr(String)
    sym_visibility = Attr(String, default=None)
    type = Attr(TypeValue)
    initial_value = Attr(Opaque, default=None)
    constant = Attr(Presence, default=False)
    alignment = Attr(Int, default=None)

    syntax = ("($sym_visibility)? (constant $constant)? symbol($sym_name) : $type", InitialValue(), "attr-dict")

    @staticmethod
    def constraints(C: Checker, type: TypeValue, initial_value: Opaque | None) -> None:
        C(1, isinstance(type, BufferType) and None not in type.shape)
        C(2, initial_value in (None, UNIT) or type_of(initial_value) == tensor_of(type))


def tensor_of(type: Type) -> Type:
    """Return the type of a tensor with the contents of a buffer; any other type itself."""
    return TensorType(type.shape, type.element_type) if isinstance(type, BufferType) else type


def global_type(symbol: Operation | None) -> object:
    """Return the type of a `memref.global`; None for any other op."""
    return symbol.properties.get("type") if symbol is not None and symbol.name == "memref.global" else None


class GetGlobal(Op, op="get_global", dialect="memref"):
    """Return the buffer `name`."""

    name = Attr(Symbol)
    result = Out(buffer)

    syntax = "$name : type(results) attr-dict"

    @staticmethod
    def constraints(C: Checker, site: Site, name: Symbol, result: BufferType) -> None:
        C(1, global_type(site.symbol(name)) == result)

    @staticmethod
    def plan(site: PlanSite, name: Symbol) -> Run:
        found = site.symbol(name)
        value = found.properties.get("initial_value") if found is not None else None
        if not isinstance(value, DenseElements | DenseResource):
            raise EvaluationError(f"the contents of @{name} are not in the program")
        array = elements_of(value)
        return lambda: array


class Conversion(Directive):
    """`type to type`. Versions of MLIR before 20, or from then on, write one type, from which `both` follow."""

    def __init__(self, both: Callable[[Type], tuple[Type, Type]]) -> None:
        self.both = both

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        first = parser.type()
        source, target = (first, parser.type()) if parser.accept("to") else self.both(first)
        draft.operand_types, draft.result_types = (source,), (target,)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(f"{op.operand_types[0]} to {op.result_types[0]}")


class Cast(Op, op="cast", dialect="memref", returns_views=True):
    """Return `source` as a buffer type with more or fewer static sizes, or without a rank.

    EvaluationError if sizes differ.
    """

    source = In(any_buffer)
    dest = Out(any_buffer)

    syntax = ("operands attr-dict :", CAST)

    @staticmethod
    def constraints(C: Checker, source: BufferType | UnrankedBufferType, dest: BufferType | UnrankedBufferType) -> None:
        C(1, isinstance(source, BufferType) or isinstance(dest, BufferType))
        if isinstance(source, BufferType) and isinstance(dest, BufferType):
            C(2, compatible(tensor_of(source), tensor_of(dest)))
        else:
            C(3, source.element_type == dest.element_type)

    @staticmethod
    def plan(dest: BufferType | UnrankedBufferType) -> Run:
        def run(source: Array) -> Array:
            if isinstance(dest, BufferType) and shape(dest) != source.shape:  # unknown sizes equal all
                raise EvaluationError(f"expected a {dest}, got a buffer of sizes {list(source.shape)}")
            return source

        return run


class ToTensor(Op, op="to_tensor", dialect="bufferization"):
    """Return the contents of a buffer as a tensor."""

    memref = In(buffer)
    restrict = Attr(Presence, default=False)
    writable = Attr(Presence, default=False)
    result = Out(any_tensor)

    syntax = (
        "operands (restrict $restrict)? (writable $writable)? attr-dict :",
        Conversion(lambda t: (t, tensor_of(t))),
    )

    @staticmethod
    def infer(memref: BufferType) -> Type:
        return tensor_of(memref)

    @staticmethod
    def constraints(C: Checker, memref: BufferType, result: TensorType) -> None:
        C(1, compatible(tensor_of(memref), result))

    plan = identity


class ToBuffer(Op, op="to_buffer", dialect="bufferization"):
    """Return a buffer with the contents of a tensor."""

    tensor = In(any_tensor)
    read_only = Attr(Presence, default=False)
    buffer = Out(buffer)

    syntax: ClassVar[Syntax] = ("operands (read_only $read_only)? attr-dict :", CAST)

    @staticmethod
    def constraints(C: Checker, tensor: TensorType, buffer: BufferType) -> None:
        C(1, compatible(tensor, tensor_of(buffer)))

    plan = identity


class ToMemref(ToBuffer, op="to_memref"):
    """Return a buffer with the contents of a tensor: `to_buffer` before MLIR 21."""

    syntax = ("operands (read_only $read_only)? attr-dict :", Conversion(lambda t: (tensor_of(t), t)))
