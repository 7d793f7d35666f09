"""Quantized tensors: an op on them is the op on their expressed types, between dequantize and quantize.

Spec, "Quantization computations": `dequantize_op_quantize` and, where some operands are not quantized,
`hybrid_dequantize_then_op`. No op class has code for it; those that only move elements take them as they are stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stablehlo_ref.ir.types import Type
from stablehlo_ref.numerics.quantized import dequantize, quantize
from stablehlo_ref.spec import expressed_type, is_quantized, with_element_type


def expressed(type: Any) -> Any:
    """The type with its expressed element type, where it is quantized."""
    return with_element_type(type, expressed_type(type)) if is_quantized(type) else type


def on_expressed(run: Callable[..., Any], operands: list[Type], results: list[Type]) -> Callable[..., Any]:
    """From the `run` of an op on expressed types that of the op on these types, taking its operands in a row."""
    enter = [dequantize(t) if is_quantized(t) else None for t in operands]
    leave = [quantize(t) if is_quantized(t) else None for t in results]

    def wrapped(*arrays: Any) -> Any:
        returned = run(*[f(a) if f else a for f, a in zip(enter, arrays)])
        values = [returned] if len(leave) == 1 else returned
        stored = [f(v) if f else v for f, v in zip(leave, values)]
        return stored[0] if len(leave) == 1 else stored

    return wrapped
