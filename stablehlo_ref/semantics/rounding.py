"""Exact numbers and rounding: floating-point formats, `round_to`, `wrap`, and bit patterns.

A finite nonzero real number is an `int`, a `Fraction` or an `mpf`; a Python `float` represents the zeros -0.0 and
+0.0, the infinities and NaN. A complex number is the pair of its parts.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np

from stablehlo_ref.semantics.notation import (
    DType,
    complex_element_type,
    is_boolean,
    is_complex,
    is_float,
    is_integer,
    max_value,
    min_value,
    num_bits,
)

Real = Any  # int | Fraction | mpf | float, see above; mpmath is not typed
Complex = tuple[Real, Real]

inf, nan = math.inf, math.nan


@dataclass(frozen=True)
class Format:
    """A floating-point format: its finite values are `n * 2**(e - mantissa_bits)`, `1 - bias <= e`, up to `largest`."""

    mantissa_bits: int
    bias: int
    largest: float
    has_infinity: bool = True
    has_nan: bool = True
    has_negative_zero: bool = True
    is_positive: bool = False  # without zero, subnormal numbers and sign

    @property
    def min_exponent(self) -> int:
        return -self.bias if self.is_positive else 1 - self.bias


FORMATS = {
    "float4_e2m1fn": Format(1, 1, 6.0, has_infinity=False, has_nan=False),
    "float6_e2m3fn": Format(3, 1, 7.5, has_infinity=False, has_nan=False),
    "float6_e3m2fn": Format(2, 3, 28.0, has_infinity=False, has_nan=False),
    "float8_e3m4": Format(4, 3, 15.5),
    "float8_e4m3": Format(3, 7, 240.0),
    "float8_e4m3fn": Format(3, 7, 448.0, has_infinity=False),
    "float8_e4m3fnuz": Format(3, 8, 240.0, has_infinity=False, has_negative_zero=False),
    "float8_e4m3b11fnuz": Format(3, 11, 30.0, has_infinity=False, has_negative_zero=False),
    "float8_e5m2": Format(2, 15, 57344.0),
    "float8_e5m2fnuz": Format(2, 16, 57344.0, has_infinity=False, has_negative_zero=False),
    "float8_e8m0fnu": Format(0, 127, 2.0**127, has_infinity=False, has_negative_zero=False, is_positive=True),
    "bfloat16": Format(7, 127, (2 - 2.0**-7) * 2.0**127),
    "float16": Format(10, 15, (2 - 2.0**-10) * 2.0**15),
    "float32": Format(23, 127, (2 - 2.0**-23) * 2.0**127),
    "float64": Format(52, 1023, (2 - 2.0**-52) * 2.0**1023),
}
TF32 = Format(10, 127, (2 - 2.0**-10) * 2.0**127)  # of algorithms of dot_general, and of no array


@cache
def format_of(dtype: DType) -> Format:
    """Return the format of a floating-point type."""
    return FORMATS[dtype.name]


@cache
def power_of_two(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def is_nan(x: Real) -> bool:
    return bool(x != x)


def is_special(x: Real) -> bool:
    """Return whether `x` is a zero, an infinity or NaN."""
    return isinstance(x, float)


def is_negative(x: Real) -> bool:
    """Return whether the sign of `x` is negative; that of -0.0 is."""
    return math.copysign(1.0, x) < 0 if is_special(x) else bool(x < 0)


def with_sign_of(x: Real, sign: Real) -> Real:
    """Return `x`, which is nonnegative, with the sign of `sign`: `copySign` of IEEE-754."""
    return -x if is_negative(sign) else x


def exact(x: Any) -> Real:
    """Return a Python number or an mpf as a real number; an mpf is truncated below the range of every format."""
    if isinstance(x, Fraction):
        return x or 0.0
    if isinstance(x, mpmath.mpf):
        if not mpmath.isnormal(x):
            return float(x)
        if abs(mpmath.mag(x)) > 10_000:
            return with_sign_of(Fraction(2) ** (10_000 if mpmath.mag(x) > 0 else -10_000), x)
        numerator, denominator = mpmath.libmp.to_rational(x._mpf_)
        return Fraction(int(numerator), int(denominator))
    if isinstance(x, float) and not (math.isfinite(x) and x):
        return x
    return Fraction(x) or 0.0


def exponent(magnitude: Fraction) -> int:
    """Return the `e` for which `2**e <= magnitude < 2**(e + 1)`."""
    guess = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    return guess if power_of_two(guess) <= magnitude else guess - 1


def nearest(magnitude: Fraction, mantissa_bits: int, min_exponent: int) -> Fraction:
    """Round `magnitude` to a multiple of the unit in the last place with `mantissa_bits` bits, ties to even."""
    unit = power_of_two(max(exponent(magnitude), min_exponent) - mantissa_bits)
    return round(magnitude / unit) * unit  # Python's round takes ties to even


def round_to(dtype: DType, x: Any) -> Any:
    """Return the element of the floating-point type `dtype` that is nearest to `x`."""
    return dtype.type(rounded_to(dtype, x))


def rounded_to(type: DType | str, x: Any) -> float:
    """Round the number `x` to a floating-point type, or to `tf32`, ties to even.

    In formats without infinity, NaN represents it; in those without both, the largest value represents infinity and
    -0.0 NaN. Formats without a negative zero use zero, and a format of positive numbers uses NaN for zero and negative
    numbers.
    """
    form = TF32 if isinstance(type, str) else format_of(type)
    x = exact(x)
    if is_nan(x):
        return nan if form.has_nan else -0.0
    if form.is_positive and not x > 0:
        return nan
    magnitude: Any = abs(x)
    if not is_special(magnitude):
        magnitude = nearest(magnitude, form.mantissa_bits, form.min_exponent)
    if form.is_positive:
        magnitude = max(magnitude, power_of_two(form.min_exponent))
    if magnitude > form.largest:
        magnitude = inf if form.has_infinity else nan if form.has_nan else form.largest
    if magnitude == 0 and not form.has_negative_zero:
        return 0.0
    return float(with_sign_of(float(magnitude), x))


def enough_bits(dtype: DType) -> int:
    """Return a precision that distinguishes elementary functions of elements of `dtype` from ties.

    The distance can be as small as that of sin(x) from x, and terms can cancel as much as in cos(x) + x: twice the
    range of exponents.
    """
    form = format_of(complex_element_type(dtype) if is_complex(dtype) else dtype)
    return 2 * (2 * form.bias + form.mantissa_bits) + 100


def correctly_rounded(dtype: DType, function: Callable[..., Real], *arguments: Real) -> Any:
    """Round `function(*arguments)` to `dtype`, with more bits if an error bound requires them."""
    for precision in (200, enough_bits(dtype)):
        with mpmath.workprec(precision):
            value = function(*arguments)
        if not isinstance(value, mpmath.mpf):
            break
        error = abs(exact(value)) / 2 ** (precision - 20)
        least, greatest = round_to(dtype, exact(value) - error), round_to(dtype, exact(value) + error)
        if least == greatest:
            break
    return round_to(dtype, value)


def wrap(dtype: DType, n: int) -> Any:
    """Return the element of the integer type `dtype` that is congruent to `n` modulo two to its bit width."""
    least = min_value(dtype)
    return dtype.type((n - least) % (1 << num_bits(dtype)) + least)


def saturate(dtype: DType, n: int) -> Any:
    """Return the element of the integer type `dtype` that is nearest to `n`."""
    return dtype.type(max(min_value(dtype), min(n, max_value(dtype))))


def number(element: Any) -> Any:
    """Return the value of an element: a `bool`, an `int`, a real number, or a pair of real numbers."""
    dtype = element.dtype
    if is_boolean(dtype):
        return bool(element)
    if is_integer(dtype):
        return int(element)
    if is_complex(dtype):
        return exact(float(element.real)), exact(float(element.imag))
    return exact(float(element))


def element(dtype: DType, value: Any) -> Any:
    """Return the element of `dtype` for a `bool`, an `int`, a real number or a pair of them, rounded at most once."""
    if is_boolean(dtype):
        return np.bool_(value)
    if is_integer(dtype):
        return wrap(dtype, value)
    if is_float(dtype):
        return round_to(dtype, value)
    part = complex_element_type(dtype)
    return complex_element(round_to(part, value[0]), round_to(part, value[1]))


def complex_element(real: Any, imag: Any) -> Any:
    """Return the complex element with these parts, including signs of zeros."""
    parts = np.array([real, imag])
    return parts.view(f"complex{2 * num_bits(parts.dtype)}")[0]


def bits(element: Any) -> int:
    """Return the bit pattern of an element as an unsigned integer of the width of its type."""
    if is_boolean(element.dtype):
        return int(element)
    return int.from_bytes(element.tobytes(), "little") % (1 << num_bits(element.dtype))


def from_bits(dtype: DType, pattern: int) -> Any:
    """Return the element of `dtype` with this bit pattern."""
    if is_boolean(dtype) or is_integer(dtype):
        return element(dtype, pattern)
    return np.frombuffer(pattern.to_bytes(dtype.itemsize, "little"), dtype)[0]


def total_order(element: Any) -> int:
    """Return an integer that orders floating-point elements as `totalOrder` of IEEE-754."""
    form, width = format_of(element.dtype), num_bits(element.dtype)
    if form.is_positive:
        return bits(element)
    sign, magnitude = divmod(bits(element), 1 << width - 1)
    if is_nan(float(element)):
        magnitude += 1 << width
    return -1 - magnitude if sign else magnitude


def converted(element_type: DType, value: Any) -> Any:
    """Apply `convert` to a `bool`, an `int`, a real number or a pair of them.

    Integers wrap. Floats converted to integers are truncated and saturate, and NaN becomes zero. Conversion from
    complex numbers ignores the imaginary part, and conversion to complex numbers sets it to zero.
    """
    if is_complex(element_type):
        return element(element_type, value if isinstance(value, tuple) else (value, 0))
    if isinstance(value, tuple):
        value = value[0]
    if is_boolean(element_type):
        return np.bool_(value != 0)
    if is_float(element_type):
        return round_to(element_type, value)
    if isinstance(value, int):
        return element(element_type, value)
    if is_nan(value):
        return element(element_type, 0)
    return saturate(element_type, int(max(-(2**64), min(value, 2**64))))
