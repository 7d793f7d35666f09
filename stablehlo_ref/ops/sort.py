"""sort: by keys where the comparator compares keys, by merging where it may be anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.algorithms.comparators import partially_ordered, sort_keys
from stablehlo_ref.algorithms.ordering import by_keys, by_merging
from stablehlo_ref.choices import Choice
from stablehlo_ref.define import Attr, Body, Ins, Op, Outs
from stablehlo_ref.kinds import Flag, Int, per_tensor_quantized, tensor
from stablehlo_ref.numerics.open_cases import has_nan
from stablehlo_ref.ops.reduction import one_or_all
from stablehlo_ref.spec import BOOLEAN, element_type, is_float, rank, same, shape, size, tensor_type

Array = Any  # numpy arrays and scalars
Types = Sequence[Any]


class Sort(Op, op="sort"):
    """Sorts the slices of all `inputs` together along `dimension`; `comparator` says what is less. Always stable."""

    inputs = Ins(tensor | per_tensor_quantized)  # I1
    dimension = Attr(Int, default=-1)  # I2
    is_stable = Attr(Flag, default=False)  # I3
    comparator = Body()  # I4
    results = Outs(tensor | per_tensor_quantized)

    @staticmethod
    def infer(inputs: Types) -> Any:
        return tuple(inputs)

    @staticmethod
    def constraints(C: Any, inputs: Types, dimension: Any, comparator: Any, results: Types) -> None:
        C(1, 0 < size(inputs))
        C(3, same(map(shape, (*inputs, *results))))
        C(2, list(map(element_type, inputs)) == list(map(element_type, results)))
        C(4, -rank(inputs[0]) <= dimension < rank(inputs[0]))
        pairs = tuple(tensor_type((), element_type(t)) for t in inputs for _ in ("lhs", "rhs"))
        C(5, comparator.inputs == pairs and comparator.outputs == (tensor_type((), BOOLEAN),))

    @classmethod
    def plan(cls, inputs: Types, dimension: int, comparator: Any) -> Callable[..., Any]:
        keys = sort_keys(comparator)
        if shape(inputs[0])[dimension] < 2 or not size(inputs[0]):
            return lambda inputs: one_or_all(inputs)

        def run(inputs: Sequence[Array]) -> Any:
            rows = [np.ascontiguousarray(np.moveaxis(x, dimension, -1)) for x in inputs]
            order = by_keys(keys, rows) if keys else by_merging(comparator.each, rows)
            results = [np.moveaxis(np.take_along_axis(x, order, -1), -1, dimension) for x in rows]
            return one_or_all(results)

        return run

    @staticmethod
    def open_cases(inputs: Types, regions: Any) -> Any:
        compared = [i for i in partially_ordered(regions[0].block) if is_float(inputs[i])]

        def cases(inputs: Sequence[Array]) -> Iterator[Choice]:
            if any(has_nan(inputs[i]) for i in compared):
                yield Choice.SORT_UNORDERED

        return cases if compared else None
