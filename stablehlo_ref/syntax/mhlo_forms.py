"""Pretty forms of mhlo's ops that differ from those of the ops of CHLO that they are."""

from __future__ import annotations

from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.syntax.draft import Draft
from stablehlo_ref.syntax.protocols import AsmParser
from stablehlo_ref.syntax.type_forms import SameType


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
        if parser.peek() != "true":
            raise parser.error("unsupported mhlo.topk of the smallest elements; CHLO's top_k has no such form")
        parser.advance()
    parser.expect(")")
    if parser.peek() == "{":
        draft.attributes |= parser.dictionary()
    parser.expect(":")
    draft.operand_types = (parser.type(),)
    parser.expect("->")
    draft.result_types = tuple(parser.items(parser.type, "(", ")"))


def adopt_meaning(draft: Draft, written: str) -> None:
    """Make the draft of an op of mhlo in generic form that of the op that it means.

    Properties that the other op does not have become attributes. An op whose attributes say what CHLO cannot stays.
    """
    if written == "mhlo.topk" and (draft.members | draft.attributes).get("largest", True) is not True:
        draft.name = written
        return
    draft.attributes = {**draft.members, **draft.attributes}  # type: ignore[dict-item]
    if written == "mhlo.topk":
        draft.attributes.pop("largest", None)
    draft.members, draft.definition = {}, REGISTRY[draft.name]
