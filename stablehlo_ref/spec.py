"""The global functions of the spec's formulas ("Notation", "Functions"), by the spec's names.

They work on types: in constraints an operand *is* its type. An unknown dimension size is `UNKNOWN`, which compares true
with anything, meaning "not known to be false"; so a formula never says `not` of a comparison of sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise
from math import prod
from typing import Any

from stablehlo_ref.ir.types import (
    BOOLEAN,
    BooleanType,
    BufferType,
    ComplexType,
    FloatType,
    IndexType,
    IntegerType,
    QuantizedType,
    TensorType,
    TokenType,
    TupleType,
    Type,
    tensor_type,
)


class Unknown:
    """A dimension size that only a run will tell."""

    def __eq__(self, other: object) -> bool:
        return True

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__

    def __hash__(self) -> int:
        return 0

    def __neg__(self) -> Unknown:
        return self

    def __add__(self, other: object) -> Unknown:
        return self

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = __mod__ = __add__

    def __repr__(self) -> str:
        return "?"


UNKNOWN: Any = Unknown()  # stands for an int in formulas
Size = int


# --- shapes ---------------------------------------------------------------------------------------------------------


def shape(x: Any) -> tuple[Size, ...]:
    """The dimension sizes of a tensor or buffer type."""
    sizes = x.shape
    return tuple(UNKNOWN if size is None else size for size in sizes) if None in sizes else sizes


def rank(x: Any) -> int:
    return len(x.shape)


def axes(x: Any) -> range:
    return range(len(x.shape))


def dim(x: Any, axis: int) -> Size:
    """The size of dimension `axis`; IndexError where there is none (negative numbers too)."""
    if axis < 0:
        raise IndexError(f"dimension {axis}")
    size = x.shape[axis]
    return UNKNOWN if size is None else size


def dims(x: Any, axes: Iterable[int]) -> tuple[Size, ...]:
    return tuple(dim(x, axis) for axis in axes)


def size(x: Any) -> Size:
    """The number of elements of a type, or of members of a list."""
    return prod(shape(x)) if isinstance(x, Type) else len(x)


def bounds(x: Any) -> tuple[int | None, ...]:
    """The bound of each dimension, None where it has none."""
    return getattr(x, "bounds", None) or (None,) * rank(x)


# --- lists ----------------------------------------------------------------------------------------------------------


def is_unique(xs: Sequence[Any]) -> bool:
    return len(set(xs)) == len(xs)


def is_sorted(xs: Sequence[Any]) -> bool:
    return all(a <= b for a, b in pairwise(xs))


def same(xs: Iterable[Any]) -> bool:
    """Whether all are equal; true of nothing."""
    xs = list(xs)
    return all(x == xs[0] for x in xs)


def in_range(xs: Iterable[int], stop: Size) -> bool:
    """`0 <= xs... < stop`."""
    return all(0 <= x < stop for x in xs)


def without(xs: Iterable[Any], positions: Iterable[int]) -> tuple[Any, ...]:
    """`xs` less those at `positions`."""
    left_out = set(positions)
    return tuple(x for i, x in enumerate(xs) if i not in left_out)


# --- element types --------------------------------------------------------------------------------------------------


def element_type(x: Any) -> Any:
    """The element type of a tensor or buffer type; of an element type, itself."""
    return x.element_type if isinstance(x, TensorType | BufferType) else x


def is_boolean(x: Any) -> bool:
    return isinstance(element_type(x), BooleanType)


def is_integer(x: Any) -> bool:
    return isinstance(element_type(x), IntegerType | IndexType)


def is_signed_integer(x: Any) -> bool:
    e = element_type(x)
    return isinstance(e, IndexType) or (isinstance(e, IntegerType) and e.is_signed)


def is_unsigned_integer(x: Any) -> bool:
    e = element_type(x)
    return isinstance(e, IntegerType) and not e.is_signed


def is_float(x: Any) -> bool:
    return isinstance(element_type(x), FloatType)


def is_complex(x: Any) -> bool:
    return isinstance(element_type(x), ComplexType)


def is_quantized(x: Any) -> bool:
    return isinstance(element_type(x), QuantizedType)


def is_per_axis_quantized(x: Any) -> bool:
    return is_quantized(x) and element_type(x).quantization_dimension is not None


def is_per_tensor_quantized(x: Any) -> bool:
    return is_quantized(x) and element_type(x).quantization_dimension is None


def storage_type(x: Any) -> Any:
    return getattr(element_type(x), "storage_type", None)


def expressed_type(x: Any) -> Any:
    return getattr(element_type(x), "expressed_type", None)


def storage_min(x: Any) -> Any:
    return getattr(element_type(x), "storage_min", None)


def storage_max(x: Any) -> Any:
    return getattr(element_type(x), "storage_max", None)


def quantization_dimension(x: Any) -> Any:
    return getattr(element_type(x), "quantization_dimension", None)


def scales(x: Any) -> Any:
    return getattr(element_type(x), "scales", None)


def zero_points(x: Any) -> Any:
    return getattr(element_type(x), "zero_points", None)


def complex_element_type(x: Any) -> Any:
    """`f32` of `complex<f32>`; None of what is not complex."""
    return getattr(element_type(x), "element", None)


def real_type(x: Any) -> Any:
    """The type of the parts of a complex tensor: the same shape, of the parts' element type."""
    return with_element_type(x, complex_element_type(x) or element_type(x))


@cache
def num_bits(element: Any) -> int:
    """The width in bits of an element type (of its storage type, where quantized)."""
    if isinstance(element, BooleanType):
        return 1
    if isinstance(element, IntegerType):
        return element.width
    if isinstance(element, IndexType):
        return 64
    if isinstance(element, ComplexType):
        return 2 * num_bits(element.element)
    if isinstance(element, QuantizedType):
        return num_bits(element.storage_type)
    digits = element.name.removeprefix("b").removeprefix("tf").removeprefix("f")
    return 19 if element.name == "tf32" else int(digits.split("E")[0])


bitwidth = num_bits


def is_promotable(x: Any, y: Any) -> bool:
    """Whether element type `x` can be promoted to `y`: the same kind, and no narrower."""
    x, y = element_type(x), element_type(y)
    if is_quantized(x) and is_quantized(y):
        return expressed_type(x) == expressed_type(y) and num_bits(storage_type(x)) <= num_bits(storage_type(y))
    kinds: tuple[Callable[[Any], bool], ...] = (is_boolean, is_integer, is_float, is_complex)
    return any(kind(x) and kind(y) for kind in kinds) and num_bits(x) <= num_bits(y)


def baseline_element_type(x: Any) -> Any:
    """The element type, its scales and zero points set aside."""
    e = element_type(x)
    if not isinstance(e, QuantizedType):
        return e
    count = len(e.scales)
    return QuantizedType(
        e.storage_type, e.expressed_type, (1.0,) * count, (0,) * count, e.storage_min, e.storage_max,
        e.quantization_dimension,
    )  # fmt: skip


def baseline_type(x: Any) -> Any:
    """The type, its scales and zero points set aside."""
    return with_element_type(x, baseline_element_type(x)) if is_quantized(x) else x


# --- types ----------------------------------------------------------------------------------------------------------


def with_element_type(x: Any, element: Any) -> Any:
    """`x` with another element type."""
    if x.bounds or x.encoding:
        return TensorType(x.shape, element, x.bounds, x.encoding)
    return tensor_type(x.shape, element)


def make_tensor_type(sizes: Iterable[Size], element: Any) -> TensorType:
    """A tensor type from sizes among which may be `UNKNOWN`."""
    return tensor_type(tuple(None if s is UNKNOWN else s for s in sizes), element)


def compatible(*xs: Any) -> bool:
    """Whether types agree but for unknown dimension sizes and, where quantized, for quantization parameters."""
    return all(_compatible(x, xs[0]) for x in xs[1:])


def _compatible(x: Any, y: Any) -> bool:
    if x is y:
        return True
    if isinstance(x, TupleType) and isinstance(y, TupleType):
        return len(x.elements) == len(y.elements) and all(map(_compatible, x.elements, y.elements))
    if isinstance(x, TensorType) and isinstance(y, TensorType):
        return shape(x) == shape(y) and baseline_element_type(x) == baseline_element_type(y)
    return bool(x == y)


def is_tensor(x: Any) -> bool:
    return isinstance(x, TensorType)


def is_token(x: Any) -> bool:
    return isinstance(x, TokenType)


def scalar(x: Any) -> TensorType:
    """The 0-dimensional tensor type of `x`'s element type."""
    return tensor_type((), element_type(x))


__all__ = [
    "BOOLEAN", "UNKNOWN", "Size", "Unknown", "axes", "baseline_element_type", "baseline_type", "bitwidth", "bounds",
    "compatible", "complex_element_type", "dim", "dims", "element_type", "expressed_type", "in_range", "is_boolean",
    "is_complex", "is_float", "is_integer", "is_per_axis_quantized", "is_per_tensor_quantized", "is_promotable",
    "is_quantized", "is_signed_integer", "is_sorted", "is_tensor", "is_token", "is_unique", "is_unsigned_integer",
    "make_tensor_type", "num_bits", "quantization_dimension", "rank", "real_type", "same", "scalar", "scales", "shape",
    "size", "storage_max", "storage_min", "storage_type", "tensor_type", "with_element_type", "without", "zero_points",
]  # fmt: skip
