"""Ops that do what somebody else says."""

from typing import Any

from spec_checks.oracles.notation import Arrays, Function


def custom_call(inputs: Arrays, call_target: Function) -> Arrays:
    """What the implementation of the target gives."""
    return call_target(*inputs)


def composite(inputs: Arrays, name: str, composite_attributes: dict[str, Any], decomposition: Function) -> Arrays:
    """`decomposition(inputs...)`: the name and the attributes do not change what is computed."""
    return decomposition(*inputs)
