"""What a type must be by itself (spec, "Types"), whatever op it stands at."""

from __future__ import annotations

from functools import cache
from typing import Any

from stablehlo_ref.ir.types import (
    FLOATS,
    BooleanType,
    BufferType,
    ComplexType,
    FloatType,
    FutureType,
    IndexType,
    IntegerType,
    QuantizedType,
    TensorType,
    TupleType,
    Type,
)

INTEGER_WIDTHS = (2, 4, 8, 16, 32, 64)
COMPLEX_PARTS = (FLOATS["f32"], FLOATS["f64"])
NOT_IN_THE_SPEC = (FLOATS["f80"], FLOATS["f128"])

# A scale is a number of the expressed type: up to the first bound it is zero there, from the second on it is infinite.
ANY_SCALE = (0.0, float("inf"))
SCALES: dict[Type, tuple[float, float]] = {
    FLOATS["f16"]: (2.0**-25, 2.0**16 - 2.0**4),
    FLOATS["bf16"]: (2.0**-134, 2.0**128 - 2.0**119),
    FLOATS["f32"]: (2.0**-150, 2.0**128 - 2.0**103),
}


@cache
def flaw(type: Type) -> str | None:
    """What is wrong with a type, None where nothing is."""
    match type:
        case TensorType() | BufferType():
            return _element_flaw(type.element_type) or _axis_flaw(type)
        case TupleType() | FutureType():
            return next(filter(None, map(flaw, type.elements)), None)
    return None


def _element_flaw(element: Type) -> str | None:
    match element:
        case QuantizedType():
            return _quantized_flaw(element)
        case BooleanType() | IndexType():
            return None
        case IntegerType(width) if width in INTEGER_WIDTHS:
            return None
        case FloatType() if element not in NOT_IN_THE_SPEC:
            return None
        case ComplexType(part) if part in COMPLEX_PARTS:
            return None
    return f"there is no element type {element}"


def _quantized_flaw(q: QuantizedType) -> str | None:
    """The constraint that a quantized element type breaks; the parser sees to C1, C2, C4, C8 and C9."""
    low, high = q.storage_type.range
    zero, infinity = SCALES.get(q.expressed_type, ANY_SCALE)
    per_axis = q.quantization_dimension is not None
    constraints = {
        "expressed_type is a floating-point type": isinstance(q.expressed_type, FloatType),
        "storage_type is an integer type": q.storage_type.width in INTEGER_WIDTHS,
        "(C3): min_value(storage_type) <= storage_min < storage_max <= max_value(storage_type)": (
            low <= q.storage_min < q.storage_max <= high
        ),
        "(C5): 0 < scales": all(zero < scale for scale in q.scales),
        "(C6): is_finite(scales...)": all(scale < infinity for scale in q.scales),
        "(C7): storage_min <= zero_points <= storage_max": (
            all(q.storage_min <= zero_point <= q.storage_max for zero_point in q.zero_points)
        ),
        "(C10): size(scales) = 1": per_axis or len(q.scales) == 1,
        "(C11): 0 <= quantization_dimension": not per_axis or 0 <= (q.quantization_dimension or 0),
    }
    return next((f"{q} breaks {constraint}" for constraint, holds in constraints.items() if not holds), None)


def _axis_flaw(type: Any) -> str | None:
    """(C12) and (C13), of tensors that are quantized along an axis."""
    axis = getattr(type.element_type, "quantization_dimension", None)
    if axis is None:
        return None
    if axis >= len(type.shape):
        return f"{type} breaks (C12): quantization_dimension < rank(self)"
    if type.shape[axis] not in (None, len(type.element_type.scales)):
        return f"{type} breaks (C13): dim(self, quantization_dimension) = size(scales)"
    return None
