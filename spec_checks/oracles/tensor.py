"""MLIR's tensor dialect, element by element, following its documentation. Sizes and indices are integers."""

import numpy as np

from spec_checks.oracles import data_movement
from spec_checks.oracles.notation import Array, Arrays, Dims, DType, index_space

concat = data_movement.concatenate


def dim(source: Array, index: int) -> int:
    return source.shape[index]


def rank(tensor: Array) -> int:
    return len(tensor.shape)


def extract(tensor: Array, indices: Dims) -> Array:
    return np.array(tensor[indices], tensor.dtype)


def insert(scalar: Array, dest: Array, indices: Dims) -> Array:
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
    """The index of a collapsed dimension enumerates the indices of its source dimensions, the last one fastest."""
    shape = []
    for group in reassociation:
        size = 1
        for d in group:
            size *= src.shape[d]
        shape.append(size)
    result = np.empty(shape, src.dtype)
    for index in index_space(src.shape):
        joined = []
        for group in reassociation:
            position = 0
            for d in group:
                position = position * src.shape[d] + index[d]
            joined.append(position)
        result[tuple(joined)] = src[index]
    return result


def expand_shape(src: Array, reassociation: tuple[Dims, ...], output_shape: Dims) -> Array:
    """Invert `collapse_shape`."""
    result = np.empty(output_shape, src.dtype)
    for index in index_space(output_shape):
        joined = []
        for group in reassociation:
            position = 0
            for d in group:
                position = position * output_shape[d] + index[d]
            joined.append(position)
        result[index] = src[tuple(joined)]
    return result
