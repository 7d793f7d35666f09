"""Which types are well-formed (spec, "Types"), independent of the op that uses them."""

from __future__ import annotations

import sys
from functools import cache

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

# The least positive and the greatest finite number of expressed types, between which scales are.
ANY_SCALE = (2.0**-1074, sys.float_info.max)
SCALES: dict[Type, tuple[float, float]] = {
    FLOATS["f16"]: (2.0**-24, 2.0**16 - 2.0**5),
    FLOATS["bf16"]: (2.0**-133, 2.0**128 - 2.0**120),
    FLOATS["f32"]: (2.0**-149, 2.0**128 - 2.0**104),
}


@cache
def ill_formed_reason(type: Type) -> str | None:
    """Return why a type is ill-formed; None if it is well-formed."""
    match type:
        case TensorType() | BufferType():
            return _element_type_reason(type.element_type) or _quantization_dimension_reason(type)
        case QuantizedType():
            return _quantized_reason(type)
        case TupleType() | FutureType():
            return next(filter(None, map(ill_formed_reason, type.elements)), None)
    return None


def _element_type_reason(element: Type) -> str | None:
    match element:
        case QuantizedType():
            return _quantized_reason(element)
        case BooleanType() | IndexType():
            return None
        case IntegerType(width) if width in INTEGER_WIDTHS:
            return None
        case FloatType() if element not in NOT_IN_THE_SPEC:
            return None
        case ComplexType(part) if part in COMPLEX_PARTS:
            return None
    return f"unsupported element type {element}"


def _quantized_reason(q: QuantizedType) -> str | None:
    """Return the constraint that a quantized element type violates; the parser ensures C1, C2, C4, C8 and C9."""
    low, high = q.storage_type.range
    least, greatest = SCALES.get(q.expressed_type, ANY_SCALE)
    per_axis = q.quantization_dimension is not None
    constraints = {
        "expressed_type is a floating-point type": isinstance(q.expressed_type, FloatType),
        "storage_type is an integer type, signless or unsigned": (
            q.storage_type.width in INTEGER_WIDTHS and q.storage_type.signedness != "s"
        ),
        "(C3): min_value(storage_type) <= storage_min < storage_max <= max_value(storage_type)": (
            low <= q.storage_min < q.storage_max <= high
        ),
        "(C5): 0 < scales": all(least <= scale for scale in q.scales),
        "(C6): is_finite(scales...)": all(scale <= greatest for scale in q.scales),
        "(C7): storage_min <= zero_points <= storage_max": (
            all(q.storage_min <= zero_point <= q.storage_max for zero_point in q.zero_points)
        ),
        "(C10): size(scales) = 1": per_axis or len(q.scales) == 1,
        "(C11): 0 <= quantization_dimension": not per_axis or 0 <= (q.quantization_dimension or 0),
    }
    return next((f"{q} violates {constraint}" for constraint, holds in constraints.items() if not holds), None)


def _quantization_dimension_reason(type: TensorType | BufferType) -> str | None:
    """Return which of C12 and C13, on tensors that are quantized per axis, a type violates."""
    element = type.element_type
    if not isinstance(element, QuantizedType) or element.quantization_dimension is None:
        return None
    if element.quantization_dimension >= len(type.shape):
        return f"{type} violates (C12): quantization_dimension < rank(self)"
    if type.shape[element.quantization_dimension] not in (None, len(element.scales)):
        return f"{type} violates (C13): dim(self, quantization_dimension) = size(scales)"
    return None
