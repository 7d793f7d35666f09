"""An op while it is being parsed."""

from __future__ import annotations

from stablehlo_ref.define.definition import OpDefinition
from stablehlo_ref.ir.attributes import Attribute
from stablehlo_ref.ir.core import Region
from stablehlo_ref.ir.types import Type


class Draft:
    """The parts of an op that have been parsed. Operand types that the text omits are those of the values."""

    __slots__ = (
        "attributes", "definition", "dictionary", "exclusive", "members", "name", "offset", "operand_types", "operands",
        "regions", "result_types", "successors",
    )  # fmt: skip

    def __init__(self, name: str, definition: OpDefinition | None, offset: int) -> None:
        self.name = name
        self.definition = definition
        self.offset = offset
        self.operands: list[tuple[str, int]] = []  # names without `%`, and offsets in the text
        self.operand_types: tuple[Type, ...] | None = None
        self.result_types: tuple[Type, ...] = ()
        self.members: dict[str, object] = {}  # values of attribute members
        self.attributes: dict[str, Attribute] = {}  # attributes in dictionaries, not decoded yet
        self.dictionary = offset  # where the last dictionary starts
        self.exclusive: tuple[str, ...] = ()  # attributes that must not be in the dictionary, as a pretty form has them
        self.regions: list[Region] = []
        self.successors: list[str] = []
