"""Ops on shapes that only a run will tell.

Each is the op of the same name less `dynamic_`, with attributes that came as operands: once those are known, its roles
are the roles of that op.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, In, Op, Out
from stablehlo_ref.kinds import (
    Dims,
    Int,
    integer_matrix,
    integer_scalar,
    integer_vector,
    quantized_tensor,
    si32_scalar,
    tensor,
)
from stablehlo_ref.ops.constants import Iota, number_tensor
from stablehlo_ref.ops.convolution import Convolution
from stablehlo_ref.ops.data_movement import BroadcastInDim, Pad, Reshape
from stablehlo_ref.ops.gather_scatter import Gather, index_size
from stablehlo_ref.ops.slicing import Slice
from stablehlo_ref.spec import (
    UNKNOWN,
    Size,
    dim,
    element_type,
    in_range,
    is_sorted,
    is_unique,
    make_tensor_type,
    rank,
    shape,
    size,
)

Run = Callable[..., Any]

SPARE = 64  # sizes of a shaping operand beyond those that it must have, which messages may show


class Dynamic(Op):
    """The roles of the op that it is a subclass of, which see `shaping` operands as attributes of unknown numbers."""

    @classmethod
    def call(cls, role: str, values: dict[str, Any]) -> Any:
        known = values.get("constants", {})
        given = {name: numbers(known.get(name), values[name], cls.usual(values)) for name in cls.shaping}
        returned = super().call(role, values | given)
        return leading(returned, len(cls.operands) - len(cls.shaping)) if role == "plan" else returned

    @staticmethod
    def usual(values: dict[str, Any]) -> tuple[int, ...]:
        """The sizes that the shaping operands must have, for those whose types do not tell."""
        return (rank(values["result"]),)


def numbers(known: np.ndarray | None, operand: Any, usual: tuple[int, ...]) -> Any:
    """The values of a shaping operand as nested tuples, unknown ones where only its type is known.

    Of an operand that is far too large there are only as many as show that.
    """
    sizes = [min(n, m + SPARE) if isinstance(n, int) else m for n, m in zip(shape(operand), usual)]
    known = np.full(sizes, UNKNOWN, object) if known is None else known[tuple(map(slice, sizes))]
    return tuple(map(tuple, known.tolist())) if known.ndim == 2 else tuple(known.tolist())


def leading(run: Run, count: int) -> Run:
    """`run` on the first `count` of its operands."""
    return lambda *arrays: run(*arrays[:count])


class DynamicPad(Pad, Dynamic, op="dynamic_pad"):
    """`pad` with amounts that are operands."""

    shaping = ("edge_padding_low", "edge_padding_high", "interior_padding")

    edge_padding_low = In(integer_vector)  # I3
    edge_padding_high = In(integer_vector)  # I4
    interior_padding = In(integer_vector)  # I5

    syntax = "operands attr-dict : functional_type"

    @staticmethod
    def constraints(
        C: Any, infer: Any, operand: Any, padding_value: Any, edge_padding_low: Any, edge_padding_high: Any,
        interior_padding: Any, result: Any,
    ) -> None:  # fmt: skip
        C(1, element_type(operand) == element_type(padding_value) == element_type(result))
        C(2, size(edge_padding_low) == size(edge_padding_high) == size(interior_padding) == rank(operand))
        C(3, all(0 <= n for n in interior_padding))
        C(4, shape(result) == shape(infer()))


class RealDynamicSlice(Slice, Dynamic, op="real_dynamic_slice"):
    """`slice` with bounds that are operands."""

    shaping = ("start_indices", "limit_indices", "strides")

    start_indices = In(integer_vector)
    limit_indices = In(integer_vector)
    strides = In(integer_vector)

    syntax = "operands attr-dict : functional_type"


class DynamicGather(Gather, Dynamic, op="dynamic_gather"):
    """`gather` with slice sizes that are an operand."""

    shaping = ("slice_sizes",)

    slice_sizes = In(integer_vector)  # I3

    @staticmethod
    def usual(values: dict[str, Any]) -> tuple[int, ...]:
        return (rank(values["operand"]),)

    @staticmethod
    def constraints(
        C: Any, infer: Any, operand: Any, start_indices: Any, slice_sizes: Any, offset_dims: Any,
        collapsed_slice_dims: Any, operand_batching_dims: Any, start_index_map: Any, index_vector_dim: Any, result: Any,
    ) -> None:  # fmt: skip
        C(1, rank(operand) == size(offset_dims) + size(collapsed_slice_dims) + size(operand_batching_dims))
        C(2, 0 <= index_vector_dim <= rank(start_indices))
        C(3, size(start_index_map) == index_size(start_indices, index_vector_dim))
        C(4, is_unique(offset_dims) and is_sorted(offset_dims))
        C(5, in_range(offset_dims, rank(result)))
        C(6, is_unique(collapsed_slice_dims) and is_sorted(collapsed_slice_dims))
        C(7, in_range(collapsed_slice_dims, rank(operand)))
        C(11, size(slice_sizes) == rank(operand))
        C(8, all(slice_sizes[d] <= 1 for d in collapsed_slice_dims))
        C(9, is_unique(start_index_map))
        C(10, in_range(start_index_map, rank(operand)))
        C(12, all(0 <= s <= n for s, n in zip(slice_sizes, shape(operand))))
        C(13, shape(result) == shape(infer()))
        C(14, element_type(operand) == element_type(result))


class DynamicConv(Convolution, Dynamic, op="dynamic_conv"):
    """`convolution` with a padding that is an operand."""

    shaping = ("padding",)

    padding = In(integer_matrix)  # I3

    syntax = ""

    @classmethod
    def call(cls, role: str, values: dict[str, Any]) -> Any:
        """As for any dynamic op, but strides beyond those of spatial dimensions, as JAX writes them, are ignored."""
        strides = values["window_strides"]
        (spatial, _) = cls.usual(values)
        return super().call(role, values | {"window_strides": strides and strides[:spatial]})

    @staticmethod
    def usual(values: dict[str, Any]) -> tuple[int, ...]:
        return len(values["input_spatial_dimensions"]), 2


class DynamicReshape(Reshape, Dynamic, op="dynamic_reshape"):
    """`reshape` to a shape that is an operand."""

    shaping = ("output_shape",)

    output_shape = In(integer_vector)  # I2
    result = Out(tensor | quantized_tensor)

    @staticmethod
    def infer(output_shape: Any, result: Any) -> Any:
        return make_tensor_type(output_shape, element_type(result))

    @staticmethod
    def constraints(C: Any, operand: Any, output_shape: Any, result: Any) -> None:
        Reshape.constraints(C, operand, result)
        C(4, size(output_shape) == rank(result))


class DynamicBroadcastInDim(BroadcastInDim, Dynamic, op="dynamic_broadcast_in_dim"):
    """`broadcast_in_dim` to a shape that is an operand."""

    shaping = ("output_dimensions",)

    output_dimensions = In(integer_vector)  # I2
    known_expanding_dimensions = Attr(Dims, default=())  # I4
    known_nonexpanding_dimensions = Attr(Dims, default=())  # I5
    result = Out(tensor | quantized_tensor)

    @staticmethod
    def infer(output_dimensions: Any, result: Any) -> Any:
        return make_tensor_type(output_dimensions, element_type(result))

    @staticmethod
    def constraints(
        C: Any, operand: Any, output_dimensions: Any, broadcast_dimensions: Any, known_expanding_dimensions: Any,
        known_nonexpanding_dimensions: Any, result: Any,
    ) -> None:  # fmt: skip
        BroadcastInDim.constraints(C, operand, broadcast_dimensions, result)
        C(7, size(output_dimensions) == rank(result))
        C(8, is_unique(known_expanding_dimensions + known_nonexpanding_dimensions))
        C(9, in_range(known_expanding_dimensions, rank(operand)))
        C(10, in_range(known_nonexpanding_dimensions, rank(operand)))


class DynamicIota(Dynamic, op="dynamic_iota"):
    """`iota` of a shape that is an operand."""

    shaping = ("output_shape",)

    output_shape = In(integer_vector)  # I1
    iota_dimension = Attr(Int)  # I2
    result = Out(number_tensor)

    syntax = "operands, dim = $iota_dimension attr-dict : functional_type"

    @staticmethod
    def infer(output_shape: Any, result: Any) -> Any:
        return make_tensor_type(output_shape, element_type(result))

    @staticmethod
    def constraints(C: Any, output_shape: Any, iota_dimension: Any, result: Any) -> None:
        C(1, 0 <= iota_dimension < size(output_shape))
        C(2, rank(result) == size(output_shape))

    @staticmethod
    def plan(iota_dimension: Any, result: Any) -> Run:
        return Iota.plan(iota_dimension, result)


class GetDimensionSize(Op, op="get_dimension_size"):
    """The size of one dimension of `operand`."""

    on_storage = True

    operand = In(tensor | quantized_tensor)  # I1
    dimension = Attr(Int)  # I2
    result = Out(si32_scalar)

    syntax = "operands, dim = $dimension attr-dict : functional_type"

    @staticmethod
    def constraints(C: Any, operand: Any, dimension: Any) -> None:
        C(1, 0 <= dimension < rank(operand))

    @staticmethod
    def plan(operand: Any, dimension: Any) -> Run:
        known = np.int32(dim(operand, dimension))
        return lambda operand: known


class SetDimensionSize(Op, op="set_dimension_size"):
    """`operand` with its dimension number `dimension` cut to `size`. Not in the spec; as XLA has it."""

    on_storage = True
    shaping = ("size",)

    operand = In(tensor | quantized_tensor)
    size = In(integer_scalar)
    dimension = Attr(Int)
    result = Out(tensor | quantized_tensor)

    syntax = "operands, dim = $dimension attr-dict : functional_type"

    @staticmethod
    def infer(operand: Any, dimension: Any, constants: Any) -> Any:
        cut = cut_size(constants)
        sizes = [cut if d == dimension else n for d, n in enumerate(shape(operand))]
        return make_tensor_type(sizes, element_type(operand))

    @staticmethod
    def constraints(C: Any, operand: Any, dimension: Any, constants: Any) -> None:
        C(1, 0 <= dimension < rank(operand))
        cut = cut_size(constants)
        C(2, 0 <= cut <= dim(operand, dimension))

    @staticmethod
    def plan(dimension: Any, result: Any) -> Run:
        kept = tuple(slice(0, n) if d == dimension else slice(None) for d, n in enumerate(shape(result)))
        return lambda operand, size: operand[kept]


def cut_size(constants: dict[str, Any]) -> Size:
    return int(constants["size"]) if "size" in constants else UNKNOWN
