"""Quantized tensors, element by element, following the spec's "Quantization computations".

A quantized tensor is represented by the array of its stored integers, together with its element type.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec_checks.oracles import elementwise
from spec_checks.oracles.notation import Array, DType, Index, index_space
from spec_checks.oracles.rounding import converted, number, round_to


@dataclass(frozen=True)
class Quantized:
    """The spec's QuantizedTensorElementType. `dimension` is None if per-tensor."""

    storage_type: DType
    expressed_type: DType
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    storage_min: int
    storage_max: int
    dimension: int | None = None

    def scale(self, index: Index) -> Any:
        """`compute_scales` at an index."""
        return round_to(self.expressed_type, Fraction(self.scales[self._slice(index)]))

    def zero_point(self, index: Index) -> int:
        """`compute_zero_points` at an index."""
        return self.zero_points[self._slice(index)]

    def _slice(self, index: Index) -> int:
        return 0 if self.dimension is None else index[self.dimension]


def dequantize(x: Array, type: Quantized) -> Array:
    """`convert(x_storage - zero_points, expressed_type(x)) * scales`, with an exact difference."""
    result = np.empty(x.shape, type.expressed_type)
    for index in index_space(x.shape):
        difference = converted(type.expressed_type, int(number(x[index])) - type.zero_point(index))
        result[index] = _one(elementwise.multiply, difference, type.scale(index))
    return result


def quantize(x: Array, type: Quantized) -> Array:
    """`convert(round_nearest_even(clamp(min, x / scales + zero_points, max)), storage_type)`, each step rounded."""
    low, high = (converted(type.expressed_type, bound) for bound in (type.storage_min, type.storage_max))
    result = np.empty(x.shape, type.storage_type)
    for index in index_space(x.shape):
        zero_point = converted(type.expressed_type, type.zero_point(index))
        scaled = _one(elementwise.divide, x[index], type.scale(index))
        moved = _one(elementwise.add, scaled, zero_point)
        rounded = _one(elementwise.round_nearest_even, _one(elementwise.clamp, low, moved, high))
        result[index] = _one(lambda y: elementwise.convert(y, result=(y.shape, type.storage_type)), rounded)
    return result


def _one(op: Callable[..., Array], *elements: Any) -> Any:
    """Return the version of an op for 0-dimensional tensors."""
    return op(*[np.array(x) for x in elements])[()]


def uniform_quantize(operand: Array, result: Quantized, operand_type: Quantized | None = None) -> Array:
    """Quantize floats, or quantized elements of `operand_type`, with the parameters of the result."""
    return quantize(operand if operand_type is None else dequantize(operand, operand_type), result)


def uniform_dequantize(operand: Array, operand_type: Quantized) -> Array:
    """`result = dequantize(operand)`."""
    return dequantize(operand, operand_type)


def dequantize_op_quantize(
    op: Callable[..., Array], operands: list[tuple[Array, Quantized | None]], result: Quantized | None
) -> Array:
    """Apply an op to expressed types; operands and results without a quantized type are unchanged."""
    floats = [x if type is None else dequantize(x, type) for x, type in operands]
    value = op(*floats)
    return value if result is None else quantize(value, result)
