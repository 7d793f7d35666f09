"""Targets that stand for ops of CHLO in exported programs: `custom_call @mhlo.erf` is `chlo.erf`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

from stablehlo_ref.define.bound import call_role
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.spec import element_type, shape
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.ops.extensibility import CustomCall
from stablehlo_ref.targets.configuration import (
    Routine,
    boolean,
    computation,
    configuration,
    integer,
    malformed,
    register,
    with_entries,
)

T = TypeVar("T")
FUNCTIONS = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "erf_inv", "sinh", "tan")


def function(name: str) -> Routine:
    """Return the handler that computes the function `chlo.name` of each element."""

    def handler(call: CustomCall, operand: Array) -> Sequence[Array]:
        (operand_type,), definition = call.operand_types, REGISTRY[f"chlo.{name}"]
        if not definition.operands[0].constraint.holds(operand_type):
            expected = definition.operands[0].constraint.name
            raise malformed(call, f"expected an operand that is a {expected}, got {operand_type}")
        members = {"operand": operand_type, "result": operand_type}
        kernel: Run = call_role(definition, "plan", members, mode=Mode(call.reproducible))
        return [kernel(operand)]

    return handler


def scan(call: CustomCall, *operands: Array) -> Sequence[Array]:
    """Call a computation for each index of a dimension, as `chlo.scan` does with its body."""
    call = with_entries(call, {**mhlo_attributes(call), **configuration(call)})
    inputs, inits = _split(call, "operandSegmentSizes", operands)
    output_types, carry_types = _split(call, "resultSegmentSizes", call.result_types)
    if not inputs or len(inits) != len(carry_types):
        raise malformed(call, "expected inputs, and as many inits as results that are carried")
    outputs = [np.empty(shape(type), numpy_dtype(element_type(type))) for type in output_types]
    axis = integer(call, "dimension", 0, min(x.ndim for x in (*inputs, *outputs)) - 1)
    body = computation(call)
    carries = list(inits)
    steps = range(inputs[0].shape[axis])
    for step in reversed(steps) if boolean(call, "is_reverse", default=False) else steps:
        index = (slice(None),) * axis + (step,)
        returned = [np.asarray(x) for x in body(*[x[index] for x in inputs], *carries)]
        for output, part in zip(outputs, returned):
            output[index] = part
        carries = returned[len(outputs) :]
    return outputs + carries


def mhlo_attributes(call: CustomCall) -> Mapping[str, object]:
    """Return the attributes of the op that the call stands for."""
    attributes = call.attributes.get("mhlo.attributes", {})
    if not isinstance(attributes, Mapping):
        raise malformed(call, f"expected a dictionary as mhlo.attributes, got {attributes!r}")
    return attributes


def _split(call: CustomCall, name: str, values: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
    """Split operands or results as an entry of two numbers says."""
    match configuration(call).get(name):
        case (int(first), int(second)) if min(first, second) >= 0 and first + second == len(values):
            return values[:first], values[first:]
        case sizes:
            raise malformed(call, f"expected {name!r} to be two numbers whose sum is {len(values)}, got {sizes!r}")


# --- integers of 64 bits as two of 32 bits ----------------------------------------------------------------------------


def combine(call: CustomCall, low: Array, high: Array) -> Sequence[Array]:
    """Return integers of 64 bits, given their low and high halves."""
    if {low.dtype, high.dtype} != {np.dtype(np.uint32)}:
        raise malformed(call, f"expected halves of type ui32, got {low.dtype} and {high.dtype}")
    bits = high.astype(np.uint64) << np.uint64(32) | low
    return [bits.view(_integers(call, numpy_dtype(element_type(call.result_types[0]))))]


def split_low(call: CustomCall, x: Array) -> Sequence[Array]:
    """Return the low halves of integers of 64 bits."""
    return [x.view(_integers(call, x.dtype)).astype(np.uint64).astype(np.uint32)]


def split_high(call: CustomCall, x: Array) -> Sequence[Array]:
    """Return the high halves of integers of 64 bits."""
    return [(x.view(_integers(call, x.dtype)).astype(np.uint64) >> np.uint64(32)).astype(np.uint32)]


def _integers(call: CustomCall, dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    if dtype not in (np.dtype(np.uint64), np.dtype(np.int64)):
        raise malformed(call, f"expected integers of 64 bits, got {dtype}")
    return dtype


for name in FUNCTIONS:
    register(f"mhlo.{name}", function(name))
register("mhlo.scan", scan)
register("X64Combine", combine)
register("X64SplitLow", split_low)
register("X64SplitHigh", split_high)
