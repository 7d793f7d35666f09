"""Values that other dialects have besides tensors: numbers, shapes, sizes, witnesses; their kinds and constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.attributes import DenseElements, DenseResource, FloatAttribute, IntegerAttribute
from stablehlo_ref.ir.types import BOOLEAN, BooleanType, FloatType, IndexType, IntegerType, OpaqueType, TensorType
from stablehlo_ref.kinds import Kind, index
from stablehlo_ref.numerics.dtypes import INT64, UINT64, numpy_dtype
from stablehlo_ref.spec import element_type, is_tensor

Array = Any
Run = Callable[..., Any]

DYNAMIC = -(1 << 63)  # stands among sizes in attributes for one that is an operand


def _like(name: str, *classes: type) -> Kind:
    """Element types, and tensors of them."""
    return Kind(name, lambda t: isinstance(t.element_type if isinstance(t, TensorType) else t, classes))


def _opaque(text: str) -> Kind:
    return Kind(text, lambda t: isinstance(t, OpaqueType) and t.text == text)


integer_like = _like("integer, index, or tensor of these", BooleanType, IntegerType, IndexType)
float_like = _like("floating-point number or tensor", FloatType)
boolean_like = _like("boolean or tensor of booleans", BooleanType)
fixed_integer_like = _like("integer or tensor of integers", BooleanType, IntegerType)
number_like = integer_like | float_like
any_tensor = Kind("tensor", is_tensor)
boolean = Kind("i1", lambda t: isinstance(t, BooleanType))
shape = _opaque("!shape.shape")  # an array of sizes
size = _opaque("!shape.size")  # a number
extents = Kind("tensor of sizes", lambda t: isinstance(t, TensorType) and isinstance(t.element_type, IndexType))
shape_like = shape | extents
size_like = size | index


def type_of(value: Any) -> Any:
    """The type of a constant; None of an attribute that is no constant."""
    if isinstance(value, DenseElements | DenseResource | IntegerAttribute | FloatAttribute):
        return value.type
    return BOOLEAN if isinstance(value, bool) else None


def number(value: Any, type: Any) -> Array:
    """An attribute as an array or number of a type."""
    if isinstance(value, DenseElements | DenseResource):
        return value.array
    dtype = numpy_dtype(element_type(type))
    written = getattr(value, "value", value)
    if isinstance(value, IntegerAttribute):
        return np.array(written, INT64 if written < 0 else UINT64).astype(dtype)[()]
    return dtype.type(written)


def in_bounds(index: Array, stop: int) -> int:
    """A number as an index; EvaluationError where there is nothing."""
    if not 0 <= index < stop:
        raise EvaluationError(f"index {index} is out of bounds: there are {stop}")
    return int(index)
