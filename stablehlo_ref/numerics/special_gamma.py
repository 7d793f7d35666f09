"""Kernel factories of the logarithm of the gamma function and its derivative (CHLO, `lgamma`, `digamma`).

Formats up to f32 compute in f64 and round once, correctly for f32; f64 is computed in long double.
"""

from __future__ import annotations

from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics import special_functions as functions
from stablehlo_ref.numerics.elementary import Elementary, kernels

_ERROR = 2.0**-42  # absolute, where terms cancel

lgamma = kernels(Elementary(functions.lgamma, precise.lgamma, absolute=_ERROR, in_long_double=functions.lgamma))
digamma = kernels(Elementary(functions.digamma, precise.digamma, absolute=_ERROR, in_long_double=functions.digamma))
