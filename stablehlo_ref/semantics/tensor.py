"""MLIR's tensor dialect, element by element, following its documentation. Sizes and indices are integers."""

from math import prod

import numpy as np

from stablehlo_ref.semantics import arith, data_movement
from stablehlo_ref.semantics.notation import (
    Array,
    Arrays,
    Dims,
    DType,
    Function,
    UndefinedError,
    check_bounds,
    index_space,
)

bitcast = arith.bitcast


def concat(dim: int, inputs: Arrays) -> Array:
    return data_movement.concatenate(inputs, dim)


def empty(shape: Dims, element_type: DType) -> Array:
    """Return a tensor whose elements are unspecified: here zeros."""
    return np.zeros(shape, element_type)


def dim(source: Array, index: int) -> int:
    check_bounds((index,), (len(source.shape),))
    return int(source.shape[index])


def rank(tensor: Array) -> int:
    return len(tensor.shape)


def extract(tensor: Array, indices: Dims) -> Array:
    check_bounds(indices, tensor.shape)
    return np.array(tensor[indices], tensor.dtype)


def insert(scalar: Array, dest: Array, indices: Dims) -> Array:
    check_bounds(indices, dest.shape)
    result = np.empty(dest.shape, dest.dtype)
    for index in index_space(dest.shape):
        result[index] = scalar[()] if index == indices else dest[index]
    return result


def from_elements(elements: Arrays, shape: Dims, element_type: DType) -> Array:
    """Return the elements in row-major order."""
    result = np.empty(shape, element_type)
    for index, element in zip(index_space(shape), elements, strict=True):
        result[index] = element
    return result


def splat(input: Array, shape: Dims) -> Array:
    result = np.empty(shape, input.dtype)
    for index in index_space(shape):
        result[index] = input[()]
    return result


def cast(source: Array) -> Array:
    """Return the same tensor; only the static information of the type changes."""
    return source


def reshape(source: Array, shape: Dims) -> Array:
    """Return the elements in the same row-major order."""
    return data_movement.reshape(source, result=(shape, source.dtype))


def collapse_shape(src: Array, reassociation: tuple[Dims, ...]) -> Array:
    """Join each group of dimensions."""
    result = np.empty([prod(src.shape[d] for d in group) for group in reassociation], src.dtype)
    for index in index_space(src.shape):
        result[joined(index, src.shape, reassociation)] = src[index]
    return result


def expand_shape(src: Array, reassociation: tuple[Dims, ...], shape: Dims) -> Array:
    """Invert `collapse_shape`."""
    result = np.empty(shape, src.dtype)
    for index in index_space(shape):
        result[index] = src[joined(index, shape, reassociation)]
    return result


def joined(index: Dims, shape: Dims, reassociation: tuple[Dims, ...]) -> Dims:
    """Return the index whose dimensions enumerate the indices of groups of dimensions, the last one fastest."""
    positions = []
    for group in reassociation:
        position = 0
        for d in group:
            position = position * shape[d] + index[d]
        positions.append(position)
    return tuple(positions)


def extract_slice(source: Array, offsets: Dims, sizes: Dims, strides: Dims) -> Array:
    """`result[i] = source[offsets + i * strides]`; callers drop dimensions of size 1."""
    result = np.empty(sizes, source.dtype)
    for index in index_space(sizes):
        result[index] = source[tuple(o + i * s for o, i, s in zip(offsets, index, strides, strict=True))]
    return result


def insert_slice(source: Array, dest: Array, offsets: Dims, sizes: Dims, strides: Dims) -> Array:
    """Write `source`, of the shape `sizes`, where `extract_slice` would read."""
    result = dest.copy()
    for index in index_space(sizes):
        result[tuple(o + i * s for o, i, s in zip(offsets, index, strides, strict=True))] = source[index]
    return result


def generate(body: Function, shape: Dims, element_type: DType) -> Array:
    result = np.empty(shape, element_type)
    for index in index_space(shape):
        (result[index],) = body(*index)
    return result


def pad(source: Array, low: Dims, high: Dims, region: Function) -> Array:
    if any(n < 0 for n in low + high):
        raise UndefinedError(f"padding by {low} and {high} removes elements")
    shape = tuple(a + n + b for a, n, b in zip(low, source.shape, high, strict=True))
    result = np.empty(shape, source.dtype)
    for index in index_space(shape):
        inner = tuple(i - a for i, a in zip(index, low, strict=True))
        inside = all(0 <= i < n for i, n in zip(inner, source.shape, strict=True))
        (result[index],) = (source[inner],) if inside else region(*index)
    return result
