"""Replace ops on shapes that are operands by ops on shapes that are attributes, where the operands are constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.ir.types import TensorType, tensor_type
from stablehlo_ref.passes.emit import Emitter
from stablehlo_ref.passes.evaluate import known_integers
from stablehlo_ref.passes.patterns import erase_dead
from stablehlo_ref.passes.refinements import known_slice_sizes, refined_types, shape_operand_indices
from stablehlo_ref.passes.registry import Pass

Canonicalize = Callable[[Emitter, Operation], Operation | None]  # None where the op has to stay


def canonicalize_dynamism(module: Operation) -> None:
    """Replace `dynamic_*` ops and `real_dynamic_slice` by the static ops, where all operands that are shapes are known.

    `dynamic_broadcast_in_dim`, `dynamic_iota` and `dynamic_reshape` stay unless their result types are static, too.
    Custom calls lose the operands that `indices_of_shape_operands` names, if they and the result types are static;
    InvalidError if that attribute does not fit its op. Ops that are dead then are erased.
    """
    with Rewriter(module) as rewriter:
        for op in list(module.walk()):
            canonicalize = CANONICALIZED.get(op.name)
            if canonicalize is not None and (new := canonicalize(Emitter(rewriter, op), op)) is not None:
                rewriter.replace(op, new.results)
    with Rewriter(module) as rewriter:
        erase_dead(module, rewriter)


def _replacement(emit: Emitter, op: Operation, name: str, operands: int, **members: object) -> Operation:
    """Emit the static op on the first operands, with the members of `op` and further ones."""
    kept = {key: value for key, value in op.properties.items() if key not in ONLY_DYNAMIC}
    new = emit.operation(name, op.operands[:operands], op.result_types, **{**kept, **members})
    new.attributes = dict(op.attributes)
    return new


ONLY_DYNAMIC = ("known_expanding_dimensions", "known_nonexpanding_dimensions")


def _is_static(op: Operation) -> bool:
    return all(isinstance(type, TensorType) and type.is_static for type in op.result_types)


def _broadcast_in_dim(emit: Emitter, op: Operation) -> Operation | None:
    operand = op.operands[0].type
    has_static_operand = isinstance(operand, TensorType) and operand.is_static
    if not has_static_operand or not _is_static(op) or known_integers(op.operands[1]) is None:
        return None
    return _replacement(emit, op, "stablehlo.broadcast_in_dim", 1)


def _reshape(emit: Emitter, op: Operation) -> Operation | None:
    if not _is_static(op) or known_integers(op.operands[1]) is None:
        return None
    return _replacement(emit, op, "stablehlo.reshape", 1)


def _iota(emit: Emitter, op: Operation) -> Operation | None:
    if not _is_static(op) or known_integers(op.operands[0]) is None:
        return None
    return _replacement(emit, op, "stablehlo.iota", 0)


def _pad(emit: Emitter, op: Operation) -> Operation | None:
    low, high, interior = map(known_integers, op.operands[2:])
    if low is None or high is None or interior is None:
        return None
    return _replacement(
        emit, op, "stablehlo.pad", 2,
        edge_padding_low=tuple(low), edge_padding_high=tuple(high), interior_padding=tuple(interior),
    )  # fmt: skip


def _convolution(emit: Emitter, op: Operation) -> Operation | None:
    padding = known_integers(op.operands[2])
    if padding is None:
        return None
    return _replacement(emit, op, "stablehlo.convolution", 2, padding=tuple(zip(padding[::2], padding[1::2])))


def _gather(emit: Emitter, op: Operation) -> Operation | None:
    sizes = known_integers(op.operands[2])
    return None if sizes is None else _replacement(emit, op, "stablehlo.gather", 2, slice_sizes=tuple(sizes))


def _slice(emit: Emitter, op: Operation) -> Operation | None:
    starts, limits, strides = map(known_integers, op.operands[1:])
    if starts is None or limits is None or strides is None:
        return _dynamic_slice(emit, op)
    return _replacement(
        emit, op, "stablehlo.slice", 1,
        start_indices=tuple(starts), limit_indices=tuple(limits), strides=tuple(strides),
    )  # fmt: skip


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


CANONICALIZED: Mapping[str, Canonicalize] = {
    "stablehlo.custom_call": _custom_call,
    "stablehlo.dynamic_broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.dynamic_conv": _convolution,
    "stablehlo.dynamic_gather": _gather,
    "stablehlo.dynamic_iota": _iota,
    "stablehlo.dynamic_pad": _pad,
    "stablehlo.dynamic_reshape": _reshape,
    "stablehlo.real_dynamic_slice": _slice,
}
PASS = Pass("stablehlo-canonicalize-dynamism", "replace dynamic ops by static ones", canonicalize_dynamism)
