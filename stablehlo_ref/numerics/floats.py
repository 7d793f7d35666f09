"""Arithmetic, rounding and comparison of floating-point numbers, all exact or correctly rounded.

Each public name is a kernel factory for the op of that name (spec, "Operations"); `compare` returns factories. Kernels
for f32 and f64 are numpy's ufuncs where those agree with the spec. Narrower formats compute in f32, which has more
than twice their precision, so that double rounding is harmless; large arrays of 8-bit formats use lookup tables.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics.blocks import by_blocks, computed_in, first_element, in_blocks, is_broadcast_scalar
from stablehlo_ref.numerics.dtypes import (
    BOOL,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    bit_width,
    bits_dtype,
    is_narrow_float,
    signed_bits_dtype,
)
from stablehlo_ref.numerics.kernels import ArrayKernel, KernelFactory, same_kernel
from stablehlo_ref.numerics.narrow_floats import (
    rounded,
    sum_of_f16,
    tabulated,
    tabulated_pairs,
    widened,
)
from stablehlo_ref.numerics.ulp import ordered_bits

_SMALL = 256  # elements: below this, one slow call costs less than several fast ones


# --- factories ------------------------------------------------------------------------------------------------------


def unary(function: KernelFactory) -> KernelFactory:
    """Extend a factory of kernels for f32 and f64: narrower operands are widened to f32, and results are rounded."""

    @cache
    def factory(dtype: DType) -> ArrayKernel:
        if not is_narrow_float(dtype):
            return function(dtype)
        return tabulated(rounded(function(FLOAT32), dtype), dtype)

    return factory


def binary(function: KernelFactory) -> KernelFactory:
    """Extend a factory of kernels of two operands, as `unary` does."""

    @cache
    def factory(dtype: DType) -> ArrayKernel:
        if not is_narrow_float(dtype):
            return function(dtype)
        wide = function(FLOAT32)
        if dtype == FLOAT16 and wide in (np.add, np.subtract):
            return sum_of_f16(wide)
        kernel = rounded(wide, dtype)
        return tabulated_pairs(kernel, dtype) if dtype.itemsize == 1 else kernel

    return factory


def predicate(function: ArrayKernel) -> KernelFactory:
    """Return a factory of kernels with boolean results from a `function` of f32 or f64 arrays."""
    return lambda dtype: widened(function, dtype, BOOL)


# --- kernels for f32 and f64 ----------------------------------------------------------------------------------------


def _sign(dtype: DType) -> ArrayKernel:
    """Return the sign by arithmetic that keeps -0 and NaNs, unlike `np.sign`, in three passes.

    The product of any number but 0 and a large one is at least `limit` in magnitude, also that of a subnormal number.
    """
    limits = np.finfo(dtype)
    large = dtype.type(2.0 ** (limits.maxexp - 1))
    limit = large * limits.smallest_subnormal
    scale = 1 / limit

    def block_into(x: Array, out: Array) -> Array:
        np.multiply(x, large, out=out)
        np.clip(out, -limit, limit, out=out)
        np.multiply(out, scale, out=out)
        return out

    def small(x: Array) -> Array:
        result: Array = np.multiply(np.minimum(np.maximum(np.multiply(x, large), -limit), limit), scale)
        return result

    return by_blocks(block_into, dtype, small)


def _round_nearest_afz(dtype: DType) -> ArrayKernel:
    """Add the number below one half and truncate: numbers just below a tie stay below it, and ties are rounded up."""
    below_half = np.nextafter(dtype.type(0.5), dtype.type(0))
    return lambda x: np.trunc(np.copysign(below_half, x) + x)


def _remainder(dtype: DType) -> ArrayKernel:
    if dtype == FLOAT64:
        return np.fmod
    large = computed_in(FLOAT64, _remainder_of_f32, FLOAT32)
    return lambda x, y: np.fmod(x, y) if x.size < _SMALL else large(x, y)


def _remainder_of_f32(x: Array, y: Array) -> Array:
    """Return the remainder of f32 numbers stored in f64.

    There a quotient below 2**28 never rounds to an integer it does not equal, and its product with the divisor is
    exact. Other elements, among them infinities and NaNs, use C's exact but slow `fmod`.
    """
    quotient = np.trunc(x / y)
    result = np.copysign(x - quotient * y, x)
    rest = np.isnan(result) | (np.abs(quotient) >= 2.0**28)
    return np.where(rest, np.fmod(x, y), result) if rest.any() else result


def _lacks_zero(zero: float, dtype: DType, min_bits: Callable[[DType], DType]) -> Callable[[Array], bool]:
    """Return a test that an array does not contain `zero`, +0 or -0.

    `min_bits(dtype)` is the integer dtype in which the bits of `zero` are the smallest integer.
    """
    value, bits = dtype.type(zero), min_bits(dtype)
    value_bytes, value_bits = value.tobytes(), value.view(bits)

    def run(x: Array) -> bool:
        if x.size < _SMALL:
            return value_bytes not in x.tobytes()  # may also match across elements, which is harmless
        return bool(np.minimum.reduce(x.view(bits), axis=None) != value_bits)

    return run


def _with_ordered_zeros(ufunc: np.ufunc, wrong_zero: float, min_bits: Callable[[DType], DType]) -> KernelFactory:
    """Return np.maximum or np.minimum with -0 < +0, which numpy treats as equal.

    The ufunc can only be wrong where it returns `wrong_zero`. Calling it with exchanged operands finds the other zero
    if there is one, and comparing the two results as integers selects the right one.
    """

    def factory(dtype: DType) -> ArrayKernel:
        is_right, signed = _lacks_zero(wrong_zero, dtype, min_bits), signed_bits_dtype(dtype)
        zero = dtype.type(wrong_zero).tobytes()

        def run(x: Array, y: Array) -> Array:
            result: Array = _of_full_operands(ufunc, x, y, None)
            if result.size < _SMALL and (np.count_nonzero(result) == result.size or zero not in result.tobytes()):
                return result
            if is_right(result) or _is_nonzero_scalar(x) or _is_nonzero_scalar(y):
                return result
            return ordered(x, y, result)

        def ordered(x: Array, y: Array, result: Array) -> Array:
            right = ufunc(result.view(signed), ufunc(y, x).view(signed)).view(dtype)
            return np.where(np.isnan(result), result, right)  # a NaN is that of `x`, if both operands are NaN

        def into(x: Array, y: Array, out: Array) -> Array:
            _of_full_operands(ufunc, x, y, out)
            if not (_is_nonzero_scalar(x) or _is_nonzero_scalar(y) or is_right(out)):
                out[...] = ordered(x, y, out)
            return out

        return Kernel(run, into=into)

    return factory


def _of_full_operands(ufunc: np.ufunc, x: Array, y: Array, out: Array | None) -> Array:
    """Call a ufunc with scalars as arrays, stored in `out`: np.maximum takes three times as long for scalars."""
    if _is_scalar_beside(y, x):
        y = out = _full(y, x.shape, out)
    elif _is_scalar_beside(x, y):
        x = out = _full(x, y.shape, out)
    result: Array = ufunc(x, y, out=out)
    return result


def _is_scalar_beside(x: Array, large: Array) -> bool:
    """Return whether `x` is a scalar, or a broadcast one, that broadcasts to the shape of a large array."""
    return (
        large.size >= _SMALL
        and is_broadcast_scalar(x)
        and (x.shape == large.shape or (x.size == 1 and x.ndim <= large.ndim))
    )


def _full(x: Array, shape: tuple[int, ...], out: Array | None) -> Array:
    out = np.empty(shape, x.dtype) if out is None else out
    out.fill(first_element(x))
    return out


def _is_nonzero_scalar(x: Array) -> bool:
    """Return whether an array is a broadcast scalar that is not zero."""
    return is_broadcast_scalar(x) and x.size > 0 and bool(first_element(x) != 0)


_maximum = _with_ordered_zeros(np.maximum, -0.0, signed_bits_dtype)
_minimum = _with_ordered_zeros(np.minimum, +0.0, bits_dtype)


def _clamp(dtype: DType) -> ArrayKernel:
    """Use np.clip where the signs of zeros are right: no bound is 0, or only `low`, and no result is -0."""
    maximum, minimum, lacks_minus_zero = _maximum(dtype), _minimum(dtype), _lacks_zero(-0.0, dtype, signed_bits_dtype)

    def run(low: Array, operand: Array, high: Array) -> Array:
        if operand.size >= _SMALL and _is_nonzero_scalar(high):
            result = np.clip(operand, first_element(low) if is_broadcast_scalar(low) else low, first_element(high))
            if _is_nonzero_scalar(low) or lacks_minus_zero(result):
                return result
        return minimum(maximum(operand, low), high)

    def into(low: Array, operand: Array, high: Array, out: Array) -> Array:
        if operand.shape == out.shape and is_broadcast_scalar(low) and _is_nonzero_scalar(high):
            np.clip(operand, first_element(low), first_element(high), out=out)
            if _is_nonzero_scalar(low) or lacks_minus_zero(out):
                return out
        out[...] = minimum(maximum(operand, low), high)
        return out

    return Kernel(run, into=into)


# --- public ---------------------------------------------------------------------------------------------------------

add = binary(same_kernel(np.add))
subtract = binary(same_kernel(np.subtract))
multiply = binary(same_kernel(np.multiply))
divide = binary(same_kernel(np.divide))
remainder = binary(_remainder)  # exact, with the sign of the dividend; x rem inf is x, inf rem x and x rem 0 are NaN
maximum = binary(_maximum)  # NaN if either operand is NaN; -0 < +0
minimum = binary(_minimum)

abs = unary(same_kernel(np.absolute))
negate = unary(same_kernel(np.negative))
sign = unary(_sign)  # of -0: -0, of NaN: NaN
sqrt = unary(same_kernel(np.sqrt))
ceil = unary(same_kernel(np.ceil))
floor = unary(same_kernel(np.floor))
round_nearest_afz = unary(_round_nearest_afz)
round_nearest_even = unary(same_kernel(np.rint))

is_finite = predicate(np.isfinite)


@cache
def clamp(dtype: DType) -> ArrayKernel:
    """Return the kernel of `minimum(maximum(operand, min), max)` of operands (min, operand, max).

    min and max may have rank 0.
    """
    return rounded(_clamp(FLOAT32), dtype) if is_narrow_float(dtype) else _clamp(dtype)


COMPARISONS: dict[str, np.ufunc] = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "GE": np.greater_equal,
    "GT": np.greater,
    "LE": np.less_equal,
    "LT": np.less,
}


def compare(direction: str, compare_type: str = "FLOAT") -> KernelFactory:
    """Return the factory for a comparison direction ("EQ", ...) and a type, "FLOAT" or "TOTALORDER".

    With FLOAT, NaNs are unordered. With TOTALORDER, all six directions use IEEE-754 totalOrder: -0 and +0 differ, and
    a NaN equals itself.
    """
    comparison = COMPARISONS[direction]
    if compare_type == "TOTALORDER":
        return same_kernel(in_blocks(lambda x, y: comparison(ordered_bits(x), ordered_bits(y)), BOOL))
    return predicate(comparison)


# --- CHLO -----------------------------------------------------------------------------------------------------------


@cache
def square(dtype: DType) -> ArrayKernel:
    """Return the kernel of x * x, correctly rounded."""
    product = multiply(dtype)
    return np.square if product is np.multiply else lambda x: product(x, x)


@cache
def next_after(dtype: DType) -> ArrayKernel:
    """Return the kernel of the number after `x` in the direction of `y`, which is `y` if they are equal."""
    return _next_after_narrow(dtype) if is_narrow_float(dtype) else np.nextafter


def _next_after_narrow(dtype: DType) -> ArrayKernel:
    """Step the bits by one, which order numbers of one sign; zero becomes the smallest number with the sign of `y`."""
    bits, sign = bits_dtype(dtype), 1 << bit_width(dtype) - 1
    minus_zero_is_nan = bool(np.isnan(np.array(sign, bits).view(dtype).astype(np.float32)))

    def run(x: Array, y: Array) -> Array:
        start, goal = x.astype(np.float32), y.astype(np.float32)
        pattern = x.view(bits)
        outward = (goal > start) == (start > 0)
        step = np.where(outward, pattern + bits.type(1), pattern - bits.type(1))
        if minus_zero_is_nan:
            step = np.where(step == sign, bits.type(0), step)
        step = np.where(start == 0, np.where(goal > 0, 1, sign | 1).astype(bits), step)
        result = np.where(start == goal, y, step.view(dtype))
        return np.where(np.isnan(start), x, np.where(np.isnan(goal), y, result))

    return in_blocks(run, dtype)


# --- bf16 numbers that are stored as f32, so that several operations need only one conversion ------------------------

_EXACT_IN_BF16 = {"maximum": maximum(FLOAT32), "minimum": minimum(FLOAT32)}


def stored_as_f32(op: str) -> ArrayKernel | None:
    """Return the kernel of "add", "multiply", "maximum" or "minimum" of bf16 numbers stored as f32; None for others."""
    if op in _EXACT_IN_BF16:
        return _EXACT_IN_BF16[op]
    ufunc = {"add": np.add, "multiply": np.multiply}.get(op)
    return None if ufunc is None else lambda x, y: _rounded_to_bf16(np.asarray(ufunc(x, y)))


def _rounded_to_bf16(x: Array) -> Array:
    """Round f32 numbers to bf16 in place, ties to even. The lower half of NaNs is zero and stays so."""
    bits = x.view(np.uint32)
    half = np.right_shift(bits, 16, out=np.empty_like(bits))
    np.bitwise_and(half, 1, out=half)
    np.add(half, 0x7FFF, out=half)  # half a unit in the last place, or just less than half if the last bit is even
    np.add(bits, half, out=bits)
    np.bitwise_and(bits, 0xFFFF0000, out=bits)
    return x
