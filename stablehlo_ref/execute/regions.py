"""Regions that ops call as functions, in three tiers: a recognised operation, arrays of lanes, one scalar at a time.

An op asks for the first that exists. The last is always right and is what the others are tested against.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.execute.run import Context, FunctionPlan
from stablehlo_ref.ir.core import Block, Operation, Region


class PlannedBody:
    """An input function of an op, planned at most once in each form it is used in."""

    def __init__(
        self, region: Region, plan: Callable[[int | None], FunctionPlan], captures: Sequence[Any] = ()
    ) -> None:
        self.region = region
        self.function_type = region.function_type
        self._plan = plan
        self._captures = tuple(captures)
        self._scalar: FunctionPlan | None = None

    def bind(self, captures: Sequence[Any]) -> PlannedBody:
        """The same body with the values that it captures, which its plan takes as further arguments."""
        bound = PlannedBody(self.region, self._plan, captures)
        self._scalar = bound._scalar = self._scalar or self._plan(None)
        return bound

    # --- tier 1 -------------------------------------------------------------------------------------------------

    @property
    def recognised(self) -> Operation | None:
        """The op of a body that is just `return op(%a, %b)` of its two arguments in order."""
        match self.region.block.operations:
            case [op, terminator] if (
                op.operands == self.region.block.arguments
                and len(op.operands) == 2
                and terminator.operands == op.results
                and not op.regions
            ):
                return op
        return None

    # --- tier 2 -------------------------------------------------------------------------------------------------

    @property
    def is_elementwise(self) -> bool:
        """Whether the body takes arrays of any one shape as it takes scalars: all its ops are elementwise."""
        return not any(v.type.shape for v in self.region.block.arguments) and _is_elementwise(self.region.block)  # type: ignore[attr-defined]

    def lanes(self, count: int) -> Callable[..., list[Any]] | None:
        """The body on arrays with `count` lanes in front, every result so too; None where an op has no lanes."""
        if not self.is_elementwise:
            return self._lifted(count)

        def run(*arrays: Any) -> list[Any]:
            shape = np.broadcast_shapes((count,), *[np.shape(a) for a in arrays])
            return [r if np.shape(r) == shape else np.broadcast_to(r, shape) for r in self(*arrays)]

        return run

    def _lifted(self, count: int) -> Callable[..., list[Any]] | None:
        if self._captures or not _is_liftable(self.region.block):
            return None
        frame = self._plan(count)
        shapes = [(count, *t.shape) for t in self.function_type.outputs]  # type: ignore[attr-defined]

        def run(*arrays: Any) -> list[Any]:
            results = frame.call(Context(), arrays)
            return [r if np.shape(r) == s else np.broadcast_to(r, s) for r, s in zip(results, shapes)]

        return run

    # --- tier 3 -------------------------------------------------------------------------------------------------

    def __call__(self, *arrays: Any) -> list[Any]:
        """The body on one tuple of its arguments; where `is_elementwise`, on arrays of shapes that broadcast."""
        if self._scalar is None:
            self._scalar = self._plan(None)
        return self._scalar.call(Context(), (*arrays, *self._captures))


def _is_elementwise(block: Block) -> bool:
    *operations, _ = block.operations
    return all(
        op.name == "stablehlo.constant" or (op.definition is not None and op.definition.elementwise and not op.regions)
        for op in operations
    )


def _is_liftable(block: Block) -> bool:
    *operations, _ = block.operations
    return all(
        op.definition is not None
        and not op.regions
        and (op.name == "stablehlo.constant" or op.definition.elementwise or "lift" in op.definition.parameters)
        for op in operations
    )
