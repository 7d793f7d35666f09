"""Kernels of complex<f64> in the reproducible mode: both parts of results are rounded correctly.

Functions are those of mpmath, with as many bits as decide the rounding; products and quotients are exact. The default
kernels give results for infinities, NaNs and poles, and the signs of zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from math import copysign, isnan, nan
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.budget import check_time, within_time
from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics.blocks import from_parts, partwise
from stablehlo_ref.numerics.correct_rounding import rounded_to_f64
from stablehlo_ref.numerics.double_double import Pair, two_product, two_sum
from stablehlo_ref.numerics.dtypes import COMPLEX128
from stablehlo_ref.numerics.exact_sums import exact_product_sum, nearest
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.multiple_precision import MANY_BITS, Number, context, nearest_f64

Complex: TypeAlias = Any  # a complex number of mpmath
Function: TypeAlias = Callable[..., Complex]
ExactParts: TypeAlias = Callable[..., tuple[float | None, float | None]]  # None for a zero, NaN for the default's
Replace: TypeAlias = Callable[[ArrayKernel], ArrayKernel]  # from the default kernel to one for the mode

SMALLEST, LARGEST = 2.0**-480, 2.0**500  # of factors whose products are exact in two f64
ERROR = 2.0**-100  # relative to the larger of two products

_BITS = 320  # that are computed at least
_NEGATIVE_ZERO = -100_000  # exponent of the power of two that stands for it, far below those of f64


# --- functions in multiple precision --------------------------------------------------------------------------------


def decided(function: Function) -> ExactParts:
    """Return a function from parts of operands to those of the result, both rounded correctly.

    It is computed with twice as many bits until both parts round alike twice. At first there are as many bits as sums
    of the operands, of their squares, and of 1 have. mpmath has no negative zero: that becomes a number below all
    others, so that it chooses the side of a branch cut.
    """

    def run(*parts: float, near: float | None = None) -> tuple[float | None, float | None]:
        ctx, last = context(), None
        numbers = [-ctx.ldexp(1, _NEGATIVE_ZERO) if x == 0 and copysign(1.0, x) < 0 else ctx.mpf(x) for x in parts]
        operands = list(map(ctx.mpc, numbers[::2], numbers[1::2]))
        bits = _BITS + 2 * sum(abs(ctx.mag(x)) for x in parts if x)
        try:
            while True:
                check_time()
                with ctx.workprec(bits):
                    result = ctx.mpc(function(*operands) if near is None else function(*operands, near))
                    (x, x_is_tie), (y, y_is_tie) = nearest_f64(result.real), nearest_f64(result.imag)
                values = x if result.real else None, y if result.imag else None
                is_decided = function in MAY_BE_EXACT or not (x_is_tie or y_is_tie)
                if (values == last and is_decided) or bits > MANY_BITS:
                    return values
                last, bits = values, 2 * bits
        except ZeroDivisionError:  # a pole
            return nan, nan

    return run


def _named(name: str) -> Function:
    """Return the function that mpmath has by this name."""
    return lambda *operands: getattr(context(), name)(*operands)


def _inverse(name: str) -> Function:
    """Return an inverse function that mpmath has, for which a zero is a number above 0."""

    def run(z: Complex) -> Complex:
        ctx, zero = context(), context().ldexp(1, _NEGATIVE_ZERO)
        return getattr(ctx, name)(ctx.mpc(z.real or zero, z.imag or zero))

    return run


exponential, log, sqrt, sine, cosine, tan, tanh = map(_named, ("exp", "log", "sqrt", "sin", "cos", "tan", "tanh"))
sinh, cosh = map(_named, ("sinh", "cosh"))
asin, acos, acosh, asinh = map(_inverse, ("asin", "acos", "acosh", "asinh"))


def exponential_minus_one(z: Complex) -> Complex:
    return exponential(z) - 1


def log_plus_one(z: Complex) -> Complex:
    return log(1 + z)


def logistic(z: Complex) -> Complex:
    return 1 / (1 + exponential(-z))


def rsqrt(z: Complex) -> Complex:
    return 1 / sqrt(z)


def cbrt(z: Complex) -> Complex:
    return exponential(log(z) / 3)


def atanh(z: Complex) -> Complex:
    """Return log1p(4a / ((1 - a)**2 + b**2)) / 4 with the sign of a, and the angle of 1 - |z|**2 + 2bi by two."""
    a, b = abs(z.real), z.imag
    real = precise.log_plus_one(4 * a / ((1 - a) ** 2 + b * b)) / 4
    angle = precise.atan2(2 * b, (1 - a) * (1 + a) - b * b) / 2
    return context().mpc(-real if z.real < 0 else real, angle)


def atan(z: Complex) -> Complex:
    w = atanh(context().mpc(z.imag, z.real))
    return context().mpc(w.imag, w.real)


def asin_acos_kernel(z: Complex) -> Complex:
    """Return the real part of sqrt(1 - z) sqrt(1 + z), and the magnitude of the imaginary part of asin z."""
    return context().mpc((sqrt(1 - z) * sqrt(1 + z)).real, abs(asin(z).imag))


def absolute(z: Complex) -> Complex:
    return abs(z)


def sign(z: Complex) -> Complex:
    return z / abs(z) if z else z


def power(z: Complex, w: Complex) -> Complex:
    """Count right angles separately, so that powers on the axes and diagonals are exact; NaN for z = 0."""
    ctx = context()
    if not z:
        return ctx.mpc(ctx.nan, ctx.nan)
    (a, b), (c, d), right_angle = (z.real, z.imag), (w.real, w.imag), ctx.pi / 2
    size, side = log(abs(z)), ctx.mpf(-1 if b < 0 else 1)
    if abs(a) == abs(b):
        quarters, rest = side * (1 if a > 0 else 3) / 2, ctx.zero
    elif abs(b) > abs(a):
        quarters, rest = side, -precise.atan(a / b)
    else:
        quarters, rest = ctx.zero if a > 0 else 2 * side, precise.atan(b / a)
    radius = exponential(c * size - d * (quarters * right_angle + rest))
    whole = ctx.nint(c * quarters)
    angle = (c * quarters - whole) * right_angle + (d * size + c * rest)
    return radius * ctx.mpc(precise.cosine(angle), precise.sine(angle)) * ctx.mpc(0, 1) ** (int(whole) % 4)


def atan2(y: Complex, x: Complex, near: float) -> Complex:
    """Return -i log q with q = (x + iy) / sqrt(x**2 + y**2).

    |q|**4 is |x + iy|**2 / |x - iy|**2, and q**2 has the angle of |x|**2 - |y|**2 + 2i Re(x conj(y)). Which of the two
    numbers with this square is q depends on the signs of zeros, if there are any; then its angle is `near`.
    """
    ctx = context()
    if _is_zero(x.imag) and _is_zero(y.imag):
        return _angle(y.real, x.real)
    (a, b), (c, d) = (y.real, y.imag), (x.real, x.imag)
    above, below = (c - b) ** 2 + (d + a) ** 2, (c + b) ** 2 + (d - a) ** 2
    if not above or not below:
        return ctx.mpc(ctx.nan, ctx.nan)
    less_one = 4 * (a * d - b * c) / below
    size = (precise.log_plus_one(less_one) if less_one > -0.5 else precise.log(above / below)) / 4
    half = _angle(2 * (a * c + b * d), c * c + d * d - a * a - b * b) / 2
    q = ctx.mpc(c - b, d + a) / sqrt(ctx.mpc(c * c - d * d + a * a - b * b, 2 * (a * b + c * d)))
    angle = near if any(map(_is_zero, (a, b, c, d))) else _angle(q.imag, q.real)
    if half and abs(angle) > 3:  # next to the branch cut, where the side is that of the half
        return ctx.mpc(half - ctx.pi * ctx.sign(half), -size)
    return ctx.mpc(half + ctx.nint((angle - half) / ctx.pi) * ctx.pi, -size)


def _is_zero(x: Number) -> bool:
    """Return whether an operand is a zero of either sign."""
    return not x or context().mag(x) <= _NEGATIVE_ZERO / 2


def _angle(y: Number, x: Number) -> Number:
    """Return the angle of (x, y); of the origin by the signs of its zeros, as C does."""
    if _is_zero(x) and _is_zero(y):
        return context().pi * (-1 if y < 0 else 1) if x < 0 else y
    return precise.atan2(y, x)


MAY_BE_EXACT: frozenset[Function] = frozenset((power, absolute))  # results that are ties


# --- kernels --------------------------------------------------------------------------------------------------------


def replaced_by(exact: Function) -> Replace:
    """Return what makes the kernel of a function in multiple precision."""
    return lambda default: _kernel(decided(exact), default)


def quotient(default: ArrayKernel) -> ArrayKernel:
    """Return the kernel of quotients."""
    return _kernel(_exact_quotient, default)


def _exact_quotient(a: float, b: float, c: float, d: float) -> tuple[float | None, float | None]:
    p, q, r, s = map(Fraction, (a, b, c, d))
    norm = r * r + s * s
    if not norm:
        return nan, nan
    real, imag = (p * r + q * s) / norm, (q * r - p * s) / norm
    return (nearest(real) if real else None), (nearest(imag) if imag else None)


def angle_of_quotient(default: ArrayKernel) -> ArrayKernel:
    """Return the kernel of `atan2`."""
    return _kernel(decided(atan2), default, needs_default=True)


def _kernel(of_parts: ExactParts, default: ArrayKernel, needs_default: bool = False) -> ArrayKernel:
    """Return a kernel from a function of the parts of operands and, if it needs that, the default's real part."""

    def run(*operands: Array) -> Array:
        operands = np.broadcast_arrays(*operands)
        result = np.array(default(*operands))
        parts = [part for z in operands for part in (z.real, z.imag)]
        at_zero = reduce(np.logical_or, [part == 0 for part in parts]) & ~np.isfinite(result)
        regular = reduce(np.logical_and, map(np.isfinite, parts)) & ~at_zero
        for i in map(tuple, within_time(np.argwhere(regular).tolist())):
            given = [float(part[i]) for part in parts]
            x, y = of_parts(*given, near=float(result[i].real)) if needs_default else of_parts(*given)
            result[i] = complex(_part(x, result[i].real, given), _part(y, result[i].imag, given))
        return result[()]

    return run


def _part(exact: float | None, default: float, operands: Sequence[float]) -> float:
    """Return a part of a result; the default kernel knows the signs of zeros, and poles."""
    if exact is None:
        return copysign(0.0, default)
    return default if isnan(exact) or (default == 0 and 0 in operands) else exact


def modulus(default: ArrayKernel) -> ArrayKernel:
    """Return the kernel of the modulus, which is real."""
    kernel = _kernel(decided(absolute), lambda z: default(z).astype(COMPLEX128))
    return lambda z: kernel(z).real


def power_of_complex(default: ArrayKernel) -> ArrayKernel:
    """Return the kernel of powers; those of real numbers are computed as such, which takes no more digits than f64."""
    of_complex, of_reals = _kernel(decided(power), default), rounded_to_f64(np.power, precise.power)

    def run(z: Array, w: Array) -> Array:
        z, w = np.broadcast_arrays(z, w)
        finite = np.isfinite(z.real) & np.isfinite(w.real) & (z.real != 0)
        is_real = (z.imag == 0) & (w.imag == 0) & finite & ((z.real > 0) | (np.rint(w.real) == w.real))
        if not is_real.any():
            return of_complex(z, w)
        result = np.empty(z.shape, COMPLEX128)
        result[~is_real] = of_complex(z[~is_real], w[~is_real])
        result[is_real] = real_powers(z[is_real], w[is_real])
        return result[()]

    def real_powers(z: Array, w: Array) -> Array:
        return from_parts(of_reals(z.real, w.real), np.copysign(0.0, default(z, w).imag))

    return run


def square(default: ArrayKernel) -> ArrayKernel:
    """Return the kernel of squares."""
    return partwise(lambda a, b: (sum_of_products(a, a, -b, b), sum_of_products(a, b, a, b)), COMPLEX128, default)


def product(default: ArrayKernel) -> ArrayKernel:
    """Return the kernel of products."""
    return partwise(_product, COMPLEX128, _product_with_nans)


def _product_with_nans(z: Array, w: Array) -> Array:
    """Multiply by the formula; finite parts are replaced by their signs, so that no product of theirs overflows."""
    parts = [np.where(np.isfinite(x), np.sign(x), x) for x in (z.real, z.imag, w.real, w.imag)]
    return from_parts(*_product(*parts))


def _product(a: Array, b: Array, c: Array, d: Array) -> Pair:
    return sum_of_products(a, c, -b, d), sum_of_products(a, d, b, c)


def sum_of_products(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Return a * b + c * d of arrays of one shape, exact and rounded once.

    Infinities and NaNs are as in IEEE-754 arithmetic.
    """
    plain = a * b + c * d
    (p, e), (q, f) = two_product(a, b), two_product(c, d)
    high, middle = two_sum(p, q)
    low, lowest = two_sum(e, f)
    high, low = two_sum(high, middle + low)
    error = np.maximum(np.abs(p), np.abs(q)) * ERROR
    result = np.where(plain == 0, plain, high + (low + lowest))
    moderate = [(np.abs(x) > SMALLEST) & (np.abs(x) < LARGEST) | (x == 0) for x in (a, b, c, d)]
    is_open = (high + (low + error) != high + (low - error)) | ~np.logical_and.reduce(moderate)
    vanishes = (p == -q) & (e == -f) & np.logical_and.reduce(moderate)
    finite = np.logical_and.reduce([np.isfinite(x) for x in (a, b, c, d)])
    for i in map(tuple, within_time(np.argwhere(is_open & ~vanishes & finite))):
        exact = exact_product_sum((float(a[i]), float(c[i])), (float(b[i]), float(d[i])))
        result[i] = nearest(exact) if exact or plain[i] else plain[i]
    total: Array = np.where(finite, result, plain)
    return total
