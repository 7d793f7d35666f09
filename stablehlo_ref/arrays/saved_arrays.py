"""Arrays as numpy's files have them: element types that numpy lacks are saved as their bits."""

from __future__ import annotations

from stablehlo_ref.ir.arrays import Array, DType


def as_numpy_saves(array: Array) -> Array:
    """Return an array that `numpy.load` reads without ml_dtypes: element types that numpy lacks become their bits."""
    return array if array.dtype.isbuiltin == 1 else array.view(f"u{array.dtype.itemsize}")


def is_saved_as(saved: DType, dtype: DType) -> bool:
    """Return whether `saved`, void or unsigned integers, has the bits of a dtype that numpy lacks."""
    return dtype.isbuiltin != 1 and saved.kind in "Vu" and saved.itemsize == dtype.itemsize


def as_numpy_loads(array: Array, dtype: DType) -> Array:
    """Return an array that was saved as its bits with its dtype; any other as it is."""
    return array.view(dtype) if is_saved_as(array.dtype, dtype) else array
