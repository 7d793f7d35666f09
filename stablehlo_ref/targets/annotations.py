"""Targets that annotate values without computing anything, assertions, and targets that call host or device code."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from stablehlo_ref.define.spec import compatible, element_type, shape
from stablehlo_ref.diagnostics import EvaluationError, UnsupportedError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.ops.extensibility import CustomCall, Handler
from stablehlo_ref.targets.configuration import register


def identity(call: CustomCall, *operands: Array) -> Sequence[Array]:
    """Return the operands. UnsupportedError if a result has another type, that is, a shard of the operand."""
    for operand, result in zip(call.operand_types, call.result_types):
        if not compatible(operand, result):
            raise UnsupportedError(f"custom_call @{call.target} from {operand} to {result} needs more than one process")
    return operands[: len(call.result_types)]


def uninitialized(call: CustomCall) -> Sequence[Array]:
    """Return tensors with unspecified elements, here zeros."""
    return [np.zeros(shape(t), numpy_dtype(element_type(t))) for t in call.result_types]


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
register("AllocateBuffer", uninitialized)
for reason, targets in UNSUPPORTED.items():
    for target in targets:
        register(target, unsupported(reason))
register("shape_assertion", shape_assertion)
