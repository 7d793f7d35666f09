"""Ops of chains on rows: reductions of blocks of whole rows, and views of one value per row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stablehlo_ref.define.bound import BoundOp, bind
from stablehlo_ref.execute.fuse.groups import shape_of
from stablehlo_ref.execute.fuse.machine.sums import with_machine_sums
from stablehlo_ref.execute.steps import with_grouped_operands
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import tensor_type


def reduction(bound: BoundOp, box: tuple[int, ...], rows: int | None) -> Callable[..., Array]:
    """Plan a reduction of the dimensions from `rows` on for a tensor of the shape `box`."""
    reduce = with_machine_sums(bound, lambda shape: of_shape(bound, shape, rows), box)

    def run(x: Array, init: Array) -> Array:
        result: Array = reduce(x if x.shape == box else np.broadcast_to(x, box), init)
        return result

    return run


def of_shape(bound: BoundOp, shape: tuple[int, ...], rows: int | None) -> Callable[..., Array]:
    """Plan the same for operands of exactly that shape."""
    operand, init = bound.operands
    types = [tensor_type(shape, operand.element_type), init]
    results = [tensor_type(shape[:rows], bound.results[0].element_type)]
    planned = bind(bound.definition, bound.site, types, results, bound.bodies)
    return with_grouped_operands(bound.definition, len(types), planned.call("plan")).run


def spread(op: Operation, rows: tuple[int, ...]) -> Callable[[Array], Array]:
    """Return a view of a block of one value for each of `rows`, such that it broadcasts to a block of the result."""
    rank = len(shape_of(op.result_types[0]))
    shape = (*rows, *[1] * (rank - len(rows)))
    return lambda x: x.reshape(shape)
