"""CHLO's constant, constant_like, ragged_dot and scan, following their descriptions upstream."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.semantics.dot_general import dot_products
from stablehlo_ref.semantics.notation import Array, Arrays, Dims, DType, TensorType, index_space
from stablehlo_ref.semantics.rounding import converted, exact

Index = dict[int, int]  # from dimensions to positions in them


def constant(value: Array) -> Array:
    return value


def constant_like(value: Any, operand: Array, element_type: DType) -> Array:
    """Return `value` for each element of `operand`."""
    result = np.empty(operand.shape, element_type)
    for index in index_space(operand.shape):
        result[index] = converted(element_type, value if isinstance(value, int) else exact(value))
    return result


def scan(
    inputs: Arrays,
    inits: Arrays,
    dimension: int,
    is_reverse: bool,
    body: Callable[..., Arrays],
    *,
    count: int,
    slices: Sequence[TensorType],
) -> Arrays:
    """Return the outputs, whose slices of these types are the leading results of `body`, and the last carries."""
    collected: list[list[Array]] = [[] for _ in slices]
    carries = inits
    for i in reversed(range(count)) if is_reverse else range(count):
        at = (slice(None),) * dimension + (i,)
        returned = body(*(x[at] for x in inputs), *carries)
        carries = returned[len(slices) :]
        for parts, part in zip(collected, returned):
            parts.insert(0 if is_reverse else len(parts), part)
    outputs = []
    for parts, (shape, dtype) in zip(collected, slices):
        output = np.empty((*shape[:dimension], count, *shape[dimension:]), dtype)
        for i, part in enumerate(parts):
            output[(slice(None),) * dimension + (i,)] = part
        outputs.append(output)
    return (*outputs, *carries)


# --- ragged_dot -----------------------------------------------------------------------------------------------------


def ragged_dot(
    lhs: Array,
    rhs: Array,
    group_sizes: Array,
    lhs_batching_dimensions: Dims,
    rhs_batching_dimensions: Dims,
    lhs_contracting_dimensions: Dims,
    rhs_contracting_dimensions: Dims,
    lhs_ragged_dimensions: Dims,
    rhs_group_dimensions: Dims,
    precision_config: tuple[str, ...] = (),
    *,
    result: TensorType,
    sums: Callable[[Array, TensorType], Array] = dot_products,
) -> Array:
    """Compute dot products as `dot_general` does, whose ragged dimension consists of groups of `group_sizes`.

    If the ragged dimension is a dimension of the result, the part of `rhs` is that of the group of the position. If it
    is contracting, the first dimension of the result selects the group whose products are summed. If it is batching,
    all are. `sums` adds, for each element of the result, the products of pairs of elements.
    """
    (ragged,) = lhs_ragged_dimensions
    group_dim = rhs_group_dimensions[0] if rhs_group_dimensions else None
    lhs_others = [d for d in range(lhs.ndim) if d not in lhs_batching_dimensions + lhs_contracting_dimensions]
    rhs_others = [
        d for d in range(rhs.ndim) if d not in (*rhs_batching_dimensions, *rhs_contracting_dimensions, group_dim)
    ]
    terms = np.empty(result[0], object)
    for index in index_space(result[0]):
        group, rest = (index[0], index[1:]) if ragged in lhs_contracting_dimensions else (None, index)
        batch, positions = rest[: len(lhs_batching_dimensions)], rest[len(lhs_batching_dimensions) :]
        left = dict(zip((*lhs_batching_dimensions, *lhs_others), (*batch, *positions)))
        right = dict(zip((*rhs_batching_dimensions, *rhs_others), (*batch, *positions[len(lhs_others) :])))
        terms[index] = []
        for summed in index_space(tuple(lhs.shape[d] for d in lhs_contracting_dimensions)):
            left |= zip(lhs_contracting_dimensions, summed)
            right |= zip(rhs_contracting_dimensions, summed)
            dimensions = group_dimensions(ragged, lhs_batching_dimensions, lhs_contracting_dimensions, lhs_others)
            groups = groups_of(group_sizes, left, dimensions, ragged)
            if ragged in lhs_batching_dimensions or (ragged in lhs_contracting_dimensions and group in groups):
                terms[index].append((lhs[index_tuple(left)], rhs[index_tuple(right)]))
            elif ragged in lhs_others:
                terms[index] += [(lhs[index_tuple(left)], rhs[index_tuple(right | {group_dim: g})]) for g in groups]
    return sums(terms, result)


def index_tuple(index: Any) -> Dims:
    return tuple(index[d] for d in sorted(index))


def group_dimensions(ragged: int, batching: Dims, contracting: Dims, others: Sequence[int]) -> Dims:
    """Return the dimensions of `lhs` that correspond to those of `group_sizes` except the last one, the groups."""
    if ragged in batching:
        return batching[: batching.index(ragged)]
    rest = contracting if ragged in contracting else tuple(others)
    return batching + rest[: rest.index(ragged)]


def groups_of(group_sizes: Array, index: Index, dimensions: Dims, ragged: int) -> list[int]:
    """Return the group that contains the position in the ragged dimension, if any; negative sizes count as 0."""
    sizes = group_sizes if group_sizes.ndim == 1 else group_sizes[tuple(index[d] for d in dimensions)]
    groups, start = [], 0
    for group, size in enumerate(int(s) for s in sizes):
        size = max(size, 0)
        if start <= index[ragged] < start + size:
            groups.append(group)
        start += size
    return groups
