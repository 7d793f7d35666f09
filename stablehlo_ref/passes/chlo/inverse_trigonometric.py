"""Inverse trigonometric and hyperbolic functions, of real and of complex arguments."""

from __future__ import annotations

import math

from stablehlo_ref.passes.expressions import (
    Constants,
    Expr,
    absolute,
    atan2,
    equal,
    imaginary,
    infinity,
    is_complex,
    largest,
    like,
    log,
    log_plus_one,
    make_complex,
    maximum,
    minimum,
    real,
    select,
    sign,
    smallest_normal,
    sqrt,
)


def asin(x: Expr) -> Expr:
    if is_complex(x):
        return _complex_asin(x)
    one = like(x, 1)
    half = atan2(x, one + sqrt((one - x) * (one + x)))
    return half + half


def acos(x: Expr) -> Expr:
    if is_complex(x):
        return _complex_acos(x)
    one = like(x, 1)
    return atan2(sqrt((one - x) * (one + x)), x)


def asinh(x: Expr) -> Expr:
    """`log(2) + log(x)` where the square of `x` overflows."""
    if is_complex(x):
        return _complex_asinh(x)
    direction, magnitude = sign(x), absolute(x)
    is_huge = magnitude >= sqrt(largest(x))
    of_huge = log(like(x, 2)) + log(magnitude)
    square, one = magnitude * magnitude, like(x, 1)
    return direction * select(is_huge, of_huge, log_plus_one(magnitude + square / (one + sqrt(one + square))))


def acosh(x: Expr) -> Expr:
    if is_complex(x):
        return _complex_acosh(x)
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


# --- complex arguments ----------------------------------------------------------------------------------------------


def asin_acos_kernel(z: Expr) -> Expr:
    """Return `sqrt(a² - x²) + i log(a + sqrt(a² - 1))` for `z = x + iy` and `a = (|z + 1| + |z - 1|) / 2`.

    After Hull, Fairgrieve and Tang, "Implementing the complex arcsine and arccosine functions using exception
    handling", in each quadrant as in the first.
    """
    signed_x = real(z)
    x = absolute(signed_x)
    signed_y = imaginary(z)
    y = absolute(signed_y)
    k = Constants(signed_x)
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


def _hypot(x: Expr, y: Expr, k: Constants) -> Expr:
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


def _complex_asin(z: Expr) -> Expr:
    signed_x = real(z)
    w = asin_acos_kernel(z)
    re = atan2(signed_x, real(w))
    is_negative = imaginary(z) < like(signed_x, 0)
    im = imaginary(w)
    return make_complex(re, select(is_negative, -im, im))


def _complex_acos(z: Expr) -> Expr:
    w = asin_acos_kernel(z)
    re = atan2(real(w), real(z))
    is_negative = imaginary(z) < 0
    im = imaginary(w)
    return make_complex(re, select(is_negative, im, -im))


def _complex_acosh(z: Expr) -> Expr:
    w = asin_acos_kernel(z)
    re = imaginary(w)
    is_negative = imaginary(z) < 0
    angle = atan2(real(w), real(z))
    return make_complex(re, select(is_negative, -angle, angle))


def _complex_asinh(z: Expr) -> Expr:
    signed_x = real(z)
    is_negative = signed_x < 0
    signed_y = imaginary(z)
    w = asin_acos_kernel(make_complex(-signed_y, signed_x))
    im = imaginary(w)
    return make_complex(select(is_negative, -im, im), atan2(signed_y, real(w)))


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
