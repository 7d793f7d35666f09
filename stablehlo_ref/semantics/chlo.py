"""CHLO's ops, element by element: functions by mpmath, rounded once; other ops following upstream's op descriptions.

Operands are numbers as in `rounding`. What the descriptions leave open is as in stablehlo_ref: `digamma` at 0 is
infinite with the sign of the pole on that side, `zeta` is NaN at poles without a limit, and complex numbers follow C's
Annex G.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

from stablehlo_ref.semantics import complexes, elementwise
from stablehlo_ref.semantics.data_movement import broadcast_in_dim
from stablehlo_ref.semantics.elements import BOOLEAN, each_element, each_number
from stablehlo_ref.semantics.notation import (
    Array,
    Dims,
    index_space,
    is_boolean,
    is_complex,
    is_float,
    is_integer,
    num_bits,
    rank,
)
from stablehlo_ref.semantics.rounding import (
    Complex,
    Real,
    bits,
    complex_element,
    exact,
    format_of,
    from_bits,
    inf,
    is_nan,
    nan,
    number,
    round_to,
    total_order,
    with_sign_of,
    wrap,
)

Function = Callable[..., Real]

# Functions of one operand


def unary(
    function: Function,
    zero: Real | None,
    plus: Real,
    minus: Real,
    least: Real = -inf,
    most: Real = inf,
    complex: Callable[[Complex], Complex] | None = None,
) -> Callable[[Array], Array]:
    """Extend a function by its values at ±0 (`None`: ±0 itself), +inf and -inf, and NaN outside of [least, most].

    `complex` is the function of complex numbers, if it has one.
    """

    def evaluate(x: Real) -> Real:
        if is_nan(x) or not least <= x <= most:
            return nan
        if x == 0:
            return x if zero is None else zero
        if abs(x) == inf:
            return plus if x > 0 else minus
        return finite(function(mpf(x)))

    return lambda operand: each_number(operand, floating=evaluate, complex=complex)


BEYOND = 5000  # two to this power is greater than a number of any type
TINY = Fraction(1, 2**BEYOND)  # less than a number of any type


def of_complex(function: Callable[[Any], Any], of_special: Callable[[Any], Any]) -> Callable[[Complex], Complex]:
    """Return a function of mpmath as one of pairs; `of_special` has its values where a part is infinite or NaN.

    mpmath has no signed zeros. They select the side of a branch cut, so a part that is zero is moved to that side.
    """

    def evaluate(z: Complex) -> Complex:
        if any(is_nan(x) or abs(x) == inf for x in z):
            w = of_special(complex_element(np.float64(z[0]), np.float64(z[1])))
            return float(w.real), float(w.imag)
        w = function(mp.mpc(*(mpf(x or with_sign_of(TINY, x)) for x in z)))
        return exact(w.real), exact(w.imag)

    return evaluate


def mpf(x: Real) -> Any:
    return mp.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mp.mpf(x)


def finite(y: Any) -> Real:
    """Return an mpf, with zeros and infinities as floats, and within the largest and least number of any type."""
    if not mpmath.isnormal(y):
        return float(y)
    return y if abs(size := mp.mag(y)) < BEYOND else mp.ldexp(mp.sign(y), BEYOND if size > 0 else -BEYOND)


def _erf_inv(x: Any) -> Any:
    """Compute the inverse with Halley's method on erf or, near 1, on erfc."""
    if abs(x) == 1:
        return with_sign_of(inf, x)
    near_one, rest = abs(x) > 0.5, 1 - abs(x)
    y = mp.sqrt(-mp.log(rest * (1 + abs(x)))) * 0.85 if near_one else abs(x)
    for _ in range(200):
        step = (mp.erfc(y) - rest if near_one else abs(x) - mp.erf(y)) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
        y += step / (1 + y * step)
        if abs(step) <= abs(y) * mp.eps * 16:
            break
    return with_sign_of(y, x)


def _log_gamma(x: Any) -> Any:
    return inf if is_natural(-x) else mp.log(abs(mp.gamma(x))) if x < 100 else mp.loggamma(x)


def _bessel_i1e(x: Any) -> Any:
    return mp.besseli(1, x) * mp.exp(-abs(x))


def is_natural(x: Any) -> bool:
    """Return whether `x` is a nonnegative integer."""
    return bool(x >= 0 and x == int(x))


acos = unary(mp.acos, mp.pi / 2, nan, nan, least=-1, most=1, complex=of_complex(mp.acos, np.arccos))
acosh = unary(mp.acosh, nan, inf, nan, least=1, complex=of_complex(mp.acosh, np.arccosh))
asin = unary(mp.asin, None, nan, nan, least=-1, most=1, complex=of_complex(mp.asin, np.arcsin))
asinh = unary(mp.asinh, None, inf, -inf, complex=of_complex(mp.asinh, np.arcsinh))
atan = unary(mp.atan, None, mp.pi / 2, -mp.pi / 2, complex=of_complex(mp.atan, np.arctan))
atanh = unary(
    lambda x: with_sign_of(inf, x) if abs(x) == 1 else mp.atanh(x), None, nan, nan, least=-1, most=1,
    complex=of_complex(mp.atanh, np.arctanh),
)  # fmt: skip
bessel_i1e = unary(_bessel_i1e, None, 0.0, -0.0)
cosh = unary(mp.cosh, 1, inf, inf, complex=of_complex(mp.cosh, np.cosh))
erf = unary(mp.erf, None, 1, -1)
erf_inv = unary(_erf_inv, None, nan, nan, least=-1, most=1)
erfc = unary(lambda x: mp.erfc(min(x, 1000)), 1, 0.0, 2)
lgamma = unary(_log_gamma, inf, inf, inf)
sinh = unary(mp.sinh, None, inf, -inf, complex=of_complex(mp.sinh, np.sinh))
square = unary(lambda x: x * x, 0.0, inf, inf, complex=lambda z: complexes.multiplication(z, z))
tan = unary(mp.tan, None, nan, nan, complex=complexes.tangent)


def _digamma(x: Real) -> Real:
    if x == 0:
        return with_sign_of(inf, -x)
    if is_nan(x) or x == -inf:
        return nan
    return x if x == inf else nan if is_natural(-x) else finite(mp.digamma(mpf(x)))


def digamma(operand: Array) -> Array:
    return each_number(operand, floating=_digamma)


# Functions of two operands


def hurwitz(s: Any, q: Any) -> Any:
    """Return the sum of (q + k)**-s for k >= 0, by its first terms and the Euler-Maclaurin formula for the rest.

    Far below zero, and where terms cancel out, as `s` is an integer and `q` not a pole: the sum over all integers
    without those below `q`.
    """
    sign, above = -1 if int(s) % 2 else 1, q - mp.floor(q)
    if q < -60 or (q < 0 and sign < 0 and above == 0.5):
        with mpmath.extraprec(80):
            around = hurwitz(s, above) + sign * hurwitz(s, 1 - above) if sign > 0 or above != 0.5 else 0
            return around - sign * hurwitz(s, 1 - q)
    first, total = 60 + max(0, int(s / 2 - q)), mp.mpf(0)
    for k in range(first):
        total += (term := (q + k) ** -s)
        if q + k > 1 and term < abs(total) * mp.eps**2:
            return total
    a = q + first
    total += a ** (1 - s) / (s - 1) + a**-s / 2
    term = s / a ** (s + 1)
    for j in range(1, 40):
        total += mp.bernoulli(2 * j) / mp.factorial(2 * j) * term
        term *= (s + 2 * j - 1) * (s + 2 * j) / a**2
    return total


def _zeta(s: Real, q: Real) -> Real:
    if is_nan(s) or is_nan(q) or s < 1:
        return nan
    if s == 1:
        return inf
    if q <= 0 and (q == -inf or is_natural(-q)):
        return inf if s != inf and s == int(s) and int(s) % 2 == 0 else nan
    if s == inf:
        return nan if q < 0 else inf if q < 1 else 1 if q == 1 else 0.0
    if q < 0 and s != int(s):
        return nan
    if q == inf:
        return 0.0
    with mpmath.extraprec(max(0, mp.mag(mpf(q)), mp.mag(mpf(s)))):  # for the bits of q + 1, and the last of s
        return hurwitz(mpf(s), mpf(q))


def zeta(lhs: Array, rhs: Array) -> Array:
    """Return the Hurwitz zeta function of s = lhs, q = rhs."""
    return each_number(lhs, rhs, floating=lambda s, q: finite(_zeta(s, q)))


def _polygamma(n: Real, x: Real) -> Real:
    if is_nan(n) or is_nan(x) or n == inf or not is_natural(n):
        return nan
    if n == 0:
        return _digamma(x)
    value = _zeta(n + 1, x)
    sign = 1 if int(n) % 2 else -1
    return sign * value if isinstance(value, float) else finite(sign * mp.factorial(int(n)) * value)


def polygamma(lhs: Array, rhs: Array) -> Array:
    """Return derivative number lhs of digamma at rhs: (-1)**(n + 1) n! zeta(n + 1, x) for n > 0."""
    return each_number(lhs, rhs, floating=_polygamma)


def next_after(lhs: Array, rhs: Array) -> Array:
    """Return the number after lhs in the direction of rhs; rhs if they are equal, NaN if one is NaN."""
    form = format_of(lhs.dtype)

    def step(x: Any, y: Any) -> Any:
        a, b = float(x), float(y)
        if is_nan(a) or is_nan(b):
            return round_to(lhs.dtype, nan)
        if a == b:
            return y
        if a == 0:
            return from_bits(lhs.dtype, 1 | (b < 0) << num_bits(lhs.dtype) - 1)
        result = from_bits(lhs.dtype, bits(x) + (1 if (b > a) == (a > 0) else -1))
        return round_to(lhs.dtype, 0.0) if abs(a) > 0 and _left_zero(result, form.has_negative_zero, a) else result

    return each_element(step, lhs, rhs, element_type=lhs.dtype)


def _left_zero(result: Any, has_negative_zero: bool, origin: float) -> bool:
    """Return whether a step reached the bits that would be -0 in a format without -0."""
    return not has_negative_zero and origin < 0 and is_nan(float(result))


def mulhi(lhs: Array, rhs: Array) -> Array:
    """Return the upper half of the product."""
    width = num_bits(lhs.dtype)
    return each_element(lambda x, y: wrap(lhs.dtype, int(x) * int(y) >> width), lhs, rhs, element_type=lhs.dtype)


# Complex numbers


def asin_acos_kernel(operand: Array) -> Array:
    """Return `w`, from which asin and acos follow: `asin(z) = atan2(Re z, Re w) + i sign(Im z) Im w`."""

    def kernel(z: Any) -> Any:
        return mp.mpc(mp.re(mp.sqrt(1 - z * z)), abs(mp.im(mp.asin(z))))

    of_special = lambda z: complex_element(np.sqrt(1 - z * z).real, np.abs(np.arcsin(z).imag))  # noqa: E731
    return each_number(operand, complex=of_complex(kernel, of_special))


def conj(operand: Array) -> Array:
    """Return `(Re z, -Im z)`; real numbers are unchanged."""
    if not is_complex(operand.dtype):
        return operand
    return each_element(lambda z: complex_element(z.real, -z.imag), operand, element_type=operand.dtype)


# Predicates


def is_inf(operand: Array) -> Array:
    return each_number(operand, floating=lambda x: x in (inf, -inf), result=BOOLEAN)


def is_pos_inf(operand: Array) -> Array:
    return each_number(operand, floating=lambda x: x == inf, result=BOOLEAN)


def is_neg_inf(operand: Array) -> Array:
    return each_number(operand, floating=lambda x: x == -inf, result=BOOLEAN)


# Structured ops


def broadcasting(op: Callable[..., Array]) -> Callable[..., Array]:
    """Return an op that broadcasts its operands to one shape, and then applies `op`.

    Shapes are aligned at their last dimensions, as in numpy. Or dimension i of the operand of lower rank (of `lhs`, if
    the ranks are equal) is aligned with dimension `broadcast_dimensions[i]` of the other, if their shapes differ.
    """

    def evaluate(*operands: Array, broadcast_dimensions: Dims | None = None, **attributes: Any) -> Array:
        most = max(map(rank, operands))
        places = [tuple(range(most - rank(x), most)) for x in operands]
        if broadcast_dimensions is not None and operands[0].shape != operands[-1].shape:
            smaller = min(range(len(operands)), key=lambda i: rank(operands[i]))
            places[smaller] = broadcast_dimensions
        shape = [1] * most
        for x, dimensions in zip(operands, places):
            for d, size in zip(dimensions, x.shape, strict=True):
                shape[d] = size if shape[d] == 1 else shape[d]
        wide = (broadcast_in_dim(x, d, result=(tuple(shape), x.dtype)) for x, d in zip(operands, places))
        return op(*wide, **attributes)

    return evaluate


broadcast_add = broadcasting(elementwise.add)
broadcast_and = broadcasting(elementwise.and_)
broadcast_atan2 = broadcasting(elementwise.atan2)
broadcast_compare = broadcasting(elementwise.compare)
broadcast_complex = broadcasting(elementwise.complex)
broadcast_divide = broadcasting(elementwise.divide)
broadcast_maximum = broadcasting(elementwise.maximum)
broadcast_minimum = broadcasting(elementwise.minimum)
broadcast_multiply = broadcasting(elementwise.multiply)
broadcast_next_after = broadcasting(next_after)
broadcast_or = broadcasting(elementwise.or_)
broadcast_polygamma = broadcasting(polygamma)
broadcast_power = broadcasting(elementwise.power)
broadcast_remainder = broadcasting(elementwise.remainder)
broadcast_select = broadcasting(elementwise.select)
broadcast_shift_left = broadcasting(elementwise.shift_left)
broadcast_shift_right_arithmetic = broadcasting(elementwise.shift_right_arithmetic)
broadcast_shift_right_logical = broadcasting(elementwise.shift_right_logical)
broadcast_subtract = broadcasting(elementwise.subtract)
broadcast_xor = broadcasting(elementwise.xor)
broadcast_zeta = broadcasting(zeta)


def order(x: Any) -> int:
    """Return an integer that orders elements as top_k does."""
    if is_float(x.dtype):
        return total_order(x)
    assert is_integer(x.dtype) or is_boolean(x.dtype)
    return int(number(x))


def top_k(operand: Array, k: int) -> tuple[Array, Array]:
    """Return the `k` largest elements of each row and their indices; of equal elements the first is the larger."""
    values = np.empty((*operand.shape[:-1], k), operand.dtype)
    indices = np.empty(values.shape, np.int32)
    for index in index_space(operand.shape[:-1]):
        row = operand[index]
        best = sorted(range(len(row)), key=lambda i: (-order(row[i]), i))[:k]
        values[index], indices[index] = [row[i] for i in best], best
    return values, indices
