"""sort: slices along one dimension of all inputs together."""

from functools import cmp_to_key

import numpy as np

from stablehlo_ref.semantics.notation import Arrays, Function, dim, index_space, rank, scalar


def sort(inputs: Arrays, dimension: int, is_stable: bool = True, *, comparator: Function) -> Arrays:
    """`results_together[result_slice] = sort(inputs_together[result_slice], comparator_together)`, always stable."""
    adjusted_dimension = dimension if dimension >= 0 else rank(inputs[0]) + dimension

    def comparator_together(lhs_together: Arrays, rhs_together: Arrays) -> bool:
        args = []
        for lhs_el, rhs_el in zip(lhs_together, rhs_together, strict=True):
            args.append(lhs_el)
            args.append(rhs_el)
        (less,) = comparator(*args)
        return bool(less)

    def three_way(lhs_together: Arrays, rhs_together: Arrays) -> int:
        return comparator_together(rhs_together, lhs_together) - comparator_together(lhs_together, rhs_together)

    results = tuple(np.empty_like(x) for x in inputs)
    slices = list(inputs[0].shape)
    slices[adjusted_dimension] = 1
    for first_index in index_space(tuple(slices)):
        result_slice = [
            (*first_index[:adjusted_dimension], i, *first_index[adjusted_dimension + 1 :])
            for i in range(dim(inputs[0], adjusted_dimension))
        ]
        inputs_together = [tuple(scalar(x, index) for x in inputs) for index in result_slice]
        in_order = sorted(inputs_together, key=cmp_to_key(three_way))  # Python's sort is stable
        for index, elements in zip(result_slice, in_order, strict=True):
            for x, value in zip(results, elements, strict=True):
                x[index] = value
    return results
