"""Forms of mhlo's ops that the ops of StableHLO and CHLO that they are do not have, or that mean something else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from stablehlo_ref.define.assembly import AsmParser, Draft
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.ir.attributes import Attribute, StructAttribute
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.syntax.directives import SameType
from stablehlo_ref.syntax.mhlo import OF_MHLO_ALONE, encoded
from stablehlo_ref.syntax.structs import CONVOLUTION_LISTS


def has_form_of_its_own(name: str) -> bool:
    """Return whether mhlo has another pretty form of an op than StableHLO or CHLO."""
    return name.startswith("chlo.") and name != "chlo.scan"


def parse_as_mhlo(parser: AsmParser, draft: Draft, definition: OpDefinition) -> None:
    """Parse what follows the name of an op of mhlo that CHLO has.

    `%x {...} : type`, or `(%x, k = 2, largest = true) {...} : type -> (types)` of top-k.
    """
    if draft.name == "chlo.top_k" and parser.peek() == "(":
        _top_k(parser, draft)
        return
    draft.operands += parser.operand_list()
    if parser.peek() == "{":
        draft.attributes |= parser.dictionary()
    parser.expect(":")
    SameType().parse(parser, draft)


def _top_k(parser: AsmParser, draft: Draft) -> None:
    parser.expect("(")
    draft.operands = [parser.operand()]
    parser.expect(",")
    parser.expect("k")
    parser.expect("=")
    draft.members["k"] = parser.integer()
    if parser.accept(","):
        parser.expect("largest")
        parser.expect("=")
        draft.attributes["largest"] = parser.attribute()
    parser.expect(")")
    if parser.peek() == "{":
        draft.attributes |= parser.dictionary()
    parser.expect(":")
    draft.operand_types = (parser.type(),)
    parser.expect("->")
    draft.result_types = tuple(parser.items(parser.type, "(", ")"))


def adopt_meaning(draft: Draft, written: str) -> None:
    """Make the draft of an op of mhlo in generic form that of the op that it means.

    Properties that neither op has mean nothing, as in MLIR. An op that means something else stays.
    """
    attributes = cast("dict[str, Attribute]", draft.members | draft.attributes)
    if _has_equal(written, attributes, draft):
        draft.spelling, draft.definition = "mhlo", REGISTRY[draft.name]
        names = (*draft.definition.property_names, *OF_MHLO_ALONE, *draft.attributes)
        draft.members, draft.attributes = {}, {k: v for k, v in attributes.items() if k in names}
    else:
        draft.name = written


def keep_unequal(draft: Draft, written: str) -> None:
    """Make the draft of an op of mhlo in pretty form that of an op without a class if no other op is equal."""
    attributes = encoded(draft.name, draft.members) | draft.attributes
    if not _has_equal(written, attributes, draft):
        draft.name, draft.spelling, draft.definition = written, "", None
        draft.members, draft.attributes = {**attributes}, {}


def _has_equal(written: str, attributes: Mapping[str, Attribute], draft: Draft) -> bool:
    """Return whether StableHLO or CHLO has an op of mhlo with these attributes, and the types of the draft."""
    match written:
        case "mhlo.all_to_all":
            return "split_dimension" in attributes  # else of tuples
        case "mhlo.topk":
            return attributes.get("largest", True) is True
        case "mhlo.convolution" | "mhlo.dynamic_conv":
            numbers, types = attributes.get("dimension_numbers"), draft.operand_types or ()
            return not isinstance(numbers, StructAttribute) or not _leaves_unused(
                numbers.fields, (*types[:2], *draft.result_types)
            )
    return True


def _leaves_unused(fields: Mapping[str, Any], types: Sequence[Type]) -> bool:
    """Return whether the dimension numbers of a convolution are right, but not all that tensors of these types have."""
    some = False
    for (letters, spatial), type in zip(CONVOLUTION_LISTS, types):
        rank = type.rank if isinstance(type, TensorType) else 0
        numbers = [fields[field].value for field in letters.values()] + [d.value for d in fields[spatial]]
        if len({*numbers}) < len(numbers) or min(numbers) < 0 or max(numbers) >= rank:
            return False
        some |= len(numbers) < rank
    return some
