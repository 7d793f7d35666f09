"""Convert between stored integers and floats of the expressed type (spec, "Quantization computations").

Each step of the spec's formulas is rounded to the expressed type. Arrays are processed block by block; per-tensor
quantized types whose expressed type is narrower than f32 use lookup tables of all values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.define.spec import (
    element_type,
    expressed_type,
    is_per_axis_quantized,
    is_quantized,
    quantization_dimension,
    scales,
    shape,
    zero_points,
)
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import Type, tensor_type
from stablehlo_ref.numerics import floats
from stablehlo_ref.numerics.blocks import in_blocks
from stablehlo_ref.numerics.conversion import convert
from stablehlo_ref.numerics.dtypes import (
    FLOAT32,
    FLOAT64,
    INT8,
    UINT8,
    is_narrow_float,
    is_signed,
    is_sub_byte_integer,
    max_value,
    numpy_dtype,
)
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.narrow_floats import tabulated, tabulated_pairs

Step: TypeAlias = Callable[[Array, Array, Array, Array, Array], None]  # (block, out, spare, zero_point, scale)
Blocks: TypeAlias = Callable[[int], Iterator[tuple[slice, Array, Array]]]  # given the number of rows

BLOCK = 1 << 17  # elements: 512 KiB of f32, so that intermediate results of a block stay in the L2 cache
PAIRS = 1 << 16  # number of pairs of bytes
LONG = 1 << 6  # minimal number of contiguous elements of a slice that make a row: shorter inner loops are slow


def dequantize(x: Type) -> ArrayKernel:
    """Return the kernel of `(stored - zero_point) * scale`, from the storage to the expressed type of `x`."""
    storage, dtype = numpy_dtype(element_type(x)), numpy_dtype(expressed_type(x))
    load, has_zero_points = convert(storage, _byte_dtype(storage)), any(zero_points(x))
    # Differences are exact in `exact`, or rounded once, as they must be in the expressed type.
    is_exact_in_f32 = storage.itemsize <= 2 or (dtype == FLOAT32 and not has_zero_points)
    exact = FLOAT32 if is_exact_in_f32 and dtype != FLOAT64 else FLOAT64
    round_to, multiply = convert(exact, dtype), floats.multiply(dtype)

    def step(stored: Array, out: Array, spare: Array, zero_point: Array, scale: Array) -> None:
        difference = out if out.dtype == exact else spare
        difference[...] = load(stored)
        if has_zero_points:
            difference -= zero_point
        if difference is out:
            out *= scale
        else:
            out[...] = multiply(round_to(difference), scale)

    run = _blockwise(step, x, dtype, exact, _as_dtype(exact, zero_points(x)), _as_dtype(dtype, scales(x)))
    return _by_table(run, x, storage) if is_narrow_float(dtype) else run


def quantize(x: Type) -> ArrayKernel:
    """Return the kernel from the expressed type of the quantized type `x` to stored integers.

    It divides by the scale, adds the zero point, clamps to the storage range and rounds to nearest even.
    """
    storage, dtype = numpy_dtype(element_type(x)), numpy_dtype(expressed_type(x))
    step = _quantize_narrow(x) if is_narrow_float(dtype) else _quantize(x)
    run = _blockwise(step, x, storage, dtype, _as_dtype(dtype, zero_points(x)), _as_dtype(dtype, scales(x)))
    return _by_table(run, x, dtype) if is_narrow_float(dtype) else run


def _quantize(x: Type) -> Step:
    """Return the step from f32 or f64."""
    storage, dtype = numpy_dtype(element_type(x)), numpy_dtype(expressed_type(x))
    byte_dtype, has_zero_points = _byte_dtype(storage), any(zero_points(x))
    low, high = _storage_range(x)
    pack, store = convert(byte_dtype, storage), convert(dtype, storage)
    largest = high if int(high) <= int(max_value(storage)) else np.nextafter(high, low)  # f32 lacks 2^31 - 1

    def step(expressed: Array, out: Array, spare: Array, zero_point: Array, scale: Array) -> None:
        y = np.divide(expressed, scale, out=spare)
        if has_zero_points:
            y += zero_point
        np.clip(y, low, high, out=y)
        np.rint(y, out=y)
        if not np.maximum.reduce(y, axis=None) <= largest:  # an element is too large, or NaN
            out[...] = store(y)
        else:
            out[...] = y if byte_dtype == storage else pack(y.astype(byte_dtype))

    return step


def _storage_range(x: Type) -> tuple[Array, Array]:
    """Return the smallest and largest stored integer of the quantized type `x`, in its expressed type."""
    quantized, dtype = element_type(x), numpy_dtype(expressed_type(x))
    return _as_dtype(dtype, quantized.storage_min), _as_dtype(dtype, quantized.storage_max)


def _quantize_narrow(x: Type) -> Step:
    """Return the step from formats narrower than f32."""
    dtype = numpy_dtype(expressed_type(x))
    divide, add, round_even = floats.divide(dtype), floats.add(dtype), floats.round_nearest_even(dtype)
    clamp, store = floats.clamp(dtype), convert(dtype, numpy_dtype(element_type(x)))
    low, high = _storage_range(x)

    def step(expressed: Array, out: Array, spare: Array, zero_point: Array, scale: Array) -> None:
        out[...] = store(round_even(clamp(low, add(divide(expressed, scale), zero_point), high)))

    return step


def to_destination_type(source: Type, target: Type) -> ArrayKernel:
    """Return the kernel that converts between element types (spec, "Construction of values").

    Neither of them may be quantized per axis.
    """
    if source == target:
        return lambda x: x
    express = dequantize(tensor_type((), source)) if is_quantized(source) else None
    store = quantize(tensor_type((), target)) if is_quantized(target) else None
    if express and store:
        return lambda x: store(express(x))
    return express or store or convert(numpy_dtype(source), numpy_dtype(target))


def _byte_dtype(storage: DType) -> DType:
    """Return the dtype to compute with: 8-bit integers for those narrower than a byte."""
    return storage if not is_sub_byte_integer(storage) else INT8 if is_signed(storage) else UINT8


def _as_dtype(dtype: DType, values: Sequence[float] | float) -> Array:
    wide = np.asarray(values)
    return np.asarray(convert(wide.dtype, dtype)(wide))


def _by_table(run: ArrayKernel, x: Type, dtype: DType) -> ArrayKernel:
    return run if dtype.itemsize > 2 or is_per_axis_quantized(x) else tabulated(run, dtype)


# --- functions of two bytes -----------------------------------------------------------------------------------------


def tabulate_pairs(function: ArrayKernel, dtype: DType) -> ArrayKernel:
    """Speed up an elementwise `function` of two large arrays of an 8-bit integer `dtype`.

    It is computed with a lookup table of all pairs, or by an addition if that returns the same for all pairs, as for
    quantized sums with equal scales.
    """
    by_table = tabulated_pairs(function, dtype)

    @cache
    def large_kernel() -> ArrayKernel:
        every = np.arange(256).astype(np.uint8).view(dtype)
        x, y = (np.ascontiguousarray(side).reshape(-1) for side in np.broadcast_arrays(every[:, np.newaxis], every))
        return _clamped_sum(x, y, function(x, y)) or by_table

    def run(x: Array, y: Array) -> Array:
        return function(x, y) if x.size < PAIRS or x.shape != y.shape else large_kernel()(x, y)

    return run


def _clamped_sum(x: Array, y: Array, results: Array) -> ArrayKernel | None:
    """Return a kernel of `clamp(low, x + y + constant, high)`, or with `x - y`, if it returns `results` for x and y."""
    if not {x.dtype, results.dtype} <= {INT8, UINT8}:
        return None
    low, high = np.int16(results.min()), np.int16(results.max())
    inside = np.flatnonzero((low < results) & (results < high))
    for combine in (np.add, np.subtract) if inside.size else ():
        sums = combine(x, y, dtype=np.int16)
        constant = np.int16(results[inside[0]]) - sums[inside[0]]

        def kernel(x: Array, y: Array, combine: np.ufunc = combine, constant: Array = constant) -> Array:
            total = x.astype(np.int16)
            combine(total, y, out=total)
            total += constant
            return np.clip(total, low, high, out=total)

        if np.array_equal(kernel(x, y), results):
            return in_blocks(kernel, results.dtype)
    return None


# --- blocks ---------------------------------------------------------------------------------------------------------


def _blockwise(step: Step, x: Type, dtype: DType, spare_dtype: DType, zero_points: Array, scales: Array) -> ArrayKernel:
    """Return a kernel with results of `dtype` for arrays of the quantized type `x`, or of any shape if per-tensor."""
    row, blocks = _per_axis(x, zero_points, scales) if is_per_axis_quantized(x) else _per_tensor(zero_points, scales)

    def run(array: Array) -> Array:
        out = np.empty(np.shape(array), dtype)
        operand, result, spare = np.ascontiguousarray(array).reshape(row), out.reshape(row), np.empty(0, spare_dtype)
        for block, zero_point, scale in blocks(len(operand)):
            part = operand[block]
            if spare.size < part.size:  # for the first block
                spare = np.empty(part.size, spare_dtype)
            step(part, result[block], spare[: part.size].reshape(part.shape), zero_point, scale)
        return out if out.ndim else out[()]

    return run


def _per_tensor(zero_points: Array, scales: Array) -> tuple[tuple[int, ...], Blocks]:
    """Return the shape to view arrays in, and their blocks: runs of elements."""
    zero_point, scale = zero_points[0], scales[0]

    def blocks(count: int) -> Iterator[tuple[slice, Array, Array]]:
        for start in range(0, count, BLOCK):
            yield slice(start, start + BLOCK), zero_point, scale

    return (-1,), blocks


def _per_axis(x: Type, zero_points: Array, scales: Array) -> tuple[tuple[int, ...], Blocks]:
    """Return the shape to view arrays in, and their blocks: rows of one slice each, or elements if rows would be short.

    Parameters repeat along the tensor: those of `period` rows (or elements) are stored.
    """
    inner = prod(shape(x)[quantization_dimension(x) + 1 :])
    is_long = inner >= LONG
    most = max(1, BLOCK // inner) if is_long else BLOCK
    repeated = [p[:, np.newaxis] if is_long else np.repeat(p, inner) for p in (zero_points, scales)]
    repeats = max(1, most // max(1, len(repeated[0])))
    zero_points, scales = (np.tile(p, (repeats, 1) if is_long else repeats) for p in repeated)
    period = max(1, len(scales))

    def blocks(count: int) -> Iterator[tuple[slice, Array, Array]]:
        for first in range(0, count, period):
            for start in range(0, min(period, count - first), most):
                stop = min(start + most, period, count - first)
                yield slice(first + start, first + stop), zero_points[start:stop], scales[start:stop]

    return (-1, inner) if is_long else (-1,), blocks
