"""Ops whose semantics are defined by the caller."""

from typing import Any

from stablehlo_ref.semantics.notation import Arrays, Function


def custom_call(inputs: Arrays, call_target: Function) -> Arrays:
    """Return the results of the implementation of the target."""
    return call_target(*inputs)


def composite(inputs: Arrays, name: str, composite_attributes: dict[str, Any], decomposition: Function) -> Arrays:
    """`decomposition(inputs...)`: name and attributes do not change the result."""
    return decomposition(*inputs)
