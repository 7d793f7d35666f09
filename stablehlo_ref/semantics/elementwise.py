"""Elementwise ops, with one bullet of the spec for each kind of element type."""

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from stablehlo_ref.semantics import complexes, ieee
from stablehlo_ref.semantics.elements import BOOLEAN, Bullet, each_element, each_number
from stablehlo_ref.semantics.notation import (
    Array,
    Arrays,
    Dims,
    Function,
    TensorType,
    complex_element_type,
    index_space,
    is_complex,
    is_float,
    num_bits,
    rank,
    scalar,
)
from stablehlo_ref.semantics.rounding import (
    Format,
    Real,
    bits,
    complex_element,
    converted,
    element,
    exponent,
    format_of,
    from_bits,
    inf,
    is_nan,
    is_negative,
    is_special,
    nearest,
    number,
    round_to,
    total_order,
    with_sign_of,
)

# Arithmetic


def abs(operand: Array) -> Array:
    """Integer modulus, `abs` from IEEE-754, complex modulus."""
    if is_float(operand.dtype):
        return each_element(lambda x: with_sign_bit(x, lambda _: 0), operand, element_type=operand.dtype)
    result = complex_element_type(operand.dtype) if is_complex(operand.dtype) else operand.dtype
    return each_number(operand, integer=ieee.absolute, complex=complexes.modulus, result=result)


def add(lhs: Array, rhs: Array) -> Array:
    """Logical OR, integer addition, `addition` from IEEE-754, complex addition."""
    return each_number(
        lhs, rhs, boolean=operator.or_, integer=operator.add, floating=ieee.addition, complex=complexes.addition
    )


def subtract(lhs: Array, rhs: Array) -> Array:
    """Integer subtraction, `subtraction` from IEEE-754, complex subtraction."""
    return each_number(lhs, rhs, integer=operator.sub, floating=ieee.subtraction, complex=complexes.subtraction)


def multiply(lhs: Array, rhs: Array) -> Array:
    """Logical AND, integer multiplication, `multiplication` from IEEE-754, complex multiplication."""
    return each_number(
        lhs,
        rhs,
        boolean=operator.and_,
        integer=operator.mul,
        floating=ieee.multiplication,
        complex=complexes.multiplication,
    )


def integer_quotient(x: int, y: int) -> int:
    """Return the quotient rounded toward zero; all bits set for `x / 0`, which is implementation-defined."""
    return -1 if y == 0 else int(Fraction(x, y))


def integer_remainder(x: int, y: int) -> int:
    """Return `x - d * y` with `d` the integer quotient; `x` if `y` is zero, which is implementation-defined."""
    return x if y == 0 else x - integer_quotient(x, y) * y


def divide(lhs: Array, rhs: Array) -> Array:
    """Integer division, `division` from IEEE-754, complex division."""
    return each_number(lhs, rhs, integer=integer_quotient, floating=ieee.division, complex=complexes.division)


def remainder(lhs: Array, rhs: Array) -> Array:
    """`lhs - d * rhs` with `d` the quotient rounded toward zero; to be determined for complex numbers in the spec."""
    return each_number(lhs, rhs, integer=integer_remainder, floating=ieee.remainder)


def integer_power(modulus: int) -> Bullet:
    """Return the power modulo `modulus`; for negative exponents the reciprocal rounded toward zero, and 0 for 0."""

    def power(x: int, y: int) -> int:
        if y >= 0:
            return pow(x, y, modulus)
        return {1: 1, -1: -1 if y % 2 else 1}.get(x, 0)

    return power


def power(lhs: Array, rhs: Array) -> Array:
    """Integer exponentiation, `pow` from IEEE-754, complex exponentiation."""
    modulus = 1 << num_bits(lhs.dtype)
    return each_number(lhs, rhs, integer=integer_power(modulus), floating=ieee.power, complex=complexes.power)


def negate(operand: Array) -> Array:
    """Integer negation, for unsigned integers too; `negate` from IEEE-754; complex negation."""
    if is_float(operand.dtype):
        return each_element(lambda x: with_sign_bit(x, lambda sign: 1 - sign), operand, element_type=operand.dtype)
    return each_number(operand, integer=operator.neg, complex=complexes.negate)


def with_sign_bit(x: Any, change: Callable[[int], int]) -> Any:
    """Return a float with another sign bit, as `abs` and `negate` of IEEE-754 change it, that of NaN too."""
    form, width = format_of(x.dtype), num_bits(x.dtype)
    if not form.has_negative_zero:  # which would be NaN
        value = number(x)
        return round_to(x.dtype, -value if change(int(is_negative(value))) != is_negative(value) else value)
    sign, magnitude = divmod(bits(x), 1 << width - 1)
    return from_bits(x.dtype, change(sign) << width - 1 | magnitude)


def maximum(lhs: Array, rhs: Array) -> Array:
    """Logical OR, integer maximum, `maximum` from IEEE-754, lexicographic maximum."""
    return each_number(lhs, rhs, boolean=operator.or_, integer=max, floating=ieee.maximum, complex=complexes.maximum)


def minimum(lhs: Array, rhs: Array) -> Array:
    """Logical AND, integer minimum, `minimum` from IEEE-754, lexicographic minimum."""
    return each_number(lhs, rhs, boolean=operator.and_, integer=min, floating=ieee.minimum, complex=complexes.minimum)


def clamp(min: Array, operand: Array, max: Array) -> Array:
    """`minimum(maximum(operand[result_index], min_element), max_element)`."""
    min_elements = np.broadcast_to(min, operand.shape) if rank(min) == 0 else min
    max_elements = np.broadcast_to(max, operand.shape) if rank(max) == 0 else max
    return minimum(maximum(operand, min_elements), max_elements)


def integer_sign(x: int) -> int:
    if x < 0:
        return -1
    if x == 0:
        return 0
    return 1


def float_sign(x: Real) -> Real:
    if is_nan(x) or x == 0:
        return x
    return -1 if x < 0 else 1


def sign(operand: Array) -> Array:
    """-1, 0 or 1; NaN and signed zeros are unchanged; a complex number is divided by its modulus."""
    return each_number(operand, integer=integer_sign, floating=float_sign, complex=complexes.sign)


# Elementary functions


def atan2(lhs: Array, rhs: Array) -> Array:
    return each_number(lhs, rhs, floating=ieee.atan2, complex=complexes.atan2)


def cbrt(operand: Array) -> Array:
    return each_number(operand, floating=ieee.cube_root, complex=complexes.cube_root)


def cosine(operand: Array) -> Array:
    return each_number(operand, floating=ieee.cos, complex=complexes.cosine)


def exponential(operand: Array) -> Array:
    return each_number(operand, floating=ieee.exp, complex=complexes.exp)


def exponential_minus_one(operand: Array) -> Array:
    return each_number(operand, floating=ieee.expm1, complex=complexes.expm1)


def log(operand: Array) -> Array:
    return each_number(operand, floating=ieee.log, complex=complexes.log)


def log_plus_one(operand: Array) -> Array:
    return each_number(operand, floating=ieee.logp1, complex=complexes.logp1)


def logistic(operand: Array) -> Array:
    """`division(1, addition(1, exp(-x)))`, rounded once."""
    return each_number(operand, floating=ieee.logistic, complex=complexes.logistic)


def rsqrt(operand: Array) -> Array:
    return each_number(operand, floating=ieee.reciprocal_square_root, complex=complexes.reciprocal_square_root)


def sine(operand: Array) -> Array:
    return each_number(operand, floating=ieee.sin, complex=complexes.sine)


def sqrt(operand: Array) -> Array:
    return each_number(operand, floating=ieee.square_root, complex=complexes.square_root)


def tan(operand: Array) -> Array:
    return each_number(operand, floating=ieee.tan, complex=complexes.tangent)


def tanh(operand: Array) -> Array:
    return each_number(operand, floating=ieee.tanh, complex=complexes.tanh)


# Rounding


def ceil(operand: Array) -> Array:
    return each_number(operand, floating=ieee.round_to_integral_toward_positive)


def floor(operand: Array) -> Array:
    return each_number(operand, floating=ieee.round_to_integral_toward_negative)


def round_nearest_afz(operand: Array) -> Array:
    return each_number(operand, floating=ieee.round_to_integral_ties_to_away)


def round_nearest_even(operand: Array) -> Array:
    return each_number(operand, floating=ieee.round_to_integral_ties_to_even)


def reduce_precision(operand: Array, exponent_bits: int, mantissa_bits: int) -> Array:
    """Round the mantissa, then overflow to infinity and underflow to zero if the exponent does not fit `exponent_bits`.

    Fewer exponent bits than those of the element type are a format of IEEE-754 without subnormal numbers; with as many
    or more, all exponents fit. Without mantissa bits there is no NaN, and infinity replaces it.
    """
    form = format_of(operand.dtype)
    bias = (1 << exponent_bits - 1) - 1
    has_fewer_exponents = exponent_bits < num_bits(operand.dtype) - (not form.is_positive) - form.mantissa_bits

    def reduced(x: Real) -> Real:
        if is_special(x):
            return with_sign_of(inf, x) if is_nan(x) and mantissa_bits == 0 else x
        magnitude = ieee.absolute(x)
        if mantissa_bits < form.mantissa_bits:
            magnitude = mantissa_rounded(magnitude, mantissa_bits, form)
        if has_fewer_exponents and magnitude >= Fraction(2) ** (bias + 1):
            return with_sign_of(inf, x)
        if magnitude == 0 or (has_fewer_exponents and magnitude < Fraction(2) ** (1 - bias)):
            return with_sign_of(0.0, x)
        return with_sign_of(magnitude, x)

    return each_number(operand, floating=reduced)


def mantissa_rounded(magnitude: Fraction, mantissa_bits: int, form: Format) -> Fraction:
    """Round `magnitude` to a number of mantissa bits, ties to even.

    Even refers to the last bit kept of the bit pattern; without mantissa bits, that is the last bit of the exponent.
    """
    lower = Fraction(2) ** exponent(magnitude)
    if mantissa_bits == 0 and magnitude == lower * 3 / 2 and exponent(magnitude) >= form.min_exponent:
        return lower if (exponent(magnitude) + form.bias) % 2 == 0 else 2 * lower
    return nearest(magnitude, mantissa_bits, form.min_exponent)


# Bits


def and_(lhs: Array, rhs: Array) -> Array:
    """Logical AND, bitwise AND."""
    return each_number(lhs, rhs, boolean=operator.and_, integer=operator.and_)


def or_(lhs: Array, rhs: Array) -> Array:
    """Logical OR, bitwise OR."""
    return each_number(lhs, rhs, boolean=operator.or_, integer=operator.or_)


def xor(lhs: Array, rhs: Array) -> Array:
    """Logical XOR, bitwise XOR."""
    return each_number(lhs, rhs, boolean=operator.xor, integer=operator.xor)


def not_(operand: Array) -> Array:
    """Logical NOT, bitwise NOT."""
    return each_number(operand, boolean=operator.not_, integer=operator.invert)


def count_leading_zeros(operand: Array) -> Array:
    width = num_bits(operand.dtype)
    return each_element(
        lambda x: element(operand.dtype, width - bits(x).bit_length()), operand, element_type=operand.dtype
    )


def popcnt(operand: Array) -> Array:
    return each_element(lambda x: element(operand.dtype, bits(x).bit_count()), operand, element_type=operand.dtype)


def shift_left(lhs: Array, rhs: Array) -> Array:
    """Shift by `rhs` as an unsigned number; by the bit width or more (implementation-defined), the result is 0."""
    width = num_bits(lhs.dtype)

    def shifted(x: Any, y: Any) -> Any:
        return from_bits(lhs.dtype, 0 if bits(y) >= width else bits(x) << bits(y))

    return each_element(shifted, lhs, rhs, element_type=lhs.dtype)


def shift_right_arithmetic(lhs: Array, rhs: Array) -> Array:
    """Shift in copies of the highest bit, also for unsigned integers."""
    width = num_bits(lhs.dtype)

    def shifted(x: Any, y: Any) -> Any:
        signed = bits(x) - (1 << width if bits(x) >> width - 1 else 0)
        return element(lhs.dtype, signed >> bits(y))

    return each_element(shifted, lhs, rhs, element_type=lhs.dtype)


def shift_right_logical(lhs: Array, rhs: Array) -> Array:
    """Shift in zeros."""
    return each_element(lambda x, y: from_bits(lhs.dtype, bits(x) >> bits(y)), lhs, rhs, element_type=lhs.dtype)


def bitcast_convert(operand: Array, *, result: TensorType) -> Array:
    """`bits(result[i0, ..., iR-1, :]) = bits(operand[i0, ..., iR-1])` and vice versa, little-endian."""
    shape, element_type = result
    width, operand_width = num_bits(element_type), num_bits(operand.dtype)
    output = np.empty(shape, element_type)
    if width < operand_width:
        for index in index_space(shape):
            output[index] = from_bits(element_type, bits(operand[index[:-1]]) >> index[-1] * width & (1 << width) - 1)
        return output
    for index in index_space(shape):
        parts = [operand[index]] if width == operand_width else operand[index]
        output[index] = from_bits(element_type, sum(bits(x) << i * operand_width for i, x in enumerate(parts)))
    return output


# Comparison and selection

COMPARISONS: dict[str, Bullet] = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "GE": operator.ge,
    "GT": operator.gt,
    "LE": operator.le,
    "LT": operator.lt,
}

COMPLEX_COMPARISONS: dict[str, Bullet] = {
    "EQ": complexes.equal,
    "NE": lambda x, y: not complexes.equal(x, y),
    "GE": lambda x, y: complexes.less(y, x) or complexes.equal(x, y),
    "GT": lambda x, y: complexes.less(y, x),
    "LE": lambda x, y: complexes.less(x, y) or complexes.equal(x, y),
    "LT": complexes.less,
}


def compare(lhs: Array, rhs: Array, comparison_direction: str, compare_type: str | None = None) -> Array:
    """Integers by value, floats by IEEE-754 quiet comparisons or `totalOrder`, complex numbers lexicographically."""
    holds = COMPARISONS[comparison_direction]
    if compare_type == "TOTALORDER":
        return each_element(lambda x, y: holds(total_order(x), total_order(y)), lhs, rhs, element_type=BOOLEAN)
    return each_number(
        lhs,
        rhs,
        boolean=holds,
        integer=holds,
        floating=holds,
        complex=COMPLEX_COMPARISONS[comparison_direction],
        result=BOOLEAN,
    )


def select(pred: Array, on_true: Array, on_false: Array) -> Array:
    """`pred_element ? on_true[result_index] : on_false[result_index]`."""
    result = np.empty_like(on_true)
    for index in index_space(result.shape):
        pred_element = pred[()] if rank(pred) == 0 else pred[index]
        result[index] = on_true[index] if pred_element else on_false[index]
    return result


def is_finite(x: Array) -> Array:
    return each_number(x, floating=lambda value: not is_nan(value) and -inf < value < inf, result=BOOLEAN)


# Conversion


def convert(operand: Array, *, result: TensorType) -> Array:
    """Convert each element, as `converted`."""
    element_type = result[1]
    return each_element(lambda x: converted(element_type, number(x)), operand, element_type=element_type)


def complex(lhs: Array, rhs: Array) -> Array:
    """Return complex numbers with these real and imaginary parts."""
    element_type = np.dtype(f"complex{2 * num_bits(lhs.dtype)}")
    return each_element(complex_element, lhs, rhs, element_type=element_type)


def real(operand: Array) -> Array:
    """`is_complex(x) ? real_part(x) : x`."""
    if not is_complex(operand.dtype):
        return operand.copy()
    return each_element(lambda x: x.real, operand, element_type=complex_element_type(operand.dtype))


def imag(operand: Array) -> Array:
    """`is_complex(x) ? imaginary_part(x) : constant(0, element_type(result))`."""
    if not is_complex(operand.dtype):
        return each_element(lambda x: round_to(operand.dtype, 0), operand, element_type=operand.dtype)
    return each_element(lambda x: x.imag, operand, element_type=complex_element_type(operand.dtype))


def map(inputs: Arrays, dimensions: Dims, computation: Function, *, result: TensorType) -> Array:
    """`result[result_index] = computation(inputs...[result_index])`."""
    shape, element_type = result
    output = np.empty(shape, element_type)
    for index in index_space(shape):
        (output[index],) = computation(*(scalar(x, index) for x in inputs))
    return output
