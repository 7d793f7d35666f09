"""Quantized elements as stored integers and as the floats they stand for (spec, "Quantization computations")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stablehlo_ref.numerics import floats
from stablehlo_ref.numerics.conversion import convert
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.spec import (
    expressed_type,
    is_quantized,
    quantization_dimension,
    rank,
    scales,
    storage_max,
    storage_min,
    tensor_type,
    zero_points,
)

WIDE = np.dtype(np.int64)  # holds the difference of any two stored integers


def dequantize(x: Any) -> Callable[[Any], Any]:
    """From stored integers of the quantized tensor type `x` to its expressed type: `(i - zero_point) * scale`."""
    dtype = numpy_dtype(expressed_type(x))
    stored_to_wide, wide_to_expressed = convert(numpy_dtype(x.element_type), WIDE), convert(WIDE, dtype)
    multiply = floats.multiply(dtype)
    zero_point, scale = _along_axis(x, zero_points(x), WIDE), _along_axis(x, scales(x), dtype)

    def run(stored: Any) -> Any:
        return multiply(wide_to_expressed(stored_to_wide(stored) - zero_point), scale)

    return run


def quantize(x: Any) -> Callable[[Any], Any]:
    """From floats of the expressed type of `x` to stored integers: scaled, moved, clamped, rounded to nearest even."""
    dtype = numpy_dtype(expressed_type(x))
    divide, add, round_even = floats.divide(dtype), floats.add(dtype), floats.round_nearest_even(dtype)
    clamp, expressed_to_stored = floats.clamp(dtype), convert(dtype, numpy_dtype(x.element_type))
    zero_point, scale = _along_axis(x, zero_points(x), dtype), _along_axis(x, scales(x), dtype)
    low, high = _as(dtype, storage_min(x)), _as(dtype, storage_max(x))

    def run(expressed: Any) -> Any:
        return expressed_to_stored(round_even(clamp(low, add(divide(expressed, scale), zero_point), high)))

    return run


def to_destination_type(given: Any, wanted: Any) -> Callable[[Any], Any]:
    """From one element type to another, neither of them quantized per axis (spec, "Construction of values")."""
    if given == wanted:
        return lambda x: x
    express = dequantize(tensor_type((), given)) if is_quantized(given) else None
    store = quantize(tensor_type((), wanted)) if is_quantized(wanted) else None
    if express and store:
        return lambda x: store(express(x))
    return express or store or convert(numpy_dtype(given), numpy_dtype(wanted))


def _along_axis(x: Any, values: tuple[Any, ...], dtype: np.dtype[Any]) -> Any:
    """A parameter for each slice of the quantization dimension, shaped to spread over the tensor; else one."""
    axis = quantization_dimension(x)
    if axis is None:
        return _as(dtype, values[0])
    return _as(dtype, values).reshape([-1 if d == axis else 1 for d in range(rank(x))])


def _as(dtype: np.dtype[Any], values: Any) -> Any:
    wide = np.asarray(values)
    return np.asarray(convert(wide.dtype, dtype)(wide))
