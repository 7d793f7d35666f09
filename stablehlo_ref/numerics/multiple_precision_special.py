"""Special functions to 80 digits, as those of `multiple_precision`."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import count
from math import comb, factorial

from stablehlo_ref.budget import check_time
from stablehlo_ref.numerics.multiple_precision import DIGITS, ONE, pi, series, sine, tan

_SHIFTED = Decimal(50)  # from here on, asymptotic series have 80 digits
_SMALL = 200  # factorials up to here are multiplied
_TERMS = 120  # of asymptotic series, at most
_BEYOND = Decimal(10000)  # logarithm of numbers that no f64 number times another is as large as
_END = Decimal(10) ** -(DIGITS + 5)


@cache
def _bernoulli(n: int) -> Fraction:
    if n == 0:
        return Fraction(1)
    if n > 1 and n % 2:
        return Fraction(0)
    return -sum((comb(n + 1, k) * _bernoulli(k) for k in range(n)), Fraction(0)) / (n + 1)


@cache
def bernoulli_over(k: int, divisor: int) -> Decimal:
    """Return the Bernoulli number of index 2k divided by an integer."""
    number = _bernoulli(2 * k) / divisor
    return Decimal(number.numerator) / Decimal(number.denominator)


# --- error functions ------------------------------------------------------------------------------------------------


def erf(x: Decimal) -> Decimal:
    """Sum a series of positive terms (Abramowitz and Stegun, 7.1.6)."""
    square = 2 * x * x
    return 2 / pi().sqrt() * (-x * x).exp() * series(x, lambda n: square / (2 * n + 1))


def erfc(x: Decimal) -> Decimal:
    """Return 1 - erf(x), with as many more digits as cancel."""
    with localcontext() as context:
        context.prec = DIGITS + 20 + int(x * x / 2)
        root_of_pi, square = pi(context.prec - DIGITS).sqrt(), 2 * x * x
        term, total = x, x
        for n in count(1):
            term *= square / (2 * n + 1)
            total += term
            if abs(term) <= abs(total).scaleb(-context.prec):
                return 1 - 2 / root_of_pi * (-x * x).exp() * total
    raise AssertionError("unreachable")


def erf_inv(x: Decimal) -> Decimal:
    """Solve erf(y) = x by Halley's method, for 0 < |x| < 1."""
    magnitude = abs(x)
    y = (-((1 - magnitude) * (1 + magnitude)).ln()).sqrt() * Decimal("0.886")
    for _ in range(100):
        excess = erf(y) - magnitude if magnitude < Decimal("0.5") else (1 - magnitude) - erfc(y)
        step = excess * pi().sqrt() / 2 * (y * y).exp()
        step /= 1 + y * step
        y -= step
        if abs(step) <= y.scaleb(-DIGITS // 2):  # the next step would be below the last digit
            break
    return y.copy_sign(x)


# --- gamma ----------------------------------------------------------------------------------------------------------


def lgamma(x: Decimal) -> Decimal:
    """Return log |gamma(x)| by Stirling's series."""
    if x < Decimal("0.5"):
        return (pi() / abs(_sine_of_pi(x))).ln() - lgamma(1 - x)
    product = ONE
    while x < _SHIFTED:
        product *= x
        x += 1
    total = (x - ONE / 2) * x.ln() - x + (2 * pi()).ln() / 2
    for k in range(1, _TERMS):
        term = bernoulli_over(k, 2 * k * (2 * k - 1)) / x ** (2 * k - 1)
        total += term
        if abs(term) < _END:
            break
    return total - product.ln()


def _sine_of_pi(x: Decimal) -> Decimal:
    """Return sin(pi x), except for its sign."""
    return sine(pi() * (x - x.to_integral_value()))


def digamma(x: Decimal) -> Decimal:
    if x < 0:
        return digamma(1 - x) - pi() / tan(pi() * (x - x.to_integral_value()))
    rest = Decimal(0)
    while x < _SHIFTED:
        rest += 1 / x
        x += 1
    total = x.ln() - 1 / (2 * x)
    for k in range(1, _TERMS):
        term = bernoulli_over(k, 2 * k) / x ** (2 * k)
        total -= term
        if abs(term) < _END:
            break
    return total - rest


# --- zeta -----------------------------------------------------------------------------------------------------------


def zeta(s: Decimal, q: Decimal, unit: Decimal = ONE) -> Decimal:
    """Sum some terms, then use the Euler-Maclaurin formula; for q < 0, reflect the sum over all integers.

    For q < 0, the largest term, that of q less the nearest integer, is added last, so that the digits of the others are
    kept. For q > 0, the result is divided by unit**-s.
    """
    q = _without_pairs(s, q)
    if q < 0:
        r = q - q.to_integral_value()
        mirrored = zeta(s, 1 - r) - zeta(s, 1 - q)
        return r**-s + (zeta(s, 1 + r) + (-mirrored if int(s) % 2 else mirrored))
    total = Decimal(0)
    while q < max(_SHIFTED, s):
        check_time()
        power = (q / unit) ** -s
        total += power
        if power <= total * _END:  # both are 0 where s is huge
            return total
        q += 1
    power = (q / unit) ** -s
    rest = power * (q / (s - 1) + ONE / 2)
    factor = s / q
    for k in range(1, _TERMS):
        term = bernoulli_over(k, factorial(2 * k)) * factor * power
        rest += term
        if abs(term) < abs(total + rest) * _END:
            break
        factor *= (s + (2 * k - 1)) * (s + 2 * k) / (q * q)
    return total + rest


def _without_pairs(s: Decimal, q: Decimal) -> Decimal:
    """Return where zeta has the same value and no terms whose sum is 0: those of k + 1/2 and -k - 1/2 for odd `s`."""
    is_paired = q < 0 and int(2 * q) == 2 * q and int(s) % 2 == 1
    return 1 - q if is_paired else q


def polygamma(n: Decimal, x: Decimal) -> Decimal:
    if n == 0:
        return digamma(x)
    x = _without_pairs(n + 1, x)
    if n < _SMALL:
        result = factorial(int(n)) * zeta(n + 1, x)
    elif x < 0:
        result = lgamma(n + 1).exp() * zeta(n + 1, x)
    else:  # neither factor is in the range of exponents for all n
        log = lgamma(n + 1) - (n + 1) * x.ln()
        result = log.exp() if abs(log) > _BEYOND else log.exp() * zeta(n + 1, x, x)
    return result if int(n) % 2 else result.copy_negate()
