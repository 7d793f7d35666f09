"""Kernel factory of the exponentially scaled modified Bessel function of order 1 (CHLO, `bessel_i1e`)."""

from __future__ import annotations

from stablehlo_ref.numerics import multiple_precision
from stablehlo_ref.numerics.elementary import Elementary, kernels
from stablehlo_ref.numerics.special_functions import bessel_i1e as function

bessel_i1e = kernels(Elementary(function, multiple_precision.bessel_i1e, in_long_double=function))
