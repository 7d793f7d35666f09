"""Ops of vhlo in text, which are read as the ops of StableHLO that they stand for."""

from __future__ import annotations

from stablehlo_ref.bytecode.vhlo.ops import split_name
from stablehlo_ref.bytecode.vhlo.upgrade import to_stablehlo
from stablehlo_ref.bytecode.vhlo.versions import CURRENT
from stablehlo_ref.define.assembly import AsmParser, Draft
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.diagnostics import MalformedError
from stablehlo_ref.ir.attributes import Attribute, TypeAttribute
from stablehlo_ref.ir.types import FunctionType, Type

FUNCTION = "vhlo.func_v1"


class Place:
    """Where an op is in the text, for errors about it."""

    def __init__(self, parser: AsmParser, offset: int) -> None:
        self.parser = parser
        self.offset = offset

    def error(self, message: str) -> MalformedError:
        return self.parser.error(message, self.offset)

    unsupported = error


def parse_function(parser: AsmParser, draft: Draft) -> None:
    """Parse what follows `vhlo.func_v1`: `@name(%arg: type, ...) -> (types) {...} {...}`."""
    name = parser.symbol_name()
    arguments = parser.argument_list()
    results: tuple[Type, ...] = ()
    if parser.accept("->"):
        results = tuple(parser.items(parser.type, "(", ")"))
    draft.regions = [parser.region(arguments, isolated=True)]
    if parser.peek() == "{":
        with parser.upgrading():
            draft.attributes |= parser.dictionary()
    signature = FunctionType(tuple(argument.type for argument in arguments), results)
    draft.attributes |= {"sym_name": name, "function_type": TypeAttribute(signature)}


def upgrade(parser: AsmParser, draft: Draft) -> None:
    """Turn the draft of an op of vhlo into that of the op of StableHLO that it stands for."""
    op = split_name(draft.name)
    if op is None:
        raise parser.error(f"unknown op '{draft.name}'; the newest known version is {CURRENT}", draft.offset)
    attributes: dict[str, Attribute] = {**draft.members, **draft.attributes}  # type: ignore[dict-item]
    place = Place(parser, draft.offset)
    draft.name, draft.members, draft.attributes = to_stablehlo(draft.name, attributes, op.base == "func", place)
    draft.definition = REGISTRY[draft.name]
    if op.base == "func":
        _end_with_return(draft)


def _end_with_return(draft: Draft) -> None:
    """Make the terminators of a function's blocks those of the func dialect; all regions of vhlo have the same."""
    for block in (block for region in draft.regions for block in region.blocks):
        for op in block.operations[-1:]:
            op.name = "func.return" if op.name == "stablehlo.return" else op.name
