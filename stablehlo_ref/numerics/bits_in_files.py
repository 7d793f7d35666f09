"""Elements in files: those of a dtype that numpy lacks, such as bfloat16, are saved as their bits."""

from __future__ import annotations

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype


def to_bits(array: Array) -> Array:
    """Return a view that numpy can save and load without ml_dtypes: unsigned integers if it lacks the dtype."""
    return array if array.dtype.isbuiltin == 1 else array.view(f"u{array.dtype.itemsize}")


def is_bits(stored: DType, dtype: DType) -> bool:
    """Return whether elements of `dtype` are saved as `stored`: unsigned integers or void of their size."""
    return dtype.isbuiltin != 1 and stored.isbuiltin != 2 and stored.kind in "Vu" and stored.itemsize == dtype.itemsize


def from_bits(type: Type, array: Array) -> Array:
    """Return an array from a file with the element type of `type`, if it has the bits of such elements."""
    if not isinstance(type, TensorType):
        return array
    dtype = numpy_dtype(type.element_type)
    return array.view(dtype) if is_bits(array.dtype, dtype) else array
