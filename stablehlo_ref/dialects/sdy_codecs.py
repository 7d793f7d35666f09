"""The types of attribute members of sdy ops."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, TypeAlias, TypeVar

from stablehlo_ref.define.assembly import AsmParser, SpelledCodec
from stablehlo_ref.distribution.sdy_attributes import (
    AxisList,
    AxisLists,
    Exchanges,
    ManualAxes,
    Mesh,
    SdySyntaxError,
    Sharding,
    Shardings,
    read_attribute,
    text_of,
)
from stablehlo_ref.distribution.sdy_forms import SdyAttribute
from stablehlo_ref.ir.attributes import Attribute, IntegerAttribute, OpaqueAttribute
from stablehlo_ref.ir.types import integer_type

T = TypeVar("T", bound=SdyAttribute)
I32 = integer_type(32)


class SdyCodec(SpelledCodec[T]):
    """An attribute of the dialect, written in its canonical text; `what` describes it in errors.

    Pretty forms have only the part in brackets.
    """

    def __init__(self, kind: type[T], what: str) -> None:
        self.mnemonic = kind.mnemonic
        self.kind = kind
        self.what = what
        self.name = f"#sdy.{kind.mnemonic}"

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

    def parse(self, parser: AsmParser) -> T:
        offset = parser.start
        try:
            return self.decode(parser.attribute() if parser.peek()[:1] == "#" else self._part(parser))
        except ValueError as error:
            raise parser.error(f"{self.what} {error}", offset) from error

    def _part(self, parser: AsmParser) -> Attribute:
        body = parser.balanced_text(self.what)
        if self.kind is Shardings:
            return OpaqueAttribute(f"{self.name}<{body}>")
        return OpaqueAttribute(f"{self.name}{body}" if body.startswith("<") else f"#sdy<{self.mnemonic}{body}>")

    def text(self, value: T) -> str:
        return str(value)[1:-1] if self.kind is Shardings else str(value)


class NumberedCodec(SpelledCodec[Enum]):
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

    def parse(self, parser: AsmParser) -> Enum:
        words = {member.value: member for member in self.enum}
        if parser.peek() not in words:
            raise parser.expected(", ".join(words))
        return words[parser.advance()]

    def text(self, value: Enum) -> str:
        return str(value.value)


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


MeshValue: TypeAlias = Annotated[Mesh, SdyCodec(Mesh, "mesh")]
ShardingValue: TypeAlias = Annotated[Sharding, SdyCodec(Sharding, "sharding")]
ShardingsValue: TypeAlias = Annotated[Shardings, SdyCodec(Shardings, "shardings")]
ManualAxesValue: TypeAlias = Annotated[ManualAxes, SdyCodec(ManualAxes, "axes")]
AxesValue: TypeAlias = Annotated[AxisList, SdyCodec(AxisList, "axes")]
AxesPerDimension: TypeAlias = Annotated[AxisLists, SdyCodec(AxisLists, "axes")]
ExchangesValue: TypeAlias = Annotated[Exchanges, SdyCodec(Exchanges, "axes and dimensions")]
Direction: TypeAlias = Annotated[PropagationDirection, NumberedCodec(PropagationDirection, "propagation_direction")]
Reduction: TypeAlias = Annotated[ReductionOp, NumberedCodec(ReductionOp, "reduction_op")]
