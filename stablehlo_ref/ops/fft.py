"""Discrete Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, In, Op, Out
from stablehlo_ref.ir.types import ComplexType
from stablehlo_ref.kinds import Dims, complex_tensor, float_tensor
from stablehlo_ref.numerics.dtypes import COMPLEX128, FLOAT64, numpy_dtype
from stablehlo_ref.spec import (
    UNKNOWN,
    complex_element_type,
    dim,
    element_type,
    is_complex,
    is_float,
    make_tensor_type,
    rank,
    shape,
    size,
)

Array = Any
Run = Callable[..., Array]
Transform = Callable[[Array], Array]  # of the last dimension, or of several

BLOCK = 1 << 16  # elements transformed at a time, so that they stay in the cache while they are complex<f64>


class FftType(Enum):
    FFT = "FFT"
    IFFT = "IFFT"
    RFFT = "RFFT"
    IRFFT = "IRFFT"


class Fft(Op, op="fft"):
    """The Fourier transforms of `operand` along its last `size(fft_length)` dimensions.

    They are computed in f64, which numpy does as fast as in f32, and rounded once.
    """

    operand = In(float_tensor | complex_tensor)  # I1
    fft_type = Attr(FftType)  # I2
    fft_length = Attr(Dims)  # I3
    result = Out(float_tensor | complex_tensor)

    syntax = "operands, type = $fft_type, length = $fft_length attr-dict : functional_type"

    @staticmethod
    def infer(operand: Any, fft_type: FftType, fft_length: Any) -> Any:
        *others, last = shape(operand)
        if fft_type is FftType.RFFT:
            return make_tensor_type((*others, last_of_rfft(last)), ComplexType(element_type(operand)))
        if fft_type is FftType.IRFFT:
            return make_tensor_type((*others, fft_length[-1]), complex_element_type(operand))
        return operand

    @staticmethod
    def constraints(C: Any, infer: Any, operand: Any, fft_type: FftType, fft_length: Any, result: Any) -> None:
        C(3, 1 <= size(fft_length) <= 3)
        C(1, size(fft_length) <= rank(operand))
        if fft_type is FftType.RFFT:
            C(2, is_float(operand) and complex_element_type(result) == element_type(operand))
        elif fft_type is FftType.IRFFT:
            C(2, is_complex(operand) and complex_element_type(operand) == element_type(result))
        else:
            C(2, is_complex(operand) and element_type(operand) == element_type(result))
        L = size(fft_length)
        for real in filter(is_float, (operand, result)):
            C(4, shape(real)[-L:] == fft_length)
        C(5, shape(result)[:-1] == shape(operand)[:-1])
        if fft_type is FftType.RFFT:
            C(5, dim(result, rank(result) - 1) == last_of_rfft(dim(operand, rank(operand) - 1)))
        elif fft_type is FftType.IRFFT:
            C(4, shape(operand)[-L:-1] == fft_length[:-1])
            C(5, dim(operand, rank(operand) - 1) == last_of_rfft(fft_length[-1]))
        else:
            C(5, shape(result) == shape(operand))

    @staticmethod
    def lift() -> Any:
        return {}

    @staticmethod
    def plan(operand: Any, fft_type: FftType, fft_length: Any, result: Any) -> Run:
        sizes, dtype = shape(result), numpy_dtype(element_type(result))
        if not size(result):
            return lambda operand: np.empty(sizes, dtype)
        count = prod(sizes[: -size(fft_length)])
        given, wanted = shape(operand)[-size(fft_length) :], sizes[-size(fft_length) :]
        step = max(1, BLOCK // max(prod(given), prod(wanted)))
        transform, wide = transform_of(fft_type, fft_length), FLOAT64 if is_float(operand) else COMPLEX128

        def run(operand: Array) -> Array:
            out = np.empty((count, *wanted), dtype)
            rows = operand.reshape(count, *given)
            for start in range(0, count, step):
                block = slice(start, start + step)
                out[block] = transform(rows[block].astype(wide, copy=False))
            return out.reshape(sizes)

        return run


def last_of_rfft(n: int) -> int:
    """How many of the `n` elements of the transform of real ones tell the others."""
    return 0 if n is not UNKNOWN and n == 0 else n // 2 + 1


# --- several dimensions ---------------------------------------------------------------------------------------------


def transform_of(fft_type: FftType, fft_length: tuple[int, ...]) -> Transform:
    """The transform of the last dimensions of an f64 or complex<f64> array, one dimension after another."""
    last, others = -1, range(-2, -1 - len(fft_length), -1)
    stages: list[tuple[Transform, int]]
    match fft_type:
        case FftType.FFT:
            stages = [(np.fft.fft, d) for d in (last, *others)]
        case FftType.IFFT:
            stages = [(np.fft.ifft, d) for d in (last, *others)]
        case FftType.RFFT:
            stages = [(np.fft.rfft, last), *((np.fft.fft, d) for d in others)]
        case FftType.IRFFT:
            stages = [*((np.fft.ifft, d) for d in others), (lambda x: np.fft.irfft(x, fft_length[-1]), last)]

    def run(x: Array) -> Array:
        for transform, dimension in stages:
            x = transform(x) if dimension == last else along(transform, x, dimension)
        return x

    return run


def along(transform: Transform, x: Array, dimension: int) -> Array:
    """`transform`, which keeps sizes, of a dimension that is not the last, its elements brought side by side first."""
    n, sizes = x.shape[dimension], x.shape
    x = x.reshape(-1, n, prod(sizes[dimension + 1 :]))
    out = np.empty_like(x)
    before, _, after = x.shape
    columns = min(after, max(1, BLOCK // n))
    rows = max(1, BLOCK // (n * columns))
    for start in range(0, before, rows):
        for first in range(0, after, columns):
            block = slice(start, start + rows), slice(None), slice(first, first + columns)
            out[block] = transform(np.ascontiguousarray(x[block].swapaxes(1, 2))).swapaxes(1, 2)
    return out.reshape(sizes)
