"""Buffers, which custom_calls read and write, and the memory that their operands and results share.

Spec, "(XLA GPU Support) Special custom_call targets" and "Alias". A buffer is the value that it holds at a time: what
writes to it takes one buffer and gives another, so a shared part is just handed on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.ir.types import BufferType, TensorType, TupleType
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.spec import compatible, element_type, is_unique, shape, size

Types = Sequence[Any]
Path = tuple[int, ...]  # from an operand, or from all results, down into tuples


def create_buffer(call: Any) -> Sequence[Any]:
    """A buffer that nothing was written to: here it holds zeros."""
    (type,) = call.result_types
    return [np.zeros(shape(type), numpy_dtype(element_type(type)))]


def pin_or_unpin(call: Any, value: Any) -> Sequence[Any]:
    """A buffer that holds a tensor's value, or the tensor of a buffer's."""
    return [value]


TARGETS: dict[str, Callable[..., Sequence[Any]]] = {
    "CreateBuffer": create_buffer, "Pin": pin_or_unpin, "Unpin": pin_or_unpin,
}  # fmt: skip


def check_buffers(C: Any, call_target_name: str, inputs: Types, results: Types) -> None:
    """The types of the three calls that make a buffer and end it."""
    if call_target_name == "CreateBuffer":
        C("Special custom_call targets", size(inputs) == 0 and size(results) == 1 and is_buffer(results[0]))
    elif call_target_name == "Pin":
        C("Special custom_call targets", size(inputs) == size(results) == 1 and is_buffer(results[0])
          and isinstance(inputs[0], TensorType) and same_content(inputs[0], results[0]))  # fmt: skip
    elif call_target_name == "Unpin":
        C("Special custom_call targets", size(inputs) == size(results) == 1 and is_buffer(inputs[0])
          and isinstance(results[0], TensorType) and same_content(inputs[0], results[0]))  # fmt: skip


def check_aliases(C: Any, call_target_name: str, inputs: Types, results: Types, aliases: Sequence[Any]) -> None:
    """Parts that share memory have one type; buffers are in one pair at most, those of results in one."""
    output: Any = results[0] if size(results) == 1 else TupleType(tuple(results))
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


def pair_of(alias: Any) -> tuple[Path, Path]:
    """The paths to a part of the results and to one of the operands, whose first step is the operand's number."""
    fields = alias.fields
    index = fields["operand_index"].value
    return integers(fields["output_tuple_indices"]), (index, *integers(fields["operand_tuple_indices"]))


def integers(attribute: Any) -> Path:
    """`[0, 1]`, in whatever form it was read."""
    values = getattr(attribute, "values", attribute)
    return tuple(getattr(value, "value", value) for value in values)


def part_at(type: Any, path: Sequence[int]) -> Any:
    """The type of a part. IndexError where there is none."""
    for index in path:
        if not isinstance(type, TupleType) or index < 0:
            raise IndexError(f"{type} has no element {index}")
        type = type.elements[index]
    return type


def buffers_in(type: Any, path: Path = ()) -> list[Path]:
    """The paths to all buffers in a type."""
    if isinstance(type, TupleType):
        return [found for i, element in enumerate(type.elements) for found in buffers_in(element, (*path, i))]
    return [path] if is_buffer(type) else []


def is_buffer(type: Any) -> bool:
    return isinstance(type, BufferType)


def same_content(x: Any, y: Any) -> bool:
    return shape(x) == shape(y) and element_type(x) == element_type(y)
