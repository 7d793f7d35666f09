"""dot_general: dot products of slices, as one matrix multiplication."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from math import prod
from typing import Annotated, TypeAlias

import numpy as np

from stablehlo_ref.budget import keep, within_time
from stablehlo_ref.define.attribute_codecs import Dims, Flag, Int, ListCodec, TypeCodec
from stablehlo_ref.define.bound import PlanSite
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.op import Attr, Group, In, Op, Out
from stablehlo_ref.define.spec import (
    axes,
    dim,
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
from stablehlo_ref.define.type_constraints import per_tensor_quantized as per_tensor
from stablehlo_ref.define.type_constraints import quantized_tensor, tensor
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.attributes import Attribute
from stablehlo_ref.ir.types import FLOATS, TensorType, Type
from stablehlo_ref.numerics.contraction import (
    PREPARED_BYTES,
    Arithmetic,
    arithmetic,
    converted_bytes,
    for_products,
    identity,
    matrices,
    of_near_rows,
    of_separate,
    round_to_tf32,
    rounded_arithmetic,
    rounding,
)
from stablehlo_ref.numerics.dtypes import kind, numpy_dtype
from stablehlo_ref.numerics.integer_products import PART_BYTES, multiplies_in_parts, product_in_parts
from stablehlo_ref.numerics.kernels import with_row_major_form
from stablehlo_ref.numerics.wide_products import (
    BLOCK,
    STEP_ROWS,
    converts_to_floats,
    is_wide,
    product_by_rows,
    wide_product,
)  # fmt: skip

Axes: TypeAlias = tuple[int, ...]

STACK_BYTES = 1 << 22  # of converted matrices of a stack at a time


class Precision(Enum):
    """The accuracy that `precision_config` requests of an operand."""

    DEFAULT = "DEFAULT"
    HIGH = "HIGH"
    HIGHEST = "HIGHEST"


class PrecisionTypeCodec(TypeCodec):
    """A floating-point type."""

    name = "floating-point type"

    def decode(self, attribute: Attribute) -> Type:
        decoded = super().decode(attribute)
        if is_float(decoded):
            return decoded
        raise self.mismatch()


PrecisionConfig: TypeAlias = Annotated[tuple[Precision, ...], ListCodec(Precision)]
PrecisionType: TypeAlias = Annotated[Type, PrecisionTypeCodec()]


@dataclass(frozen=True, slots=True)
class DotDimensions:
    """The attribute `dot_dimension_numbers`: which dimensions of `lhs` and `rhs` are paired."""

    lhs_batching_dimensions: Dims
    rhs_batching_dimensions: Dims
    lhs_contracting_dimensions: Dims
    rhs_contracting_dimensions: Dims


@dataclass(frozen=True, slots=True)
class DotAlgorithm:
    """The attribute `algorithm` (spec, "dot_general"); without it all fields are None."""

    lhs_precision_type: PrecisionType | None
    rhs_precision_type: PrecisionType | None
    accumulation_type: PrecisionType | None
    lhs_component_count: Int | None
    rhs_component_count: Int | None
    num_primitive_operations: Int | None
    allow_imprecise_accumulation: Flag | None


class DotGeneral(Op, op="dot_general", row_major=True, rows_apart=True, prepares_constants=True, nans="computed"):
    """Compute dot products of slices of `lhs` and slices of `rhs` along their contracting dimensions.

    The dimensions of the result are the batching dimensions, then the other dimensions of `lhs`, then those of `rhs`.
    Its element type may be wider than that of the operands; then the sums have the wider type. An algorithm rounds
    floating-point operands first. `precision_config` is ignored: results are always as accurate as HIGHEST.
    (spec, "dot_general")
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

    dot_dimension_numbers = Group("stablehlo.dot", as_type=DotDimensions)  # I3-I6
    algorithm = Group("stablehlo.dot_algorithm", as_type=DotAlgorithm, is_checked_alone=True)  # I8-I14

    syntax = "operands, custom(dot_dimensions) custom(precision) attr-dict : functional_type"

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType, dot_dimension_numbers: DotDimensions) -> TensorType:
        d = dot_dimension_numbers
        lhs_result_dimensions = without(axes(lhs), d.lhs_batching_dimensions + d.lhs_contracting_dimensions)
        rhs_result_dimensions = without(axes(rhs), d.rhs_batching_dimensions + d.rhs_contracting_dimensions)
        sizes = dims(lhs, d.lhs_batching_dimensions + lhs_result_dimensions) + dims(rhs, rhs_result_dimensions)
        return make_tensor_type(sizes, element_type(lhs))

    @staticmethod
    def constraints(
        C: Checker,
        infer: Callable[[], TensorType],
        lhs: TensorType,
        rhs: TensorType,
        lhs_batching_dimensions: Dims,
        rhs_batching_dimensions: Dims,
        lhs_contracting_dimensions: Dims,
        rhs_contracting_dimensions: Dims,
        precision_config: PrecisionConfig,
        lhs_precision_type: PrecisionType | None,
        rhs_precision_type: PrecisionType | None,
        accumulation_type: PrecisionType | None,
        lhs_component_count: Int | None,
        rhs_component_count: Int | None,
        num_primitive_operations: Int | None,
        allow_imprecise_accumulation: Flag | None,
        result: TensorType,
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
        C(11, size(precision_config) <= 2)  # it may be left out, or for both operands
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
        site: PlanSite,
        lhs: TensorType,
        rhs: TensorType,
        dot_dimension_numbers: DotDimensions,
        algorithm: DotAlgorithm,
        result: TensorType,
    ) -> Run:
        """Plan the dot products.

            result[result_index] = sum over all contracting_index of lhs[lhs_index] * rhs[rhs_index]
            result_index         = result_batching_index + result_lhs_index + result_rhs_index
            lhs_index            = result_batching_index at lhs_batching_dimensions, result_lhs_index at
                                   lhs_result_dimensions, contracting_index at lhs_contracting_dimensions
            rhs_index            = the same with rhs_...

        The transposed and reshaped operands are batches of matrices (batching, lhs_result, contracting) and (batching,
        contracting, rhs_result), views where possible, whose product `np.matmul` or its equivalent for the element
        type computes (numerics/contraction.py). A constant operand becomes a matrix at planning.
        Element by element: `dot_general` in spec_checks/oracles/dot_general.py.
        """
        d = dot_dimension_numbers
        terms = prod(dims(lhs, d.lhs_contracting_dimensions))
        lhs_dtype, rhs_dtype, result_dtype = (numpy_dtype(element_type(x)) for x in (lhs, rhs, result))
        if not site.constants and (step := stack_step(lhs, rhs, d, result)):
            lhs, rhs, part_result = (with_leading(x, step) for x in (lhs, rhs, result))
            part = DotGeneral.plan(site, lhs, rhs, d, algorithm, part_result)
            return in_groups(part, step, shape(result), result_dtype)
        sums = arithmetic(lhs_dtype, rhs_dtype, result_dtype, terms)
        if algorithm.num_primitive_operations is not None and kind(sums.dtype) == "floating" and is_float(lhs):
            sums = with_algorithm(sums, algorithm)
        sums = for_products(sums, terms * prod(shape(result)))
        contracting = in_memory_order(lhs, rhs, d.lhs_contracting_dimensions, d.rhs_contracting_dimensions)
        as_lhs = matrices(shape(lhs), d.lhs_batching_dimensions, contracting[0], rows_first=True)
        as_rhs = matrices(shape(rhs), d.rhs_batching_dimensions, contracting[1], rows_first=False)
        if not site.constants and is_in_parts(lhs, rhs, d, result):
            return of_matrices(as_lhs, as_rhs, partial(product_in_parts, dtype=result_dtype), shape(result))
        may_be_transposes = (as_lhs or as_rhs) and sums.is_plain and not sums.is_exact and size(lhs) == size(rhs)
        separate: Callable[[Run], Run] = of_separate if may_be_transposes else lambda multiply: multiply
        run = separate(matrix_product(sums, as_lhs, as_rhs, shape(result), result_dtype, site.constants))
        first = rank(lhs) - size(d.lhs_contracting_dimensions)  # of the dimensions of `rhs` in the result
        rows, columns = prod(shape(result)[size(d.lhs_batching_dimensions) : first]), prod(shape(result)[first:])
        if 1 in (rows, columns):
            run = of_near_rows(run, (shape(lhs), lhs_dtype), (shape(rhs), rhs_dtype), rows == columns)
        is_small = sums.is_plain and sums.matmul is np.matmul and terms * prod(shape(result)) <= SMALL_PRODUCT
        if is_small and rank(lhs) <= 2 >= rank(rhs) and len(contracting[0]) == 1 and not d.lhs_batching_dimensions:
            with_row_major_form(run, separate(SMALL_PRODUCTS[as_lhs is not None, as_rhs is not None]))
        return run

    @staticmethod
    def temporaries(lhs: TensorType, rhs: TensorType, dot_dimension_numbers: DotDimensions, result: TensorType) -> int:
        d, dtypes = dot_dimension_numbers, [numpy_dtype(element_type(x)) for x in (lhs, rhs, result)]
        if step := stack_step(lhs, rhs, d, result):
            lhs, rhs, result = (with_leading(x, step) for x in (lhs, rhs, result))
        terms = prod(dims(lhs, d.lhs_contracting_dimensions))
        lhs_dtype, rhs_dtype, result_dtype = dtypes
        sums, rows = arithmetic(lhs_dtype, rhs_dtype, result_dtype, terms), size(lhs) // max(1, terms)
        is_in_blocks = not d.lhs_batching_dimensions and converts_to_floats(sums) and is_wide(rows, terms, size(rhs))
        needed = converted_bytes(dtypes, size(lhs) + (BLOCK if is_in_blocks else size(rhs)), size(result))
        if step:
            needed += STACK_BYTES // 4  # the results of a group, and a term of their sums (measured)
        return min(PART_BYTES, needed) if is_in_parts(lhs, rhs, d, result) else needed

    @staticmethod
    def batching_rule(dot_dimension_numbers: DotDimensions) -> Mapping[str, object]:
        """Make the lanes one more batching dimension."""
        d = dot_dimension_numbers
        return {
            "lhs_batching_dimensions": (0, *shifted(d.lhs_batching_dimensions)),
            "rhs_batching_dimensions": (0, *shifted(d.rhs_batching_dimensions)),
            "lhs_contracting_dimensions": shifted(d.lhs_contracting_dimensions),
            "rhs_contracting_dimensions": shifted(d.rhs_contracting_dimensions),
        }


def shifted(dimensions: Axes) -> Axes:
    """Return the dimensions of an array with one more axis in front."""
    return tuple(d + 1 for d in dimensions)


def is_mixed_precision(lhs: TensorType, rhs: TensorType, result: TensorType) -> bool:
    """Return whether operands of two real element types have a floating-point result if one of them is floating-point.

    The spec has no such products, but exporters emit them (bf16 by f32, f8E4M3FN by f8E5M2) and compilers accept them.
    """
    operands = (lhs, rhs)
    if any(map(is_float, operands)):
        return is_float(result) and all(is_float(x) or is_integer(x) for x in operands)
    return all(map(is_integer, (lhs, rhs, result)))


# --- operands as matrices -------------------------------------------------------------------------------------------


def in_memory_order(lhs: TensorType, rhs: TensorType, lhs_dims: Axes, rhs_dims: Axes) -> tuple[Axes, Axes]:
    """Reorder the pairs of contracting dimensions so that those of the larger operand ascend."""
    leading = lhs_dims if prod(shape(lhs)) >= prod(shape(rhs)) else rhs_dims
    pairs = [pair for _, pair in sorted(zip(leading, zip(lhs_dims, rhs_dims)))]
    return tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs)


# `ndarray.dot` calls the functions of BLAS that np.matmul calls for row-major operands, and takes half the time before.
SMALL_PRODUCT = 1 << 18  # multiplications: some ten microseconds, of which that is a part
SMALL_PRODUCTS: Mapping[tuple[bool, bool], Run] = {  # by which operands are transposed
    (False, False): np.ndarray.dot,
    (False, True): lambda lhs, rhs: lhs.dot(rhs.T),
    (True, False): lambda lhs, rhs: lhs.T.dot(rhs),
    (True, True): lambda lhs, rhs: lhs.T.dot(rhs.T),
}


def matrix_product(
    sums: Arithmetic,
    as_lhs: Run | None,
    as_rhs: Run | None,
    sizes: tuple[int, ...],
    dtype: DType,
    constants: Mapping[str, Array],
) -> Run:
    """Return a function that brings operands into the form of matrices, multiplies them and reshapes the product.

    `as_lhs` and `as_rhs` arrange an operand as matrices; they are None for an operand that already is one.
    """
    prepare_lhs, lhs_is_ready = _preparation(sums.load_lhs, as_lhs, constants.get("lhs"), sums.is_plain)
    prepare_rhs, rhs_is_ready = _preparation(sums.load_rhs, as_rhs, constants.get("rhs"), sums.is_plain)
    matmul, leave = sums.matmul_of_values or sums.matmul, sums.store
    if lhs_is_ready and rhs_is_ready and sums.is_plain and matmul is np.matmul:

        def run_plain(lhs: Array, rhs: Array) -> Array:
            product: Array = np.matmul(lhs, rhs)
            return product if product.shape == sizes else product.reshape(sizes)

        return run_plain
    may_be_wide = converts_to_floats(sums) and not _is_prepared(constants.get("rhs"))
    by_rows = as_lhs is None and len(sizes) == 2 and sizes[0] >= 2 * STEP_ROWS
    by_rows = by_rows and converts_to_floats(sums) and not constants

    def run(lhs: Array, rhs: Array) -> Array:
        if by_rows:
            return product_by_rows(sums, lhs, prepare_rhs(rhs), dtype)
        left = prepare_lhs(lhs)
        if may_be_wide and _is_wide(left, right := as_rhs(rhs) if as_rhs else rhs):
            product = wide_product(sums, left, right)
        else:
            product = matmul(left, prepare_rhs(rhs))
        result: Array = leave(product).reshape(sizes)
        return result

    return run


def stack_step(lhs: TensorType, rhs: TensorType, numbers: DotDimensions, result: TensorType) -> int:
    """Return how many matrices of a stack to convert and multiply at a time, a divisor of their number; 0 for all."""
    if (numbers.lhs_batching_dimensions[:1], numbers.rhs_batching_dimensions[:1]) != ((0,), (0,)):
        return 0
    dtypes, count = [numpy_dtype(element_type(x)) for x in (lhs, rhs, result)], dim(result, 0)
    needed = converted_bytes(dtypes, size(lhs) + size(rhs), size(result))
    if needed <= STACK_BYTES:
        return 0
    most = max(1, STACK_BYTES * count // needed)
    step = max(n for n in range(1, most + 1) if count % n == 0)
    return step if step < count else 0


def is_in_parts(lhs: TensorType, rhs: TensorType, numbers: DotDimensions, result: TensorType) -> bool:
    """Return whether the operands are large integer matrices, which are converted part by part."""
    d, sizes = numbers, [size(x) for x in (lhs, rhs, result)]
    are_matrices = not d.lhs_batching_dimensions and all(
        rank(x) > len(contracting)
        for x, contracting in ((lhs, d.lhs_contracting_dimensions), (rhs, d.rhs_contracting_dimensions))
    )
    dtypes = [numpy_dtype(element_type(x)) for x in (lhs, rhs, result)]
    return are_matrices and all(sizes) and multiplies_in_parts(dtypes, sum(sizes))


def of_matrices(as_lhs: Run | None, as_rhs: Run | None, multiply: Run, sizes: tuple[int, ...]) -> Run:
    """Return a function that brings operands into the form of matrices, and reshapes their product."""

    def run(lhs: Array, rhs: Array) -> Array:
        result: Array = multiply(as_lhs(lhs) if as_lhs else lhs, as_rhs(rhs) if as_rhs else rhs)
        return result.reshape(sizes)

    return run


def with_leading(x: TensorType, size: int) -> TensorType:
    """Return tensor type `x` with another size of the first dimension."""
    return make_tensor_type((size, *shape(x)[1:]), element_type(x))


def in_groups(part: Run, step: int, sizes: tuple[int, ...], dtype: DType) -> Run:
    """Return a function that multiplies `step` matrices of stacks at a time by `part`."""

    def run(lhs: Array, rhs: Array) -> Array:
        result = np.empty(sizes, dtype)
        for start in within_time(range(0, sizes[0], step)):
            some = slice(start, start + step)
            result[some] = part(lhs[some], rhs[some])
        return result

    return run


def _preparation(enter: Run, arrange: Run | None, constant: Array | None, plain: bool) -> tuple[Run, bool]:
    """Return a function that brings an operand into the form of matrices, and whether it returns it unchanged."""
    if plain and arrange is None:
        return identity, True
    if plain or arrange is None:
        prepare = arrange or enter
    else:

        def prepare(x: Array) -> Array:
            matrix: Array = arrange(enter(x))
            return matrix

    if constant is None or not _is_prepared(constant):
        return prepare, False
    keep(constant.size * 4)
    prepared = prepare(constant)
    return lambda _: prepared, False


def _is_wide(a: Array, b: Array) -> bool:
    return a.ndim == 2 == b.ndim and is_wide(len(a), len(b), b.size)


def _is_prepared(constant: Array | None) -> bool:
    return constant is not None and constant.size * 4 <= PREPARED_BYTES


# --- algorithms -----------------------------------------------------------------------------------------------------


# From the number of primitive operations to (components, levels): an operand is the sum of `components` numbers, the
# largest first, and the products of components i and j with i + j < levels are summed.
DECOMPOSITIONS = {1: (1, 1), 3: (2, 2), 4: (2, 3), 6: (3, 3), 9: (3, 5)}


def with_algorithm(sums: Arithmetic, algorithm: DotAlgorithm) -> Arithmetic:
    """Return the arithmetic of an algorithm; UnsupportedError for a combination that is not implemented.

    Sums are accumulated in f32 or f64 and rounded once to the accumulation type.
    """
    operations = algorithm.num_primitive_operations
    counts = [algorithm.lhs_component_count, algorithm.rhs_component_count]
    components, levels = DECOMPOSITIONS.get(operations or 0, (0, 0))
    if components == 0 or any(count not in (1, components) for count in counts):
        raise UnsupportedError(f"unsupported dot algorithm: {operations} operations on {counts} components")
    types = (algorithm.lhs_precision_type, algorithm.rhs_precision_type, algorithm.accumulation_type)
    lhs, rhs, accumulate = (_rounding(type) for type in types if type is not None)  # verified: none is None
    return rounded_arithmetic(sums, lhs, rhs, accumulate, components, levels)


def _rounding(type: Type) -> Run:
    if type == FLOATS["tf32"]:
        return round_to_tf32
    try:
        return rounding(numpy_dtype(type))
    except UnsupportedError:
        raise UnsupportedError(f"unsupported type of a dot algorithm: {type}") from None
