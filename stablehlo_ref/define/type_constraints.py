"""Which types an operand or result may have."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
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
    FLOATS,
    INDEX,
    WITNESS,
    BufferType,
    FunctionType,
    FutureType,
    IndexType,
    MeshTensorType,
    OpaqueType,
    TensorType,
    TokenType,
    TupleType,
    Type,
    UnrankedBufferType,
    UnrankedTensorType,
    as_vector,
)

CACHED_TYPES = 1024  # of which a constraint knows whether it holds


class TypeConstraint:
    """A set of types with a name; `|` is the union of two.

    `python_types` are the classes of the types in the set, and the annotations of role parameters.
    """

    def __init__(self, name: str, holds: Callable[[Any], bool], *python_types: type[Type]) -> None:
        self.name = name
        self.holds: Callable[[Any], bool] = lru_cache(maxsize=CACHED_TYPES)(holds)
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
    """Return the constraint that a type is a tensor type, on no mesh, for which `holds` is true."""

    def is_tensor(t: object) -> bool:
        return isinstance(t, TensorType) and not isinstance(t, MeshTensorType) and holds(t)

    return TypeConstraint(name, is_tensor, TensorType)


def _spec_tensor(name: str, holds: Callable[[TensorType], bool]) -> TypeConstraint:
    """Return the constraint that a type is a tensor of one of the spec's element types for which `holds` is true."""
    return tensor_of(name, lambda t: t.element_type not in NOT_IN_TENSORS and holds(t))


def of_any_rank(ranked: TypeConstraint) -> TypeConstraint:
    """Return the constraint that a type, or a vector of its elements if it is an unranked tensor, is in a set."""
    return TypeConstraint(ranked.name, lambda t: ranked.holds(as_vector(t)), *ranked.python_types)


def _is_size_vector(x: TensorType) -> bool:
    return rank(x) == 1 and is_integer(x)


NOT_IN_TENSORS = (INDEX, FLOATS["tf32"])  # element types that other dialects, or algorithms of dot_general, have

tensor = _spec_tensor("tensor", lambda t: not is_quantized(t))
boolean_tensor = _spec_tensor("tensor of boolean type", is_boolean)
integer_tensor = _spec_tensor("tensor of integer type", is_integer)
signed_integer_tensor = _spec_tensor("tensor of signed integer type", is_signed_integer)
float_tensor = _spec_tensor("tensor of floating-point type", is_float)
complex_tensor = _spec_tensor("tensor of complex type", is_complex)
quantized_tensor = _spec_tensor("quantized tensor", is_quantized)
per_tensor_quantized = _spec_tensor("per-tensor quantized tensor", is_per_tensor_quantized)
scalar_tensor = _spec_tensor("0-dimensional tensor", lambda t: rank(t) == 0)
init_value = TypeConstraint("0-dimensional tensor (I2)", scalar_tensor.holds, TensorType)
boolean_scalar = _spec_tensor("0-dimensional tensor of boolean type", lambda t: rank(t) == 0 and is_boolean(t))
integer_scalar = _spec_tensor("0-dimensional tensor of integer type", lambda t: rank(t) == 0 and is_integer(t))
si32_scalar = _spec_tensor(
    "0-dimensional tensor of type si32",
    lambda t: rank(t) == 0 and is_signed_integer(t) and num_bits(element_type(t)) == 32,
)
feature_vector = _spec_tensor(
    "1-dimensional tensor of floating-point or per-tensor quantized type",
    lambda t: rank(t) == 1 and (is_float(t) or is_per_tensor_quantized(t)),
)
integer_vector = _spec_tensor("1-dimensional tensor of integer type", lambda t: rank(t) == 1 and is_integer(t))
static_integer_vector = _spec_tensor(
    "statically shaped 1-dimensional tensor of integer type", lambda t: rank(t) == 1 and is_integer(t) and t.is_static
)
static_integer_matrix = _spec_tensor(
    "statically shaped 2-dimensional tensor of integer type", lambda t: rank(t) == 2 and is_integer(t) and t.is_static
)
size_vector = tensor_of("1-dimensional tensor of integer or index type", _is_size_vector)
static_size_vector = tensor_of(
    "statically shaped 1-dimensional tensor of integer or index type", lambda t: _is_size_vector(t) and t.is_static
)
index = TypeConstraint("index", lambda t: isinstance(t, IndexType), IndexType)
witness = TypeConstraint("witness", lambda t: t == WITNESS, OpaqueType)
token = TypeConstraint("token", lambda t: isinstance(t, TokenType), TokenType)
tuple_value = TypeConstraint("tuple", lambda t: isinstance(t, TupleType), TupleType)
future = TypeConstraint("future", lambda t: isinstance(t, FutureType), FutureType)
buffer = TypeConstraint("buffer", lambda t: isinstance(t, BufferType), BufferType)
any_buffer = buffer | TypeConstraint("unranked buffer", lambda t: isinstance(t, UnrankedBufferType), UnrankedBufferType)
function_value = TypeConstraint("function", lambda t: isinstance(t, FunctionType), FunctionType)
anything = TypeConstraint("value", lambda t: True)
tensor_or_token = TypeConstraint("tensor or token", (tensor | quantized_tensor | token).holds)
tensor_token_or_buffer = TypeConstraint("tensor, token or buffer", (tensor_or_token | buffer).holds)
any_value = TypeConstraint(
    "tensor, token, tuple, buffer or future", (tensor_token_or_buffer | tuple_value | future).holds
)
unranked_tensor = TypeConstraint("unranked tensor", lambda t: isinstance(t, UnrankedTensorType))
