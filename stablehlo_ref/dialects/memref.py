"""MLIR's memref dialect, for globals in which exporters keep constants, and bufferization's conversions around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Directive, Draft, Irregular, member_value
from stablehlo_ref.define.attribute_codecs import Int, Opaque, Presence, String, Symbol, TypeValue
from stablehlo_ref.define.bound import PlanSite, Site
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.definition import Syntax
from stablehlo_ref.define.op import Attr, In, Op, Out
from stablehlo_ref.define.spec import compatible, shape
from stablehlo_ref.define.type_constraints import any_buffer, buffer
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects.mlir_types import CAST, any_tensor, identity, type_of
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import UNIT, DenseElements, DenseResource
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import BufferType, TensorType, Type, UnrankedBufferType
from stablehlo_ref.ops.constants import elements_of


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


class Global(Op, op="global", dialect="memref"):
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
