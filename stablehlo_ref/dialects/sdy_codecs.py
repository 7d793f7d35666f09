"""The types of attribute members of sdy ops."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Generic, TypeAlias, TypeVar

from stablehlo_ref.define.attribute_codecs import AttributeCodec
from stablehlo_ref.distribution.sdy_attributes import (
    AxisList,
    AxisLists,
    Exchanges,
    ManualAxes,
    Mesh,
    Sharding,
    Shardings,
)
from stablehlo_ref.distribution.sdy_reader import SdySyntaxError, read_attribute, text_of
from stablehlo_ref.ir.attributes import Attribute, IntegerAttribute, OpaqueAttribute
from stablehlo_ref.ir.types import integer_type

T = TypeVar("T")
I32 = integer_type(32)


class SdyCodec(AttributeCodec[T], Generic[T]):
    """An attribute of the dialect; it is written in its canonical text."""

    def __init__(self, mnemonic: str, kind: type[T]) -> None:
        self.mnemonic = mnemonic
        self.kind = kind
        self.name = f"#sdy.{mnemonic}"

    def decode(self, attribute: Attribute) -> T:
        try:
            value = read_attribute(attribute.text) if isinstance(attribute, OpaqueAttribute) else None
        except SdySyntaxError as error:
            raise ValueError(f"is malformed: {error}") from None
        if isinstance(value, self.kind):
            return value
        raise self.mismatch()

    def encode(self, value: T) -> Attribute:
        return OpaqueAttribute(text_of(self.mnemonic, value))


class NumberedCodec(AttributeCodec[Enum]):
    """An enumeration that MLIR stores as an integer of 32 bits."""

    def __init__(self, enum: type[Enum], mnemonic: str) -> None:
        self.enum = enum
        self.mnemonic = mnemonic
        self.name = f"{mnemonic}: one of {', '.join(member.value for member in enum)}"

    def decode(self, attribute: Attribute) -> Enum:
        members = list(self.enum)
        if isinstance(attribute, IntegerAttribute) and attribute.type == I32 and 0 <= attribute.value < len(members):
            return members[attribute.value]
        for member in members:
            if attribute == OpaqueAttribute(f"#sdy<{self.mnemonic} {member.value}>"):
                return member
        raise self.mismatch()

    def encode(self, value: Enum) -> Attribute:
        return IntegerAttribute(list(self.enum).index(value), I32)


class PropagationDirection(Enum):
    """The directions in which a propagation barrier lets shardings through."""

    NONE = "NONE"
    FORWARD = "FORWARD"
    BACKWARD = "BACKWARD"
    BOTH = "BOTH"


class ReductionOp(Enum):
    """How the parts of a tensor that is unreduced along some axes are combined."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"


MeshValue: TypeAlias = Annotated[Mesh, SdyCodec("mesh", Mesh)]
ShardingValue: TypeAlias = Annotated[Sharding, SdyCodec("sharding", Sharding)]
ShardingsValue: TypeAlias = Annotated[Shardings, SdyCodec("sharding_per_value", Shardings)]
ManualAxesValue: TypeAlias = Annotated[ManualAxes, SdyCodec("manual_axes", ManualAxes)]
AxesValue: TypeAlias = Annotated[AxisList, SdyCodec("axis_ref_list", AxisList)]
AxesPerDimension: TypeAlias = Annotated[AxisLists, SdyCodec("list_of_axis_ref_lists", AxisLists)]
ExchangesValue: TypeAlias = Annotated[Exchanges, SdyCodec("all_to_all_param_list", Exchanges)]
Direction: TypeAlias = Annotated[PropagationDirection, NumberedCodec(PropagationDirection, "propagation_direction")]
Reduction: TypeAlias = Annotated[ReductionOp, NumberedCodec(ReductionOp, "reduction_op")]
