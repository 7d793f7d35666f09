"""Left eigenvectors of matrices, also of defective ones, for computed eigenvalues and right eigenvectors."""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.factorizations import adjoint

TOLERANCE = 10  # residuals above this many times epsilon times the norm of the matrix are reduced by iteration
MAX_BYTES = 1 << 26  # of the matrices that are factored at the same time

EPSILON = np.finfo(np.float64).eps


def left_eigenvectors(a: Array, values: Array, right: Array) -> Array:
    """Return left eigenvectors `u` with `u^H a = value u^H` as columns, of norm 1 and with a real largest element.

    `a` is f64 or complex<f64> of shape (..., n, n), `values` are its eigenvalues (..., n) and `right` the right
    eigenvectors (..., n, n) as columns. The results are complex<f64>, NaN for matrices with NaN in `right`.
    """
    if not right.size:
        return np.zeros_like(right)
    is_finite = np.isfinite(right).all((-1, -2), keepdims=True)
    left = adjoint(np.linalg.pinv(np.where(is_finite, right, 0)))
    for batch in within_time(np.ndindex(left.shape[:-2])):
        if np.isfinite(right[batch]).all():
            left[batch] = _corrected(a[batch], values[batch], left[batch])
    return _normalized(np.where(is_finite, left, np.nan))


def _corrected(a: Array, values: Array, left: Array) -> Array:
    """Return left eigenvectors of one matrix, with those replaced whose residual is large.

    The inverse of the right eigenvectors is exact up to rounding unless they are nearly dependent.
    """
    scale = np.abs(a).max() or 1.0  # squares of other numbers may overflow
    a, values = a / scale, values / scale
    norm = float(np.linalg.norm(a)) or 1.0
    lengths = np.linalg.norm(left, axis=0)
    residuals = np.linalg.norm(adjoint(a) @ left - left * np.conjugate(values), axis=0)
    wrong = ~(residuals <= TOLERANCE * EPSILON * norm * lengths) | (lengths == 0)
    left = left.copy()
    if np.iscomplexobj(a):
        _correct(left, wrong, a, values, norm)
        return left
    _correct(left, wrong & (values.imag == 0), a, values.real, norm)
    _correct(left, wrong & (values.imag > 0), a, values, norm)
    return _of_real_matrix(left, values)


def _correct(left: Array, wrong: Array, a: Array, values: Array, norm: float) -> None:
    """Replace the columns of `left` where `wrong` is true."""
    columns = np.flatnonzero(wrong)
    chunk = max(1, MAX_BYTES // (16 * a.size))
    for start in within_time(range(0, len(columns), chunk)):
        part = columns[start : start + chunk]
        left[:, part] = _by_inverse_iteration(a, values[part], norm).T


def _by_inverse_iteration(a: Array, values: Array, norm: float) -> Array:
    """Return, as rows, unit vectors `u` that minimize the norm of `u^H (a - value)`.

    They are left singular vectors of `b = a - value` for its smallest singular value, by one step of inverse iteration
    on `b b^H`. It reduces components of other singular vectors by the square of the ratio of singular values, which
    is about epsilon, also for defective matrices. A shift by the rounding error of `a` makes the smallest singular
    values of a repeated eigenvalue equal, so that its vectors differ as their random starts do.
    """
    count, size = len(values), len(a)
    b = a - (values + EPSILON * norm)[:, np.newaxis, np.newaxis] * np.eye(size)
    u = np.random.default_rng(0).normal(size=(count, size, 1)).astype(b.dtype)
    try:
        u = _unit(np.linalg.solve(adjoint(b), _unit(np.linalg.solve(b, u))))
    except np.linalg.LinAlgError:  # exactly singular in spite of the shift
        u = np.linalg.svd(b)[0][..., -1:]
    return u[..., 0]


def _unit(x: Array) -> Array:
    """Return column vectors scaled to norm 1."""
    scaled = x / np.abs(x).max(-2, keepdims=True)  # whose squares do not overflow
    unit: Array = scaled / np.linalg.norm(scaled, axis=-2, keepdims=True)
    return unit


def _of_real_matrix(left: Array, values: Array) -> Array:
    """Return eigenvectors without rounding errors: real for real eigenvalues, conjugate for conjugate neighbours."""
    left[:, values.imag == 0] = left[:, values.imag == 0].real
    (first,) = np.nonzero(values.imag > 0)
    second = first[first + 1 < len(values)] + 1
    left[:, second] = np.conjugate(left[:, second - 1])
    return left


def _normalized(vectors: Array) -> Array:
    """Return columns of norm 1 with a real and positive largest element."""
    vectors = _unit(vectors)
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(-2, keepdims=True), -2)
    rotated: Array = vectors * np.conjugate(largest) / np.abs(largest)
    return rotated
