"""Elementary functions, predicates and integer products."""

from __future__ import annotations

import math

from stablehlo_ref.ir.types import BooleanType, IntegerType, Type
from stablehlo_ref.numerics.dtypes import bit_width, numpy_dtype
from stablehlo_ref.passes.expressions import (
    Expr,
    absolute,
    at_least_f32,
    bitcast,
    convert,
    equal,
    exponential,
    exponential_minus_one,
    imaginary,
    infinity,
    is_complex,
    is_finite,
    like,
    log,
    make_complex,
    not_equal,
    real,
    select,
    shift_right_arithmetic,
    shift_right_logical,
)

LOW_HALF = 0xFFFFFFFF


def tan(x: Expr) -> Expr:
    return x.op("tan", type=x.type)


def conj(x: Expr) -> Expr:
    return make_complex(real(x), -imaginary(x)) if is_complex(x) else x


def square(x: Expr) -> Expr:
    """`(re - im)(re + im) + 2 re im i`; a real part of zero where both parts are equal and finite."""
    if not is_complex(x):
        return x * x
    re = real(x)
    finite, magnitude = is_finite(re), absolute(re)
    im = imaginary(x)
    is_diagonal = finite & equal(magnitude, absolute(im))
    return make_complex(select(is_diagonal, like(re, 0), (re - im) * (re + im)), like(re, 2) * (re * im))


def is_inf(x: Expr) -> Expr:
    return is_pos_inf(absolute(x))


def is_pos_inf(x: Expr) -> Expr:
    return equal(x, infinity(x))


def is_neg_inf(x: Expr) -> Expr:
    return equal(x, like(x, -math.inf))


# --- hyperbolic functions -------------------------------------------------------------------------------------------


@at_least_f32
def cosh(x: Expr) -> Expr:
    """`exp(x + log(1/2)) + exp(log(1/2) - x)`, so that results near the largest number do not overflow."""
    log_half = log(like(x, 0.5))
    return exponential(x + log_half) + exponential(log_half - x)


def _sinh_of_large(x: Expr) -> Expr:
    log_half = log(like(x, 0.5))
    return exponential(x + log_half) - exponential(log_half - x)


@at_least_f32
def sinh(x: Expr) -> Expr:
    """By `expm1` near zero, where the difference of exponentials cancels."""
    of_large = _sinh_of_large(x)
    if is_complex(x):
        return of_large
    expm1, one, half = exponential_minus_one(x), like(x, 1.0), like(x, 0.5)
    of_small = half * (expm1 + expm1 / (expm1 + one))
    return select(absolute(x) < one, of_small, of_large)


# --- integers -------------------------------------------------------------------------------------------------------


def mulhi(x: Expr, y: Expr) -> Expr:
    """The high half of the product: in a type twice as wide, or of 64 bits by parts of 32."""
    if numpy_dtype(x.element).itemsize == 8:
        return _mulhi_of_unsigned(x, y) if _is_unsigned(x) else _mulhi_of_signed(x, y)
    width = bit_width(numpy_dtype(x.element))
    wide = IntegerType(2 * width, x.element.signedness if isinstance(x.element, IntegerType) else "")
    product = convert(x, wide) * convert(y, wide)
    shift = shift_right_logical if _is_unsigned(x) else shift_right_arithmetic
    return convert(shift(product, like(product, width)), x.element)


def _is_unsigned(x: Expr) -> bool:
    return isinstance(x.element, IntegerType) and not x.element.is_signed


def _mulhi_of_unsigned(x: Expr, y: Expr) -> Expr:
    x_high = shift_right_logical(x, like(x, 32))
    y_high = shift_right_logical(y, like(y, 32))
    highest = x_high * y_high
    x_low = x & LOW_HALF
    cross = x_low * y_high
    y_low = y & LOW_HALF
    middle = cross + shift_right_logical(x_low * y_low, like(x, 32))
    high = highest + shift_right_logical(middle, like(x, 32))
    other = x_high * y_low + (middle & like(x, LOW_HALF))
    return high + shift_right_logical(other, like(x, 32))


def _mulhi_of_signed(x: Expr, y: Expr) -> Expr:
    """That of the unsigned values with the same bits, less the other operand for each that is negative."""
    high = _mulhi_of_unsigned(_unsigned(x), _unsigned(y))
    high = high - select(x < 0, _unsigned(y), like(_unsigned(y), 0))
    high = high - select(y < 0, _unsigned(x), like(_unsigned(x), 0))
    return convert(high, x.element)


def _unsigned(x: Expr) -> Expr:
    return convert(x, IntegerType(64, "u"))


# --- next_after -----------------------------------------------------------------------------------------------------


def next_after(x: Expr, y: Expr) -> Expr:
    """The neighbour of `x` in the direction of `y`, by adding to or subtracting from its bits as an integer."""
    width = bit_width(numpy_dtype(x.element))
    element: Type = IntegerType(width) if width > 1 else BooleanType()
    bits_x, bits_y = bitcast(x, element), bitcast(y, element)
    has_nan = not_equal(x, x) | not_equal(y, y)
    nan = bitcast(like(x, math.nan), element)
    sign_mask, magnitude_mask = like(bits_x, -1 << width - 1), like(bits_x, (1 << width - 1) - 1)
    magnitude_x, magnitude_y = bits_x & magnitude_mask, bits_y & magnitude_mask
    are_equal, zero = equal(x, y), like(bits_x, 0)
    is_x_zero, is_y_zero = equal(magnitude_x, zero), equal(magnitude_y, zero)
    sign_x, sign_y = bits_x & sign_mask, bits_y & sign_mask
    one = like(bits_x, 1)
    from_zero = sign_y | one
    signs_differ = not_equal(sign_x, sign_y)
    shrinks = (magnitude_x > magnitude_y) | signs_differ
    result = bits_x + select(shrinks, like(bits_x, -1), one)
    result = select(is_x_zero, select(is_y_zero, bits_y, from_zero), result)
    result = select(are_equal, bits_y, result)
    result = select(has_nan, nan, result)
    return bitcast(result, x.element)
