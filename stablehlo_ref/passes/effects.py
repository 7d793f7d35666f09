"""Which operations passes may erase, merge or move."""

from __future__ import annotations

from collections.abc import Container

from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.ir.core import Operation

# Ops whose effects are those of functions or regions that run later, or that a compiler must not merge.
WITH_EFFECTS = frozenset(
    (
        "func.call",
        "func.call_indirect",
        "stablehlo.composite",
        "stablehlo.async_start",
        "stablehlo.async_done",
        "ml_program.global_load",
    )
)


def is_pure(op: Operation, assume_no_undeclared: bool = False) -> bool:
    """Return whether an op, with all inside it, does nothing but compute its results from its operands.

    Ops of dialects without classes, terminators and symbols are not pure. A custom call is unless it says
    `has_side_effect = true`, as for MLIR. With `assume_no_undeclared` calls have no effects but those in their regions.
    """
    assumed = WITH_EFFECTS if assume_no_undeclared else ()
    return _has_no_effect(op, assumed) and all(
        _has_no_effect(inner, assumed) or _is_terminator(inner) for inner in op.walk() if inner is not op
    )


def _has_no_effect(op: Operation, assumed: Container[str]) -> bool:
    definition = definition_of(op)
    if op.name in assumed:
        return True
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
