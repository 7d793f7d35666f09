"""The operations of IEEE-754-2019 that the spec names, on real numbers as in `rounding`, without rounding.

The arithmetic is exact. Elementary functions have mpmath's working precision, and are exact in their special cases.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce

from mpmath import mp

from stablehlo_ref.semantics.rounding import Real, inf, is_nan, is_negative, is_special, nan, with_sign_of


def signum(x: Real) -> float:
    """Return special values unchanged, and for other numbers 1 with their sign, to compute with special values."""
    return x if is_special(x) else with_sign_of(1.0, x)  # type: ignore[no-any-return]


def addition(x: Real, y: Real) -> Real:
    if is_special(x) and is_special(y):
        return x + y
    if is_special(x):
        return x or y  # infinities and NaNs absorb other numbers, which absorb zeros
    if is_special(y):
        return y or x
    return x + y or 0.0


def subtraction(x: Real, y: Real) -> Real:
    return addition(x, -y)


def multiplication(x: Real, y: Real) -> Real:
    return signum(x) * signum(y) if is_special(x) or is_special(y) else x * y


def division(x: Real, y: Real) -> Real:
    if y == 0:
        return nan if x == 0 or is_nan(x) else with_sign_of(with_sign_of(inf, x), y)
    if is_special(x) or is_special(y):
        return signum(x) / signum(y)
    return Fraction(x, y) if isinstance(x, int) and isinstance(y, int) else x / y


def remainder(x: Real, y: Real) -> Real:
    """`x - d * y` with `d` the quotient rounded toward zero to an integer; a zero result has the sign of `x`."""
    if is_nan(x) or is_nan(y) or abs(x) == inf or y == 0:
        return nan
    if x == 0 or abs(y) == inf:
        return x
    return x - math.trunc(x / y) * y or with_sign_of(0.0, x)


def total(terms: Sequence[Real]) -> Real:
    return reduce(addition, terms) if terms else 0.0


def negate(x: Real) -> Real:
    return -x


def absolute(x: Real) -> Real:
    return abs(x)


def maximum(x: Real, y: Real) -> Real:
    """NaN if an operand is NaN; +0.0 is larger than -0.0."""
    if is_nan(x) or is_nan(y):
        return nan
    if x == y:
        return y if is_negative(x) else x
    return x if x > y else y


def minimum(x: Real, y: Real) -> Real:
    return -maximum(-x, -y)


def _to_integral(rounding: Callable[[Real], int]) -> Callable[[Real], Real]:
    """Return a `roundToIntegral` operation, which preserves the sign of results that are zero."""
    return lambda x: x if is_special(x) else rounding(x) or with_sign_of(0.0, x)


round_to_integral_toward_positive = _to_integral(math.ceil)
round_to_integral_toward_negative = _to_integral(math.floor)
round_to_integral_ties_to_even = _to_integral(round)
round_to_integral_ties_to_away = _to_integral(lambda x: with_sign_of(math.floor(abs(x) + Fraction(1, 2)), x))


def _extended(
    function: Callable[[Real], Real],
    at_zero: Real | None,
    at_plus_infinity: Real,
    at_minus_infinity: Real,
    least: Real = -inf,
) -> Callable[[Real], Real]:
    """Extend an elementary function by its values at ±0 (`None`: ±0 itself), +inf, -inf; below `least` it is NaN."""

    def evaluate(x: Real) -> Real:
        if is_nan(x) or x < least:
            return nan
        if x == 0:
            return x if at_zero is None else at_zero
        if is_special(x):
            return at_plus_infinity if x > 0 else at_minus_infinity
        return function(x) or 0.0

    return evaluate


# fmt: off
#                                                                          ±0     +inf     -inf
exp = _extended(mp.exp,                                                     1,     inf,     0.0)
expm1 = _extended(mp.expm1,                                              None,     inf,      -1)
log = _extended(mp.log,                                                  -inf,     inf,     nan,  least=0)
logp1 = _extended(lambda x: -inf if x == -1 else mp.log1p(x),            None,     inf,     nan,  least=-1)
sin = _extended(mp.sin,                                                  None,     nan,     nan)
cos = _extended(mp.cos,                                                     1,     nan,     nan)
tan = _extended(mp.tan,                                                  None,     nan,     nan)
sinh = _extended(mp.sinh,                                                None,     inf,    -inf)
cosh = _extended(mp.cosh,                                                   1,     inf,     inf)
tanh = _extended(mp.tanh,                                                None,       1,      -1)
square_root = _extended(mp.sqrt,                                         None,     inf,     nan,  least=0)
cube_root = _extended(lambda x: with_sign_of(mp.cbrt(abs(x)), x),        None,     inf,    -inf)
logistic = _extended(lambda x: 1 / (1 + mp.exp(-x)),           Fraction(1, 2),       1,     0.0)
# fmt: on


def reciprocal_square_root(x: Real) -> Real:
    """Infinite at ±0, with the sign of the zero."""
    return division(1, square_root(x))


def hypot(x: Real, y: Real) -> Real:
    """Infinite if an operand is infinite, even if the other is NaN."""
    if inf in (abs(x), abs(y)):
        return inf
    return square_root(addition(multiplication(x, x), multiplication(y, y)))


def atan2(y: Real, x: Real) -> Real:
    """Return the angle of the point (x, y), in [-pi, pi]."""
    if is_nan(x) or is_nan(y):
        return nan
    if y == 0 or (x == inf and abs(y) != inf):
        return with_sign_of(mp.pi() if is_negative(x) else 0.0, y)
    if x == 0:
        return with_sign_of(mp.pi() / 2, y)
    if abs(x) == inf and abs(y) == inf:
        return with_sign_of(mp.pi() / 4 if x > 0 else 3 * mp.pi() / 4, y)
    if abs(x) == inf:
        return with_sign_of(mp.pi(), y)
    if abs(y) == inf:
        return with_sign_of(mp.pi() / 2, y)
    return mp.atan2(y, x)


# For algorithms on real or complex numbers, the same functions as in `complexes`.

ZERO, NAN = 0.0, nan
root_of_real = square_root


def conjugate(x: Real) -> Real:
    return x


def is_positive(x: Real) -> bool:
    return bool(x > 0)


def is_odd_integer(y: Real) -> bool:
    return not is_special(y) and y == int(y) and int(y) % 2 == 1


def power(x: Real, y: Real) -> Real:
    """`pow`, with special cases in the order of IEEE-754-2019, section 9.2.1."""
    if y == 0 or x == 1:
        return 1
    if is_nan(x) or is_nan(y):
        return nan
    if abs(y) == inf:
        if x == -1:
            return 1
        return inf if (abs(x) > 1) == (y > 0) else 0.0
    if x == 0 or abs(x) == inf:
        magnitude = inf if (abs(x) == inf) == (y > 0) else 0.0
        return with_sign_of(magnitude, x) if is_odd_integer(y) else magnitude
    if x < 0 and y != int(y):
        return nan
    magnitude = mp.power(abs(x), y)
    return with_sign_of(magnitude, x) if is_odd_integer(y) else magnitude
