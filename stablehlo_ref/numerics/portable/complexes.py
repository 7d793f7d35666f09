"""Kernels of complex<f64> in the reproducible mode: both parts of results are rounded correctly.

Operands that are not extreme are computed as pairs of f64; others, and what these leave undecided, to 80 digits.
The default kernels give results for infinities, NaNs and poles, and the signs of zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, reduce
from typing import NamedTuple, TypeAlias

import numpy as np

from stablehlo_ref import mode
from stablehlo_ref.budget import within_time
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics import complex_elementary, complexes, long_double, special_complex
from stablehlo_ref.numerics import multiple_precision as precise_reals
from stablehlo_ref.numerics import multiple_precision_complex as precise
from stablehlo_ref.numerics.blocks import partwise
from stablehlo_ref.numerics.double_double import Pair, two_product, two_sum
from stablehlo_ref.numerics.dtypes import COMPLEX128
from stablehlo_ref.numerics.exact_sums import exact_product_sum, nearest
from stablehlo_ref.numerics.kernels import ArrayKernel, KernelFactory, same_kernel
from stablehlo_ref.numerics.multiple_precision import settled
from stablehlo_ref.numerics.portable import complex_inverses, complex_pairs
from stablehlo_ref.numerics.portable.functions import CORRECTLY_ROUNDED
from stablehlo_ref.numerics.portable.ziv import BLOCK, nearest_f64

SMALLEST, LARGEST = 2.0**-480, 2.0**500  # of factors whose products are exact in two f64
ERROR = 2.0**-100  # relative to the larger of two products

Region: TypeAlias = Callable[..., Array | bool]  # from parts of operands to where pairs are accurate
# From parts of operands to those of the result, NaN where the default kernel knows them, and whether each underflowed.
ExactParts: TypeAlias = Callable[..., tuple[float, float, bool, bool]]


class _Function(NamedTuple):
    pairs: complex_pairs.PartsFunction
    region: Region
    exact: ExactParts


# --- regions --------------------------------------------------------------------------------------------------------


def _is_moderate(x: Array, exponent: int, smallest: int = -100) -> Array | bool:
    magnitude = np.abs(x)
    if magnitude.max(initial=0.0) < 2.0**exponent and magnitude.min(initial=1.0) > 2.0**smallest:
        return True
    moderate: Array = (magnitude < 2.0**exponent) & ((magnitude > 2.0**smallest) | (x == 0))
    return moderate


def _all_moderate(exponent: int) -> Region:
    """Return the region of operands, the last of which is not 0, whose parts are below and above powers of two."""

    def region(*parts: Array) -> Array | bool:
        is_zero = (parts[-2] == 0) & (parts[-1] == 0)
        moderate: Array = ~is_zero
        for x in parts:
            moderate &= _is_moderate(x, exponent, -exponent)
        return moderate

    return region


def _exponent_and_angle(a: Array, b: Array) -> Array | bool:
    return _is_moderate(a, 8) & _is_moderate(b, 20)


def _angle_and_exponent(a: Array, b: Array) -> Array | bool:
    return _exponent_and_angle(b, a)


def _not_minus_one(a: Array, b: Array) -> Array | bool:
    regular: Array = ((a != -1) | (b != 0)) & _is_moderate(a, 300, -300) & _is_moderate(b, 300, -300)
    return regular


def _off_axes(a: Array, b: Array) -> Array | bool:
    moderate: Array = (a != 0) & (b != 0) & _is_moderate(a, 60, -60) & _is_moderate(b, 60, -60)
    return moderate


def _powers(a: Array, b: Array, c: Array, d: Array) -> Array | bool:
    return _all_moderate(100)(c, d, a, b)


# --- kernels --------------------------------------------------------------------------------------------------------


def _to_80_digits(function: precise.PartsFunction) -> ExactParts:
    def rounded(parts: precise.Parts) -> tuple[tuple[float, float, bool, bool], bool]:
        (x, x_is_tie), (y, y_is_tie) = map(nearest_f64, parts)
        return (x, y, bool(parts[0] and not x), bool(parts[1] and not y)), x_is_tie or y_is_tie

    is_exact = function in precise.MAY_BE_EXACT
    return lambda *parts: settled(function, parts, rounded, is_exact)


def _exact_quotient(a: float, b: float, c: float, d: float) -> tuple[float, float, bool, bool]:
    p, q, r, s = map(Fraction, (a, b, c, d))
    norm = r * r + s * s
    if not norm:
        return np.nan, np.nan, False, False
    real, imag = (p * r + q * s) / norm, (q * r - p * s) / norm
    x, y = nearest(real), nearest(imag)
    return x, y, bool(real and not x), bool(imag and not y)


def _kernel(function: _Function, default: ArrayKernel) -> ArrayKernel:
    def run(*operands: Array) -> Array:
        shape = np.broadcast_shapes(*[z.shape for z in operands])
        flat = [np.broadcast_to(z, shape).reshape(-1) for z in operands]
        result = np.empty(flat[0].size, COMPLEX128)
        for start in within_time(range(0, result.size, BLOCK)):
            block(result[start : start + BLOCK], [z[start : start + BLOCK] for z in flat])
        return result.reshape(shape)[()]

    def block(result: Array, operands: Sequence[Array]) -> None:
        parts = [np.ascontiguousarray(part) for z in operands for part in (z.real, z.imag)]
        finite = reduce(np.logical_and, [np.isfinite(part) for part in parts])
        left = _by_pairs(function, parts, result, finite)
        underflowed = np.zeros((2, finite.size), np.bool)
        for i in within_time(left.tolist()):
            result.real[i], result.imag[i], underflowed[0, i], underflowed[1, i] = function.exact(
                *[float(part[i]) for part in parts]
            )
        known = ~finite | np.isnan(result.real) | np.isnan(result.imag)
        if known.any():
            result[known] = default(*[z[known] for z in operands])
        zeros = (result.view(np.float64).reshape(-1, 2).T == 0) & ~underflowed & finite
        if zeros.any():
            some = zeros.any(0)
            _set_signs_of_zeros(result, some, zeros[:, some], default(*[z[some] for z in operands]))

    return run


def _by_pairs(function: _Function, parts: Sequence[Array], result: Array, finite: Array) -> Array:
    """Store the results of finite operands that pairs decide, and return the indices of the others."""
    regular = finite & function.region(*parts)
    if not regular.all():
        where = np.flatnonzero(regular)
        some = np.empty(where.size, COMPLEX128)
        left = finite.copy()
        left[where] = _store(function.pairs(*[x[where] for x in parts]), some)
        result[where] = some
        return np.flatnonzero(left)
    return np.flatnonzero(_store(function.pairs(*parts), result))


def _store(parts: complex_pairs.Parts, result: Array) -> Array:
    """Store pairs, and return where their errors do not decide the rounding."""
    result.real, real_open = _rounded(*parts[0])
    result.imag, imag_open = _rounded(*parts[1])
    is_open: Array = real_open | imag_open
    return is_open


def _rounded(high: Array, low: Array) -> tuple[Array, Array]:
    """Return a pair rounded to f64, and where its error does not decide the rounding."""
    error = high * complex_pairs.ERROR
    highest = high + (low + error)
    is_open: Array = highest != high + (low - error)
    return highest, is_open


def _set_signs_of_zeros(result: Array, where: Array, zeros: Array, signs: Array) -> None:
    some = result[where]
    for part, zero, sign in zip((some.real, some.imag), zeros, (signs.real, signs.imag)):
        np.copysign(part, sign, out=part, where=zero & ~np.isnan(sign))
    result[where] = some


_ROOTS = _all_moderate(300)
_FUNCTIONS: dict[KernelFactory, _Function] = {
    factory: _Function(pairs, region, _to_80_digits(exact))
    for factory, pairs, region, exact in (
        (complexes.sign, complex_pairs.sign, _ROOTS, precise.sign),
        (complex_elementary.exponential, complex_pairs.exponential_of, _exponent_and_angle, precise.exponential),
        (complex_elementary.exponential_minus_one, complex_pairs.exponential_minus_one, _exponent_and_angle,
         precise.exponential_minus_one),
        (complex_elementary.sine, complex_pairs.sine, _angle_and_exponent, precise.sine),
        (complex_elementary.cosine, complex_pairs.cosine, _angle_and_exponent, precise.cosine),
        (complex_elementary.tan, complex_pairs.tan, _angle_and_exponent, precise.tan),
        (complex_elementary.tanh, complex_pairs.tanh, _exponent_and_angle, precise.tanh),
        (complex_elementary.logistic, complex_pairs.logistic, _exponent_and_angle, precise.logistic),
        (complex_elementary.log, complex_pairs.log, _ROOTS, precise.log),
        (complex_elementary.log_plus_one, complex_pairs.log_plus_one, _not_minus_one, precise.log_plus_one),
        (complex_elementary.sqrt, complex_pairs.sqrt, _ROOTS, precise.sqrt),
        (complex_elementary.rsqrt, complex_pairs.rsqrt, _ROOTS, precise.rsqrt),
        (complex_elementary.cbrt, complex_pairs.cbrt, _ROOTS, precise.cbrt),
        (complex_elementary.power, complex_pairs.power, _powers, precise.power),
        (complex_elementary.atan2, complex_inverses.atan2, _all_moderate(200), precise.atan2),
        (special_complex.sinh, complex_pairs.sinh, _exponent_and_angle, precise.sinh),
        (special_complex.cosh, complex_pairs.cosh, _exponent_and_angle, precise.cosh),
        (special_complex.acos, complex_inverses.acos, _off_axes, precise.acos),
        (special_complex.acosh, complex_inverses.acosh, _off_axes, precise.acosh),
        (special_complex.asin, complex_inverses.asin, _off_axes, precise.asin),
        (special_complex.asinh, complex_inverses.asinh, _off_axes, precise.asinh),
        (special_complex.atan, complex_inverses.atan, _off_axes, precise.atan),
        (special_complex.atanh, complex_inverses.atanh, _off_axes, precise.atanh),
        (special_complex.asin_acos_kernel, complex_inverses.asin_acos_kernel, _off_axes, precise.asin_acos_kernel),
    )
}  # fmt: skip
_FUNCTIONS[complexes.divide] = _Function(complex_pairs.quotient, _all_moderate(240), _exact_quotient)


@cache
def _reproducible(factory: KernelFactory) -> ArrayKernel | None:
    """Return the kernel that replaces that of a factory, None if the latter is reproducible itself."""
    if factory is complexes.abs:
        modulus = _kernel(_Function(complex_pairs.absolute, _ROOTS, _to_80_digits(precise.absolute)), _absolute)
        return lambda z: modulus(z).real
    if factory is complex_elementary.power:
        return _with_real_powers(_kernel(_FUNCTIONS[factory], factory(COMPLEX128)), factory(COMPLEX128))
    if factory is complexes.multiply:
        return partwise(_product, COMPLEX128, _product_with_nans)
    if factory is special_complex.square:
        return partwise(_square, COMPLEX128, factory(COMPLEX128))
    if factory in _FUNCTIONS:
        return _kernel(_FUNCTIONS[factory], factory(COMPLEX128))
    return None


def in_mode(factory: KernelFactory, dtype: DType) -> KernelFactory:
    """Return the factory to use for a dtype in the current mode, and where long double is no wider than f64."""
    if dtype == COMPLEX128 and (mode.current().reproducible or not long_double.IS_WIDE):
        kernel = _reproducible(factory)
        if kernel is not None:
            return same_kernel(kernel)
    return factory


def _with_real_powers(kernel: ArrayKernel, default: ArrayKernel) -> ArrayKernel:
    """Return a kernel of powers that computes those of real numbers as such, which takes no more digits than f64."""

    def run(z: Array, w: Array) -> Array:
        z, w = np.broadcast_arrays(z, w)
        finite = np.isfinite(z.real) & np.isfinite(w.real) & (z.real != 0)
        is_real = (z.imag == 0) & (w.imag == 0) & finite & ((z.real > 0) | (np.rint(w.real) == w.real))
        if not is_real.any():
            return kernel(z, w)
        result = np.empty(z.shape, COMPLEX128)
        result[~is_real] = kernel(z[~is_real], w[~is_real])
        result[is_real] = real_powers(z[is_real], w[is_real])
        return result[()]

    def real_powers(z: Array, w: Array) -> Array:
        power = CORRECTLY_ROUNDED[precise_reals.power]
        return complexes.from_parts(power(z.real, w.real), np.copysign(0.0, default(z, w).imag))

    return run


def _absolute(z: Array) -> Array:
    return complexes.abs(COMPLEX128)(z).astype(COMPLEX128)


def _square(a: Array, b: Array) -> Pair:
    return sum_of_products(a, a, -b, b), sum_of_products(a, b, a, b)


def _product_with_nans(z: Array, w: Array) -> Array:
    """Multiply by the formula; finite parts are replaced by their signs, so that no product of theirs overflows."""
    parts = [np.where(np.isfinite(x), np.sign(x), x) for x in (z.real, z.imag, w.real, w.imag)]
    return complexes.from_parts(*_product(*parts))


def _product(a: Array, b: Array, c: Array, d: Array) -> Pair:
    return sum_of_products(a, c, -b, d), sum_of_products(a, d, b, c)


def sum_of_products(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Return a * b + c * d of arrays of one shape, exact and rounded once.

    Infinities and NaNs are as in IEEE-754 arithmetic.
    """
    plain = a * b + c * d
    (p, e), (q, f) = two_product(a, b), two_product(c, d)
    high, middle = two_sum(p, q)
    low, lowest = two_sum(e, f)
    high, low = two_sum(high, middle + low)
    error = np.maximum(np.abs(p), np.abs(q)) * ERROR
    result = np.where(plain == 0, plain, high + (low + lowest))
    moderate = [(np.abs(x) > SMALLEST) & (np.abs(x) < LARGEST) | (x == 0) for x in (a, b, c, d)]
    is_open = (high + (low + error) != high + (low - error)) | ~np.logical_and.reduce(moderate)
    vanishes = (p == -q) & (e == -f) & np.logical_and.reduce(moderate)
    finite = np.logical_and.reduce([np.isfinite(x) for x in (a, b, c, d)])
    for i in map(tuple, within_time(np.argwhere(is_open & ~vanishes & finite))):
        exact = exact_product_sum((float(a[i]), float(c[i])), (float(b[i]), float(d[i])))
        result[i] = nearest(exact) if exact or plain[i] else plain[i]
    total: Array = np.where(finite, result, plain)
    return total
