"""MLIR's shape dialect, following its documentation. A shape is a tuple of sizes; None represents an error."""

import builtins
from fractions import Fraction
from math import floor
from typing import Any

from stablehlo_ref.semantics.notation import Array, Arrays, Dims, Function

Shape = Dims | None
Size = int | None


def shape_of(arg: Array) -> Shape:
    return tuple(arg.shape)


def broadcast(*shapes: Dims) -> Shape:
    """From the last dimension on, sizes must be equal or 1; missing dimensions count as size 1."""
    result: list[int] = []
    for i in range(1, builtins.max(map(len, shapes)) + 1):
        sizes = {shape[-i] for shape in shapes if i <= len(shape)} - {1}
        if len(sizes) > 1:
            return None
        result.insert(0, sizes.pop() if sizes else 1)
    return tuple(result)


def is_broadcastable(*shapes: Dims) -> bool:
    return broadcast(*shapes) is not None


cstr_broadcastable = is_broadcastable


def shape_eq(*shapes: Dims) -> bool:
    return all(shape == shapes[0] for shape in shapes)


cstr_eq = shape_eq


def cstr_require(pred: bool) -> bool:
    """A witness represents that a condition holds; it is an error if it does not."""
    return bool(pred)


def const_witness(passing: bool) -> bool:
    return passing


def assuming_all(inputs: tuple[None, ...]) -> bool:
    """Return a witness of all `inputs`, which hold where there is a value of them."""
    return True


def assuming(body: Function) -> Arrays:
    """Return the results of `body`, which may rely on the witness."""
    return body()


def concat(lhs: Dims, rhs: Dims) -> Shape:
    return lhs + rhs


def split_at(operand: Dims, index: int) -> tuple[Shape, Shape]:
    """Negative indices count from the end; an error if the index is less than -rank or greater than the rank."""
    if index < -len(operand) or index > len(operand):
        return None, None
    position = index + len(operand) if index < 0 else index
    return tuple(operand[i] for i in range(position)), tuple(operand[i] for i in range(position, len(operand)))


def num_elements(shape: Dims) -> Size:
    """Return the product of the sizes, 1 for rank 0."""
    result = 1
    for size in shape:
        result *= size
    return in_64_bits(result)


def rank(shape: Dims) -> Size:
    return len(shape)


def get_extent(shape: Dims, dim: int) -> Size:
    return shape[dim] if 0 <= dim < len(shape) else None


def dim(value: Array, index: int) -> Size:
    return get_extent(value.shape, index)


def add(lhs: int, rhs: int) -> Size:
    return in_64_bits(lhs + rhs)


def mul(lhs: int, rhs: int) -> Size:
    return in_64_bits(lhs * rhs)


def div(lhs: int, rhs: int) -> Size:
    """Return the quotient rounded toward negative infinity."""
    return None if rhs == 0 else in_64_bits(floor(Fraction(lhs, rhs)))


def in_64_bits(size: int) -> Size:
    return size if -(2**63) <= size < 2**63 else None


def max(lhs: Any, rhs: Any) -> Any:
    """Return the elementwise maximum of shapes of equal rank, or the maximum of two sizes."""
    if isinstance(lhs, int):
        return rhs if lhs < rhs else lhs
    return tuple(b if a < b else a for a, b in zip(lhs, rhs)) if len(lhs) == len(rhs) else None


def min(lhs: Any, rhs: Any) -> Any:
    if isinstance(lhs, int):
        return lhs if lhs < rhs else rhs
    return tuple(a if a < b else b for a, b in zip(lhs, rhs)) if len(lhs) == len(rhs) else None


def const_shape(sizes: Dims) -> Shape:
    return sizes


def const_size(value: int) -> Size:
    return value


def from_extents(*extents: int) -> Shape:
    return extents


def to_extent_tensor(input: Dims) -> Shape:
    """Return the same sizes as another type; so do the following ops."""
    return input


from_extent_tensor = value_as_shape = to_extent_tensor
size_to_index = index_to_size = lambda arg: arg
