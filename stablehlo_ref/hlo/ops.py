"""What each HLO op is in StableHLO: a table of ops that differ in name only, and a function for each other.

A converter takes the body that it adds to, the instruction, and the values of its operands, and returns its value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from itertools import product
from math import prod
from typing import TypeVar

import numpy as np

from stablehlo_ref.diagnostics import Location, MalformedError, Source, UnsupportedError
from stablehlo_ref.hlo.build import Body, Converter, Tree, flat, flat_shapes, read, types_of
from stablehlo_ref.hlo.literals import parse_literal
from stablehlo_ref.hlo.text import Instruction, Shape, ShapeTree
from stablehlo_ref.ir.attributes import Attribute, DenseElements, IntegerAttribute, UNIT
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import FLOATS, BooleanType, ComplexType, FloatType, IntegerType, TensorType, Type
from stablehlo_ref.ir.types import integer_type, tensor_type
from stablehlo_ref.numerics.dtypes import bit_width, numpy_dtype
from stablehlo_ref.ops.comparison import ComparisonDirection, ComparisonType
from stablehlo_ref.ops.dot_general import Precision
from stablehlo_ref.ops.fft import FftType
from stablehlo_ref.ops.linear_algebra import Transpose
from stablehlo_ref.ops.random import RngAlgorithm, RngDistribution
from stablehlo_ref.syntax.literals import LiteralError
from stablehlo_ref.syntax.parser import parse_attribute

E = TypeVar("E", bound=Enum)
MAX_IDS = 1 << 20  # processes in groups that are written as `[2,4]<=[8]`

# Ops without attributes that mean something.
SAME = {
    **{name: f"stablehlo.{name}" for name in (
        "abs", "add", "and", "atan2", "cbrt", "ceil", "clamp", "complex", "convert", "cosine", "divide", "exponential",
        "floor", "imag", "logistic", "maximum", "minimum", "multiply", "negate", "not", "or", "popcnt", "power", "real",
        "remainder", "reshape", "rsqrt", "select", "sign", "sine", "sqrt", "subtract", "tan", "tanh", "xor",
    )},
    **{f"{name}": f"stablehlo.{name.replace('-', '_')}" for name in (
        "bitcast-convert", "count-leading-zeros", "exponential-minus-one", "is-finite", "partition-id", "replica-id",
        "round-nearest-even", "shift-left", "shift-right-arithmetic", "shift-right-logical", "round-nearest-afz",
        "dynamic-update-slice",
    )},
    **{name: f"chlo.{name}" for name in (
        "acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "sinh",
    )},
    "log": "stablehlo.log",
    "log-plus-one": "stablehlo.log_plus_one",
    "opt-barrier": "stablehlo.optimization_barrier",
}  # fmt: skip

CONVERTERS: dict[str, Converter] = {}


def to_module(source: Source) -> Operation:
    """Return the module of StableHLO that an HLO text stands for."""
    return read(source, CONVERTERS)


def _hlo(*opcodes: str) -> Callable[[Converter], Converter]:
    """Return a decorator for the converter of some ops."""

    def register(converter: Converter) -> Converter:
        CONVERTERS.update((opcode, converter) for opcode in opcodes)
        return converter

    return register


@_hlo(*SAME)
def _same(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, SAME[i.opcode], x)


# --- attributes -----------------------------------------------------------------------------------------------------


def _enum(i: Instruction, name: str, kind: type[E], default: str | None = None) -> E:
    """Return the member of an enumeration that an attribute names."""
    text = i.attributes.text(name, default)
    member = text.upper().removeprefix("RNG_")
    if member not in kind.__members__:
        raise i.attributes.error(name, " or ".join(kind.__members__))
    return kind[member]


def _precision(i: Instruction) -> tuple[Precision, ...]:
    words = i.attributes.text("operand_precision", "{default,default}").strip("{}").split(",")
    try:
        return tuple(Precision[word.strip().upper()] for word in words)
    except KeyError:
        raise i.attributes.error("operand_precision", "precisions in braces") from None


def _tensor(i: Instruction, tree: Tree) -> TensorType:
    """Return the type of an operand that must be an array."""
    if isinstance(tree, Value) and isinstance(tree.type, TensorType):
        return tree.type
    raise MalformedError(f"'{i.opcode}' takes an array, got a tuple or a token", i.location)


def _at(i: Instruction, x: Sequence[Tree], index: int) -> Tree:
    """Return an operand; MalformedError if there are too few."""
    if index < len(x):
        return x[index]
    raise MalformedError(f"'{i.opcode}' takes more than {len(x)} operands", i.location)


def _result(i: Instruction) -> TensorType:
    """Return the type of an instruction that must be an array."""
    if isinstance(i.shape, Shape) and isinstance(i.shape.type, TensorType):
        return i.shape.type
    raise UnsupportedError(f"'{i.opcode}' of tuples and tokens is not supported", i.location)


def _window(i: Instruction, rank: int) -> dict[str, tuple[tuple[int, ...], ...]]:
    """Return the fields of `{size=2x2 pad=0_1x0_1}`, each with its numbers per dimension, or defaults."""
    text = i.attributes.text("window", "{}")
    fields = dict(re.findall(r"(\w+)=([\d_x\-]+)", text))
    ones = "x".join(["1"] * rank)
    defaults = {"size": ones, "stride": ones, "lhs_dilate": ones, "rhs_dilate": ones}
    defaults |= {"pad": "x".join(["0_0"] * rank), "rhs_reversal": "x".join(["0"] * rank)}
    if not fields.keys() <= defaults.keys() or not re.fullmatch(r"\{[\w=\-\s]*\}", text):
        raise i.attributes.error("window", "a window")
    found: dict[str, tuple[tuple[int, ...], ...]] = {}
    for name, default in defaults.items():
        numbers = re.findall(r"[^x]+", fields.get(name, default))
        width = 2 if name == "pad" else 1
        if len(numbers) != rank or not all(re.fullmatch(r"-?\d{1,18}(_-?\d{1,18})" + f"{{{width - 1}}}", n) for n in numbers):
            raise i.attributes.error("window", f"numbers for {rank} dimensions as {name}")
        found[name] = tuple(tuple(map(int, n.split("_"))) for n in numbers)
    return found


def _firsts(rows: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    return tuple(row[0] for row in rows)


def _processes(i: Instruction) -> dict[str, object]:
    """Return the members of collective ops that say which processes communicate."""
    members: dict[str, object] = {"replica_groups": _replica_groups(i)}
    if "channel_id" in i.attributes:
        members |= {"channel_id": i.attributes.integer("channel_id"), "channel_type": 1}
    if i.attributes.flag("use_global_device_ids"):
        members["use_global_device_ids"] = True
    return members


def _replica_groups(i: Instruction) -> tuple[tuple[int, ...], ...]:
    """Return groups of ids: `{{0,1},{2,3}}`, or `[2,2]<=[4]`, which counts along the last dimensions first."""
    text = i.attributes.text("replica_groups", "{}")
    match = re.fullmatch(r"\[(\d{1,9}),(\d{1,9})\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", text)
    if match is None:
        groups = i.attributes.matrix("replica_groups", "{}")
        longest = max(map(len, groups), default=0)
        return tuple((*group, *[-1] * (longest - len(group))) for group in groups)
    sizes = tuple(map(int, match[3].split(",")))
    order = tuple(map(int, match[4].split(","))) if match[4] else tuple(range(len(sizes)))
    shape = int(match[1]), int(match[2])
    if prod(sizes) > MAX_IDS or prod(shape) != prod(sizes) or sorted(order) != list(range(len(sizes))):
        raise i.attributes.error("replica_groups", f"groups of at most {MAX_IDS} processes")
    ids = np.arange(prod(sizes)).reshape(sizes).transpose(order).reshape(shape)
    return tuple(map(tuple, ids.tolist()))


# --- values ---------------------------------------------------------------------------------------------------------


@_hlo("constant")
def _constant(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    type = _result(i)
    try:
        array = parse_literal(i.literal.text, type)
    except LiteralError as error:
        raise MalformedError(str(error), Location(i.location.source, i.literal.offset)) from None
    return b.emit(i, "stablehlo.constant", (), value=DenseElements(type, array))


@_hlo("tuple")
def _tuple(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return tuple(x)


@_hlo("get-tuple-element")
def _get_tuple_element(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    index, operand = i.attributes.integer("index"), _at(i, x, 0)
    if isinstance(operand, Value) or not 0 <= index < len(operand):
        raise MalformedError(f"the operand has no element {index}", i.location)
    return operand[index]


@_hlo("copy", "domain", "add-dependency")
def _identity(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    if i.opcode == "domain":
        i.attributes.text("domain", "")
    return _at(i, x, 0)


@_hlo("bitcast")
def _bitcast(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    """Read the bytes of an array, in the order of its layout, as those of another array in the order of its own."""
    operand, target = _tensor(i, _at(i, x, 0)), _result(i)
    value = x[0]
    assert isinstance(value, Value) and isinstance(i.shape, Shape)
    source = b.shapes[i.operands[0].text]
    before, after = source.layout if isinstance(source, Shape) else None, i.shape.layout
    widths = [bit_width(numpy_dtype(type.element_type)) for type in (operand, target)]
    if widths[0] != widths[1] or not operand.is_static or not target.is_static:
        raise UnsupportedError(f"'bitcast' from {operand} to {target} is not supported", i.location)
    if operand == target and _order(before, operand.rank) == _order(after, target.rank):
        return value

    def step(name: str, value: Value, shape: Sequence[int | None], element: Type, **members: object) -> Value:
        type = tensor_type(tuple(shape), element)
        return value if value.type == type and not members else b.add(name, [value], [type], i.location, **members)[0]

    element, shape = operand.element_type, operand.shape
    major = _order(before, operand.rank)
    if major != tuple(range(operand.rank)):
        value = step("stablehlo.transpose", value, [shape[d] for d in major], element, permutation=major)
    major = _order(after, target.rank)
    value = step("stablehlo.reshape", value, [target.shape[d] for d in major], element)
    value = step("stablehlo.bitcast_convert", value, [target.shape[d] for d in major], target.element_type)
    if major != tuple(range(target.rank)):
        inverse = tuple(major.index(d) for d in range(target.rank))
        value = step("stablehlo.transpose", value, target.shape, target.element_type, permutation=inverse)
    value.name = i.name
    return value


def _order(layout: tuple[int, ...] | None, rank: int) -> tuple[int, ...]:
    """Return the dimensions from major to minor."""
    return tuple(range(rank)) if layout is None else tuple(reversed(layout))


# --- elementwise ops with attributes ----------------------------------------------------------------------------------


@_hlo("compare")
def _compare(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    element = _tensor(i, _at(i, x, 0)).element_type
    is_unsigned = isinstance(element, BooleanType) or (isinstance(element, IntegerType) and not element.is_signed)
    default = "UNSIGNED" if is_unsigned else "SIGNED" if isinstance(element, IntegerType) else "FLOAT"
    direction = _enum(i, "direction", ComparisonDirection)
    kind = _enum(i, "type", ComparisonType, default)
    return b.emit(i, "stablehlo.compare", x, comparison_direction=direction, compare_type=kind)


@_hlo("reduce-precision")
def _reduce_precision(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    bits = {name: i.attributes.integer(name) for name in ("exponent_bits", "mantissa_bits")}
    return b.emit(i, "stablehlo.reduce_precision", x, **bits)


@_hlo("map")
def _map(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    dimensions = i.attributes.integers("dimensions")
    return b.emit(i, "stablehlo.map", x, [b.applied(i)], dimensions=dimensions)


# --- data movement ------------------------------------------------------------------------------------------------------


@_hlo("broadcast")
def _broadcast(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    dimensions = i.attributes.integers("dimensions", "{}")
    return b.emit(i, "stablehlo.broadcast_in_dim", x, broadcast_dimensions=dimensions)


@_hlo("transpose")
def _transpose(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, "stablehlo.transpose", x, permutation=i.attributes.integers("dimensions"))


@_hlo("reverse")
def _reverse(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, "stablehlo.reverse", x, dimensions=i.attributes.integers("dimensions"))


@_hlo("concatenate")
def _concatenate(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, "stablehlo.concatenate", x, dimension=_dimension(i))


def _dimension(i: Instruction, default: str | None = None) -> int:
    """Return the only dimension in `dimensions={1}`."""
    dimensions = i.attributes.integers("dimensions", default)
    if len(dimensions) != 1:
        raise i.attributes.error("dimensions", "one dimension")
    return dimensions[0]


@_hlo("iota")
def _iota(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, "stablehlo.iota", x, iota_dimension=i.attributes.integer("iota_dimension"))


@_hlo("slice")
def _slice(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    text = i.attributes.text("slice")
    if not re.fullmatch(r"\{(\s*\[\d{1,18}:\d{1,18}(:\d{1,18})?\]\s*,?)*\s*\}", text):
        raise i.attributes.error("slice", "ranges in brackets")
    ranges = [tuple(map(int, part.split(":"))) for part in re.findall(r"[\d:]+", text)]
    return b.emit(
        i,
        "stablehlo.slice",
        x,
        start_indices=tuple(r[0] for r in ranges),
        limit_indices=tuple(r[1] for r in ranges),
        strides=tuple(r[2] if len(r) == 3 else 1 for r in ranges),
    )


@_hlo("dynamic-slice")
def _dynamic_slice(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, "stablehlo.dynamic_slice", x, slice_sizes=i.attributes.integers("dynamic_slice_sizes"))


@_hlo("pad")
def _pad(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    text = i.attributes.text("padding")
    number = r"-?\d{1,18}"
    if text and not re.fullmatch(f"{number}_{number}(_{number})?(x{number}_{number}(_{number})?)*", text):
        raise i.attributes.error("padding", "numbers such as 0_1x2_0_1")
    rows = [tuple(map(int, part.split("_"))) for part in text.split("x")] if text else []
    return b.emit(
        i,
        "stablehlo.pad",
        x,
        edge_padding_low=tuple(row[0] for row in rows),
        edge_padding_high=tuple(row[1] for row in rows),
        interior_padding=tuple(row[2] if len(row) == 3 else 0 for row in rows),
    )


@_hlo("gather")
def _gather(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    a = i.attributes
    return b.emit(
        i,
        "stablehlo.gather",
        x,
        offset_dims=a.integers("offset_dims"),
        collapsed_slice_dims=a.integers("collapsed_slice_dims"),
        operand_batching_dims=a.integers("operand_batching_dims", "{}"),
        start_indices_batching_dims=a.integers("start_indices_batching_dims", "{}"),
        start_index_map=a.integers("start_index_map"),
        index_vector_dim=a.integer("index_vector_dim"),
        slice_sizes=a.integers("slice_sizes"),
        indices_are_sorted=a.flag("indices_are_sorted"),
    )


@_hlo("scatter")
def _scatter(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    a = i.attributes
    return b.emit(
        i,
        "stablehlo.scatter",
        x,
        [b.applied(i)],
        update_window_dims=a.integers("update_window_dims"),
        inserted_window_dims=a.integers("inserted_window_dims"),
        input_batching_dims=a.integers("input_batching_dims", "{}"),
        scatter_indices_batching_dims=a.integers("scatter_indices_batching_dims", "{}"),
        scatter_dims_to_operand_dims=a.integers("scatter_dims_to_operand_dims"),
        index_vector_dim=a.integer("index_vector_dim"),
        indices_are_sorted=a.flag("indices_are_sorted"),
        unique_indices=a.flag("unique_indices"),
    )


@_hlo("get-dimension-size", "set-dimension-size")
def _dimension_size(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, f"stablehlo.{i.opcode.replace('-', '_')}", x, dimension=_dimension(i))


@_hlo("sort")
def _sort(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    stable = i.attributes.flag("is_stable")
    return b.emit(i, "stablehlo.sort", x, [b.applied(i)], dimension=_dimension(i), is_stable=stable)


@_hlo("topk")
def _top_k(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    if not i.attributes.flag("largest"):
        raise UnsupportedError("'topk' of the smallest elements is not supported", i.location)
    return b.emit(i, "chlo.top_k", x, k=i.attributes.integer("k"))


# --- sums and windows -----------------------------------------------------------------------------------------------------


@_hlo("reduce")
def _reduce(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, "stablehlo.reduce", x, [b.applied(i)], dimensions=i.attributes.integers("dimensions"))


@_hlo("reduce-window")
def _reduce_window(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    window = _window(i, _tensor(i, _at(i, x, 0)).rank)
    return b.emit(
        i,
        "stablehlo.reduce_window",
        x,
        [b.applied(i)],
        window_dimensions=_firsts(window["size"]),
        window_strides=_firsts(window["stride"]),
        base_dilations=_firsts(window["lhs_dilate"]),
        window_dilations=_firsts(window["rhs_dilate"]),
        padding=window["pad"],
    )


@_hlo("select-and-scatter")
def _select_and_scatter(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    window = _window(i, _tensor(i, _at(i, x, 0)).rank)
    return b.emit(
        i,
        "stablehlo.select_and_scatter",
        x,
        [b.applied(i, "select"), b.applied(i, "scatter")],
        window_dimensions=_firsts(window["size"]),
        window_strides=_firsts(window["stride"]),
        padding=window["pad"],
    )


@_hlo("dot")
def _dot(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    a = i.attributes
    return b.emit(
        i,
        "stablehlo.dot_general",
        x,
        lhs_batching_dimensions=a.integers("lhs_batch_dims", "{}"),
        rhs_batching_dimensions=a.integers("rhs_batch_dims", "{}"),
        lhs_contracting_dimensions=a.integers("lhs_contracting_dims", "{}"),
        rhs_contracting_dimensions=a.integers("rhs_contracting_dims", "{}"),
        precision_config=_precision(i),
        **_algorithm(i),
    )


def _algorithm(i: Instruction) -> dict[str, object]:
    """Return the members that `dot_bf16_bf16_f32_x3` stands for."""
    name = i.attributes.text("algorithm", "")
    if not name:
        return {}
    match = re.fullmatch(r"dot_(f16|bf16|tf32|f32|f64)_(f16|bf16|tf32|f32|f64)_(f16|bf16|f32|f64)(?:_x([369]))?", name)
    if match is None:
        raise UnsupportedError(f"the algorithm '{name[:60]}' of 'dot' is not supported", i.attributes.location("algorithm"))
    return {
        "lhs_precision_type": FLOATS[match[1]],
        "rhs_precision_type": FLOATS[match[2]],
        "accumulation_type": FLOATS[match[3]],
        "lhs_component_count": 1,
        "rhs_component_count": 1,
        "num_primitive_operations": int(match[4] or 1),
        "allow_imprecise_accumulation": False,
    }


@_hlo("convolution")
def _convolution(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    labels = re.fullmatch(r"([\dbf]+)_([\dio]+)->([\dbf]+)", i.attributes.text("dim_labels"))
    rank = _tensor(i, _at(i, x, 0)).rank
    spatial = "".join(map(str, range(max(rank - 2, 0))))
    if not labels or rank > 12 or any(
        sorted(part) != sorted(spatial + pair) for part, pair in zip(labels.groups(), ("bf", "io", "bf"))
    ):
        raise i.attributes.error("dim_labels", f"labels of {rank} dimensions such as bf01_oi01->bf01")
    lhs, rhs, result = labels.groups()
    window = _window(i, rank - 2)
    return b.emit(
        i,
        "stablehlo.convolution",
        x,
        window_strides=_firsts(window["stride"]),
        padding=window["pad"],
        lhs_dilation=_firsts(window["lhs_dilate"]),
        rhs_dilation=_firsts(window["rhs_dilate"]),
        window_reversal=tuple(n == 1 for n in _firsts(window["rhs_reversal"])),
        input_batch_dimension=lhs.index("b"),
        input_feature_dimension=lhs.index("f"),
        input_spatial_dimensions=tuple(map(lhs.index, spatial)),
        kernel_input_feature_dimension=rhs.index("i"),
        kernel_output_feature_dimension=rhs.index("o"),
        kernel_spatial_dimensions=tuple(map(rhs.index, spatial)),
        output_batch_dimension=result.index("b"),
        output_feature_dimension=result.index("f"),
        output_spatial_dimensions=tuple(map(result.index, spatial)),
        feature_group_count=i.attributes.integer("feature_group_count", 1),
        batch_group_count=i.attributes.integer("batch_group_count", 1),
        precision_config=_precision(i),
    )


@_hlo("batch-norm-training", "batch-norm-inference", "batch-norm-grad")
def _batch_norm(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    members = {"epsilon": i.attributes.real("epsilon"), "feature_index": i.attributes.integer("feature_index")}
    return b.emit(i, f"stablehlo.{i.opcode.replace('-', '_')}", x, **members)


@_hlo("cholesky")
def _cholesky(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, "stablehlo.cholesky", x, lower=i.attributes.flag("lower"))


@_hlo("triangular-solve")
def _triangular_solve(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    flags = {name: i.attributes.flag(name) for name in ("left_side", "lower", "unit_diagonal")}
    return b.emit(i, "stablehlo.triangular_solve", x, transpose_a=_enum(i, "transpose_a", Transpose, "NO_TRANSPOSE"), **flags)


@_hlo("fft")
def _fft(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    length = i.attributes.integers("fft_length")
    return b.emit(i, "stablehlo.fft", x, fft_type=_enum(i, "fft_type", FftType), fft_length=length)


@_hlo("rng")
def _rng(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    type = tensor_type((_result(i).rank,), integer_type(64))
    sizes = np.array(_result(i).shape, np.int64)
    sizes.setflags(write=False)
    shape = b.add("stablehlo.constant", (), [type], i.location, value=DenseElements(type, sizes))[0]
    distribution = _enum(i, "distribution", RngDistribution)
    return b.emit(i, "stablehlo.rng", [*x, shape], rng_distribution=distribution)


@_hlo("rng-bit-generator")
def _rng_bit_generator(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, "stablehlo.rng_bit_generator", x, rng_algorithm=_enum(i, "algorithm", RngAlgorithm))


# --- control flow ---------------------------------------------------------------------------------------------------------


@_hlo("call", "fusion")
def _call(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return b.call(i, "to_apply" if i.opcode == "call" else "calls", x)


@_hlo("while")
def _while(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, "stablehlo.while", x, [b.applied(i, "condition"), b.applied(i, "body")])


@_hlo("conditional")
def _conditional(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    names = ("true_computation", "false_computation")
    if "branch_computations" in i.attributes:
        count = len(i.attributes.names("branch_computations"))
        computations = [b.computation_named(i, "branch_computations", index) for index in range(count)]
    else:
        computations = [b.computation_named(i, name) for name in names]
    if len(x) != len(computations) + 1:
        message = f"expected an operand for each of {len(computations)} branches, got {len(x) - 1}"
        raise MalformedError(message, i.location)
    regions = [b.branch(i, computation, operand) for computation, operand in zip(computations, x[1:])]
    is_boolean = isinstance(_tensor(i, x[0]).element_type, BooleanType)
    return b.emit(i, "stablehlo.if" if is_boolean else "stablehlo.case", x[:1], regions)


@_hlo("custom-call")
def _custom_call(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    a = i.attributes
    versions = ("API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED")
    version = a.text("api_version", versions[0])
    if version not in (*versions, "API_VERSION_TYPED_FFI"):
        raise a.error("api_version", "a version of the interface")
    number = versions.index(version) + 1 if version in versions else 4
    attributes: dict[str, Attribute] = {
        "call_target_name": a.string("custom_call_target"),
        "api_version": IntegerAttribute(number, integer_type(32)),
        "has_side_effect": a.flag("custom_call_has_side_effect"),
    }
    config = a.text("backend_config", "")
    if config and number == 4:
        attributes["mhlo.backend_config"] = parse_attribute(Source(config, i.location.source.filename))
    elif config:
        attributes["backend_config"] = a.string("backend_config") if config[0] == '"' else config
    members: dict[str, object] = {}
    if layouts := re.findall(r"\w+\[[^\]]*\](?:\{([\d,]*)[^}]*\})?", a.text("operand_layout_constraints", "")):
        members["operand_layouts"] = tuple(tuple(map(int, filter(None, text.split(",")))) for text in layouts)
        members["result_layouts"] = tuple(shape.layout or () for shape in flat_shapes(i.shape))
    if "called_computations" in a:
        count = len(a.names("called_computations"))
        called = [b.computation_named(i, "called_computations", index) for index in range(count)]
        members["called_computations"] = tuple(map(b.builder.symbol, called))
    return b.emit(i, "stablehlo.custom_call", x, attributes=attributes, **members)


# --- communication --------------------------------------------------------------------------------------------------------


@_hlo("all-reduce")
def _all_reduce(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, "stablehlo.all_reduce", x, [b.applied(i)], **_processes(i))


@_hlo("reduce-scatter")
def _reduce_scatter(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, "stablehlo.reduce_scatter", x, [b.applied(i)], scatter_dimension=_dimension(i), **_processes(i))


@_hlo("all-gather")
def _all_gather(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, "stablehlo.all_gather", x, all_gather_dim=_dimension(i), **_processes(i))


@_hlo("all-to-all")
def _all_to_all(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    if "dimensions" not in i.attributes:
        raise UnsupportedError("'all-to-all' without 'dimensions', of tuples, is not supported", i.location)
    dimension, members = _dimension(i), _processes(i)
    groups = _replica_groups(i)
    count = len(groups[0]) if groups else 1
    members |= {"split_dimension": dimension, "concat_dimension": dimension, "split_count": count}
    return b.emit(i, "stablehlo.all_to_all", x, **members)


@_hlo("collective-broadcast")
def _collective_broadcast(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, "stablehlo.collective_broadcast", x, **_processes(i))


@_hlo("collective-permute")
def _collective_permute(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    members: dict[str, object] = {"source_target_pairs": i.attributes.matrix("source_target_pairs")}
    if "channel_id" in i.attributes:
        members |= {"channel_id": i.attributes.integer("channel_id"), "channel_type": 1}
    return b.emit(i, "stablehlo.collective_permute", x, **members)


@_hlo("after-all")
def _after_all(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, "stablehlo.after_all" if x else "stablehlo.create_token", x)


@_hlo("infeed")
def _infeed(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, "stablehlo.infeed", x, infeed_config=i.attributes.string("infeed_config", ""))


@_hlo("outfeed")
def _outfeed(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    i.attributes.text("outfeed_shape", "")
    return b.emit(i, "stablehlo.outfeed", x, outfeed_config=i.attributes.string("outfeed_config", ""))


# --- asynchronous ops, which are done when they start -----------------------------------------------------------------------

STARTS = ("all-gather", "all-reduce", "call", "collective-permute", "copy", "custom-call", "fusion", "reduce-scatter")


@_hlo("async-start", *(f"{name}-start" for name in STARTS))
def _start(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    """Return the operands and the result, as a pair."""
    if i.opcode == "all-reduce-start":
        return tuple(x), _all_reduce(b, i, x)
    index = 0 if i.opcode == "copy-start" else 1
    if isinstance(i.shape, Shape) or len(i.shape) < 2:
        raise MalformedError(f"expected a tuple of operands and results as the shape of '{i.opcode}'", i.location)
    started = replace(i, shape=i.shape[index])
    if i.opcode == "async-start":
        return tuple(x), b.call(started, "calls", x)
    started = replace(started, opcode=i.opcode.removesuffix("-start"))
    return tuple(x), CONVERTERS[started.opcode](b, started, x)


@_hlo("async-update")
def _update(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    return _at(i, x, 0)


@_hlo("async-done", *(f"{name}-done" for name in STARTS))
def _done(b: Body, i: Instruction, x: list[Tree]) -> Tree:
    started = _at(i, x, 0)
    if isinstance(started, Value) or len(started) != 2:
        raise MalformedError(f"expected an operand that was started, as of '{i.opcode}'", i.location)
    return started[1]
