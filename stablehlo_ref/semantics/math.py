"""MLIR's math dialect, following its documentation: functions of numbers, rounded once."""

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from stablehlo_ref.semantics import chlo, elementwise, ieee
from stablehlo_ref.semantics.chlo import unary
from stablehlo_ref.semantics.elements import BOOLEAN, each_element, each_number
from stablehlo_ref.semantics.notation import Array, num_bits
from stablehlo_ref.semantics.rounding import Real, bits, from_bits, inf, is_nan, is_special, nan, with_sign_of, wrap

mp = mpmath.mp

absf = elementwise.abs
acos, acosh, asin, asinh, atan, atanh = chlo.acos, chlo.acosh, chlo.asin, chlo.asinh, chlo.atan, chlo.atanh
cbrt, ceil, cos = elementwise.cbrt, elementwise.ceil, elementwise.cosine
cosh, erf, erfc, sinh = chlo.cosh, chlo.erf, chlo.erfc, chlo.sinh
exp, expm1 = elementwise.exponential, elementwise.exponential_minus_one
exp2 = unary(lambda x: mp.power(2, max(min(x, 5000), -5000)), 1, inf, 0.0)
floor, log, log1p = elementwise.floor, elementwise.log, elementwise.log_plus_one
log10 = unary(lambda x: mp.log(x, 10), -inf, inf, nan, least=0)
log2 = unary(lambda x: mp.log(x, 2), -inf, inf, nan, least=0)
round, roundeven = elementwise.round_nearest_afz, elementwise.round_nearest_even
rsqrt, sin, sqrt = elementwise.rsqrt, elementwise.sine, elementwise.sqrt
tan, tanh = elementwise.tan, elementwise.tanh
atan2, powf = elementwise.atan2, elementwise.power
ipowi = elementwise.power
ctlz, ctpop = elementwise.count_leading_zeros, elementwise.popcnt
isfinite = elementwise.is_finite
isinf = chlo.is_inf


def trunc(operand: Array) -> Array:
    def evaluate(x: Real) -> Real:
        return x if is_special(x) else with_sign_of(Fraction(int(abs(x))) or 0.0, x)

    return each_number(operand, floating=evaluate)


def absi(operand: Array) -> Array:
    """Return the absolute value modulo 2**width."""
    return each_element(lambda x: wrap(operand.dtype, abs(int(x))), operand, element_type=operand.dtype)


def cttz(operand: Array) -> Array:
    width = num_bits(operand.dtype)

    def count(x: Any) -> Any:
        zeros = next((i for i in range(width) if bits(x) >> i & 1), width)
        return from_bits(operand.dtype, zeros % (1 << width))

    return each_element(count, operand, element_type=operand.dtype)


def isnan(operand: Array) -> Array:
    return each_number(operand, floating=is_nan, result=BOOLEAN)


def isnormal(operand: Array) -> Array:
    """Return whether the leading bit of the significand is implicit: not zero, subnormal, infinite or NaN."""
    smallest = {np.dtype(np.float32): Fraction(1, 1 << 126), np.dtype(np.float64): Fraction(1, 1 << 1022)}
    least = smallest[operand.dtype]
    return each_number(operand, floating=lambda x: not is_special(x) and abs(x) >= least, result=BOOLEAN)


def copysign(lhs: Array, rhs: Array) -> Array:
    return each_element(lambda x, y: np.copysign(x, y), lhs, rhs, element_type=lhs.dtype)


def fpowi(lhs: Array, rhs: Array) -> Array:
    """Return the power, which is exact for finite numbers other than zero before it is rounded."""

    def evaluate(x: Real, n: int) -> Real:
        if n == 0:
            return Fraction(1)
        if is_special(x) or x == 0:
            magnitude = 0.0 if (x == 0) == (n > 0) else inf
            return nan if is_nan(x) else with_sign_of(magnitude, x) if n % 2 else magnitude
        return Fraction(x) ** n

    def element(x: Any, n: Any) -> Any:
        return each_number(np.array(x), floating=lambda y: evaluate(y, int(n)))[()]

    return each_element(element, lhs, rhs, element_type=lhs.dtype)


def fma(a: Array, b: Array, c: Array) -> Array:
    """Return a * b + c rounded once; zeros and special numbers as IEEE-754 adds and multiplies them."""

    def evaluate(x: Real, y: Real, z: Real) -> Real:
        if any(map(is_special, (x, y, z))) or 0 in (x, y):
            return ieee.addition(ieee.multiplication(x, y), z)
        return Fraction(x) * Fraction(y) + Fraction(z) or 0.0

    return each_number(a, b, c, floating=evaluate)
