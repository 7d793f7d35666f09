"""Values that come from outside of a program: arguments, what the infeed gives, what functions in Python return."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.diagnostics import EvaluationError, StablehloError
from stablehlo_ref.ir.types import BufferType, TensorType, TokenType, TupleType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.spec import bounds


def as_value(type: Type, value: Any) -> Any:
    """What a slot holds for a value of `type`; ValueError where dtype, shape or structure is another."""
    if isinstance(type, TokenType):
        return None
    if isinstance(type, TupleType):
        if not isinstance(value, tuple | list) or len(value) != len(type.elements):
            raise ValueError(f"expected a tuple of {len(type.elements)} for {type}")
        return tuple(map(as_value, type.elements, value))
    if not isinstance(type, TensorType | BufferType):
        raise ValueError(f"values of type {type} can't be passed")
    try:
        array = np.asarray(value)
    except Exception as error:  # whatever an object that calls itself an array may raise
        raise ValueError(f"expected an array for {type}: {error}") from None
    dtype = numpy_dtype(type.element_type)
    if array.dtype != dtype:
        raise ValueError(f"expected dtype {dtype} for {type}, got {array.dtype}")
    if not fits(type, array.shape):
        declared = str(type.shape).replace("None", "?")
        raise ValueError(f"expected shape {declared} for {type}, got {array.shape}")
    return array if array.ndim else array[()]


def fits(type: TensorType | BufferType, shape: tuple[int, ...]) -> bool:
    """Whether sizes are those that the type declares, and lie within its bounds."""
    return len(shape) == len(type.shape) and all(
        declared in (None, size) and (bound is None or size <= bound)
        for declared, bound, size in zip(type.shape, bounds(type), shape)
    )


def as_results(what: str, types: Sequence[Type], values: Any) -> tuple[Any, ...]:
    """A sequence of values of these types, none of which anybody else can write to; EvaluationError for any other.

    `what` begins the message: who gave them, and what it did.
    """
    if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str | bytes):
        raise EvaluationError(f"{what} {values!r}, not a sequence of values")
    if len(values) != len(types):
        raise EvaluationError(f"{what} {len(values)} values, not {len(types)}")
    return tuple(_as_result(f"{what} value #{i}", t, value) for i, (t, value) in enumerate(zip(types, values)))


def _as_result(what: str, type: Type, value: Any) -> Any:
    try:
        return own(as_value(type, value))
    except ValueError as error:
        raise EvaluationError(f"{what}: {error}") from None


def own(value: Any) -> Any:
    """A value that shares no memory that others may write to."""
    if isinstance(value, tuple):
        return tuple(map(own, value))
    return value.copy() if isinstance(value, np.ndarray) and value.flags.writeable else value


def read_only(value: Any) -> Any:
    """A value that who gets it can't write to."""
    if isinstance(value, tuple):
        return tuple(map(read_only, value))
    if isinstance(value, np.ndarray) and value.flags.writeable:
        value = value.view()
        value.flags.writeable = False
    return value


def call_outside(what: str, types: Sequence[Type], function: Callable[[], Any]) -> tuple[Any, ...]:
    """What a function from outside gives for results of these types; EvaluationError where it fails or gives others."""
    return as_results(f"{what} returned", types, ask_outside(what, function))


def ask_outside(what: str, function: Callable[[], Any]) -> Any:
    """What a function from outside gives; EvaluationError where it fails."""
    try:
        return function()
    except StablehloError:
        raise
    except Exception as error:
        reason = "".join(traceback.format_exception_only(error)).strip()
        raise EvaluationError(f"{what} raised {reason}") from error
