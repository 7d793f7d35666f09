"""Types and functions of the spec's "Notation" chapter, on numpy arrays and dtypes."""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import cache
from itertools import product
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Arrays = tuple[Array, ...]
DType = np.dtype[Any]
Dims = tuple[int, ...]
Index = tuple[int, ...]
TensorType = tuple[Dims, DType]
Function = Callable[..., Arrays]


class UndefinedError(Exception):
    """An op has no meaning on these inputs: its types are not the op's, or an index is out of bounds."""


SUB_BYTE_BITS = {"bool": 1, "int2": 2, "uint2": 2, "int4": 4, "uint4": 4}
SUB_BYTE_BITS |= {"float4_e2m1fn": 4, "float6_e2m3fn": 6, "float6_e3m2fn": 6}


@cache
def is_boolean(element_type: DType) -> bool:
    return element_type.name == "bool"


@cache
def is_signed_integer(element_type: DType) -> bool:
    return element_type.name.startswith("int")


@cache
def is_integer(element_type: DType) -> bool:
    return element_type.name.startswith(("int", "uint"))


@cache
def is_float(element_type: DType) -> bool:
    return element_type.name.startswith(("float", "bfloat"))


@cache
def is_complex(element_type: DType) -> bool:
    return element_type.name.startswith("complex")


@cache
def complex_element_type(element_type: DType) -> DType:
    """Return the type of the parts of a complex type: `f32` of `complex<f32>`."""
    return np.dtype(f"float{num_bits(element_type) // 2}")


@cache
def num_bits(element_type: DType) -> int:
    return SUB_BYTE_BITS.get(element_type.name, 8 * int(element_type.itemsize))


@cache
def min_value(element_type: DType) -> int:
    """Return the smallest value of an integer type."""
    return -(1 << num_bits(element_type) - 1) if is_signed_integer(element_type) else 0


@cache
def max_value(element_type: DType) -> int:
    """Return the largest value of an integer type."""
    return min_value(element_type) + (1 << num_bits(element_type)) - 1


def rank(x: Array) -> int:
    return len(x.shape)


def axes(x: Array) -> range:
    return range(rank(x))


def dim(x: Array, axis: int) -> int:
    return int(x.shape[axis])


# Called every `PATIENCE` indices; a caller may set a function that ends a computation which takes too long.
checkpoint: ContextVar[Callable[[], None]] = ContextVar("checkpoint", default=lambda: None)
PATIENCE = 64


def index_space(shape: Dims) -> Iterator[Index]:
    """Yield all indices of a tensor of this shape, in ascending lexicographical order."""
    check = checkpoint.get()
    for n, index in enumerate(product(*map(range, shape))):
        if n % PATIENCE == 0:
            check()
        yield index


def check_bounds(index: Index, shape: Dims) -> None:
    """Raise UndefinedError unless `index` is one of a tensor of this shape."""
    for i, size in zip(index, shape, strict=True):
        if not 0 <= i < size:
            raise UndefinedError(f"index {i} is out of bounds for size {size}")


def scalar(x: Array, index: Index) -> Array:
    """Return the element at `index` as a 0-dimensional tensor, as functions of the program take it."""
    return np.array(x[index], x.dtype)
