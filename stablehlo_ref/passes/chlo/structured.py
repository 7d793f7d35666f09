"""Ops on whole tensors: top_k, scan and ragged_dot."""

from __future__ import annotations

from collections.abc import Sequence

from stablehlo_ref.define.spec import is_float, scalar, without
from stablehlo_ref.dialects.chlo_structured import before_ragged
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import BOOLEAN, INDEX, IntegerType, Shape, TensorType, tensor_type
from stablehlo_ref.ops.comparison import ComparisonDirection, ComparisonType
from stablehlo_ref.passes.emit import (
    I64,
    INDEX_SCALAR,
    Emitter,
    Expr,
    as_vector,
    cannot_legalize,
    index_constant,
    index_size_of,
    index_vector,
    joined,
    known_size_of,
    like,
    reshaped,
    scalar_constant,
    shape_of,
    size_of,
    sliced,
)

I32 = IntegerType(32)


# --- top_k ----------------------------------------------------------------------------------------------------------


def top_k(emit: Emitter, op: Operation) -> list[Value]:
    """Sort with indices in descending order of the last dimension, and slice."""
    operand = Expr(emit, op.operands[0])
    shape, k = operand.type.shape, int(op.properties["k"])
    last, zeros = len(shape) - 1, [0] * len(shape)
    count = k if shape[last] is None else min(k, shape[last] or 0)
    indices_type = tensor_type(shape, I32)
    if operand.type.is_static:
        indices = emit.value("stablehlo.iota", type=indices_type, iota_dimension=last)
        cut = (*shape[:last], count)
        limits = [n or 0 for n in cut]
        return [sliced(Expr(emit, x), zeros, limits, cut).value for x in _sorted(emit, operand, indices, op).results]
    sizes = [_size_or_constant(operand, axis) for axis in range(len(shape))]
    full = joined(sizes)
    end = joined([*sizes[:-1], as_vector(index_constant(emit, count))])
    indices = full.op("dynamic_iota", type=indices_type, iota_dimension=last).value
    found = _sorted(emit, operand, indices, op).results
    bounds = index_vector(emit, zeros), end, index_vector(emit, [1] * len(shape))
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


# --- scan -----------------------------------------------------------------------------------------------------------


def scan(emit: Emitter, op: Operation) -> list[Value]:
    """Return a `while` over the indices of the dimension, whose state is an index, the carries and the outputs.

    No slice of size 1 fits a dimension of size 0; there, the results are known.
    """
    input_count, _ = op.properties["operand_segment_sizes"]
    output_count, _ = op.properties["result_segment_sizes"]
    inputs = [Expr(emit, operand) for operand in op.operands[:input_count]]
    outputs = [Expr(emit, result).type for result in op.results[:output_count]]
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
    size = Expr(emit, op.results[0]).type.shape[axis]
    if size is None:
        raise cannot_legalize(op)
    return scalar_constant(emit, I32, size)


def _zeros(emit: Emitter, op: Operation, inputs: Sequence[Expr], index: int, type: TensorType) -> Expr:
    """Return an output before the first turn, with the shape of an input where its own is not known."""
    zero = scalar_constant(emit, type.element_type, 0)
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
    returned = inner.inline(op.regions[0].block, [*slices, *carries])
    updated = [
        _put(Expr(inner, output), axis, place, Expr(inner, element)).value
        for output, element in zip(outputs, returned[:output_count])
    ]
    following = index + index_constant(inner, 1)
    return [following.value, *returned[output_count:], *updated]


def _slice_at(x: Expr, axis: int, place: Expr) -> Expr:
    """Return the slice of `x` at one index of a dimension, without that dimension."""
    sizes, shape = list(x.type.shape), without(x.type.shape, [axis])
    sizes[axis] = 1
    if x.type.is_static:
        zero = index_constant(x.emit, 0)
        starts = [place if d == axis else zero for d in range(x.type.rank)]
        piece = x.op("dynamic_slice", *starts, type=tensor_type(tuple(sizes), x.element), slice_sizes=tuple(sizes))
    else:
        begin = [as_vector(place) if d == axis else 0 for d in range(x.type.rank)]
        end = [as_vector(place + 1) if d == axis else known_size_of(x, d) for d in range(x.type.rank)]
        piece = sliced(x, begin, end, tuple(sizes))
    return piece.op("reshape", type=tensor_type(shape, x.element))


def _put(output: Expr, axis: int, place: Expr, element: Expr) -> Expr:
    sizes = list(output.type.shape)
    sizes[axis] = 1
    piece = element.op("reshape", type=tensor_type(tuple(sizes), output.element))
    zero = index_constant(output.emit, 0)
    starts = [place if d == axis else zero for d in range(output.type.rank)]
    return output.op("dynamic_update_slice", piece, *starts, type=output.type)


# --- ragged_dot -------------------------------------------------------------------------------------------------------


def ragged_dot(emit: Emitter, op: Operation) -> Expr:
    """Return the product, made of products with all but one group masked.

    It is a sum over groups, a product for each group, or, of ragged batches, one product, which depends on what kind of
    dimension of `lhs` is ragged.
    """
    lhs, rhs, sizes = (Expr(emit, operand) for operand in op.operands)
    result = Expr(emit, op.results[0]).type
    (ragged,) = op.properties["lhs_ragged_dimensions"]
    if ragged in op.properties.get("lhs_contracting_dimensions", ()):
        return _over_ragged_contraction(op, lhs, rhs, sizes, result)
    if ragged not in op.properties.get("lhs_batching_dimensions", ()):
        return _over_ragged_rows(op, lhs, rhs, sizes, result)
    return _dot(op, lhs, rhs, result, op.properties["rhs_batching_dimensions"], _contracting(op))


def _contracting(op: Operation) -> tuple[int, ...]:
    return tuple(op.properties["rhs_contracting_dimensions"])


def _dot(
    op: Operation, lhs: Expr, rhs: Expr, result: TensorType, batching: Sequence[int], contracting: Sequence[int]
) -> Expr:
    return lhs.op(
        "dot_general", rhs, type=result,
        lhs_batching_dimensions=op.properties.get("lhs_batching_dimensions", ()),
        rhs_batching_dimensions=tuple(batching),
        lhs_contracting_dimensions=op.properties.get("lhs_contracting_dimensions", ()),
        rhs_contracting_dimensions=tuple(contracting),
        precision_config=op.properties.get("precision_config"),
    )  # fmt: skip


def _over_ragged_rows(op: Operation, lhs: Expr, rhs: Expr, sizes: Expr, result: TensorType) -> Expr:
    """Each group of rows of `lhs` has its own `rhs`."""
    group_axis = op.properties["rhs_group_dimensions"][0]
    count = rhs.type.shape[group_axis]
    if count is None:
        raise cannot_legalize(op)
    groups = _Groups(op, lhs, sizes)
    batching = [d - (d > group_axis) for d in op.properties.get("rhs_batching_dimensions", ())]
    contracting = [d - (d > group_axis) for d in _contracting(op)]
    total: Expr | None = None
    for index in range(count):
        masked = groups.masked(index)
        product = _dot(op, masked, _group_of(rhs, group_axis, index), result, batching, contracting)
        total = product if total is None else total + product
    if total is None:
        raise cannot_legalize(op)
    return total


def _over_ragged_contraction(op: Operation, lhs: Expr, rhs: Expr, sizes: Expr, result: TensorType) -> Expr:
    """The contracting dimension is ragged: one product for each group."""
    count = sizes.type.shape[-1]
    if not count:
        raise cannot_legalize(op)
    groups = _Groups(op, lhs, sizes)
    type = tensor_type(result.shape[1:], result.element_type)
    batching = op.properties.get("rhs_batching_dimensions", ())
    products = [_dot(op, groups.masked(index), rhs, type, batching, _contracting(op)) for index in range(count)]
    first, *others = [_with_leading_axis(product) for product in products]
    return first.op("concatenate", *others, type=result, dimension=0)


class _Groups:
    """Masks `lhs` to the elements of one group after the other."""

    def __init__(self, op: Operation, lhs: Expr, sizes: Expr) -> None:
        self.lhs, self.sizes = lhs, sizes
        self.axis = op.properties["lhs_ragged_dimensions"][0]
        self.batch = sizes.type.shape[:-1]
        summed = (op.properties.get(f"lhs_{kind}_dimensions", ()) for kind in ("batching", "contracting"))
        self.batch_axes = before_ragged(lhs.type, self.axis, *summed)[: len(self.batch)]
        self.start = _first_starts(sizes, self.batch)
        self.positions = _positions(lhs, self.axis)
        self.zero = like(lhs, 0)

    def masked(self, index: int) -> Expr:
        """Return `lhs` with zeros instead of the elements of other groups."""
        limit = self.start + _group_size(self.sizes, index, self.batch)
        first = _broadcast_like(self.start, self.lhs, self.batch_axes)
        end = _broadcast_like(limit, self.lhs, self.batch_axes)
        positions = _broadcast_like(self.positions, self.lhs, tuple(range(self.lhs.type.rank)))
        from_start = positions >= first
        mask = from_start & (positions < end)
        self.start = limit
        return mask.op("select", self.lhs, self.zero, type=self.lhs.type)


def _first_starts(sizes: Expr, batch: Shape) -> Expr:
    """Return the start of the first group in each batch."""
    if None not in batch:
        return Expr(sizes.emit, sizes.emit.constant(tensor_type(batch, I64), 0))
    shape, rank = shape_of(sizes), sizes.type.rank
    shape = shape.op(
        "slice", type=tensor_type((rank - 1,), INDEX), start_indices=(0,), limit_indices=(rank - 1,), strides=(1,)
    )
    zero = index_constant(sizes.emit, 0)
    return zero.op("dynamic_broadcast_in_dim", shape, type=tensor_type(batch, I64), broadcast_dimensions=())


def _positions(lhs: Expr, axis: int) -> Expr:
    """Return the indices along the ragged dimension, with size 1 in all others."""
    sizes: Shape = tuple(n if d == axis else 1 for d, n in enumerate(lhs.type.shape))
    type = tensor_type(sizes, I64)
    if sizes[axis] is not None:
        return Expr(lhs.emit, lhs.emit.value("stablehlo.iota", type=type, iota_dimension=axis))
    parts = [index_size_of(lhs, d) if n is None else n for d, n in enumerate(sizes)]
    return index_vector(lhs.emit, parts).op("dynamic_iota", type=type, iota_dimension=axis)


def _group_size(sizes: Expr, index: int, batch: Shape) -> Expr:
    """Return the size of a group in each batch, as i64."""
    kept = [known_size_of(sizes, d) for d in range(len(batch))]
    part = sliced(sizes, [*(0 for _ in batch), index], [*kept, index + 1], (*batch, 1))
    size = part.op("reshape", type=tensor_type(batch, sizes.element))
    return size if sizes.element == I64 else size.op("convert", type=tensor_type(batch, I64))


def _broadcast_like(x: Expr, lhs: Expr, axes: tuple[int, ...]) -> Expr:
    type = tensor_type(lhs.type.shape, x.element)
    if lhs.type.is_static:
        return x.op("broadcast_in_dim", type=type, broadcast_dimensions=axes)
    return x.op("dynamic_broadcast_in_dim", shape_of(lhs), type=type, broadcast_dimensions=axes)


def _group_of(rhs: Expr, axis: int, index: int) -> Expr:
    """Return the slice of `rhs` for a group, without the group dimension."""
    sizes, cut = [known_size_of(rhs, d) for d in range(rhs.type.rank)], list(rhs.type.shape)
    starts = [index if d == axis else 0 for d in range(rhs.type.rank)]
    sizes[axis], cut[axis] = index + 1, 1
    part = sliced(rhs, starts, sizes, tuple(cut))
    del sizes[axis]
    return reshaped(part, sizes, without(rhs.type.shape, [axis]))


def _with_leading_axis(x: Expr) -> Expr:
    if x.type.is_static:
        return x.op("reshape", type=tensor_type((1, *x.type.shape), x.element))
    one = index_vector(x.emit, [1])
    return reshaped(x, [one, *(index_size_of(x, d) for d in range(x.type.rank))], (1, *x.type.shape))
