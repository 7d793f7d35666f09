"""Kernel factories of the error function, its complement and its inverse (CHLO, `erf`, `erfc`, `erf_inv`).

Formats up to f32 compute in f64 and round once, correctly for f32; f64 is computed in long double.
"""

from __future__ import annotations

from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics import special_functions as functions
from stablehlo_ref.numerics.elementary import Elementary, kernels
from stablehlo_ref.numerics.single import error

_ERROR = 2.0**-48  # relative

erf = kernels(Elementary(functions.erf, precise.erf, _ERROR, in_long_double=functions.erf, table=error.erf))
erfc = kernels(Elementary(functions.erfc, precise.erfc, _ERROR, in_long_double=functions.erfc, table=error.erfc))
erf_inv = kernels(
    Elementary(functions.erf_inv, precise.erf_inv, _ERROR, in_long_double=functions.erf_inv, table=error.erf_inv)
)
