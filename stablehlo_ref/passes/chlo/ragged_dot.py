"""ragged_dot, as products with all but one group masked."""

from __future__ import annotations

from collections.abc import Sequence

from stablehlo_ref.dialects.chlo_structured import before_ragged
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import INDEX, Shape, TensorType, tensor_type
from stablehlo_ref.passes.chlo.structured import (
    I64,
    INDEX_SCALAR,
    INDEX_VECTOR,
    as_vector,
    index_constant,
    index_size_of,
    index_vector,
    joined,
)
from stablehlo_ref.passes.emit import Emitter, cannot_legalize
from stablehlo_ref.passes.expressions import Expr, like, shape_of, size_of


def ragged_dot(emit: Emitter, op: Operation) -> Expr:
    """Return the product: a sum over groups, a product for each group, or, of ragged batches, one product.

    Which of these it is depends on what kind of dimension of `lhs` is ragged.
    """
    lhs, rhs, sizes = (Expr(emit, operand) for operand in op.operands)
    result = op.results[0].type
    assert isinstance(result, TensorType)
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
        self.start = _zeros(sizes, self.batch)
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


def _zeros(sizes: Expr, batch: Shape) -> Expr:
    """Return the start of the first group in each batch."""
    if None not in batch:
        return Expr(sizes.emit, sizes.emit.constant(tensor_type(batch, I64), 0))
    rank = sizes.type.rank
    shape = shape_of(sizes).op(
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
    parts = [index_size_of(lhs, d) if d == axis else index_vector(lhs.emit, [1]) for d in range(lhs.type.rank)]
    return joined(parts).op("dynamic_iota", type=type, iota_dimension=axis)


def _group_size(sizes: Expr, index: int, batch: Shape) -> Expr:
    """Return the size of a group in each batch, as i64."""
    rank = sizes.type.rank
    starts = (*(0,) * (rank - 1), index)
    type = tensor_type((*batch, 1), sizes.element)
    if sizes.type.is_static:
        limits = (*batch, index + 1)
        part = sizes.op("slice", type=type, start_indices=starts, limit_indices=limits, strides=(1,) * rank)
    else:
        start, steps = index_vector(sizes.emit, starts), index_vector(sizes.emit, [1] * rank)
        parts = [size_of(sizes, d).op("convert", type=INDEX_SCALAR) for d in range(rank - 1)]
        parts.append(index_constant(sizes.emit, index + 1))
        limit = joined([as_vector(part) for part in parts])
        part = sizes.op("real_dynamic_slice", start, limit, steps, type=type)
    size = part.op("reshape", type=tensor_type(batch, sizes.element))
    return size if sizes.element == I64 else size.op("convert", type=tensor_type(batch, I64))


def _broadcast_like(x: Expr, lhs: Expr, axes: tuple[int, ...]) -> Expr:
    type = tensor_type(lhs.type.shape, x.element)
    if lhs.type.is_static:
        return x.op("broadcast_in_dim", type=type, broadcast_dimensions=axes)
    return x.op("dynamic_broadcast_in_dim", shape_of(lhs), type=type, broadcast_dimensions=axes)


def _group_of(rhs: Expr, axis: int, index: int) -> Expr:
    """Return the slice of `rhs` for a group, without the group dimension."""
    rank = rhs.type.rank
    kept: Shape = tuple(n for d, n in enumerate(rhs.type.shape) if d != axis)
    cut = tensor_type(tuple(1 if d == axis else n for d, n in enumerate(rhs.type.shape)), rhs.element)
    if rhs.type.is_static:
        starts = tuple(index if d == axis else 0 for d in range(rank))
        limits = tuple(index + 1 if d == axis else n for d, n in enumerate(rhs.type.shape))
        part = rhs.op("slice", type=cut, start_indices=starts, limit_indices=limits, strides=(1,) * rank)
        return part.op("reshape", type=tensor_type(kept, rhs.element))
    starts_parts, limits_parts = [], []
    for d in range(rank):
        starts_parts.append(index_vector(rhs.emit, [index if d == axis else 0]))
        limits_parts.append(index_vector(rhs.emit, [index + 1]) if d == axis else index_size_of(rhs, d))
    bounds = joined(starts_parts), joined(limits_parts), index_vector(rhs.emit, [1] * rank)
    part = rhs.op("real_dynamic_slice", *bounds, type=cut)
    shape = joined([size for d, size in enumerate(limits_parts) if d != axis])
    return part.op("dynamic_reshape", shape, type=tensor_type(kept, rhs.element))


def _with_leading_axis(x: Expr) -> Expr:
    type = tensor_type((1, *x.type.shape), x.element)
    if x.type.is_static:
        return x.op("reshape", type=type)
    one = Expr(x.emit, x.emit.constant(INDEX_VECTOR, 1))
    return x.op("dynamic_reshape", joined([one, *(index_size_of(x, d) for d in range(x.type.rank))]), type=type)
