"""Sums of products, for dot_general and convolution: matrix multiplication for each element type.

Floating-point and complex matrices are multiplied by BLAS, which chooses the order of additions; in the spec it is
implementation-defined. Sums are accumulated in f32 or f64, whichever represents the operands and the result, and
rounded once to the result's type. Integers are exact modulo two to the bit width of the result, although they too are
multiplied by BLAS: f32 (f64) matrices are exact as long as no sum can exceed 2^24 (2^53), and larger numbers are split
into digits. For booleans the sum of products is the disjunction of conjunctions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import pairwise
from math import inf, prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import check_time, reserve, within_time
from stablehlo_ref.numerics.blocks import copy_into
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
from stablehlo_ref.numerics.exact_products import exact_matmul
from stablehlo_ref.numerics.integers import pack, unpack
from stablehlo_ref.numerics.kernels import ArrayKernel, stored
from stablehlo_ref.numerics.layout import OF_VECTORS, row_major
from stablehlo_ref.numerics.narrow_floats import narrow, widen

Axes: TypeAlias = tuple[int, ...]
Sizes: TypeAlias = tuple[int, ...]

EXACT_IN_F32, EXACT_IN_F64 = 1 << 24, 1 << 53
PREPARED_BYTES = 1 << 26  # constant operands up to this size are converted to matrices while planning
_KINDS = ("boolean", "integer", "floating", "complex")  # each can represent the values of those before it
STEP = 1 << 29  # multiplications of one call of BLAS, 0.1 s or less: larger products are computed in several
FLOPS = 1.5e10  # floating-point operations of LAPACK in a second, by which its time is estimated
ROWS = 16  # rows of a large product that are computed at least at a time
SMALL = 1 << 13  # multiplications: up to this many, numpy's own loops are fast enough
_EXACT_BYTES = {FLOAT32: (12, 16), FLOAT64: (48, 16), COMPLEX64: (120, 20), COMPLEX128: (192, 32)}
"""Temporaries of exact products for each element of an operand, and of the result, at most (measured)."""


@dataclass(frozen=True)
class Arithmetic:
    """How products of two element types are summed, for sums of a bounded number of products."""

    dtype: DType  # of the matrices and of the sums
    load_lhs: ArrayKernel  # from operands to matrices, elementwise
    load_rhs: ArrayKernel
    matmul: ArrayKernel  # like np.matmul: two matrices, or stacks of them, and optionally `out`
    store: ArrayKernel  # from sums to results, elementwise
    is_exact: bool = False  # whether `matmul` rounds once, so that sums must not be added to others

    @property
    def is_plain(self) -> bool:
        """Whether neither operands nor sums are converted."""
        return self.load_lhs is identity and self.load_rhs is identity and self.store is identity


def identity(x: Array) -> Array:
    """Return `x`: the conversion of operands or sums that need none."""
    return x


@lru_cache(maxsize=256)
def arithmetic(lhs: DType, rhs: DType, result: DType, terms: int, is_exact: bool = False) -> Arithmetic:
    """Return the arithmetic for sums of at most `terms` products; UnsupportedError for a `result` of a lower kind.

    If `is_exact`, as in the reproducible mode, sums of floating-point and complex products are rounded once.
    """
    check_result_dtype(lhs, rhs, result)
    match kind(result):
        case "boolean":
            return Arithmetic(FLOAT32, _cast_to(FLOAT32), _cast_to(FLOAT32), np.matmul, lambda sums: sums != 0)
        case "integer":
            return _integer_arithmetic(lhs, rhs, result, terms)
    if is_exact:
        return _exact_arithmetic(lhs, rhs, result)
    dtype = accumulation_dtype(lhs, rhs, result)
    matmul: ArrayKernel = complex_matmul if kind(dtype) == "complex" else np.matmul
    return Arithmetic(dtype, _load(lhs, dtype), _load(rhs, dtype), matmul, _store(dtype, result))


def _exact_arithmetic(lhs: DType, rhs: DType, result: DType) -> Arithmetic:
    """Return the arithmetic that rounds exact sums once; matrices are f64 or complex<f64>, or f32 if sums are."""
    wide = COMPLEX128 if kind(result) == "complex" else FLOAT64
    is_single = all(x.itemsize <= 2 or x in (FLOAT32, COMPLEX64) for x in (lhs, rhs))  # also small integers
    operands = (COMPLEX64 if is_single else COMPLEX128) if wide == COMPLEX128 else FLOAT32 if is_single else FLOAT64
    matmul = exact_matmul(operands, result, matmul_in_steps)
    dtype = FLOAT32 if operands == FLOAT32 and result != FLOAT64 else wide
    return Arithmetic(dtype, _load(lhs, dtype), _load(rhs, dtype), matmul, _store(dtype, result), True)


def check_result_dtype(lhs: DType, rhs: DType, result: DType) -> None:
    """Raise UnsupportedError if sums of products would lose their kind, such as complex products summed in f32."""
    if max(_KINDS.index(kind(lhs)), _KINDS.index(kind(rhs))) > _KINDS.index(kind(result)):
        raise UnsupportedError(f"products of {lhs} and {rhs} cannot be summed as {result}")


def elementwise_dtype(lhs: DType, rhs: DType, result: DType) -> DType:
    """Return the dtype in which ufuncs can sum products, of integers modulo two to its bit width."""
    if kind(result) in ("boolean", "integer"):
        return INT8 if is_sub_byte_integer(result) else result
    return accumulation_dtype(lhs, rhs, result)


@lru_cache(maxsize=256)
def elementwise_arithmetic(lhs: DType, rhs: DType, result: DType) -> Arithmetic:
    """Like `arithmetic`, for sums by ufuncs instead of `matmul`: integers and booleans stay integers and booleans."""
    check_result_dtype(lhs, rhs, result)
    dtype = elementwise_dtype(lhs, rhs, result)
    return Arithmetic(dtype, _load(lhs, dtype), _load(rhs, dtype), np.matmul, _store(dtype, result))


def converted_bytes(dtypes: Sequence[DType], operands: int, results: int, is_exact: bool = False) -> int:
    """Return the bytes of copies that an arithmetic makes: of so many elements of operands, and of sums (measured).

    `dtypes` are those of both operands and the result; `is_exact` is that of `arithmetic`.
    """
    lhs, rhs, result = dtypes
    if kind(result) == "integer":
        return (16 if min(lhs.itemsize, rhs.itemsize) > 2 else 8) * (operands + results)
    if kind(result) == "boolean":
        return FLOAT32.itemsize * (operands + results)
    wide = accumulation_dtype(*dtypes)
    if is_exact:
        of_operand, of_result = _EXACT_BYTES[wide]
        return of_operand * operands + of_result * results
    return wide.itemsize * (operands * (lhs != wide or rhs != wide) + results * (result != wide))


def accumulation_dtype(*dtypes: DType) -> DType:
    """Return the narrowest of f32, f64 and their complex dtypes that represents all of `dtypes`."""
    is_double = any(d in (FLOAT64, COMPLEX128) for d in dtypes)
    if any(d in (COMPLEX64, COMPLEX128) for d in dtypes):
        return COMPLEX128 if is_double else COMPLEX64
    return FLOAT64 if is_double else FLOAT32


def complex_matmul(a: Array, b: Array, out: Array | None = None) -> Array:
    """Multiply complex matrices or vectors; small sums are added in order, with every operation rounded.

    Other implementations compute small sums in this way. BLAS fuses multiplications with additions, and sums the two
    products of each component separately, so that results differ much where they cancel.
    """
    if a.size * b.shape[-1] > SMALL:
        return matmul_in_steps(a, b, out)
    rows, columns = "i"[: a.ndim - 1], "k"[: b.ndim - 1]
    return np.einsum(f"...{rows}j,...j{columns}->...{rows}{columns}", a, b, out=out)


# --- large products -------------------------------------------------------------------------------------------------


def for_products(sums: Arithmetic, count: int) -> Arithmetic:
    """Return the arithmetic for contractions of `count` multiplications, which check the deadline if they are many."""
    return replace(sums, matmul=matmul_in_steps) if sums.matmul is np.matmul and count > STEP else sums


def matmul_in_steps(a: Array, b: Array, out: Array | None = None) -> Array:
    """Multiply like np.matmul; large products by groups of matrices or rows, with a check of the deadline between."""
    if prod(a.shape) * b.shape[-1] <= STEP or a.ndim < 2 or b.ndim < 2 or a.shape[:-2] != b.shape[:-2]:
        return np.matmul(a, b, out=out)
    product = np.empty((*a.shape[:-1], b.shape[-1]), np.result_type(a, b)) if out is None else out
    for rows in within_time(_groups(a.shape, b.shape[-1])):
        np.matmul(a[rows], b[rows[: a.ndim - 2]], out=product[rows])
    return product


def subtract_product(x: Array, a: Array, b: Array) -> None:
    """Subtract the product that `matmul_in_steps` returns from `x`, step by step."""
    is_large = prod(a.shape) * b.shape[-1] > STEP
    for rows in within_time(_groups(a.shape, b.shape[-1])) if is_large else [()]:
        x[rows] -= np.matmul(a[rows], b[rows[: a.ndim - 2]])


def of_separate(multiply: ArrayKernel) -> ArrayKernel:
    """Return a product of arrays that is the same whether they share memory or not.

    numpy multiplies a matrix and its transpose, which it recognises by their address, by another function of BLAS,
    whose sums have another order.
    """

    def run(a: Array, b: Array) -> Array:
        if np.may_share_memory(a, b):
            reserve(0, b.nbytes)
            b = b.copy()
        return multiply(a, b)

    return run


def of_near_rows(
    multiply: ArrayKernel, lhs: tuple[Sizes, DType], rhs: tuple[Sizes, DType], are_vectors: bool
) -> ArrayKernel:
    """Return a product of a vector, or of two vectors, or of stacks of them, that copies operands with rows apart.

    BLAS has special functions for these. The distance of rows makes a difference if they are narrow, and of two
    vectors even the addresses do.
    """
    narrowest = inf if are_vectors else OF_VECTORS
    left, right = (row_major(sizes, dtype.itemsize, narrowest) if sizes else identity for sizes, dtype in (lhs, rhs))
    return lambda a, b: multiply(left(a), right(b))


def rows_of_step(sizes: Sizes, columns: int) -> int:
    """Return how many matrices of a stack, or rows of a matrix, `matmul_in_steps` multiplies at a time."""
    return max(ROWS if len(sizes) == 2 else 1, STEP // max(1, prod(sizes[1:]) * columns))


def _groups(sizes: Sizes, columns: int) -> Iterator[tuple[int | slice, ...]]:
    """Yield indices of groups of a stack of matrices whose products with as many others need about `STEP` steps."""
    count = rows_of_step(sizes, columns)
    if count > 1 or len(sizes) == 2:
        yield from ((slice(start, start + count),) for start in range(0, sizes[0], count))
        return
    for index in range(sizes[0]):
        yield from ((index, *rest) for rest in _groups(sizes[1:], columns))


# --- conversion to and from the accumulation dtype ------------------------------------------------------------------


def _cast_to(dtype: DType) -> ArrayKernel:
    return Kernel(lambda x: x.astype(dtype), into=copy_into)


def _load(dtype: DType, wide: DType) -> ArrayKernel:
    if dtype == wide:
        return identity
    if is_sub_byte_integer(dtype):
        to_bytes = unpack(dtype)
        return lambda x: to_bytes(x).astype(wide)
    if is_narrow_float(dtype):
        return widen if wide == FLOAT32 else lambda x: widen(x).astype(wide)
    return _cast_to(wide)


def _store(wide: DType, dtype: DType) -> ArrayKernel:
    if dtype == wide:
        return identity
    return pack(dtype) if is_sub_byte_integer(dtype) else narrow(dtype)


# --- integers -------------------------------------------------------------------------------------------------------


def _integer_arithmetic(lhs: DType, rhs: DType, result: DType, terms: int) -> Arithmetic:
    largest = terms << _magnitude_bits(lhs) + _magnitude_bits(rhs)
    if largest > EXACT_IN_F64 or min(lhs.itemsize, rhs.itemsize) > 2:
        dtype = elementwise_dtype(lhs, rhs, result)
        return Arithmetic(dtype, _load(lhs, dtype), _load(rhs, dtype), integer_matmul, _store(dtype, result))
    dtype = FLOAT32 if largest <= EXACT_IN_F32 else FLOAT64
    whole = np.dtype(np.int32 if largest < 1 << 31 else np.int64)
    if is_sub_byte_integer(result):
        from_bytes = pack(result)
        return Arithmetic(dtype, _load(lhs, dtype), _load(rhs, dtype), np.matmul,
                          lambda sums: from_bytes(sums.astype(whole).astype(INT8)))  # fmt: skip
    return Arithmetic(dtype, _load(lhs, dtype), _load(rhs, dtype), np.matmul,
                      _cast_to(result) if whole == result else lambda x: x.astype(whole).astype(result))  # fmt: skip


def _magnitude_bits(dtype: DType) -> int:
    """Return the power of two that bounds the magnitude of all values of `dtype`."""
    return bit_width(dtype) - is_signed(dtype)


def integer_matmul(a: Array, b: Array, out: Array | None = None) -> Array:
    """Multiply matrices of one integer dtype of 8 bits or more, modulo two to its bit width."""
    if prod(a.shape) * b.shape[-1] <= SMALL or 0 in b.shape:
        return np.matmul(a, b, out=out)
    signed = signed_bits_dtype(a.dtype)
    width = digit_width(a.shape[-1], bit_width(a.dtype))
    product = np.empty((*a.shape[:-1], b.shape[-1]), a.dtype) if out is None else out
    b_digits = digits(b.view(signed), width)
    for rows in within_time(_groups(a.shape, b.shape[-1])) if a.ndim == 2 == b.ndim else [()]:
        product[rows] = by_digits(digits(a[rows].view(signed), width), b_digits, width, bit_width(a.dtype))
    return product


def by_digits(a_digits: Sequence[Array], b_digits: Sequence[Array], width: int, bits: int) -> Array:
    """Multiply modulo 2^64 as polynomials in a power of two, whose coefficients are multiplied exactly in f64."""
    total = np.zeros((), np.int64)
    for power in range(len(a_digits) + len(b_digits) - 1):
        if power * width >= bits:
            break
        check_time()
        pairs = [(i, power - i) for i in range(len(a_digits)) if 0 <= power - i < len(b_digits)]
        coefficient = matmul_in_steps(a_digits[pairs[0][0]], b_digits[pairs[0][1]])
        for i, j in pairs[1:]:
            coefficient += matmul_in_steps(a_digits[i], b_digits[j])
        term = coefficient.astype(np.int64)
        total = term if power == 0 else np.add(total, np.left_shift(term, power * width, out=term), out=total)
    return total


def digit_width(terms: int, bits: int) -> int:
    """Return the bits of a digit, such that sums of `terms` products for each pair of digits stay below 2^53."""
    count = 1
    while True:
        width = (53 - (count * terms).bit_length()) // 2 + 1
        if width * count >= bits:
            return width
        count += 1


def digits(x: Array, width: int) -> list[Array]:
    """Return signed digits of `x` to the base 2^width as f64, the lowest first: no more than the elements need."""
    half = 1 << width - 1
    highest = max(int(x.max()), -int(x.min()) - 1)
    lower = []
    while highest >= half:
        check_time()
        digit = np.bitwise_and(x + half, 2 * half - 1) - half
        lower.append(digit.astype(np.float64))
        x = np.right_shift(x - digit, width)
        highest = highest + half >> width
    return [*lower, x.astype(np.float64)]


# --- algorithms that round the operands -----------------------------------------------------------------------------


def rounded_arithmetic(
    plain: Arithmetic, lhs: ArrayKernel, rhs: ArrayKernel, accumulate: ArrayKernel, components: int, levels: int
) -> Arithmetic:
    """Return the floating-point arithmetic `plain` with operands rounded by `lhs` and `rhs`, and sums by `accumulate`.

    With several components, each operand is split into a sum of rounded numbers, and the products of components i and
    j with i + j < `levels` are added, the smallest first. Infinities and NaNs have products with first components only.
    """
    pairs = [(i, j) for i in range(components) for j in range(components) if i + j < levels]
    pairs.sort(key=sum, reverse=True)

    def matmul(a: Array, b: Array, out: Array | None = None) -> Array:
        a_parts, b_parts = split(a, lhs, components), split(b, rhs, components)
        left = [finite(a_parts[0]) if i == 0 < j else a_parts[i] for i, j in pairs]
        right = [finite(b_parts[0]) if j == 0 < i else b_parts[j] for i, j in pairs]
        if plain.is_exact:
            rows = -1 if b.ndim == 1 else -2
            return plain.matmul(np.concatenate(left, -1), np.concatenate(right, rows), out=out)
        return stored(reduce(np.add, map(matmul_in_steps, left, right)), out)

    return replace(plain, matmul=matmul, store=lambda x: plain.store(accumulate(x)))


def split(x: Array, rounded: ArrayKernel, components: int) -> list[Array]:
    """Split `x` into its rounded value, the rounded error of that, and so on, as long as they are finite."""
    found = [rounded(x)]
    for _ in range(components - 1):
        x = np.where(np.isfinite(found[-1]), x - found[-1], x.dtype.type(0))
        found.append(rounded(x))
    return found


def finite(x: Array) -> Array:
    """Return `x` with zeros in place of infinities and NaNs."""
    return np.where(np.isfinite(x), x, x.dtype.type(0))


def rounding(dtype: DType) -> ArrayKernel:
    """Return a kernel that rounds f32 or f64 arrays to values representable in `dtype`, once, and keeps their dtype."""
    to_dtype = narrow(dtype)

    def run(x: Array) -> Array:
        if mantissa_bits(dtype) >= mantissa_bits(x.dtype):
            return x
        y = to_dtype(np.ascontiguousarray(x))
        return (widen(y) if is_narrow_float(dtype) else y).astype(x.dtype, copy=False)

    return run


def round_to_tf32(x: Array) -> Array:
    """Round f32 or f64 to the numbers of f32 that have ten stored mantissa bits, ties to even."""
    dropped = mantissa_bits(x.dtype) - 10
    bits = np.ascontiguousarray(x).view(signed_bits_dtype(x.dtype))
    half = np.bitwise_and(np.right_shift(bits, dropped), 1) + ((1 << dropped - 1) - 1)
    nearest = np.bitwise_and(bits + half, -1 << dropped).view(x.dtype)
    if x.dtype == FLOAT64:
        subnormal = np.copysign(np.rint(x * 2.0**136) * 2.0**-136, x)
        nearest = np.where(np.abs(x) < 2.0**-126, subnormal, nearest)
        nearest = np.where(np.abs(nearest) < 2.0**128, nearest, np.copysign(np.inf, x))
    return np.where(np.isfinite(x), nearest, x)


# --- operands as matrices -------------------------------------------------------------------------------------------


def matrices(sizes: Sizes, batching: Axes, contracting: Axes, rows_first: bool) -> ArrayKernel | None:
    """Return a function from an array of these sizes to a stack of matrices or a vector, or None if it already is one.

    The rows of the matrices are the result's dimensions if `rows_first`, else the contracting ones. Without result and
    batching dimensions the function returns a vector. It returns a view if possible; in a copy, the last dimension
    stays last. If the last axis of the array is contiguous, it depends on sizes alone whether the rows of a matrix or
    its columns are.
    """
    others = tuple(d for d in range(len(sizes)) if d not in batching and d not in contracting)
    if not others and not batching:
        return _arranged(contracting, (prod(sizes),), sizes)
    left, right = (others, contracting) if rows_first else (contracting, others)
    rows, columns = (prod(sizes[d] for d in axes) for axes in (left, right))
    stack = tuple(sizes[d] for d in batching)
    if len(sizes) - 1 in left and not (_adjacent(left, sizes) and _adjacent(right, sizes)):
        swapped = _arranged(batching + right + left, (*stack, columns, rows), sizes)
        return lambda x: (swapped(x) if swapped else x).swapaxes(-1, -2)
    if _adjacent(left, sizes) and _adjacent(right, sizes):
        return _merged([*((d,) for d in batching), left, right], sizes)
    return _arranged(batching + left + right, (*stack, rows, columns), sizes)


def _merged(groups: Sequence[Axes], sizes: Sizes) -> ArrayKernel | None:
    """Return a function that makes one dimension of each group, before it brings them in order."""
    firsts = [next((d for d in group if sizes[d] != 1), min(group, default=-1)) for group in groups]
    in_memory = sorted(range(len(groups)), key=firsts.__getitem__)
    merged = tuple(prod(sizes[d] for d in groups[index]) for index in in_memory)
    order = tuple(in_memory.index(index) for index in range(len(groups)))
    merge = _arranged(tuple(range(len(sizes))), merged, sizes)
    move = _arranged(order, tuple(merged[index] for index in order), merged)
    return (lambda x: move(merge(x))) if merge and move else merge or move


def _adjacent(dimensions: Axes, sizes: Sizes) -> bool:
    """Return whether dimensions in this order form one dimension in memory, except for those of size 1."""
    return all(b > a and all(sizes[d] == 1 for d in range(a + 1, b))
               for a, b in pairwise(d for d in dimensions if sizes[d] != 1))  # fmt: skip


def _arranged(permutation: Axes, sizes: Sizes, old_sizes: Sizes) -> ArrayKernel | None:
    moves = permutation != tuple(range(len(permutation)))
    reshapes = tuple(old_sizes[d] for d in permutation) != sizes
    if moves and reshapes:
        return lambda x: x.transpose(permutation).reshape(sizes)
    if moves:
        return lambda x: x.transpose(permutation)
    return (lambda x: x.reshape(sizes)) if reshapes else None
