"""Ops that make tensors out of nothing: constant and iota."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, Op, Out
from stablehlo_ref.diagnostics import MalformedError
from stablehlo_ref.ir.attributes import DenseResource
from stablehlo_ref.kinds import (
    Dense,
    Int,
    Kind,
    complex_tensor,
    float_tensor,
    integer_tensor,
    per_tensor_quantized,
    quantized_tensor,
    tensor,
)
from stablehlo_ref.numerics.conversion import convert
from stablehlo_ref.numerics.dtypes import INT64, numpy_dtype
from stablehlo_ref.spec import dim, element_type, rank, shape, storage_type, with_element_type

Run = Callable[..., Any]

BLOCK = 1 << 16  # elements converted at a time

number_tensor = integer_tensor | float_tensor | complex_tensor | per_tensor_quantized


class Constant(Op, op="constant"):
    """The tensor `value`."""

    value = Attr(Dense)  # I1
    output = Out(tensor | quantized_tensor)

    syntax = "custom(constant)"

    @staticmethod
    def infer(value: Any) -> Any:
        return value.type

    @staticmethod
    def constraints(C: Any, value: Any, output: Any) -> None:
        C(1, compatible_constant(value.type, output))

    @staticmethod
    def plan(value: Any) -> Run:
        if isinstance(value, DenseResource) and value.array is None:
            raise MalformedError(f"the file has no data for dense_resource<{value.key}>")
        return lambda: value.array


def compatible_constant(value_type: Any, output: Any) -> bool:
    """Whether the types agree; a quantized tensor may be given by its storage elements."""
    return bool(value_type == output or value_type == with_element_type(output, storage_type(output)))


class Iota(Op, op="iota"):
    """Numbers that increase from zero along `iota_dimension`."""

    iota_dimension = Attr(Int)  # I1
    output = Out(Kind(f"statically shaped {number_tensor}", lambda t: number_tensor.holds(t) and t.is_static))

    syntax = "dim = $iota_dimension attr-dict : type(results)"

    @staticmethod
    def constraints(C: Any, iota_dimension: Any, output: Any) -> None:
        C(1, 0 <= iota_dimension < rank(output))

    @staticmethod
    def lift(iota_dimension: Any) -> Any:
        return {"iota_dimension": iota_dimension + 1}

    @staticmethod
    def plan(iota_dimension: Any, output: Any) -> Run:
        line = count(dim(output, iota_dimension), numpy_dtype(element_type(output)))
        result = np.broadcast_to(line.reshape(-1, *[1] * (rank(output) - iota_dimension - 1)), shape(output))
        return lambda: result


def count(size: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The numbers from 0 to `size`, less 1, converted to `dtype`; in blocks, so that only the result needs memory."""
    numbers, kernel = np.empty(size, dtype), convert(INT64, dtype)
    for start in range(0, size, BLOCK):
        numbers[start : start + BLOCK] = kernel(np.arange(start, min(start + BLOCK, size)))
    return numbers
