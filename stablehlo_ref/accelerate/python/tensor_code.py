"""How ops on small tensors are computed by Python expressions, without a call of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.accelerate.python.scalar_code import is_plain, scalar_code
from stablehlo_ref.execute.guard import LARGE, byte_size
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.ops.slicing import OWN_BYTES

MOVES = frozenset(  # move elements
    f"stablehlo.{name}" for name in ("slice", "reshape", "broadcast_in_dim", "concatenate", "transpose", "reverse")
)


def code_of(op: Operation, known: Sequence[Any]) -> str | None:
    """Return the expression of an op, or statements; None if it has none, and its kernel is called.

    `known` are the values of the operands that are constant scalars, and None for others.
    """
    rule = _RULES.get(op.name)
    if rule is None:
        return scalar_code(op, known)
    if not all(is_plain(t) for t in (*op.operand_types, *op.result_types)):
        return None
    return rule(op, known) or scalar_code(op, known)


def scalar_type(type: Type) -> Any:
    """Return the class of numpy's scalars of a type."""
    assert isinstance(type, TensorType)
    return numpy_dtype(type.element_type).type


def _reshape(op: Operation, known: Sequence[Any]) -> str | None:
    """Return the expression of a reshape that only adds dimensions of size 1, or removes some, to a scalar as well."""
    shape, sizes = shape_of(op.operands[0]), shape_of(op.results[0])
    if not sizes and shape:
        return f"{{0}}[{', '.join('0' * len(shape))}]"
    return _with_unit_dimensions(shape, sizes)


def _broadcast(op: Operation, known: Sequence[Any]) -> str | None:
    """Return the expression of a broadcast that only adds dimensions of size 1."""
    dimensions = op.properties["broadcast_dimensions"]
    if list(dimensions) != sorted(dimensions):
        return None
    return _with_unit_dimensions(shape_of(op.operands[0]), shape_of(op.results[0]))


def _with_unit_dimensions(shape: Sequence[int], sizes: Sequence[int]) -> str | None:
    """Return the index that makes a view of `sizes` of an array, which takes less time than its method `reshape`."""
    index, left, added = list[str](), list(shape), list(sizes)
    while left or added:
        if left and added and left[0] == added[0]:
            index.append(":")
            del left[0], added[0]
        elif left and left[0] == 1:
            index.append("0")
            del left[0]
        elif added and added[0] == 1:
            index.append("None")
            del added[0]
        else:
            return None
    while index and index[-1] == ":":
        index.pop()
    return f"{{0}}[{', '.join(index)}]" if index and shape and sizes else None


def _slice(op: Operation, known: Sequence[Any]) -> str | None:
    """Return the expression of a slice at fixed indices."""
    bounds = zip(*(op.properties[name] for name in ("start_indices", "limit_indices", "strides")))
    index = [f"{first}:{last}:{step}" if step > 1 else f"{first}:{last}" for first, last, step in bounds]
    whole = [f"0:{size}" for size in shape_of(op.operands[0])]
    while index and index[-1] == whole[len(index) - 1]:
        index.pop()
    return f"{{0}}[{', '.join(index)}]" if index else None


def _dynamic_slice(op: Operation, known: Sequence[Any]) -> str | None:
    """Return a slice at clamped indices, copied if it is small, as the kernel does."""
    sizes = shape_of(op.results[0])
    if not sizes:
        return None
    code, place = located_slice(shape_of(op.operands[0]), sizes, known[1:], 1)
    is_small = prod(sizes) * np.dtype(scalar_type(op.results[0].type)).itemsize <= OWN_BYTES
    return f"{code}{{r}} = {{0}}[{place}]{'.copy()' if is_small else ''}"


def located_slice(
    shape: Sequence[int], sizes: Sequence[int], known: Sequence[Any], first: int
) -> tuple[str, str]:  # fmt: skip
    """Return statements that clamp the start indices of a slice, operands from `first` on, and its index."""
    code, places = "", []
    for axis, (whole, size, start) in enumerate(zip(shape, sizes, known)):
        last, x = whole - size, f"x{axis}"
        if not last:
            places.append(":")
        elif start is not None:
            at = min(max(int(start), 0), last)
            places.append(f"{at}:{at + size}")
        else:
            code += f"{x} = {{index}}({{{first + axis}}})\n"
            code += f"if not 0 <= {x} <= {last}: {x} = 0 if {x} < 0 else {last}\n"
            places.append(f"{x}:{x} + {size}")
    return code, ", ".join(places)


def update_code(op: Operation, known: Sequence[Any]) -> str | None:
    """Return the statements of a dynamic_update_slice into `{r}`, an array that may be overwritten."""
    shape, sizes = shape_of(op.operands[0]), shape_of(op.operands[1])
    if shape == sizes or not all(is_plain(t) for t in op.operand_types):
        return None
    if byte_size(op.results[0].type) >= LARGE:  # the kernel checks the budget before it copies so much
        return None
    code, place = located_slice(shape, sizes, known[2:], 2)
    return f"{code}{{r}}[{place}] = {{1}}"


def scatter_code(op: Operation) -> str | None:
    """Return the statements of a scatter of one update, a scalar or a part along whole dimensions, into `{r}`.

    `{r}` is an array that may be overwritten; operands are the array, the update and the indices one by one.
    """
    if len(op.operands) != 3 or not all(map(is_plain, op.operand_types)):
        return None
    sign = _assignment(op.regions[0].block)
    if sign is None:
        return None
    axes, inserted = op.properties["scatter_dims_to_operand_dims"], op.properties["inserted_window_dims"]
    shape, sizes, update = map(shape_of, op.operands)
    kept = tuple(size for axis, size in enumerate(shape) if axis not in inserted)
    if sizes != (len(inserted) or -1,) or op.properties["index_vector_dim"] or sorted(axes) != sorted(inserted):
        return None
    if update != kept or sorted(op.properties["update_window_dims"]) != list(range(len(update))):
        return None
    if byte_size(op.results[0].type) >= LARGE:
        return None
    places = [f"x{axis}" if axis in axes else ":" for axis in range(len(shape))]
    code = "".join(f"x{axis} = index({{{number}}})\n" for number, axis in enumerate(axes, 2))
    test = " and ".join(f"0 <= x{axis} < {shape[axis]}" for axis in axes)
    return f"{code}if {test}: {{r}}[{', '.join(places)}] {sign} {{1}}"


def _assignment(block: Block) -> str | None:
    """Return the assignment that the body of a scatter of one input stands for, which replaces elements or adds."""
    match block.operations:
        case [terminator] if terminator.operands == block.arguments[1:]:
            return "="
        case [op, terminator] if op.name == "stablehlo.add" and terminator.operands == op.results:
            is_exact = np.dtype(scalar_type(op.results[0].type)).kind in "iu" or scalar_type(op.results[0].type) in (
                np.float32,
                np.float64,
            )
            return "+=" if is_exact and op.operands == block.arguments else None
    return None


def shape_of(value: Value) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType)
    return tuple(n or 0 for n in value.type.shape)


_RULES = {
    "stablehlo.broadcast_in_dim": _broadcast,
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.reshape": _reshape,
    "stablehlo.slice": _slice,
}
