"""Values that the host passes to a program: arguments, data of the infeed, results of Python callbacks."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import TypeGuard, TypeVar

import numpy as np

from stablehlo_ref.arrays.interop import to_array
from stablehlo_ref.define.spec import bounds
from stablehlo_ref.diagnostics import EvaluationError, StablehloError
from stablehlo_ref.ir.arrays import Array, DType, RuntimeValue
from stablehlo_ref.ir.types import (
    BooleanType,
    BufferType,
    ComplexType,
    FloatType,
    IndexType,
    IntegerType,
    TensorType,
    TokenType,
    TupleType,
    Type,
    tensor_type,
)
from stablehlo_ref.numerics.dtypes import FLOAT_DTYPES, INTEGER_DTYPES, numpy_dtype
from stablehlo_ref.numerics.layout import default_buffers

T = TypeVar("T")
SCALARS = (BooleanType, IntegerType, IndexType, FloatType, ComplexType)


def as_value(type: Type, value: object) -> RuntimeValue:
    """Return a host value as a runtime value of `type`; ValueError if dtype, shape or structure differ.

    Arrays, tensors of PyTorch and objects with `__array__` or `__dlpack__` must have the dtype of `type`, or one of
    the same kind all of whose numbers it has: int32 for i64, bfloat16 for f32. Python scalars and nested lists of them
    have no dtype: they are converted where that changes no number. Scalars of
    MLIR, such as `i64` or `index`, are passed as tensors without dimensions.
    """
    if isinstance(type, SCALARS):
        return as_value(tensor_type((), type), value)
    if isinstance(type, TokenType):
        return None
    if isinstance(type, TupleType):
        if not isinstance(value, tuple | list) or len(value) != len(type.elements):
            raise ValueError(f"expected a tuple of {len(type.elements)} for {type}")
        return tuple(map(as_value, type.elements, value))
    if not isinstance(type, TensorType | BufferType):
        raise ValueError(f"values of type {type} cannot be passed")
    try:
        array = _list_as_array(value) if isinstance(value, list | tuple) else _as_array(value)
    except Exception as error:  # array-like objects may raise anything
        raise ValueError(f"expected an array for {type}: {error}") from None
    if _has_mask(value):  # which np.asarray has dropped
        raise ValueError(f"expected an array for {type}, got a masked array; numpy.ma.filled removes the mask")
    dtype = numpy_dtype(type.element_type)
    if array.dtype != dtype and isinstance(value, bool | int | float | complex | list | tuple):
        array = _converted(type, array, dtype)
    if array.dtype != dtype and not _is_wider(dtype, array.dtype):
        raise ValueError(f"expected dtype {dtype} for {type}, got {array.dtype}{_cast(dtype, array.dtype)}")
    if not fits(type, array.shape):
        declared = str(type.shape).replace("None", "?")
        raise ValueError(f"expected shape {declared} for {type}, got {array.shape}")
    try:
        array = array.astype(dtype, copy=False)
    except MemoryError as error:  # of a view whose elements are repeated
        raise ValueError(f"out of memory: {error}") from None
    return array if array.ndim else array[()]


def _list_as_array(value: object) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy warns of masked elements, which are an error later
        return _as_array(value)


def _has_mask(value: object) -> bool:
    """Return whether a value that numpy has converted is a masked array, or a list with one in it."""
    if isinstance(value, list | tuple):
        return any(map(_has_mask, value))
    return isinstance(value, np.ma.MaskedArray)


def _as_array(value: object) -> Array:
    array: Array
    if hasattr(value, "detach"):
        array = np.asarray(to_array(value))
    elif hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        array = np.from_dlpack(value)
    else:
        array = np.asarray(value)
    return array if array.flags.aligned else array.copy()  # BLAS sums in another order if it is not


def _is_wider(dtype: DType, other: DType) -> bool:
    """Return whether `dtype` has all numbers of `other`, of the same kind: integers, floats or complex numbers."""
    if other not in INTEGER_DTYPES + FLOAT_DTYPES and other.kind != "c":
        return False
    is_same_kind = (dtype in INTEGER_DTYPES, dtype.kind == "c") == (other in INTEGER_DTYPES, other.kind == "c")
    return is_same_kind and dtype != np.bool and bool(np.can_cast(other, dtype, "safe"))


def _cast(dtype: DType, other: DType) -> str:
    """Return the cast that a caller may write, for an array of numbers.

    Elements without a type are those of a type of ml_dtypes that numpy has saved and loaded.
    """
    is_raw = other.type is np.void
    if other.kind not in "biufcV" or (is_raw and (other.names or other.itemsize != dtype.itemsize)):
        return ""
    module = "np" if dtype.isbuiltin == 1 else "ml_dtypes"
    name = "bool" if dtype == np.bool else dtype.name
    return f"; to convert it, write x.{'view' if is_raw else 'astype'}({module}.{name})"


def _converted(type: TensorType | BufferType, array: Array, dtype: DType) -> Array:
    """Return Python numbers as an array of `dtype`, or ValueError if one of them has no such value."""
    if array.dtype.kind not in "biufc" or (array.dtype.kind == "b") != (dtype.kind == "b"):
        return array
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy warns of the imaginary parts that it drops
        converted = array.astype(dtype)
    for number, result in zip(array.ravel().tolist(), converted.ravel().tolist()):
        is_nan = number != number and result != result
        if number != result and not is_nan:  # Python compares numbers of different types exactly
            raise ValueError(f"{number} has no exact {dtype} for {type}; round it yourself: np.{dtype}({number})")
    return converted


def fits(type: TensorType | BufferType, shape: tuple[int, ...]) -> bool:
    """Return whether a shape has the declared sizes of `type` and is within its bounds."""
    return len(shape) == len(type.shape) and all(
        declared in (None, size) and (bound is None or size <= bound)
        for declared, bound, size in zip(type.shape, bounds(type), shape)
    )


def as_results(what: str, types: Sequence[Type], values: object) -> tuple[RuntimeValue, ...]:
    """Return a sequence of host values as runtime values of `types` that no other code can write to.

    Raises EvaluationError for other values; `what` is the start of the message and says where they are from.
    """
    if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str | bytes):
        raise EvaluationError(f"{what} {values!r}, not a sequence of values")
    if len(values) != len(types):
        raise EvaluationError(f"{what} {len(values)} values, not {len(types)}")
    return tuple(_as_result(f"{what} value #{i}", t, value) for i, (t, value) in enumerate(zip(types, values)))


def _as_result(what: str, type: Type, value: object) -> RuntimeValue:
    if _is_of_type(value, type):
        return unshared(value)
    try:
        return unshared(as_value(type, value))
    except ValueError as error:
        raise EvaluationError(f"{what}: {error}") from None


def _is_of_type(value: object, type: Type) -> TypeGuard[Array]:
    """Return whether a value is an array with dimensions exactly as `type` declares it, which needs no conversion."""
    if value.__class__ is not np.ndarray or not isinstance(value, np.ndarray) or not isinstance(type, TensorType):
        return False
    is_same = 0 < value.ndim and value.shape == type.shape and value.dtype == numpy_dtype(type.element_type)
    return is_same and value.flags.aligned


def unshared(value: RuntimeValue) -> RuntimeValue:
    """Return a value that shares no writable memory: writable arrays are copied."""
    if isinstance(value, tuple):
        return tuple(map(unshared, value))
    return value.copy() if isinstance(value, np.ndarray) and value.flags.writeable else value


def read_only(value: RuntimeValue) -> RuntimeValue:
    """Return views of the arrays in a value that cannot be written to, nor be made writeable."""
    if isinstance(value, tuple):
        return tuple(map(read_only, value))
    if isinstance(value, np.ndarray) and value.flags.writeable:
        return np.asarray(as_numpy_saves(value).data.toreadonly()).view(value.dtype)
    return value


def callback_results(what: str, types: Sequence[Type], callback: Callable[[], object]) -> tuple[RuntimeValue, ...]:
    """Call a callback that returns results of `types`; EvaluationError if it fails or returns other values."""
    with default_buffers():  # so that sums of users are the same as elsewhere
        values = run_callback(what, callback)
    return as_results(f"{what} returned", types, values)


def run_callback(what: str, callback: Callable[[], T]) -> T:
    """Call a callback; EvaluationError if it raises, with `what` as the start of the message."""
    try:
        return callback()
    except StablehloError:
        raise
    except Exception as error:
        reason = "".join(traceback.format_exception_only(error)).strip()
        raise EvaluationError(f"{what} raised {reason}") from error


def as_numpy_saves(array: Array) -> Array:
    """Return an array that `numpy.load` reads without ml_dtypes: element types that numpy lacks become their bits."""
    return array if array.dtype.isbuiltin == 1 else array.view(f"u{array.dtype.itemsize}")


def is_saved_as(saved: DType, dtype: DType) -> bool:
    """Return whether `saved`, void or unsigned integers, has the bits of a dtype that numpy lacks."""
    return dtype.isbuiltin != 1 and saved.kind in "Vu" and saved.itemsize == dtype.itemsize


def as_numpy_loads(array: Array, dtype: DType) -> Array:
    """Return an array that was saved as its bits with its dtype; any other as it is."""
    return array.view(dtype) if is_saved_as(array.dtype, dtype) else array
