"""Partition a program of which only some values have shardings: let ops have those that their operands bring along."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from stablehlo_ref.dialects.sdy_shardings import mesh_of, parameter_sharding, sharding_of
from stablehlo_ref.distribution.meshes import overlap, spans
from stablehlo_ref.distribution.sdy_attributes import AxisRef, DimensionSharding, Mesh, Sharding, Shardings, text_of
from stablehlo_ref.ir.attributes import OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.passes.registry import transformation
from stablehlo_ref.passes.sdy.convert_global_to_local import convert_global_to_local
from stablehlo_ref.passes.sdy.sharding_rules import sharding_rule
from stablehlo_ref.passes.sdy.shards import SHARDING
from stablehlo_ref.passes.symbols import functions


def propagate_shardings(module: Operation) -> None:
    """Give ops without sharding that of the function's result that they return, or else that of their operands.

    Shardings go from operands to results only, in the order of the program. Where operands disagree, the first one
    decides; a dimension that would not split into equal parts is not split.
    """
    for function in functions(module).values():
        for block in function.regions[0].blocks[:1]:
            *ops, terminator = block.operations
            for index, value in enumerate(terminator.operands):
                sharding = parameter_sharding(function, "res_attrs", index)
                if sharding is not None and isinstance(value.owner, Operation) and len(value.owner.results) == 1:
                    _give(value.owner, [sharding])
            for op in ops:
                if found := _from_operands(op):
                    _give(op, found)


def _give(op: Operation, shardings: list[Sharding]) -> None:
    if SHARDING not in op.attributes and not op.name.startswith("sdy."):
        text = text_of("sharding_per_value", Shardings(tuple(shardings)))
        op.attributes = {**op.attributes, SHARDING: OpaqueAttribute(text)}


def _from_operands(op: Operation) -> list[Sharding]:
    """Return the shardings of results, by the op's sharding rule; none without a rule, or if operands have none."""
    given = [(index, s) for index, operand in enumerate(op.operands) if (s := sharding_of(operand)) is not None]
    rule = sharding_rule(op) if given and op.results else None
    if rule is None:
        return []
    first = given[0][1]
    mesh, axes = mesh_of(first, op), dict[int, tuple[AxisRef, ...]]()
    blocked = {*rule.reduction, *rule.need_replication, *rule.permutation}
    for index, sharding in given:
        for factors, dimension in zip(rule.operands[index], sharding.dimensions):
            size = prod(part.size for part in spans(dimension.axes, mesh)) if sharding.mesh == first.mesh else 0
            is_even = size > 0 and rule.factor_sizes[factors[0]] % size == 0
            if is_even and factors[0] not in {*blocked, *axes} and not _is_taken(dimension.axes, axes, mesh):
                axes[factors[0]] = dimension.axes
    dimensions = ((DimensionSharding(axes.get(factors[0], ())) for factors in mapping) for mapping in rule.results)
    return [Sharding(first.mesh, tuple(each)) for each in dimensions]


def _is_taken(axes: tuple[AxisRef, ...], taken: Mapping[int, tuple[AxisRef, ...]], mesh: Mesh) -> bool:
    others = [part for each in taken.values() for part in spans(each, mesh)]
    return any(overlap(x, y) for x in spans(axes, mesh) for y in others)


@transformation("convert-global-to-local", "propagate shardings to ops, and compute on the shards of each device")
def run(module: Operation) -> None:
    """Propagate shardings, and convert the program to what each device computes."""
    propagate_shardings(module)
    convert_global_to_local(module)
