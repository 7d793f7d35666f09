"""Replace quantized tensors by tensors of stored integers, and ops on them by arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stablehlo_ref.define.bound import bind_types, is_on_expressed
from stablehlo_ref.define.definition import OpDefinition, definition_of
from stablehlo_ref.define.spec import expressed, is_quantized
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.ir.types import QuantizedType, TensorType, Type, integer_type, tensor_type
from stablehlo_ref.passes.element_types import replace_element_types
from stablehlo_ref.passes.emit import Emitter, cannot_legalize
from stablehlo_ref.passes.expressions import Expr, clamp, convert, round_nearest_even
from stablehlo_ref.passes.registry import Pass

CHECKS = "check."  # targets of custom calls that compare the stored integers


class Quantized(NamedTuple):
    """An op that computes on numbers that quantized tensors express, and the types that it has in the program."""

    op: Operation
    operands: Sequence[Type]
    results: Sequence[Type]


def legalize_quant_to_math(module: Operation) -> None:
    """Replace quantized tensors by tensors of the integers that they store.

    The spec defines most ops on quantized tensors by what they compute on the numbers that these express. Such an op
    becomes the op on floats, between `(stored - zero_point) * scale` for each quantized operand and
    `clamp(round(x / scale + zero_point))` for each quantized result, in ops of CHLO, which broadcast. Ops that move
    elements stay, on other types. Results are the same bit for bit. MLIR's pass of this name computes some ops in
    integers instead, which rounds differently. UnsupportedError for collectives, for custom calls, and for reductions
    that promote quantized elements.
    """
    found = list(_quantized(module))
    replace_element_types(module, _storage)
    with Rewriter(module) as rewriter:
        for quantized in found:
            _legalize(Emitter(rewriter, quantized.op), quantized)


def _storage(type: Type) -> Type:
    return type.storage_type if isinstance(type, QuantizedType) else type


def _quantized(module: Operation) -> Iterator[Quantized]:
    """Yield the ops to replace; UnsupportedError for one that has no meaning on stored integers."""
    for op in module.walk():
        if not any(map(is_quantized, (*op.operand_types, *op.result_types))):
            continue
        definition = definition_of(op)
        if definition is None or not _is_legalizable(op, definition):
            raise cannot_legalize(op)
        if op.name in CONVERSIONS or is_on_expressed(bind_types(op, definition)):
            yield Quantized(op, op.operand_types, op.result_types)


def _is_legalizable(op: Operation, definition: OpDefinition) -> bool:
    if op.name == "stablehlo.custom_call":
        return str(op.properties["call_target_name"]).startswith(CHECKS)
    if definition.traits.communicates:
        return False
    arguments = [argument.type for region in op.regions for block in region.blocks for argument in block.arguments]
    return not arguments or _quantized_elements(arguments) <= _quantized_elements(op.operand_types)


def _quantized_elements(types: Sequence[Type]) -> set[QuantizedType]:
    elements = (type.element_type for type in types if isinstance(type, TensorType))
    return {element for element in elements if isinstance(element, QuantizedType)}


# --- ops ------------------------------------------------------------------------------------------------------------


def _legalize(emit: Emitter, quantized: Quantized) -> None:
    op = quantized.op
    stored = [Expr(emit, operand) for operand in op.operands]
    operands = [dequantize(x, type) for x, type in zip(stored, quantized.operands)]
    values = operands if op.name in CONVERSIONS else _on_expressed(emit, quantized, operands)
    emit.rewriter.replace(op, [quantize(x, type).value for x, type in zip(values, quantized.results)])


def _on_expressed(emit: Emitter, quantized: Quantized, operands: Sequence[Expr]) -> list[Expr]:
    """Emit the op on floats."""
    made = clone(quantized.op, {})
    made.operands = [operand.value for operand in operands]
    for result, type in zip(made.results, quantized.results):
        result.name, result.type = "", expressed(type)
    emit.insert(made)
    return [Expr(emit, result) for result in made.results]


def dequantize(x: Expr, type: Type) -> Expr:
    """Return the numbers that the stored integers `x` of a quantized type express; `x` itself for any other type.

    The difference is computed in integers, where it is exact.
    """
    element = type.element_type if isinstance(type, TensorType) else type
    if not isinstance(element, QuantizedType):
        return x
    wide = integer_type(32 if element.storage_type.width <= 16 else 64)
    if any(element.zero_points):
        x = _broadcast("subtract", convert(x, wide), _parameters(x.emit, element, wide, element.zero_points), element)
    return _broadcast("multiply", convert(x, element.expressed_type), _scales(x.emit, element), element)


def quantize(x: Expr, type: Type) -> Expr:
    """Return the stored integers of a quantized type for the numbers `x`; `x` itself for any other type."""
    element = type.element_type if isinstance(type, TensorType) else type
    if not isinstance(element, QuantizedType):
        return x
    emit, number = x.emit, element.expressed_type
    scales = _scales(emit, element)
    zero_points = _parameters(emit, element, number, element.zero_points) if any(element.zero_points) else None
    low, high = (
        Expr(emit, emit.constant(tensor_type((), number), limit))
        for limit in (element.storage_min, element.storage_max)
    )
    x = _broadcast("divide", x, scales, element)
    if zero_points is not None:
        x = _broadcast("add", x, zero_points, element)
    return convert(round_nearest_even(clamp(low, x, high)), element.storage_type)


def _scales(emit: Emitter, element: QuantizedType) -> Expr:
    return _parameters(emit, element, element.expressed_type, element.scales)


def _parameters(emit: Emitter, element: QuantizedType, type: Type, values: Sequence[float]) -> Expr:
    """Return a constant with one number, or with one for each slice along the quantization dimension."""
    is_per_tensor = element.quantization_dimension is None
    shape = () if is_per_tensor else (len(values),)
    return Expr(emit, emit.constant(tensor_type(shape, type), values[0] if is_per_tensor else values))


def _broadcast(name: str, x: Expr, parameters: Expr, element: QuantizedType) -> Expr:
    axis = element.quantization_dimension
    operands = x.value, parameters.value
    dimensions = None if axis is None else (axis,)
    return Expr(x.emit, x.emit.value(f"chlo.broadcast_{name}", *operands, type=x.type, broadcast_dimensions=dimensions))


CONVERSIONS = ("stablehlo.uniform_quantize", "stablehlo.uniform_dequantize")
PASS = Pass(
    "stablehlo-legalize-quant-to-math",
    "replace quantized tensors by stored integers, and ops on them by arithmetic",
    legalize_quant_to_math,
)
