"""Kernel factories of special functions (CHLO): of the error function, the gamma function, Bessel and zeta functions.

Formats up to f32 compute in f64 and round once, correctly for f32; f64 is computed in long double.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import libm
from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics import special_functions as functions
from stablehlo_ref.numerics.correct_rounding import EIGHT_ULP
from stablehlo_ref.numerics.elementary import Elementary, kernels
from stablehlo_ref.numerics.kernels import ArrayKernel, KernelFactory
from stablehlo_ref.numerics.libm import in_long_double, replace_where
from stablehlo_ref.numerics.multiple_precision import Function
from stablehlo_ref.numerics.special_tables import ERF_INV_BELOW_5

# --- error functions of f64, accurate enough for f32 ------------------------------------------------------------------

ERROR = 2.0**-45  # of these functions, relative; machine code computes the first two by the same formulas
# erf(x)/x as a polynomial in x*x/8 - 1, for |x| <= 4: interpolated at Chebyshev nodes, with an error below 2**-51.
# The sum of the magnitudes is 1.13, and erf(x)/x at least 0.25: rounding in Horner's scheme adds at most 2**-46.
ERF = (
    0.35353099564340495, -0.17657623330137173, 0.13167511689470185, -0.10771044252853698, 0.09020899411202223,
    -0.07472786574638322, 0.059886904985558306, -0.045765110393282064, 0.03306063261260751, -0.022473568774278918,
    0.01434959947762943, -0.008606218602606526, 0.004853548845813635, -0.0025782331270215427, 0.0012926184084697087,
    -0.0006129202594121136, 0.00027552825256824045, -0.00011777389781220357, 4.7869467481945765e-05,
    -1.841467349958465e-05, 6.829661634522152e-06, -2.5504790474201778e-06, 8.633457519391031e-07,
    -2.0907480664485068e-07, 6.712311653962587e-08, -4.461685451537265e-08, 1.2789838221297171e-08,
)  # fmt: skip
# (1 + 2*x) * exp(x*x) * erfc(x) as a polynomial in (x - 3.75) / (x + 3.75), for 0 <= x <= 10.5, which is at least 1:
# interpolated at Chebyshev nodes, with an error below 2**-52. The sum of the magnitudes is 1.8.
ERFC = (
    1.2375126308378275, -0.14024059858554713, 0.0035854154854699375, 0.08227673849017057, -0.10880393014217735,
    0.0923043211589216, -0.05869339857745663, 0.02836227746016709, -0.009746579714193243, 0.0017556252258120538,
    0.0002937145078948543, -0.0002901488340105962, 5.164938583376266e-05, 2.2361132930562304e-05,
    -1.146766526703544e-05, -9.31377037921744e-07, 1.8454556979045734e-06, -3.8375844512132586e-08,
    -3.6429741804346576e-07, -9.719760270607088e-08, -6.1782526909307515e-09,
)  # fmt: skip
ERFC_CENTER = 3.75


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    result = x * coefficients[-1]
    for coefficient in coefficients[-2:0:-1]:
        result += coefficient
        result *= x
    result += coefficients[0]
    return result


def _erf(x: Array) -> Array:
    """Beyond 4, no number of f32 lies between erf(x) and 1."""
    x = np.clip(x, -4.0, 4.0)
    result = _polynomial(x * x * 0.125 - 1.0, ERF)
    result *= x
    return result


def _erfc(x: Array) -> Array:
    """Return 2 - erfc(-x) for negative numbers. Beyond the limits, erfc(x) rounds to 2 and to 0.

    With a = |x|, it is exp(-a*a) * p(t) / (1 + 2*a), t = (a - c) / (a + c).
    """
    x = np.clip(x, -4.0, 10.5)
    a = np.abs(x)
    tail = _polynomial((a - ERFC_CENTER) / (a + ERFC_CENTER), ERFC)
    tail *= libm.exp(-a * a)
    tail /= 1.0 + 2.0 * a
    return np.where(x < 0, 2.0 - tail, tail)


def _erf_inv(x: Array) -> Array:
    """Return x times a polynomial in w = -log(1 - x*x)."""
    w = -libm.log((1.0 - x) * (1.0 + x))
    return replace_where(x * ERF_INV_BELOW_5(w), ~(w <= 5.0), functions.erf_inv, x)


# --- kernels ---------------------------------------------------------------------------------------------------------


def _kernels(
    function: ArrayKernel, exact: Function, error: float = EIGHT_ULP, in_double: ArrayKernel | None = None, **rest: Any
) -> KernelFactory:
    """Return the kernel factory of a function of f64 and of long double, by which it computes f64."""
    double = in_long_double(function)
    return kernels(
        Elementary(
            in_double or function, exact, error, double=double, in_long_double=function, is_precise=False, **rest
        )
    )


erf = _kernels(functions.erf, precise.erf, ERROR, _erf)
erfc = _kernels(functions.erfc, precise.erfc, ERROR, _erfc)
erf_inv = _kernels(functions.erf_inv, precise.erf_inv, ERROR, _erf_inv)
lgamma = _kernels(functions.lgamma, precise.lgamma, absolute=2.0**-42)  # where terms cancel
digamma = _kernels(functions.digamma, precise.digamma, absolute=2.0**-42)
bessel_i1e = _kernels(functions.bessel_i1e, precise.bessel_i1e)
zeta = _kernels(functions.zeta, precise.zeta, 2.0**-36, is_binary=True)
polygamma = _kernels(functions.polygamma, precise.polygamma, 2.0**-36, is_binary=True)
