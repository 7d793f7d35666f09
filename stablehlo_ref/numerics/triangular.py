"""Triangular systems, for stacks of matrices in f64 or complex<f64>: back substitution in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.budget import check_time, within_time
from stablehlo_ref.numerics.contraction import matmul_in_steps

BLOCK = 32  # rows that are solved together before one matrix product subtracts them from the other rows
PART = 1 << 16  # elements of matrices that are solved at a time
FEW = 8  # rows of which each is solved by itself, which takes less time than to invert their block
GROWTH = 2.0**12  # what inverting a block may add to the error bound of substitution, as a factor


def substitute(u: Array, b: Array, unit_diagonal: bool, is_rounded: bool) -> Array:
    """Solve `u @ x = b` for upper triangular matrices `u`, of which nothing else is read, by back substitution.

    `b` may have a narrower type. If the result `is_rounded` to f32 or a narrower type, blocks of rows are multiplied by
    their inverses where that is accurate enough.
    """
    x = b.astype(u.dtype, order="C")
    solve = partial(_solve_by_inverses if is_rounded else _substitute_rows, unit_diagonal=unit_diagonal)
    matrices, n = prod(u.shape[:-2]), u.shape[-1]
    stack, sides, step = u.reshape(matrices, n, n), x.reshape(matrices, *x.shape[-2:]), max(1, PART // max(1, n * n))
    for start in within_time(range(0, matrices, step)):
        _substitute_blocks(stack[start : start + step], sides[start : start + step], solve)
    return x


def _substitute_blocks(u: Array, x: Array, solve: Callable[[Array, Array], None]) -> None:
    """Replace the right-hand sides in `x` by the solution, half by half down to blocks, which `solve` does."""
    check_time()
    if u.shape[-1] <= BLOCK:
        solve(u, x)
        return
    half = (u.shape[-1] // BLOCK + 1) // 2 * BLOCK
    _substitute_blocks(u[..., half:, half:], x[..., half:, :], solve)
    x[..., :half, :] -= matmul_in_steps(u[..., :half, half:], x[..., half:, :])
    _substitute_blocks(u[..., :half, :half], x[..., :half, :], solve)


def _substitute_rows(u: Array, x: Array, unit_diagonal: bool) -> None:
    """Replace the right-hand sides in `x` by the solution, row by row."""
    for i in reversed(range(u.shape[-1])):
        row = x[..., i : i + 1, :]
        if i + 1 < u.shape[-1]:
            row -= u[..., i : i + 1, i + 1 :] @ x[..., i + 1 :, :]
        if not unit_diagonal:
            row /= u[..., i : i + 1, i : i + 1]


def _solve_by_inverses(u: Array, x: Array, unit_diagonal: bool) -> None:
    """Multiply `x` by the inverses of `u`, and where there are none, or not `_is_accurate` ones, solve row by row.

    The products are used only if they are finite: by them an infinity in `x` makes all rows NaN.
    """
    if u.shape[-1] <= FEW:
        _substitute_rows(u, x, unit_diagonal)
        return
    triangle, diagonal = np.triu(u), range(u.shape[-1])
    if unit_diagonal:
        triangle[..., diagonal, diagonal] = 1
    is_good = np.isfinite(triangle).all((-1, -2)) & (triangle[..., diagonal, diagonal] != 0).all(-1)
    triangle[~is_good] = np.eye(u.shape[-1])  # has an inverse
    inverse = np.linalg.inv(triangle)
    product: Array = inverse @ x
    is_good &= _is_accurate(triangle, inverse) & np.isfinite(product).all((-1, -2))
    if is_good.all():
        x[...] = product
        return
    _substitute_rows(u, x, unit_diagonal)
    x[is_good] = product[is_good]


def _is_accurate(u: Array, inverse: Array) -> Array:
    """Return for each matrix whether a product with its inverse is about as accurate as substitution in f32.

    With M = |inverse| @ |u|, the errors of substitution are at most `c * epsilon * M @ |x|` for a small c, and those of
    `inverse @ b` at most `c * epsilon * M @ M @ |x|` (N. J. Higham, Accuracy and Stability of Numerical Algorithms,
    chapters 8 and 14). So where no element of M @ M exceeds that of M by more than GROWTH, the bound in f64 is 2**-17
    of that of substitution in f32.
    """
    m = np.abs(inverse) @ np.abs(u)
    result: Array = (m @ m <= GROWTH * m).all((-1, -2))
    return result
