"""MLIR's bufferization dialect: the conversions between tensors and buffers that exporters write around constants."""

from __future__ import annotations

from stablehlo_ref.define.attribute_codecs import Presence
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.op import Attr, In, Op, Out
from stablehlo_ref.define.spec import compatible
from stablehlo_ref.define.type_constraints import buffer
from stablehlo_ref.dialects.memref import tensor_of
from stablehlo_ref.dialects.mlir_types import any_tensor
from stablehlo_ref.ir.types import BufferType, TensorType, Type


class ToTensor(Op, op="to_tensor", dialect="bufferization"):
    """Return the contents of a buffer as a tensor."""

    memref = In(buffer)
    restrict = Attr(Presence, default=False)
    writable = Attr(Presence, default=False)
    result = Out(any_tensor)

    syntax = "operands custom(buffer_flags) attr-dict : custom(tensor_of_buffer)"

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

    syntax = "operands custom(read_only) attr-dict : custom(cast_type)"

    @staticmethod
    def constraints(C: Checker, tensor: TensorType, buffer: BufferType) -> None:
        C(1, compatible(tensor, tensor_of(buffer)))

    @staticmethod
    def plan() -> Run:
        return lambda tensor: tensor


class ToMemref(ToBuffer, op="to_memref"):
    """Return a buffer with the contents of a tensor: `to_buffer` before MLIR 21."""

    syntax = "operands custom(read_only) attr-dict : custom(buffer_of_tensor)"
