"""Simplify ops that move elements, and dynamic ops."""

from __future__ import annotations

from collections.abc import Sequence

from stablehlo_ref.define.definition import traits_of
from stablehlo_ref.define.spec import is_per_axis_quantized, is_quantized, is_sorted
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import TensorType, integer_type, tensor_type
from stablehlo_ref.passes.analysis import defined_by, known_integers
from stablehlo_ref.passes.canonicalize_dynamism import without_dynamism
from stablehlo_ref.passes.emit import Emitter
from stablehlo_ref.passes.patterns import Patterns, elements_of, shape_of, splat, static
from stablehlo_ref.passes.refinements import most_specific

MOVEMENT = Patterns()
on = MOVEMENT.on


def _is_iota(axes: Sequence[int], rank: int) -> bool:
    return list(axes) == list(range(rank))


# --- ops that move elements -----------------------------------------------------------------------------------------


@on("broadcast_in_dim", "dynamic_broadcast_in_dim")
def broadcast_of_broadcast(emit: Emitter, op: Operation) -> Value | None:
    """Make a broadcast of a broadcast, which is not going to be a `reshape`, one broadcast."""
    inner = defined_by(op.operands[0], op.name)
    if inner is None or is_per_axis_quantized(op.operands[0].type):
        return None
    source, target = static(inner.operands[0]), static(inner.results[0])
    outer_axes, axes = op.properties["broadcast_dimensions"], inner.properties["broadcast_dimensions"]
    if source and target and source.size == target.size and is_sorted(axes):
        return None
    merged = tuple(outer_axes[axis] for axis in axes)
    operands = (inner.operands[0], *op.operands[1:])
    return emit.value(op.name, *operands, type=op.results[0].type, broadcast_dimensions=merged)


@on("broadcast_in_dim")
def broadcast(emit: Emitter, op: Operation) -> Value | None:
    """Make a broadcast that repeats nothing its operand, a `reshape` or a `transpose`."""
    (x,), axes, result = op.operands, op.properties["broadcast_dimensions"], op.results[0].type
    if _is_iota(axes, len(shape_of(op.results[0]))) and x.type == result:
        return x
    source, target = static(x), static(op.results[0])
    if source is None or target is None or source.size != target.size:
        return None
    if is_sorted(axes):
        return emit.value("stablehlo.reshape", x, type=target)
    permutation = tuple(sorted(range(len(axes)), key=axes.__getitem__))
    if target.rank != source.rank or target.shape != tuple(source.shape[axis] for axis in permutation):
        return None
    return emit.value("stablehlo.transpose", x, type=target, permutation=permutation)


@on("reshape")
def reshape(emit: Emitter, op: Operation) -> Value | None:
    """Make a `reshape` to the type of its operand the operand; one of a `reshape`, or a cast, one `reshape`."""
    x, result = op.operands[0], op.results[0].type
    if x.type == result:
        return x
    inner = defined_by(x, "reshape") or _cast(x)
    if inner is None or is_per_axis_quantized(x.type):
        return None
    return emit.value(op.name, inner.operands[0], type=result)


def _cast(value: Value) -> Operation | None:
    """Return the `convert` that only makes sizes unknown; None if the value is not the result of one."""
    cast = defined_by(value, "convert")
    return cast if cast and static(cast.operands[0]) and elements_of(cast.operands[0]) == elements_of(value) else None


@on("transpose")
def transpose(emit: Emitter, op: Operation) -> Value | None:
    """Make the identity its operand, two transposes one, and one that moves only dimensions of size 1 a `reshape`."""
    x, permutation, result = op.operands[0], op.properties["permutation"], op.results[0]
    if _is_iota(permutation, len(permutation)):
        return x
    if inner := defined_by(x, "transpose"):
        merged = tuple(inner.properties["permutation"][axis] for axis in permutation)
        return emit.value(op.name, inner.operands[0], type=result.type, permutation=merged)
    source = static(x)
    if source is None or not static(result) or not is_sorted([a for a in permutation if source.shape[a] != 1]):
        return None
    return emit.value("stablehlo.reshape", x, type=result.type)


@on("concatenate")
def concatenate(emit: Emitter, op: Operation) -> Value | None:
    """Leave out empty operands, take those of a `concatenate` without other uses, make a single operand the result."""
    axis, uses = op.properties["dimension"], emit.rewriter.uses(op.results[0])
    is_part = len(uses) == 1 and _is_along(uses[0][0], axis)  # whose operands go to the op that it is a part of
    operands = [x for x in (op.operands if is_part else _joined(emit, op.operands, axis)) if shape_of(x)[axis] != 0]
    if len(operands) == 1 and operands[0].type == op.results[0].type:
        return operands[0]
    if not operands or operands == op.operands:
        return None
    return emit.value(op.name, *operands, type=op.results[0].type, dimension=axis)


def _joined(emit: Emitter, values: Sequence[Value], axis: int) -> list[Value]:
    """Return values, and instead of those that a `concatenate` makes for this use alone its operands."""
    found, pending = list[Value](), list(reversed(values))
    while pending:
        value = pending.pop()
        inner = value.producer
        if inner and _is_along(inner, axis) and len(emit.rewriter.uses(value)) == 1:
            pending.extend(reversed(inner.operands))
        else:
            found.append(value)
    return found


def _is_along(op: Operation, axis: int) -> bool:
    return op.name == "stablehlo.concatenate" and op.properties["dimension"] == axis


@on("convert", "pad", "slice")
def move_nothing(emit: Emitter, op: Operation) -> Value | None:
    """Make a `convert` to the type of its operand, a `pad` by nothing and a `slice` of everything the operand."""
    x = op.operands[0]
    if x.type != op.results[0].type:
        return None
    if op.name == "stablehlo.slice":
        return x if static(x) else None
    return x if not any(n for name in PADDING for n in op.properties.get(name, ())) else None


PADDING = ("edge_padding_low", "edge_padding_high", "interior_padding")


@on("reverse")
def reverse(emit: Emitter, op: Operation) -> Value | None:
    """Make a `reverse` of no dimension, of sizes of 1, of nothing, or of equal elements its operand."""
    x, dimensions = op.operands[0], op.properties["dimensions"]
    type = static(x)
    is_same = type is not None and (not type.size or all(type.shape[axis] == 1 for axis in dimensions))
    return x if not dimensions or is_same or splat(x) is not None else None


@on("pad")
def pad_nothing(emit: Emitter, op: Operation) -> Value | None:
    """Make a `pad` of an empty tensor a broadcast of the padding value."""
    source, target = static(op.operands[0]), static(op.results[0])
    if source is None or target is None or source.size:
        return None
    return emit.value("stablehlo.broadcast_in_dim", op.operands[1], type=target, broadcast_dimensions=())


@on("slice")
def slice_of_concatenate(emit: Emitter, op: Operation) -> Value | None:
    """Slice the operands of a `concatenate` that have elements of the slice, if others have none."""
    inner = defined_by(op.operands[0], "concatenate")
    if inner is None or not static(op.results[0]) or not static(inner.results[0]):
        return None
    axis, starts, limits = inner.properties["dimension"], op.properties["start_indices"], op.properties["limit_indices"]
    first, kept, position = 0, list[Value](), 0
    for x in inner.operands:
        size = shape_of(x)[axis] or 0
        if position < limits[axis] and starts[axis] < position + size:
            first, kept = position if not kept else first, [*kept, x]
        position += size
    is_shared = len(kept) > 1 and len(emit.rewriter.uses(inner.results[0])) > 1
    if not kept or len(kept) == len(inner.operands) or is_shared:
        return None
    part = kept[0] if len(kept) == 1 else emit.value(inner.name, *kept, dimension=axis)
    moved = [tuple(n - first * (a == axis) for a, n in enumerate(bounds)) for bounds in (starts, limits)]
    strides = op.properties["strides"]
    type = op.results[0].type
    return emit.value(op.name, part, type=type, start_indices=moved[0], limit_indices=moved[1], strides=strides)


def _emit_slice(emit: Emitter, x: Value, starts: Sequence[int], sizes: Sequence[int]) -> Value:
    """Emit a slice of stride 1 from starts that are clamped, as those of `dynamic_slice` are."""
    clamped = tuple(min(max(0, s), (n or 0) - size) for s, n, size in zip(starts, shape_of(x), sizes))
    limits = tuple(start + size for start, size in zip(clamped, sizes))
    return emit.value("stablehlo.slice", x, start_indices=clamped, limit_indices=limits, strides=(1,) * len(clamped))


@on("dynamic_slice")
def dynamic_slice(emit: Emitter, op: Operation) -> Value | None:
    """Make a `dynamic_slice` at constant indices a `slice`."""
    x, *indices = op.operands
    starts = [n for index in indices for n in known_integers(index) or ()]
    if len(starts) != len(indices) or not static(x):
        return None
    return _emit_slice(emit, x, starts, op.properties["slice_sizes"])


@on("dynamic_update_slice")
def dynamic_update_slice(emit: Emitter, op: Operation) -> Value | None:
    """Make an update by nothing the operand, and one of everything the update."""
    x, update, *_ = op.operands
    if 0 in shape_of(update):
        return x
    return update if x.type == update.type and static(x) else None


@on("gather")
def gather(emit: Emitter, op: Operation) -> Value | None:
    """Make a `gather` of one slice at constant indices a `slice` and a `reshape`."""
    (x, at), members = op.operands, op.properties
    sizes, is_one = members["slice_sizes"], members["index_vector_dim"] == 0 and len(shape_of(at)) < 2
    indices = known_integers(at) if is_one and static(x) else None
    if indices is None:
        return None
    starts = dict(zip(members["start_index_map"], indices))
    part = _emit_slice(emit, x, [starts.get(axis, 0) for axis in range(len(sizes))], sizes)
    return part if part.type == op.results[0].type else emit.value("stablehlo.reshape", part, type=op.results[0].type)


@on("iota")
def iota(emit: Emitter, op: Operation) -> Value | None:
    """Make an `iota` of one index 0, and one of several dimensions a broadcast of a vector."""
    type, axis = static(op.results[0]), op.properties["iota_dimension"]
    if type is None or is_quantized(type):
        return None
    if type.shape[axis] == 1:
        return emit.constant(type, 0)
    if type.rank < 2:
        return None
    vector = emit.value(op.name, type=tensor_type((type.shape[axis],), type.element_type), iota_dimension=0)
    return emit.value("stablehlo.broadcast_in_dim", vector, type=type, broadcast_dimensions=(axis,))


@on("get_dimension_size")
def dimension_size(emit: Emitter, op: Operation) -> Value | None:
    """Make a known size a constant."""
    size, type = shape_of(op.operands[0])[op.properties["dimension"]], static(op.results[0])
    return None if size is None or type is None else emit.constant(type, size)


# --- dynamic ops ----------------------------------------------------------------------------------------------------


@on("dynamic_gather", "dynamic_pad", "real_dynamic_slice")
def static_op(emit: Emitter, op: Operation) -> Sequence[Value] | None:
    """Make an op whose operands of shapes are constants the static op."""
    new = without_dynamism(emit, op)
    return None if new is None else new.results


@on("dynamic_broadcast_in_dim", "dynamic_iota", "dynamic_reshape")
def static_result(emit: Emitter, op: Operation) -> Value | None:
    """Make an op with a static result the static op, as its shape is that of the type."""
    has_static_operand = op.name != "stablehlo.dynamic_broadcast_in_dim" or static(op.operands[0])
    if not static(op.results[0]) or not has_static_operand:
        return None
    members = {name: op.properties.get(name) for name in ("broadcast_dimensions", "iota_dimension")}
    return emit.value(op.name.replace("dynamic_", ""), *op.operands[:-1], type=op.results[0].type, **members)


@on("dynamic_broadcast_in_dim")
def broadcast_to_constant(emit: Emitter, op: Operation) -> Value | None:
    """Make a broadcast to a shape that is a constant static, and cast the result."""
    (x, shape), result, axes = op.operands, op.results[0].type, op.properties["broadcast_dimensions"]
    sizes, source = known_integers(shape), static(x)
    if sizes is None or source is None or not isinstance(result, TensorType) or is_quantized(result):
        return None
    type = tensor_type(tuple(sizes), result.element_type)
    fits = all(n in (1, sizes[axis]) for n, axis in zip(source.shape, axes)) and min(sizes, default=0) >= 0
    if not fits or most_specific(result, type) != type:
        return None  # which is reported when the op runs
    static_broadcast = emit.value("stablehlo.broadcast_in_dim", x, type=type, broadcast_dimensions=axes)
    return emit.value("stablehlo.convert", static_broadcast, type=result)


@on("dynamic_broadcast_in_dim")
def broadcast_to_same(emit: Emitter, op: Operation) -> Value | None:
    """Make a broadcast to the shape that the operand has the operand, or a cast of it."""
    x, shape = op.operands
    if not _is_iota(op.properties["broadcast_dimensions"], len(shape_of(op.results[0]))):
        return None
    reshaped, own = defined_by(x, "dynamic_reshape"), defined_by(shape, "shape.shape_of")
    if (own and own.operands[0] is x) or (reshaped and reshaped.operands[1] is shape):
        return x
    if len(op.properties.get("known_nonexpanding_dimensions", ())) < len(shape_of(x)):
        return None
    return x if x.type == op.results[0].type else emit.value("stablehlo.convert", x, type=op.results[0].type)


@on("dynamic_reshape")
def dynamic_reshape(emit: Emitter, op: Operation) -> Value | None:
    """Make a reshape of a reshape one; make one to the shape that an elementwise op's operand has that op's result."""
    x, shape = op.operands
    if inner := defined_by(x, "dynamic_reshape"):
        return emit.value(op.name, inner.operands[0], shape, type=op.results[0].type)
    if x.producer is None or not x.producer.operands or not _has_equal_shapes(x.producer):
        return None
    inner = defined_by(x.producer.operands[0], "dynamic_reshape")
    return x if inner and inner.operands[1] is shape else None


def _has_equal_shapes(op: Operation) -> bool:
    """Return whether an op is elementwise, with operands and results of one shape."""
    is_elementwise = op.name.startswith("stablehlo.") and traits_of(op).elementwise
    return is_elementwise and op.name not in ("stablehlo.select", "stablehlo.clamp")  # which take scalars, too


@on("shape.shape_of")
def known_shape_of(emit: Emitter, op: Operation) -> Value | None:
    """Make the shape of a `dynamic_reshape` that shape, and a known shape a constant."""
    x = op.operands[0]
    if inner := defined_by(x, "dynamic_reshape"):
        return inner.operands[1]
    sizes = shape_of(x) if static(x) else None
    return None if sizes is None else emit.value("shape.const_shape", type=op.results[0].type, sizes=sizes)


@on("shape.broadcast", "shape.cstr_broadcastable")
def known_shapes_last(emit: Emitter, op: Operation) -> Value | None:
    """Broadcast known shapes after others, and not those of ones if another shape has as many sizes."""
    sizes = {x: known_integers(x) for x in op.operands}
    shapes = sorted(op.operands, key=lambda x: sizes[x] is not None)
    if op.name == "shape.broadcast" and static(op.results[0]):
        others = [x for x in shapes if sizes[x] is None or set(sizes[x] or ()) != {1}]
        ranks = [shape_of(x)[0] for x in others if static(x)]
        shapes = others if len(others) > 1 and shape_of(op.results[0])[0] in ranks else shapes
    return None if shapes == op.operands else emit.value(op.name, *shapes, type=op.results[0].type, **op.properties)


@on("dynamic_iota")
def dynamic_iota(emit: Emitter, op: Operation) -> Value | None:
    """Make a `dynamic_iota` of several dimensions a broadcast of a vector."""
    (shape,), axis, result = op.operands, op.properties["iota_dimension"], op.results[0].type
    if not isinstance(result, TensorType) or result.rank < 2:
        return None
    wide = tensor_type((result.rank,), integer_type(64))
    if shape.type != wide:
        is_index = str(elements_of(shape)) == "index"
        indices = emit.value("arith.index_cast" if is_index else "stablehlo.convert", shape, type=wide)
    else:
        indices = shape
    size = emit.value("stablehlo.slice", indices, start_indices=(axis,), limit_indices=(axis + 1,), strides=(1,))
    vector = emit.value(op.name, size, type=tensor_type((result.shape[axis],), result.element_type), iota_dimension=0)
    return emit.value("stablehlo.dynamic_broadcast_in_dim", vector, shape, type=result, broadcast_dimensions=(axis,))
