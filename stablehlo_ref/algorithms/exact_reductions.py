"""Reductions by exact addition, with the option `exact_sums`: no order of additions can change them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from stablehlo_ref.define.computation import RegionFunction
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.spec import element_type, is_quantized
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import Type
from stablehlo_ref.numerics.dtypes import kind, numpy_dtype
from stablehlo_ref.numerics.exact_sums import rounded_sums, shared_sums
from stablehlo_ref.numerics.kernels import ArrayKernel


def exact_addition(body: RegionFunction) -> DType | None:
    """Return the dtype of a body that adds two floats or complex numbers, if the mode asks for exact sums."""
    is_sum = body.recognised is not None and body.recognised.name == "stablehlo.add"
    return exactly_added(body.function_type.outputs[0], body.mode) if is_sum else None


def exactly_added(type: Type, mode: Mode) -> DType | None:
    """Return the dtype of a type of floats or complex numbers, if the mode asks for exact sums."""
    if not mode.exact_sums or is_quantized(type):
        return None
    dtype = numpy_dtype(element_type(type))
    return dtype if kind(dtype) in ("floating", "complex") else None


def adds_exactly(body: RegionFunction) -> bool:
    """Return whether any of the independent results of a body is an exact addition."""
    return any(exact_addition(part) is not None for part in body.parts)


def sums_over(dtype: DType, shape: Sequence[int], axes: Sequence[int]) -> ArrayKernel:
    """Return a kernel of (array, init value) that sums over sorted axes.

    They are reduced as one. The other axes are moved before them unless they are adjacent.
    """
    sums, axes = rounded_sums(dtype), tuple(axes)
    kept = tuple(d for d in range(len(shape)) if d not in axes)
    length, sizes = prod(shape[d] for d in axes), tuple(shape[d] for d in kept)
    is_adjacent = bool(axes) and all(shape[d] == 1 for d in kept if axes[0] < d < axes[-1])
    order = tuple(range(len(shape))) if is_adjacent else kept + axes
    before, after = (shape[: axes[0]], shape[axes[-1] + 1 :]) if is_adjacent else (sizes, ())
    middle = (prod(before), length, prod(after))
    return lambda x, init: sums(x.transpose(order).reshape(middle), init).reshape(sizes)


def sum_of_arrays(dtype: DType, arrays: Sequence[Array]) -> Array:
    """Return the sum of arrays of one shape, element by element."""
    stacked = np.stack([np.reshape(x, -1) for x in arrays])[np.newaxis]
    neutral = np.array(complex(-0.0, -0.0) if dtype.kind == "c" else -0.0)
    return rounded_sums(dtype)(stacked, neutral).reshape(np.shape(arrays[0]))


def add_rows(dtype: DType, table: Array, numbers: Array, new: Array) -> None:
    """Add rows of `new` to the rows `numbers` of a table, of which each is rounded once."""
    if not numbers.size:
        return
    rows, positions, counts = np.unique(numbers, return_inverse=True, return_counts=True)

    def add(terms: Array) -> Array:
        sums = np.zeros((len(rows), *terms.shape[1:]))
        np.add.at(sums, positions, terms)
        return sums

    table[rows] = shared_sums(dtype)(new, add, int(counts.max()), table[rows])
