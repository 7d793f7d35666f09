"""Shardy's mpmd ops: where a tensor is changes none of its elements, so that moves between meshes return operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from stablehlo_ref.semantics.elementwise import add, and_, maximum, minimum, multiply, or_
from stablehlo_ref.semantics.notation import Array, Arrays

Function = Callable[..., Arrays]
COMBINED: Mapping[str, Callable[[Array, Array], Array]] = {
    "ADD": add, "MAX": maximum, "MIN": minimum, "MUL": multiply, "OR": or_, "AND": and_,
}  # fmt: skip


def transfer(tensor: Array) -> Array:
    return tensor


assign = broadcast = named_tensor = unassign = transfer


def named_computation(tensors: Arrays, region: Function) -> Arrays:
    return region(*tensors)


def fragment(inputs: Arrays, region: Function) -> Arrays:
    return region(*inputs)


def call(tensors: Arrays, callee: Function) -> Arrays:
    return callee(*tensors)


fragment_call = call


def for_(tensors: Arrays, iterations: int, region: Function) -> Arrays:
    """Call `region(*carried, i)` for each iteration i, on what it returned before."""
    carried = tensors
    for i in range(iterations):
        carried = region(*carried, np.array(i, np.int32))
    return carried


def reduce(tensors: Arrays, reduction: str) -> Array:
    """Combine the tensors from the first to the last; that of `NONE` is the only one."""
    total = tensors[0]
    for tensor in tensors[1:]:
        total = COMBINED[reduction](total, tensor)
    return total
