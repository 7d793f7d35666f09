"""dot_general: dot products of slices, as one matrix multiplication."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from math import prod
from types import MappingProxyType
from typing import Annotated, TypeAlias

from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Directive, Draft, Irregular, give, listed, member_value
from stablehlo_ref.define.attribute_codecs import Dims, EnumCodec, Flag, Int, ListCodec, TypeCodec
from stablehlo_ref.define.bound import PlanSite
from stablehlo_ref.define.computation import Kernel, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.facts import SUMS
from stablehlo_ref.define.members import Undecodable
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, Group, In, Op, Out
from stablehlo_ref.define.spec import (
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
from stablehlo_ref.define.type_constraints import per_tensor_quantized as per_tensor
from stablehlo_ref.define.type_constraints import quantized_tensor, tensor
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import StructAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import FLOATS, TensorType, Type
from stablehlo_ref.numerics.contraction import Arithmetic, arithmetic, round_to_tf32, rounded_arithmetic, rounding
from stablehlo_ref.numerics.dtypes import kind, numpy_dtype
from stablehlo_ref.ops.dot_products import Dot, DotDimensions, choose


class DotDimensionsForm(Directive):
    """`batching_dims = [...] x [...], contracting_dims = [...] x [...]`."""

    members = (
        "lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
        "rhs_contracting_dimensions",
    )  # fmt: skip

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        batching, contracting = self.members[:2], self.members[2:]
        if parser.accept("batching_dims"):
            self._pair(parser, draft, batching)
            parser.expect(",")
        else:
            draft.members.update(dict.fromkeys(batching, ()))
        parser.expect("contracting_dims")
        self._pair(parser, draft, contracting)

    def _pair(self, parser: AsmParser, draft: Draft, names: tuple[str, ...]) -> None:
        for token, name in zip("=x", names):
            parser.expect(token)
            draft.members[name] = parser.dimensions()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        lists = [listed(member_value(op, name)) for name in self.members]
        if lists[:2] != ["[]", "[]"]:
            printer.value(f"batching_dims = {lists[0]} x {lists[1]},")
        printer.value(f"contracting_dims = {lists[2]} x {lists[3]}")


class PrecisionForm(Directive):
    """`, precision = [DEFAULT, DEFAULT], algorithm = <...>`, both optional."""

    members = (
        "precision_config", "lhs_precision_type", "rhs_precision_type", "accumulation_type", "lhs_component_count",
        "rhs_component_count", "num_primitive_operations", "allow_imprecise_accumulation",
    )  # fmt: skip

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        while parser.accept(","):
            if "precision_config" not in draft.members and parser.accept("precision"):
                parser.expect("=")
                draft.members["precision_config"] = self._precisions(parser, draft)
            elif parser.accept("algorithm"):
                parser.expect("=")
                give(draft, "algorithm", parser.struct("stablehlo.dot_algorithm"))
                return
            else:
                raise parser.expected("'precision' or 'algorithm'")

    def _precisions(self, parser: AsmParser, draft: Draft) -> tuple[Enum, ...]:
        codec = REGISTRY[draft.name].attributes["precision_config"].codec
        assert isinstance(codec, ListCodec) and isinstance(codec.element, EnumCodec)
        element = codec.element
        return tuple(parser.items(lambda: self._precision(parser, element), "[", "]"))

    def _precision(self, parser: AsmParser, codec: EnumCodec) -> Enum:
        word = parser.peek()
        if word not in codec.enum.__members__:
            raise parser.expected(codec.name)
        parser.advance()
        return codec.enum[word]

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        precisions = op.properties.get("precision_config")
        if isinstance(precisions, Undecodable):
            raise Irregular
        if precisions is not None:
            printer.literal(",")
            printer.value(f"precision = [{', '.join(p.name for p in precisions)}]")
        algorithm = REGISTRY[op.name].encode(op.properties).get("algorithm")
        if isinstance(algorithm, StructAttribute):
            printer.literal(",")
            printer.value(f"algorithm = {printer.attribute(algorithm).removeprefix(f'#{algorithm.name}')}")


Axes: TypeAlias = tuple[int, ...]


class Precision(Enum):
    """The accuracy that `precision_config` requests of an operand."""

    DEFAULT = "DEFAULT"
    HIGH = "HIGH"
    HIGHEST = "HIGHEST"


PrecisionConfig: TypeAlias = Annotated[tuple[Precision, ...], ListCodec(Precision)]
PrecisionType: TypeAlias = Annotated[Type, TypeCodec("floating-point type", is_float)]


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


class DotGeneral(
    Op, op="dot_general", row_major=True, rows_apart=True, prepares_constants=True, nans="computed", facts=SUMS
):
    """Compute dot products of slices of `lhs` and slices of `rhs` along their contracting dimensions.

    The dimensions of the result are the batching dimensions, then the other dimensions of `lhs`, then those of `rhs`.
    Its element type may be wider than that of the operands; then the sums have the wider type. If they are
    floating-point, an algorithm rounds operands first. `precision_config` is ignored: results are always as accurate
    as HIGHEST. (spec, "dot_general")
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

    dot_dimension_numbers = Group("stablehlo.dot", as_type=DotDimensions, is_required=True)  # I3-I6
    algorithm = Group("stablehlo.dot_algorithm", as_type=DotAlgorithm, is_checked_alone=True)  # I8-I14

    syntax = ("operands,", DotDimensionsForm(), PrecisionForm(), "attr-dict : functional_type")

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
        mode: Mode,
        lhs: TensorType,
        rhs: TensorType,
        dot_dimension_numbers: DotDimensions,
        algorithm: DotAlgorithm,
        result: TensorType,
    ) -> Kernel:
        """Plan the dot products: see `semantics.dot_general.dot_general`.

        The transposed and reshaped operands are batches of matrices (batching, lhs_result, contracting) and (batching,
        contracting, rhs_result), views where possible, whose product `np.matmul` or its equivalent for the element type
        computes (numerics/contraction.py). A constant operand becomes a matrix at planning. The strategy decides only
        what is converted and multiplied at a time (ops/dot_products.py).
        """
        return dot_products(lhs, rhs, dot_dimension_numbers, result, mode, site.constants, algorithm)

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


def dot_products(
    lhs: TensorType,
    rhs: TensorType,
    numbers: DotDimensions,
    result: TensorType,
    mode: Mode,
    constants: Mapping[str, Array] = MappingProxyType({}),
    algorithm: DotAlgorithm | None = None,
) -> Kernel:
    """Plan dot products with the arithmetic of their types, and of an algorithm; `constants` are known operands."""
    lhs_dtype, rhs_dtype, result_dtype = (numpy_dtype(element_type(x)) for x in (lhs, rhs, result))
    terms = prod(dims(lhs, numbers.lhs_contracting_dimensions))
    sums = arithmetic(lhs_dtype, rhs_dtype, result_dtype, terms, mode.reproducible)
    if algorithm is not None and algorithm.num_primitive_operations is not None and kind(result_dtype) == "floating":
        sums = with_algorithm(sums, algorithm)
    strategy = choose(Dot(lhs, rhs, numbers, result, sums, constants))
    return Kernel(strategy.plan(), temporaries=strategy.temporaries)


# --- algorithms -----------------------------------------------------------------------------------------------------


# From the number of primitive operations to (components, levels): an operand is the sum of `components` numbers, the
# largest first, and the products of components i and j with i + j < levels are summed.
DECOMPOSITIONS = {1: (1, 1), 3: (2, 2), 6: (3, 3), 9: (3, 5)}


def with_algorithm(sums: Arithmetic, algorithm: DotAlgorithm) -> Arithmetic:
    """Return the arithmetic of an algorithm; UnsupportedError for a combination that is not implemented.

    Sums are accumulated in f32 or f64 and rounded once to the accumulation type.
    """
    operations = algorithm.num_primitive_operations
    counts = [algorithm.lhs_component_count, algorithm.rhs_component_count]
    components, levels = DECOMPOSITIONS.get(operations or 0, (0, 0))
    if components == 0 or counts not in ([1, 1], [components, components]):
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
