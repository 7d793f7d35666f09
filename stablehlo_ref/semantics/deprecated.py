"""Ops that are no longer in the spec, element by element, by their former descriptions or by their replacements."""

import re
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.semantics.data_movement import broadcast_in_dim
from stablehlo_ref.semantics.distribution import AtProcess, Grid, Groups, all_reduce
from stablehlo_ref.semantics.dot_general import dot_general, dot_products
from stablehlo_ref.semantics.elementwise import add
from stablehlo_ref.semantics.notation import Array, Dims, TensorType, index_space, is_boolean, rank
from stablehlo_ref.semantics.rounding import element


def broadcast(operand: Array, broadcast_sizes: Dims) -> Array:
    """`result[i0, ..., iN, j0, ..., jM] = operand[j0, ..., jM]`."""
    shape = broadcast_sizes + operand.shape
    return broadcast_in_dim(operand, tuple(range(len(shape)))[len(broadcast_sizes) :], result=(shape, operand.dtype))


def cross_replica_sum(operands: AtProcess, replica_groups: Groups, *, element_type: Any, grid: Grid) -> AtProcess:
    """`all_reduce` with addition, by the strategy cross_replica."""
    return all_reduce(
        operands, replica_groups, 0, False, lambda x, y: (add(x, y),), element_type=element_type, grid=grid
    )


def create_token() -> None:
    """Return a token, as `after_all` without inputs."""


def trace(operand: Array, tag: str) -> None:
    """Report `operand` under `tag` to a tracer, of which there is none."""


# Products


def dot(lhs: Array, rhs: Array, *, result: TensorType) -> Array:
    """`dot_general` contracting the last dimension of `lhs` with the first of `rhs`."""
    return dot_general(lhs, rhs, (), (), (rank(lhs) - 1,), (0,), result=result)


def einsum(lhs: Array, rhs: Array, einsum_config: str, *, result: TensorType) -> Array:
    """Sum the products over all values of the labels that the result lacks; `...` stands for any number of labels."""
    lhs_names, rhs_names, result_names = map(labels, re.split(",|->", einsum_config), (lhs, rhs, np.empty(result[0])))
    terms = np.empty(result[0], object)
    for index in index_space(result[0]):
        assignments = list(_assignments(lhs_names + rhs_names, lhs.shape + rhs.shape, dict(zip(result_names, index))))
        pairs = [(index_tuple(lhs_names, values), index_tuple(rhs_names, values)) for values in assignments]
        terms[index] = [(lhs[left], rhs[right]) for left, right in pairs]
    return dot_products(terms, result)


def unary_einsum(operand: Array, einsum_config: str, *, result: TensorType) -> Array:
    """Sum over all values of the labels that the result lacks."""
    names, result_names = map(labels, einsum_config.split("->"), (operand, np.empty(result[0])))
    one = element(operand.dtype, (1, 0) if operand.dtype.kind == "c" else True if is_boolean(operand.dtype) else 1)
    terms = np.empty(result[0], object)
    for index in index_space(result[0]):
        assignments = _assignments(names, operand.shape, dict(zip(result_names, index)))
        terms[index] = [(operand[index_tuple(names, values)], one) for values in assignments]
    return dot_products(terms, result)


def labels(names: str, x: Array) -> str:
    """Return the labels of the dimensions of `x`, with those that `...` stands for: digits, aligned at the last one."""
    names = names.replace(" ", "")
    count = rank(x) - len(names.replace("...", ""))
    return names.replace("...", "0123456789"[10 - count :])


def index_tuple(names: str, values: dict[str, int]) -> Dims:
    return tuple(values[name] for name in names)


def _assignments(names: str, sizes: Sequence[int], known: dict[str, int]) -> Any:
    """Yield all assignments of values to the labels without a value."""
    free = [name for name in dict.fromkeys(names) if name not in known]
    for index in index_space(tuple(sizes[names.index(name)] for name in free)):
        yield known | dict(zip(free, index))


# Indices and shapes


def torch_index_select(operand: Array, index: Array, dim: int, batch_dims: int) -> Array:
    """`result[b, l, i, r] = operand[b, l, index[b, i], r]`, with out-of-bounds indices clamped.

    Negative dimensions count from the end: `dim` in the operand, `batch_dims` in the index.
    """
    dim, batch_dims = dim % rank(operand), batch_dims if batch_dims >= 0 else batch_dims + rank(index)
    shape = operand.shape[:dim] + index.shape[batch_dims:] + operand.shape[dim + 1 :]
    result = np.empty(shape, operand.dtype)
    for result_index in index_space(shape):
        left, after = result_index[:dim], result_index[dim + rank(index) - batch_dims :]
        chosen = int(index[left[:batch_dims] + result_index[dim : len(shape) - len(after)]])
        result[result_index] = operand[(*left, max(0, min(chosen, operand.shape[dim] - 1)), *after)]
    return result


def compute_reshape_shape(num_elements: int, dynamic_shape: Array) -> Array:
    """Return `dynamic_shape` with -1 replaced by the smallest size for which it has `num_elements` elements."""
    sizes = [int(n) for n in dynamic_shape]
    return np.array(next(_reshapes(num_elements, sizes)), dynamic_shape.dtype)


def cstr_reshapable(num_elements: int, dynamic_shape: Array) -> bool:
    """Return whether `dynamic_shape`, where one size may be -1, can be a shape of `num_elements` elements."""
    sizes = [int(n) for n in dynamic_shape]
    return sizes.count(-1) <= 1 and next(_reshapes(num_elements, sizes), None) is not None


def _reshapes(num_elements: int, sizes: list[int]) -> Iterator[list[int]]:
    for candidate in range(num_elements + 1):
        shape = [candidate if n == -1 else n for n in sizes]
        if min(shape, default=0) >= 0 and prod(shape) == num_elements:
            yield shape
