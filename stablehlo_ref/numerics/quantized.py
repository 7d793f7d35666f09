"""Quantized elements as stored integers and as the floats they stand for (spec, "Quantization computations").

Each step of the spec's formulas is rounded to the expressed type. All of them are taken block by block; formats
narrower than f32, where there is one scale for all elements, go by tables of all values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from math import prod
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.numerics import floats
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
from stablehlo_ref.numerics.narrow import Array, DType, Kernel, in_blocks, tabulated, tabulated_pairs
from stablehlo_ref.spec import (
    expressed_type,
    is_per_axis_quantized,
    is_quantized,
    quantization_dimension,
    scales,
    shape,
    storage_max,
    storage_min,
    tensor_type,
    zero_points,
)

Step: TypeAlias = Callable[[Array, Array, Array, Array], None]  # from a block into another, by zero points and scales

BLOCK = 1 << 17  # elements: 512 KiB of f32, so that what a block goes through stays in the L2 cache
PAIRS = 1 << 16  # pairs of bytes that there are
LONG = 1 << 6  # elements of a slice side by side that make a row: inner loops over fewer are slow


def dequantize(x: Any) -> Kernel:
    """From stored integers of the quantized tensor type `x` to its expressed type: `(i - zero_point) * scale`."""
    storage, dtype = numpy_dtype(x.element_type), numpy_dtype(expressed_type(x))
    load, moves = convert(storage, _in_bytes(storage)), any(zero_points(x))
    is_exact_in_f32 = storage.itemsize <= 2 or (dtype == FLOAT32 and not moves)  # but for one rounding, which is due
    exact = FLOAT32 if is_exact_in_f32 and dtype != FLOAT64 else FLOAT64
    round_to, multiply = convert(exact, dtype), floats.multiply(dtype)

    def step(stored: Array, out: Array, zero_point: Array, scale: Array) -> None:
        difference = out if out.dtype == exact else np.empty(out.shape, exact)
        difference[...] = load(stored)
        if moves:
            difference -= zero_point
        if difference is out:
            out *= scale
        else:
            out[...] = multiply(round_to(difference), scale)

    run = _blockwise(step, x, dtype, _as(exact, zero_points(x)), _as(dtype, scales(x)))
    return _by_table(run, x, storage) if is_narrow_float(dtype) else run


def quantize(x: Any) -> Kernel:
    """From floats of the expressed type of `x` to stored integers: scaled, moved, clamped, rounded to nearest even."""
    storage, dtype = numpy_dtype(x.element_type), numpy_dtype(expressed_type(x))
    step = _quantize_narrow(x) if is_narrow_float(dtype) else _quantize(x)
    run = _blockwise(step, x, storage, _as(dtype, zero_points(x)), _as(dtype, scales(x)))
    return _by_table(run, x, dtype) if is_narrow_float(dtype) else run


def _quantize(x: Any) -> Step:
    """From f32 and f64."""
    storage, dtype = numpy_dtype(x.element_type), numpy_dtype(expressed_type(x))
    in_bytes, moves = _in_bytes(storage), any(zero_points(x))
    low, high = _as(dtype, storage_min(x)), _as(dtype, storage_max(x))
    pack, store = convert(in_bytes, storage), convert(dtype, storage)
    greatest = high if int(high) <= int(max_value(storage)) else np.nextafter(high, low)  # f32 has no 2^31 - 1

    def step(expressed: Array, out: Array, zero_point: Array, scale: Array) -> None:
        y = np.divide(expressed, scale)
        if moves:
            y += zero_point
        np.clip(y, low, high, out=y)
        np.rint(y, out=y)
        if not y.max() <= greatest:  # something is too large, or NaN
            out[...] = store(y)
        else:
            out[...] = y if in_bytes == storage else pack(y.astype(in_bytes))

    return step


def _quantize_narrow(x: Any) -> Step:
    dtype = numpy_dtype(expressed_type(x))
    divide, add, round_even = floats.divide(dtype), floats.add(dtype), floats.round_nearest_even(dtype)
    clamp, store = floats.clamp(dtype), convert(dtype, numpy_dtype(x.element_type))
    low, high = _as(dtype, storage_min(x)), _as(dtype, storage_max(x))

    def step(expressed: Array, out: Array, zero_point: Array, scale: Array) -> None:
        out[...] = store(round_even(clamp(low, add(divide(expressed, scale), zero_point), high)))

    return step


def to_destination_type(given: Any, wanted: Any) -> Kernel:
    """From one element type to another, neither of them quantized per axis (spec, "Construction of values")."""
    if given == wanted:
        return lambda x: x
    express = dequantize(tensor_type((), given)) if is_quantized(given) else None
    store = quantize(tensor_type((), wanted)) if is_quantized(wanted) else None
    if express and store:
        return lambda x: store(express(x))
    return express or store or convert(numpy_dtype(given), numpy_dtype(wanted))


def _in_bytes(storage: DType) -> DType:
    """Integers narrower than a byte are computed with in bytes."""
    return storage if not is_sub_byte_integer(storage) else INT8 if is_signed(storage) else UINT8


def _as(dtype: DType, values: Any) -> Array:
    wide = np.asarray(values)
    return np.asarray(convert(wide.dtype, dtype)(wide))


def _by_table(run: Kernel, x: Any, dtype: DType) -> Kernel:
    return run if dtype.itemsize > 2 or is_per_axis_quantized(x) else tabulated(run, dtype)


# --- functions of two bytes -----------------------------------------------------------------------------------------


def of_pairs(function: Kernel, dtype: DType) -> Kernel:
    """An elementwise `function` of two arrays of an 8-bit integer `dtype`, with large ones done by a table of all
    pairs; or by addition, where the table says no more than that, as it does of quantized sums to one scale."""
    by_table = tabulated_pairs(function, dtype)

    @cache
    def of_large() -> Kernel:
        every = np.arange(256).astype(np.uint8).view(dtype)
        x, y = (np.ascontiguousarray(side).reshape(-1) for side in np.broadcast_arrays(every[:, np.newaxis], every))
        return _clamped_sum(x, y, function(x, y)) or by_table

    def run(x: Array, y: Array) -> Array:
        return function(x, y) if x.size < PAIRS or x.shape != y.shape else of_large()(x, y)

    return run


def _clamped_sum(x: Array, y: Array, results: Array) -> Kernel | None:
    """`clamp(low, x + y + constant, high)`, or with `x - y`, if that gives all these results."""
    if not {x.dtype, results.dtype} <= {INT8, UINT8}:
        return None
    low, high = np.int16(results.min()), np.int16(results.max())
    inside = np.flatnonzero((low < results) & (results < high))
    for combine in (np.add, np.subtract) if inside.size else ():
        sums = combine(x, y, dtype=np.int16)
        constant = np.int16(results[inside[0]]) - sums[inside[0]]

        def kernel(x: Array, y: Array, combine: np.ufunc = combine, constant: Any = constant) -> Array:
            total = x.astype(np.int16)
            combine(total, y, out=total)
            total += constant
            return np.clip(total, low, high, out=total)

        if np.array_equal(kernel(x, y), results):
            return in_blocks(kernel, results.dtype)
    return None


# --- blocks ---------------------------------------------------------------------------------------------------------


def _blockwise(step: Step, x: Any, dtype: DType, zero_points: Array, scales: Array) -> Kernel:
    """A kernel with results of `dtype` for arrays of the quantized type `x`; of any shape, where it has one scale."""
    row, blocks = _per_axis(x, zero_points, scales) if is_per_axis_quantized(x) else _per_tensor(zero_points, scales)

    def run(array: Array) -> Array:
        out = np.empty(np.shape(array), dtype)
        given, made = np.ascontiguousarray(array).reshape(row), out.reshape(row)
        for block, zero_point, scale in blocks(len(given)):
            step(given[block], made[block], zero_point, scale)
        return out if out.ndim else out[()]

    return run


Blocks: TypeAlias = Callable[[int], Iterator[tuple[slice, Array, Array]]]


def _per_tensor(zero_points: Array, scales: Array) -> tuple[tuple[int, ...], Blocks]:
    """Blocks of elements in a row."""
    zero_point, scale = zero_points[0], scales[0]

    def blocks(count: int) -> Iterator[tuple[slice, Array, Array]]:
        for start in range(0, count, BLOCK):
            yield slice(start, start + BLOCK), zero_point, scale

    return (-1,), blocks


def _per_axis(x: Any, zero_points: Array, scales: Array) -> tuple[tuple[int, ...], Blocks]:
    """Blocks of rows, each of one slice; or, where those are short, of elements with parameters beside each of them.

    Along the tensor parameters come again and again: what `period` rows (or elements) need is kept.
    """
    inner = prod(shape(x)[quantization_dimension(x) + 1 :])
    is_long = inner >= LONG
    most = max(1, BLOCK // inner) if is_long else BLOCK
    beside = [p[:, np.newaxis] if is_long else np.repeat(p, inner) for p in (zero_points, scales)]
    repeats = max(1, most // max(1, len(beside[0])))
    zero_points, scales = (np.concatenate([p] * repeats) for p in beside)
    period = max(1, len(scales))

    def blocks(count: int) -> Iterator[tuple[slice, Array, Array]]:
        for first in range(0, count, period):
            for start in range(0, min(period, count - first), most):
                stop = min(start + most, period, count - first)
                yield slice(first + start, first + stop), zero_points[start:stop], scales[start:stop]

    return (-1, inner) if is_long else (-1,), blocks
