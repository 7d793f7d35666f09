"""Replace quantized tensors by tensors of stored integers, and ops on them by arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from stablehlo_ref.define.bound import bind_types, is_on_expressed
from stablehlo_ref.define.definition import OpDefinition, definition_of
from stablehlo_ref.define.spec import expressed, is_quantized, with_element_type
from stablehlo_ref.diagnostics import Diagnostic, UnsupportedError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.ir.types import IntegerType, QuantizedType, TensorType, Type, tensor_type
from stablehlo_ref.passes.element_types import replace_element_types
from stablehlo_ref.passes.emit import (
    Emitter,
    Expr,
    cannot_legalize,
    clamp,
    convert,
    round_nearest_even,
    scalar_constant,
    shape_vector,
    size_of,
)
from stablehlo_ref.passes.quantized_op_to_qdq import is_legalized_on_floats
from stablehlo_ref.passes.registry import PassOption, flag, transformation

CHECKS = "check."  # targets of custom calls that compare the stored integers
I32, I64, U32 = IntegerType(32), IntegerType(64), IntegerType(32, "u")
NEGLIGIBLE = 0.001  # combined scales so near to 1, and ratios so near to each other, are the same, as in MLIR


class QuantizedOp(NamedTuple):
    """An op that computes on numbers that quantized tensors express, and the types that it has in the program."""

    op: Operation
    operands: Sequence[Type]
    results: Sequence[Type]

    @property
    def elements(self) -> list[QuantizedType | None]:
        """The quantized element types of the operands and the results."""
        return list(map(_quantized_element, (*self.operands, *self.results)))


@transformation(
    "stablehlo-legalize-quant-to-math",
    "replace quantized tensors by stored integers, and ops on them by arithmetic",
    PassOption("exact", flag, "compute all ops on floats, as the spec does, also those that MLIR's pass refuses"),
)
def legalize_quant_to_math(module: Operation, exact: bool = False) -> None:
    """Replace quantized tensors by tensors of the integers that they store.

    The spec defines most ops on quantized tensors by what they compute on the numbers that these express. Such an op
    becomes the op on floats, between `(stored - zero_point) * scale` for each quantized operand and
    `clamp(round(x / scale + zero_point))` for each quantized result, in ops of CHLO, which broadcast. Ops that move
    elements stay, on other types.

    As in MLIR, sums, products of matrices and convolutions are computed in integers, and `uniform_quantize` of
    quantized tensors by one multiplication. They differ from the spec: by up to 2 of the stored integers, as terms are
    rounded one by one, those of products toward zero; by 0.1 %, where the scales of a product nearly cancel; and where
    sums of 32 bits overflow. With `exact` they become ops on floats, too, and results are the same bit for bit.

    UnsupportedError for collectives, for custom calls, and for reductions that promote quantized elements; without
    `exact` also for the other ops that MLIR's pass refuses: loops, sorts, scatters and reductions among them.
    """
    found = list(_quantized(module, exact))
    replace_element_types(module, _storage)
    with Rewriter(module) as rewriter:
        for quantized in found:
            _legalize(Emitter(rewriter, quantized.op), quantized, exact)


def _storage(type: Type) -> Type:
    return type.storage_type if isinstance(type, QuantizedType) else type


def _quantized_element(type: Type) -> QuantizedType | None:
    element = type.element_type if isinstance(type, TensorType) else type
    return element if isinstance(element, QuantizedType) else None


def _quantized(module: Operation, exact: bool) -> Iterator[QuantizedOp]:
    """Yield the ops to replace; UnsupportedError for one that has no meaning on stored integers."""
    for op in module.walk():
        if not any(map(is_quantized, (*op.operand_types, *op.result_types))):
            continue
        definition = definition_of(op)
        if definition is None:
            raise cannot_legalize(op)
        may_stay = _is_legalizable(op, definition) if exact else _is_legalizable_in_mlir(op, definition)
        if not may_stay:
            raise cannot_legalize(op)
        computes = op.name in CONVERSIONS or is_on_expressed(bind_types(op, definition))
        if computes and (exact or not _is_same_on_integers(op)):
            yield QuantizedOp(op, op.operand_types, op.result_types)


def _is_legalizable(op: Operation, definition: OpDefinition) -> bool:
    if op.name == "stablehlo.custom_call":
        return str(op.properties["call_target_name"]).startswith(CHECKS)
    if definition.traits.communicates:
        return False
    arguments = [argument.type for argument in op.block_arguments]
    return not arguments or _quantized_elements(arguments) <= _quantized_elements(op.operand_types)


def _is_legalizable_in_mlir(op: Operation, definition: OpDefinition) -> bool:
    if op.name == "stablehlo.uniform_quantize":
        axes = {
            element.quantization_dimension for element in _quantized_elements((*op.operand_types, *op.result_types))
        }
        if len(axes - {None}) > 1:
            reason = Diagnostic("Cannot requantize while changing quantization_axis", op.location)
            raise UnsupportedError([reason, *cannot_legalize(op).diagnostics])
    is_kept = op.name in (*MOVES, *CONVERSIONS) or not op.name.startswith("stablehlo.")
    return is_kept or is_legalized_on_floats(op, definition)


def _is_same_on_integers(op: Operation) -> bool:
    """Return whether an op chooses among numbers that are in the order of the integers that are stored for them."""
    elements = set(map(_quantized_element, (*op.operand_types[-2:], *op.result_types)))
    return op.name in CHOICES and len(elements) == 1


def _quantized_elements(types: Sequence[Type]) -> set[QuantizedType]:
    return {element for element in map(_quantized_element, types) if element is not None}


# --- ops ------------------------------------------------------------------------------------------------------------


def _legalize(emit: Emitter, quantized: QuantizedOp, exact: bool) -> None:
    op = quantized.op
    stored = [Expr(emit, operand) for operand in op.operands]
    is_wide = any(element is not None and element.storage_type == U32 for element in quantized.elements)
    in_integers = None if exact or is_wide or op.name not in INTEGERS else INTEGERS[op.name](quantized, *stored)
    if in_integers is not None:
        emit.rewriter.replace(op, [in_integers.value])
        return
    operands = [dequantize(x, type, exact) for x, type in zip(stored, quantized.operands)]
    values = operands if op.name in CONVERSIONS else _on_expressed(quantized, operands)
    emit.rewriter.replace(op, [quantize(x, type).value for x, type in zip(values, quantized.results)])


def _on_expressed(quantized: QuantizedOp, operands: Sequence[Expr]) -> list[Expr]:
    """Emit the op on floats."""
    emit, types = operands[0].emit, list(map(expressed, quantized.results))
    return [Expr(emit, x) for x in emit.copy(quantized.op, [operand.value for operand in operands], types)]


def dequantize(x: Expr, type: Type, exact: bool = True) -> Expr:
    """Return the numbers that the stored integers `x` of a quantized type express; `x` itself for any other type.

    The difference is computed in integers, of 64 bits if it must be exact for all that 32 bits can store.
    """
    element = _quantized_element(type)
    if element is None:
        return x
    wide = I64 if exact and element.storage_type.width > 16 else I32
    scales, zero_points = _scales(x.emit, element), _parameters(x.emit, element, wide, element.zero_points)
    difference = _broadcast("subtract", convert(x, wide), zero_points, element)
    return _broadcast("multiply", convert(difference, element.expressed_type), scales, element)


def quantize(x: Expr, type: Type) -> Expr:
    """Return the stored integers of a quantized type for the numbers `x`; `x` itself for any other type."""
    element = _quantized_element(type)
    if element is None:
        return x
    number = element.expressed_type
    scales, zero_points = _scales(x.emit, element), _parameters(x.emit, element, number, element.zero_points)
    low, high = _limits(x.emit, element, number)
    quotient = _broadcast("divide", x, scales, element)
    stored = clamp(low, _broadcast("add", quotient, zero_points, element), high)
    return convert(round_nearest_even(stored), element.storage_type)


def _scales(emit: Emitter, element: QuantizedType) -> Expr:
    return _parameters(emit, element, element.expressed_type, element.scales)


def _limits(emit: Emitter, element: QuantizedType, type: Type) -> tuple[Expr, Expr]:
    return scalar_constant(emit, type, element.storage_min), scalar_constant(emit, type, element.storage_max)


def _parameters(emit: Emitter, element: QuantizedType, type: Type, values: Sequence[float]) -> Expr:
    """Return a constant with one number, or with one for each slice along the quantization dimension."""
    is_per_tensor = element.quantization_dimension is None
    shape = () if is_per_tensor else (len(values),)
    return Expr(emit, emit.constant(tensor_type(shape, type), values[0] if is_per_tensor else values))


def _broadcast(name: str, x: Expr, parameters: Expr, element: QuantizedType) -> Expr:
    axis = element.quantization_dimension
    return _combine(name, x, parameters, None if axis is None else (axis,))


def _combine(name: str, x: Expr, y: Expr, dimensions: Sequence[int] | None = None) -> Expr:
    type = max(x.type, y.type, key=lambda t: t.rank)
    value = x.emit.value(f"chlo.broadcast_{name}", x.value, y.value, type=type, broadcast_dimensions=dimensions)
    return Expr(x.emit, value)


# --- in integers, as in MLIR ----------------------------------------------------------------------------------------


def _uniform_quantize(quantized: QuantizedOp, x: Expr) -> Expr | None:
    source, target = quantized.elements
    return None if source is None or target is None else _requantize(x, source, target, target.storage_type)


def _requantize(x: Expr, source: QuantizedType, target: QuantizedType, stored: IntegerType) -> Expr:
    """Return what `target` stores for the numbers that `source` does, as other integers, by one multiplication."""
    if source == target:
        return convert(x, stored)
    axis = target if target.quantization_dimension is not None else source
    count = len(axis.scales)
    sources, targets = _pairs(source, count), _pairs(target, count)
    scales = [scale / other for (scale, _), (other, _) in zip(sources, targets)]
    offsets = [z - y * scale for (_, y), (_, z), scale in zip(sources, targets, scales)]
    number = target.expressed_type
    x = convert(x, number)
    x = _broadcast("multiply", x, _parameters(x.emit, axis, number, scales), axis)
    if any(offsets):
        x = _broadcast("add", x, _parameters(x.emit, axis, number, offsets), axis)
    if stored.width < 32:
        low, high = _limits(x.emit, target, number)
        x = clamp(low, x, high)
    return convert(round_nearest_even(x), stored)


def _pairs(element: QuantizedType, count: int) -> list[tuple[float, int]]:
    """Return the scale and the zero point of each slice."""
    pairs = list(zip(element.scales, element.zero_points))
    return pairs if len(pairs) == count else pairs * count


def _add(quantized: QuantizedOp, lhs: Expr, rhs: Expr) -> Expr | None:
    """Return `x + y - zero_point`, of integers that all stand for the numbers that those of the result do."""
    left, right, result = quantized.elements
    if left is None or right is None or result is None:
        return None
    if any(element.quantization_dimension is not None for element in (left, right, result)):
        if not left == right == result or result.storage_type != I32:
            return None
        total = lhs + rhs
        if not any(result.zero_points):
            return total
        return _broadcast("subtract", total, _parameters(lhs.emit, result, I32, result.zero_points), result)
    lhs, rhs = _requantize(lhs, left, result, I32), _requantize(rhs, right, result, I32)
    zero_point = scalar_constant(lhs.emit, I32, result.zero_points[0])
    return _narrowed(_combine("subtract", _combine("add", lhs, rhs), zero_point), result)


def _narrowed(x: Expr, element: QuantizedType) -> Expr:
    """Return integers of 32 bits as those that a type stores, clamped to these."""
    if element.storage_type == I32:
        return x
    low, high = _limits(x.emit, element, I32)
    return convert(clamp(low, x, high), element.storage_type)


class Axes(NamedTuple):
    """The dimensions of the operands of a product that are summed over, and where the others are in the result."""

    summed: Sequence[int]
    of_result: Sequence[int]


def _product(quantized: QuantizedOp, lhs: Expr, rhs: Expr) -> Expr | None:
    """Return a product of matrices, or a convolution, of stored integers, from which that of zero points is taken.

    Where only the right operand is quantized the product is one of floats.
    """
    left, right, result = quantized.elements
    axes = (_convolution_axes if quantized.op.name == "stablehlo.convolution" else _dot_axes)(quantized)
    if left is None and right is not None and result is None:
        (stored,) = rhs.emit.operation("stablehlo.optimization_barrier", (rhs.value,), (rhs.type,)).results
        return _on_expressed(quantized, [lhs, _in_floats(Expr(rhs.emit, stored), right)])[0]
    if left is None or right is None or result is None or axes is None or not _is_scaled_as_one(left, right, result):
        return None
    emit, lhs = lhs.emit, _padded(quantized.op, lhs, left)
    product = _integer_product(quantized, lhs, rhs)
    zero_points = left.zero_points[0], right.zero_points[0] if right.quantization_dimension is None else 0
    offset = _offset(product, (lhs, rhs), zero_points, axes)
    scale = left.scales[0] * right.scales[0] / result.scales[0]
    if abs(scale - 1) > NEGLIGIBLE:
        factor = scalar_constant(emit, result.expressed_type, scale)
        product = _scaled(product, factor)
        offset = None if offset is None else _scaled(offset, factor)
    rest = scalar_constant(emit, I32, result.zero_points[0] if result.quantization_dimension is None else 0)
    total = _combine("add", product, rest if offset is None else _combine("subtract", rest, offset))
    return convert(total, I32) if result.storage_type == I32 else _narrowed(total, result)


def _in_floats(x: Expr, element: QuantizedType) -> Expr:
    number = element.expressed_type
    scales, zero_points = _scales(x.emit, element), _parameters(x.emit, element, number, element.zero_points)
    x = convert(x, number)
    if any(element.zero_points):
        x = _broadcast("subtract", x, zero_points, element)
    return _broadcast("multiply", x, scales, element)


def _scaled(x: Expr, factor: Expr) -> Expr:
    return convert(_combine("multiply", convert(x, factor.element), factor), I32)


def _is_scaled_as_one(left: QuantizedType, right: QuantizedType, result: QuantizedType) -> bool:
    """Return whether one factor scales all sums of products, which need only the zero points of `left`."""
    per_axis = [element.quantization_dimension is not None for element in (left, right, result)]
    ratios = [scale / other for (scale, _), (other, _) in zip(_pairs(result, 1), _pairs(right, 1))]
    is_even = all(abs(ratio / ratios[0] - 1) <= NEGLIGIBLE for ratio in ratios)
    return per_axis == [False] * 3 or (
        per_axis == [False, True, True] and is_even and not any((*right.zero_points, *result.zero_points))
    )


def _dot_axes(quantized: QuantizedOp) -> tuple[Axes, Axes] | None:
    left, right = (type for type in quantized.operands if isinstance(type, TensorType))
    batching = [quantized.op.properties.get(f"{side}_batching_dimensions", ()) for side in ("lhs", "rhs")]
    summed = [quantized.op.properties.get(f"{side}_contracting_dimensions", ()) for side in ("lhs", "rhs")]
    if quantized.op.name == "stablehlo.dot":
        if left.rank != 2 or right.rank != 2:
            return None
        summed = [(1,), (0,)]
    starts = len(batching[0]), left.rank - len(summed[0])
    lhs, rhs = (
        Axes(s, _places(type.rank, s, b, start)) for type, s, b, start in zip((left, right), summed, batching, starts)
    )
    return lhs, rhs


def _places(rank: int, summed: Sequence[int], batching: Sequence[int], start: int) -> list[int]:
    """Return the dimensions of the result that those of an operand are which are not summed over."""
    kept = [axis for axis in range(rank) if axis not in summed]
    free = [axis for axis in kept if axis not in batching]
    return [batching.index(axis) if axis in batching else start + free.index(axis) for axis in kept]


def _convolution_axes(quantized: QuantizedOp) -> tuple[Axes, Axes] | None:
    """Return the axes of a convolution that MLIR's pass computes in integers: in one of its usual layouts."""
    op, right = quantized.op, quantized.elements[1]
    spatial, kernel = op.properties["input_spatial_dimensions"], op.properties["kernel_spatial_dimensions"]
    names = ("input_batch", "input_feature", "kernel_input_feature", "kernel_output_feature", "output_batch")
    numbers = tuple(op.properties[f"{name}_dimension"] for name in (*names, "output_feature"))
    count = len(spatial)
    layouts = {(0, count + 1, count, count + 1, 0, count + 1): (1, 0)}
    if count == 2:
        layouts[0, 1, 1, 0, 0, 1] = 2, 2
    if count not in (2, 3) or numbers not in layouts or right is None or any(right.zero_points):
        return None
    places = tuple(tuple(range(start, start + count)) for start in layouts[numbers])
    is_in_layout = (spatial, kernel) == places and op.properties["output_spatial_dimensions"] == spatial
    is_dilated = any(n != 1 for n in op.properties.get("lhs_dilation") or ())
    axis = right.quantization_dimension
    if not is_in_layout or is_dilated or (axis is not None and axis != numbers[3]):
        return None
    return Axes((*spatial, numbers[1]), (0,)), Axes((*kernel, numbers[2]), (numbers[5],))


def _padded(op: Operation, lhs: Expr, element: QuantizedType) -> Expr:
    """Return the left operand of a convolution, padded with its zero point as the convolution says."""
    padding = op.properties.get("padding") or ()
    if not any(map(any, padding)):
        return lhs
    low, high = [0] * lhs.type.rank, [0] * lhs.type.rank
    for axis, pair in zip(op.properties["input_spatial_dimensions"], padding):
        low[axis], high[axis] = map(int, pair)
    return lhs.op(
        "pad", scalar_constant(lhs.emit, element.storage_type, element.zero_points[0]),
        edge_padding_low=tuple(low), edge_padding_high=tuple(high), interior_padding=(0,) * lhs.type.rank,
    )  # fmt: skip


def _integer_product(quantized: QuantizedOp, lhs: Expr, rhs: Expr) -> Expr:
    op, (result,) = quantized.op, quantized.results
    assert isinstance(result, TensorType)
    type = with_element_type(result, I32)
    if op.name == "stablehlo.dot":
        return lhs.op(
            "dot_general", rhs, type=type, lhs_contracting_dimensions=(1,), rhs_contracting_dimensions=(0,),
            lhs_batching_dimensions=(), rhs_batching_dimensions=(),
            precision_config=op.properties.get("precision_config"),
        )  # fmt: skip
    padding = op.properties.get("padding")
    members = {} if not padding else {"padding": tuple((0, 0) for _ in padding)}
    return Expr(lhs.emit, lhs.emit.copy(op, [lhs.value, rhs.value], [type], **members)[0])


def _offset(
    product: Expr, operands: tuple[Expr, Expr], zero_points: tuple[int, int], axes: tuple[Axes, Axes]
) -> Expr | None:
    """Return the part of a product of stored integers that their zero points contribute; None if they are zero."""
    terms, sizes = list[Expr](), None
    for x, zero_point, (summed, places) in zip(operands, zero_points[::-1], axes):
        if zero_point:
            term = _combine("multiply", _sum(convert(x, I32), summed), scalar_constant(x.emit, I32, zero_point))
            if product.type.is_static:
                terms.append(term.op("broadcast_in_dim", type=product.type, broadcast_dimensions=tuple(places)))
                continue
            sizes = sizes or shape_vector(product)
            terms.append(
                term.op("dynamic_broadcast_in_dim", sizes, type=product.type, broadcast_dimensions=tuple(places))
            )
    if len(terms) < 2:
        return terms[0] if terms else None
    return _combine(
        "subtract", terms[0] + terms[1], _count(operands[1], axes[1].summed, zero_points[0] * zero_points[1])
    )


def _sum(x: Expr, dimensions: Sequence[int]) -> Expr:
    emit, scalar = x.emit, tensor_type((), x.element)
    body = emit.region((scalar, scalar), lambda inner, xs: [(Expr(inner, xs[0]) + Expr(inner, xs[1])).value])
    type = tensor_type(tuple(n for axis, n in enumerate(x.type.shape) if axis not in dimensions), x.element)
    operands = x.value, emit.constant(scalar, 0)
    reduced = emit.operation("stablehlo.reduce", operands, (type,), (body,), dimensions=tuple(dimensions))
    return Expr(emit, reduced.results[0])


def _count(x: Expr, dimensions: Sequence[int], factor: int) -> Expr:
    """Return the product of a factor and the sizes of some dimensions."""
    total = scalar_constant(x.emit, I32, 1)
    for axis in dimensions:
        size = x.type.shape[axis]
        if size is None:
            total = total * size_of(x, axis)
        else:
            factor *= size
    known = scalar_constant(x.emit, I32, factor)
    return known if all(x.type.shape[axis] is not None for axis in dimensions) else known * total


MOVES = frozenset(
    f"stablehlo.{name}"
    for name in (
        "bitcast_convert", "broadcast_in_dim", "composite", "concatenate", "constant", "dynamic_broadcast_in_dim",
        "dynamic_reshape", "dynamic_slice", "gather", "get_dimension_size", "pad", "reduce_window", "reshape", "return",
        "slice", "transpose",
    )
)  # fmt: skip
CHOICES = ("stablehlo.maximum", "stablehlo.minimum", "stablehlo.select")
CONVERSIONS = ("stablehlo.uniform_quantize", "stablehlo.uniform_dequantize")
INTEGERS: Mapping[str, Callable[..., Expr | None]] = {
    "stablehlo.add": _add,
    "stablehlo.convolution": _product,
    "stablehlo.dot": _product,
    "stablehlo.dot_general": _product,
    "stablehlo.uniform_quantize": _uniform_quantize,
}
