"""reduce: a body applied along dimensions, in the order that algorithms/folding.py defines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.algorithms.folding import folding
from stablehlo_ref.define import Attr, Body, Ins, Op, Outs
from stablehlo_ref.kinds import Dims, per_tensor_quantized, scalar_tensor, tensor
from stablehlo_ref.numerics.quantized import to_destination_type
from stablehlo_ref.spec import (
    dims,
    element_type,
    in_range,
    is_promotable,
    is_unique,
    make_tensor_type,
    rank,
    same,
    shape,
    size,
    tensor_type,
    without,
)

Array = Any  # numpy arrays and scalars
Types = Sequence[Any]


class Reduce(Op, op="reduce"):
    """Reduces `inputs` along `dimensions` by `body`, `init_values` standing first."""

    inputs = Ins(tensor | per_tensor_quantized)  # I1
    init_values = Ins(scalar_tensor)  # I2
    dimensions = Attr(Dims)  # I3
    body = Body()  # I4
    results = Outs(tensor | per_tensor_quantized)

    syntax = "custom(reduce)"

    @staticmethod
    def infer(inputs: Types, dimensions: Any, body: Any) -> Any:
        sizes = without(shape(inputs[0]), dimensions)
        return tuple(make_tensor_type(sizes, element_type(t)) for t in body.outputs)

    @staticmethod
    def constraints(C: Any, inputs: Types, init_values: Types, dimensions: Any, body: Any, results: Types) -> None:
        C(1, same(map(shape, inputs)))
        C(2, list(map(element_type, inputs)) == list(map(element_type, init_values)))
        C(3, 0 < size(inputs) == size(init_values) == size(results))
        C(4, in_range(dimensions, rank(inputs[0])))
        C(5, is_unique(dimensions))
        C(6, is_reducer(body, inputs))
        C(7, all(shape(t) == without(shape(inputs[0]), dimensions) for t in results))
        C(8, list(map(element_type, results)) == list(map(element_type, body.outputs)))

    @classmethod
    def plan(cls, inputs: Types, dimensions: Any, body: Any, results: Types) -> Callable[..., Any]:
        promote, sizes = promotion(inputs, results), shape(results[0])
        if not size(results[0]) or 0 in dims(inputs[0], dimensions):
            return lambda inputs, init_values: one_or_all([np.broadcast_to(v, sizes) for v in promote(init_values)])
        fold = folding(body, shape(inputs[0]), dimensions)

        def run(inputs: Sequence[Array], init_values: Sequence[Array]) -> Any:
            return one_or_all(body.each(*promote(init_values), *fold(promote(inputs))))

        return run


def is_reducer(body: Any, inputs: Types) -> bool:
    """Whether `body` takes two lists of scalars and gives one, of types that those of `inputs` can be promoted to."""
    scalars = tuple(tensor_type((), element_type(t)) for t in body.outputs)
    promotable = len(scalars) == len(inputs) and all(map(is_promotable, inputs, scalars))
    return promotable and body.outputs == scalars and body.inputs == scalars * 2


def promotion(inputs: Types, results: Types) -> Callable[[Sequence[Array]], Sequence[Array]]:
    """Converts arrays of the element types of `inputs` to those of `results`, which are the body's."""
    pairs = [(element_type(i), element_type(r)) for i, r in zip(inputs, results)]
    if all(a == b for a, b in pairs):
        return lambda arrays: arrays
    kernels = [to_destination_type(a, b) for a, b in pairs]
    return lambda arrays: [kernel(x) for kernel, x in zip(kernels, arrays)]


def one_or_all(results: Sequence[Array]) -> Any:
    """What an op's run returns: the result where there is one, else all of them."""
    return results[0] if len(results) == 1 else results
