"""erf, erfc and erf_inv; lgamma, digamma, zeta and polygamma; bessel_i1e.

The approximations of erf and erfc are those of Cephes and Eigen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from stablehlo_ref.ir.types import FloatType
from stablehlo_ref.passes.chlo.elementary import is_inf
from stablehlo_ref.passes.emit import (
    Expr,
    absolute,
    at_least_f32,
    chebyshev,
    clamp,
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
    polynomial,
    power,
    select,
    sign,
    sine,
    smallest,
    sqrt,
)

F64 = FloatType("f64")


# --- erf and erfc of f64 ----------------------------------------------------------------------------------------------

ERFC_P = (
    2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687e0, 4.86371970985681366614e1,
    1.96520832956077098242e2, 5.26445194995477358631e2, 9.34528527171957607540e2, 1.02755188689515710272e3,
    5.57535335369399327526e2,
)  # fmt: skip
ERFC_Q = (
    1.00000000000000000000e0, 1.32281951154744992508e1, 8.67072140885989742329e1, 3.54937778887819891062e2,
    9.75708501743205489753e2, 1.82390916687909736289e3, 2.24633760818710981792e3, 1.65666309194161350182e3,
    5.57535340817727675546e2,
)  # fmt: skip
ERFC_R = (
    5.64189583547755073984e-1, 1.27536670759978104416e0, 5.01905042251180477414e0, 6.16021097993053585195e0,
    7.40974269950448939160e0, 2.97886665372100240670e0,
)  # fmt: skip
ERFC_S = (
    1.00000000000000000000e0, 2.26052863220117276590e0, 9.39603524938001434673e0, 1.20489539808096656605e1,
    1.70814450747565897222e1, 9.60896809063285878198e0, 3.36907645100081516050e0,
)  # fmt: skip
ERF_T = (
    9.60497373987051638749e0, 9.00260197203842689217e1, 2.23200534594684319226e3, 7.00332514112805075473e3,
    5.55923013010394962768e4,
)  # fmt: skip
ERF_U = (
    1.00000000000000000000e0, 3.35617141647503099647e1, 5.21357949780152679795e2, 4.59432382970980127987e3,
    2.26290000613890934246e4, 4.92673942608635921086e4,
)  # fmt: skip


def erf(x: Expr) -> Expr:
    if x.element != F64:
        return _erf_f32(x)
    near = _erf_f64_near_zero(x)
    one = like(x, 1.0)
    far = one - _erfc_f64_far_from_zero(x)
    return select(absolute(x) < one, near, far)


def erfc(x: Expr) -> Expr:
    if x.element != F64:
        return _erfc_f32(x)
    far = _erfc_f64_far_from_zero(x)
    one = like(x, 1.0)
    near = one - _erf_f64_near_zero(x)
    return select(absolute(x) < one, near, far)


def _erf_f64_near_zero(x: Expr) -> Expr:
    """Return `x T(x²) / U(x²)`, for `|x| <= 1`."""
    square = x * x
    numerator = x * polynomial(square, ERF_T)
    return numerator / polynomial(square, ERF_U)


def _erfc_f64_far_from_zero(x: Expr) -> Expr:
    """Return `exp(-x²) P(|x|) / Q(|x|)`, or with R and S from 8 on, for `|x| >= 1`."""
    z = -(x * x)
    exp_z, magnitude = exponential(z), absolute(x)
    below_8 = exp_z * polynomial(magnitude, ERFC_P)
    below_8 = below_8 / polynomial(magnitude, ERFC_Q)
    from_8 = exp_z * polynomial(magnitude, ERFC_R)
    from_8 = from_8 / polynomial(magnitude, ERFC_S)
    result = select(magnitude < like(x, 8.0), below_8, from_8)
    return _reflected(x, z, result, 7.09782712893383996843e2)


def _reflected(x: Expr, z: Expr, result: Expr, limit: float, two: Expr | None = None) -> Expr:
    """Return zero where `exp(z)` underflows, and `2 - erfc(-x)` for negative `x`."""
    underflows = z < like(x, -limit)
    zero = like(x, 0.0)
    result = select(underflows, zero, result)
    is_negative = x < zero
    two = like(x, 2.0) if two is None else two
    return select(is_negative, two - result, result)


# --- erf and erfc of f32 ----------------------------------------------------------------------------------------------

ERFC_P_F32 = (
    2.326819970068386e-2, -1.387039388740657e-1, 3.687424674597105e-1, -5.824733027278666e-1, 6.210004621745983e-1,
    -4.944515323274145e-1, 3.404879937665872e-1, -2.741127028184656e-1, 5.638259427386472e-1,
)  # fmt: skip
ERFC_R_F32 = (
    -1.047766399936249e1, 1.297719955372516e1, -7.495518717768503e0, 2.921019019210786e0, -1.015265279202700e0,
    4.218463358204948e-1, -2.820767439740514e-1, 5.641895067754075e-1,
)  # fmt: skip
ERF_T_F32 = (
    7.853861353153693e-5, -8.010193625184903e-4, 5.188327685732524e-3, -2.685381193529856e-2, 1.128358514861418e-1,
    -3.761262582423300e-1, 1.128379165726710e0,
)  # fmt: skip
ERF_ALPHA = (
    -2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05, -7.34990630326855e-04,
    -2.95459980854025e-03, -1.60960333262415e-02,
)  # fmt: skip
ERF_BETA = (
    -1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03, -1.42647390514189e-02,
)  # fmt: skip


@at_least_f32
def _erf_f32(x: Expr) -> Expr:
    """Return `x A(x²) / B(x²)` for `x` clamped to [-4, 4], clamped to [-1, 1]."""
    low, high = like(x, -4.0), like(x, 4.0)
    x = clamp(low, x, high)
    square = x * x
    alpha = polynomial(square, ERF_ALPHA)
    beta = polynomial(square, ERF_BETA)
    result = (x * alpha) / beta
    low, high = like(x, -1.0), like(x, 1.0)
    return clamp(low, result, high)


@at_least_f32
def _erfc_f32(x: Expr) -> Expr:
    far = _erfc_f32_far_from_zero(x)
    one = like(x, 1.0)
    near = one - x * polynomial(x * x, ERF_T_F32)
    return select(absolute(x) < one, near, far)


def _erfc_f32_far_from_zero(x: Expr) -> Expr:
    """Return `exp(-x²) / |x| P(1 / x²)`, or with R from 2 on, for `|x| >= 1`."""
    square = x * x
    z = -square
    magnitude, one = absolute(x), like(x, 1.0)
    reciprocal = one / square
    scale = exponential(z) * (one / magnitude)
    two = like(x, 2.0)
    is_below_2 = magnitude < two
    below_2 = polynomial(reciprocal, ERFC_P_F32)
    from_2 = polynomial(reciprocal, ERFC_R_F32)
    result = scale * select(is_below_2, below_2, from_2)
    return _reflected(x, z, result, 88.72283905206835, two)


# --- erf_inv --------------------------------------------------------------------------------------------------------

BELOW_5 = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164,
    0.246640727, 1.50140941,
)  # fmt: skip
FROM_5 = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
    1.00167406, 2.83297682,
)  # fmt: skip
BELOW_6_25 = (
    -3.6444120640178196996e-21, -1.685059138182016589e-19, 1.2858480715256400167e-18, 1.115787767802518096e-17,
    -1.333171662854620906e-16, 2.0972767875968561637e-17, 6.6376381343583238325e-15, -4.0545662729752068639e-14,
    -8.1519341976054721522e-14, 2.6335093153082322977e-12, -1.2975133253453532498e-11, -5.4154120542946279317e-11,
    1.051212273321532285e-09, -4.1126339803469836976e-09, -2.9070369957882005086e-08, 4.2347877827932403518e-07,
    -1.3654692000834678645e-06, -1.3882523362786468719e-05, 0.0001867342080340571352, -0.00074070253416626697512,
    -0.0060336708714301490533, 0.24015818242558961693, 1.6536545626831027356,
)  # fmt: skip
BELOW_16 = (
    2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07, 1.8239629214389227755e-08,
    1.5027403968909827627e-06, -4.013867526981545969e-06, 2.9234449089955446044e-06, 1.2475304481671778723e-05,
    -4.7318229009055733981e-05, 6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
    0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066, -0.0037512085075692412107,
    0.005370914553590063617, 1.0052589676941592334, 3.0838856104922207635,
)  # fmt: skip
FROM_16 = (
    -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09, -3.7894654401267369937e-09,
    7.6157012080783393804e-09, -1.4960026627149240478e-08, 2.9147953450901080826e-08, -6.7711997758452339498e-08,
    2.2900482228026654717e-07, -9.9298272942317002539e-07, 4.5260625972231537039e-06, -1.9681778105531670567e-05,
    7.5995277030017761139e-05, -0.00021503011930044477347, -0.00013871931833623122026, 1.0103004648645343977,
    4.8499064014085844221,
)  # fmt: skip


def _minus_log(x: Expr) -> Expr:
    """Return `-log(1 - x²)`, whose square root grows like the result."""
    return -log_plus_one(x * -x)


def _with_infinities(x: Expr, result: Expr) -> Expr:
    return select(equal(absolute(x), like(x, 1)), x * infinity(x), result)


def _piecewise(x: Expr, w: Expr, lowest: Sequence[float], *higher: tuple[Expr, Sequence[float]]) -> Expr:
    """Return a polynomial in `w`, which has other, and no more, coefficients where `w` is not below some bounds.

    `higher` are whether it is below a bound, and the coefficients from there on, by ascending bounds.
    """
    result: Expr | None = None
    for index, number in enumerate(lowest):
        term = like(x, number)
        for is_below, coefficients in higher:
            if index < len(coefficients):
                term = select(is_below, term, like(x, coefficients[index]))
        ended = [is_below for is_below, coefficients in higher if index >= len(coefficients)]
        total = term if result is None else term + result * w
        result = select(ended[0], total, result) if ended and result is not None else total
    assert result is not None
    return result


@at_least_f32
def _erf_inv_f32(x: Expr) -> Expr:
    w = _minus_log(x)
    is_below = w < like(x, 5.0)
    below = w - like(x, 2.5)
    w = select(is_below, below, sqrt(w) - like(x, 3.0))
    return _with_infinities(x, _piecewise(x, w, BELOW_5, (is_below, FROM_5)) * x)


def erf_inv(x: Expr) -> Expr:
    if x.element != F64:
        return _erf_inv_f32(x)
    w = _minus_log(x)
    is_below_6, is_below_16 = w < like(x, 6.25), w < like(x, 16)
    root, below_6 = sqrt(w), w - like(x, 3.125)
    w = select(is_below_6, below_6, root - select(is_below_16, like(w, 3.25), like(w, 5.0)))
    return _with_infinities(x, _piecewise(x, w, BELOW_6_25, (is_below_6, BELOW_16), (is_below_16, FROM_16)) * x)


# --- gamma and zeta functions -----------------------------------------------------------------------------------------

# Lanczos' approximation of the gamma function, with g = 7 and nine coefficients.
LANCZOS_GAMMA = 7.0
LANCZOS_BASE = 0.99999999999980993227684700473478
LANCZOS = (
    676.520368121885098567009190444019, -1259.13921672240287047156078755283, 771.3234287776530788486528258894,
    -176.61502916214059906584551354, 12.507343278686904814458936853, -0.13857109526572011689554707,
    9.984369578019570859563e-6, 1.50563273514931155834e-7,
)  # fmt: skip


def _reflection(x: Expr) -> tuple[Expr, Expr, Expr, Expr]:
    """Return 1/2, whether `x` is below it, 1, and `z` of the terms `z + k`: `-x` if it is below, and `x - 1` if not."""
    half = like(x, 0.5)
    reflects = x < half
    negative, one = -x, like(x, 1)
    return half, reflects, one, select(reflects, negative, x - one)


@at_least_f32
def lgamma(x: Expr) -> Expr:
    """Lanczos' approximation; below 1/2, by the reflection formula of gamma."""
    half, reflects, one, z = _reflection(x)
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
    _, reflects, _, z = _reflection(x)
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
    magnitude, least = absolute(last), absolute(leading)
    is_converged = magnitude < least * smallest(base)
    return _zeta_at_special_points(x, q, select(is_converged, leading, result), zero, one, one_x)


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
    is_f64 = x.element == F64
    magnitude = absolute(x)
    half, two, thirty_two, eight = like(x, 0.5), like(x, 2.0), like(x, 32.0), like(x, 8.0)
    near = magnitude * chebyshev(half * magnitude - two, I1E_TO_8_F64 if is_f64 else I1E_TO_8_F32)
    far = chebyshev(thirty_two / magnitude - two, I1E_FROM_8_F64 if is_f64 else I1E_FROM_8_F32)
    far = far / sqrt(magnitude)
    result = select(magnitude <= eight, near, far)
    return sign(x) * result
