"""fft: discrete Fourier transforms of one to three dimensions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from functools import partial
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.define.attribute_codecs import Dims
from stablehlo_ref.define.computation import Kernel, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import ALGORITHM
from stablehlo_ref.define.op import Attr, In, Op, Out, without_change
from stablehlo_ref.define.spec import (
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
from stablehlo_ref.define.type_constraints import complex_tensor, float_tensor
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import ComplexType, TensorType
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.dtypes import COMPLEX128, FLOAT64, numpy_dtype
from stablehlo_ref.numerics.layout import CONFLICT, PADDING

Transform: TypeAlias = Callable[..., Array]  # of one dimension, from numpy

BLOCK = 1 << 16  # elements transformed at a time, so that they stay in the cache as complex<f64>


class FftType(Enum):
    """The kind of transform: forward or inverse, complex or real."""

    FFT = "FFT"
    IFFT = "IFFT"
    RFFT = "RFFT"
    IRFFT = "IRFFT"


class Fft(Op, op="fft", nans="computed", facts=replace(ALGORITHM, fusion="never")):
    """Compute the Fourier transform `fft_type` of the last `size(fft_length)` dimensions of `operand`.

    Transforms are computed in f64 and rounded once.
    """

    operand = In(float_tensor | complex_tensor)  # I1
    fft_type = Attr(FftType)  # I2
    fft_length = Attr(Dims)  # I3
    result = Out(float_tensor | complex_tensor)

    syntax = "operands, type = $fft_type, length = $fft_length attr-dict : functional_type"

    @staticmethod
    def infer(operand: TensorType, fft_type: FftType, fft_length: Dims) -> TensorType:
        *others, last = shape(operand)
        if fft_type is FftType.RFFT:
            return make_tensor_type((*others, last_of_rfft(last)), ComplexType(element_type(operand)))
        if fft_type is FftType.IRFFT:
            return make_tensor_type((*others, fft_length[-1]), complex_element_type(operand))
        return operand

    @staticmethod
    def constraints(
        C: Checker,
        infer: Callable[[], TensorType],
        operand: TensorType,
        fft_type: FftType,
        fft_length: Dims,
        result: TensorType,
    ) -> None:
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

    batching_rule = without_change

    @staticmethod
    def plan(operand: TensorType, fft_type: FftType, fft_length: Dims, result: TensorType) -> Run:
        """Plan one 1-dimensional transform after another, all of which numpy has: see `semantics.fft.fft`.

        Rows are transformed block by block.
        """
        sizes, dtype = shape(result), numpy_dtype(element_type(result))
        if not size(result):
            return lambda operand: np.empty(sizes, dtype)
        L = size(fft_length)
        count, row, result_row = prod(sizes[:-L]), shape(operand)[-L:], sizes[-L:]
        step = min(count, max(1, BLOCK // max(prod(row), prod(result_row))))
        wide, wide_result = (FLOAT64 if is_float(t) else COMPLEX128 for t in (operand, result))
        transform = transform_of(fft_type)

        def run(operand: Array) -> Array:
            out, rows = np.empty((count, *result_row), dtype), operand.reshape(count, *row)
            x = rows_apart(step, row, wide)
            y = x if wide == wide_result else rows_apart(step, result_row, wide_result)
            for start in within_time(range(0, count, step)):
                block = slice(start, min(start + step, count))
                part = slice(block.stop - start)
                x[part] = rows[block]
                transform(x[part], y[part])
                out[block] = y[part]
            return out.reshape(sizes)

        in_f64 = step * (prod(row) * wide.itemsize + prod(row[:-1]) * PADDING)
        if wide != wide_result:
            in_f64 += step * (prod(result_row) * wide_result.itemsize + prod(row[:-1]) * PADDING)
        return Kernel(run, temporaries=in_f64 + max(map(working_memory, fft_length)))


def working_memory(n: int) -> int:
    """Return how many bytes a transform of a long row needs in numpy: a copy, and roots of unity.

    If a prime factor is large, two transforms of about twice the length take its place (pocketfft, Bluestein's method).
    """
    rest, factor = n, 2
    while factor * factor <= rest:
        rest, factor = (rest // factor, factor) if rest % factor == 0 else (rest, factor + 1)
    return (10 if rest * rest > n else 2) * COMPLEX128.itemsize * n


def last_of_rfft(n: int) -> int:
    """Return how many of the `n` elements of the transform of real numbers `rfft` keeps; the others mirror them."""
    return 0 if n is not UNKNOWN and n == 0 else n // 2 + 1


# --- several dimensions ---------------------------------------------------------------------------------------------


def rows_apart(count: int, sizes: Dims, dtype: DType) -> Array:
    """Return an array of `count` times these sizes; columns of matrices do not compete for a few lines of the cache."""
    *others, last = sizes
    is_padded = len(others) == 1 and last * dtype.itemsize % CONFLICT == 0
    array: Array = np.empty((count, *others, last + is_padded * PADDING // dtype.itemsize), dtype)
    return array[..., :last]


def transform_of(fft_type: FftType) -> Callable[[Array, Array], None]:
    """Return the transform of rows of f64 or complex<f64>, one dimension after another, to another array or in place.

    The operand may be overwritten.
    """

    def run(x: Array, out: Array) -> None:
        others = range(x.ndim - 2, 0, -1)
        match fft_type:
            case FftType.FFT | FftType.RFFT:
                along(np.fft.rfft if fft_type is FftType.RFFT else np.fft.fft, x, out, x.ndim - 1)
                for dimension in others:
                    along(np.fft.fft, out, out, dimension)
            case FftType.IFFT:
                for dimension in (x.ndim - 1, *others):
                    along(np.fft.ifft, x, out, dimension)
                    x = out
            case FftType.IRFFT:
                for dimension in others:
                    along(np.fft.ifft, x, x, dimension)
                along(partial(np.fft.irfft, n=out.shape[-1]), x, out, x.ndim - 1)

    return run


def along(transform: Transform, x: Array, out: Array, dimension: int) -> None:
    """Apply a transform to a dimension of `x`, block by block; numpy copies each line that is not contiguous."""
    before, after = prod(x.shape[:dimension]), prod(x.shape[dimension + 1 :])
    x, out = (a.reshape(before, a.shape[dimension], after) for a in (x, out))
    n = x.shape[1]
    rows, columns = max(1, BLOCK // (n * after)), min(after, max(1, BLOCK // n))
    for start in within_time(range(0, before, rows)):
        for first in range(0, after, columns):
            part = slice(start, start + rows), slice(None), slice(first, first + columns)
            transform(x[part], axis=1, out=out[part])
