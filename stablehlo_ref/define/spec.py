"""The global functions of the spec's formulas ("Notation", "Functions"), by the spec's names.

They take types, as operands in constraints are types. An unknown dimension size is `UNKNOWN`. Each comparison with it
is true, meaning "not known to be false", so formulas must not negate comparisons of sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence, Sized
from functools import cache
from itertools import combinations, pairwise
from math import prod
from typing import Any, TypeAlias, TypeVar

from stablehlo_ref.ir.types import (
    BooleanType,
    BufferType,
    ComplexType,
    FloatType,
    IndexType,
    IntegerType,
    QuantizedType,
    Shape,
    TensorType,
    TokenType,
    TupleType,
    Type,
    tensor_type,
)


class Unknown:
    """A dimension size that is known only in a run."""

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


UNKNOWN: Any = Unknown()  # typed so that it can be used as an int
Size: TypeAlias = int
Sizes: TypeAlias = tuple[Size, ...]
T = TypeVar("T")


# --- shapes ---------------------------------------------------------------------------------------------------------


def _sizes(x: Type) -> Shape:
    """Return the shape of a tensor or buffer type; AttributeError for any other type."""
    sizes: Shape = x.shape  # type: ignore[attr-defined]
    return sizes


def shape(x: Type) -> Sizes:
    """Return the dimension sizes of a tensor or buffer type."""
    sizes = _sizes(x)
    return tuple(UNKNOWN if n is None else n for n in sizes) if None in sizes else sizes  # type: ignore[return-value]


def most(x: Type) -> Sizes:
    """Return the dimension sizes of a tensor type, or their bounds where only those are known."""
    return tuple(n if b is None or n is not UNKNOWN else b for n, b in zip(shape(x), bounds(x)))


def rank(x: Type) -> int:
    return len(_sizes(x))


def axes(x: Type) -> range:
    return range(len(_sizes(x)))


def dim(x: Type, axis: int) -> Size:
    """Return the size of dimension `axis`; IndexError if there is no such dimension, also if `axis` is negative."""
    if axis < 0:
        raise IndexError(f"dimension {axis}")
    size = _sizes(x)[axis]
    return UNKNOWN if size is None else size


def dims(x: Type, axes: Iterable[int]) -> Sizes:
    return tuple(dim(x, axis) for axis in axes)


def size(x: Type | Sized) -> Size:
    """Return the number of elements of a type or list."""
    return prod(shape(x)) if isinstance(x, Type) else len(x)


def bounds(x: Type) -> Shape:
    """Return the bound of each dimension, None for a dimension without a bound."""
    return getattr(x, "bounds", None) or (None,) * rank(x)


# --- lists ----------------------------------------------------------------------------------------------------------


def is_unique(xs: Sequence[Hashable]) -> bool:
    return len(set(xs)) == len(xs)


def is_sorted(xs: Sequence[Any]) -> bool:
    return all(a <= b for a, b in pairwise(xs))


def same(xs: Iterable[Any]) -> bool:
    """Return whether all are equal, sizes or shapes also those that are known; true for an empty list."""
    xs = list(xs)
    if not all(x == xs[0] for x in xs):
        return False
    return all(map(_same_known, zip(*xs) if xs and isinstance(xs[0], tuple) else [xs]))


def _same_known(xs: Iterable[Any]) -> bool:
    """Return whether all are equal that are not unknown: an unknown size equals any, which is not transitive."""
    known = [x for x in xs if x is not UNKNOWN]
    return all(x == known[0] for x in known)


def in_range(xs: Iterable[int], stop: Size) -> bool:
    """Return whether `0 <= xs... < stop`."""
    return all(0 <= x < stop for x in xs)


def without(xs: Iterable[T], positions: Iterable[int]) -> tuple[T, ...]:
    """Return `xs` without the items at `positions`."""
    removed = set(positions)
    return tuple(x for i, x in enumerate(xs) if i not in removed)


# --- element types --------------------------------------------------------------------------------------------------


def element_type(x: Type) -> Any:
    """Return the element type of a tensor or buffer type, and an element type as it is."""
    return x.element_type if isinstance(x, TensorType | BufferType) else x


def _is_one_of(*classes: type[Type]) -> Callable[[Type], bool]:
    return lambda x: isinstance(element_type(x), classes)


is_boolean = _is_one_of(BooleanType)
is_integer = _is_one_of(IntegerType, IndexType)
is_float = _is_one_of(FloatType)
is_complex = _is_one_of(ComplexType)
is_quantized = _is_one_of(QuantizedType)


def is_signed_integer(x: Type) -> bool:
    e = element_type(x)
    return isinstance(e, IndexType) or (isinstance(e, IntegerType) and e.is_signed)


def is_per_axis_quantized(x: Type) -> bool:
    return is_quantized(x) and quantization_dimension(x) is not None


def is_per_tensor_quantized(x: Type) -> bool:
    return is_quantized(x) and quantization_dimension(x) is None


# The functions below return None for types that are not quantized, or not complex. Formulas use some of them only where
# they know better, so the type of these is Any, for type checkers not to ask for a test for None.


def _of_element(field: str) -> Callable[[Type], Any]:
    return lambda x: getattr(element_type(x), field, None)


storage_type = _of_element("storage_type")
expressed_type = _of_element("expressed_type")
storage_min = _of_element("storage_min")
storage_max = _of_element("storage_max")
quantization_dimension = _of_element("quantization_dimension")
scales = _of_element("scales")
zero_points = _of_element("zero_points")
complex_element_type = _of_element("element")  # `f32` for `complex<f32>`


def real_type(x: Type) -> TensorType:
    """Return the type of the real part of a complex tensor; for any other tensor, its own type."""
    return with_element_type(x, complex_element_type(x) or element_type(x))


@cache
def num_bits(element: Type) -> int:
    """Return the width of an element type in bits; for a quantized type, that of its storage type."""
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
    if not isinstance(element, FloatType):
        raise TypeError(f"{element} has no width")
    digits = element.name.removeprefix("b").removeprefix("tf").removeprefix("f")
    return 19 if element.name == "tf32" else int(digits.split("E")[0])


bitwidth = num_bits


def is_promotable(x: Type, y: Type) -> bool:
    """Return whether element type `x` can be promoted to `y`: to a type of the same kind that is not narrower."""
    x, y = element_type(x), element_type(y)
    if is_quantized(x) and is_quantized(y):
        return expressed_type(x) == expressed_type(y) and num_bits(storage_type(x)) <= num_bits(storage_type(y))
    kinds: tuple[Callable[[Type], bool], ...] = (is_boolean, is_integer, is_float, is_complex)
    return any(kind(x) and kind(y) for kind in kinds) and num_bits(x) <= num_bits(y)


def baseline_element_type(x: Type) -> Type:
    """Return the element type; that of a quantized type with scales 1 and zero points 0."""
    e: Type = element_type(x)
    if not isinstance(e, QuantizedType):
        return e
    count = len(e.scales)
    return QuantizedType(
        e.storage_type, e.expressed_type, (1.0,) * count, (0,) * count, e.storage_min, e.storage_max,
        e.quantization_dimension,
    )  # fmt: skip


def baseline_type(x: Type) -> Type:
    """Return the type; a quantized type with scales 1 and zero points 0."""
    return with_element_type(x, baseline_element_type(x)) if is_quantized(x) else x


# --- types ----------------------------------------------------------------------------------------------------------


def with_element_type(x: Type, element: Type) -> TensorType:
    """Return tensor type `x` with another element type; AttributeError for any other type."""
    if not isinstance(x, TensorType):
        raise AttributeError(f"{x} has no element type")
    if x.bounds or x.encoding:
        return TensorType(x.shape, element, x.bounds, x.encoding)
    return tensor_type(x.shape, element)


def expressed(x: Type) -> Type:
    """Return the type with its expressed element type if it is quantized."""
    return with_element_type(x, expressed_type(x)) if is_quantized(x) else x


def make_tensor_type(sizes: Iterable[Size], element: Type) -> TensorType:
    """Return the tensor type of sizes, some of which may be `UNKNOWN`."""
    return tensor_type(tuple(None if s is UNKNOWN else s for s in sizes), element)


def compatible(*xs: Type | None) -> bool:
    """Return whether types are equal apart from unknown dimension sizes, scales and zero points; None equals None."""
    if not all(_compatible(x, xs[0]) for x in xs[1:]):
        return False
    return len(xs) <= 2 or all(_compatible(x, y) for x, y in combinations(dict.fromkeys(xs), 2))  # not transitive


def _compatible(x: Type | None, y: Type | None) -> bool:
    if x is y:
        return True
    if isinstance(x, TupleType) and isinstance(y, TupleType):
        return len(x.elements) == len(y.elements) and all(map(_compatible, x.elements, y.elements))
    if isinstance(x, TensorType) and isinstance(y, TensorType):
        if (x.bounds or y.bounds) and not (_within(x, y) and _within(y, x)):
            return False
        return shape(x) == shape(y) and baseline_element_type(x) == baseline_element_type(y)
    return bool(x == y)


def _within(x: TensorType, y: TensorType) -> bool:
    """Return whether the sizes of `x` that are known are within the bounds of `y`."""
    return all(n is None or most is None or n <= most for n, most in zip(x.shape, bounds(y)))


def is_tensor(x: Type) -> bool:
    return isinstance(x, TensorType)


def is_token(x: Type) -> bool:
    return isinstance(x, TokenType)


def scalar(x: Type) -> TensorType:
    """Return the 0-dimensional tensor type with the element type of `x`."""
    return tensor_type((), element_type(x))
