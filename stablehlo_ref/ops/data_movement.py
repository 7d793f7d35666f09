"""Ops that only move elements. Wherever numpy has one, results are views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.algorithms.padding import pad, padded_sizes
from stablehlo_ref.define import Attr, In, Ins, Op, Out
from stablehlo_ref.kinds import Dims, Int, Kind, per_tensor_quantized, quantized_tensor, scalar_tensor, tensor
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.layout import LARGE, contiguous
from stablehlo_ref.spec import (
    axes,
    dim,
    dims,
    element_type,
    expressed_type,
    in_range,
    is_per_axis_quantized,
    is_unique,
    make_tensor_type,
    quantization_dimension,
    rank,
    same,
    scales,
    shape,
    size,
    storage_max,
    storage_min,
    storage_type,
    without,
    zero_points,
)

Array = Any  # numpy arrays and scalars
Run = Callable[..., Array]


def is_sized(t: Any) -> bool:
    """Whether a tensor type is static, but for at most one dimension with a bound."""
    return t.is_static or (t.shape.count(None) == 1 and t.bounds is not None)


any_tensor = tensor | quantized_tensor
sized_tensor = Kind(
    "tensor, statically shaped or with one bounded dimension", lambda t: any_tensor.holds(t) and is_sized(t)
)


class Reshape(Op, op="reshape"):
    """The elements of `operand`, in the same order, in another shape."""

    on_storage = True
    operand = In(tensor | quantized_tensor)  # I1
    result = Out(sized_tensor)

    syntax = "operands attr-dict : functional_type"

    @staticmethod
    def constraints(C: Any, operand: Any, result: Any) -> None:
        C(1, except_quantization_dimension(operand) == except_quantization_dimension(result))
        C(2, size(operand) == size(result))
        if is_per_axis_quantized(operand):
            before, after = quantization_dimension(operand), quantization_dimension(result)
            C(3, prod(shape(operand)[:before]) == prod(shape(result)[:after])
              and dim(operand, before) == dim(result, after)
              and prod(shape(operand)[before + 1 :]) == prod(shape(result)[after + 1 :]))  # fmt: skip

    @staticmethod
    def lift() -> Any:
        return {}

    @staticmethod
    def plan(operand: Any, result: Any) -> Run:
        sizes = shape(result)
        if size(operand) < LARGE:
            return lambda operand: operand.reshape(sizes)
        return lambda operand: reshaped(operand, sizes)


def reshaped(operand: Array, sizes: tuple[int, ...]) -> Array:
    """A view where there can be one, else a copy."""
    if not operand.flags.c_contiguous and 0 not in operand.strides:
        try:
            return operand.reshape(sizes, copy=False)
        except ValueError:
            operand = contiguous(operand)
    return operand.reshape(sizes)


def except_quantization_dimension(x: Any) -> Any:
    """The element type, the dimension that is quantized set aside where there is one."""
    return replace(element_type(x), quantization_dimension=0) if is_per_axis_quantized(x) else element_type(x)


class BroadcastInDim(Op, op="broadcast_in_dim"):
    """`operand` with its dimensions moved to `broadcast_dimensions`, repeated along the others and those of size 1."""

    on_storage = True
    operand = In(tensor | quantized_tensor)  # I1
    broadcast_dimensions = Attr(Dims)  # I2
    result = Out(sized_tensor)

    syntax = "operands, dims = $broadcast_dimensions attr-dict : functional_type"

    @staticmethod
    def constraints(C: Any, operand: Any, broadcast_dimensions: Any, result: Any) -> None:
        if not is_per_axis_quantized(operand):
            C(1, element_type(result) == element_type(operand))
        else:
            C(1, is_per_axis_quantized(result) and quantized_format(result) == quantized_format(operand))
        C(2, size(broadcast_dimensions) == rank(operand))
        C(3, in_range(broadcast_dimensions, rank(result)))
        C(4, is_unique(broadcast_dimensions))
        C(5, all(dim(operand, d) == 1 or dim(operand, d) == dim(result, broadcast_dimensions[d])
                 for d in axes(operand)))  # fmt: skip
        if is_per_axis_quantized(result):
            C(6, quantization_dimension(result) == broadcast_dimensions[quantization_dimension(operand)])
            if dim(operand, quantization_dimension(operand)) == 1:
                C(6, all(s == scales(operand)[0] for s in scales(result))
                  and all(z == zero_points(operand)[0] for z in zero_points(result)))  # fmt: skip

    @staticmethod
    def lift(broadcast_dimensions: Any) -> Any:
        return {"broadcast_dimensions": (0, *(d + 1 for d in broadcast_dimensions))}

    @staticmethod
    def plan(operand: Any, broadcast_dimensions: Any, result: Any) -> Run:
        order = sorted(axes(operand), key=lambda d: broadcast_dimensions[d])
        aligned = [1] * rank(result)  # the operand's sizes, each where it goes
        for d, target in enumerate(broadcast_dimensions):
            aligned[target] = dim(operand, d)
        broadcast = broadcaster(tuple(aligned), shape(result), numpy_dtype(element_type(operand)))
        if order == list(axes(operand)):
            return broadcast
        return lambda operand: broadcast(operand.transpose(order))


def quantized_format(x: Any) -> Any:
    """What two quantized types have in common that differ in scales, zero points and dimension alone."""
    return storage_type(x), expressed_type(x), storage_min(x), storage_max(x)


def broadcaster(aligned: tuple[int, ...], sizes: tuple[int, ...], dtype: np.dtype[Any]) -> Run:
    """A view of an operand, reshaped to `aligned`, in which dimensions of size 1 are repeated up to `sizes`.

    numpy's own broadcast_to does that in twelve times the time of its constructor of arrays, which is what is used for
    operands that lie in one piece.
    """

    def general(operand: Array) -> Array:
        return np.broadcast_to(operand.reshape(aligned), sizes)

    if aligned == sizes:
        return lambda operand: operand.reshape(sizes)
    if not prod(sizes):
        return general
    bits = np.dtype(f"u{dtype.itemsize}") if dtype.kind == "V" else dtype  # types of ml_dtypes export no buffers
    steps = strides_of(aligned, dtype.itemsize)
    strides = tuple(0 if n == 1 else step for n, step in zip(aligned, steps))

    def run(operand: Array) -> Array:
        if not operand.flags.c_contiguous:
            return general(operand)
        buffer = operand if bits is dtype else np.asarray(operand).view(bits)
        return np.ndarray(sizes, dtype, buffer, 0, strides)

    return run


def strides_of(sizes: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The strides of an array of these sizes that lies in one piece, its last dimension's elements side by side."""
    return tuple(itemsize * prod(sizes[d + 1 :]) for d in range(len(sizes)))


class Transpose(Op, op="transpose"):
    """`operand` with its dimensions in the order `permutation`."""

    on_storage = True
    operand = In(tensor | quantized_tensor)  # I1
    permutation = Attr(Dims)  # I2
    result = Out(tensor | quantized_tensor)

    syntax = "operands, dims = $permutation attr-dict : functional_type"

    @staticmethod
    def infer(operand: Any, permutation: Any) -> Any:
        return make_tensor_type(dims(operand, permutation), element_type(operand))

    @staticmethod
    def constraints(C: Any, operand: Any, permutation: Any, result: Any) -> None:
        C(1, except_quantization_dimension(operand) == except_quantization_dimension(result))
        C(2, sorted(permutation) == list(axes(operand)))
        C(3, shape(result) == dims(operand, permutation))
        if is_per_axis_quantized(result):
            C(4, quantization_dimension(operand) == permutation[quantization_dimension(result)])

    @staticmethod
    def lift(permutation: Any) -> Any:
        return {"permutation": (0, *(d + 1 for d in permutation))}

    @staticmethod
    def plan(permutation: Any) -> Run:
        if list(permutation) == sorted(permutation):
            return lambda operand: operand
        return lambda operand: operand.transpose(permutation)


class Reverse(Op, op="reverse"):
    """`operand` with the order of its elements along `dimensions` reversed."""

    on_storage = True
    operand = In(tensor | per_tensor_quantized)  # I1
    dimensions = Attr(Dims)  # I2
    result = Out(tensor | per_tensor_quantized)

    syntax = "operands, dims = $dimensions attr-dict : same_type"

    @staticmethod
    def infer(operand: Any) -> Any:
        return operand

    @staticmethod
    def constraints(C: Any, operand: Any, dimensions: Any, result: Any) -> None:
        C(1, shape(operand) == shape(result) and element_type(operand) == element_type(result))
        C(2, is_unique(dimensions))
        C(3, in_range(dimensions, rank(result)))

    @staticmethod
    def lift(dimensions: Any) -> Any:
        return {"dimensions": tuple(d + 1 for d in dimensions)}

    @staticmethod
    def plan(dimensions: Any, result: Any) -> Run:
        index = tuple(slice(None, None, -1 if d in dimensions else 1) for d in axes(result))
        return lambda operand: operand[index]


class Concatenate(Op, op="concatenate"):
    """`inputs` one after the other along `dimension`."""

    on_storage = True
    inputs = Ins(tensor | per_tensor_quantized)  # I1
    dimension = Attr(Int)  # I2
    result = Out(tensor | per_tensor_quantized)

    syntax = "custom(operands_and_commas) dim = $dimension attr-dict : functional_type"

    @staticmethod
    def infer(inputs: Any, dimension: Any) -> Any:
        sizes = list(shape(inputs[0]))
        sizes[dimension] = sum(dim(x, dimension) for x in inputs)
        return make_tensor_type(sizes, element_type(inputs[0]))

    @staticmethod
    def constraints(C: Any, infer: Any, inputs: Any, dimension: Any, result: Any) -> None:
        C(1, same(map(element_type, inputs)))
        C(3, 0 < size(inputs))
        C(4, 0 <= dimension < rank(inputs[0]))
        C(2, same(map(rank, inputs)) and same(without(shape(x), [dimension]) for x in inputs))
        C(5, element_type(result) == element_type(inputs[0]))
        C(6, shape(result) == shape(infer()))

    @staticmethod
    def lift(dimension: Any) -> Any:
        return {"dimension": dimension + 1}

    @staticmethod
    def plan(inputs: Any, dimension: Any) -> Run:
        if len(inputs) == 1:
            return lambda inputs: inputs[0]
        return lambda inputs: np.concatenate(inputs, dimension)


class Pad(Op, op="pad"):
    """`operand` with `padding_value` around it and between its elements; a negative edge padding removes elements."""

    on_storage = True
    operand = In(tensor | per_tensor_quantized)  # I1
    padding_value = In(scalar_tensor)  # I2
    edge_padding_low = Attr(Dims)  # I3
    edge_padding_high = Attr(Dims)  # I4
    interior_padding = Attr(Dims)  # I5
    result = Out(tensor | per_tensor_quantized)

    syntax = (
        "operands, low = $edge_padding_low, high = $edge_padding_high, interior = $interior_padding"
        " attr-dict : functional_type"
    )

    @staticmethod
    def infer(operand: Any, edge_padding_low: Any, edge_padding_high: Any, interior_padding: Any) -> Any:
        sizes = padded_sizes(shape(operand), edge_padding_low, edge_padding_high, interior_padding)
        return make_tensor_type(sizes, element_type(operand))

    @staticmethod
    def constraints(
        C: Any, infer: Any, operand: Any, padding_value: Any, edge_padding_low: Any, edge_padding_high: Any,
        interior_padding: Any, result: Any,
    ) -> None:  # fmt: skip
        C(1, element_type(operand) == element_type(padding_value) == element_type(result))
        C(2, size(edge_padding_low) == size(edge_padding_high) == size(interior_padding) == rank(operand))
        C(3, all(0 <= n for n in interior_padding))
        C(4, shape(result) == shape(infer()))

    @staticmethod
    def plan(operand: Any, edge_padding_low: Any, interior_padding: Any, result: Any) -> Run:
        return pad(shape(operand), edge_padding_low, interior_padding, shape(result), numpy_dtype(element_type(result)))
