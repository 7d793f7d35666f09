"""Regions that ops call as functions, in three tiers: a recognised operation, arrays of lanes, one scalar at a time.

The first two are faster and do not exist for every region. The third always does; tests compare the others with it. For
a function of scalars, `each` takes arrays and uses the first tier that exists.

A recognised operation is found by the structure of the region, `return op(%a, %b)`, so it is the same function by
definition. (`algorithms` also recognise some regions of several ops, and say why that is sound.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.algorithms.associativity import ASSOCIATIVE, is_associative
from stablehlo_ref.define.computation import Kernel, Slots
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.definition import Traits, definition_of
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.spec import is_quantized
from stablehlo_ref.diagnostics import EvaluationError, LimitError, UnsupportedError
from stablehlo_ref.execute.implementation_defined import may_be_implementation_defined
from stablehlo_ref.execute.run import CONTEXT, FunctionPlan, Step, current_context, running
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation, Region, Value, captured
from stablehlo_ref.ir.types import QuantizedType, TensorType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype

Call: TypeAlias = Callable[..., list[Any]]  # from arrays to a list of the results


MAX_REPETITION = 10_000  # ops that the parts of a body may repeat
CONSTANTS = ("stablehlo.constant", "arith.constant")


class Captures:
    """The values that the regions of an op capture in the run in progress, and what trials on them have shown.

    Regions take `fixed` values instead if there are any.
    """

    def __init__(self, key: object = None, fixed: Sequence[Any] = ()) -> None:
        self._key = key  # of the values in a context
        self._fixed = fixed
        self._trials: list[tuple[PlannedRegion, bool]] = []

    def values(self) -> Sequence[Any]:
        """Return the values."""
        return self._fixed or current_context().captured[self._key]

    def tried(self, region: PlannedRegion) -> bool:
        """Return whether a region is associative for the values, and remember that a plan relies on it."""
        found = region.is_associative_on_trial()
        self._trials.append((region, found))
        return found

    def hold(self) -> bool:
        """Return whether trials show the same for the values of now."""
        return all(region.is_associative_on_trial() == found for region, found in self._trials)


def capturing_step(key: object, sources: Sequence[int], planned: Callable[[Captures], Step]) -> Step:
    """Return the step of an op whose regions capture the values of slots, as planned when it is first reached."""
    planned_before: list[tuple[Captures, Step]] = []

    def step(slots: Slots) -> None:
        captured = slots[CONTEXT].captured
        before = captured.get(key, ())  # of the same op, which may be in progress in the same run
        captured[key] = [slots[source] for source in sources]
        try:
            captures, run = planned_before[-1] if planned_before else (None, None)
            if captures is None or run is None or not captures.hold():
                captures = Captures(key)
                run = planned(captures)
                planned_before[:] = [(captures, run)]
            run(slots)
        finally:
            captured[key] = before

    return step


class PlannedRegion:
    """An input function of an op, planned at most once in each form in which it is used (see `RegionFunction`)."""

    def __init__(
        self,
        region: Region,
        plan: Callable[[Block, int | None], FunctionPlan],
        kernel: Callable[[Operation], Kernel],
        mode: Mode,
        captures: Captures | None = None,
        step_by_step: bool = False,
    ) -> None:
        self.region = region
        self.function_type: Any = region.function_type  # of tensor types
        self._plan = plan
        self._kernel = kernel  # plans a recognised op
        self.mode = mode  # how exact results are
        self._captures = captures
        self._step_by_step = step_by_step  # whether an observer must see each op that may rely on a choice
        self._scalar: FunctionPlan | None = None
        self._by_count: dict[int, Call] = {}

    def returning(self, values: Sequence[Value]) -> PlannedRegion:
        """Return the part of the body that computes `values`, which are arguments or results of its ops."""
        operations, _ = needed_for(values, self._producers)
        return self._part(self.region.block.arguments, operations, values)

    @cached_property
    def _producers(self) -> dict[Value, tuple[int, Operation]]:
        """The position in the body and the op of each value that an op returns."""
        numbered = enumerate(self.region.block.operations[:-1])
        return {result: (position, op) for position, op in numbered for result in op.results}

    def _part(
        self, arguments: Sequence[Value], operations: Sequence[Operation], values: Sequence[Value]
    ) -> PlannedRegion:
        """Return some ops of the body as a function of some of its arguments that returns `values`."""
        last = self.region.block.operations[-1]
        block = Block([], [])  # that ops and arguments belong to the whole body does not change
        block.arguments = list(arguments)
        block.operations = [*operations, Operation(last.name, list(values), (), {}, {}, [], last.location)]
        return PlannedRegion(Region([block]), self._plan, self._kernel, self.mode, self._captures, self._step_by_step)

    # --- all tiers ----------------------------------------------------------------------------------------------

    @cached_property
    def each(self) -> Call:
        """The body, a function of scalars, applied to every tuple of elements of arrays of one shape, or scalars."""
        if not self.is_elementwise:
            return self._each_lane
        if self.recognised is None:
            return self._each_element
        run = self._kernel(self.recognised).run
        return lambda *arrays: [run(*arrays)]

    def _each_element(self, *arrays: Array) -> list[Any]:
        shape = max(map(np.shape, arrays), key=len)
        return [r if np.shape(r) == shape else np.broadcast_to(r, shape) for r in self(*arrays)]

    def _each_lane(self, *arrays: Array) -> list[Any]:
        shape = max(map(np.shape, arrays), key=len)
        count = prod(shape)
        if count not in self._by_count:
            self._by_count[count] = self._batched(count) or self._one_by_one
        lanes = [np.reshape(a, count) if np.shape(a) == shape else np.broadcast_to(a, count) for a in arrays]
        return [np.reshape(r, shape) for r in self._by_count[count](*lanes)]

    # --- tier 1 -------------------------------------------------------------------------------------------------

    @property
    def recognised(self) -> Operation | None:
        """The op of a body that is `return op(%a, %b)` of its two arguments in order; None for any other body."""
        op = recognised_op(self.region)
        return None if op is None or (self._step_by_step and may_be_implementation_defined(op)) else op

    @cached_property
    def parts(self) -> list[PlannedRegion]:
        """A body `(%a..., %b...) -> ...` as one body `(%ai, %bi) -> ...` per result, if these are independent."""
        arguments, (*operations, terminator) = self.region.block.arguments, self.region.block.operations
        pairs = list(zip(arguments, arguments[len(arguments) // 2 :]))
        if len(terminator.operands) == 1:
            return [self]
        parts, everything, repeated = [], {*arguments}, 0
        for pair, value in zip(pairs, terminator.operands):
            needed, taken = needed_for([value], self._producers)
            repeated += len(needed)
            if not (taken & everything <= {*pair}) or repeated > MAX_REPETITION + 2 * len(operations):
                return [self]
            parts.append(self._part(pair, needed, [value]))
        return parts

    @cached_property
    def is_associative(self) -> bool:
        """Whether the body of a reduction may be evaluated in any tree: a trial on a few values decides.

        Bodies with regions, calls or effects are not tried, nor are those on quantized tensors, of one op or several.
        """
        arguments, (*operations, terminator) = self.region.block.arguments, self.region.block.operations
        are_quantized = any(map(is_quantized, self.function_type.inputs))
        match operations:
            case [op] if (op.name in ASSOCIATIVE or are_quantized) and terminator.operands == op.results:
                if {*op.operands} == {*arguments}:
                    return op.name in ASSOCIATIVE
        if are_quantized or not all(map(_may_be_tried, operations)):
            return True
        return self._captures.tried(self) if self._captures else self.is_associative_on_trial()

    def is_associative_on_trial(self) -> bool:
        """Return whether results on a few values agree with what an associative body would return."""
        types = self.function_type.inputs
        dtypes = [numpy_dtype(t.element_type) for t in types[: len(types) // 2]]
        trial = Context()
        trial.captured = current_context().captured
        try:
            with running(trial), np.errstate(all="ignore"):
                return is_associative(self.each, dtypes)
        except LimitError:
            raise
        except (EvaluationError, UnsupportedError):  # to be reported if a run calls the body
            return True

    # --- tier 2 -------------------------------------------------------------------------------------------------

    @cached_property
    def is_elementwise(self) -> bool:
        """Whether the body, a function of scalars, has elementwise ops only, and so takes arrays of one shape."""
        return not any(getattr(t, "shape", ()) for t in self.function_type.inputs) and _is_elementwise(
            self.region.block
        )

    def _batched(self, count: int) -> Call | None:
        """Return the body on arrays with a leading axis of `count` lanes; None if an op has no batching rule."""
        if self._captures or not _has_batching_rules(self.region.block):
            return None
        plan = self._plan(self.region.block, count)
        shapes = [(count, *t.shape) for t in self.function_type.outputs]

        def run(*arrays: Array) -> list[Any]:
            results = plan.call(current_context(), list(arrays))
            return [r if np.shape(r) == s else np.broadcast_to(r, s) for r, s in zip(results, shapes)]

        return run

    # --- tier 3 -------------------------------------------------------------------------------------------------

    def __call__(self, *arrays: Array) -> list[Any]:
        """Call the body on its arguments; if `is_elementwise`, these may be arrays whose shapes broadcast."""
        if self._scalar is None:
            self._scalar = self._plan(self.region.block, None)
        captured = self._captures.values() if self._captures else ()
        return self._scalar.call(current_context(), [*arrays, *captured])

    def _one_by_one(self, *arrays: Array) -> list[Any]:
        results = [np.empty(len(arrays[0]), numpy_dtype(t.element_type)) for t in self.function_type.outputs]
        for lane, scalars in enumerate(zip(*arrays)):
            for result, value in zip(results, self(*scalars)):
                result[lane] = value
        return results


def needed_for(
    values: Sequence[Value], producers: Mapping[Value, tuple[int, Operation]]
) -> tuple[list[Operation], set[Value]]:
    """Return the ops that compute `values`, in order, and the other values that they or `values` depend on."""
    operations: dict[int, Operation] = {}
    others: set[Value] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value not in producers:
            others.add(value)
            continue
        position, op = producers[value]
        if position not in operations:
            operations[position] = op
            pending += op.operands
            for region in op.regions:
                pending += captured(region)
    return [operations[position] for position in sorted(operations)], others


def recognised_op(region: Region) -> Operation | None:
    """Return the op of a region that is `return op(%a, %b)` of its two arguments in order; None for any other."""
    match region.blocks:
        case [Block(operations=[op, terminator], arguments=arguments)] if (
            op.operands == arguments and len(op.operands) == 2 and terminator.operands == op.results and not op.regions
        ):
            return op
    return None


def _may_be_tried(op: Operation) -> bool:
    return op.name == "stablehlo.constant" or not (
        op.regions
        or _traits(op).effects
        or definition_of(op) is None
        or not {"callee", "decomposition"}.isdisjoint(op.properties)
    )


def _is_elementwise(block: Block) -> bool:
    *operations, _ = block.operations
    return all(op.name in CONSTANTS or (_traits(op).elementwise and not op.regions) for op in operations)


def _has_batching_rules(block: Block) -> bool:
    *operations, _ = block.operations
    definitions = [(op, definition_of(op)) for op in operations if op.name != "stablehlo.constant"]
    return all(
        d is not None and not op.regions and (d.traits.elementwise or "batching_rule" in d.roles)
        for op, d in definitions
    )


def _traits(op: Operation) -> Traits:
    definition = definition_of(op)
    return definition.traits if definition else Traits()


def batched_type(type: Type, lanes: int) -> Type:
    """Return the type with a leading axis of size `lanes`."""
    if not isinstance(type, TensorType):
        raise UnsupportedError(f"values of type {type} cannot be batched")
    element = type.element_type
    if isinstance(element, QuantizedType) and element.quantization_dimension is not None:
        element = replace(element, quantization_dimension=element.quantization_dimension + 1)
    return TensorType((lanes, *type.shape), element)
