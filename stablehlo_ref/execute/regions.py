"""Regions that ops call as functions, in three tiers: a recognised operation, arrays of lanes, one scalar at a time.

An op asks for the first that exists. The last is always right and is what the others are tested against. An op whose
function is one of scalars need not ask: `each` takes arrays, by the best tier there is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.execute.choosing import may_be_open
from stablehlo_ref.execute.run import FunctionPlan, current_context
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.numerics.dtypes import numpy_dtype

Call = Callable[..., list[Any]]


class PlannedBody:
    """An input function of an op, planned at most once in each form it is used in."""

    def __init__(
        self,
        region: Region,
        plan: Callable[[Block, int | None], FunctionPlan],
        run_of: Callable[[Operation], Callable[..., Any]],
        captures: Sequence[Any] = (),
        step_by_step: bool = False,
    ) -> None:
        self.region = region
        self.function_type: Any = region.function_type
        self._plan = plan
        self._run_of = run_of  # plans one op of arrays, the only one of the body
        self._captures = tuple(captures)
        self._step_by_step = step_by_step  # whether ops must be seen that may need a choice
        self._scalar: FunctionPlan | None = None
        self._by_count: dict[int, Call] = {}

    def bind(self, captures: Sequence[Any]) -> PlannedBody:
        """The same body with the values that it captures, which its plan takes as further arguments."""
        bound = PlannedBody(self.region, self._plan, self._run_of, captures, self._step_by_step)
        self._scalar = bound._scalar = self._scalar or self._plan(self.region.block, None)
        return bound

    def returning(self, values: Sequence[Value]) -> PlannedBody:
        """The part of the body that computes `values`, which are arguments or results of its ops."""
        block = Block([], [])
        block.arguments = self.region.block.arguments
        needed = set(values)
        for op in reversed(self.region.block.operations[:-1]):
            if needed.intersection(op.results):
                needed.update(op.operands)
                block.operations.insert(0, op)
        last = self.region.block.operations[-1]
        block.operations.append(Operation(last.name, None, list(values), (), {}, {}, [], last.location))
        return self._of(block)

    def taking(self, arguments: Sequence[Value]) -> PlannedBody:
        """The body as a function of some of its arguments, where it needs no others."""
        block = Block([], [])
        block.arguments, block.operations = list(arguments), self.region.block.operations
        return self._of(block)

    def _of(self, block: Block) -> PlannedBody:
        return PlannedBody(Region([block]), self._plan, self._run_of, self._captures, self._step_by_step)

    # --- all tiers ----------------------------------------------------------------------------------------------

    @cached_property
    def each(self) -> Call:
        """The body, a function of scalars, on every tuple of elements of arrays, which are of one shape or scalars."""
        if not self.is_elementwise:
            return self._each_lane
        if self.recognised is None:
            return self._each_element
        run = self._run_of(self.recognised)
        return lambda *arrays: [run(*arrays)]

    def _each_element(self, *arrays: Any) -> list[Any]:
        shape = max(map(np.shape, arrays), key=len)
        return [r if np.shape(r) == shape else np.broadcast_to(r, shape) for r in self(*arrays)]

    def _each_lane(self, *arrays: Any) -> list[Any]:
        shape = max(map(np.shape, arrays), key=len)
        count = prod(shape)
        if count not in self._by_count:
            self._by_count[count] = self.lanes(count) or self._one_by_one
        lanes = [np.reshape(a, count) if np.shape(a) == shape else np.broadcast_to(a, count) for a in arrays]
        return [np.reshape(r, shape) for r in self._by_count[count](*lanes)]

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
                and not (self._step_by_step and may_be_open(op))
            ):
                return op
        return None

    @cached_property
    def parts(self) -> list[PlannedBody]:
        """A body `(%a..., %b...) -> ...` as one `(%ai, %bi) -> ...` for each result, if they are independent."""
        arguments, returned = self.region.block.arguments, self.region.block.operations[-1].operands
        pairs = list(zip(arguments, arguments[len(arguments) // 2 :]))
        parts = [self.returning([value]) for value in returned]
        used = [{v for op in part.region.block.operations for v in op.operands} for part in parts]
        if len(parts) == 1 or any(u.intersection(arguments).difference(pair) for u, pair in zip(used, pairs)):
            return [self]
        return [part.taking(pair) for part, pair in zip(parts, pairs)]

    # --- tier 2 -------------------------------------------------------------------------------------------------

    @cached_property
    def is_elementwise(self) -> bool:
        """Whether the body takes arrays of any one shape as it takes scalars: all its ops are elementwise."""
        return not any(t.shape for t in self.function_type.inputs) and _is_elementwise(self.region.block)

    def lanes(self, count: int) -> Call | None:
        """The body on arrays with `count` lanes in front, every result so too; None where an op has no lanes."""
        if not self.is_elementwise:
            return self._lifted(count)

        def run(*arrays: Any) -> list[Any]:
            shape = np.broadcast_shapes((count,), *[np.shape(a) for a in arrays])
            return [r if np.shape(r) == shape else np.broadcast_to(r, shape) for r in self(*arrays)]

        return run

    def _lifted(self, count: int) -> Call | None:
        if self._captures or not _is_liftable(self.region.block):
            return None
        frame = self._plan(self.region.block, count)
        shapes = [(count, *t.shape) for t in self.function_type.outputs]

        def run(*arrays: Any) -> list[Any]:
            results = frame.call(current_context(), list(arrays))
            return [r if np.shape(r) == s else np.broadcast_to(r, s) for r, s in zip(results, shapes)]

        return run

    # --- tier 3 -------------------------------------------------------------------------------------------------

    def __call__(self, *arrays: Any) -> list[Any]:
        """The body on one tuple of its arguments; where `is_elementwise`, on arrays of shapes that broadcast."""
        if self._scalar is None:
            self._scalar = self._plan(self.region.block, None)
        return self._scalar.call(current_context(), [*arrays, *self._captures])

    def _one_by_one(self, *arrays: Any) -> list[Any]:
        results = [np.empty(len(arrays[0]), numpy_dtype(t.element_type)) for t in self.function_type.outputs]
        for lane, scalars in enumerate(zip(*arrays)):
            for result, value in zip(results, self(*scalars)):
                result[lane] = value
        return results


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
