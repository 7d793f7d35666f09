"""dot_general: sums of products of slices, as one matrix multiplication."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, Group, In, Op, Out
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.kinds import AttributeKind, Dims, Flag, Int, ListOf, OneOf, TypeOf, quantized_tensor, tensor
from stablehlo_ref.kinds import per_tensor_quantized as per_tensor
from stablehlo_ref.numerics.contraction import (
    PREPARED_BYTES,
    Arithmetic,
    arithmetic,
    matrices,
    round_to_tf32,
    rounded_arithmetic,
    rounding,
)
from stablehlo_ref.numerics.dtypes import kind, numpy_dtype
from stablehlo_ref.spec import (
    axes,
    dims,
    element_type,
    expressed_type,
    in_range,
    is_float,
    is_integer,
    is_per_axis_quantized,
    is_per_tensor_quantized,
    is_quantized,
    is_unique,
    make_tensor_type,
    quantization_dimension,
    rank,
    shape,
    size,
    storage_type,
    without,
    zero_points,
)

Array = Any
Kernel = Callable[..., Array]
Axes = tuple[int, ...]


class Precision(Enum):
    DEFAULT = "DEFAULT"
    HIGH = "HIGH"
    HIGHEST = "HIGHEST"


class _PrecisionType(AttributeKind):
    name = "floating-point type"

    def decode(self, attribute: Any) -> Any:
        decoded = TypeOf.decode(attribute)
        if is_float(decoded):
            return decoded
        raise self._refuse()

    def encode(self, value: Any) -> Any:
        return TypeOf.encode(value)


PrecisionConfig = ListOf(OneOf(Precision))
PrecisionType = _PrecisionType()


class DotGeneral(Op, op="dot_general"):
    """Sums of products of elements of `lhs` and `rhs` along their contracting dimensions.

    The result's dimensions are the batching dimensions, the other ones of `lhs`, the other ones of `rhs`. Its element
    type may be wider than that of the operands: the sums have it then. An algorithm rounds floating-point operands
    first; `precision_config` asks for no less than is always given. (spec, "dot_general")
    """

    lhs = In(tensor | per_tensor)  # I1
    rhs = In(tensor | quantized_tensor)  # I2
    lhs_batching_dimensions = Attr(Dims, default=())  # I3
    rhs_batching_dimensions = Attr(Dims, default=())  # I4
    lhs_contracting_dimensions = Attr(Dims, default=())  # I5
    rhs_contracting_dimensions = Attr(Dims, default=())  # I6
    precision_config = Attr(PrecisionConfig, default=())  # I7
    lhs_precision_type = Attr(PrecisionType, default=None)  # I8
    rhs_precision_type = Attr(PrecisionType, default=None)  # I9
    accumulation_type = Attr(PrecisionType, default=None)  # I10
    lhs_component_count = Attr(Int, default=None)  # I11
    rhs_component_count = Attr(Int, default=None)  # I12
    num_primitive_operations = Attr(Int, default=None)  # I13
    allow_imprecise_accumulation = Attr(Flag, default=None)  # I14
    result = Out(tensor | quantized_tensor)

    dot_dimension_numbers = Group(
        "stablehlo.dot",
        lhs_batching_dimensions=lhs_batching_dimensions,
        rhs_batching_dimensions=rhs_batching_dimensions,
        lhs_contracting_dimensions=lhs_contracting_dimensions,
        rhs_contracting_dimensions=rhs_contracting_dimensions,
    )
    algorithm = Group(
        "stablehlo.dot_algorithm",
        lhs_precision_type=lhs_precision_type,
        rhs_precision_type=rhs_precision_type,
        accumulation_type=accumulation_type,
        lhs_component_count=lhs_component_count,
        rhs_component_count=rhs_component_count,
        num_primitive_operations=num_primitive_operations,
        allow_imprecise_accumulation=allow_imprecise_accumulation,
    )

    syntax = "operands, custom(dot_dimensions) custom(precision) attr-dict : functional_type"

    @staticmethod
    def infer(
        lhs: Any,
        rhs: Any,
        lhs_batching_dimensions: Axes,
        rhs_batching_dimensions: Axes,
        lhs_contracting_dimensions: Axes,
        rhs_contracting_dimensions: Axes,
    ) -> Any:
        lhs_result_dimensions = without(axes(lhs), lhs_batching_dimensions + lhs_contracting_dimensions)
        rhs_result_dimensions = without(axes(rhs), rhs_batching_dimensions + rhs_contracting_dimensions)
        sizes = dims(lhs, lhs_batching_dimensions + lhs_result_dimensions) + dims(rhs, rhs_result_dimensions)
        return make_tensor_type(sizes, element_type(lhs))

    @staticmethod
    def constraints(
        C: Any,
        infer: Any,
        lhs: Any,
        rhs: Any,
        lhs_batching_dimensions: Axes,
        rhs_batching_dimensions: Axes,
        lhs_contracting_dimensions: Axes,
        rhs_contracting_dimensions: Axes,
        precision_config: tuple[Precision, ...],
        lhs_precision_type: Any,
        rhs_precision_type: Any,
        accumulation_type: Any,
        lhs_component_count: int | None,
        rhs_component_count: int | None,
        num_primitive_operations: int | None,
        allow_imprecise_accumulation: bool | None,
        result: Any,
    ) -> None:
        C(1, size(lhs_batching_dimensions) == size(rhs_batching_dimensions))
        C(2, size(lhs_contracting_dimensions) == size(rhs_contracting_dimensions))
        C(3, is_unique(lhs_batching_dimensions + lhs_contracting_dimensions))
        C(4, is_unique(rhs_batching_dimensions + rhs_contracting_dimensions))
        C(5, in_range(lhs_batching_dimensions, rank(lhs)))
        C(6, in_range(lhs_contracting_dimensions, rank(lhs)))
        C(7, in_range(rhs_batching_dimensions, rank(rhs)))
        C(8, in_range(rhs_contracting_dimensions, rank(rhs)))
        C(9, dims(lhs, lhs_batching_dimensions) == dims(rhs, rhs_batching_dimensions))
        C(10, dims(lhs, lhs_contracting_dimensions) == dims(rhs, rhs_contracting_dimensions))
        C(11, size(precision_config) in (0, 2))  # it may be left out
        C(12, shape(result) == shape(infer()))
        if not any(map(is_quantized, (lhs, rhs, result))):
            C(13, element_type(lhs) == element_type(rhs) or is_mixed_precision(lhs, rhs, result))
        else:
            C(14, is_quantized(lhs) == is_quantized(result) and is_quantized(rhs))
            C(15, all(zero_point == 0 for zero_point in zero_points(rhs)))
            if is_per_axis_quantized(rhs):
                C(16, quantization_dimension(rhs) not in rhs_contracting_dimensions)
            if is_quantized(lhs):
                C(17, storage_type(lhs) == storage_type(rhs))
                C(18, expressed_type(lhs) == expressed_type(rhs) == expressed_type(result))
                C(19, is_per_tensor_quantized(result) or is_per_axis_quantized(rhs))
            else:
                C(20, element_type(lhs) == expressed_type(rhs) == element_type(result))
        algorithm = (
            lhs_precision_type, rhs_precision_type, accumulation_type, lhs_component_count, rhs_component_count,
            num_primitive_operations, allow_imprecise_accumulation,
        )  # fmt: skip
        if any(field is not None for field in algorithm):
            C("Algorithm", None not in (lhs_precision_type, rhs_precision_type, accumulation_type))
            C(21, all(precision == Precision.DEFAULT for precision in precision_config))
            C(22, lhs_component_count is not None and 0 < lhs_component_count)
            C(23, rhs_component_count is not None and 0 < rhs_component_count)
            C(24, num_primitive_operations is not None and 0 < num_primitive_operations)

    @staticmethod
    def plan(
        lhs: Any,
        rhs: Any,
        lhs_batching_dimensions: Axes,
        rhs_batching_dimensions: Axes,
        lhs_contracting_dimensions: Axes,
        rhs_contracting_dimensions: Axes,
        lhs_precision_type: Any,
        rhs_precision_type: Any,
        accumulation_type: Any,
        lhs_component_count: int | None,
        rhs_component_count: int | None,
        num_primitive_operations: int | None,
        result: Any,
        constants: dict[str, Array],
    ) -> Kernel:
        terms = prod(dims(lhs, lhs_contracting_dimensions))
        sums = arithmetic(*[numpy_dtype(element_type(x)) for x in (lhs, rhs, result)], terms)
        if num_primitive_operations is not None and kind(sums.dtype) == "floating" and is_float(lhs):
            precision = (lhs_precision_type, rhs_precision_type, accumulation_type)
            counts = (lhs_component_count, rhs_component_count, num_primitive_operations)
            sums = with_algorithm(sums, precision, counts)  # type: ignore[arg-type]
        contracting = in_memory_order(lhs, rhs, lhs_contracting_dimensions, rhs_contracting_dimensions)
        as_lhs = matrices(shape(lhs), lhs_batching_dimensions, contracting[0], rows_first=True)
        as_rhs = matrices(shape(rhs), rhs_batching_dimensions, contracting[1], rows_first=False)
        return matrix_product(sums, as_lhs, as_rhs, shape(result), constants)

    @staticmethod
    def lift(
        lhs_batching_dimensions: Axes,
        rhs_batching_dimensions: Axes,
        lhs_contracting_dimensions: Axes,
        rhs_contracting_dimensions: Axes,
    ) -> dict[str, Axes]:
        def shifted(dimensions: Axes) -> Axes:
            return tuple(d + 1 for d in dimensions)

        return {
            "lhs_batching_dimensions": (0, *shifted(lhs_batching_dimensions)),
            "rhs_batching_dimensions": (0, *shifted(rhs_batching_dimensions)),
            "lhs_contracting_dimensions": shifted(lhs_contracting_dimensions),
            "rhs_contracting_dimensions": shifted(rhs_contracting_dimensions),
        }


def is_mixed_precision(lhs: Any, rhs: Any, result: Any) -> bool:
    """Whether real numbers of two types are multiplied, in sums that are floating-point if one of them is.

    The spec has no such products, but exporters emit them (bf16 by f32, f8E4M3FN by f8E5M2), and compilers take them.
    """
    operands = (lhs, rhs)
    if any(map(is_float, operands)):
        return is_float(result) and all(is_float(x) or is_integer(x) for x in operands)
    return all(map(is_integer, (lhs, rhs, result)))


# --- operands as matrices -------------------------------------------------------------------------------------------


def in_memory_order(lhs: Any, rhs: Any, lhs_dims: Axes, rhs_dims: Axes) -> tuple[Axes, Axes]:
    """The pairs of contracting dimensions, reordered such that those of the larger operand ascend."""
    leading = lhs_dims if prod(shape(lhs)) >= prod(shape(rhs)) else rhs_dims
    pairs = [pair for _, pair in sorted(zip(leading, zip(lhs_dims, rhs_dims)))]
    return tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs)


def matrix_product(
    sums: Arithmetic, as_lhs: Kernel | None, as_rhs: Kernel | None, sizes: tuple[int, ...], constants: dict[str, Array]
) -> Kernel:
    """A function of two operands: made matrices, multiplied, the product reshaped."""
    prepare_lhs, lhs_is_ready = _preparation(sums.enter_lhs, as_lhs, constants.get("lhs"), sums.plain)
    prepare_rhs, rhs_is_ready = _preparation(sums.enter_rhs, as_rhs, constants.get("rhs"), sums.plain)
    matmul, leave = sums.matmul, sums.leave
    if lhs_is_ready and rhs_is_ready and sums.plain and matmul is np.matmul:

        def run_plain(lhs: Array, rhs: Array) -> Array:
            product = np.matmul(lhs, rhs)
            return product if product.shape == sizes else product.reshape(sizes)

        return run_plain

    def run(lhs: Array, rhs: Array) -> Array:
        return leave(matmul(prepare_lhs(lhs), prepare_rhs(rhs))).reshape(sizes)

    return run


def _preparation(enter: Kernel, arrange: Kernel | None, constant: Array | None, plain: bool) -> tuple[Kernel, bool]:
    """What brings an operand into the form of matrices, and whether it has nothing to do."""
    if plain and arrange is None:
        return _unchanged, True
    if plain or arrange is None:
        prepare = arrange or enter
    else:

        def prepare(x: Array) -> Array:
            return arrange(enter(x))

    if constant is None or constant.size * 4 > PREPARED_BYTES:
        return prepare, False
    prepared = prepare(constant)
    return lambda _: prepared, False


def _unchanged(x: Array) -> Array:
    return x


# --- algorithms -----------------------------------------------------------------------------------------------------


def with_algorithm(sums: Arithmetic, types: Sequence[Any], counts: Sequence[int]) -> Arithmetic:
    """The arithmetic that an algorithm's precision types and counts ask for; UnsupportedError if there is none here.

    `n` products of components are those of the largest: 1 of one component each, 3 or 4 of two, 6 or 9 of three. Sums
    are accumulated in f32 or f64 and rounded once to the accumulation type.
    """
    *component_counts, operations = counts
    components, levels = {1: (1, 1), 3: (2, 2), 4: (2, 3), 6: (3, 3), 9: (3, 5)}.get(operations, (0, 0))
    if components == 0 or any(count not in (1, components) for count in component_counts):
        raise UnsupportedError(f"no dot algorithm of {operations} operations on {component_counts} components")
    lhs, rhs, accumulate = map(_rounding, types)
    return rounded_arithmetic(sums, lhs, rhs, accumulate, components, levels)


def _rounding(type: Any) -> Kernel:
    if type.name == "tf32":
        return round_to_tf32
    try:
        return rounding(numpy_dtype(type))
    except UnsupportedError:
        raise UnsupportedError(f"no dot algorithm in {type}") from None
