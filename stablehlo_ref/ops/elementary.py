"""Elementwise ops on floating-point and complex numbers: elementary functions and rounding to integers."""

from __future__ import annotations

import math
from typing import Annotated, TypeAlias

from stablehlo_ref.define.attribute_codecs import StructCodec
from stablehlo_ref.define.facts import STEPS, between_poles_of_tangent, function, is_minus_one, is_zero, rounds
from stablehlo_ref.define.op import Attr, In, Out
from stablehlo_ref.define.type_constraints import complex_tensor, float_tensor, per_tensor_quantized
from stablehlo_ref.ir.attributes import Attribute, FloatAttribute, IntegerAttribute, StructAttribute
from stablehlo_ref.numerics import complex_elementary, elementary, floats
from stablehlo_ref.ops.elementwise import BinaryElementwise, UnaryElementwise

MODES = ("DEFAULT", "HIGHEST", "TOLERANCE")


class ResultAccuracyCodec(StructCodec):
    """`#stablehlo.result_accuracy<atol = ..., rtol = ..., ulps = ..., mode = ...>`."""

    def read(self, attribute: Attribute) -> StructAttribute | None:
        struct = super().read(attribute)
        if struct is None:
            return None
        if unknown := struct.fields.keys() - {"atol", "rtol", "ulps", "mode"}:
            raise ValueError(f"has no field {sorted(unknown)[0]!r}: expected atol, rtol, ulps and mode")
        given = [struct.fields.get(name, IntegerAttribute(0)) for name in ("atol", "rtol", "ulps")]
        tolerances = [number.value for number in given if isinstance(number, IntegerAttribute | FloatAttribute)]
        if len(tolerances) < len(given):
            raise ValueError("must have tolerances that are numbers")
        if any(math.copysign(1, tolerance) < 0 for tolerance in tolerances):
            raise ValueError("must have tolerances that are not negative")
        if tolerances[2] >= 1 << 63:
            raise ValueError("must have ulps that fit in 64 bits, signed")
        mode = getattr(struct.fields.get("mode"), "value", "DEFAULT")
        if mode not in MODES:
            raise ValueError(f"must have one of the modes {', '.join(MODES)}, got {mode}")
        if mode != "TOLERANCE" and any(tolerances):
            raise ValueError(f"must have tolerances of zero with the mode {mode}")
        return struct


ResultAccuracy: TypeAlias = Annotated[StructAttribute, ResultAccuracyCodec("stablehlo.result_accuracy")]


class ElementaryFunction(UnaryElementwise, facts=function(monotone=True)):
    """Base of the elementary functions.

    `result_accuracy` is ignored: results always have the accuracy that docs/choices.md#accuracy states.
    """

    operand = In(float_tensor | complex_tensor | per_tensor_quantized)  # I1
    result_accuracy = Attr(ResultAccuracy, default=None)
    result = Out(float_tensor | complex_tensor | per_tensor_quantized)


class Cbrt(ElementaryFunction, op="cbrt"):
    """Compute the cube root of each element."""

    floating = elementary.cbrt
    complex = complex_elementary.cbrt


class Cosine(ElementaryFunction, op="cosine", facts=function(slope=1.0, spread=2.0)):
    """Compute the cosine of each element."""

    floating = elementary.cosine
    complex = complex_elementary.cosine


class Exponential(ElementaryFunction, op="exponential", facts=function(monotone=True, underflow="always")):
    """Compute the exponential of each element."""

    floating = elementary.exponential
    complex = complex_elementary.exponential


class ExponentialMinusOne(ElementaryFunction, op="exponential_minus_one"):
    """Compute the exponential of each element minus one, accurate near zero."""

    floating = elementary.exponential_minus_one
    complex = complex_elementary.exponential_minus_one


class Log(ElementaryFunction, op="log", facts=function(monotone=True, pole=is_zero)):
    """Compute the natural logarithm of each element."""

    floating = elementary.log
    complex = complex_elementary.log


class LogPlusOne(ElementaryFunction, op="log_plus_one", facts=function(monotone=True, pole=is_minus_one)):
    """Compute the natural logarithm of each element plus one, accurate near zero."""

    floating = elementary.log_plus_one
    complex = complex_elementary.log_plus_one


class Logistic(ElementaryFunction, op="logistic", facts=function(monotone=True, underflow="always")):
    """Compute the logistic function `1 / (1 + exp(-x))` of each element."""

    floating = elementary.logistic
    complex = complex_elementary.logistic


class Rsqrt(ElementaryFunction, op="rsqrt", facts=function(monotone=True, pole=is_zero)):
    """Compute the reciprocal square root of each element."""

    floating = elementary.rsqrt
    complex = complex_elementary.rsqrt


class Sine(ElementaryFunction, op="sine", facts=function(slope=1.0, spread=2.0)):
    """Compute the sine of each element."""

    floating = elementary.sine
    complex = complex_elementary.sine


class Sqrt(ElementaryFunction, op="sqrt", facts=rounds(monotone=True)):
    """Compute the square root of each element."""

    floating = floats.sqrt
    complex = complex_elementary.sqrt


class Tan(ElementaryFunction, op="tan", facts=function(monotone=between_poles_of_tangent)):
    """Compute the tangent of each element."""

    floating = elementary.tan
    complex = complex_elementary.tan


class Tanh(ElementaryFunction, op="tanh"):
    """Compute the hyperbolic tangent of each element."""

    floating = elementary.tanh
    complex = complex_elementary.tanh


class Atan2(BinaryElementwise, op="atan2", facts=function(underflow="unless zero")):
    """Compute the angle of the point (`rhs`, `lhs`), between -pi and pi."""

    lhs = In(float_tensor | complex_tensor | per_tensor_quantized)  # I1
    rhs = In(float_tensor | complex_tensor | per_tensor_quantized)  # I2
    result = Out(float_tensor | complex_tensor | per_tensor_quantized)

    floating = elementary.atan2
    complex = complex_elementary.atan2


# --- rounding -------------------------------------------------------------------------------------------------------


class Rounding(UnaryElementwise, facts=STEPS):
    """Base of the ops that round floats to integers."""

    operand = In(float_tensor | per_tensor_quantized)  # I1
    result = Out(float_tensor | per_tensor_quantized)


class Ceil(Rounding, op="ceil"):
    """Round each element up to an integer."""

    floating = floats.ceil


class Floor(Rounding, op="floor"):
    """Round each element down to an integer."""

    floating = floats.floor


class RoundNearestAfz(Rounding, op="round_nearest_afz"):
    """Round each element to the nearest integer, ties away from zero."""

    floating = floats.round_nearest_afz


class RoundNearestEven(Rounding, op="round_nearest_even"):
    """Round each element to the nearest integer, ties to even."""

    floating = floats.round_nearest_even
