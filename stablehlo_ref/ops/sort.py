"""sort: by keys where the comparator compares keys, else by merging."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from stablehlo_ref.algorithms.comparators import partially_ordered_inputs, sort_keys
from stablehlo_ref.algorithms.sorting import BLOCK, pieces, plan_sort
from stablehlo_ref.define.attribute_codecs import Flag, Int
from stablehlo_ref.define.bound import Site
from stablehlo_ref.define.choices import Choice
from stablehlo_ref.define.computation import FindChoices, Kernel, RegionFunction, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import ORDERS
from stablehlo_ref.define.op import Attr, Body, Ins, Op, Outs
from stablehlo_ref.define.spec import BOOLEAN, element_type, is_float, rank, same, shape, size, tensor_type
from stablehlo_ref.define.type_constraints import per_tensor_quantized, tensor
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import FunctionType, TensorType
from stablehlo_ref.limits.budget import reserve, within_time
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.implementation_defined import has_nan
from stablehlo_ref.numerics.layout import contiguous
from stablehlo_ref.ops.reduction import Results, one_or_all


class Sort(Op, op="sort", facts=ORDERS):
    """Sort the slices of `inputs` along `dimension` together, by `comparator`. The sort is always stable."""

    inputs = Ins(tensor | per_tensor_quantized)  # I1
    dimension = Attr(Int, default=-1)  # I2
    is_stable = Attr(Flag, default=False)  # I3
    comparator = Body()  # I4
    results = Outs(tensor | per_tensor_quantized)

    @staticmethod
    def infer(inputs: Sequence[TensorType]) -> Sequence[TensorType]:
        return tuple(inputs)

    @staticmethod
    def constraints(
        C: Checker,
        inputs: Sequence[TensorType],
        dimension: Int,
        comparator: FunctionType,
        results: Sequence[TensorType],
    ) -> None:
        C(1, 0 < size(inputs))
        C(3, same(map(shape, (*inputs, *results))))
        C(2, list(map(element_type, inputs)) == list(map(element_type, results)))
        C(4, -rank(inputs[0]) <= dimension < rank(inputs[0]))
        pairs = tuple(tensor_type((), element_type(t)) for t in inputs for _ in ("lhs", "rhs"))
        C(5, comparator.inputs == pairs and comparator.outputs == (tensor_type((), BOOLEAN),))

    @classmethod
    def plan(cls, inputs: Sequence[TensorType], dimension: Int, comparator: RegionFunction) -> Run:
        """Plan the sort of all slices at once: see `semantics.sort.sort`.

        The sort finds one permutation for each slice, which all inputs share. If the comparator is a comparison of keys
        (algorithms/comparators.py), numpy sorts integers in the keys' order. Any other comparator is called on whole
        arrays, once per step of a merge sort (algorithms/sorting.py).
        """
        if shape(inputs[0])[dimension] < 2 or not size(inputs[0]):
            return lambda inputs: one_or_all(inputs)
        sizes, axis = shape(inputs[0]), dimension % rank(inputs[0])
        dtypes = [numpy_dtype(element_type(t)) for t in inputs]
        sort_rows = plan_sort(comparator, dtypes)
        is_whole = len(inputs) == 1 and axis == rank(inputs[0]) - 1 and sort_keys(comparator) is not None
        boxes = [(slice(None),) * rank(inputs[0])] if is_whole else pieces(sizes, axis)

        def sort(inputs: Sequence[Array]) -> Sequence[Array]:
            rows = [row_major(np.moveaxis(x, axis, -1)) for x in inputs]
            return [np.moveaxis(x, -1, axis) for x in sort_rows.run(rows)]

        def run(inputs: Sequence[Array]) -> Results:
            if is_whole and not inputs[0].flags.c_contiguous:
                reserve(0, 2 * inputs[0].nbytes)  # of a copy, and again of the result, which is not alive yet
            if len(boxes) == 1:
                return one_or_all(sort(inputs))
            results = [np.empty(sizes, x.dtype) for x in inputs]
            for box in within_time(boxes):
                for result, x in zip(results, sort([x[box] for x in inputs])):
                    result[box] = row_major(x)
            return one_or_all(results)

        itemsizes, sorted_at_a_time = sum(dtype.itemsize for dtype in dtypes), size(inputs[0])
        copied = 0 if axis == rank(inputs[0]) - 1 else itemsizes
        if len(boxes) > 1:  # of which each is copied, and then its results
            sorted_at_a_time = prod(len(range(*cut.indices(n))) for cut, n in zip(boxes[0], sizes))
            copied = 2 * itemsizes
        needed = sorted_at_a_time * (copied + sort_rows.temporaries) + 40 * min(size(inputs[0]), BLOCK)
        return Kernel(run, temporaries=needed)

    @staticmethod
    def implementation_defined(site: Site, inputs: Sequence[TensorType]) -> FindChoices:
        compared = [i for i in partially_ordered_inputs(site.regions[0].block) if is_float(inputs[i])]

        def cases(inputs: Sequence[Array]) -> Iterator[Choice]:
            if any(has_nan(inputs[i]) for i in compared):
                yield Choice.SORT_UNORDERED

        return cases if compared else None


def row_major(x: Array) -> Array:
    """Return a C-contiguous array: `x` itself, or a copy."""
    return x if x.flags.c_contiguous else contiguous(x)
