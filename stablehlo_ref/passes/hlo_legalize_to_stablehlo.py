"""Replace ops of mhlo by those of StableHLO and CHLO that they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stablehlo_ref.ir.attributes import EnumAttribute, OpaqueAttribute, StructAttribute, TypeAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TOKEN, FunctionType, FutureType, TensorType, TokenType, TupleType
from stablehlo_ref.passes.emit import cannot_legalize
from stablehlo_ref.passes.registry import Pass
from stablehlo_ref.syntax.mhlo import OF_MHLO_ALONE


def hlo_legalize_to_stablehlo(module: Operation) -> None:
    """Spell ops, attributes and types of mhlo as those of StableHLO and CHLO; UnsupportedError for others.

    The reader has already replaced ops of mhlo by equivalent ones, so only their spelling changes.
    """
    for op in module.walk():
        if op.name.startswith("mhlo.") or _is_scheduled(op):
            raise cannot_legalize(op)
        for value in (*op.results, *(a for region in op.regions for block in region.blocks for a in block.arguments)):
            value.type = in_stablehlo(value.type)
        if op.spelling:
            op.attributes = {name: value for name, value in op.attributes.items() if name not in OF_MHLO_ALONE}
        op.properties, op.attributes, op.spelling = in_stablehlo(op.properties), in_stablehlo(op.attributes), ""


def _is_scheduled(op: Operation) -> bool:
    """Return whether an op is a custom call that may not be moved, which StableHLO cannot say."""
    schedule = op.attributes.get("custom_call_schedule") if op.spelling else None
    return isinstance(schedule, OpaqueAttribute) and "NONE" not in schedule.text


def in_stablehlo(value: Any) -> Any:
    """Return a type, an attribute or a value of a member with everything in it as StableHLO has it."""
    match value:
        case tuple() if type(value) is tuple:
            return tuple(map(in_stablehlo, value))
        case dict():
            return {name: in_stablehlo(inner) for name, inner in value.items()}
        case EnumAttribute() | TensorType():
            return replace(value, spelling="") if value.spelling else value
        case StructAttribute(fields=fields):
            return replace(value, fields=in_stablehlo(dict(fields)), spelling="")
        case TypeAttribute(type=inner):
            return TypeAttribute(in_stablehlo(inner))
        case TokenType():
            return TOKEN
        case TupleType(elements=elements) | FutureType(elements=elements):
            return replace(value, elements=in_stablehlo(elements))
        case FunctionType(inputs=inputs, outputs=outputs):
            return FunctionType(in_stablehlo(inputs), in_stablehlo(outputs))
    return value


PASS = Pass(
    "hlo-legalize-to-stablehlo", "replace ops of mhlo by those of StableHLO and CHLO that they are",
    hlo_legalize_to_stablehlo,
)  # fmt: skip
