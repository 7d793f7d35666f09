"""convolution: dot products of windows of one tensor and slices of another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, TypeAlias

import numpy as np

from stablehlo_ref.algorithms.sliding_windows import num_windows
from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Directive, Draft, Irregular, give, listed, member_value
from stablehlo_ref.define.attribute_codecs import Dims, Flags, Int, Matrix
from stablehlo_ref.define.bound import PlanSite
from stablehlo_ref.define.computation import Kernel, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.facts import SUMS
from stablehlo_ref.define.members import Undecodable
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, Group, In, Op, Out
from stablehlo_ref.define.spec import (
    dim,
    dims,
    element_type,
    expressed_type,
    in_range,
    is_float,
    is_integer,
    is_per_axis_quantized,
    is_per_tensor_quantized,
    is_promotable,
    is_quantized,
    is_unique,
    make_tensor_type,
    quantization_dimension,
    rank,
    shape,
    size,
    storage_type,
)
from stablehlo_ref.define.type_constraints import per_tensor_quantized, quantized_tensor, tensor
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import StructAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.limits.budget import keep
from stablehlo_ref.numerics import window_products, window_views
from stablehlo_ref.numerics.contraction import PREPARED_BYTES
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.window_views import BATCH, FEATURE, Window
from stablehlo_ref.ops.dot_general import PrecisionConfig


class DimensionsForm(Directive):
    """`[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`."""

    members = (
        "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions",
        "kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions",
        "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions",
    )  # fmt: skip

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        lists = parser.convolution_lists(with_unused=bool(draft.spelling))
        attribute = StructAttribute("stablehlo.conv", lists, draft.spelling)
        if draft.spelling:  # it may be one that only mhlo has
            draft.attributes["dimension_numbers"] = attribute
        else:
            give(draft, "dimension_numbers", attribute)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        for name in self.members:
            member_value(op, name)  # Irregular unless it could be decoded
        numbers = REGISTRY[op.name].encode(op.properties)["dimension_numbers"]
        lists = printer.attribute(numbers).removeprefix("#stablehlo.conv<")[:-1]
        if lists.startswith("raw"):
            raise Irregular
        printer.value(lists)


WindowValue: TypeAlias = "tuple[int, ...] | tuple[tuple[int, ...], ...] | tuple[bool, ...]"


WRITE: Mapping[str, Callable[[Any], str]] = {
    "pad": lambda pairs: listed(map(listed, pairs)),
    "reverse": lambda flags: listed("true" if flag else "false" for flag in flags),
}


class WindowForm(Directive):
    """`stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = ..., rhs_dilate = ..., reverse = [false, false]`."""

    words: ClassVar[Mapping[str, str]] = {
        "stride": "window_strides",
        "pad": "padding",
        "lhs_dilate": "lhs_dilation",
        "rhs_dilate": "rhs_dilation",
        "reverse": "window_reversal",
    }
    members = tuple(words.values())

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        while parser.peek() != "}":
            offset, word = parser.start, parser.advance()
            if word not in self.words or self.words[word] in draft.members:
                raise parser.error(f"Unexpected keyword {word}", offset)
            parser.expect("=")
            draft.members[self.words[word]] = self._value(parser, word)
            if not parser.accept(","):
                return

    def _value(self, parser: AsmParser, word: str) -> WindowValue:
        if word == "pad":
            return tuple(parser.items(lambda: self._pair(parser), "[", "]"))
        if word == "reverse":
            return tuple(parser.items(lambda: self._flag(parser), "[", "]"))
        return parser.dimensions()

    def _pair(self, parser: AsmParser) -> tuple[int, ...]:
        offset, pair = parser.start, parser.dimensions()
        if len(pair) != 2:
            raise parser.error(f"Expected array with 2 elements, got {len(pair)} elements instead", offset)
        return pair

    def _flag(self, parser: AsmParser) -> bool:
        if parser.peek() in ("true", "false"):
            return parser.advance() == "true"
        return bool(parser.integer())

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        written = []
        for word, name in self.words.items():
            value = op.properties.get(name)
            if isinstance(value, Undecodable):
                raise Irregular
            if value is not None:
                written.append(f"{word} = {WRITE.get(word, listed)(value)}")
        printer.value(", ".join(written))


@dataclass(frozen=True, slots=True)
class ConvolutionDimensions:
    """The attribute `dimension_numbers`: what the dimensions of `lhs`, `rhs` and the result are."""

    input_batch_dimension: Int
    input_feature_dimension: Int
    input_spatial_dimensions: Dims
    kernel_input_feature_dimension: Int
    kernel_output_feature_dimension: Int
    kernel_spatial_dimensions: Dims
    output_batch_dimension: Int
    output_feature_dimension: Int
    output_spatial_dimensions: Dims

    @property
    def in_canonical_order(self) -> Sequence[Dims]:
        """The dimensions of `lhs`, `rhs` and the result: batch or output feature, then feature, then spatial ones."""
        kernel_features = self.kernel_output_feature_dimension, self.kernel_input_feature_dimension
        return (
            (self.input_batch_dimension, self.input_feature_dimension, *self.input_spatial_dimensions),
            (*kernel_features, *self.kernel_spatial_dimensions),
            (self.output_batch_dimension, self.output_feature_dimension, *self.output_spatial_dimensions),
        )


class Convolution(Op, op="convolution", row_major=True, prepares_constants=True, nans="computed", facts=SUMS):
    """Compute dot products of windows of `lhs` and slices of `rhs` (spec, "convolution").

    The element type of the result may be wider than that of the operands; then the sums have the wider type. Window
    attributes default to stride 1, dilation 1, no padding and no reversal. `precision_config` is ignored: results are
    always as accurate as HIGHEST.
    """

    lhs = In(tensor | per_tensor_quantized)  # I1
    rhs = In(tensor | quantized_tensor)  # I2
    window_strides = Attr(Dims, default=None)  # I3
    padding = Attr(Matrix, default=None)  # I4
    lhs_dilation = Attr(Dims, default=None)  # I5
    rhs_dilation = Attr(Dims, default=None)  # I6
    window_reversal = Attr(Flags, default=None)  # I7
    input_batch_dimension = Attr(Int)  # I8
    input_feature_dimension = Attr(Int)  # I9
    input_spatial_dimensions = Attr(Dims)  # I10
    kernel_input_feature_dimension = Attr(Int)  # I11
    kernel_output_feature_dimension = Attr(Int)  # I12
    kernel_spatial_dimensions = Attr(Dims)  # I13
    output_batch_dimension = Attr(Int)  # I14
    output_feature_dimension = Attr(Int)  # I15
    output_spatial_dimensions = Attr(Dims)  # I16
    feature_group_count = Attr(Int)  # I17
    batch_group_count = Attr(Int)  # I18
    precision_config = Attr(PrecisionConfig, default=())  # I19
    result = Out(tensor | quantized_tensor)

    dimension_numbers = Group("stablehlo.conv", as_type=ConvolutionDimensions)  # I8-I16

    syntax = (
        "( operands ) dim_numbers =",
        DimensionsForm(),
        ", window = {",
        WindowForm(),
        "} attr-dict : functional_type",
    )

    @staticmethod
    def infer(
        lhs: TensorType,
        rhs: TensorType,
        window_strides: Dims | None,
        padding: Matrix | None,
        lhs_dilation: Dims | None,
        rhs_dilation: Dims | None,
        dimension_numbers: ConvolutionDimensions,
        batch_group_count: Int,
    ) -> TensorType:
        numbers, N = dimension_numbers, rank(lhs)
        sizes = {
            numbers.output_batch_dimension: dim(lhs, numbers.input_batch_dimension) // batch_group_count,
            numbers.output_feature_dimension: dim(rhs, numbers.kernel_output_feature_dimension),
        }
        counts = map(
            num_windows,
            dims(lhs, numbers.input_spatial_dimensions),
            dims(rhs, numbers.kernel_spatial_dimensions),
            padding or no_padding(N - 2),
            *ones(N - 2, window_strides, lhs_dilation, rhs_dilation),
        )
        sizes |= zip(numbers.output_spatial_dimensions, counts)
        return make_tensor_type([sizes[d] for d in range(N)], element_type(lhs))

    @staticmethod
    def constraints(
        C: Checker,
        infer: Callable[[], TensorType],
        lhs: TensorType,
        rhs: TensorType,
        window_strides: Dims | None,
        padding: Matrix | None,
        lhs_dilation: Dims | None,
        rhs_dilation: Dims | None,
        window_reversal: Flags | None,
        input_batch_dimension: Int,
        input_feature_dimension: Int,
        input_spatial_dimensions: Dims,
        kernel_input_feature_dimension: Int,
        kernel_output_feature_dimension: Int,
        kernel_spatial_dimensions: Dims,
        output_batch_dimension: Int,
        output_feature_dimension: Int,
        output_spatial_dimensions: Dims,
        feature_group_count: Int,
        batch_group_count: Int,
        precision_config: PrecisionConfig,
        result: TensorType,
    ) -> None:
        N = rank(lhs)
        C(1, N == rank(rhs) and 2 <= N)
        window_strides, lhs_dilation, rhs_dilation = ones(N - 2, window_strides, lhs_dilation, rhs_dilation)
        padding = no_padding(N - 2) if padding is None else padding
        C(2, size(window_strides) == N - 2)
        C(3, all(0 < stride for stride in window_strides))
        C(4, size(padding) == N - 2 and all(size(pair) == 2 for pair in padding))
        C(5, size(lhs_dilation) == N - 2)
        C(6, all(0 < dilation for dilation in lhs_dilation))
        C(7, size(rhs_dilation) == N - 2)
        C(8, all(0 < dilation for dilation in rhs_dilation))
        C(9, not window_reversal or size(window_reversal) == N - 2)
        C(12, size(input_spatial_dimensions) == N - 2)
        input_dimensions = (input_batch_dimension, *input_spatial_dimensions, input_feature_dimension)
        C(13, is_unique(input_dimensions) and in_range(input_dimensions, N))
        C(17, size(kernel_spatial_dimensions) == N - 2)
        kernel_dimensions = (
            *kernel_spatial_dimensions, kernel_input_feature_dimension, kernel_output_feature_dimension,
        )  # fmt: skip
        C(18, is_unique(kernel_dimensions) and in_range(kernel_dimensions, N))
        C(19, size(output_spatial_dimensions) == N - 2)
        output_dimensions = (output_batch_dimension, *output_spatial_dimensions, output_feature_dimension)
        C(20, is_unique(output_dimensions) and in_range(output_dimensions, N))
        C(21, 0 < feature_group_count)
        C(22, 0 < batch_group_count)
        C(23, feature_group_count == 1 or batch_group_count == 1)
        C(24, size(precision_config) <= 2)  # it may be left out, or for both operands
        C(10, dim(lhs, input_batch_dimension) % batch_group_count == 0)
        C(11, dim(lhs, input_feature_dimension) % feature_group_count == 0)
        C(14, dim(rhs, kernel_input_feature_dimension) == dim(lhs, input_feature_dimension) // feature_group_count)
        C(15, dim(rhs, kernel_output_feature_dimension) % batch_group_count == 0)
        C(16, dim(rhs, kernel_output_feature_dimension) % feature_group_count == 0)
        C(26, rank(result) == N)
        C(25, shape(result) == shape(infer()))
        if not any(map(is_quantized, (lhs, rhs, result))):
            # The spec asks for one element type; its own tests, and exporters, have sums of i8 products in i32.
            C(27, element_type(lhs) == element_type(rhs))
            C(27, is_promotable(lhs, result) or (is_integer(lhs) and is_float(result)))
            return
        C(28, is_quantized(lhs) == is_quantized(result) and is_quantized(rhs))
        if is_per_axis_quantized(rhs):
            C(29, quantization_dimension(rhs) == kernel_output_feature_dimension)
        if is_per_axis_quantized(result):
            C(30, quantization_dimension(result) == output_feature_dimension)
        if is_quantized(lhs):
            C(31, storage_type(lhs) == storage_type(rhs))
            C(32, expressed_type(lhs) == expressed_type(rhs) == expressed_type(result))
            C(33, is_per_tensor_quantized(result) or is_per_axis_quantized(rhs))
        else:
            C(34, element_type(lhs) == expressed_type(rhs) == element_type(result))

    @staticmethod
    def plan(
        site: PlanSite,
        mode: Mode,
        lhs: TensorType,
        rhs: TensorType,
        window_strides: Dims | None,
        padding: Matrix | None,
        lhs_dilation: Dims | None,
        rhs_dilation: Dims | None,
        window_reversal: Flags | None,
        dimension_numbers: ConvolutionDimensions,
        feature_group_count: Int,
        batch_group_count: Int,
        result: TensorType,
    ) -> Run:
        """Plan the sum of products for each element of the result: see `semantics.convolution.convolution`.

        The spec reverses the windows of lhs; here rhs is reversed instead, which pairs the same elements. With groups,
        the batch or the input features of lhs and the output features of rhs are split, and each group of lhs is
        multiplied with its group of rhs only.

        All windows of lhs are one strided view, with axes for the batch, the output_spatial_index, the window and the
        input features. It is multiplied with rhs as matrices, or elementwise where there are few products or thin
        groups (numerics/window_views.py, numerics/window_products.py). A constant rhs is prepared at planning.
        """
        numbers, n = dimension_numbers, rank(lhs) - 2
        each = zip(
            dims(lhs, numbers.input_spatial_dimensions),
            dims(result, numbers.output_spatial_dimensions),
            dims(rhs, numbers.kernel_spatial_dimensions),
            [low for low, _ in padding or no_padding(n)],
            *ones(n, window_strides, rhs_dilation, lhs_dilation),
        )
        groups = max(feature_group_count, batch_group_count)
        orders = [tuple(map(d.index, range(rank(lhs)))) for d in numbers.in_canonical_order]
        sizes = window_views.Convolution(
            tuple(Window(*window) for window in each),
            batch=dim(result, numbers.output_batch_dimension),
            features=dim(rhs, numbers.kernel_input_feature_dimension),
            outputs=dim(rhs, numbers.kernel_output_feature_dimension) // groups,
            groups=groups,
            grouped=BATCH if batch_group_count > 1 else FEATURE,
            lhs_order=orders[0],
            rhs_order=orders[1],
            result_order=orders[2],
        )
        lhs_dtype, rhs_dtype, dtype = (numpy_dtype(element_type(x)) for x in (lhs, rhs, result))
        if 0 in shape(result) or sizes.terms == 0:
            return lambda lhs, rhs: np.zeros(shape(result), dtype)
        spatial_dims = dimension_numbers.kernel_spatial_dimensions
        reversed_dims = tuple(d for d, flag in zip(spatial_dims, window_reversal or ()) if flag)
        strategy = window_products.convolution(sizes, (lhs_dtype, rhs_dtype, dtype), mode.reproducible)
        kernels = 2 * prod(sizes.rhs_sizes) * strategy.arithmetic.dtype.itemsize  # before and after conversion
        run = multiplication(strategy, reversed_dims, site.constants.get("rhs"))
        return Kernel(run, temporaries=kernels + strategy.temporaries)


def ones(n: int, *attributes: Dims | None) -> tuple[Dims, ...]:
    """Return attributes of `n` spatial dimensions, by default ones."""
    return tuple(attribute or (1,) * n for attribute in attributes)


def no_padding(n: int) -> Matrix:
    """Return a padding of zero for `n` spatial dimensions."""
    return ((0, 0),) * n


def multiplication(
    strategy: window_products.ConvolutionStrategy, reversed_dims: Dims, constant: Array | None
) -> Callable[[Array, Array], Array]:
    """Return a function of the operands; a constant `rhs` is prepared once, now."""
    load, (prepare_kernels, multiply) = strategy.arithmetic.load_rhs, strategy.plan()

    def prepare(rhs: Array) -> object:
        return prepare_kernels(load(np.flip(rhs, reversed_dims) if reversed_dims else rhs))

    if constant is not None and constant.size * 4 <= PREPARED_BYTES:
        keep(constant.size * 4)
        prepared = prepare(constant)
        return lambda lhs, rhs: multiply(lhs, prepared)
    return lambda lhs, rhs: multiply(lhs, prepare(rhs))
