"""Choose the factors of an op along which devices compute it on shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from stablehlo_ref.distribution.layouts import Layout, Parts, layout_of
from stablehlo_ref.distribution.meshes import overlap
from stablehlo_ref.distribution.sdy_attributes import Mesh, ShardingRule
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import Type
from stablehlo_ref.passes.analysis import known_array
from stablehlo_ref.passes.sdy.sharding_rules import reduction_of
from stablehlo_ref.passes.sdy.shards import Shard


class Assignment:
    """Which parts of axes split each factor of an op's sharding rule."""

    def __init__(
        self, op: Operation, rule: ShardingRule | None, declared: Sequence[Layout], operands: Sequence[Shard]
    ) -> None:
        self.op, self.rule = op, rule
        layouts = [*declared, *(x.layout for x in operands)]
        self.mesh = next((x.mesh for x in layouts if x.mesh.axes), Mesh(()))
        self.parts: dict[int, Parts] = {}
        self.reduction = reduction_of(op) or "sum"
        if rule is None:
            return
        blocked = {*rule.need_replication, *rule.permutation, *rule.reduction}
        has_terms = reduction_of(op) is not None and (self.reduction != "sum" or _starts_at_zero(op))
        pairs = [pair for m, x in zip(rule.operands, operands) for pair in zip(m, x.layout.dimensions)]
        terms = [part for factors, parts in pairs if has_terms and factors[0] in rule.reduction for part in parts]
        for mapping, layout in zip(rule.results, declared):
            kept = [() if any(overlap(x, y) for x in parts for y in terms) else parts for parts in layout.dimensions]
            self._assign(mapping, replace(layout, dimensions=tuple(kept)), blocked)  # terms are scattered later
        if has_terms:
            others = set(range(len(rule.factor_sizes))) - {*rule.reduction}
            for mapping, shard in zip(rule.operands, operands):
                self._assign(mapping, shard.layout, others, exact=True)

    def _assign(
        self, mapping: Sequence[Sequence[int]], layout: Layout, blocked: set[int], *, exact: bool = False
    ) -> None:
        assert self.rule is not None
        if layout.mesh.axes and layout.mesh != self.mesh:
            return
        for factors, parts in zip(mapping, layout.dimensions):
            first, size = factors[0], prod(part.size for part in parts)
            taken = [part for assigned in self.parts.values() for part in assigned]
            is_free = first not in self.parts and not any(overlap(x, y) for x in parts for y in taken)
            is_exact = self.rule.factor_sizes[first] % size == 0
            if parts and is_free and first not in blocked and (is_exact or (not exact and self._is_alone(first))):
                self.parts[first] = parts

    def _is_alone(self, factor: int) -> bool:
        """Return whether a factor is all of each dimension that has it, which may then split into unequal parts."""
        mappings = (*self.rule.operands, *self.rule.results) if self.rule else ()
        return all(factors == (factor,) for mapping in mappings for factors in mapping if factor in factors)

    def layouts(self, operands: Sequence[Shard]) -> list[Layout]:
        """Return the layouts in which the op takes its operands."""
        mappings = self.rule.operands if self.rule else [()] * len(operands)
        return [self._layout(mapping, x.whole) for mapping, x in zip(mappings, operands)]

    def result_layouts(self) -> list[Layout]:
        """Return the layouts in which the op computes its results."""
        mappings = self.rule.results if self.rule else [()] * len(self.op.results)
        return [self._layout(mapping, x.type) for mapping, x in zip(mappings, self.op.results)]

    def _layout(self, mapping: Sequence[Sequence[int]], type: Type) -> Layout:
        whole = layout_of(None, self.mesh, type)
        found = tuple(self.parts.get(factors[0], ()) for factors in mapping)
        return replace(whole, dimensions=found) if found else whole

    @property
    def terms(self) -> Parts:
        """The parts of axes along which devices compute terms of the results."""
        reduced = self.rule.reduction if self.rule else ()
        return tuple(part for factor in reduced for part in self.parts.get(factor, ()))


def _starts_at_zero(op: Operation) -> bool:
    """Return whether an op that sums adds nothing else, such as an initial value."""
    if op.name != "stablehlo.reduce":
        return True
    arrays = [known_array(value) for value in op.operands[len(op.results) :]]
    return all(array is not None and not array.any() for array in arrays)
