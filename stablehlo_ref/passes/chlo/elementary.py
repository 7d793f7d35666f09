"""Elementary functions, predicates and integer products."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial

from stablehlo_ref.ir.types import BooleanType, IntegerType, Type
from stablehlo_ref.numerics.dtypes import bit_width, numpy_dtype
from stablehlo_ref.passes.emit import (
    Expr,
    absolute,
    at_least_f32,
    atan2,
    bitcast,
    convert,
    equal,
    exponential,
    exponential_minus_one,
    imaginary,
    infinity,
    is_complex,
    is_finite,
    largest,
    like,
    log,
    log_plus_one,
    make_complex,
    maximum,
    minimum,
    not_equal,
    real,
    select,
    shift_right_arithmetic,
    shift_right_logical,
    sign,
    smallest_normal,
    sqrt,
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


@at_least_f32
def sinh(x: Expr) -> Expr:
    """By `expm1` near zero, where the difference of exponentials cancels."""
    log_half = log(like(x, 0.5))
    of_large = exponential(x + log_half) - exponential(log_half - x)
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


# --- inverse trigonometric and hyperbolic functions -------------------------------------------------------------------


def asin(x: Expr) -> Expr:
    if is_complex(x):
        re_x = real(x)
        w = asin_acos_kernel(x)
        re = atan2(re_x, real(w))
        is_negative = imaginary(x) < like(re_x, 0)
        im = imaginary(w)
        return make_complex(re, select(is_negative, -im, im))
    one = like(x, 1)
    half = atan2(x, one + sqrt((one - x) * (one + x)))
    return half + half


def acos(x: Expr) -> Expr:
    if is_complex(x):
        w = asin_acos_kernel(x)
        re = atan2(real(w), real(x))
        is_negative = imaginary(x) < 0
        im = imaginary(w)
        return make_complex(re, select(is_negative, im, -im))
    one = like(x, 1)
    return atan2(sqrt((one - x) * (one + x)), x)


def asinh(x: Expr) -> Expr:
    """`log(2) + log(x)` where the square of `x` overflows."""
    if is_complex(x):
        re_x = real(x)
        is_negative = re_x < 0
        im_x = imaginary(x)
        w = asin_acos_kernel(make_complex(-im_x, re_x))
        im = imaginary(w)
        return make_complex(select(is_negative, -im, im), atan2(im_x, real(w)))
    direction, magnitude = sign(x), absolute(x)
    is_huge = magnitude >= sqrt(largest(x))
    of_huge = log(like(x, 2)) + log(magnitude)
    square, one = magnitude * magnitude, like(x, 1)
    return direction * select(is_huge, of_huge, log_plus_one(magnitude + square / (one + sqrt(one + square))))


def acosh(x: Expr) -> Expr:
    if is_complex(x):
        w = asin_acos_kernel(x)
        re = imaginary(w)
        is_negative = imaginary(x) < 0
        angle = atan2(real(w), real(x))
        return make_complex(re, select(is_negative, -angle, angle))
    limit = largest(x)
    two = like(x, 2)
    is_huge = x >= limit / two
    of_huge = log(two) + log(x)
    one = like(x, 1)
    below = sqrt(x - one)
    return select(is_huge, of_huge, log_plus_one(below * (sqrt(x + one) + below)))


def atan(x: Expr) -> Expr:
    if not is_complex(x):
        return atan2(x, like(x, 1))
    rotated = atanh(make_complex(-imaginary(x), real(x)))
    return make_complex(imaginary(rotated), -real(rotated))


def atanh(x: Expr) -> Expr:
    if is_complex(x):
        return _complex_atanh(x)
    return select(absolute(x) > like(x, 1), like(x, math.nan), (log_plus_one(x) - log_plus_one(-x)) * like(x, 0.5))


# --- inverse functions of complex arguments ---------------------------------------------------------------------------


def asin_acos_kernel(z: Expr) -> Expr:
    """Return `sqrt(a² - x²) + i log(a + sqrt(a² - 1))` for `z = x + iy` and `a = (|z + 1| + |z - 1|) / 2`.

    After Hull, Fairgrieve and Tang, "Implementing the complex arcsine and arccosine functions using exception
    handling", in each quadrant as in the first.
    """
    signed_x = real(z)
    x = absolute(signed_x)
    signed_y = imaginary(z)
    y = absolute(signed_y)
    k = cache(partial(like, signed_x))  # constants, each emitted when first used
    top = maximum(x, y)
    safe_max = sqrt(largest(signed_x)) / k(8)
    is_huge, is_near = top >= safe_max, x <= k(1)

    # The real part.
    half, x_plus = k(0.5), x + k(1)
    right = _hypot(x_plus, y, k)
    x_minus = x - k(1)
    left = _hypot(x_minus, y, k)
    a = half * (right + left)
    half_a_x = half * (a + x)
    yy = y * y
    right_sum = right + x_plus
    quotient = yy / right_sum
    left_difference = left - x_minus
    near = sqrt(half_a_x * (quotient + left_difference))
    first = half_a_x / right_sum
    left_sum = left + x_minus
    far = y * sqrt(first + half_a_x / left_sum)
    re = select(is_huge, y, select(is_near, near, far))

    # The imaginary part.
    is_far_right = x < safe_max * k(1000000000000.0)
    safe_y = select(is_far_right, safe_max * k(1e-06), safe_max * k(100.0))
    is_tall = y >= safe_y
    most = select(is_tall, y, x)
    is_large = most >= select(is_tall, safe_y, safe_max)
    logarithms = log(k(2)) + log(most)
    is_slope = is_tall & ~equal(y, infinity(signed_y))
    slope = select(is_slope, x / y, k(0))
    of_large = logarithms + half * log_plus_one(slope * slope)
    is_flat = (y < sqrt(smallest_normal(signed_x)) * k(4)) & (x < k(1))
    product = x_plus * x_minus
    a_plus = a + k(1)
    of_flat = -(product / a_plus)
    is_right = x >= k(1)
    half_yy = half * yy
    part = half_yy / right_sum
    of_right = part + half * left_sum
    a_minus = select(
        is_flat,
        of_flat,
        select(is_right, of_right, select(a <= k(1.5), part + half_yy / left_difference, a - k(1))),
    )
    root = sqrt(a_minus * a_plus)
    im = select(is_large, of_large, select(is_flat, y / root, log_plus_one(a_minus + root)))
    return make_complex(re, im)


def _hypot(x: Expr, y: Expr, k: Callable[[float], Expr]) -> Expr:
    """Return `sqrt(x² + y²)` without overflow of the squares, for `y` that is not negative."""
    magnitude = absolute(x)
    most = maximum(magnitude, y)
    least = minimum(magnitude, y)
    is_diagonal = equal(most, least)
    of_diagonal = k(1.4142135623730951) * most
    ratio = least / most
    square = ratio * ratio
    root = sqrt(k(1) + square)
    is_tiny = equal(root, k(1)) & (square > k(0))
    return select(is_diagonal, of_diagonal, select(is_tiny, most + (most * square) / k(2), most * root))


def _complex_atanh(z: Expr) -> Expr:
    """Return `(log1p(z) - log1p(-z)) / 2`; the formula for its real part depends on which part of `z` is large."""
    x = real(z)
    zero = like(x, 0)
    is_right = x >= zero
    one, minus_one = like(x, 1), like(x, -1)
    direction = select(is_right, one, minus_one)
    four, ax, limit = like(x, 4), absolute(x), largest(x)
    is_f64 = limit > like(x, 1e308)
    of_f64 = like(x, 9007199254740994.0)
    is_f32 = limit > like(x, 1e38)
    inverse_epsilon = select(is_f64, of_f64, select(is_f32, like(x, 16777218.0), like(x, 2050.0)))
    safe_max = inverse_epsilon * inverse_epsilon
    is_safe_x = ax < safe_max
    y = imaginary(z)
    ay = absolute(y)
    is_safe = is_safe_x & (ay < safe_max)
    distance = one - ax
    squared_distance = distance * distance
    yy = y * y
    of_safe = ax / (squared_distance + yy)
    is_wide = ay * inverse_epsilon < ax
    of_wide = one / ax
    positive = infinity(x)
    is_x_positive = equal(x, positive)
    negative = like(x, -math.inf)
    is_infinite = (is_x_positive | equal(x, negative)) | (equal(y, positive) | equal(y, negative))
    of_others = (one / (ax / y + y / ax)) / y
    quotient = select(is_safe, of_safe, select(is_wide, of_wide, select(is_infinite, zero, of_others)))
    re = (direction * log_plus_one(four * quotient)) * like(x, 0.25)
    angle = atan2(y + y, distance * (one + ax) - yy)
    is_up = y >= 0
    im = select(is_safe, angle, select(is_up, one, minus_one) * like(x, math.pi)) * like(x, 0.5)
    return make_complex(re, im)
