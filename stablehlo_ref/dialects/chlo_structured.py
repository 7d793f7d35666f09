"""CHLO's ops that are more than elementwise: scan, top_k."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, Body, In, Ins, Op, Out, Outs
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.attributes import DenseArray
from stablehlo_ref.ir.types import FunctionType, integer_type
from stablehlo_ref.kinds import AttributeKind, Dims, Flag, Int, integer_tensor, tensor
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.top import top_indices
from stablehlo_ref.spec import (
    compatible,
    dim,
    element_type,
    is_complex,
    make_tensor_type,
    rank,
    same,
    shape,
    size,
    without,
)

Array = Any
Kernel = Callable[..., Any]

# --- top_k ----------------------------------------------------------------------------------------------------------


class TopK(Op, op="top_k", dialect="chlo"):
    """The `k` largest elements along the last dimension, largest first, and their indices.

    Floating-point numbers are in the order of IEEE-754's totalOrder, so that NaN is larger than +inf. Of equal elements
    that of the lower index comes first, whether `is_stable` asks for it or not.
    """

    operand = In(tensor)
    k = Attr(Int)
    is_stable = Attr(Flag, default=True)
    values = Out(tensor)
    indices = Out(integer_tensor)

    syntax = "( operands, k = $k (, is_stable = $is_stable)? ) attr-dict : type(operands) -> ( type(results) )"

    @staticmethod
    def infer(operand: Any, k: int) -> tuple[Any, Any]:
        sizes = (*shape(operand)[:-1], k)
        return make_tensor_type(sizes, element_type(operand)), make_tensor_type(sizes, integer_type(32))

    @staticmethod
    def constraints(C: Any, infer: Any, operand: Any, k: int, values: Any, indices: Any) -> None:
        C(1, rank(operand) >= 1)
        C(2, 0 <= k <= dim(operand, rank(operand) - 1))
        C(3, compatible(values, infer()[0]))
        C(4, compatible(indices, infer()[1]))

    @staticmethod
    def plan(operand: Any, k: int, indices: Any) -> Kernel:
        if is_complex(operand):
            raise UnsupportedError("'chlo.top_k' op: complex numbers have no order")
        largest = top_indices(numpy_dtype(element_type(operand)))
        index_dtype = numpy_dtype(element_type(indices))

        def run(operand: Array) -> tuple[Array, Array]:
            found = largest(operand, k)
            return np.take_along_axis(operand, found, axis=-1), found.astype(index_dtype)

        return run


# --- scan -----------------------------------------------------------------------------------------------------------


class _Segments(AttributeKind):
    """How many operands (results) belong to each of two variadic members."""

    name = "list of two 32-bit integers"

    def decode(self, attribute: Any) -> tuple[int, ...]:
        sizes = Dims.decode(attribute)
        if len(sizes) != 2 or min(sizes) < 0:
            raise self._refuse()
        return sizes

    def encode(self, value: tuple[int, ...]) -> DenseArray:
        return DenseArray(integer_type(32), value)  # type: ignore[arg-type]


Segments = _Segments()


class Scan(Op, op="scan", dialect="chlo"):
    """Calls `body` for one index of `dimension` after the other, with slices of the inputs and with carries.

    The operands are the inputs and, as first carries, the inits. `body` returns slices of the outputs and the next
    carries. The results are the outputs and the last carries. `is_reverse` starts at the last index. Without inputs,
    `scan_dim_size` is the number of indices. `is_associative` permits other orders of calls, which are not made use of.
    """

    inputs_and_inits = Ins(tensor)
    operand_segment_sizes = Attr(Segments, name="operandSegmentSizes")
    result_segment_sizes = Attr(Segments, name="resultSegmentSizes")
    dimension = Attr(Int)
    scan_dim_size = Attr(Int, default=None)
    is_reverse = Attr(Flag, default=False)
    is_associative = Attr(Flag, default=None)
    body = Body()
    outputs_and_carries = Outs(tensor)

    syntax = "custom(scan)"
    isolated = True

    @staticmethod
    def constraints(
        C: Any,
        inputs_and_inits: Any,
        operand_segment_sizes: tuple[int, int],
        result_segment_sizes: tuple[int, int],
        dimension: int,
        scan_dim_size: int | None,
        body: Any,
        outputs_and_carries: Any,
    ) -> None:
        C(1, sum(operand_segment_sizes) == size(inputs_and_inits))
        C(2, sum(result_segment_sizes) == size(outputs_and_carries))
        C(3, operand_segment_sizes[1] == result_segment_sizes[1])
        inputs, inits = split(inputs_and_inits, operand_segment_sizes)
        outputs, carries = split(outputs_and_carries, result_segment_sizes)
        C(4, 0 < size(inputs) + size(outputs))
        C(5, all(0 <= dimension < rank(x) for x in inputs + outputs))
        given = () if scan_dim_size is None else (scan_dim_size,)
        C(6, same((*given, *[dim(x, dimension) for x in inputs + outputs])))
        arguments = [without_dimension(x, dimension) for x in inputs] + list(inits)
        returned = [without_dimension(x, dimension) for x in outputs] + list(carries)
        C(7, body == FunctionType(tuple(arguments), tuple(returned)))
        C(8, all(compatible(init, carry) for init, carry in zip(inits, carries)))

    @staticmethod
    def plan(
        operand_segment_sizes: tuple[int, int],
        result_segment_sizes: tuple[int, int],
        dimension: int,
        is_reverse: bool,
        body: Any,
        outputs_and_carries: Any,
        inputs_and_inits: Any,
    ) -> Kernel:
        count, produced = operand_segment_sizes[0], result_segment_sizes[0]
        outputs = outputs_and_carries[:produced]
        steps = range(dim((*inputs_and_inits[:count], *outputs)[0], dimension))
        order = reversed(steps) if is_reverse else steps
        indices = [(slice(None),) * dimension + (step,) for step in order]
        dtypes = [numpy_dtype(element_type(x)) for x in outputs]

        def run(operands: tuple[Array, ...]) -> list[Array]:
            inputs, carries = operands[:count], list(operands[count:])
            results = [np.empty(shape(x), dtype) for x, dtype in zip(outputs, dtypes)]
            for index in indices:
                returned = body(*[x[index] for x in inputs], *carries)
                for result, part in zip(results, returned):
                    result[index] = part
                carries = returned[produced:]
            return results + carries

        return run


def split(values: tuple[Any, ...], segments: tuple[int, int]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Values in a row as those of the first member and those of the second."""
    return values[: segments[0]], values[segments[0] :]


def without_dimension(x: Any, dimension: int) -> Any:
    """The type of a slice at one index of `dimension`."""
    return make_tensor_type(without(shape(x), (dimension,)), element_type(x))
