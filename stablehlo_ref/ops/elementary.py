"""Elementwise ops on floating-point and complex numbers: elementary functions, and rounding to integers."""

from __future__ import annotations

from typing import Any

from stablehlo_ref.define import Attr, In, Out
from stablehlo_ref.ir.attributes import EnumAttribute, StructAttribute
from stablehlo_ref.kinds import Struct, complex_tensor, float_tensor, per_tensor_quantized
from stablehlo_ref.numerics import complex_elementary, elementary, floats
from stablehlo_ref.ops.elementwise import BinaryElementwise, UnaryElementwise


class ResultAccuracy(Struct):
    """`#stablehlo.result_accuracy<atol = ..., rtol = ..., ulps = ..., mode = ...>`."""

    def decode(self, attribute: Any) -> StructAttribute:
        struct = super().decode(attribute)
        match struct.fields.get("mode"):
            case EnumAttribute(value=("DEFAULT" | "HIGHEST") as mode):
                if any(getattr(struct.fields.get(name), "value", 0) for name in ("atol", "rtol", "ulps")):
                    raise ValueError(f"must have tolerances of zero with the mode {mode}")
        return struct


class ElementaryFunction(UnaryElementwise):
    """Results are as near to the exact ones as can be had at speed, whatever `result_accuracy` allows."""

    operand = In(float_tensor | complex_tensor | per_tensor_quantized)  # I1
    result_accuracy = Attr(ResultAccuracy("stablehlo.result_accuracy"), default=None)
    result = Out(float_tensor | complex_tensor | per_tensor_quantized)


class Cbrt(ElementaryFunction, op="cbrt"):
    """The cubic root of each element."""

    floating = elementary.cbrt
    complex = complex_elementary.cbrt


class Cosine(ElementaryFunction, op="cosine"):
    """The cosine of each element."""

    floating = elementary.cosine
    complex = complex_elementary.cosine


class Exponential(ElementaryFunction, op="exponential"):
    """e to the power of each element."""

    floating = elementary.exponential
    complex = complex_elementary.exponential


class ExponentialMinusOne(ElementaryFunction, op="exponential_minus_one"):
    """e to the power of each element, minus one, exact near zero."""

    floating = elementary.exponential_minus_one
    complex = complex_elementary.exponential_minus_one


class Log(ElementaryFunction, op="log"):
    """The natural logarithm of each element."""

    floating = elementary.log
    complex = complex_elementary.log


class LogPlusOne(ElementaryFunction, op="log_plus_one"):
    """The natural logarithm of one plus each element, exact near zero."""

    floating = elementary.log_plus_one
    complex = complex_elementary.log_plus_one


class Logistic(ElementaryFunction, op="logistic"):
    """1 / (1 + exp(-x)) of each element."""

    floating = elementary.logistic
    complex = complex_elementary.logistic


class Rsqrt(ElementaryFunction, op="rsqrt"):
    """The reciprocal of the square root of each element."""

    floating = elementary.rsqrt
    complex = complex_elementary.rsqrt


class Sine(ElementaryFunction, op="sine"):
    """The sine of each element."""

    floating = elementary.sine
    complex = complex_elementary.sine


class Sqrt(ElementaryFunction, op="sqrt"):
    """The square root of each element."""

    floating = floats.sqrt
    complex = complex_elementary.sqrt


class Tan(ElementaryFunction, op="tan"):
    """The tangent of each element."""

    floating = elementary.tan
    complex = complex_elementary.tan


class Tanh(ElementaryFunction, op="tanh"):
    """The hyperbolic tangent of each element."""

    floating = elementary.tanh
    complex = complex_elementary.tanh


class Atan2(BinaryElementwise, op="atan2"):
    """The angle of the point (`rhs`, `lhs`), between -pi and pi."""

    lhs = In(float_tensor | complex_tensor | per_tensor_quantized)  # I1
    rhs = In(float_tensor | complex_tensor | per_tensor_quantized)  # I2
    result = Out(float_tensor | complex_tensor | per_tensor_quantized)

    floating = elementary.atan2
    complex = complex_elementary.atan2


# --- rounding -------------------------------------------------------------------------------------------------------


class Rounding(UnaryElementwise):
    operand = In(float_tensor | per_tensor_quantized)  # I1
    result = Out(float_tensor | per_tensor_quantized)


class Ceil(Rounding, op="ceil"):
    """The smallest integer that is not below each element."""

    floating = floats.ceil


class Floor(Rounding, op="floor"):
    """The largest integer that is not above each element."""

    floating = floats.floor


class RoundNearestAfz(Rounding, op="round_nearest_afz"):
    """The integer nearest to each element, ties away from zero."""

    floating = floats.round_nearest_afz


class RoundNearestEven(Rounding, op="round_nearest_even"):
    """The integer nearest to each element, ties to the even one."""

    floating = floats.round_nearest_even
