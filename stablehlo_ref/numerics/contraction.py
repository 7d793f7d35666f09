"""Sums of products, for dot_general and convolution: matrix multiplication for each element type.

Floating-point and complex matrices go to BLAS, which adds in an order of its own; the spec leaves the order open.
Sums are accumulated in f32 or f64, whichever holds the operands and the result, and rounded once to the result's type.
Integers are exact modulo two to the bit width of the result, although BLAS does their work too: as long as no sum can
exceed 2^24 (2^53) f32 (f64) matrices are exact, and larger numbers are taken apart into digits. Of booleans it is the
disjunction of conjunctions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.numerics.dtypes import (
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT8,
    bit_width,
    is_narrow_float,
    is_signed,
    is_sub_byte_integer,
    kind,
    mantissa_bits,
    signed_bits_dtype,
)
from stablehlo_ref.numerics.integers import pack, unpack
from stablehlo_ref.numerics.narrow import Array, DType, Kernel, narrow, widen

Axes: TypeAlias = tuple[int, ...]
Sizes: TypeAlias = tuple[int, ...]

EXACT_IN_F32, EXACT_IN_F64 = 1 << 24, 1 << 53
PREPARED_BYTES = 1 << 26  # a constant operand up to this size is brought into the form of a matrix while planning
_KINDS = ("boolean", "integer", "floating", "complex")  # each can hold what those before it can
SMALL = 1 << 13  # multiplications: up to so many, numpy's own loops are fast enough


@dataclass(frozen=True)
class Arithmetic:
    """How the products of two element types are summed, for sums of a bounded number of products."""

    dtype: DType  # of the matrices and of the sums
    enter_lhs: Kernel  # from operands to matrices, element by element
    enter_rhs: Kernel
    matmul: Kernel  # of two matrices, or stacks of them, and perhaps `out`, as numpy's
    leave: Kernel  # from sums to results, element by element

    @property
    def plain(self) -> bool:
        """Whether operands are multiplied, and sums returned, as they are."""
        return self.enter_lhs is same and self.enter_rhs is same and self.leave is same


def same(x: Array) -> Array:
    """What an arithmetic has for operands or sums that it takes as they are."""
    return x


@lru_cache(maxsize=256)
def arithmetic(lhs: DType, rhs: DType, result: DType, terms: int) -> Arithmetic:
    """The arithmetic of sums of at most `terms` products; UnsupportedError where the result's type has no such sums."""
    check_sums(lhs, rhs, result)
    match kind(result):
        case "boolean":
            return Arithmetic(FLOAT32, _as(FLOAT32), _as(FLOAT32), np.matmul, lambda sums: sums != 0)
        case "integer":
            return _integer_arithmetic(lhs, rhs, result, terms)
    dtype = accumulation_dtype(lhs, rhs, result)
    matmul = complex_matmul if kind(dtype) == "complex" else np.matmul
    return Arithmetic(dtype, _enter(lhs, dtype), _enter(rhs, dtype), matmul, _leave(dtype, result))


def check_sums(lhs: DType, rhs: DType, result: DType) -> None:
    """UnsupportedError where sums of products would lose what kind of number they are: as complex ones in f32."""
    if max(_KINDS.index(kind(lhs)), _KINDS.index(kind(rhs))) > _KINDS.index(kind(result)):
        raise UnsupportedError(f"products of {lhs} and {rhs} are not summed up as {result}")


def elementwise_dtype(lhs: DType, rhs: DType, result: DType) -> DType:
    """The dtype in which products can be summed by ufuncs, integers modulo two to its bit width."""
    if kind(result) in ("boolean", "integer"):
        return INT8 if is_sub_byte_integer(result) else result
    return accumulation_dtype(lhs, rhs, result)


@lru_cache(maxsize=256)
def elementwise_arithmetic(lhs: DType, rhs: DType, result: DType) -> Arithmetic:
    """Like `arithmetic`, for sums by ufuncs instead of `matmul`: integers and booleans stay what they are."""
    check_sums(lhs, rhs, result)
    dtype = elementwise_dtype(lhs, rhs, result)
    return Arithmetic(dtype, _enter(lhs, dtype), _enter(rhs, dtype), np.matmul, _leave(dtype, result))


def accumulation_dtype(*dtypes: DType) -> DType:
    """The narrowest of f32, f64 and their complex types that holds all of these."""
    is_double = any(d in (FLOAT64, COMPLEX128) for d in dtypes)
    if any(d in (COMPLEX64, COMPLEX128) for d in dtypes):
        return COMPLEX128 if is_double else COMPLEX64
    return FLOAT64 if is_double else FLOAT32


def complex_matmul(a: Array, b: Array, out: Array | None = None) -> Array:
    """Products of complex matrices, or of vectors; small ones added in order, each multiplication and addition rounded.

    That is what other implementations have for small sums. BLAS fuses multiplications with additions, and sums up the
    two parts of the products apart, so that what is left where they cancel differs much.
    """
    if a.size * b.shape[-1] > SMALL:
        return np.matmul(a, b, out=out)
    rows, columns = "i"[: a.ndim - 1], "k"[: b.ndim - 1]
    return np.einsum(f"...{rows}j,...j{columns}->...{rows}{columns}", a, b, out=out)


# --- into and out of the accumulation's type ------------------------------------------------------------------------


def _as(dtype: DType) -> Kernel:
    return lambda x: x.astype(dtype)


def _enter(dtype: DType, wide: DType) -> Kernel:
    if dtype == wide:
        return same
    if is_sub_byte_integer(dtype):
        unpacked = unpack(dtype)
        return lambda x: unpacked(x).astype(wide)
    if is_narrow_float(dtype):
        return widen if wide == FLOAT32 else lambda x: widen(x).astype(wide)
    return _as(wide)


def _leave(wide: DType, dtype: DType) -> Kernel:
    if dtype == wide:
        return same
    return pack(dtype) if is_sub_byte_integer(dtype) else narrow(dtype)


# --- integers -------------------------------------------------------------------------------------------------------


def _integer_arithmetic(lhs: DType, rhs: DType, result: DType, terms: int) -> Arithmetic:
    largest = terms << _magnitude_bits(lhs) + _magnitude_bits(rhs)
    if largest > EXACT_IN_F64 or min(lhs.itemsize, rhs.itemsize) > 2:
        dtype = elementwise_dtype(lhs, rhs, result)
        return Arithmetic(dtype, _enter(lhs, dtype), _enter(rhs, dtype), integer_matmul, _leave(dtype, result))
    dtype = FLOAT32 if largest <= EXACT_IN_F32 else FLOAT64
    whole = np.dtype(np.int32 if largest < 1 << 31 else np.int64)
    if is_sub_byte_integer(result):
        packed = pack(result)
        return Arithmetic(dtype, _enter(lhs, dtype), _enter(rhs, dtype), np.matmul,
                          lambda sums: packed(sums.astype(whole).astype(INT8)))  # fmt: skip
    return Arithmetic(dtype, _enter(lhs, dtype), _enter(rhs, dtype), np.matmul,
                      _as(result) if whole == result else lambda sums: sums.astype(whole).astype(result))  # fmt: skip


def _magnitude_bits(dtype: DType) -> int:
    """All values of `dtype` are at most two to this power in absolute value."""
    return bit_width(dtype) - is_signed(dtype)


def integer_matmul(a: Array, b: Array, out: Array | None = None) -> Array:
    """Products of matrices of one integer dtype, of a byte or more, modulo two to its bit width."""
    if prod(a.shape) * b.shape[-1] <= SMALL or 0 in b.shape:
        return np.matmul(a, b, out=out)
    signed = signed_bits_dtype(a.dtype)
    product = _by_digits(a.view(signed), b.view(signed), a.shape[-1]).astype(a.dtype)
    if out is None:
        return product
    out[...] = product
    return out


def _by_digits(a: Array, b: Array, terms: int) -> Array:
    """Modulo 2^64: `a` and `b` are polynomials in a power of two whose coefficients are multiplied, exactly, in f64."""
    width, bits = _digit_width(terms, bit_width(a.dtype)), bit_width(a.dtype)
    a_digits, b_digits = _digits(a, width), _digits(b, width)
    total: Any = 0
    for power in range(len(a_digits) + len(b_digits) - 1):
        if power * width >= bits:
            break
        pairs = [(i, power - i) for i in range(len(a_digits)) if 0 <= power - i < len(b_digits)]
        coefficient = sum(np.matmul(a_digits[i], b_digits[j]) for i, j in pairs)
        total = total + np.left_shift(coefficient.astype(np.int64), power * width)
    return total


def _digit_width(terms: int, bits: int) -> int:
    """The bits of a digit such that as many sums of `terms` products of digits as there are digits stay below 2^53."""
    count = 1
    while True:
        width = (53 - (count * terms).bit_length()) // 2 + 1
        if width * count >= bits:
            return width
        count += 1


def _digits(x: Array, width: int) -> list[Array]:
    """Signed digits of `x` to the base 2^width as f64, the lowest first; no more than its largest number needs."""
    half = 1 << width - 1
    highest = max(int(x.max()), -int(x.min()) - 1)
    digits = []
    while highest >= half:
        digit = np.bitwise_and(x + half, 2 * half - 1) - half
        digits.append(digit.astype(np.float64))
        x = np.right_shift(x - digit, width)
        highest = highest + half >> width
    return [*digits, x.astype(np.float64)]


# --- algorithms that round the operands -----------------------------------------------------------------------------


def rounded_arithmetic(
    plain: Arithmetic, lhs: Kernel, rhs: Kernel, accumulate: Kernel, components: int, levels: int
) -> Arithmetic:
    """Floating-point `plain` with operands rounded by `lhs` and `rhs`, and sums by `accumulate`.

    With several components each operand is a sum of rounded numbers, and those products are added whose numbers,
    counted from 0, add up to less than `levels`; the smallest first.
    """

    def matmul(a: Array, b: Array, out: Array | None = None) -> Array:
        parts, other_parts = split(a, lhs, components), split(b, rhs, components)
        total: Any = 0
        for level in reversed(range(levels)):
            if level == 0 and levels > 1:
                total = np.nan_to_num(total, nan=0, posinf=np.inf, neginf=-np.inf)  # infinities times corrections
            for i in range(max(0, level - components + 1), min(level + 1, components)):
                total = total + np.matmul(parts[i], other_parts[level - i])
        if out is None:
            return total
        out[...] = total
        return out

    return Arithmetic(plain.dtype, plain.enter_lhs, plain.enter_rhs, matmul, lambda x: plain.leave(accumulate(x)))


def split(x: Array, rounded: Kernel, components: int) -> list[Array]:
    """Numbers whose sum approaches `x`: `x` rounded, what that lost rounded, and so on, where they are finite."""
    parts = [rounded(x)]
    for _ in range(components - 1):
        x = np.where(np.isfinite(parts[-1]), x - parts[-1], 0).astype(x.dtype, copy=False)
        parts.append(rounded(x))
    return parts


def rounding(dtype: DType) -> Kernel:
    """A kernel that rounds f32 or f64 arrays to numbers that `dtype` has, once; the arrays keep their own dtype."""
    to_dtype = narrow(dtype)

    def run(x: Array) -> Array:
        if mantissa_bits(dtype) >= mantissa_bits(x.dtype):
            return x
        y = to_dtype(np.ascontiguousarray(x))
        return (widen(y) if is_narrow_float(dtype) else y).astype(x.dtype, copy=False)

    return run


def round_to_tf32(x: Array) -> Array:
    """f32 or f64 rounded to ten stored bits of mantissa, ties to even."""
    dropped = mantissa_bits(x.dtype) - 10
    bits = np.ascontiguousarray(x).view(signed_bits_dtype(x.dtype))
    half = np.bitwise_and(np.right_shift(bits, dropped), 1) + ((1 << dropped - 1) - 1)
    nearest = np.bitwise_and(bits + half, -1 << dropped).view(x.dtype)
    return np.where(np.isfinite(x), nearest, x)


# --- operands as matrices -------------------------------------------------------------------------------------------


def matrices(sizes: Sizes, batching: Axes, contracting: Axes, rows_first: bool) -> Kernel | None:
    """A function from an array of these sizes to a stack of matrices or a vector, None where it is one as it stands.

    The result's dimensions lead in the matrices if `rows_first`, else the contracting ones. Without result and batching
    dimensions there is a vector. The array is viewed if it can be; if it must be copied, its last dimension stays last.
    """
    others = tuple(d for d in range(len(sizes)) if d not in batching and d not in contracting)
    if not others and not batching:
        return _arranged(contracting, (prod(sizes),), sizes)
    left, right = (others, contracting) if rows_first else (contracting, others)
    rows, columns = (prod(sizes[d] for d in part) for part in (left, right))
    stack = tuple(sizes[d] for d in batching)
    if len(sizes) - 1 in left and not (_adjacent(left, sizes) and _adjacent(right, sizes)):
        swapped = _arranged(batching + right + left, (*stack, columns, rows), sizes)
        return lambda x: (swapped(x) if swapped else x).swapaxes(-1, -2)
    return _arranged(batching + left + right, (*stack, rows, columns), sizes)


def _adjacent(dimensions: Axes, sizes: Sizes) -> bool:
    """Whether dimensions in this order are one in memory, those of size 1 set aside."""
    return all(b > a and all(sizes[d] == 1 for d in range(a + 1, b))
               for a, b in pairwise(d for d in dimensions if sizes[d] != 1))  # fmt: skip


def _arranged(permutation: Axes, sizes: Sizes, old_sizes: Sizes) -> Kernel | None:
    moves = permutation != tuple(range(len(permutation)))
    reshapes = tuple(old_sizes[d] for d in permutation) != sizes
    if moves and reshapes:
        return lambda x: x.transpose(permutation).reshape(sizes)
    if moves:
        return lambda x: x.transpose(permutation)
    return (lambda x: x.reshape(sizes)) if reshapes else None
