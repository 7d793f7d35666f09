"""Buffers of custom_calls, and the memory that operands and results share.

Spec, "(XLA GPU Support) Special custom_call targets" and "Alias". Buffers are immutable here: a custom_call that writes
to a buffer takes its old value as an operand and returns the new value, so aliases need no shared memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.spec import compatible, element_type, is_unique, shape, size
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import Attribute, DenseArray, IntegerAttribute, StructAttribute
from stablehlo_ref.ir.types import BufferType, TensorType, TupleType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype

if TYPE_CHECKING:
    from stablehlo_ref.ops.extensibility import CustomCall

Path: TypeAlias = tuple[int, ...]  # indices into nested tuples, from an operand or from the tuple of all results


def create_buffer(call: CustomCall) -> Sequence[Array]:
    """Return buffers with unspecified contents, here zeros."""
    return [np.zeros(shape(type), numpy_dtype(element_type(type))) for type in call.result_types]


def pin_or_unpin(call: CustomCall, value: Array) -> Sequence[Array]:
    """Convert between a tensor and a buffer with its value."""
    return [value]


TARGETS: dict[str, Callable[..., Sequence[Array]]] = {
    "CreateBuffer": create_buffer, "Pin": pin_or_unpin, "Unpin": pin_or_unpin,
}  # fmt: skip


def check_buffers(C: Checker, call_target_name: str, inputs: Sequence[Type], results: Sequence[Type]) -> None:
    """Check the types of the targets that create, pin and unpin buffers."""
    if call_target_name == "CreateBuffer":
        C("Special custom_call targets", size(inputs) == 0 and size(results) == 1 and is_buffer(results[0]))
    elif call_target_name == "Pin":
        C("Special custom_call targets", size(inputs) == size(results) == 1 and is_buffer(results[0])
          and isinstance(inputs[0], TensorType) and same_content(inputs[0], results[0]))  # fmt: skip
    elif call_target_name == "Unpin":
        C("Special custom_call targets", size(inputs) == size(results) == 1 and is_buffer(inputs[0])
          and isinstance(results[0], TensorType) and same_content(inputs[0], results[0]))  # fmt: skip


def check_aliases(
    C: Checker,
    call_target_name: str,
    inputs: Sequence[Type],
    results: Sequence[Type],
    aliases: Sequence[StructAttribute],
) -> None:
    """Check `output_operand_aliases`.

    Aliased parts have the same type, a buffer operand is aliased at most once, and a buffer result exactly once.
    """
    output = results[0] if size(results) == 1 else TupleType(tuple(results))
    pairs = [pair_of(alias) for alias in aliases]
    outputs, operands = [output for output, _ in pairs], [operand for _, operand in pairs]
    C("Alias", all(0 <= operand[0] < size(inputs) for operand in operands))
    C("Alias", all(compatible(part_at(output, path), part_at(inputs[i], inner)) for path, (i, *inner) in pairs))
    if call_target_name in TARGETS:
        return
    buffers = [path for path in operands if is_buffer(part_at(inputs[path[0]], path[1:]))]
    written = [path for path in outputs if is_buffer(part_at(output, path))]
    C("Alias", is_unique(buffers))
    C("Alias", is_unique(written) and set(written) == set(buffers_in(output)))


def pair_of(alias: StructAttribute) -> tuple[Path, Path]:
    """Return the paths to a part of the results and to a part of the operands; the latter starts with the operand."""
    fields = alias.fields
    index = fields["operand_index"].value
    return integers(fields["output_tuple_indices"]), (index, *integers(fields["operand_tuple_indices"]))


def integers(attribute: Attribute) -> Path:
    """Return the elements of `array<i64: 0, 1>` or `[0, 1]`. TypeError for any other attribute."""
    values = attribute.values if isinstance(attribute, DenseArray) else attribute
    if not isinstance(values, tuple):
        raise TypeError(f"{attribute} is not a list of integers")
    return tuple(value.value if isinstance(value, IntegerAttribute) else int(value) for value in values)


def part_at(type: Type, path: Sequence[int]) -> Type:
    """Return the type of a part. IndexError if there is no such part."""
    for index in path:
        if not isinstance(type, TupleType) or index < 0:
            raise IndexError(f"{type} has no element {index}")
        type = type.elements[index]
    return type


def buffers_in(type: Type, path: Path = ()) -> list[Path]:
    """Return the paths to all buffers in a type."""
    if isinstance(type, TupleType):
        return [found for i, element in enumerate(type.elements) for found in buffers_in(element, (*path, i))]
    return [path] if is_buffer(type) else []


def is_buffer(type: Type) -> bool:
    """Return whether `type` is a buffer type."""
    return isinstance(type, BufferType)


def same_content(x: Type, y: Type) -> bool:
    """Return whether a tensor type and a buffer type have the same shape and element type."""
    return shape(x) == shape(y) and element_type(x) == element_type(y)
