"""erf, erfc and erf_inv. The approximations of erf and erfc are those of Cephes and Eigen."""

from __future__ import annotations

from stablehlo_ref.ir.types import FloatType
from stablehlo_ref.passes.expressions import (
    Expr,
    absolute,
    at_least_f32,
    clamp,
    equal,
    exponential,
    infinity,
    like,
    log_plus_one,
    polynomial,
    select,
    sqrt,
)

F64 = FloatType("f64")


def erf(x: Expr) -> Expr:
    return _erf_f64(x) if x.element == F64 else _erf_f32(x)


def erfc(x: Expr) -> Expr:
    return _erfc_f64(x) if x.element == F64 else _erfc_f32(x)


def erf_inv(x: Expr) -> Expr:
    return _erf_inv_f64(x) if x.element == F64 else _erf_inv_f32(x)


# --- f64 ------------------------------------------------------------------------------------------------------------

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


def _erf_f64(x: Expr) -> Expr:
    near = _erf_f64_near_zero(x)
    one = like(x, 1.0)
    far = one - _erfc_f64_far_from_zero(x)
    return select(absolute(x) < one, near, far)


def _erfc_f64(x: Expr) -> Expr:
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
    return _reflected(x, _without_underflow(x, z, result, 7.09782712893383996843e2))


def _without_underflow(x: Expr, z: Expr, result: Expr, limit: float) -> tuple[Expr, Expr]:
    """Return zero where `exp(z)` underflows, and that zero."""
    underflows = z < like(x, -limit)
    zero = like(x, 0.0)
    return select(underflows, zero, result), zero


def _reflected(x: Expr, clamped: tuple[Expr, Expr], two: Expr | None = None) -> Expr:
    """Return `2 - erfc(-x)` for negative `x`."""
    result, zero = clamped
    is_negative = x < zero
    two = like(x, 2.0) if two is None else two
    return select(is_negative, two - result, result)


# --- f32 ------------------------------------------------------------------------------------------------------------

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
    return _reflected(x, _without_underflow(x, z, result, 88.72283905206835), two)


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


@at_least_f32
def _erf_inv_f32(x: Expr) -> Expr:
    w = _minus_log(x)
    is_below = w < like(x, 5.0)
    below = w - like(x, 2.5)
    w = select(is_below, below, sqrt(w) - like(x, 3.0))
    coefficients = zip(BELOW_5, FROM_5)

    def coefficient(pair: tuple[float, float]) -> Expr:
        return select(is_below, like(x, pair[0]), like(x, pair[1]))

    result = coefficient(next(coefficients))
    for pair in coefficients:
        result = coefficient(pair) + result * w
    return _with_infinities(x, result * x)


def _erf_inv_f64(x: Expr) -> Expr:
    w = _minus_log(x)
    is_below_6, is_below_16 = w < like(x, 6.25), w < like(x, 16)

    def coefficient(index: int) -> Expr:
        result = like(x, BELOW_6_25[index])
        if index < len(BELOW_16):
            result = select(is_below_6, result, like(x, BELOW_16[index]))
        return select(is_below_16, result, like(x, FROM_16[index])) if index < len(FROM_16) else result

    root, below_6 = sqrt(w), w - like(x, 3.125)
    w = select(is_below_6, below_6, root - select(is_below_16, like(w, 3.25), like(w, 5.0)))
    result = coefficient(0)
    for index in range(1, len(FROM_16)):
        result = coefficient(index) + result * w
    for index in range(len(FROM_16), len(BELOW_16)):
        result = select(is_below_16, coefficient(index) + result * w, result)
    for index in range(len(BELOW_16), len(BELOW_6_25)):
        result = select(is_below_6, coefficient(index) + result * w, result)
    return _with_infinities(x, result * x)
