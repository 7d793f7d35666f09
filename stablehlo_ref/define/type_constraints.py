"""Which types an operand or result may have."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from stablehlo_ref.define.spec import (
    element_type,
    is_boolean,
    is_complex,
    is_float,
    is_integer,
    is_per_tensor_quantized,
    is_quantized,
    is_signed_integer,
    num_bits,
    rank,
)
from stablehlo_ref.ir.types import (
    BufferType,
    FutureType,
    IndexType,
    OpaqueType,
    TensorType,
    TokenType,
    TupleType,
    Type,
)


class TypeConstraint:
    """A set of types with a name; `|` is the union of two.

    `python_types` are the classes of the types in the set, and the annotations of role parameters.
    """

    def __init__(self, name: str, holds: Callable[[Any], bool], *python_types: type[Type]) -> None:
        self.name = name
        self.holds = holds
        self.python_types = python_types or (Type,)

    def __or__(self, other: TypeConstraint) -> TypeConstraint:
        python_types = dict.fromkeys((*self.python_types, *other.python_types))
        union = (Type,) if Type in python_types else tuple(python_types)
        return TypeConstraint(_either(self.name, other.name), lambda t: self.holds(t) or other.holds(t), *union)

    def __repr__(self) -> str:
        return self.name


def _either(x: str, y: str) -> str:
    """Join two names: `tensor of integer or boolean type`."""
    first, second = (re.fullmatch(r"(.*tensor of )(.*) type", name) for name in (x, y))
    if first and second and first[1] == second[1]:
        return f"{first[1]}{first[2]} or {second[2]} type"
    return f"{x} or {y}"


def tensor_of(name: str, holds: Callable[[TensorType], bool]) -> TypeConstraint:
    """Return the constraint that a type is a tensor type for which `holds` is true."""
    return TypeConstraint(name, lambda t: isinstance(t, TensorType) and holds(t), TensorType)


tensor = tensor_of("tensor", lambda t: not is_quantized(t))
boolean_tensor = tensor_of("tensor of boolean type", is_boolean)
integer_tensor = tensor_of("tensor of integer type", is_integer)
signed_integer_tensor = tensor_of("tensor of signed integer type", is_signed_integer)
float_tensor = tensor_of("tensor of floating-point type", is_float)
complex_tensor = tensor_of("tensor of complex type", is_complex)
quantized_tensor = tensor_of("quantized tensor", is_quantized)
per_tensor_quantized = tensor_of("per-tensor quantized tensor", is_per_tensor_quantized)
scalar_tensor = tensor_of("0-dimensional tensor", lambda t: rank(t) == 0)
boolean_scalar = tensor_of("0-dimensional tensor of boolean type", lambda t: rank(t) == 0 and is_boolean(t))
integer_scalar = tensor_of("0-dimensional tensor of integer type", lambda t: rank(t) == 0 and is_integer(t))
si32_scalar = tensor_of(
    "0-dimensional tensor of type si32",
    lambda t: rank(t) == 0 and is_signed_integer(t) and num_bits(element_type(t)) == 32,
)
feature_vector = tensor_of(
    "1-dimensional tensor of floating-point or per-tensor quantized type",
    lambda t: rank(t) == 1 and (is_float(t) or is_per_tensor_quantized(t)),
)
integer_vector = tensor_of("1-dimensional tensor of integer type", lambda t: rank(t) == 1 and is_integer(t))
integer_matrix = tensor_of("2-dimensional tensor of integer type", lambda t: rank(t) == 2 and is_integer(t))
index = TypeConstraint("index", lambda t: isinstance(t, IndexType), IndexType)
witness = TypeConstraint("witness", lambda t: isinstance(t, OpaqueType) and t.text == "!shape.witness", OpaqueType)
token = TypeConstraint("token", lambda t: isinstance(t, TokenType), TokenType)
tuple_value = TypeConstraint("tuple", lambda t: isinstance(t, TupleType), TupleType)
future = TypeConstraint("future", lambda t: isinstance(t, FutureType), FutureType)
buffer = TypeConstraint("buffer", lambda t: isinstance(t, BufferType), BufferType)
anything = TypeConstraint("value", lambda t: True)
