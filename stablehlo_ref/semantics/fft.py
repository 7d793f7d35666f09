"""fft: the discrete Fourier transform as the sum that defines it, in 300 bits, rounded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

from stablehlo_ref.semantics.elements import each_element
from stablehlo_ref.semantics.notation import Array, Dims, TensorType, index_space, is_complex
from stablehlo_ref.semantics.rounding import element, exact

PRECISION = 300  # bits

Numbers = Sequence[Any]  # of mpmath
Sum = Callable[[Numbers, Numbers], Any]
Transform = Callable[[Numbers], Numbers]


def fft(operand: Array, fft_type: str, fft_length: Dims, *, result: TensorType) -> Array:
    """Transform the last `L = size(fft_length)` dimensions of each part of `operand`.

    - `FFT`: forward, complex to complex. `result[i0, ..., :] = fft(operand[i0, ..., :])` and, for `L > 1`, then along
      the other dimensions, from the last to the first.
    - `IFFT`: the inverse of that, so in the opposite order.
    - `RFFT`: forward, real to complex: the first `n // 2 + 1` elements along the last dimension, then `FFT`.
    - `IRFFT`: the inverse of that, complex to real, with `fft_length[-1]` elements in the last dimension.
    """
    shape, element_type = result

    def rounded(x: Any) -> Any:
        return element(element_type, (exact(x.real), exact(x.imag)) if is_complex(element_type) else exact(x.real))

    with mpmath.workprec(PRECISION):
        numbers = each_element(lambda x: mp.mpc(complex(x)), operand, element_type=np.dtype(object))
        transformed = transform(numbers, fft_type, fft_length, shape, sum_of_products)
        return each_element(rounded, transformed, element_type=element_type)


def sum_of_products(x: Numbers, roots: Numbers) -> Any:
    return mp.fdot(x, roots)


def transform(operand: Array, fft_type: str, fft_length: Dims, shape: Dims, sum_of_products: Sum) -> Array:
    """Chain 1-dimensional transforms: forward from the last dimension to the first, inverse in the opposite order."""
    if 0 in shape:
        return np.empty(shape, object)
    last, *others = range(operand.ndim - 1, operand.ndim - 1 - len(fft_length), -1)
    forward, inverse = partial(fft_1d, sum_of_products), partial(ifft_1d, sum_of_products)
    chains: dict[str, list[tuple[Transform, int]]] = {
        "FFT": [(forward, last), *((forward, d) for d in others)],
        "IFFT": [*((inverse, d) for d in reversed(others)), (inverse, last)],
        "RFFT": [(lambda x: forward(x)[: len(x) // 2 + 1], last), *((forward, d) for d in others)],
        "IRFFT": [*((inverse, d) for d in reversed(others)), (lambda x: irfft_1d(inverse, x, fft_length[-1]), last)],
    }
    for transform_1d, dimension in chains[fft_type]:
        operand = along(transform_1d, operand, dimension)
    assert operand.shape == shape
    return operand


def fft_1d(sum_of_products: Sum, x: Numbers) -> Numbers:
    """`y[k] = x[0] w^0 + x[1] w^-k + ... + x[n - 1] w^(-(n - 1) k)`, with w the first n-th root of unity."""
    return [sum_of_products(x, [root(-j * k, len(x)) for j in range(len(x))]) for k in range(len(x))]


def ifft_1d(sum_of_products: Sum, x: Numbers) -> Numbers:
    n = len(x)
    return [sum_of_products(x, [root(j * k, n) for j in range(n)]) / n for k in range(n)]


def irfft_1d(inverse: Transform, x: Numbers, n: int) -> Numbers:
    """Compute the real inverse; `x` has the first n // 2 + 1 of `n` conjugate symmetric elements.

    The elements at 0 and n / 2 are their own mirror images and so real: an imaginary part there, which `rfft` never
    produces, is ignored.
    """
    mirrored = [x[n - j].conjugate() if j > n // 2 else x[j].real if 2 * j in (0, n) else x[j] for j in range(n)]
    return [y.real for y in inverse(mirrored)]


@cache
def root(k: int, n: int) -> Any:
    """Return the k-th power of the first n-th root of unity."""
    with mpmath.workprec(PRECISION):
        return mp.expjpi(mp.mpf(2 * k) / n)


def along(transform_1d: Transform, operand: Array, dimension: int) -> Array:
    """Apply a transform to each row of `operand` along `dimension`."""
    rows = np.moveaxis(operand, dimension, -1)
    transformed = [transform_1d(list(rows[index])) for index in index_space(rows.shape[:-1])]
    result = np.empty((*rows.shape[:-1], len(transformed[0])), object)
    for index, row in zip(index_space(rows.shape[:-1]), transformed, strict=True):
        result[index] = row
    return np.moveaxis(result, -1, dimension)
