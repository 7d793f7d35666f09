"""Types of values in batched regions, whose arrays have a leading axis of lanes."""

from __future__ import annotations

from dataclasses import replace

from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.types import QuantizedType, TensorType, Type


def batched_type(type: Type, lanes: int) -> Type:
    """Return the type with a leading axis of size `lanes`."""
    if not isinstance(type, TensorType):
        raise UnsupportedError(f"values of type {type} cannot be batched")
    element = type.element_type
    if isinstance(element, QuantizedType) and element.quantization_dimension is not None:
        element = replace(element, quantization_dimension=element.quantization_dimension + 1)
    return TensorType((lanes, *type.shape), element)
