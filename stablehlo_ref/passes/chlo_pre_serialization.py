"""Prepare CHLO's ops for portable artifacts, which have ops of StableHLO only."""

from __future__ import annotations

from itertools import count

from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.ir.core import Block, Operation, Region, Value, symbol_name
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.ir.types import FunctionType
from stablehlo_ref.passes.chlo_legalize_to_stablehlo import chlo_legalize_to_stablehlo
from stablehlo_ref.passes.registry import Pass

# Ops that consumers may have a function of their own for.
HIGH_LEVEL = frozenset(
    f"chlo.{name}" for name in ("acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "sinh", "top_k")
)
VERSION = 1  # of the composites


def chlo_pre_serialization(module: Operation) -> None:
    """Replace CHLO's ops by ops that portable artifacts have.

    `acos`, `acosh`, `asin`, `asinh`, `atanh`, `cosh`, `erf`, `sinh` and `top_k` become composites of the same name, so
    that a consumer can still tell them: with the op's attributes, and a function that `--chlo-legalize-to-stablehlo`
    makes as their decomposition. That pass decomposes all other ops.
    """
    block = module.regions[0].block
    taken = {name for op in block.operations if (name := symbol_name(op)) is not None}
    with Rewriter(module) as rewriter:
        for op in [op for op in module.walk() if op.name in HIGH_LEVEL]:
            name = _unused(f"{op.name}.impl", taken)
            rewriter.append(block, _decomposition(op, name))
            composite = _composite(op, name)
            rewriter.insert_before(op, composite)
            rewriter.replace(op, composite.results)
    chlo_legalize_to_stablehlo(module)


def _unused(name: str, taken: set[str]) -> str:
    """Return `name`, or `name_0` and so on, whichever is not taken, and take it."""
    names = (name if number < 0 else f"{name}_{number}" for number in count(-1))
    found = next(candidate for candidate in names if candidate not in taken)
    taken.add(found)
    return found


def _composite(op: Operation, decomposition: str) -> Operation:
    definition = definition_of(op)
    assert definition is not None
    members = definition.attributes
    attributes = {members[name].spelling: members[name].encode(value) for name, value in op.properties.items()}
    made = build_operation(
        "stablehlo.composite",
        op.operands,
        op.result_types,
        op.location,
        members={
            "name": op.name,
            "decomposition": decomposition,
            "version": VERSION,
        }
        | ({"composite_attributes": attributes} if attributes else {}),
        debug_location=op.debug_location,
    )
    made.attributes = dict(op.attributes)
    return made


def _decomposition(op: Operation, name: str) -> Operation:
    """Return a private function that computes an op."""
    block = Block([Value(type, None, index) for index, type in enumerate(op.operand_types)], [])
    inner = clone(op, dict(zip(op.operands, block.arguments)))
    returned = build_operation("func.return", inner.results, (), op.location, debug_location=op.debug_location)
    for body in (inner, returned):
        body.parent = block
        block.operations.append(body)
    type = FunctionType(tuple(op.operand_types), tuple(op.result_types))
    return build_operation(
        "func.func",
        (),
        (),
        op.location,
        members={"sym_name": name, "sym_visibility": "private", "function_type": type},
        regions=[Region([block])],
        debug_location=op.debug_location,
    )


PASS = Pass(
    "chlo-pre-serialization-pipeline",
    "replace CHLO's ops by ops and composites that portable artifacts have",
    chlo_pre_serialization,
)
