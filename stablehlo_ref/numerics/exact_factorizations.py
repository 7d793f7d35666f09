"""Cholesky factors and triangular systems in a fixed order of operations, each of them correctly rounded.

Operations are sums of products (exact, then rounded once), division and square root, in f64 and complex<f64>. So the
results are the same on every machine.
"""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.exact_complexes import sum_of_products
from stablehlo_ref.numerics.exact_products import exact_matmul


def product(a: Array, b: Array) -> Array:
    """Multiply stacks of matrices; every element is rounded once."""
    return exact_matmul(a.dtype, a.dtype, np.matmul)(a, b)


def lower_factors(a: Array) -> Array:
    """Return the Cholesky factors of a list of matrices by their lower triangles; NaN if not positive definite.

        l[j, j] = sqrt(a[j, j] - sum(|l[j, k]|**2))        the sums are over k < j
        l[i, j] = (a[i, j] - sum(l[i, k] * conj(l[j, k]))) / l[j, j]     for i > j

    With a[i, j] as one more product of the sum, `a[i, j] - sum(...)` is rounded once.
    """
    factors = np.zeros_like(a)
    for j in within_time(range(a.shape[-1])):
        rows = np.concatenate([-factors[:, j:, :j], a[:, j:, j, np.newaxis]], -1)
        row = np.conjugate(factors[:, j, :j])
        column = np.concatenate([row, np.ones_like(row, shape=(len(a), 1))], -1)
        sums = product(rows, column[..., np.newaxis])[..., 0]
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


def substitute(u: Array, b: Array, unit_diagonal: bool) -> Array:
    """Solve `u @ x = b` for stacks of upper triangular matrices, of which nothing else is read.

    x[i] = (b[i] - sum(u[i, k] * x[k] for k > i)) / u[i, i], where the numerator is rounded once.
    """
    x = b.astype(u.dtype, order="C")
    for i in within_time(reversed(range(u.shape[-1]))):
        row = np.concatenate([np.ones_like(u[..., i, :1]), -u[..., i, i + 1 :]], -1)
        sums = product(row[..., np.newaxis, :], x[..., i:, :])[..., 0, :]
        x[..., i, :] = sums if unit_diagonal else quotient(sums, u[..., i, i, np.newaxis])
    return x


def quotient(z: Array, w: Array) -> Array:
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
