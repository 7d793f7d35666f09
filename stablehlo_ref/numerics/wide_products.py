"""Products of few rows with a large matrix that is converted first, as in a layer of a language model for one token.

Converting all of the matrix takes longer than multiplying, and twice its memory or more. Here it is converted and
multiplied block by block. A sum is that of one call of BLAS, or the sum of those of `TERMS` products each.

Of two large matrices, the left one is converted in groups of rows, and so is the product.
"""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.contraction import Arithmetic, matmul_in_steps, rows_of_step
from stablehlo_ref.numerics.dtypes import kind

ROWS = 64  # of the small matrix, at most
LARGE = 1 << 21  # elements of the large matrix, at least
TERMS = 32  # rows of a block, unless columns of the matrix are contiguous
BLOCK = 1 << 18  # elements that are converted at a time, so that they stay in the cache until they are multiplied
STEP_ROWS = 384  # of a large left matrix: OpenBLAS's kernels are for 4, 6, 12, 16 or 24 rows, so that none is cut


def converts_to_floats(sums: Arithmetic) -> bool:
    """Return whether BLAS multiplies floats that the operands are converted to."""
    return kind(sums.dtype) == "floating" and sums.matmul in (np.matmul, matmul_in_steps) and not sums.is_plain


def is_wide(rows: int, terms: int, size: int) -> bool:
    """Return whether to multiply block by block: `rows` rows of `terms` elements with a matrix of `size` elements."""
    return rows <= ROWS and size >= LARGE and 8 * terms <= BLOCK


def wide_product(sums: Arithmetic, a: Array, b: Array) -> Array:
    """Multiply the matrix `a`, already of the dtype of the sums, by `b`, which is not; return the sums."""
    terms, columns = b.shape
    is_transposed = b.strides[0] == b.itemsize
    rows = terms if is_transposed else min(TERMS, terms)
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
