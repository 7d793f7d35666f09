"""Targets that say something about values and compute nothing, that assert, or that lie outside of any interpreter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from stablehlo_ref.diagnostics import EvaluationError, UnsupportedError
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.ops.extensibility import CustomCall, Handler, register_custom_call
from stablehlo_ref.spec import compatible, shape

Array = Any


def identity(call: CustomCall, *operands: Array) -> Sequence[Array]:
    """Returns its operands, which must have the types of the results."""
    for operand, result in zip(call.operand_types, call.result_types):
        if not compatible(operand, result):
            raise UnsupportedError(f"custom_call @{call.target} from {operand} to {result} needs more than one process")
    return operands[: len(call.result_types)]


def uninitialized(call: CustomCall) -> Sequence[Array]:
    """A tensor of which nothing is promised: zeros."""
    return [np.zeros(shape(t), numpy_dtype(t.element_type)) for t in call.result_types]  # type: ignore[attr-defined]


def shape_assertion(call: CustomCall, assert_what: Array, *inputs: Array) -> Sequence[Array]:
    """EvaluationError unless `assert_what`, with the call's `error_message`, in which {0} is the first input."""
    if np.all(assert_what):
        return ()
    message = str(call.attributes.get("error_message", "a shape assertion failed"))

    def value(match: re.Match[str]) -> str:
        index = int(match[1])
        return str(inputs[index]) if index < len(inputs) else match[0]

    raise EvaluationError(re.sub(r"\{(\d+)\}", value, message))


def refusing(reason: str) -> Handler:
    """A handler that says why there is none."""

    def handler(call: CustomCall, *operands: Array) -> Sequence[Array]:
        raise UnsupportedError(f"custom_call @{call.target} {reason}; register_custom_call can say what it does")

    return handler


PLACEMENTS = (
    "Sharding", "annotate_device_placement", "MoveToHost", "MoveToDevice",
    "LayoutConstraint", "xla.sdy.FuncResultSharding", "xla.sdy.GlobalToLocalShape",
    "xla.sdy.LocalToGlobalShape", "xla.sdy.ShardingGroup", "stablehlo.shape_refinement_operand_wrapper",
)  # fmt: skip
OUTSIDE = {
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

for target in PLACEMENTS:
    register_custom_call(target, identity)
register_custom_call("AllocateBuffer", uninitialized)
for reason, targets in OUTSIDE.items():
    for target in targets:
        register_custom_call(target, refusing(reason))
register_custom_call("shape_assertion", shape_assertion)
