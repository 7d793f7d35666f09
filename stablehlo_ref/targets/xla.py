"""Targets that XLA expands, implements itself or only reads, on CPUs, GPUs and TPUs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TypeVar

import numpy as np

from stablehlo_ref.algorithms.padding import pad as padding_kernel
from stablehlo_ref.algorithms.padding import padded_sizes
from stablehlo_ref.define.bound import call_role
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.spec import compatible, dim, element_type, make_tensor_type, shape
from stablehlo_ref.diagnostics import EvaluationError, UnsupportedError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import EnumAttribute
from stablehlo_ref.ir.types import tensor_type
from stablehlo_ref.numerics.counter_based_rng import threefry_keys, threefry_rounds
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.top_k import descending_keys, top_k_indices
from stablehlo_ref.ops.extensibility import CustomCall, Handler
from stablehlo_ref.ops.random import RngAlgorithm, RngBitGenerator
from stablehlo_ref.targets.buffers import create_buffer
from stablehlo_ref.targets.configuration import (
    Routine,
    boolean,
    computation,
    configuration,
    integer,
    malformed,
    register,
    scalar,
    with_entries,
)

T = TypeVar("T")

# --- top k ----------------------------------------------------------------------------------------------------------


def approx_top_k(call: CustomCall, operand: Array, indices: Array, *rest: Array) -> Sequence[Array]:
    """Return the elements that the comparator orders first along `reduction_dim`, exactly, and their `indices`."""
    axis = integer(call, "reduction_dim", -operand.ndim, operand.ndim - 1) % operand.ndim
    samples = operand.dtype.type(0), operand.dtype.type(1)
    (ascending,) = computation(call)(*samples, *[indices.dtype.type(0)] * 2)
    keys = descending_keys(operand.dtype)(operand)
    order = np.argsort(~keys if ascending else keys, axis, "stable")
    order = order.take(range(dim(call.result_types[0], axis)), axis)
    return np.take_along_axis(operand, order, axis), np.take_along_axis(indices, order, axis)


def partial_reduce(call: CustomCall, operand: Array, indices: Array, *rest: Array) -> Sequence[Array]:
    """Return as many of the elements as the result has, those that the comparator orders first, in order.

    On TPUs these are the elements that come first within each of as many groups, whatever the groups are.
    """
    if isinstance(call.backend_config, str):
        call = with_entries(call, from_json(call))
    return approx_top_k(call, operand, indices, *rest)


def from_json(call: CustomCall) -> Mapping[str, object]:
    """Return the entries of a configuration in JSON."""
    try:
        entries = json.loads(str(call.backend_config))
    except ValueError as error:
        raise malformed(call, f"expected a dictionary in JSON as backend_config: {error}") from None
    if not isinstance(entries, dict):
        raise malformed(call, f"expected a dictionary in JSON as backend_config, got {call.backend_config!r}")
    return entries


def top_k(call: CustomCall, operand: Array, k: Array | None = None) -> Sequence[Array]:
    """Return the `k` largest elements along the last dimension, or the smallest, and their indices.

    `k` is an operand for dynamic shapes, an entry of the configuration, or else the size of the result.
    """
    call = with_entries(call, {**mhlo_attributes(call), **configuration(call)})
    size = operand.shape[-1]
    count = dim(call.result_types[0], operand.ndim - 1) if k is None else scalar(call, "k", k)
    count = integer(with_entries(call, {"k": count, **configuration(call)}), "k", 0, size)
    if boolean(call, "largest", default=True):
        order = top_k_indices(operand.dtype)(operand, count)
    else:
        order = np.argsort(~descending_keys(operand.dtype)(operand), -1, "stable")[..., :count]
    return np.take_along_axis(operand, order, -1), order.astype(np.int32)


# --- random numbers -------------------------------------------------------------------------------------------------


def threefry2x32(call: CustomCall, k0: Array, k1: Array, x: Array, y: Array, *length: Array) -> Sequence[Array]:
    """Return Threefry-2x32 blocks, each with its own key; `length` repeats the number of blocks for dynamic shapes."""
    x, y = x.copy(), y.copy()
    threefry_rounds(threefry_keys(k0, k1), x, y, np.empty_like(x))
    return x, y


register("ApproxTopK", approx_top_k)
register("PartialReduce", partial_reduce)
for target in ("TopK", "mhlo.topk"):
    register(target, top_k)
for device in ("cu", "hip"):
    register(f"{device}_threefry2x32_ffi", threefry2x32)
    register(f"{device}_threefry2x32", threefry2x32)


def dynamic_rng_bit_generator(call: CustomCall, state: Array, sizes: Array) -> Sequence[Array]:
    """Compute `rng_bit_generator` with the result shape `sizes`."""
    output = make_tensor_type(sizes.tolist(), element_type(call.result_types[1]))
    state_type = make_tensor_type(state.shape, element_type(call.operand_types[0]))
    run: Run = RngBitGenerator.plan(state_type, rng_algorithm(call), output)
    results: Sequence[Array] = run(state)
    return results


def rng_algorithm(call: CustomCall) -> RngAlgorithm:
    """Return the attribute `rng_algorithm`."""
    attribute = call.attributes.get("rng_algorithm")
    if not isinstance(attribute, EnumAttribute) or attribute.value not in RngAlgorithm.__members__:
        raise malformed(call, f"expected an rng_algorithm, got {attribute!r}")
    return RngAlgorithm[attribute.value]


def dynamic_reduce_window(call: CustomCall, *operands: Array) -> Sequence[Array]:
    """Compute `reduce_window` with window dimensions, strides, dilations and padding as operands."""
    if len(operands) < 7 or len(operands) % 2 == 0:
        raise malformed(call, f"expected inputs, as many init values, and 5 shapes, got {len(operands)} operands")
    *arrays, window, strides, base_dilations, window_dilations, padding = operands
    reduction, count = computation(call), len(arrays) // 2
    inputs, inits, types = arrays[:count], arrays[count:], call.operand_types
    for t, init in zip(types[:count], types[count:]):
        if init != (scalar := tensor_type((), element_type(t))):
            raise malformed(call, f"expected an init value of type {scalar}, got {init}")
    padded = [pad(x, init, base_dilations, padding) for x, init in zip(inputs, inits)]
    counts = (np.array(padded[0].shape) - (window - 1) * window_dilations - 1) // strides + 1
    sizes = [max(0, count) for count in counts.tolist()]
    results = [np.broadcast_to(init, sizes) for init in inits]
    for offsets in product(*map(range, window.tolist())):
        starts = (np.array(offsets, int) * window_dilations).tolist()
        box = tuple(slice(a, a + max(0, n - 1) * s + 1, s) for a, n, s in zip(starts, sizes, strides.tolist()))
        results = reduction.each(*results, *[x[box] for x in padded]) if min(sizes, default=1) else results
    return results


def pad(x: Array, value: Array, dilations: Array, padding: Array) -> Array:
    """Return an array with edge padding, and interior padding where `dilations` exceed 1."""
    low, high = padding.T.tolist()
    interior = [d - 1 for d in dilations.tolist()]
    sizes = padded_sizes(x.shape, low, high, interior)
    return padding_kernel(x.shape, low, interior, sizes, x.dtype)(x, value)


register("stablehlo.dynamic_approx_top_k", approx_top_k)
register("stablehlo.dynamic_top_k", top_k)
register("stablehlo.dynamic_rng_bit_generator", dynamic_rng_bit_generator, is_open=True)
register("stablehlo.dynamic_reduce_window", dynamic_reduce_window)


# --- ops of CHLO in exported programs: `custom_call @mhlo.erf` is `chlo.erf` -----------------------------------------

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
    """Split operands or results into two parts, whose sizes are the numbers in an entry of the configuration."""
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


# --- annotations that compute nothing, assertions, and calls of host or device code ----------------------------------


def identity(call: CustomCall, *operands: Array) -> Sequence[Array]:
    """Return the operands. UnsupportedError if a result has another type, that is, a shard of the operand."""
    for operand, result in zip(call.operand_types, call.result_types):
        if not compatible(operand, result):
            raise UnsupportedError(f"custom_call @{call.target} from {operand} to {result} needs more than one process")
    return operands[: len(call.result_types)]


def shape_assertion(call: CustomCall, assert_what: Array, *inputs: Array) -> Sequence[Array]:
    """Raise EvaluationError with the call's `error_message` unless `assert_what`; `{0}` in it is the first input."""
    if np.all(assert_what):
        return ()
    raise EvaluationError(assertion_message(call.attributes.get("error_message"), inputs))


def assertion_message(text: object, inputs: Sequence[object]) -> str:
    """Return the message of a failed assertion; `{0}` in it is the first input."""

    def value(match: re.Match[str]) -> str:
        index = int(match[1])
        return str(inputs[index]) if index < len(inputs) else match[0]

    return re.sub(r"\{(\d+)\}", value, "shape assertion failed" if text is None else str(text))


def unsupported(reason: str) -> Handler:
    """Return a handler that raises UnsupportedError with `reason`."""

    def handler(call: CustomCall, *operands: Array) -> Sequence[Array]:
        raise UnsupportedError(f"custom_call @{call.target} {reason}; provide a handler with register_custom_call")

    return handler


IDENTITIES = (
    "Sharding", "annotate_device_placement", "MoveToHost", "MoveToDevice",
    "LayoutConstraint", "xla.sdy.FuncResultSharding", "xla.sdy.GlobalToLocalShape",
    "xla.sdy.LocalToGlobalShape", "xla.sdy.ShardingGroup", "stablehlo.shape_refinement_operand_wrapper",
)  # fmt: skip
UNSUPPORTED = {
    "calls a function of the Python process that exported the program": (
        "xla_python_cpu_callback", "xla_python_gpu_callback", "xla_ffi_python_cpu_callback",
        "xla_ffi_python_gpu_callback", "xla_ffi_partitioned_python_cpu_callback",
        "xla_ffi_partitioned_python_gpu_callback", "CustomSPMDPartitioning",
    ),
    "runs a kernel that is compiled for another device": (
        "tpu_custom_call", "mosaic_gpu", "mosaic_gpu_v2", "__gpu$xla.gpu.triton", "triton_kernel_call",
    ),
    "calls a TensorFlow function that is not part of the program": ("tf.call_tf_function",),
}  # fmt: skip

for target in IDENTITIES:
    register(target, identity)
register("AllocateBuffer", create_buffer)
for reason, targets in UNSUPPORTED.items():
    for target in targets:
        register(target, unsupported(reason))
register("shape_assertion", shape_assertion)
