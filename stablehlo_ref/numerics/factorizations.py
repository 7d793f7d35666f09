"""Batched matrix factorizations that numpy lacks, in LAPACK's conventions.

Arrays are f64 or complex<f64>, with batch dimensions first. A *packed* factorization is stored in the array of its
matrix, with the factors below and above the diagonal as in LAPACK. A Householder reflector is `1 - tau v v^H`, where
`v` is zeros, then 1, then the elements stored in the packed matrix. `multiply` is the product of matrices: np.matmul,
or one whose elements are exact and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.exact_complexes import sum_of_products
from stablehlo_ref.numerics.exact_products import exact_matmul

Multiply: TypeAlias = Callable[[Array, Array], Array]

BLOCK = 32  # columns factored one by one before matrix products update the others


def adjoint(a: Array) -> Array:
    """Return the conjugate transposes of matrices."""
    return np.conjugate(a.swapaxes(-1, -2))


def magnitude(x: Array) -> Array:
    """Return |re| + |im|, by which LAPACK chooses pivots."""
    return np.asarray(np.abs(x.real) + np.abs(x.imag))


# --- reflectors -----------------------------------------------------------------------------------------------------


def reflector(x: Array) -> tuple[Array, Array, Array]:
    """Return `v`, `tau` and the real `beta` with `(1 - conj(tau) v v^H) x = (beta, 0...)`, for nonempty vectors `x`."""
    scale = np.abs(x).max(-1)
    scale = np.where((scale > 0) & np.isfinite(scale), scale, 1)
    scaled = x / scale[..., np.newaxis]
    alpha, rest = scaled[..., 0], np.linalg.norm(scaled[..., 1:], axis=-1)
    beta = -np.copysign(np.sqrt(alpha.real**2 + alpha.imag**2 + rest**2), alpha.real)  # at most 1 by scaling
    is_trivial = (rest == 0) & (alpha.imag == 0)
    divisor = np.where(is_trivial, 1, alpha - beta)
    v = scaled / divisor[..., np.newaxis]
    v[..., 0] = 1
    tau = np.where(is_trivial, 0, (beta - alpha) / np.where(is_trivial, 1, beta))
    return v, tau, np.where(is_trivial, alpha.real, beta) * scale


def reflect(a: Array, v: Array, tau: Array, multiply: Multiply) -> None:
    """Replace `a` by `(1 - tau v v^H) a`."""
    v = v[..., np.newaxis]
    a -= multiply(tau[..., np.newaxis, np.newaxis] * v, multiply(adjoint(v), a))


def reflect_from_right(a: Array, v: Array, tau: Array, multiply: Multiply) -> None:
    """Replace `a` by `a (1 - tau v v^H)`."""
    v = v[..., np.newaxis]
    a -= multiply(tau[..., np.newaxis, np.newaxis] * multiply(a, v), adjoint(v))


def block_reflector(packed: Array, tau: Array, multiply: Multiply) -> tuple[Array, Array]:
    """Return `V` and `T` such that `1 - V T V^H` is the product of the reflectors in the columns of a packed matrix."""
    count = tau.shape[-1]
    v = np.tril(packed[..., :count], -1)
    v[..., range(count), range(count)] = 1
    products = multiply(adjoint(v), v)
    t = np.zeros_like(products)
    for j in within_time(range(count)):
        column = multiply(t[..., :j, :j], products[..., :j, j, np.newaxis])[..., 0]
        t[..., :j, j] = -tau[..., j, np.newaxis] * column
        t[..., j, j] = tau[..., j]
    return v, t


def qr(a: Array, multiply: Multiply) -> tuple[Array, Array]:
    """Factor `a = Q R` and return it packed, with `R` above the reflectors whose product is `Q`, and their `tau`."""
    a = a.copy()
    rows, columns = a.shape[-2:]
    tau = np.zeros((*a.shape[:-2], min(rows, columns)), a.dtype)
    for start in range(0, tau.shape[-1], BLOCK):
        stop = min(start + BLOCK, tau.shape[-1])
        panel, rest = a[..., start:, start:stop], a[..., start:, stop:]
        for j in within_time(range(stop - start)):
            eliminate(panel[..., j:, j:], tau[..., start + j], multiply)
        if rest.size:
            v, t = block_reflector(panel, tau[..., start:stop], multiply)
            rest -= multiply(v, multiply(adjoint(t), multiply(adjoint(v), rest)))
    return a, tau


def eliminate(a: Array, tau: Array, multiply: Multiply) -> None:
    """Do one step of `qr`: replace the first column of `a` by its reflector, and reflect all others."""
    v, tau[...], beta = reflector(a[..., 0])
    reflect(a[..., 1:], v, np.conjugate(tau), multiply)
    a[..., 0] = v
    a[..., 0, 0] = beta


def pivoted_qr(a: Array, leading: Array, multiply: Multiply) -> tuple[Array, Array, Array]:
    """Factor `a P = Q R`, taking the largest remaining column next; return it packed, the 1-based order, and `tau`.

    Columns where `leading` is not 0 come first, in order.
    """
    order = np.argsort(leading == 0, -1, kind="stable")
    a = np.take_along_axis(a, order[..., np.newaxis, :], -1)
    fixed = np.count_nonzero(leading, -1)
    tau = np.zeros((*a.shape[:-2], min(a.shape[-2:])), a.dtype)
    for k in within_time(range(tau.shape[-1])):
        norms = np.linalg.norm(a[..., k:, k:], axis=-2)
        best = np.where(k < fixed, k, k + norms.argmax(-1))
        swap(a.swapaxes(-1, -2), k, best)
        swap(order[..., np.newaxis], k, best)
        eliminate(a[..., k:, k:], tau[..., k], multiply)
    return a, order + 1, tau


def product(packed: Array, tau: Array, multiply: Multiply) -> Array:
    """Return the leading columns, as many as `packed` has, of the product of its reflectors."""
    rows, columns = packed.shape[-2:]
    q = np.zeros(packed.shape, packed.dtype)
    q[..., range(min(rows, columns)), range(min(rows, columns))] = 1
    for start in within_time(reversed(range(0, tau.shape[-1], BLOCK))):
        stop = min(start + BLOCK, tau.shape[-1])
        v, t = block_reflector(packed[..., start:, start:stop], tau[..., start:stop], multiply)
        part = q[..., start:, start:]
        part -= multiply(v, multiply(t, multiply(adjoint(v), part)))
    return q


def swap(a: Array, k: int, other: Array) -> None:
    """Exchange row `k` with row `other` in place; `other` has an index for each matrix of the batch."""
    index = other[..., np.newaxis, np.newaxis]
    row, kept = np.take_along_axis(a, index, -2), a[..., k : k + 1, :].copy()
    np.put_along_axis(a, index, kept, -2)
    a[..., k : k + 1, :] = row


# --- triangular factors ---------------------------------------------------------------------------------------------


def lu(a: Array, multiply: Multiply) -> tuple[Array, Array, Array]:
    """Factor `P a = L U`; return it packed, the 1-based row that each row was exchanged with, and `info`.

    `info` is the 1-based index of the first zero on the diagonal of U, or 0.
    """
    a = a.copy()
    rows, columns = a.shape[-2:]
    steps = min(rows, columns)
    pivots = np.zeros((*a.shape[:-2], steps), np.int32)
    info = np.zeros(a.shape[:-2], np.int32)
    for start in range(0, steps, BLOCK):
        stop = min(start + BLOCK, steps)
        for k in within_time(range(start, stop)):
            pivot = k + magnitude(a[..., k:, k]).argmax(-1)
            pivots[..., k] = pivot + 1
            swap(a, k, pivot)
            info[(a[..., k, k] == 0) & (info == 0)] = k + 1
            a[..., k + 1 :, k] /= np.where(a[..., k, k] == 0, 1, a[..., k, k])[..., np.newaxis]
            a[..., k + 1 :, k + 1 : stop] -= multiply(a[..., k + 1 :, k : k + 1], a[..., k : k + 1, k + 1 : stop])
        for i in within_time(range(start + 1, stop)):
            a[..., i : i + 1, stop:] -= multiply(a[..., i : i + 1, start:i], a[..., start:i, stop:])
        a[..., stop:, stop:] -= multiply(a[..., stop:, start:stop], a[..., start:stop, stop:])
    return a, pivots, info


def solve_tridiagonal(lower: Array, diagonal: Array, upper: Array, b: Array, epsilon: float = 0.0) -> tuple[Array, ...]:
    """Solve tridiagonal systems; return the diagonals of `U` (the third in place of `lower`), the solution and `info`.

    `lower` and `upper` may have one surplus element, the first and the last. Pivots below `epsilon` times the largest
    element of `U` are replaced by that. `info` is the 1-based index of the first zero on the diagonal of U, or 0.
    """
    n = diagonal.shape[-1]
    low = np.pad(lower[..., lower.shape[-1] - max(n - 1, 0) :], [(0, 0)] * (lower.ndim - 1) + [(0, 1)])
    d, up, x = diagonal.copy(), upper.copy(), b.copy()
    if up.shape[-1] < n:
        up = np.pad(up, [(0, 0)] * (up.ndim - 1) + [(0, 1)])
    info = np.zeros(d.shape[:-1], np.int32)
    for i in within_time(range(n - 1)):
        _eliminate_one(low, d, up, x, i)
        info[(d[..., i] == 0) & (info == 0)] = i + 1
    info[(d[..., n - 1 :] == 0).any(-1) & (info == 0)] = n
    if epsilon:
        smallest = epsilon * np.max([magnitude(part).max(-1) for part in (low, d, up)], axis=0)[..., np.newaxis]
        d = np.where(magnitude(d) < smallest, np.where(d.real < 0, -smallest, smallest), d)
    _substitute_back(d, up, low, x)
    return low, d, up, x, info


def _substitute_back(d: Array, up: Array, third: Array, x: Array) -> None:
    """Replace `x` by the solution of the upper triangular system with these diagonals."""
    n = d.shape[-1]
    for i in within_time(reversed(range(n))):
        for distance, diagonal in enumerate((up, third), 1):
            if i + distance < n:
                x[..., i, :] -= diagonal[..., i, np.newaxis] * x[..., i + distance, :]
        x[..., i, :] /= d[..., i, np.newaxis]


def _eliminate_one(low: Array, d: Array, up: Array, x: Array, i: int) -> None:
    """Eliminate the element below `d[i]`, exchanging rows `i` and `i + 1` where it is larger than `d[i]`."""
    exchanged = magnitude(d[..., i]) < magnitude(low[..., i])
    pivot = np.where(exchanged, low[..., i], d[..., i])
    factor = np.where(exchanged, d[..., i], low[..., i]) / np.where(pivot == 0, 1, pivot)
    first = np.where(exchanged, d[..., i + 1], up[..., i])
    second = np.where(exchanged, up[..., i + 1], 0)
    d[..., i + 1] = np.where(exchanged, up[..., i], d[..., i + 1]) - factor * first
    up[..., i + 1] = np.where(exchanged, -factor * second, up[..., i + 1])
    d[..., i], up[..., i], low[..., i] = pivot, first, second
    upper_x = np.where(exchanged[..., np.newaxis], x[..., i + 1, :], x[..., i, :])
    lower_x = np.where(exchanged[..., np.newaxis], x[..., i, :], x[..., i + 1, :])
    x[..., i, :], x[..., i + 1, :] = upper_x, lower_x - factor[..., np.newaxis] * upper_x


# --- similarity transformations -------------------------------------------------------------------------------------


def hessenberg(a: Array, low: int, high: int, multiply: Multiply) -> tuple[Array, Array]:
    """Factor `a = Q H Q^H`; return it packed, and `tau`. Rows and columns outside [low, high) are already reduced."""
    a = a.copy()
    tau = np.zeros((*a.shape[:-2], max(a.shape[-1] - 1, 0)), a.dtype)
    for k in within_time(range(low, high - 1)):
        v, tau[..., k], beta = reflector(a[..., k + 1 : high, k])
        reflect_from_right(a[..., :high, k + 1 : high], v, tau[..., k], multiply)
        reflect(a[..., k + 1 : high, k + 1 :], v, np.conjugate(tau[..., k]), multiply)
        a[..., k + 1 : high, k] = v
        a[..., k + 1, k] = beta
    return a, tau


def tridiagonal(a: Array, multiply: Multiply) -> tuple[Array, Array, Array, Array]:
    """Factor Hermitian `a = Q T Q^H`, reading its lower triangle; return it packed, both diagonals of T, and `tau`."""
    a = a.copy()
    n = a.shape[-1]
    a[..., range(n), range(n)] = np.diagonal(a, axis1=-2, axis2=-1).real
    off = np.zeros((*a.shape[:-2], max(n - 1, 0)))
    tau = np.zeros(off.shape, a.dtype)
    for k in within_time(range(n - 1)):
        v, tau[..., k], off[..., k] = reflector(a[..., k + 1 :, k])
        rest = np.tril(a[..., k + 1 :, k + 1 :])
        rest = rest + adjoint(np.tril(rest, -1))
        w = tau[..., k, np.newaxis, np.newaxis] * multiply(rest, v[..., np.newaxis])
        inner = multiply(adjoint(w), v[..., np.newaxis])[..., 0]
        w -= (tau[..., k, np.newaxis] / 2 * inner)[..., np.newaxis] * v[..., np.newaxis]
        both = multiply(v[..., np.newaxis], adjoint(w))
        a[..., k + 1 :, k + 1 :] -= np.tril(both + adjoint(both))
        a[..., k + 1 :, k] = v
        a[..., k + 1, k] = off[..., k]
    return a, np.diagonal(a, axis1=-2, axis2=-1).real.copy(), off, tau


# --- in the reproducible mode: a fixed order of operations, each of them correctly rounded --------------------------


def exact_product(a: Array, b: Array) -> Array:
    """Multiply stacks of matrices; every element is rounded once."""
    return exact_matmul(a.dtype, a.dtype, np.matmul)(a, b)


def exact_lower_factors(a: Array) -> Array:
    """Return the Cholesky factors of a list of matrices by their lower triangles; NaN if not positive definite.

        l[j, j] = sqrt(a[j, j] - sum(|l[j, k]|**2))        the sums are over k < j
        l[i, j] = (a[i, j] - sum(l[i, k] * conj(l[j, k]))) / l[j, j]     for i > j

    With a[i, j] as one more exact_product of the sum, `a[i, j] - sum(...)` is rounded once.
    """
    factors = np.zeros_like(a)
    for j in within_time(range(a.shape[-1])):
        rows = np.concatenate([-factors[:, j:, :j], a[:, j:, j, np.newaxis]], -1)
        row = np.conjugate(factors[:, j, :j])
        column = np.concatenate([row, np.ones_like(row, shape=(len(a), 1))], -1)
        sums = exact_product(rows, column[..., np.newaxis])[..., 0]
        pivot = sums[:, 0].real
        root = np.sqrt(np.where(pivot > 0, pivot, np.nan))
        factors[:, j:, j] = by_real(sums, root[:, np.newaxis])
        factors[:, j, j] = root
    return factors


def by_real(z: Array, x: Array) -> Array:
    """Divide real or complex numbers by real ones."""
    if not np.iscomplexobj(z):
        return z / x
    result = np.empty_like(z)
    result.real, result.imag = z.real / x, z.imag / x
    return result


def exact_substitute(u: Array, b: Array, unit_diagonal: bool) -> Array:
    """Solve `u @ x = b` for stacks of upper triangular matrices, of which nothing else is read.

    x[i] = (b[i] - sum(u[i, k] * x[k] for k > i)) / u[i, i], where the numerator is rounded once.
    """
    x = b.astype(u.dtype, order="C")
    for i in within_time(reversed(range(u.shape[-1]))):
        row = np.concatenate([np.ones_like(u[..., i, :1]), -u[..., i, i + 1 :]], -1)
        sums = exact_product(row[..., np.newaxis, :], x[..., i:, :])[..., 0, :]
        x[..., i, :] = sums if unit_diagonal else exact_quotient(sums, u[..., i, i, np.newaxis])
    return x


def exact_quotient(z: Array, w: Array) -> Array:
    """Divide real or complex numbers: z * conj(w) / |w|**2 with w scaled by a power of two."""
    if not np.iscomplexobj(z):
        return z / w
    exponent = np.frexp(np.maximum(np.abs(w.real), np.abs(w.imag)))[1]
    a, b = z.real, z.imag
    c, d = np.broadcast_arrays(a, np.ldexp(w.real, -exponent), np.ldexp(w.imag, -exponent))[1:]
    norm = sum_of_products(c, c, d, d)
    result = np.empty_like(z)
    result.real = np.ldexp(sum_of_products(a, c, b, d) / norm, -exponent)
    result.imag = np.ldexp(sum_of_products(b, c, -a, d) / norm, -exponent)
    return result
