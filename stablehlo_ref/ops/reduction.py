"""reduce: the reduction of dimensions by a region, in the order that algorithms/reduction_schedule.py defines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from stablehlo_ref.algorithms.reduction_schedule import plan_reduction
from stablehlo_ref.define.attribute_codecs import Dims
from stablehlo_ref.define.computation import RegionFunction, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import FOLDS
from stablehlo_ref.define.op import Attr, Body, Ins, Op, Outs
from stablehlo_ref.define.spec import (
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
from stablehlo_ref.define.type_constraints import init_value, per_tensor_quantized, tensor
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.types import FunctionType, TensorType
from stablehlo_ref.numerics.quantized import to_destination_type

Types: TypeAlias = Sequence[TensorType]
Results: TypeAlias = "RuntimeValue | Sequence[RuntimeValue]"  # of an op's run: of one result its value

T = TypeVar("T")


class Reduce(Op, op="reduce", nans="computed", facts=FOLDS):
    """Reduce `inputs` along `dimensions` by `body`, starting from `init_values`."""

    inputs = Ins(tensor | per_tensor_quantized)  # I1
    init_values = Ins(init_value)  # I2
    dimensions = Attr(Dims)  # I3
    body = Body()  # I4
    results = Outs(tensor | per_tensor_quantized)

    syntax = "custom(reduce)"

    @staticmethod
    def infer(inputs: Sequence[TensorType], dimensions: Dims, body: FunctionType) -> Sequence[TensorType]:
        sizes = without(shape(inputs[0]), dimensions)
        return tuple(make_tensor_type(sizes, element_type(t)) for t in body.outputs)

    @staticmethod
    def constraints(
        C: Checker,
        inputs: Sequence[TensorType],
        init_values: Sequence[TensorType],
        dimensions: Dims,
        body: FunctionType,
        results: Sequence[TensorType],
    ) -> None:
        C(1, same(map(shape, inputs)))
        C(2, list(map(element_type, inputs)) == list(map(element_type, init_values)))
        C(3, 0 < size(inputs) == size(init_values) == size(results))
        C(4, in_range(dimensions, rank(inputs[0])))
        C(5, is_unique(dimensions))
        C(6, is_reducer(body, inputs))
        C(7, all(shape(t) == without(shape(inputs[0]), dimensions) for t in results))
        C(8, list(map(element_type, results)) == list(map(element_type, body.outputs)))

    @classmethod
    def plan(
        cls, inputs: Sequence[TensorType], dimensions: Dims, body: RegionFunction, results: Sequence[TensorType]
    ) -> Run:
        """Plan a legal schedule of the reduction: see `semantics.reduction.reduce`.

        All results are computed at once, by `body` on whole slices: one call per level of a binary tree, with whose
        results `init_values` are combined at the end, or, for a body that is not associative, one call per step of a
        left fold that begins with `init_values` (algorithms/reduction_schedule.py).
        """
        promote, sizes = promotion(inputs, results), shape(results[0])
        if not size(results[0]) or 0 in dims(inputs[0], dimensions):
            return lambda inputs, init_values: one_or_all([np.broadcast_to(v, sizes) for v in promote(init_values)])
        reduce = plan_reduction(body, shape(inputs[0]), dimensions)
        return lambda inputs, init_values: one_or_all(reduce(promote(init_values), promote(inputs)))


def is_reducer(body: FunctionType, inputs: Types) -> bool:
    """Whether `body` has the type `(E0, ..., EN-1, E0, ..., EN-1) -> (E0, ..., EN-1)` of a reduction of `inputs`.

    `Ei` is a 0-dimensional tensor type whose element type that of `inputs[i]` can be promoted to.
    """
    scalars = tuple(tensor_type((), element_type(t)) for t in body.outputs)
    promotable = len(scalars) == len(inputs) and all(map(is_promotable, inputs, scalars))
    return promotable and body.outputs == scalars and body.inputs == scalars * 2


def promotion(inputs: Types, results: Types) -> Callable[[Sequence[Array]], Sequence[Array]]:
    """Return a function that converts arrays from the element types of `inputs` to those of `results`."""
    pairs = [(element_type(i), element_type(r)) for i, r in zip(inputs, results)]
    if all(a == b for a, b in pairs):
        return lambda arrays: arrays
    kernels = [to_destination_type(a, b) for a, b in pairs]
    return lambda arrays: [kernel(x) for kernel, x in zip(kernels, arrays)]


def one_or_all(results: Sequence[T]) -> T | Sequence[T]:
    """Return a single result by itself and several as a sequence, as the run of an op must."""
    return results[0] if len(results) == 1 else results
