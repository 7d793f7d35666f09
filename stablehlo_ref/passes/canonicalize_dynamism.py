"""Replace dynamic ops whose shapes, sizes and indices are known by static ones."""

from __future__ import annotations

from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.ir.types import TensorType, tensor_type
from stablehlo_ref.ops.dynamism import Dynamic
from stablehlo_ref.passes.analysis import known_array
from stablehlo_ref.passes.emit import Emitter
from stablehlo_ref.passes.patterns import erase_dead
from stablehlo_ref.passes.refinements import known_slice_sizes, refined_types, shape_operand_indices
from stablehlo_ref.passes.registry import transformation


@transformation("stablehlo-canonicalize-dynamism", "replace dynamic ops by static ones")
def canonicalize_dynamism(module: Operation) -> None:
    """Replace `dynamic_*` ops and `real_dynamic_slice` by the static ops, where all operands that are shapes are known.

    `dynamic_broadcast_in_dim`, `dynamic_iota` and `dynamic_reshape` stay unless their result types are static, too.
    Custom calls lose the operands that `indices_of_shape_operands` names, if they and the result types are static;
    InvalidError if that attribute does not fit its op. Ops that are dead then are erased.
    """
    with Rewriter(module) as rewriter:
        for op in list(module.walk()):
            if (new := without_dynamism(Emitter(rewriter, op), op)) is not None:
                rewriter.replace(op, new.results)
    erase_dead(module)


def without_dynamism(emit: Emitter, op: Operation) -> Operation | None:
    """Emit the op on attributes that replaces one on operands; None where it has to stay, and for other ops."""
    if op.name == "stablehlo.custom_call":
        return _custom_call(emit, op)
    dynamic = definition_of(op)
    if dynamic is None or not issubclass(dynamic.op_class, Dynamic):
        return None
    static = dynamic.op_class.static.definition
    names = dynamic.traits.shape_operands
    kept = len(dynamic.operands) - len(names)
    arrays = {name: known_array(operand) for name, operand in zip(names, op.operands[kept:])}
    values = {name: _nested(array.tolist()) for name, array in arrays.items() if array is not None}
    if len(values) < len(names):
        return _dynamic_slice(emit, op) if op.name == "stablehlo.real_dynamic_slice" else None
    if not values.keys() <= static.attributes.keys() and not _is_static(op):  # the result type has to say the shape
        return None
    if op.name == "stablehlo.dynamic_broadcast_in_dim" and not getattr(op.operands[0].type, "is_static", False):
        return None
    members = {name: value for name, value in (op.properties | values).items() if name in static.attributes}
    new = emit.operation(static.name, op.operands[:kept], op.result_types, **members)
    new.attributes = dict(op.attributes)
    return new


def _nested(numbers: object) -> object:
    return tuple(map(_nested, numbers)) if isinstance(numbers, list) else numbers


def _is_static(op: Operation) -> bool:
    return all(isinstance(type, TensorType) and type.is_static for type in op.result_types)


def _dynamic_slice(emit: Emitter, op: Operation) -> Operation | None:
    """Emit a `dynamic_slice` for one whose sizes are known."""
    sizes = known_slice_sizes(op)
    starts = op.operands[1]
    if sizes is None or not isinstance(starts.type, TensorType):
        return None
    element = starts.type.element_type
    scalars = []
    for axis in range(len(sizes)):
        part = emit.value(
            "stablehlo.slice", starts, type=tensor_type((1,), element),
            start_indices=(axis,), limit_indices=(axis + 1,), strides=(1,),
        )  # fmt: skip
        scalars.append(emit.value("stablehlo.reshape", part, type=tensor_type((), element)))
    new = emit.operation("stablehlo.dynamic_slice", (op.operands[0], *scalars), op.result_types, slice_sizes=sizes)
    new.attributes = dict(op.attributes)
    return new


def _custom_call(emit: Emitter, op: Operation) -> Operation | None:
    indices = shape_operand_indices(op)
    if indices is None or refined_types(op) is None or not _is_static(op):
        return None
    members = dict(op.properties)
    if isinstance(layouts := members.get("operand_layouts"), tuple):
        members["operand_layouts"] = tuple(layout for i, layout in enumerate(layouts) if i not in indices)
    operands = [operand for i, operand in enumerate(op.operands) if i not in indices]
    new = emit.operation(op.name, operands, op.result_types, **members)
    new.attributes = {name: value for name, value in op.attributes.items() if name != "indices_of_shape_operands"}
    return new
