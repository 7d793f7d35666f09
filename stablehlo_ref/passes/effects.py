"""Which operations passes may erase, merge or move."""

from __future__ import annotations

from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.ir.core import Operation

# Ops whose effects are those of functions or regions that run later, or that a compiler must not merge.
WITH_EFFECTS = frozenset(
    ("func.call", "stablehlo.composite", "stablehlo.async_start", "stablehlo.async_done", "ml_program.global_load")
)


def is_pure(op: Operation) -> bool:
    """Whether an op, with all inside it, does nothing but compute its results from its operands.

    Ops of dialects without classes, terminators and symbols are not pure. A custom call is unless it says
    `has_side_effect = true`, as for MLIR.
    """
    return _has_no_effect(op) and all(
        _has_no_effect(inner) or _is_terminator(inner) for inner in op.walk() if inner is not op
    )


def _has_no_effect(op: Operation) -> bool:
    definition = definition_of(op)
    if definition is None or op.name in WITH_EFFECTS or definition.traits.terminator:
        return False
    if op.name == "stablehlo.custom_call":
        return op.properties.get("has_side_effect", False) is False
    if "sym_name" in definition.attributes:
        return False
    return not (definition.traits.effects or definition.traits.communicates)


def _is_terminator(op: Operation) -> bool:
    definition = definition_of(op)
    return definition is not None and definition.traits.terminator
