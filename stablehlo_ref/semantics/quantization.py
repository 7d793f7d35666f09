"""Quantized tensors, element by element, following the spec's "Quantization computations".

A quantized tensor is represented by the array of its stored integers, together with its element type.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from stablehlo_ref.semantics import elementwise
from stablehlo_ref.semantics.elements import each_element
from stablehlo_ref.semantics.notation import Array, Dims, DType
from stablehlo_ref.semantics.rounding import converted, number, round_to


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

    def compute_scales(self, shape: Dims) -> Array:
        """Return the scale of each element of a tensor, in the expressed type."""
        return self._spread(np.array([round_to(self.expressed_type, Fraction(s)) for s in self.scales]), shape)

    def compute_zero_points(self, shape: Dims) -> Array:
        """Return the zero point of each element of a tensor, as Python integers."""
        return self._spread(np.array(self.zero_points, object), shape)

    def _spread(self, parameters: Array, shape: Dims) -> Array:
        """Return the parameter of each element's slice."""
        slices = [-1 if axis == self.dimension else 1 for axis in range(len(shape))]
        return np.broadcast_to(parameters.reshape(slices), shape)


def dequantize(x: Array, type: Quantized) -> Array:
    """`convert(x_storage - zero_points, expressed_type(x)) * scales`, with an exact difference."""

    def difference(element: Any, zero_point: int) -> Any:
        return converted(type.expressed_type, int(number(element)) - zero_point)

    zero_points = type.compute_zero_points(x.shape)
    differences = each_element(difference, x, zero_points, element_type=type.expressed_type)
    return elementwise.multiply(differences, type.compute_scales(x.shape))


def quantize(x: Array, type: Quantized) -> Array:
    """`convert(round_nearest_even(clamp(min, x / scales + zero_points, max)), storage_type)`, each step rounded."""
    low, high = (np.array(converted(type.expressed_type, n)) for n in (type.storage_min, type.storage_max))
    zero_points = type.compute_zero_points(x.shape)
    zero_points = each_element(
        lambda n: converted(type.expressed_type, n), zero_points, element_type=type.expressed_type
    )
    moved = elementwise.add(elementwise.divide(x, type.compute_scales(x.shape)), zero_points)
    rounded = elementwise.round_nearest_even(elementwise.clamp(low, moved, high))
    return elementwise.convert(rounded, result=(x.shape, type.storage_type))


def uniform_quantize(operand: Array, result_type: Quantized, operand_type: Quantized | None = None) -> Array:
    """Quantize floats, or quantized elements of `operand_type`, with the parameters of the result."""
    return quantize(operand if operand_type is None else dequantize(operand, operand_type), result_type)


def to_destination_type(x: Array, type: DType | Quantized, destination_type: DType | Quantized) -> Array:
    """Convert a tensor from one element type to another, as reducers ask for: by quantization if they are quantized."""
    if type == destination_type:
        return x
    if isinstance(type, Quantized):
        x = dequantize(x, type)
    if isinstance(destination_type, Quantized):
        return quantize(x, destination_type)
    return elementwise.convert(x, result=(x.shape, destination_type))


def uniform_dequantize(operand: Array, operand_type: Quantized) -> Array:
    """`result = dequantize(operand)`."""
    return dequantize(operand, operand_type)


def dequantize_op_quantize(
    op: Callable[..., Any], operands: Sequence[tuple[Array, Quantized | None]], *results: Quantized | None
) -> Any:
    """Apply an op to expressed types; operands and results without a quantized type are unchanged.

    So if no result has one, this is `hybrid_dequantize_then_op`.
    """
    floats = [x if type is None else dequantize(x, type) for x, type in operands]
    returned = op(*floats)
    values = returned if len(results) > 1 else (returned,)
    stored = tuple(x if type is None else quantize(x, type) for x, type in zip(values, results, strict=True))
    return stored if len(results) > 1 else stored[0]
