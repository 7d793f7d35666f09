"""Bounds of Fourier transforms, triangular solves, Cholesky factors and batch normalisation, on known operands.

Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.: sections 24.1 (FFT), 8.1 (triangular systems), 10.1
(Cholesky). The bounds hold for blocked algorithms too, also if they invert blocks on the diagonal.
"""

from __future__ import annotations

from math import log2, prod

import numpy as np

from stablehlo_ref.debug.elementary import rounded
from stablehlo_ref.debug.rounding import gamma, largest, unit_roundoff
from stablehlo_ref.debug.shadow import Shadow, Site, Unknown
from stablehlo_ref.ir.arrays import Array

ROUNDINGS = 8  # of an element in one level of a transform: a complex product with a rounded root of unity, and a sum


def _known(site: Site, center: Array, radius: Array) -> Shadow:
    """Return a shadow of which nothing is known where it is not finite, or near to an overflow."""
    is_known = np.isfinite(center) & (np.abs(center) + radius < largest(site.dtype) / 4)
    return Shadow(np.where(is_known, center, 0.0), np.where(is_known, radius, np.inf))


def _exact(site: Site) -> None:
    if not site.is_exact:
        raise Unknown


def transformed(site: Site) -> Shadow:
    """`fft`: in the norm of a transform, the error is at most that of log2(n) levels."""
    _exact(site)
    lengths, name = site.op.properties["fft_length"], site.op.properties["fft_type"].name
    operand, size = site.operand(0).center, prod(lengths)
    axes = tuple(range(-len(lengths), 0))
    norm = np.sqrt(np.sum(np.abs(operand) ** 2, axis=axes, keepdims=True) * size)
    norm = norm / size if name in ("IFFT", "IRFFT") else norm
    levels = log2(max(size, 1)) + 3  # more for lengths that are not powers of two: transforms of larger ones
    relative = gamma(ROUNDINGS * levels * (3 if size & (size - 1) else 1), unit_roundoff(site.dtype))
    center = site.wide(site.centers)
    radius = np.sqrt(2) * relative * np.broadcast_to(norm, center.shape)
    return _known(site, center, np.where(np.isfinite(norm) & (norm * size < largest(site.dtype)), radius, np.inf))


def solved(site: Site) -> Shadow:
    """`triangular_solve`: componentwise, by the condition of the matrix and the right-hand side."""
    _exact(site)
    properties = site.op.properties
    a, b = site.operand(0).center, site.operand(1).center
    t = np.tril(a) if properties["lower"] else np.triu(a)
    if properties["unit_diagonal"]:
        t = t - t * np.eye(t.shape[-1]) + np.eye(t.shape[-1])
    transpose = properties["transpose_a"].name != "NO_TRANSPOSE"
    t = _transposed(t) if transpose != (not properties["left_side"]) else t
    inverse, t = np.abs(_inverse(t)), np.abs(t)
    sides = np.abs(b) if properties["left_side"] else _transposed(np.abs(b))
    u = gamma(4 * t.shape[-1] + 8, unit_roundoff(site.dtype)) * _factor(site)
    condition = np.max(np.sum(inverse @ t, axis=-1, initial=0.0), axis=-1, initial=0.0)[..., None, None]
    radius = np.where(u * condition < 0.25, 2 * u * (inverse @ (t @ (inverse @ sides))), np.inf)
    return _known(site, site.wide(site.centers), radius if properties["left_side"] else _transposed(radius))


def factored(site: Site) -> Shadow:
    """`cholesky`: by the condition of the factor; the other triangle is not known."""
    _exact(site)
    center = site.wide(site.centers)
    if not np.all(np.isfinite(center)):
        return _known(site, center, np.zeros(center.shape))
    lower = bool(site.op.properties.get("lower"))
    factor = np.tril(center if lower else _transposed(center.conj()))
    inverse, size = np.abs(_inverse(factor)), np.abs(factor)
    u = gamma(4 * size.shape[-1] + 8, unit_roundoff(site.dtype)) * _factor(site)
    relative = inverse @ (size @ _transposed(size)) @ _transposed(inverse)
    norm = np.max(np.sum(relative, axis=-1, initial=0.0), axis=-1, initial=0.0)[..., None, None]
    radius = np.where(u * norm < 0.25, 2 * u * (size @ np.tril(relative)), np.inf)
    radius = np.where(np.tri(size.shape[-1], dtype=bool), radius, np.inf)
    return _known(site, center, radius if lower else _transposed(radius))


def _factor(site: Site) -> float:
    """Return how much larger rounding errors are than of real numbers by IEEE-754: divisions and roots may be off."""
    ulps = max(site.contract.ulps_of(name, 0.5) for name in ("divide", "sqrt"))
    return (4.0 if site.dtype.kind == "c" else 1.0) * max(1.0, ulps)


def _transposed(array: Array) -> Array:
    return np.swapaxes(array, -1, -2)


def _inverse(matrix: Array) -> Array:
    try:
        inverse: Array = np.linalg.inv(matrix)
    except np.linalg.LinAlgError as error:
        raise Unknown from error
    return inverse


def normalised(site: Site) -> Shadow:
    """`batch_norm_inference` and `batch_norm_training`, in any order of their sums and products."""
    _exact(site)
    x, scale, offset = (site.operand(i).center for i in range(3))
    axis = site.op.properties["feature_index"]
    others = tuple(i for i in range(x.ndim) if i != axis)
    shape = [x.shape[axis] if i == axis else 1 for i in range(x.ndim)]
    u = unit_roundoff(site.dtype)
    if site.name == "batch_norm_inference":
        mean, variance = (site.operand(i).center.reshape(shape) for i in (3, 4))
        of_mean, of_variance = np.zeros(()), np.zeros(())
    else:
        mean, variance = x.mean(others, keepdims=True), x.var(others, keepdims=True)
        relative = gamma(2 * x.size / max(x.shape[axis], 1) + 8, u)
        of_mean = relative * np.abs(x).mean(others, keepdims=True)
        of_variance = relative * 2 * (x**2).mean(others, keepdims=True)
    center = site.wide(site.centers)
    if site.index:
        return rounded(site, center, (of_mean, of_variance)[site.index - 1].reshape(center.shape))
    total = variance + site.op.properties["epsilon"]
    root = 1 / np.sqrt(total)
    ulps = max(site.contract.ulps_of(name, 0.5) for name in ("rsqrt", "divide", "sqrt"))
    size = np.abs(scale.reshape(shape)) * root
    terms = size * (np.abs(x) + np.abs(mean)) + np.abs(offset.reshape(shape))
    radius = 8 * (1 + ulps) * u * terms + size * (of_mean + np.abs(x - mean) * of_variance / total)
    return _known(site, center, np.where(of_variance < total / 2, radius, np.inf))
