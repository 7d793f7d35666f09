"""Kinds of values that other dialects have besides tensors: numbers, shapes, sizes, witnesses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stablehlo_ref.ir.types import BooleanType, FloatType, IndexType, IntegerType, OpaqueType, TensorType
from stablehlo_ref.kinds import Kind

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
index = Kind("index", lambda t: isinstance(t, IndexType))
boolean = Kind("i1", lambda t: isinstance(t, BooleanType))
shape = _opaque("!shape.shape")  # an array of sizes
size = _opaque("!shape.size")  # a number
witness = _opaque("!shape.witness")  # nothing: what it stands for has been checked
extents = Kind("tensor of sizes", lambda t: isinstance(t, TensorType) and isinstance(t.element_type, IndexType))
shape_like = shape | extents
size_like = size | index
