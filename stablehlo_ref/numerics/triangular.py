"""Triangular systems, for stacks of matrices in f64 or complex<f64>: back substitution in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from stablehlo_ref.budget import check_time
from stablehlo_ref.ir.arrays import Array

BLOCK = 32  # rows that are solved together before one matrix product subtracts them from the other rows
FEW = 8  # rows of which each is solved by itself, which takes less time than to invert their block
GROWTH = 2.0**12  # what inverting a block may add to the error bound of substitution, as a factor


def substitute(u: Array, b: Array, unit_diagonal: bool, is_rounded: bool) -> Array:
    """Solve `u @ x = b` for upper triangular matrices `u`, of which nothing else is read, by back substitution.

    `b` may have a narrower type. If the result `is_rounded` to f32 or a narrower type, blocks of rows are multiplied by
    their inverses where that is accurate enough.
    """
    x = b.astype(u.dtype, order="C")
    solve = _solve_by_inverses if is_rounded else _substitute_rows
    _substitute_blocks(u, x, partial(solve, unit_diagonal=unit_diagonal))
    return x


def _substitute_blocks(u: Array, x: Array, solve: Callable[[Array, Array], None]) -> None:
    """Replace the right-hand sides in `x` by the solution, half by half down to blocks, which `solve` does."""
    check_time()
    if u.shape[-1] <= BLOCK:
        solve(u, x)
        return
    half = (u.shape[-1] // BLOCK + 1) // 2 * BLOCK
    _substitute_blocks(u[..., half:, half:], x[..., half:, :], solve)
    x[..., :half, :] -= u[..., :half, half:] @ x[..., half:, :]
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
    """Multiply `x` by the inverses of `u`, and where these are not `_is_accurate`, solve row by row.

    The products are used only if they are finite: by them an infinity in `x` makes all rows NaN.
    """
    if u.shape[-1] <= FEW:
        _substitute_rows(u, x, unit_diagonal)
        return
    triangle = np.triu(u)
    if unit_diagonal:
        triangle[..., range(u.shape[-1]), range(u.shape[-1])] = 1
    try:
        inverse = np.linalg.inv(triangle)
    except np.linalg.LinAlgError:
        inverse = np.full_like(u, np.nan)
    product: Array = inverse @ x
    is_good = _is_accurate(triangle, inverse) & np.isfinite(product).all((-1, -2), keepdims=True)
    if is_good.all():
        x[...] = product
        return
    _substitute_rows(u, x, unit_diagonal)
    np.copyto(x, product, where=is_good)


def _is_accurate(u: Array, inverse: Array) -> Array:
    """Return for each matrix whether a product with its inverse is about as accurate as substitution in f32.

    With M = |inverse| @ |u|, the errors of substitution are at most `c * epsilon * M @ |x|` for a small c, and those of
    `inverse @ b` at most `c * epsilon * M @ M @ |x|` (N. J. Higham, Accuracy and Stability of Numerical Algorithms,
    chapters 8 and 14). So where no element of M @ M exceeds that of M by more than GROWTH, the bound in f64 is 2**-17
    of that of substitution in f32.
    """
    m = np.abs(inverse) @ np.abs(u)
    return np.asarray((m @ m <= GROWTH * m).all((-1, -2), keepdims=True))
