"""MLIR's complex dialect, following its documentation: functions of complex numbers."""

import numpy as np

from stablehlo_ref.semantics import chlo, elementwise
from stablehlo_ref.semantics.notation import Array, DType
from stablehlo_ref.semantics.rounding import element, exact

add, sub, mul, div = elementwise.add, elementwise.subtract, elementwise.multiply, elementwise.divide
abs, neg, conj, sign = elementwise.abs, elementwise.negate, chlo.conj, elementwise.sign
re, im, create = elementwise.real, elementwise.imag, elementwise.complex
exp, expm1, log, log1p = (
    elementwise.exponential, elementwise.exponential_minus_one, elementwise.log, elementwise.log_plus_one,
)  # fmt: skip
sin, cos, tan, tanh = elementwise.sine, elementwise.cosine, elementwise.tan, elementwise.tanh
sqrt, rsqrt = elementwise.sqrt, elementwise.rsqrt
atan2, pow = elementwise.atan2, elementwise.power


def angle(complex: Array) -> Array:
    return elementwise.atan2(im(complex), re(complex))


def eq(lhs: Array, rhs: Array) -> Array:
    return elementwise.compare(lhs, rhs, "EQ")


def neq(lhs: Array, rhs: Array) -> Array:
    return elementwise.compare(lhs, rhs, "NE")


def constant(value: tuple[float, float], element_type: DType) -> Array:
    """Return the number with these parts."""
    return np.array(element(element_type, tuple(map(exact, value))))
