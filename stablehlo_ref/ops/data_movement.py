"""Ops that only move elements. Results are views of their operands wherever numpy can make one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from stablehlo_ref.algorithms.padding import pad, padded_sizes
from stablehlo_ref.define.attribute_codecs import Dims, Int
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import KEEPS, MOVES
from stablehlo_ref.define.op import Attr, In, Ins, Op, Out, type_of, without_change
from stablehlo_ref.define.spec import (
    axes,
    bounds,
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
from stablehlo_ref.define.type_constraints import (
    per_tensor_quantized,
    quantized_tensor,
    scalar_tensor,
    tensor,
    tensor_of,
)
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import QuantizedType, TensorType, Type
from stablehlo_ref.limits.budget import reserve
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.layout import LARGE, contiguous
from stablehlo_ref.ops.slicing import OperandsAndCommas

SHORT_ROW = 32  # elements: inner loops over fewer are slow
REPEATED = 1 << 12  # elements of a copy, at most, that makes inner loops longer


any_tensor = tensor | quantized_tensor
sized_tensor = tensor_of(
    "tensor, statically shaped or with one bounded dimension",
    lambda t: any_tensor.holds(t) and (t.is_static or (t.shape.count(None) == 1 and t.bounds is not None)),
)


class Reshape(Op, op="reshape", computes_on_storage=True, returns_views=True, nans="moved", facts=KEEPS):
    """Return the elements of `operand`, in the same order, in another shape."""

    operand = In(tensor | quantized_tensor)  # I1
    result = Out(sized_tensor)

    syntax = "operands attr-dict : functional_type"

    @staticmethod
    def constraints(C: Checker, operand: TensorType, result: TensorType) -> None:
        C(1, except_quantization_dimension(operand) == except_quantization_dimension(result))
        C(2, size(operand) == size(result))
        if is_per_axis_quantized(operand):
            before, after = quantization_dimension(operand), quantization_dimension(result)
            C(3, prod(shape(operand)[:before]) == prod(shape(result)[:after])
              and dim(operand, before) == dim(result, after)
              and prod(shape(operand)[before + 1 :]) == prod(shape(result)[after + 1 :]))  # fmt: skip

    batching_rule = without_change

    @staticmethod
    def plan(operand: TensorType, result: TensorType) -> Run:
        sizes = shape(result) if result.is_static else bounded_sizes(operand, result)
        if size(operand) < LARGE:
            return lambda operand: operand.reshape(sizes)
        return lambda operand: reshaped(operand, sizes)


def bounded_sizes(operand: TensorType, result: TensorType) -> tuple[int, ...]:
    """Return the shape of a result with one size that is declared by a bound only: it follows from the others."""
    known = prod(n for n in result.shape if n is not None)
    rest = size(operand) // max(1, known)
    sizes = tuple(rest if n is None else n for n in result.shape)
    most = bounds(result)[result.shape.index(None)]
    if prod(sizes) != size(operand) or (most is not None and rest > most):
        raise EvaluationError(f"'stablehlo.reshape' op: expected elements of a {result}, got {operand}")
    return sizes


def reshaped(operand: Array, sizes: tuple[int, ...]) -> Array:
    """Return a view of these sizes if there is one, else a copy."""
    if not operand.flags.c_contiguous and 0 not in operand.strides:
        try:
            return operand.reshape(sizes, copy=False)
        except ValueError:
            reserve(operand.nbytes)
            return contiguous(operand).reshape(sizes)
    if not operand.flags.c_contiguous:
        reserve(operand.nbytes)
    return operand.reshape(sizes)


def except_quantization_dimension(x: TensorType) -> Type:
    """Return the element type, with the same quantization dimension for all per-axis quantized types."""
    element: Type = element_type(x)
    if isinstance(element, QuantizedType) and is_per_axis_quantized(element):
        return replace(element, quantization_dimension=0)
    return element


class BroadcastInDim(
    Op, op="broadcast_in_dim", computes_on_storage=True, returns_views=True, nans="moved", facts=KEEPS
):
    """Broadcast `operand`: move its dimensions to `broadcast_dimensions` and repeat it along all others.

    Dimensions of size 1 are repeated too.
    """

    operand = In(tensor | quantized_tensor)  # I1
    broadcast_dimensions = Attr(Dims)  # I2
    result = Out(sized_tensor)

    syntax = "operands, dims = $broadcast_dimensions attr-dict : functional_type"

    @staticmethod
    def constraints(C: Checker, operand: TensorType, broadcast_dimensions: Dims, result: TensorType) -> None:
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
    def batching_rule(broadcast_dimensions: Dims) -> Mapping[str, object]:
        return {"broadcast_dimensions": (0, *(d + 1 for d in broadcast_dimensions))}

    @staticmethod
    def plan(operand: TensorType, broadcast_dimensions: Dims, result: TensorType) -> Run:
        """Plan a view of the operand: see `semantics.data_movement.broadcast_in_dim`."""
        order = sorted(axes(operand), key=lambda d: broadcast_dimensions[d])
        aligned = [1] * rank(result)  # the sizes of the operand at the dimensions of the result
        for d, target in enumerate(broadcast_dimensions):
            aligned[target] = dim(operand, d)
        broadcast = broadcaster(tuple(aligned), shape(result), numpy_dtype(element_type(operand)))
        if order == list(axes(operand)):
            return broadcast
        return lambda operand: broadcast(operand.transpose(order))


def quantized_format(x: TensorType) -> tuple[object, ...]:
    """Return the parts of a quantized type other than scales, zero points and quantization dimension."""
    return storage_type(x), expressed_type(x), storage_min(x), storage_max(x)


def broadcaster(aligned: tuple[int, ...], sizes: tuple[int, ...], dtype: DType) -> Run:
    """Return a function that reshapes an operand to `aligned` and repeats dimensions of size 1 up to `sizes`.

    The function returns a view. For contiguous operands it calls the constructor of arrays, which is twelve times as
    fast as `np.broadcast_to`.
    """

    def general(operand: Array) -> Array:
        return np.broadcast_to(operand.reshape(aligned), sizes)

    if aligned == sizes:
        return lambda operand: operand.reshape(sizes)
    if not prod(sizes):
        return general
    bits = np.dtype(f"u{dtype.itemsize}") if dtype.kind == "V" else dtype  # ml_dtypes do not export buffers
    repeated = with_long_rows(aligned, sizes)
    strides = tuple(0 if n == 1 else dtype.itemsize * prod(repeated[d + 1 :]) for d, n in enumerate(repeated))

    def run(operand: Array) -> Array:
        if repeated != aligned:
            operand = np.broadcast_to(operand.reshape(aligned), repeated).copy()
        if not operand.flags.c_contiguous:
            return general(operand)
        buffer = operand if bits is dtype else np.asarray(operand).view(bits)
        return np.ndarray(sizes, dtype, buffer, 0, strides)

    return run


def with_long_rows(aligned: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the sizes to which to repeat an operand as a copy, before the rest is repeated by a view.

    Where the last dimension is short and the one before is repeated, numpy's inner loops over a view are as short. With
    a small copy that has both dimensions they are as long as the two together.
    """
    if len(sizes) < 3 or sizes[-1] != aligned[-1] or aligned[-2] == sizes[-2] or prod(sizes) < REPEATED:
        return aligned
    repeated = (*aligned[:-2], *sizes[-2:])
    return repeated if 1 < sizes[-1] < SHORT_ROW and prod(repeated) <= REPEATED else aligned


class Transpose(Op, op="transpose", computes_on_storage=True, returns_views=True, nans="moved", facts=KEEPS):
    """Permute the dimensions of `operand` into the order `permutation`."""

    operand = In(tensor | quantized_tensor)  # I1
    permutation = Attr(Dims)  # I2
    result = Out(tensor | quantized_tensor)

    syntax = "operands, dims = $permutation attr-dict : functional_type"

    @staticmethod
    def infer(operand: TensorType, permutation: Dims) -> TensorType:
        return make_tensor_type(dims(operand, permutation), element_type(operand))

    @staticmethod
    def constraints(C: Checker, operand: TensorType, permutation: Dims, result: TensorType) -> None:
        C(1, except_quantization_dimension(operand) == except_quantization_dimension(result))
        C(2, sorted(permutation) == list(axes(operand)))
        C(3, shape(result) == dims(operand, permutation))
        if is_per_axis_quantized(result):
            C(4, quantization_dimension(operand) == permutation[quantization_dimension(result)])

    @staticmethod
    def batching_rule(permutation: Dims) -> Mapping[str, object]:
        return {"permutation": (0, *(d + 1 for d in permutation))}

    @staticmethod
    def plan(permutation: Dims) -> Run:
        """Plan `result[result_index] = operand[operand_index]`, `result_index[d] = operand_index[permutation[d]]`."""
        if list(permutation) == sorted(permutation):
            return lambda operand: operand
        return lambda operand: operand.transpose(permutation)


class Reverse(Op, op="reverse", computes_on_storage=True, returns_views=True, nans="moved", facts=KEEPS):
    """Reverse the order of the elements of `operand` along `dimensions`."""

    operand = In(tensor | per_tensor_quantized)  # I1
    dimensions = Attr(Dims)  # I2
    result = Out(tensor | per_tensor_quantized)

    syntax = "operands, dims = $dimensions attr-dict : same_type"

    infer = type_of("operand")

    @staticmethod
    def constraints(C: Checker, operand: TensorType, dimensions: Dims, result: TensorType) -> None:
        C(1, shape(operand) == shape(result) and element_type(operand) == element_type(result))
        C(2, is_unique(dimensions))
        C(3, in_range(dimensions, rank(result)))

    @staticmethod
    def batching_rule(dimensions: Dims) -> Mapping[str, object]:
        return {"dimensions": tuple(d + 1 for d in dimensions)}

    @staticmethod
    def plan(dimensions: Dims, result: TensorType) -> Run:
        index = tuple(slice(None, None, -1 if d in dimensions else 1) for d in axes(result))
        return lambda operand: operand[index]


class Concatenate(Op, op="concatenate", computes_on_storage=True, nans="moved", facts=KEEPS):
    """Concatenate `inputs` along `dimension`."""

    inputs = Ins(tensor | per_tensor_quantized)  # I1
    dimension = Attr(Int)  # I2
    result = Out(tensor | per_tensor_quantized)

    syntax = (OperandsAndCommas(), "dim = $dimension attr-dict : functional_type")

    @staticmethod
    def infer(inputs: Sequence[TensorType], dimension: Int) -> TensorType:
        sizes = list(shape(inputs[0]))
        sizes[dimension] = sum(dim(x, dimension) for x in inputs)
        return make_tensor_type(sizes, element_type(inputs[0]))

    @staticmethod
    def constraints(
        C: Checker, infer: Callable[[], TensorType], inputs: Sequence[TensorType], dimension: Int, result: TensorType
    ) -> None:
        C(1, same(map(element_type, inputs)))
        C(3, 0 < size(inputs))
        C(4, 0 <= dimension < rank(inputs[0]))
        C(2, same(map(rank, inputs)) and same(without(shape(x), [dimension]) for x in inputs))
        C(5, element_type(result) == element_type(inputs[0]))
        C(6, shape(result) == shape(infer()))

    @staticmethod
    def batching_rule(dimension: Int) -> Mapping[str, object]:
        return {"dimension": dimension + 1}

    @staticmethod
    def plan(inputs: Sequence[TensorType], dimension: Int) -> Run:
        if len(inputs) == 1:
            return lambda inputs: inputs[0]
        return lambda inputs: np.concatenate(inputs, dimension)


class Pad(Op, op="pad", computes_on_storage=True, nans="moved", facts=MOVES):
    """Pad `operand` around its edges and between its elements with `padding_value`.

    A negative edge padding removes elements.
    """

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
    def infer(
        operand: TensorType, edge_padding_low: Dims, edge_padding_high: Dims, interior_padding: Dims
    ) -> TensorType:
        sizes = padded_sizes(shape(operand), edge_padding_low, edge_padding_high, interior_padding)
        return make_tensor_type(sizes, element_type(operand))

    @staticmethod
    def constraints(
        C: Checker,
        infer: Callable[[], TensorType],
        operand: TensorType,
        padding_value: TensorType,
        edge_padding_low: Dims,
        edge_padding_high: Dims,
        interior_padding: Dims,
        result: TensorType,
    ) -> None:
        C(1, element_type(operand) == element_type(padding_value) == element_type(result))
        C(2, size(edge_padding_low) == size(edge_padding_high) == size(interior_padding) == rank(operand))
        C(3, all(0 <= n for n in interior_padding))
        C(4, shape(result) == shape(infer()))

    @staticmethod
    def plan(operand: TensorType, edge_padding_low: Dims, interior_padding: Dims, result: TensorType) -> Run:
        """Plan the placement of the operand in a tensor of padding: see `semantics.data_movement.pad`.

        The operand indices whose result index is in bounds are a box, so one strided assignment writes them
        (algorithms/padding.py).
        """
        return pad(shape(operand), edge_padding_low, interior_padding, shape(result), numpy_dtype(element_type(result)))
