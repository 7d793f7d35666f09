"""MLIR's bufferization dialect: the conversions between tensors and buffers that exporters write around constants."""

from __future__ import annotations

from typing import ClassVar

from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Directive, Draft
from stablehlo_ref.define.attribute_codecs import Presence
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.definition import Syntax
from stablehlo_ref.define.op import Attr, In, Op, Out
from stablehlo_ref.define.spec import compatible
from stablehlo_ref.define.type_constraints import buffer
from stablehlo_ref.dialects.memref import tensor_of
from stablehlo_ref.dialects.mlir_types import CAST, any_tensor
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import BufferType, TensorType, Type


class PresentWords(Directive):
    """Words that stand for unit attributes."""

    def __init__(self, *members: str) -> None:
        self.members = members

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        for member in self.members:
            if parser.accept(member):
                draft.members[member] = True

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        for member in self.members:
            if op.properties.get(member):
                printer.value(member)


class TensorOfBuffer(Directive):
    """`memref<...> to tensor<...>`, or `memref<...>` as before MLIR 20."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        type = parser.type()
        draft.operand_types = (type,)
        draft.result_types = (parser.type() if parser.accept("to") else tensor_of(type),)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(f"{op.operand_types[0]} to {op.result_types[0]}")


class BufferOfTensor(Directive):
    """`memref<...>`, or `tensor<...> to memref<...>` as from MLIR 20 on."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        first = parser.type()
        type = parser.type() if parser.accept("to") else first
        draft.operand_types, draft.result_types = (tensor_of(type) if type is first else first,), (type,)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(f"{op.operand_types[0]} to {op.result_types[0]}")


class ToTensor(Op, op="to_tensor", dialect="bufferization"):
    """Return the contents of a buffer as a tensor."""

    memref = In(buffer)
    restrict = Attr(Presence, default=False)
    writable = Attr(Presence, default=False)
    result = Out(any_tensor)

    syntax = ("operands", PresentWords("restrict", "writable"), "attr-dict :", TensorOfBuffer())

    @staticmethod
    def infer(memref: BufferType) -> Type:
        return tensor_of(memref)

    @staticmethod
    def constraints(C: Checker, memref: BufferType, result: TensorType) -> None:
        C(1, compatible(tensor_of(memref), result))

    @staticmethod
    def plan() -> Run:
        return lambda memref: memref


class ToBuffer(Op, op="to_buffer", dialect="bufferization"):
    """Return a buffer with the contents of a tensor."""

    tensor = In(any_tensor)
    read_only = Attr(Presence, default=False)
    buffer = Out(buffer)

    syntax: ClassVar[Syntax] = ("operands", PresentWords("read_only"), "attr-dict :", CAST)

    @staticmethod
    def constraints(C: Checker, tensor: TensorType, buffer: BufferType) -> None:
        C(1, compatible(tensor, tensor_of(buffer)))

    @staticmethod
    def plan() -> Run:
        return lambda tensor: tensor


class ToMemref(ToBuffer, op="to_memref"):
    """Return a buffer with the contents of a tensor: `to_buffer` before MLIR 21."""

    syntax = ("operands", PresentWords("read_only"), "attr-dict :", BufferOfTensor())
