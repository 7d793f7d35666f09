"""top_k and scan."""

from __future__ import annotations

from collections.abc import Sequence

from stablehlo_ref.define.spec import is_float, scalar
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.ir.types import BOOLEAN, IntegerType, TensorType, Type, tensor_type
from stablehlo_ref.ops.comparison import ComparisonDirection, ComparisonType
from stablehlo_ref.passes.emit import Emitter, cannot_legalize
from stablehlo_ref.passes.expressions import Expr, shape_of, size_of

I32, I64 = IntegerType(32), IntegerType(64)
INDEX_SCALAR, INDEX_VECTOR = tensor_type((), I64), tensor_type((1,), I64)


def tensor_of(value: Value) -> TensorType:
    """Return the type of a value that is a tensor."""
    assert isinstance(value.type, TensorType)
    return value.type


def index_size_of(x: Expr, axis: int) -> Expr:
    """Return the size of a dimension as a vector of one i64."""
    return as_vector(size_of(x, axis).op("convert", type=INDEX_SCALAR))


def as_vector(index: Expr) -> Expr:
    """Return a scalar index as a vector."""
    return index.op("reshape", type=INDEX_VECTOR)


def joined(parts: Sequence[Expr]) -> Expr:
    """Return vectors of one index each as one vector."""
    return parts[0].op("concatenate", *parts[1:], type=tensor_type((len(parts),), I64), dimension=0)


def index_constant(emit: Emitter, number: int) -> Expr:
    """Return a scalar constant of i64."""
    return Expr(emit, emit.constant(INDEX_SCALAR, number))


def index_vector(emit: Emitter, numbers: Sequence[int]) -> Expr:
    """Return a vector constant of i64."""
    return Expr(emit, emit.constant(tensor_type((len(numbers),), I64), numbers))


# --- top_k ----------------------------------------------------------------------------------------------------------


def top_k(emit: Emitter, op: Operation) -> list[Value]:
    """Sort with indices in descending order of the last dimension, and slice."""
    operand = Expr(emit, op.operands[0])
    shape, k = operand.type.shape, int(op.properties["k"])
    last = len(shape) - 1
    count = k if shape[last] is None else min(k, shape[last] or 0)
    indices_type = tensor_type(shape, I32)
    if operand.type.is_static:
        indices = emit.value("stablehlo.iota", type=indices_type, iota_dimension=last)
        values, indices = _sorted(emit, operand, indices, op).results
        return [_first(emit, x, last, count) for x in (values, indices)]
    sizes = [_size_or_constant(operand, axis) for axis in range(len(shape))]
    full = joined(sizes)
    limits = joined([*sizes[:-1], as_vector(index_constant(emit, count))])
    indices = full.op("dynamic_iota", type=indices_type, iota_dimension=last).value
    found = _sorted(emit, operand, indices, op).results
    bounds = index_vector(emit, [0] * len(shape)), limits, index_vector(emit, [1] * len(shape))
    return [
        Expr(emit, x).op("real_dynamic_slice", *bounds, type=result.type).value for x, result in zip(found, op.results)
    ]


def _size_or_constant(x: Expr, axis: int) -> Expr:
    size = x.type.shape[axis]
    return index_size_of(x, axis) if size is None else as_vector(index_constant(x.emit, size))


def _sorted(emit: Emitter, operand: Expr, indices: Value, op: Operation) -> Operation:
    element = scalar(operand.type)
    kind = ComparisonType.TOTALORDER if is_float(operand.type) else None

    def comparator(inner: Emitter, arguments: Sequence[Value]) -> list[Value]:
        return [
            inner.value(
                "stablehlo.compare", *arguments[:2], type=scalar(BOOLEAN),
                comparison_direction=ComparisonDirection.GT, compare_type=kind,
            )
        ]  # fmt: skip

    region = emit.region([element, element, tensor_type((), I32), tensor_type((), I32)], comparator)
    operands = operand.value, indices
    return emit.operation(
        "stablehlo.sort", operands, [v.type for v in operands], [region],
        dimension=operand.type.rank - 1, is_stable=op.properties.get("is_stable", True),
    )  # fmt: skip


def _first(emit: Emitter, value: Value, axis: int, count: int) -> Value:
    """Return the first elements along the last dimension."""
    type = tensor_of(value)
    limits = (*type.shape[:axis], count)
    return emit.value(
        "stablehlo.slice", value, type=tensor_type(limits, type.element_type),
        start_indices=(0,) * type.rank, limit_indices=limits, strides=(1,) * type.rank,
    )  # fmt: skip


# --- scan -----------------------------------------------------------------------------------------------------------


def scan(emit: Emitter, op: Operation) -> list[Value]:
    """Return a `while` over the indices of the dimension, whose state is an index, the carries and the outputs.

    No slice of size 1 fits a dimension of size 0; there, the results are known.
    """
    input_count, _ = op.properties["operand_segment_sizes"]
    output_count, _ = op.properties["result_segment_sizes"]
    inputs = [Expr(emit, operand) for operand in op.operands[:input_count]]
    outputs = [tensor_of(result) for result in op.results[:output_count]]
    if inputs and inputs[0].type.shape[op.properties["dimension"]] == 0:
        empty = [_zeros(emit, op, inputs, index, type).value for index, type in enumerate(outputs)]
        return [*empty, *op.operands[input_count:]]
    count = _scan_size(emit, op, inputs).op("convert", type=INDEX_SCALAR)
    state = [index_constant(emit, 0).value, *op.operands[input_count:]]
    state += [_zeros(emit, op, inputs, index, type).value for index, type in enumerate(outputs)]
    types = [value.type for value in state]
    condition = emit.region(types, lambda inner, xs: [(Expr(inner, xs[0]) < count).value])
    body = emit.region(types, lambda inner, xs: _turn(inner, op, count, inputs, xs))
    results = emit.operation("stablehlo.while", state, types, [condition, body]).results
    carries = len(types) - 1 - output_count
    return [*results[1 + carries :], *results[1 : 1 + carries]]


def _scan_size(emit: Emitter, op: Operation, inputs: Sequence[Expr]) -> Expr:
    axis = op.properties["dimension"]
    if inputs:
        return size_of(inputs[0], axis)
    size = tensor_of(op.results[0]).shape[axis]
    if size is None:
        raise cannot_legalize(op)
    return Expr(emit, emit.constant(tensor_type((), I32), size))


def _zeros(emit: Emitter, op: Operation, inputs: Sequence[Expr], index: int, type: TensorType) -> Expr:
    """Return an output before the first turn, with the shape of an input where its own is not known."""
    zero = Expr(emit, emit.constant(scalar(type), 0))
    if type.is_static:
        return zero.op("broadcast_in_dim", type=type, broadcast_dimensions=())
    if not inputs:
        raise cannot_legalize(op)
    like = inputs[index if index < len(inputs) else 0]
    return zero.op("dynamic_broadcast_in_dim", shape_of(like), type=type, broadcast_dimensions=())


def _turn(inner: Emitter, op: Operation, count: Expr, inputs: Sequence[Expr], state: Sequence[Value]) -> list[Value]:
    """Emit one turn: the body on slices of the inputs and on carries, whose outputs are put in their places."""
    axis, output_count = op.properties["dimension"], op.properties["result_segment_sizes"][0]
    index = Expr(inner, state[0])
    place = index
    if op.properties.get("is_reverse", False):
        place = Expr(inner, count.value) - index_constant(inner, 1) - index
    carries, outputs = state[1 : len(state) - output_count], state[len(state) - output_count :]
    slices = [_slice_at(Expr(inner, x.value), axis, place).value for x in inputs]
    returned = _inlined(inner, op.regions[0].block, [*slices, *carries])
    updated = [
        _put(Expr(inner, output), axis, place, Expr(inner, element)).value
        for output, element in zip(outputs, returned[:output_count])
    ]
    following = index + index_constant(inner, 1)
    return [following.value, *returned[output_count:], *updated]


def _inlined(inner: Emitter, block: Block, arguments: Sequence[Value]) -> list[Value]:
    mapping = dict(zip(block.arguments, arguments))
    for op in block.operations[:-1]:
        inner.insert(clone(op, mapping))
    return [mapping.get(value, value) for value in block.operations[-1].operands]


def _slice_at(x: Expr, axis: int, place: Expr) -> Expr:
    """Return the slice of `x` at one index of a dimension, without that dimension."""
    sizes = tuple(1 if d == axis else n for d, n in enumerate(x.type.shape))
    type = tensor_type(sizes, x.element)
    zero = index_constant(x.emit, 0)
    starts = [place if d == axis else zero for d in range(x.type.rank)]
    if x.type.is_static:
        piece = x.op("dynamic_slice", *starts, type=type, slice_sizes=sizes)
    else:
        begin = joined([as_vector(start) for start in starts])
        limits = [_limit(x, d, axis, place) for d in range(x.type.rank)]
        end = joined([as_vector(limit) for limit in limits])
        piece = x.op("real_dynamic_slice", begin, end, index_vector(x.emit, [1] * x.type.rank), type=type)
    return piece.op("reshape", type=_without_axis(x.type, axis))


def _limit(x: Expr, axis: int, scanned: int, place: Expr) -> Expr:
    if axis == scanned:
        return place + index_constant(x.emit, 1)
    size = x.type.shape[axis]
    known = size_of(x, axis) if size is None else Expr(x.emit, x.emit.constant(tensor_type((), I32), size))
    return known.op("convert", type=INDEX_SCALAR)


def _without_axis(type: TensorType, axis: int) -> Type:
    return tensor_type(tuple(n for d, n in enumerate(type.shape) if d != axis), type.element_type)


def _put(output: Expr, axis: int, place: Expr, element: Expr) -> Expr:
    sizes = tuple(1 if d == axis else n for d, n in enumerate(output.type.shape))
    piece = element.op("reshape", type=tensor_type(sizes, output.element))
    zero = index_constant(output.emit, 0)
    starts = [place if d == axis else zero for d in range(output.type.rank)]
    return output.op("dynamic_update_slice", piece, *starts, type=output.type)
