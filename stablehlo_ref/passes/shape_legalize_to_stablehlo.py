"""Replace ops on shapes of other dialects, whose sizes are of type index, by ops of StableHLO on i32."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from stablehlo_ref.define.spec import element_type
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.ir.types import INDEX, TensorType, Type, integer_type, tensor_type
from stablehlo_ref.passes.analysis import defined_by
from stablehlo_ref.passes.emit import Emitter, Expr, cannot_legalize, equal, select, static_shape
from stablehlo_ref.passes.patterns import erase_dead, shape_of, static
from stablehlo_ref.passes.registry import transformation

I32, I64 = integer_type(32), integer_type(64)
CAST = "builtin.unrealized_conversion_cast"
Legalize = Callable[[Emitter, Operation], Value | None]  # None where the op cannot be replaced


@transformation("shape-legalize-to-stablehlo", "replace ops on shapes by ops of StableHLO")
def shape_legalize_to_stablehlo(module: Operation) -> None:
    """Replace ops of shape and tensor, `arith.index_cast` and `arith.muli` on index, by ops of StableHLO on i32.

    Values of index are cast where other ops need them, so that all sizes and products of sizes have to be less than
    2^31. Dynamic ops of StableHLO take the i32. UnsupportedError for ops of these dialects that StableHLO has nothing
    for, such as those on `!shape.shape`. `shape.broadcast` also becomes right where a size is 0, by `select`.
    """
    with Rewriter(module) as rewriter:
        for op in list(module.walk()):
            emit = Emitter(rewriter, op)
            if op.name in LEGALIZED or (op.name.startswith(("shape.", "tensor.")) and op.name != "tensor.cast"):
                legalize = LEGALIZED.get(op.name)
                if legalize is None or (found := legalize(emit, op)) is None:
                    raise cannot_legalize(op)
                rewriter.replace(op, [_cast(emit, found, op.results[0].type)])
            elif op.name.startswith("stablehlo."):
                for index, operand in enumerate(op.operands):
                    if getattr(operand.type, "element_type", None) == INDEX:
                        rewriter.set_operand(op, index, _in_i32(emit, operand))
    erase_dead(module)


def _cast(emit: Emitter, value: Value, type: Type) -> Value:
    """Return a value as another type: what it was cast from, or a cast of it."""
    if value.type == type:
        return value
    cast = defined_by(value, CAST)
    return cast.operands[0] if cast and cast.operands[0].type == type else emit.value(CAST, value, type=type)


def _in_i32(emit: Emitter, value: Value) -> Value:
    """Return an index, a tensor of them, or an i32 as a tensor of i32."""
    type = replace(value.type, element_type=I32) if isinstance(value.type, TensorType) else tensor_type((), I32)
    number = _constant_index(value)
    return _cast(emit, value, type) if number is None else emit.constant(type, number)


def _element(emit: Emitter, vector: Value, index: Sequence[int]) -> Value:
    """Emit one element of a tensor as a scalar."""
    limits, strides = tuple(i + 1 for i in index), (1,) * len(index)
    part = emit.value("stablehlo.slice", vector, start_indices=tuple(index), limit_indices=limits, strides=strides)
    return emit.value("stablehlo.reshape", part, type=tensor_type((), element_type(vector.type)))


def _vector(emit: Emitter, scalars: Iterable[Value]) -> Value:
    """Emit scalars of i32 or index as a vector."""
    one, parts = tensor_type((1,), I32), []
    for x in scalars:
        number = _constant_index(x)
        if number is None:
            parts.append(emit.value("stablehlo.reshape", _in_i32(emit, x), type=one))
        else:
            parts.append(emit.constant(one, number))
    if not parts:
        return emit.constant(tensor_type((0,), I32), np.zeros(0))
    return emit.value("stablehlo.concatenate", *parts, dimension=0)


# --- ops ------------------------------------------------------------------------------------------------------------


def _const_shape(emit: Emitter, op: Operation) -> Value | None:
    if not isinstance(op.results[0].type, TensorType):
        return None
    sizes = op.properties["sizes"]
    return emit.constant(tensor_type((len(sizes),), I32), np.asarray(sizes, np.int64))


def _shape_of(emit: Emitter, op: Operation) -> Value | None:
    """Make `shape_of` the vector of all sizes of a ranked tensor."""
    (x,), result = op.operands, op.results[0].type
    if not isinstance(x.type, TensorType) or not isinstance(result, TensorType):
        return None
    scalar = tensor_type((), I32)
    dimensions = range(x.type.rank)
    return _vector(emit, (emit.value("stablehlo.get_dimension_size", x, type=scalar, dimension=d) for d in dimensions))


def _num_elements(emit: Emitter, op: Operation) -> Value | None:
    """Make `num_elements` the product of the sizes."""
    shape = op.operands[0]
    if element_type(op.results[0].type) != INDEX or element_type(shape.type) != INDEX or not static(shape):
        return None
    sizes = _in_i32(emit, shape)
    product = Expr(emit, emit.constant(tensor_type((), I32), 1))
    for i in range(shape_of(sizes)[0] or 0):
        product = product * Expr(emit, _element(emit, sizes, (i,)))
    return product.value


def _broadcast(emit: Emitter, op: Operation) -> Value | None:
    """Make the broadcast of two shapes the sizes of the first that are not 1, else those of the second."""
    types = [static(x) for x in (*op.operands, *op.results)]
    if len(op.operands) != 2 or None in types:
        return None
    rank = max(type.size for type in types if type)
    x, y = (Expr(emit, _padded(emit, _in_i32(emit, shape), rank)) for shape in op.operands)
    return select(equal(x, 1), y, x).value


def _padded(emit: Emitter, sizes: Value, rank: int) -> Value:
    missing = rank - (shape_of(sizes)[0] or 0)
    if not missing:
        return sizes
    return emit.value("stablehlo.concatenate", emit.constant(tensor_type((missing,), I32), 1), sizes, dimension=0)


def _index_cast(emit: Emitter, op: Operation) -> Value | None:
    """Make a cast of an index to i32 or i64, or of an i32 to index, a `convert` or nothing."""
    source, target = (element_type(value.type) for value in (op.operands[0], op.results[0]))
    if target == INDEX:
        return _in_i32(emit, op.operands[0]) if source == I32 else None
    if target not in (I32, I64):
        return None
    narrow = _in_i32(emit, op.operands[0])
    wide = tensor_type(shape_of(narrow), target)
    return narrow if target == I32 else emit.value("stablehlo.convert", narrow, type=wide)


def _multiply(emit: Emitter, op: Operation) -> Value | None:
    if element_type(op.results[0].type) != INDEX:
        return None
    x, y = (Expr(emit, _in_i32(emit, operand)) for operand in op.operands)
    return (x * y).value


def _dim(emit: Emitter, op: Operation) -> Value | None:
    """Make `tensor.dim` of a constant dimension its size."""
    x, index = op.operands
    axis = _constant_index(index)
    if axis is None or not 0 <= axis < len(shape_of(x)):
        return None
    return emit.value("stablehlo.get_dimension_size", x, type=tensor_type((), I32), dimension=axis)


def _constant_index(value: Value) -> int | None:
    constant = defined_by(value, "arith.constant")
    return getattr(constant.properties["value"], "value", None) if constant else None


def _extract(emit: Emitter, op: Operation) -> Value | None:
    """Make `tensor.extract` at constant indices a slice of one element."""
    x, *indices = op.operands
    type = static(x)
    position = [i for i in map(_constant_index, indices) if i is not None]
    sizes = static_shape(type) if type else ()
    is_inside = type and len(position) == len(sizes) and all(0 <= i < n for i, n in zip(position, sizes))
    if not is_inside or element_type(x.type) not in (INDEX, I32):
        return None
    return _element(emit, _in_i32(emit, x) if element_type(x.type) == INDEX else x, position)


def _from_elements(emit: Emitter, op: Operation) -> Value | None:
    """Make a vector of indices a concatenation, and a scalar a cast."""
    shape = shape_of(op.results[0])
    if not shape and isinstance(op.results[0].type, TensorType):
        return op.operands[0]
    if len(shape) != 1 or element_type(op.results[0].type) != INDEX:
        return None
    return _vector(emit, op.operands)


LEGALIZED: Mapping[str, Legalize] = {
    "arith.index_cast": _index_cast,
    "arith.muli": _multiply,
    "shape.broadcast": _broadcast,
    "shape.const_shape": _const_shape,
    "shape.num_elements": _num_elements,
    "shape.shape_of": _shape_of,
    "tensor.dim": _dim,
    "tensor.extract": _extract,
    "tensor.from_elements": _from_elements,
}
