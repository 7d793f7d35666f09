"""Ops whose shapes are known only at run time (spec, "Dynamism").

A dynamic op has operands, here called shape operands, instead of attributes of a static op. Once their values are
known, its roles are those of the static op: `dynamic_pad` with constant amounts plans what `pad` plans. So the formulas
of the static ops apply to the dynamic ones, as `semantics.dynamism` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, TypeAlias

import numpy as np

from stablehlo_ref.define.attribute_codecs import Dims, Int, Matrix
from stablehlo_ref.define.bound import Site
from stablehlo_ref.define.computation import FindChoices, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.definition import Role
from stablehlo_ref.define.facts import EXACT, MOVES
from stablehlo_ref.define.members import Member
from stablehlo_ref.define.op import Attr, In, Op, Out
from stablehlo_ref.define.spec import (
    UNKNOWN,
    Size,
    dim,
    dims,
    element_type,
    in_range,
    is_sorted,
    is_unique,
    make_tensor_type,
    rank,
    shape,
    size,
    without,
)
from stablehlo_ref.define.type_constraints import (
    quantized_tensor,
    si32_scalar,
    size_vector,
    static_integer_matrix,
    static_integer_vector,
    static_size_vector,
    tensor,
)
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.ops.constants import Iota, number_tensor
from stablehlo_ref.ops.convolution import Convolution
from stablehlo_ref.ops.data_movement import BroadcastInDim, Pad, Reshape
from stablehlo_ref.ops.gather_scatter import Gather, index_size
from stablehlo_ref.ops.slicing import Slice

SPARE = 64  # elements of a shape operand that is too large, beyond the expected ones, which messages may show

Arguments: TypeAlias = Mapping[str, Any]  # of a role, by parameter


class Dynamic(Op):
    """The base class of ops that have the roles of a `static` op, with shape operands in place of its attributes."""

    static: ClassVar[type[Op]]

    @classmethod
    def _role(cls, name: str, members: Mapping[str, Member]) -> Role:
        role = super()._role(name, members)
        return DynamicRole(role.function, role.parameters, cls, is_plan=name == "plan", groups=role.groups)

    @classmethod
    def adapted(cls, arguments: Arguments) -> Arguments:
        """Return the arguments of a role with the values of shape operands, as far as they are known."""
        known, sizes = arguments["site"].constants, cls.expected_sizes(arguments)
        names = cls.definition.traits.shape_operands
        return {**arguments, **{name: values_of(known.get(name), arguments[name], sizes) for name in names}}

    @staticmethod
    def expected_sizes(arguments: Arguments) -> tuple[int, ...]:
        """Return the shape that the shape operands must have, for those whose types do not state it."""
        return (rank(arguments["result"]),)


@dataclass(frozen=True)
class DynamicRole(Role):
    """A role of a static op that receives the values of shape operands as attributes."""

    op_class: type[Dynamic]
    is_plan: bool

    def __call__(self, arguments: Arguments) -> Any:
        returned = super().__call__(self.op_class.adapted(arguments))
        if not self.is_plan:
            return returned
        definition = self.op_class.definition
        static_operands = len(definition.operands) - len(definition.traits.shape_operands)
        return lambda *arrays: returned(*arrays[:static_operands])


def values_of(known: Array | None, operand: TensorType, expected: tuple[int, ...]) -> Dims | Matrix:
    """Return the elements of a shape operand as nested tuples, `UNKNOWN` where only its type is known.

    At most `SPARE` elements beyond the `expected` sizes are returned, which are enough to report too large an operand.
    """
    sizes = [min(n, m + SPARE) if isinstance(n, int) else m for n, m in zip(shape(operand), expected)]
    known = np.full(sizes, UNKNOWN, object) if known is None else known[tuple(map(slice, sizes))]
    return tuple(map(tuple, known.tolist())) if known.ndim == 2 else tuple(known.tolist())


class DynamicPad(
    Pad, Dynamic, op="dynamic_pad", shape_operands=("edge_padding_low", "edge_padding_high", "interior_padding")
):
    """Pad `operand` as `pad` does, with amounts that are operands."""

    static = Pad
    edge_padding_low = In(static_size_vector)  # I3
    edge_padding_high = In(static_size_vector)  # I4
    interior_padding = In(static_size_vector)  # I5

    syntax = "operands attr-dict : functional_type"


class RealDynamicSlice(
    Slice, Dynamic, op="real_dynamic_slice", shape_operands=("start_indices", "limit_indices", "strides")
):
    """Slice `operand` as `slice` does, with bounds and strides that are operands."""

    static = Slice
    start_indices = In(size_vector)
    limit_indices = In(size_vector)
    strides = In(size_vector)

    syntax = "operands attr-dict : functional_type"


class DynamicGather(Gather, Dynamic, op="dynamic_gather", shape_operands=("slice_sizes",)):
    """Gather slices of `operand` as `gather` does, with slice sizes that are an operand."""

    static = Gather
    slice_sizes = In(static_integer_vector)  # I3

    @staticmethod
    def expected_sizes(arguments: Arguments) -> tuple[int, ...]:
        return (rank(arguments["operand"]),)

    @staticmethod
    def constraints(
        C: Checker,
        infer: Callable[[], TensorType],
        operand: TensorType,
        start_indices: TensorType,
        slice_sizes: Dims,
        offset_dims: Dims,
        collapsed_slice_dims: Dims,
        operand_batching_dims: Dims,
        start_indices_batching_dims: Dims,
        start_index_map: Dims,
        index_vector_dim: Int,
        result: TensorType,
    ) -> None:
        C(1, rank(operand) == size(offset_dims) + size(collapsed_slice_dims) + size(operand_batching_dims))
        C(2, 0 <= index_vector_dim <= rank(start_indices))
        C(3, size(start_index_map) == index_size(start_indices, index_vector_dim))
        C(4, is_unique(offset_dims) and is_sorted(offset_dims))
        C(5, in_range(offset_dims, rank(result)))
        C(6, is_unique(collapsed_slice_dims) and is_sorted(collapsed_slice_dims))
        C(7, in_range(collapsed_slice_dims, rank(operand)))
        C(11, size(slice_sizes) == rank(operand))
        C(8, all(slice_sizes[d] <= 1 for d in collapsed_slice_dims))
        C("batching", is_sorted(operand_batching_dims) and in_range(operand_batching_dims, rank(operand)))
        C("batching", is_unique(collapsed_slice_dims + operand_batching_dims))
        C("batching", is_unique(start_indices_batching_dims))
        C("batching", in_range(start_indices_batching_dims, rank(start_indices)))
        C("batching", index_vector_dim not in start_indices_batching_dims)
        C("batching", size(operand_batching_dims) == size(start_indices_batching_dims))
        C("batching", dims(operand, operand_batching_dims) == dims(start_indices, start_indices_batching_dims))
        C("batching", all(slice_sizes[d] <= 1 for d in operand_batching_dims))
        C(9, is_unique(start_index_map))
        C("batching", is_unique(start_index_map + operand_batching_dims))
        C(10, in_range(start_index_map, rank(operand)))
        C(12, all(0 <= s <= n for s, n in zip(slice_sizes, shape(operand))))
        C(13, shape(result) == shape(infer()))
        C(14, element_type(operand) == element_type(result))


class DynamicConv(Convolution, Dynamic, op="dynamic_conv", shape_operands=("padding",)):
    """Compute a `convolution` with a padding that is an operand."""

    static = Convolution
    padding = In(static_integer_matrix)  # I3

    syntax = ""

    @classmethod
    def adapted(cls, arguments: Arguments) -> Arguments:
        """Ignore strides beyond those of the spatial dimensions, which JAX writes."""
        strides = arguments["window_strides"]
        (spatial, _) = cls.expected_sizes(arguments)
        return {**super().adapted(arguments), "window_strides": strides and strides[:spatial]}

    @staticmethod
    def expected_sizes(arguments: Arguments) -> tuple[int, ...]:
        return len(arguments["input_spatial_dimensions"]), 2


class DynamicReshape(Reshape, Dynamic, op="dynamic_reshape", shape_operands=("output_shape",)):
    """Reshape `operand` to a shape that is an operand."""

    static = Reshape
    output_shape = In(static_size_vector)  # I2
    result = Out(tensor | quantized_tensor)

    @staticmethod
    def infer(output_shape: Dims, result: TensorType) -> TensorType:
        return make_tensor_type(output_shape, element_type(result))

    @staticmethod
    def constraints(C: Checker, operand: TensorType, output_shape: Dims, result: TensorType) -> None:
        Reshape.constraints(C, operand, result)
        C(4, size(output_shape) == rank(result))
        C("shape", shape(result) == output_shape and size(operand) == prod(output_shape))


class DynamicBroadcastInDim(
    BroadcastInDim, Dynamic, op="dynamic_broadcast_in_dim", shape_operands=("output_dimensions",)
):
    """Broadcast `operand` as `broadcast_in_dim` does, to a shape that is an operand."""

    static = BroadcastInDim
    output_dimensions = In(static_size_vector)  # I2
    known_expanding_dimensions = Attr(Dims, default=())  # I4
    known_nonexpanding_dimensions = Attr(Dims, default=())  # I5
    result = Out(tensor | quantized_tensor)

    @staticmethod
    def infer(output_dimensions: Dims, result: TensorType) -> TensorType:
        return make_tensor_type(output_dimensions, element_type(result))

    @staticmethod
    def constraints(
        C: Checker,
        operand: TensorType,
        output_dimensions: Dims,
        broadcast_dimensions: Dims,
        known_expanding_dimensions: Dims,
        known_nonexpanding_dimensions: Dims,
        result: TensorType,
    ) -> None:
        BroadcastInDim.constraints(C, operand, broadcast_dimensions, result)
        C(7, size(output_dimensions) == rank(result))
        C(8, is_unique(known_expanding_dimensions + known_nonexpanding_dimensions))
        C(9, in_range(known_expanding_dimensions, rank(operand)))
        C(10, in_range(known_nonexpanding_dimensions, rank(operand)))
        C("shape", shape(result) == output_dimensions)
        C("shape", all(n in (1, output_dimensions[d]) for n, d in zip(shape(operand), broadcast_dimensions)))


class DynamicIota(Dynamic, op="dynamic_iota", shape_operands=("output_shape",), facts=MOVES):
    """Fill a tensor as `iota` does, of a shape that is an operand."""

    static = Iota
    output_shape = In(static_size_vector)  # I1
    iota_dimension = Attr(Int)  # I2
    result = Out(number_tensor)

    syntax = "operands, dim = $iota_dimension attr-dict : functional_type"

    infer = staticmethod(DynamicReshape.infer)

    @staticmethod
    def constraints(C: Checker, output_shape: Dims, iota_dimension: Int, result: TensorType) -> None:
        C(1, 0 <= iota_dimension < size(output_shape))
        C(2, rank(result) == size(output_shape))
        C("shape", shape(result) == output_shape)

    @staticmethod
    def plan(iota_dimension: Int, result: TensorType) -> Run:
        return Iota.plan(iota_dimension, result)

    @staticmethod
    def implementation_defined(iota_dimension: Int, result: TensorType) -> FindChoices:
        return Iota.implementation_defined(iota_dimension, result)


class GetDimensionSize(Op, op="get_dimension_size", computes_on_storage=True, facts=EXACT):
    """Return the size of one dimension of `operand`."""

    operand = In(tensor | quantized_tensor)  # I1
    dimension = Attr(Int)  # I2
    result = Out(si32_scalar)

    syntax = "operands, dim = $dimension attr-dict : functional_type"

    @staticmethod
    def constraints(C: Checker, operand: TensorType, dimension: Int) -> None:
        C(1, 0 <= dimension < rank(operand))

    @staticmethod
    def plan(operand: TensorType, dimension: Int) -> Run:
        known_size = np.int32(dim(operand, dimension))
        return lambda operand: known_size


class SetDimensionSize(
    Op, op="set_dimension_size", computes_on_storage=True, shape_operands=("size",), nans="moved", facts=MOVES
):
    """Cut the dimension `dimension` of `operand` to its first `size` elements. Not in the spec; as in XLA."""

    operand = In(tensor | quantized_tensor)
    size = In(si32_scalar)
    dimension = Attr(Int)
    result = Out(tensor | quantized_tensor)

    syntax = "operands, dim = $dimension attr-dict : functional_type"

    @staticmethod
    def infer(site: Site, operand: TensorType, dimension: Int) -> TensorType:
        cut = cut_size(site.constants)
        sizes = [cut if d == dimension else n for d, n in enumerate(shape(operand))]
        return make_tensor_type(sizes, element_type(operand))

    @staticmethod
    def constraints(C: Checker, site: Site, operand: TensorType, dimension: Int, result: TensorType) -> None:
        C(1, 0 <= dimension < rank(operand))
        cut = cut_size(site.constants)
        C(2, 0 <= cut <= dim(operand, dimension))
        C(3, without(shape(result), [dimension]) == without(shape(operand), [dimension]))
        C(4, element_type(result) == element_type(operand))

    @staticmethod
    def plan(dimension: Int, result: TensorType) -> Run:
        kept = tuple(slice(0, n) if d == dimension else slice(None) for d, n in enumerate(shape(result)))
        return lambda operand, size: operand[kept]


def cut_size(constants: Mapping[str, Array]) -> Size:
    """Return the value of the operand `size`, `UNKNOWN` if it is not constant."""
    return int(constants["size"]) if "size" in constants else UNKNOWN
