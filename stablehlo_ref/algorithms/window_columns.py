"""Windows of small tensors as the columns of a matrix, which one `take` fills.

A row has the elements at one position of all windows, in the order of the windows. For few elements that costs less
than padding the tensor and slicing it position by position.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np

from stablehlo_ref.algorithms.padding import Padding, Sizes
from stablehlo_ref.algorithms.reduction_schedule import Combine, Reduction
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.dtypes import Scalar

MAX_MATRIX_SIZE = 1 << 12  # elements: matrices with more are slower than slices


def window_columns(
    sizes: Sizes, counts: Sizes, window: Sizes, strides: Sizes, base: Sizes, dilations: Sizes, padding: Padding
) -> Array:
    """Return the flat index of each element: a row for each position in windows, a column for each of the windows.

    The index of padding, and of elements between those of a tensor dilated by `base`, is `prod(sizes)`.
    """
    numbers, inside = np.zeros((1, 1), np.intp), np.ones((1, 1), np.bool_)
    for n, count, w, stride, between, dilation, (low, _) in zip(
        sizes, counts, window, strides, base, dilations, padding
    ):
        positions = [divmod(e * dilation + c * stride - low, between) for e, c in product(range(w), range(count))]
        found = [i if rest == 0 <= i < n else -1 for i, rest in positions]
        index = np.array(found, np.intp).reshape(1, w, 1, count)
        shape = (len(numbers) * w, numbers.shape[1] * count)
        numbers = (numbers[:, np.newaxis, :, np.newaxis] * n + index).reshape(shape)
        inside = (inside[:, np.newaxis, :, np.newaxis] & (index >= 0)).reshape(shape)
    return np.where(inside, numbers, prod(sizes))


def with_padding_value(x: Array, value: Array | Scalar) -> Array:
    """Return the elements of a tensor, flattened, and after them the value of padding."""
    table = np.empty(x.size + 1, x.dtype)
    table[:-1] = x.reshape(-1)
    table[-1] = value
    return table


def fold_columns(combine: Combine, columns: Array, x_size: int, sizes: Sizes) -> Reduction:
    """Return the reduction of windows of arrays of `x_size` elements by left folds that begin with init values.

    The windows are the columns, and the results have shape `sizes`.
    """
    rows = np.concatenate([np.full((1, columns.shape[1]), x_size), columns])
    ufunc, dtype = combine.pair or combine.left, combine.dtype
    if ufunc is None:
        return lambda inits, arrays: [r.reshape(sizes) for r in _fold_by_body(combine, rows, inits, arrays)]
    if rows.shape[1] > 1 or combine.is_exact:  # numpy adds row by row
        return lambda inits, arrays: [
            ufunc.reduce(with_padding_value(arrays[0], inits[0]).take(rows), 0, dtype).reshape(sizes)
        ]
    (rows,) = rows.T
    return lambda inits, arrays: [
        ufunc.accumulate(with_padding_value(arrays[0], inits[0]).take(rows))[-1:].reshape(sizes)
    ]


def _fold_by_body(combine: Combine, rows: Array, inits: Sequence[Array], arrays: Sequence[Array]) -> Sequence[Array]:
    tables = [with_padding_value(x, init).take(rows) for x, init in zip(arrays, inits)]
    results: Sequence[Array] = [table[0] for table in tables]
    for row in range(1, len(rows)):
        results = combine.each(*results, *[table[row] for table in tables])
    return results
