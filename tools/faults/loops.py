"""Faults of loops and branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from faults.rules import Site, before, rule

from stablehlo_ref.debug.cut import is_constant
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.ir.types import IntegerType, TensorType


def copied(site: Site) -> Operation:
    return clone(site.op, {})


def inline(block: Block, arguments: Sequence[Value]) -> tuple[list[Operation], list[Value]]:
    """Return a copy of the ops of a block on other arguments, and what it returns."""
    mapping = dict(zip(block.arguments, arguments, strict=True))
    *ops, terminator = block.operations
    return [clone(op, mapping) for op in ops], [mapping.get(v, v) for v in terminator.operands]


def is_index(value: Value) -> bool:
    type = value.type
    return isinstance(type, TensorType) and isinstance(type.element_type, IntegerType) and not type.shape


@rule("one turn too many", "while")
def _(site: Site) -> Sequence[Value] | None:
    return site.inlined(site.op.regions[1].block, site.copy())


@rule("one turn too few", "while")
def _(site: Site) -> Sequence[Value] | None:
    """The loop ends before the turn after which its condition does not hold."""
    made = copied(site)
    condition, body = (region.block for region in made.regions)
    turn, state = inline(body, condition.arguments)
    again, (goes_on,) = inline(condition, state)
    terminator = condition.operations[-1]
    types = [goes_on.type]
    both = Operation("stablehlo.and", [*terminator.operands, goes_on], types, {}, {}, [], made.location)
    terminator.operands = list(both.results)
    condition.operations = [*condition.operations[:-1], *turn, *again, both, terminator]
    for op in condition.operations:
        op.parent = condition
    return site.insert(made)


@rule("stale carry", "while")
def _(site: Site) -> Sequence[Value] | None:
    """A value that the body changes is not carried to the next turn; never one that the condition may need."""
    made = copied(site)
    block = made.regions[1].block
    terminator = block.operations[-1]
    for index, value in reversed(list(enumerate(terminator.operands))):
        if value is not block.arguments[index] and not is_index(value):
            terminator.operands[index] = block.arguments[index]
            return site.insert(made)
    return None


@rule("carries swapped", "while")
def _(site: Site) -> Sequence[Value] | None:
    made = copied(site)
    block = made.regions[1].block
    values = block.operations[-1].operands
    for i in range(len(values)):
        for j in range(i):
            if values[i].type == values[j].type and values[i] is not values[j] and not is_index(values[i]):
                values[i], values[j] = values[j], values[i]
                return site.insert(made)
    return None


@rule("counter off by one", "while")
def _(site: Site) -> Sequence[Value] | None:
    """The loop begins with the second turn's counter."""
    index = next((i for i, value in enumerate(site.op.operands) if is_index(value)), None)
    if index is None:
        return None
    moved = site.computed(lambda op, x: x + 1, [site.op.operands[index]])
    assert moved is not None
    return site.copy(operands=[*site.op.operands[:index], *moved, *site.op.operands[index + 1 :]])


@rule("carry not initialised", "while")
def _(site: Site) -> Sequence[Value] | None:
    index = next((i for i, v in enumerate(site.op.operands) if not is_index(v) and not is_constant(v)), None)
    if index is None:
        return None
    zeros = site.computed(lambda op, x: jnp.zeros_like(x), [site.op.operands[index]])
    assert zeros is not None
    return site.copy(operands=[*site.op.operands[:index], *zeros, *site.op.operands[index + 1 :]])


@rule("result of a loop before its last turn", "while")
def _(site: Site) -> Sequence[Value] | None:
    """The loop returns what it was given for one value."""
    values = site.copy()
    for index, value in reversed(list(enumerate(site.op.operands))):
        if not is_index(value) and not is_constant(value):
            return [*values[:index], value, *values[index + 1 :]]
    return None


@rule("wrong branch", "if case")
def _(site: Site) -> Sequence[Value] | None:
    made = copied(site)
    made.regions = [*made.regions[1:], made.regions[0]]
    return site.insert(made)


@before("branch off by one", "case")
def _(op: Operation, index: Any) -> Any:
    return [jnp.where(index > 0, index - 1, index + 1)]


@before("branch out of range is the first", "case", inputs="indices")
def _(op: Operation, index: Any) -> Any:
    return [jnp.where((index < 0) | (index >= len(op.regions)), 0, index)]
