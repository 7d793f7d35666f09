"""The members of an op: operands, attributes, results and regions, as class attributes with the spec's names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from stablehlo_ref.define.attribute_codecs import AttributeCodec, codec_of
from stablehlo_ref.define.type_constraints import TypeConstraint
from stablehlo_ref.ir.attributes import Attribute, StructAttribute

REQUIRED: Final = object()  # the default of an attribute that must be given


class Member:
    """An input or output of an op. Its name is that of the class attribute that holds it, which is the spec's."""

    name: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


class Values(Member):
    """Operands or results, whose types satisfy a constraint."""

    def __init__(self, constraint: TypeConstraint) -> None:
        self.constraint = constraint


class In(Values):
    """One operand."""

    def __init__(self, constraint: TypeConstraint, optional: bool = False) -> None:
        super().__init__(constraint)
        self.optional = optional


class Ins(Values):
    """A variadic number of operands. Two such members of an op have the same number."""


class Attr(Member):
    """An attribute whose value has the Python type `value_type`, such as `Dims` or an `Enum` class.

    `default` is the value of an omitted attribute; `name` is the spelling in MLIR if it is not the member's name.
    """

    def __init__(self, value_type: object, default: object = REQUIRED, name: str = "") -> None:
        self.value_type = value_type
        self.codec: AttributeCodec[object] = codec_of(value_type)
        self.default = default
        self.spelling = name

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self.spelling = self.spelling or name

    def default_value(self) -> object:
        """Return the value that roles get if the attribute is omitted; None if it is required."""
        return None if self.default is REQUIRED else self.default

    def decode(self, attribute: Attribute) -> object:
        """Return the value of `attribute`, or an `Undecodable` if it is of another kind."""
        try:
            return self.codec.decode(attribute)
        except ValueError as error:
            return Undecodable(attribute, str(error))

    def encode(self, value: object) -> Attribute:
        """Return the attribute that `value` was decoded from, in the current spelling."""
        return value.attribute if isinstance(value, Undecodable) else self.codec.encode(value)


@dataclass(eq=False)
class Undecodable:
    """The value of an attribute of the wrong kind: kept and printed as it is, rejected by the verifier."""

    attribute: Attribute
    reason: str


class Out(Values):
    """One result."""


class Outs(Values):
    """A variadic number of results."""


class Body(Member):
    """A region: an input function of the op. One that is `optional` may have no block.

    In the pretty form, a terminator `implied`, the name of an op, is left out where it has no operands.
    """

    def __init__(self, optional: bool = False, implied: str = "") -> None:
        self.optional = optional
        self.implied = implied


class Bodies(Member):
    """A variadic number of regions."""


class Group(Member):
    """Members that MLIR's text writes together as one struct attribute `#struct<...>`.

    Its fields are `members` by their names, and `renamed` where MLIR has other names for them. Or the group has the
    fields of `as_type`, a dataclass: then a role may name the group, and gets its members as one such value.
    The fields of one that `is_checked_alone` are wrong whatever the op, so errors about them are at their place.
    One that `is_required` may have no fields, but must be there, as one with a required member.
    """

    def __init__(
        self,
        struct: str,
        *members: Attr,
        as_type: type[Any] | None = None,
        is_checked_alone: bool = False,
        is_required: bool = False,
        **renamed: Attr,
    ) -> None:
        self.struct = struct
        self.is_checked_alone = is_checked_alone
        self.is_required = is_required
        self.as_type = as_type
        self._members = members
        self._renamed = renamed

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        if self.as_type is not None:
            self._members = tuple(getattr(owner, field.name) for field in fields(self.as_type))

    @property
    def fields(self) -> Mapping[str, Attr]:
        """The members by the names of their fields in MLIR."""
        return {member.name: member for member in self._members} | self._renamed

    def value(self, arguments: Mapping[str, Any]) -> object:
        """Return the members as one value of `as_type`, given the arguments of a role."""
        assert self.as_type is not None
        return self.as_type(*[arguments[member.name] for member in self._members])

    def matches(self, attribute: Attribute) -> bool:
        """Return whether `attribute` is this struct."""
        return isinstance(attribute, StructAttribute) and attribute.name == self.struct
