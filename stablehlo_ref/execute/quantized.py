"""Quantized tensors: an op on them is the op on their expressed types, between dequantize and quantize.

Spec, "Quantization computations": `dequantize_op_quantize` and, where some operands are not quantized,
`hybrid_dequantize_then_op`. No op class has code for it; those that only move elements take them as they are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.choices import Choice
from stablehlo_ref.execute.steps import Run
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import Type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.narrow import in_blocks, tabulated
from stablehlo_ref.numerics.quantized import dequantize, of_pairs, quantize
from stablehlo_ref.spec import expressed_type, is_per_axis_quantized, is_quantized, with_element_type


def expressed(type: Any) -> Any:
    """The type with its expressed element type, where it is quantized."""
    return with_element_type(type, expressed_type(type)) if is_quantized(type) else type


def is_on_expressed(op: Operation, types: Iterable[Type]) -> bool:
    """Whether the op on these types of operands and results is the one on expressed types."""
    assert op.definition is not None
    definition = op.definition.of(op)
    as_stored = definition.on_storage or definition.effects or op.regions or "plan" not in definition.parameters
    return not as_stored and any(map(is_quantized, types))


def on_expressed(run: Run, operands: Sequence[Type], results: Sequence[Type], is_elementwise: bool) -> Run:
    """From the `run` of an op on expressed types that of the op on these types, taking its operands in a row."""
    enter = [dequantize(t) if is_quantized(t) else None for t in operands]
    leave = [quantize(t) if is_quantized(t) else None for t in results]

    def wrapped(*arrays: Any) -> Any:
        returned = run(*[f(a) if f else a for f, a in zip(enter, arrays)])
        values = [returned] if len(leave) == 1 else returned
        stored = [f(v) if f else v for f, v in zip(leave, values)]
        return stored[0] if len(leave) == 1 else stored

    return _in_pieces(wrapped, operands, results) if is_elementwise else wrapped


def quantizes_nan(run: Run, operands: Sequence[Type], results: Sequence[Type]) -> Callable[..., Iterator[Choice]]:
    """From the `run` of an op on expressed types what tells whether it gives any NaN that is to be quantized."""
    enter = [dequantize(t) if is_quantized(t) else None for t in operands]

    def cases(*arrays: Any) -> Iterator[Choice]:
        returned = run(*[f(a) if f else a for f, a in zip(enter, arrays)])
        values = [returned] if len(results) == 1 else returned
        if any(is_quantized(t) and np.isnan(v).any() for t, v in zip(results, values)):
            yield Choice.QUANTIZE_NAN

    return cases


def _in_pieces(run: Run, operands: Sequence[Any], results: Sequence[Any]) -> Run:
    """An elementwise `run` by a table of all that it can be given, where that is little, or else block by block."""
    if any(map(is_per_axis_quantized, (*operands, *results))) or len({t.shape for t in operands if t.shape}) > 1:
        return run
    first, *others = (numpy_dtype(t.element_type) for t in operands)
    if not others and first.itemsize <= 2:
        return tabulated(run, first)
    if others == [first] and first.itemsize == 1:
        return of_pairs(run, first)
    return in_blocks(run, numpy_dtype(results[0].element_type))
