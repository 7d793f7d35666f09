"""Oracle of `fft`: the discrete Fourier transform as the sum that defines it, in 300 bits, rounded once.

`fft_bound` bounds the error of a result. Each 1-dimensional transform of n points adds to the errors of its inputs

    gamma(2 n + 2) * sum |x|

which is the bound of the direct sum (a rounded root of unity, a product, n - 1 additions) and holds for every
reasonable algorithm; `ifft` adds a rounding for the division by n. The last step rounds once to the result's element
type. Operands are finite.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from spec_checks.oracles.notation import Array, Dims, DType, TensorType, index_space
from spec_checks.oracles.running_error import (
    Number,
    accumulation_type,
    bound_type,
    elementwise,
    gamma,
    number,
    numbers,
    reals,
    rounded,
    rounding_bound,
)

Transform = Callable[[list[Number]], list[Number]]


def fft(operand: Array, fft_type: str, fft_length: Dims, *, result: TensorType) -> Array:
    """Transform the last `size(fft_length)` dimensions; `fft_type` is FFT, IFFT, RFFT or IRFFT."""
    shape, dtype = result
    transformed = _fft(operand, fft_type, fft_length, accumulation_type(operand.dtype), shape)
    return elementwise(lambda x: rounded(x, dtype), transformed, dtype)


def fft_bound(
    operand: Array,
    fft_type: str,
    fft_length: Dims,
    *,
    result: TensorType,
    arithmetic: DType | None = None,
) -> Array:
    """Return the bound in f64, or for each part in c128 if complex; `arithmetic` replaces the default one."""
    shape, dtype = result
    transformed = _fft(operand, fft_type, fft_length, arithmetic or accumulation_type(operand.dtype), shape)
    return elementwise(lambda x: rounding_bound(x, dtype), transformed, bound_type(dtype))


def _fft(operand: Array, fft_type: str, fft_length: Dims, arithmetic: DType, shape: Dims) -> Array:
    """Chain 1-dimensional transforms: forward from the last dimension to the first, inverse in the opposite order."""
    if 0 in shape:
        return np.empty(shape, object)
    last, *others = range(operand.ndim - 1, operand.ndim - 1 - len(fft_length), -1)
    chains: dict[str, list[tuple[Transform, int]]] = {
        "FFT": [(_fft_1d, last), *((_fft_1d, d) for d in others)],
        "IFFT": [*((_ifft_1d, d) for d in reversed(others)), (_ifft_1d, last)],
        "RFFT": [(_rfft_1d, last), *((_fft_1d, d) for d in others)],
        "IRFFT": [*((_ifft_1d, d) for d in reversed(others)), (lambda x: _irfft_1d(x, fft_length[-1]), last)],
    }
    with reals.workprec(300):
        transformed = numbers(operand, arithmetic)
        for transform, dimension in chains[fft_type]:
            transformed = _along(transform, transformed, dimension)
    assert transformed.shape == shape
    return transformed


def _fft_1d(x: list[Number]) -> list[Number]:
    return [_sum(x, [_root(-j * k, len(x)) for j in range(len(x))]) for k in range(len(x))]


def _ifft_1d(x: list[Number]) -> list[Number]:
    n = len(x)
    return [_sum(x, [_root(j * k, n) for j in range(n)]) / number(float(n), x[0].arithmetic) for k in range(n)]


def _rfft_1d(real_operand: list[Number]) -> list[Number]:
    return _fft_1d(real_operand)[: len(real_operand) // 2 + 1]


def _irfft_1d(x: list[Number], n: int) -> list[Number]:
    """Compute the real inverse; `x` has the first n // 2 + 1 of `n` conjugate symmetric elements.

    The elements at 0 and n / 2 are their own mirror images and so real: an imaginary part there, which `rfft` never
    produces, is ignored.
    """
    mirrored = [x[n - j].conjugate() if j > n // 2 else _real(x[j]) if 2 * j in (0, n) else x[j] for j in range(n)]
    return [_real(y) for y in _ifft_1d(mirrored)]


def _sum(x: list[Number], roots: list[Any]) -> Number:
    """Return the sum of products with roots of unity, with the error stated in the module's docstring."""
    arithmetic = x[0].arithmetic
    value = sum((term.value * root for term, root in zip(x, roots, strict=True)), reals.zero)
    error = sum((term.error for term in x), reals.zero)
    magnitude = sum((abs(term.value) + term.error for term in x), reals.zero)
    return Number(value, error + gamma(2 * len(x) + 2, arithmetic) * magnitude, arithmetic)


@cache
def _root(k: int, n: int) -> Any:
    """Return the k-th power of the first n-th root of unity, in 300 bits."""
    return reals.expjpi(reals.mpf(2 * k) / n)


def _real(x: Number) -> Number:
    return Number(reals.re(x.value), x.error, x.arithmetic)


def _along(transform: Transform, operand: Array, dimension: int) -> Array:
    """Apply `transform` to each row of `operand` along `dimension`."""
    rows = np.moveaxis(operand, dimension, -1)
    transformed = [transform(list(rows[index])) for index in index_space(rows.shape[:-1])]
    result = np.empty((*rows.shape[:-1], len(transformed[0])), object)
    for index, row in zip(index_space(rows.shape[:-1]), transformed, strict=True):
        result[index] = row
    return np.moveaxis(result, -1, dimension)
