"""Quantized tensors: an op on them is the op on their expressed types, between dequantize and quantize.

Spec, "Quantization computations": `dequantize_op_quantize` and, if some operands are not quantized,
`hybrid_dequantize_then_op`. Op classes need no code for this. Ops that only move elements move the stored integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.define.bound import BoundOp, bind
from stablehlo_ref.define.choices import Choice
from stablehlo_ref.define.computation import Kernel, Run
from stablehlo_ref.define.spec import expressed, is_per_axis_quantized, is_quantized
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import Type
from stablehlo_ref.numerics.blocks import in_blocks
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.narrow_floats import tabulated
from stablehlo_ref.numerics.quantized import dequantize, quantize, tabulate_pairs


def on_expressed_types(bound: BoundOp) -> BoundOp:
    """Bind the op to expressed types.

    Constants are dropped, as they are stored integers, except those of shape operands, which are never quantized.
    """
    shape_operands = bound.definition.traits.shape_operands
    constants = {name: array for name, array in bound.site.constants.items() if name in shape_operands}
    site = bound.site.with_constants(constants)
    operands, results = list(map(expressed, bound.operands)), list(map(expressed, bound.results))
    return bind(bound.definition, site, operands, results, bound.bodies)


def quantized_kernel(bound: BoundOp, kernel: Kernel) -> Kernel:
    """Return the kernel of an op on quantized types, given that of the op on expressed types."""
    run, operands, results = kernel.run, bound.operands, bound.results
    enter = _dequantized(operands)
    leave = [quantize(t) if is_quantized(t) else None for t in results]

    def wrapped(*arrays: Array) -> Any:
        returned = run(*enter(arrays))
        values = [returned] if len(leave) == 1 else returned
        stored = [f(v) if f else v for f, v in zip(leave, values)]
        return stored[0] if len(leave) == 1 else stored

    is_elementwise = bound.definition.traits.elementwise
    return Kernel(_in_pieces(wrapped, operands, results) if is_elementwise else wrapped)


def _dequantized(types: Sequence[Type]) -> Callable[[Sequence[Array]], list[Array]]:
    """Return a function that dequantizes those operands whose types are quantized."""
    kernels = [dequantize(t) if is_quantized(t) else None for t in types]
    return lambda arrays: [f(x) if f else x for f, x in zip(kernels, arrays)]


def quantizes_nan(run: Run, operands: Sequence[Type], results: Sequence[Type]) -> Callable[..., Iterator[Choice]]:
    """Return a function that finds whether an op, given by `run` on expressed types, has a NaN to quantize."""
    enter = _dequantized(operands)

    def cases(*arrays: Array) -> Iterator[Choice]:
        returned = run(*enter(arrays))
        values = [returned] if len(results) == 1 else returned
        if any(is_quantized(t) and np.isnan(v).any() for t, v in zip(results, values)):
            yield Choice.QUANTIZE_NAN

    return cases


def _in_pieces(run: Run, operands: Sequence[Any], results: Sequence[Any]) -> Run:
    """Return an elementwise `run` as a table of all values of its operands if there are few, else block by block."""
    if any(map(is_per_axis_quantized, (*operands, *results))) or len({t.shape for t in operands if t.shape}) > 1:
        return run
    first, *others = (numpy_dtype(t.element_type) for t in operands)
    if not others and first.itemsize <= 2:
        return tabulated(run, first)
    if others == [first] and first.itemsize == 1:
        return tabulate_pairs(run, first)
    return in_blocks(run, numpy_dtype(results[0].element_type))
