"""Products of large matrices by BLAS that are converted to floats part by part, and never as a whole.

Integer sums are exact modulo two to the bit width, so that any split of rows, columns and terms has the same result.
Of floats, few rows are multiplied with a large matrix block by block, as in a layer of a language model for one token:
a sum is that of one call of BLAS, or of calls for `BLOCK_ROWS` products each. Else groups of rows are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.contraction import (
    Arithmetic,
    arithmetic,
    by_digits,
    digit_width,
    digits,
    integer_matmul,
    matmul_in_steps,
    rows_of_step,
)
from stablehlo_ref.numerics.dtypes import bit_width, is_sub_byte_integer, kind, signed_bits_dtype

LARGE = 1 << 19  # elements of operands and the result: products of fewer are computed at once
TERMS = 512  # of sums that are computed at a time
COLUMNS = 1 << 12
RIGHT = 1 << 20  # elements of the right matrix that are floats at a time
SUMS = 1 << 18  # elements of the product that are floats at a time
PART_BYTES = 3 << 24  # that an arithmetic needs at most for these parts


@dataclass(frozen=True)
class _Parts:
    """How parts of matrices are multiplied."""

    load_left: Callable[[Array], Any]
    load_right: Callable[[Array], Any]
    multiply: Callable[[Any, Any], Array]  # to integers


def multiplies_in_parts(dtypes: Sequence[DType], size: int) -> bool:
    """Return whether to use `product_in_parts`, given dtypes and the number of elements of operands and result."""
    return size >= LARGE and all(kind(x) == "integer" and not is_sub_byte_integer(x) for x in dtypes)


def product_in_parts(a: Array, b: Array, dtype: DType) -> Array:
    """Multiply integer matrices; the result is an array of the integer `dtype`, modulo two to its bit width."""
    terms, columns = b.shape
    result = np.empty((len(a), columns), dtype)
    width = min(columns, COLUMNS)
    step = max(1, min(terms, TERMS, RIGHT // width))
    parts, rows = _parts(a.dtype, b.dtype, dtype, step), max(1, SUMS // width)
    for column in _slices(columns, width):
        for term in _slices(terms, step):
            right = parts.load_right(b[term, column])
            for row in within_time(_slices(len(a), rows)):
                product = parts.multiply(parts.load_left(a[row, term]), right)
                if term.start:
                    result[row, column] += product.astype(dtype, copy=False)
                else:
                    result[row, column] = product
    return result


def _slices(size: int, step: int) -> Iterator[slice]:
    return (slice(start, min(start + step, size)) for start in range(0, size, step))


def _parts(lhs: DType, rhs: DType, result: DType, terms: int) -> _Parts:
    sums = arithmetic(lhs, rhs, result, terms)
    if sums.matmul is not integer_matmul:
        return _Parts(sums.load_lhs, sums.load_rhs, lambda a, b: sums.store(sums.matmul(a, b)))
    signed, bits = signed_bits_dtype(sums.dtype), bit_width(sums.dtype)
    width = digit_width(terms, bits)
    return _Parts(
        lambda x: digits(sums.load_lhs(x).view(signed), width),
        lambda x: digits(sums.load_rhs(x).view(signed), width),
        lambda a, b: by_digits(a, b, width, bits),
    )


# --- floats ---------------------------------------------------------------------------------------------------------

ROWS = 64  # of the small matrix, at most
LARGE_RIGHT = 1 << 21  # elements of the large matrix, at least
BLOCK_ROWS = 32  # rows of a block, unless columns of the matrix are contiguous
BLOCK = 1 << 18  # elements that are converted at a time, so that they stay in the cache until they are multiplied
STEP_ROWS = 384  # of a large left matrix: OpenBLAS's kernels are for 4, 6, 12, 16 or 24 rows, so that none is cut


def converts_to_floats(sums: Arithmetic) -> bool:
    """Return whether BLAS multiplies floats that the operands are converted to."""
    return kind(sums.dtype) == "floating" and sums.matmul in (np.matmul, matmul_in_steps) and not sums.is_plain


def is_wide(rows: int, terms: int, size: int) -> bool:
    """Return whether to multiply block by block: `rows` rows of `terms` elements with a matrix of `size` elements."""
    return rows <= ROWS and size >= LARGE_RIGHT and 8 * terms <= BLOCK


def wide_product(sums: Arithmetic, a: Array, b: Array) -> Array:
    """Multiply the matrix `a`, already of the dtype of the sums, by `b`, which is not; return the sums."""
    terms, columns = b.shape
    is_transposed = b.strides[0] == b.itemsize
    rows = terms if is_transposed else min(BLOCK_ROWS, terms)
    step = BLOCK // rows
    out = np.zeros((len(a), columns), sums.dtype)
    for start in within_time(range(0, columns, step)):
        part = out[:, start : start + step]
        for row in range(0, terms, rows):
            block = b[row : row + rows, start : start + step]
            converted = sums.load_rhs(block.T).T if is_transposed else sums.load_rhs(block)
            part += np.matmul(a[:, row : row + rows], converted)
    return out


def product_by_rows(sums: Arithmetic, a: Array, b: Array, dtype: DType) -> Array:
    """Multiply the matrix `a` before it is converted, by `b`, already of the dtype of the sums; `dtype` results.

    Groups of rows end where `matmul_in_steps` would start another call of BLAS, if there is such a place.
    """
    result = np.empty((len(a), b.shape[1]), dtype)
    step = rows_of_step(a.shape, b.shape[1])
    if step >= len(a):
        step = STEP_ROWS * max(1, BLOCK // (STEP_ROWS * max(1, *b.shape)))
    else:
        step *= max(1, STEP_ROWS // step)
    for start in within_time(range(0, len(a), step)):
        some = slice(start, start + step)
        result[some] = sums.store(sums.matmul(sums.load_lhs(a[some]), b))
    return result
