"""lgamma, digamma, zeta, polygamma and bessel_i1e."""

from __future__ import annotations

import math

from stablehlo_ref.ir.types import FloatType
from stablehlo_ref.passes.chlo.elementary import is_inf
from stablehlo_ref.passes.expressions import (
    Expr,
    absolute,
    at_least_f32,
    chebyshev,
    cosine,
    equal,
    exponential,
    floor,
    infinity,
    is_finite,
    like,
    log,
    log_plus_one,
    not_equal,
    power,
    select,
    sign,
    sine,
    smallest,
    sqrt,
)

# Lanczos' approximation of the gamma function, with g = 7 and nine coefficients.
LANCZOS_GAMMA = 7.0
LANCZOS_BASE = 0.99999999999980993227684700473478
LANCZOS = (
    676.520368121885098567009190444019, -1259.13921672240287047156078755283, 771.3234287776530788486528258894,
    -176.61502916214059906584551354, 12.507343278686904814458936853, -0.13857109526572011689554707,
    9.984369578019570859563e-6, 1.50563273514931155834e-7,
)  # fmt: skip


@at_least_f32
def lgamma(x: Expr) -> Expr:
    """Lanczos' approximation; below 1/2, by the reflection formula of gamma."""
    half = like(x, 0.5)
    reflects = x < half
    negative, one = -x, like(x, 1)
    z = select(reflects, negative, x - one)
    a = like(x, LANCZOS_BASE)
    for index, number in enumerate(LANCZOS, 1):
        coefficient, k = like(x, number), like(x, index)
        a = a + coefficient / (z + k)
    t, log_t = _lanczos_t(x, z)
    quotient = t / log_t
    r = (z + half - quotient) * log_t
    log_a = log(a)
    result = like(x, (math.log(2) + math.log(math.pi)) / 2) + r + log_a
    reflected = _reflected_lgamma(x, half, one, result)
    result = select(reflects, reflected, result)
    return select(is_inf(x), infinity(x), result)


def _lanczos_t(x: Expr, z: Expr) -> tuple[Expr, Expr]:
    """Return `t = z + g + 1/2` and its logarithm."""
    shift = like(x, LANCZOS_GAMMA + 0.5)
    t = shift + z
    base = like(x, math.log(LANCZOS_GAMMA + 0.5))
    return t, base + log_plus_one(z / shift)


def _reflected_lgamma(x: Expr, half: Expr, one: Expr, result: Expr) -> Expr:
    """Return `log(pi) - log(sin(pi f)) - lgamma(1 - x)`, where `f` is the distance of `x` to an integer."""
    magnitude = absolute(x)
    fraction = magnitude - floor(magnitude)
    is_above = half < fraction
    fraction = select(is_above, one - fraction, fraction)
    denominator = log(sine(like(x, math.pi) * fraction))
    reflected = like(x, math.log(math.pi)) - denominator - result
    return select(is_finite(denominator), reflected, -denominator)


@at_least_f32
def digamma(x: Expr) -> Expr:
    """The derivative of Lanczos' approximation; NaN at its poles."""
    half = like(x, 0.5)
    reflects = x < half
    negative, one = -x, like(x, 1)
    z = select(reflects, negative, x - one)
    zero, a = like(x, 0.0), like(x, LANCZOS_BASE)
    derivative = zero
    for index, number in enumerate(LANCZOS, 1):
        coefficient, k = like(x, number), like(x, index)
        term = z + k
        derivative = derivative - coefficient / (term * term)
        a = a + coefficient / term
    t, log_t = _lanczos_t(x, z)
    quotient = derivative / a
    g_over_t = like(x, LANCZOS_GAMMA) / t
    result = log_t + quotient - g_over_t
    reduced = x + absolute(floor(x + 0.5))
    pi = like(x, math.pi)
    angle = pi * reduced
    cos, sin = cosine(angle), sine(angle)
    result = select(reflects, result - (pi * cos) / sin, result)
    is_pole = (x <= zero) & equal(x, floor(x))
    return select(is_pole, like(x, math.nan), result)


# The n-th coefficient of the Euler-Maclaurin formula is the factorial of 2n over the Bernoulli number of index 2n.
EULER_MACLAURIN = (
    -7.1661652561756670113e18, 1.8152105401943546773e17, -4.5979787224074726105e15, 1.1646782814350067249e14,
    -2.950130727918164224e12, 7.47242496e10, -1.8924375803183791606e9, 47900160.0, -1209600.0, 30240.0, -720.0, 12.0,
)  # fmt: skip
LEADING_TERMS = 9


@at_least_f32
def zeta(x: Expr, q: Expr) -> Expr:
    """Hurwitz' zeta function: the first terms of its series, and the rest by the Euler-Maclaurin formula."""
    zero, one = like(q, 0.0), like(q, 1.0)
    negative = -x
    leading = power(q, negative)
    base = q
    for _ in range(LEADING_TERMS):
        base = base + one
        leading = leading + power(base, negative)
    base = base + one
    last = power(base, negative)
    one_x = like(x, 1.0)
    integral = (last * base) / (x - one_x)
    inverse_square = one / (base * base)
    total = zero
    for index, number in enumerate(EULER_MACLAURIN[:-1]):
        degree = 2 * len(EULER_MACLAURIN) - 2 - 2 * index
        factor = x + degree
        factor = factor * (x + (degree - 1))
        total = factor * (inverse_square * (total + like(base, 1.0 / number)))
    half, ratio = like(last, 0.5), x / base
    tail = last * (half + ratio * (like(base, 1.0 / EULER_MACLAURIN[-1]) + total))
    result = leading + integral + tail
    is_converged = _is_negligible(last, leading, base)
    return _zeta_at_special_points(x, q, select(is_converged, leading, result), zero, one, one_x)


def _is_negligible(last: Expr, leading: Expr, base: Expr) -> Expr:
    magnitude, total = absolute(last), absolute(leading)
    return magnitude < total * smallest(base)


def _zeta_at_special_points(x: Expr, q: Expr, result: Expr, zero: Expr, one: Expr, one_x: Expr) -> Expr:
    nan = like(x, math.nan)
    result = select(x < one_x, nan, result)
    is_q_negative = q <= zero
    is_undefined = is_q_negative & not_equal(x, floor(x))
    result = select(is_undefined, nan, result)
    inf = infinity(x)
    is_pole = is_q_negative & equal(q, floor(q))
    two = like(x, 2.0)
    is_even = equal(x, floor(x)) & equal(x % two, zero)
    result = select(is_pole, select(is_even, inf, nan), result)
    return select(equal(x, one), inf, result)


@at_least_f32
def polygamma(n: Expr, x: Expr) -> Expr:
    """`(-1)^(n+1) n! zeta(n + 1, x)`, digamma for 0, and NaN for what is not a natural number."""
    one, two = like(x, 1.0), like(x, 2.0)
    direction = two * (n % two) - one
    next_n = n + one
    factorial = exponential(lgamma(next_n))
    zeta_n = zeta(next_n, x)
    result = direction * factorial * zeta_n
    zero = like(x, 0.0)
    is_zero = equal(n, zero)
    result = select(is_zero, digamma(x), result)
    is_undefined = not_equal(n, floor(n)) | (n < zero)
    return select(is_undefined, like(x, math.nan), result)


# --- bessel_i1e -----------------------------------------------------------------------------------------------------

I1E_TO_8_F32 = (
    9.38153738649577178388e-9, -4.44505912879632808065e-8, 2.00329475355213526229e-7, -8.56872026469545474066e-7,
    3.47025130813767847674e-6, -1.32731636560394358279e-5, 4.78156510755005422638e-5, -1.61760815825896745588e-4,
    5.12285956168575772895e-4, -1.51357245063125314899e-3, 4.15642294431288815669e-3, -1.05640848946261981558e-2,
    2.47264490306265168283e-2, -5.29459812080949914269e-2, 1.02643658689847095384e-1, -1.76416518357834055153e-1,
    2.52587186443633654823e-1,
)  # fmt: skip
I1E_FROM_8_F32 = (
    -3.83538038596423702205e-9, -2.63146884688951950684e-8, -2.51223623787020892529e-7, -3.88256480887769039346e-6,
    -1.10588938762623716291e-4, -9.76109749136146840777e-3, 7.78576235018280120474e-1,
)  # fmt: skip
I1E_TO_8_F64 = (
    2.77791411276104639959e-18, -2.11142121435816608115e-17, 1.55363195773620046921e-16, -1.10559694773538630805e-15,
    7.60068429473540693410e-15, -5.04218550472791168711e-14, 3.22379336594557470981e-13, -1.98397439776494371520e-12,
    1.17361862988909016308e-11, -6.66348972350202774223e-11, 3.62559028155211703701e-10, -1.88724975172282928790e-9,
    *I1E_TO_8_F32,
)  # fmt: skip
I1E_FROM_8_F64 = (
    7.51729631084210481353e-18, 4.41434832307170791151e-18, -4.65030536848935832153e-17, -3.20952592199342395980e-17,
    2.96262899764595013876e-16, 3.30820231092092828324e-16, -1.88035477551078244854e-15, -3.81440307243700780478e-15,
    1.04202769841288027642e-14, 4.27244001671195135429e-14, -2.10154184277266431302e-14, -4.08355111109219731823e-13,
    -7.19855177624590851209e-13, 2.03562854414708950722e-12, 1.41258074366137813316e-11, 3.25260358301548823856e-11,
    -1.89749581235054123450e-11, -5.58974346219658380687e-10, *I1E_FROM_8_F32,
)  # fmt: skip


@at_least_f32
def bessel_i1e(x: Expr) -> Expr:
    """Chebyshev series in `x / 2 - 2` up to 8, and in `32 / x - 2` above."""
    is_f64 = x.element == FloatType("f64")
    magnitude = absolute(x)
    half, two, thirty_two, eight = like(x, 0.5), like(x, 2.0), like(x, 32.0), like(x, 8.0)
    near = magnitude * chebyshev(half * magnitude - two, I1E_TO_8_F64 if is_f64 else I1E_TO_8_F32)
    far = chebyshev(thirty_two / magnitude - two, I1E_FROM_8_F64 if is_f64 else I1E_FROM_8_F32)
    far = far / sqrt(magnitude)
    result = select(magnitude <= eight, near, far)
    return sign(x) * result
